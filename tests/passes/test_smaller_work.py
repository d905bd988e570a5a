"""Passes that do the same with fewer operations on large arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.loops.share_states import share_states
from stcompile.passes.products.merge_diagonals import merge_diagonals
from stcompile.passes.products.push_sums import push_sums
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.rules import (
    outer_product,
    repeated_factor,
    rows_summed_by_blas,
    smaller_factor_scaled,
)
from tests.programs import check_gradient

RNG = np.random.default_rng(12)


def changed(text: str, change: Callable[[Program], Program], args: Sequence[Any]) -> list[str]:
    """The primitives after a pass, which leaves the results as they are but for the rounding."""
    before = parse_program(text)
    verify(before)
    after = eliminate_dead_code(change(before))
    verify(after)
    assert [o.type for o in after.outputs] == [o.type for o in before.outputs]
    for found, wanted in zip(evaluate(after, *args), evaluate(before, *args), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert change(after) == after
    return [equation.primitive for equation in after.equations]


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.normal(size=shape)


# --- merge_diagonals: x @ W + x * d ---------------------------------------------------------------

MERGED = ["eye", "where", "add", "contract"]
RESHAPED = ["eye", "reshape", "where", "add", "contract"]


def _merged(program: Program) -> Program:
    """After the pass; what nobody reads is left out before."""
    return merge_diagonals(eliminate_dead_code(program))


def columns(x: str, w: str, d: str, params: str, total: str = "add(v1, v2)", out: str = "") -> str:
    return f"""program f(x: f64[{x}], w: f64[{w}], d: f64[{d}]) {{
      v1: f64[{out or x}] = contract({params}, order=(), spelling='')
      v2: f64[{x}] = multiply(x, d)
      y: f64[{x}] = {total}
      return y
    }}"""


LEFT = "x, w; batch=(), contracted=((1, 0),)"


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (columns("40,3", "3,3", "3", LEFT), [(40, 3), (3, 3), (3,)]),
        (columns("40,3", "3,3", "1,3", LEFT), [(40, 3), (3, 3), (1, 3)]),
        (columns("40,3", "3,3", "3", LEFT, "add(v2, v1)"), [(40, 3), (3, 3), (3,)]),
        (
            columns("40,3", "3,3", "3", LEFT, "accumulate(v1, v2; op='add')"),
            [(40, 3), (3, 3), (3,)],
        ),
        (
            columns("40,3", "3,3", "3", "x, w; batch=(), contracted=((1, 1),)"),
            [(40, 3), (3, 3), (3,)],
        ),
        (
            columns("3,40", "3,3", "3,1", "w, x; batch=(), contracted=((1, 0),)"),
            [(3, 40), (3, 3), (3, 1)],
        ),
        (
            columns("2,40,3", "2,3,3", "2,1,3", "x, w; batch=((0, 0),), contracted=((2, 1),)"),
            [(2, 40, 3), (2, 3, 3), (2, 1, 3)],
        ),
        (
            columns("2,40,3", "2,3,3", "3", "x, w; batch=((0, 0),), contracted=((2, 2),)"),
            [(2, 40, 3), (2, 3, 3), (3,)],
        ),
        (
            columns("4,10,3", "3,3", "3", "x, w; batch=(), contracted=((2, 0),)"),
            [(4, 10, 3), (3, 3), (3,)],
        ),
    ],
)
def test_factors_of_columns_go_into_the_matrix(text: str, shapes: Any) -> None:
    made = changed(text, merge_diagonals, [normal(*shape) for shape in shapes])
    assert made in (MERGED, RESHAPED)


@pytest.mark.parametrize(
    "total", ["add({0}, {1})", "add({1}, {0})", "subtract({0}, {1})", "subtract({1}, {0})"]
)
@pytest.mark.parametrize("product", ["v1", "n1"])
@pytest.mark.parametrize("scaled", ["v2", "v3", "n2", "n3"])
def test_signs_go_into_the_matrix(total: str, product: str, scaled: str) -> None:
    """Of terms that are negated, and of products of what is negated."""
    text = f"""program f(x: f64[40,3], w: f64[3,3], d: f64[3]) {{
      n: f64[40,3] = negative(x)
      v1: f64[40,3] = contract(n, w; batch=(), contracted=((1, 0),), order=(), spelling='')
      n1: f64[40,3] = negative(v1)
      v2: f64[40,3] = multiply(x, d)
      n2: f64[40,3] = negative(v2)
      v3: f64[40,3] = multiply(d, n)
      n3: f64[40,3] = negative(v3)
      y: f64[40,3] = {total.format(product, scaled)}
      return y
    }}"""
    made = changed(text, _merged, [normal(40, 3), normal(3, 3), normal(3)])
    assert "multiply" not in made
    assert made[-1] == "contract"


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (columns("3,3", "3,3", "3", LEFT), [(3, 3), (3, 3), (3,)]),  # no longer than the matrix
        (columns("40,3", "3,3", "40,1", LEFT), [(40, 3), (3, 3), (40, 1)]),
        (columns("40,3", "3,3", "40,3", LEFT), [(40, 3), (3, 3), (40, 3)]),
        (columns("40,3", "3,3", "1", LEFT), [(40, 3), (3, 3), (1,)]),
        (columns("40,3", "3,3", "3", LEFT, "multiply(v1, v2)"), [(40, 3), (3, 3), (3,)]),
        (
            columns("3,40", "3,3", "40", "w, x; batch=(), contracted=((1, 0),)"),
            [(3, 40), (3, 3), (40,)],
        ),
    ],
)
def test_other_factors_stay(text: str, shapes: Any) -> None:
    made = changed(text, merge_diagonals, [normal(*shape) for shape in shapes])
    assert made[:2] == ["contract", "multiply"]


def test_what_is_added_to_more_than_the_product_stays() -> None:
    """A product that is the same for all of some matrices is none with several matrices."""
    params = "x, w; batch=((0, 0),), contracted=((2, 1),), order=(), spelling=''"
    text = f"""program f(x: f64[1,90,3], w: f64[1,3,3], d: f64[4,1,3]) {{
      v1: f64[1,90,3] = contract({params})
      v2: f64[4,90,3] = multiply(x, d)
      y: f64[4,90,3] = add(v1, v2)
      return y
    }}"""
    made = changed(text, merge_diagonals, [normal(1, 90, 3), normal(1, 3, 3), normal(4, 1, 3)])
    assert made == ["contract", "multiply", "add"]


@pytest.mark.parametrize(
    ("n", "m", "merged"), [("n.1", "3", True), ("40", "n.1", False), ("n.1", "n.1", False)]
)
def test_only_matrices_of_known_sides_get_a_diagonal(n: str, m: str, merged: bool) -> None:
    """However many rows are multiplied by them."""
    params = "batch=(), contracted=((1, 0),), order=(), spelling=''"
    before = parse_program(f"""
    program f[n.1: 2 to None like 99](x: f64[{n},{m}], w: f64[{m},{m}], d: f64[{m}]) {{
      v1: f64[{n},{m}] = contract(x, w; {params})
      v2: f64[{n},{m}] = multiply(x, d)
      y: f64[{n},{m}] = add(v1, v2)
      return y
    }}""")
    after = merge_diagonals(before)
    verify(after)
    assert (after is not before) == merged


def test_an_infinite_factor_stays_in_its_column() -> None:
    program = merge_diagonals(parse_program(columns("40,3", "3,3", "3", LEFT)))
    factors = np.array([1.0, np.inf, 2.0])
    (found,) = evaluate(program, normal(40, 3), normal(3, 3), factors)
    assert np.isfinite(found[:, [0, 2]]).all()
    assert not np.isfinite(found[:, 1]).any()


# --- merge_diagonals: sums of x * y ---------------------------------------------------------------


def diagonal(dims: str, axis: str, result: str, batch: str, contracted: str, product: str) -> str:
    return f"""program f(x: f64[{dims}], y: f64[{dims}]) {{
      v1: f64[{dims}] = multiply(y, x)
      v2: f64[{result}] = sum(v1; axis={axis}, keepdims=False)
      v3: f64[{product}] = contract(x, y; batch={batch}, contracted={contracted}, order=(), spelling='')
      return v2, v3
    }}"""  # noqa: E501


def test_sums_of_products_are_read_from_the_product() -> None:
    text = diagonal("40,3", "(0,)", "3", "()", "((0, 0),)", "3,3")
    assert changed(text, merge_diagonals, [normal(40, 3), normal(40, 3)]) == [
        "contract",
        "diagonal",
    ]
    text = diagonal("2,40,3", "(1,)", "2,3", "((0, 0),)", "((1, 1),)", "2,3,3")
    assert changed(text, merge_diagonals, [normal(2, 40, 3), normal(2, 40, 3)]) == [
        "contract",
        "diagonal",
    ]
    text = diagonal("5,40,3", "(0, 1)", "3", "()", "((1, 1), (0, 0))", "3,3")
    assert changed(text, merge_diagonals, [normal(5, 40, 3), normal(5, 40, 3)]) == [
        "contract",
        "diagonal",
    ]


@pytest.mark.parametrize("factors", ["n, x", "x, y", "n, n2"])
@pytest.mark.parametrize("terms", ["x, y", "n, x", "n, n2"])
@pytest.mark.parametrize("result", ["v2", "v4"])
def test_signs_of_sums_of_products(factors: str, terms: str, result: str) -> None:
    text = f"""program f(x: f64[40,3], y: f64[40,3]) {{
      n: f64[40,3] = negative(y)
      n2: f64[40,3] = negative(x)
      v1: f64[40,3] = multiply({factors})
      v2: f64[3] = sum(v1; axis=(0,), keepdims=False)
      v3: f64[3,3] = contract({terms}; batch=(), contracted=((0, 0),), order=(), spelling='')
      v4: f64[3] = negative(v2)
      return {result}, v3
    }}"""
    made = changed(text, _merged, [normal(40, 3), normal(40, 3)])
    assert "sum" not in made


def test_sums_over_other_axes_stay() -> None:
    text = diagonal("3,40", "(1,)", "3", "()", "((0, 0),)", "40,40")
    assert "diagonal" not in changed(text, merge_diagonals, [normal(3, 40), normal(3, 40)])
    text = diagonal("2,40,3", "(1,)", "2,3", "()", "((1, 1),)", "2,3,2,3")
    assert "diagonal" not in changed(text, merge_diagonals, [normal(2, 40, 3), normal(2, 40, 3)])


# --- smaller_factor_scaled ------------------------------------------------------------------------


def scaled(last: str, factor: str = "d", d: str = "f64[40,1]") -> str:
    return f"""program f(d: {d}, x: f64[40,3], lr: float) {{
      v1: {d} = multiply(d, -0.5)
      v2: f64[40,3] = multiply({factor}, x)
      y: f64[40,3] = {last}
      return y
    }}"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (scaled("multiply(2, v2)"), ["multiply", "multiply"]),
        (scaled("multiply(v2, 2.5)", "v1"), ["multiply", "multiply"]),
        (scaled("multiply(-2.0, v2)", "v1"), ["multiply"]),  # by 1
        (scaled("multiply(2.0, v2)", "v1"), ["negative", "multiply"]),  # by -1
        (scaled("negative(v2)"), ["negative", "multiply"]),
        (scaled("multiply(lr, v2)", "v1"), ["multiply", "multiply", "multiply"]),
        (scaled("multiply(lr, v2)", "2.0"), ["multiply", "multiply"]),
        (scaled("multiply(4.0, v2)", "2.0"), ["multiply"]),
        (scaled("negative(v2)", "lr"), ["negative", "multiply"]),
    ],
)
def test_numbers_go_to_the_smaller_factor(text: str, expected: list[str]) -> None:
    args = [normal(40, 1), normal(40, 3), 0.3]
    assert changed(text, smaller_factor_scaled, args) == expected
    sizes = [e.output.type.size for e in smaller_factor_scaled(parse_program(text)).equations]
    assert sizes.count(120) == 1


