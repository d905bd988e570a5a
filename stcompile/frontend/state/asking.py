"""Asking the loop that is to be kept for a list as an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from stcompile.base.errors import LanguageError, StcompileError, TypingError
from stcompile.frontend.state.frames import Keeping
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import described, is_lent
from stcompile.wengert.types import Type

STATIC_INDEX = (
    "stack the items into an array (`np.stack(items)[i]`), or use an index that is known at "
    "compile time: an int, or an item of an array that is passed as st.static(array)"
)


T = TypeVar("T")


class NeedsGrid(LanguageError):
    """Raised if the loop that is to be kept needs a list as an array, of a ``wanted`` type of
    number if the type is known already."""

    def __init__(
        self, reason: str, hint: str, keeping: Keeping, container: list[Any], wanted: Type | None
    ) -> None:
        super().__init__(reason, hint=hint)
        self.keeping = keeping
        self.container = container
        self.wanted = wanted


def ask_for_grid(run: Run, container: Any) -> None:
    """Leave the loop that is to be kept, for another try with a list as an array: the outermost
    loop around which the list was made. Does nothing if there is none."""
    if type(container) is not list or not run.attempts.keeping or not run.owns(container):
        return
    born = run.made_at(container) or 0
    keeping = next((one for one in run.attempts.keeping if one.age >= born), None)
    if keeping is not None and not keeping.is_closed and not is_lent(container):
        reason = f"{described(container)} is indexed by a value known only at run time"
        error = NeedsGrid(reason, STATIC_INDEX, keeping, container, None)
        error.location = run.location.shown or run.location
        raise error


def tried(run: Run, action: Callable[[], T]) -> tuple[T | None, StcompileError | None]:
    """The result of ``action`` and None; if it is refused, None and the refusal: nothing has been
    changed then. A refusal that a loop further out handles is raised."""
    try:
        with run.attempt():
            return action(), None
    except (LanguageError, TypingError) as error:
        pass_on(run, error)
        return None, error


def pass_on(run: Run, error: StcompileError) -> None:
    """Raise an error that a loop further out handles."""
    if isinstance(error, NeedsGrid) and error.keeping in run.attempts.keeping:
        raise error
