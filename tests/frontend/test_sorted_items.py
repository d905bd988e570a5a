"""``sorted``, ``list.sort``, dicts of traced numbers, ``divmod``, alternatives of patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import check_second_order
from tests.diagnostics.refusals import Refusals
from tests.programs import Example, assert_same, check

X = np.array([3.0, -1.0, 2.0, 2.5])
refused = Refusals()


def numbers(x, a, b):
    first, *rest = sorted([a, b, 2.5, a * b])
    return first * x[0] + sum(rest) * first


def backwards(x, a, b):
    y = sorted(x, reverse=True)
    z = sorted(x, key=lambda v: -v * v)
    return y[0] * z[1] + y[2] * a


def rows(x, a, b):
    found = sorted([x, x * a, -x], key=lambda row: row[1])
    return np.sum(found[0] * x) + found[2][0]


def items_of_a_dict(x, a, b):
    weights = {"one": a, "two": b, "three": a * b}
    values = [v for _, v in sorted(weights.items(), key=lambda item: item[1])]
    return values[0] * x[0] + values[1] * x[1] * values[2]


def of_two_keys(x, a, b):
    pairs = [(a, 1.0), (b, 2.0), (a, 0.5)]
    (_, first), (_, second), _ = sorted(pairs)
    return first * x[0] + second * np.sum(x)


def in_place(x, a, b):
    items = [a, b, a - b]
    items.sort()
    others = [a, b, -a]
    others.sort(key=abs, reverse=True)
    return items[0] * x[0] + items[1] * others[0] - others[2]


def stable(x, a, b):
    items = [(a, 1.0), (b, 2.0), (a, 3.0), (b, 4.0)]
    up = sorted(items, key=lambda item: item[0])
    down = sorted(items, key=lambda item: item[0], reverse=True)
    return sum([(i + 1) * u[1] * x[i] for i, u in enumerate(up)]) + down[0][1] * a - down[2][1] * b


def dicts(x, a, b):
    d = {"a": a}
    d.setdefault("b", b)
    d.setdefault("a", b)
    taken, missing = d.pop("a"), d.pop("none", a)
    d.update({"q": a * b}, r=a)
    d |= {"s": b}
    e = d | {"b": a}
    squares = {k: v * v for k, v in e.items() if k != "q"}
    found = squares.get("r", b) * squares.get("none", b) + max(e.values()) - min(d.values())
    return np.sum(x) * found + taken * missing * sum(squares.values())


def quotients(x, a, b):
    q, r = divmod(a, b)
    n, m = divmod(x, b)
    return q * b + r * a + np.sum(n * x + m * x) + divmod(7, a)[1] * b + a // b * a + a % b


def alternatives(x, a, b):
    match (a, b):
        case (3.0, y) | (y, 3.0):
            return y * x[0]
        case (y, 7.0 as z) | (y, z):
            return y * z * x[1]


PROGRAMS = (
    numbers, backwards, rows, items_of_a_dict, of_two_keys, in_place, stable, dicts, quotients,
    alternatives,
)  # fmt: skip


@pytest.mark.parametrize(("a", "b"), [(3.1, 1.3), (1.2, 2.9), (-2.3, 7.0)])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function: Callable[..., Any], a: float, b: float) -> None:
    for wrt in (0, 1, 2):
        check(function, X, a, b, wrt=wrt)


@pytest.mark.parametrize(("a", "b"), [(3.0, 1.3), (1.2, 3.0), (3.0, 3.0), (3.0, 7.0)])
def test_the_alternative_that_fits(a: float, b: float) -> None:
    compiled = st.value_and_grad(alternatives, wrt=("a", "b"))
    value, slopes = compiled(X, a, b)
    assert value == alternatives(X, a, b)
    assert slopes == ((0.0, X[0]) if a == 3.0 else (X[0], 0.0))


@pytest.mark.parametrize("function", [rows, in_place, quotients], ids=lambda f: f.__name__)
def test_second_order(function: Callable[..., Any]) -> None:
    check_second_order(
        Example(
            function,
            (
                X,
                1.7,
                1.3,
            ),
        )
    )


@pytest.mark.parametrize("b", [0.0, -0.0, np.inf, -np.inf, np.nan])
def test_divisors(b: float) -> None:
    """Python's semantics for Python's floats, NumPy's for arrays."""

    def both(x, b):
        return divmod(x, b)

    with np.errstate(all="ignore"):
        for x in (np.array([1.5, -1.5, 0.0, -0.0]), np.float64(2.5)):
            for divisor in (np.float64(b), np.full(4, b)):
                for found, expected in zip(
                    st.compile(both)(x, divisor), divmod(x, divisor), strict=True
                ):
                    np.testing.assert_array_equal(found, expected)
    if b == 0:
        with pytest.raises(ZeroDivisionError):
            st.compile(both)(1.5, b)
        return
    for x in (1.5, -1.5):
        assert repr(st.compile(both)(x, b)) == repr(divmod(x, b))


