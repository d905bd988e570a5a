"""Kernels as functions of their own: plain loops over numbers, which Numba compiles."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from stcompile.analysis.regions import Repeat, Tree, unfold
from stcompile.base.options import Options
from stcompile.code.literals import attribute, literal, name
from stcompile.code.render import render
from stcompile.code.templates import Code, Operand, substitute_in_loop
from stcompile.codegen_templates.loops import HELPERS
from stcompile.emit.layout import INDENT, WIDTH, Line, body_lines, started
from stcompile.emit.names import Naming
from stcompile.emit.statements import Statements
from stcompile.emit.steps import empty
from stcompile.plan.decide import make_schedule
from stcompile.plan.schedule import Schedule
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.naming import Names
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.elementwise import promoted
from stcompile.wengert.types import Type

OPTIONS = Options("readable")  # the memory of a kernel is not planned: it makes its own arrays
COMPILED = "njit(error_model='numpy', nogil=True)"
CHECKED = "njit(error_model='numpy', nogil=True, boundscheck=True)"


@dataclass(frozen=True)
class Kernel:
    """A kernel: the name of its function, the names that this must not use, and the places of the
    operands that it writes to."""

    name: str
    equation: Equation
    taken: Collection[str]
    written: Collection[int]


class KernelStatements(Statements):
    """Writes the items of a kernel."""

    def code_of(self, equation: Equation, operands: list[Operand]) -> Code:
        return substitute_in_loop(equation.primitive, _alike(equation, operands), equation.params)

    def undefined(self, type: Type) -> ast.expr:
        if type.kind == "array" and all(isinstance(n, int) for n in type.dims):
            return empty(type, type.dims)
        return literal(type.dtype.type(0).item())  # a name has one type

    def _steps(self, loop: Repeat) -> ast.expr:
        length = self._length(loop)
        if not loop.reverse:
            return ast.Call(name("range"), [length], [])
        before = ast.BinOp(length, ast.Sub(), ast.Constant(1))
        last = literal(loop.length - 1) if isinstance(loop.length, int) else before
        down = [last, ast.Constant(-1), ast.Constant(-1)]
        return ast.Call(name("range"), down, [])


def _alike(equation: Equation, operands: list[Operand]) -> list[Operand]:
    """The operands of float32 arithmetic in that dtype: where NumPy takes a Python number for one,
    Numba computes in float64."""
    types = tuple(operand.atom.type for operand in operands)
    if not PRIMITIVES[equation.primitive].elementwise or any(t.dims for t in types):
        return operands
    if promoted(types) != np.float32:
        return operands
    return [_in_single(operand) for operand in operands]


def _in_single(operand: Operand) -> Operand:
    atom: Atom = operand.atom
    if atom.type.dtype == np.float32:
        return operand
    if isinstance(atom, Constant):
        return Operand(literal(np.float32(atom.value)), atom)
    return Operand(ast.Call(attribute("np", "float32"), [operand.code], []), atom)


def kernel_lines(kernels: Mapping[int, Kernel], sections: Mapping[str, str]) -> list[Line]:
    """The functions of kernels, and those that they call."""
    unique = {kernel.name: kernel for kernel in kernels.values()}
    functions = [_function(kernel, sections) for kernel in unique.values()]
    text = "\n".join(line for lines in functions for line, *_ in lines)
    helpers = [_helper(own) for own in HELPERS if f"{own}(" in text]
    return [line for lines in (*helpers, *functions) for line in lines]


def _helper(own: str) -> list[Line]:
    source = inspect.getsource(HELPERS[own]).splitlines()
    start = next(at for at, line in enumerate(source) if line.startswith("def "))
    signature = source[start].replace(": Any", "").replace(" -> Any", "")
    lines = [f"@{COMPILED}", signature, *source[start + 1 :], "", ""]
    return [(line, None, None) for line in lines]


def _function(kernel: Kernel, sections: Mapping[str, str]) -> list[Line]:
    program: Program = kernel.equation.params["body"]
    owned = frozenset(program.inputs[at] for at in kernel.written)
    tree = replace(unfold(program), owned=owned)
    schedule = make_schedule(tree, (), OPTIONS)
    naming = Naming(schedule, [kernel.name, "njit", *kernel.taken])
    for variable in tree.inputs:
        naming.give(variable, naming.names.like(variable.name))
    statements = KernelStatements(schedule, naming)
    statements.region(tree.region)
    results = [statements.returned(tree.atom(atom)) for atom in program.outputs]
    value = results[0] if len(results) == 1 else ast.Tuple(results, ast.Load())
    arguments = ", ".join(naming.called(variable).id for variable in tree.inputs)
    head = f"def {kernel.name}({arguments}):"
    if len(head) > WIDTH:
        head = f"def {kernel.name}(\n{' ' * INDENT}{arguments}\n):"
    made = CHECKED if _is_checked(tree) else COMPILED
    lines: list[Line] = [(line, None, None) for line in (f"@{made}", *head.splitlines())]
    lines += body_lines(statements.blocks, sections)
    returned = ast.Return(value)
    lines += started(render(returned, width=WIDTH, indent=INDENT), None, returned)
    return [*lines, ("", None, None), ("", None, None)]


def _is_checked(tree: Tree) -> bool:
    """True if data decide which elements are read or written."""
    counters = {item.counter for _, item in tree.items() if isinstance(item, Repeat)}
    return any(not counters.issuperset(_indices(step.equation)) for step in tree.steps)


def _indices(equation: Equation) -> Iterator[Atom]:
    """The integers that say which element an equation reads or writes."""
    first = {"slice": 1, "index": 1, "update": 2, "index_update": 2, "accumulate": 2}
    at = first.get(equation.primitive, len(equation.inputs))
    return (atom for atom in equation.inputs[at:] if isinstance(atom, Variable))


def kernels_of(schedule: Schedule, names: Names, taken: Collection[str]) -> dict[int, Kernel]:
    """The kernels of a tree by the positions of their steps; those of equal text are one."""
    found: dict[int, Kernel] = {}
    made: dict[object, Kernel] = {}
    for step in schedule.tree.steps:
        if step.equation.primitive == "kernel":
            written = schedule.writes.kernels[step.at]
            key = str(step.equation.params["body"]), written
            if key not in made:
                own = names.like(f"kernel_{len(made) + 1}")
                made[key] = Kernel(own, step.equation, taken, written)
            found[step.at] = made[key]
    return found
