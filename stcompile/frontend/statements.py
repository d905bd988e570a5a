"""Statements: what each one does to the frame, and what ends a block early."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from stcompile.classes import MISSING
from stcompile.deferred import deferred
from stcompile.errors import LanguageError
from stcompile.frontend import indexing, messages, operators
from stcompile.frontend.attributes import attribute, set_attribute
from stcompile.frontend.blocks import run_final_blocks, visit_Try, visit_With
from stcompile.frontend.branches import branch, predicate_of
from stcompile.frontend.conditions import evaluate_test
from stcompile.frontend.data_model import delete_attribute
from stcompile.frontend.expressions import bind, closure
from stcompile.frontend.frames import Frame
from stcompile.frontend.run import Run
from stcompile.frontend.signals import PathRaised, Returned, Signal
from stcompile.frontend.state import NameSite
from stcompile.frontend.values import Array, Cell, Masked, Text, described, is_traced
from stcompile.ir import Atom


def visit_Expr(run: Run, node: ast.Expr, frame: Frame) -> Signal:
    run.evaluate(node.value, frame)
    return None


def visit_Assign(run: Run, node: ast.Assign, frame: Frame) -> Signal:
    value = run.evaluate(node.value, frame)
    for target in node.targets:
        bind(run, target, value, frame)
    return None


def visit_AnnAssign(run: Run, node: ast.AnnAssign, frame: Frame) -> Signal:
    if node.value is not None:
        bind(run, node.target, run.evaluate(node.value, frame), frame)
    return None


def visit_AugAssign(run: Run, node: ast.AugAssign, frame: Frame) -> Signal:
    """The target is read first, then comes the value; what the target is part of is evaluated
    once."""
    operation = operators.BINARY[type(node.op)]
    target = node.target
    value = functools.partial(run.evaluate, node.value, frame)
    if isinstance(target, ast.Subscript):
        container = run.evaluate(target.value, frame)
        _augment_item(run, operation, container, run.evaluate(target.slice, frame), value)
    elif isinstance(target, ast.Attribute):
        owner = run.evaluate(target.value, frame)
        present = attribute(run, owner, target.attr)
        changed = operators.augmented(run, operation, present, value())
        if changed is not present:
            set_attribute(run, owner, target.attr, changed)
    else:
        load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        present = run.evaluate(load, frame)
        bind(run, target, operators.augmented(run, operation, present, value()), frame)
    return None


def _augment_item(
    run: Run,
    operation: operators.Operation,
    container: Any,
    index: Any,
    evaluated: Callable[[], Any],
) -> None:
    if isinstance(container, Array):
        before = container.cell.variable
        value = evaluated()
        is_read_first = container.cell.variable is not before  # the value wrote to the array
        is_add = operation[0] == "add" and not is_read_first
        is_number = is_traced(value) or isinstance(value, int | float)
        if is_add and is_number and indexing.add_item(run, container, index, value):
            return
        present = indexing.get_item(run, container, index)
        if is_read_first and not (isinstance(present, Array) and present.cell is container.cell):
            earlier = Cell(before, depth=run.depth)
            present = indexing.get_item(run, replace(container, cell=earlier), index)
        changed = operators.binary(run, operation, present, value)
        dtype = (changed.items if isinstance(changed, Masked) else changed).type.dtype
        if not np.can_cast(dtype, container.type.dtype, "same_kind"):
            run.refuse(
                f"{dtype} does not fit into an array of {container.type.dtype}",
                "convert the array first (`x = x.astype(...)`)",
            )
        indexing.set_item(run, container, index, changed)
        return
    present = indexing.get_item(run, container, index)
    changed = operators.augmented(run, operation, present, evaluated())
    if not isinstance(present, Array):
        indexing.set_item(run, container, index, changed)


def visit_Return(run: Run, node: ast.Return, frame: Frame) -> Signal:
    value = run.evaluate(node.value, frame) if node.value is not None else None
    run.returned = (node.value or node, frame)
    return run_final_blocks(run, frame, through_loops=True) or Returned(value)


def _parts_of_test(test: ast.expr) -> list[ast.expr]:
    """The operands of an ``and`` whose later ones bind names; else the test itself."""
    if not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)):
        return [test]
    later = (inner for part in test.values[1:] for inner in ast.walk(part))
    return test.values if any(isinstance(n, ast.NamedExpr) for n in later) else [test]


def _joined(test: ast.expr, parts: list[ast.expr]) -> ast.expr:
    one = parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)
    return ast.copy_location(one, test)


def visit_If(run: Run, node: ast.If, frame: Frame) -> Signal:
    first, *rest = _parts_of_test(node.test)
    test = evaluate_test(run, first, frame)
    if rest and is_traced(test):  # what the rest binds has a value where all of it holds
        inner = ast.copy_location(ast.If(_joined(node.test, rest), node.body, node.orelse), node)
        return branch(
            run,
            test,
            lambda: visit_If(run, inner, frame),
            lambda: run.execute(node.orelse, frame),
        )
    if rest:
        test = evaluate_test(run, _joined(node.test, rest), frame) if run.truth(test) else test
    if is_traced(test):
        run.at(node.test, frame, lambda: predicate_of(run, test))
        return branch(
            run,
            test,
            lambda: run.execute(node.body, frame),
            lambda: run.execute(node.orelse, frame),
        )
    signal: Signal = run.execute(node.body if run.truth(test) else node.orelse, frame)
    return signal


def visit_Break(run: Run, node: ast.Break, frame: Frame) -> Signal:
    return run_final_blocks(run, frame) or "break"


def visit_Continue(run: Run, node: ast.Continue, frame: Frame) -> Signal:
    return run_final_blocks(run, frame) or "continue"


def visit_Pass(run: Run, node: ast.Pass, frame: Frame) -> Signal:
    return None


def visit_FunctionDef(run: Run, node: ast.FunctionDef, frame: Frame) -> Signal:
    decorators = [run.evaluate(decorator, frame) for decorator in node.decorator_list]
    function: Any = closure(run, node, frame)
    for decorator in reversed(decorators):
        function = run.call(decorator, [function], {})
    run.set(NameSite(frame, node.name), function)
    return None


def visit_Nonlocal(run: Run, node: ast.Nonlocal, frame: Frame) -> Signal:
    return None


def visit_Global(run: Run, node: ast.Global, frame: Frame) -> Signal:
    return run.refuse(
        f"`global {', '.join(node.names)}` changes a variable outside the function",
        "pass the value in as an argument and return the new one",
    )


def visit_Assert(run: Run, node: ast.Assert, frame: Frame) -> Signal:
    test = evaluate_test(run, node.test, frame)
    if not is_traced(test):
        return None if run.truth(test) else _failed(run, node, frame)
    if _is_simple(node.msg):
        parts, atoms = _message(run, [node.msg] if node.msg is not None else [], frame)
        run.record_atoms("assert", (run.atom(test), *atoms), {"message": parts})
        return None
    run.at(node.test, frame, lambda: predicate_of(run, test))
    return branch(run, test, lambda: None, lambda: _failed(run, node, frame))


def _is_simple(message: ast.expr | None) -> bool:
    """True for what may be evaluated before it is known whether an assert fails: constants, names
    and f-strings of these."""
    if isinstance(message, ast.JoinedStr):
        return all(map(_is_simple, message.values))
    if isinstance(message, ast.FormattedValue):
        return _is_simple(message.value) and _is_simple(message.format_spec)
    return message is None or isinstance(message, ast.Constant | ast.Name)


def _failed(run: Run, node: ast.Assert, frame: Frame) -> Signal:
    """What an assert does on a path on which it fails; refused where it always does."""
    arguments = [node.msg] if node.msg is not None else []
    if run.journal is None:
        message = _known_text(run, arguments, frame)
        run.refuse(f"this assert fails: {message or ast.unparse(node.test)}", "")
    return _raise(run, "AssertionError", arguments, frame)


def visit_Raise(run: Run, node: ast.Raise, frame: Frame) -> Signal:
    """An effect on a path that may not be taken; refused where it always is."""
    what = ast.unparse(node.exc) if node.exc is not None else "an exception"
    made = node.exc if isinstance(node.exc, ast.Call) else None
    arguments = made.args if made is not None else []
    kind = made.func if made is not None else node.exc
    if run.journal is None:
        message = _known_text(run, arguments, frame)
        what = f"{ast.unparse(made.func)}({message!r})" if made and message is not None else what
        reason = f"with these arguments the function raises {what}"
        calling = run.location.shown
        if calling is None or calling == run.location:
            return run.refuse(reason, "")
        hint = "docs/nn.md says what the functions of `stcompile.nn` take"
        raise LanguageError(f"this call raises {what}", location=calling, hint=hint)
    error: Any = run.evaluate(kind, frame) if kind is not None else None
    name = getattr(error, "__name__", "")
    if getattr(builtins, name, None) is not error or not isinstance(error, type):
        run.refuse(f"raising {what} on a traced condition is not supported", "raise a ValueError")
    if made and made.keywords:
        run.refuse("this error has keyword arguments", "use a message")
    return _raise(run, name, arguments, frame)


def _raise(run: Run, name: str, arguments: Sequence[ast.expr], frame: Frame) -> NoReturn:
    """End the path with a built-in error of that name."""
    parts, atoms = _message(run, arguments, frame)
    run_final_blocks(run, frame, through_loops=True)
    run.record_atoms("raise", atoms, {"error": name, "arguments": parts})
    raise PathRaised


def _message(
    run: Run, arguments: Sequence[ast.expr], frame: Frame
) -> tuple[tuple[Any, ...], tuple[Atom, ...]]:
    """The arguments of an error: numbers, strings, text of traced values."""
    values = [run.evaluate(argument, frame) for argument in arguments]
    for value in values:
        plain = isinstance(value, str | int | float | complex | Text)
        if not (plain or is_traced(value)):
            run.refuse(
                f"the message of this error is {described(value)}", "use a string or an f-string"
            )
    return messages.arguments_of(run, values)


def _known_text(run: Run, arguments: Sequence[ast.expr], frame: Frame) -> str | None:
    """The message of an error, for another message: its one argument, if that is a string by what
    is known now."""
    if len(arguments) != 1 or not isinstance(arguments[0], ast.Constant | ast.JoinedStr):
        return None
    try:
        message = run.evaluate(arguments[0], frame)
    except LanguageError:
        return None
    return message if isinstance(message, str) else None


def visit_Delete(run: Run, node: ast.Delete, frame: Frame) -> Signal:
    for target in node.targets:
        if isinstance(target, ast.Name):
            run.set(NameSite(frame, target.id), MISSING)
            continue
        if isinstance(target, ast.Attribute):
            owner = run.evaluate(target.value, frame)
            run.at(target, frame, lambda o=owner, t=target: delete_attribute(run, o, t.attr))  # type: ignore[misc]
            continue
        owner = run.evaluate(target.value, frame) if isinstance(target, ast.Subscript) else None
        if not isinstance(target, ast.Subscript) or not isinstance(owner, list | dict):
            run.refuse("`del` of this is not supported", "build a new object without it")
        key = run.evaluate(target.slice, frame)
        if isinstance(key, slice):
            run.refuse("`del` of a slice is not supported", "build a new list without it")
        run.call(attribute(run, owner, "pop"), [key], {})
    return None


def visit_Import(run: Run, node: ast.Import, frame: Frame) -> Signal:
    for alias in node.names:
        module = _imported(run, alias.name)
        if alias.asname is None:  # `import a.b` binds `a`
            module = _imported(run, alias.name.partition(".")[0])
        run.set(NameSite(frame, alias.asname or module.__name__), module)
    return None


def visit_ImportFrom(run: Run, node: ast.ImportFrom, frame: Frame) -> Signal:
    package = str(frame.outside("__package__")) if node.level else ""
    module = _imported(run, "." * node.level + (node.module or ""), package)
    for alias in node.names:
        if not hasattr(module, alias.name):  # it may be a module that is not yet loaded
            _imported(run, f"{module.__name__}.{alias.name}")
        value = attribute(run, module, alias.name)
        run.set(NameSite(frame, alias.asname or alias.name), value)
    return None


def _imported(run: Run, name: str, package: str = "") -> ModuleType:
    try:
        return importlib.import_module(name, package)
    except ImportError as error:
        return run.refuse(f"{type(error).__name__}: {error}", "")


def unsupported(what: str, hint: str) -> Any:
    def visit(run: Run, node: ast.AST, frame: Frame) -> Signal:
        return run.refuse(f"{what} is not supported", hint)

    return visit


STATEMENTS: dict[type[ast.AST], Any] = {
    ast.Expr: visit_Expr,
    ast.Assign: visit_Assign,
    ast.AnnAssign: visit_AnnAssign,
    ast.AugAssign: visit_AugAssign,
    ast.Return: visit_Return,
    ast.If: visit_If,
    ast.For: deferred("stcompile.frontend.loops", "visit_For"),
    ast.While: deferred("stcompile.frontend.loops", "visit_While"),
    ast.Match: deferred("stcompile.frontend.match", "visit_Match"),
    ast.Break: visit_Break,
    ast.Continue: visit_Continue,
    ast.Pass: visit_Pass,
    ast.FunctionDef: visit_FunctionDef,
    ast.Nonlocal: visit_Nonlocal,
    ast.Global: visit_Global,
    ast.Assert: visit_Assert,
    ast.Raise: visit_Raise,
    ast.Delete: visit_Delete,
    ast.Import: visit_Import,
    ast.ImportFrom: visit_ImportFrom,
    ast.AsyncFor: unsupported("`async for`", "use a plain `for`"),
    ast.AsyncWith: unsupported("`async with`", "use plain code"),
    ast.With: visit_With,
    ast.Try: visit_Try,
    ast.ClassDef: unsupported("a class definition inside the function", "define it outside"),
    ast.AsyncFunctionDef: unsupported("`async def`", "use a plain function"),
}
