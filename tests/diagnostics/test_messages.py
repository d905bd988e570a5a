"""All messages, in one file that is read when it changes: ``messages.txt``, beside this one."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.wording import an
from stcompile.frontend.callables import name_of
from stcompile.frontend.functions import FUNCTIONS, STATIC
from stcompile.frontend.functions.imported import imported_lowering
from tests.diagnostics.listing import HOLE, listing, messages

GOLDEN = Path(__file__).with_name("messages.txt")
FUNCTION = re.compile(r"\bnp((?:\.\w+)+)")
INTERNAL = re.compile(
    r"\b(Affine|ArrayMethod|Closure|Counted|Flat|Generated|GeneratorMethod|GeneratorValue|Masked|"
    r"Partial|Poison|Scalar|atom|cell|frontend|lowering)\b"
)
# Names of NumPy that hints mention and that are no functions, or take no traced values.
NO_FUNCTIONS = frozenset({"errstate", "float32", "float64", "ndarray", "newaxis", "random"})


def test_messages_are_those_that_were_read(update_golden: bool) -> None:
    found = listing()
    if update_golden:
        GOLDEN.write_text(found, encoding="utf-8")
    assert found.count("\n") > 700
    assert GOLDEN.read_text(encoding="utf-8") == found, (
        "a message has changed: renew the file by pytest tests/diagnostics --update-golden, and "
        "read the difference"
    )


def offences(text: str, is_ours: bool) -> list[str]:
    """What is wrong with the wording of a message."""
    article = re.search(r"\b[Aa] (?!one)(?=[aeioAEIO]\w)|\b[Aa]n (?=[bcdgjkpqtvwyz])", text)
    rules = {
        "a class of the compiler": INTERNAL.search(text.replace("`.flat`", "")),
        "an article": is_ours and article is not None,
        "two blanks": "  " in text,
        "a full stop": is_ours and text.endswith("."),
    }
    return [rule for rule, found in rules.items() if found]


def test_wording() -> None:
    """Those of `stcompile.library` are NumPy's own, word for word."""
    found = {
        f"{message.file}: {text}": wrong
        for message in messages()
        for text in message.texts
        if (wrong := offences(text, not message.file.startswith(("library", "wengert/primitives"))))
    }
    assert found == {}
    assert offences("a Iterator cannot be  iterated over.", True) == [
        "an article",
        "two blanks",
        "a full stop",
    ]
    assert offences("a Masked", True) == ["a class of the compiler"]


def supported(path: str) -> bool:
    """True for a function of NumPy that may be called in compiled functions."""
    found: Any = np
    for part in path.strip(".").split("."):
        found = getattr(found, part)
    try:
        known = found in FUNCTIONS or found in STATIC
    except TypeError:
        return True  # such as np.r_, which is subscripted
    is_method = isinstance(getattr(found, "__self__", None), np.ufunc)
    return known or is_method or isinstance(found, type) or imported_lowering(found) is not None


def test_functions_that_hints_name_are_supported() -> None:
    named = 0
    for message in messages():
        for text in message.texts[1:]:
            for path in FUNCTION.findall(text.replace(HOLE, "")):
                if path.strip(".").split(".")[0] not in NO_FUNCTIONS:
                    named += 1
                    assert supported(path), f"{message.file}: {text}"
    assert named > 20


def functions_of_numpy() -> list[Any]:
    """What NumPy calls functions, in its public modules."""
    modules = (np, np.linalg, np.fft, np.random, np.polynomial.hermite, np.polynomial.polynomial)
    found = [getattr(m, name) for m in modules for name in m.__all__]
    return [f for f in found if hasattr(f, "__name__") and not isinstance(f, type)]


def test_a_refused_function_is_called_by_its_own_name() -> None:
    """``np.polynomial.hermite.hermval`` is not ``np.hermval``, which does not exist."""
    for function in functions_of_numpy():
        name = name_of(function)
        if name.startswith("np.random."):
            continue  # bound methods of the global state
        if function is np.show_config:
            continue  # `numpy.show` before NumPy 2.1
        found: Any = np
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        assert found is function or found.__name__ == function.__name__, name


def test_articles() -> None:
    vowels = [an(word) for word in ("int", "array", "Iterator", "ndarray", "f32[2]", "object")]
    assert all(text.startswith("an ") for text in vowels)
    others = [an(word) for word in ("list", "dict", "ufunc", "u8", "generator", "one-way street")]
    assert all(text.startswith("a ") for text in others)


def test_an_iterator_is_called_one() -> None:
    with pytest.raises(st.StcompileError) as caught:
        st.grad(lambda x: np.sum(x) * iter([x, x])[0])(np.ones(2))
    assert "iterator" in str(caught.value) and "Iterator" not in caught.value.reason


class Interpolant:
    """Like the objects of SciPy that are called."""

    __module__ = "scipy.interpolate._cubic"


def test_what_is_refused_is_named_as_users_write_it() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    signal = pytest.importorskip("scipy.signal")
    spline = interpolate.KroghInterpolator(np.arange(3.0), np.arange(3.0))
    names = {
        "scipy.interpolate.KroghInterpolator": spline,
        "scipy.interpolate.Interpolant": Interpolant(),
        "scipy.signal.peak_widths": signal.peak_widths,
        "random.random": random.random,
        "np.roots": np.roots,
    }
    assert {name: name_of(function) for name, function in names.items()} == dict(zip(names, names))
    for function in (signal.minimum_phase,):
        with pytest.raises(st.LanguageError, match="^test_messages.py") as caught:
            st.grad(lambda x: np.sum(function(x)))(np.ones(2))
        assert "st.primitive" in caught.value.hint and "stats" not in caught.value.hint


def test_hints_are_sentences() -> None:
    """They begin with a letter or with what to write, and more than one word."""
    hints = [text for message in messages() for text in message.texts[1:]]
    assert len(hints) > 400
    assert [text for text in hints if not re.match(r"[\w`{%-].* ", text)] == []


def test_words_of_the_compiler_are_not_those_of_messages() -> None:
    """Messages say what is known at run time and at compile time."""
    assert not [m for m in messages() if re.search(r"\btraced?\b", str(m))]
