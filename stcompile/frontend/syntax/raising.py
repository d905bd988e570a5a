"""``raise`` and ``assert``: effects if the data decide whether they are reached."""

from __future__ import annotations

import ast
import builtins
import os
import sys
import types
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from stcompile.base.classes import find
from stcompile.base.errors import LanguageError, StcompileError
from stcompile.frontend.control.branches import branch, predicate_of
from stcompile.frontend.control.conditions import evaluate_test
from stcompile.frontend.operations import messages
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import PathRaised, Signal
from stcompile.frontend.state.values import Text, described, is_traced
from stcompile.frontend.state.walking import INSTEAD, REFUSED_AS_WELL
from stcompile.frontend.syntax.blocks import unwind
from stcompile.wengert.ir import Atom


def visit_Assert(run: Run, node: ast.Assert, frame: Frame) -> Signal:
    test = evaluate_test(run, node.test, frame)
    if not is_traced(test):
        return None if run.truth(test) else _failed(run, node, frame)
    if _is_simple(node.msg) and not run.guards:
        values = [run.evaluate(node.msg, frame)] if node.msg is not None else []
        parts, atoms = _message(run, values)
        run.record_atoms("assert", (run.atom(test), *atoms), {"message": parts})
        return None
    run.at(node.test, frame, lambda: predicate_of(run, test))
    return branch(run, test, lambda: None, lambda: _failed(run, node, frame))


def _is_simple(message: ast.expr | None) -> bool:
    """True for messages that may be evaluated before it is known whether an assert fails:
    constants, names, and f-strings of them."""
    if isinstance(message, ast.JoinedStr):
        return all(map(_is_simple, message.values))
    if isinstance(message, ast.FormattedValue):
        return _is_simple(message.value) and _is_simple(message.format_spec)
    return message is None or isinstance(message, ast.Constant | ast.Name)


def _failed(run: Run, node: ast.Assert, frame: Frame) -> Signal:
    """Stage an assert on a path on which it fails. It is refused if it always fails."""
    arguments = [node.msg] if node.msg is not None else []
    if run.is_certain and not run.guards:
        message = _known_text(run, arguments, frame)
        run.refuse(f"this assert fails: {message or ast.unparse(node.test)}", "")
    raised = AssertionError(*(run.evaluate(argument, frame) for argument in arguments))
    if run.is_certain or _is_caught(run, raised):
        reason = f"this assert fails: {ast.unparse(node.test)}"
        run.raises(raised, error=LanguageError, reason=reason)
    return _raise(run, raised)


def visit_Raise(run: Run, node: ast.Raise, frame: Frame) -> Signal:
    """Record an effect on a path that may not be taken; refuse an error on a path that is always
    taken, unless a handler catches it."""
    if node.exc is None:
        return _raise_again(run)
    if run.location.is_own and ast.unparse(node.exc).startswith("NotImplementedError("):
        _refuse_limit(run, node.exc, frame)
    if run.is_certain and not run.guards:
        return _refuse(run, node.exc, frame)
    raised = _exception(run, node.exc, frame)
    if node.cause is not None:
        run.evaluate(node.cause, frame)
    if run.is_certain or _is_caught(run, raised):
        reason = f"with these arguments the function raises {raised!r}"
        run.raises(raised, error=LanguageError, reason=reason)
    return _raise(run, raised)


def _refuse_limit(run: Run, node: ast.expr, frame: Frame) -> NoReturn:
    """Refuse a `NotImplementedError` of the library: it says what is not supported, and NumPy does
    not raise it."""
    reason = run.evaluate(node, frame).args[0]
    run.refuse(reason, INSTEAD)


def _refuse(run: Run, node: ast.expr, frame: Frame) -> NoReturn:
    """Refuse an error that is always raised and never caught."""
    what = ast.unparse(node)
    if isinstance(node, ast.Call):
        message = _known_text(run, node.args, frame)
        what = f"{ast.unparse(node.func)}({message!r})" if message is not None else what
    reason = f"with these arguments the function raises {what}"
    calling = run.location.shown
    if calling is None or calling == run.location:
        run.refuse(reason, "")
    is_nn = os.path.basename(os.path.dirname(run.location.file)) == "nn"
    hint = (
        "help(stcompile.nn) has the functions, and help of each says what it takes"
        if is_nn
        else REFUSED_AS_WELL
    )
    raise LanguageError(f"this call raises {what}", location=calling, hint=hint)


