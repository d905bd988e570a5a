"""Products that BLAS adds to an array, on programs in text form."""

from __future__ import annotations

import pytest

from stcompile.plan.products import Product, contiguous_variables, find_products
from stcompile.wengert.ir import Constant, Variable
from tests.plan.lists import Listed


def products(listed: Listed, *contiguous: str) -> dict[int, Product]:
    return find_products(
        listed.tree, listed.writes, listed.uses, {listed[own] for own in contiguous}
    )


def matrices(equations: str, returned: str = "y", dtype: str = "f64") -> Listed:
    text = f"program f(acc: f[2,4], a: f[2,3], b: f[3,4], s: f) {{ {equations} return {returned} }}"
    return Listed(text.replace("f[", f"{dtype}[").replace("s: f)", f"s: {dtype})"))


PLAIN = "p: f[2,4] = contract(a, b; MATMUL) "
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


@pytest.mark.parametrize(
    ("equations", "returned"),
    [
        (PLAIN + "y: f[2,4] = subtract(p, acc)", "y"),  # the product is not what is subtracted
        (PLAIN + "y: f[2,4] = multiply(acc, p)", "y"),
        (PLAIN + "y: f[2,4] = add(acc, p)", "y, p"),  # the caller wants the product as well
        (PLAIN + "y: f[2,4] = add(p, p)", "y"),
        (SCALED + "y: f[2,4] = add(acc, q) z: f[2,4] = add(q, y)", "z"),
        (PLAIN + "q: f[2,4] = multiply(p, acc) y: f[2,4] = add(acc, q)", "y"),  # no number
        (PLAIN, "p"),
    ],
)
def test_not_added_by_blas(equations: str, returned: str) -> None:
    assert products(matrices(equations, returned), "a", "b") == {}


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
          allocated: f64[4,3] = cos(x)
          return allocated
        }"""
    )
    computed: set[Variable] = {listed["made"]}
    found = contiguous_variables(listed.tree, {listed["given"]}, computed)
    assert {v.name for v in found} == {"given", "rows", "flat", "made", "rows_of_made"}
