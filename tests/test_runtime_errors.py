"""Errors that NumPy raises while generated code runs name the user's line."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import stcompile as st


def picks(x, i):
    scaled = x * 2.0
    return np.sum(scaled[i] * np.array([1.0, 2.0]))


def text_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def test_an_index_out_of_range_points_at_the_users_line():
    gradient = st.grad(picks)
    np.testing.assert_array_equal(gradient(np.ones(3), np.array([0, 2])), [2, 0, 4])
    with pytest.raises(IndexError, match="out of bounds") as caught:
        gradient(np.ones(3), np.array([0, 5]))
    text = text_of(caught.value)
    assert "raised by the code for" in text
    assert "test_runtime_errors.py" in text
    assert "scaled[i] * np.array([1.0, 2.0])" in text


def test_the_traceback_shows_the_generated_code():
    with pytest.raises(IndexError) as caught:
        st.grad(picks)(np.ones(3), np.array([0, 5]))
    assert "<stcompile picks_grad" in text_of(caught.value)
    assert "scaled[i]" in text_of(caught.value)


def test_labels_of_the_wrong_shape_are_refused():
    def loss(w, labels):
        return st.nn.softmax_cross_entropy(w, labels)

    with pytest.raises(st.LanguageError, match=r"labels \(batch,\)"):
        st.grad(loss)(np.ones((2, 3)), np.zeros((2, 1), int))
    with pytest.raises(ValueError, match=r"labels \(batch,\)"):
        loss(np.ones((2, 3)), np.zeros((2, 1), int))
