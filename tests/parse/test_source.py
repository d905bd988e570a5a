"""A function's source is found exactly, or refused."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib.util
import io
import math
import os
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile.base.errors import SourceError
from stcompile.base.location import Location
from stcompile.parse.source import FunctionSource, function_source

ROOT = Path(__file__).resolve().parents[2]


def text_of(function: Any) -> str:
    return ast.unparse(function_source(function).node)


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Callable[[str], types.ModuleType]]:
    """Import a module with the given text, as a user's file."""
    path = tmp_path / "user_module.py"

    def load(text: str) -> types.ModuleType:
        write(path, text)
        spec = importlib.util.spec_from_file_location("user_module", path)
        assert spec is not None
        assert spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules["user_module"] = loaded
        spec.loader.exec_module(loaded)
        return loaded

    yield load
    sys.modules.pop("user_module", None)


def write(path: Path, text: str) -> None:
    """Write text and move the file's time on, which may be too coarse to tell two writes apart."""
    before = path.stat().st_mtime if path.exists() else 0.0
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    os.utime(path, (before + 10, before + 10))


def test_def_and_lambda() -> None:
    def square(x: float) -> float:
        return x * x

    assert text_of(square).startswith("def square(x: float) -> float:")
    assert text_of(lambda x: x + 1) == "lambda x: x + 1"
    assert function_source(square).name == "square"
    assert function_source(square).file == __file__


# fmt: off
PAIR = (lambda x: x + 1, lambda x: x + 2)
TWINS = (lambda x: x, lambda x: x)
NESTED: Any = lambda x, inner=lambda x: x * 2: (lambda x: x * 2, lambda x: x * 3, inner)  # noqa: E731
# fmt: on


def test_lambdas_on_one_line() -> None:
    assert [text_of(f) for f in PAIR] == ["lambda x: x + 1", "lambda x: x + 2"]
    assert [text_of(f) for f in TWINS] == ["lambda x: x"] * 2
    made = NESTED(1)
    assert [text_of(f) for f in made] == ["lambda x: x * 2", "lambda x: x * 3", "lambda x: x * 2"]
    assert text_of(NESTED).startswith("lambda x, inner=")
    # The line table has columns: even twins are told apart.
    assert function_source(made[0]).node is not function_source(made[2]).node
    assert function_source(TWINS[0]).node is not function_source(TWINS[1]).node


def keep(*_: Any) -> Callable[[Any], Any]:
    return lambda function: function


# fmt: off
@keep(lambda x: x, lambda y: y)
@keep(1)
def decorated(x): return x  # type: ignore[no-untyped-def]


@lambda f: f
def by_lambda(x): return x  # type: ignore[no-untyped-def]
# fmt: on


def test_decorators() -> None:
    assert isinstance(function_source(decorated).node, ast.FunctionDef)
    assert function_source(decorated).name == "decorated"
    assert function_source(by_lambda).name == "by_lambda"


def test_decorator_that_wraps() -> None:
    def wrap(function: Callable[[float], float]) -> Callable[[float], float]:
        @functools.wraps(function)
        def wrapper(x: float) -> float:
            return function(x)

        return wrapper

    @wrap
    def f(x: float) -> float:
        return x

    assert function_source(f).name == "wrapper"  # what is called
    assert function_source(f.__wrapped__).name == "f"  # type: ignore[attr-defined]


class Base:
    def scale(self) -> float:
        return 2.0


class Model(Base):
    __weight = 3.0

    def scale(self) -> float:
        return super().scale() * self.__weight

    @property
    def owner(self) -> type:
        return __class__  # type: ignore[name-defined,no-any-return]

    @staticmethod
    def static(x: float) -> float:
        return x

    class Inner:
        def scale(self, y: float = 1.0, *rest: float, z: float = 2.0, **more: float) -> float:
            return y + z


def test_methods() -> None:
    assert "super().scale() * self._Model__weight" in text_of(Model.scale)
    assert "return 2.0" in text_of(Base.scale)
    assert "__class__" in text_of(Model.owner.fget)  # type: ignore[attr-defined]
    assert function_source(Model.static).name == "static"
    assert "return y + z" in text_of(Model.Inner.scale)


