"""Which library computes the products of a program: never both, where they take threads."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.base.thresholds import LONGER_SIDE, THIN_SIDE
from stcompile.plan.libraries import is_thin, suits_scipy
from tests.plan.lists import Listed

SIDE = 64  # such a matrix, and a product of two, takes several threads


def suits(parameters: str, equation: str, *contiguous: str) -> bool:
    listed = Listed(f"program f({parameters}) {{ {equation} return x }}")
    return suits_scipy(listed.tree, {listed[own] for own in contiguous})


@pytest.mark.parametrize(
    ("side", "equation", "expected"),
    [
        (SIDE, "y: f64[N,N] = inv(x)", False),
        (SIDE - 1, "y: f64[N,N] = inv(x)", True),  # in one thread
        (SIDE, "y: f64[N] = eigvalsh(x)", False),
        (SIDE, "y: f64[N,N] = linalg.expm(x)", True),  # SciPy's own
        (SIDE, "y: f64[N,N] = exp(x)", True),
    ],
)
def test_linear_algebra_stays_where_it_is(side: int, equation: str, expected: bool) -> None:
    assert suits(f"x: f64[{side},{side}]", equation.replace("N", str(side))) is expected


MATMUL = "contract(x, y; MATMUL)"
PARTS = "contract(x, y; batch=((0, 0),), contracted=((2, 1),), order=(), spelling='matmul')"


@pytest.mark.parametrize(
    ("x", "y", "out", "equation", "contiguous", "expected"),
    [
        ("64,64", "64,64", "64,64", MATMUL, "xy", True),
        ("64,64", "64,64", "64,64", MATMUL, "x", False),  # BLAS would copy the other
        ("63,64", "64,64", "63,64", MATMUL, "x", True),  # in one thread
        ("999", "999", "999,999", "contract(x, y; OUTER)", "", True),  # in no library
        ("3,64,64", "3,64,64", "3,64,64", PARTS, "xy", False),
        ("60,40,40", "60,40,40", "60,40,40", PARTS, "xy", True),  # each part in one thread
        ("0,64", "64,64", "0,64", MATMUL, "", True),
    ],
)
def test_products_that_only_numpy_computes(
    x: str, y: str, out: str, equation: str, contiguous: str, expected: bool
) -> None:
    given = f"x: f64[{x}], y: f64[{y}]"
    assert suits(given, f"p: f64[{out}] = {equation}", *contiguous) is expected


def test_integers_are_multiplied_by_no_library() -> None:
    given = "x: i64[99,99], y: i64[99,99]"
    assert suits(given, "p: i64[99,99] = contract(x, y; MATMUL)")


def bordered(d, x):  # type: ignore[no-untyped-def]
    return np.sum(np.linalg.solve(np.diag(d) + np.outer(x, x), x))


@pytest.mark.parametrize("n", [8, 100])
def test_the_gradient_of_a_solution(n: int) -> None:
    pytest.importorskip("scipy")
    rng = np.random.default_rng(0)
    d, x = rng.uniform(2, 3, n), rng.normal(size=n)
    source = st.grad(bordered, (0, 1)).source(d, x)
    assert ("dger" in source) is (n < SIDE)
    found = st.grad(bordered, (0, 1))(d, x)
    expected = st.grad(bordered, (0, 1), level="readable")(d, x)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


# --- programs that NumPy's own BLAS is quicker with ----------------------------------------------


def thin(*shapes: tuple[int, int, int]) -> bool:
    """Products of ``n × k`` and ``k × m`` matrices."""
    inputs, equations = [], []
    for at, (n, k, m) in enumerate(shapes):
        inputs.append(f"x{at}: f64[{n},{k}], y{at}: f64[{k},{m}]")
        equations.append(f"p{at}: f64[{n},{m}] = contract(x{at}, y{at}; MATMUL)")
    text = f"program f({', '.join(inputs)}) {{ {' '.join(equations)} return x0 }}"
    return is_thin(Listed(text).tree)


def test_thin_factors() -> None:
    assert thin((THIN_SIDE - 1, THIN_SIDE - 1, LONGER_SIDE * THIN_SIDE))
    assert not thin((THIN_SIDE, THIN_SIDE, 2 * LONGER_SIDE * THIN_SIDE))  # not thin
    assert thin((2, 8, 2 * LONGER_SIDE + 1))
    assert not thin((2, 8, 2 * LONGER_SIDE))  # not long
    assert not thin((1, 8, 2 * LONGER_SIDE + 1))  # a vector


def test_most_of_the_work_counts() -> None:
    few = (2, 8, 1000)
    assert thin(few, (20, 20, 39))
    assert not thin(few, (20, 20, 40))  # half of it
    assert not thin(few, (20, 20, 41))


def test_other_work_does_not_count() -> None:
    listed = Listed("program f(x: f64[4,3]) { y: f64[4,3] = sin(x) return y }")
    assert not is_thin(listed.tree)
