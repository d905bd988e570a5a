"""`tests.programs.check` fails where it must: each thing that it promises is broken once."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from tests import programs
from tests.programs import assert_fresh, assert_same, check

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
Pair = namedtuple("Pair", "left right")


def program(x):
    return np.sum(np.sin(x) * x)


def test_a_right_gradient_passes():
    np.testing.assert_allclose(check(program, X), np.cos(X) * X + np.sin(X))


def altered(change):
    """`st.value_and_grad` whose results are changed."""
    original = st.value_and_grad

    def transform(function, wrt=0):
        made = original(function, wrt)

        def changed(*args):
            return change(*made(*args))

        changed.source = made.source
        return changed

    return transform


WRONG = {
    "0.05 % off": lambda value, gradient: (value, gradient * 1.0005),
    "one entry off": lambda value, gradient: (value, gradient + 1e-4 * (X > 1.4)),
    "transposed": lambda value, gradient: (value, gradient.T),
    "in float32": lambda value, gradient: (value, gradient.astype(np.float32)),
    "not a number": lambda value, gradient: (value, gradient * np.nan),
    "read-only": lambda value, gradient: (value, np.broadcast_to(gradient, gradient.shape)),
    "another value": lambda value, gradient: (value * (1 + 1e-9), gradient),
    "another kind of value": lambda value, gradient: (float(value), gradient),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_result_is_caught(monkeypatch, change):
    monkeypatch.setattr(programs.st, "value_and_grad", altered(change))
    with pytest.raises(AssertionError):
        check(program, X)


def test_a_wrong_primal_is_caught(monkeypatch):
    def off(function, options=None):
        return lambda x: Primal(function, options)(x) + 1e-16

    monkeypatch.setattr(programs, "Primal", off)
    with pytest.raises(AssertionError):
        check(program, X / 1e16)


def test_a_changed_argument_is_caught(monkeypatch):
    def change(value, gradient):
        given[0][0, 0] = 7.0
        return value, gradient

    given = []
    copies = programs.copy.deepcopy

    def deepcopy(args):
        given[:] = copies(args)
        return tuple(given)

    monkeypatch.setattr(programs.copy, "deepcopy", deepcopy)
    monkeypatch.setattr(programs.st, "value_and_grad", altered(change))
    with pytest.raises(AssertionError):
        check(program, X)


def test_sources_that_differ_are_caught(monkeypatch):
    count = iter(range(100))
    monkeypatch.setattr(
        programs.st.value_and_grad(program).__class__, "source", lambda self, *args: next(count)
    )
    monkeypatch.setattr(programs.zlib, "crc32", lambda name: 0)  # it is one of those compiled twice
    with pytest.raises(AssertionError, match="compilations differ"):
        check(program, X)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (0.0, -0.0),
        (1.0, np.float64(1.0)),
        (np.ones(1), 1.0),
        (np.ones(2), np.ones(2, np.float32)),
        (np.ones(2), np.ones((1, 2))),
        (np.zeros(1), -np.zeros(1)),
        ([1.0], (1.0,)),
        (Pair(1.0, 2.0), (1.0, 2.0)),
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}),
        (1, True),
        ("a", "b"),
    ],
    ids=repr,
)
def test_what_differs_is_not_the_same(found, expected):
    with pytest.raises(AssertionError):
        assert_same(found, expected, "this")


def test_nan_is_the_same_as_nan():
    assert_same([np.array([np.nan, 1.0]), float("nan")], [np.array([-np.nan, 1.0]), np.nan], "this")


def test_shared_memory_is_caught():
    array = np.ones(4)
    assert_fresh([array], [np.ones(4)])
    with pytest.raises(AssertionError, match="shares memory"):
        assert_fresh([array[:2]], [array])
    with pytest.raises(AssertionError, match="shares memory"):
        assert_fresh([array, array.reshape(2, 2)], [])
