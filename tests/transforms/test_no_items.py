"""Arrays, selections, lists, loops and batches of no items, in every transform and at every level:
what NumPy gives for them, derivatives without elements or of zeros, and NumPy's own errors."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import finite_difference

LEVELS = ("readable", "fast", "compiled")
every_level = pytest.mark.parametrize("level", LEVELS)
compiled_slowly = pytest.mark.parametrize(
    "level", [*LEVELS[:2], pytest.param(LEVELS[2], marks=pytest.mark.slow)]
)
X = np.array([0.5, -1.0, 2.0, 0.3])
NONE = np.zeros(0)
NO_PLACES = np.zeros(0, int)


# --- functions of numbers of which none is chosen ------------------------------------------------


def sums_of_a_selection(x: Any) -> Any:
    y = x[x > 10]
    return np.sum(y**2) + np.prod(y) * x[0] + np.sum(np.cumsum(y)) + y @ y + np.sum(x)


def a_selection_in_order(x: Any) -> Any:
    y = x[x > 10]
    ordered = np.sort(y) + y[np.argsort(y)] + np.cumprod(y)
    return np.sum(ordered) + np.sum(np.unique(y)) + np.sum(np.diff(y)) + x[1]


def rows_of_a_selection(x: Any) -> Any:
    rows = np.outer(x, x)[x > 10]
    return np.sum(rows @ x) + np.sum(rows.T @ rows) + np.sum(np.max(rows, axis=1)) + x[0]


def selections_joined(x: Any) -> Any:
    parts = np.concatenate([x[x > 10], x[x < 0], np.hstack([x[x > 20], x[:0]])])
    return np.sum(parts**2) + x[0]


def a_part_of_no_length(x: Any) -> Any:
    k = int(np.sum(x > 10))
    return np.sum(x[:k] ** 2) * 3.0 + np.sum(x[k:])


def places_that_are_written(x: Any) -> Any:
    (places,) = np.nonzero(x > 10)
    y = x.copy()
    y[places] = 0.0
    y[places] += x[places]
    np.add.at(y, places, x[places] ** 2)
    y[x > 10] = 5.0
    return np.sum(y * y)


def loops_over_a_selection(x: Any) -> Any:
    y = x[x > 10]
    total = 0.0
    for v in y:
        total = total + v * v
    for i in range(len(y)):
        total = total + y[i] * x[i]
    k = 0
    while k < len(y) and total < 3:
        total = total + y[k]
        k += 1
    return total + np.sum(x)


def lists_that_stay_empty(x: Any) -> Any:
    found = []
    for v in x:
        if v > 10:
            found.append(v * v)
    best = max(found, default=x[0])
    return sum(found) + np.sum(np.array(found)) + best + sum(sorted(found)) + len(found)


def a_list_beside_others(x: Any) -> Any:
    parts = [x[:2]]
    for v in x:
        if v > 10:
            parts.append(np.array([v, v]))
    return np.sum(np.concatenate(parts) ** 2)


def a_selection_in_conditions(x: Any) -> Any:
    y = x[x > 10]
    factor = 1.0 if np.all(y > 0) else 2.0
    return factor * np.sum(x) + (3.0 if np.any(y > 0) else 5.0) * x[0]


# --- functions of arrays without elements --------------------------------------------------------


def sums_of_nothing(x: Any) -> Any:
    return np.sum(x**2) + np.prod(x) + x @ x + np.linalg.norm(x) + np.sum(np.outer(x, x))


def arrangements_of_nothing(x: Any) -> Any:
    joined = np.concatenate([x, np.roll(x, 1), np.sort(x), x[np.argsort(x)], np.cumsum(x)])
    return (
        np.sum(joined) + np.sum(np.stack([x, x])) + np.sum(x.reshape(0, 3)) + np.sum(np.pad(x, 1))
    )


def steps_over_nothing(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + v * v
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * 2
    return total + np.sum(y) + sum(v for v in x) + np.sum(np.array([v * v for v in x]))


def constant_for_nothing(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + v * v
    return total


FUNCTIONS: list[tuple[Callable[..., Any], Any]] = [
    *((function, X) for function in (
        sums_of_a_selection, a_selection_in_order, rows_of_a_selection, selections_joined,
        a_part_of_no_length, places_that_are_written, loops_over_a_selection,
        lists_that_stay_empty, a_list_beside_others, a_selection_in_conditions,
    )),
    *((function, NONE) for function in (
        sums_of_nothing, arrangements_of_nothing, steps_over_nothing, constant_for_nothing,
    )),
]  # fmt: skip
every_function = pytest.mark.parametrize(
    ("function", "x"), FUNCTIONS, ids=[function.__name__ for function, _ in FUNCTIONS]
)


@compiled_slowly
@every_function
def test_every_transform(function: Callable[..., Any], x: Any, level: Any) -> None:
    expected = function(x.copy())
    gradient = finite_difference(function, x)
    close = functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-6)
    close(st.compile(function, level=level)(x), expected)
    value, found = st.value_and_grad(function, level=level)(x)
    close(value, expected)
    close(found, gradient)
    close(st.grad(function, level=level)(x), gradient)
    close(st.grad(lambda x: st.checkpoint(function)(x) * 1.0, level=level)(x), gradient)
    direction = np.cos(np.arange(x.size))
    close(st.jvp(function, (x,), (direction,), level=level)[1], gradient @ direction)
    close(st.vjp(function, x, level=level)[1](2.0)[0], 2 * gradient)
    close(st.linearize(function, x, level=level)[1](direction), gradient @ direction)
    for mode in ("forward", "reverse"):
        close(st.jacobian(function, mode=mode, level=level)(x), gradient)
    slopes = st.grad(function)
    rows = [finite_difference(lambda y, i=i: slopes(y)[i], x) for i in range(x.size)]
    close(st.hessian(function, level=level)(x), np.reshape(rows, (x.size, x.size)))


@every_level
@pytest.mark.parametrize("function", [sums_of_nothing, steps_over_nothing, constant_for_nothing])
def test_sparse_ones(function: Callable[..., Any], level: Any) -> None:
    assert st.sparse_hessian(function, level=level)(NONE).shape == (0, 0)
    squares = st.sparse_jacobian(lambda x: np.array([v * v for v in x]), level=level)
    assert squares(NONE).shape == (0, 0)


@every_level
@pytest.mark.parametrize("count", [0, np.array(0), np.array([0])], ids=["int", "0-d", "1-d"])
def test_no_steps(count: Any, level: Any) -> None:
    def repeated(x: Any, count: Any) -> Any:
        total = np.sum(x)
        for i in range(count if isinstance(count, int) else int(np.sum(count))):
            total = total + x[i] ** 2
        return total

    value, gradient = st.value_and_grad(repeated, level=level)(X, count)
    assert value == np.sum(X)
    np.testing.assert_array_equal(gradient, np.ones(4))


@every_level
def test_no_places(level: Any) -> None:
    def at(x: Any, places: Any, values: Any) -> Any:
        y = x.copy()
        y[places] = x[places] * 2
        np.add.at(y, places, values)
        y += np.bincount(places, weights=x[places], minlength=4)
        for i in places:
            y[i] = y[i] * 3
        return np.sum(y * y) + np.sum(x[places] ** 2)

    value, gradients = st.value_and_grad(at, wrt=(0, 2), level=level)(X, NO_PLACES, NONE)
    assert value == np.sum(X**2)
    np.testing.assert_allclose(gradients[0], 2 * X)
    assert gradients[1].shape == (0,)


# --- errors --------------------------------------------------------------------------------------


def stack_of(x: Any) -> Any:
    return np.stack([v * np.ones(2) for v in x if v > 10])  # here


def rows_below_each_other(x: Any) -> Any:
    return np.vstack([v * np.ones(2) for v in x if v > 10])  # here


def joined_lists(x: Any) -> Any:
    parts = []
    for v in x:
        if v > 10:
            parts.append(np.array([v, v]))
    return np.concatenate(parts)  # here


ERRORS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: np.max(x[x > 10]) + x[0],
    "min": lambda x: np.min(x[x > 10]) + x[0],
    "argmax": lambda x: x[np.argmax(x[x > 10])] + x[0],
    "ptp": lambda x: np.ptp(x[x > 10]) + x[0],
    "first": lambda x: x[x > 10][0] + x[0],
    "last": lambda x: x[x > 10][-1] + x[0],
    "percentile": lambda x: np.percentile(x[x > 10], 50) + x[0],
    "columns": lambda x: np.sum(np.max(np.outer(x, x)[x > 10], axis=0)),
    "reduce": lambda x: np.maximum.reduce(x[x > 10]) + x[0],
    "largest": lambda x: max([v for v in x if v > 10]) + x[0],
    "interp": lambda x: np.sum(np.interp(x, x[x > 10], x[x > 10])),
    "stack": stack_of,
    "vstack": rows_below_each_other,
    "concatenate": joined_lists,
}


@every_level
@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_numpys(name: str, level: Any) -> None:
    function = ERRORS[name]
    with pytest.raises(Exception) as plain:
        function(X.copy())
    total = lambda x: np.sum(function(x) ** 2)  # noqa: E731
    for transformed in (st.compile(function, level=level), st.value_and_grad(total, level=level)):
        with pytest.raises(type(plain.value)) as caught:
            transformed(X)
        assert str(caught.value).splitlines()[0] == str(plain.value)
        notes = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
        assert "test_no_items.py:" in notes


# --- batches -------------------------------------------------------------------------------------


def branches_in_a_loop(x: Any) -> Any:
    y = np.zeros(5)
    for i in range(5):
        y[i] = x[i] * (y[i - 1] if i else 1.0) if x[i] > 0 else x[i - 1]
    return y


def ends_by_itself(x: Any) -> Any:
    total, k = np.float64(0.0), 0
    while k < 5 and total < 2.0:
        total = total + x[k] ** 2
        k += 1
    return total * x[:3]


def counts_by_itself(x: Any) -> Any:
    total = 0.0
    for i in range(int(np.sum(x > 0))):
        total = total + np.log(x[i] ** 2 + 1)
    return total


def two_ways(x: Any) -> Any:
    if x[0] > 0:
        return {"values": (np.log(x), np.sum(x)), "index": np.argmax(x)}
    return {"values": (x * 2, np.max(x)), "index": np.argmin(x)}


def an_error(x: Any) -> Any:
    if x[0] < 0:
        raise ValueError("negative")
    assert x[1] > 0
    return np.sqrt(x), 3.0


def functions_of_matrices(x: Any) -> Any:
    a = np.outer(x, x) + np.eye(5)
    return np.linalg.solve(a, x), np.linalg.det(a), np.fft.fft(x).real, np.convolve(x, [1.0, 2.0])


def changed_in_place(x: Any) -> Any:
    y = x.copy()
    y[np.argsort(x)[:2]] += 1.0
    np.add.at(y, np.array([0, 0]), x[:2])
    return np.sort(y), np.median(x), x.astype(np.float32)


def derivatives(x: Any) -> Any:
    return st.grad(lambda y: np.sum(y**3))(x), st.jacobian(lambda y: y**2)(x)


BATCHED = (
    branches_in_a_loop, ends_by_itself, counts_by_itself, two_ways, an_error,
    functions_of_matrices, changed_in_place, derivatives,
)  # fmt: skip
ONE = np.array([0.5, 1.2, 0.3, 0.7, 0.9])
NO_ITEMS = np.zeros((0, 5))


def shapes(value: Any, items: int) -> Any:
    """Shapes and dtypes, without the axis of items, which has that length."""
    if isinstance(value, dict):
        return {key: shapes(part, items) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(shapes(part, items) for part in value)
    assert value.shape[0] == items
    return value.shape[1:], value.dtype


def total_of(batch: Any) -> Any:
    """The sum of all elements of what a batched function returns."""
    if isinstance(batch, dict):
        batch = tuple(batch.values())
    if isinstance(batch, tuple):
        return sum([total_of(part) for part in batch])
    return np.sum(batch * 1.0)


@every_level
@pytest.mark.parametrize("function", BATCHED)
def test_batches(function: Callable[..., Any], level: Any) -> None:
    """A batch of none has the shapes and dtypes of one of two, and so have its derivatives."""
    batched = st.vmap(function, level=level)
    two = copy.deepcopy(batched(np.stack([ONE, ONE + 0.1])))
    assert shapes(batched(NO_ITEMS), 0) == shapes(two, 2)
    transposed = st.vmap(function, in_axes=1, level=level)
    assert shapes(transposed(NO_ITEMS.T), 0) == shapes(two, 2)

    def total(x: Any) -> Any:
        return total_of(st.vmap(function)(x))

    value, gradient = st.value_and_grad(total, level=level)(NO_ITEMS)
    assert value == 0
    assert gradient.shape == (0, 5)
    assert st.jvp(total, (NO_ITEMS,), (NO_ITEMS,), level=level) == (0, 0)
    assert st.hessian(total, level=level)(NO_ITEMS).shape == (0, 5, 0, 5)


@compiled_slowly
@pytest.mark.parametrize("function", BATCHED[:4])
@pytest.mark.parametrize("bound", [10.0, 0.1])
def test_batches_of_selections(function: Callable[..., Any], bound: float, level: Any) -> None:
    """How many items there are is known at run time; none is one of the numbers."""
    x = np.cos(np.arange(1.0, 21.0)).reshape(4, 5)

    def batched(x: Any) -> Any:
        return np.sum(x) + total_of(st.vmap(function)(np.abs(x[x[:, 0] > bound])))

    def looped(x: Any) -> Any:
        rows = np.abs(x[x[:, 0] > bound])
        return np.sum(x) + sum([total_of(function(row)) for row in rows])

    value, gradient = st.value_and_grad(batched, level=level)(x)
    np.testing.assert_allclose(value, looped(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, finite_difference(looped, x), rtol=1e-6, atol=1e-6)


@every_level
def test_derivatives_in_batches(level: Any) -> None:
    value, gradient = st.vmap(st.value_and_grad(lambda x: np.sum(ends_by_itself(x))), level=level)(
        NO_ITEMS
    )
    assert (value.shape, gradient.shape) == ((0,), (0, 5))
    assert st.vmap(st.jacobian(ends_by_itself), level=level)(NO_ITEMS).shape == (0, 3, 5)
    for mode in ("forward", "reverse"):
        jacobian = st.jacobian(st.vmap(ends_by_itself), mode=mode, level=level)
        assert jacobian(NO_ITEMS).shape == (0, 3, 0, 5)
    assert st.vmap(st.vmap(ends_by_itself), level=level)(np.zeros((3, 0, 5))).shape == (3, 0, 3)
    assert st.vmap(st.vmap(ends_by_itself), level=level)(np.zeros((0, 3, 5))).shape == (0, 3, 3)


@every_level
def test_what_is_the_same_for_all_items(level: Any) -> None:
    def scaled(x: Any, w: Any) -> Any:
        return (x * w if x[0] > 0 else w), np.sum(w)

    w = np.ones(3)
    batched = st.vmap(scaled, in_axes=(0, None), out_axes=(0, None), level=level)
    rows, total = batched(np.zeros((0, 3)), w)
    assert rows.shape == (0, 3)
    assert total == 3.0
    gradient = st.grad(lambda x, w: np.sum(batched(x, w)[0]) + np.sum(w), wrt=1, level=level)
    np.testing.assert_array_equal(gradient(np.zeros((0, 3)), w), np.ones(3))


@every_level
@pytest.mark.parametrize("by_rows", [False, True])
def test_training_steps(by_rows: bool, level: Any) -> None:
    """A step of a batch without rows changes nothing."""

    def loss(w: Any, x: Any, y: Any) -> Any:
        if not by_rows:
            return np.sum((x @ w["a"] + w["b"] - y) ** 2)
        total = 0.0
        for row, goal in zip(x, y, strict=True):
            total = total + (row @ w["a"] + w["b"] - goal) ** 2
        return total

    w = {"a": np.ones(3), "b": np.zeros(())}
    step = st.train_step(loss, st.optim.SGD(0.1), level=level)
    assert step(w, np.zeros((0, 3)), NONE) == 0.0
    np.testing.assert_array_equal(w["a"], np.ones(3))
    assert w["b"] == 0


def test_nothing_moves_nothing() -> None:
    """The tangent of a norm of no elements is 0, not 0 / 0."""

    def length(x: Any) -> Any:
        return np.linalg.norm(x[:0] * 2.0) + np.sum(x)

    assert st.jvp(length, (X,), (np.ones(4),))[1] == 4.0
    np.testing.assert_array_equal(st.jacobian(length, mode="forward")(X), np.ones(4))
