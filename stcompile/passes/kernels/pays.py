"""Choose the equations that stay calls of NumPy because a loop over numbers is no quicker.

A kernel saves calls, and passes over memory, where it does the work of several calls at once. It
loses where NumPy or BLAS is better: elementary functions of many numbers, which NumPy computes
several at a time, sums of many numbers that are in memory, products of matrices, sums with
products, which BLAS computes in a single call, arrays in another order, parts that are made in
their final place, and changes in place. An outer product sums nothing: it is elementwise, and need
not be stored to be added to another array; that of an update is added to the parameter by BLAS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from stcompile.base.thresholds import BLAS_PRODUCT, KERNEL_CALLS, LONG_ROW, NUMPY_SIZE, ROWS_ACROSS
from stcompile.passes.kernels.built import BUILT
from stcompile.passes.kernels.compilable import DTYPES
from stcompile.passes.kernels.elements import VIEWS
from stcompile.passes.kernels.reductions import FOLDED
from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.primitives.contraction import summed_size
from stcompile.wengert.primitives.control import NESTED
from stcompile.wengert.primitives.elementwise import ELEMENTARY

FOLDS = FOLDED | {"argmax", "argmin", "cumsum"}
LOOKS = VIEWS | {"slice", "reshape", "windows", "diagonal", "size", "undef", "empty", "full"}
SUMS = frozenset({"add", "subtract", "accumulate"})


def calls_of(program: Program, is_candidate: Callable[[Equation], bool]) -> set[Variable]:
    """The outputs of equations that could be loops over numbers, but would be no quicker so.
    Equations that could be in the same kernel are judged together."""
    return _Judge(program, is_candidate).run()


class _Judge:
    """The judgement of a program's equations. ``turns`` count how often calls and kernels alternate
    until a value is available."""

    def __init__(self, program: Program, is_candidate: Callable[[Equation], bool]) -> None:
        self.program = program
        self.is_candidate = is_candidate
        self.makers = {v: e for e in program.equations for v in e.outputs}
        self.readers: dict[Atom, list[Equation]] = {}
        for equation in program.equations:
            for variable in set(equation.variables):
                self.readers.setdefault(variable, []).append(equation)
        self.calls: set[Variable] = set()
        self.turns: dict[Variable, int] = {}

    def run(self) -> set[Variable]:
        for equation in self.program.equations:
            if equation.primitive not in NESTED and self._is_called(equation):
                self.calls.update(equation.outputs)
        for equation in reversed(self.program.equations):
            if equation.primitive in LOOKS and self._is_read_by_call(equation):
                self.calls.update(equation.outputs)  # calls read a look at an array as it is
        for equation in self.program.equations:
            self.turns.update(dict.fromkeys(equation.outputs, self._first_turn(equation)))
        groups: dict[int, list[Equation]] = {}
        for equation in reversed(self.program.equations):
            if self.calls.isdisjoint(equation.outputs):
                turn = self._last_turn(equation)
                self.turns.update(dict.fromkeys(equation.outputs, turn))
                groups.setdefault(turn, []).append(equation)
        for group in groups.values():
            if not _pays(group):
                self.calls.update(v for e in group if e.primitive not in NESTED for v in e.outputs)
        return self.calls

    def _is_read_by_call(self, equation: Equation) -> bool:
        readers = (one for v in equation.outputs for one in self.readers.get(v, ()))
        return any(not self.calls.isdisjoint(one.outputs) for one in readers)

    def _first_turn(self, equation: Equation) -> int:
        """The turn in which an equation can be computed: that of its operands, or the next."""
        is_call = not self.calls.isdisjoint(equation.outputs)
        found = 0
        for variable in equation.variables:
            waits = is_call and variable in self.makers and variable not in self.calls
            found = max(found, self.turns.get(variable, 0) + waits)
        return found

    def _last_turn(self, equation: Equation) -> int:
        """The last turn in which an equation can be computed: that of its readers, if they are in a
        kernel."""
        own = self.turns.get(equation.outputs[0], 0) if equation.outputs else 0
        read = [one for v in equation.outputs for one in self.readers.get(v, ())]
        is_kept = not set(self.program.outputs).isdisjoint(equation.outputs)
        if is_kept or not read or any(not self.calls.isdisjoint(one.outputs) for one in read):
            return own
        return min((self.turns[v] for one in read for v in one.outputs), default=own)

    def _is_called(self, equation: Equation) -> bool:
        """True for an equation that NumPy computes quicker than a loop over numbers does, or that
        is not a loop over numbers."""
        atoms = (*equation.inputs, *equation.outputs)
        if not self.is_candidate(equation) or any(_is_odd(atom) for atom in atoms):
            return True
        primitive, size = equation.primitive, _most(atoms)
        if equation.location.section == "update":
            return True
        summed = summed_size(equation) if primitive == "contract" else 1
        if summed > 1 or equation.params.get("op") == "contract":
            return equation.output.type.size * summed > BLAS_PRODUCT
        if size < NUMPY_SIZE:
            return False
        if primitive == "contract" and equation.output not in self.program.outputs:
            readers = self.readers.get(equation.output, [])
            return len(readers) == 1 and readers[0].location.section == "update"
        if primitive in ("sum", "mean") and self._is_made_for(equation.inputs[0]):
            return False
        if primitive == "pad" and self._is_made_for(equation.inputs[0]):
            return False
        if primitive in FOLDS:
            return not equation.output.type.dims or not _is_short(equation)
        if primitive in SUMS and any(map(self._is_product, equation.inputs)):
            return all(atom.type.dims == equation.output.type.dims for atom in equation.inputs)
        if primitive == "accumulate":
            return bool(equation.params["op"] == "slice")
        if primitive == "copy":
            maker = self.makers.get(atoms[0]) if isinstance(atoms[0], Variable) else None
            return maker is not None and maker.primitive == "transpose"
        if primitive == "power":
            return not isinstance(equation.inputs[1], Constant)
        return primitive in ELEMENTARY or (primitive in BUILT and primitive != "reshape")

    def _is_made_for(self, atom: Atom) -> bool:
        """True for an array that a kernel can make number by number, and only to be summed."""
        maker = self.makers.get(atom) if isinstance(atom, Variable) else None
        if maker is None or maker.primitive in LOOKS | NESTED or maker.output in self.calls:
            return False
        is_kept = maker.output in self.program.outputs
        return len(self.readers[atom]) == 1 and not is_kept

    def _is_product(self, atom: Atom) -> bool:
        """True for a product that BLAS can add to another array."""
        maker = self.makers.get(atom) if isinstance(atom, Variable) else None
        if maker is None or maker.primitive != "contract" or len(self.readers[atom]) > 1:
            return False
        return maker.output in self.calls


def _is_short(equation: Equation) -> bool:
    """True for a reduction of few numbers each: of short rows, or across a few long rows, which a
    loop goes along."""
    dims, axis = equation.inputs[0].type.dims, equation.params.get("axis", ())
    last, axes = usual(dims[-1]), axis if isinstance(axis, tuple) else (axis,)
    if len(dims) - 1 in axes or not axes:
        return last < LONG_ROW
    return last < LONG_ROW or math.prod(usual(dims[a]) for a in axes) <= ROWS_ACROSS


def _pays(group: Iterable[Equation]) -> bool:
    """True if a kernel of these equations is quicker than their calls."""
    saved = 0
    for equation in group:
        if equation.primitive == "loop":
            return True
        atoms = (*equation.inputs, *equation.outputs)
        saved += equation.primitive not in LOOKS and _most(atoms) > 1
    return saved >= KERNEL_CALLS


def _is_odd(atom: Atom) -> bool:
    """True for an array whose elements are not numbers in compiled code."""
    return atom.type.kind == "array" and atom.type.dtype not in DTYPES


def _most(atoms: Iterable[Atom]) -> int:
    """The number of elements of the largest array."""
    found = 1
    for atom in atoms:
        size = 1
        for length in atom.type.dims:
            size *= usual(length)
        found = max(found, size)
    return found
