"""A training step: forward, adjoint and update as one function, in place."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.calls.dispatch import Dispatcher

RNG = np.random.default_rng(0)
X = RNG.standard_normal((8, 3))
Y = RNG.integers(0, 4, 8)


def fresh(dtype: Any = np.float64) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    shapes = {"W": (3, 5), "b": (5,), "V": (5, 4)}
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}


def loss(params, x, y):
    h = np.tanh(x @ params["W"] + params["b"])
    return st.nn.softmax_cross_entropy(h @ params["V"], y)


def by_hand(params: Any, x: Any, y: Any) -> tuple[Any, dict[str, Any]]:
    """The loss and its gradient, derived by hand."""
    h = np.tanh(x @ params["W"] + params["b"])
    logits = h @ params["V"]
    shifted = logits - logits.max(axis=1, keepdims=True)
    probabilities = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    value = np.mean(-np.log(probabilities[rows, y]))
    d_logits = probabilities.copy()
    d_logits[rows, y] -= 1
    d_logits = d_logits / x.dtype.type(len(y))
    d_a = (d_logits @ params["V"].T) * (1 - h * h)
    return value, {"W": x.T @ d_a, "b": d_a.sum(axis=0), "V": h.T @ d_logits}


# --- the same as by hand -------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_several_steps_are_those_of_sgd(dtype: Any, rtol: float) -> None:
    params, reference = fresh(dtype), fresh(dtype)
    x = X.astype(dtype)
    step = st.train_step(loss, st.optim.SGD(0.1), wrt="params")
    for _ in range(10):
        value = step(params, x, Y)
        expected, gradient = by_hand(reference, x, Y)
        np.testing.assert_allclose(value, expected, rtol=rtol)
        for name in reference:
            reference[name] -= dtype(0.1) * gradient[name]
    for name in params:
        assert params[name].dtype == dtype
        np.testing.assert_allclose(params[name], reference[name], rtol=rtol, atol=rtol)
    assert np.asarray(value).dtype == dtype


def test_it_is_value_and_grad_and_an_update() -> None:
    """To the bit."""
    params, reference = fresh(), fresh()
    step = st.train_step(loss, st.optim.SGD(0.3))
    gradient = st.value_and_grad(loss)
    for _ in range(3):
        value, found = gradient(reference, X, Y)
        assert step(params, X, Y) == value
        for name in reference:
            reference[name] -= 0.3 * found[name]
            np.testing.assert_array_equal(params[name], reference[name])


def test_arrays_stay_the_same_objects() -> None:
    params = fresh()
    before = dict(params)
    copies = {name: p.copy() for name, p in params.items()}
    view = params["W"][0]
    step = st.train_step(loss, st.optim.SGD(0.1))
    first, second = step(params, X, Y), step(params, X, Y)
    assert second < first
    for name in before:
        assert params[name] is before[name]
        assert not np.array_equal(params[name], copies[name])
    np.testing.assert_array_equal(view, params["W"][0])


def test_what_is_not_trained_is_left_alone() -> None:
    params, x, y = fresh(), X.copy(), Y.copy()
    st.train_step(loss, st.optim.SGD(0.1))(params, x, y)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


def test_the_returned_loss_is_that_before_the_update() -> None:
    params = fresh()
    expected = loss(params, X, Y)
    assert st.train_step(loss, st.optim.SGD(5.0))(params, X, Y) == expected


def test_the_loss_may_be_a_parameter_s_entry() -> None:
    """It must be read before it is overwritten."""
    w = np.array([2.0, 3.0])
    step = st.train_step(lambda w: w[0] * 1.0, st.optim.SGD(1.0))
    assert [step(w), step(w)] == [2, 1]
    np.testing.assert_array_equal(w, [0, 3])


def test_updates_use_the_old_parameters() -> None:
    """The gradient of each depends on the other, which is changed in the same step."""
    a, b = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    step = st.train_step(lambda a, b: np.sum(a * b), st.optim.SGD(0.5), wrt=("a", "b"))
    assert step(a, b) == 13
    np.testing.assert_array_equal(a, [1 - 1.5, 2 - 2.5])
    np.testing.assert_array_equal(b, [3 - 0.5, 5 - 1.0])


def test_views_of_a_parameter_in_the_loss() -> None:
    w = np.arange(1.0, 7.0).reshape(2, 3)
    reference = w.copy()
    step = st.train_step(lambda w: np.sum(w.T[0] * w[0, 0]) + np.sum(w.T @ w), st.optim.SGD(0.01))
    gradient = st.grad(lambda w: np.sum(w.T[0] * w[0, 0]) + np.sum(w.T @ w))
    for _ in range(3):
        step(w)
        reference -= 0.01 * gradient(reference)
        np.testing.assert_array_equal(w, reference)


# --- the learning rate ---------------------------------------------------------------------------


def test_options_change_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    build = Dispatcher.build
    monkeypatch.setattr(
        Dispatcher, "build", lambda self, a: (compiled.append(a), build(self, a))[1]
    )
    optimizer = st.optim.SGD(0.5, clip_value=1.0)
    step = st.train_step(lambda w: np.sum(w * 3.0), optimizer)
    w = np.zeros(2)
    step(w)
    np.testing.assert_array_equal(w, [-0.5, -0.5])
    optimizer.lr = 0.25
    step(w)
    np.testing.assert_array_equal(w, [-0.75, -0.75])
    optimizer.clip_value = 2.0
    step(w)
    np.testing.assert_array_equal(w, [-1.25, -1.25])
    assert len(compiled) == 1
    optimizer.clip_value = None
    step(w)
    np.testing.assert_array_equal(w, [-2, -2])
    assert len(compiled) == 2


def test_a_learning_rate_of_another_type() -> None:
    """A number is a number; float32 parameters stay float32."""
    w = np.zeros(2, np.float32)
    optimizer = st.optim.SGD(1)
    step = st.train_step(lambda w: np.sum(w), optimizer)
    step(w)
    for rate in (2, np.float64(3.0), np.float32(4.0)):
        optimizer.lr = rate
        step(w)
    np.testing.assert_array_equal(w, [-10, -10])
    assert w.dtype == np.float32


# --- clipping ------------------------------------------------------------------------------------


def test_clip_value() -> None:
    w = np.zeros(3)
    st.train_step(
        lambda w: np.sum(w * np.array([3.0, -0.2, -7.0])), st.optim.SGD(1.0, clip_value=0.5)
    )(w)
    np.testing.assert_array_equal(w, [-0.5, 0.2, 0.5])


@pytest.mark.parametrize(("limit", "scale"), [(2.5, 0.5), (5.0, 1.0), (10.0, 1.0)])
def test_clip_norm(limit: float, scale: float) -> None:
    """The joint norm of (3, 0) and 4 is 5."""
    params = [np.zeros(2), np.zeros((1, 1))]
    optimizer = st.optim.SGD(1.0, clip_norm=limit)
    st.train_step(lambda p: 3 * p[0][0] + 4 * np.sum(p[1]), optimizer)(params)
    np.testing.assert_allclose(params[0], [-3 * scale, 0])
    np.testing.assert_allclose(params[1], [[-4 * scale]])


def test_clip_value_comes_before_clip_norm() -> None:
    w = np.zeros(2)
    optimizer = st.optim.SGD(1.0, clip_value=3.0, clip_norm=2.5)
    st.train_step(lambda w: np.sum(w * np.array([3.0, 400.0])), optimizer)(w)
    np.testing.assert_allclose(w, [-2.5 / np.sqrt(2)] * 2)


def test_clipping_of_nothing() -> None:
    """A gradient of zeros has no direction; it stays zero."""
    w = np.ones(2)
    st.train_step(lambda w: np.sum(w * 0.0), st.optim.SGD(1.0, clip_norm=1.0))(w)
    np.testing.assert_array_equal(w, [1, 1])


def test_clipping_keeps_float32() -> None:
    w = np.zeros(2, np.float32)
    step = st.train_step(
        lambda w: np.sum(w * w + w), st.optim.SGD(0.1, clip_value=0.5, clip_norm=0.25)
    )
    assert step(w).dtype == np.float32
    assert "float64" not in step.source(w)


# --- which arrays --------------------------------------------------------------------------------


def test_parameters_in_every_structure() -> None:
    @dataclasses.dataclass
    class Layer:
        w: Any
        b: Any

    def f(layers, pair, x):
        for layer in layers:
            x = x * layer.w + layer.b
        return np.sum(x * pair[0])

    layers = [Layer(np.ones(2), np.zeros(2)), Layer(np.ones(2), np.zeros(2))]
    pair = (np.ones(2), np.ones(2))
    step = st.train_step(f, st.optim.SGD(1.0), wrt=("layers", 1))
    assert step(layers, pair, np.array([2.0, 3.0])) == 5
    np.testing.assert_array_equal(layers[0].w, [-1, -2])
    np.testing.assert_array_equal(layers[1].b, [-1, -1])
    np.testing.assert_array_equal(pair[0], [-1, -2])
    np.testing.assert_array_equal(pair[1], [1, 1])


@pytest.mark.parametrize("wrt", [1, -1, "w", (1,), (-1,)])
def test_wrt(wrt: Any) -> None:
    x, w = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert st.train_step(lambda x, w: np.sum(x * w), st.optim.SGD(1.0), wrt=wrt)(x, w) == 11
    np.testing.assert_array_equal(x, [1, 2])
    np.testing.assert_array_equal(w, [2, 2])


@pytest.mark.parametrize("layout", ["transposed", "strided", "reversed", "row", "0-d"])
def test_parameters_in_every_layout(layout: str) -> None:
    wide = np.arange(1.0, 25.0).reshape(4, 6)
    w = {
        "transposed": wide.T,
        "strided": wide[::2, ::3],
        "reversed": wide[::-1, ::-1],
        "row": wide[1],
        "0-d": wide[1, 1, ...],
    }[layout]
    outside = wide.copy()
    outside_part = np.zeros_like(wide)
    expected = w - 0.1 * (2 * w + w.sum())
    step = st.train_step(
        lambda w: np.sum(w * w) + np.sum(w.reshape(-1)) ** 2 / 2, st.optim.SGD(0.1)
    )
    step(w)
    np.testing.assert_allclose(w, expected, rtol=1e-13)
    if layout in ("strided", "row", "0-d"):
        outside_part[...] = wide == outside
        assert outside_part.sum() == wide.size - w.size, "nothing else of the array is changed"


@pytest.mark.parametrize("number", [0.5, np.float64(0.5), np.float32(0.5)])
def test_a_number_is_refused(number: Any) -> None:
    w = np.ones(2)
    step = st.train_step(lambda p: np.sum(p[0]) * p[1], st.optim.SGD(0.1))
    with pytest.raises(st.DerivativeError, match="a number cannot be changed") as caught:
        step((w, number))
    assert caught.value.reason.startswith(f"p[1] is a {type(number).__name__}, ")
    assert "np.array(p[1])" in caught.value.hint
    np.testing.assert_array_equal(w, [1, 1])
    scale = np.array(0.5)
    step((w, scale))
    assert scale == 0.5 - 0.1 * 2


@pytest.mark.parametrize(
    "shared",
    [
        lambda w: (w, w),
        lambda w: (w, w[:]),
        lambda w: (w, w[::-1]),
        lambda w: (w[:3], w[1:]),
    ],
)
def test_parameters_that_share_memory_are_refused(shared: Any) -> None:
    """Which update would be lost depends on the order; none is made."""
    w = np.arange(4.0)
    a, b = shared(w)
    step = st.train_step(lambda a, b: np.sum(a) * np.sum(b), st.optim.SGD(0.1), wrt=(0, 1))
    step(np.ones(a.shape), np.ones(b.shape))
    with pytest.raises(st.ArgumentsError, match="share memory"):
        step(a, b)
    np.testing.assert_array_equal(w, np.arange(4.0))


def test_parts_of_one_array_that_do_not_overlap() -> None:
    w = np.arange(4.0)
    step = st.train_step(lambda a, b: np.sum(a * b), st.optim.SGD(1.0), wrt=(0, 1))
    assert step(w[::2], w[1::2]) == 6
    np.testing.assert_array_equal(w, [-1, 1, -1, 1])


@pytest.mark.parametrize("part", [lambda w: w, lambda w: w[:], lambda w: w[::-1]])
def test_an_input_that_shares_memory_with_a_parameter(part: Any) -> None:
    """It would change while it is read."""
    w, b = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    step = st.train_step(lambda w, b, x: np.sum(w * x) + np.sum(b * x * x), st.optim.SGD(1.0))
    step(w.copy(), b, np.ones(2))
    with pytest.raises(st.ArgumentsError, match="shares memory"):
        step(w, b, part(w))
    np.testing.assert_array_equal(w, [1, 2])


def test_a_captured_array_that_shares_memory_with_a_parameter() -> None:
    w = np.array([1.0, 2.0])
    outside = w[:]
    step = st.train_step(lambda w: np.sum(w * outside), st.optim.SGD(1.0))
    with pytest.raises(st.ArgumentsError, match="shares memory"):
        step(w)
    np.testing.assert_array_equal(w, [1, 2])
    outside = np.array([1.0, 1.0])
    assert step(w) == 3


def test_read_only_parameters_are_refused() -> None:
    first, w = np.ones(2), np.ones(2)
    w.flags.writeable = False
    step = st.train_step(lambda a, b: np.sum(a * b), st.optim.SGD(1.0), wrt=(0, 1))
    with pytest.raises(st.ArgumentsError, match="read-only"):
        step(first, w)
    np.testing.assert_array_equal(first, [1, 1])


def test_parameters_without_elements_and_unused_ones() -> None:
    empty, unused, w = np.ones((0, 3)), np.ones(2), np.ones(2)
    step = st.train_step(lambda p: np.sum(p[2] ** 2) + np.sum(p[0]), st.optim.SGD(0.25))
    assert step([empty, unused, w]) == 2
    np.testing.assert_array_equal(unused, [1, 1])
    np.testing.assert_array_equal(w, [0.5, 0.5])


# --- the rest ------------------------------------------------------------------------------------


def test_new_arrays_of_the_same_types(monkeypatch: pytest.MonkeyPatch) -> None:
    step = st.train_step(loss, st.optim.SGD(0.1))
    one, other = fresh(), fresh()
    step(one, X, Y)
    step(other, X, Y)
    step(one, X[:5], Y[:5])
    for name in one:
        assert not np.array_equal(one[name], other[name])
        assert not np.shares_memory(one[name], other[name])


def test_an_optimiser_of_one_s_own() -> None:
    """Any class in the user's language: here, with a momentum kept in arrays."""

    class Momentum:
        def __init__(self, lr: float, velocities: list[Any]) -> None:
            self.lr = lr
            self.velocities = velocities

        def describe(self) -> str:
            return "descent by signs"

        def update(self, params, grads):
            for p, g in zip(params, grads):
                p -= self.lr * np.sign(g)

    w = np.array([1.0, -2.0])
    step = st.train_step(lambda w: np.sum(w * w), Momentum(0.5, []))
    step(w)
    np.testing.assert_array_equal(w, [0.5, -1.5])
    assert "descent by signs" in step.source(w)


