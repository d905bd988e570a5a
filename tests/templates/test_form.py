"""Templates are code that the compiler can substitute: static choices, then one expression."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from stcompile.codegen_templates import buffered
from stcompile.codegen_templates.numpy import WRITTEN, subscripts
from stcompile.codegen_templates.numpy.calls import MODULES
from stcompile.wengert.templates import BUFFERED, REST, TEMPLATES, positional

HAS_SCIPY = importlib.util.find_spec("scipy") is not None
HELPERS = {name for name, item in vars(subscripts).items() if inspect.isfunction(item)}


def body_of(template: Callable[..., Any]) -> list[ast.stmt]:
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(template)))
    if source[0] == '"':  # a row of a table
        (row,) = (n for n in ast.walk(ast.parse(f"{{{source}}}")) if isinstance(n, ast.Lambda))
        return [ast.Return(row.body)]
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    has_docstring = ast.get_docstring(function) is not None
    return function.body[has_docstring:]


def test_templates_are_of_primitives() -> None:
    assert set(WRITTEN) | set(BUFFERED) <= set(TEMPLATES)
    assert set(buffered.SCALARS) <= set(WRITTEN)


def test_other_primitives_are_named_after_functions() -> None:
    for name in TEMPLATES.keys() - WRITTEN:
        function = TEMPLATES[name].keywords["function"]
        if HAS_SCIPY or function.module not in ("special", "linalg", "signal"):
            assert callable(getattr(MODULES[function.module], function.name)), name


def test_what_is_written_is_no_plain_call() -> None:
    """The call of the function that a primitive is named after needs no template."""
    for name in WRITTEN:
        template = WRITTEN[name]
        inputs = ", ".join(f"*{n}" if n in REST else n for n in positional(template))
        plain = f"return {name if '.' in name else f'np.{name}'}({inputs})"
        takes_no_out = name.startswith(("special.spherical_", "special.lambertw"))
        if template.mark == "view" or takes_no_out:
            continue
        assert list(map(ast.unparse, body_of(template))) != [plain], name


def test_static_choices_then_one_expression() -> None:
    for name in WRITTEN:
        template = WRITTEN[name]
        if template.mark not in ("fresh", "view"):
            continue
        *choices, last = body_of(template)
        assert isinstance(last, ast.Return), name
        for choice in choices:
            assert isinstance(choice, ast.If), name
            assert not choice.orelse, name
            assert len(choice.body) == 1, name
            assert isinstance(choice.body[0], ast.Return), name


FUNCTIONS = {"isinstance", "len", "range", "np.any", *HELPERS}


def test_choices_are_static() -> None:
    """Conditions read params, and of arrays only the type, but for `np.any` of a mask."""
    for name in WRITTEN:
        template = WRITTEN[name]
        params = inspect.signature(template).parameters
        keywords = {p.name for p in params.values() if p.kind is p.KEYWORD_ONLY}
        facts = ("ndim", "shape", "dtype", "kind")
        for statement in body_of(template):
            if not isinstance(statement, ast.If):
                continue
            for node in ast.walk(statement.test):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    known = node.value.id in ("np", *keywords)
                    assert known or node.attr in facts, ast.unparse(statement.test)
                elif isinstance(node, ast.Call):
                    assert ast.unparse(node.func) in FUNCTIONS, name
        assert template.mark in ("fresh", "view", "write", "effect"), name
        assert set(template.__dict__.get("inplace", ())) <= set(params), name


def test_writes_return_what_they_wrote() -> None:
    for template in WRITTEN.values():
        if template.mark == "write":
            assert ast.unparse(body_of(template)[-1]) == f"return {template.inplace[0]}"
