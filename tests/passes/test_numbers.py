"""What passes take a number for: 1 is not 1j, 0.0 is not -0.0, and a NumPy integer wraps around.

Every number stands as a factor, a term and a divisor where the passes look for 0, 1, -1 and
products of numbers; the gradient at the fast level is that of the readable one, and the values are
NumPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.general.rebuild import in_adjoint
from stcompile.passes.general.share_equations import share_equations
from stcompile.passes.phases import simplify
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import parse_program
from tests.passes.rules import smaller_factor_scaled
from tests.programs import assert_like, assert_same, check_gradient

NUMBERS: list[Any] = [
    1, -1, 0, 2, True, 1.0, -1.0, 0.0, -0.0, 0.5, np.inf, -np.inf, np.nan, 1e300, 1e-300,
    1j, -1j, 1 + 0j, -1 + 0j, 0.6 + 0.8j, np.float32(-1), np.float32(3e38), np.int8(100),
    np.uint8(200), np.uint8(1), np.True_, np.complex64(1j), np.float16(2),
]  # fmt: skip
X = np.array([0.3, 0.7, -0.4])
ROWS = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


def factor(number: Any) -> Any:
    return lambda x: np.sum(number * (x * np.exp(ROWS * 0.1)) * number)


def of_exponential(number: Any) -> Any:
    return lambda x: np.sum(np.exp(0.1 * number * x) * number)


def divisor(number: Any) -> Any:
    return lambda x: np.sum((ROWS * x / (number * x)) / number)


def term(number: Any) -> Any:
    return lambda x: np.sum((number - x) * (x + number) - number)


def column(number: Any) -> Any:
    return lambda x: np.sum(
        -(number * (x[:, None] * np.ones((3, 50)))) * (ROWS[0][:, None] * number)
    )


def subtracted_product(number: Any) -> Any:
    return lambda x: np.sum((ROWS.T - number * (ROWS.T @ (ROWS * x))[:, :1]) * x[:, None])


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize(
    "made", [factor, of_exponential, divisor, term, column, subtracted_product]
)
def test_levels_agree(made: Any, number: Any) -> None:
    if made is divisor and number is NUMBERS[2]:
        pytest.skip("Python's integers are not divided by 0")
    plain = made(number)

    def function(x: Any) -> Any:
        total = plain(x)
        return total.real + 0.5 * total.imag if np.iscomplexobj(total) else total

    with np.errstate(all="ignore"):
        expected = function(X)
        found = {
            level: st.value_and_grad(function, level=level)(X) for level in ("readable", "fast")
        }
        assert_same(found["readable"][0], expected, "the value")
        if not (np.isfinite(expected) and np.all(np.isfinite(found["readable"][1]))):
            return  # infinities may meet in another order
        assert_like(found["fast"][0], expected, "the value at the fast level")
        assert_like(found["fast"][1], found["readable"][1], "the gradient at the fast level")
        if abs(expected) < 1e6:
            check_gradient(function, (X,), 0, found["fast"][1])


BEFORE = """
program f(d: {dtype}[4], x: {dtype}[4,50]) {{
  v1: {dtype}[4] = multiply(d, {inner})
  v2: {dtype}[4,1] = expand_dims(v1; axis=(1,))
  v3: {dtype}[4,50] = multiply(v2, x)
  v4: {dtype}[4,50] = multiply({outer}, v3)
  return v4
}}"""


@pytest.mark.parametrize(
    ("dtype", "outer", "inner"),
    [
        ("c128", "1j", "-1.0"),
        ("c128", "-1j", "1j"),
        ("f64", "1e200", "1e200"),
        ("f64", "1e-200", "1e-200"),
        ("f32", "1e+30", "1e+30"),
        ("f64", "2", "-0.5"),
        ("f64", "0.0", "-1.0"),
        ("f64", "nan", "2.0"),
    ],
)
def test_products_of_numbers(dtype: str, outer: str, inner: str) -> None:
    """As evaluated, where a product of the two numbers would be lost as well."""
    program = parse_program(BEFORE.format(dtype=dtype, outer=outer, inner=inner))
    d = np.array([1e-150, 1.0, 1e-30, 2.0]).astype({"c": complex, "f": float}[dtype[0]])
    given = [d.astype(program.inputs[0].type.dtype), np.ones((4, 50), program.inputs[1].type.dtype)]
    with np.errstate(all="ignore"):
        (expected,) = evaluate(program, *given)
        (found,) = evaluate(smaller_factor_scaled(program), *given)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_constants_of_zeros_with_signs_are_not_shared() -> None:
    program = parse_program("""
