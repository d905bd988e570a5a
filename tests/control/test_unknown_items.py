"""Lists that got items in a loop or on a path, as many as data decides: what is known of them may
be read and changed, counted from the end that it is known from."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import HERE
from tests.programs import check

X = np.array([1.0, 2.0])
SOME, NONE = 0.4, 5.0  # how many items a loop below adds


def by_a_loop(x: Any, s: Any) -> list[Any]:
    items = [x[0] * 5.0]
    while s < 3.0:
        items.append(x[1] * s)
        s = s + 1.0
    return items


def on_a_path(x: Any, s: Any) -> list[Any]:
    items = [x[0] * 5.0]
    if s < 3.0:
        items.append(x[1])
        items.append(x[1] * 3.0)
    return items


def by_a_loop_in_a_loop(x: Any, s: Any) -> list[Any]:
    items: list[Any] = []
    for i in range(2000):  # too many to be unrolled
        t = s
        while t < 3.0:
            items.append(x[1] * t)
            t = t + 1.0
        items.append(x[0] * i)
    return items


def by_a_loop_on_a_path(x: Any, s: Any) -> list[Any]:
    items = [x[0] * 5.0, x[1]]
    if x[0] > 0.0:
        while s < 3.0:
            items.append(x[1] * s)
            s = s + 1.0
    else:
        items.pop()
    return items


MAKERS = [by_a_loop, by_a_loop_in_a_loop, by_a_loop_on_a_path]


def replaced(items: list[Any], x: Any) -> Any:
    items[0] = x[0]  # here
    return items[-1]


def replaced_by_slice(items: list[Any], x: Any) -> Any:
    items[:1] = [x[0]]  # here
    return sum(items)


def from_the_front(items: list[Any], x: Any) -> Any:
    items.append(x[0])
    return items[1]  # here


def past_the_end(items: list[Any], x: Any) -> Any:
    return items[1]  # here


def from_the_back(items: list[Any], x: Any) -> Any:
    items.extend([x[0], x[1]])
    return items[-3]  # here


def a_slice(items: list[Any], x: Any) -> Any:
    items.append(x[0])
    return sum(items[1:])  # here


def inserted(items: list[Any], x: Any) -> Any:
    items.insert(1, x[0])  # here
    return items[-1]


def inserted_before_the_last(items: list[Any], x: Any) -> Any:
    items.insert(-1, x[0])  # here
    return items[-1]


def popped(items: list[Any], x: Any) -> Any:
    items.append(x[0])
    return items.pop(1)  # here


def deleted(items: list[Any], x: Any) -> Any:
    items.append(x[0])
    del items[1]  # here
    return items[-1]


def of_a_copy(items: list[Any], x: Any) -> Any:
    copied = items.copy()
    copied.append(x[0])
    return copied[1]  # here


def of_a_sum(items: list[Any], x: Any) -> Any:
    both = [*[x[0]], x[1]] + items + [x[1]]
    return both[2]  # here


def of_a_multiple(items: list[Any], x: Any) -> Any:
    items.append(x[0])
    twice = items * 2
    return twice[-2]  # here


def all_of_them(items: list[Any], x: Any) -> Any:
    return sum(items)  # here


def of_either(items: list[Any], x: Any) -> Any:
    other = items if x[0] > 0.0 else [x[1]]  # here
    return other[0]  # here


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "use",
    [
        replaced, replaced_by_slice, from_the_front, past_the_end, from_the_back, a_slice, inserted,
        inserted_before_the_last, popped, deleted, of_a_copy, of_a_sum, of_a_multiple, all_of_them,
        of_either,
    ],
)  # fmt: skip
def test_places_that_are_not_known_are_refused(make: Any, use: Callable[..., Any]) -> None:
    def f(x: Any, s: Any) -> Any:
        return use(make(x, s), x)

    assert np.isfinite(f(X, SOME))
    with pytest.raises(
        st.LanguageError, match="appended to in a loop|items on one path"
    ) as refused:
        st.compile(f)(X, SOME)
    location = refused.value.location
    assert location is not None
    assert HERE in linecache.getline(location.file, location.line)


@pytest.mark.parametrize(
    "use",
    [
        replaced, from_the_front, past_the_end, from_the_back, a_slice, inserted,
        inserted_before_the_last, popped, deleted, of_a_copy, of_a_sum, of_a_multiple, all_of_them,
        of_either,
    ],
)  # fmt: skip
def test_all_places_are_known_where_the_length_has_a_bound(use: Callable[..., Any]) -> None:
    def f(x: Any, s: Any) -> Any:
        return use(on_a_path(x, s), x)

    check(f, X, SOME)


def at_the_end(items: list[Any], x: Any) -> Any:
    items.extend(x * 2.0)
    items[-2] *= x[1]
    items.insert(-1, x[0])
    items += [x[0] * 3.0]
    last = items.pop()
    return last * items[-1] + sum(items[-3:])


def at_the_front(items: list[Any], x: Any) -> Any:
    items.insert(0, x[0])
    items.insert(1, x[1] * 2.0)
    return items[0] * items[1]


def turned_round(items: list[Any], x: Any) -> Any:
    items.append(x[0])
    items.reverse()
    items[0] += x[1]
    return items[0]


def made_empty(items: list[Any], x: Any) -> Any:
    items.clear()
    items.append(x[0])
    return sum(items) * len(items)


@pytest.mark.parametrize("make", [by_a_loop, on_a_path])
@pytest.mark.parametrize("use", [at_the_end, at_the_front, turned_round, made_empty])
@pytest.mark.parametrize("s", [SOME, NONE])
def test_places_that_are_known(make: Any, use: Any, s: float) -> None:
    def f(x: Any, s: Any) -> Any:
        return use(make(x, s), x)

    check(f, X, s)


@pytest.mark.parametrize("s", [SOME, NONE])
def test_such_a_list_is_a_result_where_the_length_has_a_bound(s: float) -> None:
    found = st.compile(on_a_path)(X, s)
    assert type(found) is list
    assert found == on_a_path(X, s)


def test_such_a_list_is_no_result() -> None:
    with pytest.raises(st.LanguageError, match="this list is appended to"):
        st.compile(by_a_loop)(X, SOME)
