"""Where the time of compiling goes: by stage, for those who ask, and as a line of the log."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Compilation:
    """One compilation: the generated function's name, and the seconds of each stage in order."""

    name: str
    stages: dict[str, float]

    @property
    def seconds(self) -> float:
        return sum(self.stages.values())

    def __str__(self) -> str:
        width = max(map(len, self.stages), default=0)
        lines = [f"{self.name}: {1e3 * self.seconds:.1f} ms"]
        lines += [f"  {name:<{width}}  {1e3 * s:8.1f} ms" for name, s in self.stages.items()]
        return "\n".join(lines)


@dataclass
class Timings:
    """What was compiled, in order; prints as a table."""

    compilations: list[Compilation] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return sum(compilation.seconds for compilation in self.compilations)

    def __str__(self) -> str:
        return "\n".join(map(str, self.compilations)) or "nothing was compiled"


_TIMINGS: ContextVar[Timings | None] = ContextVar("timings", default=None)
_CLOCK: ContextVar[_Clock | None] = ContextVar("clock", default=None)


@contextmanager
def timings() -> Iterator[Timings]:
    """Note what is compiled within a ``with`` block of this thread, and where the time goes.

    The stages are "frontend" (the function's source becomes a Wengert list), "adjoint" and
    "tangent", the passes by their names (those of `show`), "source" (the plan of the memory, and
    the text), "link", and "other".

    >>> import stcompile as st
    >>> def f(x):
    ...     return x * x
    >>> with st.timings() as spent:
    ...     d = st.grad(f)(3.0)
    >>> [(made.name, [*made.stages][1:3], made.seconds > 0) for made in spent.compilations]
    [('f_grad', ['frontend', 'adjoint'], True)]
    """
    noted = Timings()
    token = _TIMINGS.set(noted)
    try:
        yield noted
    finally:
        _TIMINGS.reset(token)


class _Clock:
    """The stages of a compilation. A stage within another is not counted as that one's."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self.under_way: list[str] = ["other"]
        self.since = time.perf_counter()

    def tick(self) -> None:
        """Add the time since the last tick to the stage that is under way."""
        now = time.perf_counter()
        name = self.under_way[-1]
        self.stages[name] = self.stages.get(name, 0.0) + now - self.since
        self.since = now


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Count the time within the block for a stage of the compilation, if there is one."""
    clock = _CLOCK.get()
    if clock is None:
        yield
        return
    clock.tick()
    clock.under_way.append(name)
    try:
        yield
    finally:
        clock.tick()
        clock.under_way.pop()


@contextmanager
def compilation(name: str) -> Iterator[None]:
    """Time a compilation. The garbage collector is off meanwhile: compiling makes many objects that
    live until its end, and the collector would look through them again and again."""
    clock, is_collecting = _Clock(), gc.isenabled()
    token = _CLOCK.set(clock)
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()
        _CLOCK.reset(token)
    clock.tick()
    made = Compilation(name, clock.stages)
    noted = _TIMINGS.get()
    if noted is not None:
        noted.compilations.append(made)
    _log(made)


def _log(made: Compilation) -> None:
    """A line at level DEBUG of the logger "stcompile". A program that has not imported `logging`
    shows no log."""
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger("stcompile")
    if logger.isEnabledFor(logging.DEBUG):
        slowest = sorted(made.stages.items(), key=lambda item: -item[1])[:4]
        parts = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in slowest)
        logger.debug("compiled %s in %.1f ms (%s)", made.name, 1e3 * made.seconds, parts)
