"""Affine integers and sizes, against the numbers that they are in every step and for every length."""

# ruff: noqa: E501
from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest

from stcompile.frontend.operations.affine import combined, combined_sizes
from stcompile.frontend.state.sizes import Sizes
from stcompile.frontend.state.values import Affine
from stcompile.wengert.dims import Dim, Symbol, number_of, size_of
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type

LENGTHS = {Variable(name, Type.python(int)): n for name, n in {"s": 4, "t": 3, "u": 1}.items()}
COUNTERS = [Affine.counter(variable, length) for variable, length in LENGTHS.items()]
STEPS = [dict(zip(LENGTHS, at)) for at in itertools.product(*map(range, LENGTHS.values()))]
ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}


def numbers(value: Any) -> list[int]:
    """An integer in each step."""
    if not isinstance(value, Affine):
        return [value for _ in STEPS]
    return [value.offset + sum(step[v] * factor for v, factor in value.terms) for step in STEPS]


def drawn(rng: Random) -> Any:
    """An integer that some operations make of counters and numbers."""
    value: Any = rng.choice([*COUNTERS, rng.randint(-3, 3)])
    for _ in range(rng.randint(0, 4)):
        other = rng.choice([*COUNTERS, rng.randint(-3, 3)])
        pair = (value, other) if rng.random() < 0.5 else (other, value)
        made = combined(rng.choice([*ARITHMETIC]), *pair)
        value = value if made is None else made
    return value


def is_free(*values: Any) -> bool:
    """True if no counter is in two of the values: their bounds are those of their difference."""
    used = [v for value in values if isinstance(value, Affine) for v, _ in value.terms]
    return len({*used}) == len(used)


def test_every_step_has_the_same_number() -> None:
    rng, decided = Random(4), 0
    for _ in range(1000):
        left, right = drawn(rng), drawn(rng)
        ours, theirs = numbers(left), numbers(right)
        for value, found in ((left, ours), (right, theirs)):
            if isinstance(value, Affine):
                assert value.low <= min(found) <= max(found) <= value.high
                assert all(factor for _, factor in value.terms)
        for name, operation in ARITHMETIC.items():
            made = combined(name, left, right)
            both = isinstance(left, Affine) and isinstance(right, Affine)
            assert (made is None) == (name == "multiply" and both)
            if made is not None:
                assert numbers(made) == list(map(operation, ours, theirs))
            if isinstance(made, Affine) and is_free(left, right) and is_exact(left, right):
                assert (made.low, made.high) == (min(numbers(made)), max(numbers(made)))
        for name, operation in COMPARISONS.items():
            answers = {*map(operation, ours, theirs)}
            answer = combined(name, left, right)
            assert answer is None or answers == {answer}
            if is_free(left, right) and is_exact(left, right):
                misses = isinstance(left, Affine) or isinstance(right, Affine)
                between = name in ("equal", "not_equal") and misses  # no step, but all around it
                assert answer == (answers.pop() if len(answers) == 1 else None) or between
                decided += answer is not None
    assert decided > 400


def is_exact(*values: Any) -> bool:
    """True if the bounds of the values are reached: no counter was taken from itself."""
    pairs = [(v, numbers(v)) for v in values if isinstance(v, Affine)]
    return all((v.low, v.high) == (min(found), max(found)) for v, found in pairs)


def test_equal_at_the_bounds_alone() -> None:
    t = COUNTERS[0]
    found = [combined("equal", t, at) for at in (-1, 0, 3, 4)]
    assert found == [False, None, None, False]
    assert [combined("not_equal", at, t) for at in (-1, 0, 3, 4)] == [True, None, None, True]
    assert combined("equal", COUNTERS[2], 0) is True


@pytest.mark.parametrize("other", (True, 1.0, None))
def test_of_integers_alone(other: Any) -> None:
    assert combined("add", COUNTERS[0], other) is None
    assert combined("add", other, 2) is None
    assert combined("floor_divide", COUNTERS[0], 2) is None


# --- lengths -------------------------------------------------------------------------------------


