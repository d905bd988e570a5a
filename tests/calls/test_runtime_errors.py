"""Errors that NumPy raises while generated code runs name the user's line."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.diagnostics.refusals import excerpts


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


# --- wherever it is raised -----------------------------------------------------------------------


def chosen(x, i):
    return x[i]


def picks_in_a_helper(x, i):
    return np.sum(chosen(x * 2.0, i))


def told(function, *args):
    """What the error that a call raises says of the user's line: the type, file, line and caret."""
    with pytest.raises(Exception) as caught:
        function(*args)
    text = text_of(caught.value)
    assert "raised by the code for" in text, text
    (place, *_) = excerpts(text.split("raised by the code for")[1])
    return type(caught.value), place.file, place.function, place.underlined


@pytest.mark.parametrize("transform", [st.grad, st.value_and_grad, Primal])
def test_in_a_function_that_is_called(transform):
    found = told(transform(picks_in_a_helper), np.ones(3), np.array([7]))
    assert found == (IndexError, "test_runtime_errors.py", "chosen", "x[i]")


def test_in_a_training_step():
    step = st.train_step(picks_in_a_helper, st.optim.SGD(0.1))
    found = told(step, np.ones(3), np.array([-4]))
    assert found == (IndexError, "test_runtime_errors.py", "chosen", "x[i]")


def test_on_the_left_of_an_assignment():
    def scatter(x, i):
        y = np.zeros(3)
        y[i] = x
        return np.sum(y * y)

    found = told(st.grad(scatter), np.ones(2), np.array([0, 3]))
    assert found == (IndexError, "test_runtime_errors.py", "scatter", "y[i] = x")


def logs(x):
    return np.sum(np.log(x) * 2.0)


def test_floating_point_errors_of_numpy():
    with np.errstate(all="raise"):
        found = told(st.value_and_grad(logs), np.array([1.0, -1.0]))
        assert found[0] is FloatingPointError and found[3] == "np.log(x)"


def roots(x):
    return np.sum(np.sqrt(x))


def test_in_the_adjoint():
    with np.errstate(all="raise"):
        found = told(st.value_and_grad(roots), np.array([1.0, 0.0]))
    assert found == (FloatingPointError, "test_runtime_errors.py", "roots", "np.sqrt(x)")


def test_numbers_of_python():
    found = told(st.grad(lambda x: x**0.5), 0.0)
    assert found[0] is ZeroDivisionError and found[3] == "x**0.5"


def test_linear_algebra():
    def inverse(x):
        return np.sum(np.linalg.inv(x))

    try:
        st.grad(inverse)(np.eye(2))
    except st.LanguageError:
        pytest.skip("np.linalg.inv is not supported")
    found = told(st.grad(inverse), np.zeros((2, 2)))
    assert found[0] is np.linalg.LinAlgError and found[3] == "np.linalg.inv(x)"
