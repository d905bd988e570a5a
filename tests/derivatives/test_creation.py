"""Adjoints of arrays made from numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.derivatives.numeric import check_rule

FLOAT = np.dtype(np.float64)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,)])
def test_full(shape: tuple[int, ...]) -> None:
    check_rule("full", (np.float64(1.5),), {"shape": shape, "dtype": FLOAT})


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_array(shape: tuple[int, ...]) -> None:
    numbers = tuple(np.float64(i) for i in range(int(np.prod(shape))))
    check_rule("array", numbers, {"shape": shape, "dtype": FLOAT})
