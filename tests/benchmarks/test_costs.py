"""What programs cost by their types: as what is counted while they run, or the most of it."""

from __future__ import annotations

import pytest

from examples.benchmarks.costs import Costs, costs
from examples.benchmarks.loops import PROGRAMS, candidates
from stcompile.wengert.text import parse_program

PRODUCT = "contract(x, w; batch=(), contracted=((1, 0),), order=(), spelling='')"
ROW = "drop=(0,), length=(1, 4), start=((1,), (0,)), step=(1, 1)"


def cost(equations: str) -> Costs:
    """The costs of a program with these equations, which returns z."""
    return costs(
        parse_program(f"program f(x: f64[3,4], w: f64[4,5], p: bool) {{\n{equations}\nreturn z\n}}")
    )


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        ("z: f64[3,4] = exp(x)", Costs(24, 0, 1)),
        ("z: f64[3,4] = multiply(x, 2.0)", Costs(24, 0, 1)),
        ("z: f64[4,3] = transpose(x; axes=(1, 0))", Costs(0, 0, 1)),
        (f"z: f64[3,5] = {PRODUCT}", Costs(12 + 20 + 15, 2 * 15 * 4, 1)),
        (
            f"v: f64[3,4] = exp(x)\ny: f64[4] = slice(v; {ROW})\nz: f64[3,4] = update(v, y; {ROW})",
            Costs(24 + 4 + 4, 0, 3),
        ),
        (f"y: f64[4] = slice(x; {ROW})\nz: f64[3,4] = update(x, y; {ROW})", Costs(24 + 8, 0, 2)),
    ],
)
def test_equations(equations: str, expected: Costs) -> None:
    assert cost(equations) == expected


def test_a_loop_costs_its_steps() -> None:
    body = f"v: f64[3,5] = {PRODUCT}\ns: f64[3,5] = add(c, v)\nreturn s"
    given = "x: f64[3,4], w: f64[4,5], k: int, c: f64[3,5]"
    spent = cost(
        f"v1: f64[3,5] = {PRODUCT}\nz: f64[3,5] = loop(x, w, v1; carry=1, constants=2, length=7,"
        f" body=program body({given}) {{ {body} }})"
    )
    assert spent.flops == 8 * 2 * 15 * 4
    assert spent.touched == 47 + 7 * (47 + 45)
    assert spent.equations == 1 + 1 + 2


def test_a_branch_costs_the_arm_that_does_more() -> None:
    few = "program then(x: f64[3,4]) { v: f64[3,4] = exp(x) return v }"
    many = "program otherwise(x: f64[3,4]) { v: f64[3,4] = exp(x) u: f64[3,4] = exp(v) return u }"
    assert cost(f"z: f64[3,4] = cond(p, x; then={few}, otherwise={many})") == Costs(48, 0, 4)


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize(
    "name", ["jacobi", "thomas", "n_body", "rk4_carried", "garch", "deposit", "viterbi", "gemver"]
)
def test_programs_of_the_same_steps_cost_what_they_touch(name: str, level: str) -> None:
    """Exactly, in whatever way it is counted."""
    program = PROGRAMS[name]
    _, touched = candidates.counts(program, program.small, level)
    assert _costs(name, level).touched == touched


@pytest.mark.parametrize("name", ["cholesky", "inside", "lu_rows", "forward_substitution"])
def test_steps_of_other_lengths_cost_the_most(name: str) -> None:
    program = PROGRAMS[name]
    _, touched = candidates.counts(program, program.small, "fast")
    assert touched < _costs(name, "fast").touched < 6 * touched


def _costs(name: str, level: str) -> Costs:
    program = PROGRAMS[name]
    arguments = program.arguments(program.small)
    derivative = candidates.compiled_derivative(program, arguments, level)
    return costs(derivative.program(*arguments.values()))