program f() {
  v1: f64[2] = constant(; dtype=f64, shape=(2,), values=(0.0, 1.0))
  v2: f64[2] = constant(; dtype=f64, shape=(2,), values=(-0.0, 1.0))
  v3: f64[2] = constant(; dtype=f64, shape=(2,), values=(0.0, 1.0))
  return v1, v2, v3
}""")
    assert str(share_equations(program).outputs) == "(v1: f64[2], v2: f64[2], v1: f64[2])"

    def function(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            return x / np.array([0.0, 1.0]), x / np.array([-0.0, 1.0])

    for level in ("readable", "fast"):
        assert_same(st.compile(function, level=level)(X[:2]), function(X[:2]), "the quotients")


def test_the_sign_of_padding_zeros_is_kept() -> None:
    def function(x: Any) -> Any:
        return np.copysign(1.0, np.pad(x, 1, constant_values=-0.0))

    assert_same(st.compile(function, level="readable")(X), function(X), "the padded array")


@pytest.mark.parametrize("dtype", ["u8", "i8", "i64", "f32"])
def test_signs_of_integers_stay_where_they_are(dtype: str) -> None:
    program = in_adjoint(
        parse_program(f"""
program f(n: {dtype}[3], d: f64[3]) {{
  v1: {dtype}[3] = negative(n)
  v2: f64[3] = multiply(v1, d)
  return v2
}}""")
    )
    given = np.array([1, 100, 5]).astype(program.inputs[0].type.dtype), np.array([0.5, 2.0, -1.0])
    (expected,) = evaluate(program, *given)
    (found,) = evaluate(simplify(program), *given)
    assert_same(found, expected, "the product")


def test_a_numpy_integer_that_scales_what_is_subtracted() -> None:
    """Its negative would wrap around, as the factor that BLAS takes."""
    w, v = np.linspace(-1, 1, 16).reshape(4, 4), np.linspace(0.5, 1.5, 16).reshape(4, 4)

    def function(x: Any, n: Any) -> Any:
        return x - n * (x @ w), x * 2 - np.uint8(3) * (x @ v)

    compiled = st.compile(function)
    assert_like(compiled(v, np.uint8(3)), function(v, np.uint8(3)), "the differences")


def test_a_number_that_is_spread_and_scaled() -> None:
    """The product of the two numbers would be infinite."""
    program = parse_program("""
program f(x: f64[4,50]) {
  v1: f64[4,1] = broadcast_to(1e+200; shape=(4, 1))
  v2: f64[4,50] = multiply(v1, x)
  v3: f64[4,50] = multiply(1e+200, v2)
  return v3
}""")
    (found,) = evaluate(smaller_factor_scaled(program), np.full((4, 50), 1e-150))
    np.testing.assert_allclose(found, 1e250)


def test_a_real_array_that_a_number_made_complex() -> None:
    program = parse_program("""
program f(d: f64[4], x: c128[4,50]) {
  v1: c128[4] = multiply(1j, d)
  v2: c128[4,1] = expand_dims(v1; axis=(1,))
  v3: c128[4,50] = multiply(v2, x)
  v4: c128[4,50] = multiply(1j, v3)
  return v4
}""")
    given = np.arange(4.0), np.full((4, 50), 2.0 - 1j)
    (expected,), (found,) = (evaluate(p, *given) for p in (program, smaller_factor_scaled(program)))
    np.testing.assert_allclose(found, expected)