def test_its_source() -> None:
    step = st.train_step(loss, st.optim.SGD(0.015))
    text = step.source(fresh(), X, Y)
    assert text.count("# --- update") == 1
    assert text.index("# --- forward") < text.index("# --- adjoint") < text.index("# --- update")
    assert "SGD, lr = 0.015" in text
    assert step.source(fresh(), X, Y) == st.train_step(loss, st.optim.SGD(0.015)).source(
        fresh(), X, Y
    )


def test_a_loss_that_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        st.train_step(loss, st.optim.SGD(0.1))(fresh(), X, Y)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_a_loss_that_returns_from_a_loop(level: Any) -> None:
    """The adjoint takes either what the steps of the loop kept or what no step has kept."""
    if level == "compiled":
        pytest.importorskip("numba")

    def early(x: Any, s: Any) -> Any:
        total = s
        if s > 0:
            while total < 5:
                total = total + np.vecdot(x, x * 0.5)
                if total > 3:
                    return total * np.sum(x)
        return total * np.sum(x)

    x = np.arange(1.0, 4.0)
    step = st.train_step(early, st.optim.SGD(0.1), wrt="x", level=level)
    for s in (0.5, -0.5, 6.0):
        moved = x.copy()
        assert np.isclose(step(moved, s), early(x, s))
        slope = [(early(x + e, s) - early(x - e, s)) / 2e-6 for e in np.eye(len(x)) * 1e-6]
        np.testing.assert_allclose((x - moved) / 0.1, slope, rtol=1e-6)
