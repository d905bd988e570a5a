"""Arguments, outputs and `wrt` that do not fit are refused at the function's definition or call."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile import ArgumentsError, DerivativeError, LanguageError, StcompileError
from tests.diagnostics.refusals import Refusals, excerpts

refused = Refusals()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)

# --- what is returned ----------------------------------------------------------------------------


@refused(X, at="x * 2", reason=r"returns an array of shape \(2, 3\)", hint=r"np\.sum",
         error=DerivativeError)  # fmt: skip
def an_array_returned(x):
    return x * 2


@refused(X, at="np.sum(x), np.sum(x * x)", reason="returns a tuple", error=DerivativeError)
def a_tuple_returned(x):
    return np.sum(x), np.sum(x * x)


@refused(X, at="def nothing_returned(x):", reason="returns.*None", error=DerivativeError)
def nothing_returned(x):
    np.sum(x)


@refused(X, at='"text"', reason="returns a str", error=DerivativeError)
def a_string_returned(x):
    return "text"


@refused(X, at="np.argmax(x)", reason="i64|int64", hint="float", error=DerivativeError)
def an_integer_returned(x):
    return np.argmax(x)


@refused(X, at="np.any(x > 1)", reason="b8|bool", hint="float", error=DerivativeError)
def a_boolean_returned(x):
    return np.any(x > 1)


@refused(X, at="np.sum(x * 1j)", reason="c128|complex", error=DerivativeError)
def a_complex_number_returned(x):
    return np.sum(x * 1j)


# --- `wrt` ---------------------------------------------------------------------------------------


@refused(X, 2.0, wrt=2, at="def an_unknown_index(x, y):", reason="`wrt=2`",
         hint="x, y", error=DerivativeError)  # fmt: skip
def an_unknown_index(x, y):
    return np.sum(x) * y


@refused(X, 2.0, wrt="z", at="def an_unknown_name(x, y):", reason="`wrt='z'`",
         hint="x, y", error=DerivativeError)  # fmt: skip
def an_unknown_name(x, y):
    return np.sum(x) * y


@refused(X, 2.0, wrt=("x", "z"), at="def one_unknown_name(x, y):", reason="`wrt='z'`",
         error=DerivativeError)  # fmt: skip
def one_unknown_name(x, y):
    return np.sum(x) * y


@refused(X, 2.0, wrt=1.5, at="def no_index_at_all(x, y):", reason="`wrt=1.5`",
         error=DerivativeError)  # fmt: skip
def no_index_at_all(x, y):
    return np.sum(x) * y


@refused(np.arange(3), at="def an_integer_array(n):", reason="integer type.*no gradient",
         hint="floating point", error=DerivativeError)  # fmt: skip
def an_integer_array(n):
    return np.sum(n * 2.0)


@refused(X, 3, wrt="n", at="def a_python_integer(x, n):", reason="n is the int 3.*static",
         hint="float", error=DerivativeError)  # fmt: skip
def a_python_integer(x, n):
    return np.sum(x) * n


@refused(X, True, wrt=1, at="def a_boolean(x, flag):", reason="bool True", error=DerivativeError)
def a_boolean(x, flag):
    return np.sum(x) * flag


@refused(
    "text",
    at="def a_string(name):",
    reason="`name` is a str: derivatives are by arrays",
    error=DerivativeError,
)
def a_string(name):
    return len(name) * 1.0


@refused({"w": X, "n": [np.arange(3)]}, wrt="params", at="def an_integer_inside(params):",
         reason=r'params\["n"\]\[0\].*integer', error=DerivativeError)  # fmt: skip
def an_integer_inside(params):
    return np.sum(params["w"] + params["n"][0])


# --- calls ---------------------------------------------------------------------------------------


@refused(at="def a_missing_argument(x):", reason="missing.*'x'", hint="", error=ArgumentsError)
def a_missing_argument(x):
    return np.sum(x)


@refused(X, X, at="def too_many_arguments(x):", reason="too many", hint="", error=ArgumentsError)
def too_many_arguments(x):
    return np.sum(x)


def helper(x, scale=1.0, *, shift):
    return x * scale + shift


@refused(X, at="helper(x, 2.0)", reason=r"helper\(x, scale=1.0, \*, shift\).*missing.*'shift'",
         hint="", error=ArgumentsError)  # fmt: skip
def a_missing_keyword(x):
    return np.sum(helper(x, 2.0))


@refused(X, at="helper(x, shifts=2)", reason="shift", hint="", error=ArgumentsError)
def an_unknown_keyword(x):
    return np.sum(helper(x, shifts=2))


@refused(X, at="helper(x, x=x, shift=1)", reason="'x'", hint="", error=ArgumentsError)
def an_argument_given_twice(x):
    return np.sum(helper(x, x=x, shift=1))


@refused(X, at="inner(x, x)", reason=r"inner\(y\).*too many", hint="", error=ArgumentsError)
def too_many_for_a_nested_function(x):
    def inner(y):
        return y

    return np.sum(inner(x, x))


@refused(X, at="np.tanh()", reason=r"np\.tanh", hint="", error=ArgumentsError)
def a_missing_argument_of_numpy(x):
    return np.sum(x) * np.tanh()


@refused(X, at="np.sum(x, axes=0)", reason="`axes` of `np.sum`", error=LanguageError)
def an_unknown_keyword_of_numpy(x):
    return np.sum(x, axes=0)


@refused(X, at="x.sum(0, 1, 2, 3, 4, 5, 6)", reason="sum", hint="", error=ArgumentsError)
def too_many_for_a_method(x):
    return np.sum(x.sum(0, 1, 2, 3, 4, 5, 6))


test_refusal = refused.tests()


@pytest.mark.parametrize("keywords", [{"y": 1.0}, {"z": 2, "y": X}])
def test_unknown_keywords_of_the_function_itself(keywords):
    def loss(x):
        return np.sum(x)

    with pytest.raises(ArgumentsError, match="unexpected keyword") as caught:
        st.grad(loss)(X, **keywords)
    assert excerpts(str(caught.value))[0].underlined.startswith("def loss")


class Matrix(np.ndarray):
    """A subclass of arrays, which may redefine every operator."""


@pytest.mark.parametrize(
    "value",
    [
        np.array(["a", "b"]),
        np.array([1, None]),
        np.array(["2001-01-01"], "datetime64[D]"),
        np.zeros(3, [("a", float)]),
        np.ma.masked_array([1.0, 2.0], mask=[True, False]),
        np.ones(3).view(Matrix),
        [np.array(["a"])],
    ],
    ids=lambda value: type(value).__name__ + getattr(value, "dtype", np.dtype("O")).name,
)
def test_arrays_that_are_no_numbers(value):
    def loss(x):
        return np.sum(x[0])

    with pytest.raises(StcompileError, match=r"cannot be compiled|not|no gradient") as caught:
        st.grad(loss)(value)
    assert caught.value.hint


@pytest.mark.parametrize("transform", [st.grad, st.value_and_grad, st.differentiable])
@pytest.mark.parametrize("thing", [3, None, np.ones(3), "loss"], ids=repr)
def test_what_is_no_function(transform, thing):
    with pytest.raises((StcompileError, TypeError), match="function|callable"):
        transform(thing)(X)


@pytest.mark.parametrize(
    "builtin", [dict, np.sum, np.ndarray.sum], ids=["dict", "np.sum", "ndarray.sum"]
)
def test_a_function_without_source_says_so(builtin):
    with pytest.raises(StcompileError) as caught:
        st.grad(builtin)({"w": X})
    assert "<unknown>" not in str(caught.value)


def test_a_container_that_cannot_be_traced():
    def loss(x, names):
        return np.sum(x) * len(names)

    with pytest.raises(ArgumentsError, match="names is a set") as caught:
        st.grad(loss)(X, {"a", "b"})
    assert "dict, list or tuple" in caught.value.hint


def test_an_int_that_keeps_changing_warns():
    def loss(x, n):
        return np.sum(x) * n

    gradient = st.grad(loss)
    with pytest.warns(UserWarning, match=r"compiled \d+ times.*float"):
        for n in range(50):
            gradient(X, n)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: st.optim.SGD(-1.0), "lr must be 0 or more"),
        (lambda: st.optim.SGD(0.1, clip_value=0.0), "clip_value must be positive"),
    ],
    ids=["lr", "clip_value"],
)
def test_optimizer_options(make, reason):
    with pytest.raises(ValueError, match=reason):
        make()


def test_a_training_step_needs_arrays():
    step = st.train_step(lambda p: p[0] * 2.0, st.optim.SGD(0.1))
    with pytest.raises(DerivativeError, match="in place") as caught:
        step((1.0,))
    assert "np.array" in caught.value.hint
