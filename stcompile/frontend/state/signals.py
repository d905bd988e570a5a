"""Signals: how a block of statements ended early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias


@dataclass(frozen=True)
class Returned:
    """A ``return`` was reached."""

    value: Any


class Fallible(NamedTuple):
    """The value of a block that may have ended in an error, which a ``try`` around it catches:
    ``code`` is the number of the error (see `Changes.errors`), 0 if there was none."""

    code: Any
    value: Any


class PathRaised(Exception):
    """Raised at a ``raise`` while a path of control flow is staged: the path ends there."""


class GeneratorLeft(Exception):
    """Raised by a loop that leaves the generator that it iterates over. Its steps run within the
    generator's body."""

    def __init__(self, loop: Any, signal: Signal) -> None:
        self.loop = loop
        self.signal = signal


@dataclass(frozen=True)
class Raised:
    """The result of a path that ends in an error."""


@dataclass(frozen=True)
class Outcome:
    """A block ended in different ways on different paths: it ``broke`` or ``returned``, bools that
    may be traced; ``value`` is the value that it returned, if it did."""

    broke: Any
    returned: Any
    value: Any


Signal: TypeAlias = Returned | Outcome | Literal["break", "continue"] | None
