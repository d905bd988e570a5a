"""Operations of which only the running program knows whether they raise an error that a ``try``
around them catches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from stcompile.analysis.errors import Kinds
from stcompile.base.errors import StcompileError
from stcompile.codegen_templates.derivatives import NON_DIFFERENTIABLE
from stcompile.frontend.control.paths import either
from stcompile.frontend.control.splits import refuse, split_off
from stcompile.frontend.state.failures import Guard, text_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_traced
from stcompile.wengert.dims import Dim
from stcompile.wengert.ir import Equation, exact, freeze
from stcompile.wengert.templates import mark_of

_BY_ZERO = ("divide", "floor_divide", "remainder")


def may_fail(run: Run, equation: Equation, caught: Mapping[type[BaseException], Guard]) -> None:
    """Go on after the last equation for the case that it does not raise; if it raises one of the
    errors that are ``caught``, the handler runs."""
    kinds = tuple(caught)
    guard = caught[kinds[0]]
    called = {name: value for name, value in equation.params.items() if name != "part"}
    made = ("succeeded", equation.primitive, equation.inputs, exact(called))
    if made in run.made:
        return
    handlers = {id(g.catches(kind)) for kind, g in caught.items() if g.catches is not None}
    flags = [_flag(run, equation, kind) for kind in kinds]
    is_known = all(flag is not None for flag in flags)
    if len(handlers) != 1 and not is_known:
        refuse(run, guard, " or ".join(kind.__name__ for kind in kinds))
    recorded = run.recorder.equations
    at = next(i for i, other in enumerate(recorded) if other is equation)
    del recorded[at]
    if not is_known:
        failed, equation = _attempt(run, equation, guard, kinds)
        kinds, flags = kinds[:1], [failed]
    for kind, flag in zip(kinds, flags, strict=True):
        if flag is not False:
            text = text_of(equation.params.get("called", equation.primitive), kind)
            split_off(run, flag, caught[kind], partial(_thrown, run, kind, text))
    run.made[made] = True
    run.recorder.equations.append(equation)
    run.recorder.producers.update(dict.fromkeys(equation.outputs, equation))


def _thrown(run: Run, kind: type[BaseException], text: str | None) -> None:
    error = StcompileError("raised at run time", location=run.location)
    raised = kind("known only at run time" if text is None else text)
    error.raised, error.guards, error.is_opaque = raised, run.guards, text is None
    raise error


def _flag(run: Run, equation: Equation, kind: type[BaseException]) -> Any:
    """A flag that tells from the operands whether an equation raises an error of a class; None if
    only a trial does."""
    name, operands = equation.primitive, equation.inputs
    if name in _BY_ZERO and kind is ZeroDivisionError:
        return run.record("equal", run.value(operands[1]), 0)
    if name in ("slice", "update") and kind is IndexError:
        return _is_outside(run, equation)
    if name == "to_python" and operands[0].type.ndim == 0:
        number = run.value(operands[0])
        if kind is ValueError:
            return run.record("not_equal", number, number)
        if kind is OverflowError:
            return run.record("equal", run.record("absolute", number), math.inf)
    return None


def _is_outside(run: Run, equation: Equation) -> Any:
    """A flag for a part of an array that does not lie within it."""
    array, params = equation.inputs[0], equation.params
    counters = equation.inputs[1 if equation.primitive == "slice" else 2 :]
    found: Any = False
    for axis, (first, *factors) in enumerate(params["start"]):
        place: Any = first
        for counter, factor in zip(counters, factors, strict=False):
            if factor:
                term = (
                    run.value(counter)
                    if factor == 1
                    else run.record("multiply", run.value(counter), factor)
                )
                place = run.record("add", term, place) if place is not first or first else term
        if is_traced(place) and axis in params["drop"]:
            length = array.type.dims[axis]
            if isinstance(length, Dim):
                return None
            for flag in (("less", -length), ("greater_equal", length)):
                found = either(run, found, run.record(flag[0], place, flag[1]))
    return found


def _attempt(run: Run, equation: Equation, guard: Guard, kinds: Kinds) -> tuple[Any, Equation]:
    """Record a trial of an equation; return whether it has failed, and an equation for its
    result."""
    if mark_of(equation.primitive) != "fresh" or len(equation.outputs) != 1 or equation.effects:
        refuse(run, guard, kinds[0].__name__)
    names = tuple(kind.__name__ for kind in kinds)
    params = {**equation.params, "called": equation.primitive}
    outer, run.guards = run.guards, ()
    try:
        (value,) = run.record_atoms("attempted", equation.inputs, {**params, "errors": names})
        failed = run.record("failed", run.value(value))
    finally:
        run.guards = outer
    if equation.primitive in NON_DIFFERENTIABLE:
        return failed, equation
    inputs = (value, *equation.inputs)
    given = Equation(equation.outputs, "given", inputs, freeze(params), (), equation.location)
    return failed, given
