"""Products that BLAS adds to an array, on programs in text form."""

from __future__ import annotations

import pytest

from stcompile.plan.products import Product, contiguous_variables, find_products, is_blas
from stcompile.wengert.ir import Constant, Variable
from tests.plan.lists import Listed


def products(listed: Listed, *contiguous: str) -> dict[int, Product]:
    return find_products(listed.tree, listed.writes, {listed[own] for own in contiguous})


def matrices(equations: str, returned: str = "y", dtype: str = "f64") -> Listed:
    text = f"program f(acc: f[2,4], a: f[2,3], b: f[3,4], s: f) {{ {equations} return {returned} }}"
    return Listed(text.replace("f[", f"{dtype}[").replace("s: f)", f"s: {dtype})"))


PLAIN = "p: f[2,4] = contract(a, b; MATMUL) "
ALL = "drop=(), length=(2, 4), start=((0,), (0,)), step=(1, 1)"
SCALED = PLAIN + "q: f[2,4] = multiply(p, s) "


def test_a_sum_with_a_product() -> None:
    listed = matrices(PLAIN + "y: f[2,4] = add(acc, p)")
    ((at, product),) = products(listed, "a", "b").items()
    assert at == 2
    assert product.acc == listed["acc"]
    assert product.contract.output == listed["p"]
    assert product.scale is None and not product.is_negative
    assert product.fused == (listed["p"],)
    assert product.reads == (listed["acc"], listed["a"], listed["b"])


def test_a_scaled_product_is_subtracted() -> None:
    listed = matrices(SCALED + "y: f[2,4] = subtract(acc, q)")
    ((at, product),) = products(listed, "a", "b").items()
    assert at == 3
    assert product.scale == listed["s"] and product.is_negative
    assert product.fused == (listed["p"], listed["q"])


def test_the_number_may_stand_on_either_side() -> None:
    listed = matrices(PLAIN + "q: f[2,4] = multiply(0.5, p) y: f[2,4] = add(q, acc)")
    (product,) = products(listed, "a", "b").values()
    assert product.scale == Constant(0.5)
    assert product.acc == listed["acc"]


def test_an_accumulation_is_a_sum() -> None:
    listed = matrices(PLAIN + "y: f[2,4] = accumulate(acc, p; op='add')")
    assert list(products(listed, "a", "b")) == [2]


def test_of_two_products_the_second_is_added_to_the_first() -> None:
    """The first is computed in the array that the sum is then in."""
    for order in ("p, q", "q, p"):
        listed = matrices(
            PLAIN + f"q: f[2,4] = contract(a, b; MATMUL) y: f[2,4] = accumulate({order}; op='add')"
        )
        (product,) = products(listed, "a", "b").values()
        assert product.acc == listed[order[0]]
        assert product.contract.output == listed[order[-1]]


def test_two_vectors_are_a_matrix() -> None:
    listed = Listed(
        """
        program f(acc: f32[2,3], a: f32[2], b: f32[3]) {
          p: f32[2,3] = contract(a, b; OUTER)
          y: f32[2,3] = add(acc, p)
          return y
        }"""
    )
    assert list(products(listed, "a", "b")) == [2]
    assert list(products(listed)) == [2]  # BLAS copies vectors


@pytest.mark.parametrize(
    ("equations", "returned"),
    [
        (PLAIN + "y: f[2,4] = subtract(p, acc)", "y"),  # the product is not what is subtracted
        (PLAIN + "y: f[2,4] = multiply(acc, p)", "y"),
        (PLAIN + "y: f[2,4] = add(acc, p)", "y, p"),  # the caller wants the product as well
        (PLAIN + "y: f[2,4] = add(p, p)", "y"),
        (SCALED + "y: f[2,4] = add(acc, q) z: f[2,4] = add(q, y)", "z"),
        (PLAIN + "q: f[2,4] = multiply(p, acc) y: f[2,4] = add(acc, q)", "y"),  # no number
        (PLAIN + "y: f[2,4] = exp(p)", "y"),
        (PLAIN, "p"),
    ],
)
def test_not_added_by_blas(equations: str, returned: str) -> None:
    assert products(matrices(equations, returned), "a", "b") == {}


@pytest.mark.parametrize(
    ("inputs", "equations"),
    [
        ("acc: f64[2,4], s: i64", "q: f64[2,4] = multiply(p, s) y: f64[2,4] = add(acc, q)"),
        ("acc: f64[2,4], s: f64[2,4]", "q: f64[2,4] = multiply(p, s) y: f64[2,4] = add(acc, q)"),
        ("acc: c128[2,4]", "q: c128[2,4] = multiply(p, 2j) y: c128[2,4] = add(acc, q)"),
        ("acc: f64[2,4]", "y: f64[2,4] = accumulate(acc, p; op='slice', ALL)"),
        ("acc: f64[5,2,4]", "y: f64[5,2,4] = add(acc, p)"),  # the product is spread
        ("acc: f32[2,4]", "y: f64[2,4] = add(acc, p)"),  # converted
        ("acc: f64", "y: f64[2,4] = add(acc, p)"),
        ("acc: f64[]", "y: f64[2,4] = add(acc, p)"),
        ("acc: float", "y: f64[2,4] = add(acc, p)"),
    ],
)
def test_only_a_sum_of_arrays_of_one_dtype(inputs: str, equations: str) -> None:
    text = f"program f({inputs}, a: f64[2,3], b: f64[3,4]) {{ {PLAIN} {equations} return y }}"
    listed = Listed(text.replace("f[", "f64[").replace("ALL", ALL))
    assert products(listed, "a", "b") == {}


