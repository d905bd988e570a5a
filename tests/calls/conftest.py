"""What the tests of calls count."""

from __future__ import annotations

import collections
from typing import Any

import pytest

from stcompile.calls.dispatch import Dispatcher


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> collections.Counter[str]:
    """How many calls took the long way, and how many functions were compiled."""
    found: collections.Counter[str] = collections.Counter()

    def counted(name: str) -> None:
        plain = getattr(Dispatcher, name)

        def method(self: Dispatcher, *args: Any) -> Any:
            found[name] += 1
            return plain(self, *args)

        monkeypatch.setattr(Dispatcher, name, method)

    counted("bind")
    counted("build")
    return found
