"""Lists that kept loops append to, read and go through: values, gradients and aliases, and that no
program grows with the number of steps."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import statements
from tests.programs import Examples, check

examples = Examples()
X = np.array([0.3, -0.4, 0.8])
N = 20


@examples(X, N)
def rk4(x, n, h=0.01):
    def f(z):
        return np.stack([z[1], -np.sin(z[0]), z[0] * z[2]])

    zs = [x]
    for i in range(n):
        z = zs[-1]
        k1 = f(z)
        k2 = f(z + h / 2 * k1)
        k3 = f(z + h / 2 * k2)
        k4 = f(z + h * k3)
        zs.append(z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.sum(np.array(zs) ** 2)


@examples(X, N)
def nested_comprehensions(x, n):
    table = np.array([[np.sin(x[k % 3] * i) for i in range(n + 1)] for k in range(n)])
    cube = np.array([[x * i + k for i in range(3)] for k in range(n)])
    return table, cube, np.array([[1, i, x[0] * i, x[1]] for i in range(n)])


@examples(X, N)
def two_before(x, n):
    zs = [x, x * 0.5]
    for i in range(n):
        zs.append(np.sin(zs[-1]) + 0.5 * zs[-2])
    return np.sum(zs[-1] * zs[5])


@examples(X, N)
def by_the_counter(x, n):
    zs = [x[0]]
    for i in range(1, n):
        zs.append(np.sin(zs[i - 1]) + 0.5 * x[i % 3] + len(zs) * 0.01)
    return np.sum(np.array(zs) ** 2)


@examples(X, N)
def by_two_counters(x, n):
    zs = [x, x * 0.9]
    ts = [0.0]
    for i in range(1, n):
        zs.append(np.sin(zs[i]) + 0.1 * zs[i - 1] + ts[-1])
        ts.append(ts[-1] + 0.01)
        if len(zs) > 10:
            zs[-1]
    return np.sum(np.stack(zs) ** 2) * ts[-1]


@examples(X, N)
def of_pairs(x, n):
    zs = [(x, 1.0)]
    for i in range(n):
        a, b = zs[-1]
        zs.append((np.sin(a) * b, b * 0.99))
    return np.sum(zs[-1][0]) * zs[-2][1]


@examples(X, N)
def until_it_converges(x, n):
    zs = [x[0]]
    while abs(zs[-1] ** 3 - 2.0) > 1e-9:
        y = zs[-1]
        zs.append(y - (y**3 - 2.0) / (3 * y * y) + 0 * x[1])
    return zs[-1] * x[2]


@examples(X, N)
def the_last_changed_in_place(x, n):
    zs = [x * 1.0]
    for i in range(n):
        z = zs[-1]
        z += 0.1
        zs.append(z * 0.9)
    return np.sum(np.array(zs))


@examples(X, N)
def one_array_again_and_again(x, n):
    z = x * 1.0
    zs = [z]
    for i in range(n):
        z[i % 3] = np.sum(zs[-1]) * 0.1
        zs.append(z)
    z[0] = 5.0
    return np.sum(np.array(zs) * x)


@examples(X, N)
def two_in_a_step(x, n):
    zs = [x, x]
    for i in range(n):
        zs.append(zs[-2] * 0.9)
        zs.append(zs[-2] * 0.8 + zs[-1] * 0.1)
    return np.sum(np.array(zs) * x) + len(zs)


@examples(X, N)
def until_it_is_long(x, n):
    zs = [x]
    while len(zs) < n:
        zs.append(np.sin(zs[-1]))
    return np.sum(zs[-1])


@examples(X, N)
def in_two_loops(x, n):
    zs = [x]
    for i in range(n):
        for j in range(20):
            zs.append(np.sin(zs[-1]) + 0.01 * i * zs[-1])
    return np.sum(np.array(zs))


@examples(X, N)
def numbers_in_two_loops(x, n):
    zs = [x[0]]
    for i in range(n):
        for j in range(20):
            zs.append(np.sin(zs[-1]) + 0.01 * i * zs[-1])
    return np.sum(np.array(zs))


@examples(X, N)
def the_first_changed_afterwards(x, n):  # z0 changed after the loop
    z = x * 1.0
    zs = [z]
    for i in range(n):
        zs.append(np.sin(zs[-1]) * 0.9)
    z[0] = 7.0
    return np.sum(np.array(zs) * x)


@examples(X, N)
def an_item_under_a_name(x, n):
    z = x * 1.0
    zs = [z]
    for i in range(n):
        z = z * 0.9
        zs.append(z)
        if i % 3 == 0:
            z[1] = 0.5
    return np.sum(np.array(zs) * x)


@examples(X, N)
def under_two_names(x, n):
    zs = [x * 1.0]
    ws = zs
    for i in range(n):
        ws.append(np.cos(zs[-1]))
    return np.sum(np.array(ws) * x) + len(ws)


@examples(X, N)
def in_a_helper(x, n):
    def push(items, v):
        items.append(v * 0.9 + items[-1] * 0.1)

    zs = [x * 1.0]
    for i in range(n):
        push(zs, np.cos(zs[-1]))
    return np.sum(np.array(zs) * x)


@examples(X, N)
def views_of_an_array(x, n):
    own = np.outer(np.ones(n + 2), x)
    zs = [own[0]]
    for i in range(n):
        own[i + 1] = np.sin(zs[-1]) * x
        zs.append(own[i + 1])
    own[3, 1] = 9.0
    return np.sum(np.array(zs) * x)


@examples(X, N)
def the_same_item_twice(x, n):
    zs = [x, x]
    for i in range(n):
        v = np.sin(zs[-1] + zs[-2])
        zs.append(v)
        zs.append(v)
    zs[-1][0] = 3.0
    return np.sum(np.array(zs) * x)


@examples(X, N)
def the_first_read(x, n):
    zs = [x * 1.0, x * 2.0]
    for i in range(n):
        zs.append(np.sin(zs[-1]) + zs[0])
    return np.sum(np.array(zs) * x)


@examples(X, N)
def the_first_replaced(x, n):
    zs = [x * 1.0, x * 2.0]
    for i in range(n):
        zs[0] = zs[0] * 0.9
        zs.append(np.sin(zs[-1]) + zs[0])
    return np.sum(np.array(zs) * x)


@examples(X, N)
def the_last_replaced(x, n):
    zs = [x * 1.0, x * 2.0]
    for i in range(n):
        zs[-1] = zs[-1] * 0.9
        zs.append(np.sin(zs[-1]) + zs[-2])
    return np.sum(np.array(zs) * x)


@examples(X, N)
def popped(x, n):
    zs = [x * 1.0, x * 2.0]
    for i in range(n):
        v = zs.pop()
        zs.append(np.sin(v))
        zs.append(v * 0.9)
    return np.sum(np.array(zs) * x)


@examples(X, N)
def up_to_a_break(x, n):
    zs = [x * 1.0]
    for i in range(n):
        zs.append(np.sin(zs[-1]) * 0.95)
        if zs[-1][0] < 0.15:
            break
    return np.sum(zs[-1] * x)


@examples(X, N)
def extended(x, n):
    zs = [x * 1.0, x]
    for i in range(n):
        zs.extend([np.sin(zs[-1]), zs[-2] * 0.9])
        zs += [zs[-1] * 0.5]
    return np.sum(np.array(zs) * x)


@examples(X, N)
def of_dicts(x, n):
    zs = [{"a": x, "b": 1.0}]
    for i in range(n):
        s = zs[-1]
        zs.append({"a": np.sin(s["a"]) * s["b"], "b": s["b"] * 0.99})
    return np.sum(zs[-1]["a"]) * zs[4]["b"]


@examples(X, N)
def the_last_dict_changed(x, n):
    zs = [{"a": x, "b": 1.0}]
    for i in range(n):
        s = zs[-1]
        s["b"] = 0.5
        zs.append({"a": np.sin(s["a"]) * s["b"], "b": s["b"] * 0.99})
    return np.sum(zs[-1]["a"]) * zs[4]["b"]


class Path:
    def __init__(self, q):
        self.q = q
        self.hist = [q]

    def step(self):
        self.hist.append(np.sin(self.hist[-1]) * 0.99)


@examples(X, N)
def of_an_object(x, n):
    p = Path(x)
    for i in range(n):
        p.step()
    return np.sum(np.array(p.hist)) * p.hist[-2][0]


@examples(X, N)
def empty_at_first(x, n):
    zs = []
    for i in range(n):
        if i == 0:
            zs.append(x)
        else:
            zs.append(np.sin(zs[-1]) * 0.99)
    return np.sum(np.array(zs))


@examples(X, N)
def cut_at_the_front(x, n):
    zs = [x * 1.0]
    for i in range(n):
        zs.append(np.sin(zs[-1]))
        if len(zs) > 5:
            zs.pop(0)
    return np.sum(np.array(zs))


@examples(X, N)
def of_numbers(x, n):
    zs = [0.0, 1.0]
    for i in range(n):
        zs.append(0.5 * zs[-1] + x[i % 3] * zs[-2] * 0.1)
    return sum(zs[-3:]) * zs[-1]


@examples(X, N)
def asked_for_identity(x, n):
    z = x * 1.0
    zs = [z * 1.0]
    c = 0
    for i in range(n):
        if zs[-1] is z:
            c += 1
        z = z * 0.9
        zs.append(z)
    return np.sum(np.array(zs)) * c


test_values_and_gradients = examples.tests()


@pytest.mark.parametrize(
    "function",
    [
        rk4,
        two_before,
        by_the_counter,
        by_two_counters,
        of_pairs,
        two_in_a_step,
        until_it_is_long,
        in_two_loops,
        numbers_in_two_loops,
        an_item_under_a_name,
        under_two_names,
        in_a_helper,
        the_first_read,
        up_to_a_break,
        extended,
        of_dicts,
        of_an_object,
        of_numbers,
    ],
)
def test_the_source_does_not_grow(function):
    gradient = st.value_and_grad(function, level="readable")
    few, many = (statements(gradient.source(X, n)) for n in (20, 2000))
    assert few == many


@pytest.mark.parametrize("reverse", [False, True])
def test_states_that_follow_one_another_and_states_that_are_exchanged(reverse):
    """The adjoint keeps those before and after each step once."""

    def program(x, a):
        u, v, p, q = x, np.tanh(a @ x), x * 0.5, x * 0.3
        for _ in range(20):
            u, v = v, v + 0.1 * np.tanh(a @ v) - 0.05 * np.tanh(a @ u)
            p, q = q, p
            u = u + 0.01 * np.sin(p) * q if reverse else u
        return np.sum(u * v + np.sin(p) * q)

    check(program, X, np.outer(X, X[::-1]))


def test_what_two_kept_loops_leave_is_changed():
    """Both are unrolled then, the outer one since the inner one is long."""

    def program(x, s):
        state = x * 0.5
        zs = [state * 1.0, x]
        for k in range(3):
            for _ in range(18):
                zs.append(np.cos(zs[-2]) * s)
                zs.append(state)
            state = state * 0.9 + zs[-2] * k
        zs[0][1] = s
        zs[5][0] = s
        return np.sum(np.array(zs) * x)

    check(program, X, 0.7)
