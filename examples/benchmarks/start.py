"""Measure how long tools take to start: to be imported beside NumPy, and to give a first gradient.

Each measurement is a process of its own; the tools take turns. Figures are medians of seconds, and
means in brackets.

    python examples/benchmarks/start.py --rounds 7
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

FUNCTIONS = """
def square(x):
    return x * x


def norm(x, g, b):
    c = x - np.mean(x, axis=-1, keepdims=True)
    return g * c / np.sqrt(np.mean(c * c, axis=-1, keepdims=True) + 1e-5) + b


def attention(x, p, heads=4):
    batch, steps, width = x.shape

    def split(y):
        return np.transpose(np.reshape(y, (batch, steps, heads, width // heads)), (0, 2, 1, 3))

    q, k, v = split(x @ p["q"]), split(x @ p["k"]), split(x @ p["v"])
    a = q @ np.swapaxes(k, 2, 3) / np.sqrt(width // heads)
    a = np.exp(a - np.max(a, axis=-1, keepdims=True))
    a = a / np.sum(a, axis=-1, keepdims=True)
    return np.reshape(np.transpose(a @ v, (0, 2, 1, 3)), (batch, steps, width)) @ p["o"]


def transformer(blocks, x):
    for p in blocks:
        x = x + attention(norm(x, p["g1"], p["b1"]), p)
        h = np.tanh(norm(x, p["g2"], p["b2"]) @ p["w1"] + p["c1"])
        x = x + h @ p["w2"] + p["c2"]
    return np.mean(x * x)


def arguments():
    rng = numpy.random.default_rng(0)
    shapes = {name: (32, 32) for name in "qkvo"} | {"w1": (32, 64), "w2": (64, 32), "c1": (64,)}
    shapes |= {name: (32,) for name in ("g1", "b1", "g2", "b2", "c2")}
    blocks = [{n: rng.normal(size=s) / 6 for n, s in shapes.items()} for _ in range(4)]
    return blocks, rng.normal(size=(2, 8, 32))
"""
PROGRAM = """
import json, time
import numpy
clock = time.{clock}
start = clock()
{load}
imported = clock()
from functions import *
blocks, x = arguments()
begin = clock()
gradient = {gradient}
gradient(square)(3.0)
first = clock()
gradient(transformer)(blocks, x)
print(json.dumps([imported - start, first - begin, clock() - first]))
"""
TOOLS = {  # a tool: how it is imported, its gradient, its NumPy
    "stcompile": ("import stcompile as st", "st.grad", "numpy"),
    "autograd": ("import autograd", "autograd.grad", "autograd.numpy"),
    "jax": ("import jax", "jax.grad", "jax.numpy"),
    "jax.jit": ("import jax", "lambda f: jax.jit(jax.grad(f))", "jax.numpy"),
}
ROWS = ("import", "first gradient of x * x", "first gradient of a four-block transformer")


def seconds(tool: str, folder: Path, clock: str) -> list[float]:
    """The three figures of one process."""
    load, gradient, np = TOOLS[tool]
    text = PROGRAM.format(load=load, gradient=gradient, clock=clock)
    (folder / "functions.py").write_text(f"import numpy\nimport {np} as np\n\n{FUNCTIONS}")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    # Bytecode is kept, as it is for packages that pip installed.
    environment |= {"PYTHONPYCACHEPREFIX": str(folder / "cache"), "PYTHONPATH": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", text]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: list[float] = json.loads(ran.stdout)
    return found


def measured(tools: Sequence[str], rounds: int, clock: str) -> dict[str, list[str]]:
    """The medians of each tool, with the means. A first round, which fills the caches, is left
    out."""
    found: dict[str, list[list[float]]] = {tool: [] for tool in tools}
    with tempfile.TemporaryDirectory() as name:
        for tool in tools:
            seconds(tool, Path(name), clock)
        for _ in range(rounds):
            for tool in tools:
                found[tool].append(seconds(tool, Path(name), clock))
    return {tool: [told(column) for column in zip(*r, strict=True)] for tool, r in found.items()}


def told(times: Sequence[float]) -> str:
    """The median, and the mean in brackets."""
    return f"{statistics.median(times):.3f} ({statistics.fmean(times):.3f})"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7, help="processes of each tool")
    parser.add_argument("--cpu", action="store_true", help="processor time, not time of the clock")
    options = parser.parse_args(argv)
    tools = [tool for tool in TOOLS if find_spec(tool.partition(".")[0]) is not None]
    results = measured(tools, options.rounds, "process_time" if options.cpu else "perf_counter")
    print("| seconds | " + " | ".join(tools) + " |")
    print("|---|" + "---|" * len(tools))
    for at, row in enumerate(ROWS):
        print(f"| {row} | " + " | ".join(results[tool][at] for tool in tools) + " |")


if __name__ == "__main__":
    main()
