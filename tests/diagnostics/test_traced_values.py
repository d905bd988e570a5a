"""Control flow, keys, lengths and texts that depend on traced values are refused."""

from __future__ import annotations

import numpy as np

import stcompile as st
from tests.diagnostics.refusals import Refusals

refused = Refusals()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
ITEMS = [1.0, 2.0]


@refused(
    X,
    at="x > 1",
    reason=r"truth .* shape \(2, 3\) is ambiguous",
    hint="np.any",
    error=st.TypingError,
)
def the_truth_of_an_array(x):
    if x > 1:
        return np.sum(x)
    return np.sum(x * x)


@refused(X, at="y", reason="`y` is f64\\[3\\] on one path and None on the other", hint="all paths")
def a_name_with_a_value_on_one_path(x):
    y = None
    if np.sum(x) > 0:
        y = x[0]
    return np.sum(x[0] * y)


@refused(X, at="x[0] if x[0, 0] > 1 else x", reason=r"f64\[3\] on one path and f64\[2,3\]")
def two_shapes(x):
    return np.sum(x[0] if x[0, 0] > 1 else x)


@refused(1.0, at="rows", reason="a tuple of 1 item on one path and a list of 2 items on")
def a_list_or_a_tuple(s):
    rows, others = [s, s * 2], (s * 3,)
    if s > 0:
        rows = others
    return rows[0]


@refused(1.0, at="named", reason="`named` is not the same dict on both paths")
def two_sets_of_keys(s):
    named, others = {"a": s}, {"b": s * 2}
    if s > 0:
        named = others
    return named["a"]


@refused(1.0, at="chosen", reason="`chosen` is not the same function on both paths")
def two_functions(s):
    def double(v):
        return v * 2

    def half(v):
        return v / 2

    chosen = double
    if s > 0:
        chosen = half
    return chosen(s)


@refused(X, at="c += 1", reason="may be either of two arrays", hint=r"x\.copy\(\)")
def a_write_into_one_of_two(x):
    a, b = x * 1, x * 2
    c = a if x[0, 0] > 1 else b
    c += 1
    return np.sum(a) + np.sum(b)


@refused(1.0, at="chosen.append", reason="a list that may be either of two", hint="a copy")
def a_change_of_either_list(s):
    first, second = [s], [s * 2]
    chosen = first if s > 0 else second
    chosen.append(s)
    return first[-1] + second[-1]


@refused(1.0, at='chosen["a"] = s', reason="a dict that may be either of two", hint="a copy")
def a_change_of_either_dict(s):
    first, second = {"a": s}, {"a": s * 2}
    chosen = first if s > 0 else second
    chosen["a"] = s
    return first["a"] + second["a"]


@refused(2.0, at="h", reason=r"`h` is 0\.0 on one path and f64\[3\] on the other")
def a_loop_that_changes_a_type(x):
    h = 0.0
    while x > 1:
        h = h + x * np.ones(3)
        x = x / 2
    return np.sum(h)


@refused(2.0, at="sum(items)", reason="appended to in a loop", hint="array")
def a_list_of_unknown_length(x):
    items = []
    while x > 1:
        items.append(x)
        x = x / 2
    return sum(items)


class Unphysical(Exception):
    """An error of the user's own, which is made in a way of its own."""

    def __init__(self, value):
        super().__init__(value, "is unphysical")


@refused(2.0, at="raise Unphysical(x)", reason="raising Unphysical", hint="ValueError")
def another_error(x):
    if x > 1:
        raise Unphysical(x)
    return x


@refused(X, at='sorted([(x[0, 0], "a"), (x[0, 1], "b")])', reason="compares a str", hint="number")
def a_traced_sort(x):
    return sorted([(x[0, 0], "a"), (x[0, 1], "b")])[0][0]


@refused(X, at="x[: int(x[0, 0]) : -2]", reason="slice that runs backwards", hint="first")
def a_traced_slice_bound(x):
    return np.sum(x[: int(x[0, 0]) : -2])


@refused(
    X,
    at="ITEMS[int(x[0, 0])]",
    reason="indexed by a value known only at run time",
    hint=r"np\.stack",
)
def a_traced_list_index(x):
    return x[0, 0] * ITEMS[int(x[0, 0])]


@refused(X, at="{x[0, 0]: 1}", reason="known only at run time")
def a_traced_key(x):
    return x[0, 0] * len({x[0, 0]: 1})


@refused(X, at="[1.0, 2.0].count(x[0, 0])", reason="known only at run time")
def a_traced_count(x):
    return x[0, 0] * [1.0, 2.0].count(x[0, 0])


@refused(X, at="{1.0: 2.0}.get(x[0, 0], 3.0)", reason="known only at run time")
def a_traced_lookup(x):
    return x[0, 0] * {1.0: 2.0}.get(x[0, 0], 3.0)


@refused(X, at="x[0, 0] is x[1, 1]", reason="one object")
def the_identity_of_numbers(x):
    return x[0, 0] if x[0, 0] is x[1, 1] else x[1, 1]


@refused(X, at="[1] * int(x[0, 0])", reason="a number that is known only at run time")
def a_traced_repetition(x):
    return x[0, 0] * len([1] * int(x[0, 0]))


@refused(X, at="len(f'{x[0, 0]}')", reason="the length of text")
def a_traced_f_string(x):
    return x[0, 0] * len(f'{x[0, 0]}')  # fmt: skip


@refused(X, at='str(x[0, 0]) == "1.0"', reason="known only at run time")
def a_comparison_of_text(x):
    return x[0, 0] if str(x[0, 0]) == "1.0" else x[0, 1]


test_refusal = refused.tests()
