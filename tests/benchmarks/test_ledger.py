"""No work costs more than it did, by counts that are the same on every machine.

``pytest tests/benchmarks/test_ledger.py --update-golden`` writes the files in ``ledger/`` anew.
Read the difference: what is more has to be worth it, and what is less belongs into the changelog.
"""

from __future__ import annotations

from typing import get_args

import pytest

from stcompile.base.options import Level
from tests.benchmarks import counting
from tests.benchmarks.counting import Counts

LEVELS = [
    pytest.param(level, marks=[pytest.mark.slow] * (level != "fast")) for level in get_args(Level)
]


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_costs_more(level: Level, update_golden: bool) -> None:
    pytest.importorskip("scipy")
    found = {name: counting.counts(*make()) for name, make in counting.calls(level)}
    if update_golden:
        counting.path(level).write_text(counting.written(found), encoding="utf-8")
    noted = counting.read(counting.path(level).read_text(encoding="utf-8"))
    lines = counting.differences(noted, found)
    renew = "what is less belongs into the changelog; renew with --update-golden"
    assert not lines, "\n".join([f"at level {level!r}:", *lines, renew])


def test_files_are_read_as_they_were_written() -> None:
    rows = {"work/b": Counts(1, 2, 3, 4, 5, 6), "loop/a": Counts(10**12, 0, 0, 0, 0, 0)}
    assert counting.read(counting.written(rows)) == rows


def test_what_is_more_is_named_with_its_work() -> None:
    before = {"a": Counts(10, 0, 3, 4, 5, 6), "b": Counts(1, 1, 1, 1, 1, 1)}
    after = {"a": Counts(9, 8, 3, 4, 10, 6), "c": Counts(1, 1, 1, 1, 1, 1)}
    assert counting.differences(before, before) == []
    assert counting.differences(before, after) == [
        "MORE a: flops 0 -> 8",
        "MORE a: bytes 5 -> 10 (2.000 times as much)",
        "MORE b is gone",
        "MORE c is new",
        "less a: touched 10 -> 9 (0.900 times as much)",
    ]


def test_text_is_counted_as_often_as_it_runs() -> None:
    source = """
@njit
def kernel(x, y):
    for i in range(3):
        x[i] = y[i] + 1
    return x

def workspace():
    v = np.empty(3)

    def f(x, n):
        np.add(x, 1, out=x)
        kernel(x, v)
        for i in reversed(range(1, 9, 2)):
            x[i] += -1 * np.sum(v)
        for i in range(n):
            y = float(x @ v)
        return -y
"""
    assert counting.count_text(source, "f") == (1 + 1 + 4 * 3 + 1 + 1, 3)
