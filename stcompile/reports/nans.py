"""The first NaN of a call, traced to the user's line.

The program is run again, equation by equation, and each NaN among the results is followed back to
the equation that made it from operands without one. Infinities can be looked for in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import NanError
from stcompile.wengert.evaluate import environment
from stcompile.wengert.ir import Atom, Equation, Program, Variable, map_programs
from stcompile.wengert.naming import is_numbered
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.staged import Staged

INFINITE = (
    "a derivative is infinite here and meets a zero: choose another value there by np.where, or "
    "add a small number under the root or the quotient"
)


def has_nan(value: Any) -> bool:
    """True if there is a NaN in a number, an array, or a structure of them."""
    return any(_count(leaf) for _, leaf in trees.leaves(value))


def has_infinity_or_nan(value: Any) -> bool:
    """True if something in a number, an array, or a structure of them is not finite."""
    return any(_count(leaf) or _is_infinite(leaf) for _, leaf in trees.leaves(value))


def arrays_of(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    return (leaf for _, leaf in trees.leaves(value) if isinstance(leaf, np.ndarray))


def nan_error(
    staged: Staged, arguments: Mapping[str, Any], infinities: bool = False
) -> NanError | None:
    """The error for a call whose results have a NaN: it names the line that made the first NaN, or
    the argument that had it. None if there is no NaN when the program is run again. With
    ``infinities`` an infinity counts as well."""
    names = [trees.show_path(leaf.argument, leaf.path) for leaf in staged.leaves]
    values = [trees.follow(arguments[leaf.argument], leaf.path) for leaf in staged.leaves]
    names += [hidden.place.description for hidden in staged.hidden]
    values += [hidden.read() for hidden in staged.hidden]
    return first_nan(staged.program, names, values, infinities)


def first_nan(
    original: Program, names: Sequence[str], values: Sequence[Any], infinities: bool = False
) -> NanError | None:
    """The error for the first NaN of a program with given inputs, as `nan_error` has it."""
    program = _without_effects(original)
    is_wanted = has_infinity_or_nan if infinities else has_nan
    watched = _Watched(program.equations, is_wanted)
    with np.errstate(all="ignore"):
        known = environment(program, *values, watch=watched)
    nans = {variable for variable, value in known.items() if is_wanted(value)}
    stored = [e.inputs[1] for e in original.equations if e.primitive == "store"]
    inputs, makers = _origins(program, [*program.outputs, *stored], nans)
    for variable, name, value in zip(program.inputs, names, values, strict=True):
        if variable in inputs:
            return _of_input(program, variable, name, value, nans)
    return _of_equation(watched.makers(makers[0])) if makers else None


def _origins(
    program: Program, results: Sequence[Atom], nans: Collection[Variable]
) -> tuple[set[Variable], list[Equation]]:
    """The inputs and the equations, in order, that the NaNs among the results come from."""
    maker = {output: e for e in program.equations for output in e.outputs}
    waiting = [atom for atom in results if atom in nans]
    seen: set[Atom] = set()
    inputs: set[Variable] = set()
    makers: dict[int, Equation] = {}
    while waiting:
        atom = waiting.pop()
        if atom in seen or not isinstance(atom, Variable):
            continue
        seen.add(atom)
        if atom not in maker:
            inputs.add(atom)
            continue
        equation = maker[atom]
        carried = [operand for operand in equation.inputs if operand in nans]
        waiting += carried
        if not carried:
            makers[id(equation)] = equation
    return inputs, [e for e in program.equations if id(e) in makers]


@dataclass(frozen=True)
class _Event:
    """A run of an equation that made a NaN (or an infinity) from operands without one."""

    equation: Equation
    steps: tuple[int, ...]
    nans: int
    infinite: int
    size: int
    operands: tuple[str, ...]
    is_infinite: bool


class _Watched:
    """Collects the events of each equation of a program, and of the equations inside it: NaNs that
    were made, or infinities."""

    def __init__(self, equations: Sequence[Equation], is_wanted: Callable[[Any], bool]) -> None:
        self._is_wanted = is_wanted
        self._tops = {id(equation) for equation in equations}
        self._inner: list[_Event] = []
        self._events: dict[int, list[_Event]] = {}

    def __call__(
        self,
        equation: Equation,
        inputs: tuple[Any, ...],
        results: tuple[Any, ...],
        steps: tuple[int, ...],
    ) -> None:
        given = (v for a, v in zip(equation.inputs, inputs, strict=True) if type(a) is Variable)
        if self._is_wanted(results) and not any(map(self._is_wanted, given)):
            self._inner.append(_event(equation, inputs, results, steps))
        elif not PRIMITIVES[equation.primitive].control:
            return
        if id(equation) in self._tops:
            self._events[id(equation)] = self._inner
            self._inner = []

    def makers(self, equation: Equation) -> _Event:
        """The first event of ``equation`` that made a NaN (or an infinity, if they are looked
        for)."""
        return self._events[id(equation)][0]


def _event(
    equation: Equation, inputs: Sequence[Any], results: Sequence[Any], steps: tuple[int, ...]
) -> _Event:
    operands = []
    for atom, value in zip(equation.inputs, inputs, strict=True):
        if not isinstance(value, list) and atom.type.kind != "object":
            name = ""
            if isinstance(atom, Variable) and not is_numbered(atom.name):
                name = f"`{atom.name}`: "
            operands.append(name + summary(value))
    flat = [leaf for _, leaf in trees.leaves(results)]
    return _Event(
        equation,
        steps,
        sum(map(_count, flat)),
        sum(map(_count_infinite, flat)),
        sum(np.size(leaf) for leaf in flat),
        tuple(operands),
        any(_is_infinite(value) for value in inputs),
    )


def _of_equation(event: _Event) -> NanError:
    equation, location = event.equation, event.equation.location
    shown = location.shown or location
    section = {"forward": "", "tangent": "the tangent of ", "adjoint": "the adjoint of "}
    section["update"] = "the update by "
    step = "".join(f", step {t} of the loop" for t in event.steps)
    what, one, many = "NaN", "nan", f"{event.nans} NaN"
    if not event.nans:
        what, one, many = "infinity", "an infinity", f"{event.infinite} infinite"
    reason = f"the first {what} is made in {section[location.section]}this line{step}: "
    reason += f"`{equation.params.get('spelling') or equation.primitive}` gives "
    reason += one if event.size == 1 else f"{many} among {event.size} values"
    reason += "".join(f"\n    {operand}" for operand in event.operands)
    is_infinite = location.is_derived and event.is_infinite
    return NanError(reason, location=shown, hint=INFINITE if is_infinite else "")


def _of_input(
    program: Program, variable: Variable, name: str, value: Any, nans: set[Variable]
) -> NanError:
    readers = (e for e in program.equations if variable in e.inputs and e.location.line)
    carrying = next((e for e in readers if not nans.isdisjoint(e.outputs)), None)
    location = None if carrying is None else carrying.location.shown or carrying.location
    here = "" if location is None else ", and this line reads it"
    what = "NaN" if has_nan(value) else "infinity"
    reason = f"the {what} comes from outside{here}: {name} is {summary(value)}"
    return NanError(reason, location=location, hint="look at what made it")


def summary(value: Any) -> str:
    """Describe an operand in words: ``float64 (3, 4), from -1 to 2, 1 NaN, 2 infinite``."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        number = value.item() if isinstance(value, np.ndarray | np.generic) else value
        return str(number)
    text = f"{value.dtype} {value.shape}"
    if not value.size:
        return text
    if value.dtype.kind == "c":
        return text + _counted(value)
    finite = value[np.isfinite(value)]
    if finite.size:
        low, high = finite.min(), finite.max()
        text += f", from {low:.5g} to {high:.5g}" if low != high else f", all {low:.5g}"
    return text + _counted(value)


def _counted(value: Any) -> str:
    infinite = int(np.isinf(value).sum())
    nans = _count(value)
    return (f", {nans} NaN" if nans else "") + (f", {infinite} infinite" if infinite else "")


def _count(value: Any) -> int:
    """The number of NaNs in a number or an array."""
    if isinstance(value, np.ndarray):
        return int(np.isnan(value).sum()) if value.dtype.kind in "fc" else 0
    return int(value != value) if isinstance(value, float | complex | np.inexact) else 0


def _count_infinite(value: Any) -> int:
    """The number of infinities in a number or an array."""
    if isinstance(value, np.ndarray):
        return int(np.isinf(value).sum()) if value.dtype.kind in "fc" else 0
    return int(isinstance(value, float | complex | np.inexact) and bool(np.isinf(value)))


def _is_infinite(value: Any) -> bool:
    return _count_infinite(value) > 0


def _without_effects(program: Program) -> Program:
    """The program without prints, assertions and stores: they were executed before."""
    needed = (e for e in program.equations if e.outputs or "random" in e.effects)
    kept = tuple(map_programs(e, _without_effects) for e in needed)
    return replace(program, equations=kept)
