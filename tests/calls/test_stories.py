"""A call meets the function that was compiled for it, whatever changed since the last call."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base import options
from stcompile.calls import dispatch, specialisation
from stcompile.calls.dispatch import Dispatcher
from stcompile.calls.entry import MISS
from tests.calls import arguments as _arguments  # noqa: F401  (it tells stories)
from tests.calls import outside as _outside  # noqa: F401  (and so does this)
from tests.calls.telling import STORIES, WITH_ITS_WARNINGS, expect, same, tell


@WITH_ITS_WARNINGS
@pytest.mark.parametrize(
    ("name", "level"),
    [(name, ("fast", "readable")[at % 2]) for at, name in enumerate(STORIES)],
)
def test_no_change_is_missed(
    name: str, level: str, counts: collections.Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "DEFAULT_LEVEL", level)
    monkeypatch.setattr(dispatch, "KEPT", 99)
    usual = tell(STORIES[name])
    with_entries = counts.copy()
    counts.clear()
    with monkeypatch.context() as patch:
        patch.setattr(specialisation, "entry_of", lambda call: lambda arguments: MISS)
        expect(tell(STORIES[name]), usual)
    assert counts["build"] == with_entries["build"], "an entry accepts what its key accepts"
    assert counts["bind"] > with_entries["bind"], "some calls are made by entries"
    with monkeypatch.context() as patch:
        patch.setattr(Dispatcher, "_current", lambda self, key, arguments: None)
        expect(tell(STORIES[name]), usual)


def test_a_story_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that checks too little is noticed."""
    entry_of = specialisation.entry_of

    def careless(call: Any) -> Any:
        return entry_of(dataclasses.replace(call, guards=(), written=()))

    monkeypatch.setattr(specialisation, "entry_of", careless)
    for name in ("globals_that_change", "closures_that_change", "parameters_that_change"):
        found = tell(STORIES[name])
        with monkeypatch.context() as patch:
            patch.setattr(Dispatcher, "_current", lambda self, key, arguments: None)
            assert not same(tell(STORIES[name]), found)


def test_one_array_as_two_arguments_of_a_step() -> None:
    step = st.train_step(lambda a, x, b: np.sum(a * x) + np.sum(b), st.optim.SGD(1.0), wrt=(0, 2))
    a, x, b = np.ones(2), np.ones(2), np.ones(2)
    for given in ((a, x, a), (a, a, b), (a, b, b), (a, a, a)):
        for _ in range(3):
            step(np.ones(2), x, np.ones(2))
        with pytest.raises(st.ArgumentsError, match="share"):
            step(*given)
    assert a.sum() == b.sum() == 2


def test_whether_two_arguments_are_one_array_is_refused() -> None:
    outside = np.ones(2)
    for function in (
        lambda x, y: np.sum(x) * (2 if x is y else 3),
        lambda x, y: np.sum(x) * (2 if x is not outside else 3),
    ):
        with pytest.raises(st.LanguageError, match="one array"):
            st.grad(function)(np.ones(2), np.ones(2))
    f = st.grad(lambda x, y: np.sum(x) * (2 if x is x else 3) * (3 if y is None else 4))
    np.testing.assert_array_equal(f(np.ones(2), None), [6, 6])
