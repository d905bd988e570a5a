"""The autoencoder of examples/mnist_autoencoder.py: its gradient, and that it learns."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from stcompile_programs.train import RECONSTRUCTION_ERROR, sources
from tests.train import programs

REAL_DATA = os.environ.get(sources.ENVIRONMENT)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return programs.load("mnist_autoencoder")


def sigmoid(v: Any) -> Any:
    return 1 / (1 + np.exp(-v))


def backpropagation(p: dict[str, Any], images: Any) -> tuple[float, dict[str, Any]]:
    """Loss and gradient, image by image, derived by hand: σ' = σ (1 - σ)."""
    total, grads = 0.0, {name: np.zeros_like(value) for name, value in p.items()}
    for x in images:
        h1 = sigmoid(p["W1"] @ x + p["b1"])
        h2 = sigmoid(p["W2"] @ h1 + p["b2"])
        o = sigmoid(p["Wd"] @ h2)
        total += np.sum((x - o) ** 2) / len(images)
        d_3 = 2 * (o - x) * o * (1 - o) / len(images)
        d_2 = (p["Wd"].T @ d_3) * h2 * (1 - h2)
        d_1 = (p["W2"].T @ d_2) * h1 * (1 - h1)
        grads["Wd"] += np.outer(d_3, h2)
        grads["W2"] += np.outer(d_2, h1)
        grads["W1"] += np.outer(d_1, x)
        grads["b2"] += d_2
        grads["b1"] += d_1
    return total, grads


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
def test_gradient_is_backpropagation(
    example: ModuleType, rows: int, dtype: str, tolerance: float
) -> None:
    rng = np.random.default_rng(rows)
    params = example.initial_params(rng, 12, 7, 4, dtype)
    params["b1"] += 0.1
    x = rng.random((rows, 12)).astype(dtype)
    value, grads = example.loss.value_and_grad(params, x)
    expected_value, expected = backpropagation(params, x)
    assert value.dtype == dtype
    np.testing.assert_allclose(value, expected_value, rtol=tolerance)
    for name in expected:
        assert grads[name].dtype == dtype
        np.testing.assert_allclose(grads[name], expected[name], rtol=0, atol=tolerance)


def test_gradient_is_that_of_finite_differences(example: ModuleType) -> None:
    rng = np.random.default_rng(0)
    params = example.initial_params(rng, 6, 5, 3, np.float64)
    example.loss.check_grads(params, rng.random((1, 6)))


def test_one_image_and_many_are_reconstructed_alike(example: ModuleType) -> None:
    rng = np.random.default_rng(0)
    params = example.initial_params(rng, 12, 7, 4, np.float64)
    x = rng.random((5, 12))
    each = [example.reconstruct(params, image) for image in x]
    np.testing.assert_allclose(example.reconstruct(params, x), each)
    error = RECONSTRUCTION_ERROR.mean(
        lambda images: example.reconstruct(params, images), x, np.zeros(5), rows_at_once=2
    )
    np.testing.assert_allclose(error, example.loss(params, x))


@pytest.mark.slow
def test_program_on_digits(tmp_path: Path) -> None:
    outputs = ("--json", "r.json", "--report", "report", "--picture", "new/p.png")
    done = programs.run(
        "mnist_autoencoder", tmp_path, "--data", "digits", "--epochs", "3", *outputs
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "…" not in done.stdout
    assert "\ntest reconstruction error 2." in done.stdout
    assert done.stdout.endswith("picture: new/p.png\n")
    results = json.loads((tmp_path / "r.json").read_text())
    assert results["dataset"] == "digits"
    errors = [epoch["test_reconstruction_error"] for epoch in results["epochs"]]
    assert results["test_reconstruction_error"] == errors[-1] < 2.6
    assert errors == sorted(errors, reverse=True)
    assert results["epochs"][-1]["train_reconstruction_error"] < 2.6
    assert "test_accuracy" not in results
    assert (tmp_path / "new" / "p.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "report" / "reconstruction_error.svg").exists()


def test_variants(example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.json"
    flags = "--data digits --epochs 5 --batch-size 5 --optimizer adam --learning-rate 0.003 "
    flags += f"--hidden 60 --code 30 --dtype float64 --json {file}"
    assert example.main(flags.split()) == 0
    assert json.loads(file.read_text())["test_reconstruction_error"] < 2.5


def test_bad_places_for_the_picture_are_refused(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert example.main(["--data", "digits", "--picture", str(tmp_path)]) == 1
    assert "error: --picture names" in capsys.readouterr().err


def test_it_goes_on(example: ModuleType, tmp_path: Path) -> None:
    """The picture is no setting of the run."""
    file, path = tmp_path / "r.json", tmp_path / "c.npz"
    flags = ["--data", "digits", "--batch-size", "50", "--json", str(file)]
    assert example.main([*flags, "--epochs", "2"]) == 0
    wanted = json.loads(file.read_text())
    flags += ["--checkpoint", str(path)]
    assert example.main([*flags, "--epochs", "1", "--picture", str(tmp_path / "p.png")]) == 0
    assert example.main([*flags, "--epochs", "2", "--resume"]) == 0
    found = json.loads(file.read_text())
    for key in ("loss", "test_reconstruction_error"):
        assert [e[key] for e in found["epochs"]] == [e[key] for e in wanted["epochs"]]


@pytest.mark.slow
@pytest.mark.skipif(REAL_DATA is None, reason="STCOMPILE_DATA is not set")
def test_mnist(tmp_path: Path) -> None:
    flags = ("--data-dir", str(REAL_DATA), "--epochs", "1", "--json", "r.json")
    flags = (*flags, "--batch-size", "5", "--learning-rate", "0.05")
    done = programs.run("mnist_autoencoder", tmp_path, *flags)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["test_reconstruction_error"] < 20
