"""Whether the compiled level is right.

A light judgement is that of the fast level, for one compilation at the compiled one: results beside
NumPy's, and the gradient beside differences. In full, values and gradients agree with those of the
fast level up to rounding in all calls, and so do those of the form for other functions of Numba's,
of loops in several threads and of programs for all lengths; on demand, products of second
derivatives with a direction. Kernels run as plain Python, unless the environment has
``FUZZ_NUMBA``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.options import Options
from stcompile.transforms.gradient import Gradient
from tests.fuzz.generate import function_of
from tests.fuzz.helpers import HELPERS
from tests.fuzz.identity import Tangents
from tests.fuzz.judge_arrays import Calls, Comparison, alike, as_number, computes_in_less, is_narrow
from tests.fuzz.structures import flat, is_finite, is_real, locked
from tests.fuzz.verdicts import Mismatch, Verdict, close, interpreted, verdict_of

FAST = Options("fast")
COMPILED = Options("compiled")
FORMS = {  # what is compared with the fast level, by what it is called
    "compiled": COMPILED,
    "inner": Options("compiled", inner=True),
    "parallel": Options("compiled", parallel=True),
    "dynamic": Options("compiled", dynamic=True),
}


def judge_source(
    source: str, calls: Calls, second_order: bool, light: bool, names: Mapping[str, Any] = HELPERS
) -> Verdict:
    """The verdict on a program in text."""
    return judge_function(function_of(source, names), calls, second_order, light, source)


def judge_function(
    function: Callable[..., Any], calls: Calls, second_order: bool, light: bool, text: str = ""
) -> Verdict:
    """The verdict on a function. Its text tells whether it computes in less than float64."""
    is_exact = not computes_in_less(text) and not any(map(is_narrow, calls))
    tolerance = 1e-9 if is_exact else 3e-3

    def total(*args: Any) -> Any:
        return as_number(function(*args))

    def examine() -> tuple[int, int]:
        wrt = tuple(at for at, arg in enumerate(calls[0]) if all(map(is_real, flat(arg))))
        if light:
            with interpreted():
                compared, kinks = Comparison(function, text, calls).run_once(COMPILED)
        else:
            compared, kinks = _compared(total, wrt, calls, [*FORMS], tolerance), 0
        if second_order and is_exact:
            compared += _second(total, wrt, calls)
        return compared, kinks

    return verdict_of(function, examine)


def _compared(
    function: Callable[..., Any],
    wrt: tuple[int, ...],
    calls: Calls,
    forms: list[str],
    tolerance: float = 1e-9,
) -> int:
    fast = Gradient(function, wrt, True, FAST)
    others = {form: Gradient(function, wrt, True, FORMS[form]) for form in forms}
    tangents = Tangents(function, wrt, len(calls[0]), COMPILED)
    compared = 0
    for args in alike(calls):
        expected = fast(*locked(args))
        if not is_finite(expected):
            continue
        for form, gradient in others.items():
            with interpreted():
                found = gradient(*locked(args))
            _check(found, expected, form, args, tolerance)
            compared += 1
        with interpreted():
            tangents.check(args, expected[1], "compiled", tolerance > 1e-6)
    return compared


def _second(function: Callable[..., Any], wrt: tuple[int, ...], calls: Calls) -> int:
    """The products of second derivatives with a direction."""
    first = st.grad(function, wrt)

    def slope(*args: Any) -> Any:
        return sum(np.sum(g * np.cos(g)) for g in flat(first(*args)))

    return _compared(slope, wrt, calls[:2], ["compiled"])


def _check(found: Any, expected: Any, form: str, args: Any, tolerance: float) -> None:
    (value, gradients), (expected_value, expected_gradients) = found, expected
    if not close(value, expected_value, tolerance):
        raise Mismatch(f"the value, {form}", f"{value}\nnot\n{expected_value}\n{args}")
    scale = max([1.0, *(float(np.max(np.abs(g), initial=0.0)) for g in flat(expected_gradients))])
    for one, other in zip(flat(gradients), flat(expected_gradients), strict=True):
        is_near = np.allclose(one, other, rtol=10 * tolerance, atol=tolerance * scale)
        if np.shape(one) != np.shape(other) or not is_near:
            raise Mismatch(
                f"the gradient, {form}", f"{gradients}\nnot\n{expected_gradients}\n{args}"
            )