def test_nested_functions_with_free_variables() -> None:
    def outer(a: float) -> tuple[Callable[..., float], Callable[..., float]]:
        b = 2 * a

        def inner(x: float) -> float:
            def innermost() -> float:
                return x * a + b

            return innermost()

        return inner, lambda x: x + b

    inner, shift = outer(1.0)
    assert "return x * a + b" in text_of(inner)
    assert text_of(shift) == "lambda x: x + b"


def test_generators_and_async_functions_have_source() -> None:
    def numbers() -> Iterator[int]:
        yield 1

    async def later() -> int:
        return 1

    assert function_source(numbers).name == "numbers"
    assert isinstance(function_source(later).node, ast.AsyncFunctionDef)


def test_a_function_that_pytest_rewrote() -> None:
    """This function's own code is not what its source compiles to, because of its asserts."""
    this = test_a_function_that_pytest_rewrote

    def with_assert(x: int, *rest: int, key: int = 1, **more: int) -> int:
        assert x > 0, "positive"
        return x

    assert "return x" in text_of(with_assert)
    assert "this = test_a" in text_of(this)
    assert function_source(module_level_with_assert).name == "module_level_with_assert"


def module_level_with_assert(x: int) -> None:
    assert x, lambda y: y


def test_an_edited_file_that_pytest_rewrote_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    """What pytest made of a function is compared with what pytest makes of its source now."""
    path = tmp_path / "test_of_user.py"
    text = """
        import numpy as np

        def f(x):
            assert x > 0, "positive"
            np.seterr(all="warn")
            return x + 1

        fs = (lambda x: x + 1), [lambda: 1 for _ in "a"]
    """
    write(path, text)
    (hook,) = (h for h in sys.meta_path if type(h).__name__ == "AssertionRewritingHook")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "test_of_user", raising=False)
    spec = hook.find_spec("test_of_user", [str(tmp_path)])  # type: ignore[attr-defined]
    assert spec is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    assert any(name.startswith("@py_") for name in loaded.f.__code__.co_names), "not rewritten"
    write(path, text.replace("x + 1", "x + 2"))
    with pytest.raises(SourceError, match="has changed since it was imported"):
        function_source(loaded.f)
    write(path, text)
    assert text_of(loaded.f).endswith("return x + 1")
    assert text_of(loaded.fs[0]) == "lambda x: x + 1"


def test_future_annotations_count(module: Any) -> None:
    for header in ("", "from __future__ import annotations\n"):
        f = module(
            header + "def f(x: 'int') -> 'int':\n    def g(y: int): return y\n    return g\n"
        ).f
        assert function_source(f).name == "f"
        assert function_source(f(1)).name == "g"


def test_doctest_and_its_future_flags() -> None:
    text = """
    >>> from __future__ import annotations
    >>> def f(x: int) -> int:
    ...     return x + 1
    >>> function_source(f).lines[0]
    'def f(x: int) -> int:\\n'
    >>> function_source(lambda x: x).node.args.args[0].arg
    'x'
    """
    test = doctest.DocTestParser().get_doctest(
        textwrap.dedent(text), {"function_source": function_source}, "example", None, 0
    )
    report = io.StringIO()
    assert doctest.DocTestRunner().run(test, out=report.write).failed == 0, report.getvalue()


def test_traced_function() -> None:
    """A debugger or a coverage tool instruments the code of what it runs; it stays equal."""

    def f(x: int) -> int:
        y = x
        return y + 1

    def tracer(*_: Any) -> Any:
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        for _ in range(100):
            f(1)
        assert "return y + 1" in text_of(f)
    finally:
        sys.settrace(before)


def test_edited_file_is_refused(module: Any, tmp_path: Path) -> None:
    path = tmp_path / "user_module.py"
    f = module("def f(x):\n    return x + 1\n").f
    assert "x + 1" in text_of(f)
    for changed in (
        "def f(x):\n    return x + 2\n",
        "\ndef f(x):\n    return x + 1\n",
        "def f(x:\n",
    ):
        write(path, changed)
        with pytest.raises(SourceError, match="has changed since it was imported") as error:
            function_source(f)
        assert "reload" in str(error.value)
    write(path, "def f(x):\n    return x + 1\n\ndef other(): pass\n")
    assert "x + 1" in text_of(f)


