"""Gradients at other integers and masks than those of the arguments that they are checked with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.check import compared
from stcompile.transforms.custom_rule import CustomRule
from stcompile.transforms.varied import variations

X = np.array([0.5, 1.5, -0.25, 2.0])
INDICES = np.array([2, 0, 1])


def _taken(x, i):
    return x[i], (x, i)


def _right(kept, d_y):
    x, i = kept
    d_x = np.zeros_like(x)
    np.add.at(d_x, i, d_y)
    return d_x, None


def _wrong_for_negative(kept, d_y):
    x, i = kept
    d_x = np.zeros_like(x)
    np.add.at(d_x, np.where(i < 0, i + len(x) - 1, i), d_y)
    return d_x, None


def _wrong_for_repeated(kept, d_y):
    x, i = kept
    d_x = np.zeros_like(x)
    d_x[i] += d_y
    return d_x, None


def taking(adjoint: Any) -> Any:
    rule = CustomRule(_taken, adjoint)

    @st.differentiable
    def loss(x, i):
        return np.sum(np.sin(rule(x, i)) * np.array([1.0, 2.0, 3.0]))

    return loss


def test_a_right_adjoint() -> None:
    found = compared(taking(_right).value_and_grad, (X, INDICES), {})
    assert not found.wrong(1e-7)
    assert [str(one) for one in found.varied if not one.left_out] == [
        "i negative",
        "i repeated",
        "i repeated and negative",
        "i all the least",
        "i all the largest",
        "i the other way round",
    ]


@pytest.mark.parametrize(
    ("adjoint", "which"),
    [(_wrong_for_negative, "i negative"), (_wrong_for_repeated, "i (repeated|all the)")],
)
def test_an_adjoint_that_is_wrong_for_other_integers(adjoint: Any, which: str) -> None:
    """The entries are named, with the integers at which they are wrong."""
    with pytest.raises(st.GradientCheckError, match=rf"to x.*, with {which}.* is .*, but finite"):
        taking(adjoint).check_grads(X, INDICES)
    with pytest.raises(AssertionError, match=rf"x\[\d\], with {which}"):
        st.testing.assert_gradients(taking(adjoint), X, INDICES)


def test_a_rule_is_checked_for_them_when_it_is_made() -> None:
    def backward(kept, d_y):
        x, i = kept
        d_x = np.zeros_like(x)
        np.add.at(d_x, np.abs(i), d_y)
        return d_x, None

    with pytest.raises(st.GradientCheckError, match="the adjoint of `taken` is wrong.*negative"):
        st.custom_rule(_taken, backward=backward, example=(X, INDICES))


def test_an_adjoint_that_raises_for_other_integers() -> None:
    def adjoint(kept, d_y):
        x, i = kept
        d_x = np.zeros(len(x))
        np.add.at(d_x, np.where(i < 0, len(x) + 7, i), d_y)
        return d_x, None

    with pytest.raises(st.GradientCheckError, match="with i negative raises IndexError"):
        taking(adjoint).check_grads(X, INDICES)


def test_what_the_function_does_not_take_is_left_out() -> None:
    @st.differentiable
    def loss(x, i, mask):
        if np.min(i) < 0:
            raise ValueError("negative")
        return np.sum(x[i]) / np.sum(mask) + np.mean(x[mask] ** 2)

    found = compared(loss.value_and_grad, (X, INDICES, X > 0.3), {})
    left_out = {str(one): one.left_out for one in found.varied if one.left_out}
    assert left_out == {
        "i negative": "raises ValueError",
        "i repeated and negative": "raises ValueError",
        "mask none": "gives nan",
    }
    assert not found.wrong(1e-6)


def test_a_kink_there_is_no_error() -> None:
    """Another mask makes two numbers equal of which one is the largest."""

    @st.differentiable
    def loss(x, mask):
        return np.max(np.where(mask, x, 1.5)) + np.sqrt(np.max(x[mask] ** 2))

    found = compared(loss.value_and_grad, (X, X > 1.7), {})
    left_out = {one.which: one.left_out for one in found.varied}
    assert left_out == {
        "none": "raises ValueError", "all": "", "the others": "is not smooth there",
    }  # fmt: skip
    assert not found.wrong(1e-6)


def test_masks() -> None:
    masks = {"given": (np.array([True, False]), [np.array([True, True])])}
    assert [(str(one), value[0].tolist()) for one, _, value in variations(masks)] == [
        ("given[0] none", [False, False]),
        ("given[0] all", [True, True]),
        ("given[0] the others", [False, True]),
        ("given[1][0] none", [True, False]),
    ]


@pytest.mark.parametrize(
    "given", [np.array(3), np.array([[1, -2], [0, 5]]).T, np.zeros((0, 2), int)]
)
def test_integers_stay_in_their_array(given: Any) -> None:
    for variation, _, value in variations({"i": given}):
        assert (value.shape, value.dtype, value.strides) == (
            given.shape,
            given.dtype,
            given.strides,
        )
        within = np.minimum(given, ~given).min(), given.max()
        assert np.all((value >= within[0]) & (value <= within[1])), variation


def test_unsigned_integers_have_no_negative_ones() -> None:
    found = [one.which for one, *_ in variations({"i": np.array([2, 1], np.uint8)})]
    assert found == ["repeated", "all the least", "the other way round"]


def test_what_is_given_is_not_changed() -> None:
    indices, mask = INDICES.copy(), X > 0.3

    @st.differentiable
    def loss(x, i, mask):
        i[0] = 0
        return np.sum(x[i] ** 2) + np.sum(np.where(mask, x, 2 * x))

    loss.check_grads(X, indices, mask)
    np.testing.assert_array_equal(indices, INDICES)
    np.testing.assert_array_equal(mask, X > 0.3)
