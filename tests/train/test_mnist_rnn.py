"""The recurrent network of examples/mnist_rnn.py: its gradient, and that it learns."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from stcompile_programs.train import sources
from tests.train import programs

REAL_DATA = os.environ.get(sources.ENVIRONMENT)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return programs.load("mnist_rnn")


def backpropagation_through_time(
    params: dict[str, Any], x: Any, y: Any, steps: int
) -> tuple[Any, dict[str, Any]]:
    """Loss and gradient of the network, derived by hand.

    Source of the recurrences: P. Werbos, "Backpropagation through time: what it does and how to do
    it", Proc. IEEE 78 (1990).
    """
    size, rows = x.shape[1] // steps, np.arange(len(x))
    parts = [x[:, size * t : size * (t + 1)] for t in range(steps)]
    hs = [np.zeros((len(x), len(params["Wh"])), x.dtype)]
    for part in parts:
        hs.append(np.tanh(part @ params["Wx"] + hs[-1] @ params["Wh"] + params["bh"]))
    logits = hs[-1] @ params["Wo"] + params["bo"]
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
    loss = -np.mean(np.log(probabilities[rows, y]))

    d_logits = probabilities.copy()
    d_logits[rows, y] -= 1
    d_logits /= len(x)
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    grads["Wo"] += hs[-1].T @ d_logits
    grads["bo"] += d_logits.sum(axis=0)
    d_h = d_logits @ params["Wo"].T
    for t in reversed(range(steps)):
        d_a = d_h * (1 - hs[t + 1] ** 2)
        grads["Wx"] += parts[t].T @ d_a
        grads["Wh"] += hs[t].T @ d_a
        grads["bh"] += d_a.sum(axis=0)
        d_h = d_a @ params["Wh"].T
    return loss, grads


@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
def test_gradient_is_backpropagation_through_time(
    example: ModuleType, steps: int, dtype: str, tolerance: float
) -> None:
    rng = np.random.default_rng(steps)
    x, y = rng.random((6, 28)).astype(dtype), rng.integers(0, 4, 6)
    params = example.initial_params(rng, 28 // steps, 5, 4, dtype)
    params = {name: value + rng.normal(0, 0.1, value.shape) for name, value in params.items()}
    params = {name: value.astype(dtype) for name, value in params.items()}

    value, grads = example.loss.value_and_grad(params, x, y, steps)
    expected_value, expected = backpropagation_through_time(params, x, y, steps)
    assert value.dtype == dtype
    np.testing.assert_allclose(value, expected_value, rtol=tolerance)
    assert grads.keys() == expected.keys()
    for name in expected:
        assert grads[name].dtype == dtype
        np.testing.assert_allclose(grads[name], expected[name], rtol=0, atol=tolerance)


def test_the_model_is_plain_numpy(example: ModuleType) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((3, 8)), rng.integers(0, 4, 3)
    params = example.initial_params(rng, 4, 5, 4, np.float64)
    assert params["Wx"].shape == (4, 5)
    assert example.scores(params, x, 2).shape == (3, 4)
    expected, _ = backpropagation_through_time(params, x, y, 2)
    np.testing.assert_allclose(example.loss(params, x, y, 2), expected)


def test_program_on_digits(tmp_path: Path) -> None:
    outputs = ("--json", "r.json", "--report", "report", "--show-source")
    done = programs.run("mnist_rnn", tmp_path, "--data", "digits", "--epochs", "4", *outputs)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("data: scikit-learn's digits, 1438 + 359 images of 8 x 8")
    assert any(line.startswith("def ") for line in lines)
    assert "mnist_rnn.py:" in done.stdout
    results = json.loads((tmp_path / "r.json").read_text())
    assert results["dataset"] == "digits"
    assert len(results["epochs"]) == 4
    assert results["test_accuracy"] > 0.9
    assert results["epochs"][-1]["loss"] < 0.5 * results["epochs"][0]["loss"]
    for epoch in results["epochs"]:
        assert epoch["seconds"] > 0
        assert epoch["allocated_bytes"] == 143 * results["allocated_bytes_per_step"]
    assert (tmp_path / "report" / "report.md").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        "--steps 16 --epochs 2",
        "--dtype float64 --steps 1 --epochs 1",
        "--clip-value 0.01 --epochs 1",
        "--optimizer adam --learning-rate 0.003 --clip-norm 1 --epochs 1",
        "--clip-norm 0.5 --hidden 7 --batch-size 100 --epochs 1",
    ],
)
def test_variants_learn_something(
    arguments: str, example: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "r.json"
    flags = ["--data", "digits", "--learning-rate", "0.05", "--json", str(file)]
    assert example.main([*flags, *arguments.split()]) == 0
    results = json.loads(file.read_text())
    assert results["epochs"][-1]["loss"] < 2.3
    assert results["test_accuracy"] > 0.2


def test_seeds_decide_everything(example: ModuleType, tmp_path: Path) -> None:
    found = []
    for seed in ("1", "1", "2"):
        file = tmp_path / "r.json"
        flags = ["--data", "digits", "--epochs", "1", "--seed", seed, "--json", str(file)]
        assert example.main(flags) == 0
        found.append(json.loads(file.read_text())["epochs"][0]["loss"])
    assert found[0] == found[1] != found[2]


def test_steps_that_do_not_divide_are_refused(tmp_path: Path) -> None:
    done = programs.run("mnist_rnn", tmp_path, "--data", "digits", "--steps", "5")
    assert done.returncode == 1
    assert done.stderr == (
        "error: 64 pixels cannot be read in 5 equal parts\n"
        "hint: choose --steps from 1, 2, 4, 8, 16, 32, 64\n"
    )


def test_corrupt_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mnist").mkdir()
    for name in sources.SHA256["mnist"]:
        (tmp_path / "mnist" / f"{name}.gz").write_bytes(b"\x1f\x8b damaged")
    done = programs.run("mnist_rnn", tmp_path, "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert "train-images-idx3-ubyte.gz is corrupt" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(REAL_DATA is None, reason="STCOMPILE_DATA is not set")
def test_mnist_as_in_the_papers(tmp_path: Path) -> None:
    done = programs.run("mnist_rnn", tmp_path, "--data-dir", str(REAL_DATA), "--json", "r.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("data: MNIST, 60000 + 10000 images of 28 x 28")
    results = json.loads((tmp_path / "r.json").read_text())
    assert len(results["epochs"]) == 5
    assert results["test_accuracy"] >= 0.92
