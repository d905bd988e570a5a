"""Every function at the compiled level: a new one is made loops, or stays a call, and gives
the same. Kernels run as the plain Python that they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import stcompile as st
from stcompile.wengert.primitives.elementwise import UFUNCS
from tests.gradients.cases import CASES
from tests.gradients.checks import parts, positions, totalled
from tests.gradients.functions.case import Case

numba = pytest.importorskip("numba")
SPECIAL = np.array([0.0, -0.0, 1.0, -2.5, 0.75, 1e300, -1e-300, np.inf, -np.inf, np.nan])
PAIRS = np.repeat(SPECIAL, len(SPECIAL)), np.tile(SPECIAL, len(SPECIAL))
OF_FLOATS = sorted(
    name for name, f in UFUNCS.items() if "." not in name and "dd->d" in f.types and f.nin == 2
)
ONE = settings(
    max_examples=1,
    phases=[Phase.generate],
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("case", CASES[::12], ids=lambda case: case.name)
def test_gradients(case: Case) -> None:
    """Value and gradient are those of the readable level."""
    drawn: list[tuple[Any, ...]] = []

    @ONE
    @given(case.arguments)
    def draw(args: tuple[Any, ...]) -> None:
        drawn.append(args)

    draw()
    args = drawn[-1]
    total = totalled(case.function, parts(case.function(*args)))
    wrt = positions(args)
    if not wrt:
        return
    value, gradients = st.value_and_grad(total, wrt=wrt, level="readable")(*args)
    found, d_found = st.value_and_grad(total, wrt=wrt, level="compiled")(*args)
    np.testing.assert_allclose(found, value, rtol=1e-10, atol=1e-12)
    for one, other in zip(d_found, gradients, strict=True):
        scale = np.max(np.abs(other), initial=1.0)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.parametrize("name", OF_FLOATS)
def test_special_values_of_pairs(name: str) -> None:
    function = UFUNCS[name]
    found = st.compile(lambda x, y: function(x, y) * 1.0 + 0.0, level="compiled")(*PAIRS)
    np.testing.assert_allclose(found, function(*PAIRS) * 1.0 + 0.0, rtol=1e-14)
