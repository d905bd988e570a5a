"""Names and texts that are known at compile time: `eval`, imports, methods by name."""

from __future__ import annotations

import importlib
import operator

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

examples = Examples()

V = np.array([1.1, -2.3, 3.2])
NAMES = np.array(["square", "cube"])


def square(v):
    return v * v


def cube(v):
    return v**3


@examples(V)
def texts_of_expressions(x):
    y = 2 * x
    return (
        (eval(NAMES[0] + "(x)"), eval(NAMES[1] + "(x)")),
        (
            eval(" y + x"),
            eval("[a * k for k, a in enumerate(x)]"),
            eval("(lambda v: v * square(v))(x)"),
        ),
        (eval("x ** 2 + k", {"x": x, "k": 1.0}), eval("a * b", {}, {"a": x, "b": y})),
        eval("len(a) * a", {"a": x}),
    )


@examples(V)
def in_a_kept_loop(x):
    s = 0.0
    for k in range(40):
        s = s + eval("square(x[k % 3]) * k")
    return s


@examples(V)
def methods_and_modules_by_name(x):
    return (
        operator.methodcaller("sum")(x * x),
        operator.methodcaller("reshape", (3, 1))(x),
        operator.methodcaller("sum", axis=0, keepdims=True)(x * x),
        importlib.import_module("numpy").sin(x),
    )


test_program = examples.tests()


def an_unknown_name(x):
    return np.sum(eval("square(nope)"))


def no_expression(x):
    return np.sum(eval("x +"))


def a_text_of_the_data(x):
    return np.sum(eval(f"{x[0]}"))


def what_an_expression_refuses(x):
    return np.sum(eval("np.roots(x)"))


def a_misspelt_function(x):
    return np.summ(x)


@pytest.mark.parametrize(
    ("function", "reason", "line"),
    [
        (an_unknown_name, "the name `nope` is not defined", 'eval("square(nope)")'),
        (no_expression, "SyntaxError: invalid syntax", 'eval("x +")'),
        (a_text_of_the_data, "a text that is known at compile time", 'eval(f"{x[0]}")'),
        (what_an_expression_refuses, "the roots of real coefficients", 'eval("np.roots(x)")'),
        (a_misspelt_function, "did you mean `sum`", "np.summ(x)"),
    ],
)
def test_refusals(function, reason, line):
    with pytest.raises(st.StcompileError) as caught:
        st.grad(function)(V)
    assert reason in str(caught.value)
    assert line in str(caught.value)
