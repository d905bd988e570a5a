"""Axes whose length changes from call to call: one program for all lengths."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify

W = np.array([[0.3, -0.2], [0.1, 0.5], [-0.4, 0.2]])


def x_of(n: int, columns: int = 3) -> Any:
    return np.random.default_rng(n).normal(size=(n, columns))


def loss(w: Any, x: Any) -> Any:
    h = np.tanh(x @ w)
    return np.mean(h * h) + np.sum(h) / len(x)


@pytest.fixture(params=["fast", "readable"])
def level(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_thousand_lengths_take_two_compilations(level: Any) -> None:
    compiled = st.value_and_grad(loss, level=level)
    with st.timings() as spent:
        for n in range(2, 1002):
            compiled(W, x_of(n))
    assert len(spent.compilations) == 2
    assert compiled.lengths.compilations == 2
    assert compiled.lengths.named == ("x.shape[0]",)
    assert str(compiled.lengths) == "compiled 2 times\n  any length: x.shape[0]"


def test_values_are_those_of_each_length_alone(level: Any) -> None:
    compiled = st.value_and_grad(loss, level=level)
    for n in (4, 5, 7, 2, 3, 100, 5):
        alone = st.value_and_grad(loss, level=level, dynamic=False)
        value, gradient = compiled(W, x_of(n))
        expected, wanted = alone(W, x_of(n))
        np.testing.assert_allclose(value, expected, rtol=1e-13)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-13)
        assert value == pytest.approx(loss(W, x_of(n)), rel=1e-12)


def test_gradients_agree_with_differences(level: Any) -> None:
    compiled = st.grad(loss, level=level, dynamic=True)
    for n in (3, 6):
        gradient, x = compiled(W, x_of(n)), x_of(n)
        for at in np.ndindex(W.shape):
            moved = W.copy()
            moved[at] += 1e-6
            upper = loss(moved, x)
            moved[at] -= 2e-6
            assert gradient[at] == pytest.approx((upper - loss(moved, x)) / 2e-6, abs=1e-8)
    assert compiled.lengths.compilations == 2  # 3 is the length of two axes here, 6 of one


def test_lengths_have_names_from_the_first_call_on() -> None:
    compiled = st.grad(loss, dynamic=True)
    for n in (5, 6, 7):
        compiled(W, x_of(n))
    assert compiled.lengths.compilations == 1
    assert set(compiled.lengths.named) == {
        *("w.shape[0]", "w.shape[1]", "x.shape[0]", "x.shape[1]"),
    }


def test_each_length_is_compiled_for_if_that_is_wanted() -> None:
    compiled = st.grad(loss, dynamic=False)
    for n in (5, 6, 7):
        compiled(W, x_of(n))
    assert compiled.lengths.compilations == 3
    assert compiled.lengths.named == ()


def test_lengths_of_none_and_one_are_compiled_for_themselves(level: Any) -> None:
    def centred(x: Any, y: Any) -> Any:
        return np.sum((x - y) ** 2)

    compiled = st.grad(centred, level=level)
    for n in (4, 5, 1, 0, 6, 1, 0):
        x, y = np.arange(float(n)), np.ones(3 if n == 1 else n)
        expected = 2 * np.sum(x - y, keepdims=True) if n == 1 else 2 * (x - y)
        np.testing.assert_allclose(compiled(x, y), expected)
    assert compiled.lengths.compilations == 4


def test_axes_that_were_equal_share_a_name() -> None:
    def weighted(x: Any, w: Any) -> Any:
        return np.sum(x * w)

    compiled = st.grad(weighted)
    for n in (4, 5, 6):
        compiled(x_of(n), np.ones((n, 1)))
    assert compiled.lengths.compilations == 2
    compiled(x_of(7), np.ones((1, 1)))  # the second one is spread: another program
    np.testing.assert_array_equal(compiled(x_of(7), 2 * np.ones((7, 1))), np.full((7, 3), 2.0))
    assert compiled.lengths.compilations == 3


def test_what_needs_a_number_keeps_it() -> None:
    def folded(x: Any) -> Any:
        total = 0.0
        for part in np.split(x, len(x) // 2):
            total = total + np.prod(part)
        return total

    compiled = st.grad(folded)
    for n in (4, 6, 8):
        x = 1 + np.arange(float(n))
        np.testing.assert_allclose(compiled(x), x.reshape(-1, 2)[:, ::-1].ravel())
    assert compiled.lengths.compilations == 3
    assert list(compiled.lengths.numbers) == ["x.shape[0]"]
    assert "np.split(x, len(x) // 2)" in compiled.lengths.numbers["x.shape[0]"]
    assert "each length for itself: x.shape[0]" in str(compiled.lengths)


def test_a_length_that_decides_a_class_keeps_its_number_alone() -> None:
    """The number of classes decides the dtype of labels; the other lengths have names."""

    def loss(w: Any, x: Any, labels: Any) -> Any:
        return st.nn.softmax_cross_entropy(x @ w, labels)

    compiled = st.grad(loss, dynamic=True)
    w = np.arange(12.0).reshape(4, 3)
    for n in (6, 5, 9):
        x, labels = np.cos(np.arange(4.0 * n)).reshape(n, 4), np.arange(n) % 3
        exact = st.grad(loss, dynamic=False)(w, x, labels)
        np.testing.assert_allclose(compiled(w, x, labels), exact, rtol=1e-12)
    assert compiled.lengths.compilations == 1
    assert list(compiled.lengths.numbers) == ["w.shape[1]"]


def test_training_steps_take_ragged_batches() -> None:
    def mse(params: Any, x: Any, y: Any) -> Any:
        error = np.tanh(x @ params["W"] + params["b"]) - y
        return np.sum(error * error) / len(x)

    params = {"W": W.copy(), "b": np.zeros(2)}
    other = copy.deepcopy(params)
    step = st.train_step(mse, st.optim.Adam(0.1), wrt="params")
    alone = st.train_step(mse, st.optim.Adam(0.1), wrt="params", dynamic=False)
    for n in (20, 20, 13, 20, 7, 20):
        x, y = x_of(n), x_of(n, 2)
        assert step(params, x, y) == pytest.approx(alone(other, x, y), rel=1e-13)
    np.testing.assert_allclose(params["W"], other["W"], rtol=1e-12)
    assert step.lengths.compilations == 2
    assert alone.lengths.compilations == 3


def test_arrays_may_lie_in_any_way(level: Any) -> None:
    compiled = st.grad(loss, level=level)
    for n in (4, 5, 6):
        x = x_of(2 * n, 6)
        for lies in (np.asfortranarray(x[:n, :3]), x[::2, :3], x[::-2, ::2]):
            np.testing.assert_allclose(
                compiled(W, lies), st.grad(loss, dynamic=False)(W, lies.copy()), rtol=1e-12
            )


def test_threads_have_workspaces_of_their_own() -> None:
    compiled = st.value_and_grad(loss)
    compiled(W, x_of(4)), compiled(W, x_of(5))
    wrong = []

    def work(n: int) -> None:
        expected = loss(W, x_of(n))
        for _ in range(50):
            if not np.isclose(compiled(W, x_of(n))[0], expected):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6, 14)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert compiled.lengths.compilations == 2


def test_programs_with_named_lengths_are_well_formed(level: Any) -> None:
    compiled = st.value_and_grad(loss, level=level, dynamic=True)
    program = compiled.program(W, x_of(5))
    verify(program)
    assert parse_program(str(program)) == program
    assert "[n.1: 2 to None like 3]" in str(program)
    value, gradient = evaluate(program, W, x_of(9))
    expected = compiled(W, x_of(9))
    np.testing.assert_allclose(value, expected[0])
    np.testing.assert_allclose(gradient, expected[1])


def test_the_option_travels() -> None:
    compiled = pickle.loads(pickle.dumps(st.grad(loss, dynamic=True)))
    assert compiled.options.dynamic is True
    with pytest.raises(ValueError, match="dynamic is None, True or False"):
        st.grad(loss, dynamic="yes")  # type: ignore[call-overload]


def test_lengths_of_arguments_and_of_data_have_different_names() -> None:
    def selected(x: Any) -> Any:
        n = x[x > 0.5]
        total = np.sum(n * n)
        for m in range(len(x)):
            total = total + np.sum(x[:m]) * x[m]
        return total

    compiled = st.value_and_grad(selected, dynamic=True)
    program = compiled.program(np.arange(5.0))
    verify(program)
    assert parse_program(str(program)) == program
    assert compiled(np.arange(7.0))[0] == selected(np.arange(7.0))
