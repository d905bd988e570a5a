"""What the compiler raises without intending to, and refusals of what a function returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.emit import function as emit_function
from stcompile.frontend.operations import operators

X = np.eye(2)


def product(x: Any) -> Any:
    y = x + 1.0
    return np.sum(x * y)


def _fails(*arguments: Any, **keywords: Any) -> Any:
    raise KeyError("an internal name")


def test_an_error_while_a_line_is_staged(monkeypatch: Any) -> None:
    monkeypatch.setattr(operators, "binary", _fails)
    with pytest.raises(st.InternalError, match=r"(?s)y = x \+ 1.*\^.*KeyError.*report") as caught:
        st.compile(product)(X)
    assert isinstance(caught.value.__cause__, KeyError)
    assert isinstance(caught.value, st.StcompileError)


def test_an_error_after_staging(monkeypatch: Any) -> None:
    monkeypatch.setattr(emit_function, "unfold", _fails)
    with pytest.raises(st.InternalError, match="(?s)def product.*KeyError.*report"):
        st.grad(product)(X)


def test_refusals_keep_their_kind() -> None:
    with pytest.raises(st.LanguageError, match="length of an axis"):
        st.compile(lambda x: np.convolve(x[x > 0], [1, 2]))(X)


def masked(x: Any) -> Any:
    return np.convolve(x[x > 0], [1, 2])


def decomposed(x: Any) -> Any:
    return np.linalg.slogdet(x)


def alone(x: Any) -> Any:
    return np.sum(x)


@pytest.mark.parametrize(
    ("call", "line", "reason"),
    [
        (lambda: st.compile(masked)(X), "np.convolve", "length of an axis"),
        (lambda: st.compile(decomposed)(X), "slogdet", "SlogdetResult"),
        (
            lambda: st.grad(alone, has_aux=True)(X),
            "np.sum",
            "returns a pair.*one value",
        ),
    ],
)
def test_refusals_name_the_line(call: Any, line: str, reason: str) -> None:
    with pytest.raises(st.StcompileError, match=f"(?s){line}.*\\^.*{reason}"):
        call()


def test_a_value_is_no_function() -> None:
    with pytest.raises(st.StcompileError, match=r"f64\[2,2\] is not a function"):
        st.grad(st.grad)(X)
