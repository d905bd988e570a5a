"""grad, value_and_grad and the decorator: arguments, structures, nesting, specialisations."""

from __future__ import annotations

import dataclasses
import functools
import subprocess
import sys
import threading
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import stcompile as st
from stcompile.calls.dispatch import MANY, Dispatcher


def loss(w, b, x=None, *, scale=1.0):
    y = w * 2.0 if x is None else w * x
    return np.sum(y + b * b) * scale


W, B, X = np.array([1.0, 2.0]), np.array([0.5, -0.5]), np.array([3.0, 4.0])


def assert_array(found: Any, expected: Any) -> None:
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, expected)


# --- wrt -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrt", [0, "w", -3])
def test_one_wrt_gives_one_gradient(wrt: Any) -> None:
    assert_array(st.grad(loss, wrt)(W, B, X), X)


@pytest.mark.parametrize("wrt", [(0, 1), ("w", "b"), [0, "b"], (-3, 1)])
def test_a_tuple_gives_a_tuple(wrt: Any) -> None:
    found = st.grad(loss, wrt)(W, B, X)
    assert isinstance(found, tuple)
    assert_array(found[0], X)
    assert_array(found[1], 2 * B)


def test_the_order_is_that_of_wrt() -> None:
    d_x, d_w = st.grad(loss, ("x", "w"))(W, B, X)
    assert_array(d_x, W)
    assert_array(d_w, X)
    (only,) = st.grad(loss, (1,))(W, B, X)
    assert_array(only, 2 * B)
    same, again = st.grad(loss, ("w", "w"))(W, B, X)
    assert_array(same, X)
    assert_array(again, X)
    assert not np.shares_memory(same, again)


def test_keyword_arguments_and_defaults() -> None:
    assert_array(st.grad(loss)(W, b=B), [2, 2])
    assert_array(st.grad(loss, "b")(b=B, w=W, x=X), 2 * B)
    assert_array(st.grad(loss)(W, B, scale=3.0), [6, 6])
    assert st.grad(loss, "scale")(W, B, X, scale=2.0) == loss(W, B, X)


def test_an_index_counts_the_arguments_given() -> None:
    def f(*terms):
        return terms[0] * terms[1]

    assert st.grad(f, (0, 1))(2.0, 3.0) == (3, 2)


def test_value_and_grad() -> None:
    value, gradient = st.value_and_grad(loss)(W, B, X)
    assert value == loss(W, B, X)
    assert_array(gradient, X)
    value, (d_w, d_b) = st.value_and_grad(loss, (0, 1))(W, B, X)
    assert value == loss(W, B, X)
    assert_array(d_w, X)
    assert_array(d_b, 2 * B)


def test_functions_know_what_they_are_made_of() -> None:
    assert st.grad(loss).__name__ == "loss_grad"
    assert st.value_and_grad(loss).__name__ == "loss_value_and_grad"
    import inspect

    assert inspect.signature(st.grad(loss)) == inspect.signature(loss)


# --- structures ----------------------------------------------------------------------------------


class Pair(NamedTuple):
    w: Any
    rest: Any


@dataclasses.dataclass
class Layer:
    w: Any
    name: str = "dense"
    bias: Any = None


def test_gradients_have_the_structure_of_their_argument() -> None:
    def f(p):
        layer, pair = p["layers"][0], p["pair"]
        return np.sum(layer.w * pair.w) * pair.rest[0] + np.sum(p["layers"][1])

    params = {
        "layers": [Layer(W), B],
        "pair": Pair(X, (2.0, None)),
        "unused": (np.ones((2, 1), np.float32),),
    }
    found = st.grad(f)(params)
    assert list(found) == ["layers", "pair", "unused"]
    layer, d_b = found["layers"]
    assert isinstance(layer, Layer)
    assert (layer.name, layer.bias) == ("dense", None)
    assert_array(layer.w, 2 * X)
    assert_array(d_b, [1, 1])
    assert isinstance(found["pair"], Pair)
    assert_array(found["pair"].w, 2 * W)
    assert found["pair"].rest == (np.sum(W * X), None)
    (unused,) = found["unused"]
    assert_array(unused, np.zeros((2, 1)))
    assert unused.dtype == np.float32
    assert params["layers"][0].w is W, "the argument is left alone"