def _raise_again(run: Run) -> NoReturn:
    """``raise`` alone: the error that is being handled."""
    handled = run.handled
    if handled is None or handled.raised is None:
        run.raises(RuntimeError("No active exception to reraise"))
    if handled.is_opaque:
        run.refuse(
            "this raises an error again that only the running program knows", "raise a new one"
        )
    kind = LanguageError if type(handled) is StcompileError else type(handled)
    run.raises(handled.raised, handled.hint, kind, handled.reason)


def _exception(run: Run, node: ast.expr, frame: Frame) -> BaseException:
    """The exception that a ``raise`` raises: the object, or an instance of the class."""
    found = run.evaluate(node, frame)
    if isinstance(found, type) and issubclass(found, BaseException):
        found = run.call(found, [], {})
    if not isinstance(found, BaseException):
        run.refuse(f"{described(found)} is no exception", "raise a ValueError")
    return found


def _is_caught(run: Run, raised: BaseException) -> bool:
    """True if a handler around the present statement catches an error."""
    return any(guard.catches is not None and guard.catches(type(raised)) for guard in run.guards)


def _raise(run: Run, raised: BaseException) -> NoReturn:
    """End the path with an error."""
    name = _name_of(type(raised))
    if name is None:
        shown = type(raised).__name__
        run.refuse(
            f"raising {shown} on a condition known only at run time is not supported",
            "raise a ValueError, or a class of a module that makes its errors as Exception does",
        )
    parts, atoms = _message(run, raised.args)
    unwind(run, raised)
    run.record_atoms("raise", atoms, {"error": name, "arguments": parts})
    raise PathRaised


def _name_of(kind: type[BaseException]) -> str | None:
    """The name of a class of errors, with its module unless it is built in; None if a program
    cannot make its errors by that name."""
    if getattr(builtins, kind.__name__, None) is kind or kind is np.linalg.LinAlgError:
        return str(kind.__name__)
    is_found = getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
    is_own = any(isinstance(find(kind, n), types.FunctionType) for n in ("__init__", "__new__"))
    if not is_found or is_own or kind.__module__ == "__main__":
        return None
    return f"{kind.__module__}.{kind.__name__}"


_MISSPELT = (NameError, AttributeError, ImportError)


def fail(run: Run, error: StcompileError) -> NoReturn:
    """End a path on which an error is known to be raised, if the path is taken. An error that may
    come from a misspelling is refused, and so is an error that a handler around the path would
    catch."""
    raised = error.raised
    assert raised is not None
    name, arguments = _name_of(type(raised)), raised.args
    is_plain = name is not None and len(arguments) < 2
    is_plain = is_plain and all(isinstance(item, str | int | float) for item in arguments)
    if isinstance(raised, _MISSPELT) or not is_plain or _is_caught(run, raised):
        raise error
    unwind(run, raised)
    parts, atoms = messages.arguments_of(run, arguments)
    params = {"error": name, "arguments": parts}
    run.recorder.record("raise", atoms, error.location or run.location, params)
    raise PathRaised from error


def _message(run: Run, values: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Atom, ...]]:
    """The arguments of an error: numbers, strings, text of traced values."""
    for value in values:
        plain = isinstance(value, str | int | float | complex | Text)
        if not (plain or is_traced(value)):
            run.refuse(
                f"the message of this error is {described(value)}", "use a string or an f-string"
            )
    return messages.arguments_of(run, values)


def _known_text(run: Run, arguments: Sequence[ast.expr], frame: Frame) -> str | None:
    """The message of an error, to be shown in another message: its only argument, if it is a known
    string."""
    if len(arguments) != 1 or not isinstance(arguments[0], ast.Constant | ast.JoinedStr | ast.Name):
        return None
    try:
        message = run.evaluate(arguments[0], frame)
    except LanguageError:
        return None
    return message if isinstance(message, str) else None
