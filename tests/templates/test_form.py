"""Templates are code that the compiler can substitute: static choices, then one expression."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from stcompile.codegen_templates import buffered
from stcompile.codegen_templates.numpy import WRITTEN, subscripts
from stcompile.codegen_templates.numpy.calls import MODULES
from stcompile.wengert.templates import BUFFERED, REST, TEMPLATES, positional

HELPERS = {name for name, item in vars(subscripts).items() if inspect.isfunction(item)}


def body_of(template: Callable[..., Any]) -> list[ast.stmt]:
    source = inspect.getsource(inspect.unwrap(template))
    (function,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(function, ast.FunctionDef)
    return function.body


def test_templates_are_of_primitives() -> None:
    assert set(WRITTEN) | set(BUFFERED) <= set(TEMPLATES)
    assert set(buffered.SCALARS) <= set(WRITTEN)


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name not in WRITTEN])
def test_other_primitives_are_named_after_functions(name: str) -> None:
    function = TEMPLATES[name].keywords["function"]
    if function.module in ("special", "linalg"):
        pytest.importorskip("scipy")
    assert callable(getattr(MODULES[function.module], function.name))


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_no_plain_call(name: str) -> None:
    """The call of the function that a primitive is named after needs no template."""
    template = WRITTEN[name]
    inputs = ", ".join(f"*{n}" if n in REST else n for n in positional(template))
    plain = f"return {name if '.' in name else f'np.{name}'}({inputs})"
    assert list(map(ast.unparse, body_of(template))) != [plain] or template.mark == "view"


@pytest.mark.parametrize("name", WRITTEN)
def test_static_choices_then_one_expression(name: str) -> None:
    template = WRITTEN[name]
    if template.mark not in ("fresh", "view"):
        return
    *choices, last = body_of(template)
    assert isinstance(last, ast.Return)
    for choice in choices:
        assert isinstance(choice, ast.If)
        assert not choice.orelse
        assert len(choice.body) == 1
        assert isinstance(choice.body[0], ast.Return)


@pytest.mark.parametrize("name", WRITTEN)
def test_choices_are_static(name: str) -> None:
    """Conditions read params, and of arrays only the type."""
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
                assert ast.unparse(node.func) in {"isinstance", "len", "range", *HELPERS}
    assert template.mark in ("fresh", "view", "write", "effect")
    assert set(template.__dict__.get("inplace", ())) <= set(params)


@pytest.mark.parametrize("name", [n for n, t in WRITTEN.items() if t.mark == "write"])
def test_writes_return_what_they_wrote(name: str) -> None:
    template = WRITTEN[name]
    last = body_of(template)[-1]
    assert ast.unparse(last) == f"return {template.inplace[0]}"
