"""Names that have a value on some paths only: its value, or Python's error."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

examples = Examples()

V = np.array([1.1, 2.2, 3.3])
ZERO, ONE, FOUR = np.asarray(0), 1.0, np.asarray(4)


@examples(V)
@examples(-V)
def conditions_that_complement_each_other(x):
    if x[0] <= 0:
        f = 1.0
    if x[0] > 0:
        f = x[0] * 2
    return f * np.sum(x)


@examples(V)
def a_branch_alone(x):
    if x[0] > 1:
        y = x * 2
    return np.sum(y * y)


@examples(V)
def two_of_three_paths(x):
    if x[0] > 5:
        y = x * 2
    elif x[0] > 1:
        y = x**2
    return np.sum(y)


@examples(V, FOUR)
def a_loop_that_may_make_no_step(x, n):
    for i in range(n):
        y = x * i
        s = x[0] * i
    return np.sum(y * y) + s * i


@examples(V)
def a_while_loop(x):
    t = x[0]
    while t < 100:
        t = t * 2
        last = t * x[1]
    return last


@examples(V)
def a_search(x):
    for k in range(3):
        if x[k] > 2:
            found = x[k] ** 2
    return found * 2


@examples(V)
def a_search_in_a_kept_loop(x):
    for k in range(40):
        if x[k % 3] > 2:
            found = x[k % 3] ** 2
    return found * 2


@examples(V)
def a_search_that_ends(x):
    for k in range(40):
        if x[k % 3] > 2:
            found = x[k % 3] ** 2
            break
    return found * k


@examples(V, 0.0)
@examples(V, ONE)
def a_match_without_a_last_case(x, d):
    match d:
        case 0.0:
            y = x
        case 1.0:
            y = x * x
    return np.sum(y)


@examples(V)
def a_deleted_name(x):
    y = x * 2
    if x[0] < 0:
        del y
    return np.sum(y)


@examples(V)
def changed_in_place(x):
    if x[0] > 0:
        y = x * 2
        items = [x, x[0]]
    y += 1
    y *= x
    items.append(x * 3)
    return np.sum(y) + np.sum(items[2]) * items[1]


@examples(V)
def a_view_of_one_path(x):
    a = x * 1
    if x[0] > 0:
        v = a[1:]
    v[0] = 5 * x[0]
    return np.sum(a * a)


@examples(V)
def read_by_a_nested_function(x):
    if x[0] > 0:
        y = x * 2

    def total():
        return np.sum(y * y)

    return total()


@examples(V)
def read_on_one_path(x):
    if x[0] > 0:
        if x[1] > 0:
            y = x * 2
    else:
        y = x
    if x[2] > 0:
        return np.sum(y)
    return 1.0 * x[0]


@examples(V)
def what_is_static_stays_static(x):
    if x[0] > 0:
        k, mode = 2, "a"
    return np.sum(x[:k] ** k) if mode == "a" else x[0]


@examples(V)
def read_in_a_kept_loop(x):
    if x[0] > 0:
        y = x * 2
    s = np.sum(y)
    for k in range(40):
        if x[k % 3] > 0:
            z = x[k % 3]
        s = s + np.sum(y * z) * 0.01
    return s


@examples(V)
def assigned_again(x):
    if x[0] > 5:
        y = 3
    y = x * 2
    return np.sum(y)


test_program = examples.tests()


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (conditions_that_complement_each_other, (V * np.nan,)),
        (a_branch_alone, (-V,)),
        (two_of_three_paths, (-V,)),
        (a_loop_that_may_make_no_step, (V, ZERO)),
        (a_while_loop, (V * 1000,)),
        (a_search, (-V,)),
        (a_search_in_a_kept_loop, (-V,)),
        (a_search_that_ends, (-V,)),
        (a_match_without_a_last_case, (V, 3.0)),
        (a_deleted_name, (-V,)),
        (changed_in_place, (-V,)),
        (a_view_of_one_path, (-V,)),
        (read_by_a_nested_function, (-V,)),
        (read_on_one_path, (np.array([1.0, -1.0, 1.0]),)),
        (what_is_static_stays_static, (-V,)),
        (read_in_a_kept_loop, (-V,)),
    ],
)
def test_a_name_without_a_value_raises_pythons_error(function, args, level):
    with pytest.raises(NameError) as expected:
        function(*args)
    with pytest.raises(NameError) as caught:
        st.value_and_grad(function, level=level)(*args)
    assert type(caught.value) is type(expected.value)
    assert str(caught.value) == str(expected.value)
    line = traceback.extract_tb(expected.value.__traceback__)[-1].lineno
    assert any(f"test_unbound.py:{line}" in note for note in caught.value.__notes__)


def test_compiled_programs():
    pytest.importorskip("numba")
    for function, args in (
        (conditions_that_complement_each_other, (V,)),
        (a_search_in_a_kept_loop, (V,)),
    ):
        value, gradient = st.value_and_grad(function, level="compiled")(*args)
        np.testing.assert_allclose(value, function(*args))
        np.testing.assert_allclose(gradient, st.grad(function, level="readable")(*args))
        with pytest.raises(UnboundLocalError):
            st.value_and_grad(function, level="compiled")(V * np.nan)


def test_derivatives_of_second_order():
    f, total = 2 * V[0], np.sum(V)
    expected = np.zeros((3, 3))
    expected[0] += 2
    expected[:, 0] += 2
    np.testing.assert_allclose(st.hessian(conditions_that_complement_each_other)(V), expected)
    tangent = st.jvp(conditions_that_complement_each_other, (V,), (np.ones(3),))[1]
    np.testing.assert_allclose(tangent, 2 * total + 3 * f)


def test_a_batch():
    rows = np.stack([V, 2 * V])
    expected = [conditions_that_complement_each_other(row) for row in rows]
    np.testing.assert_allclose(st.vmap(conditions_that_complement_each_other)(rows), expected)


def test_a_name_that_is_not_read_costs_nothing():
    def program(x):
        if x[0] > 0:
            y = x * 2
            total = np.sum(y)
        else:
            total = x[1]
        return total * x[2]

    assert "has_y" not in st.grad(program).source(V)


def test_a_handler_around_takes_the_error():
    def program(x):
        if x[0] > 0:
            y = x * 2
        try:
            return np.sum(y)
        except NameError:
            return x[0]

    for level in ("readable", "fast", "compiled"):
        gradient = st.grad(program, level=level)
        np.testing.assert_array_equal(gradient(np.array([1.0, 2.0])), [2, 2])
        np.testing.assert_array_equal(gradient(np.array([-1.0, 2.0])), [1, 0])
