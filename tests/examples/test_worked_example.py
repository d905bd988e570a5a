"""examples/worked_example.py: what it prints, writes and refuses."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.examples.running import ROOT, finished, run

PROGRAM = ROOT / "examples" / "worked_example.py"
HEADINGS = (
    "the function",
    "the Wengert list",
    "the evaluation trace",
    "the generated source",
    "the gradient",
    "the levels of the computation graph",
    "the levels with the adjoint",
)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("worked_example")
    return finished(PROGRAM, folder, "--graph", "graph.svg", "--json", "results.json")


def test_everything_is_printed_in_order(done: tuple[str, Path]) -> None:
    printed, _ = done
    places = [printed.index(f"--- {heading} -") for heading in HEADINGS]
    assert places == sorted(places)
    for part in (
        "return np.log(x1) + x1 * x2 - np.sin(x2)",
        "v3: f64 = add(v1, v2)",
        "v1 = log(x1) = log(2) = 0.69315             │ d_x1 += d_v1 * ∂v1/∂x1 = 0.5 → 5.5",
        "d_x2 = x1 - np.cos(x2)",
        "y = 11.652",
        "graph of f: 5 equations in 3 levels, at most 3 side by side",
    ):
        assert part in printed


def test_the_numbers_of_the_papers(done: tuple[str, Path]) -> None:
    results = json.loads((done[1] / "results.json").read_text(encoding="utf-8"))
    assert results["value"] == np.log(2.0) + 2.0 * 5.0 - np.sin(5.0)
    assert round(results["value"], 3) == 11.652
    ways = results["gradient"]
    assert [round(d, 3) for d in ways["generated"]] == [5.5, 1.716]
    np.testing.assert_allclose(ways["generated"], ways["closed_form"], rtol=1e-15)
    np.testing.assert_allclose(ways["generated"], ways["finite_differences"], rtol=1e-9)
    assert ways["finite_differences"] != ways["generated"], "they are differences indeed"
    assert results["levels"] == [
        ["v1 = ln(x1)", "v2 = x1 · x2", "v4 = sin(x2)"],
        ["v3 = v1 + v2"],
        ["v5 = v3 − v4"],
    ]
    assert sum(map(len, results["levels_with_adjoint"])) == 9


def test_both_graphs_are_drawn(done: tuple[str, Path]) -> None:
    _, folder = done
    assert {path.name for path in folder.iterdir()} == {
        *("graph.svg", "graph-adjoint.svg", "results.json")
    }
    for name, label in (("graph.svg", "v5 = v3 − v4"), ("graph-adjoint.svg", "d_x1 = x2 + v6")):
        root = ElementTree.parse(folder / name).getroot()
        assert label in ["".join(text.itertext()) for text in root.iter() if "text" in text.tag]


def test_another_point_and_level(tmp_path: Path) -> None:
    finished = run(PROGRAM, tmp_path, "--at", "0.5", "-3", "--level", "fast", "--json", "r.json")
    assert finished.returncode == 0, finished.stderr
    results = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    x1, x2 = results["at"]
    assert (x1, x2) == (0.5, -3.0)
    np.testing.assert_allclose(
        results["gradient"]["generated"], (1 / x1 + x2, x1 - np.cos(x2)), rtol=1e-14
    )


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    finished = run(PROGRAM, tmp_path, "--at", "-1", "5")
    assert finished.returncode == 2 and "x1 is at least 0.001" in finished.stderr
    finished = run(PROGRAM, tmp_path, "--json", "nowhere/r.json")
    assert finished.returncode == 1
    assert finished.stderr.startswith("error: nowhere/r.json cannot be written")
    finished = run(PROGRAM, tmp_path, "--graph", "graph.png")
    assert finished.returncode == 1 and "is written as SVG" in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_differences_are_of_the_function() -> None:
    example: dict[str, Any] = runpy.run_path(str(PROGRAM))

    def cube(x1: float, x2: float) -> float:
        return x1**3 - x2

    slopes = example["central_differences"](cube, (2.0, 5.0))
    np.testing.assert_allclose(slopes, (12.0, -1.0), rtol=1e-9)
