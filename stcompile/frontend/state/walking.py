"""The position of the interpreter: what is being evaluated, and refusals that point at it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np

from stcompile.base.classes import MISSING
from stcompile.base.errors import (
    ArgumentsError,
    LanguageError,
    StcompileError,
    TypingError,
)
from stcompile.base.foreign import LIBRARIES, foreign_kind, library_of
from stcompile.base.location import NOWHERE, Location, Section
from stcompile.frontend.state.failures import Guard
from stcompile.frontend.state.frames import Block, Frame
from stcompile.frontend.state.signals import Signal
from stcompile.frontend.state.sizes import Sizes
from stcompile.frontend.state.values import Array
from stcompile.wengert.dims import UnknownSizeError
from stcompile.wengert.ir import Equation

T = TypeVar("T")
NEEDS_LENGTH = (
    "this needs to know the length of an axis, which changes from call to call",
    "it is compiled for each length",
)
PYTHON_INT = "give a Python int: its value is known at compile time"
STEP_BUDGET = 2_000_000  # expressions evaluated at compile time: stops a loop that never ends

WOULD_REFUSE = "NumPy or Python would refuse this as well: check shapes and types"
INSTEAD = (
    "use functions of the page `NumPy functions` of the documentation, compute it outside and pass "
    "the result in, or make it a primitive with a derivative of your own: st.primitive"
)
REFUSED_AS_WELL = "Python and NumPy refuse this as well: check the arguments"
_HINTS: dict[type[StcompileError], str] = {
    LanguageError: "the page `Language` of the documentation lists what can be written instead",
    TypingError: WOULD_REFUSE,
    ArgumentsError: "check the names and the number of the arguments",
}


@dataclass(frozen=True)
class Language:
    """The constructs that the interpreter understands, as tables from syntax or object to a
    handler; ``array_of`` makes an array of a nested list; ``fail`` ends a path on which an error is
    known to be raised; ``may_fail`` goes on after an equation that may raise an error which a guard
    catches."""

    expressions: Mapping[type[ast.AST], Callable[[Any, Any, Frame], Any]]
    statements: Mapping[type[ast.AST], Callable[[Any, Any, Frame], Any]]
    call: Callable[[Any, Any, Sequence[Any], Mapping[str, Any]], Any]
    array_of: Callable[[Any, Any, Any], Array]
    fail: Callable[[Any, StcompileError], NoReturn]
    may_fail: Callable[[Any, Equation, Mapping[type[BaseException], Guard]], None]


class Walk(Sizes):
    """The position of the interpreter in the code. ``frames`` are those that later code can
    reach."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.language = language
        self.section: Section = "forward"
        self.frames: list[Frame] = []
        self.returned: tuple[ast.AST, Frame] | None = None  # by the last call
        self.guards: tuple[Guard, ...] = ()  # ``try`` and ``with`` around the present statement
        self._here: tuple[ast.AST, Frame] | None = None
        self._steps = 0

    def evaluate(self, node: ast.AST, frame: Frame) -> Any:
        """The value of an expression."""
        outer, self._here = self._here, (node, frame)
        self._steps += 1
        if self._steps > STEP_BUDGET:
            self.refuse("this runs too long at compile time", "is there a loop that never ends?")
        try:
            handler = self.language.expressions.get(type(node))
            if handler is None:
                self.refuse(f"{syntax_name(node)} is not supported", "")
            return handler(self, node, frame)
        except StcompileError as error:
            if error.location is None:
                error.location = self.location.shown or self.location
            raise
        except UnknownSizeError as error:
            self._refuse_length(error)
        finally:
            self._here = outer

    def execute(self, body: Sequence[ast.stmt], frame: Frame) -> Signal:
        """Run statements; return the signal that ends them early, or None."""
        for at, node in enumerate(body):
            outer, self._here = self._here, (node, frame)
            enclosing, frame.statement = frame.statement, node
            frame.blocks.append(Block(body, at, frame.errstate, self.guards))
            try:
                handler = self.language.statements.get(type(node))
                if handler is None:
                    self.refuse(f"{syntax_name(node)} is not supported", "")
                signal: Signal = handler(self, node, frame)
            except UnknownSizeError as error:
                self._refuse_length(error)
            finally:
                self._here, frame.statement = outer, enclosing
                frame.blocks.pop()
            if signal is not None:
                return signal
        return None

    def at(self, node: ast.AST, frame: Frame, action: Callable[[], T]) -> T:
        """Run ``action`` on behalf of an expression: errors point at the expression."""
        outer, self._here = self._here, (node, frame)
        try:
            return action()
        finally:
            self._here = outer

    def about_result(self, action: Callable[[], T]) -> T:
        """Run ``action`` with the result of the last call: errors point at its ``return``."""
        return self.at(*self.returned, action) if self.returned is not None else action()

    @property
    def place_of_result(self) -> Location | None:
        """The user's line with the result of the last call."""
        return None if self.returned is None else self.about_result(lambda: self.location).shown

    def call(self, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return self.language.call(self, function, arguments, keywords)

    @property
    def location(self) -> Location:
        if self._here is None:
            return NOWHERE
        node, frame = self._here
        return frame.location(node).in_section(self.section)

    @property
    def frame(self) -> Frame:
        """The frame that is being evaluated."""
        assert self._here is not None
        return self._here[1]

    @property
    def here(self) -> tuple[ast.AST, Frame]:
        """The piece of syntax that is being evaluated, and its frame."""
        assert self._here is not None
        return self._here

    @property
    def caller(self) -> Location | None:
        """The call site, for code that is inlined at the present expression."""
        return self.location if self._here is not None else None

    def refuse(
        self, reason: str, hint: str, error: type[StcompileError] = LanguageError
    ) -> NoReturn:
        """Raise an ``error``: the expression that is being evaluated is not supported."""
        where = self.location if self._here is not None else None
        if where is not None and where.shown is not None:
            where = where.shown  # library code is shown by the user's line that calls it
        raise error(reason, location=where, hint=hint or _HINTS[error])

    def _refuse_length(self, error: UnknownSizeError) -> NoReturn:
        """Refuse an operation that needs the number that a size stands for; a loop around it is
        then unrolled, if possible."""
        if error.is_of_arguments:
            self.refuse(*NEEDS_LENGTH)
        self.refuse(
            "this needs to know the length of an axis, which the data or the step of a loop decide",
            "keep the shape (np.where(mask, x, 0)), or use parts of one length or fewer steps",
        )

    def refuse_foreign(self, value: Any) -> None:
        """Refuse an object or a function of a library that is known not to be compiled."""
        library = library_of(value)
        if library is not None:
            self.refuse(f"{foreign_kind(value)} is not compiled", LIBRARIES[library])

    def raises(
        self,
        raised: BaseException,
        hint: str = "",
        error: type[StcompileError] = TypingError,
        reason: str = "",
    ) -> NoReturn:
        """Raise a refusal where Python would raise an error: an ``except`` may catch it."""
        try:
            self.refuse(reason or f"{type(raised).__name__}: {raised}", hint, error)
        except StcompileError as refusal:
            refusal.raised, refusal.guards = raised, self.guards
            raise

    def fails(self, raised: BaseException, hint: str = "") -> NoReturn:
        """Raise a refusal where Python would raise an error, in the words of that error alone."""
        self.raises(raised, hint, reason=str(raised))

    def computed(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """The result of a function of known values; an error of the function is the program's."""
        try:
            with np.errstate(all="ignore"):
                return function(*arguments, **keywords)
        except Exception as error:
            return self.fails(error)

    def unless_raised(self, kind: type[BaseException], action: Callable[[], Any]) -> Any:
        """The result of ``action``; `MISSING` if it raises an error of the class ``kind``, which
        Python takes as an answer, as of the property that `hasattr` reads, or of the ``__next__``
        that a loop calls."""

        def catches(raised: type[BaseException]) -> bool:
            return issubclass(raised, kind)

        outer, frame = self.guards, self.frame
        guard = Guard(frame, self.location.line, lambda error: (False, None), catches=catches)
        self.guards = (*outer, guard)
        try:
            return action()
        except StcompileError as error:
            if not isinstance(error.raised, kind):
                raise
            if error.is_conditional:
                error.reason = (
                    f"whether this raises {kind.__name__} depends on a value known only at run time"
                )
                error.hint = "return a value on both paths"
                raise
            return MISSING
        finally:
            self.guards = outer


def syntax_name(node: ast.AST) -> str:
    """The usual name of a piece of syntax, for messages."""
    names = {
        "Yield": "`yield` (a generator)", "YieldFrom": "`yield from` (a generator)",
        "Await": "`await`", "AsyncFor": "`async for`", "AsyncWith": "`async with`",
        "Global": "`global`", "While": "`while`", "With": "`with`", "Try": "`try`",
        "TryStar": "`except*`", "Raise": "`raise`", "Delete": "`del`",
        "ClassDef": "a class definition", "Starred": "a starred name", "Slice": "a slice",
        "Match": "`match`", "JoinedStr": "an f-string", "AsyncFunctionDef": "`async def`",
        "TemplateStr": "a template string (`t\"...\"`)",
    }  # fmt: skip
    return names.get(type(node).__name__, type(node).__name__)
