"""Drawings of computation graphs: what is in them, and where."""

from __future__ import annotations

import importlib
import itertools
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import stcompile as st
from stcompile.base.extras import MissingExtraError
from stcompile.reports.graph import drawing
from stcompile.reports.graph.drawing import Arrow, Box
from stcompile.reports.graph.layered import Way, laid_out
from stcompile.reports.graph.model import DRAWN, Graph, Node
from stcompile.reports.graph.notation import (
    FUNCTIONS,
    JOINED,
    OUTER,
    PART,
    PATTERNS,
    TIMES,
    TRANSPOSED,
    WRITE,
)
from tests.reports.graphs import loss, worked

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def labels(svg: str) -> list[str]:
    """The texts of a drawing, which also have to be well-formed XML."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("adjoint", [False, True])
def test_the_drawing_has_all_labels(adjoint: bool) -> None:
    graph = worked.graph(2.0, 5.0, adjoint=adjoint)
    svg = graph.svg()
    found = labels(svg)
    for node in graph.nodes:
        assert node.text in found
    assert sorted(set(found) - {n.text for n in graph.nodes}) == sorted(
        {"f64", "float", *(("forward", "adjoint") if adjoint else ())}
    )
    colour = drawing.COLOURS["adjoint"][0]
    assert (colour in svg) == adjoint


def test_labels_of_any_text_are_drawn() -> None:
    boxes = [
        Box('$a_b$ < c & "d"', "<é>", 0, "input"),
        Box("v" * 50, "", 1, "update"),
    ]
    found = labels(drawing.draw(boxes, [Arrow(0, 1, "update", True)], "<title> & so on"))
    assert boxes[0].label in found and boxes[0].below in found
    assert "v" * (drawing.LONGEST - 1) + "…" in found
    assert drawing.ORDER in found


def test_the_font_has_every_sign() -> None:
    """Else matplotlib warns, and widths are those of a placeholder."""
    signs = [*PATTERNS.values(), *FUNCTIONS.values(), *JOINED.values()]
    signs += [TIMES, OUTER, TRANSPOSED, PART, WRITE, "…"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            labels(drawing.draw([Box(sign, "", 0, "forward") for sign in signs], [], "")) == signs
        )


DRAW = """
import sys
sys.path[:0] = sys.argv[1:]
import numpy as np
import stcompile as st
from tests.reports.graphs import worked
sys.stdout.reconfigure(encoding="utf-8", newline="\\n")
sys.stdout.write(worked.graph(2.0, 5.0, adjoint=True).svg())
"""


def test_the_drawing_is_the_same_to_the_byte(tmp_path: Path) -> None:
    """In other processes, with other hash seeds, and whatever the user's own settings are."""
    expected = worked.graph(2.0, 5.0, adjoint=True).svg()
    assert expected == worked.graph(2.0, 5.0, adjoint=True).svg()
    assert "dc:date" not in expected
    settings = tmp_path / "matplotlibrc"
    settings.write_text("font.size: 30\nsvg.fonttype: path\nsavefig.facecolor: red\n")
    for seed, file in (("1", ""), ("2", str(settings))):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "MATPLOTLIBRC": file}
        if not file:
            del environment["MATPLOTLIBRC"]
        done = subprocess.run(
            [sys.executable, "-c", DRAW, str(ROOT)],
            env=environment, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected


def test_labels_do_not_overlap() -> None:
    """Texts are inside their boxes, boxes apart, inputs on the left and the output on the right."""
    params = {"W1": np.ones((5, 4)), "b1": np.zeros(4), "W2": np.ones((4, 3))}
    step = st.train_step(loss, st.optim.SGD(0.1))
    for graph in (
        worked.graph(2.0, 5.0),
        worked.graph(2.0, 5.0, adjoint=True),
        step.graph(params, np.ones((6, 5)), np.arange(6) % 3),
    ):
        places = boxes_of(graph)
        assert len(places) == len(graph.nodes)
        for one, other in itertools.combinations(places.values(), 2):
            assert not one.overlaps(other), "boxes overlap"
        for node in graph.nodes:
            for edge in graph.edges:
                if edge.target is node:
                    assert places[edge.source].x1 < places[node].x0, "arrows lead to the right"
        ends = [places[node].x1 for node in graph.nodes]
        assert ends[-1] == max(ends)


def boxes_of(graph: Graph) -> dict[Node, Any]:
    """The extents of the boxes, each with its texts inside, as matplotlib draws them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.patches import FancyBboxPatch

    figures = []
    original = drawing._Drawing.svg

    def kept(self: Any, title: str) -> str:
        figures.append(self)
        return original(self, title)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing._Drawing, "svg", kept)
        graph.svg()
    (made,) = figures
    made.figure.dpi = 72
    renderer = FigureCanvasAgg(made.figure).get_renderer()
    patches = [p for p in made.axes.patches if isinstance(p, FancyBboxPatch)]
    extents = [p.get_window_extent(renderer) for p in patches]
    written = [t for t in made.axes.texts if t.get_text() not in (*drawing.COLOURS, drawing.ORDER)]
    for text in written:
        inner = text.get_window_extent(renderer)
        around = [e for e in extents if e.x0 <= inner.x0 and inner.x1 <= e.x1
                  and e.y0 <= inner.y0 + 2 and inner.y1 <= e.y1 + 2]  # fmt: skip
        assert len(around) == 1, f"{text.get_text()} is not inside one box"
    return dict(zip(graph.nodes, extents, strict=True))


def test_edges_are_bent_around_nodes() -> None:
    """An edge over several columns has a place of its own in each; those of a track share it."""
    ways = [Way(0, 1, "a"), Way(1, 2, "a"), Way(2, 3, "a"), Way(0, 3, "a"), Way(0, 2, "a")]
    layout = laid_out([0, 1, 2, 3], ways)
    assert len(layout.places) == 6, "two bends, shared by the edges from 0"
    assert len(set(layout.places)) == 6
    assert all(layout.places[b][0] == layout.places[a][0] + 1 for a, b, _ in layout.hops)
    apart = laid_out([0, 1, 2, 3], [*ways[:3], Way(0, 3, "a"), Way(0, 2, "b")])
    assert len(apart.places) == 7


def test_crossings_are_removed() -> None:
    """Two chains that start crossed are drawn apart."""
    ways = [Way(0, 3, ""), Way(1, 2, ""), Way(2, 4, ""), Way(3, 5, "")]
    rows = [row for _, row in laid_out([0, 0, 1, 1, 2, 2], ways).places]
    assert (rows[0] < rows[1]) == (rows[3] < rows[2]) == (rows[5] < rows[4])


def test_nodes_of_a_column_are_apart() -> None:
    """Also where igraph places parts of a graph that hardly hang together."""
    numbers = random.Random(1)
    for _ in range(30):
        columns = sorted(numbers.randrange(6) for _ in range(30))
        pairs = [(a, b) for a in range(30) for b in range(30) if columns[a] < columns[b]]
        ways = [Way(a, b, a) for a, b in numbers.sample(pairs, min(25, len(pairs)))]
        places = sorted(laid_out(columns, ways).places)
        near = [(a, b) for a, b in itertools.pairwise(places) if a[0] == b[0] and b[1] - a[1] < 1]
        assert near == []


# --- where a library is missing, and files -------------------------------------------------------


@pytest.fixture
def without_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    original = importlib.import_module

    def imported(name: str, *rest: Any) -> Any:
        if name.split(".")[0] in ("igraph", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])
        return original(name, *rest)

    monkeypatch.setattr(importlib, "import_module", imported)


@pytest.mark.usefixtures("without_extras")
def test_without_the_libraries_there_is_a_hint_and_the_text(tmp_path: Path) -> None:
    graph = worked.graph(2.0, 5.0)
    with pytest.raises(MissingExtraError) as caught:
        graph.svg()
    assert str(caught.value) == (
        "drawing a graph needs matplotlib, which is not installed\n"
        'hint: python -m pip install "stcompile[graph]"'
    )
    with pytest.raises(MissingExtraError):
        graph.save(tmp_path / "graph.svg")
    assert list(tmp_path.iterdir()) == []
    assert graph._repr_svg_() is None, "a notebook shows the text instead"
    assert "critical path" in repr(graph)


def test_the_libraries_are_imported_when_something_is_drawn() -> None:
    names = ("igraph", "matplotlib")
    code = f"import sys\nfor n in {names!r}: sys.modules[n] = None\nimport stcompile"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_notebook_draws_what_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = worked.graph(2.0, 5.0)
    assert graph._repr_svg_() == graph.svg()
    large = Graph("large", graph.nodes * (DRAWN // 5), graph.edges)
    monkeypatch.setattr(Graph, "svg", lambda self: pytest.fail("it is drawn"))
    assert large._repr_svg_() is None


def test_files_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, file = worked.graph(2.0, 5.0), tmp_path / "graph.svg"
    graph.save(file)
    assert file.read_text(encoding="utf-8") == graph.svg()

    def broken(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(st.ExportError, match="No space left"):
        worked.graph(2.0, 5.0, adjoint=True).save(file)
    assert file.read_text(encoding="utf-8") == graph.svg(), "the old file is there"
    assert [path.name for path in tmp_path.iterdir()] == ["graph.svg"]


def test_files_of_other_kinds_and_folders_are_refused(tmp_path: Path) -> None:
    graph = worked.graph(2.0, 5.0)
    with pytest.raises(st.ArgumentsError, match="has another ending"):
        graph.save(tmp_path / "graph.png")
    with pytest.raises(st.ExportError, match="cannot be written"):
        graph.save(tmp_path / "nowhere" / "graph.svg")
    assert list(tmp_path.iterdir()) == []
