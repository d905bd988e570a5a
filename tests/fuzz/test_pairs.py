"""Programs that are drawn by pairs of features: what occurs in them, and how they are judged."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest

from stcompile.transforms import two_modes
from tests.fuzz import coverage, judge_pairs
from tests.fuzz.covering import covering
from tests.fuzz.features import FEATURES, NOTHING, RISKIEST, functions, pairs, reason
from tests.fuzz.generate import function_of
from tests.fuzz.pairs import ROWS, VALUES, arguments, design, drawn, how_of, row_of, runs, values_of

PROGRAMS = 240


@pytest.fixture(scope="module")
def programs() -> list:
    return [drawn(seed) for seed in range(PROGRAMS)]


def test_every_pair_of_columns_is_covered():
    columns = {"a": (0, 1, 2), "b": (0, 1), "c": (0, 1, 2)}
    rows = covering(columns, lambda one, other: (one, other) != (2, 2), seed=1)
    for one, other in itertools.combinations(columns, 2):
        found = {(row[one], row[other]) for row in rows if one in row and other in row}
        wanted = set(itertools.product(columns[one], columns[other])) - {(2, 2)}
        assert found == wanted
    assert len(rows) <= 14


def test_a_design_has_every_pair_of_features():
    rows = design(0)
    together = set()
    for row in rows:
        used = sorted(set(row.values()))
        together |= {frozenset(pair) for pair in itertools.combinations(used, 2)}
        assert not any(reason(*pair) for pair in itertools.combinations(used, 2)), row
    wanted = {frozenset(pair) for pair in pairs()}
    assert {pair for pair in wanted if len(pair) == 2} <= together
    assert len(rows) < ROWS < 1.1 * len(rows)
    assert all(row_of(at) == row for at, row in enumerate(rows))
    assert row_of(ROWS) == design(1)[0] != rows[0]


def test_the_functions_are_those_of_the_table():
    found = {text.partition("(")[0] for texts in functions().values() for text in texts}
    assert {"np.sin", "np.cumsum", "np.maximum", "np.sum", "np.outer", "np.linalg.inv"} <= found
    assert len(found) > 150


@pytest.mark.slow
def test_most_pairs_meet(programs):
    """In a part of one design already; the command tells which do."""
    met = set().union(*(made.met for made in programs))
    wanted = {frozenset(pair) for pair in pairs()}
    assert len(wanted & met) > 0.85 * len(wanted)
    used = set().union(*(made.features for made in programs))
    assert used >= set(FEATURES) - NOTHING - {"list: none"}
    assert len(RISKIEST) == len(set(RISKIEST)) == 40 and set(RISKIEST) <= set(FEATURES)


@pytest.mark.slow
def test_all_kinds_of_values_occur(programs):
    values = [values_of(args) for made in programs for args in made.calls]
    assert set().union(*values) | {"empty"} == set(VALUES)
    assert any(made.has_empty for made in programs)
    negative = sum("negative" in one for one in values)
    assert negative > len(values) / 4


def test_programs_are_those_of_their_seed(programs):
    for made in programs[:40]:
        assert runs(made.source, made.calls)
        assert how_of(made.source) == tuple(name.partition(": ")[2] for name in made.how)
        assert 8 <= len(made.source.splitlines()) <= 40
    drawn.cache_clear()
    assert [drawn(seed).source for seed in range(10)] == [one.source for one in programs[:10]]


def test_arguments_lie_in_memory_as_their_feature_says(programs):
    orders = {made.features & {f"order: {name}" for name in ORDERS} for made in programs}
    assert len(orders) > 3
    for made in programs:
        _, a, *_ = made.calls[0]
        if "order: Fortran" in made.features and "source: argument" in made.features:
            assert a.flags.f_contiguous or "copy" in made.source
        if "order: negative strides" in made.features:
            assert min(a.strides) < 0


ORDERS = ("C", "Fortran", "gaps", "negative strides", "zero strides", "axes moved")
PROGRAM = '''def program(x, a, y, k, b, c, s):
    """{how}"""
    t = np.float64(s) * 0.5
    v = x[1:]
    t = t + v[k[0]] * v[0] + np.sum(a[k] * y[0])
    return t, v * 1.0
'''
CALLS = tuple(itertools.islice(arguments({}, random.Random(3)), 3))


@pytest.mark.parametrize("transform", judge_pairs.TRANSFORMS)
@pytest.mark.parametrize("level", judge_pairs.LEVELS)
def test_a_program_that_is_right(transform: str, level: str) -> None:
    how = (transform, level, "none")
    verdict = judge_pairs.judge_source(smooth(how), CALLS, False, True, how)
    assert (verdict.kind, verdict.about) == ("right", ""), verdict


def test_all_levels_in_full() -> None:
    how = ("grad", "fast", "dynamic")
    verdict = judge_pairs.judge_source(smooth(how), CALLS, True, False, how)
    assert (verdict.kind, verdict.about) == ("right", ""), verdict


def smooth(how: tuple[str, str, str]) -> str:
    """A program without an index of a part, in which each transform has something to do."""
    text = PROGRAM.format(how="; ".join(how))
    return text.replace("v[k[0]] * v[0]", "np.sin(v[1]) * v[0] * s")


def test_a_wrong_tangent_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The identity is compared in the light judgement, also where differences are right."""
    slope = two_modes.slope

    def wrong(gradients, directions, tangent):
        return slope(gradients, directions, tangent * (1 + 1e-7))

    monkeypatch.setattr("tests.fuzz.identity.slope", wrong)
    how = ("value_and_grad", "readable", "none")
    verdict = judge_pairs.judge_source(smooth(how), CALLS, False, True, how)
    assert verdict.about == "forward against reverse, readable"


