"""Containers: tuples, lists and dicts of arrays are built and taken apart at compile time."""

# ruff: noqa: PIE800, C417, UP031 (programs of the language, not of the best style)
from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

examples = Examples()

X = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
Y = np.cos(X)
LAYERS = [("first", 2.0), ("second", 3.0)]


@examples(X, Y, wrt=(0, 1))
def tuples(x, y):
    pair = x, y
    (a, b), c = pair, 2.0
    a, b = b, a
    return (*pair, a * c), pair[0] - pair[-1], len(pair) * b


@examples(X)
def starred_assignment(x):
    first, *middle, last = [x, x * 2, x * 3, x * 4]
    (a, *_), [*_, b] = (x, 1), (2, x)
    return first + last, middle[0] * middle[1], len(middle), a * b


@examples(X, Y)
def lists(x, y):
    items = [x, y]
    items.append(x * y)
    items.extend([y * y, x])
    items.insert(0, x + 1)
    last = items.pop()
    items += [last * 2]
    items[1] = items[1] * 3
    return items, items[::2], items[-1], [*items[:2], x] + [y] * 2, len(items)


@examples(X, Y)
def a_list_is_shared_not_copied(x, y):
    items = [x]
    same = items
    copy = list(items)
    same.append(y)
    same += [x]
    items = items + [y]
    return len(same), len(copy), len(items), same, copy, items


@examples(X, Y, wrt=(0, 1))
def dicts(x, y):
    d = {"x": x, **{"y": y}, 3: x * y}
    d["z"] = d["x"] + d.get("y") + d.get("missing", 1.0)
    d.update(y=y * 2)
    d.setdefault("w", x)
    removed = d.pop(3)
    return d, removed, "x" in d, "q" in d, len(d), d | {"u": y}


@examples(X)
def iteration_over_dicts(x):
    d = {"b": x, "a": x * x}
    total = 0.0
    for name in d:
        total = total + d[name] * len(name)
    for name, value in d.items():
        total = total + (value if name == "a" else -value)
    return total, list(d), [v * 2 for v in d.values()], sorted(d), {k: v + 1 for k, v in d.items()}


@examples(X)
def comprehensions(x):
    squares = [x**n for n in range(4) if n % 2]
    nested = [[x * i + j for j in range(i)] for i in range(3)]
    flat = [a for row in nested for a in row if len(row) > 1]
    table = {n: x * n for n in (1, 2)}
    names = {name.upper() for name, _ in LAYERS}
    return squares, nested, flat, table, len(names), sum(x * n for n in range(3))


@examples(X)
def comprehensions_have_a_scope_of_their_own(x):
    n = 5
    values = [n * x for n in range(3)]
    return values[0] + n


@examples(X, Y)
def loops_in_step(x, y):
    total = x * 0
    for i, (a, b) in enumerate(zip([x, y], (y, x)), start=1):
        total = total + i * a * b
    for a, b in zip(reversed([x, y]), range(10, 0, -3)):
        total = total + a * b
    for i in range(len([x, y])):
        total = total - i
    return total


@examples(X)
def rows_of_an_array(x):
    first, second = x
    total = 0.0
    for row in x:
        total = total + row * row[0]
    return total, first - second, [np.sum(row) for row in x], [a * b for a, b in zip(x, x[::-1])]


@examples(X)
def zip_stops_at_the_shortest(x):
    return [a * n for a, n in zip([x, x * 2, x * 3], [5, 7])], len(list(zip([1], [])))


@examples(X)
def iterators_are_used_up(x):
    generated = (x * n for n in range(3))
    zipped = zip([x, x], [1, 2])
    counted = enumerate([x])
    mapped = map(lambda n: x * n, [1, 2])
    lengths = [len(list(it)) for it in (generated, zipped, counted, mapped)]
    again = [len(list(it)) for it in (generated, zipped, counted, mapped)]
    return lengths, again, x


@examples(X)
def iterators_go_on_where_they_were(x):
    numbers = iter([1, 2, 3])
    first = next(numbers)
    rest = [x * n for n in numbers]
    return x * first, rest, next(numbers, 0.5) * x


@examples(X)
def one_iterator_read_in_step(x):
    numbers = iter([x, x * 2, x * 3, x * 4])
    return [a * b for a, b in zip(numbers, numbers)]


@examples(X)
def generator_expressions(x):
    return sum(x * n for n in range(3)), tuple(x + n for n in range(2)), max(n for n in (1, 5, 2))


@examples(X)
def static_containers_are_python(x):
    sizes = sorted({4, 2, 8}, reverse=True)
    names = ", ".join(str(size) for size in sizes)
    total = sum(sizes) + min(sizes) + max(sizes) + len(names) + sizes.index(4) + names.count(",")
    return x * total, any(s > 4 for s in sizes), all(s > 4 for s in sizes), names


