"""What the tests of control flow share: second order, and programs that have to be refused."""

from __future__ import annotations

import ast
import copy
import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import Example, check_gradient, leaves, totalled, weigh

REFUSALS = (st.LanguageError, st.TypingError, st.DerivativeError)
HERE = "# here"  # ends the lines that a refusal may point at

# What programs are run with.
X = np.array([0.4, -0.7, 1.3])
M = np.array([[0.5, -0.2, 0.1], [0.3, 0.8, -0.4], [-0.6, 0.2, 0.9]])
ROWS = np.sin(np.arange(60.0)).reshape(20, 3)
SERIES = np.cos(0.7 * np.arange(24.0))
FEW, MANY = SERIES[:5], SERIES


def check_second_order(example: Example) -> None:
    """The gradient of a weighted sum of the gradient by the first argument, against differences
    of the first gradient."""
    first = st.grad(totalled(example.function, example.function(*example.args)))

    def slope(*args):
        return weigh(first(*args), 2)

    check_closely(Example(slope, example.args))


def check_closely(example: Example) -> None:
    """Value and gradient of a function of a gradient, which rounds as its compilation does."""
    function, args = example.function, example.args
    total = totalled(function, function(*args))
    value, gradient = st.value_and_grad(total)(*args)
    np.testing.assert_allclose(value, total(*args), rtol=1e-12, atol=1e-12)
    check_gradient(total, args, 0, gradient, rtol=1e-5)


def check_float32(example: Example) -> None:
    """With float32 arguments, the result and the gradient are float32."""
    gradient = example.check()
    for leaf in (*leaves(example.function(*example.args)), *leaves(gradient)):
        assert np.asarray(leaf).dtype == np.float32 or isinstance(leaf, float)


def assert_refused(example: Example) -> None:
    """The function is refused, at a line that ends with ``# here`` if it has such lines."""
    example.function(*copy.deepcopy(example.args))  # plain Python runs it
    with pytest.raises(REFUSALS) as caught:
        st.grad(example.function, example.wrt)(*example.args)
    assert_at_the_users_line(caught.value, example.function)


def assert_at_the_users_line(error: st.StcompileError, function: Callable[..., Any]) -> None:
    """The message shows a line of ``function``; a marked one if the function marks lines."""
    text, first = inspect.getsourcelines(function)
    lines = {first + i for i, line in enumerate(text) if line.rstrip().endswith(HERE)}
    file = os.path.basename(function.__code__.co_filename)
    shown = [f"{file}:{line}" for line in sorted(lines or range(first, first + len(text)))]
    message = str(error)
    assert any(f"{place}," in message or f"{place}\n" in message for place in shown), message
    assert error.reason, message


def statements(source: str) -> int:
    """The number of statements of a generated program."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(source)))


def refused_or_right(example: Example) -> None:
    """A program that may be refused, at the user's line, but must not give another result."""
    try:
        example.check()
    except REFUSALS as error:
        assert_at_the_users_line(error, example.function)
