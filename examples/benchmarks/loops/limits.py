"""Limits of time: for a part of a worker's work, and for the worker."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Late(BaseException):
    """Raised when a block took too long. No `Exception`, so that no part of a compiler takes it for
    an error of its own."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises `Late` in a block that keeps the processor busy for longer, when Python runs its next
    instruction. Where the system has no such clock, the block takes as long as it takes."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise Late

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
