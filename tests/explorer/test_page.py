"""What the explorer's page says of a function, against what the compiler says."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import ExportError, StcompileError
from stcompile.base.extras import MissingExtraError
from stcompile.base.html import highlighted
from stcompile.passes.pipeline import OWN, stages_at
from stcompile.reports.memory import lives_of
from stcompile.reports.snapshots import Snapshot, Snapshots
from stcompile.views.explorer import page as page_module
from stcompile.views.explorer.code import marks_of
from stcompile.views.explorer.listing import listed, stages_of
from stcompile.views.explorer.page import page_of
from stcompile.views.explorer.texts import Places
from stcompile.views.explorer.values import summary
from stcompile.views.watching import Budget, Enough
from stcompile.wengert.text import parse_program
from tests.explorer.functions import W, X, gated, loss


@functools.cache
def of_loss() -> dict[str, Any]:
    return data_of(loss.function, W, X)


def data_of(function: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
    """The JSON of a page."""
    page = page_of(function, arguments, {}, **options)
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def unpacked(runs: list[int]) -> list[int]:
    return [n for at in range(0, len(runs), 2) for n in range(runs[at], runs[at] + runs[at + 1])]


def names_after(data: dict[str, Any], level: str, at: int) -> list[list[str]]:
    rows = [data["rows"][n] for n in unpacked(data["levels"][level]["stages"][at]["rows"])]
    return [row[3] for row in rows if row[0] == "e" and row[2] == 0]


# --- lists and stages ----------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_the_stages_are_those_of_the_pipeline(level: Any) -> None:
    data = of_loss()
    stages = data["levels"][level]["stages"]
    assert [s["name"] for s in stages] == [
        "staged", "reverse", *(s.name for s in stages_at(level)), OWN
    ]  # fmt: skip
    shown = st.show(loss.function, W, X, level=level)
    assert isinstance(shown, Snapshots)
    for at, stage in enumerate(stages):
        program = shown.after(stage["name"]).program
        assert names_after(data, level, at) == [
            [output.name for output in equation.outputs] for equation in program.equations
        ]


def test_what_a_stage_changed() -> None:
    before = parse_program("""program f(x: f64) {
      a: f64 = sin(x)
      b: f64 = cos(x)
      c: f64 = multiply(a, b)
      return c
    }""")
    after = parse_program("""program f(x: f64) {
      b: f64 = cos(x)
      d: f64 = sin(b)
      c: f64 = multiply(d, b)
      return c
    }""")
    snapshots = [Snapshot("staged", before), Snapshot("cse", after), Snapshot("dce", after)]
    first, second, third = stages_of(snapshots, Places(None))
    assert (first.added, first.rewritten, first.removed) == ((), (), ())
    rows = [one.row for one in second.rows]
    assert [rows[at].names for at in second.added] == [("d",)]
    assert [rows[at].names for at in second.rewritten] == [("c",)]
    assert [(at, row.names) for at, row in second.removed] == [(1, ("a",))]
    assert (third.added, third.rewritten, third.removed) == ((), (), ())


def test_names_alone_are_no_change() -> None:
    one = parse_program("program f(x: f64) { a: f64 = sin(x) v7: f64 = cos(a) return v7 }")
    two = parse_program("program f(x: f64) { a: f64 = sin(x) v1: f64 = cos(a) return v1 }")
    _, stage = stages_of([Snapshot("staged", one), Snapshot("dce", two)], Places(None))
    assert (stage.added, stage.rewritten, stage.removed) == ((), (), ())


def test_programs_inside_are_rows_further_in() -> None:
    program = st.show(gated, 0.5, 1.0, after="staged").program  # type: ignore[union-attr]
    rows = [one.row for one in listed(program, Places(None))]
    assert [row.depth for row in rows if row.kind == "block"] == [1, 3, 3]
    assert [row.text for row in rows if row.kind == "block"] == ["body", "then", "otherwise"]
    assert {row.scope for row in rows if row.depth == 4} == {
        row.scope for row in rows if row.kind == "block" and row.depth == 3
    }


# --- places --------------------------------------------------------------------------------------


def test_places_are_the_user_s_expressions() -> None:
    data = of_loss()
    block = data["text"]["blocks"][0]
    lines = [html.unescape(re.sub("<[^>]*>", "", line)) for line in block["lines"]]
    first = loss.function.__code__.co_firstlineno
    assert block["first"] == first
    assert lines[0] == "@st.differentiable"
    found = set()
    for place in data["text"]["places"]:
        for at, line, start, stop in place["spans"]:
            assert at == 0
            found.add(lines[line][start:stop])
    assert {"x @ w", "np.tanh(x @ w)", "h * h", "np.mean(h * h)"} <= found


def test_an_expression_and_its_adjoint_are_one_place() -> None:
    program = st.show(loss.function, W, X, after="reverse").program  # type: ignore[union-attr]
    places = Places(None)
    rows = [one.row for one in listed(program, places)]
    sections: dict[int, set[str]] = {}
    for row in rows:
        if row.kind == "equation":
            sections.setdefault(row.place, set()).add(row.section)
    assert {"forward", "adjoint"} in sections.values()
    assert len(sections) == len({e.location.in_section("forward") for e in program.equations})


def test_inlined_helpers_show_both_lines() -> None:
    def helper(v):
        return np.sin(v)

    def outer(x):
        return np.sum(helper(x) + helper(2.0 * x))

    data = data_of(outer, X)
    spans = [place["spans"] for place in data["text"]["places"] if len(place["spans"]) == 2]
    assert len(spans) == 2, "one for each call"
    assert {len({block for block, *_ in found}) for found in spans} == {2}
    assert len(data["text"]["blocks"]) == 2


# --- code ----------------------------------------------------------------------------------------


def test_marks_are_the_text_of_what_is_computed() -> None:
    made = loss.value_and_grad
    bound = made.bind((W, X), {})
    readable = st.value_and_grad(loss.function, level="readable")
    emitted = readable.specialise(bound).emitted
    lines = emitted.source.split("\n")
    found = {(m.equation.output.name, lines[m.line][m.first : m.last]) for m in marks_of(emitted)}
    assert found >= {
        ("v1", "x @ w"),
        ("h", "h = np.tanh(x @ w)"),
        ("v3", "1 - v1"),
        ("v4", "d_h * (1 - v1)"),
    }


def test_marks_of_branches_loops_and_long_lines() -> None:
    emitted = (made := st.value_and_grad(gated)).specialise(made.bind((0.5, 1.0), {})).emitted
    lines = emitted.source.split("\n")
    texts = {(m.equation.primitive, lines[m.line][m.first : m.last]) for m in marks_of(emitted)}
    assert ("loop", "for k in range(20):") in texts
    assert any(primitive == "cond" and text.startswith("if ") for primitive, text in texts)


def test_lives_are_those_of_the_report() -> None:
    made = st.value_and_grad(loss.function)
    emitted = made.specialise(made.bind((W, X), {})).emitted
    lives = lives_of(emitted)
    assert {life.name for life in lives if life.memory} <= set(emitted.names.values())
    data = of_loss()["levels"]["fast"]
    start, end = data["code"]["start"], len(data["code"]["lines"])
    assert data["lives"]
    assert all(start <= first <= last < end for _, _, first, last, _ in data["lives"])
    assert data["memory"]["peak"] == loss.memory(W, X).peak
    assert max(nbytes for _, nbytes in data["alive"]) == loss.memory(W, X).peak
    lines = [line for line, _ in data["alive"]]
    assert lines == sorted(set(lines))
    assert start < lines[0] <= lines[-1] < end


# --- values --------------------------------------------------------------------------------------


def test_values_are_those_of_the_run() -> None:
    data = of_loss()
    value, gradient = loss.value_and_grad(W, X)
    found = {name: (number, d) for _, name, _, number, d in data["lines"]}
    assert data["values"][found["h"][0]]["rows"] == summary(np.tanh(X @ W))["rows"]
    assert data["values"][found["w"][1]]["rows"] == summary(gradient)["rows"]
    level = data["levels"]["fast"]
    assert [row for row in level["runs"] if row is None] == []
    last = [data["rows"][n] for n in unpacked(level["stages"][-1]["rows"])]
    at = next(i for i, row in enumerate(last) if row[3] == ["value"])
    assert data["values"][level["runs"][-1][at][0]]["text"] == summary(value)["text"]


def test_values_inside_loops_have_a_curve() -> None:
    def decays(x):
        h = x
        for _ in range(50):
            h = np.tanh(h * 0.9)
        return np.sum(h)

    data = data_of(decays, X)
    for level in ("readable", "fast"):  # kernels have loops of their own
        runs = [run for run in data["levels"][level]["runs"] if run is not None]
        shown = [data["values"][number] for run in runs for row in run for number in row]
        assert {value["steps"] for value in shown if "steps" in value} == {50}


def test_what_a_value_looks_like() -> None:
    assert summary(0.5) == {"text": "0.5"}
    assert summary(np.float32(0.1)) == {"text": "0.1"}
    odd = summary(np.array([np.nan, np.inf, 1.0]))
    assert (odd["rows"], odd["odd"]) == ([["nan", "inf", "1"]], 2)
    large = summary(np.arange(10_000.0).reshape(100, 100))
    assert (large["range"], large["zeros"]) == (["0", "4999.5", "9999"], 1)
    assert "rows" not in large
    assert (large["picture"]["width"], large["picture"]["height"]) == (32, 32)
    assert len(large["bins"]) == 24
    assert summary(np.zeros((3, 0)))["shape"] == [3, 0]
    assert summary(np.array([1 + 1j] * 100))["of"] == "|z|"
    assert summary(np.random.default_rng(0)) == {"text": "Generator"}


def test_an_array_of_nan_or_of_huge_numbers_is_json() -> None:
    for value in (np.full((50, 50), np.nan), np.full(60, 1e308), np.array([-1e308, 1e308] * 40)):
        json.dumps(summary(value), allow_nan=False)


# --- all kinds of functions ----------------------------------------------------------------------


@dataclasses.dataclass
class Part:
    a: Any
    b: Any


def breaks_out(p, q):
    tag = "</script><script>alert(1)</script><!--"  # “quoted” & <b>
    return np.sum(p[tag[:9]] * 2.0) + q.a @ q.b


def test_texts_that_look_like_html_stay_texts() -> None:
    arguments = ({"</script>": np.ones(3)}, Part(np.ones(2), np.ones(2)))
    page = page_of(breaks_out, arguments, {})
    assert page.count("</script>") == 2
    assert "alert(1)" in page
    data = data_of(breaks_out, *arguments)
    assert any("&lt;/script&gt;" in line for line in data["text"]["blocks"][0]["lines"])


def no_gradient(x):
    return x * 2.0


def test_a_function_without_a_gradient_is_shown_alone() -> None:
    data = data_of(no_gradient, X)
    assert "a gradient is that of one number" in data["refusal"]
    names = [stage["name"] for stage in data["levels"]["fast"]["stages"]]
    assert names == ["staged", *(stage.name for stage in stages_at("fast"))]
    assert data["lines"] == []


def raises(x):
    assert np.sum(x) > 1e9, "too small"
    return np.sum(x)


def prints(x):
    print("told")
    return np.sum(x * x)


def noisy(x):
    return np.sum(np.log(-x))


def unicode(größe, µ):
    ξ = (größe - µ) / 2.0
    return np.sum(ξ**2)


def turns(z):
    w = np.exp(1j * z)
    return np.sum(np.abs(w - 0.5) ** 2)


def counted(x):
    n = 0.0
    while np.sum(x) > 1.0:
        x = x * 0.7
        n = n + 1
    return np.sum(x) + n


def no_arrays(x, y):
    return x * y + x


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (gated, (0.5, 1.0)),
        (counted, (np.ones(5),)),
        (no_arrays, (2.0, 3.0)),
        (noisy, (np.array([1.0, 0.0]),)),
        (unicode, (np.ones(3), 2.0)),
        (turns, (np.ones(3) + 0j,)),
        (raises, (np.ones(3),)),
        (lambda x: np.sum(x * x), (np.ones(3),)),
    ],
)
def test_pages_of_all_kinds_of_functions(function: Any, arguments: Any) -> None:
    data = data_of(function, *arguments)
    assert set(data["levels"]) == {"readable", "fast", "compiled"}
    assert data["seen"] == ""
    for level in data["levels"].values():
        assert set(level["seen"]) == {""}
    for level in data["levels"].values():
        assert len(level["runs"]) == len(level["stages"])
        assert len(level["code"]["marks"]) == len(level["code"]["lines"])


def smoothed(a):
    for _ in range(100):
        for i in range(1, 29):
            for j in range(1, 29):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return np.sum(a * a)


def test_long_runs_are_watched_from_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of half a million steps, for as many equations as there is time for."""
    spent = []

    class Counted(Budget):
        def spend(self, steps: tuple[int, ...]) -> None:
            super().spend(steps)
            spent.append(steps)

    monkeypatch.setattr(page_module, "Budget", Counted)
    monkeypatch.setattr(page_module, "RUN_EQUATIONS", 8_000)
    said: list[str] = []
    image = np.linspace(0, 1, 900).reshape(30, 30)
    data = data_of(smoothed, image.copy(), say=said.append)
    assert len(spent) <= 8_000
    assert data["seen"].startswith("up to step 0, ") and " of the loops: 2,000 " in data["seen"]
    for level in data["levels"].values():
        assert all(where.startswith("up to step 0, ") for where in level["seen"])
        assert any(level["runs"][-1])  # what was reached has numbers
        assert not all(level["runs"][-1])
    assert any(line.startswith("level fast, stage ") for line in said) and said[-1] == "the lines"


