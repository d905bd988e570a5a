"""What Python asks objects for: truth, items one by one, copies, digits, parameters of a class."""

from __future__ import annotations

import copy
import enum
import functools
import typing
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

examples = Examples()
T = typing.TypeVar("T")
V = np.array([0.5, 1.5, 2.5, 3.5, 4.5])


# --- truth ---------------------------------------------------------------------------------------


class Positive:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __bool__(self) -> bool:
        return self.value > 0


class Sized:
    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


@examples(1.5)
@examples(0.4)
@examples(-1.5)
def truth_of_objects(x):
    one, other = Positive(x), Positive(x - 1)
    total = x * 2 if one else x * 3
    if one and other:
        total = total + x * x
    elif one or not other:
        total = total - x
    total = total + bool(other) * x + any([other, one]) + all([one, other]) * x
    return total + (x if Sized(0) else 2 * x) + (one and other).value


@examples(3.4)
@examples(-3.4)
def while_an_object_is_true(x):
    left = Positive(x)
    while left:
        left = Positive(left.value - 1)
    return left.value * x


def asserted(x):
    assert Positive(x), "negative"
    return x * x


def test_an_assert_asks_the_object():
    assert st.value_and_grad(asserted)(1.5) == (2.25, 3.0)
    with pytest.raises(AssertionError, match="negative"):
        st.grad(asserted)(-1.5)


# --- items ---------------------------------------------------------------------------------------


class Batches:
    """Items by their numbers, until there are no more."""

    def __init__(self, values: Any, size: int) -> None:
        self.values, self.size = values, size

    def __getitem__(self, index: int) -> Any:
        if index * self.size >= len(self.values):
            raise IndexError(index)
        return self.values[index * self.size : (index + 1) * self.size]


class Doubled:
    """An iterator, which says what it does."""

    def __init__(self, items: Any) -> None:
        self.items, self.taken = items, 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        print("asked for", self.taken)
        if self.taken == len(self.items):
            raise StopIteration
        self.taken += 1
        return self.items[self.taken - 1] * 2


class Reversed:
    def __init__(self, items: Any) -> None:
        self.items = items

    def __iter__(self) -> Any:
        return Doubled(self.items[::-1])


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> int:
        self.count += 1
        return self.count


@examples(V)
def items_by_number(x):
    batches = Batches(x, 2)
    total = 0.0
    for i, batch in enumerate(batches):
        total = total + i * np.sum(batch * batch)
    for batch in batches:
        if len(batch) < 2:
            break
        total = total + np.prod(batch)
    pairs = sum(np.sum(a * b) for a, b in zip(batches, batches))
    first, *rest = batches
    return total + pairs + first[0] * rest[1][0] + max(map(np.sum, batches)) + len(list(batches))


@examples(1.5)
def items_in_turn(x):
    total = 0.0
    for i, value in enumerate(Doubled([x, 2 * x, x * x])):
        total = total + i * value
    items = Doubled([x, 2 * x, 3 * x, 4 * x])
    for value in items:
        if items.taken == 2:
            break
        total = total + value
    total = total + next(items) * x + sum(items) + next(items, 7.0)
    for a, b in zip(Counter(), Reversed([x, x * x])):
        total = total + a * b
    either = Doubled([x, 2 * x, 3 * x, 4 * x])
    for a, b in zip(either, either):
        total = total + a * b
    again = iter(Reversed([x, 3.0]))
    return total + next(again) + next(again) * x


@examples(1.5)
def a_short_list_ends_a_zip(x):
    items = Doubled([x, x, x])
    total = 0.0
    for a, b in zip(items, [1.0, 2.0]):
        total = total + a * b
    return total + items.taken


@examples(1.5)
def the_end_as_an_error(x):
    items = Doubled([x])
    try:
        return next(items) + next(items)
    except StopIteration:
        return x * x


def shown(value):
    print("made")
    return value * 2


def given_in_turn(x):
    print("first")
    yield x
    print("second")
    yield 2 * x