def test_where_rounding_decides_nothing_is_judged() -> None:
    """Thirty numbers that are equal add up to an integer, or to a little less."""
    how = ("value_and_grad", "compiled", "none")
    text = smooth(how).replace(
        "v = x[1:]", "v = np.zeros(30)\n    v[...] = x[0]\n    w = np.sum(v)"
    )
    text = text.replace("return t,", "return t + y[0] * int(w),")
    x, *rest = CALLS[0]
    x = np.array([0.7, *x[1:]])
    verdict = judge_pairs.judge_source(text, ((x, *rest),), False, True, how)
    assert verdict.kind == "right", verdict
    comparison = judge_pairs.PairComparison(function_of(text), text, ((x, *rest),))
    assert comparison.is_at_a_jump((x, *rest))
    assert not comparison.is_at_a_jump(CALLS[0])


@pytest.mark.parametrize("transform", ["grad", "linearize"])
def test_a_wrong_transform_is_noticed(transform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = judge_pairs.TRANSFORMS[transform]

    def wrong(*args):
        found = made(*args)
        return tuple(part * 1.001 for part in found) if type(found) is tuple else found * 1.001

    monkeypatch.setitem(judge_pairs.TRANSFORMS, transform, wrong)
    how = (transform, "readable", "none")
    verdict = judge_pairs.judge_source(smooth(how), CALLS, False, True, how)
    assert (verdict.kind, verdict.about) == ("wrong", transform)


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    log = tmp_path / "log"
    coverage.main(["--programs", "2", "--json", str(first), "--log", str(log)])
    coverage.main(["--programs", "1", "--first", "2", "--json", str(second), "--add", str(first)])
    printed = capsys.readouterr().out
    assert "pairs of compatible features" in printed and "triples of compatible" in printed
    assert "a broadcast is read-only" in printed
    read = [json.loads(path.read_text()) for path in (first, second)]
    assert [sum(one["programs"].values()) for one in read] == [2, 3]
    counts = {tuple(names): count for names, count, _ in read[1]["features"]}
    for name in drawn(2).features:
        assert sum(counts[name,].values()) >= 1
    assert log.read_text().count("program ") == 2


def test_what_is_counted() -> None:
    made = drawn(5)
    counts = coverage.Counts()
    counts.add(made, "right")
    counts.add(made, "refused")
    again = coverage.Counts()
    again.add_json(json.loads(json.dumps(counts.as_json())))
    assert again == counts
    met = {tuple(sorted(pair)) for pair in made.met if len(pair) == 2}
    for pair in met:
        assert counts.features[pair] == {"right": 1, "refused": 1}
        assert counts.values[pair]["negative"] == 1
    assert f"{len(met & set(coverage.wanted_pairs()))}" in coverage.report(counts)
