"""Values against other formulas, and against the limits of the dtypes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.nn.checks import LEVELS

nn = st.nn
RNG = np.random.default_rng(3)
X = RNG.standard_normal((3, 4))


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- formulas ------------------------------------------------------------------------------------


def test_normal_cdf_is_accurate_in_float64() -> None:
    x = np.concatenate([np.linspace(-37, 9, 4001), np.linspace(-1e-3, 1e-3, 101)])
    exact = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])
    error = np.abs(nn.normal_cdf(x) - exact)
    assert error.max() < 4e-16
    # rounding x**2 costs x**2 / 2 units in the last place, in this and any other such formula
    assert (error / exact / np.finfo(float).eps / (4 + x * x)).max() < 1.5


def test_integers_are_float64() -> None:
    exact = [0.5 * math.erfc(-v / math.sqrt(2)) for v in range(-3, 4)]
    np.testing.assert_allclose(nn.normal_cdf(np.arange(-3, 4)), exact, rtol=1e-14)
    assert nn.gelu(np.arange(3)).dtype == nn.sigmoid(np.arange(3)).dtype == np.float64


def test_normal_cdf_is_accurate_in_float32() -> None:
    x = np.linspace(-12, 9, 4001).astype(np.float32)
    exact = np.array([0.5 * math.erfc(-float(v) / math.sqrt(2)) for v in x])
    result = nn.normal_cdf(x)
    assert result.dtype == np.float32
    error = np.abs(result - exact)
    assert error.max() < 3e-7
    assert (error / exact / np.finfo(np.float32).eps / (8 + x * x)).max() < 1


def test_the_coefficients_are_those_of_the_chebyshev_series() -> None:
    """(1 + 2z) exp(z²) erfc(z) at points of the whole range, by the error function of Python."""
    from stcompile.nn.normal import _NARROW, _WIDE

    z = np.linspace(0, 4, 101)
    t = (z - 3.75) / (z + 3.75)
    exact = np.array([(1 + 2 * v) * math.exp(v * v) * math.erfc(v) for v in z])
    assert np.abs(np.polyval(_WIDE, t) / exact - 1).max() < 5e-15
    assert np.abs(np.polyval(_NARROW, t) / exact - 1).max() < 1e-9
    assert np.polyval(_WIDE, 1.0) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-15)


def test_activations_by_their_formulas() -> None:
    close = np.testing.assert_allclose
    close(nn.relu(X), np.where(X > 0, X, 0))
    close(nn.leaky_relu(X, 0.2), np.where(X > 0, X, 0.2 * X))
    close(nn.elu(X, 2.0), np.where(X > 0, X, 2 * (np.exp(X) - 1)), rtol=1e-13)
    close(nn.tanh(X), np.tanh(X))
    close(nn.sigmoid(X), 1 / (1 + np.exp(-X)))
    close(nn.silu(X), X / (1 + np.exp(-X)))
    close(nn.softplus(X), np.log(1 + np.exp(X)), rtol=1e-13)
    erf = np.vectorize(math.erf)
    close(nn.gelu(X), X * (1 + erf(X / math.sqrt(2))) / 2, rtol=1e-13)
    inner = math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)
    close(nn.gelu(X, approximate="tanh"), X * (1 + np.tanh(inner)) / 2, rtol=1e-13)
    x = np.linspace(-6, 6, 1001)
    assert 1e-4 < np.abs(nn.gelu(x) - nn.gelu(x, approximate="tanh")).max() < 5e-4


def test_softmax_and_losses_by_their_formulas() -> None:
    close = np.testing.assert_allclose
    exps = np.exp(X)
    p = exps / exps.sum(1, keepdims=True)
    close(nn.softmax(X), p)
    close(nn.softmax(X, axis=0), exps / exps.sum(0))
    close(nn.log_softmax(X), np.log(p))
    close(nn.logsumexp(X, axis=1), np.log(exps.sum(1)))
    labels = np.array([0, 3, 1])
    close(nn.softmax_cross_entropy(X, labels), -np.mean(np.log(p[np.arange(3), labels])))
    t, s = RNG.uniform(0, 1, X.shape), 1 / (1 + np.exp(-X))
    expected = -np.mean(t * np.log(s) + (1 - t) * np.log(1 - s))
    close(nn.binary_cross_entropy_with_logits(X, t), expected)
    close(nn.mse(X, t), np.mean((X - t) ** 2))
    r = np.abs(X - t)
    close(nn.huber(X, t, 0.5), np.mean(np.where(r <= 0.5, r**2 / 2, 0.5 * (r - 0.25))))


def test_normalisation_by_its_formulas() -> None:
    x, gain, bias = RNG.standard_normal((5, 3, 2)), RNG.standard_normal(3), RNG.standard_normal(3)
    across = (slice(None), None)
    y, mean, variance = nn.batch_norm(x, gain, bias)
    np.testing.assert_allclose(mean, x.mean((0, 2)))
    np.testing.assert_allclose(variance, x.var((0, 2)))
    standard = (x - mean[across]) / np.sqrt(variance + 1e-5)[across]
    np.testing.assert_allclose(y, gain[across] * standard + bias[across])
    again = nn.batch_norm_inference(x, gain, bias, mean, variance)
    np.testing.assert_allclose(again, y, rtol=1e-10)
    z = nn.layer_norm(x, np.ones((3, 2)), np.zeros((3, 2)), axis=(1, 2), eps=0.0)
    np.testing.assert_allclose(z.mean((1, 2)), 0, atol=1e-15)
    np.testing.assert_allclose(z.var((1, 2)), 1)


def test_dropout_keeps_the_mean() -> None:
    rng = np.random.default_rng(0)
    mask = nn.dropout_mask(rng, (100, 1000), 0.2)
    assert mask.dtype == np.bool_
    assert mask.mean() == pytest.approx(0.8, abs=0.005)
    y = nn.dropout(np.ones((100, 1000)), mask, 0.2)
    assert set(np.unique(y)) == {0.0, 1.25}
    assert y.mean() == pytest.approx(1, abs=0.01)
    np.testing.assert_array_equal(nn.dropout(X, np.ones((3, 4), bool), 0.0), X)


@pytest.mark.parametrize("level", LEVELS)
def test_a_mask_drawn_in_a_compiled_function_is_that_of_the_plain_one(level: str) -> None:
    def loss(x: Any, rng: Any) -> Any:
        return np.sum(nn.dropout(x, nn.dropout_mask(rng, x.shape, 0.5), 0.5) ** 2)

    value, gradient = st.value_and_grad(loss, level=level)(X, np.random.default_rng(5))
    assert value == pytest.approx(loss(X, np.random.default_rng(5)))
    mask = nn.dropout_mask(np.random.default_rng(5), X.shape, 0.5)
    np.testing.assert_allclose(gradient, np.where(mask, 8 * X, 0))


def test_a_sequence_is_its_steps() -> None:
    xs, h, c = (RNG.standard_normal(s) for s in ((6, 2, 3), (2, 4), (2, 4)))
    Wx, Wh, b = (RNG.standard_normal(s) for s in ((3, 16), (4, 16), 16))
    hs, last, c_last = nn.lstm(xs, h, c, Wx, Wh, b)
    for t in range(6):
        h, c = nn.lstm_cell(xs[t], h, c, Wx, Wh, b)
        np.testing.assert_allclose(hs[t], h)
    np.testing.assert_allclose(last, h)
    np.testing.assert_allclose(c_last, c)
    Wx, Wh, b = Wx[:, :12], Wh[:, :12], b[:12]
    states, last = nn.gru(xs, h, Wx, Wh, b, -b)
    for t in range(6):
        h = nn.gru_cell(xs[t], h, Wx, Wh, b, -b)
        np.testing.assert_allclose(states[t], h)
    Wx, Wh, b = Wx[:, :4], Wh[:, :4], b[:4]
    states, last = nn.rnn(xs, h, Wx, Wh, b)
    for t in range(6):
        h = nn.rnn_cell(xs[t], h, Wx, Wh, b)
        np.testing.assert_allclose(states[t], h)
    np.testing.assert_allclose(last, h)


@pytest.mark.parametrize("layer", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_long_sequence_is_a_loop(layer: str, level: str) -> None:
    gates, states, biases = {"rnn": (1, 1, 1), "lstm": (4, 2, 1), "gru": (3, 1, 2)}[layer]
    columns = 3 * gates
    args = [RNG.standard_normal(s) for s in ((50, 2, 2), *((2, 3),) * states)]
    args += [RNG.standard_normal(s) for s in ((2, columns), (3, columns), *((columns,),) * biases)]
    function = getattr(nn, layer)

    def loss(xs: Any, *rest: Any) -> Any:
        return np.mean(function(xs, *rest)[0] ** 2)

    source = st.value_and_grad(loss, level=level).source(*args)
    assert source.count("for t in range(50):") == 1
    assert source.count("for t in reversed(range(50)):") == 1
    assert source.count("np.tanh(") <= 2


def test_attention_by_its_formula() -> None:
    q, k, v = (RNG.standard_normal(s) for s in ((2, 3, 4), (2, 5, 4), (2, 5, 6)))
    mask = RNG.random((3, 5)) < 0.6
    mask[1] = False
    scores = np.exp(np.einsum("bqe,bke->bqk", q, k) / 2)
    p = scores / scores.sum(-1, keepdims=True)
    close = np.testing.assert_allclose
    close(nn.scaled_dot_product_attention(q, k, v), p @ v)
    seen = scores * mask
    total = np.where(mask.any(-1, keepdims=True), seen.sum(-1, keepdims=True), 1)
    found = nn.scaled_dot_product_attention(q, k, v, mask)
    close(found, seen / total @ v)
    assert not found[:, 1].any()  # a query that may look at no key
    added = nn.scaled_dot_product_attention(q, k, v, np.where(mask, 0.0, -1e9))
    close(added[:, [0, 2]], found[:, [0, 2]])


# --- limits --------------------------------------------------------------------------------------

ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    "relu": nn.relu,
    "leaky_relu": nn.leaky_relu,
    "elu": nn.elu,
    "tanh": nn.tanh,
    "sigmoid": nn.sigmoid,
    "silu": nn.silu,
    "softplus": nn.softplus,
    "gelu": nn.gelu,
    "gelu, tanh": lambda x: nn.gelu(x, approximate="tanh"),
    "normal_cdf": nn.normal_cdf,
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
}
LIKE_RELU = ("relu", "silu", "softplus", "gelu", "gelu, tanh")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_large_arguments(name: str, dtype: Any, level: str) -> None:
    """Neither a warning nor a nan, in the value, the gradient and its own gradient."""
    function = ELEMENTWISE[name]
    most = np.finfo(dtype).max / 4
    x = np.array([-most, -1e4, -800, -100, -40, 0, 40, 100, 800, 1e4, most], dtype)

    def total(x: Any) -> Any:
        return np.sum(function(x))

    def slopes(x: Any) -> Any:
        return np.sum(st.grad(total)(x))

    value = function(x)
    gradient = st.grad(total, level=level)(x)
    second = st.grad(slopes, level=level)(x)
    for found in (value, gradient, second):
        assert found.dtype == dtype
        assert np.isfinite(found).all()
    if name in LIKE_RELU:
        np.testing.assert_allclose(value, np.maximum(x, 0), atol=1.0)
        np.testing.assert_allclose(gradient[[0, 1, 2, -3, -2, -1]], [0, 0, 0, 1, 1, 1])


def test_small_results_are_relatively_exact() -> None:
    x = np.array([-700.0, -300.0, -50.0])
    np.testing.assert_allclose(nn.sigmoid(x), np.exp(x), rtol=1e-15)
    np.testing.assert_allclose(nn.softplus(x), np.exp(x), rtol=1e-15)
    np.testing.assert_allclose(st.grad(lambda x: np.sum(nn.softplus(x)))(x), np.exp(x), rtol=1e-15)
    loss = nn.binary_cross_entropy_with_logits(np.array([50.0]), np.array([1.0]))
    assert loss == pytest.approx(math.exp(-50), rel=1e-14)


@pytest.mark.parametrize("level", LEVELS)
def test_derivatives_where_the_formula_has_kinks(level: str) -> None:
    """At 0, where both `np.maximum` and `np.abs` have none."""

    def slope(function: Any, at: float) -> Any:
        return st.grad(lambda x: np.sum(function(x)), level=level)(np.array([at]))[0]

    assert slope(nn.softplus, 0.0) == 0.5
    assert slope(nn.relu, 0.0) == 0
    assert slope(nn.leaky_relu, 0.0) == 0.01
    assert slope(nn.elu, 0.0) == 1
    assert slope(nn.gelu, 0.0) == pytest.approx(0.5, rel=1e-15)
    assert slope(nn.normal_cdf, 0.0) == pytest.approx(1 / math.sqrt(2 * math.pi), rel=1e-15)
    target = np.array([0.25])
    bce = st.grad(lambda x: nn.binary_cross_entropy_with_logits(x, target), level=level)
    assert bce(np.array([0.0])) == [0.25]
    curvature = st.grad(lambda x: np.sum(st.grad(lambda v: np.sum(nn.softplus(v)))(x)))
    assert curvature(np.array([0.0])) == [0.25]


@pytest.mark.parametrize("level", LEVELS)
def test_losses_of_large_logits(level: str) -> None:
    logits = np.array([[3e38, -3e38, 0.0], [-1e30, 1e30, 100.0]], np.float32)
    targets = np.array([[1, 0, 1], [0, 1, 1]], np.float32)
    value, gradient = st.value_and_grad(nn.binary_cross_entropy_with_logits, level=level)(
        logits, targets
    )
    assert value.dtype == np.float32
    assert value == pytest.approx(math.log(2) / 6, rel=1e-5)
    np.testing.assert_allclose(gradient, [[0, 0, -0.5 / 6], [0, 0, 0]])
    value, gradient = st.value_and_grad(nn.huber, level=level)(logits / 100, targets)
    assert np.isfinite(value)
    np.testing.assert_allclose(gradient, np.sign(logits / 100 - targets) / 6)


@pytest.mark.parametrize("level", LEVELS)
def test_masked_attention_of_large_scores(level: str) -> None:
    q, k = np.full((2, 4), 1e15, np.float32), np.full((3, 4), 1e15, np.float32)
    v = RNG.standard_normal((3, 2)).astype(np.float32)
    mask = np.array([[True, False, True], [False] * 3])

    def total(q: Any, k: Any, v: Any) -> Any:
        return np.sum(nn.scaled_dot_product_attention(q, k, v, mask))

    value, gradients = st.value_and_grad(total, (0, 1, 2), level=level)(q, k, v)
    assert value == pytest.approx(np.sum((v[0] + v[2]) / 2), rel=1e-5)
    np.testing.assert_allclose(gradients[2], np.outer([0.5, 0, 0.5], [1, 1]))
    assert all(np.isfinite(g).all() for g in gradients)


@pytest.mark.parametrize("level", LEVELS)
def test_ruled_out_classes(level: str) -> None:
    """An entry of -inf: probability 0."""
    x = np.array([[0.0, -np.inf, 1.0]])

    def total(x: Any) -> Any:
        return np.sum(nn.softmax(x) * np.array([1.0, 2.0, 4.0]))

    value, gradient = st.value_and_grad(total, level=level)(x)
    p = 1 / (1 + math.e)
    assert value == pytest.approx(p + 4 * (1 - p))
    np.testing.assert_allclose(gradient, [[-3 * p * (1 - p), 0, 3 * p * (1 - p)]])


def test_a_constant_row_is_normalised_to_zero() -> None:
    x = np.full((2, 4), 1e6, np.float32)
    y = nn.layer_norm(x, np.ones(4, np.float32), np.zeros(4, np.float32))
    assert not y.any()