@examples(1.5)
def effects_in_turn(x):
    table = {i: shown(v) for i, v in enumerate(given_in_turn(x))}
    made = [shown(v) * w for v in given_in_turn(x) for w in Doubled([x])]
    total = table[1] + made[0] + sum(shown(v) for v in given_in_turn(x))
    return total + sum(map(shown, Doubled([x])))


def test_effects_come_in_order(capsys):
    for function in (effects_in_turn, items_in_turn, a_short_list_ends_a_zip):
        expected = function(1.5)
        printed = capsys.readouterr().out
        for level in ("readable", "fast"):
            assert st.compile(function, level=level)(1.5) == expected
            assert capsys.readouterr().out == printed


class UntilLarge:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.value > 10:
            raise StopIteration
        self.value = self.value * 2
        return self.value


def ended_by_data(x):
    return sum(UntilLarge(x))


def counted_by_data(x):
    def some():
        if x > 0:
            yield x
        yield 2 * x

    return sum(i * v for i, v in enumerate(some()))


@pytest.mark.parametrize(
    ("function", "reason"),
    [(ended_by_data, "raises StopIteration depends on"), (counted_by_data, "how many items came")],
)
def test_what_data_decides_is_refused(function, reason):
    with pytest.raises(st.LanguageError, match=reason):
        st.grad(function)(1.5)


# --- attributes that may be missing --------------------------------------------------------------


class Lazy:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        if name == "triple":
            return self.value * 3
        raise AttributeError(name)

    @property
    def broken(self) -> Any:
        return self.nowhere

    @property
    def half(self) -> Any:
        if self.value is None:
            raise AttributeError("half")
        return self.value / 2


@examples(2.5)
def missing_attributes(x):
    lazy, empty = Lazy(x), Lazy(None)
    total = getattr(lazy, "other", 4.0) * x + lazy.triple + getattr(lazy, "triple", 0.0)
    total = total + hasattr(lazy, "triple") + 2 * hasattr(lazy, "other") * x
    total = total + hasattr(lazy, "broken") + getattr(lazy, "broken", x) + lazy.half
    return total + hasattr(lazy, "half") * x + getattr(empty, "half", x * x)


# --- copies --------------------------------------------------------------------------------------


class Point:
    def __init__(self, value: Any) -> None:
        self.value, self.items, self.count = value, [value], 1


class Slotted:
    __slots__ = ("a", "b")


class CopiesItself:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __copy__(self) -> Any:
        return CopiesItself(self.value * 2)

    def __deepcopy__(self, memo: Any) -> Any:
        return CopiesItself(self.value * 3)


@dataclass
class Pair:
    weight: Any
    items: list


OUTSIDE = Point(2.0)


@examples(1.5)
def copies(x):
    items = [x, [x * 2], {"a": x}]
    flat, deep = copy.copy(items), copy.deepcopy(items)
    flat[0], flat[1][0], deep[1][0], deep[2]["a"] = 5.0, x * 7, x * x, 0.0
    total = items[0] + items[1][0] + flat[0] + deep[1][0] + items[2]["a"]
    point = Point(x)
    other, third = copy.copy(point), copy.deepcopy(point)
    other.value, third.count = 3 * x, 4
    other.items.append(x)
    third.items.append(x * x)
    total = total + point.value + other.value + len(point.items) * x + third.items[-1] + point.count
    outside = copy.deepcopy(OUTSIDE)
    outside.value = outside.value * x
    outside.items.append(x)
    total = total + outside.value + sum(outside.items) + len(OUTSIDE.items)
    slotted = Slotted()
    slotted.a = x
    again = copy.copy(slotted)
    again.b = x * x
    pair = copy.deepcopy(Pair(x, [x]))
    pair.items[0] = pair.weight * x
    own = copy.copy(CopiesItself(x)).value + copy.deepcopy([CopiesItself(x)])[0].value
    return total + again.a * again.b + hasattr(slotted, "b") + pair.items[0] + own