@pytest.mark.parametrize(
    "last", ["multiply(v2, v2)", "add(2, v2)", "multiply(d, v2)", "absolute(v2)"]
)
def test_what_is_no_scaling_stays(last: str) -> None:
    text = scaled(last)
    program = eliminate_dead_code(parse_program(text))
    assert smaller_factor_scaled(program) is program


def test_a_product_that_something_else_reads_stays() -> None:
    text = scaled("multiply(2, v2)").replace("return y", "return y, v2")
    program = eliminate_dead_code(parse_program(text))
    assert smaller_factor_scaled(program) is program


# --- repeated_factor ------------------------------------------------------------------------------

MATMUL = "batch=(), contracted=((1, 0),), order=(), spelling='matmul'"
TURNED = "batch=(), contracted=((1, 0),), order=(1, 0), spelling=''"


def repeated(source: str, params: str, other: str, result: str, is_left: bool = True) -> str:
    operands = "v1, y" if is_left else "y, v1"
    return f"""program f(x: {source}, y: {other}) {{
      v1: f64[4,5] = broadcast_to(x; shape=(4, 5))
      v2: {result} = contract({operands}; {params})
      return v2
    }}"""


NUMBER = ["sum", "multiply", "expand_dims", "broadcast_to"]


@pytest.mark.parametrize(
    ("text", "x", "y", "expected"),
    [
        (repeated("f64", MATMUL, "f64[5,3]", "f64[4,3]"), (), (5, 3), NUMBER),
        (repeated("f64", TURNED, "f64[5,3]", "f64[3,4]"), (), (5, 3), NUMBER),
        (repeated("f64", MATMUL, "f64[5]", "f64[4]"), (), (5,), [*NUMBER[:2], "broadcast_to"]),
        (repeated("f64", MATMUL, "f64[3,4]", "f64[3,5]", False), (), (3, 4), NUMBER),
        (  # the summed axis is repeated
            repeated("f64[4,1]", MATMUL, "f64[5,3]", "f64[4,3]"), (4, 1), (5, 3),
            ["reshape", "sum", "contract"],
        ),
        (
            repeated("f64[4,1]", MATMUL, "f64[3,4]", "f64[3,5]", False), (4, 1), (3, 4),
            ["reshape", "contract", "expand_dims", "broadcast_to"],
        ),
        (  # the axis that is left is
            repeated("f64[5]", MATMUL, "f64[5,3]", "f64[4,3]"), (5,), (5, 3),
            ["contract", "expand_dims", "broadcast_to"],
        ),
        (
            repeated("f64[1,5]", TURNED, "f64[5,3]", "f64[3,4]"), (1, 5), (5, 3),
            ["reshape", "contract", "expand_dims", "broadcast_to"],
        ),
    ],
)  # fmt: skip
def test_what_is_repeated_is_multiplied_once(
    text: str, x: tuple[int, ...], y: tuple[int, ...], expected: list[str]
) -> None:
    assert changed(text, repeated_factor, [RNG.normal(size=x), normal(*y)]) == expected


