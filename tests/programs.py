"""`check`: everything that must hold for a program, against the plain function it was written as.

A program under test is an ordinary function of arrays and numbers. What it returns, a number, an
array or a structure of them, is compared bit by bit with what plain Python returns; its gradient
(of one number made of all results) is compared with central finite differences in float64.

    examples = Examples()

    @examples(X)                          # checked as in check(scaled, X, 2.0, wrt=(0, 1))
    @examples(X, 2.0, wrt=(0, 1))
    def scaled(x, factor=1.0):
        return x * factor

    test_program = examples.tests()
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.containers import filled_like, settings_of
from stcompile.base.options import Options
from stcompile.transforms.primal import Primal
from stcompile.wengert.primitives.elementwise import UFUNCS

STEP = 1e-3  # of finite differences
READABLE = Options("readable")
UNARY, BINARY = ([name for name, f in UFUNCS.items() if f.nin == count] for count in (1, 2))
OF_SCIPY = ("special.", "linalg.", "signal.", "i0")  # of primitives that tests/scipy is about
RTOL = {np.dtype(np.float64): 2e-6, np.dtype(np.float32): 2e-3}


@dataclasses.dataclass(frozen=True)
class Example:
    """A function with arguments to check it with."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: Any = 0
    rtol: float | None = None
    step: float = STEP

    def check(self) -> Any:
        compiled = compilation(self.function, self.wrt)
        return compiled.check(*self.args, rtol=self.rtol, step=self.step)


