"""Merging products and sums: what is merged, what must not be, and that the results agree."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.reassociate_sums import reassociate_sums
from stcompile.passes.general.share_equations import share_equations
from stcompile.passes.products.merge_products import merge_products
from stcompile.passes.products.merge_sums import merge_sums
from stcompile.passes.products.push_sums import push_sums
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.rules import operands_converted, small_arguments_copied

MATMUL = "batch=(), contracted=((1, 0),), order=(), spelling='matmul'"
BATCHED = "batch=((0, 0),), contracted=((2, 1),), order=(), spelling=''"
COLUMNS = "batch=(), contracted=((0, 0),), order=(), spelling=''"


def program(body: str, inputs: str, outputs: str) -> Program:
    lines = "\n".join(f"  {line.strip()}" for line in body.strip().splitlines())
    return parse_program(f"program f({inputs}) {{\n{lines}\n  return {outputs}\n}}")


def arguments(of: Program) -> list:
    rng = np.random.default_rng(0)
    made = []
    for variable in of.inputs:
        type = variable.type
        if type.dtype.kind == "b":
            made.append(rng.random(type.dims) > 0.5)
        elif type.kind == "python":
            made.append(0.5)
        else:
            made.append(rng.standard_normal(type.dims).astype(type.dtype))
    return made


def changed(change, before: Program, exact: bool = False) -> Counter:
    """Apply a pass, assert that the results agree, and count what is there afterwards."""
    after = eliminate_dead_code(change(before))
    verify(after)
    given = arguments(before)
    found, expected = evaluate(after, *given), evaluate(before, *given)
    for one, other in zip(found, expected, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        if exact:
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    return Counter(equation.primitive for equation in after.equations)


# --- products -------------------------------------------------------------------------------------


def test_products_of_views_are_merged_above_their_definitions() -> None:
    before = program(
        f"""
        v1: f64[4,2] = slice(x; drop=(), length=(4, 2), start=((0,), (0,)), step=(1, 1))
        v2: f64[4,5] = contract(v1, W; {MATMUL})
        v3: f64[4,5] = tanh(v2)
        v4: f64[4,2] = slice(x; drop=(), length=(4, 2), start=((0,), (2,)), step=(1, 1))
        v5: f64[4,5] = contract(v4, W; {MATMUL})
        v6: f64[4,5] = multiply(v3, v5)
        """,
        "x: f64[4,4], W: f64[2,5]",
        "v6",
    )
    after = changed(merge_products, before)
    assert after["contract"] == 1
    assert after["concatenate"] == 1


def test_products_that_share_both_their_views_are_merged_twice() -> None:
    """As those of a value and its tangent do: a view is moved up once."""
    before = program(
        f"""
        v1: f64[4,2] = slice(x; drop=(), length=(4, 2), start=((0,), (0,)), step=(1, 1))
        v2: f64[4,5] = contract(v1, W; {MATMUL})
        v3: f64[4,5] = contract(v1, U; {MATMUL})
        v4: f64[4,2] = slice(x; drop=(), length=(4, 2), start=((0,), (2,)), step=(1, 1))
        v5: f64[4,5] = contract(v4, W; {MATMUL})
        v6: f64[4,5] = contract(v4, U; {MATMUL})
        v7: f64[4,5] = multiply(v2, v6)
        v8: f64[4,5] = multiply(v3, v5)
        """,
        "x: f64[4,4], W: f64[2,5], U: f64[2,5]",
        "v7, v8",
    )
    assert changed(merge_products, before)["contract"] == 2


def test_a_product_that_needs_another_is_not_merged_with_it() -> None:
    before = program(
        f"""
        v1: f64[4,4] = contract(x, W; {MATMUL})
        v2: f64[4,4] = tanh(v1)
        v3: f64[4,4] = contract(v2, W; {MATMUL})
        """,
        "x: f64[4,4], W: f64[4,4]",
        "v3",
    )
    assert changed(merge_products, before)["contract"] == 2


def test_what_is_done_to_all_rows_is_done_once() -> None:
    before = program(
        f"""
        v1: f64[4,5] = contract(x, W; {MATMUL})
        v2: f64[4,5] = add(v1, b)
        v3: f64[4,5] = tanh(v2)
        v4: f64[4,5] = contract(y, W; {MATMUL})
        v5: f64[4,5] = add(v4, b)
        v6: f64[4,5] = tanh(v5)
        v7: f64[4,5] = subtract(v3, v6)
        """,
        "x: f64[4,2], y: f64[4,2], W: f64[2,5], b: f64[5]",
        "v7",
    )
    after = changed(merge_products, before)
    assert (after["add"], after["tanh"], after["slice"]) == (1, 1, 2)


@pytest.mark.parametrize("other", ["add(v3, c)", "add(b, v3)", "multiply(v3, b)"])
def test_what_differs_is_done_to_each(other: str) -> None:
    before = program(
        f"""
        v1: f64[4,5] = contract(x, W; {MATMUL})
        v2: f64[4,5] = add(v1, b)
        v3: f64[4,5] = contract(y, W; {MATMUL})
        v4: f64[4,5] = {other}
        v5: f64[4,5] = multiply(v2, v4)
        """,
        "x: f64[4,2], y: f64[4,2], W: f64[2,5], b: f64[5], c: f64[5]",
        "v5",
    )
    after = changed(merge_products, before)
    assert after["contract"] == 1
    assert after["add"] + after["multiply"] == 3


def test_terms_are_added_in_the_order_of_their_making() -> None:
    before = program(
        """
        v1: f64[3] = sin(x)
        v2: f64[3] = cos(v1)
        v3: f64[3] = add(v2, v1)
        v4: f64[3] = add(v3, b)
        """,
        "x: f64[3], b: f64[3]",
        "v4",
    )
    after = reassociate_sums(before)
    last = after.equations[-1]
    assert last.inputs[1].name == "v2"
    changed(reassociate_sums, before)


def test_sums_wider_than_their_terms_stay_as_they_are() -> None:
    before = program(
        """
        v1: f64[3,1] = sin(x)
        v2: f64[3,4] = add(y, v1)
        v3: f64[3,4] = add(x, v2)
        """,
        "x: f64[3,1], y: f64[1,4]",
        "v3",
    )
    assert reassociate_sums(before) is before


def test_sums_that_promote_stay_as_they_are() -> None:
    before = program(
        """
        v1: f32[3] = sin(x)
        v2: f32[3] = add(v1, y)
        v3: f64[3] = add(v2, z)
        """,
        "x: f32[3], y: f32[3], z: f64[3]",
        "v3",
    )
    assert reassociate_sums(before) is before


# --- sums -----------------------------------------------------------------------------------------

STEPS = f"""
    v1: f64[3,5] = contract(x1, y1; {COLUMNS})
    v2: f64[3,5] = contract(x2, y2; {COLUMNS})
    v3: f64[3,5] = accumulate(v1, v2; op='add')
    v4: f64[3,5] = contract(x3, y3; {COLUMNS})
    v5: f64[3,5] = accumulate(v3, v4; op='add')
    v6: f64[5] = sum(y1; axis=(0,), keepdims=False)
    v7: f64[5] = sum(y2; axis=(0,), keepdims=False)
    v8: f64[5] = accumulate(v6, v7; op='add')
    v9: f64[2,5] = contract(z2, y2; {COLUMNS})
    v10: f64[2,5] = contract(z3, y3; {COLUMNS})
    v11: f64[2,5] = accumulate(v9, v10; op='add')
