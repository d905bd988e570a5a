"""What a pass must leave as it was: the results of a list, what it writes to, its cotangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.ad.reverse import Split, split
from stcompile.base.errors import StcompileError
from stcompile.wengert.dims import Dim, UnknownSizeError, measured, number_of
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.generators import undrawn
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type
from stcompile.wengert.verify import VerificationError, verify
from tests.passes.drawn_lists import Rng, equations_of
from tests.passes.list_values import is_negative, value_of, values_of
from tests.passes.programs import assert_equal
from tests.uninitialised import spoilt_memory

Pass = Callable[[Program], Program]
FEW, MOST = 5_000, 50_000  # equations that are run of a list, which may never end, and of others
SETS = 2  # of values for each list
TRIES = 12  # of values, until they are some that a list is for


class Unfit(Exception):
    """Values that a list is not for: an index outside its axis, a loop that does not end."""


class EndlessError(Unfit):
    """A loop that does not end."""


class Wrong(AssertionError):
    """A pass that changes what a list computes."""


@dataclass
class Judged:
    """How often what a pass makes of lists was compared."""

    lists: int = 0
    values: int = 0
    cotangents: int = 0
    negative: int = 0  # with a negative integer among the values
    unfit: int = 0  # lists for which no values were found


def judge(run: Pass, program: Program, rng: Rng, exact: bool, so_far: Judged) -> bool:
    """Compare a list with what a pass makes of it; False if that is the list itself, or if there
    are no values that the list is for."""
    try:
        after = _made(run, program)
    except Wrong:
        if fitting(program, rng) is None:
            return False
        raise
    if after is None:
        return False
    so_far.lists += 1
    halves: tuple[Split | None, Split | None] | None = None
    for _ in range(SETS):
        found = fitting(program, rng)
        if found is None:
            so_far.unfit += 1
            return True
        inputs, results = found
        try:
            _compare(evaluated(after, inputs), results, 0 if exact else _tolerance(program))
            so_far.values += 1
            so_far.negative += any(map(is_negative, inputs))
            if halves is None:
                before = _split(program)
                halves = before, None if before is None else _split(after)
            if halves[0] is not None and halves[1] is not None:
                so_far.cotangents += _pulled_back((halves[0], halves[1]), program, inputs, rng)
        except Exception as error:
            raise _wrong(error, program, after, inputs) from error
    return True


def _made(run: Pass, program: Program) -> Program | None:
    """What a pass makes of a list, which is well formed; None if it changes nothing."""
    after = program
    try:
        after = run(program)
        if after is program or str(after) == str(program):
            return None
        verify(after)
        assert after.types == program.types, "other inputs"
        assert [o.type for o in after.outputs] == [o.type for o in program.outputs]
        assert parse_program(str(after)) == after, "another list when it is read from its text"
    except (AssertionError, VerificationError, StcompileError, ArithmeticError) as error:
        raise _wrong(error, program, after, ()) from error
    except (LookupError, TypeError, ValueError, AttributeError, UnknownSizeError) as error:
        raise _wrong(error, program, after, ()) from error
    return after


def fitting(program: Program, rng: Rng) -> tuple[list[Any], Results] | None:
    """Values that a list is for, and what it makes of them; None if there are none."""
    for _ in range(TRIES):
        inputs = values_of(program, rng)
        try:
            return inputs, evaluated(program, inputs, FEW)
        except EndlessError:
            return None
        except Unfit:
            continue
    return None


def _wrong(error: Exception, before: Program, after: Program, inputs: Sequence[Any]) -> Wrong:
    names = [variable.name for variable in before.inputs]
    shown = "\n".join(f"{name} = {value!r}" for name, value in zip(names, inputs, strict=False))
    return Wrong(f"{type(error).__name__}: {error}\nof\n{before}\nafter\n{after}\nfor\n{shown}")


# --- results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Results:
    """The outputs of a list, then its inputs, which it may have written to; and the size of the
    largest number on the way."""

    values: list[Any]
    largest: float


def evaluated(program: Program, inputs: Sequence[Any], most: int = MOST) -> Results:
    """What a list makes of its inputs; `Unfit` if it is not for them."""
    given = [np.copy(v) if isinstance(v, np.ndarray) else v for v in inputs]
    ran, largest = 0, 1.0

    def watch(equation: Equation, atoms: Any, outputs: Any, steps: Any) -> None:
        nonlocal ran, largest
        ran += 1
        if ran > most:
            raise EndlessError
        if "drop" in equation.params and "start" in equation.params:
            _require_places(equation, atoms)
        for variable, value in zip(equation.outputs, outputs, strict=True):
            largest = max(largest, _size(value))
            _require_shape(variable.type, value)

    with undrawn(inputs), np.errstate(all="ignore"), spoilt_memory():
        try:
            outputs = evaluate(program, *given, watch=watch)
        except (IndexError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise Unfit(str(error)) from error
    stored = [e.inputs[0] for e in program.equations if e.primitive == "store"]
    arrays = [v for variable, v in zip(program.inputs, given, strict=True) if variable in stored]
    for output in outputs:
        if isinstance(output, np.ndarray) and any(np.may_share_memory(output, a) for a in arrays):
            raise Unfit("a result that is overwritten")
    copies = [np.copy(v) if isinstance(v, np.ndarray) else v for v in outputs]
    return Results([*copies, *given], largest)


def _size(value: Any) -> float:
    """The largest finite number of a value, without its sign."""
    if not isinstance(value, np.ndarray | np.inexact | float):
        return 0.0
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return 0.0
    size = np.abs(array)
    return float(np.max(size, initial=0.0, where=np.isfinite(size)))


def _require_shape(type: Type, value: Any) -> None:
    if not isinstance(value, np.ndarray) or any(isinstance(dim, Dim) for dim in type.dims):
        return
    if value.shape != type.dims:
        raise Unfit("a part that is not there")


def _require_places(equation: Equation, atoms: Sequence[Any]) -> None:
    """The places that a slice takes are in the array. An integer by itself, as the index of an axis
    that it takes away, may be negative: it counts from the end."""
    first = 1 if equation.primitive == "slice" else 2
    counters, params, shape = atoms[first:], equation.params, np.shape(atoms[0])
    rows = zip(params["start"], params["length"], params["step"], shape, strict=True)
    for axis, (form, length, step, dim) in enumerate(rows):
        factors = [(c, int(i)) for c, i in zip(form[1:], counters, strict=False) if c]
        if not factors or isinstance(length, Dim) or not length:
            continue
        start = form[0] + sum(c * i for c, i in factors)
        ends = (start, start + (length - 1) * step)
        is_integer = axis in params["drop"] and form[0] == 0 and [c for c, _ in factors] == [1]
        if not all(-dim * is_integer <= end < dim for end in ends):
            raise Unfit("a place outside of its axis")


# --- comparisons ----------------------------------------------------------------------------------


def _compare(found: Results, expected: Results, tolerance: float) -> None:
    _compare_all(found.values, expected.values, tolerance, expected.largest)


def _compare_all(
    found: Sequence[Any], expected: Sequence[Any], tolerance: float, largest: float
) -> None:
    """The same bits if the tolerance is 0, else close numbers. Complex products are rounded by
    where arrays lie in memory."""
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, list):
            _compare_all(one, other, tolerance, largest)
            continue
        kind = np.asarray(other).dtype
        if tolerance and kind.kind in "fc":
            _require_close(one, other, tolerance, largest)
        elif kind.kind == "c":
            _require_close(one, other, 1e-11 if kind.itemsize > 8 else 1e-5, largest)
        else:
            assert_equal(one, other)


def _require_close(found: Any, expected: Any, tolerance: float, largest: float) -> None:
    """Close numbers where they are finite: a rule that rounds another way, as it may, gives another
    infinite number, or none."""
    assert (type(found), np.shape(found)) == (type(expected), np.shape(expected))
    one, other = np.asarray(found), np.asarray(expected)
    assert one.dtype == other.dtype
    known = np.isfinite(other)
    if np.any(known):
        atol = tolerance * largest
        np.testing.assert_allclose(one[known], other[known], rtol=tolerance, atol=atol)


def _tolerance(program: Program) -> float:
    """What rounding may change, relative to the largest number: as much as the narrowest numbers
    that a list has allow."""
    equations = list(equations_of(program))
    atoms: list[Atom] = [*program.inputs, *(a for e in equations for a in (*e.inputs, *e.outputs))]
    dtypes = {atom.type.dtype for atom in atoms if atom.type.dtype.kind in "fc"}
    widest = max((float(np.finfo(dtype).eps) for dtype in dtypes), default=0.0)
    return max(1e-11, 100 * widest)


# --- cotangents -----------------------------------------------------------------------------------


def _has_derivative(type: Type) -> bool:
    return type.inexact and type.kind in ("array", "scalar", "python")


def _split(program: Program) -> Split | None:
    """The list and its adjoint; None if there is none."""
    wrt = [v for v in program.inputs if _has_derivative(v.type)]
    given = [at for at, atom in enumerate(program.outputs) if _has_derivative(atom.type)]
    if not wrt or not any(isinstance(program.outputs[at], Variable) for at in given):
        return None
    try:
        return split(program, wrt, given)
    except StcompileError:
        return None


def _pulled_back(
    halves: tuple[Split, Split], program: Program, inputs: Sequence[Any], rng: Rng
) -> bool:
    """Compare the cotangents of the inputs of a list with those of what a pass made of it; False if
    there are none for these values."""
    known = measured(
        (v.type.dims, np.shape(x)) for v, x in zip(program.inputs, inputs, strict=True)
    )
    types = [atom.type for atom in program.outputs if _has_derivative(atom.type)]
    try:
        sizes = [tuple(number_of(dim, known) for dim in t.dims) for t in types]
        cotangents = [
            value_of(Type(t.kind, t.dtype, dims), [3], rng)
            for t, dims in zip(types, sizes, strict=True)
        ]
        expected = _cotangents(halves[0], inputs, cotangents, len(program.outputs))
    except (Unfit, KeyError, UnknownSizeError):
        return False
    found = _cotangents(halves[1], inputs, cotangents, len(program.outputs))
    _compare(found, expected, _tolerance(program))
    return True


def _cotangents(
    halves: Split, inputs: Sequence[Any], cotangents: Sequence[Any], results: int
) -> Results:
    primal = evaluated(halves.primal, inputs)
    residuals = primal.values[results : len(halves.primal.outputs)]
    found = evaluated(halves.adjoint, [*residuals, *cotangents])
    count = len(halves.adjoint.outputs)
    return Results(found.values[:count], max(primal.largest, found.largest))
