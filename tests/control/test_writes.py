"""Arrays and their views that branches and loops write into."""

from __future__ import annotations

import numpy as np

from tests.control.checks import FEW, MANY, ROWS, X, check_float32, check_second_order
from tests.programs import Examples

examples = Examples()
second_order = Examples(check_second_order)
in_float32 = Examples(check_float32)


# --- writes in branches --------------------------------------------------------------------------


@examples(X, 1.0)
@examples(X, -1.0)
@second_order(X, 1.0)
def a_write_in_a_branch(x, s):
    y = x * 2
    if s > 0:
        y[0] = x[1] * x[2]
        y[1:] += s
    z = y * y
    if s < 0:
        y[:] = 1.0
    return y, z


@examples(X, 1.0)
@examples(X, -1.0)
def other_writes_on_each_path(x, s):
    y = np.zeros((2, 3))
    if s > 0:
        y[0] = x
        y[1, ::2] = x[0]
    else:
        y[:, 1] = x[:2]
        y[-1] *= 3
    y += x
    return y


@examples(X, 1.0)
@examples(X, -1.0)
def writes_that_go_through_views(x, s):
    y = x * 2
    tail, back = y[1:], y[::-1]
    if s > 0:
        tail[0] = x[0]
        back[0] += 1
    else:
        y[1] = x[2] * s
    return tail * back[1:], y


@examples(X, 1.0)
@examples(X, -1.0)
def views_made_in_a_branch(x, s):
    y = np.zeros((2, 3))
    if s > 0:
        row = y[0]
        row[:] = x
        row += row[::-1]
    else:
        column = y.T[1]
        column[:] = x[1:] * 2
    return y


@examples(X, 1.0)
@examples(X, -1.0)
def in_place_or_rebound(x, s):
    y = x * 1.0
    z = y
    if s > 0:
        y = y + 1
    else:
        y += 1
    return y, z


@examples(X, 1.0)
@examples(X, -1.0)
def a_copy_is_no_alias(x, s):
    y = x.copy()
    kept = y.copy()
    if s > 0:
        y *= 3
        kept_too = y.copy()
        y[0] = 0.5
    else:
        kept_too = kept
        y[2] = x[0] * x[1]
    return y * kept, kept_too


@examples(X, 1.0)
@examples(X, -1.0)
def reads_before_and_after(x, s):
    y = x * x
    before = y[0] * y[1]
    if s > 0:
        y[0] = before * y[2]
        middle = y[0]
        y[0] += middle
    return before, y, y[0] * y[1]


def put(target, k, value):
    """Write where it is not negative."""
    if value > 0:
        target[k] = value
        return True
    return False


@examples(X, 1.0)
@examples(X, -1.0)
def writes_in_helpers(x, s):
    y = np.zeros(4)
    count = 0
    for k, v in enumerate(x):
        if put(y, k, v * s):
            count += 1
    put(y[2:], 1, np.sum(y))
    return y, count


@examples(X, 1.0)
@examples(X, -1.0)
def a_write_before_an_early_return(x, s):
    y = x * 2
    y[0] = s * x[1]
    if y[0] > 0:
        y[1] = 5.0
        return y
    y[2] *= y[0]
    return y


@examples(X, 1.0)
@examples(X, -1.0)
def one_or_the_other_copied(x, s):
    a, b = x * 2, x * 3
    c = (a if s > 0 else b).copy()
    c += 1
    return a, b, c


@examples(X, 1.0)
@examples(X, -1.0)
def one_or_the_other_read(x, s):
    a, b = x * 2, x * 3
    c = a if s > 0 else b
    d = c + 1
    d[0] = 9.0
    return a * c, b, d


# --- writes in loops -----------------------------------------------------------------------------


