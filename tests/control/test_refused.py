"""What has no fixed structure or storage when a condition is traced is refused, never wrong.

Plain Python runs every program here with the given arguments. The message has to show a line that
ends with ``# here``.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import X, assert_refused, refused_or_right
from tests.programs import Examples

refused = Examples(assert_refused)
only_when_reached = Examples()
may_be_refused = Examples(refused_or_right)


# --- storage that depends on the path ------------------------------------------------------------


@refused(X, 1.0)
def a_write_into_one_of_two_arrays(x, s):
    a, b = x * 2, x * 3
    c = a if s > 0 else b  # here
    c += 1  # here
    return np.sum(a * b)


@refused(X, 1.0)
def an_element_of_one_of_two_arrays(x, s):
    a, b = x * 2, x * 3
    if s > 0:  # here
        c = a
    else:
        c = b
    c[0] = 7.0  # here
    return np.sum(a) * b[0]


@refused(X, 1.0)
def a_write_into_one_of_two_views(x, s):
    y = x * 2
    part = y[:2] if s > 0 else y[1:]  # here
    part *= 3  # here
    return np.sum(y * y)


@refused(X, 1.0)
def a_write_through_a_view_of_either(x, s):
    a, b = x * 2, x * 3
    c = a if s > 0 else b  # here
    tail = c[1:]
    tail[:] = 0.5  # here
    return np.sum(a * b)


@refused(X, 1.0)
def a_write_by_a_helper_into_either(x, s):
    def fill(target):
        target[0] = 1.0  # here

    a, b = x * 2, x * 3
    fill(a if s > 0 else b)  # here
    return np.sum(a * b)


@refused(X, 1.0)
def a_write_into_an_argument_on_one_path(x, s):
    y = x  # here
    if s > 0:  # here
        y = x.copy()
    y[0] = 2.0  # here
    return np.sum(y * y)


# --- attributes on one path only ------------------------------------------------------------------


class Plain:
    """An object without attributes."""


@refused(X, 1.0)
@refused(X, -1.0)
def whether_there_is_an_attribute_of_one_path(x, s):
    one = Plain()
    if s > 0:  # here
        one.b = x
    return np.sum(x) + hasattr(one, "b")  # here


@refused(X, 1.0)
@refused(X, -1.0)
def how_many_attributes_there_are(x, s):
    one = Plain()
    one.b = x
    if s > 0:  # here
        del one.b
    return np.sum(x) + len(vars(one))  # here


@refused(X, 1.0)
def a_key_of_one_path(x, s):
    table = {"a": x}
    if s > 0:  # here
        table["b"] = x * 2
    return np.sum(table["b"])  # here


class Holder:
    """An object that is given its value later."""

    def __init__(self):
        self.name = "empty"


@refused(X, 1.0)
def an_attribute_of_one_path(x, s):
    holder = Holder()
    if s > 0:  # here
        holder.value = x * 2
    return np.sum(holder.value)  # here


# --- lists of other lengths ----------------------------------------------------------------------


@refused(X, 2.5)
def a_list_stacked_after_a_while_loop(x, s):
    seen = [x]
    while s > 0:  # here
        seen.append(x * s)
        s = s - 1
    return np.sum(np.stack(seen) * np.arange(len(seen))[:, None])  # here


# --- results of other structures -----------------------------------------------------------------


@refused(X)
def a_pair_or_a_number(x):
    def pick(v):
        if v > 0:  # here
            return v, v * 2  # here
        return v  # here

    return pick(x[0])[1]  # here


@refused(X)
def tuples_of_other_lengths(x):
    pair = (x[0], x[1]) if x[0] > 0 else (x[2],)  # here
    return pair[-1]  # here


@refused(X)
def dicts_of_other_keys(x):
    def pick(v):
        if v > 0:  # here
            return {"a": v}  # here
        return {"b": v}  # here

    return sum(pick(x[0]).values())  # here


@refused(X)
def a_result_or_none(x):
    def pick(v):
        if v > 0:  # here
            return v * 2  # here

    return pick(x[0]) * 3  # here


@refused(X)
def a_function_without_a_result_on_one_path(x):
    if x[0] > 0:
        return np.sum(x)


@refused(X)
def a_number_or_a_pair_for_the_caller(x):
    if x[0] > 0:
        return np.sum(x)
    return np.sum(x), 2.0


@refused(X)
def a_number_or_a_text_for_the_caller(x):
    if x[0] > 0:
        return np.sum(x)
    return "negative"


@refused(X, 4)
@refused(X, 40)
def other_structures_from_a_loop(x, n):
    def pick(v):
        for k in range(n):  # here
            v = v * 0.9
            if v < 0.3:  # here
                return v, k  # here
        return v  # here

    return pick(x[0])[0]  # here


# --- other shapes and dtypes ---------------------------------------------------------------------


@refused(X, 1.0)
def other_shapes(x, s):
    y = x[:2] if s > 0 else x  # here
    return np.sum(np.outer(y, y))  # here


@refused(X, 1.0)
def an_array_that_grows(x, s):
    while s > 0:  # here
        x = np.concatenate([x, x])  # here
        s = s - 1
    return np.sum(x * x)


@refused(X, 1.0)
def a_tuple_that_grows(x, s):
    parts = (x,)
    while s > 0:  # here
        parts = (*parts, x * s)  # here
        s = s - 1
    return np.sum(parts[-1])  # here


# --- what would have to be chosen at run time ----------------------------------------------------


@refused(1.7)
def recursion_without_a_static_end(a):
    def halved(v):
        if v < 1:  # here
            return v
        return halved(v * 0.5)  # here

    return halved(a) * a  # here


class Sine:
    """One class of two."""

    def apply(self, v):
        return np.sin(v)


class Cosine:
    """The other."""

    def apply(self, v):
        return np.cos(v)


@refused(X, np.asarray(1))
def an_element_of_a_list_of_functions(x, n):
    return np.sum([np.sin, np.cos][n](x))  # here


# --- where nothing is read afterwards, nothing is refused ----------------------------------------


@only_when_reached(X, 1.0)
@only_when_reached(X, -1.0)
def a_name_of_one_path_that_is_not_read(x, s):
    if s > 0:
        y = x * 2
        x = y * y
    return np.sum(x * x)


@only_when_reached(X, 1.0)
@only_when_reached(X, -1.0)
def a_name_read_on_its_own_path(x, s):
    if s > 0:
        y = x * 2
        x = y + 1
    if s < 5:
        y = x * 3
        x = y * y
    return np.sum(x)


@only_when_reached(X, 1.0)
@only_when_reached(X, -1.0)
def other_shapes_that_stay_inside(x, s):
    if s > 0:
        y = x[:2]
        total = np.sum(y * y)
    else:
        y = x
        total = np.sum(y)
    y = total * x
    return np.sum(y)


@only_when_reached(X, 1.0)
@only_when_reached(X, -1.0)
def either_array_after_a_copy(x, s):
    a, b = x * 2, x * 3
    c = a if s > 0 else b
    c = c.copy()
    c += 1
    return np.sum(a * b * c)


test_refused = refused.tests()
test_not_refused = only_when_reached.tests()


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def objects_of_two_classes(x, s):
    function = Sine() if s > 0 else Cosine()
    return np.sum(function.apply(x))


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def other_lists_that_stay_inside(x, s):
    items = [x[0]]
    if s > 0:
        items.append(x[1])
        total = sum(items)
    else:
        items = []
        total = x[2]
    items = [total, total * x[0]]
    return items[0] * items[1]


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def a_name_read_where_it_has_a_value(x, s):
    if s > 0:
        y = x * 2
    if s < 5:
        y = x * 3
    return np.sum(y * x)


@may_be_refused(X, 1.0)
@may_be_refused(X, -1.0)
def an_array_or_a_number(x, s):
    y = np.sin(x) if s > 0 else 1
    return np.sum(y * x)


test_refused_or_right = may_be_refused.tests()


def test_every_refusal_names_a_line_and_a_way_out():
    def loss(x, s):
        y = [x]
        while s > 0:
            y.append(x * s)
            s = s - 1
        return np.sum(np.stack(y))

    with pytest.raises(st.LanguageError) as caught:
        st.grad(loss)(X, 1.0)
    first = inspect.getsourcelines(loss)[1]
    assert caught.value.location is not None
    assert caught.value.location.line in range(first, first + 6)
    assert caught.value.hint
