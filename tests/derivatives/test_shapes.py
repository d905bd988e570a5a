"""Adjoints of rearrangements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.derivatives.numeric import check_rule

X = np.linspace(-1, 1, 6).reshape(2, 1, 3)


def test_reshape() -> None:
    check_rule("reshape", (X,), {"shape": (3, 2)})
    check_rule("reshape", (np.float64(2),), {"shape": (1, 1)})
    check_rule("squeeze", (X,), {"axis": (1,)})
    check_rule("expand_dims", (X,), {"axis": (0, 3)})
    check_rule("expand_dims", (np.float64(2),), {"axis": (0,)})


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_transpose(axes: tuple[int, ...]) -> None:
    check_rule("transpose", (X,), {"axes": axes})


def test_broadcast_to() -> None:
    check_rule("broadcast_to", (X,), {"shape": (2, 2, 4, 3)})
    check_rule("broadcast_to", (np.float64(2),), {"shape": (2, 3)})


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_joins(axis: int) -> None:
    parts = tuple(np.repeat(X, n, axis=axis) for n in (1, 3, 2))
    check_rule("concatenate", parts, {"axis": axis})
    check_rule("concatenate", (X, X[:0] if axis == 0 else X), {"axis": axis})
    check_rule("stack", (X, 2 * X), {"axis": axis})


def test_stack_of_numbers() -> None:
    check_rule("stack", (np.float64(1), np.float64(2)), {"axis": 0})


def test_roll() -> None:
    check_rule("roll", (X,), {"shift": (2,), "axis": (2,)})
    check_rule("roll", (X,), {"shift": (1, -2), "axis": (0, 2)})


@pytest.mark.parametrize("value", [0, 2.5])
def test_pad(value: float) -> None:
    params = {"pad_width": ((1, 0), (0, 0), (2, 3)), "mode": "constant", "value": value}
    check_rule("pad", (X,), params)


@pytest.mark.parametrize("offset", range(-3, 4))
def test_diagonal(offset: int) -> None:
    x = np.linspace(-1, 1, 24).reshape(2, 3, 4)
    for one, two in ((0, 1), (2, 0), (1, 2)):
        check_rule("diagonal", (x,), {"offset": offset, "axis1": one, "axis2": two})
    more = np.linspace(-1, 1, 24).reshape(2, 1, 3, 4)
    check_rule("diagonal", (more,), {"offset": offset, "axis1": 3, "axis2": 0})
