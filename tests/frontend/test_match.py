"""`match`: patterns on structure, on static values and on numbers known only at run time."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, check

examples = Examples()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
V = np.linspace(-1.0, 1.0, 5)


class Kind(enum.Enum):
    RELU = "relu"
    TANH = "tanh"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Dense:
    weight: Any
    bias: Any = 0.0
    name: str = "dense"


@dataclass
class Pair:
    first: Any
    second: Any


class Point(NamedTuple):
    x: Any
    y: Any


class Scale:
    __match_args__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    @property
    def half(self):
        return self.factor / 2


SQUARE = "square"


class names:
    CUBE = "cube"
    LIMIT = 1.0


@pytest.mark.parametrize("kind", ["square", "cube", "sum", "twice", "none", 3, None, True, 2.0])
def test_values(kind):
    def program(x):
        match kind:
            case "square":
                y = x * x
            case names.CUBE:
                y = x * x * x
            case "sum" | "twice" as word:
                y = x + x if word == "twice" else x + 1.0
            case None:
                y = np.sin(x)
            case True:
                y = np.cos(x)
            case 3:
                y = x * 3
            case float(number):
                y = x * number
            case _:
                y = -x
        return y

    check(program, X)


@pytest.mark.parametrize("kind", [Kind.RELU, Kind.TANH, Level.LOW, 2, "relu"])
def test_enumerations(kind):
    def program(x):
        match kind:
            case Kind.RELU:
                return np.maximum(x, 1.0)
            case Kind.TANH:
                return np.tanh(x)
            case Level.LOW:
                return x * 2
            case Level.HIGH:
                return x * 3
        return x

    check(program, X)


@pytest.mark.parametrize(
    "shape", [(), (3,), (1, 2), (2, 2, 2, 5), [7], [1, 2], "ab", range(2), {"a": 1}, {1, 2}]
)
def test_sequences(shape):
    def program(x):
        match shape:
            case []:
                return x
            case [n]:
                return x * n
            case (1, n) | (n, 1):
                return x + n
            case [0, 1]:
                return x * x
            case [first, *_, last]:
                return x * first - last
            case _:
                return -x

    check(program, X)


@examples(X, [X[0], X[1], 2.0])
@examples(X, [X[0]])
@examples(X, [])
@examples(X, (X[0], (X[1], "tanh"), 3.0))
def structures_of_traced_values(x, parts):
    match parts:
        case []:
            return x
        case [a]:
            return x * a
        case [a, (b, "tanh"), *rest]:
            return np.tanh(x * a - b) * rest[0]
        case [a, *middle, float(scale)]:
            return x * a + scale * middle[0]
        case _:
            return -x


@examples(X, {"kind": "dense", "w": X[0], "b": 1.0})
@examples(X, {"kind": "scale", "factor": 2.0})
@examples(X, {"kind": "scale", "factor": 2.0, "extra": {"offset": X[1]}})
@examples(X, {})
def mappings(x, layer):
    match layer:
        case {"kind": "dense", "w": w, **rest}:
            return x * w + rest["b"] + len(rest)
        case {"kind": "scale", "factor": f, "extra": {"offset": o}}:
            return x * f + o
        case {"kind": "scale", "factor": f}:
            return x * f
        case {}:
            return x * 5


def test_the_rest_of_a_mapping_is_new():
    def program(x):
        layer = {"a": x, "b": x * x}
        match layer:
            case {"a": a, **rest}:
                rest["c"] = a
                return rest["b"] + rest["c"] + len(layer)

    check(program, X)


def test_the_rest_of_a_sequence_is_new():
    def program(x):
        items = [x, x * x, x + 1]
        match items:
            case [a, *rest]:
                rest.append(a)
                items[1] = a
        return rest[0] * len(items) + rest[-1]

    check(program, X)


@examples(X, Dense(X[0], 1.0))
@examples(X, Dense(X[0], 1.0, "last"))
@examples(X, Pair(Dense(X[0]), 2.0))
@examples(X, Point(X[0], 2.0))
@examples(X, X[0])
@examples(X, 2.0)
@examples(X, {"a": 2.0})
@examples(X, [2.0])
@examples(X, (2.0, X[0]))
def classes(x, layer):
    match layer:
        case Dense(w, b, name="last"):
            return np.tanh(x * w + b)
        case Dense(weight=w):
            return x * w
        case Pair(Dense(w), float(f)):
            return x * w * f
        case Point(a, y=b):
            return x * a - b
        case np.ndarray(shape=(n,)) as a:
            return x * a * n
        case float(f):
            return x * f
        case dict(d):
            return x * d["a"]
        case list([f]):
            return x * f
        case tuple():
            return x * layer[0] + layer[1]


def test_objects_that_the_program_made():
    def program(x):
        total = x
        for item in (Scale(x[0]), Pair(x, 2.0), [x], Scale(2.0)):
            match item:
                case Scale(float(factor), half=half):
                    total = total * factor + half
                case Scale(factor=f):
                    total = total * f
                case Pair(a, b):
                    total = total + a * b
                case [a]:
                    total = total - a
        return total

    check(program, X)


@pytest.mark.parametrize("n", [0, 1, 5, -3])
def test_guards_on_static_values(n):
    def program(x):
        match n:
            case int(k) if k < 0:
                return x * k
            case 0 | 1 as k if k:
                return x
            case k if k > 4:
                return x + k
        return x * x, k

    check(program, X)


def test_captures_stay_bound_after_a_guard_that_fails():
    def program(x):
        k = 7
        match [1, 2]:
            case [k, 3]:
                pass
            case [k, 2] if k > 5:
                pass
        return x * k

    check(program, X)


# --- values known only at run time ---------------------------------------------------------------


@examples(X, 1.0)
@examples(X, 2.0)
@examples(X, 2.5)
@examples(X, 3.0)
def traced_numbers(x, n):
    match n:
        case 1:
            y = x
        case 2 | 3:
            y = x * x
        case names.LIMIT:
            y = -x
        case _:
            y = x * n
    return y


@examples(X, 1.0)
@examples(X, 2.0)
@examples(X, 5.0)
def traced_numbers_that_return(x, n):
    match n:
        case 1.0:
            return x * 2
        case 2.0:
            pass
        case other:
            return x * other
    return x * x


@examples(X, (1.0, 2.0))
@examples(X, (1.0, -2.0))
@examples(X, (3.0, 2.0))
@examples(X, (0.0, 0.0))
def traced_numbers_in_structures(x, pair):
    match pair:
        case (0.0, 0.0):
            y = x
        case (1.0, b):
            y = x * b
        case (a, 2.0):
            y = x + a
        case _:
            y = np.sin(x)
    return y


@examples(V, 0.5, wrt=(0, 1))
@examples(V, -0.5, wrt=(0, 1))
@examples(V, 3.0, wrt=(0, 1))
@examples(V, 1.0, wrt=(0, 1))
def traced_guards(x, t):
    match (t, "ramp"):
        case (float(a), "step"):
            return x
        case (a, "ramp") if a < 0:
            y = x * a
        case (1.0, "ramp") if np.sum(x) > 10:
            y = x * 10
        case (a, _) if a < 2:
            y = x * a * a
        case _:
            y = np.cos(x * t)
    return y * t


@examples(V)
def the_truth_of_a_comparison(x):
    total = 0.0
    for v in (0.5, -0.5):
        match v < np.sum(x) + 0.1:
            case True:
                total = total + np.sum(x)
            case _:
                total = total - np.sum(x * x)
    return total


@examples(X, 0.3)
@examples(X, -0.3)
def a_python_flag(x, t):
    match t > 0:
        case True:
            return x * t
        case False:
            return x - t


@examples(V)
def in_a_rolled_loop(x):
    y = x * 1.0
    for i in range(len(x)):
        match i % 2, x[i] > 0:
            case 0, _:
                y[i] = y[i] * 2
            case _ if x[i] > 0:
                y[i] = np.sin(y[i])
    return y


@examples(V)
def with_break_and_continue(x):
    total = 0.0
    for i, op in enumerate(("add", "skip", "sub", "stop", "add")):
        match op:
            case "skip":
                continue
            case "stop":
                break
            case "add":
                total = total + x[i] * x[i]
            case "sub":
                total = total - x[i]
    return total


@examples(V, 0.0)
@examples(V, 2.0)
@examples(V, 9.0)
def break_and_continue_on_traced_values(x, stop):
    total = np.sum(x) * 0.5
    for i in range(5):
        match stop - i:
            case 0:
                break
            case 1:
                continue
            case -1.0 | 3.0:
                total = total * 2
        total = total + x[i] * (i + 1)
    return total


@examples(V, 2.0)
@examples(V, 0.2)
def while_a_state_machine_runs(x, limit):
    state, steps, total = 0, 0, np.sum(x * x)
    while total < limit and steps < 20:
        match steps % 2:
            case 0:
                total = total * 1.1
            case _:
                total = total + 0.1
        steps = steps + 1
    return total + state


test_program = examples.tests()


def test_a_target_that_a_case_binds_again():
    def program(x):
        for i in range(3):
            match i + 1:
                case i:
                    x = x * i
        return x * i

    check(program, X)


def test_a_name_of_an_enclosing_function():
    def program(x):
        best = None

        def choose(items):
            nonlocal best
            match items:
                case [a, *_]:
                    best = a
                case best:
                    pass

        choose([x, 1])
        first = best
        choose("x")
        return first * len(best)

    check(program, X)


def test_float32_and_second_order():
    def program(x, n):
        match n:
            case 1.0:
                return np.sum(x * x * x)
            case _:
                return np.sum(x)

    narrow = X.astype(np.float32)
    check(program, narrow, 1.0)

    def twice(x, n):
        return np.sum(st.grad(program)(x, n) * x)

    np.testing.assert_allclose(st.grad(twice)(X, 1.0), 9 * X * X)
    np.testing.assert_array_equal(st.grad(twice)(X, 2.0), np.ones((2, 3)))


def test_a_static_match_leaves_no_code():
    def program(x, kind):
        match kind:
            case "square":
                return np.sum(x * x)
            case _:
                return np.sum(x)

    assert "if" not in st.grad(program).source(X, "square")
    np.testing.assert_array_equal(st.grad(program)(X, "square"), 2 * X)
    np.testing.assert_array_equal(st.grad(program)(X, "other"), np.ones((2, 3)))


def test_one_compilation_for_all_traced_values():
    def program(x, n):
        match n:
            case 1.0:
                return x * x
            case 2.0:
                return np.sin(x)
            case _:
                return x * n

    gradient = st.grad(program)
    assert gradient(3.0, 1.0) == 6.0
    assert gradient(3.0, 2.0) == np.cos(3.0)
    assert gradient(3.0, 5.0) == 5.0
    assert "if " in gradient.source(3.0, 1.0)