def test_a_run_within_its_budget_is_whole() -> None:
    budget = Budget(3)
    for step in range(3):
        budget.spend((step,))
    assert (budget.left, budget.spent, budget.told) == (0, 3, "")
    with pytest.raises(Enough):
        budget.spend((3,))
    assert budget.told == "up to step 2 of the loops: 3 equations"


def test_a_page_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    data_of(prints, X)
    assert capsys.readouterr().out == ""


def test_random_draws_of_the_user_s_generator_are_left() -> None:
    def noise(x, rng):
        return np.sum(x * rng.normal(size=3))

    mine, other = np.random.default_rng(1), np.random.default_rng(1)
    data_of(noise, np.ones(3), mine)
    assert mine.normal() == other.normal()


def test_a_training_step_is_shown_as_it_is() -> None:
    step = st.train_step(loss.function, st.optim.SGD(0.1), wrt="w")
    w = W.copy()
    data = data_of(step, w, X)
    assert np.array_equal(w, W)
    assert list(data["levels"]) == ["fast"]
    assert {row[9] for row in data["rows"]} >= {"f", "a", "u"}


def test_a_training_step_with_a_state() -> None:
    step = st.train_step(loss.function, st.optim.Adam(0.1), wrt="w")
    data = data_of(step, W.copy(), X)
    assert data["levels"]["fast"]["stages"][0]["name"] == "staged"
    assert None not in data["levels"]["fast"]["runs"]


