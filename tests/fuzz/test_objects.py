"""Random classes and objects, changed between calls, are those of plain Python, or refused."""

from __future__ import annotations

import pytest

from tests.fuzz.judge_objects import Wrong, run
from tests.fuzz.objects import CHANGES, MEMBERS, program


def test_all_members_and_changes_are_drawn() -> None:
    made = [program(seed) for seed in range(300)]
    texts = "\n".join(one.source for one in made)
    for member in MEMBERS:
        head = member.split("{")[0]
        assert head.splitlines()[0] in texts, member
    changes = "\n".join(change for one in made for change in one.changes)
    for change in CHANGES:
        assert change.split("{k}")[-1].split("{")[0] in changes, change


def test_a_stale_value_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no guard ever failed."""
    monkeypatch.setattr(
        "stcompile.calls.dispatch.Dispatcher._current",
        lambda self, key, arguments: next(iter(self._specialisations.get(key, ())), None),
    )
    monkeypatch.setattr("stcompile.base.guards.IdentityGuard.holds", lambda self: True)
    with pytest.raises(Wrong):
        for seed in range(40):
            run(program(seed))