"""
FACTORS = ", ".join(
    [f"x{i}: f64[4,3]" for i in (1, 2, 3)]
    + [f"y{i}: f64[4,5]" for i in (1, 2, 3)]
    + [f"z{i}: f64[4,2]" for i in (2, 3)]
)


def test_sums_share_what_is_put_together() -> None:
    after = changed(merge_sums, program(STEPS, FACTORS, "v5, v8, v11"))
    assert after["contract"] == 2
    assert after["sum"] == 1
    assert after["concatenate"] == 3  # the x, the y, and two z; two sums take slices of the y
    assert after["slice"] == 2
    assert after["accumulate"] == 0


def test_a_term_that_something_else_reads_is_left_alone() -> None:
    after = changed(merge_sums, program(STEPS, FACTORS, "v5, v8, v11, v2"))
    assert after["contract"] == 3
    assert after["accumulate"] == 1


# --- sums before products -------------------------------------------------------------------------

PUSHED = {
    "product of matrices": (
        f"""
        v1: f64[100,4] = contract(x, W; {MATMUL})
        v2: f64[4] = sum(v1; axis=(0,), keepdims=False)
        """,
        "x: f64[100,3], W: f64[3,4]",
        "v2",
    ),
    "both operands": (
        f"""
        v1: f64[100,4] = contract(x, W; {MATMUL})
        v2: f64 = sum(v1; axis=(0, 1), keepdims=False)
        v3: f64[1] = full(v2; dtype=f64, shape=(1,))
        """,
        "x: f64[100,3], W: f64[3,4]",
        "v3",
    ),
    "in batches": (
        f"""
        v1: f64[6,100,4] = contract(x, W; {BATCHED})
        v2: f64[6,4] = sum(v1; axis=(1,), keepdims=False)
        """,
        "x: f64[6,100,3], W: f64[6,3,4]",
        "v2",
    ),
    "a factor": (
        """
        v1: f64[6,100,4] = multiply(x, s)
        v2: f64[6,4] = sum(v1; axis=(1,), keepdims=False)
        """,
        "x: f64[6,100,4], s: f64[6,1,4]",
        "v2",
    ),
    "a sum of both": (
        f"""
        v1: f64[6,100,4] = contract(x, W; {BATCHED})
        v2: f64[6,100,4] = multiply(y, s)
        v3: f64[6,100,4] = accumulate(v1, v2; op='add')
        v4: f64[6,4] = sum(v3; axis=(1,), keepdims=False)
        """,
        "x: f64[6,100,3], W: f64[6,3,4], y: f64[6,100,4], s: f64[6,1,4]",
        "v4",
    ),
}


@pytest.mark.parametrize("name", PUSHED)
def test_sums_go_before_products(name: str) -> None:
    before = program(*PUSHED[name])
    changed(push_sums, before)
    first = next(e for e in push_sums(before).equations)
    if name != "both operands":  # a sum to a number stays
        assert first.primitive == "sum"


def test_a_product_that_something_else_reads_is_summed() -> None:
    body, inputs, _ = PUSHED["product of matrices"]
    before = program(body, inputs, "v1, v2")
    assert push_sums(before) is before


# --- conversions and copies -----------------------------------------------------------------------


def test_a_mask_is_converted_once() -> None:
    before = program(
        """
        v1: f32[3] = multiply(x, m)
        v2: f32[3] = multiply(v1, m)
        """,
        "x: f32[3], m: b8[3]",
        "v2",
    )
    shared = changed(lambda p: share_equations(operands_converted(p)), before, exact=True)
    assert shared["cast"] == 1


def test_numbers_are_not_converted() -> None:
    before = program("v1: f32[3] = multiply(x, 2.0)", "x: f32[3]", "v1")
    assert operands_converted(before) is before


def test_only_what_is_spread_is_copied() -> None:
    before = program(
        """
        v1: f64[5,100,3] = subtract(x, means)
        v2: f64[100,3] = subtract(x, y)
        """,
        "x: f64[100,3], y: f64[100,3], means: f64[5,1,3]",
        "v1, v2",
    )
    assert changed(small_arguments_copied, before, exact=True)["copy"] == 1
