"""A compiled function with buffers of its own, for many callers at once.

At the fast level the generated module has a factory: it allocates every buffer once and returns the
function that computes in them, a *workspace*. A workspace serves a single call at a time; the pool
hands out a free workspace, or makes one, so that threads and recursion are safe.

The factory of a program with named lengths takes their numbers; a workspace is for one choice of
numbers.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from stcompile.base.thresholds import POOLS
from stcompile.base.trees import Path, follow

Numbers: TypeAlias = tuple[int, ...]


class Workspaces:
    """A pool of workspaces that is called like the function itself.

    ``factory()`` gives a function whose results share no memory with its buffers, and which reads
    nothing that another call left there: a call that raised leaves them in an arbitrary state. The
    pool holds as many workspaces as there were calls at the same time, and no more.
    """

    def __init__(self, factory: Callable[[], Callable[..., Any]]) -> None:
        self.factory = factory
        self.free: list[Callable[..., Any]] = []  # `append` and `pop` are atomic

    def acquire(self) -> Callable[..., Any]:
        """A workspace that no other call has, until it is put back into ``free``."""
        try:
            return self.free.pop()
        except IndexError:
            return self.factory()

    def for_call(self, arguments: Any) -> Workspaces:
        """The pool for a call with the given arguments."""
        return self

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        function = self.acquire()
        try:
            return function(*arguments, **keywords)
        finally:
            self.free.append(function)


class SizedWorkspaces(Workspaces):
    """Pools of workspaces for a factory whose parameters are ``lengths`` of arguments, each given
    by the position of an argument, a path in it, and an axis: a pool for each of the most recent
    numbers."""

    def __init__(
        self,
        factory: Callable[..., Callable[..., Any]],
        lengths: Sequence[tuple[int, Path, int]],
    ) -> None:
        super().__init__(factory)
        self.lengths = lengths
        self._pools: dict[Numbers, Workspaces] = {}
        self._lock = threading.Lock()

    def of(self, *numbers: int) -> Workspaces:
        """The pool for the given numbers."""
        found = self._pools.get(numbers)
        if found is None:
            with self._lock:
                made = Workspaces(functools.partial(self.factory, *numbers))
                found = self._pools.setdefault(numbers, made)
                while len(self._pools) > POOLS:
                    del self._pools[next(iter(self._pools))]
        return found

    def for_call(self, arguments: Any) -> Workspaces:
        return self.of(*(follow(arguments[at], p).shape[axis] for at, p, axis in self.lengths))

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        return self.for_call(arguments)(*arguments, **keywords)


def workspaces_of(
    linked: Callable[..., Any], lengths: Sequence[tuple[int, Path, int]]
) -> Workspaces:
    """The pool of a factory that takes some lengths, or none."""
    return SizedWorkspaces(linked, lengths) if lengths else Workspaces(linked)