def test_a_float_of_less_precision_takes_no_factor_of_more() -> None:
    listed = Listed(
        """
        program f(acc: f64[2,4], a: f32[2,3], b: f32[3,4], s: f64) {
          p: f32[2,4] = contract(a, b; MATMUL)
          q: f64[2,4] = multiply(p, s)
          y: f64[2,4] = add(acc, q)
          return y
        }"""
    )
    assert products(listed, "a", "b") == {}


def test_only_where_the_sum_is_beside_the_product() -> None:
    listed = Listed(
        """
        program f(acc: f64[2,4], a: f64[2,3], b: f64[3,4]) {
          p: f64[2,4] = contract(a, b; MATMUL)
          y: f64[2,4] = loop(p, acc; carry=1, constants=1, length=20,
            body=program body(q: f64[2,4], t: int, state: f64[2,4]) {
              next: f64[2,4] = add(state, q)
              return next
            })
          return y
        }"""
    )
    assert products(listed, "a", "b") == {}


@pytest.mark.parametrize(
    ("x", "y", "out", "batch", "contracted", "expected"),
    [
        ("f64[2,3]", "f64[3,4]", "f64[2,4]", "()", "((1, 0),)", True),
        ("f64[2,3]", "f64[3]", "f64[2]", "()", "((1, 0),)", True),
        ("f64[2]", "f64[3]", "f64[2,3]", "()", "()", True),
        ("f64[3]", "f64[3]", "f64", "()", "((0, 0),)", False),
        ("f64[2,3]", "f64[2,3]", "f64", "()", "((0, 0), (1, 1))", False),
        ("f64[2,3]", "f64[4]", "f64[2,3,4]", "()", "()", False),
        ("f64[5,2,3]", "f64[3,4]", "f64[5,2,4]", "()", "((2, 0),)", False),
        ("f64[2,3]", "f64[2,3]", "f64[2]", "((0, 0),)", "((1, 1),)", False),
        ("f64[2,3]", "f32[3,4]", "f64[2,4]", "()", "((1, 0),)", False),
        ("i64[2,3]", "i64[3,4]", "i64[2,4]", "()", "((1, 0),)", False),
        ("f64[0,3]", "f64[3,4]", "f64[0,4]", "()", "((1, 0),)", False),
        ("f64[2,3]", "f64[3,0]", "f64[2,0]", "()", "((1, 0),)", False),
    ],
)
def test_what_blas_computes(
    x: str, y: str, out: str, batch: str, contracted: str, expected: bool
) -> None:
    params = f"batch={batch}, contracted={contracted}, order=(), spelling=''"
    listed = Listed(
        f"program f(x: {x}, y: {y}) {{ out: {out} = contract(x, y; {params}) return out }}"
    )
    (step,) = listed.tree.steps
    assert is_blas(step.equation) == expected


# --- factors -------------------------------------------------------------------------------------


def test_operands_have_to_be_contiguous_for_sure() -> None:
    listed = matrices(PLAIN + "y: f[2,4] = add(acc, p)")
    assert products(listed, "a") == products(listed, "b") == products(listed) == {}


@pytest.mark.parametrize(("dtype", "count"), [("f32", 1), ("f64", 1), ("i64", 0), ("c128", 0)])
def test_blas_has_two_dtypes(dtype: str, count: int) -> None:
    listed = matrices(PLAIN + "y: f[2,4] = add(acc, p)", dtype=dtype)
    assert len(products(listed, "a", "b")) == count


def test_a_matrix_and_a_vector() -> None:
    listed = Listed(
        """
        program f(acc: f64[2], a: f64[2,3], b: f64[3]) {
          p: f64[2] = contract(a, b; MATMUL)
          y: f64[2] = add(acc, p)
          return y
        }"""
    )
    assert list(products(listed, "a", "b")) == [2]


def test_two_vectors_to_a_number_are_left() -> None:
    listed = Listed(
        """
        program f(acc: f64, a: f64[3], b: f64[3]) {
          p: f64 = contract(a, b; COLUMNS)
          y: f64 = add(acc, p)
          return y
        }"""
    )
    assert products(listed, "a", "b") == {}


def test_what_a_product_is_added_to_may_be_spread() -> None:
    listed = Listed(
        """
        program f(acc: f64[4], a: f64[2,3], b: f64[3,4]) {
          p: f64[2,4] = contract(a, b; MATMUL)
          y: f64[2,4] = add(p, acc)
          return y
        }"""
    )
    ((at, product),) = products(listed, "a", "b").items()
    assert (at, product.acc) == (2, listed["acc"])


