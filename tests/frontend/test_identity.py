"""``is``: which objects Python, NumPy and the calls of a function make anew."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.derivatives.numeric import differences

X = np.array([1.0, 2.0, 3.0])
S = np.float64(2.5)


def views(x: Any, s: Any) -> Any:
    return (
        (x.T is x, x.T is x.T, x[:] is x, x.reshape(-1) is x, x.ravel() is x),
        (x.squeeze() is x, np.squeeze(x) is x, np.asarray(x) is x, np.ascontiguousarray(x) is x),
        (x.real is x, np.real(x) is x, x.conj() is x, np.conj(x) is x, np.real_if_close(x) is x),
        (np.asfortranarray(x) is x, np.atleast_1d(x) is x, np.copy(x) is x, +x is x),
        (s.T is s, s.real is s, np.real(s) is s),
    )


def classes(x: Any, s: Any) -> Any:
    return (
        (x.__class__ is np.ndarray, s.__class__ is np.float64, x.__class__ is s.__class__),
        (hasattr(x, "shape"), hasattr(s, "mT"), hasattr(1.5 * float(s), "shape")),
        getattr(float(s), "shape", ()) == x.shape[1:],
        np.squeeze(float(s)),
    )


def test_answers_are_numpys():
    for function in (views, classes):
        found, expected = st.compile(function)(X, S), function(X, S)
        assert found == expected
    assert isinstance(st.compile(classes)(X, S)[3], np.ndarray)


def twice(x: Any) -> Any:
    return x * 2.0


def constant() -> Any:
    return 0.5


def pair(x: Any) -> Any:
    return (1, 2)


def given(x: Any) -> Any:
    return x


def of_calls(x: Any) -> Any:
    return x if twice(x) is twice(x) else 2 * x


def of_constants(x: Any) -> Any:
    return x if constant() is constant() else 2 * x


def of_tuples(x: Any) -> Any:
    return x if pair(x) is pair(x) else 2 * x


def of_shapes(x: Any) -> Any:
    return x if np.ones(3).shape is np.ones(3).shape else 2 * x


def of_copies(x: Any) -> Any:
    s = np.float64(x)
    return x if s.copy() is s else 2 * x


def of_plus(x: Any) -> Any:
    s = np.float64(x)
    return x if +s is s else 2 * x


def of_empty_subscripts(x: Any) -> Any:
    s = np.float64(x)
    return x if s[()] is s else 2 * x


@pytest.mark.parametrize(
    "function",
    [of_calls, of_constants, of_tuples, of_shapes, of_copies, of_plus, of_empty_subscripts],
)
def test_whether_equal_values_are_one_object_is_refused(function):
    with pytest.raises(st.LanguageError, match="one object"):
        st.grad(function)(1.5)


def known(x: Any) -> Any:
    y = twice(x)
    z = y
    return x * ((z is y) + 2 * (given(x) is given(x)) + 4 * (given(y) is y)) + (twice(x) is None)


def test_one_number_by_several_names_is_itself():
    assert st.value_and_grad(known)(1.5) == (known(1.5), 7.0)


def matrix_transpose(x: Any) -> Any:
    return np.sum(x.mT)


def test_items_are_told_apart_where_one_is_not_equal_to_itself():
    def inside(x: Any) -> Any:
        a, b = twice(x), twice(x)
        return 1.0 * (a in [a]) + 2.0 * (a in [b])

    for value in (1.5, np.nan):
        assert st.compile(inside)(value) == inside(value)


def test_the_matrix_transpose_of_a_vector_is_numpys_error():
    with pytest.raises(st.TypingError, match="at least two dimensions"):
        st.compile(matrix_transpose)(X)


class Net:
    pass


@dataclasses.dataclass
class Layer:
    w: float
    parts: list[float] = dataclasses.field(default_factory=lambda: [1.0, 2.0])


LAYERS = [Layer(2.0), Layer(3.0)]
NET = Net()
NET.layers, NET.last, NET.parts = LAYERS, LAYERS[-1], LAYERS[0].parts


def last_is_met_in_the_list(x: Any) -> Any:
    for layer in NET.layers:
        x = x * layer.w if layer is NET.last else np.tanh(x * layer.w)
    return x


def last_is_read_first(x: Any) -> Any:
    last = NET.last
    x = x * last.w
    return x * sum(layer.w for layer in NET.layers if layer is not last)


def lists_inside_of_objects(x: Any) -> Any:
    found = [layer.parts is NET.parts for layer in NET.layers]
    return x * (2.0 if found == [True, False] else 3.0)


@pytest.mark.parametrize(
    "function", [last_is_met_in_the_list, last_is_read_first, lists_inside_of_objects]
)
def test_an_object_that_is_reached_in_two_ways_is_one(function: Any) -> None:
    for level in ("readable", "fast"):
        value, slope = st.value_and_grad(function, level=level)(0.5)
        assert value == pytest.approx(function(0.5), rel=1e-14)
        assert slope == pytest.approx(differences(function, 0.5), rel=1e-8)


PAIR = (1.0, float("2"))
ITEMS, NAMED = [PAIR, (1.0, float("2")), PAIR], {"a": PAIR}


def test_tuples_that_hold_numbers() -> None:
    def counted(x: Any) -> Any:
        return x * sum(2.0 if item is NAMED["a"] else 3.0 for item in ITEMS)

    assert st.grad(counted)(1.0) == 7.0


DRAWS = np.random.default_rng(0)


@dataclasses.dataclass(eq=False)
class Unlike:
    v: float


def test_objects_among_the_arguments_are_not_told_apart() -> None:
    with pytest.raises(st.LanguageError, match="is not known at compile time"):
        st.grad(lambda x, draws: x * 2 if draws is DRAWS else x)(1.0, DRAWS)
    items = [Unlike(2.0), Unlike(2.0)]
    for told in (lambda x, items: x * len({*items}), lambda x, items: x * len({items[0]: 1})):
        with pytest.raises(st.LanguageError, match="which of them are one object is not known"):
            st.grad(told)(1.0, items)


def test_an_object_that_is_replaced_by_another_one() -> None:
    compiled = st.compile(last_is_met_in_the_list)
    for last in (LAYERS[0], LAYERS[1], Layer(3.0)):
        NET.last = last
        assert compiled(0.5) == pytest.approx(last_is_met_in_the_list(0.5), rel=1e-14)
    NET.last = LAYERS[-1]
