"""The page that trains a network: the module of WebAssembly by Node, and the page in a browser."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st

FOLDER = Path(__file__).parents[2] / "examples" / "in_a_browser"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
STEPS, RATE = 60, 0.1
NODE = """
const bytes = await (await import("node:fs/promises")).readFile(process.argv[2]);
const net = (await WebAssembly.instantiate(bytes, {})).instance.exports;
net._initialize?.();
const array = (address, length) => new Float64Array(net.memory.buffer, address, length);
const points = array(net.points_at(), 400), labels = array(net.labels_at(), 200);
for (let i = 0; i < 200; i++) {
  labels[i] = i % 2;
  points.set([Math.fround(Math.cos(i)), Math.fround(Math.sin(3 * i) + labels[i])], 2 * i);
}
net.start(7);
const losses = [];
for (let i = 0; i < 60; i++) losses.push(net.train(1, 0.1));
console.log(JSON.stringify({ points: [...points], labels: [...labels], losses }));
"""

pytestmark = [
    pytest.mark.skipif(find_spec("ziglang") is None, reason="not installed: ziglang"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "build.py"))


@pytest.fixture(scope="module")
def module(program: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    made: bytes = program["build"](tmp_path_factory.mktemp("c"))
    return made


def drawn(seed: int, width: int) -> dict[str, np.ndarray]:
    """The weights of `start` in ``glue.c``."""

    def weights(count: int, scale: float) -> np.ndarray:
        nonlocal seed
        found = []
        for _ in range(count):
            seed = seed * 48271 % 2147483647
            found.append(scale * (seed / 1073741823.5 - 1.0))
        return np.array(found)

    W1 = weights(2 * width, 1.2).reshape(2, width)
    W2 = weights(width * width, 0.5).reshape(width, width)
    biases = {name: np.zeros(width) for name in ("b1", "b2")}
    return {"W1": W1, "W2": W2, "w3": weights(width, 0.5)} | biases


@pytest.mark.skipif(shutil.which("node") is None, reason="not installed: node")
def test_it_takes_the_steps_of_python(
    program: dict[str, Any], module: bytes, tmp_path: Path
) -> None:
    (tmp_path / "network.wasm").write_bytes(module)
    (tmp_path / "run.mjs").write_text(NODE)
    command = ["node", "--no-warnings", "run.mjs", "network.wasm"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    x, labels = np.reshape(found["points"], (-1, 2)), np.array(found["labels"])
    params = drawn(7, program["WIDTH"])
    step = st.train_step(program["boundary"], st.optim.Momentum(RATE), wrt="params")
    losses = [step(params, x, labels) for _ in range(STEPS)]
    np.testing.assert_allclose(found["losses"], losses, rtol=1e-9)
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(NAMES)} is there")
def test_a_browser_trains_it(program: dict[str, Any], module: bytes, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = tmp_path / "network.html"
    path.write_text(program["page"](module), encoding="utf-8")
    troubles: list[str] = []
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda r: r.url.startswith("file:") or troubles.append(r.url))
        page.goto(path.as_uri())
        learned = "Number.parseFloat(document.getElementById('loss').textContent) < 0.2"
        page.wait_for_function(learned, timeout=180_000)
        right = page.locator("#right").text_content()
        browser.close()
    assert not troubles
    assert right is not None and int(right.split()[0]) > 180
