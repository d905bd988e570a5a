"""Names of a module: those that its code may call, and those that a text has."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from stcompile.analysis.regions import Tree
from stcompile.base.options import Options
from stcompile.codegen_templates import by_shape
from stcompile.emit.names import DEVICE, NAMESPACE
from stcompile.emit.products import blas_names
from stcompile.wengert.ir import Program, every_equation
from stcompile.wengert.naming import RESERVED
from stcompile.wengert.primitives.effects import effect_modules
from stcompile.wengert.primitives.external import externals_of
from stcompile.wengert.primitives.special import OWN

SCIPY = ("linalg", "signal", "special")  # modules


def global_names(program: Program, options: Options) -> frozenset[str]:
    """All names of modules and functions that the code of a program may call."""
    modules = ("collections", "dataclasses", "types", "warnings", *effect_modules(program), *SCIPY)
    called = (*modules, *blas_names(), *mpi_names(program), *externals_of(program))
    if options.form == "whole" or _has(program, frozenset({"kernel"})):
        from stcompile.codegen_templates.loops import HELPERS

        called += (*HELPERS,)
    if has_own(program):
        called += (*by_shape.HELPERS,)
    return RESERVED.union(called, (NAMESPACE, DEVICE) if options.xp else ())


def has_own(program: Program) -> bool:
    """True if a part of a program is a function that has no library."""
    return _has(program, OWN)


def _has(program: Program, primitives: Collection[str]) -> bool:
    return any(e.primitive in primitives for e in every_equation(program.equations))


def mpi_names(program: Program) -> tuple[str, ...]:
    """The names of mpi4py that the code of a program uses."""
    exchanges = any(equation.primitive.startswith("exchange") for equation in program.equations)
    return ("MPI",) if exchanges else ()


def scipy_modules(tree: Tree) -> tuple[str, ...]:
    """The modules of SciPy that code of a program names: a primitive of theirs has the prefix."""
    used = {step.equation.primitive.split(".")[0] for step in tree.steps}
    return tuple(sorted(used & {*SCIPY}))


def names_in(source: str) -> set[str]:
    """The names that a text reads or writes."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def with_names(source: str, names: Mapping[str, str]) -> str:
    """A text with other names for some that it reads, writes, defines or takes as arguments."""
    places = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name | ast.arg):
            own = node.id if isinstance(node, ast.Name) else node.arg
            places.append((node.lineno - 1, node.col_offset, own))
        elif isinstance(node, ast.FunctionDef):
            places.append((node.lineno - 1, node.col_offset + len("def "), node.name))
    places = [place for place in places if place[2] in names]
    lines = [line.encode() for line in source.split("\n")]  # columns count bytes
    for at, column, own in sorted(places, reverse=True):
        line = lines[at]
        lines[at] = line[:column] + names[own].encode() + line[column + len(own.encode()) :]
    return "\n".join(line.decode() for line in lines)