def test_integers_are_multiplied_as_they_are() -> None:
    text = repeated("i64", MATMUL, "i64[5,3]", "i64[4,3]").replace("f64[4,5]", "i64[4,5]")
    program = parse_program(text)
    assert repeated_factor(program) is program


def test_the_gradient_of_a_sum_of_a_product_has_no_product() -> None:
    def total(x, w):  # type: ignore[no-untyped-def]
        return np.mean(x @ w)

    x, w = normal(6, 4), normal(4, 3)
    gradient = st.grad(total, (0, 1))
    source = gradient.source(x, w)
    assert "dgemm" not in source and "matmul" not in source
    for wrt, found in enumerate(gradient(x, w)):
        check_gradient(total, (x, w), wrt, found)


# --- rows_summed_by_blas, push_sums ---------------------------------------------------------------


def summed(x: str, axis: str, total: str, keepdims: bool = False) -> str:
    return f"""program f(x: {x}) {{
      v1: {total} = sum(x; axis={axis}, keepdims={keepdims})
      return v1
    }}"""


def test_rows_are_summed_by_blas() -> None:
    text = summed("f64[100,8]", "(0,)", "f64[8]")
    assert changed(text, rows_summed_by_blas, [normal(100, 8)]) == ["full", "contract"]


@pytest.mark.parametrize(
    ("text", "x"),
    [
        (summed("f64[10,8]", "(0,)", "f64[8]"), normal(10, 8)),  # too small
        (summed("f64[100,8]", "(1,)", "f64[100]"), normal(100, 8)),
        (summed("f64[100,8]", "(0, 1)", "f64"), normal(100, 8)),
        (summed("f64[100,8]", "(0,)", "f64[1,8]", keepdims=True), normal(100, 8)),
        (summed("c128[100,8]", "(0,)", "c128[8]"), normal(100, 8) + 0j),
        (summed("i64[100,8]", "(0,)", "i64[8]"), np.arange(800).reshape(100, 8)),
        (summed("f64[10,10,8]", "(0,)", "f64[10,8]"), normal(10, 10, 8)),
    ],
)
def test_other_sums_stay(text: str, x: Any) -> None:
    assert changed(text, rows_summed_by_blas, [x]) == ["sum"]


