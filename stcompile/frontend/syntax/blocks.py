"""Blocks with code for their end: ``try``, and the common parts of ``try`` and ``with``.

An error that is known at compile time is a refusal that says what Python raises (`Run.raises`):
changes made before it stay, and a handler around it goes on from there. An error that only the
running program knows is refused if a handler would catch it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any

from stcompile.base.classes import MISSING
from stcompile.base.errors import LanguageError, StcompileError
from stcompile.frontend.control.paths import attempted, rest_of, stage_path
from stcompile.frontend.control.splits import close, outside
from stcompile.frontend.state.failures import Guard, failing
from stcompile.frontend.state.frames import Block, Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import PathRaised, Raised, Signal
from stcompile.frontend.state.state import NameSite
from stcompile.frontend.state.values import Poison
from stcompile.frontend.syntax.targets import bind
from stcompile.wengert.ir import Equation


def within(
    run: Run, frame: Frame, guard: Guard, after: Sequence[ast.stmt], inside: Callable[[], Signal]
) -> Signal:
    """Run the code ``inside`` a guard, then the statements ``after`` it. Paths on which errors are
    raised that the guard catches meet the others here."""
    guard.nesting, guard.splits = run.recorder.nesting, len(run.splits)
    signal: Any
    try:
        signal = _within(run, frame, guard, after, inside)
    except StcompileError as error:
        failed = error
        if _first_split(run, guard) is None or not error.is_certain:
            raise
        signal = attempted(run, lambda: rest_of(run, frame, failed))
    except PathRaised:
        if _first_split(run, guard) is None:
            raise
        signal = Raised()
    at = _first_split(run, guard)
    ended: Signal = signal if at is None else close(run, frame, at, signal)
    return ended


def _first_split(run: Run, guard: Guard) -> int | None:
    """The first place where an error may be raised that a guard catches."""
    places = range(guard.splits, len(run.splits))
    return next((at for at in places if run.splits[at].guard is guard), None)


def _within(
    run: Run, frame: Frame, guard: Guard, after: Sequence[ast.stmt], inside: Callable[[], Signal]
) -> Signal:
    outer, recorded = run.guards, run.recorder.equations
    start = len(recorded)
    frame.blocks.append(Block(after, -1, frame.errstate, outer, guard))
    run.guards = (*outer, guard)
    failed: StcompileError | None = None
    signal: Signal = None
    try:
        signal = inside()
    except StcompileError as error:
        if error.raised is None or guard not in error.guards:
            raise
        failed = error
    finally:
        run.guards = outer
        frame.blocks.pop()
    if failed is not None:
        is_over, signal = guard.handle(failed)
        if not is_over:
            raise failed
        return signal
    if guard.leave is not None:
        inner = [split.equations for split in run.splits[guard.splits :]]
        lists = [*inner, run.recorder.equations] if inner else []
        later = [equation for found in lists for equation in found if found is not recorded]
        _check_failures(run, guard, [*recorded[start:], *later])
    if signal is not None:
        return signal  # the statement that ended the block left the guard as well
    rest: Signal = guard.leave() if guard.leave is not None else run.execute(after, frame)
    return rest


def _check_failures(run: Run, guard: Guard, equations: Sequence[Equation]) -> None:
    """Refuse a block that may raise at run time, if the effects of its end could be seen then."""
    seen: set[type[BaseException]] = set()
    for equation, kinds in failing(equations):
        for kind in kinds:
            is_taken = guard.catches is not None and guard.catches(kind) is not None
            if kind not in seen and not is_taken and _is_seen(run, guard, kind):
                raise LanguageError(
                    f"line {guard.line} does something if this raises {kind.__name__}, which is "
                    "known only at run time",
                    location=equation.location,
                    hint="do it outside the function, or after the block",
                )
            seen.add(kind)


def _is_seen(run: Run, guard: Guard, kind: type[BaseException]) -> bool:
    """True if the end of a block prints something, or stops an error of a class."""
    error = StcompileError("at run time")
    error.raised = kind.__new__(kind)
    try:
        path = stage_path(run, functools.partial(guard.handle, error), is_trial=True)
    except StcompileError:
        return True
    ends = isinstance(path.result, Raised) or path.result[0]
    return bool(ends or any(equation.effects for equation in path.equations))


# --- try -----------------------------------------------------------------------------------------


def visit_Try(run: Run, node: ast.Try, frame: Frame) -> Signal:
    if not node.finalbody:
        return _handled(run, node, frame)

    leave = functools.partial(run.execute, node.finalbody, frame)

    def handle(error: StcompileError) -> tuple[bool, Signal]:
        signal = None if error.is_conditional else leave()
        return signal is not None, signal

    guard = Guard(frame, node.finalbody[0].lineno, handle, leave)
    return within(run, frame, guard, (), lambda: _handled(run, node, frame))


def _handled(run: Run, node: ast.Try, frame: Frame) -> Signal:
    """Run a ``try`` without its ``finally``."""
    body = functools.partial(run.execute, node.body, frame)
    if not node.handlers:
        return body()

    def handle(error: StcompileError) -> tuple[bool, Signal]:
        assert error.raised is not None
        for handler in node.handlers:
            if isinstance(error.raised, _classes(run, handler, frame)):
                if error.is_conditional:
                    _refuse_conditional(error, handler)
                return True, _run_handler(run, handler, frame, error)
        return False, None

    def catches(kind: type[BaseException]) -> ast.ExceptHandler | None:
        for handler in node.handlers:
            classes = _classes(run, handler, frame)
            if any(issubclass(kind, c) or _may_be(kind, c) for c in classes):
                return handler
        return None

    guard = Guard(frame, node.handlers[0].lineno, handle, catches=catches)
    return within(run, frame, guard, node.orelse, body)


def _may_be(kind: type[BaseException], cls: type[BaseException]) -> bool:
    """True if an error of which only a base class is known may be of the class ``cls``: a class of
    Python's own, or any class if the user's code raises the error."""
    is_own = cls.__module__ == "builtins"
    return issubclass(cls, kind) and (is_own or kind is Exception)


def _classes(run: Run, handler: ast.ExceptHandler, frame: Frame) -> tuple[type[BaseException], ...]:
    """The classes of errors that a handler catches."""
    if handler.type is None:
        return (BaseException,)
    found = run.evaluate(handler.type, frame)
    classes = found if isinstance(found, tuple) else (found,)
    for cls in classes:
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            run.at(handler.type, frame, lambda: run.refuse("this is no class of exceptions", ""))
    if any(issubclass(cls, FloatingPointError | Warning) for cls in classes):
        run.at(
            handler.type,
            frame,
            lambda: run.refuse(
                "whether NumPy warns or raises a FloatingPointError is known only at run time",
                "test the numbers: np.isfinite, x == 0",
            ),
        )
    return classes


def _refuse_conditional(error: StcompileError, handler: ast.ExceptHandler) -> None:
    raise LanguageError(
        f"whether this raises {type(error.raised).__name__}, which line {handler.lineno} would "
        "take, depends on a value known only at run time",
        location=error.location,
        hint="do with `if` what the handler does",
    )


def _run_handler(
    run: Run, handler: ast.ExceptHandler, frame: Frame, error: StcompileError
) -> Signal:
    """Run the body of an ``except``. Its name is deleted after it, however it ends."""
    name = handler.name

    body = functools.partial(run.execute, handler.body, frame)

    def forget() -> Signal:
        if name is not None:
            run.set(NameSite(frame, name), MISSING)
        return None

    def failed(other: StcompileError) -> tuple[bool, Signal]:
        return False, forget()

    outer, run.handled = run.handled, error
    try:
        if name is None:
            return body()
        target = ast.copy_location(ast.Name(name, ast.Store()), handler)
        raised = Poison(*_OPAQUE) if error.is_opaque else error.raised
        bind(run, target, raised, frame)
        return within(run, frame, Guard(frame, handler.lineno, failed, forget), (), body)
    finally:
        run.handled = outer


_OPAQUE = (
    "what this error says is known only at run time",
    "decide by the class of the error: `except ValueError`",
)


# --- ways out ------------------------------------------------------------------------------------


def run_final_blocks(run: Run, frame: Frame, through_loops: bool = False) -> Signal:
    """Run the ends of each ``try`` and ``with`` that a statement leaves: up to the innermost loop,
    or all in the function."""
    saved, errstate, guards = frame.blocks, frame.errstate, run.guards
    blocks = list(saved)
    try:
        while blocks:
            block = blocks.pop()
            if block is None and not through_loops:
                return None
            if block is not None and block.guard is not None and block.guard.leave is not None:
                frame.blocks, frame.errstate = list(blocks), block.errstate
                run.guards = block.guards
                signal: Signal = block.guard.leave()
                if signal is not None:
                    return signal
    finally:
        frame.blocks, frame.errstate, run.guards = saved, errstate, guards
    return None


def unwind(run: Run, raised: BaseException) -> None:
    """Run the ends of every ``try`` and ``with`` around an error that the data decide, in all
    functions."""
    error = StcompileError("on a path")
    error.raised = raised
    for guard in reversed(run.guards):
        if guard.leave is None:
            continue
        with outside(run, guard):
            if guard.handle(error)[0]:
                run.refuse(
                    f"line {guard.line} stops an error that depends on a value known only at run "
                    "time",
                    "do with `if` what is done then",
                )
