"""Whether a program is compiled right for all lengths of its arguments.

It is called with several lengths, which run what was compiled with names for them, or what was
compiled for one of them where a name was not possible. The value is compared with NumPy's, the
gradient with that of the program compiled for the numbers, at both levels, and with differences;
the program with names is verified and evaluated. A light judgement is of values and differences
alone, with names from the first call on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.options import Options
from stcompile.transforms.gradient import Gradient
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.fuzz.generate import function_of
from tests.fuzz.identity import Tangents
from tests.fuzz.sized import LENGTHS
from tests.fuzz.verdicts import Mismatch, Verdict, close, verdict_of

WRT = (0, 1, 2)
Calls = tuple[tuple[Any, ...], ...]


def judge_source(
    source: str,
    calls: Calls,
    second_order: bool = False,
    light: bool = False,
    names: Mapping[str, Any] = MappingProxyType({}),
) -> Verdict:
    """The verdict on a program in text."""
    function = function_of(source, names)
    return verdict_of(function, lambda: _examined(function, calls, second_order, light))


def _examined(function: Any, calls: Calls, second_order: bool, light: bool) -> tuple[int, int]:
    compiled = st.value_and_grad(function, WRT, dynamic=True if light else None)
    readable = st.value_and_grad(function, WRT, level="readable", dynamic=True)
    tangents = Tangents(function, WRT, len(calls[0]), Options("fast", dynamic=True))
    counts = [0, 0]
    for number, args in enumerate(calls):
        value, gradients = compiled(*copy.deepcopy(args))
        expected = function(*copy.deepcopy(args))
        if not close(value, expected, 1e-9):
            raise Mismatch("the value", f"{value}\nnot\n{expected}\n{shapes(args)}")
        found = _slope(function, args, gradients)
        counts[found is None] += 1
        if found is False:
            raise Mismatch("the gradient", f"{gradients}\n{shapes(args)}")
        tangents.check(args, gradients, "named lengths")
        if light:
            continue
        _same(readable(*copy.deepcopy(args))[1], gradients, "the gradient, readable", args)
        if number == len(LENGTHS) - 1:
            alone = st.grad(function, WRT, dynamic=False)
            _same(gradients, alone(*copy.deepcopy(args)), "the gradient for numbers", args)
    if not light:
        _evaluated(readable, calls)
    if second_order:
        _second(function, calls)
    return counts[0], counts[1]


def shapes(args: Any) -> str:
    return str([np.shape(arg) for arg in args])


def _same(found: Any, expected: Any, what: str, args: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        if np.shape(one) != np.shape(other) or not close(one, other, 1e-9):
            raise Mismatch(what, f"{one}\nnot\n{other}\n{shapes(args)}")


def _slope(function: Callable[..., Any], args: Any, gradients: Any) -> bool | None:
    """Whether the slope along a direction is that of differences; None at a kink."""
    rng = np.random.default_rng(3)
    along = [rng.uniform(-1, 1, np.shape(args[i])) for i in WRT]
    slope = sum(float(np.sum(g * d)) for g, d in zip(gradients, along, strict=True))

    def at(h: float) -> float:
        moved = [arg + h * d for arg, d in zip(args, along, strict=False)]
        return float(function(*moved, *args[len(along) :]))

    def central(h: float) -> float:
        return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)

    found = [central(h) for h in (1e-4, 1e-3, 1e-5, 1e-6)]
    if any(close(one, slope, 1e-5) for one in found):
        return True
    sides = [(at(h) - at(0.0)) / h for h in (1e-6, -1e-6, 1e-7, -1e-7)]
    is_smooth = close(found[0], found[2], 1e-5) and all(close(s, sides[0], 1e-3) for s in sides)
    return False if is_smooth else None


def _evaluated(readable: Gradient[..., Any], calls: Calls) -> None:
    """The evaluator runs the program with names for all lengths that it is for."""
    bound = readable.bind(calls[0], {})
    specialisation = readable.specialise(bound)
    program = specialisation.staged.program
    verify(program)
    if parse_program(str(program)) != program:
        raise Mismatch("the text of a program", str(program))
    hidden = [place.read() for place in specialisation.hidden]
    for args in calls:
        if readable.specialise(readable.bind(args, {})) is not specialisation:
            continue
        value, gradients = readable(*copy.deepcopy(args))
        found = evaluate(program, *copy.deepcopy(args[:3]), args[3], *hidden)
        if not close(found[0], value, 1e-10):
            raise Mismatch("the evaluator's value", f"{found[0]}\nnot\n{value}\n{shapes(args)}")
        _same(found[1:], gradients, "the evaluator's gradient", args)


def _second(function: Callable[..., Any], calls: Calls) -> None:
    first = st.grad(function, WRT)

    def slope(x: Any, w: Any, a: Any, s: Any) -> Any:
        found = first(x, w, a, s)
        return sum(np.sum(g * np.cos(g)) for g in found)

    second = st.grad(slope, WRT)
    for args in calls[:3]:
        if _slope(slope, args, second(*copy.deepcopy(args))) is False:
            raise Mismatch("the second order", shapes(args))
