"""Parameters of NumPy's functions: each is supported, or refused by its name."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import stcompile as st
from stcompile.frontend.calls import name_of
from stcompile.frontend.functions import FUNCTIONS
from tests.programs import Examples

examples = Examples()

X = np.sin(np.arange(12.0) + 0.1).reshape(3, 4)
X32 = X.astype(np.float32)
OTHER = object()  # a value that no parameter takes


@examples(X)
@examples(X32)
def reductions_in_another_dtype(x):
    return (
        (np.sum(x, dtype=np.float64), np.sum(x, 0, np.float64), x.sum(dtype=np.float64)),
        (np.prod(x, axis=1, dtype=np.float64), np.mean(x, dtype=np.float64), x.mean(1, "f8")),
        (np.cumsum(x, 0, dtype=np.float64), np.cumprod(x, axis=1, dtype=np.float64)),
        np.sum(x > 0, dtype=np.float64) * x,
    )


@examples(X)
def reductions_that_begin_with_a_number(x):
    return (
        np.sum(x, initial=2.0),
        (np.max(x, initial=0.3), np.min(x, axis=0, initial=0.1), np.max(x, keepdims=True)),
    )


@examples(X)
def parameters_that_have_their_defaults(x):
    return (
        (np.array(x, copy=True, subok=False), np.median(x, axis=0)),
        (np.zeros(3, order="C") + x[:, 0], np.concatenate([x, x], casting="same_kind")),
        (np.interp(0.5, [0.0, 1.0, 2.0, 3.0], x[1], period=None), np.sort(x, order=None)),
    )


test_program = examples.tests()


def test_sums_of_rows_that_begin_with_a_number():
    def total(x):
        return np.sum(np.sum(x, 0, initial=x[0, 1]) ** 2) + np.sum(np.prod(x, 1, initial=3))

    value, gradient = st.value_and_grad(total)(X)
    np.testing.assert_allclose(value, total(X), rtol=1e-14)
    for at in np.ndindex(X.shape):
        h = np.zeros_like(X)
        h[at] = 1e-6
        np.testing.assert_allclose(
            gradient[at], (total(X + h) - total(X - h)) / 2e-6, rtol=1e-6, atol=1e-8
        )


def parameters():
    """Every parameter of NumPy's functions in the table that has another name in no lowering."""
    for function, lowering in FUNCTIONS.items():
        if isinstance(function, type | np.ufunc) or not name_of(function).startswith("np."):
            continue
        try:
            own = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            continue
        known = inspect.signature(lowering).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in known):
            continue
        names = {p.name for p in known}
        for p in own:
            is_optional = p.default is not p.empty and p.kind is not p.POSITIONAL_ONLY
            if is_optional and p.name not in names and p.name != "out":
                yield pytest.param(function, p.name, id=f"{name_of(function)}-{p.name}")


@pytest.mark.parametrize(("function", "name"), [*parameters()])
def test_what_is_not_supported_is_refused_by_its_name(function, name):
    with pytest.raises(st.StcompileError) as caught:
        st.compile(lambda x: function(x, **{name: OTHER}))(X)
    assert f"the argument `{name}` of `{name_of(function)}` is not supported" in str(caught.value)
