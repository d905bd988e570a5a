"""Arrays that are declared static index lists; others are refused, with the way out."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import LanguageError

ORDER = st.static([2, 0])


def chosen(w: Any, order: Any) -> Any:
    layers = [w, 2 * w, w**2]
    return sum(np.sum(layers[i]) for i in order) + np.sum(w[order] ** 3)


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_items_index_lists(level: Any, kind: Any) -> None:
    w = np.array([1.0, 2.0, 3.0])
    for items in ([0, 2], [1], [-1, 1], []):
        order = st.static(np.array(items).astype(kind if min(items, default=0) >= 0 else int))
        value, gradient = st.value_and_grad(chosen, level=level)(w, order)
        assert value == chosen(w, order)
        step = 1e-6 * np.eye(3)
        expected = [(chosen(w + e, order) - chosen(w - e, order)) / 2e-6 for e in step]
        np.testing.assert_allclose(gradient, expected, atol=1e-6)


def test_captured_ones_and_parts_of_structures() -> None:
    def captured(w: Any) -> Any:
        return chosen(w, ORDER)

    def within(params: Any) -> Any:
        return chosen(params["w"], params["tree"]["order"][::-1])

    w = np.array([1.0, 2.0, 3.0])
    assert st.value_and_grad(captured)(w)[0] == captured(w)
    params = {"w": w, "tree": {"order": ORDER}}
    assert st.compile(within)(params) == within(params)


def test_constants_of_the_function_index_lists() -> None:
    def tree(x: Any) -> Any:
        parents = np.array([0, 0, 1])
        states = [x]
        for i in range(1, 3):
            states.append(np.sin(states[parents[i]]) + 1.0)
        return np.sum(states[-1])

    x = np.array([0.25])
    assert st.value_and_grad(tree)(x)[0] == tree(x)


def test_places_are_known_to_differ() -> None:
    def loss(w: Any, order: Any) -> Any:
        return np.sum(w[order] ** 2)

    w = np.array([1.0, 2.0, 3.0])
    assert "np.add.at" not in st.value_and_grad(loss).source(w, ORDER)
    assert "np.add.at" in st.value_and_grad(loss).source(w, st.static([0, 0]))
    assert "np.add.at" in st.value_and_grad(loss).source(w, np.array([0, 1]))


def test_each_object_has_a_program_of_its_own() -> None:
    w = np.array([1.0, 2.0, 3.0])
    compiled = st.compile(chosen)
    for order in (ORDER, st.static([1, 1]), ORDER, st.static([0])):
        assert compiled(w, order) == chosen(w, order)


def test_they_are_arrays_that_are_not_written() -> None:
    assert isinstance(ORDER, np.ndarray) and not ORDER.flags.writeable
    copied = pickle.loads(pickle.dumps(ORDER))
    assert type(copied) is type(ORDER)
    np.testing.assert_array_equal(copied, ORDER)
    with pytest.raises(TypeError, match="integers and booleans"):
        st.static([0.5])

    def written(w: Any, order: Any) -> Any:
        order[0] = 1
        return np.sum(w[order])

    with pytest.raises(LanguageError, match="it is static"):
        st.grad(written)(np.ones(3), ORDER)


def test_other_integers_are_refused_with_the_way_out() -> None:
    for order in (np.array([0, 2]), np.array([0, 2], np.uint8)):
        with pytest.raises(LanguageError, match=r"st\.static\(array\)"):
            st.grad(chosen)(np.ones(3), order)
