"""Random programs that collect and choose are right or refused at the user's line."""

from __future__ import annotations

import copy
import functools
import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.fuzz.collected import arguments, source_of
from tests.programs import assert_like

PROGRAMS = 60
STEP = 1e-6
REFUSALS = (st.LanguageError, st.TypingError, st.DerivativeError)
WEIGHTS = np.cos(np.arange(3.0))


def function_of(source: str) -> Callable[..., Any]:
    file = f"<collected {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    names: dict[str, Any] = {"__name__": "tests.fuzz.program", "np": np, "functools": functools}
    names |= {"span": range, "number": float}  # the program may have names of its own for these
    exec(compile(source, file, "exec"), names)
    return names["program"]


def verdict(seed: int) -> str:
    """``right`` or ``refused``; an AssertionError for any other."""
    source = source_of(seed)
    function = function_of(source)

    def total(x: Any, s: Any) -> Any:
        value, row = function(x, s)
        return value * 1.0 + np.sum(row * WEIGHTS)

    args = arguments(seed)
    try:
        expected = function(*copy.deepcopy(args))
    except (TypeError, ValueError, LookupError):
        return "not run"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for level in ("readable", "fast"):
                for _ in range(2):
                    given = copy.deepcopy(args)
                    found = st.compile(function, level=level)(*given)
                    assert_like(found, expected, f"at level {level} of\n{source}")
                    np.testing.assert_array_equal(given[0], args[0])
                value, (by_x, by_s) = st.value_and_grad(total, (0, 1), level=level)(*args)
                assert_like(value, total(*copy.deepcopy(args)), f"value, {level} of\n{source}")
                check_slope(total, args, by_x, by_s, f"{level} of\n{source}")
    except REFUSALS as refusal:
        assert refusal.location is not None, f"a refusal without a line: {refusal}\n{source}"
        return "refused"
    return "right"


def check_slope(function: Any, args: Any, by_x: Any, by_s: Any, what: str) -> None:
    """Compare the slope along two directions with differences, where there is no kink."""
    x, s = args
    rng = np.random.default_rng(0)
    for _ in range(2):
        along, turn = rng.normal(size=x.shape), float(rng.normal())
        slopes = []
        for h in (STEP, STEP * 3):
            ahead, behind = (function(x + k * along, s + k * turn) for k in (h, -h))
            slopes.append((ahead - behind) / (2 * h))
        if abs(slopes[0] - slopes[1]) > 1e-5 * max(1.0, abs(slopes[0])):
            continue
        slope = float(np.sum(by_x * along) + by_s * turn)
        assert abs(slope - slopes[0]) < 1e-4 * max(1.0, abs(slopes[0])), (
            f"slope {slope}, not {slopes[0]}, at level {what}"
        )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(seed: int) -> None:
    assert verdict(seed) in ("right", "refused", "not run")


def test_most_programs_are_right() -> None:
    kinds = [verdict(seed) for seed in range(PROGRAMS, PROGRAMS + 8)]
    assert kinds.count("right") > 4
