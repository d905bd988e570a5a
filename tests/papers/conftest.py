"""Images for the networks of the papers."""

from __future__ import annotations

import pytest

from tests.papers.images import small_images


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stcompile_programs.train.load", small_images)