def test_empty_structures() -> None:
    found = st.grad(lambda p: np.sum(p["w"]))({"w": W, "rest": [], "more": ({}, ())})
    assert (found["rest"], found["more"]) == ([], ({}, ()))
    with pytest.raises(st.DerivativeError, match="no array or float"):
        st.grad(lambda p, x: np.sum(x))({}, W)


# --- decorated -----------------------------------------------------------------------------------


@st.differentiable
def plain(x):
    """What it says."""
    return np.sum(x * x)


@st.differentiable(wrt=("a", "b"))
def product(a, b):
    return a * b


class Model:
    def __init__(self, w: Any) -> None:
        self.w = w

    @st.differentiable
    def loss(self, x):
        return np.sum(self.w * x * x)

    @st.differentiable(wrt="x")
    def shifted(self, x, by=1.0):
        return self.loss(x + by)


def test_a_decorated_function_is_still_itself() -> None:
    assert plain(W) == 5
    assert (plain.__name__, plain.__doc__, plain.__wrapped__(W)) == ("plain", "What it says.", 5)
    assert product(2.0, 3.0) == 6


def test_its_gradients() -> None:
    assert_array(plain.grad(W), 2 * W)
    assert product.grad(2.0, 3.0) == (3, 2)
    assert product.value_and_grad(2.0, 3.0) == (6, (3, 2))


def test_methods() -> None:
    model = Model(np.array([1.0, 10.0]))
    assert model.loss(W) == 41
    assert_array(model.loss.grad(W), [2, 40])
    assert_array(model.shifted.grad(W), [4, 60])
    assert_array(model.shifted.grad(W, by=0.0), [2, 40])
    model.w = np.array([0.0, 1.0])
    assert_array(model.loss.grad(W), [0, 4])
    assert_array(Model(np.ones(2)).loss.grad(W), 2 * W)
    assert_array(st.grad(model.loss)(W), [0, 4])


@pytest.mark.slow
def test_a_decorated_function_in_another() -> None:
    assert_array(st.grad(lambda x: plain(x) * product(2.0, 3.0))(W), 12 * W)
    assert_array(st.grad(lambda x: np.sum(plain.grad(x) ** 2))(W), 8 * W)
    assert_array(st.grad(lambda x: plain.value_and_grad(x)[0])(W), 2 * W)


def test_partial_functions() -> None:
    assert_array(st.grad(functools.partial(loss, x=X, b=B))(W), X)
    assert_array(st.grad(functools.partial(loss, W))(B, X), 2 * B)


def test_what_it_shows() -> None:
    assert "def product_value_and_grad(a, b):" in product.source(2.0, 3.0)
    assert str(product.wengert(2.0, 3.0)).startswith("program product(a: float, b: float)")
    assert product.source(2.0, 3.0) == product.source(4.0, 5.0)


# --- higher orders -------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.array(0.7)])
@pytest.mark.parametrize(
    ("function", "derivatives"),
    [
        (lambda x: np.sin(x), (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x))),
        (lambda x: x**4, (lambda x: 4 * x**3, lambda x: 12 * x**2, lambda x: 24 * x)),
        (lambda x: np.exp(2 * x), tuple(lambda x, n=n: 2**n * np.exp(2 * x) for n in (1, 2, 3))),
        (lambda x: 1 / x, (lambda x: -1 / x**2, lambda x: 2 / x**3, lambda x: -6 / x**4)),
        (
            lambda x: np.log(1 + x * x),
            (
                lambda x: 2 * x / (1 + x * x),
                lambda x: 2 * (1 - x * x) / (1 + x * x) ** 2,
                lambda x: 4 * x * (x * x - 3) / (1 + x * x) ** 3,
            ),
        ),
        (
            lambda x: np.tanh(x),
            (
                lambda x: 1 - np.tanh(x) ** 2,
                lambda x: -2 * np.tanh(x) * (1 - np.tanh(x) ** 2),
                lambda x: (6 * np.tanh(x) ** 2 - 2) * (1 - np.tanh(x) ** 2),
            ),
        ),
    ],
)
def test_three_orders_of_numbers(function: Any, derivatives: Any, x: Any) -> None:
    nested = function
    for derivative in derivatives:
        nested = st.grad(nested)
        assert nested(x) == pytest.approx(derivative(0.7), rel=1e-13)


