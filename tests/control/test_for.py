"""`for`: what loops carry, all that they run over, their counters, loops in loops.

A program with an argument ``n`` is checked with few trips and with many: it must do the same
whether its loop is unrolled or kept.
"""

from __future__ import annotations

import numpy as np

from stcompile.frontend.control import fixpoint
from tests.control.checks import FEW, MANY, ROWS, M, X, check_second_order
from tests.programs import Examples, check

examples = Examples()
second_order = Examples(check_second_order)


# --- what is carried -----------------------------------------------------------------------------


@examples(X, 5)
@examples(X, 40)
@examples(X, 1)
@examples(X, 0)
@second_order(X, 5)
@second_order(X, 40)
def one_value(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) + 0.1 * x
    return y


@examples(0.4, 5)
@examples(0.4, 100)
@second_order(0.4, 100)
def logistic_map(a, n):
    y = 0.3
    for _ in range(n):
        y = (2 + a) * y * (1 - y)
    return y


@examples(X, 5)
@examples(X, 30)
def several_values(x, n):
    a, b, c = x, x * 0.5, 1.0
    for k in range(n):
        a, b = b, np.tanh(a + b)
        c = c * 0.9 + a[0] * k
    return a, b, c


@examples(X, 5)
@examples(X, 24)
def an_integer_total(x, n):
    total = 0
    for k in range(n):
        total += x[k % 3] * k
    return total, total * x


@examples(X, 5)
@examples(X, 24)
def integers_and_flags(x, n):
    count, flag, power = 0, False, 1
    for k in range(n):
        count += k * k
        flag = not flag
        power = power * 3 % 7
    return x * count * 0.01, count, flag, power * x


@examples.slow
@examples(X, 5)
@examples(X, 24)
def nothing_before_the_first_step(x, n):
    previous = None
    total = 0.0
    for k in range(n):
        value = np.sin(x * k)
        if previous is not None:
            total = total + (value - previous) ** 2
        previous = value
    return total, previous


@examples(X, 5)
@examples(X, 24)
def names_after_the_loop(x, n):
    for k in range(n):
        y = x * k
        z = y * y if k == 2 else y
    return y * z, k


@examples(X, 5)
@examples(X, 24)
def the_loop_variable_changed_inside(x, n):
    for k in range(n):
        k = k * 0.1
        x = np.sin(x + k)
    return x * k


@examples(X, 5)
@examples(X, 24)
def what_was_before_and_before_that(x, n):
    older, old = x, x * x
    for _ in range(n):
        older, old = old, 0.5 * old - 0.3 * older
    return old * older


@examples.slow
@examples(X, 6)
@examples(X, 30)
def exchanged_arrays(x, n):
    a, b = x * 1.0, x * 2.0
    for _ in range(n):
        a, b = b, a
        a[0] = a[0] * 0.9 + b[1] * 0.1
    return a, b


@examples({"w": M, "b": X}, 3)
@examples({"w": M, "b": X}, 24)
def structures(p, n):
    state = {"h": p["b"] * 0, "out": [0.0, (p["b"][0],)]}
    for _ in range(n):
        h = np.tanh(p["w"] @ state["h"] + p["b"])
        state = {"h": h, "out": [state["out"][0] + h[0], (h[1] * 0.5,)]}
    return state


@examples(X, 3)
@examples(X, 24)
def a_dict_whose_entries_change(x, n):
    table = {"sum": 0.0, "last": x}
    for k in range(n):
        table["last"] = np.cos(table["last"] + k)
        table["sum"] += table["last"][0]
    return table


@examples(X, 3)
@examples(X, 24)
def a_list_whose_entries_change(x, n):
    state = [x, x[0], 2.0]
    for _ in range(n):
        state[0] = np.tanh(state[0] + state[1])
        state[2] = state[0][0] * 0.5 + state[2] * 0.5
    return state


@examples(X, M, 4)
@examples(X, M, 24)
def computed_before_the_loop(x, m, n):
    gain = np.exp(np.sin(x))
    mixed = m @ m.T
    h = x
    for k in range(n):
        h = np.tanh(mixed @ h * 0.5) + gain * (k * 0.01)
    return h


