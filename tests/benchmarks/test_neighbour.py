"""The process that computes beside what is measured."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples.benchmarks.neighbour import PROGRAM, busy_neighbour

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def children() -> dict[int, float]:
    """The processes that this one started, and the seconds that each has computed."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            ticks = int(fields[11]) + int(fields[12])
            found[int(folder.name)] = ticks / os.sysconf("SC_CLK_TCK")
    return found


def test_it_computes_for_as_long_as_the_block() -> None:
    before = children()
    with busy_neighbour(True):
        (neighbour,) = children().keys() - before.keys()
        limit = time.monotonic() + 60
        while children()[neighbour] < 0.05:
            assert time.monotonic() < limit
            time.sleep(0.01)
    assert neighbour not in children()


def test_there_is_none_unless_it_is_wanted() -> None:
    before = children()
    with busy_neighbour(False):
        assert children().keys() == before.keys()


def test_it_ends_with_its_parent() -> None:
    """Of a parent that is gone, as of this number that is no parent."""
    subprocess.run([sys.executable, "-c", PROGRAM, "1"], timeout=60, check=True)
