"""Long loops over lists, by place or item by item, and comprehensions: no program grows with
them."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import statements
from tests.programs import Examples

examples = Examples()
X = np.array([0.3, -0.4, 0.8])
N = 20


@examples(X, N)
def read_by_a_later_loop(x, n):
    zs = [x[0]]
    ws = [x]
    for i in range(n):
        zs.append(np.sin(zs[-1]))
        ws.append(np.sin(ws[-1]))
    s = 0.0
    for i in range(n):
        s = s + zs[i] * zs[i + 1] * np.sum(ws[i]) * ws[n - i][0]
    for j in range(1, n):
        s = s + (ws[j] - ws[j - 1])[1]
    return s


@examples(X, N)
def gone_through_later(x, n):
    zs = [x[0]]
    ws = [x]
    for i in range(n):
        zs.append(np.sin(zs[-1]))
        ws.append(np.sin(ws[-1]))
    s = 0.0
    for z, w in zip(zs, ws):
        s = s + z * np.sum(w)
    for i, w in enumerate(reversed(ws)):
        s = s * 0.9 + np.sum(w) * i
    return s + sum(zs)


@examples(X, N)
def arrays_made_before(x, n):
    ws = [x * k for k in range(n)]
    s = x
    for w in ws:
        s = np.sin(s) + w * 0.1
    return np.sum(s)


@examples(X, N)
def arrays_changed_between(x, n):
    ws = [x * k for k in range(n)]
    s = x
    for w in ws:
        s = np.sin(s) + w * 0.1
    for w in ws:
        w *= 0.9
    for w in ws:
        s = s + w
    return np.sum(s)


@examples(X, N)
def the_last_array_changed(x, n):
    ws = [x * k for k in range(n)]
    s = x
    for w in ws:
        s = np.sin(s) + w * 0.1
        last = w
    ws[-1][0] = 4.0
    return np.sum(s * last)


@examples(X, N)
def arrays_changed_on_the_way(x, n):
    ws = [x * k for k in range(n)]
    s = x
    for w in ws:
        ws[3] += 0.1
        ws[5][0] = 0.3
        s = np.sin(s) + w * 0.1
    return np.sum(s)


@examples(X, N)
def comprehensions(x, n):
    ys = [np.sin(x * k * 0.1) for k in range(n)]
    t = np.stack([y * 0.5 for y in ys])
    return np.sum(t) + sum(np.sum(y * y) for y in ys)


@examples(X, N)
def comprehensions_of_several(x, n):
    y = np.outer(np.ones(n), x)
    return np.sum(np.array([np.tanh(r) * i for i, r in enumerate(y)])) + sum(
        [np.prod(a + b) for a, b in zip(y, y[::-1])]
    )


@examples(X, N)
def growing_on_the_way(x, n):
    zs = [x]
    for z in zs:
        if len(zs) < n:
            zs.append(np.sin(z))
    return np.sum(np.array(zs))


test_values_and_gradients = examples.tests()


@pytest.mark.parametrize(
    "function",
    [
        read_by_a_later_loop,
        gone_through_later,
        arrays_made_before,
        arrays_changed_between,
        the_last_array_changed,
        arrays_changed_on_the_way,
        comprehensions,
        comprehensions_of_several,
    ],
)
def test_the_source_does_not_grow(function):
    gradient = st.value_and_grad(function, level="readable")
    few, many = (statements(gradient.source(X, n)) for n in (20, 2000))
    assert few == many


def test_a_comprehension_of_what_is_known_is_computed_now():
    def program(x):
        return np.sum(x * np.array([i / 99 for i in range(100)])[:3])

    assert "for " not in "".join(
        line
        for line in st.compile(program).source(X).splitlines()
        if not line.lstrip().startswith("#")
    )
