"""What saves memory by computing again: results stay the same, and nothing with an effect is
repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.rebuild import in_adjoint
from stcompile.passes.loops.checkpoint_loops import checkpoint_loops
from stcompile.passes.memory.rematerialise import candidates, rematerialise
from stcompile.passes.pipeline import MERGING, MemorySaving, optimise
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.programs import EXAMPLES, Example, assert_equal, run

RNG = np.random.default_rng(3)


def normal(*shape: int) -> Any:
    return RNG.normal(0, 0.5, shape)


def states(w, x):
    h = np.zeros(3)
    for t in range(30):
        h = np.tanh(w @ h + x[t])
    return np.sum(h * h)


def numbers(a, x):
    """A Python float, an array and a counter go from step to step."""
    total, y = 0.0, np.ones(3)
    for t in range(31):
        y = np.sin(y * a) + x[t] * 0.1 * t
        total = total * 0.5 + float(np.sum(y)) * a
    return total + np.sum(y)


def backwards(w, x):
    h = np.ones(3)
    for t in reversed(range(29)):
        h = np.tanh(w @ h) * x[t]
    return np.sum(h)


def collecting(w, x):
    """All states are needed afterwards as well."""
    h, seen = np.ones(3), []
    for row in x:
        h = np.tanh(w @ h + row)
        seen.append(h * h)
    return np.sum(np.array(seen) ** 2)


def deciding(w, x):
    h = np.ones(3)
    for t in range(32):
        if np.sum(h) > 0.5:
            h = np.tanh(w @ h)
        else:
            h = h * x[t] + 0.3
    return np.sum(h)


def nested(w, x):
    h = np.ones(3)
    for t in range(20):
        for _ in range(18):
            h = np.sin(w @ h + x[t])
    return np.sum(h)


def two_loops(w, x):
    h = np.ones(3)
    for t in range(20):
        h = np.tanh(w @ h + x[t])
    g = h
    for t in range(23):
        g = np.tanh(w @ g * x[t])
    return np.sum(g * h)


def zero_dimensional(a, x):
    s = np.array(0.5)
    for t in range(25):
        s = np.sin(s * a) + x[t, 0]
    return np.sum(s)


W, X = normal(3, 3), normal(32, 3)
LOOPS: dict[str, Example] = {
    f.__name__: Example(st.value_and_grad(f, (0, 1)), args)
    for f, args in (
        (states, (W, X)), (numbers, (0.7, X)), (backwards, (W, X)), (collecting, (W, X[:30])),
        (deciding, (W, X)), (nested, (W, X)), (two_loops, (W, X)), (zero_dimensional, (0.7, X)),
    )
}  # fmt: skip
STEP = Example(st.train_step(states, st.optim.SGD(0.1)), (W, X))
ALL = {**EXAMPLES, **LOOPS, "loop step": STEP}


def everything(program: Program) -> Program:
    return rematerialise(program, [c.variable for c in candidates(program)])


def some(program: Program) -> Program:
    return rematerialise(program, [c.variable for c in candidates(program)][::2])


def both(program: Program) -> Program:
    return everything(checkpoint_loops(program))


REWRITES: tuple[Callable[[Program], Program], ...] = (everything, some, checkpoint_loops, both)


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.__name__)
@pytest.mark.parametrize("name", ALL)
def test_results_are_bitwise_the_same(name: str, rewrite: Callable[[Program], Program]) -> None:
    example = ALL[name]
    staged = example.staged()
    inputs = example.inputs(staged)
    for without in (frozenset[str](), MERGING):
        plain = optimise(staged.program, "fast", MemorySaving(lambda program: program, without))
        saving = optimise(staged.program, "fast", MemorySaving(rewrite, without))
        verify(saving)
        found, expected = run(saving, inputs), run(plain, inputs)
        for one, other in zip([*found[0], *found[1]], [*expected[0], *expected[1]], strict=True):
            assert_equal(one, other)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_keep_fewer_states(name: str) -> None:
    program = optimise(LOOPS[name].staged().program)
    after = optimise(LOOPS[name].staged().program, saving=MemorySaving(checkpoint_loops))
    if name == "collecting":
        assert kept(after) <= kept(program)
    else:
        assert kept(after) < 0.75 * kept(program)


def kept(program: Program) -> int:
    """The bytes that loops of the forward part, and those within adjoint loops, stack up."""
    total = 0
    for equation in program.equations:
        if equation.primitive == "loop":
            total += sum(y.type.nbytes for y in equation.outputs[equation.params["carry"] :])
            if equation.location.section == "adjoint":
                total += kept(equation.params["body"])
    return total


def test_only_what_the_adjoint_reads_is_a_candidate() -> None:
    def f(x, w):
        y = np.exp(x)
        z = np.sin(y)
        return np.sum(z @ w)

    staged = Example(st.value_and_grad(f), (np.ones(3), np.ones((3, 2)))).staged()
    found = candidates(optimise(staged.program))
    assert [c.variable.name for c in found] == ["y"]
    assert not found[0].contracts


def test_contractions_come_last() -> None:
    def f(w, x):
        h = np.tanh(x @ w)
        g = np.exp(x) * h
        return np.sum(np.tanh(g * g))

    staged = Example(st.value_and_grad(f, (0, 1)), (np.ones((4, 4)), np.ones((3, 4)))).staged()
    found = candidates(optimise(staged.program))
    flags = [c.contracts for c in found]
    assert flags == sorted(flags)
    assert set(flags) == {False, True}
    assert all(c.cost > 0 for c in found)


def random_and_printing(x, rng):
    noise = rng.normal(size=x.shape)
    for _ in range(20):
        x = np.tanh(x * noise)
        print(np.sum(x))
    y = np.sin(x) * np.cos(noise)
    print("twice?")
    return np.sum(np.exp(y) * y)


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.__name__)
def test_effects_are_not_repeated(rewrite: Callable[[Program], Program]) -> None:
    arguments = np.ones(4), np.random.default_rng(0)
    staged = Example(st.value_and_grad(random_and_printing), arguments).staged()
    plain = optimise(staged.program, "fast")
    saving = optimise(staged.program, "fast", MemorySaving(rewrite))
    assert effects(saving) == effects(plain)
    assert len(saving.equations) >= len(plain.equations)


def effects(program: Program) -> list[Any]:
    found: list[Any] = []
    for equation in program.equations:
        inner = [v for v in equation.params.values() if isinstance(v, Program)]
        if equation.effects and not inner:
            found.append(equation.primitive)
        for part in inner:
            found += [equation.params.get("length"), *effects(part)]
    return [item for item in found if item is not None]


def test_what_it_costs_to_compute_again() -> None:
    """Operations, those of functions counted tenfold; views cost nothing, products come last. A
    number takes no memory that is worth it."""
    program = parse_program("""
        program f(x: f64[4,3], w: f64[3,5]) {
          slow: f64[4,3] = power(x, 2.0)
          function: f64[4,3] = exp(x)
          fast: f64[4,3] = add(x, x)
          total: f64[3] = sum(x; axis=(0,), keepdims=False)
          turned: f64[3,4] = transpose(x; axes=(1, 0))
          more: f64[3,4] = add(turned, 1.0)
          chain: f64[3,4] = subtract(more, turned)
          number: f64 = contract(x, x; batch=(), contracted=((0, 0), (1, 1)), order=(), spelling='')
          product: f64[4,5] = contract(x, w; batch=(), contracted=((1, 0),), order=(), spelling='')
          behind: f64[4,5] = add(product, 1.0)
          v1: f64[4,3] = multiply(slow, function)
          v2: f64[4,3] = multiply(v1, fast)
          v3: f64[4,3] = multiply(v2, total)
          v4: f64[3,4] = multiply(chain, number)
          v5: f64[4,5] = multiply(behind, 2.0)
          return v3, v4, v5
        }""")
    *early, _, _, _, _, _ = program.equations
    late = in_adjoint(program).equations[len(early) :]
    found = candidates(replace(program, equations=(*early, *late)))
    assert [(c.variable.name, c.cost, c.contracts) for c in found] == [
        ("fast", 12, False),
        ("chain", 24, False),
        ("slow", 120, False),
        ("function", 120, False),
        ("total", 120, False),
        ("behind", 140, True),
    ]


def test_views_follow_what_is_computed_again() -> None:
    """Only what is asked for is computed again, and views of it."""
    program = parse_program("""
        program f(x: f64[3]) {
          a: f64[3] = sin(x)
          b: f64[3] = cos(x)
          view: f64[3,1] = reshape(a; shape=(3, 1))
          d: f64[3] = multiply(a, b)
          e: f64[3,3] = multiply(d, view)
          return e
        }""")
    derived = in_adjoint(program).equations[3:]
    program = replace(program, equations=(*program.equations[:3], *derived))
    names = {variable.name: variable for e in program.equations for variable in e.outputs}
    again = rematerialise(program, [names["a"]])
    assert [output.name for e in again.equations for output in e.outputs] == [
        *("a", "b", "view", "a.1", "d", "view.1", "e")
    ]
    assert rematerialise(program, []) is program