def test_lambdas_edited_into_each_other_are_refused(module: Any, tmp_path: Path) -> None:
    loaded = module("f, g = lambda x: x + 1, lambda x: x + 2\n")
    f, g = loaded.f, loaded.g
    write(tmp_path / "user_module.py", "f, g = lambda x: x + 2, lambda x: x + 3\n")
    with pytest.raises(SourceError):
        function_source(f)
    with pytest.raises(SourceError):  # x + 2 stands in another column now
        function_source(g)


def test_warnings_of_the_text_are_not_repeated(module: Any, recwarn: Any) -> None:
    f = module("def f(x):\n    return x, '\\d'\n").f
    recwarn.clear()
    assert function_source(f).name == "f"
    assert not recwarn.list


@pytest.mark.parametrize(
    "value", [math.sin, len, np.tanh, int, functools.partial(len), 3, np.sum, "".join]
)
def test_what_is_not_a_python_function_is_refused(value: Any) -> None:
    if isinstance(value, types.FunctionType):  # np.sum is one
        assert function_source(value).name
        return
    with pytest.raises(SourceError) as error:
        function_source(value)
    assert "hint: pass a function written in Python" in str(error.value)


def test_bound_method_is_refused() -> None:
    with pytest.raises(SourceError, match="is a method, not a function"):
        function_source(Model().scale)


def test_exec_is_refused() -> None:
    names: dict[str, Any] = {}
    exec("def f(x): return x", names)
    with pytest.raises(SourceError, match="not available"):
        function_source(names["f"])


COMMAND = """
from stcompile.parse.source import function_source
from stcompile.base.errors import SourceError
def f(x): return x
try:
    _ = function_source(f)
except SourceError as error:
    print("refused:", error.reason)
else:
    print("found")
"""


@pytest.mark.parametrize("how", ["-c", "-", "-i"])
def test_command_line_standard_input_and_prompt(how: str) -> None:
    command = COMMAND.replace("\ntry:", "\n\ntry:")  # an empty line ends a function at a prompt
    argv, text = ([how, command], "") if how == "-c" else ([how], f"{command}\n")
    done = subprocess.run(
        [sys.executable, *argv], input=text, capture_output=True, text=True, cwd=ROOT, check=True
    )
    typed = how == "-i" and sys.version_info >= (3, 13)  # which keeps what it did not before
    found = how == "-c" or typed
    assert done.stdout.startswith("found" if found else "refused: the source of 'f'")


def located(function: Any) -> tuple[FunctionSource, ast.expr]:
    source = function_source(function)
    node = source.node
    assert isinstance(node, ast.FunctionDef)
    statement = node.body[-1]
    assert isinstance(statement, ast.Return)
    assert isinstance(statement.value, ast.BinOp)
    return source, statement.value.right


def test_location() -> None:
    def f(größe: Any, b: Any) -> Any:
        return "ü" + größe + b.T

    source, node = located(f)
    caller = Location("other.py", 3)
    location = source.location(node, caller, note="t = 1")
    assert location.text == 'return "ü" + größe + b.T'
    line = source.lines[location.line - 1]
    assert line[location.column : location.end_column] == "b.T"
    assert (location.function, location.note, location.caller) == ("f", "t = 1", caller)
    assert location.file == __file__


def test_location_of_an_expression_over_lines() -> None:
    def f(a: Any, b: Any) -> Any:
        return a + b(  # the caret ends with the line
            a,
        )

    source, node = located(f)
    location = source.location(node)
    line = source.lines[location.line - 1].rstrip()
    assert line[location.column : location.end_column].startswith("b(")
    assert location.end_column == len(line)


def test_location_of_a_node_without_a_position() -> None:
    source = function_source(test_location)
    assert source.location(source.node.args).line == source.node.lineno
