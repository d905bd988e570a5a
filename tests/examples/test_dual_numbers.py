"""examples/dual_numbers.py: what it prints, writes and refuses."""

from __future__ import annotations

import importlib
import json
import math
import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.examples.running import ROOT, finished

PROGRAM = ROOT / "examples" / "dual_numbers.py"
SECTIONS = ("{}", "{}: the trace of dual numbers", "{}: the generated source", "{}: the derivative")


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(PROGRAM))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("dual_numbers")
    return finished(PROGRAM, folder, "--figure", "square.svg", "--json", "results.json")


def test_everything_is_printed_in_order(done: tuple[str, Path]) -> None:
    printed, _ = done
    headings = [section.format(name) for name in ("square", "square_root") for section in SECTIONS]
    places = [printed.index(f"\n--- {heading}") for heading in headings[1:]]
    assert printed.startswith("--- square -") and places == sorted(places)
    spaced = " ".join(printed.split())
    for part in (
        "v1 = x^2 9 │ v1_dot = x_dot · (2 · x) 6",
        "step 1 root.2 = 0.5 · v4 1.75 │ root.2_dot = v4_dot · 0.5 0.3125",
        "def square_with_tangent(x, x_dot):",
        "while abs(root * root - x) > 1e-12 * x:",
        "drawn: square.svg",
    ):
        assert part in spaced


def test_the_derivatives_are_right(done: tuple[str, Path]) -> None:
    results = json.loads((done[1] / "results.json").read_text(encoding="utf-8"))
    exact = {"square": (9.0, 6.0), "square_root": (math.sqrt(3), 0.5 / math.sqrt(3))}
    for name, (value, derivative) in exact.items():
        found = results[name]
        assert found["value"] == pytest.approx(value, rel=1e-12)
        for way, slope in found["derivative"].items():
            assert slope == pytest.approx(derivative, rel=1e-9), way
        assert found["derivative"]["dual_numbers"] == pytest.approx(derivative, rel=1e-14)


def test_each_row_is_a_dual_number(example: dict[str, Any]) -> None:
    """The tangent of every row is the derivative of its value, by differences of the rows."""
    for function in (example["square"], example["square_root"]):
        rows = example["dual_numbers"](function, 3.0)
        above, below = (example["dual_numbers"](function, 3.0 + h) for h in (1e-5, -1e-5))
        assert len(rows) == len(above) == len(below) > 1
        slopes = [(a.value - b.value) / 2e-5 for a, b in zip(above, below, strict=True)]
        np.testing.assert_allclose([row.tangent for row in rows], slopes, atol=1e-8)
        assert rows[-1].value == function(3.0)


def test_the_other_way_through_the_branch(example: dict[str, Any]) -> None:
    """Where the root starts from 1, the first tangent is that of x alone."""
    rows = example["dual_numbers"](example["square_root"], 0.25)
    assert [row.step for row in rows[:5]] == ["", *["step 0"] * 3, "step 1"]
    assert (rows[2].operation, rows[2].rule) == ("v2 = 1 + v1", "v2_dot = x_dot")
    assert rows[-1].value == pytest.approx(0.5, rel=1e-12)
    assert rows[-1].tangent == pytest.approx(1.0, rel=1e-9)


def test_the_picture_is_drawn(done: tuple[str, Path], example: dict[str, Any]) -> None:
    _, folder = done
    assert {path.name for path in folder.iterdir()} == {"square.svg", "results.json"}
    root = ElementTree.parse(folder / "square.svg").getroot()
    labels = ["".join(text.itertext()).strip() for text in root.iter() if "text" in text.tag]
    assert {"x²", "its derivative", "x"} <= set(labels)
    first = (folder / "square.svg").read_bytes()
    example["picture"](folder / "square.png")
    assert (folder / "square.png").read_bytes().startswith(b"\x89PNG")
    example["picture"](folder / "again.svg")
    assert (folder / "again.svg").read_bytes() == first
    for name in ("square.png", "again.svg"):
        (folder / name).unlink()


def test_without_matplotlib_there_is_a_hint(
    example: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    original = importlib.import_module

    def imported(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}", name="matplotlib")
        return original(name, *rest)

    monkeypatch.setattr(importlib, "import_module", imported)
    assert example["main"](["--figure", str(tmp_path / "square.svg")]) == 1
    assert capsys.readouterr().err == (
        "error: drawing a figure needs matplotlib, which is not installed\n"
        'hint: python -m pip install "stcompile[graph]"\n'
    )
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_done_is_refused(
    example: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for flags, reason in (
        (["--at", "-1"], "from 0.001 to 1000000"),
        (["--at", "nan"], "from 0.001 to 1000000"),
        (["--figure", "square.pdf"], "ends in .svg or .png"),
    ):
        with pytest.raises(SystemExit, match="2"):
            example["main"](flags)
        assert reason in capsys.readouterr().err
    file = tmp_path / "nowhere" / "r.json"
    assert example["main"](["--json", str(file), "--level", "fast", "--at", "0.5"]) == 1
    assert capsys.readouterr().err.startswith(f"error: {file} cannot be written")
    assert list(tmp_path.iterdir()) == []
