"""Comparison of engines, and the tables that show it."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from examples.benchmarks.report import Section, as_json, figures, markdown
from examples.benchmarks.results import Measured, Row, mismatch, rows_of
from examples.benchmarks.session import Block, Gradient

RIGHT = Block([2e-6, 1e-6, 6e-6], loss=0.5, gradient=Gradient(3.0, -1.0), others=0.25)
TORCH = Measured("torch", 0.5, "2", [RIGHT, RIGHT], memory_growth=2**20)


def test_a_row() -> None:
    (row,) = rows_of("rnn", [replace(TORCH, allocated=512)])
    assert row.median_us == pytest.approx(2)
    assert row.minimum_us == pytest.approx(1)
    assert row.mean_us == pytest.approx(3)
    assert row.first_call_ms == 500
    assert row.losses == [0.5, 0.5]
    assert row.other_processors == 0.25
    assert row.gradient_norm == 3.0
    assert row.ratio == 1
    assert row.gradient_cost is None
    assert row.mismatch is None


def test_ratios_are_to_the_fastest_peer_and_to_the_value_alone() -> None:
    def taking(engine: str, seconds: float) -> Measured:
        return replace(TORCH, engine=engine, blocks=[replace(RIGHT, seconds=[seconds])])

    alone = replace(RIGHT, seconds=[2e-6], gradient=None)
    engines = [taking("torch", 8e-6), taking("jax", 4e-6), taking("stcompile", 1e-6)]
    rows = rows_of("rnn", [*engines, replace(TORCH, engine="value-alone", blocks=[alone])])
    assert [row.ratio for row in rows] == [2, 1, 0.25, None]
    assert [row.gradient_cost for row in rows] == [4, 2, 0.5, 1]


@pytest.mark.parametrize(
    ("block", "found"),
    [
        (replace(RIGHT, loss=0.5009), None),
        (replace(RIGHT, loss=0.502), "loss 0.502 in block 2, 0.5 with torch"),
        (replace(RIGHT, loss=math.nan), "loss nan in block 2, 0.5 with torch"),
        (replace(RIGHT, gradient=None), None),
        (replace(RIGHT, gradient=Gradient(3.002, -1.002)), None),
        (replace(RIGHT, gradient=Gradient(3.004, -1.0)), "norm of the gradient 3.004 in block 2"),
        (replace(RIGHT, gradient=Gradient(3.0, 1.0)), "product of the gradient 1 in block 2"),
    ],
)
def test_mismatch(block: Block, found: str | None) -> None:
    text = mismatch(replace(TORCH, engine="jax", blocks=[RIGHT, block]), TORCH)
    assert text is None if found is None else text is not None and text.startswith(found)


def test_the_two_numbers_of_a_gradient() -> None:
    rng = np.random.default_rng(1)
    parts = [rng.normal(size=(3, 4)), rng.normal(size=5), np.array(2.0)]
    whole = np.concatenate([part.ravel() for part in parts])
    gradient = Gradient.of(parts)
    assert gradient is not None
    assert gradient.norm == pytest.approx(np.sqrt(np.sum(whole**2)))
    turned = Gradient.of([whole[::-1]])
    assert turned is not None
    assert turned.norm == pytest.approx(gradient.norm)
    assert abs(turned.product - gradient.product) > 0.1
    assert Gradient.of([]) is None


def test_losses_that_are_not_finite_have_no_place_in_json() -> None:
    rows = rows_of("rnn", [replace(TORCH, blocks=[replace(RIGHT, loss=math.nan)])])
    assert rows[0].mismatch is not None
    section = Section("rnn", "a network", "random", rows)
    assert json.loads(as_json({"threads": 2}, [section]))["rows"][0]["losses"] == [None]
    assert "| not finite |" in section.markdown()


SECTION = Section(
    "rnn",
    "a network",
    "random images",
    [
        *rows_of("rnn", [TORCH, replace(TORCH, engine="stcompile", allocated=2048)]),
        Row("rnn", "jax", "skipped", reason="jax is not installed"),
    ],
)

TABLE = """\
## a network

`rnn`, random images

| engine | median µs | mean µs | min µs | × fastest peer | first call ms | allocated | memory + | \
loss | other processors |
| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| torch | 2 | 3 | 1 | 1 | 500 | – | 1.0 MiB | 0.5 | 0.25 |
| stcompile | 2 | 3 | 1 | 1 | 500 | 2.0 KiB | 1.0 MiB | 0.5 | 0.25 |

- jax skipped: jax is not installed
"""


def test_markdown() -> None:
    assert markdown("today", [SECTION]) == f"# Benchmarks\n\ntoday\n\n{TABLE}"


def test_without_rich_the_table_is_markdown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    SECTION.show()
    drawn = capsys.readouterr().out
    assert "┃ engine" in drawn
    assert "jax skipped: jax is not installed" in drawn
    monkeypatch.setitem(sys.modules, "rich.console", None)
    SECTION.show()
    assert capsys.readouterr().out == f"{TABLE}\n"


def test_figures_leave_out_what_was_not_measured() -> None:
    svg = figures([SECTION])["medians.svg"].decode()
    assert "<!-- stcompile -->" in svg
    assert "<!-- a network -->" in svg
    assert "<!-- jax -->" not in svg
