"""Random draws under control flow: each happens once, in order."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.share_equations import share_equations
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.frontend.draws import X, check, rng, state

# --- control flow --------------------------------------------------------------------------------


def in_a_branch(x, rng):
    if rng.random() < 0.5:
        x = x * rng.normal(x, 1.0)
    else:
        x = x + rng.uniform(0.0, x) * rng.random()
    return np.sum(x) * rng.random()


def in_one_arm(x, rng):
    if x[0] > rng.random():
        rng.random(7)  # unused, and drawn all the same
    y = x * rng.random(3) if x[1] > 99 else x
    return np.sum(y * rng.normal(x, x))


def in_a_condition(x, rng):
    if x[0] > 99 and rng.random() < 2:
        x = x * 2
    if x[0] > 0 or rng.random() < 2:
        x = x * rng.random(3)
    return np.sum(x * x) * rng.random()


def in_a_short_loop(x, rng):
    for i in range(3):
        x = x * rng.normal(1.0, 0.1, size=3) + rng.integers(i + 1)
    return np.sum(x * x)


def in_a_long_loop(x, rng):
    kept = np.zeros(60)
    for i in range(60):
        x = 0.9 * x + 0.1 * rng.normal(x, 0.5)
        kept[i] = rng.random() * x[i % 3]
        rng.standard_normal()
    return np.sum(kept * kept) + np.sum(x)


def in_a_list(x, rng):
    noise = []
    for _ in range(40):
        noise.append(rng.exponential(x))
    return np.sum(np.stack(noise) ** 2)


def in_a_while_loop(x, rng):
    while np.sum(x) < 40.0:
        x = x + rng.uniform(0.0, x)
    return np.sum(x * x) * rng.random()


def while_it_draws(x, rng):
    n = 0.0
    while rng.random() < 0.9:
        x = x * 1.01 + 0.1 * rng.random() * x
        n = n + rng.random()
    return np.sum(x * x) + n * rng.random()


def until_accepted(x, rng):
    while True:
        y = rng.normal(x, 1.0)
        if np.sum(y - x) > 1.0:
            break
    return np.sum(y * y)


def of_a_traced_length(x, rng):
    for _ in range(rng.integers(3, 9)):
        x = x * rng.normal(1.0, 0.3, 3)
    return np.sum(x)


def nested(x, rng):
    for i in range(50):
        for _ in range(2):
            if rng.random() < 0.3:
                x = x * rng.normal(1.0, 0.01, size=3)
                continue
            x = x + 0.001 * rng.normal(x, 1.0)
        if rng.random() > 0.98:
            break
    return np.sum(x * x)


def a_source_in_each_step(x):
    for i in range(40):
        local = np.random.default_rng(7)
        x = 0.9 * x + 0.1 * local.normal(x, 1.0) * local.random()
    return np.sum(x * x)


CONTROL = [
    *(in_a_branch, in_one_arm, in_a_condition, in_a_short_loop, in_a_long_loop, in_a_list),
    *(in_a_while_loop, while_it_draws, until_accepted, of_a_traced_length, nested),
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("function", CONTROL)
def test_control_flow(function, seed):
    check(function, X, np.random.default_rng(seed), rtol=1e-5)


def test_a_generator_made_in_a_loop():
    check(a_source_in_each_step, X)


def test_a_generator_made_in_a_branch_or_a_loop_stays_there():
    def after_a_branch(x):
        if x[0] > 0:
            rng = np.random.default_rng(1)
        else:
            rng = np.random.default_rng(2)
        return np.sum(x * rng.random(3))

    def after_a_loop(x):
        while np.sum(x) < 99:
            rng = np.random.default_rng(1)
            x = x + 1 + rng.random()
        return np.sum(x * rng.random(3))

    for function in (after_a_branch, after_a_loop):
        with pytest.raises(st.StcompileError, match="rng"):
            st.grad(function)(X)


# --- order, number, sharing ----------------------------------------------------------------------


def twice_in_one_expression(x, rng):
    a = rng.random() - rng.random()
    b = x * rng.random(3) + x * rng.random(3)
    return np.sum(b) * a + (rng.normal(x, 1.0) - rng.normal(x, 1.0)) @ x


def unused(x, rng):
    rng.random(5)
    never = rng.normal(x, 1.0)
    never = never * 2
    rng.shuffle(np.arange(4))
    return np.sum(x * x) * rng.random()


@pytest.mark.parametrize("function", [twice_in_one_expression, unused])
def test_each_draw_happens_once(function):
    check(function, X, rng())


def test_draws_are_neither_shared_nor_dropped():
    program = parse_program("""
        program f(rng: Generator) {
          v1: float = random(rng) !random
          v2: float = random(rng) !random
          v3: Generator = default_rng(; seed=1) !random
          v4: Generator = default_rng(; seed=1) !random
          v5: float = random(v3) !random
          v6: float = random(v4) !random
          v7: float = add(v1, v6)
          return v7
        }""")
    verify(program)
    assert eliminate_dead_code(share_equations(program)) == program
    assert parse_program(str(program)) == program


def test_draws_stay_between_prints(capsys):
    def loss(x, rng):
        print("first", rng.random())
        y = rng.normal(x, 1.0)
        print("second", y[0])
        return np.sum(y * y)

    loss(X, rng())
    expected = capsys.readouterr().out
    st.grad(loss)(X, rng())
    assert capsys.readouterr().out == expected


def test_a_failing_call_has_drawn_as_much_as_the_plain_one():
    def loss(x, rng):
        y = rng.normal(x, 1.0)
        assert np.sum(y) > 1e9
        return np.sum(y) * rng.random()

    one, other = rng(), rng()
    with pytest.raises(AssertionError):
        loss(X, one)
    with pytest.raises(AssertionError):
        st.grad(loss)(X, other)
    assert state(one) == state(other)
