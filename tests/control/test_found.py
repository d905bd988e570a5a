"""Programs that once gave wrong results, shortened."""

from __future__ import annotations

import numpy as np

from tests.programs import Examples

examples = Examples()
X = np.array([0.4, -0.7, 1.3])
Y = np.array([[0.5, -0.2, 0.1], [0.3, 0.8, -0.4], [-0.6, 0.2, 0.9]])


@examples(X, 0.5, wrt=(0, 1))
def a_long_loop_that_returns_at_once(x, s):
    for _ in range(19):
        s = s * 0.9
        return s + np.sum(x)


@examples(X, 0.5, wrt=(0, 1))
@examples(X, 0.2, wrt=(0, 1))
def a_write_before_a_return(x, s):
    y = x * s
    for _ in range(40):
        if s > 0.33:
            y = y + 1.0
        else:
            y *= 0.9
        return np.sum(y)


@examples(X, 0.5, wrt=(0, 1))
def a_loop_that_is_left_by_return_alone(x, s):
    total = s
    for k in range(21):
        if k:
            return total + np.sum(x)
        total += s


@examples(X, 0.5, wrt=(0, 1))
def a_return_inside_a_loop_with_an_else(x, s):
    total = s
    for k in range(21):
        for _ in (1, 2, 3):
            if k:
                return total + np.sum(x)
        else:
            total += s


@examples(X)
def a_number_that_tells_the_branch(x):
    flags = np.zeros(4) + 0.5
    squares = x @ x
    if flags[1]:
        return squares
    return 3.0


@examples(X, Y, 0.5, wrt=(0, 1, 2))
def lists_that_are_exchanged_by_branches(x, y, s):
    first = np.stack([s, s, 0.14])
    parts = [first.copy(), 0.0]
    pair = [first, x]
    for _ in parts[0]:
        pair[0], pair[1] = pair[1], pair[0]
        if s:
            pair.append(y.T @ pair[1])
            pair.pop(0)
    return s + np.sum(pair[1] * np.array([1.0, 2.0, 3.0]))


@examples(X, 0.5, wrt=(0, 1))
@examples(X, 0.0, wrt=(0, 1))
def a_view_of_what_a_branch_gives(x, s):
    total = np.sum(x)
    y = x * x
    y[::-1][1] = total
    if s:
        total = y[0]
    return total + np.sum(y * np.array([1.0, 2.0, 3.0]))


@examples({"w": Y, "b": X}, 3)
@examples({"w": Y, "b": X}, 24)
def factors_that_are_changed_later(p, n):
    h, total = p["b"] * 0, 0.0
    for _ in range(n):
        h = np.tanh(p["w"] @ h + p["b"])
        total = total + h[0]
    return np.sum(h * h) + total, h[1] * 0.5


@examples(0.4)
@examples(0.7)
def a_choice_among_what_it_replaces(s):
    parts = np.array([s, 0.85, 0.5, 0.5])
    chosen = parts
    for _ in range(2):
        if s:
            chosen = np.where(chosen > 0.56, chosen, 0.72)
    return np.sum((chosen + parts) * np.array([1.0, 2.0, 3.0, 4.0]))


@examples.test
def test_program(example) -> None:
    example.check()