def test_an_operand_is_not_the_array_that_is_written() -> None:
    listed = Listed(
        """
        program f(acc: f64[3,3], b: f64[3,3]) {
          turned: f64[3,3] = transpose(acc; axes=(1, 0))
          p: f64[3,3] = contract(turned, b; MATMUL)
          y: f64[3,3] = add(acc, p)
          return y
        }"""
    )
    assert products(listed, "turned", "b") == {}


def test_a_factor_is_not_changed_before_the_sum() -> None:
    """The product would be made where it is added: too late for the old factor."""
    text = """
        program f(acc: f64[2,4], x: f64[2,3], b: f64[3,4]) {
          a: f64[2,3] = sin(x)
          p: f64[2,4] = contract(a, b; MATMUL)
          CHANGE
          y: f64[2,4] = add(acc, p)
          return y, c
        }"""
    changed = Listed(text.replace("CHANGE", "c: f64[2,3] = accumulate(a, x; op='add')"))
    assert changed.writes.inplace[3]
    assert products(changed, "a", "b") == {}
    read = Listed(text.replace("CHANGE", "c: f64[2,3] = add(a, x)"))
    assert list(products(read, "a", "b")) == [4]
    other = "d: f64[2,3] = cos(x) c: f64[2,3] = accumulate(d, x; op='add')"
    apart = Listed(text.replace("CHANGE", other))
    assert apart.writes.inplace[4]
    assert list(products(apart, "a", "b")) == [5]
    early = "sin(x) c: f64[2,3] = accumulate(a, x; op='add')"
    text = text.replace("CHANGE", "").replace("sin(x)", early)
    before = Listed(text.replace("contract(a, b", "contract(c, b"))
    assert before.writes.inplace[2]
    assert list(products(before, "c", "b")) == [4]


# --- what is contiguous --------------------------------------------------------------------------


def test_contiguous_variables() -> None:
    listed = Listed(
        """
        program f(x: f64[4,3], given: f64[4,3]) {
          rows: f64[2,3] = slice(given; ROWS_1_3)
          column: f64[4,1] = slice(given; COLUMN_0)
          flat: f64[12] = reshape(given; shape=(12,))
          turned: f64[3,4] = transpose(given; axes=(1, 0))
          of_another: f64[2,3] = slice(x; ROWS_0_2)
          made: f64[4,3] = sin(x)
          rows_of_made: f64[2,3] = slice(made; ROWS_0_2)
          every_second: f64[2,3] = slice(made;
            drop=(), length=(2, 3), start=((0,), (0,)), step=(2, 1))
          every_second_column: f64[4,2] = slice(given;
            drop=(), length=(4, 2), start=((0,), (0,)), step=(1, 2))
          last_columns: f64[4,2] = slice(given;
            drop=(), length=(4, 2), start=((0,), (1,)), step=(1, 1))
          turned_rows: f64[4,3] = slice(given;
            drop=(), length=(4, 3), start=((0,), (2,)), step=(1, -1))
          row: f64[3] = slice(given; drop=(0,), length=(1, 3), start=((2,), (0,)), step=(1, 1))
          same: f64[4,3] = asarray(given; dtype=f64)
          allocated: f64[4,3] = cos(x)
          return allocated
        }"""
    )
    computed: set[Variable] = {listed["made"]}
    found = contiguous_variables(listed.tree, {listed["given"]}, computed)
    assert listed.names(found) == "given rows flat made rows_of_made row"


def test_what_loops_give_is_contiguous() -> None:
    listed = Listed(
        """
        program f(x: f64[20,4,3], first: f64[4,3]) {
          last: f64[4,3], all_: f64[20,4,3] = loop(first, x; carry=1, constants=0, length=20,
            body=program body(t: int, state: f64[4,3], item: f64[4,3]) {
              top: f64[1,3] = slice(item, t; ROW_T)
              next: f64[4,3] = cumprod(state; axis=0)
              return next, next
            })
          return last, all_
        }""".replace("ROW_T", "drop=(), length=(1, 3), start=((0, 1), (0,)), step=(1, 1)")
    )
    found = contiguous_variables(listed.tree, set(), set())
    assert listed.names(found) == "state item top last all_"


BRANCH = """
program f(given: f64[4,3], other: f64[3,4], b: bool) {
  y: f64[4,3], z: f64[4,3] = cond(b, given, other;
    then=program then(given: f64[4,3], other: f64[3,4]) {
    turned: f64[4,3] = transpose(other; axes=(1, 0))
    made: f64[4,3] = sin(given)
    return made, turned
  }, otherwise=program otherwise(given: f64[4,3], other: f64[3,4]) {
    same: f64[4,3] = cos(given)
    return given, same
  })
  rows: f64[2,3] = slice(y; drop=(), length=(2, 3), start=((0,), (0,)), step=(1, 1))
  return rows, z
}"""


def test_what_is_contiguous_in_both_arms_is_so_behind_them() -> None:
    listed = Listed(BRANCH)
    computed: set[Variable] = {listed["made"], listed["same"]}
    found = contiguous_variables(listed.tree, {listed["given"]}, computed)
    assert listed.names(found) == "given made same y rows"
