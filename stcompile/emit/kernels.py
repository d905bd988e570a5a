"""Kernels as functions of their own: plain loops over numbers, which Numba compiles."""

from __future__ import annotations

import ast
import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from stcompile.analysis.regions import Repeat, Tree, unfold
from stcompile.base.location import Location, line_in
from stcompile.base.options import Options
from stcompile.base.thresholds import (
    VECTOR,
    WRITTEN_OUT_EQUATIONS,
    WRITTEN_OUT_LENGTH,
    WRITTEN_OUT_STEPS,
)
from stcompile.code.beside import called_in, text_of
from stcompile.code.literals import literal, name
from stcompile.code.render import render
from stcompile.codegen_templates.loops import HELPERS
from stcompile.emit.layout import INDENT, WIDTH, Line, body_lines, started
from stcompile.emit.names import Naming
from stcompile.emit.numbers import Numbers
from stcompile.emit.steps import UNUSED, empty
from stcompile.plan.decide import make_schedule
from stcompile.plan.schedule import Schedule
from stcompile.wengert.dims import Symbol
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.naming import Names, base_name
from stcompile.wengert.primitives.indexing import FIRST_INTEGER
from stcompile.wengert.symbols import lengths_of
from stcompile.wengert.types import Type

COMPILED = "njit(error_model='numpy', nogil=True{})"


@dataclass(frozen=True)
class Kernel:
    """A kernel: the name of its function, the names that it must not use, the positions of the
    operands that it writes to, and the names of the lengths that it needs. It gets some numbers of
    ``steps`` as arguments, too, so that LLVM does not unroll these loops."""

    name: str
    equation: Equation
    taken: Collection[str]
    written: Collection[int]
    lengths: Mapping[Symbol, str]

    @property
    def program(self) -> Program:
        """The equations of the kernel."""
        program: Program = self.equation.params["body"]
        return program

    @cached_property
    def kept(self) -> Mapping[int, Equation]:
        """The loops of few steps that are kept as loops, by their ids."""
        kept: dict[int, Equation] = {}
        _written_out(self.program, kept)
        return kept

    @property
    def steps(self) -> Sequence[int]:
        return tuple(sorted({loop.params["length"] for loop in self.kept.values()}))

    @cached_property
    def statements(self) -> KernelStatements:
        """The body of the function, written; its schedule tells where values live."""
        owned = frozenset(self.program.inputs[at] for at in self.written)
        tree = replace(unfold(self.program), owned=owned)
        schedule = make_schedule(tree, (), Options("readable"))  # a kernel makes its own arrays
        naming = Naming(schedule, [self.name, "njit", "prange", *self.taken])
        for variable in schedule.tree.inputs:
            naming.called(variable)
        written = KernelStatements(schedule, naming)
        named = {one: naming.names.like(own) for one, own in self.lengths.items()}
        written.symbols.update(named)
        written.told = {steps: naming.names.like("steps") for steps in self.steps}
        written.kept = self.kept
        names = [*(naming.called(v).id for v in schedule.tree.inputs), *named.values()]
        written.arguments = (*names, *written.told.values())
        written.region(schedule.tree.region)
        return written

    @property
    def allocated(self) -> int:
        """The bytes that a call allocates, results included."""
        return self.statements.allocated


def _written_out(program: Program, kept: dict[int, Equation]) -> float:
    """The number of equations that LLVM makes of a program if it unrolls all loops of few steps.
    A loop of too many equations is added to ``kept`` by its id, and so are the loops around it;
    then the result is infinite."""
    total = 0.0
    for equation in program.equations:
        inner = max((_written_out(body, kept) for body in equation.programs.values()), default=1.0)
        if _is_short(equation):
            inner *= equation.params["length"]
            if inner > WRITTEN_OUT_EQUATIONS and not _is_innermost(equation):
                kept[id(equation)] = equation
                inner = math.inf
        elif equation.primitive == "loop":
            vectors = equation.params["length"] / VECTOR if _is_in_vectors(equation) else 1.0
            inner = inner * vectors if math.isfinite(inner) else 1.0
        total += inner
    return total


def _is_short(equation: Equation) -> bool:
    length = equation.params.get("length") if equation.primitive == "loop" else None
    is_kept = equation.params.get("reverse") or equation.params.get("parallel")
    return isinstance(length, int) and length <= WRITTEN_OUT_STEPS and not is_kept


def _is_in_vectors(equation: Equation) -> bool:
    """True for a loop that LLVM unrolls because a few vectors hold all of its steps."""
    length = equation.params["length"]
    is_known = isinstance(length, int) and length <= WRITTEN_OUT_LENGTH
    return is_known and _is_innermost(equation)


def _is_innermost(equation: Equation) -> bool:
    return not any(one.primitive == "loop" for one in equation.params["body"].equations)


class KernelStatements(Numbers):
    """Writes the items of a kernel, a function of ``arguments``. The numbers of steps of the
    ``kept`` loops are among them: ``told``."""

    kept: Collection[int] = ()
    told: Mapping[int, str] = MappingProxyType({})
    arguments: Sequence[str] = ()

    def undefined(self, type: Type) -> ast.expr:
        if type.kind == "array" and all(isinstance(n, int) for n in type.dims):
            return empty(type, type.dims)
        return literal(type.dtype.type(0).item())  # a name has one type

    def _steps(self, loop: Repeat) -> ast.expr:
        length = self._length(loop)
        if id(loop.source) in self.kept and isinstance(loop.length, int):
            length = name(self.told[loop.length])
        if is_parallel(loop):
            return ast.Call(name("prange"), [length], [])
        if not loop.reverse or self.counter(loop).id == UNUSED:
            return ast.Call(name("range"), [length], [])
        before = ast.BinOp(length, ast.Sub(), ast.Constant(1))
        last = literal(loop.length - 1) if isinstance(loop.length, int) else before
        down = [last, ast.Constant(-1), ast.Constant(-1)]
        return ast.Call(name("range"), down, [])


