"""Statements: what each one does to the frame, and what ends a block early."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stcompile.errors import LanguageError
from stcompile.frontend import indexing, operators
from stcompile.frontend.attributes import attribute
from stcompile.frontend.expressions import bind, defaults_of
from stcompile.frontend.frames import Frame
from stcompile.frontend.iteration import items_of, iteration_note
from stcompile.frontend.run import Run
from stcompile.frontend.values import Array, Closure, is_static, is_traced


@dataclass(frozen=True)
class Returned:
    """A ``return`` was reached."""

    value: Any


Signal = Returned | Literal["break", "continue"] | None


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
    operation = operators.BINARY[type(node.op)]
    target = node.target
    if isinstance(target, ast.Subscript):
        container = run.evaluate(target.value, frame)
        index = run.evaluate(target.slice, frame)
        value = run.evaluate(node.value, frame)
        _augment_item(run, operation, container, index, value)
        return None
    load = ast.copy_location(_loaded(target), target)
    if isinstance(target, ast.Attribute):
        owner = run.evaluate(target.value, frame)
        present = attribute(run, owner, target.attr)
    else:
        present = run.evaluate(load, frame)
    changed = operators.augmented(run, operation, present, run.evaluate(node.value, frame))
    if isinstance(target, ast.Name) or changed is not present:
        bind(run, target, changed, frame)
    return None


def _loaded(target: ast.expr) -> ast.expr:
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target


def _augment_item(
    run: Run, operation: operators.Operation, container: Any, index: Any, value: Any
) -> None:
    if isinstance(container, Array):
        is_add = operation[0] == "add"
        is_number = is_traced(value) or isinstance(value, int | float)
        if is_add and is_number and indexing.add_item(run, container, index, value):
            return
        present = indexing.get_item(run, container, index)
        changed = operators.binary(run, operation, present, value)
        kinds = changed.type.dtype, container.type.dtype
        if not np.can_cast(*kinds, "same_kind"):
            run.refuse(
                f"{changed.type.dtype} does not fit into an array of {container.type.dtype}",
                "convert the array first (`x = x.astype(...)`)",
            )
        indexing.set_item(run, container, index, changed)
        return
    present = indexing.get_item(run, container, index)
    changed = operators.augmented(run, operation, present, value)
    if not isinstance(present, Array):
        indexing.set_item(run, container, index, changed)


def visit_Return(run: Run, node: ast.Return, frame: Frame) -> Signal:
    return Returned(run.evaluate(node.value, frame) if node.value is not None else None)


def visit_If(run: Run, node: ast.If, frame: Frame) -> Signal:
    outer = run.evaluate(node.test, frame)
    taken = run.at(node.test, frame, lambda: run.truth(outer, "`if`"))
    signal: Signal = run.execute(node.body if taken else node.orelse, frame)
    return signal


def visit_For(run: Run, node: ast.For, frame: Frame) -> Signal:
    iterable = run.evaluate(node.iter, frame)
    items = run.at(node.iter, frame, lambda: _looped_items(run, iterable))
    for item in items:
        bind(run, node.target, item, frame)
        note = iteration_note(node.target, item)
        if note:
            frame.notes.append(note)
        signal = run.execute(node.body, frame)
        if note:
            frame.notes.pop()
        if signal == "break":
            return None
        if isinstance(signal, Returned):
            return signal
    after: Signal = run.execute(node.orelse, frame)
    return after


def _looped_items(run: Run, iterable: Any) -> Any:
    """What a loop goes through: a list itself, so that it sees what its body appends."""
    return iterable if type(iterable) is list else items_of(run, iterable)


def visit_While(run: Run, node: ast.While, frame: Frame) -> Signal:
    while run.at(node.test, frame, lambda: run.truth(run.evaluate(node.test, frame), "`while`")):
        signal = run.execute(node.body, frame)
        if signal == "break":
            return None
        if isinstance(signal, Returned):
            return signal
    after: Signal = run.execute(node.orelse, frame)
    return after


def visit_Break(run: Run, node: ast.Break, frame: Frame) -> Signal:
    return "break"


def visit_Continue(run: Run, node: ast.Continue, frame: Frame) -> Signal:
    return "continue"


def visit_Pass(run: Run, node: ast.Pass, frame: Frame) -> Signal:
    return None


def visit_FunctionDef(run: Run, node: ast.FunctionDef, frame: Frame) -> Signal:
    function: Any = Closure(node, frame, defaults_of(run, node.args, frame))
    for decorator in reversed(node.decorator_list):
        function = run.call(run.evaluate(decorator, frame), [function], {})
    frame.names[node.name] = function
    return None


def visit_Nonlocal(run: Run, node: ast.Nonlocal, frame: Frame) -> Signal:
    return None


def visit_Global(run: Run, node: ast.Global, frame: Frame) -> Signal:
    return run.refuse(
        f"`global {', '.join(node.names)}` changes a variable outside the function",
        "pass the value in as an argument and return the new one",
    )


def visit_Assert(run: Run, node: ast.Assert, frame: Frame) -> Signal:
    test = run.evaluate(node.test, frame)
    message = run.evaluate(node.msg, frame) if node.msg is not None else ""
    if not is_static(message):
        run.refuse("the message of this assert depends on traced values", "use a fixed message")
    if is_traced(test):
        run.record("assert", test, message=str(message))
    elif not test:
        run.refuse(f"this assert fails: {message or ast.unparse(node.test)}", "", LanguageError)
    return None


def visit_Raise(run: Run, node: ast.Raise, frame: Frame) -> Signal:
    what = ast.unparse(node.exc) if node.exc is not None else "an exception"
    return run.refuse(f"with these arguments the function raises {what}", "")


def visit_Delete(run: Run, node: ast.Delete, frame: Frame) -> Signal:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.names.pop(target.id, None)
        else:
            run.refuse("`del` of anything but a name is not supported", "build a new container")
    return None


def visit_Import(run: Run, node: ast.Import | ast.ImportFrom, frame: Frame) -> Signal:
    return run.refuse("an import inside the function is not supported", "import at the top")


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
    ast.For: visit_For,
    ast.While: visit_While,
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
    ast.ImportFrom: visit_Import,
    ast.AsyncFor: unsupported("`async for`", "use a plain `for`"),
    ast.AsyncWith: unsupported("`async with`", "use plain code"),
    ast.With: unsupported("`with`", "move it outside the function"),
    ast.Try: unsupported("`try`", "move it outside the function"),
    ast.ClassDef: unsupported("a class definition inside the function", "define it outside"),
    ast.AsyncFunctionDef: unsupported("`async def`", "use a plain function"),
}
