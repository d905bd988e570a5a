"""Crash capsules: a file that raises an error of generated code again.

The file has the generated code, the arguments, the captured values, the states of the random
generators and NumPy's settings for floating-point errors, as they were before the call. It needs
NumPy (and SciPy if the function calls it).
"""

from __future__ import annotations

import ast
import base64
import hashlib
import inspect
import os
import platform
import tempfile
import textwrap
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.files import write_whole
from stcompile.base.options import Options
from stcompile.base.strides import memory_order
from stcompile.code.literals import literal, name
from stcompile.code.render import render
from stcompile.codegen_templates.skeleton import capsule
from stcompile.emit.function import Emitted, emit
from stcompile.emit.layout import INDENT, WIDTH
from stcompile.emit.outer_names import scipy_modules
from stcompile.emit.workspace import FACTORY
from stcompile.export.examples import structure
from stcompile.export.file import MODULES, Module, docstring, imports_of, spaced, used
from stcompile.export.saved import Saved, array_code, generator_code
from stcompile.wengert.generators import state_of
from stcompile.wengert.staged import Staged
from stcompile.wengert.types import is_generator

FOLDER = "STCOMPILE_CAPSULES"
READABLE = 64  # elements of an array that is written as numbers


class Inputs:
    """The inputs of a call, as they are before the call: arrays that the call changes are copied,
    and the states of random generators are noted."""

    def __init__(
        self, values: Mapping[str, Any], captured: Mapping[str, Any], changed: Iterable[str]
    ) -> None:
        self.errors = np.geterr()
        self.states: dict[int, tuple[Any, Any]] = {}
        names = {*changed}
        self.values = {key: self._all_kept(value, key in names) for key, value in values.items()}
        self.captured = {key: self._kept(value, True) for key, value in captured.items()}

    def _all_kept(self, value: Any, is_changed: bool) -> Any:
        return trees.map_leaves(lambda _, leaf: self._kept(leaf, is_changed), value)

    def _kept(self, value: Any, is_changed: bool) -> Any:
        if is_generator(value):
            self.states[id(value)] = value, state_of(value)
        return value.copy("K") if is_changed and isinstance(value, np.ndarray) else value


def write_capsule(
    staged: Staged, title: str, update: str, options: Options, inputs: Inputs, error: Exception
) -> Path:
    """Write the file of a call that has raised an error, into the folder that
    ``STCOMPILE_CAPSULES`` names, or else the present folder (or the folder for temporary files, if
    nothing can be written there). Returns its place."""
    text, own = _text(staged, title, update, options, inputs, error)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    named = f"capsule_{own}_{type(error).__name__}_{digest}.py"
    chosen = os.environ.get(FOLDER)
    for folder in [chosen] if chosen else [os.getcwd(), tempfile.gettempdir()]:
        path = Path(folder, named)
        try:
            write_whole(path, text, make_folder=bool(chosen), private=True)
            return path
        except OSError as failure:
            reason = failure
    raise reason


def _text(
    staged: Staged, title: str, update: str, options: Options, inputs: Inputs, error: Exception
) -> tuple[str, str]:
    """The text of the file, and the name of its function."""
    saved, code, data = Saved(), Module(), Module()
    code.add(inspect.getsource(capsule))
    taken = {"arguments", "captured", FACTORY, *MODULES, *code.names()}
    plain = Options(options.level, blas=False, memory=options.memory)
    emitted = emit(staged, [*inputs.values], title, update, plain, taken=taken, save=saved.constant)
    writer = _Writer(inputs)
    arguments = ast.Dict(
        [literal(k) for k in inputs.values], [*map(writer.code, inputs.values.values())]
    )
    captured = ast.Dict(
        [literal(key) for key in emitted.hidden], [*map(writer.code, inputs.captured.values())]
    )
    data.body += ["", "", "# --- the call ".ljust(WIDTH - 1, "-"), ""]
    for statement in writer.statements:
        data.body += render(statement, width=WIDTH)
    for own, value in (("arguments", arguments), ("captured", captured)):
        data.body += render(ast.Assign([ast.Name(own, ast.Store())], value, lineno=0), width=WIDTH)
    data.body += ["", 'if __name__ == "__main__":']
    settings = ", ".join(f'{key}="{value}"' for key, value in inputs.errors.items())
    values = [*inputs.values.values()]
    numbers = [str(trees.follow(values[at], path).shape[i]) for at, path, i in emitted.lengths]
    function = f"{FACTORY}({', '.join(numbers)})" if emitted.workspace else emitted.name
    data.body += [f"    np.seterr({settings})", f"    {function}(*arguments.values(), **captured)"]
    constants = [line for s in saved.statements for line in render(s, width=WIDTH)]
    generated = Module()
    generated.add(emitted.source)
    found = [*code.imports, *generated.imports, *used("\n".join(data.body))]
    parts = [
        *docstring(_description(emitted, error)),
        *imports_of(found),
        *code.body,
        *(["", "", *constants] if constants else []),
        *generated.body,
        *data.body,
    ]
    return "\n".join(spaced(parts)) + "\n", emitted.name


def _description(emitted: Emitted, error: Exception) -> str:
    notes = getattr(error, "__notes__", [])
    said = "\n".join([f"{type(error).__name__}: {error}", *notes])
    needed = "NumPy and SciPy" if scipy_modules(emitted.tree) else "NumPy"
    where = f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.platform()}"
    wrapped = textwrap.fill(
        "Run this file to raise it again. It has the generated code, the arguments, what was "
        "captured and the states of random generators, as they were before the call. "
        f"It needs {needed} and nothing else.",
        WIDTH,
    )
    raised = textwrap.indent(said, " " * INDENT)
    return (
        f"A call of `{emitted.name}` has raised\n\n{raised}\n\n{wrapped}\n\nWritten with {where}."
    )


class _Writer:
    """Values as code; ``statements`` make the values that take more than an expression."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.statements: list[ast.stmt] = []
        self._made: dict[int, str] = {}

    def named(self, values: Mapping[str, Any]) -> ast.expr:
        return ast.Dict([literal(key) for key in values], [*map(self.code, values.values())])

    def code(self, value: Any) -> ast.expr:
        parts = trees.children(value)
        if parts is not None:
            return structure(value, [self.code(part) for _, part in parts])
        if id(value) in self.inputs.states:
            return name(self._generator(*self.inputs.states[id(value)]))
        if isinstance(value, np.ndarray):
            return _array(value)
        if isinstance(value, np.generic):
            item = ast.Subscript(_array(np.asarray(value)), literal(()), ast.Load())
            return item
        if value is np.random:
            return ast.Attribute(name("np"), "random", ast.Load())
        return (
            literal(value)
            if trees.is_plain_key(value) or isinstance(value, complex)
            else literal(None)
        )

    def _generator(self, generator: Any, state: Any) -> str:
        if id(generator) not in self._made:
            self._made[id(generator)] = own = f"generator_{len(self._made)}"
            self.statements += generator_code(own, generator, state)
        return self._made[id(generator)]


def _array(value: np.ndarray[Any, Any]) -> ast.expr:
    if value.size <= READABLE and value.dtype.kind in "fiub" and np.all(np.isfinite(value)):
        return array_code(value)
    order = memory_order(value) or tuple(range(value.ndim))
    stored = np.ascontiguousarray(value.transpose(order))
    text = base64.b85encode(zlib.compress(stored.tobytes())).decode()
    arguments = literal(value.dtype.str), literal(stored.shape), literal(order), literal(text)
    return ast.Call(name("unpacked_array"), [*arguments], [])
