"""The LSTM of examples/mnist_lstm.py: its equations, its gradient, and that it learns."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile_programs.train import sources
from tests.train import programs

REAL_DATA = os.environ.get(sources.ENVIRONMENT)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return programs.load("mnist_lstm")


def made(example: ModuleType, dtype: str = "float64") -> tuple[dict[str, Any], Any, Any]:
    """Parameters of 5 units that read 4 x 3 pixels, six images, and labels."""
    rng = np.random.default_rng(0)
    params = example.initial_params(rng, 3, 5, 4, dtype)
    params = {n: (p + rng.normal(0, 0.1, p.shape)).astype(dtype) for n, p in params.items()}
    return params, rng.normal(size=(6, 12)).astype(dtype), rng.integers(0, 4, 6)


def sigmoid(v: Any) -> Any:
    return 1 / (1 + np.exp(-v))


def test_the_cell_is_that_of_the_paper(example: ModuleType) -> None:
    """Gate by gate and image by image, as in Gers, Schmidhuber & Cummins 2000."""
    params, x, _ = made(example)
    Wi, Wf, Wo, Wg = np.split(params["W"], 4, axis=1)
    Ui, Uf, Uo, Ug = np.split(params["U"], 4, axis=1)
    bi, bf, bo, bg = np.split(params["b"], 4)
    found = example.scores(params, x, 4)
    for image, scores in zip(x.reshape(6, 4, 3), found, strict=True):
        h = c = np.zeros(5)
        for row in image:
            i = sigmoid(Wi.T @ row + Ui.T @ h + bi)
            f = sigmoid(Wf.T @ row + Uf.T @ h + bf)
            o = sigmoid(Wo.T @ row + Uo.T @ h + bo)
            g = np.tanh(Wg.T @ row + Ug.T @ h + bg)
            c = f * c + i * g
            h = o * np.tanh(c)
        np.testing.assert_allclose(scores, h @ params["Ws"] + params["bs"], rtol=1e-12)


def test_gradient_is_that_of_finite_differences(example: ModuleType) -> None:
    params, x, y = made(example)
    example.loss.check_grads(params, x, y, 4)


def test_float32_stays(example: ModuleType) -> None:
    exact = example.loss.value_and_grad(*made(example), 4)[1]
    value, grads = example.loss.value_and_grad(*made(example, "float32"), 4)
    assert value.dtype == np.float32
    for name, grad in grads.items():
        assert grad.dtype == np.float32
        np.testing.assert_allclose(grad, exact[name], rtol=0, atol=1e-5)


def test_the_network_starts_with_remembering(example: ModuleType) -> None:
    params = example.initial_params(np.random.default_rng(0), 3, 5, 4, "float32")
    assert params["b"].tolist() == 5 * [0.0] + 5 * [1.0] + 10 * [0.0]
    assert {p.dtype.name for p in params.values()} == {"float32"}


def test_a_step_allocates_no_arrays(example: ModuleType) -> None:
    params, x, y = made(example)
    step = st.train_step(example.loss, st.optim.Adam(), wrt="params", level="fast")
    assert step.allocated_bytes(params, x, y, 4) == 0


@pytest.mark.slow
def test_program_on_digits(tmp_path: Path) -> None:
    flags = ("--data", "digits", "--epochs", "2", "--json", "r.json", "--show-source")
    done = programs.run("mnist_lstm", tmp_path, *flags)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "mnist_lstm.py:" in done.stdout
    results = json.loads((tmp_path / "r.json").read_text())
    assert results["test_accuracy"] > 0.85
    assert results["epochs"][-1]["loss"] < 0.5 * results["epochs"][0]["loss"]


def test_variants(example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.json"
    flags = "--data digits --epochs 1 --hidden 16 --optimizer rmsprop --learning-rate 0.01 "
    flags += f"--dtype float64 --clip-norm 1 --json {file}"
    assert example.main(flags.split()) == 0
    assert json.loads(file.read_text())["test_accuracy"] > 0.5


@pytest.mark.slow
@pytest.mark.skipif(REAL_DATA is None, reason="STCOMPILE_DATA is not set")
def test_fashion_mnist(tmp_path: Path) -> None:
    flags = ("--data", "fashion-mnist", "--data-dir", str(REAL_DATA), "--epochs", "1")
    small = ("--hidden", "32", "--batch-size", "250", "--json", "r.json")
    done = programs.run("mnist_lstm", tmp_path, *flags, *small)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["test_accuracy"] > 0.7