@examples(V)
def copies_of_arrays(x):
    y = copy.copy(x)
    y[0] = 0.0
    one, same = copy.deepcopy([x, x])
    one[1] = 9.0
    return np.sum(x * x) + np.sum(y) * same[1] + (one is same) + (y is x)


@examples(1.5)
def a_copy_of_what_contains_itself(x):
    items = [x]
    items.append(items)
    made = copy.deepcopy(items)
    return made[1][1][0] * 2 + (made[1] is made) * x + (made[1] is items)


# --- numbers, partial methods, generic classes, methods of containers ----------------------------


@examples(1.72)
@examples(-2.567)
@examples(np.float64(2.567))
def rounded(x):
    total = 0.0
    for k in range(20):
        total = total + round(x + k) * x + round(x - k, 1) * x
    total = total + round(x, None)
    return total + round(x, -1) * x + round(x + 0.0, 0) * x + 7 + round(2.675, 2)


class Rounding:
    def __round__(self, digits: Any = None) -> Any:
        return 2.0 if digits is None else digits


@examples(1.5)
def rounded_objects(x):
    return round(Rounding()) * x + round(Rounding(), 3) * x * x


class Scaling:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def scaled(self, x: Any, by: float, shift: float = 0.0) -> Any:
        return x * by * self.factor + shift

    doubled = functools.partialmethod(scaled, by=2.0)
    shifted = functools.partialmethod(scaled, shift=1.0)


@examples(1.5)
def partial_methods(x):
    scaling = Scaling(3.0)
    return scaling.doubled(x) + scaling.shifted(x, 4.0) * x


class Box(typing.Generic[T]):
    def __init__(self, value: Any) -> None:
        self.value = value


class Named:
    def __class_getitem__(cls, item: Any) -> Any:
        return item * 2.0


@examples(1.5)
def generic_classes(x):
    return Box[float](x).value * Box(x).value + Named[3] * x + list[float]([x])[0]


@examples(1.5)
def methods_of_classes(x):
    items: list = []
    list.append(items, x)
    list.extend(items, [x * x, 2.0])
    return sum(items) + dict.get({"a": x}, "a") + len(str.upper("ab")) + list.copy(items)[1]


class Level(enum.IntFlag):
    LOW = 1
    HIGH = 2


@examples(1.5)
def numbers_of_enumerations(x):
    return x * Level.HIGH + x ** (Level.LOW | Level.HIGH) + Level.HIGH * 2 - (Level.LOW == 1) * x


class Shrinking:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __delitem__(self, by: Any) -> None:
        self.value = self.value / by


@examples(1.5)
def deleted_items(x):
    shrinking = Shrinking(x)
    del shrinking[2.0]
    return shrinking.value * x


@examples(1.5)
def numbers_beside_lists(x):
    return (x == [x]) + (x != (1.0,)) * x + ([x] == x) + (x in [[x], x]) * x


@dataclass(frozen=True)
class Fixed:
    value: Any

    @property
    def half(self) -> Any:
        return self.value / 2


@examples(1.5)
def errors_of_attributes(x):
    fixed, total = Fixed(x), x
    try:
        fixed.value = 3.0
    except FrozenInstanceError:
        total = total + x * x
    point = Point(x)
    try:
        del point.nothing
    except AttributeError:
        total = total * 2
    try:
        total = Fixed.nothing
    except AttributeError:
        total = total + fixed.half
    return total


@examples(np.linspace(0.3, 1.7, 5))
def magnitudes_of_complex_numbers(x):
    total = 0j
    for k in range(20):
        total = total + np.exp(1j * k * x[k % 5]) * (1j if k % 2 else 1)
    return abs(total), np.abs(total), abs(total.real), np.sum(abs(x * 1j))


@examples(1.5)
def arithmetic_that_does_not_fail(x):
    try:
        y = x * 2 / 3 + x // 2 % 5
    finally:
        print("done")
    return y * x


test_program = examples.tests()
