"""Limit the threads of the libraries of linear algebra for the time of a call.

A library has one number for the whole process, or one for each thread of Python (OpenBLAS on
OpenMP). A limit sets the number and puts it back. Limits that are held at the same time form a
stack: the latest limit decides, and when the last limit ends the libraries have the numbers that
they had before the first. So calls in several threads of Python leave nothing changed behind, but
while two of them hold different limits both compute with the number of the later limit.

threadpoolctl finds the libraries once, which takes a millisecond, and again when `renew` is called.
A limit then costs a question to each library, and an order if its number differs; the limits of
threadpoolctl itself look for the libraries each time.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from stcompile.base.extras import require
from stcompile.base.locks import Lock
from stcompile.base.threads import processors_of_process

NAME = "threads of BLAS"  # their name in the lines that programs print
PURPOSE = "a number of threads"
PER_THREAD = "openmp"  # threadpoolctl's name of libraries with a number for each thread


class Limit:
    """A number of threads that somebody holds."""

    def __init__(self, number: int) -> None:
        self.number = number


class Scope:
    """Libraries that share a number of threads, and the limits that are held on it, the latest
    last."""

    def __init__(self) -> None:
        self.libraries: list[Any] = []
        self.held: list[Limit] = []
        self._before: list[int | None] = []
        self._now: list[int | None] = []

    def add(self, library: Any) -> None:
        """Add a library; it takes part in the limits that are held."""
        self.libraries.append(library)
        if self.held:
            before = library.get_num_threads()
            self._before.append(before)
            self._now.append(before)
            self._apply()

    def begin(self, limit: Limit) -> None:
        if not self.held:
            self._before = [library.get_num_threads() for library in self.libraries]
            self._now = list(self._before)
        self.held.append(limit)
        self._apply()

    def change(self, limit: Limit, number: int) -> None:
        limit.number = number
        self._apply()

    def end(self, limit: Limit) -> None:
        self.held.remove(limit)
        self._apply()

    def _apply(self) -> None:
        """Set the number of threads of each library that has not got the number that now holds."""
        held = self.held
        done = None
        for at, library in enumerate(self.libraries):
            number = held[-1].number if held else self._before[at]
            if number is not None and number != self._now[at]:
                library.set_num_threads(number)
                self._now[at] = number
                done = getattr(library, "clear_controlling_thread", done)
        if done is not None:  # else no other thread of Python could set a number from now on
            done()


class Limits:
    """The limits of this process on the libraries that ``find`` finds."""

    def __init__(self, find: Callable[[], Sequence[Any]]) -> None:
        self._find = find
        self._lock = Lock()
        self._known: set[str] = set()
        self._shared = Scope()
        self._per_thread: list[Any] = []
        self._own = threading.local()
        self.renew()

    def renew(self) -> None:
        """Look for libraries that were loaded since."""
        with self._lock:
            for library in self._find():
                if library.filepath in self._known:
                    continue
                self._known.add(library.filepath)
                if getattr(library, "threading_layer", "") == PER_THREAD:
                    self._per_thread.append(library)
                else:
                    self._shared.add(library)

    def begin(self, number: int) -> Limit:
        """Hold a limit until the same thread ends it."""
        limit = Limit(number)
        with self._lock:
            for scope in self._scopes():
                scope.begin(limit)
        return limit

    def change(self, limit: Limit, number: int) -> None:
        """Give a limit that is held another number."""
        if number != limit.number:
            with self._lock:
                for scope in self._scopes():
                    scope.change(limit, number)

    def end(self, limit: Limit) -> None:
        with self._lock:
            for scope in self._scopes():
                scope.end(limit)

    @contextmanager
    def held(self, number: int) -> Iterator[Limit]:
        """The number holds in the block."""
        limit = self.begin(number)
        try:
            yield limit
        finally:
            self.end(limit)

    @property
    def number(self) -> int:
        """The most threads that a library may take now; 1 if there is no library."""
        libraries = [*self._shared.libraries, *self._per_thread]
        numbers = [library.get_num_threads() for library in libraries]
        return max((number for number in numbers if number is not None), default=1)

    @property
    def decided(self) -> int | None:
        """The number of the latest limit that is held; None if there is none."""
        held = self._shared.held
        return held[-1].number if held else None

    def _scopes(self) -> Iterator[Scope]:
        """The scope that all threads share, then the scope of the current thread if there are
        libraries that have a number for each thread."""
        yield self._shared
        if self._per_thread:
            own: Scope | None = getattr(self._own, "scope", None)
            if own is None:
                own = self._own.scope = Scope()
            for library in self._per_thread[len(own.libraries) :]:
                own.add(library)
            yield own


@functools.cache
def limits() -> Limits:
    """The limits of this process; `MissingExtraError` without threadpoolctl."""
    control = require("threadpoolctl", "cli", PURPOSE)

    def find() -> Sequence[Any]:
        found: Sequence[Any] = (
            control.ThreadpoolController().select(user_api="blas").lib_controllers
        )
        return found

    return Limits(find)


def held_number() -> int | None:
    """The number of the latest limit that is held in this process; None if there is none."""
    return limits().decided if limits.cache_info().currsize else None


def candidates(most: int | None = None) -> tuple[int, ...]:
    """Numbers of threads worth a trial: the powers of two below ``most``, and ``most`` itself, by
    default the number that the libraries may take now, at most the number of processors.

    >>> candidates(1), candidates(2), candidates(6)
    ((1,), (1, 2), (1, 2, 4, 6))
    """
    if most is None:
        most = min(limits().number, processors_of_process())
    powers = (1 << k for k in range(most.bit_length()))
    return (*(number for number in powers if number < most), most)