@examples(FEW)
@examples(MANY)
@second_order(MANY)
def a_recurrence(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.8 * y[i - 1] + 0.3 * x[i] * y[i - 1]
    return y


@examples.slow
@examples(FEW)
@examples(MANY)
def filled_from_both_ends(x):
    n = len(x)
    y = np.empty_like(x)
    for i in range(n):
        y[n - 1 - i] = x[i] ** 2
    for i in range(n // 2):
        y[i], y[-i - 1] = y[-i - 1], 0.5 * y[i]
    return y


@examples(X, 4)
@examples(X, 24)
def rows_and_columns(x, n):
    y = np.zeros((n, 3))
    z = np.ones((3, n))
    for i in range(n):
        y[i] = x * i * 0.1
        z[:, i] = y[i] + y[i - 1]
        z[i % 3, i] *= 2
        y[i, 1:] -= 0.5
    return y, z


@examples.slow
@examples(X, 4)
@examples(X, 24)
def a_table(x, n):
    t = np.zeros((3, n + 1))
    t[:, 0] = x
    for j in range(n):
        for i in range(3):
            t[i, j + 1] = 0.5 * t[i, j] + 0.4 * t[i - 1, j] * x[i]
    return t


@examples(X, 4)
@examples(X, 24)
def in_place_steps(x, n):
    h = x.copy()
    total = 0.0
    for k in range(n):
        h += 0.1 * np.sin(h)
        h *= 0.95
        total = total + h[0] * h[1]
        h[k % 3] = 0.5 * total
    return h, total


@examples(X, 4)
@examples(X, 24)
def views_across_steps(x, n):
    y = np.zeros(5)
    inner = y[1:-1]
    left, right = y[:-2], y[2:]
    y[0] = x[0]
    for _ in range(n):
        inner[:] = inner + 0.2 * (left - 2 * inner + right)
        inner += x * 0.1
    return y, left * right


@examples(X, 4)
@examples(X, 24)
def what_was_before_a_write(x, n):
    y = x.copy()
    total = 0.0
    for _ in range(n):
        alias, kept = y, y.copy()
        y *= 0.9
        y[0] = np.sin(y[1])
        total = total + alias[0] * kept[0] + np.sum(kept - alias)
    return y, total, alias, kept


@examples.slow
@examples(X, 4)
@examples(X, 24)
def a_new_array_in_each_step(x, n):
    total = x * 0
    for k in range(n):
        buffer = np.zeros(3)
        buffer[k % 3] = x[0]
        buffer[1:] += x[1:] * 0.1 * k
        total = 0.8 * total + buffer
    return total, buffer


@examples(X, 4)
@examples(X, 24)
def one_array_kept_in_each_step(x, n):
    y = x.copy()
    history = []
    for _ in range(n):
        y *= 0.9
        y[0] += 0.05
        history.append(y.copy())
    return np.stack(history), y


@examples(X, 4)
@examples(X, 24)
def the_same_array_appended(x, n):
    y = x.copy()
    history = []
    for _ in range(n):
        y *= 0.9
        history.append(y)
    return np.sum(np.stack(history), axis=0), history[0] * y


@examples(FEW)
@examples(MANY)
@examples(-FEW)
@second_order(FEW)
def writes_in_branches_in_loops(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0.3:
            y[i] = x[i] ** 2
        elif x[i] < -0.3:
            y[i] = -x[i]
            y[i - 1] += 0.1 * x[i]
    return y


@examples(FEW, 1.1)
@examples(FEW, 99.0)
@examples(MANY, 4.3)
@examples(MANY, 99.0)
@second_order(MANY, 4.3)
def writes_until_a_break(x, limit):
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        y[i] = total * x[i]
        total = total + x[i] ** 2
        if total > limit:
            y[0] = total
            break
        if y[i] > 0:
            continue
        y[i] += 1
    else:
        y[-1] = 3.0
    return y


@examples(X, 3.5)
@examples(X, 0.5)
@examples(X, -0.5)
@second_order(X, 3.5)
def writes_in_a_while_loop(x, s):
    y = np.ones(3) * x
    part = y[:2]
    while s > 0:
        y[1:] = y[:2] * 0.9
        part *= x[:2] + 1
        s = s - 1
    return y, part


@examples(X, 3.5)
@examples(X, 0.5)
def rows_at_a_traced_counter(x, s):
    y = np.zeros((5, 3))
    n = 0
    while n < s:
        y[n] = x * n
        y[n + 1, 0] = y[n, 1] + 1
        n += 1
    return y, y[n - 1]


@examples(X, np.array([0, 2, 2]))
def scattered_writes(x, index):
    y = np.zeros(3)
    for k in range(20):
        y[index[k % 3]] += x[k % 3]
        y[index] = y[index] * 0.9
    return y


@examples(ROWS[:4])
@examples(ROWS)
def rows_of_an_array_changed_in_turn(x):
    y = x.copy()
    for row in y:
        row[0] = row[1] * row[2]
        row *= 0.5
    return y


# --- float32 -------------------------------------------------------------------------------------


@in_float32(FEW.astype(np.float32))
@in_float32(MANY.astype(np.float32))
def of_float32(x):
    y = np.zeros(len(x), x.dtype)
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i] * 0.5
        y[i] += 0.25 * y[i - 1]
    return y


test_program = examples.tests()
test_second_order = second_order.tests()
test_float32 = in_float32.tests()


# --- a number that is stored by a mask, in a loop ------------------------------------------------


@examples(X - 0.5)
@second_order(X - 0.5)
def a_mask_of_before_the_loop(x):
    z, m, s = np.sin(x), x > 0.1, 0.0
    for _ in range(MANY):
        s = s * 0.5 + np.sum(z**3)
        z[m] = 0.3 * np.cos(s)
    return s, z


@examples(X - 0.5)
def a_mask_of_each_step(x):
    z, s = np.sin(x), 0.0
    for _ in range(MANY):
        s = s * 0.5 + np.sum(z**3)
        z[z > 0.5] = 0.1 * s
    return s


@examples(np.array([X, -X]))
def masked_rows(x):
    z, s = np.sin(x), 0.0
    for k in range(MANY):
        s = s * 0.5 + np.sum(z * z)
        z[x[:, 0] > 0] = 0.01 * k
        z[:, x[0] > 1.5] *= 0.5
    return s