class Recording(Sizes):
    """Records the equations that give terms of sizes as integers."""

    def __init__(self, lengths: tuple[Symbol, ...]) -> None:
        super().__init__()
        self.made = {}
        self.recorder = Recorder()
        self.count = itertools.count()
        for symbol in lengths:
            self.of(symbol)

    def of(self, symbol: Symbol) -> Affine:
        found = self.integer(size_of(symbol))
        assert isinstance(found, Affine)
        return found

    def record_atoms(
        self, primitive: str, inputs: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> tuple[Variable, ...]:
        assert (primitive, inputs) == ("size", ())
        return (Variable(f"v{next(self.count)}", Type.python(int)),)


N, M = Symbol("n.1", 2, None, typical=5), Symbol("m.2", 0, 9, typical=3)
BY_NUMBERS: Mapping[str, tuple[Callable[[Any, Any], Any], range]] = {
    "floor_divide": (operator.floordiv, range(1, 8)),
    "remainder": (operator.mod, range(1, 8)),
    "right_shift": (operator.rshift, range(1, 32)),
    "power": (operator.pow, range(1, 4)),
}


def known() -> Iterator[dict[Symbol, int]]:
    return ({N: n, M: m} for n, m in itertools.product((2, 3, 7, 40), range(10)))


def sizes() -> list[Any]:
    n, m = map(size_of, (N, M))
    return [n, m, n + m, 2 * n - m, 9 - m, 3 * n + 1, -n, 4, 0, -3, n * m, m - n, m // 2, -m]


def combined_lengths(name: str, left: Any, right: Any) -> Any:
    run = Recording((N, M))
    found = combined_sizes(run, name, run.integer(left), run.integer(right))
    return found if found is None or isinstance(found, bool) else run.size_of(found)


def test_arithmetic_of_lengths_holds_for_all_of_them() -> None:
    for left, right in itertools.product(sizes(), repeat=2):
        for name, operation in ARITHMETIC.items():
            found = combined_lengths(name, left, right)
            for numbers in known():
                wanted = operation(number_of(left, numbers), number_of(right, numbers))
                assert number_of(found, numbers) == wanted


def test_quotients_and_powers_of_lengths() -> None:
    for left, (name, (operation, others)) in itertools.product(sizes(), BY_NUMBERS.items()):
        if not isinstance(left, Dim):
            continue
        for other in others:
            found = combined_lengths(name, left, other)
            for numbers in known():
                assert number_of(found, numbers) == operation(number_of(left, numbers), other)
        for other in (others[0] - 1, -1, -2, N, *([others[-1] + 1] * (len(others) in (3, 31)))):
            right = size_of(other) if isinstance(other, Symbol) else other
            assert combined_lengths(name, left, right) is None, (name, left, right)
        assert combined_lengths(name, 7, size_of(N)) is None


def test_comparisons_of_lengths_are_those_of_all_of_them() -> None:
    decided = 0
    for left, right in itertools.product(sizes(), repeat=2):
        for name, operation in COMPARISONS.items():
            answers = {
                operation(number_of(left, numbers), number_of(right, numbers))
                for numbers in known()
            }
            answer = combined_lengths(name, left, right)
            assert answer is None or answers == {answer}
            decided += answer is not None
    assert decided > 200


n, m = map(size_of, (N, M))
ORDER: tuple[tuple[Any, str, Any, bool | None], ...] = (
    (n, "less", 2, False),
    (n, "less", 3, None),
    (n, "greater", 1, True),
    (n, "greater", 2, None),
    (n, "less_equal", 1, False),
    (2, "less_equal", n, True),
    (n * m, "less", 0, False),
    (n * m, "greater_equal", 0, True),
    (n * m, "greater_equal", 1, None),
    (m * m, "less_equal", 81, True),
    (m * m, "less_equal", 80, None),
    (m * m, "greater", 81, False),
    (81, "less", m * m, False),
    (n - n // 2, "greater", 0, True),
    (n - n // 2, "equal", 0, False),
    (n // 2, "not_equal", n, True),
    (n // 2, "not_equal", m, None),
)


def test_comparisons_at_the_bounds() -> None:
    for left, name, right, wanted in ORDER:
        assert combined_lengths(name, left, right) is wanted, (left, name, right)


def test_what_changes_within_a_call_is_no_length() -> None:
    run = Recording(())
    step = Symbol("i.1", 0, 9)
    counter = Variable("i", Type.python(int))
    run.terms[counter] = step
    value = Affine.counter(counter, 10)
    assert combined_sizes(run, "floor_divide", value, 2) is None
    assert combined_sizes(run, "less", value, 10) is True  # as `combined` gives it
    assert combined_sizes(run, "add", 2.0, value) is None