@examples(X)
def membership_and_identity(x):
    items = [x, None]
    return (
        x * (items[1] is None),
        items[0] is x,
        items[0] is not x,
        3 in (1, 2, 3),
        "a" not in {"b": x},
    )


@examples(X)
def strings(x):
    name = f"layer{2:03d}-{'a'!r}"
    return {name: x, name[0] + "%d" % 3: x * len(name)}, name.startswith("layer"), "a".upper()


class Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray


@examples(X, Y)
def namedtuples(x, y):
    pair = Pair(x, right=y)
    left, right = pair
    other = pair._replace(left=right)
    return pair.left * pair[1], left - right, other.left + other.right, len(pair)


class Named(NamedTuple):
    name: str
    power: int


@examples(X)
def namedtuples_of_texts(x):
    named = Named("abc", 2)
    listed = Named(["a", "b"], power=3)
    return x**named.power, x * len(named.name), x * listed.power, len(listed.name), named.name


@examples(X)
def arrays_from_lists(x):
    s = np.sum(x)
    return (
        np.array([s, 2.0, s * s]),
        np.array([[s, 1], [0, s]]),
        np.stack([x, x * 2]),
        np.array([x[0], x[1] * 2]),
        np.array([1, 2, 3]) * s,
    )


test_program = examples.tests()


def test_items_are_deleted():
    def loss(x):
        parts = {"a": x * 2, "b": x * x, "c": x}
        rows = [x[0], x[1], x[0] * x[1]]
        del parts["b"], rows[0], rows[-1]
        for i in range(30):
            rows.append(x[0] * i)
            del rows[1]
        return np.sum(parts["a"]) * rows[0] + len(parts) + len(rows)

    x = np.array([2.0, 3.0])
    value, gradient = st.value_and_grad(loss)(x)
    assert value == loss(x)
    np.testing.assert_array_equal(gradient, [6.0, 16.0])


def test_traced_numbers_in_sets_and_arrays():
    def loss(x, items):
        result = x * 3
        if x in {1.0, 2.0}:
            result = result + x * x
        if x not in frozenset((2.0, 4.0)):
            result = result * 2
        if x in items:
            result = result + np.sum(items)
        return result + (5.0 not in items[:1])

    items = np.array([1.0, 3.0])
    for x in (1.0, 2.0, 3.0, 5.0):
        for y in (items, items + 4.0):
            value, (by_x, by_items) = st.value_and_grad(loss, wrt=(0, 1))(x, y)
            assert value == loss(x, y)
            slope = (3 + 2 * x * (x in (1.0, 2.0))) * (1 if x in (2.0, 4.0) else 2)
            assert by_x == slope
            np.testing.assert_array_equal(by_items, np.full(2, float(x in y)))


@examples(X)
def lists_take_the_rows_of_arrays(x):
    y = x * 2.0
    items = [x[0]]
    items.extend(y)
    items.extend(items)
    items[1][0] = 5.0  # a view of y
    items[2:4] = y
    items[:1] = (row * 3.0 for row in x)
    items[-1:] = []
    return sum(k * item for k, item in enumerate(items)), y


class Weighs:
    def __init__(self, weight):
        self.weight = weight

    def __radd__(self, items):
        return self.weight * len(items)


@examples(X)
def operators_of_what_a_list_is_changed_by(x):
    items = counts = [1.0, 2.0, 3.0]
    items += x  # no list any more: NumPy's sum
    scales = [1, 2, 3]
    scales *= x[0]
    weighed = [x[0], x[1]]
    weighed += Weighs(x[0, 1])
    named = {"a": [x[0, 0]]}
    named["a"] += x[0]
    return items * len(counts), scales, weighed, named["a"]


@examples(X)
def an_iterator_in_a_list_is_used_up_once(x):
    held = []
    held.append(zip(x[0], x[1], strict=True))
    first, second = list(held[0]), list(held[0])
    return first[1][0] * len(first) + len(second)


TOLD = b"2.5;3"


@examples(X)
def methods_of_bytes(x):
    first, second = TOLD.split(b";")
    return x * float(first.decode()) * (2 if second.isdigit() else 1)


class Unhashable:
    def __eq__(self, other):
        return self is other


@pytest.mark.parametrize(
    "program",
    [
        lambda x: {Unhashable(): x},
        lambda x: {[1]: x},
        lambda x: {"a": x}[[1]],
        lambda x: len({(1, [2])}) * x,
        lambda x: x * ([1] in {1: 2}),
        lambda x: dict([({}, x)]),  # noqa: C406
        lambda x: len(set([[1]])) * x,  # noqa: C405
    ],
)
def test_unhashable_keys_are_refused_as_in_python(program):
    with pytest.raises(TypeError) as plain:
        program(2.0)
    told = re.search(r"unhashable type: '\w+'", str(plain.value))  # Python 3.14 says more
    assert told is not None
    with pytest.raises(st.TypingError, match=told[0]):
        st.compile(program)(2.0)
