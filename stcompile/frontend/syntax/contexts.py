"""``with``: managers whose methods are Python, managers of `contextlib`, and `np.errstate`."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

from stcompile.base.errors import StcompileError
from stcompile.base.places import Place
from stcompile.frontend.control.paths import rest_of
from stcompile.frontend.state.failures import Guard
from stcompile.frontend.state.frames import Block, Frame, Settings
from stcompile.frontend.state.items import Generated
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Fallible, Returned, Signal
from stcompile.frontend.state.values import Bound, described, is_traced
from stcompile.frontend.syntax.blocks import within
from stcompile.frontend.syntax.targets import bind


@dataclass(frozen=True, eq=False)
class ErrState:
    """``np.errstate(...)``: every equation inside carries the settings, and so does its adjoint.
    ``warnings.catch_warnings()`` is one too, in which filters are set."""

    tree_leaf: ClassVar[bool] = True
    settings: dict[Any, str]


@dataclass(frozen=True, eq=False)
class Suspended:
    """The place where a manager's generator waits: a frame, and the blocks within it."""

    frame: Frame
    blocks: tuple[Block | None, ...]
    errstate: Settings


@dataclass(eq=False)
class Managed:
    """The result of a call of a function that `contextlib.contextmanager` decorates."""

    tree_leaf: ClassVar[bool] = True
    generator: Generated
    waiting: Suspended | None = None


class _Yielded(Exception):
    """Raised when a generator has come to its ``yield``."""

    def __init__(self, value: Any, waiting: Suspended) -> None:
        self.value = value
        self.waiting = waiting


def visit_With(run: Run, node: ast.With, frame: Frame) -> Signal:
    return _with(run, node.items, node, frame)


def _with(run: Run, items: list[ast.withitem], node: ast.With, frame: Frame) -> Signal:
    """Run a ``with`` of several items as nested statements, the first item outermost."""
    if not items:
        return run.execute(node.body, frame)
    item, *others = items
    manager = run.evaluate(item.context_expr, frame)
    if isinstance(manager, ErrState):
        return _with_errstate(run, manager, item, lambda: _with(run, others, node, frame), frame)
    value = run.at(item.context_expr, frame, lambda: enter(run, manager))

    def left(raised: BaseException | None) -> Any:
        return run.at(item.context_expr, frame, lambda: leave(run, manager, raised))

    def leave_normally() -> Signal:
        left(None)
        return None

    def handle(error: StcompileError) -> tuple[bool, Signal]:
        return not error.is_conditional and left(error.raised), None

    def inside() -> Signal:
        if item.optional_vars is not None:
            bind(run, item.optional_vars, value, frame)
        return _with(run, others, node, frame)

    def catches(kind: type[BaseException]) -> object:
        from stcompile.library.contexts import Suppress

        stops = isinstance(manager, Suppress) and issubclass(kind, manager.exceptions)
        return manager if stops else None

    guard = Guard(frame, node.lineno, handle, leave_normally, catches)
    return within(run, frame, guard, (), inside)


def _with_errstate(
    run: Run, manager: ErrState, item: ast.withitem, inside: Callable[[], Signal], frame: Frame
) -> Signal:
    outer = frame.errstate
    if item.optional_vars is not None:
        bind(run, item.optional_vars, None, frame)
    frame.errstate = tuple({**dict(outer), **manager.settings}.items())
    try:
        return inside()
    finally:
        frame.errstate = outer


# --- managers ------------------------------------------------------------------------------------


def enter(run: Run, manager: Any) -> Any:
    """Enter a manager; return the value that it gives."""
    if isinstance(manager, Managed):
        return _start(run, manager)
    method = _method(run, manager, "__enter__")
    if method is None or _method(run, manager, "__exit__") is None:
        run.refuse(
            f"a `with` of {described(manager)} is not supported",
            "use managers whose `__enter__` and `__exit__` are Python, or move it outside the "
            "function",
        )
    return run.call(method, [], {})


