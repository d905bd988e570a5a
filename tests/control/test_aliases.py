"""Arrays and containers by several names: arguments that are one, and what calls give back."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import HERE
from tests.programs import check

X = np.array([1.0, 2.0, 3.0])


@st.checkpoint
def kept(a: Any) -> Any:
    return a


@st.checkpoint
def twice(a: Any) -> Any:
    h = a * 2.0
    return h, h[1:]


@st.custom_rule(backward=lambda residuals, d: d, example=(np.ones(3),))
def ruled(a: Any) -> Any:
    return a, None


def hooked(a: Any) -> Any:
    return st.on_cotangent(a, lambda d: d)


def first_of(a: Any) -> Any:
    return st.stop_gradient({"a": [a]})["a"][0]


IDENTITIES = [st.stop_gradient, hooked, first_of, kept, ruled]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("written", ["given", "returned", "view"])
def test_what_is_given_back_is_not_written(identity: Any, written: str, level: Any) -> None:
    def f(x: Any) -> Any:
        a = x * 1.0
        b = identity(a)
        target = {"given": a, "returned": b, "view": b[1:]}[written]
        target[0] = 5.0
        return np.sum(a * b)

    with pytest.raises(st.LanguageError, match=r"(?s)target\[0\] = 5.*another name") as refused:
        st.compile(f, level=level)(X)
    assert refused.value.location is not None


@pytest.mark.parametrize("identity", IDENTITIES)
def test_a_copy_of_what_is_given_back_is_written(identity: Any) -> None:
    def f(x: Any) -> Any:
        a = x * 1.0
        b = identity(a).copy()
        b[0] = 5.0
        return np.sum(a * b) + np.sum(identity(a))

    assert st.compile(f)(X) == f(X)


def test_what_a_call_gives_twice_is_not_written() -> None:
    def f(x: Any) -> Any:
        whole, part = twice(x)
        whole[1] = 5.0
        return np.sum(part)

    with pytest.raises(st.LanguageError, match="another name"):
        st.compile(f)(X)


def test_what_is_made_anew_is_written() -> None:
    doubled = st.checkpoint(lambda a: a * 2.0)

    def f(x: Any) -> Any:
        h = doubled(x)
        h[0] = 5.0
        return np.sum(h * h)

    assert st.compile(f)(X) == f(X)


def made() -> list[Any]:
    return [X, X * 2.0]


@pytest.mark.parametrize(
    ("one", "other", "is_known"),
    [
        (made(), made(), False),
        ({"a": X}, {"a": X}, False),
        ((X, 1.0), (X, 1.0), False),
        (made(), [X], True),
        ({"a": X}, {"b": X}, True),
        (made(), None, True),
    ],
)
def test_whether_two_arguments_are_one(one: Any, other: Any, is_known: bool) -> None:
    def f(a: Any, b: Any) -> Any:
        return 1.0 if a is b else 2.0

    def g(a: Any, b: Any) -> Any:
        return 1.0 if a is not b else 2.0

    for function in (f, g):
        if is_known:
            assert st.compile(function)(one, other) == function(one, other)
        else:
            for second in (other, one):
                with pytest.raises(st.LanguageError, match="(?s)a is.*two arguments are one"):
                    st.compile(function)(one, second)


@st.checkpoint
def same(a: Any, b: Any) -> Any:
    return np.sum(a[0]) * (a is b)


def same_as_outer(x: Any) -> Any:
    items = [x, x * 2.0]
    return st.grad(lambda a: np.sum(a[0]) * (a is items))(items)[0]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (st.grad(lambda a, b: np.sum(a[0]) * (a is b)), (made(), made())),
        (st.grad(lambda a, b: np.sum(a[0]) * (a is b["q"])), (made(), {"q": made()})),
        (st.compile(lambda a: same(a, a)), (made(),)),
        (st.compile(lambda x: same([x, x], b=[x, x])), (X,)),
        (st.compile(same_as_outer), (X,)),
    ],
)
def test_nor_is_it_known_to_transformed_functions(function: Any, args: Any) -> None:
    with pytest.raises(st.LanguageError, match="two arguments are one list"):
        function(*args)


def test_containers_of_the_program_are_told_apart() -> None:
    def f(x: Any, items: Any) -> Any:
        a, b = [x], [x]
        c = a
        inner = items[0]
        return a is b, a is c, a is items, inner is items[0], inner is not items[1]

    items = [[X], [X, X]]
    assert st.compile(f)(X, items) == f(X, items) == (False, True, False, True, True)


# --- changes on the way -----------------------------------------------------------------------


def grows(x: Any) -> Any:
    table = {"a": x}
    for key in table:
        table[key + "b"] = x
    return np.sum(table["a"])


def grows_in_its_values(x: Any) -> Any:
    table = {"a": x}
    for value in table.values():
        table["b"] = value
    return np.sum(table["a"])


def shrinks(x: Any) -> Any:
    table = {"a": x, "b": x}
    return sum([np.sum(table.pop(key)) for key in table])


def changes_its_set(x: Any) -> Any:
    seen = {1, 2}
    for number in seen:
        seen.add(number + 10)
    return x[0] * len(seen)


@pytest.mark.parametrize("function", [grows, grows_in_its_values, shrinks, changes_its_set])
def test_a_change_of_what_a_loop_goes_through(function: Any) -> None:
    with pytest.raises(RuntimeError, match="changed size"):
        function(X)
    with pytest.raises(st.TypingError, match=r"(?s)\^.*changed size during iteration"):
        st.compile(function)(X)


def test_changes_that_python_allows() -> None:
    def f(x: Any) -> Any:
        table = {"a": x, "b": x * 2.0}
        for key, value in table.items():
            table[key] = value * 3.0
        for key in table:
            table["c"] = table[key]
            break
        items = [x]
        grown = [items.append(v * 2.0) or v for v in items if len(items) < 4]
        shrunk = [items.pop() for _ in items]
        return table["a"] + table["c"], len(grown), len(shrunk), sum(grown)

    ours, theirs = st.compile(f, level="readable")(X), f(X)
    assert ours[1:3] == theirs[1:3]
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[3], theirs[3])


def through_two_names(x: Any) -> Any:
    a, p, q = x * 1.0, x * 2.0, x * 3.0
    while np.sum(p) < 100.0:
        p, q = q, a
        a = a * 2.0
    held, p, q = a, p * 1.0, q * 1.0
    for _ in range(20):
        p, q = q, held
    p[1] += 5.0
    return np.sum(p * 2.0) + np.sum(q * 3.0) + np.sum(held * 5.0)


def through_three_names(x: Any) -> Any:
    a, p, q, r = x * 1.0, x * 2.0, x * 3.0, x * 4.0
    n = 0.0
    while n < x[2]:
        p, q, r = q, r, a
        n = n + 1.0
    p[0] += 1.0  # here
    return np.sum(p * 2.0) + np.sum(q * 3.0) + np.sum(r * 5.0) + np.sum(a)


def through_a_list(x: Any) -> Any:
    a, held = x * 1.0, [x * 2.0, x * 3.0]
    n = 0.0
    while n < x[2]:
        held = [held[1], a]
        n = n + 1.0
    held[0][1] += x[0]  # here
    return np.sum(held[0] * 2.0) + np.sum(held[1] * 3.0)


def on_a_path(x: Any) -> Any:
    p, q, r = x * 2.0, x * 3.0, x * 4.0
    n = 0.0
    while n < 5.0:
        if n > x[0]:
            p, q = q, r
        n = n + 1.0
    p[0] += 1.0  # here
    return np.sum(p * 2.0) + np.sum(q * 3.0) + np.sum(r)


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("function", [through_three_names, through_a_list, on_a_path])
def test_names_that_come_to_be_one_array_step_by_step(function: Any, level: Any) -> None:
    with pytest.raises(st.LanguageError, match="either of two arrays") as refused:
        st.compile(function, level=level)(X)
    location = refused.value.location
    assert location is not None
    assert HERE in linecache.getline(location.file, location.line)


def test_names_are_told_apart_where_a_loop_can_be_unrolled() -> None:
    check(through_two_names, X)


def test_arrays_that_go_through_many_names_are_read() -> None:
    def f(x: Any) -> Any:
        a = x * 1.0
        p, q, r, s, t, u, v, w = (x * k for k in range(8))
        n = 0.0
        while n < x[2] - 0.5:
            p, q, r, s, t, u, v, w = q, r, s, t, u, v, w, a
            n = n + 1.0
        return np.sum(p + 2.0 * q + 3.0 * r + s * t + u * v + w)

    check(f, X)


def test_names_that_keep_arrays_of_their_own_are_written() -> None:
    def f(x: Any) -> Any:
        p, q = x * 2.0, x * 3.0
        n = 0.0
        while n < x[2] - 0.5:
            p, q = q, q * 0.5
            p[1] += 1.0
            n = n + 1.0
        p[0] += 1.0
        return np.sum(p * 2.0) + np.sum(q * 3.0)

    check(f, X)


class Box:
    def __init__(self, held: Any) -> None:
        self.held = held


def a_name_of_a_loop(x: Any) -> Any:
    first, second = [x[0]], [x[1]]
    either = first if x[2] > 1.0 else second
    for _ in range(20):
        taken = first
    taken[0] = 100.0  # here
    return either[0] + first[0]


def a_part_of_what_a_loop_makes(x: Any) -> Any:
    first, second = {"a": x[0]}, {"a": x[1]}
    either = first if x[2] > 1.0 else second
    for _ in range(20):
        taken = (first, either)
    taken[1]["a"] = 100.0  # here
    return either["a"] + first["a"]


def an_item_that_a_loop_collects(x: Any) -> Any:
    first, second = Box(x[0]), Box(x[1])
    either = first if x[2] > 1.0 else second
    taken = []
    for _ in range(20):
        taken.append(first)
    taken[3].held = 100.0  # here
    return either.held + first.held


def an_object_step_by_step(x: Any) -> Any:
    a, p, q = Box(x[0]), Box(x[1]), Box(x[2])
    n = 0.0
    while n < x[2]:
        p, q = q, a
        n = n + 1.0
    p.held = 100.0  # here
    return p.held + q.held + a.held


@pytest.mark.parametrize(
    "function",
    [
        a_name_of_a_loop,
        a_part_of_what_a_loop_makes,
        an_item_that_a_loop_collects,
        an_object_step_by_step,
    ],
)
def test_what_may_be_either_of_two_stays_so_through_a_loop(function: Any) -> None:
    with pytest.raises(st.LanguageError, match="either of two") as refused:
        st.compile(function)(X)
    location = refused.value.location
    assert location is not None
    assert HERE in linecache.getline(location.file, location.line)


def test_objects_that_may_be_either_of_two_are_read() -> None:
    def f(x: Any) -> Any:
        a, p, q = Box(x * 1.0), Box(x * 2.0), Box(x * 3.0)
        n = 0.0
        while n < x[2] - 0.5:
            p, q = q, a
            n = n + 1.0
        either = p if x[0] > 0.0 else q
        third = either if x[1] > 5.0 else a
        return either.held * third.held + p.held * q.held

    check(f, X)
