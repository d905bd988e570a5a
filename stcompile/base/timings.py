"""Times of compiling, by stage: for users who ask for them, and as a line of the log."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from stcompile.base.logs import logger, shows
from stcompile.base.shown import Shown


@dataclass(frozen=True, repr=False)
class Compilation(Shown):
    """A compilation: the generated function's name, the seconds of each stage in order, and the
    reason why it was compiled although other specialisations existed. ``cached`` is True if the
    function was not compiled but loaded from the cache on disk."""

    name: str
    stages: dict[str, float]
    reason: str = ""
    cached: bool = False

    @property
    def seconds(self) -> float:
        return sum(self.stages.values())

    def __str__(self) -> str:
        width = max(map(len, self.stages), default=0)
        lines = [f"{self.name}: {1e3 * self.seconds:.1f} ms{' (from the cache)' * self.cached}"]
        lines += [f"  {name:<{width}}  {1e3 * s:8.1f} ms" for name, s in self.stages.items()]
        return "\n".join(lines)


@dataclass(repr=False)
class Timings(Shown):
    """A list of compilations in order; prints as a table."""

    compilations: list[Compilation] = field(default_factory=list)

    def note(self, made: Compilation) -> None:
        """Note a compilation, unless it was loaded from the cache."""
        if not made.cached:
            self.compilations.append(made)

    @property
    def seconds(self) -> float:
        return sum(compilation.seconds for compilation in self.compilations)

    def __str__(self) -> str:
        return "\n".join(map(str, self.compilations)) or "nothing was compiled"


Listener: TypeAlias = Callable[[Compilation], object]

_LISTENERS: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())
_CLOCK: ContextVar[_Clock | None] = ContextVar("clock", default=None)


@contextmanager
def timings() -> Iterator[Timings]:
    """Note the functions that are compiled within a ``with`` block of this thread, and the time of
    each stage.

    The stages are "frontend" (the function's source becomes a Wengert list), "adjoint" and
    "tangent", the passes by their names (those of `show`), "source" (the plan of the memory, and
    the text), "link", and "other". A kernel that Numba compiles when it is first called is a
    compilation of its own, with the stage "Numba".

    >>> import stcompile as st
    >>> def f(x):
    ...     return x * x
    >>> with st.timings() as spent:
    ...     d = st.grad(f)(3.0)
    >>> [(made.name, [*made.stages][1:3], made.seconds > 0) for made in spent.compilations]
    [('f_grad', ['frontend', 'adjoint'], True)]
    """
    noted = Timings()
    with on_compile(noted.note):
        yield noted


@contextmanager
def on_compile(callback: Listener) -> Iterator[None]:
    """Call a function with a `Compilation` for each function that is compiled within a ``with``
    block of this thread, or that is loaded from the cache on disk.

    It says what was compiled, why, and how long it took. An error that the callback raises is
    raised by the call that compiles. To be told of all threads, and for as long as a program runs,
    give the logger "stcompile" a handler: its records have the same as ``record.compilation``.

    >>> import stcompile as st
    >>> def f(x, n):
    ...     return x ** n
    >>> gradient = st.grad(f)
    >>> with st.on_compile(lambda made: print(made.name, "-", made.reason)):
    ...     found = gradient(3.0, 2), gradient(4.0, 2), gradient(3.0, 3)
    f_grad - the first call
    f_grad - n is 3, and was 2
    """
    token = _LISTENERS.set((*_LISTENERS.get(), callback))
    try:
        yield
    finally:
        _LISTENERS.reset(token)


def report(made: Compilation) -> None:
    """Tell the listeners of this thread and the log of a compilation."""
    for listener in _LISTENERS.get():
        listener(made)
    if shows("DEBUG"):
        _log(made)


class _Clock:
    """The stages of a compilation. Time within a nested stage does not count for the stage around
    it."""

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
    """Add the time within the block to a stage of the compilation, if one is under way."""
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
def compilation(name: str, reason: str = "") -> Iterator[None]:
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
    report(Compilation(name, clock.stages, reason))


@contextmanager
def kernel_compilation(name: str) -> Iterator[None]:
    """Time the compilation by Numba of a kernel and of the functions that it calls."""
    if _CLOCK.get() is not None:
        with timed("Numba"):
            yield
        return
    with compilation(name, "Numba compiles it for the types of a call"), timed("Numba"):
        yield


def _log(made: Compilation) -> None:
    """A line at level DEBUG of the logger."""
    slowest = sorted(made.stages.items(), key=lambda item: -item[1])[:4]
    parts = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in slowest)
    what = "loaded" if made.cached else "compiled"
    logger().debug(
        "%s %s in %.1f ms (%s): %s",
        *(what, made.name, 1e3 * made.seconds, parts, made.reason),
        extra={"compilation": made},
    )