def test_rows_of_all_steps_are_summed_at_once() -> None:
    text = """program f(x: f64[5,8]) {
      y: f64[5,8], hs: f64[30,5,8] = loop(x; carry=1, constants=0, length=30,
        body=program body(t: int, h: f64[5,8]) {
          v1: f64[5,8] = sin(h)
          return v1, v1
        })
      v3: f64[30,8] = sum(hs; axis=(1,), keepdims=False)
      v4: f64[8] = sum(v3; axis=(0,), keepdims=False)
      return v4
    }"""
    made = changed(text, rows_summed_by_blas, [normal(5, 8)])
    assert sorted(made) == ["contract", "full", "loop", "reshape"]
    again = text.replace("return v4\n    }", "return v4, v3\n    }")
    assert "sum" in changed(again, rows_summed_by_blas, [normal(5, 8)])


def test_an_axis_of_length_one_is_not_summed() -> None:
    text = """program f(x: f64[100,3], d: f64[1,3]) {
      v1: f64[100,3] = multiply(x, d)
      v2: f64[3] = sum(v1; axis=(0,), keepdims=False)
      return v2
    }"""
    assert changed(text, push_sums, [normal(100, 3), normal(1, 3)]) == [
        "sum",
        "reshape",
        "multiply",
    ]


