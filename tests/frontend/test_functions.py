"""Calls of Python functions: they are inlined, with Python's own rules for arguments and scopes."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest

import stcompile as st
from tests.frontend import layers
from tests.frontend.layers import dense
from tests.programs import Examples

examples = Examples()

X = np.linspace(-0.8, 0.9, 6).reshape(2, 3)
W = np.linspace(0.3, -0.4, 9).reshape(3, 3)


def relu(x, slope=0.1):
    return np.where(x > 0, x, slope * x)


@examples(X)
def helpers(x):
    return relu(x), relu(x, 0.2), relu(slope=x, x=x * x)


@examples(X, W, wrt=(0, 1))
def helpers_of_another_module(x, w):
    params = {"W": w, "b": 0.5}
    return dense(x, params), layers.dense(x, params, activation=np.sin) * layers.SCALE


@examples(X)
def every_kind_of_parameter(x):
    def f(a, /, b, c=2.0, *rest, d, e=4.0, **more):
        return a + b * c + sum(rest) * d - e + more.get("g", 0.0) * len(more)

    pair, named = (x, x * 2), {"d": x, "g": 7.0}
    return (
        f(x, 1.0, d=2.0),
        f(x, b=x, d=x),
        f(*pair, 3.0, x, x, d=1.0, e=x),
        f(1.0, *pair, **named, h=3),
    )


@examples(X)
def nested_functions_and_closures(x):
    scale = 2.0

    def outer(y):
        def inner(z):
            return z * scale + y

        return inner(y) * inner(x)

    result = outer(x)
    scale = 3.0
    return result, outer(x)


@examples(X)
def closures_see_the_last_value(x):
    late = [lambda v: v * n for n in range(3)]
    early = [lambda v, n=n: v * n for n in range(3)]
    return [f(x) for f in late], [f(x) for f in early]


@examples(X)
def nonlocal_names(x):
    total, calls = x * 0, 0

    def add(y):
        nonlocal total, calls
        total = total + y
        calls += 1

    add(x)
    add(x * x)
    return total, calls


@examples(X)
def defaults_are_evaluated_once(x):
    scale = 2.0

    def f(y, scale=scale, seen=[]):
        seen.append(y)
        return y * scale * len(seen)

    scale = 5.0
    return f(x) + scale, f(x), f(x, seen=[])


@examples(X, 4)
def recursion_with_a_static_base_case(x, n):
    def power(y, n):
        if n == 0:
            return 1.0
        half = power(y, n // 2)
        return half * half * (y if n % 2 else 1.0)

    def total(tree):
        return total(tree[0]) + total(tree[1]) if isinstance(tree, tuple) else np.sum(tree)

    return power(x, n), total(((x, x * x), (x, (x, 3.0))))


@examples(X)
def functions_are_values(x):
    def compose(*functions):
        return lambda y: functools.reduce(lambda value, f: f(value), functions, y)

    table = [np.sin, relu, lambda v: v + 1]
    return compose(*table)(x), compose()(x), (lambda *a, **k: a[0] * k["n"])(x, n=2), table[0](x)


@examples(X)
def partial_application(x):
    half = functools.partial(relu, slope=0.5)
    scaled = functools.partial(np.multiply, x)
    return half(x), half(x, slope=x), scaled(3.0), functools.partial(half, x)()


@examples(X)
def map_filter_and_reduce(x):
    doubled = list(map(lambda a, b: a * b, [x, x], [2, 3]))
    kept = list(filter(lambda n: n % 2, range(5)))
    return doubled, kept, functools.reduce(lambda a, b: a * b, doubled), functools.reduce(max, kept)


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return wrapper


@logged
def decorated_helper(x):
    return np.sin(x)


@examples(X)
def decorators(x):
    @logged
    def inner(y):
        return y * y

    return decorated_helper(x), inner(x)


@st.differentiable
def square(x):
    return x * x


@examples(X)
def differentiable_functions_inside(x):
    return square(x) + 1


@examples(X)
def derivatives_inside(x):
    def energy(y, k):
        return np.sum(np.cos(y) * k)

    value, force = st.value_and_grad(energy)(x, 2.0)
    return value * x, force, st.grad(energy, wrt="k")(x, k=2.0)


@examples(X)
def results_need_not_use_their_arguments(x):
    def nothing(*_):
        return

    return x, nothing(x) is None


@functools.lru_cache(maxsize=None)  # noqa: UP033
def cached_outside(n):
    return n if n < 2 else cached_outside(n - 1) + cached_outside(n - 2)


@examples(X)
def cached_functions(x):
    @functools.cache
    def power(k):
        return x * power(k - 1) if k else 1.0

    @functools.lru_cache(maxsize=8)
    def scaled(k):
        return x * k

    @functools.lru_cache
    def shifted(k, by=1.0):
        return x + k * by

    return power(3), scaled(2), shifted(1, by=0.5), cached_outside(9) * x


@examples(X)
def caches_give_back_what_they_keep(x):
    y = x * 1.0

    @functools.cache
    def scaled(k):
        return [y * k]

    @functools.lru_cache(typed=True)
    def total(k):
        return np.sum(y) * k

    first, then, total_before = scaled(2), [], total(2)
    first[0] += 1.0
    first.append(x)
    y[0] = 5.0
    for _ in range(20):
        y = y * 0.5
        then = then + scaled(2)[:1]
    totals = total_before + total(2) * total(2.0)
    return first[0] * then[-1], len(scaled(2)), scaled(2) is first, totals, scaled(3)


@examples(X)
def caches_that_keep_nothing(x):
    y = x * 1.0

    @functools.lru_cache(maxsize=0)
    def total(k):
        return np.sum(y) * k

    @functools.lru_cache
    def square(v):
        return v * v

    before = total(2)
    y[0] = 5.0
    return before * total(2) + square(float(np.max(x))) * square(3)


test_program = examples.tests()


def test_keyword_only_arguments_and_names_for_wrt():
    def loss(x, *, scale=2.0):
        return np.sum(x * scale)

    assert st.grad(loss, wrt="scale")(X, scale=3.0) == np.sum(X)
    np.testing.assert_array_equal(st.grad(loss)(x=X), np.full_like(X, 2.0))
    d_scale, d_x = st.grad(loss, wrt=("scale", 0))(X)
    assert (d_scale, d_x[0, 0]) == (np.sum(X), 2.0)


def test_star_arguments_of_the_function_itself():
    def loss(*arrays, **named):
        return sum([np.sum(a) for a in arrays]) * named["scale"]

    first, second = st.grad(loss, wrt=(0, 1))(X, W, scale=3.0)
    np.testing.assert_array_equal(first, np.full_like(X, 3.0))
    np.testing.assert_array_equal(second, np.full_like(W, 3.0))


def test_imports_inside_the_function():
    def area(r):
        import math
        import os.path as _paths  # noqa: F401
        import xml.etree
        from math import cos
        from math import pi as full

        from numpy import linalg

        name = xml.etree.__name__
        return math.sin(r) + full * r * r + linalg.norm(np.array([r, cos(r)])) + len(name)

    value, gradient = st.value_and_grad(area)(1.5)
    assert value == area(1.5)
    slope = np.cos(1.5) + 2 * np.pi * 1.5
    of_norm = (1.5 - np.cos(1.5) * np.sin(1.5)) / np.hypot(1.5, np.cos(1.5))
    assert gradient == pytest.approx(slope + of_norm, rel=1e-12)


def test_getters_of_the_operator_module():
    def total(parameters, points):
        result = 0.0
        for scale, (_name, value) in enumerate(
            sorted(parameters.items(), key=operator.itemgetter(0))
        ):
            result = result + np.sum(np.sin(value)) * (scale + 1.0)
        first, last = operator.itemgetter(0, -1)(points)
        return result + first * last * operator.attrgetter("T.shape")(points)[0]

    parameters, points = {"b": 1.0, "a": np.ones(2)}, np.array([2.0, 5.0])
    by_parameters, by_points = st.grad(total, wrt=(0, 1))(parameters, points)
    np.testing.assert_allclose(by_parameters["a"], np.cos(np.ones(2)))
    assert by_parameters["b"] == pytest.approx(2 * np.cos(1.0))
    np.testing.assert_array_equal(by_points, [10.0, 4.0])