def is_parallel(loop: Repeat) -> bool:
    """True for a loop whose steps may run at the same time."""
    return bool(loop.source.params.get("parallel"))


def kernel_lines(
    kernels: Mapping[int, Kernel], sections: Mapping[str, str], fastmath: bool, beside: str = ""
) -> list[Line]:
    """The functions of kernels, and the functions that they and the code ``beside`` them call."""
    unique = {kernel.name: kernel for kernel in kernels.values()}
    functions = [_function(kernel, sections, fastmath) for kernel in unique.values()]
    text = "\n".join([beside, *(line for lines in functions for line, *_ in lines)])
    helpers = [_helper(own, fastmath) for own in called_in(text, HELPERS)]
    return [line for lines in (*helpers, *functions) for line in lines]


def _helper(own: str, fastmath: bool) -> list[Line]:
    allowed: Collection[str] = vars(HELPERS[own]).get("fastmath", ())
    lines = [f"@{_compiled(fastmath=fastmath or allowed)}", *text_of(HELPERS[own]), "", ""]
    return [(line, None, None) for line in lines]


def _compiled(**chosen: bool | Collection[str]) -> str:
    """The decorator of a function for Numba, with the options that are chosen."""
    options = {k: v if isinstance(v, bool) else set(v) for k, v in chosen.items() if v}
    return COMPILED.format("".join(f", {name}={value}" for name, value in options.items()))


def _function(kernel: Kernel, sections: Mapping[str, str], fastmath: bool) -> list[Line]:
    program, statements = kernel.program, kernel.statements
    tree = statements.schedule.tree
    pairs: Mapping[int, int] = dict(kernel.equation.params["writes"])
    placed = {pairs[at] for at in kernel.written}
    new = [atom for at, atom in enumerate(program.outputs) if at not in placed]
    results = [statements.returned(tree.atom(atom)) for atom in new]
    arguments = ", ".join(statements.arguments)
    head = f"def {kernel.name}({arguments}):"
    if len(head) > WIDTH:
        head = f"def {kernel.name}(\n{' ' * INDENT}{arguments}\n):"
    parallel = any(isinstance(item, Repeat) and is_parallel(item) for _, item in tree.items())
    made = _compiled(boundscheck=_is_checked(tree), parallel=parallel, fastmath=fastmath)
    top = (f"@{made}", *head.splitlines(), *_docstring(kernel))
    lines: list[Line] = [(line, None, None) for line in top]
    lines += body_lines(statements.blocks, sections, repeated=False)
    if results:
        value = results[0] if len(results) == 1 else ast.Tuple(results, ast.Load())
        returned = ast.Return(value)
        lines += started(render(returned, width=WIDTH, indent=INDENT), None, returned)
    return [*lines, ("", None, None), ("", None, None)]


def _docstring(kernel: Kernel) -> Sequence[str]:
    """The docstring of a kernel: the user's lines that it computes, and the arguments that it
    changes."""
    places = [*dict.fromkeys(_places(kernel.program))]
    sections = [*dict.fromkeys(place.part for place in places)]
    text = f"The {' and '.join(sections)} loops"
    lines = sorted((where.file, where.statement) for p in places if (where := p.shown) is not None)
    if lines:
        ends = [*dict.fromkeys(line_in(*line) for line in (lines[0], lines[-1]))]
        text += f" of {' to '.join(ends)}"
    inputs, called = kernel.program.inputs, kernel.statements.naming.called
    written = [f"`{called(inputs[at]).id}`" for at in sorted(kernel.written)]
    if written:
        text += f"; they write to {', '.join(written)}"
    margin = " " * INDENT
    made = textwrap.wrap(f'"""{text}."""', WIDTH, initial_indent=margin, subsequent_indent=margin)
    return made


def _places(program: Program) -> Iterator[Location]:
    """The locations of all equations of a program."""
    for equation in program.equations:
        yield equation.location
        for body in equation.programs.values():
            yield from _places(body)


def _is_checked(tree: Tree) -> bool:
    """True if an index is neither a counter nor was checked."""
    known = {item.counter for _, item in tree.items() if isinstance(item, Repeat)}
    known |= {one.output for step in tree.steps if (one := step.equation).primitive == "within"}
    return any(not known.issuperset(_indices(step.equation)) for step in tree.steps)


def _indices(equation: Equation) -> Iterator[Atom]:
    """The integers that say which element an equation reads or writes."""
    at = FIRST_INTEGER.get(equation.primitive, len(equation.inputs))
    return (atom for atom in equation.inputs[at:] if isinstance(atom, Variable))


def kernels_of(
    schedule: Schedule, names: Names, taken: Collection[str], lengths: Mapping[Symbol, str]
) -> dict[int, Kernel]:
    """The kernels of a tree by the positions of their steps; kernels of equal text are merged."""
    found: dict[int, Kernel] = {}
    made: dict[object, Kernel] = {}
    for step in schedule.tree.steps:
        if step.equation.primitive == "kernel":
            written = schedule.writes.kernels[step.at]
            key = str(step.equation.params["body"]), written
            if key not in made:
                own = names.like(f"kernel_{len(made) + 1}")
                needed = lengths_of(step.equation)
                called = {one: lengths.get(one, base_name(one.name)) for one in needed}
                made[key] = Kernel(own, step.equation, taken, written, called)
            found[step.at] = made[key]
    return found