# --- what the loop runs over ---------------------------------------------------------------------


@examples(X, 2, 7, 2)
@examples(X, 3, 90, 4)
@examples(X, 9, -1, -3)
@examples(X, 60, 2, -2)
@examples(X, 5, 5, 1)
@examples(X, 5, 2, 1)
def ranges(x, start, stop, step):
    for k in range(start, stop, step):
        x = 0.9 * np.sin(x) + 0.01 * k
    return x


@examples(FEW)
@examples(MANY)
@second_order(MANY)
def entries(x):
    total = 0.0
    for v in x:
        total = total * 0.9 + v * v
    return total


@examples(ROWS[:4], M, wrt=(0, 1))
@examples(ROWS, M, wrt=(0, 1))
@second_order(ROWS[:4], M)
def rows(xs, m):
    h = np.zeros(3)
    for x in xs:
        h = np.tanh(m @ h + x)
    return h


@examples(FEW, FEW[::-1] * 2, wrt=(0, 1))
@examples(MANY, MANY[::-1] * 2, wrt=(0, 1))
def zipped(x, y):
    total = 1.0
    for k, (a, b) in enumerate(zip(x, y)):
        total = np.cos(total * a) + b * k * 0.1
    return total


@examples(FEW)
@examples(MANY)
def enumerated_backwards(x):
    total = 0.5
    for k, v in enumerate(reversed(x), start=1):
        total = total * 0.8 + np.sin(v) / k
    for k in reversed(range(len(x))):
        total = total + 0.1 * x[k] * total
    return total


@examples.slow
@examples(FEW)
@examples(MANY)
def unequal_lengths(x):
    total = 0.0
    for v, k in zip(x, range(100)):
        total += v * k
    for a, b in zip(x[1:], x):
        total += (a - b) ** 2
    return total


@examples.slow
@examples([X * k for k in (1.0, 0.5, 0.2)])
@examples([X * 0.05 * k for k in range(20)])
def a_list_of_arrays(xs):
    h = 0.1
    for x in xs:
        h = np.tanh(x + h)
    return h


LAYERS = [(M, X), (M.T, X * 2), (M @ M, X * 3)]


@examples.slow
@examples(X, LAYERS, wrt=(0, 1))
@examples(X, LAYERS * 6, wrt=(0, 1))
def layers(x, parameters):
    for weight, bias in parameters:
        x = np.tanh(weight @ x + bias)
    return x


@examples({"a": X, "b": X * 2, "c": X * 3})
def a_dict(p):
    total = 0.0
    for name, v in p.items():
        total = total + np.sum(v) * (2 if name == "b" else 1)
    for k in range(20):
        for v in p.values():
            total = 0.5 * total + v[k % 3]
    return total


@examples(X)
def words(x):
    for letter in "sincsinccisnnscisincsc":
        if letter == "s":
            x = np.sin(x)
        elif letter == "c":
            x = np.cos(x)
        else:
            x = x * 0.9 + 0.1
    return x


# --- counters ------------------------------------------------------------------------------------


@examples(FEW)
@examples(MANY)
def subscripts_of_the_counter(x):
    n = len(x)
    total = 0.0
    for i in range(1, n - 1):
        total = total + x[i] * x[i - 1] - x[i + 1] ** 2 + x[-i] * x[n - 1 - i]
    return total


@examples.slow
@examples(FEW)
@examples(MANY)
def slices_of_the_counter(x):
    total = 0.0
    for i in range(len(x) - 2):
        window = x[i : i + 3]
        total = total + np.prod(window) + np.sum(window[::2]) ** 2
    return total


@examples(ROWS[:5])
@examples(ROWS)
def two_subscripts(x):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + x[i, 0] * x[i + 1, -1] + np.sum(x[i] * x[i + 1]) + np.sum(x[i, 1:])
    return total


