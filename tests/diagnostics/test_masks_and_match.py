"""Where the number of items that a mask selects matters, and patterns that cannot be decided."""

from __future__ import annotations

import math

import numpy as np

import stcompile as st
from tests.diagnostics.refusals import Refusals

refused = Refusals()

X = np.linspace(-0.5, 1.5, 6).reshape(2, 3)
UNKNOWN = "selects a number of elements that is known only at run time"


@refused(X, at="np.cumsum(x[x > 1])", reason=UNKNOWN, hint=r"np\.where\(mask, x, 0\)")
def a_function_of_a_selection(x):
    return np.sum(np.cumsum(x[x > 1]))


@refused(X, at="x[x > 1].reshape", reason="`.reshape` of what a mask selects")
def a_method_of_a_selection(x):
    return np.sum(x[x > 1].reshape(-1))


@refused(X, at="x[x > 1].shape", reason="`.shape` of what a mask selects", hint="run time")
def the_shape_of_a_selection(x):
    return x[x > 1].shape[0] * x[0, 0]


@refused(X, at="x[x > 1][0]", reason=UNKNOWN)
def an_item_of_a_selection(x):
    return x[x > 1][0]


@refused(X, at="items[0] = 1.0", reason="is a copy")
def a_write_into_a_selection(x):
    items = x[x > 1]
    items[0] = 1.0
    return np.sum(items)


@refused(X, at="items += 1.0", reason="changed in place", hint=r"items = items \+ v")
def a_selection_that_changes(x):
    items = x[x > 1]
    items += 1.0
    return np.sum(items)


@refused(X, at="x[x > 1]", reason=UNKNOWN)
def a_loop_over_a_selection(x):
    total = 0.0
    for item in x[x > 1]:
        total = total + item
    return total


@refused(X, at="if x[x > 1]:", reason=UNKNOWN)
def the_truth_of_a_selection(x):
    if x[x > 1]:
        return np.sum(x)
    return 0.0


@refused(X, at="float(x[x > 1])", reason=UNKNOWN)
def a_selection_as_a_number(x):
    return float(x[x > 1])


@refused(X, at="math.exp(x[x > 1])", reason=UNKNOWN)
def a_function_of_one_number(x):
    return math.exp(x[x > 1])


@refused(X, at="x[x[:, 0] > 0] @ x.T", reason=UNKNOWN)
def a_product_of_a_selection(x):
    return np.sum(x[x[:, 0] > 0] @ x.T)


@refused(X, at="np.concatenate([x[x > 1], x[x < 0]])", reason=UNKNOWN)
def selections_joined(x):
    return np.sum(np.concatenate([x[x > 1], x[x < 0]]))


@refused(X, at="np.sum(x[x > 1], keepdims=True)", reason=UNKNOWN)
def a_reduction_that_keeps_dimensions(x):
    return np.sum(np.sum(x[x > 1], keepdims=True))


@refused(X, at="np.sum(x[x[:, 0] > 0], axis=1)", reason=UNKNOWN)
def a_reduction_of_each_item(x):
    return np.sum(np.sum(x[x[:, 0] > 0], axis=1))


@refused(X, at="st.grad(square)(x[x > 1])", reason=UNKNOWN)
def a_gradient_by_a_selection(x):
    def square(items):
        return np.sum(items * items)

    return np.sum(st.grad(square)(x[x > 1]))


@refused(X, at="y[:] = x[x > 1]", reason=UNKNOWN)
def a_selection_in_a_whole_array(x):
    y = np.zeros(3)
    y[:] = x[x > 1]
    return np.sum(y)


@refused(X, at="x[x > 1] * x[x > 0]", reason="selected by another mask", hint="same mask")
def two_masks(x):
    return np.sum(x[x > 1] * x[x > 0])


@refused(X, at="y[mask] = items", reason="selected by another mask")
def a_mask_that_changed(x):
    y = np.zeros((2, 3))
    mask = x > 1
    items = x[mask]
    mask[0] = True
    y[mask] = items
    return np.sum(y)


@refused(X, at="y[x > 1] = np.ones(4)", reason=r"shape \(4,\) may not fit", hint=r"v\[mask\]")
def a_value_of_unknown_fit(x):
    y = x * 1.0
    y[x > 1] = np.ones(4)
    return np.sum(y)


@refused(X, at="x[x > 1] * np.ones(4)", reason=r"shape \(4,\) may not fit", hint=r"v\[mask\]")
def an_operand_of_unknown_fit(x):
    return np.sum(x[x > 1] * np.ones(4))


@refused(X, at="x[x[:, 0] > 0, 1]", reason="beside other indices", hint=r"x\[:, 0\]\[mask\]")
def a_mask_beside_an_integer(x):
    return np.sum(x[x[:, 0] > 0, 1])


@refused(X, at="y[:, x[0] > 0] = 1.0", reason="beside other indices")
def a_mask_beside_a_slice(x):
    y = x * 1.0
    y[:, x[0] > 0] = 1.0
    return np.sum(y)


@refused(X, at="x[x[0] > 0]", reason=r"\(2, 3\) and \(3,\) of array and mask", error=st.TypingError)
def a_mask_of_another_shape(x):
    return np.sum(x[x[0] > 0])


@refused(X, at="x[[True]]", reason=r"\(2, 3\) and \(1,\) of array and mask", error=st.TypingError)
def a_static_mask_of_another_shape(x):
    return np.sum(x[[True]])


@refused(X, at="np.where(x > 0)", reason="indices whose number is known only at run time")
def the_places_of_a_mask(x):
    return np.sum(x[np.where(x > 0)])


@refused(X, at="np.nonzero(x)", reason="`np.nonzero` is not supported")
def the_places_that_are_not_zero(x):
    return np.sum(x[np.nonzero(x)])


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


@refused(X, 1.0, at="y", reason="`y` has a value on one path only")
def a_name_that_one_case_binds(x, n):
    match n:
        case 1.0:
            y = x * x
    return np.sum(y)


test_refusal = refused.tests()
