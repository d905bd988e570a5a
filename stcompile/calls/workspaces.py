"""A compiled function with buffers of its own, for many callers at once.

At the fast level the generated module has a factory: it allocates every buffer once and returns the
function that computes in them. What the factory returned is a *workspace*. A workspace serves one
call at a time; the pool hands out a free one, or makes one, so that threads and recursion are safe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Workspaces:
    """A pool of workspaces that is called like the function itself.

    ``factory()`` gives a function whose results share no memory with its buffers, and which reads
    nothing that another call left there: a call that raised leaves them as they happen to be. The
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

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        function = self.acquire()
        try:
            return function(*arguments, **keywords)
        finally:
            self.free.append(function)
