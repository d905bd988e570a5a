"""Code that came by value, without the name of its file."""

from __future__ import annotations

import collections
import dataclasses
import linecache
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import SourceError
from stcompile.parse.arrived import NAMELESS
from stcompile.parse.source import function_source

TEXT = """
factor = 3.0

def scaled(x):
    def inner(y):
        return factor * y
    return inner(x) * x

lines = lambda x: x + 1.0, lambda x: x + 2.0
"""
OTHER = TEXT.replace("* x", "+ x")


def arrived(function: Any) -> Any:
    """A function as it is after a journey: the same code, of a file without a name."""

    def nameless(code: types.CodeType) -> types.CodeType:
        consts = (nameless(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
        return code.replace(co_filename=NAMELESS, co_consts=tuple(consts))

    made = types.FunctionType(
        nameless(function.__code__),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__qualname__ = function.__qualname__
    return made


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], dict[str, Any]]:
    """Run a text as that of a cell, with its lines in `linecache`."""

    def register(file: str, text: str) -> dict[str, Any]:
        entry = len(text), None, text.splitlines(keepends=True), file
        monkeypatch.setitem(linecache.cache, file, entry)
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(text, file, "exec"), names)
        return names

    return register


def test_the_text_is_the_one_that_the_code_is_made_of(run: Any) -> None:
    cells = {file: run(file, text) for file, text in (("<one>", TEXT), ("<other>", OTHER))}
    for file, names in cells.items():
        source = function_source(arrived(names["scaled"]))
        assert source.file == file
        assert ("* x" in source.text) == (file == "<one>")
    first, second = (st.grad(arrived(names["scaled"])) for names in cells.values())
    assert first(2.0) == 12.0 and second(2.0) == 4.0
    assert [st.value_and_grad(arrived(f))(1.0) for f in cells["<one>"]["lines"]] == [
        (2.0, 1.0),
        (3.0, 1.0),
    ]


def test_the_file_of_the_module() -> None:
    source = function_source(arrived(test_the_file_of_the_module))
    assert source.file == __file__
    assert st.grad(arrived(cube))(2.0) == 12.0


def test_no_text_is_refused(run: Any) -> None:
    names = run("<cell>", TEXT)
    del linecache.cache["<cell>"]
    with pytest.raises(SourceError, match="the source of 'scaled'"):
        function_source(arrived(names["scaled"]))


def cube(x: Any) -> Any:
    return x * x * x


Pair = collections.namedtuple("Pair", ["a", "b"])
for name in ("_replace", "_asdict", "__repr__"):
    setattr(Pair, name, arrived(getattr(Pair, name)))


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


for name in ("__init__", "__eq__", "__repr__"):
    setattr(Point, name, arrived(getattr(Point, name)))


def test_methods_of_classes_that_arrived() -> None:
    def moved(p: Any, x: Any) -> Any:
        p = p._replace(b=x * x)
        return sum(p._asdict().values()) * p.a

    assert st.grad(moved, wrt="x")(Pair(2.0, 1.0), 3.0) == 12.0

    def made(x: Any) -> Any:
        point = Point(x, x * x)
        if point == Point(0.0, 0.0):
            raise ValueError(f"{point} is the origin")
        return np.sum(point.x * point.y)

    assert st.grad(made)(2.0) == 12.0
    with pytest.raises(ValueError, match=r"Point\(x=0.0, y=0.0\) is the origin"):
        st.grad(made)(0.0)
