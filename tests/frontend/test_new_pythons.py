"""What came with Python 3.14 and 3.15 means what Python says, or is refused with a sentence.

The functions are texts, because an older Python cannot read all of them.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stcompile as st
from tests.derivatives.numeric import differences

Reader = Callable[[str], dict[str, Any]]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """The names of a module with some text."""

    def read(text: str) -> dict[str, Any]:
        path = tmp_path / "written.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("written", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "written", module)
        spec.loader.exec_module(module)
        return vars(module)

    return read


def assert_right(function: Callable[[float], float], at: float = 0.7) -> None:
    """The gradient is the one of differences, and the value that of the plain function."""
    value, slope = st.value_and_grad(function)(at)
    assert value == pytest.approx(function(at), rel=1e-14)
    assert slope == pytest.approx(differences(function, at), rel=1e-9)


# --- Python 3.14 ---------------------------------------------------------------------------------

# Texts before 3.14, where annotations are evaluated at once unless a module says otherwise.
LATE = "" if sys.version_info >= (3, 14) else "from __future__ import annotations\n"
ANNOTATED = """
from dataclasses import dataclass
from typing import NamedTuple
import stcompile as st

@dataclass
class Weights:
    w: Missing
    b: list[Missing] = 2.0

    def scaled(self, x: Missing) -> Missing:
        return self.w * x

class Pair(NamedTuple):
    one: Missing
    other: Missing = 3.0

@st.custom_rule(backward=lambda x, d: 2 * x * d, example=(0.5,))
def rule(x: Missing) -> Missing:
    return x * x, x

def f(x: Missing, *rest: Missing, n: Missing | None = None) -> Missing:
    def inner(y: Missing) -> Missing:
        return y * y
    z: Missing = inner(x) * Weights(x).scaled(x) * Weights(x).b
    return z * Pair(x).other + rule(x)
"""


def test_annotations_may_name_what_is_not_there(read: Reader) -> None:
    f = read(LATE + ANNOTATED)["f"]
    assert_right(f)
    assert st.differentiable(f).grad(0.7) == st.grad(f)(0.7)
    assert list(inspect.signature(st.grad(f)).parameters) == ["x", "rest", "n"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="new in Python 3.14")
def test_a_template_string_is_refused(read: Reader) -> None:
    f = read('def f(x):\n    shown = t"{x}"\n    return x * x\n')["f"]
    with pytest.raises(st.LanguageError, match=r"a template string \(`t\"\.\.\.\"`\) is not"):
        st.grad(f)(1.0)


RETURNED_IN_FINALLY = """
def f(x):
    try:
        y = x * x
    finally:
        return y * x

def g(x):
    for _ in range(5):
        try:
            x = x * x
        finally:
            break
    return x
"""


def test_finally_that_leaves_is_compiled_without_more_warnings(read: Reader) -> None:
    """Python 3.14 warns of it when it compiles a file, and we compile the text once more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        names = read(RETURNED_IN_FINALLY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_right(names["f"])
        assert_right(names["g"])


@pytest.mark.skipif(sys.version_info < (3, 14), reason="before, `os` has no text")
def test_the_environment_is_read_as_any_outer_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(x: float) -> float:
        return x * x * float(os.getenv("SCALE_OF_THIS", "2"))

    monkeypatch.delenv("SCALE_OF_THIS", raising=False)
    slope = st.grad(scaled)
    assert slope(1.0) == 4.0
    monkeypatch.setenv("SCALE_OF_THIS", "5")
    assert slope(1.0) == 10.0
    monkeypatch.setenv("SCALE_OF_THIS", "6")
    assert slope(1.0) == 12.0


@pytest.mark.skipif(sys.version_info < (3, 14), reason="new in Python 3.14")
def test_several_exceptions_without_parentheses(read: Reader) -> None:
    text = "def f(x):\n    try:\n        raise KeyError\n    except KeyError, ValueError:\n"
    assert_right(read(text + "        return x * x\n")["f"])


PLACED = """
import functools
from functools import Placeholder

def line(a, b, c=2.0):
    return a * b + a * a * c

halves = functools.partial(line, Placeholder, 0.5)
nested = functools.partial(functools.partial(line, Placeholder, Placeholder, 3.0), Placeholder, 0.5)

def f(x):
    made = functools.partial(line, Placeholder, x)
    return halves(x) + nested(x) * halves(x, c=x) + made(2.0)

def g(x):
    return halves() * x
"""


@pytest.mark.skipif(sys.version_info < (3, 14), reason="new in Python 3.14")
def test_placeholders_of_a_partial(read: Reader) -> None:
    names = read(PLACED)
    assert_right(names["f"])
    assert_right(names["halves"])
    with pytest.raises(st.StcompileError, match="missing positional arguments in 'partial' call"):
        st.grad(names["g"])(1.0)


# --- Python 3.15 ---------------------------------------------------------------------------------

is_new = pytest.mark.skipif(sys.version_info < (3, 15), reason="new in Python 3.15")
LAZY = """
lazy import math
lazy import colorsys
lazy from colorsys import ONE_THIRD

def f(x):
    return math.sin(x) * ONE_THIRD * colorsys.TWO_THIRD
"""


@is_new
def test_lazy_imports_are_imported_where_they_are_read(read: Reader) -> None:
    sys.modules.pop("colorsys", None)
    names = read(LAZY)
    assert type(names["colorsys"]).__name__ == "lazy_import"
    assert_right(names["f"])
    slope = st.grad(names["f"])
    before = slope(0.7)
    names["ONE_THIRD"] *= 2  # what was imported is captured as any global is
    assert slope(0.7) == pytest.approx(2 * before)


@is_new
@pytest.mark.parametrize(
    ("made", "what"),
    [
        ("[*part for part in ([x], [x * x])]", "a starred name"),
        ("list((*part for part in ([x], [x * x])))", "a starred name"),
        ("[*{*part for part in ([1], [2])}]", "a starred name"),
        ("{**part for part in ({'a': x}, {'b': x})}", r"`\*\*` in a comprehension"),
    ],
)
def test_unpacking_in_comprehensions_is_refused(read: Reader, made: str, what: str) -> None:
    f = read(f"def f(x):\n    made = {made}\n    return x * len(made)\n")["f"]
    with pytest.raises(st.LanguageError, match=f"{what} is not supported"):
        st.grad(f)(1.0)
