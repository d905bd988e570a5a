"""Signs and transposes of products, and sums with what is negated."""

from __future__ import annotations

import numpy as np
import pytest

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import in_adjoint
from stcompile.passes.phases import simplify
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.rules import negated_terms_subtracted
from tests.passes.texts import primitives

PRODUCT = "batch=(), order=(), spelling=''"
NEGATED = "n: f64[9,4] = negative(d) "
SMALLER = f"p: f64[3,4] = contract(x, n; contracted=((0, 0),), {PRODUCT}) "
TURNED = "t: f64[4,3] = transpose(p; axes=(1, 0)) "


def parsed(equations: str) -> Program:
    return parse_program(f"program f(x: f64[9,3], d: f64[9,4]) {{ {equations} }}")


def check_same(before: Program, after: Program) -> None:
    verify(after)
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=variable.type.dims) for variable in before.inputs]
    arguments = [a.astype(v.type.dtype) for a, v in zip(arguments, before.inputs, strict=True)]
    for wanted, found in zip(
        evaluate(before, *arguments), evaluate(after, *arguments), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        (NEGATED + SMALLER + "return p", ["contract", "negative"]),
        (NEGATED + SMALLER + TURNED + "return t", ["contract", "negative"]),
        (NEGATED + SMALLER + "return p, n", ["negative", "contract"]),
        (
            NEGATED + SMALLER + TURNED + "return t, p",
            ["contract", "negative", "transpose", "negative"],
        ),
        (
            "n: f64[9,3] = negative(x) "
            f"p: f64[9,9] = contract(n, x; contracted=((1, 1),), {PRODUCT}) return p",
            ["negative", "contract"],  # there is more to negate afterwards
        ),
        (
            "c: i64[9,4] = cast(d; dtype=i64) n: i64[9,4] = negative(c) "
            f"p: f64[3,4] = contract(x, n; contracted=((0, 0),), {PRODUCT}) return p",
            ["cast", "negative", "contract"],
        ),
        (NEGATED + "m: f64[9,3] = exp(x) return n, m", ["negative", "exp"]),
    ],
)
def test_products_are_tidied(equations: str, expected: list[str]) -> None:
    program = parsed(equations)
    assert primitives(simplify(program)) == primitives(program), "the primal is the user's"
    tidied = simplify(in_adjoint(program))
    assert primitives(tidied) == expected
    check_same(program, tidied)


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        (NEGATED + "y: f64[9,4] = accumulate(d, n; op='add') return y", ["subtract"]),
        (NEGATED + "e: f64[9,4] = exp(d) y: f64[9,4] = add(n, e) return y", ["exp", "subtract"]),
        (
            NEGATED + "y: f64[9,4] = accumulate(d, n; op='add') return y, n",
            ["negative", "accumulate"],
        ),
        (
            "c: f32[9,4] = cast(d; dtype=f32) n: f32[9,4] = negative(c) "
            "y: f64[9,4] = accumulate(d, n; op='add') return y",
            ["cast", "subtract"],
        ),
        (
            "c: f32[9,4] = cast(d; dtype=f32) n: f64[9,4] = negative(d) "
            "y: f32[9,4] = accumulate(c, n; op='add') return y",
            ["cast", "negative", "accumulate"],
        ),
        (
            "c: i64[9,4] = cast(d; dtype=i64) n: i64[9,4] = negative(c) "
            "y: i64[9,4] = add(c, n) return y",
            ["cast", "negative", "add"],
        ),
        (
            "b: b8[9,4] = greater(d, 0.0) n: f64[9,4] = negative(d) "
            "y: f64[9,4] = add(b, n) return y",
            ["greater", "subtract"],
        ),
    ],
)
def test_what_is_negated_is_subtracted(equations: str, expected: list[str]) -> None:
    program = parsed(equations)
    made = eliminate_dead_code(negated_terms_subtracted(program))
    assert primitives(made) == expected
    check_same(program, made)