@refused(X, 1.0, 2.0, at="sorted(names.items(), key=lambda item: item[1])[0][0]", reason="only at")
def a_name_that_data_decides(x, a, b):
    names = {"one": a, "two": b}
    return names[sorted(names.items(), key=lambda item: item[1])[0][0]]


@refused(X, 1.0, 2.0, at="max(names, key=names.get)", reason="'one' or 'two'", hint="values()")
def the_key_of_a_maximum(x, a, b):
    names = {"one": a, "two": b}
    return names[max(names, key=names.get)]


@refused(X, 1.0, 2.0, at='sorted([(a, "x"), (b, "y")])', reason="compares a str", hint="number")
def keys_with_strings(x, a, b):
    return sorted([(a, "x"), (b, "y")])[0][0]


test_refusal = refused.tests()


def test_known_parts_decide_before_traced_ones() -> None:
    """What comes after the first difference of two tuples is not compared."""

    def by_name(x):
        total = 0.0
        for place, (_, value) in enumerate(sorted({"b": x[0], "a": x[1], "c": x[2]}.items())):
            total = total * 2 + value * place
        return total

    def by_two(x):
        items = [(3, 1, x[0]), (3, 0, x[1]), (1, 2, x[2])]
        items.sort(reverse=True)
        return items[0][2] + 2 * items[1][2] + 3 * items[2][2]

    def tied(x):
        items = sorted([(3, x[0]), (3, x[1]), (1, x[2])])
        return items[0][1] + 2 * items[1][1] + 3 * items[2][1]

    for function in (by_name, by_two, tied):
        assert st.compile(function)(X) == function(X)
    np.testing.assert_array_equal(st.grad(by_two)(X), [1.0, 2.0, 3.0, 0.0])
    with pytest.raises(st.TypingError, match="'<' not supported between"):
        st.compile(lambda x: sorted([(1, x[0]), ("a", x[1])])[0][1])(X)


def test_items_are_set_by_default() -> None:
    def grouped(x):
        groups: dict[int, list] = {}
        for i in range(4):
            groups.setdefault(i % 2, []).append(x[i] * i)
        return groups[0][1] * groups[1][1] + groups.get(5, [1.0])[0]

    np.testing.assert_allclose(st.compile(grouped)(X), grouped(X))
    np.testing.assert_allclose(st.grad(grouped)(X), [0.0, 0.0, 2 * 7.5, 3 * 4.0])


@pytest.mark.parametrize("sign", [1.0, -1.0, 0.1])
def test_a_python_number_joins_those_of_numpy(sign: float) -> None:
    def numbers(x):
        items = sorted([4, 0.25, x[0], float(x[1])])
        return items[0] * 2 + items[1] * items[2] - items[3]

    def pairs(x):
        items = sorted([(2, x[0]), (x[1], 2.5)], reverse=True)
        return items[0][0] * 2 + items[1][1] * items[0][1]

    for function in (numbers, pairs):
        assert_same(st.compile(function)(sign * X), function(sign * X), function.__name__)
        check_second_order(Example(function, (sign * X,)))
    with pytest.raises(st.LanguageError, match="known only at run time"):  # which dtype it has
        st.compile(lambda x: sorted([0.1, x[0]])[0] * 2)(X.astype(np.float32))
