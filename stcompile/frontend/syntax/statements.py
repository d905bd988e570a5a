"""Statements: their effect on the frame, and the signals that end a block early."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from stcompile.base.classes import MISSING, runs_when_set
from stcompile.base.errors import LanguageError
from stcompile.base.places import Place
from stcompile.frontend.control.branches import branch, by_test
from stcompile.frontend.control.conditions import evaluate_test
from stcompile.frontend.operations import indexing, operators
from stcompile.frontend.operations.attributes import attribute, set_attribute
from stcompile.frontend.operations.data_model import delete_attribute
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Returned, Signal
from stcompile.frontend.state.state import NameSite
from stcompile.frontend.state.values import Array, Cell, described, is_traced
from stcompile.frontend.syntax.blocks import run_final_blocks, visit_Try
from stcompile.frontend.syntax.contexts import visit_With
from stcompile.frontend.syntax.expressions import closure, lookup
from stcompile.frontend.syntax.loops import visit_For
from stcompile.frontend.syntax.match import visit_Match
from stcompile.frontend.syntax.raising import visit_Assert, visit_Raise
from stcompile.frontend.syntax.targets import bind, indexed
from stcompile.frontend.syntax.while_loops import visit_While


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
    """The target is read first, then the value is computed. The object that the target is part of
    is evaluated once."""
    operation = operators.BINARY[type(node.op)]
    target = node.target
    value = functools.partial(run.evaluate, node.value, frame)
    if isinstance(target, ast.Subscript):
        container = indexed(run, target.value, frame)
        _augment_item(run, operation, container, run.evaluate(target.slice, frame), value)
    elif isinstance(target, ast.Attribute):
        owner = run.evaluate(target.value, frame)
        present = attribute(run, owner, target.attr)
        changed = operators.augmented(run, operation, present, value())
        if changed is not present or runs_when_set(owner, target.attr):
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
        dtype = changed.type.dtype
        if not np.can_cast(dtype, container.type.dtype, "same_kind"):
            run.refuse(
                f"{dtype} does not fit into an array of {container.type.dtype}",
                "convert the array first (`x = x.astype(...)`)",
            )
        indexing.set_item(run, container, index, changed)
        return
    present = indexing.get_item(run, container, index)
    changed = operators.augmented(run, operation, present, evaluated())
    if changed is not present or type(container) not in (list, dict):
        indexing.set_item(run, container, index, changed)


def visit_Return(run: Run, node: ast.Return, frame: Frame) -> Signal:
    value = run.evaluate(node.value, frame) if node.value is not None else None
    run.returned = (node.value or node, frame)
    return run_final_blocks(run, frame, through_loops=True) or Returned(value)


def _parts_of_test(test: ast.expr) -> list[ast.expr]:
    """The operands of an ``and`` if the later operands bind names; else the test itself."""
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
    if rest and is_traced(test):  # names that the rest binds are set only where the test holds
        inner = ast.copy_location(ast.If(_joined(node.test, rest), node.body, node.orelse), node)
        return branch(
            run, test, lambda: visit_If(run, inner, frame), lambda: run.execute(node.orelse, frame)
        )
    if rest:
        test = evaluate_test(run, _joined(node.test, rest), frame) if run.truth(test) else test
    ended: Signal = by_test(run, node, frame, test, branch, run.execute)
    return ended


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


def visit_Delete(run: Run, node: ast.Delete, frame: Frame) -> Signal:
    for target in node.targets:
        if isinstance(target, ast.Name):
            run.at(target, frame, lambda t=target: lookup(run, t.id, frame))  # type: ignore[misc]
            run.set(NameSite(frame.owner_of(target.id) or frame, target.id), MISSING)
            continue
        if isinstance(target, ast.Attribute):
            owner = run.evaluate(target.value, frame)
            run.at(target, frame, lambda o=owner, t=target: delete_attribute(run, o, t.attr))  # type: ignore[misc]
            continue
        owner = run.evaluate(target.value, frame) if isinstance(target, ast.Subscript) else None
        if not isinstance(target, ast.Subscript):
            run.refuse("`del` of this is not supported", "build a new object without it")
        indexing.delete_item(run, owner, run.evaluate(target.slice, frame))
    return None


def visit_Import(run: Run, node: ast.Import, frame: Frame) -> Signal:
    for alias in node.names:
        module = _imported(run, alias.name)
        if alias.asname is None:  # `import a.b` binds `a`
            module = _imported(run, alias.name.partition(".")[0])
        own = alias.asname or alias.name.partition(".")[0]
        run.set(NameSite(frame, own), module)
    return None


def visit_ImportFrom(run: Run, node: ast.ImportFrom, frame: Frame) -> Signal:
    package = str(frame.outside("__package__")) if node.level else ""
    module = _imported(run, "." * node.level + (node.module or ""), package)
    for alias in node.names:
        if not hasattr(module, alias.name):  # it may be a module that is not yet loaded
            _submodule(run, module, alias.name)
        value = attribute(run, module, alias.name)
        run.set(NameSite(frame, alias.asname or alias.name), value)
    return None


def _submodule(run: Run, module: ModuleType, name: str) -> None:
    """Import a module that ``from module import name`` names."""
    try:
        _imported(run, f"{module.__name__}.{name}")
    except LanguageError as error:
        missing = f"cannot import name {name!r} from {module.__name__!r}"
        if type(error.raised) is not ModuleNotFoundError:
            raise
        run.raises(ImportError(missing), error=LanguageError)


def _imported(run: Run, name: str, package: str = "") -> ModuleType:
    try:
        module: Any = importlib.import_module(name, package)
    except ImportError as error:
        loaded = Place.constant(sys.modules, "sys.modules")
        run.relied.guard(loaded.fact(f"{name} imported", functools.partial(_contains, name)))
        return run.raises(error, error=LanguageError)
    if not isinstance(module, ModuleType):
        run.refuse(f"`import {name}` gives {described(module)}, not a module", "import it outside")
    return module


def _contains(name: str, modules: Mapping[str, ModuleType]) -> bool:
    return name in modules


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
    ast.Match: visit_Match,
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
