"""examples/benchmarks/side_by_side.py: what it times, and that its bounds are bounds."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from examples.benchmarks import side_by_side
from examples.benchmarks.side_by_side import Pair, estimates, operations


def test_pairs_share_no_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "ELEMENTS", (10,))
    monkeypatch.setattr(side_by_side, "SIDES", (4,))
    names = []
    for name, one, other in operations("float32"):
        names.append(name)
        ours, theirs = (function.args for function in (one, other))
        arrays = [*ours, *theirs]
        assert all(array.dtype == np.float32 for array in arrays)
        assert not any(a is b for k, a in enumerate(arrays) for b in arrays[:k])
        one()
    assert names == [
        *("x + y, 10 elements", "x * y, 10 elements", "tanh(x), 10 elements", "x @ y, 4 x 4")
    ]


def test_both_operations_run_in_each_way() -> None:
    """Two that wait and leave the processor alone overlap on two threads, and not in turn."""
    pair = Pair("sleep", lambda: time.sleep(0.02), lambda: time.sleep(0.02))
    pair.measure(0.3)
    row = pair.row
    assert row.in_turn >= 40_000
    assert 20_000 <= min(row.pool_of_two, row.one_here) < 38_000
    assert row.gain > 1.05


def test_estimates_are_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "NETWORKS", ((8, 4),))
    (free,) = estimates("float32", 0.0)
    assert free.in_turn / 2 <= free.free <= free.in_turn * (1 + 1e-9)
    assert free.levels < free.equations
    (dear,) = estimates("float32", 1e9)
    assert dear.paid == pytest.approx(dear.in_turn), "nothing is split"


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(side_by_side, "ELEMENTS", (10,))
    monkeypatch.setattr(side_by_side, "SIDES", (4,))
    monkeypatch.setattr(side_by_side, "NETWORKS", ((8, 4),))
    file = tmp_path / "times.json"
    side_by_side.main(["--rounds", "1", "--seconds", "0.01", "--wait", "0", "--json", str(file)])
    printed = capsys.readouterr().out
    assert "tanh(x), 10 elements" in printed and "RNN step, batch 8, 4 units" in printed
    rows = json.loads(file.read_text(encoding="utf-8"))
    assert len(rows) == 4 and all(row["in_turn"] > 0 for row in rows)
