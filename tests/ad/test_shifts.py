"""Maxima that cancel cost nothing; those that do not keep their derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import check_gradient

T = np.random.default_rng(3).normal(size=(4, 3))
W = np.random.default_rng(4).normal(size=(3, 5))
LABELS = np.array([0, 2, 1, 1])

Function = Callable[[Any], Any]


# --- the maximum cancels --------------------------------------------------------------------------


def log_sum_exp(t: Any) -> Any:
    m = np.max(t, axis=1)
    return np.sum((m + np.log(np.sum(np.exp(t - m[:, None]), axis=1))) ** 2)


def of_columns(t: Any) -> Any:
    m = np.max(t, axis=0)
    return np.sum(np.sin(np.log(np.sum(np.exp(t - m), axis=0)) + m))


def of_all(t: Any) -> Any:
    m = t.max()
    return m + np.log(np.sum(np.exp(t - m)))


def softmax(t: Any) -> Any:
    e = np.exp(t - t.max(axis=1, keepdims=True))
    return np.sum((e / e.sum(axis=1, keepdims=True)) ** 3)


def cross_entropy(t: Any) -> Any:
    shifted = t - t.max(axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(total - shifted[np.arange(4), LABELS])


def attention(t: Any) -> Any:
    e = np.exp(t - t.max(axis=-1, keepdims=True))
    return np.sum(np.cos((e @ W) / e.sum(axis=-1, keepdims=True)))


def tempered(t: Any) -> Any:
    m = np.max(t, axis=1, keepdims=True)
    return np.sum(np.log(np.mean(np.exp((t - m) / 2.0), axis=1, keepdims=True)) + 0.5 * m)


def of_powers(t: Any) -> Any:
    m = t.max()
    e = np.exp(t.T - m)
    return np.log(np.sum(e * e)) / 2 + m


def seen_through_a_subscript(t: Any) -> Any:
    m = np.max(t, axis=1, keepdims=True)
    return np.sum(np.sin(m[:, 0] + np.log(np.sum(np.exp(t - m), axis=1))))


def subscript_of_the_sum(t: Any) -> Any:
    m = np.max(t, axis=0, keepdims=True)
    return np.sum((m + np.log(np.sum(np.exp(t - m), axis=0, keepdims=True)))[..., 0, :] ** 2)


CANCELLED = [
    seen_through_a_subscript, subscript_of_the_sum, log_sum_exp, of_columns, of_all, softmax,
    cross_entropy, attention, tempered, of_powers,
]  # fmt: skip


# --- it does not ----------------------------------------------------------------------------------


def maximum_itself(t: Any) -> Any:
    return np.sum(np.max(t, axis=1) ** 2)


def shifted_only(t: Any) -> Any:
    return np.sum(np.exp(t - np.max(t, axis=1, keepdims=True)))


def subtracted_twice(t: Any) -> Any:
    m = np.max(t, axis=1)
    return np.sum(np.log(np.sum(np.exp(t - m[:, None]), axis=1)) - m)


def summed_over_its_axis(t: Any) -> Any:
    m = np.max(t, axis=1)
    return np.sum(m) + np.log(np.sum(np.exp(t - m[:, None])))


def along_another_axis(t: Any) -> Any:
    s = t[:3]
    m = np.max(s, axis=1)
    return np.sum(np.log(np.sum(np.exp(s - m), axis=0)) + m[::-1])


def halved(t: Any) -> Any:
    m = np.max(t, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(t - m), axis=1, keepdims=True)) + 0.5 * m)


def other_rows(t: Any) -> Any:
    shifted = t - t.max(axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(total - 2 * shifted[np.arange(4), LABELS])


def one_for_all(t: Any) -> Any:
    m = np.max(t, axis=1, keepdims=True)
    return np.sum(m[0] + np.log(np.sum(np.exp(t - m), axis=1)))


def turned_around(t: Any) -> Any:
    m = np.max(t, axis=1)
    return np.sum((m[::-1] + np.log(np.sum(np.exp(t - m[:, None]), axis=1))) ** 2)


def reversed_rows(t: Any) -> Any:
    shifted = t - t.max(axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.sum((total - shifted[np.array([3, 2, 1, 0]), LABELS]) ** 2)


def in_two_ways(t: Any) -> Any:
    m = np.max(t)
    return (m + np.log(np.sum(np.exp(t - m)))) * np.sin(m)


def sum_of_exponentials(t: Any) -> Any:
    e = np.exp(t - t.max(axis=1, keepdims=True))
    return np.sum((e + 1.0) / e.sum(axis=1, keepdims=True))


KEPT = [
    maximum_itself, shifted_only, subtracted_twice, summed_over_its_axis, along_another_axis,
    halved, other_rows, reversed_rows, in_two_ways, sum_of_exponentials,
    one_for_all, turned_around,
]  # fmt: skip


def compares(function: Function) -> bool:
    """True if the adjoint asks which elements are the largest."""
    return "equal(" in str(st.show(st.grad(function), T, after="eliminate_dead_code"))


def check_twice(function: Function) -> None:
    """The gradient, and the gradient of a weighted sum of it, by differences."""
    gradient = st.grad(function)
    check_gradient(function, (T,), 0, gradient(T))

    def weighted(t: Any) -> Any:
        return np.sum(gradient(t) * np.cos(T))

    check_gradient(weighted, (T,), 0, st.grad(weighted)(T))


@pytest.mark.parametrize("function", CANCELLED, ids=lambda f: f.__name__)
def test_a_maximum_that_cancels_is_not_differentiated(function: Function) -> None:
    assert not compares(function)
    check_twice(function)


@pytest.mark.parametrize("function", KEPT, ids=lambda f: f.__name__)
def test_one_that_does_not_cancel_keeps_its_derivative(function: Function) -> None:
    assert compares(function)
    check_twice(function)
