"""Functions of `math` that take any number of numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

A = np.array([0.5, -1.5, 2.5, 0.1])
example = Examples()


@example(A, 0.7, wrt=(0, 1))
def norms(x, s):
    return math.hypot(s, x[0], x[1]) + math.hypot(x[2]) * math.hypot(s, 3, 4, s) + math.hypot(*x)


@example(A, 0.7, wrt=(0, 1))
def distances(x, s):
    return math.dist(x[:2], x[2:]), math.dist([s, 1.0], (x[0], 2)), math.dist([s], [2])


@example(A)
def exact_sums(x):
    return math.fsum(x) * math.fsum([x[0], 1e16, x[1], -1e16, 3]), math.fsum([0.1] * 10) * x


@example(A, 0.7, wrt=(0, 1))
def products(x, s):
    return math.prod(x), math.prod([s, 2, s], start=x[0]), math.prod(()) * s, math.prod([2, 3]) * s


@example(A)
def in_a_loop(x):
    t = 1.0
    for i in range(20):
        t = math.hypot(t, x[i % 4], float(i)) * 0.5 + math.fsum([t, 0.5]) / (i + 1)
    return t


test_values_and_gradients = example.tests()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: math.hypot(x, 1.0, 2.0), "math.hypot takes one number"),
        (lambda x: math.dist(x, x[:2]), "the same number of dimensions"),
        (lambda x: math.fsum([x, x]), "math.fsum takes one number"),
        (lambda x: x[0] * math.fsum(["a"]), "math.fsum: "),
    ],
)
def test_refusals(function, reason):
    with pytest.raises(st.StcompileError, match=reason):
        st.grad(function)(A)
