"""The convolutional network of examples/mnist_cnn.py: its gradient, and that it learns."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import ArgumentsError
from stcompile_programs.networks import mnist_cnn
from stcompile_programs.train import load, sources
from tests.train import programs

REAL_DATA = os.environ.get(sources.ENVIRONMENT)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return programs.load("mnist_cnn")


def made(
    example: ModuleType, padding: str, size: tuple[int, int], dtype: Any, initialisation: str = "he"
) -> dict[str, Any]:
    """Initial parameters for images of that size."""
    height, width = (example.size_after(side, padding) for side in size)
    initialiser = example.INITIALISERS[initialisation]
    rng = np.random.default_rng(0)
    return dict(example.initial_params(rng, 16 * height * width, 10, dtype, initialiser))


def correlated(x: Any, kernel: Any) -> Any:
    """The sums over windows, one by one (Goodfellow et al. 2016, equation 9.6)."""
    height, width = x.shape[2] - 2, x.shape[3] - 2
    result = np.zeros((len(x), len(kernel), height, width))
    for row in range(height):
        for column in range(width):
            window = x[:, None, :, row : row + 3, column : column + 3]
            result[:, :, row, column] = np.sum(window * kernel, axis=(2, 3, 4))
    return result


def pooled(x: Any) -> Any:
    """The largest of each square of 2 x 2, what is left at the edges dropped."""
    height, width = x.shape[2] // 2, x.shape[3] // 2
    squares = x[:, :, : 2 * height, : 2 * width].reshape(*x.shape[:2], height, 2, width, 2)
    return squares.max(axis=(3, 5))


def scores_by_hand(p: dict[str, Any], x: Any, size: tuple[int, int], margin: int) -> Any:
    a = x.reshape(len(x), 1, *size)
    for layer in "12":
        a = np.pad(a, ((0, 0), (0, 0), (margin, margin), (margin, margin)))
        a = correlated(a, p[f"k{layer}"]) + p[f"b{layer}"][:, None, None]
        a = pooled(np.where(a > 0, a, 0))
    a = a.reshape(len(x), -1) @ p["W3"] + p["b3"]
    return np.where(a > 0, a, 0) @ p["W4"] + p["b4"]


@pytest.mark.parametrize(
    ("padding", "size"), [("valid", (10, 12)), ("same", (8, 8)), ("valid", (13, 15))]
)
def test_scores_are_those_of_the_formulas(
    example: ModuleType, padding: str, size: tuple[int, int]
) -> None:
    params = made(example, padding, size, np.float64)
    rng = np.random.default_rng(1)
    params = {name: value + rng.normal(0, 0.1, value.shape) for name, value in params.items()}
    x = rng.normal(size=(4, size[0] * size[1]))
    expected = scores_by_hand(params, x, size, {"valid": 0, "same": 1}[padding])
    np.testing.assert_allclose(example.scores(params, x, size, padding), expected, rtol=1e-12)


@pytest.mark.parametrize(("padding", "size", "seed"), [("valid", (10, 11), 2), ("same", (8, 8), 3)])
def test_gradient_is_that_of_finite_differences(
    example: ModuleType, padding: str, size: tuple[int, int], seed: int
) -> None:
    """With seeds for which no relu and no maximum changes sides within a difference."""
    params = made(example, padding, size, np.float64, "glorot")
    rng = np.random.default_rng(seed)
    params = {name: value + rng.normal(0, 0.1, value.shape) for name, value in params.items()}
    x, y = rng.normal(size=(3, size[0] * size[1])), rng.integers(0, 10, 3)
    example.loss.check_grads(params, x, y, size, padding)


def test_initial_values(example: ModuleType) -> None:
    """He's variance is 2 / fan_in; Glorot's values are bounded."""
    he = made(example, "valid", (28, 28), np.float32)
    assert {name: value.shape for name, value in he.items()} == {
        "k1": (6, 1, 3, 3),
        "b1": (6,),
        "k2": (16, 6, 3, 3),
        "b2": (16,),
        "W3": (400, 84),
        "b3": (84,),
        "W4": (84, 10),
        "b4": (10,),
    }
    assert {value.dtype.name for value in he.values()} == {"float32"}
    np.testing.assert_allclose(he["W3"].std(), np.sqrt(2 / 400), rtol=0.02)
    glorot = made(example, "valid", (28, 28), np.float32, "glorot")
    limit = np.sqrt(6 / 484)
    assert 0.99 * limit < abs(glorot["W3"]).max() <= limit
    for params in (he, glorot):
        assert not any(params[name].any() for name in ("b1", "b2", "b3", "b4"))


@pytest.mark.parametrize(
    ("asked", "shape", "chosen"),
    [
        ("auto", (28, 28), "valid"),
        ("auto", (10, 10), "valid"),
        ("auto", (9, 28), "same"),
        ("valid", (10, 28), "valid"),
        ("same", (28, 28), "same"),
        ("auto", (4, 4), "same"),
    ],
)
def test_padding(example: ModuleType, asked: str, shape: tuple[int, int], chosen: str) -> None:
    assert example.choose_padding(asked, shape) == chosen


def test_too_small_images_are_refused(example: ModuleType) -> None:
    with pytest.raises(ArgumentsError) as caught:
        example.choose_padding("auto", (3, 28))
    assert str(caught.value) == (
        "images of 3 x 28 pixels are too small for --padding same, which takes them from 4 x 4\n"
        "hint: use larger images"
    )


def test_too_small_images_are_refused_by_the_program(tmp_path: Path) -> None:
    done = programs.run("mnist_cnn", tmp_path, "--data", "digits", "--padding", "valid")
    assert done.returncode == 1
    assert done.stderr == (
        "error: images of 8 x 8 pixels are too small for --padding valid, which takes them from "
        "10 x 10\nhint: choose --padding same\n"
    )


@pytest.mark.slow
def test_program_on_digits(tmp_path: Path) -> None:
    outputs = ("--json", "r.json", "--report", "report", "--show-source")
    done = programs.run("mnist_cnn", tmp_path, "--data", "digits", "--epochs", "3", *outputs)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "mnist_cnn.py:" in done.stdout
    results = json.loads((tmp_path / "r.json").read_text())
    assert results["dataset"] == "digits"
    assert results["test_accuracy"] > 0.8
    assert results["epochs"][-1]["loss"] < 0.5 * results["epochs"][0]["loss"]
    assert "| padding | `same` |" in (tmp_path / "report" / "report.md").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        "--initialisation glorot --learning-rate 0.03",
        "--dtype float64 --batch-size 20 --learning-rate 0.03",
        "--optimizer adam --learning-rate 0.003 --clip-norm 1",
    ],
)
def test_variants_learn_something(
    arguments: str, example: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "r.json"
    flags = ["--data", "digits", "--epochs", "2", "--json", str(file)]
    assert example.main([*flags, *arguments.split()]) == 0
    results = json.loads(file.read_text())
    assert results["epochs"][-1]["loss"] < 2.0
    assert results["test_accuracy"] > 0.4


def test_losses_are_those_of_pytorch(example: ModuleType) -> None:
    """Over a hundred steps from the same start, on MNIST if it is at hand.

    Pixels are as they are: in float32 PyTorch sums a window of equal pixels to other last digits in
    other places of an image, and then another of equal maxima gets the gradient. With a background
    of zeros such sums are exact.
    """
    torch = pytest.importorskip("torch", reason="torch is not installed")
    functional = torch.nn.functional
    x, y = images(10_000)
    params = made(example, "valid", (28, 28), np.float32)
    theirs = {name: torch.tensor(value, requires_grad=True) for name, value in params.items()}
    descent = torch.optim.SGD(theirs.values(), lr=0.01)

    def loss(x: Any, y: Any) -> Any:
        a = x.reshape(-1, 1, 28, 28)
        for layer in "12":
            a = functional.conv2d(a, theirs[f"k{layer}"], theirs[f"b{layer}"])
            a = functional.max_pool2d(torch.relu(a), 2)
        a = torch.relu(a.flatten(1) @ theirs["W3"] + theirs["b3"])
        return functional.cross_entropy(a @ theirs["W4"] + theirs["b4"], y)

    step = st.train_step(example.loss, st.optim.SGD(0.01), wrt="params")
    found, expected = [], []
    for number in range(100):
        rows = slice(100 * number, 100 * (number + 1))
        found.append(float(step(params, x[rows], y[rows], (28, 28), "valid")))
        descent.zero_grad()
        value = loss(torch.from_numpy(x[rows]), torch.from_numpy(y[rows]))
        value.backward()
        descent.step()
        expected.append(value.item())
    assert expected[-1] < expected[0] - 0.1  # it learns, so that there is something to compare
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def images(count: int) -> tuple[Any, Any]:
    """Images of MNIST, or noise with a bright square in a place for each class."""
    if REAL_DATA is not None:
        data = load("mnist", Path(REAL_DATA))
        return data.x_train[:count], data.y_train[:count]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, count)
    x = rng.random((count, 28, 28), np.float32)
    for image, label in zip(x, y, strict=True):
        image[2 + 12 * (label // 5) :][:8, 2 + 5 * (label % 5) :][:, :5] += 2
    return x.reshape(count, 784), y


@pytest.mark.slow
@pytest.mark.skipif(REAL_DATA is None, reason="STCOMPILE_DATA is not set")
def test_one_epoch_of_fashion(tmp_path: Path) -> None:
    flags = ("--data", "fashion-mnist", "--learning-rate", "0.05", "--epochs", "1")
    outputs = ("--data-dir", str(REAL_DATA), "--json", "r.json")
    done = programs.run("mnist_cnn", tmp_path, *flags, *outputs)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "r.json").read_text())
    assert len(results["epochs"]) == 1
    assert results["test_accuracy"] >= 0.7
    assert results["allocated_bytes_per_step"] == 0


@pytest.mark.parametrize(("side", "padding"), [(8, "same"), (28, "valid")])
def test_a_step_of_few_images_allocates_no_arrays(side: int, padding: str) -> None:
    rng = np.random.default_rng(0)
    flat = mnist_cnn.CHANNELS[-1] * mnist_cnn.size_after(side, padding) ** 2
    he = mnist_cnn.INITIALISERS["he"]
    params = mnist_cnn.initial_params(rng, flat, 10, np.float32, he)
    x, y = rng.random((10, side * side), np.float32), rng.integers(0, 10, 10)
    step = st.train_step(mnist_cnn.loss, st.optim.SGD(0.1))
    assert step.allocated_bytes(params, x, y, (side, side), padding) == 0