def test_a_program_within_a_memory_budget() -> None:
    def deep(x):
        for _ in range(40):
            x = np.tanh(x * 1.1)
        return np.sum(x)

    x = np.ones(2000)
    function = st.differentiable(deep, memory="330kB")
    data = data_of(function.function, x, options=function.options)
    assert data["levels"]["fast"]["stages"][-1]["name"] == "budget"


def test_wrong_arguments_are_refused_as_ever() -> None:
    with pytest.raises(StcompileError, match="too many positional"):
        page_of(loss.function, (1.0, 2.0, 3.0), {})


# --- files ---------------------------------------------------------------------------------------


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "here.html"
    assert loss.explore(W, X, path=target) == str(target)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    monkeypatch.chdir(tmp_path)
    assert loss.explore(W, x=X) == "loss.html"
    assert (tmp_path / "loss.html").is_file()
    with pytest.raises(ExportError, match="cannot be written"):
        loss.explore(W, X, path=tmp_path / "nowhere" / "page.html")


def test_the_page_is_the_same_each_time() -> None:
    assert page_of(loss.function, (W, X), {}) == page_of(loss.function, (W, X), {})


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    original = importlib.import_module

    def imported(name: str, *rest: Any) -> Any:
        if name.startswith("pygments"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="pygments")
        return original(name, *rest)

    monkeypatch.setattr(importlib, "import_module", imported)
    with pytest.raises(MissingExtraError, match=r"stcompile\[graph\]"):
        page_of(loss.function, (W, X), {})


def test_highlighted_lines_are_the_lines() -> None:
    text = 'def f(x):\n    """Two\n    lines < 3."""\n\n    return x  # no\n'
    lines = highlighted(text)
    assert [html.unescape(re.sub("<[^>]*>", "", line)) for line in lines] == text.split("\n")
    assert '<i class="k">def</i>' in lines[0]
