"""Batches of every function that is differentiated, against a loop over their items.

An ordinary run takes a sample of the table, HYPOTHESIS_PROFILE=thorough all of it.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import stcompile as st
from stcompile import LanguageError
from tests.gradients.cases import CASES, Case
from tests.gradients.checks import assert_close, parts, positions, totalled

SIZE = 3
REFUSED = {
    "a primitive of a user's": "`weigh`",
    "lstsq": "`lstsq`",
    "lstsq, one": "`lstsq`",
    "lstsq, rcond": "`lstsq`",
    "polyfit, w": "`lstsq`",
    "interp": "`interp`",
    "interp, knots": "`interp`",
    "interp, one knot": "`interp`",
    "interp, number": "`interp`",
    "histogram": "`histogram`",
    "histogram, density": "`histogram`",
    "histogram, bins": "`histogram`",
    "round of a number": "`math.round`",
    "normal": "random numbers",
    "uniform": "random numbers",
    "exponential": "random numbers",
}
METHOD_OF_ARRAYS = "x.dot"  # items of a vector are numbers, which do not have it
STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 20
QUICK = settings(
    max_examples=1,
    phases=[Phase.generate],
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def items(case: Case, args: tuple[Any, ...], which: list[int]) -> list[tuple[Any, ...]]:
    """Arguments like these for each item: their numbers in another order, or a little smaller."""
    found = []
    for at in range(SIZE):
        turned = list(args)
        for index in which:
            x = np.asarray(args[index])
            turned[index] = np.roll(x, at) if x.ndim else x * (1 - 0.01 * at)
        try:
            case.function(*turned)
        except (np.linalg.LinAlgError, ValueError, ZeroDivisionError, AssertionError):
            for index in which:
                turned[index] = np.asarray(args[index]) * (1 - 0.01 * at)
        found.append(
            tuple(
                np.float64(a) if np.ndim(a) == 0 and i in which else a for i, a in enumerate(turned)
            )
        )
    return found


def check_batch(case: Case, args: tuple[Any, ...], both: bool) -> None:
    """The values are those of a loop, and so are the gradients; what the arguments that are not
    batched get is the same as in a loop, too."""
    wrt = list(positions(args))
    which = wrt if both else wrt[:1]
    loop = items(case, args, which)
    batch = [
        np.stack([item[i] for item in loop]) if i in which else arg for i, arg in enumerate(args)
    ]
    in_axes = tuple(0 if i in which else None for i in range(len(args)))
    found = parts(st.vmap(case.function, in_axes, level="readable")(*batch))
    expected = [parts(case.function(*item)) for item in loop]
    for one, rows in zip(found, zip(*expected, strict=True), strict=True):
        assert one.dtype == np.stack(rows).dtype
        assert one.shape == np.stack(rows).shape
        assert_close(one, np.stack(rows), 1e-10)
    total = totalled(case.function, case.function(*loop[0]))
    gradient = st.grad(total, tuple(wrt), level="readable")
    known = [gradient(*item) for item in loop]
    rows = st.vmap(gradient, in_axes)(*batch)
    for one, each in zip(rows, zip(*known, strict=True), strict=True):
        assert_close(one, np.stack(each), 1e-9)

    def whole(*args: Any) -> Any:
        return np.sum(st.vmap(total, in_axes)(*args))

    summed = st.grad(whole, tuple(wrt))(*batch)
    for index, one, each in zip(wrt, summed, zip(*known, strict=True), strict=True):
        expected_one = np.stack(each) if index in which else np.sum(np.stack(each), axis=0)
        assert_close(one, expected_one, 1e-9)


@pytest.mark.parametrize("case", CASES[::STEP], ids=lambda case: case.name)
def test_a_batch_is_a_loop(case: Case) -> None:
    @QUICK
    @given(case.arguments)
    def check(args: tuple[Any, ...]) -> None:
        if not positions(args) or case.name == METHOD_OF_ARRAYS:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_batch(case, args, both=True)
            check_batch(case, args, both=False)

    if case.name in REFUSED:
        with pytest.raises(LanguageError, match=f"vmap: {REFUSED[case.name]}"):
            check()
    else:
        check()
