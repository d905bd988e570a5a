"""Ranks under mpiexec train as one process does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.distributed.mpi import needs_mpi, run

HERE = Path(__file__).parent


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_ranks_are_as_one_process(ranks: int) -> None:
    code, output = run(ranks, HERE / "equal.py")
    assert code == 0, output
    assert output.count("is as on one") == 3, output
