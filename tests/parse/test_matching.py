"""A function is found in its text however the text was compiled."""

from __future__ import annotations

import ast
import importlib
import linecache
import sys
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import SourceError
from stcompile.parse.source import function_source

CELL = """\
from __future__ import annotations
import numpy as np
from numpy import linalg

@keep
def f(x):
    def inner(y): return np.sum(y) + linalg.norm(y)
    return inner(x) + np.sum(x * x)

class Model:
    __scale = 2.0

    def loss(self, x):
        return np.sum(x * self.__scale) + linalg.norm(x)

one = lambda x: np.sum(x); two = lambda x: np.max(x)
if f:
    three = (lambda x: np.sum(x), lambda x: np.sum(x) + 1)
"""

Runner = Callable[[str, str, dict[str, Any]], None]


def as_a_file(text: str, file: str, names: dict[str, Any]) -> None:
    exec(compile(text, file, "exec", dont_inherit=True), names)


def by_statement(text: str, file: str, names: dict[str, Any]) -> None:
    """As notebooks do: the features that one statement asks of the future are on in the next."""
    compiler = types.SimpleNamespace(flags=0)
    tree = ast.parse(text)
    for node in tree.body:
        last = node is tree.body[-1]
        part = ast.Interactive([node]) if last else ast.Module([node], [])
        mode = "single" if last else "exec"
        code = compile(part, file, mode, flags=compiler.flags, dont_inherit=True)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            compiler.flags = annotations_flag()
        exec(code, names)


def annotations_flag() -> int:
    import __future__

    return __future__.annotations.compiler_flag


@pytest.fixture
def registered() -> Iterator[Callable[..., dict[str, Any]]]:
    """Run a text with a runner, its source registered as notebooks register theirs."""
    files = []

    def run(text: str, runner: Runner, file: str = "<cell 1>") -> dict[str, Any]:
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        files.append(file)
        names: dict[str, Any] = {"__name__": "notebook", "keep": lambda function: function}
        runner(text, file, names)
        return names

    yield run
    for file in files:
        linecache.cache.pop(file, None)


@pytest.mark.parametrize("runner", [as_a_file, by_statement])
def test_functions_of_a_registered_text(registered: Any, runner: Runner) -> None:
    names = registered(CELL, runner)
    found = {name: ast.unparse(function_source(names[name]).node) for name in ("f", "one", "two")}
    assert found["f"].startswith("@keep\ndef f(x):")
    assert found["one"] == "lambda x: np.sum(x)"
    assert found["two"] == "lambda x: np.max(x)"
    assert "self._Model__scale" in ast.unparse(function_source(names["Model"].loss).node)
    texts = [ast.unparse(function_source(f).node) for f in names["three"]]
    assert texts == ["lambda x: np.sum(x)", "lambda x: np.sum(x) + 1"]
    x = np.array([3.0, 4.0])
    gradient = st.grad(names["f"])(x)
    np.testing.assert_allclose(gradient, 1 + x / 5 + 2 * x)


def test_cells_of_a_script(registered: Any) -> None:
    """An editor compiles a cell of a script as a whole, on the lines where it stands."""
    cells = (
        "# %% load\nimport numpy as np\n\n",
        ("# %%\nfrom numpy import linalg\ndef f(x):\n    return np.sum(x) + linalg.norm(x)\n"),
    )

    def by_cell(text: str, file: str, names: dict[str, Any]) -> None:
        above = 0
        for cell in cells:
            as_a_file("\n" * above + cell, file, names)
            above += cell.count("\n")

    f = registered("".join(cells), by_cell)["f"]
    assert function_source(f).node.lineno == 6


def test_a_text_that_does_not_compile_as_a_whole(registered: Any) -> None:
    text = "import numpy as np\ndef f(x): return np.sum(x)\nreturn_value = [await f(1)]\nreturn\n"

    def without_the_end(text: str, file: str, names: dict[str, Any]) -> None:
        by_statement("".join(text.splitlines(keepends=True)[:2]), file, names)

    assert function_source(registered(text, without_the_end)["f"]).name == "f"


def test_what_other_tools_write_into_trees_does_not_matter(registered: Any) -> None:
    """Tracebacks of notebooks give nodes a parent, and ``ast.Load()`` is shared by all trees."""
    shared = [node for node in ast.walk(ast.parse("a = b + c")) if not hasattr(node, "lineno")]
    around = ast.parse("a = b")
    try:
        for node in ast.walk(around):
            for child in ast.iter_child_nodes(node):
                child.parent = node  # type: ignore[attr-defined]
        assert any(hasattr(node, "parent") for node in shared), "nothing is shared any more"
        f = registered("def f(x): return x * x\n", as_a_file)["f"]
        assert st.grad(f)(3.0) == 6.0
    finally:
        for node in shared:
            node.__dict__.pop("parent", None)


@pytest.mark.parametrize("change", [("np.sum(x)", "np.max(x)"), ("\n", "\n\n")])
def test_another_text_under_the_name_is_refused(registered: Any, change: Any) -> None:
    text = "import numpy as np\ndef f(x):\n    return np.sum(x)\n"
    f = registered(text, by_statement)["f"]
    other = text.replace(*change)
    linecache.cache["<cell 1>"] = len(other), None, other.splitlines(keepends=True), "<cell 1>"
    with pytest.raises(SourceError, match="under this name is another one's"):
        function_source(f)


def test_functions_of_a_zip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loader has the source; after a reload, another one than `linecache` remembers."""
    archive = tmp_path / "archive.zip"
    text = "import numpy as np\n\ndef cube(x):\n    return np.sum(x ** 3)\n"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("in_a_zip_file.py", text)
    monkeypatch.syspath_prepend(archive)
    module = importlib.import_module("in_a_zip_file")
    try:
        np.testing.assert_allclose(st.grad(module.cube)(np.array([2.0])), [12.0])
        linecache.cache[module.__file__] = 1, None, ["old = 1\n"], module.__file__  # type: ignore[index,assignment]
        again = types.FunctionType(module.cube.__code__.replace(), module.__dict__)
        assert "x ** 3" in ast.unparse(function_source(again).node)
    finally:
        sys.modules.pop("in_a_zip_file")
        linecache.cache.pop(module.__file__, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("<magic-timeit>", "a magic such as %%timeit"),
        ("<ipython-input-1-abc>", "known only where it was run"),
        ("/tmp/ipykernel_1/23.py", "known only where it was run"),
        ("<stdin>", "what Python read from a pipe, or was typed at a prompt, is gone"),
        ("<string>", "code that `exec` runs keeps no source"),
        ("/nowhere/module.py", "there is no such file"),
    ],
)
def test_why_there_is_no_source(file: str, reason: str) -> None:
    names: dict[str, Any] = {}
    as_a_file("def f(x): return x\n", file, names)
    with pytest.raises(SourceError, match="is not available") as error:
        function_source(names["f"])
    assert reason in error.value.hint


def test_a_part_of_python_without_a_text() -> None:
    names: dict[str, Any] = {}
    as_a_file("def frozen(x): return x\n", "<frozen nowhere>", names)
    with pytest.raises(SourceError, match="hint: call it outside, and pass the result"):
        st.grad(lambda x: names["frozen"](x) * x)(1.0)