def leave(run: Run, manager: Any, raised: BaseException | None) -> bool:
    """Leave a manager; True if it stops the error."""
    if isinstance(manager, Managed):
        return _finish(run, manager, raised)
    method = _method(run, manager, "__exit__")
    arguments = [type(raised), raised, None] if raised is not None else [None, None, None]
    stops = run.call(method, arguments, {})
    if raised is None:
        return False
    if is_traced(stops):
        run.refuse(
            "whether this stops an error depends on a value known only at run time",
            "return True or False",
        )
    return run.truth(stops)


def _method(run: Run, manager: Any, name: str) -> Bound | None:
    """A method of the class of a manager, if it is written in Python."""
    function = inspect.getattr_static(type(manager), name, None)
    module = type(manager).__module__.partition(".")[0]
    if not isinstance(function, FunctionType) or module in sys.stdlib_module_names - {"__main__"}:
        return None
    run.relied.guard(Place.of_class(type(manager), name))
    return Bound(function, manager)


def _start(run: Run, manager: Managed) -> Any:
    """Run the generator up to its ``yield``."""

    def wait(value: Any) -> None:
        frame = run.frame
        statement = frame.statement
        if None in frame.blocks:
            run.refuse("this context manager yields within a loop", "yield once, outside of loops")
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield)):
            run.refuse("the value of this `yield` is used", "write `yield` as a statement")
        raise _Yielded(value, Suspended(frame, tuple(frame.blocks), frame.errstate))

    wait.__dict__["is_manager"] = True
    generator = manager.generator
    if generator.is_used:
        run.refuse(f"the context manager `{generator.name}` is used a second time", "make another")
    generator.is_used = True
    here = run.guards
    try:
        generator.body(wait)
    except _Yielded as yielded:
        run.guards = here
        manager.waiting = yielded.waiting
        run.frames.append(yielded.waiting.frame)
        return yielded.value
    return run.refuse(f"the context manager `{generator.name}` does not yield", "let it yield once")


def _finish(run: Run, manager: Managed, raised: BaseException | None) -> bool:
    """Go on after the ``yield``, or raise an error there; True if the generator catches it."""
    waiting = manager.waiting
    assert waiting is not None
    frame = waiting.frame
    saved, errstate, guards = frame.blocks, frame.errstate, run.guards
    frame.blocks, frame.errstate = list(waiting.blocks), waiting.errstate
    try:
        if raised is None:
            _ended(run, manager, rest_of(run, frame))
            return False
        return _thrown(run, manager, raised)
    finally:
        frame.blocks, frame.errstate, run.guards = saved, errstate, guards


def _thrown(run: Run, manager: Managed, raised: BaseException) -> bool:
    """Raise an error at the ``yield``, and go on in the handler that catches it."""
    assert manager.waiting is not None
    error = StcompileError("thrown into a generator")
    error.raised = raised
    try:
        signal = rest_of(run, manager.waiting.frame, error)
    except StcompileError as other:
        if other.raised is not raised:
            raise
        return False
    _ended(run, manager, signal)
    return True


def _ended(run: Run, manager: Managed, signal: Signal) -> None:
    if not isinstance(signal, Returned) or isinstance(signal.value, Fallible):
        run.refuse(
            f"how the context manager `{manager.generator.name}` ends depends on a value known "
            "only at run time",
            "write it without an early end",
        )


# --- functions that give managers ----------------------------------------------------------------


def managed(run: Run, function: Any, *arguments: Any, **keywords: Any) -> Any:
    """A call of a function that `contextlib.contextmanager` decorates."""
    generator = run.call(function, arguments, keywords)
    if not isinstance(generator, Generated):
        run.refuse("this context manager is no generator", "let it yield once")
    return Managed(generator)


def managed_call(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """Stand for a function that is decorated with a context manager."""
    raise NotImplementedError


def is_manager_function(function: Any) -> bool:
    """True for a function of the user's that `contextlib.contextmanager` decorates."""
    return isinstance(function, FunctionType) and function.__code__ is _HELPER


_HELPER = contextlib.contextmanager(functools.partial(print)).__code__  # type: ignore[arg-type]
