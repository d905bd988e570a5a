"""Every method of generators, and where generators come from."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.primal import Primal
from tests.frontend.draws import OTHER, M, X, check, rng
from tests.programs import assert_same

# --- every method --------------------------------------------------------------------------------


def real_numbers(x, rng):
    a = rng.random(3) + rng.random() + rng.random((2, 3)).sum() + rng.random(size=())
    b = rng.standard_normal(3) * rng.standard_normal() + rng.standard_exponential((3,))
    c = rng.random(3, dtype=np.float32) + rng.standard_normal(3, np.float32)
    return np.sum(x * (a + b + c) + rng.standard_exponential())


def with_parameters(x, rng):
    total = np.sum(rng.normal() * x) + np.sum(rng.normal(x, 2.0) ** 2)
    total = total + np.sum(rng.normal(0.0, x) ** 2) + np.sum(rng.normal(x, x * x, size=(2, 3)) ** 2)
    total = total + np.sum(rng.uniform(0, x) ** 2) + np.sum(rng.uniform(-x, x[0]) ** 3)
    total = total + np.sum(rng.exponential(x) ** 2) + np.sum(rng.exponential(x[1]) * x)
    total = total + rng.normal(x[0], x[1]) * rng.uniform(high=x[2]) * rng.exponential()
    return total + np.sum(rng.normal([1.0, 2.0], 0.5) * x[:2]) + np.sum(rng.uniform(x[1], 9) ** 2)


def integers(x, rng):
    i = rng.integers(3)
    j = rng.integers(1, 3, size=4, endpoint=False)
    k = rng.integers(0, 2, (2, 2), dtype=np.int32, endpoint=True)
    m = rng.integers(0, [2, 3]) + rng.integers(2, dtype=int)
    on = rng.integers(2, dtype=bool)
    return np.sum(x[j]) * x[i] + np.sum(x[k]) + np.sum(x[m]) * on


def orders(x, rng):
    y = x[rng.permutation(3)] * np.arange(3.0)
    z = rng.permutation(x) * np.arange(1.0, 4.0)
    rows = rng.permutation(x * M) * M + rng.permutation(x * M, axis=1) * M
    w = x * 2
    v = w[:]
    rng.shuffle(w)
    block = x * M
    rng.shuffle(block)
    rng.shuffle(block, axis=1)
    rng.shuffle(np.zeros((4, 0)))
    return np.sum(y * z) + np.sum(rows) + np.sum(v * np.arange(3.0)) + np.sum(block * M)


def choices(x, rng):
    a = x[rng.choice(3)] + np.sum(x[rng.choice(3, 2, replace=False)])
    b = rng.choice(x) * rng.choice(x, (2, 2), replace=True)
    c = rng.choice(3, size=5, p=np.array([0.2, 0.3, 0.5]))
    d = rng.choice(x * M, 2, axis=1) * rng.choice(M, 2, axis=1)
    return a + np.sum(b) + np.sum(x[c] * np.arange(5.0)) + np.sum(d) + np.sum(rng.choice(x * M) * x)


def legacy_methods(x, rng):
    rng.seed(8)
    a = rng.rand(2, 3) * rng.randn(3) + rng.rand() + rng.randn() + rng.random_sample(3)
    b = x[rng.randint(3)] + np.sum(x[rng.randint(0, 3, size=4)]) + rng.random()
    c = rng.permutation(x) * rng.choice(x, 3) + rng.standard_normal(3) + rng.exponential(x)
    d = x * 1
    rng.shuffle(d)
    return np.sum(a * x) + b + np.sum(c) + np.sum(d * rng.normal(x, 1.0)) + rng.uniform(0, x[0])


METHODS = [real_numbers, with_parameters, integers, orders, choices]


@pytest.mark.parametrize("function", METHODS)
def test_methods_of_a_generator(function):
    check(function, X, rng())


def test_methods_of_a_random_state():
    check(legacy_methods, X, np.random.RandomState(5))


def global_state(x):
    np.random.seed(12)
    a = np.random.rand(3) * np.random.randn(2, 3) + np.random.random(3) + np.random.random_sample()
    b = np.random.normal(x, 1.5) * np.random.uniform(0.0, x) * np.random.standard_normal(3)
    c = x[np.random.randint(0, 3, 5)] * np.random.permutation(5) + np.random.choice(x)
    d = x * 1
    np.random.shuffle(d)
    return np.sum(a * b) + np.sum(c) + np.sum(d * x) + np.random.exponential()


def unseeded(x):
    return np.sum(np.random.normal(x, 1.0) ** 2)


@pytest.mark.parametrize("function", [global_state, unseeded])
def test_the_global_state(function):
    check(function, X)


def test_the_global_state_is_drawn_from_at_each_call():
    np.random.seed(4)
    expected = [unseeded(X), unseeded(X)]
    np.random.seed(4)
    compiled = st.value_and_grad(unseeded)
    assert [compiled(X)[0], compiled(X)[0]] == expected
    assert expected[0] != expected[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [None, (), 0, 1, (2, 0), (2, 3)])
@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
def test_kinds_shapes_and_dtypes(name, size, dtype):
    def drawn(rng):
        return getattr(rng, name)(size, dtype)

    def with_loc(rng, loc):
        return rng.normal(loc, 1, size)

    assert_same(Primal(drawn)(rng()), drawn(rng()), name)
    for loc in (1.0, np.float32(1), np.array(1.0)):
        assert_same(Primal(with_loc)(rng(), loc), with_loc(rng(), loc), "normal")


# --- where generators come from ------------------------------------------------------------------


def made_inside(x):
    rng = np.random.default_rng(5)
    other = np.random.default_rng(5)
    old = np.random.RandomState(6)
    same = np.random.default_rng(rng)
    a = rng.random(3) - other.random(3)  # two generators of one seed: no difference
    b = same.normal(x, 1.0) * other.normal(x, 1.0) * old.normal(x, 1.0)
    return np.sum((a + b) * np.random.default_rng((1, 2)).random(3))


def captured(x):
    return np.sum(OTHER.normal(x, x) * OTHER.random(3))


draw = OTHER.normal


def captured_method(x):
    return np.sum(draw(x, 1.0) ** 2)


def with_default(x, rng=OTHER):
    return np.sum(rng.normal(x, x))


def in_structures(params, rngs):
    return np.sum(params * rngs["a"].random(3) * rngs["b"][0].normal(params, 1.0))


def two_generators(x, first, second):
    return np.sum(first.normal(x, 1.0) * second.normal(x, 1.0)) - np.sum(first.random(3) * x)


def optional(x, rng=None):
    if rng is None:
        rng = np.random.default_rng(1)
    assert isinstance(rng, np.random.Generator) and type(rng) is not np.random.RandomState
    return np.sum(rng.normal(x, x)) * (rng.integers(3) if hasattr(rng, "integers") else 9)


def through_helpers(x, rng):
    def noisy(v, source, scale=0.1):
        return v + scale * source.standard_normal(v.shape)

    layers = [lambda v: noisy(v, rng), lambda v: noisy(np.tanh(v), rng, scale=x[0])]
    for layer in layers:
        x = layer(x)
    return np.sum(x * x)


@pytest.mark.parametrize(
    "function", [made_inside, captured, captured_method, with_default, optional]
)
def test_generators_that_are_not_passed(function):
    check(function, X)


@pytest.mark.parametrize("function", [optional, with_default, through_helpers])
def test_generators_that_are_passed(function):
    check(function, X, rng())


def test_two_generators():
    check(two_generators, X, rng(), np.random.default_rng(4))
    one = rng()
    check(two_generators, X, one, one)


def test_generators_in_structures():
    rngs = {"a": rng(), "b": [np.random.RandomState(3)]}
    check(in_structures, X, rngs)


def test_one_compilation_serves_all_generators():
    compiled = st.value_and_grad(two_generators)
    one = rng()
    compiled(X, one, one)
    a, b = np.random.default_rng(8), np.random.default_rng(9)
    expected = two_generators(X, *copy.deepcopy((a, b)))
    assert compiled(X, a, b)[0] == expected
    assert compiled.source(X, one, one) == compiled.source(X, a, b)


def test_a_captured_generator_may_be_replaced():
    source = rng()

    def loss(x):
        return np.sum(source.normal(x, 1.0))

    compiled = st.value_and_grad(loss)
    for seed in (1, 2):
        source = np.random.default_rng(seed)
        value = compiled(X)[0]
        source = np.random.default_rng(seed)
        assert value == loss(X)


def test_an_unseeded_generator_is_new_at_each_call():
    def loss(x):
        return np.sum(x * np.random.default_rng().random(3))

    compiled = st.value_and_grad(loss)
    assert compiled(X)[0] != compiled(X)[0]


def test_a_generator_may_be_returned():
    def same(x, rng):
        return x * rng.random(), rng

    given = rng()
    assert Primal(same)(X, given)[1] is given
