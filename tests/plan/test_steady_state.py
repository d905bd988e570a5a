"""A training step in its steady state allocates no array data, whatever the batch."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import Options
from stcompile.transforms.primal import Primal
from tests.golden import models
from tests.plan.compiled import FAST, READABLE, peak, random, step
from tests.train import programs

BLAS = Options("fast", blas=True)
LIMIT = 64 * 1024


def rnn_params(inputs: int, hidden: int = 64) -> dict:
    shapes = {
        "Wx": (inputs, hidden),
        "Wh": (hidden, hidden),
        "bh": (hidden,),
        "Wo": (hidden, 10),
        "bo": (10,),
    }
    return {
        name: 0.1 * random(*shape, seed=seed, dtype=np.float32)
        for seed, (name, shape) in enumerate(shapes.items())
    }


def batch(size: int) -> tuple:
    labels = np.random.default_rng(1).integers(0, 10, size)
    return random(size, 784, dtype=np.float32), labels


def mlp(params, x, y):
    h = np.maximum(x @ params["Wx"] + params["bh"], 0)
    return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)


def many_steps(params, x, y):
    h = np.zeros((x.shape[0], params["Wh"].shape[0]), x.dtype)
    for t in range(28):
        h = np.tanh(x[:, 28 * t : 28 * t + 28] @ params["Wx"] + h @ params["Wh"] + params["bh"])
    return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)


def with_scipy(options: Options) -> Options:
    if options.blas:
        pytest.importorskip("scipy")
    return options


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "clip_norm"), [(FAST, None), (BLAS, 1.0)], ids=["numpy", "scipy-clipped"]
)
@pytest.mark.parametrize(
    ("loss", "inputs"),
    [(models.rnn, 196), (mlp, 784), (many_steps, 28)],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_no_array_data(loss, inputs, clip_norm, options, small_pieces) -> None:
    found = []
    for size in (200, 800):
        compiled = step(loss, st.optim.SGD(0.01, clip_norm=clip_norm), with_scipy(options))
        params, (x, y) = rnn_params(inputs), batch(size)
        found.append(peak(lambda: compiled(params, x, y)))
    assert max(found) < LIMIT
    assert abs(found[0] - found[1]) <= 8192, found  # less than any array of a batch


def test_the_readable_level_does_allocate() -> None:
    """The measure can fail."""
    compiled = step(models.rnn, st.optim.SGD(0.01), READABLE)
    params, (x, y) = rnn_params(196), batch(100)
    assert peak(lambda: compiled(params, x, y)) > LIMIT


def test_allocated_bytes_are_counted() -> None:
    compiled = step(models.rnn, st.optim.SGD(0.01))
    params, (x, y) = rnn_params(196), batch(100)
    assert compiled.allocated_bytes(params, x, y) < 4096
    readable = step(models.rnn, st.optim.SGD(0.01), READABLE)
    assert readable.allocated_bytes(params, x, y) > 10**6


@pytest.fixture(scope="module")
def cnn() -> ModuleType:
    return programs.load("mnist_cnn")


@pytest.fixture
def small_pieces() -> Iterator[int]:
    """NumPy goes through operands that no single stride describes, as the places of a pool, in
    pieces of 8192 items, in memory of its own. Pieces of so many items show what is not that."""
    items = 1024
    before = np.setbufsize(items)
    yield items
    np.setbufsize(before)


def cnn_step(cnn: ModuleType, size: int, options: Options, optimizer: st.optim.Optimizer) -> tuple:
    """The step of the convolutional network and its arguments, for batches of that size."""
    rng = np.random.default_rng(0)
    params = cnn.initial_params(rng, 400, 10, np.float32, cnn.INITIALISERS["he"])
    return step(cnn.loss, optimizer, options), (params, *batch(size), (28, 28), "valid")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "optimizer"),
    [(FAST, st.optim.Adam), (BLAS, st.optim.SGD)],
    ids=["numpy-adam", "scipy-sgd"],
)
def test_convolutions_and_pools(cnn, optimizer, options, small_pieces) -> None:
    found = []
    for size in (100, 400):
        compiled, arguments = cnn_step(cnn, size, with_scipy(options), optimizer(0.01))
        assert compiled.allocated_bytes(*arguments) == 0
        found.append(peak(lambda: compiled(*arguments)))
    assert max(found) < LIMIT
    assert abs(found[0] - found[1]) <= 3 * 4 * small_pieces, found


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.3.0",
    reason="before NumPy 2.3 its two pieces alone are 64 KB",
)
def test_pieces_of_numpy_are_all_that_is_left(cnn) -> None:
    """With NumPy's own setting: a piece of each of the two operands that are strided."""
    compiled, arguments = cnn_step(cnn, 100, FAST, st.optim.SGD(0.01))
    assert peak(lambda: compiled(*arguments)) < LIMIT


@pytest.mark.parametrize("options", [FAST, BLAS], ids=["numpy", "scipy"])
def test_a_tangent_does_not_allocate(options: Options) -> None:
    """Both factors of its products move, so that it has sums of two."""
    compiled = Primal(models.rnn_tangent, with_scipy(options))
    params, params_dot, x, y = models.arguments()["rnn_tangent"]
    assert compiled.allocated_bytes(params, params_dot, x, y) == 0
