"""Loops that are kept with some lists as arrays, found by trying."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from stcompile.base.deferred import deferred
from stcompile.base.errors import LanguageError, StcompileError, TypingError
from stcompile.frontend.control.paths import stage_path
from stcompile.frontend.state.asking import NeedsGrid
from stcompile.frontend.state.attempts import MOST
from stcompile.frontend.state.frames import Keeping
from stcompile.frontend.state.run import Run

T = TypeVar("T")
lay_out = deferred("stcompile.frontend.lists.grids", "lay_out")
take_back = deferred("stcompile.frontend.lists.grids", "take_back")


def with_grids(run: Run, action: Callable[[], T], trials: Callable[[], Iterator[Any]]) -> T:
    """Keep a loop by ``action``. Lists that it reads or writes at positions that the data, or the
    step, decide are laid out as arrays before it, and have numbers as their items again after it.
    ``trials`` are some of its steps: if these steps compute nothing at run time, no list becomes an
    array."""
    keeping = Keeping(run.age())
    refusal: LanguageError | TypingError | None = None
    while True:
        run.attempts.keeping.append(keeping)
        try:
            with run.attempt():
                grids = [lay_out(run, *laid, keeping) for laid in keeping.laid]
                result = action()
                for grid in grids:
                    take_back(run, grid)
                return result
        except (LanguageError, TypingError) as error:
            if isinstance(error, NeedsGrid) and error.keeping is not keeping:
                raise
            known = error
        finally:
            run.attempts.keeping.pop()
        if isinstance(known, NeedsGrid):
            if _noted(run, keeping, known, trials):
                continue
        elif not keeping.laid:
            raise refusal or known
        else:
            refusal = refusal or known
        keeping.laid.clear()
        keeping.is_closed = True


def _noted(
    run: Run, keeping: Keeping, error: NeedsGrid, trials: Callable[[], Iterator[Any]]
) -> bool:
    """Note that a list has to be an array. False if it must stay a list."""
    keeping.asked += 1
    if keeping.asked == 1 and not _computes(run, trials):
        return False
    inner = {id(part) for part in _lists_in(error.container)}
    keeping.laid[:] = [laid for laid in keeping.laid if id(laid[0]) not in inner]
    keeping.laid.append((error.container, error.wanted))
    return keeping.asked <= MOST


def _lists_in(container: list[Any]) -> Iterator[list[Any]]:
    yield container
    for part in container:
        if type(part) is list:
            yield from _lists_in(part)


def _computes(run: Run, trials: Callable[[], Iterator[Any]]) -> bool:
    """True if some steps compute something at run time."""
    try:
        return any(stage_path(run, trial, is_trial=True).equations for trial in trials())
    except StcompileError:
        return True
