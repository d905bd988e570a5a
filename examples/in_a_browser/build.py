"""Write a page that trains a small network in a browser, by a training step that is exported as C.

The network says which of two kinds a point of the plane is. `stcompile` writes its training step
and its probabilities as C, the compiler of the ``ziglang`` wheel makes WebAssembly of them, and one
file of HTML holds the result: it needs no server, and asks none.

>>> python examples/in_a_browser/build.py network.html        # doctest: +SKIP
"""

from __future__ import annotations

import argparse
import base64
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import stcompile as st

HERE = Path(__file__).parent
POINTS, GRID, WIDTH = 200, 40, 12
EXPORTS = ("points_at", "labels_at", "grid_at", "chances_at", "start", "train", "classify")


def logits(params: dict[str, Any], x: Any) -> Any:
    hidden = np.tanh(x @ params["W1"] + params["b1"])
    hidden = np.tanh(hidden @ params["W2"] + params["b2"])
    return hidden @ params["w3"]


def boundary(params: dict[str, Any], x: Any, labels: Any) -> Any:
    z = logits(params, x)
    return np.mean(np.logaddexp(0.0, z) - labels * z)


def probability(params: dict[str, Any], x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-logits(params, x)))


def write_c(folder: Path) -> None:
    """Export the training step and the probabilities for the page's numbers of points."""
    shapes = {"W1": (2, WIDTH), "b1": WIDTH, "W2": (WIDTH, WIDTH), "b2": WIDTH, "w3": WIDTH}
    params = {name: np.zeros(shape) for name, shape in shapes.items()}
    points, labels = np.zeros((POINTS, 2)), np.zeros(POINTS)
    step = st.train_step(boundary, st.optim.Momentum(0.1), wrt="params")
    step.export(folder / "boundary_step.c", params, points, labels)
    grid = np.zeros((GRID * GRID, 2))
    st.compile(probability).export(folder / "probability.c", params, grid)


def build(folder: Path) -> bytes:
    """The module of WebAssembly, of the exported C and of ``glue.c``, as bytes."""
    write_c(folder)
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-wasi"]
    command += ["-mexec-model=reactor", "-std=c99", "-O2", "-s", f"-I{folder}"]
    command += [f"-DPOINTS={POINTS}", f"-DGRID={GRID * GRID}", f"-DWIDTH={WIDTH}"]
    command += [f"-Wl,--export={name}" for name in EXPORTS]
    sources = [HERE / "glue.c", folder / "boundary_step.c", folder / "probability.c"]
    made = folder / "network.wasm"
    subprocess.run([*command, *map(str, sources), "-o", str(made), "-lm"], check=True)
    return made.read_bytes()


def page(module: bytes) -> str:
    """The page, with the module in it."""
    text = (HERE / "page.html").read_text(encoding="utf-8")
    given = {"POINTS": str(POINTS), "GRID": str(GRID)}
    for name, value in (given | {"MODULE": base64.b64encode(module).decode()}).items():
        text = text.replace("{{" + name + "}}", value)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", type=Path, help="the file of HTML that is written")
    path = parser.parse_args().path
    with tempfile.TemporaryDirectory() as folder:
        module = build(Path(folder))
    path.write_text(page(module), encoding="utf-8")
    print(f"{path}: {len(module):,} bytes of WebAssembly")


if __name__ == "__main__":
    main()
