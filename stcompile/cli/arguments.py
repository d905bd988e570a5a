"""The arguments that a function is shown or checked for.

They are an expression on the command line, an ``.npz`` file, or part of the user's file: a doctest
of the function, or a function ``example_args()``.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from stcompile.base.command import UsageError
from stcompile.base.signatures import real_signature
from stcompile.cli.files import Found, raised_in

EXAMPLES = "example_args"
CALL = "_call_"


class NoArgumentsError(UsageError):
    """Raised for a function without arguments to show or check it with."""


@dataclass(frozen=True)
class Given:
    """The arguments of a call, and where they are from."""

    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    origin: str = ""


def arguments_of(found: Found, expression: str | None = None, npz: Path | None = None) -> Given:
    """The arguments that the command line names, or else those of the file: of the function's own
    doctest, or the result of ``example_args()``."""
    if expression is not None and npz is not None:
        raise UsageError("--args and --npz both give the arguments", hint="leave one of them out")
    if expression is not None:
        return _typed(found.module, expression)
    if npz is not None:
        return _saved(found, npz)
    given = _of_doctest(found) or _of_examples(found)
    if given is None:
        raise NoArgumentsError(
            f"there are no arguments to call `{found.name}` with",
            hint=f'give them, as in --args "ones(3), 0.5", or write a doctest that calls '
            f"`{found.name}`, or a function {EXAMPLES}() that returns them",
        )
    return given


def _typed(module: ModuleType, expression: str) -> Given:
    """Evaluate the arguments of ``--args``. The expression is executed, as the file is: its names
    are NumPy's, then those of the file; ``rng`` is a random generator."""
    try:
        call = ast.parse(f"{CALL}({expression}\n)", mode="eval").body
    except SyntaxError as error:
        raise UsageError(f"--args {expression!r}: {error.msg}", hint=_AS_IN_A_CALL) from None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise UsageError(f"--args {expression!r} is no list of arguments", hint=_AS_IN_A_CALL)
    names = {**vars(np), "np": np, "rng": np.random.default_rng(0), **vars(module)}
    try:
        return Given(*_evaluated(call, names), "--args")
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"--args {expression!r}: {said}", hint=_AS_IN_A_CALL) from error


_AS_IN_A_CALL = 'write them as in a call: --args "ones((3, 2)), y=0.5"'


def _evaluated(call: ast.Call, names: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Evaluate the arguments of a call with the given names."""

    def collect(*arguments: Any, **keywords: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return arguments, keywords

    again = ast.Call(ast.Name(CALL, ast.Load()), call.args, call.keywords)
    text = compile(ast.fix_missing_locations(ast.Expression(again)), "<arguments>", "eval")
    found: tuple[tuple[Any, ...], dict[str, Any]] = eval(text, {**names, CALL: collect})
    return found


# --- an .npz file ---------------------------------------------------------------------------------


def _saved(found: Found, path: Path) -> Given:
    """The arrays of a file by the parameters they are named after: ``x``, or ``params.W`` for one
    in a dict; ``arr_0`` is the first argument."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"{path} cannot be read as an .npz file: {error}") from None
    nested: dict[str, Any] = {}
    for name, array in arrays.items():
        *outer, last = name.replace("/", ".").split(".")
        inside = nested
        for part in outer:
            inside = inside.setdefault(part, {})
            if not isinstance(inside, dict):
                raise UsageError(f"{path} has {part!r} both as an array and with parts")
        inside[last] = _value(array)
    positional: list[Any] = []
    while f"arr_{len(positional)}" in nested:
        positional.append(nested.pop(f"arr_{len(positional)}"))
    try:
        real_signature(found.plain).bind(*positional, **nested)
    except TypeError as error:
        names = ", ".join(arrays) or "nothing"
        raise UsageError(
            f"{path} has {names}, but `{found.name}` {_takes(found)}: {error}"
        ) from None
    return Given(tuple(positional), nested, str(path))


def _takes(found: Found) -> str:
    return f"takes {', '.join(real_signature(found.plain).parameters) or 'no arguments'}"


def _value(array: np.ndarray[Any, Any]) -> Any:
    """An array of no axes is the number that was saved; integers, as of Python, are static."""
    if array.ndim:
        return array
    return array[()] if array.dtype.kind in "fc" else array.item()


# --- the user's file ------------------------------------------------------------------------------


def _of_examples(found: Found) -> Given | None:
    """The result of ``example_args()``: the arguments as a tuple, or a dict of such tuples by the
    names of functions."""
    make = getattr(found.module, EXAMPLES, None)
    if not callable(make):
        return None
    with raised_in(found.path, f"has an {EXAMPLES}() that fails"):
        made = make()
    if isinstance(made, dict):
        if found.name not in made:
            return None
        made = made[found.name]
    return Given(made if isinstance(made, tuple) else (made,), {}, f"{EXAMPLES}()")


def _of_doctest(found: Found) -> Given | None:
    """The arguments of the first call of the function in its own doctest. The code before the call
    is executed."""
    text = inspect.getdoc(found.plain) or ""
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return None
    namespace = dict(vars(found.module))
    for example in examples:
        if doctest.SKIP in example.options:
            continue
        try:
            tree = ast.parse(example.source)
        except SyntaxError:
            return None
        with raised_in(found.path, f"has a doctest of `{found.name}` that fails"), _quiet():
            for call in _calls(tree, found.name):
                return Given(*_evaluated(call, namespace), "doctest")
            exec(compile(tree, f"<doctest of {found.name}>", "exec"), namespace)
    return None


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Calls of a function, of a method of it, or of the result of a transformation of it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        of = node.func
        if isinstance(of, ast.Attribute):
            of = of.value
        elif isinstance(of, ast.Call):
            of = of.args[0] if of.args else of
        if isinstance(of, ast.Name) and of.id == name:
            yield node


def _quiet() -> contextlib.AbstractContextManager[Any]:
    return contextlib.redirect_stdout(io.StringIO())
