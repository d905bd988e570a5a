"""Every stage of both levels on many programs: the golden models, samples of the programs of
science and of control flow, and random ones."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import stcompile as st
import tests.control.test_branches
import tests.control.test_conditions
import tests.control.test_containers
import tests.control.test_for
import tests.control.test_returns
import tests.control.test_state
import tests.control.test_while
import tests.control.test_while_nested
import tests.science.test_iterations
import tests.science.test_ode
import tests.science.test_pde
import tests.science.test_sequences
from stcompile.passes.pipeline import Stage, stages_at
from stcompile.wengert.ir import Constant, Equation, Program
from stcompile.wengert.text import parse_program
from tests.fuzz.generate import Writer, function_of
from tests.golden.test_golden import GENERATED, arguments_of
from tests.passes.stages import StageError, check_example, check_stages
from tests.programs import totalled

SCIENCE = (
    tests.science.test_iterations,
    tests.science.test_ode,
    tests.science.test_pde,
    tests.science.test_sequences,
)
CONTROL = (
    tests.control.test_branches,
    tests.control.test_conditions,
    tests.control.test_containers,
    tests.control.test_for,
    tests.control.test_returns,
    tests.control.test_state,
    tests.control.test_while,
    tests.control.test_while_nested,
)
LEVELS = {stages_at(level): level for level in ("fast", "readable")}  # once if they are the same
every_level = pytest.mark.parametrize("stages", LEVELS, ids=LEVELS.values())
# Their lists are evaluated element by element.
LOOPS = {stages_at("compiled"): "compiled", stages_at("whole"): "whole"}
with_loops = pytest.mark.parametrize("stages", LEVELS | LOOPS, ids=(LEVELS | LOOPS).values())
RANDOM = range(50)
STATEMENTS = 10
X = np.array([[0.3, -0.7, 0.9], [1.1, 0.2, -0.4]])
Y = np.array([0.5, -0.25, 0.8])
PIXELS = 24  # of `pixel_rnn`, instead of 784


def sample(modules: tuple[ModuleType, ...], stride: int) -> Iterator[Any]:
    """Every ``stride``-th example of some test modules, one for each function."""
    noted = [
        example
        for module in modules
        for example in module.examples.noted
        if example.function not in module.examples.heavy
    ]
    functions = {example.function: example for example in noted}
    for example in list(functions.values())[::stride]:
        yield pytest.param(example, id=example.function.__name__)


SHORT = sorted(GENERATED.keys() - {"gauss_seidel_compiled"})  # that one takes many steps


@every_level
@pytest.mark.parametrize("name", SHORT)
def test_golden_models(name: str, stages: tuple[Stage, ...]) -> None:
    args = arguments_of(name)
    if name.startswith("pixel_rnn"):
        args = (*args[:-1], PIXELS)
    assert check_example(stages, GENERATED[name](), args)


@with_loops
@pytest.mark.parametrize("example", [*sample(SCIENCE, 4), *sample(CONTROL, 12)])
def test_written_programs(example: Any, stages: tuple[Stage, ...]) -> None:
    function, args = example.function, copy.deepcopy(example.args)
    total = totalled(function, function(*copy.deepcopy(args)))
    check_example(stages, st.value_and_grad(total, example.wrt), args)


@with_loops
@pytest.mark.parametrize("seed", RANDOM)
def test_random_programs(seed: int, stages: tuple[Stage, ...]) -> None:
    arguments = {"x": X.copy(), "y": Y.copy()}
    writer = Writer(random.Random(seed), arguments)
    writer.try_to_add("v = x * 1.0", "v")
    writer.try_to_add("w = x @ x.T + y[0]", "w")
    for _ in range(STATEMENTS):
        writer.write_statement()
    function = function_of(writer.source())
    total = totalled(function, function(X.copy(), Y.copy()))
    check_example(stages, st.value_and_grad(total, (0, 1)), (X, Y))


def names_of_three_loops(x, A, k, places):
    """The innermost loop keeps a value by the name that one of the loop around it has."""
    n = x.shape[0]
    s = np.tanh(x[1])
    t = 0.2
    u = x * 0.5
    W = np.tanh(A)
    for _row in places:
        for i in range(n):
            for j in range(n - 1, -1, -1):
                part = W[places[k] % n - n :, j & 3]
                t = np.tanh(np.sum(part) * A[0, -1 - places[i % n]]) + 0.3 * t
                u[n - 1 - j % n] = np.tanh(t * s)
            u[places[i % n]] = np.tanh(np.sum(u[:1] ** 2))
    return s + t * t + np.sum(u) + np.sum(W)


@with_loops
def test_loops_that_share_names(stages: tuple[Stage, ...]) -> None:
    level = (LEVELS | LOOPS)[stages].replace("whole", "compiled")
    gradients = st.value_and_grad(names_of_three_loops, ("x", "A"), level=level)
    x = np.array([0.3, -0.7, 0.9, 0.4, -0.2])
    args = x, np.outer(x, x), 4, np.array([0, 4, 3, 2, 4])
    assert check_example(stages, gradients, args)


def parts_of_a_column(A, s):
    """The parts are of up to three elements, and get one number each."""
    for k in range(22):
        s = s + np.sum(A[max(0, k - 3) : k, k], keepdims=True)
    return np.sum(np.sin(s))


@with_loops
def test_parts_that_are_short_at_first(stages: tuple[Stage, ...]) -> None:
    gradients = st.value_and_grad(parts_of_a_column, ("A", "s"))
    assert check_example(stages, gradients, (np.outer(np.ones(22), np.arange(22.0)), Y[:1]))


def columns_in_a_while(x):
    """The adjoint of the `while` takes the number of its steps before the array that is turned."""
    b = np.zeros((22, 22))
    for k in range(20, 0, -1):
        if np.min(b) > 0.1:
            b[0, k] = 0.5
        else:
            while b[k][k] < 1.0:
                b[:, k] = b[k][k] + x
    return np.sum(np.sin(b))


@with_loops
def test_arrays_that_are_turned_in_a_while(stages: tuple[Stage, ...]) -> None:
    level = (LEVELS | LOOPS)[stages].replace("whole", "compiled")
    gradients = st.value_and_grad(columns_in_a_while, level=level)
    assert check_example(stages, gradients, (np.linspace(0.7, 1.2, 22),))


# --- the check itself ----------------------------------------------------------------------------

PROGRAM = parse_program("""
    program f(x: f64[3], y: f64[3]) {
      v1: f64[3] = subtract(x, y)
      v2: f64[3] = multiply(v1, v1)
      value: f64 = sum(v2; axis=(0,), keepdims=False)
      d_x: f64[3] = multiply(2.0, v1)
      return value, d_x
    }""")
INPUTS = [np.array([0.3, -2.0, 7.0]), np.array([0.1, 0.7, -0.4])]


def changing(change: Callable[[Equation], Equation]) -> Callable[[Program], Program]:
    """A pass that changes equations one by one."""
    return lambda program: replace(program, equations=tuple(map(change, program.equations)))


def swapped(equation: Equation) -> Equation:
    if equation.primitive != "subtract":
        return equation
    return replace(equation, inputs=equation.inputs[::-1])


def scaled(by: float) -> Callable[[Equation], Equation]:
    def change(equation: Equation) -> Equation:
        if equation.outputs[0].name != "d_x":
            return equation
        return replace(equation, inputs=(Constant(2.0 * by), equation.inputs[1]))

    return change


def without_last(program: Program) -> Program:
    return replace(program, equations=program.equations[:-1])


def rounding(program: Program) -> Program:
    """Another last bit of the value and the gradient."""
    first, *_ = program.equations
    text = f"""
    program f(x: f64[3], y: f64[3]) {{
      a: f64[3] = multiply(x, 1.0000000000000002)
      {first.output!r} = subtract(a, y)
      v2: f64[3] = multiply(v1, v1)
      value: f64 = sum(v2; axis=(0,), keepdims=False)
      d_x: f64[3] = multiply(2.0, v1)
      return value, d_x
    }}"""
    return parse_program(text)


@pytest.mark.parametrize(
    ("wrong", "exact", "why"),
    [
        (changing(swapped), True, "after the stage '"),
        (changing(swapped), False, "after the stage '"),
        (changing(scaled(1 + 1e-15)), True, "after the stage '"),
        (changing(scaled(1 + 1e-9)), False, "Not equal to tolerance"),
        (without_last, False, "d_x is read before it is defined"),
        (rounding, False, "after the stage '"),  # the primal has to be exact
    ],
)
def test_wrong_passes_are_found(wrong: Callable[[Program], Program], exact: bool, why: str) -> None:
    with pytest.raises(StageError, match=why):
        check_stages([Stage(wrong, exact=exact)], PROGRAM, INPUTS, 1, by_name=True)


def test_right_passes_pass() -> None:
    rounded = Stage(changing(scaled(1 + 1e-15)), exact=False)
    other = Stage(rounding, "fast", exact=False)
    nothing = Stage(lambda program: program)
    found = check_stages([nothing, rounded, other], PROGRAM, INPUTS, 1, by_name=True)
    assert found == [rounded.name, "rounding"]