def test_mixed_derivatives() -> None:
    def f(x, y):
        return x**2 * np.sin(y)

    assert st.grad(st.grad(f, "x"), "y")(3.0, 0.4) == pytest.approx(6 * np.cos(0.4))
    assert st.grad(st.grad(st.grad(f), 1), 0)(3.0, 0.4) == pytest.approx(2 * np.cos(0.4))


def test_nested_inside_a_function() -> None:
    """Perturbations are not confused (Siskind & Pearlmutter 2005): d/dx x · d/dy (x + y) = 1."""

    def outer(x):
        return x * st.grad(lambda y: x + y)(1.0)

    def product(x):
        return x * st.grad(lambda y: x * y)(2.0)

    assert st.grad(outer)(3.0) == 1
    assert st.grad(product)(3.0) == 6


def test_gradient_descent_inside_a_function() -> None:
    """The derivative of a fit by its target, through unrolled steps."""

    def fitted(target):
        w = np.zeros(2)
        for _ in range(3):
            w = w - 0.25 * st.grad(lambda w: np.sum((w - target) ** 2))(w)
        return np.sum(w)

    np.testing.assert_allclose(st.grad(fitted)(W), [1 - 0.5**3] * 2)


# --- what is returned ----------------------------------------------------------------------------


def test_returned_gradients_are_the_caller_s() -> None:
    def f(x, y, p):
        return np.sum(x * y) + np.sum(x + y) + np.sum(p[0].T * p[1]) + np.sum(p[1])

    ones = np.ones((2, 2))
    arguments = (ones * 2, ones * 3, [ones * 4, ones * 5])
    flat = [arguments[0], arguments[1], *arguments[2]]
    gradient = st.grad(f, (0, 1, 2))
    first = gradient(*arguments)
    arrays = [first[0], first[1], *first[2]]
    for i, array in enumerate(arrays):
        assert array.flags.writeable
        others = [*flat, *arrays[:i]]
        assert not any(np.shares_memory(array, other) for other in others)
    kept = [array.copy() for array in arrays]
    for array in arrays:
        array += 100
    second = gradient(*arguments)
    for again, before in zip((second[0], second[1], *second[2]), kept):
        assert_array(again, before)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.sum(x * y),  # the gradient is the other argument
        lambda x, y: np.sum(x),  # a broadcast number
        lambda x, y: np.sum(x.T @ y),
        lambda x, y: np.sum(x.reshape(-1) * y.ravel()),
        lambda x, y: np.sum(x[::-1, ::-1] * y),
        lambda x, y: np.sum(st.grad(lambda x: np.sum(x * x) / 2)(x) * y),
    ],
)
def test_gradients_that_are_views(function: Any) -> None:
    x, y = np.ones((2, 2)), np.arange(4.0).reshape(2, 2)
    found = st.grad(function, (0, 1))(x, y)
    for gradient in found:
        gradient[0, 0] = 7
    assert_array(x, np.ones((2, 2)))
    assert_array(y, np.arange(4.0).reshape(2, 2))
    assert not np.shares_memory(*found)


def test_captured_arrays_are_not_handed_out() -> None:
    weights = np.array([1.0, 2.0])
    found = st.grad(lambda x: np.sum(x * weights))(X)
    assert_array(found, weights)
    found += 1
    assert_array(weights, [1, 2])


