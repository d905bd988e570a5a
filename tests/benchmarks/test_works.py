"""The inputs of the works, and the functions in plain NumPy."""

from __future__ import annotations

import importlib
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples.benchmarks import images, machine
from examples.benchmarks.engines import ENGINES
from examples.benchmarks.functions import gaussian_mixture
from examples.benchmarks.images import Images
from examples.benchmarks.inputs import Inputs
from examples.benchmarks.pace import Pace
from examples.benchmarks.session import Evaluation, Session, Training
from examples.benchmarks.works import WORKS, Work
from examples.benchmarks.works.gaussian_mixture import constant_term, positions_in_root
from stcompile.base.errors import DataError
from stcompile_programs.train import DataSet


def tiny(work: Work) -> Inputs:
    return work.make(work.quick_sizes, np.random.default_rng(0), Images())


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_inputs_are_the_same_every_time_and_survive_the_way_by_files(
    work: Work, tmp_path: Path
) -> None:
    inputs = tiny(work)
    inputs.save(tmp_path)
    for other in (tiny(work), Inputs.load(tmp_path)):
        assert other.numbers == inputs.numbers
        assert other.learning_rate == inputs.learning_rate
        for ours, theirs in ((other.params, inputs.params), (other.data, inputs.data)):
            assert list(ours) == list(theirs)
            for name in ours:
                assert ours[name].dtype == theirs[name].dtype
                np.testing.assert_array_equal(ours[name], theirs[name])
    dtype = np.float32 if work.kind == "training" else np.float64
    assert {param.dtype for param in inputs.params.values()} == {np.dtype(dtype)}


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_engines_agree(work: Work) -> None:
    """In this process, one step each: the loss and the gradient."""
    inputs, blocks = tiny(work), []
    for name in ("autograd", "stcompile"):
        entry = ENGINES[name]
        engine = importlib.import_module(entry.module).engine(entry.variant, 1)
        pace = Pace(steps=1, warmup=0)
        session: Session
        if work.kind == "training":
            session = Training(engine.trainer(work.name, inputs), inputs, pace)
        else:
            session = Evaluation(engine.evaluator(work.name, inputs), pace)
        blocks.append(session.block())
    ours, theirs = blocks[1], blocks[0]
    assert ours.loss == pytest.approx(theirs.loss, rel=1e-4)
    assert ours.gradient is not None and theirs.gradient is not None
    assert ours.gradient.norm == pytest.approx(theirs.gradient.norm, rel=1e-3)
    assert ours.gradient.product == pytest.approx(
        theirs.gradient.product, abs=1e-3 * theirs.gradient.norm
    )


def test_gaussian_mixture_is_the_density_of_a_mixture() -> None:
    stats = pytest.importorskip("scipy.stats")
    special = pytest.importorskip("scipy.special")
    n, d, k = 7, 3, 4
    inputs = WORKS["gaussian_mixture"].make(
        {"n": n, "d": d, "k": k}, np.random.default_rng(3), Images()
    )
    alphas, means, factors = inputs.params.values()
    x = inputs.data["x"]
    densities = np.zeros(n)
    for alpha, mean, factor in zip(special.softmax(alphas), means, factors, strict=True):
        root = np.diag(np.exp(factor[:d]))
        root[1, 0], root[2, 0], root[2, 1] = factor[d:]
        normal = stats.multivariate_normal(mean, np.linalg.inv(root.T @ root))
        densities += alpha * normal.pdf(x)
    gaussians = -0.5 * n * d * math.log(2 * math.pi)
    found = gaussian_mixture(alphas, means, factors, x, positions_in_root(d), 0.0, 0, gaussians)
    assert found == pytest.approx(np.sum(np.log(densities)))


def test_prior_of_the_gaussian_mixture() -> None:
    special = pytest.importorskip("scipy.special")
    n, d, k = 1, 4, 3
    c = (d + 1) * d * -0.5 * math.log(2) - special.multigammaln(0.5 * (d + 1), d)
    assert constant_term(n, d, k) == pytest.approx(-0.5 * d * math.log(2 * math.pi) - k * c)
    factors = np.arange(10.0).reshape(1, 10) / 10  # diagonal 0 to 0.3, then 0.4 to 0.9
    arguments: list[Any] = [np.zeros(1), np.zeros((1, d)), factors, np.zeros((1, d))]
    values = [
        gaussian_mixture(*arguments, positions_in_root(d), gamma, m, 0.0)
        for gamma, m in ((0.0, 0), (2.0, 0), (0.0, 1))
    ]
    squares = np.sum(np.exp(factors[0, :d]) ** 2) + np.sum(factors[0, d:] ** 2)
    assert values[1] - values[0] == pytest.approx(2 * squares)
    assert values[2] - values[0] == pytest.approx(-0.6)


def test_images_are_mnist_where_it_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(6, dtype=np.float32)[:, None] * np.ones(784, np.float32)
    y = np.arange(6)
    data = DataSet("mnist", x, y, x[:1], y[:1], (28, 28), origin="from a folder")
    monkeypatch.setattr(images.train, "load", lambda name: data)
    source = Images()
    rows, labels = source.batches(np.random.default_rng(0), 2, 3, 784)
    assert rows.shape == (2, 3, 784)
    np.testing.assert_array_equal(rows[:, :, 0], labels)
    assert sorted(labels.ravel()) == [0, 1, 2, 3, 4, 5]
    assert source.describe(784).startswith("MNIST, 6 + 1 images")


def test_images_are_random_where_mnist_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> DataSet:
        raise DataError("no such files", hint="download them")

    monkeypatch.setattr(images.train, "load", refuse)
    source = Images()
    rows, labels = source.batches(np.random.default_rng(0), 2, 3, 784)
    assert rows.shape == (2, 3, 784)
    assert rows.dtype == np.float32
    assert labels.shape == (2, 3)
    assert "since MNIST is not at hand: no such files" in source.describe(784)


def test_workers_have_so_many_threads_and_no_pinned_kernel() -> None:
    found = machine.limit_threads({"OPENBLAS_CORETYPE": "Haswell", "HOME": "h"}, 2)
    assert "OPENBLAS_CORETYPE" not in found
    assert found["HOME"] == "h"
    assert found["OMP_NUM_THREADS"] == found["OPENBLAS_NUM_THREADS"] == "2"


def test_processors_that_others_keep_busy() -> None:
    start = machine.Usage(wall=10.0, own=1.0, all=50.0)
    assert machine.Usage(12.0, 2.5, 54.5).others_since(start) == pytest.approx(1.5)
    assert machine.Usage(12.0, 2.5, 51.0).others_since(start) == 0
    assert machine.Usage(10.05, 1.0, 50.1).others_since(start) is None
    assert machine.Usage(12.0, 2.5, None).others_since(start) is None


def test_waiting_for_quiet_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = iter([1.5, 0.5, 0.01, 0.01])
    monkeypatch.setattr(machine.Usage, "others_since", lambda now, start: next(busy))
    monkeypatch.setattr(machine, "SHORTEST", 0.01)
    machine.wait_for_quiet(60.0)
    assert next(busy) == 0.01
    monkeypatch.setattr(machine.Usage, "others_since", lambda now, start: 2.0)
    start = time.perf_counter()
    machine.wait_for_quiet(0.05)
    assert 0.05 <= time.perf_counter() - start < 10