class Examples:
    """The programs of one file, and what is asserted of each. As a decorator, it notes a function
    with its arguments."""

    def __init__(self, check: Callable[[Example], Any] = Example.check) -> None:
        self.check = check
        self.noted: list[Example] = []
        self.heavy: set[Callable[..., Any]] = set()

    def __call__(
        self, *args: Any, wrt: Any = 0, rtol: float | None = None, step: float = STEP
    ) -> Callable[..., Any]:
        def note(function: Callable[..., Any]) -> Callable[..., Any]:
            self.noted.append(Example(function, args, wrt, rtol, step))
            return function

        return note

    def slow(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Mark the tests of this function as slow."""
        self.heavy.add(function)
        return function

    def tests(self) -> Any:
        """The test of all examples that were noted before."""

        def test(example: Example) -> None:
            self.check(example)

        return self.test(test)

    def test(self, test: Callable[..., None]) -> Any:
        """Run a test once for each example."""
        params = [
            pytest.param(
                example,
                id=example.function.__name__,
                marks=[pytest.mark.slow] if example.function in self.heavy else [],
            )
            for example in self.noted
        ]
        return pytest.mark.parametrize("example", params)(test)


def check(function: Callable[..., Any], *args: Any, wrt: Any = 0, rtol: float | None = None) -> Any:
    """Assert all of this for ``function(*args)``, and return its gradients:

    - the value is bitwise equal to plain Python's, with the same types and dtypes;
    - the gradient has the structure of its argument and agrees with finite differences;
    - the gradient's arrays are new and writeable: they share memory with nothing;
    - two fresh compilations print the same source, of every sixteenth function;
    - the arguments are not changed.

    ``wrt`` is an index or a tuple of them. ``rtol`` is that of the gradient; programs that
    compute in float32 inside need a large one.
    """
    return Compilation(function, wrt).check(*args, rtol=rtol)


class Compilation:
    """A function under test, compiled once for all arguments of the same types."""

    def __init__(self, function: Callable[..., Any], wrt: Any) -> None:
        self.function, self.wrt = function, wrt
        self.readable = Primal(function, READABLE)
        self.primal = Primal(function)
        self.transformed: dict[bool, Any] = {}  # by whether the function returns a number

    def check(self, *args: Any, rtol: float | None = None, step: float = STEP) -> Any:
        expected = self.function(*copy.deepcopy(args))
        given = copy.deepcopy(args)

        assert_same(self.readable(*given), expected, "the compiled function's result")
        if self.primal.options != READABLE:
            assert_like(self.primal(*given), expected, "the result at the fast level")
        total, transformed, again = self.of_total(expected)
        value, gradients = transformed(*given)
        like = assert_same if self.primal.options == READABLE else assert_like
        like(value, total(*copy.deepcopy(args)), "the value beside the gradient")
        assert_same(given, args, "an argument after the call")

        single = not isinstance(self.wrt, tuple)
        wrt = (self.wrt,) if single else self.wrt
        for index, gradient in zip(wrt, (gradients,) if single else gradients):
            check_gradient(total, args, index, gradient, rtol, step)
        assert_fresh(list(leaves(gradients)), list(leaves(given)))

        if zlib.crc32(self.primal.function_name.encode()) % 16 == 0:
            assert transformed.source(*given) == again.source(*given), "two compilations differ"
        return gradients

    def of_total(self, expected: Any) -> Any:
        """The function that returns a number, and two transformations of it."""
        number = isinstance(expected, float | np.floating)
        if number not in self.transformed:
            total = totalled(self.function, expected)
            twice = (st.value_and_grad(total, self.wrt) for _ in range(2))
            self.transformed[number] = (total, *twice)
        return self.transformed[number]


@functools.lru_cache(maxsize=8)
def compilation(function: Callable[..., Any], wrt: Any) -> Compilation:
    """One compilation for examples that follow each other: only the arguments differ."""
    return Compilation(function, wrt)


def assert_follows(function: Callable[..., Any], *changes: Callable[[], Any]) -> None:
    """After each change of what it captures, the compiled function does what the plain one does."""
    x = np.linspace(0.5, 1.5, 6).reshape(2, 3)
    compiled = st.value_and_grad(function)
    assert_like(compiled(x)[0], function(x), "the value")
    for change in changes:
        change()
        assert_like(compiled(x)[0], function(x), "the value after a change")


def check_gradient(
    function: Callable[..., Any],
    args: Any,
    wrt: int,
    gradient: Any,
    rtol: float | None = None,
    step: float = STEP,
) -> None:
    """Assert that ``gradient`` is that of ``function(*args)`` by argument ``wrt``."""
    parameter = args[wrt]
    assert structure(gradient) == structure(parameter), "the gradient's structure"
    for index, (leaf, found) in enumerate(zip(leaves(parameter), leaves(gradient), strict=True)):
        tolerance = rtol if rtol is not None else RTOL.get(np.asarray(leaf).dtype, 2e-6)

        def at(new: Any, index: int = index) -> float:
            parts = [in_float64(part) for part in leaves(parameter)]
            parts[index] = new
            wide = [in_float64(arg) for arg in copy.deepcopy(args)]
            wide[wrt] = rebuild(parameter, iter(parts))
            return float(function(*wide))

        difference = finite_difference(at, in_float64(leaf), step)
        scale = max(1.0, float(np.max(np.abs(difference), initial=0.0)))
        np.testing.assert_allclose(
            found, difference, rtol=tolerance, atol=tolerance * scale, err_msg="the gradient"
        )


def finite_difference(function: Callable[[Any], float], at: Any, step: float = STEP) -> Any:
    """The gradient at an array or a float, by central differences of fourth order."""
    result = np.zeros(np.shape(at))
    for index in np.ndindex(np.shape(at)):

        def moved(h: float, index: tuple[int, ...] = index) -> float:
            if isinstance(at, float):
                return function(type(at)(at + h))
            new = at.copy(order="K")  # a program may depend on the layout
            new[index] += h
            return function(new)

        h = step * max(1.0, abs(float(np.asarray(at)[index])))
        result[index] = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    return result


# --- one number out of any result ----------------------------------------------------------------


def totalled(function: Callable[..., Any], example: Any) -> Callable[..., Any]:
    """The function itself if it returns a float, else a weighted sum of all that it returns."""
    if isinstance(example, float | np.floating):
        return function

    def total(*args: Any) -> Any:
        return weigh(function(*args), 1)

    return total


def weigh(value: Any, start: int) -> Any:
    """A sum of all entries, each with a weight of its own."""
    if isinstance(value, dict):
        return sum([weigh(part, start + 7 * k) for k, part in enumerate(value.values())])
    if isinstance(value, (tuple, list, deque)):
        return sum([weigh(part, start + 7 * k) for k, part in enumerate(value)])
    if value is None or isinstance(value, (str, int)):
        return 0.0
    return np.sum(np.sin(start + np.arange(np.size(value)).reshape(np.shape(value))) * value)


# --- structures --------------------------------------------------------------------------------


def parts_of(value: Any) -> list[tuple[Any, Any]] | None:
    """The parts of a structure with their names; None for a leaf."""
    if isinstance(value, dict):
        return list(value.items())
    if dataclasses.is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    return list(enumerate(value)) if isinstance(value, tuple | list | deque) else None


def structure(value: Any) -> Any:
    """Classes, keys, shapes and dtypes: what a gradient shares with its argument."""
    parts = parts_of(value)
    if parts is not None:
        return type(value), [(name, structure(part)) for name, part in parts]
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, value.dtype
    return float if isinstance(value, float) else type(value)


def leaves(value: Any) -> Iterator[Any]:
    """The arrays and floats of a structure, in order."""
    parts = parts_of(value)
    if parts is not None:
        for _, part in parts:
            yield from leaves(part)
    elif isinstance(value, np.ndarray | float | np.floating):
        yield value


def rebuild(value: Any, new: Iterator[Any]) -> Any:
    """The structure with other leaves."""
    parts = parts_of(value)
    if parts is None:
        return next(new) if isinstance(value, np.ndarray | float | np.floating) else value
    made = [rebuild(part, new) for _, part in parts]
    if isinstance(value, dict):
        return filled_like(value, made)
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value, **dict(zip(vars(value), made, strict=True)))  # type: ignore[type-var]
    if isinstance(value, deque):
        return filled_like(value, made)
    return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)


def in_float64(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.float64) if value.dtype.kind == "f" else value
    if isinstance(value, np.floating):
        return np.float64(value)
    return value if parts_of(value) is None else rebuild(value, map(in_float64, leaves(value)))


def assert_same(found: Any, expected: Any, what: str) -> None:
    """Assert equality to the bit, of types and dtypes as well."""
    assert type(found) is type(expected), f"{what}: {type(found)}, not {type(expected)}"
    parts, others = parts_of(found), parts_of(expected)
    if parts is not None and others is not None:
        assert [name for name, _ in parts] == [name for name, _ in others], what
        assert settings_of(found) == settings_of(expected), what
        for (name, part), (_, other) in zip(parts, others, strict=True):
            assert_same(part, other, f"{what}, part {name!r}")
    elif isinstance(expected, np.ndarray | np.generic):
        assert found.dtype == expected.dtype, f"{what}: {found.dtype}, not {expected.dtype}"
        assert found.shape == expected.shape, f"{what}: {found.shape}, not {expected.shape}"
        assert np.array_equal(bits(found), bits(expected)), f"{what}: {found}, not {expected}"
    elif isinstance(expected, float):
        assert np.array_equal(bits(found), bits(expected)), f"{what}: {found}, not {expected}"
    else:
        assert found == expected, f"{what}: {found}, not {expected}"


def assert_like(found: Any, expected: Any, what: str) -> None:
    """Assert equality of types, dtypes and shapes, and of numbers up to rounding."""
    assert type(found) is type(expected), f"{what}: {type(found)}, not {type(expected)}"
    parts, others = parts_of(found), parts_of(expected)
    if parts is not None and others is not None:
        assert [name for name, _ in parts] == [name for name, _ in others], what
        for (name, part), (_, other) in zip(parts, others, strict=True):
            assert_like(part, other, f"{what}, part {name!r}")
    elif isinstance(expected, np.ndarray | np.generic | float | complex):
        one, other = np.asarray(found), np.asarray(expected)
        assert one.dtype == other.dtype, f"{what}: {one.dtype}, not {other.dtype}"
        assert one.shape == other.shape, f"{what}: {one.shape}, not {other.shape}"
        rtol = 0.0 if other.dtype.kind not in "fc" else 1e3 * float(np.finfo(other.dtype).eps)
        finite = np.abs(other[np.isfinite(other)]) if rtol else other
        scale = float(np.max(finite, initial=0.0)) if rtol else 0.0
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * scale, err_msg=what)
    else:
        assert found == expected, f"{what}: {found}, not {expected}"


def assert_fresh(arrays: list[Any], others: list[Any]) -> None:
    """Assert that arrays can be written to without changing each other or ``others``."""
    for index, array in enumerate(arrays):
        assert not isinstance(array, np.ndarray) or array.flags.writeable, "a read-only gradient"
        for other in others + arrays[:index]:
            assert not np.shares_memory(array, other), "a gradient shares memory"


def bits(value: Any) -> Any:
    """The bytes of an array, with every NaN alike (its sign is not part of a result)."""
    array = np.array(value, order="C", ndmin=1)
    if array.dtype.kind in "fc":
        array[np.isnan(array)] = np.nan
    return array.view(np.uint8) if array.dtype != object else array
