"""Templates are code that the compiler can substitute: static choices, then one expression."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from stcompile.codegen_templates.numpy import TEMPLATES, subscripts
from stcompile.wengert.primitives import PRIMITIVES

HELPERS = {name for name, item in vars(subscripts).items() if inspect.isfunction(item)}


def body_of(template: Callable[..., Any]) -> list[ast.stmt]:
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(template))).body
    assert isinstance(function, ast.FunctionDef)
    return function.body


def test_every_primitive_has_a_template() -> None:
    assert set(TEMPLATES) == set(PRIMITIVES) - {"call", "cond", "loop"}


@pytest.mark.parametrize("name", TEMPLATES)
def test_named_like_the_primitive(name: str) -> None:
    reserved = name in ("print", "assert", "raise", "not", "and", "or")
    expected = (
        f"{name}_"
        if reserved
        else name.removeprefix("special.").removeprefix("linalg.").replace("math.", "math_")
    )
    assert TEMPLATES[name].__name__ == expected


@pytest.mark.parametrize("name", TEMPLATES)
def test_static_choices_then_one_expression(name: str) -> None:
    template = TEMPLATES[name]
    if template.mark not in ("fresh", "view"):
        return
    *choices, last = body_of(template)
    assert isinstance(last, ast.Return)
    for choice in choices:
        assert isinstance(choice, ast.If)
        assert not choice.orelse
        assert len(choice.body) == 1
        assert isinstance(choice.body[0], ast.Return)


@pytest.mark.parametrize("name", TEMPLATES)
def test_choices_are_static(name: str) -> None:
    """Conditions read params, and of arrays only the type."""
    template = TEMPLATES[name]
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


@pytest.mark.parametrize("name", [n for n, t in TEMPLATES.items() if t.mark == "write"])
def test_writes_return_what_they_wrote(name: str) -> None:
    template = TEMPLATES[name]
    last = body_of(template)[-1]
    assert ast.unparse(last) == f"return {template.inplace[0]}"
