"""Whatever changed since an entry was cached is seen: every call is looked up on disk, and made as
if it were compiled anew."""

from __future__ import annotations

import collections
from typing import Any

import pytest

from stcompile.base import options
from stcompile.calls import cache
from stcompile.calls.dispatch import Dispatcher
from tests.calls import arguments as _arguments  # noqa: F401  (it tells stories)
from tests.calls import outside as _outside  # noqa: F401  (and so does this)
from tests.calls.telling import STORIES, WITH_ITS_WARNINGS, expect, tell

TOLD = (  # one of each kind of change: each call is compiled, so all of them would take minutes
    "captured_objects_that_become_one",
    "closures_that_change",
    "dataclasses_that_change",
    "modules_and_classes_that_change",
    "objects_as_arguments",
    "objects_that_become_one",
    "other_code_in_the_same_function",
)


@WITH_ITS_WARNINGS
@pytest.mark.parametrize(
    ("name", "level"),
    [(name, ("readable", "fast")[at % 2]) for at, name in enumerate(TOLD)],
)
def test_no_change_is_missed(
    name: str,
    level: str,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
    counts: collections.Counter[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(options, "DEFAULT_LEVEL", level)
    monkeypatch.setattr(Dispatcher, "_current", lambda self, key, arguments: None)
    anew = tell(STORIES[name])
    compiled = counts["build"]
    monkeypatch.setenv(cache.SWITCH, str(tmp_path / "cache"))
    for _ in range(2):
        counts.clear()
        expect(tell(STORIES[name]), anew)
        assert counts["build"] <= compiled
    assert not [r for r in caplog.records if r.levelname == "WARNING"], "the cache did not fail"
