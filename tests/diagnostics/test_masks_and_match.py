"""Where the number of items that a mask selects matters, and patterns that cannot be decided."""

from __future__ import annotations

import math

import numpy as np

import stcompile as st
from tests.diagnostics.refusals import Refusals

refused = Refusals()

X = np.linspace(-0.5, 1.5, 6).reshape(2, 3)


@refused(
    X,
    at="x[x > 1]",
    reason=r"the truth of an array of shape \(n.1,\) is ambiguous",
    error=st.TypingError,
)
def the_truth_of_a_selection(x):
    if x[x > 1]:
        return np.sum(x)
    return 0.0


IS_NEW = np.lib.NumpyVersion(np.__version__) >= "2.4.0"
OF_A_SELECTION = st.TypingError if IS_NEW else st.LanguageError  # NumPy took one element before


@refused(X, at="float(x[x > 1])", reason="only an array of one element", error=OF_A_SELECTION)
def a_selection_as_a_number(x):
    return float(x[x > 1])


@refused(X, at="math.exp(x[x > 1])", reason="takes one number", error=st.TypingError)
def a_function_of_one_number(x):
    return math.exp(x[x > 1])


@refused(X, at="x[x[0] > 0]", reason=r"\(2, 3\) and \(3,\) of array and mask", error=st.TypingError)
def a_mask_of_another_shape(x):
    return np.sum(x[x[0] > 0])


@refused(X, at="x[[True]]", reason=r"\(2, 3\) and \(1,\) of array and mask", error=st.TypingError)
def a_static_mask_of_another_shape(x):
    return np.sum(x[[True]])


# --- match ---------------------------------------------------------------------------------------


class Holder:
    __match_args__ = ("value",)

    def __init__(self, value):
        self.value = value

    @property
    def inverse(self):
        return 1 / self.value


@refused(X, 2.0, at='(1.0, a) | (a, "one")', reason="one path", hint="same kind of value")
def alternatives_that_capture(x, n):
    match (n, "one"):
        case (1.0, a) | (a, "one"):
            return np.sum(x) * len(a)
    return np.sum(x * x)


@refused(X, 2.0, at="Holder(value=1.0, inverse=1.0)", reason="may fail", hint="`if`")
def a_property_that_may_fail(x, n):
    match Holder(n):
        case Holder(value=1.0, inverse=1.0):
            return np.sum(x)
    return np.sum(x * x)


@refused(X, at="1.0", reason=r"truth of an array .* is ambiguous", error=st.TypingError)
def an_array_against_a_number(x):
    match x:
        case 1.0:
            return np.sum(x)
    return np.sum(x * x)


@refused(X, at="x > 0", reason=r"truth of an array .* is ambiguous", error=st.TypingError)
def a_guard_on_an_array(x):
    match len(x):
        case 2 if x > 0:
            return np.sum(x)
    return np.sum(x * x)


@refused(X, at="np.sum", reason="is not a class")
def a_pattern_of_no_class(x):
    match x:
        case np.sum(a):
            return np.sum(a)
    return np.sum(x * x)


@refused(X, at="Holder(a, b)", reason="`Holder` has 1 positional", hint="__match_args__")
def too_many_positional_patterns(x):
    match Holder(x):
        case Holder(a, b):
            return np.sum(a * b)
    return np.sum(x * x)


@refused(X, 1.0, at="y", reason="`y` is f64.* on one path and None on the other")
def a_name_that_one_case_binds(x, n):
    y = None
    match n:
        case 1.0:
            y = x * x
    return np.sum(y)


test_refusal = refused.tests()