# --- specialisations -----------------------------------------------------------------------------


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Grows by one with every compilation."""
    made: list[Any] = []
    build = Dispatcher.build

    def counted(self: Dispatcher, arguments: Any) -> Any:
        made.append(self)
        return build(self, arguments)

    monkeypatch.setattr(Dispatcher, "build", counted)
    return made


def test_one_compilation_a_signature(compilations: list[Any]) -> None:
    def f(x, n=2, flag=None):
        return np.sum(x**n)

    gradient = st.grad(f)
    calls: list[tuple[Any, ...]] = [
        *((np.ones(3),), (np.ones(4),), (np.ones((3, 1)),), (np.ones(3, np.float32),)),
        *((2.0,), (np.float64(2.0),), (np.array(2.0),), (np.ones(3), 3), (np.ones(3), True)),
        *((np.ones(3), 2, "flag"), (np.ones(3), 2, (1, 2)), (np.ones(3), 2, [1, 2])),
        *((np.ones(3), 2.0), (np.ones((2, 2)).T[:1],)),
    ]
    for count, call in enumerate(calls, 1):
        gradient(*call)
        assert len(compilations) == count, call
    for x, *rest in calls:
        gradient(x, *rest)
        gradient(x + x, *rest) if np.ndim(x) < 2 else None
        gradient(x=x, **dict(zip(("n", "flag"), rest)))
    assert len(compilations) == len(calls)


def test_values_do_not_compile_anew(compilations: list[Any]) -> None:
    gradient = st.grad(lambda x, a: np.sum(x) * a)
    for step in range(5):
        assert_array(gradient(np.full(2, float(step)), float(step)), [step, step])
    assert len(compilations) == 1


def test_each_layout_is_right() -> None:
    gradient = st.grad(lambda x: np.sum(x.reshape(-1)[1:] ** 2))
    wide = np.arange(24.0).reshape(4, 6)
    for x in (wide, wide.T, wide[::2], wide[:, ::-1], np.asfortranarray(wide), wide[:0]):
        expected = 2 * x
        if x.size:
            expected[0, 0] = 0
        assert_array(gradient(x), expected)


def test_an_int_that_keeps_changing_warns() -> None:
    gradient = st.grad(lambda x, n: x * n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(MANY):
            assert gradient(1.0, n) == n
        assert not caught
        for n in range(MANY, 2 * MANY):
            assert gradient(1.0, n) == n
    (warning,) = caught
    assert "keeps changing" in str(warning.message)
    assert warning.filename == __file__


def test_numbers_that_look_alike_are_different() -> None:
    """1, 1.0 and True are equal and hash alike."""

    def f(x, n):
        return x * (2 if n is True else 3 if isinstance(n, int) else n + 4)

    gradient = st.grad(f)
    assert [gradient(1.0, n) for n in (1, True, 1.0, True, 1)] == [3, 2, 5, 2, 3]


def test_threads() -> None:
    """Many calls at once, the first ones while it is being compiled."""
    gradient = st.value_and_grad(lambda w, x: np.sum(np.tanh(x @ w) ** 2))
    rng = np.random.default_rng(0)
    jobs = [(rng.standard_normal((4, 3)), rng.standard_normal((n % 3 + 2, 4))) for n in range(24)]
    alone = st.value_and_grad(lambda w, x: np.sum(np.tanh(x @ w) ** 2))
    expected = [alone(*job) for job in jobs]
    found: list[Any] = [None] * len(jobs)
    barrier = threading.Barrier(8)

    def work(first: int) -> None:
        barrier.wait()
        for _ in range(5):
            for at in range(first, len(jobs), 8):
                found[at] = gradient(*jobs[at])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (value, d_w), (other, expected_d_w) in zip(found, expected):
        assert value == other
        assert_array(d_w, expected_d_w)


def test_a_function_that_calls_its_own_gradient_at_run_time() -> None:
    """Recursion through the dispatcher."""
    gradient = st.grad(lambda x: np.sum(x * x))
    assert_array(gradient(gradient(gradient(W))), 8 * W)


def test_allocated_bytes() -> None:
    gradient = st.grad(lambda x: np.sum(np.sin(x)))
    small, large = gradient.allocated_bytes(np.ones(10)), gradient.allocated_bytes(np.ones(1000))
    assert 80 <= small < large == 100 * small


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_the_gradient_of_an_array_of_one_number(level, tmp_path):
    def loss(x):
        return np.sum(np.sin(x) * x, axis=0, keepdims=True)

    x = np.array([0.5, -1.5, 2.0])
    value, gradient = st.value_and_grad(loss, level=level)(x)
    np.testing.assert_allclose(value, loss(x), rtol=1e-15)
    np.testing.assert_allclose(gradient, np.cos(x) * x + np.sin(x), rtol=1e-14)
    assert value.shape == (1,)
    assert "ones" not in st.grad(loss, level=level).source(x)
    curvature = np.diag(2 * np.cos(x) - np.sin(x) * x)
    np.testing.assert_allclose(st.hessian(loss, level=level)(x), curvature, atol=1e-14)
    np.testing.assert_array_equal(st.grad(lambda a: a, level=level)(np.ones((1, 1))), [[1.0]])
    path = tmp_path / "exported.py"
    st.grad(loss, level=level).export(path, x)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:3]) == (0, "ok:")
    parameters = x.copy()
    step = st.train_step(loss, st.optim.SGD(0.5), level=level)
    np.testing.assert_array_equal(step(parameters), value)
    np.testing.assert_allclose(parameters, x - 0.5 * gradient)
