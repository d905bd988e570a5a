"""Buffers: who shares one, who must not, and what a caller gets."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import Options
from tests.golden import models
from tests.plan.compiled import (
    FAST,
    READABLE,
    body_lines,
    gradient,
    random,
    step,
    workspace_lines,
)


def chain(x):
    y = np.sin(x)
    y = y * 2.0
    y = np.exp(y)
    return np.sum(y)


def keeps_what_it_reads_later(x):
    a = np.sin(x)
    b = a * 2.0
    return np.sum(b * a)


def meets_its_transpose(x):
    a = x * 2.0
    return np.sum(np.exp(a + a.T) * x)


def view_read_after_a_write(x):
    y = x * 2.0
    top = y[0]
    y = y * 3.0
    return np.sum(y * top)


def gauss_seidel(x):
    y = x * 1.0
    for i in range(1, 30):
        y[i % 4] = y[(i - 1) % 4] * 0.5 + x[i % 4]
    return np.sum(y * y)


def exchange(x):
    a, b = x * 1.0, x * 2.0
    for _ in range(25):
        a, b = b, a + b * 0.1
    return np.sum(a * b)


def exchange_three(x):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    for _ in range(20):
        a, b, c = c, a, b
    return np.sum(a * np.sin(b) + c)


def either(x):
    y = x * 2.0
    if np.sum(y) > 0.0:
        z = y
    else:
        z = x
    y = np.exp(y)
    return np.sum(z * y)


def rotation(x, n):
    k = 0
    old = x
    while k < n:
        new = np.sin(old) + x
        old = new * old
        k += 1
    return np.sum(old)


def read_in_every_step(x):
    a = np.sin(x)
    h = x * 1.0
    for _ in range(20):
        h = np.cos(a + h)
    return np.sum(h * h)


def chosen_from_what_dies(x):
    a = x * 2.0
    b = x * 3.0
    return np.sum(np.exp(np.where(x > 0.1, a, b)) * x)


def joined_and_sliced(x):
    a = np.sin(x)
    w = np.concatenate([a, np.cos(x)])
    r = w[1:3]
    a = a * 2.0
    return np.sum(a * a) + np.sum(np.exp(r))


def joined_twice(x):
    a = np.sin(x)
    w = np.concatenate([np.concatenate([a, np.cos(x)]), x])
    a = a * 2.0
    return np.sum(a * a) + np.sum(np.exp(w))


def rows_of_a_product(x, W):
    h = np.zeros((3, 4))
    for t in range(5):
        h = np.tanh(x[:, 2 * t : 2 * t + 2] @ W["x"] + h @ W["h"] + W["b"])
    return np.sum(h * h)


W = {"x": random(2, 4, seed=1), "h": random(4, 4, seed=2), "b": random(4, seed=3)}
CASES = [
    (chain, (random(3, 3),), 0),
    (keeps_what_it_reads_later, (random(3, 3),), 0),
    (meets_its_transpose, (random(3, 3),), 0),
    (view_read_after_a_write, (random(3, 3),), 0),
    (gauss_seidel, (random(4, 2),), 0),
    (exchange, (random(3, 3),), 0),
    (exchange_three, (random(3, 3),), 0),
    (either, (random(3, 3),), 0),
    (either, (-(random(3, 3) ** 2),), 0),
    (rotation, (random(3), np.asarray(4)), 0),
    (read_in_every_step, (random(3, 3),), 0),
    (chosen_from_what_dies, (random(3, 3),), 0),
    (joined_and_sliced, (random(2, 3),), 0),
    (joined_twice, (random(2, 3),), 0),
    (rows_of_a_product, (random(3, 10), W), (0, 1)),
]


@pytest.mark.parametrize(("function", "args", "wrt"), CASES)
def test_like_the_readable_level(function, args, wrt) -> None:
    fast, readable = gradient(function, wrt), gradient(function, wrt, READABLE)
    expected = readable(*args)
    for _ in range(3):  # the second and third call find the buffers as the one before left them
        found = fast(*args)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
        for one, other in zip(arrays(found[1]), arrays(expected[1]), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
            assert one.dtype == other.dtype


def arrays(value):
    if isinstance(value, dict):
        return [array for part in value.values() for array in arrays(part)]
    if isinstance(value, tuple):
        return [array for part in value for array in arrays(part)]
    return [value]


def test_elementwise_chains_work_in_place() -> None:
    lines = workspace_lines(gradient(chain), random(3, 3))
    assert sum("np.empty" in line for line in lines) == 2  # y and its cotangent's factor


def test_an_array_meets_its_transpose_in_another_buffer() -> None:
    lines = body_lines(gradient(meets_its_transpose), random(3, 3))
    (line,) = [line for line in lines if line.startswith("np.add(a, a_T")]
    assert not line.endswith("out=a)")


def test_returned_arrays_are_the_callers() -> None:
    compiled = gradient(rows_of_a_product, (0, 1))
    x = random(3, 10)
    first = arrays(compiled(x, W)[1])
    kept = [array.copy() for array in first]
    second = arrays(compiled(x * 2, W)[1])
    for one, other in zip(first, kept, strict=True):
        np.testing.assert_array_equal(one, other)
        one += 1.0  # writeable
    for one in first:
        assert not any(np.shares_memory(one, other) for other in second)


def test_what_a_loop_hands_on_is_copied_for_the_caller() -> None:
    def last_state(x):
        h = np.zeros(3)
        for _ in range(40):
            h = np.tanh(h + x)
        return h

    compiled = st.differentiable(last_state, level="fast").primal
    first = compiled(random(3))
    kept = first.copy()
    compiled(random(3, seed=5))
    np.testing.assert_array_equal(first, kept)


def test_constants_are_made_once() -> None:
    def weighted(x):
        return np.sum(np.arange(4.0) * np.sin(x))

    assert any("np.arange(4.0" in line for line in workspace_lines(gradient(weighted), random(4)))
    assert not any("np.arange" in line for line in body_lines(gradient(weighted), random(4)))


def test_a_constant_that_is_written_is_made_anew() -> None:
    def filled(x):
        y = np.zeros(3)
        y[1] = np.sum(x)
        return np.sum(y * x)

    x = random(3)
    compiled = gradient(filled)
    assert compiled(x)[0] == compiled(x)[0] == filled(x)


def test_a_constant_that_is_written_through_a_view_is_made_anew() -> None:
    def filled(x):
        y = np.zeros((2, 3))
        y.T[[0, 1], [1, 1]] = x[:2]
        y[1] += x
        np.add.at(y.T, ([0, 0], [0, 0]), x[:2])
        return np.sum(y * y * x)

    x = random(3)
    compiled = gradient(filled)
    first, gradient_at_x = compiled(x)
    assert first == pytest.approx(filled(x))
    again, same_gradient = compiled(x)
    assert again == first
    np.testing.assert_array_equal(same_gradient, gradient_at_x)


def test_rows_of_a_product_are_computed_where_they_are_needed() -> None:
    lines = body_lines(gradient(rows_of_a_product, 1), random(3, 10), W)
    products = [line for line in lines if "np.matmul(" in line or " @ " in line]
    # one for all inputs, five for the states, four back, one for each weight
    assert len(products) == 1 + 5 + 4 + 2
    assert sum("np.concatenate" in line for line in lines) == 1


def test_many_threads_have_buffers_of_their_own() -> None:
    compiled = gradient(rows_of_a_product, 1)
    inputs = [random(3, 10, seed=seed) for seed in range(6)]
    expected = [compiled(x, W)[0] for x in inputs]
    wrong = []

    def work(place: int) -> None:
        for _ in range(40):
            if compiled(inputs[place], W)[0] != expected[place]:
                wrong.append(place)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_error_leaves_the_function_usable() -> None:
    def checked(x):
        y = x * 2.0
        assert np.sum(y) > 0.0
        return np.sum(y * y)

    compiled = gradient(checked)
    with pytest.raises(AssertionError):
        compiled(-np.ones(3))
    assert compiled(np.ones(3))[0] == 12.0


def test_two_compilations_give_equal_bytes() -> None:
    x, y = models.arguments()["rnn"][1:]
    params = models.arguments()["rnn"][0]
    first, second = (gradient(models.rnn, 0, FAST).source(params, x, y) for _ in range(2))
    assert first == second


ORDERS = [np.ascontiguousarray, np.asfortranarray, lambda array: np.repeat(array, 2, 0)[::2]]


@pytest.mark.parametrize("order", ORDERS, ids=["C", "Fortran", "strided"])
@pytest.mark.parametrize("optimizer", [st.optim.SGD, st.optim.Momentum, st.optim.Adam])
@pytest.mark.parametrize("blas", [False, True])
def test_updates_reach_parameters_in_any_order(order, optimizer, blas) -> None:
    if blas:
        pytest.importorskip("scipy")

    def loss(p, x):
        return np.sum(np.tanh(x @ p["W"] + p["b"]) ** 2)

    found = []
    for options in (READABLE, Options("fast", blas=blas)):
        params = {"W": order(random(3, 4)), "b": np.zeros(8)[::2]}
        compiled = step(loss, optimizer(0.1), options)
        for seed in range(3):
            compiled(params, random(5, 3, seed=seed))
        found.append(params["W"].copy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_an_argument_whose_name_is_used_again_is_not_written() -> None:
    def walked(x, W):
        for _ in range(20):
            x = x + W @ np.sin(x)
        return np.sum(x)

    x, W = random(3), random(3, 3, seed=1)
    kept = x.copy()
    compiled = gradient(walked, 1, Options("fast"))
    assert compiled(x, W)[0] == pytest.approx(walked(x, W), rel=1e-12)
    np.testing.assert_array_equal(x, kept)
