"""Kernels run as plain Python in these tests: compiling them takes seconds."""

from __future__ import annotations

import pytest

numba = pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
