"""`Refusals`: functions that must be refused, with what the message has to say about each.

A message names the file, the line and the function, shows the line with a caret under the
expression, and gives the reason and what to write instead:

    model.py:14, in loss
        14 | return np.roots(x).sum()
           |        ^^^^^^^^^^^
    `np.roots` is not supported
    hint: ...
"""

from __future__ import annotations

import copy
import inspect
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import stcompile as st
from stcompile.frontend.state.walking import WOULD_REFUSE


@dataclass(frozen=True)
class Excerpt:
    """The place that a message points at: its first three lines, taken apart."""

    file: str
    line: int
    function: str
    underlined: str


def excerpts(message: str) -> list[Excerpt]:
    """Every place shown in a message: the user's expression, what it leads to in packages, then the
    call sites that led to it."""
    place = r"^(?:called from |which leads to )?(\S+):(\d+)(?:, in (.*))?"
    pattern = place + r"\n *\d+ \| (.*)\n *\| ( *)(\^+)$"
    found = []
    for file, line, function, text, indent, caret in re.findall(pattern, message, re.MULTILINE):
        underlined = text[len(indent) : len(indent) + len(caret)]
        found.append(Excerpt(file, int(line), function, underlined))
    return found


def refusal(function: Callable[..., Any], *args: Any, wrt: Any = 0) -> st.StcompileError:
    """The error that ``st.grad(function, wrt)(*args)`` raises."""
    with pytest.raises(st.StcompileError) as caught:
        st.grad(function, wrt)(*args)
    return caught.value


@dataclass(frozen=True)
class Refused:
    """A function that must be refused, and what must be said."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    error: type[st.StcompileError]
    at: str
    reason: str
    hint: str
    wrt: Any

    def check(self) -> None:
        error = refusal(self.function, *self.args, wrt=self.wrt)
        message = str(error)
        assert type(error) is self.error, message
        assert re.search(self.reason, error.reason), message
        assert re.search(self.hint, error.hint), message
        assert error.reason in message
        if error.hint == WOULD_REFUSE:
            with pytest.raises(Exception):
                self.function(*copy.deepcopy(self.args))
        place = excerpts(message)[0]
        assert place.underlined == self.at, message
        assert place.file == os.path.basename(self.function.__code__.co_filename)
        assert place.line in self.lines(), message

    def lines(self) -> list[int]:
        """The lines of the function that hold the expression."""
        text, first = inspect.getsourcelines(self.function)
        body = next(i for i, line in enumerate(text) if line.lstrip().startswith(("def", "async")))
        return [first + i for i in range(body, len(text)) if self.at in text[i]]


class Refusals:
    """The refused functions of one file. As a decorator, it notes a function with its arguments.

    ``at`` is the source text that the caret must underline; ``reason`` and ``hint`` are patterns.
    """

    def __init__(self) -> None:
        self.noted: list[Refused] = []

    def __call__(
        self,
        *args: Any,
        at: str,
        reason: str,
        hint: str = ".",
        error: type[st.StcompileError] = st.LanguageError,
        wrt: Any = 0,
    ) -> Callable[..., Any]:
        def note(function: Callable[..., Any]) -> Callable[..., Any]:
            self.noted.append(Refused(function, args, error, at, reason, hint, wrt))
            return function

        return note

    def tests(self) -> Any:
        """The test of all functions that were noted before."""
        names = [refused.function.__name__ for refused in self.noted]

        @pytest.mark.parametrize("refused", self.noted, ids=names)
        def test(refused: Refused) -> None:
            refused.check()

        return test
