"""What stands in NumPy's modules, and what abstract classes count as theirs, may be replaced."""

from __future__ import annotations

import abc
import collections.abc
import math
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.array([0.3, 0.7, 1.1])


def one_name(x: Any) -> Any:
    return x * 2 + np.tanh(x)


def several_names(x: Any) -> Any:
    return np.sin(x) * np.linalg.norm(x) + math.exp(x[0]) * np.pi


def in_a_branch(x: Any) -> Any:
    return np.tanh(x) if x[0] > 0 else np.cos(x)


REPLACED = [
    (one_name, np, "tanh", np.sin),
    (several_names, np, "sin", np.arctan),
    (several_names, np, "pi", 3.0),
    (several_names, np.linalg, "norm", np.sum),
    (several_names, math, "exp", math.sin),
    (in_a_branch, np, "cos", np.arctan),
    (in_a_branch, np, "tanh", lambda x: x * x),
]


@pytest.mark.parametrize(("function", "module", "name", "new"), REPLACED)
def test_what_a_module_holds_is_read_at_each_call(monkeypatch, function, module, name, new):
    def total(x: Any) -> Any:
        return np.sum(function(x))

    compiled, gradient = st.compile(function), st.grad(total)
    before = gradient(X)
    for _ in range(3):  # the later ones by their entry
        np.testing.assert_array_equal(compiled(X), function(X))
        np.testing.assert_array_equal(gradient(X), before)
    monkeypatch.setattr(module, name, new)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(X), function(X))
        changed = gradient(X)
    steps = np.eye(3) * 1e-6
    differences = [(total(X + step) - total(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(changed, differences, rtol=1e-6)
    assert not np.array_equal(changed, before) or (function, name) == (in_a_branch, "cos")
    monkeypatch.undo()
    np.testing.assert_array_equal(gradient(X), before)
    assert sum(map(len, gradient._specialisations.values())) == 2


def test_what_the_library_reads_is_its_own(monkeypatch):
    gradient = st.grad(lambda x: np.var(x))
    before = gradient(X)
    monkeypatch.setattr(np, "mean", np.sum)  # NumPy's own var does not look there
    np.testing.assert_array_equal(gradient(X), before)


class Scaled(abc.ABC):
    """What is scaled."""


class Half:
    factor = 0.5


class Third:
    factor = 1 / 3


def by_class(x: Any, item: Any) -> Any:
    return x * item.factor if isinstance(item, Scaled) else x * x


def by_union(x: Any, item: Any) -> Any:
    return x * item.factor if isinstance(item, Scaled | collections.abc.Sized) else x * x


def by_subclass(x: Any, item: Any) -> Any:
    return x * item.factor if issubclass(type(item), (Scaled, int)) else x * x


@pytest.mark.parametrize("function", [by_class, by_union, by_subclass])
def test_a_class_that_is_registered_later_counts(function):
    class Later(abc.ABC):
        pass

    function = type(function)(
        function.__code__, {**function.__globals__, "Scaled": Later}, function.__name__
    )
    half, third = Half(), Third()
    gradient = st.grad(function)
    for _ in range(3):
        assert (gradient(1.5, half), gradient(1.5, third)) == (3.0, 3.0)
    Later.register(Half)
    for _ in range(3):
        assert (gradient(1.5, half), gradient(1.5, third)) == (0.5, 3.0)
    Later.register(Third)
    assert (gradient(1.5, half), gradient(1.5, third)) == (0.5, 1 / 3)
