"""Inlining: the body of a Python function is staged in place of a call of it."""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stcompile.base.errors import SourceError
from stcompile.base.places import Place
from stcompile.base.signatures import real_signature
from stcompile.frontend.control.splits import let_through
from stcompile.frontend.operations.binding import bind_arguments, staged_signature
from stcompile.frontend.shared_calls import shared_call
from stcompile.frontend.state.frames import Frame, FunctionNode, bound_names, yields
from stcompile.frontend.state.items import Generated
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Returned
from stcompile.frontend.state.values import Closure
from stcompile.parse.source import FunctionSource, function_source

RECURSION_LIMIT = 200
_LAZY: Any = getattr(types, "LazyImportType", ())  # from Python 3.15 on
_OWN = ("stcompile.nn.", "stcompile.library.", "stcompile.codegen_templates.derivatives.")
Arguments = Sequence[Any]
Keywords = Mapping[str, Any]


def inline_function(
    run: Run, function: types.FunctionType, arguments: Arguments, keywords: Keywords
) -> Any:
    """Stage the body of a Python function in place of a call of it."""
    try:
        source = function_source(function)
    except SourceError as error:
        raise SourceError(error.reason, location=run.caller, hint=error.hint) from None
    node = source.node
    itself = Place.constant(function, function.__name__)
    run.relied.guard(itself.attribute("__code__"))
    run.relied.guard(itself.attribute("__defaults__"))
    _check_kind(run, function, source)
    signature = real_signature(function, follow_wrapped=False)
    bound = bind_arguments(run, function.__name__, signature, arguments, keywords)
    for name, parameter in signature.parameters.items():
        if name not in bound and parameter.default is not parameter.empty:
            place = _default(itself, function, name)
            bound[name] = _from_outside(run, function, parameter.default, place)
    local_names, nonlocal_names = bound_names(node)
    frame = Frame(
        source, node, run.caller, None, _outside(run, function), local_names, nonlocal_names
    )  # fmt: skip
    frame.names.update(bound)
    return _entered(run, node, frame, function)


def _from_outside(run: Run, function: types.FunctionType, value: Any, place: Place) -> Any:
    """A value that a function reads from its globals or defaults: captured, except for the numbers
    in `stcompile.nn`, which are constants of published formulas."""
    if isinstance(value, float | int | tuple) and _is_own(function):
        return value
    return run.captures.captured(value, place)


def _is_own(function: types.FunctionType) -> bool:
    return (function.__module__ or "").startswith(_OWN)


def _default(itself: Place, function: types.FunctionType, name: str) -> Place:
    """The place of a parameter's default."""
    code, defaults = function.__code__, function.__defaults__ or ()
    if name in (function.__kwdefaults__ or {}):
        place = itself.attribute("__kwdefaults__").part((("item", name),))
    else:
        index = code.co_varnames.index(name) - code.co_argcount + len(defaults)
        place = itself.attribute("__defaults__").part((("item", index),))
    return replace(place, description=f"{name} of {function.__name__}")


def _check_kind(run: Run, function: types.FunctionType, source: FunctionSource) -> None:
    """Refuse coroutines."""
    flags, node = function.__code__.co_flags, source.node
    frame = Frame(source, node, run.caller, None, lambda name: None, frozenset())
    if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        reason, hint = "is a coroutine (`async def`)", "use a plain function"
        run.at(node, frame, lambda: run.refuse(f"`{function.__name__}` {reason}", hint))


def _outside(run: Run, function: types.FunctionType) -> Any:
    """A function that looks up the names a real function reads from outside: closure cells,
    globals, builtins."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    globals_ = function.__globals__

    def outside(name: str) -> Any:
        if name in cells:
            cell = cells[name]
            try:
                value = cell.cell_contents
            except ValueError:
                run.relied.guard(Place.has_value(cell, name))
                raise NameError(name) from None
            return run.captures.captured(value, Place.of_cell(cell, name))
        if name in globals_:
            value = _of_global(globals_, name)
            return _from_outside(run, function, value, Place.of_global(globals_, name))
        if hasattr(builtins, name):
            run.relied.guard(Place.of_builtin(globals_, name))
            return getattr(builtins, name)
        run.relied.guard(Place.has_name(globals_, name))
        raise NameError(name)

    return outside


def _of_global(names: dict[str, Any], name: str) -> Any:
    """The value of a global. The name of a ``lazy import`` is imported, as Python does when code
    reads the name, and keeps the module."""
    value = names[name]
    return eval(name, names) if isinstance(value, _LAZY) else value


def inline_closure(run: Run, closure: Closure, arguments: Arguments, keywords: Keywords) -> Any:
    node, parent = closure.node, closure.frame
    parameters = staged_signature(node.args, closure.defaults)
    bound = bind_arguments(run, closure.name, parameters, arguments, keywords)
    local_names, nonlocal_names = bound_names(node)
    frame = Frame(
        parent.source, node, run.caller, parent, parent.outside, local_names, nonlocal_names,
        names={**closure.defaults, **bound},
    )  # fmt: skip
    return _entered(run, node, frame)


def _entered(run: Run, node: FunctionNode, frame: Frame, function: Any = None) -> Any:
    """The value of a call. The body of a generator function runs only when its items are taken."""
    if not yields(node):
        return shared_call(run, frame, function, lambda: _run_body(run, node, frame))

    def body(consumer: Callable[[Any], None]) -> Any:
        frame.consumer = consumer
        return _run_body(run, node, frame)

    return Generated(frame.function_name, body, frame.names)


def _run_body(run: Run, node: FunctionNode, frame: Frame) -> Any:
    frame.depth = run.depth
    depth, caller = 0, frame.caller
    while caller is not None:
        depth, caller = depth + 1, caller.caller
    if depth > RECURSION_LIMIT:
        run.refuse(
            f"`{frame.function_name}` calls itself more than {RECURSION_LIMIT} times",
            "end the recursion in a base case that depends on values known at compile time",
        )
    frame.born = run.age()
    if frame.caller is not None:
        frame.errstate = run.frame.errstate
    run.frames.append(frame)
    place = len(run.frames)
    try:
        if isinstance(node, ast.Lambda):
            frame.statement = node
            value = run.evaluate(node.body, frame)
            run.returned = (node.body, frame)
            return value
        body = node.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]  # the docstring
        signal = run.execute(body, frame)
        if not isinstance(signal, Returned):
            run.returned = (node, frame)
            return None
        return let_through(run, True, signal.value)
    finally:
        left = [inner for inner in run.frames[place - 1 :] if inner.captured]
        run.frames[place - 1 :] = left
