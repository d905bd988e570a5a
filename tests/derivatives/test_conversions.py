"""A conversion hands the cotangent on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.derivatives.numeric import check_rule

FLOAT = np.dtype(np.float64)


@pytest.mark.parametrize("x", [np.float64(1.5), np.array(1.5), np.array([[1.5]])])
def test_to_python(x: Any) -> None:
    check_rule("to_python", (x,), {"dtype": FLOAT})


@pytest.mark.parametrize("x", [np.float64(1.5), np.array(1.5)])
def test_to_scalar(x: Any) -> None:
    check_rule("to_scalar", (x,))


@pytest.mark.parametrize("x", [np.float64(1.5), np.array([1.5, 2.5])])
def test_others(x: Any) -> None:
    check_rule("asarray", (x,))
    check_rule("copy", (x,))
    check_rule("cast", (x,), {"dtype": FLOAT})