# --- outer_product -------------------------------------------------------------------------------


@pytest.mark.parametrize("total", ["add(v1, b)", "subtract(b, v1)", "accumulate(b, v1; op='add')"])
@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_an_outer_product_that_is_added_is_one_of_vectors(total: str, a: int, b: int) -> None:
    x, y = [(1, 5), (5, 1)][a], [(1, 4), (4, 1)][b]
    text = f"""program f(x: f64[{x[0]},{x[1]}], y: f64[{y[0]},{y[1]}], b: f64[5,4]) {{
      v1: f64[5,4] = contract(x, y; batch=(), contracted=(({a}, {b}),), order=(), spelling='')
      v2: f64[5,4] = {total}
      return v2
    }}"""
    args = [normal(*x), normal(*y), normal(5, 4)]
    made = changed(text, outer_product, args)
    assert made == ["reshape", "reshape", "contract", total.split("(")[0]]
    once_more = text.replace("return v2", "return v2, v1")
    assert changed(once_more, outer_product, args).count("contract") == 0


def test_a_column_is_sliced_as_a_vector() -> None:
    text = """program f(x: f64[5,7], y: f64[1,4], b: f64[4]) {
      v1: f64[5,1] = slice(x; drop=(), length=(5, 1), start=((0,), (3,)), step=(1, 1))
      v2: f64[5,4] = contract(v1, y; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
      v3: f64[5,4] = add(v2, b)
      return v3
    }"""
    made = changed(text, outer_product, [normal(5, 7), normal(1, 4), normal(4)])
    assert made == ["slice", "reshape", "contract", "add"]


# --- share_states ---------------------------------------------------------------------------------


def states(outputs: str, types: str, reverse: bool = False, length: int = 6) -> str:
    return f"""program f(x: f64[3], w: f64[3]) {{
      {types} = loop(w, x; carry=1, constants=1, length={length}, reverse={reverse},
        body=program body(w: f64[3], t: int, h: f64[3]) {{
          v1: f64[3] = multiply(h, w)
          v2: f64[3] = sin(v1)
          return {outputs}
        }})
      return y, a, b
    }}"""


BOTH = "y: f64[3], a: f64[6,3], b: f64[6,3]"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("outputs", ["v2, h, v2", "v2, v2, h"])
def test_states_are_kept_once(outputs: str, reverse: bool) -> None:
    text = states(outputs, BOTH, reverse)
    made = changed(text, share_states, [normal(3), normal(3)])
    assert made == ["loop", "expand_dims", "concatenate", "slice"]


@pytest.mark.parametrize("outputs", ["v2, h, v1", "v2, v1, v2", "v1, h, v2"])
def test_other_values_of_the_steps_are_kept(outputs: str) -> None:
    text = states(outputs, BOTH)
    assert changed(text, share_states, [normal(3), normal(3)]) == ["loop"]


# --- all together ---------------------------------------------------------------------------------


def test_a_mixture_goes_through_its_samples_once() -> None:
    """Of the values of a Gaussian mixture that are as large as all samples of all components, the
    adjoint computes one."""
    samples, means, factors = normal(200, 3), normal(4, 3), normal(4, 3, 3) * 0.3

    def likelihood(means: Any, factors: Any, scales: Any) -> Any:
        centred = samples - means[:, None, :]
        q = centred @ factors.transpose(0, 2, 1) + centred * np.exp(scales)[:, None, :]
        t = -0.5 * np.sum(q * q, axis=2) + np.sum(scales, axis=1)[:, None]
        m = np.max(t, axis=0)
        return np.sum(m + np.log(np.sum(np.exp(t - m), axis=0)))

    scales = normal(4, 3) * 0.3
    args = means, factors, scales
    gradient = st.grad(likelihood, wrt=(0, 1, 2), level="fast")
    for position, found in enumerate(gradient(*args)):
        check_gradient(likelihood, args, position, found)
    adjoint = gradient.source(*args).split("# --- adjoint")[1]
    assert "np.equal(" not in adjoint
    large = [e for e in _equations(gradient, args) if e.output.type.size == 4 * 200 * 3]
    assert [e.primitive for e in large] == ["subtract", "contract", "multiply", "multiply"]


def _equations(gradient: Any, args: Any) -> list[Any]:
    text = str(st.show(gradient, *args, after="renumber", level="fast"))
    return [e for e in parse_program(text).equations if e.outputs]
