"""Calls of NumPy with kernels between them: what becomes which, and that it is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.kernels.enclose import disclose_loops, enclose_loops
from stcompile.passes.kernels.pays import calls_of
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program

numba = pytest.importorskip("numba")
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)


def recurrent(w: Any, u: Any, x: Any) -> Any:
    """Products and elementary functions of many numbers stay calls."""
    h = np.zeros((x.shape[0], w.shape[1]), x.dtype)
    for t in range(3):
        h = np.tanh(x[:, 10 * t : 10 * (t + 1)] @ w + h @ u)
    return np.mean(h * h)


def convolutional(k: Any, b: Any, x: Any) -> Any:
    a = st.nn.conv2d(x, k) + b[:, None, None]
    a = st.nn.max_pool2d(np.maximum(a, 0))
    return np.sum(a * a) - np.sum(np.sin(a))


def short_rows(m: Any, x: Any) -> Any:
    """Sums over rows of few numbers, and of few of them."""
    d = x - m[:, None, :]
    return np.sum(np.exp(-np.sum(d * d, axis=2))) + np.sum(np.sum(d, axis=(0, 1)) ** 3)


def there_and_back(a: Any, x: Any) -> Any:
    """The gradient of the matrix is the sum of two outer products."""
    return np.sum(((a @ x) @ a) ** 2)


def updated(w: Any, x: Any) -> Any:
    return np.sum(np.tanh(x @ w) ** 2)


def mixture(m: Any, roots: Any, x: Any) -> Any:
    """Many short rows that are multiplied, squared and summed."""
    scaled = (x - m[:, None, :]) @ roots.transpose(0, 2, 1)
    return np.sum(np.log(np.sum(np.exp(-np.sum(scaled * scaled, axis=2)), axis=0)))


def strided(k: Any, x: Any) -> Any:
    """Steps of 2, holes in the kernel, a mean of each 2 x 2 and no relu."""
    a = np.tanh(st.nn.conv2d(np.sin(x), k, stride=2, dilation=2))
    return np.sum(st.nn.avg_pool2d(a) ** 2)


def one_axis(k: Any, x: Any) -> Any:
    """A convolution over one axis, with a margin, whose input is computed as well."""
    return np.sum(np.maximum(st.nn.conv1d(np.sin(x), k, padding=1), 0) ** 2)


def two_layers(k1: Any, k2: Any, b: Any, x: Any) -> Any:
    a = st.nn.max_pool2d(np.maximum(st.nn.conv2d(x, k1) + b[:, None, None], 0))
    a = st.nn.max_pool2d(np.maximum(st.nn.conv2d(a, k2), 0))
    return np.sum(a * a)


NETWORKS: dict[str, tuple[Any, Sequence[Any]]] = {
    "recurrent": (recurrent, ((10, 20), (20, 20), (25, 30))),
    "convolutional": (convolutional, ((4, 2, 3, 3), (4,), (6, 2, 8, 8))),
    "short_rows": (short_rows, ((5, 4), (60, 4))),
    "mixture": (mixture, ((5, 4), (5, 4, 4), (900, 4))),
    "there_and_back": (there_and_back, ((70, 130), (130,))),
    "strided": (strided, ((4, 2, 3, 3), (5, 2, 15, 15))),
    "one_axis": (one_axis, ((4, 3, 5), (20, 3, 12))),
    "two_layers": (two_layers, ((3, 1, 3, 3), (4, 3, 3, 3), (3,), (7, 1, 14, 14))),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NETWORKS)
def test_gradients(name: str, dtype: Any) -> None:
    function, shapes = NETWORKS[name]
    args = [RNG.normal(size=shape).astype(dtype) / 4 for shape in shapes]
    wrt = tuple(range(len(args)))
    value, gradient = st.value_and_grad(function, wrt=wrt, level="readable")(*args)
    compiled = st.value_and_grad(function, wrt=wrt, level="compiled")
    assert "def kernel_1" in str(compiled.source(*args))
    for _ in range(2):  # buffers hold what the call before left there
        found, d_found = compiled(*args)
        rtol = 1e-11 if dtype is np.float64 else 1e-4
        np.testing.assert_allclose(found, value, rtol=rtol)
        for one, other in zip(d_found, gradient, strict=True):
            assert one.dtype == dtype
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * np.max(np.abs(other)))


def test_results_are_the_callers() -> None:
    function, shapes = NETWORKS["short_rows"]
    args = [RNG.normal(size=shape) for shape in shapes]
    gradient = st.grad(function, wrt=(0, 1), level="compiled")
    first = gradient(*args)
    kept = [one.copy() for one in first]
    second = gradient(args[0] + 1, args[1])
    for one, before, other in zip(first, kept, second, strict=True):
        np.testing.assert_array_equal(one, before)
        assert not np.shares_memory(one, other)


def test_kernels_stand_between_calls() -> None:
    args = [np.ones(shape) for shape in NETWORKS["recurrent"][1]]
    source = str(st.value_and_grad(recurrent, wrt=(0, 1), level="compiled").source(*args))
    source = "\n".join(line.partition("#")[0] for line in source.splitlines())
    kernels, _, rest = source.partition("def workspace(")
    assert rest.count("np.tanh(") == 3
    assert "np.tanh" not in kernels
    assert "1 - h" in kernels  # the adjoint of tanh, in one pass


def test_outer_products_are_added_in_one_pass() -> None:
    args = [np.ones(shape) for shape in NETWORKS["there_and_back"][1]]
    source = str(st.value_and_grad(there_and_back, wrt=(0, 1), level="compiled").source(*args))
    assert "outer" not in source
    (written,) = (line for line in source.splitlines() if "[i, i_1] = " in line)
    assert written.count("[i]") == written.count("[i_1]") == 2
    alone = str(st.grad(lambda x, y: np.sum(np.outer(x, y) @ x), level="compiled").source(
        np.ones(100), np.ones(100)
    ))  # fmt: skip
    assert "kernel" not in alone  # one outer product is no work for a kernel


def test_short_rows_are_laid_out_across() -> None:
    args = [np.ones(shape) for shape in NETWORKS["mixture"][1]]
    source = str(st.value_and_grad(mixture, wrt=(0, 1, 2), level="compiled").source(*args))
    assert "scaled = np.empty((5, 4, 900)" in source
    assert "x.T)" in source.partition("def workspace(")[2]  # NumPy turns it, not a kernel
    assert "axis=1" not in source  # squares are summed in the loop that makes them
    few = str(st.value_and_grad(mixture, level="compiled").source(*args[:2], args[2][:800]))
    assert "(5, 800, 4)" in few


@pytest.mark.parametrize("name", ["strided", "one_axis", "two_layers"])
def test_parts_of_a_convolution_are_added_in_loops(name: str) -> None:
    """The gradient with respect to the input, whose parts overlap, is right; differences say so."""
    function, shapes = NETWORKS[name]
    args = [RNG.normal(size=shape) for shape in shapes]
    last = len(args) - 1
    gradient = st.grad(function, wrt=last, level="compiled")
    kernels, _, rest = str(gradient.source(*args)).partition("def workspace(")
    assert "] += " in kernels
    assert rest.count("] += ") < 2  # not one for each number of the kernel
    found, way = gradient(*args), RNG.normal(size=shapes[-1])
    ends = [function(*args[:-1], args[-1] + h * way) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(np.sum(found * way), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def test_deep_nests_are_told_their_steps() -> None:
    """LLVM would write out four short loops one in the other, which takes it half a minute."""
    args = [np.ones(shape) for shape in NETWORKS["two_layers"][1]]
    source = str(st.grad(two_layers, wrt=(0, 1), level="compiled").source(*args))
    kernels, _, rest = source.partition("def workspace(")
    assert "in range(steps):" in kernels
    assert ", 3)" in rest
    assert "steps" not in str(st.grad(updated, level="compiled").source(np.eye(9), np.eye(9)))


def test_training_step_updates_in_place() -> None:
    w, x = RNG.normal(size=(10, 20)), RNG.normal(size=(30, 10))
    found = {}
    for level in ("fast", "compiled"):
        own = w.copy()
        step = st.train_step(updated, st.optim.SGD(0.01), wrt=0, level=level)  # type: ignore[call-overload]
        losses = [step(own, x) for _ in range(3)]
        found[level] = (losses, own)
    np.testing.assert_allclose(found["compiled"][0], found["fast"][0], rtol=1e-12)
    np.testing.assert_allclose(found["compiled"][1], found["fast"][1], rtol=1e-12)


def rank_one(w: Any, x: Any) -> Any:
    """A batch of one: the gradient of the matrix is an outer product."""
    return np.sum(np.tanh(w @ x) ** 2)


def test_an_outer_product_of_an_update_is_added_by_blas() -> None:
    """The gradient, which is as large as the matrix, is never stored."""
    w, x = RNG.normal(size=(30, 40)), RNG.normal(size=40)
    step = st.train_step(rank_one, st.optim.SGD(0.01), wrt=0, level="compiled")
    expected = w - 0.01 * st.grad(rank_one, level="readable")(w, x)
    step(w, x)
    np.testing.assert_allclose(w, expected, rtol=1e-12)
    source = str(step.source(w, x))
    assert "dger(-lr, " in source
    assert "np.empty((30, 40)" not in source


def _program(n: int) -> Program:
    return parse_program(f"""
    program f(x: f64[{n}], y: f64[{n}]) {{
      v1: f64[{n}] = tanh(x)
      v2: f64[{n}] = multiply(v1, y)
      v3: f64[{n}] = multiply(v2, v2)
      v4: f64[{n}] = add(v3, x)
      v5: f64[{n}] = exp(v4)
      v6: f64[{n}] = add(v5, 1.0)
      return v6
    }}""")


def test_calls_by_size() -> None:
    few = calls_of(_program(40), lambda _: True)
    assert not few
    many = {variable.name for variable in calls_of(_program(4000), lambda _: True)}
    assert many == {"v1", "v5", "v6"}  # a call for one sum alone is no slower than a kernel


def test_what_is_no_candidate_is_a_call() -> None:
    program = _program(40)
    found = calls_of(program, lambda equation: equation.primitive != "multiply")
    assert {variable.name for variable in found} >= {"v2", "v3"}


def test_loops_are_set_aside() -> None:
    def sweeps(u: Any) -> Any:
        u = u.copy()
        for _ in range(20):
            for i in range(1, 9):
                u[i] = 0.5 * (u[i - 1] + u[i + 1])
        return np.sum(u)

    def with_calls(u: Any, a: Any) -> Any:
        for _ in range(20):
            u = np.linalg.solve(a, u)  # a large one
        return np.sum(u)

    grad = st.grad(sweeps, level="compiled")
    program = grad.stage(grad.bind((np.ones(10),), {})).program
    aside = enclose_loops(program)
    assert {e.primitive for e in aside.equations} >= {"kernel"}
    assert not any(e.primitive == "loop" for e in aside.equations)
    assert disclose_loops(aside) == program
    other = st.grad(with_calls, level="compiled")
    program = other.stage(other.bind((np.ones(60), np.eye(60)), {})).program
    assert enclose_loops(program) == program


def test_lengths_are_compared_before_a_kernel_relies_on_them() -> None:
    """A kernel does not check its indices: it would read behind the end of the selection."""

    def selected(x, s):
        v = np.array([s * p for p in range(3)])
        return np.sum(v[v < 0.5] * v) * np.sum(x)

    gradient = st.value_and_grad(selected, wrt=("x", "s"), level="compiled")
    body = str(gradient.source(np.ones(7), 0.7)).partition("def workspace(")[2]
    assert body.index("raise ValueError") < body.index("kernel_2(")
    with pytest.raises(ValueError, match="could not be broadcast together"):
        gradient(np.ones(7), 0.7)
    value, (_, slope) = gradient(np.ones(7), 0.2)
    np.testing.assert_allclose([value, slope], [selected(np.ones(7), 0.2), 14.0], rtol=1e-12)
