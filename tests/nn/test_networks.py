"""Random convolutional networks: both levels agree, and with finite differences."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st

SEEDS = range(25)


@dataclass
class Network:
    """The text of a function ``f(p, x)`` that is being written, with its parameters."""

    rng: np.random.Generator
    channels: int
    sides: tuple[int, int]
    params: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=lambda: ["def f(p, x):", "    a = x"])

    def add(self, line: str) -> None:
        self.lines.append(f"    {line}")

    def param(self, value: Any) -> str:
        name = f"w{len(self.params)}"
        self.params[name] = value
        return f'p["{name}"]'

    def pair(self, low: int, high: int) -> tuple[int, int]:
        first, second = self.rng.integers(low, high + 1, 2).tolist()
        return first, second

    # --- layers --------------------------------------------------------------------------------

    def conv(self) -> None:
        size, stride, gap = self.pair(1, 3), self.pair(1, 2), self.pair(1, 2)
        margin = int(self.rng.integers(0, 2))
        left = [
            (side + 2 * margin - (k - 1) * d - 1) // s + 1
            for side, k, d, s in zip(self.sides, size, gap, stride, strict=True)
        ]
        if min(left) < 1:
            return
        groups = 2 if self.channels % 2 == 0 and self.rng.random() < 0.3 else 1
        filters = int(self.rng.choice([2, 4]))
        kernel = self.param(self.rng.normal(size=(filters, self.channels // groups, *size)))
        how = f"{kernel}, {stride}, {margin}, {gap}, {groups}"
        if self.rng.random() < 0.25:
            self.add(f'a = st.nn.conv2d(a.transpose(0, 2, 3, 1), {how}, "NHWC")')
            self.add("a = a.transpose(0, 3, 1, 2)")
        else:
            self.add(f"a = st.nn.conv2d(a, {how})")
        self.channels, self.sides = filters, (left[0], left[1])

    def pool(self) -> None:
        size = self.pair(1, 3)
        stride = self.pair(1, 3) if self.rng.random() < 0.5 else size
        left = [(n - k) // s + 1 for n, k, s in zip(self.sides, size, stride, strict=True)]
        if min(left) < 1:
            return
        kind = self.rng.choice(["max", "avg"])
        self.add(f"a = st.nn.{kind}_pool2d(a, {size}, {stride})")
        self.sides = (left[0], left[1])

    def relu(self) -> None:
        self.add("a = np.maximum(a, 0)")

    def tanh(self) -> None:
        self.add("a = np.tanh(a)")

    def bias(self) -> None:
        self.add(f"a = a + {self.param(self.rng.normal(size=self.channels))}[:, None, None]")

    def norm(self) -> None:
        self.add("a = a - np.mean(a, axis=(0, 2, 3), keepdims=True)")
        self.add("a = a / np.sqrt(np.mean(a * a, axis=(0, 2, 3), keepdims=True) + 1e-3)")

    def residual(self) -> None:
        self.add("a = a + np.tanh(a[:, ::-1])")

    # --- the end -------------------------------------------------------------------------------

    def end(self) -> None:
        kind = self.rng.integers(0, 4)
        if kind == 0:
            self.add("return np.sum(np.sin(a))")
        elif kind == 1:
            inputs = self.channels * self.sides[0] * self.sides[1]
            weights = self.param(self.rng.normal(size=(inputs, 5)) / inputs)
            self.add(f"return np.sum(np.tanh(a.reshape(a.shape[0], -1) @ {weights}) ** 2)")
        elif kind == 2:
            self.add("m = np.mean(a, axis=(2, 3))")
            self.add("return np.sum(m * m) + np.max(a)")
        else:
            self.add("return np.sum(a[:, 0, ::2] ** 2) + np.sum(np.sum(a, axis=1) * a[:, -1])")


def network(rng: np.random.Generator, channels: int, sides: tuple[int, int]) -> Network:
    made = Network(rng, channels, sides)
    made.conv()
    layers = (made.conv, made.conv, made.pool, made.relu, made.tanh, made.bias, made.norm)
    for layer in rng.choice(np.array([*layers, made.residual], object), rng.integers(1, 5)):
        layer()
    made.end()
    return made


def called(path: Path, text: str) -> Any:
    """The function ``f`` of a module."""
    path.write_text(f"import numpy as np\nimport stcompile as st\n\n\n{text}\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("seed", SEEDS)
def test_random_networks(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    rows, channels = int(rng.choice([1, 2, 16, 20])), int(rng.integers(1, 5))
    height, width = rng.integers(8, 14, 2).tolist()
    made = network(rng, channels, (height, width))
    f = called(tmp_path / f"net_{seed}.py", "\n".join(made.lines))
    p, x = made.params, rng.normal(size=(rows, channels, height, width))
    readable, fast = (st.value_and_grad(f, (0, 1), level=level) for level in ("readable", "fast"))
    value, (d_p, d_x) = readable(p, x)
    assert value == f(p, x), "the primal of the readable level is the function"
    for _ in range(2):  # the second time with what the first left in the buffers
        found, (found_p, found_x) = fast(p, x)
        assert found == pytest.approx(value, rel=1e-9)
        for one, other in zip([found_x, *found_p.values()], [d_x, *d_p.values()], strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)
    along = {name: rng.normal(size=w.shape) for name, w in p.items()}
    slope = sum(np.sum(d_p[name] * along[name]) for name in p)

    def moved(h: float) -> float:
        return float(f({name: w + h * along[name] for name, w in p.items()}, x))

    slopes = [(moved(h) - moved(-h)) / (2 * h) for h in (1e-5, 1e-6, 1e-7)]
    assert min(abs(s - slope) for s in slopes) <= 1e-4 * max(1.0, abs(slope))
