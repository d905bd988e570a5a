"""Each kind of expression and statement evaluates its parts in Python's order, each part once.

The programs note what they evaluate in a list, and return it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.array([0.5, -1.0, 2.0])
PROGRAMS: list[Callable[..., Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(function)
    return function


def noted(log, name, value):
    log.append(name)
    return value


def taking(*arguments, **keywords):
    return sum(arguments) + sum(keywords.values())


class Box:
    def __init__(self, value):
        self.value = value


@program
def arithmetic(x, log):
    return (noted(log, "a", x) + noted(log, "b", x)) * noted(log, "c", x) ** noted(log, "d", 2)


@program
def comparisons(x, log):
    low = noted(log, "a", 0) < noted(log, "b", 2) <= noted(log, "c", 1) < noted(log, "d", 5)
    traced = noted(log, "e", x[0]) < noted(log, "f", x[1]) < 9.0
    return low, traced


@program
def conditions(x, log):
    y = noted(log, "then", x) if noted(log, "test", True) else noted(log, "otherwise", x)
    z = noted(log, "p", 0) or noted(log, "q", 3) or noted(log, "r", 4)
    return y, z, noted(log, "s", 1) and noted(log, "t", 0) and noted(log, "u", 1)


@program
def call(x, log):
    return noted(log, "f", taking)(
        noted(log, "a", x), *noted(log, "b", [x]), noted(log, "c", x),
        k=noted(log, "d", x), **noted(log, "e", {"m": x}), n=noted(log, "g", x),
    )  # fmt: skip


@program
def stars_after_keywords(x, log):
    return taking(k=noted(log, "k", x), *noted(log, "star", [x]))


@program
def subscript(x, log):
    return noted(log, "x", x)[noted(log, "a", 0) : noted(log, "b", 3) : noted(log, "c", 2)]


@program
def displays(x, log):
    items = [noted(log, "a", x), *noted(log, "b", [x]), noted(log, "c", x)]
    numbers = {noted(log, "s", 1), *noted(log, "t", {2}), noted(log, "u", 3)}
    table = {
        noted(log, "k", "p"): noted(log, "v", x),
        **noted(log, "w", {"q": x}),
        noted(log, "l", "r"): noted(log, "y", x),
    }
    return items, len(numbers), table


@program
def keys_before_values(x, log):
    i = 0
    made = {(i := i + 1): x[i], (i := i + 1): x[i]}
    return made[1] + 10.0 * made[2], list(made)


@program
def comprehensions(x, log):
    d = {noted(log, f"k{i}", i): noted(log, f"v{i}", x[i]) for i in range(2)}
    s = {noted(log, f"s{i}", i) for i in range(2)}
    items = [
        noted(log, f"e{i}{j}", x[i] * j)
        for i in noted(log, "i", range(2))
        if noted(log, f"if{i}", True)
        for j in noted(log, f"j{i}", range(2))
        if noted(log, f"if{i}{j}", j == 1)
    ]
    return d, len(s), items


@program
def generator_expressions_are_lazy(x, log):
    items = (noted(log, f"e{i}", x[i]) for i in noted(log, "i", range(3)))
    noted(log, "made", 0)
    pairs = (noted(log, f"p{i}{j}", x[i] * j) for i in range(2) for j in range(2))
    noted(log, "made too", 0)
    return sum(items), sum(pairs)


@program
def generators_see_later_contents(x, log):
    h = x * 1.0
    pairs = (h[i] * h[j] for i in range(2) for j in range(2))
    some = (h[i] for i in range(3) if i != 1)
    h[0] = 5.0
    return sum(pairs), sum(some)


@program
def assignment(x, log):
    items = [x, x, x]
    noted(log, "a", items)[noted(log, "i", 0)] = first = noted(log, "v", x * 2.0)
    h = x * 1.0
    noted(log, "b", h)[noted(log, "j", 1)], *rest = noted(log, "w", (1.0, 2.0, 3.0))
    box = Box(x)
    noted(log, "c", box).value = noted(log, "u", x * 3.0)
    return items, first, h, rest, box.value


@program
def assignment_to_several_targets(x, log):
    i = 0
    items = [x, x, x]
    i, items[i] = 1, x * 2.0
    (j := 1)
    j = items[j] = 2
    return items[1], items[2], i, j


@program
def augmented_items(x, log):
    items = [x[0], x[1]]
    noted(log, "a", items)[noted(log, "i", 0)] += noted(log, "v", x[2])
    h = x * 1.0
    noted(log, "b", h)[noted(log, "j", 1)] *= noted(log, "w", 2.0)
    table = {"p": x * 1.0}
    noted(log, "c", table)[noted(log, "k", "p")] += noted(log, "u", 1.0)
    return items, h, table


@program
def augmented_attributes(x, log):
    box = Box(x[0])
    noted(log, "box", box).value += noted(log, "v", x[1])
    noted(log, "again", box).value *= noted(log, "w", 2.0)
    return box.value


def changing(target, index, value, result):
    target[index] = value
    return result


@program
def augmented_items_are_read_first(x, log):
    items = [x[0], x[1]]
    items[0] += changing(items, 0, 10.0, x[2])
    h = x * 1.0
    h[0] += changing(h, 0, 10.0, 0.25)
    h[1] *= changing(h, 1, 10.0, 0.25)
    k = x * 1.0
    k[:2] += changing(k, 0, 10.0, 0.25)
    k[[1, 2]] += changing(k, 1, 10.0, 0.25)
    table = {"p": x[0]}
    table["p"] -= changing(table, "p", 10.0, x[1])
    return items, h, k, table


@program
def augmented_attributes_are_read_first(x, log):
    box = Box(x[0])

    def change():
        box.value = 10.0
        return x[1]

    box.value += change()
    return box.value


@program
def operands_are_read_as_they_are_passed(x, log):
    n = 1
    total = n + (n := 2) * 10 + n * 100
    return total, x * n, [n, (n := 5), n]


@program
def walrus_in_calls_and_slices(x, log):
    n = 0
    return taking(n, (n := 2), k=n, m=(n := 3)) + n, x[(n := 1) : n + 1], x[n]


@program
def formatted(x, log):
    text = f"{noted(log, 'a', 3):{noted(log, 'b', 5)}}{noted(log, 'c', 1)!r}"
    return text, x


def keeping(log, name):
    log.append(f"decorator {name}")

    def apply(function):
        log.append(f"applied {name}")
        return function

    return apply


@program
def definitions(x, log):
    @keeping(log, "outer")
    @keeping(log, "inner")
    def f(a, b=noted(log, "b", 2.0), *, c=noted(log, "c", 3.0)):
        return a * b + c

    g = lambda a, p=noted(log, "p", 1.0), *, q=noted(log, "q", 2.0): a * p + q  # noqa: E731
    return f(x), g(x)


@program
def deletion(x, log):
    items = [x, x * 2.0, x * 3.0]
    table = {"p": x, "q": x}
    del noted(log, "a", items)[noted(log, "i", 0)], noted(log, "b", table)[noted(log, "k", "p")]
    return items, table


@program
def loops(x, log):
    total = 0.0
    items = [0, 0]
    for items[noted(log, "target", 1)] in noted(log, "iterable", range(2)):
        total = total + x[items[1]]
    k = 0
    while noted(log, f"test {k}", k < 2):
        k += 1
    else:
        noted(log, "else", 0)
    return total, items


@program
def assertions(x, log):
    assert noted(log, "test", True), noted(log, "message", "never")
    return x


@program
def matching(x, log):
    match noted(log, "subject", (1, x)):
        case (2, y) if noted(log, "no", True):
            return y
        case (1, y) if noted(log, "first", False):
            return y
        case (1, y) if noted(log, "second", True):
            return y * 2.0


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_parts_are_evaluated_in_order(function: Callable[..., Any]) -> None:
    def both(x: Any) -> Any:
        log: list[str] = []
        return function(x, log), log

    ours, ours_log = st.compile(both, level="readable")(X)
    theirs, theirs_log = both(X)
    assert ours_log == theirs_log
    assert _flat(ours) == _flat(theirs)


def _flat(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _flat(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_flat(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def test_conditions_of_a_generator_that_change_something() -> None:
    def counted(x: Any) -> Any:
        n = 0
        return sum(x[i] for i in range(3) if (n := n + 1) < 3) + n

    def selecting(x: Any) -> Any:
        seen: list[Any] = []
        for value in (x[i] for i in range(3) if len(seen) < 2):
            seen.append(value)
        return sum(seen)

    assert st.compile(counted)(X) == counted(X)
    with pytest.raises(st.LanguageError, match=r"(?s)selecting.*\^.*changes on the way"):
        st.compile(selecting)(X)


def test_a_generator_that_raises_is_refused_there() -> None:
    def checked(i: int) -> bool:
        if i > 1:
            raise ValueError(f"{i} is too large")
        return True

    with pytest.raises(st.LanguageError, match="raises ValueError"):
        st.compile(lambda x: sum(x[i] for i in range(3) if checked(i)))(X)
