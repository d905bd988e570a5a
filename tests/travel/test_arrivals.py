"""Functions that arrive by value with every task: equal ones are one, which compiled once."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import cloudpickle
import numpy as np

import stcompile as st
from stcompile.calls.arrivals import Arrivals

X = np.array([0.5, -1.5])


def made(factor: Any, array: Any = X) -> Any:
    """A transformed function that only cloudpickle takes."""

    def helper(x):
        return np.tanh(x) * factor

    return st.grad(lambda x: np.sum(helper(x) * array))


def arrived(function: Any) -> Any:
    return pickle.loads(cloudpickle.dumps(function))


def test_the_same_function_arrives_once() -> None:
    function = made(2.0)
    first, second = arrived(function), arrived(function)
    assert first is second is not function
    np.testing.assert_array_equal(first(X), function(X))
    nested = arrived(st.vmap(st.grad(lambda x: np.sum(np.sin(x)))))
    assert nested(np.ones((2, 3))).shape == (2, 3)


def test_wrapped_functions_are_compared_by_their_parts() -> None:
    def partly(factor: float) -> Any:
        return st.grad(functools.partial(lambda a, x: np.sum(np.tanh(a * x)), factor))

    first = arrived(partly(2.0))
    assert arrived(partly(2.0)) is first is not arrived(partly(3.0))
    np.testing.assert_array_equal(first(X), partly(2.0)(X))


def test_other_captured_values_make_another_function() -> None:
    array = X.copy()
    found = [arrived(made(2.0)), arrived(made(3.0)), arrived(made(np.float32(2.0)))]
    found += [arrived(made(2.0, array)), arrived(made([2.0]))]
    array[0] = 7.0
    changed = arrived(made(2.0, array))
    assert len({id(function) for function in [*found[:3], found[4], changed]}) == 5
    assert found[3] is found[0]
    np.testing.assert_array_equal(changed(X), made(2.0, array)(X))


def test_what_a_worker_changed_is_not_handed_on() -> None:
    function = made(2.0, X.copy())
    first = arrived(function)
    (inner,) = first._made_with[0][:1]
    captured = next(
        c.cell_contents for c in inner.__closure__ if isinstance(c.cell_contents, np.ndarray)
    )
    captured[0] = 100.0
    second = arrived(function)
    assert second is not first
    np.testing.assert_array_equal(second(X), function(X))


def test_what_holds_a_state_is_new_at_each_arrival() -> None:
    step = st.train_step(lambda w: np.sum(w * w), st.optim.Adam(0.1))
    assert arrived(step) is not arrived(step)
    draws = made(np.random.default_rng(0).random)
    assert arrived(draws) is not arrived(draws)


def test_few_are_kept() -> None:
    arrivals = Arrivals()
    functions = [made(float(at)) for at in range(70)]
    for function in functions:
        assert arrivals.earlier(function) is function
    assert arrivals.earlier(made(69.0)) is functions[69]
    again = made(0.0)
    assert arrivals.earlier(again) is again
