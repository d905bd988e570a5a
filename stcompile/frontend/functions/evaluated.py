"""Python's functions of names and texts that are known at compile time: `eval`, imports,
signatures."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import types
from dataclasses import replace
from typing import Any

from stcompile.base.errors import LanguageError
from stcompile.base.places import Place
from stcompile.frontend.operations.binding import staged_signature
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Closure, described, is_static
from stcompile.library import signatures


def eval_(run: Run, source: Any, globals: Any = None, locals: Any = None) -> Any:
    """The value of a text, as if it were written where it is evaluated: messages and comments show
    that line. The names are those of the function, or the keys of dicts."""
    if not isinstance(source, str):
        run.refuse(
            f"`eval` takes a text that is known at compile time, not {described(source)}",
            "use a string, or write the expression itself",
        )
    try:
        expression = ast.parse(source.strip(" \t"), mode="eval").body
    except SyntaxError as error:
        return run.raises(error, error=LanguageError, reason=f"SyntaxError: {error.msg}")
    here, frame = run.here
    for node in ast.walk(expression):
        if isinstance(node, ast.expr | ast.keyword | ast.arg):
            ast.copy_location(node, here)
    given = [names for names in (globals, locals) if names is not None]
    if any(type(names) is not dict for names in given):
        run.refuse("`eval` takes dicts of names", "write the names into a dict")
    return run.evaluate(expression, _with_names(frame, *given) if given else frame)


def _with_names(frame: Frame, *given: dict[str, Any]) -> Frame:
    """A frame with names of its own, and Python's."""
    names = {name: value for one in given for name, value in one.items()}

    def outside(name: str) -> Any:
        if not hasattr(builtins, name):
            raise NameError(name)
        return getattr(builtins, name)

    return replace(
        frame, parent=None, outside=outside, local_names=frozenset(names), names=names, blocks=[]
    )


def locals_(run: Run) -> dict[str, Any]:
    """The names of the function and their values, as they are now."""
    _, frame = run.here
    names: dict[str, Any] = run.own(dict(frame.names))
    return names


def import_module(run: Run, name: Any) -> Any:
    """``importlib.import_module`` of a name that is known at compile time."""
    if not isinstance(name, str) or name.startswith("."):
        run.refuse("the name of this module is not known at compile time", "import it by `import`")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        return run.raises(error, error=LanguageError)


# --- `inspect.signature` of known functions, and calls bound to it -------------------------------


def signature_of(run: Run, obj: Any) -> Any:
    """``inspect.signature``: a fact about the function, which each call checks again."""
    if isinstance(obj, Closure):
        return _made(run, staged_signature(obj.node.args, obj.defaults))
    if not callable(obj) or not is_static(obj):
        run.refuse("the signature of this is not known at compile time", "pass a function")
    written = inspect.unwrap(obj)
    written = written.__func__ if isinstance(written, types.MethodType) else written
    if isinstance(written, types.FunctionType):
        place = Place.constant(written, written.__name__)
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            run.relied.guard(place.attribute(name))
    try:
        return _made(run, inspect.signature(obj))
    except (TypeError, ValueError) as error:
        return run.raises(error)


def _made(run: Run, found: inspect.Signature) -> Any:
    parameters = run.own(dict(found.parameters))
    return run.call(signatures.Signature, [parameters, found.return_annotation], {})


def placed(run: Run, parameters: Any, args: Any, kwargs: Any, is_partial: bool) -> dict[str, Any]:
    """The arguments of a call by names: they are not looked at."""
    try:
        found: dict[str, Any] = signatures.placed(parameters, args, kwargs, is_partial)
    except TypeError as error:
        return run.raises(error)
    run.own(found)
    return found


EVALUATED: dict[Any, Any] = {
    eval: eval_,
    locals: locals_,
    importlib.import_module: import_module,
    inspect.signature: signature_of,
    signatures.placed: placed,
}