@examples(X, 6)
@examples(X, 30)
def conditions_on_the_counter(x, n):
    for k in range(n):
        if k == 0:
            y = x
        elif k % 3 == 1:
            y = np.sin(y)
        elif k > n - 3:
            y = y * k * 0.1
        else:
            y = y + x
    return y


@examples.slow
@examples(X, 6)
@examples(X, 30)
def strings_and_functions_by_turns(x, n):
    mode, step = "a", np.sin
    for k in range(n):
        if mode == "a":
            x, mode, step = step(x), "b", np.cos
        else:
            x, mode, step = step(x) * 0.5, "a", np.sin
    return x


@examples(X, 5)
@examples(X, 20)
def arithmetic_of_the_counter(x, n):
    total = 0.0
    for k in range(n):
        total = total + x * k**2 / (k + 1) - (k // 2) * (k % 3) * x[0] + float(k) * x[1]
    return total


# --- nested --------------------------------------------------------------------------------------


@examples(X, 3, 4)
@examples(X, 3, 20)
@examples(X, 20, 3)
@examples(X, 18, 20)
@second_order(X, 3, 20)
def loops_in_loops(x, n, m):
    total = 0.0
    for i in range(n):
        y = x
        for j in range(m):
            y = np.tanh(y + 0.1 * i) - 0.01 * j
        total = total + y * y
    return total


@examples(X, 4)
@examples(X, 20)
def triangles(x, n):
    total = x * 0
    for i in range(n):
        for j in range(i):
            total = 0.9 * total + x * (i - j) * 0.1
        for j in range(i, min(n, i + 2)):
            total = total + np.sin(x) * 0.1 * j
    return total


@examples(ROWS[:4])
@examples(ROWS)
def pairs(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = x[i] - x[j]
            energy = energy + 0.1 / (1 + np.sum(d * d))
    return energy


@examples(X * 2, 5)
@examples(X * 2, 24)
@examples(-X * 2, 24)
@second_order(X * 2, 24)
def branches_inside(x, n):
    total = 0.0
    for k in range(n):
        if x[0] * x[1] > -0.1 * k:
            x = 0.8 * x + 0.1
        else:
            x = x * np.array([0.9, 1.0, 0.7])
            total = total + x[2]
        total = total + (x[0] if total < 1 else x[1])
    return total * x


@examples(X, 1.0, 5)
@examples(X, 1.0, 24)
@examples(X, -1.0, 24)
def in_branches(x, s, n):
    y = x
    if s > 0:
        for k in range(n):
            y = np.sin(y) + k * 0.01
    else:
        for v in x:
            y = y * v
    return y


def smoothed(x, n, weight=0.5):
    """Repeated averages."""
    for _ in range(n):
        x = weight * x + (1 - weight) * np.roll(x, 1)
    return x


@examples(X, 3)
@examples(X, 20)
def in_helpers(x, n):
    y = smoothed(x, n) * smoothed(x * x, n + 1, weight=0.2)
    for k in range(n):
        y = y + smoothed(y, 2) * 0.1 * k
    return y * 0.01


test_program = examples.tests()
test_second_order = second_order.tests()


def deeply_nested(x, z):
    y = np.zeros((2, 3))
    for k in range(2):
        for a in range(3):
            for b in range(2):
                for c in range(3):
                    for d in range(2):
                        for e in range(3):
                            for f in range(2):
                                if k >= a - b + c - e:
                                    y[k, a] += np.tanh(x[b, c] * x[d, e] * z[f])
    return np.sum(y * y)


def test_a_deep_nest_is_staged_a_few_times(monkeypatch):
    """And not once more for every way to stage the loops around."""
    staged = []
    before = fixpoint.stage_path
    monkeypatch.setattr(
        fixpoint, "stage_path", lambda *args, **more: staged.append(1) or before(*args, **more)
    )
    rng = np.random.default_rng(2)
    check(deeply_nested, rng.uniform(-1, 1, (2, 3)), rng.uniform(-1, 1, 2), wrt=(0, 1))
    assert len(staged) < 150
