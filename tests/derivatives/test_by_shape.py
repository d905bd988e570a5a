"""Derivatives by shapes and orders: against reference values, between them, and where functions
have none.

The references are central differences of order 4, with a step of 1e-12, of the functions of mpmath
1.4.1 in 60 digits: `gammainc` and `betainc` (regularized; of the tail that is given), `besselj`,
`bessely`, `besseli`, `besselk`, `zeta`, and for `stdtr` half of the `betainc` of df / 2, 1 / 2
from 0 to df / (df + t t).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

special = pytest.importorskip("scipy.special")

import stcompile as st  # noqa: E402
from stcompile.codegen_templates.derivatives import DERIVATIVES  # noqa: E402
from tests.derivatives.numeric import check_rule  # noqa: E402

REFERENCES: tuple[tuple[str, tuple[float, ...], int, float], ...] = (
    ("gammainc", (0.01, 1e-08), 0, -14.939901911588276),
    ("gammainc", (0.5, 0.3), 0, -0.7705703513753519),
    ("gammainc", (0.5, 0.6), 0, -0.5873143887760247),
    ("gammainc", (2.0, 1.5), 0, -0.3134886378250793),
    ("gammainc", (10.0, 0.7), 0, -1.1201942167684373e-08),
    ("gammainc", (100.0, 90.0), 0, -0.02461191684397991),
    ("gammainc", (10000.0, 9800.0), 0, -0.0005308191313024515),
    ("gammainc", (1000000.0, 999000.0), 0, -0.00024201106639974455),
    ("gammaincc", (0.5, 3.0), 0, 0.04724032644797375),
    ("gammaincc", (2.0, 1.5), 0, 0.3134886378250793),
    ("gammaincc", (0.3, 0.4), 0, 0.757078143514981),
    ("gammaincc", (10.0, 60.0), 0, 5.308677545135539e-16),
    ("gammaincc", (100.0, 130.0), 0, 0.00081013002856229),
    ("gammaincc", (10000.0, 10200.0), 0, 0.00054881723498989),
    ("betainc", (0.01, 0.5, 1e-05), 0, -11.311700480285133),
    ("betainc", (0.5, 0.5, 0.3), 0, -0.6428114811572838),
    ("betainc", (1.5, 2.5, 0.25), 0, -0.301551334800281),
    ("betainc", (40.0, 3.0, 0.5), 0, -1.3281011234225628e-10),
    ("betainc", (1000.0, 1000.0, 0.48), 0, -0.0018360790569215042),
    ("betainc", (0.01, 0.5, 1e-05), 1, 0.04265717900615008),
    ("betainc", (0.5, 0.5, 0.3), 1, 0.46874458391550544),
    ("betainc", (1.5, 2.5, 0.25), 1, 0.1321181112724633),
    ("betainc", (40.0, 3.0, 0.5), 1, 4.436727056903728e-10),
    ("betainc", (1000.0, 1000.0, 0.48), 1, 0.001764063004894656),
    ("betaincc", (0.5, 0.5, 0.9), 0, 0.2768155243583512),
    ("betaincc", (1.5, 2.5, 0.75), 0, 0.05899013456077874),
    ("betaincc", (3.0, 40.0, 0.5), 0, 4.436727056903728e-10),
    ("betaincc", (2.0, 0.01, 0.99), 0, 0.006105380278792576),
    ("betaincc", (0.5, 0.5, 0.9), 1, -0.5926200221433794),
    ("betaincc", (1.5, 2.5, 0.75), 1, -0.07183096170786764),
    ("betaincc", (3.0, 40.0, 0.5), 1, -1.3281011234225628e-10),
    ("betaincc", (2.0, 0.01, 0.99), 1, -3.4959999683357195),
    ("stdtr", (0.1, -0.1), 0, -0.06599234021383588),
    ("stdtr", (1.0, -2.0), 0, -0.09683194233054404),
    ("stdtr", (3.5, -0.3), 0, -0.0022801566848275603),
    ("stdtr", (30.0, -1.5), 0, -0.00017296409189266232),
    ("stdtr", (1000.0, -0.01), 0, -9.971557296979582e-10),
    ("stdtr", (10000.0, -3.0), 0, -3.3282403426193825e-10),
    ("jv", (0.0, 0.7), 0, -0.2994957706517888),
    ("jv", (0.5, 1e-06), 0, -0.011605348794401072),
    ("jv", (1.0, 2.0), 0, -0.0561807607418131),
    ("jv", (2.5, 30.0), 0, 0.05491672317875967),
    ("jv", (10.0, 10.0), 0, -0.09126711713464336),
    ("jv", (30.0, 4.0), 0, -9.676690909936904e-24),
    ("jv", (-0.5, 1.5), 0, 1.2068377189581847),
    ("jv", (-2.0, 0.8), 0, -7.27156759006375),
    ("jv", (0.3, 300.0), 0, -0.02080272423240952),
    ("yv", (0.0, 0.7), 0, -1.3841871189929111),
    ("yv", (0.5, 1e-06), 0, -10009.582179419836),
    ("yv", (1.0, 2.0), 0, -0.650729373271117),
    ("yv", (2.5, 30.0), 0, -0.20997620105239614),
    ("yv", (10.0, 10.0), 0, -0.14849512576976434),
    ("yv", (30.0, 4.0), 0, -8.085873885890881e21),
    ("yv", (-0.5, 1.5), 0, -0.13732276412006286),
    ("yv", (-2.0, 0.8), 0, 2.597523302818134),
    ("yv", (0.3, 300.0), 0, 0.06925723981419464),
    ("iv", (0.0, 0.7), 0, -0.6605198599151016),
    ("iv", (0.5, 1e-06), 0, -0.011605348794405118),
    ("iv", (1.0, 2.0), 0, -0.9999267693515113),
    ("iv", (2.5, 30.0), 0, -59532482079.07297),
    ("iv", (10.0, 10.0), 0, -19.859512071613164),
    ("iv", (30.0, 4.0), 0, -1.2564090119357708e-23),
    ("iv", (-0.5, 1.5), 0, 0.702955321657554),
    ("iv", (-2.0, 0.8), 0, -5.28299831886288),
    ("iv", (0.3, 300.0), 0, -4.482659869837879e125),
    ("kv", (0.5, 1e-06), 0, 15723.029212439336),
    ("kv", (1.0, 2.0), 0, 0.05694693637476672),
    ("kv", (2.5, 30.0), 0, 1.9349969240290513e-15),
    ("kv", (10.0, 10.0), 0, 0.0013837184243435852),
    ("kv", (30.0, 4.0), 0, 9.67329967422861e21),
    ("kv", (-0.5, 1.5), 0, -0.05984290451937731),
    ("kv", (-2.0, 0.8), 0, -3.921163790136374),
    ("kv", (0.3, 300.0), 0, 3.718067115781706e-135),
    ("ive", (1.0, 2.0), 0, -0.13532537254605786),
    ("ive", (2.5, 1000.0), 0, -3.146034019678295e-05),
    ("ive", (-0.5, 1.5), 0, 0.15685053349864103),
    ("kve", (1.0, 2.0), 0, 0.4207841075353857),
    ("kve", (2.5, 1000.0), 0, 9.933098940522454e-05),
    ("kve", (-0.5, 1.5), 0, -0.26819729112177765),
    ("kve", (100.0, 3.0), 0, 9.453363168858088e139),
    ("zeta", (1.01, 1.0), 0, -9999.927281160435),
    ("zeta", (2.0, 0.3), 0, 12.34193068888522),
    ("zeta", (5.0, 100.0), 0, -1.2370019342410068e-08),
)


@pytest.mark.parametrize(("name", "args", "at", "expected"), REFERENCES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_references(name: str, args: tuple[float, ...], at: int, expected: float) -> None:
    found = DERIVATIVES[f"special.{name}"](getattr(special, name)(*args), *args)[at]
    assert found == pytest.approx(expected, rel=1e-10, abs=0)


X, ROW = np.array([0.2, 0.45, 0.8]), np.array([0.7, 2.3, 11.0])
GRIDS: dict[str, tuple[Any, ...]] = {  # shapes in a column, the argument in a row
    "gammaincc_by_a": (np.array([[0.4], [1.3], [7.0]]), ROW),
    "betaincc_by_a": (np.array([[0.4], [1.3], [7.0]]), 2.5, X),
    "betainc_by_b": (0.6, np.array([[0.4], [1.3], [7.0]]), X),
    "stdtr_by_df": (np.array([[0.4], [1.3], [70.0]]), np.array([-3.0, -0.6, 1.2])),
    **{f"{name}_by_v": (np.array([[-1.3], [0.0], [0.5], [6.0]]), ROW) for name in ("jv", "yv")},
    **{f"{name}_by_v": (np.array([[-1.3], [0.5], [6.0]]), ROW) for name in ("iv", "ive", "kv")},
    "zeta_by_x": (np.array([[1.3], [2.0], [6.0]]), ROW),
    "kve_by_v": (np.array([[-1.3], [0.5], [6.0]]), ROW),
}
SHAPE = {"betainc_by_b": 1}


def test_every_one_is_tried() -> None:
    assert {f"special.{name}" for name in GRIDS} == {n for n in DERIVATIVES if "_by_" in n}


@pytest.mark.parametrize("name", GRIDS)
def test_is_the_slope(name: str) -> None:
    """By central differences of SciPy's function, on a grid of shapes and arguments."""
    own, at = name.split("_by_")[0], SHAPE.get(name, 0)

    def moved(step: float) -> Any:
        args = list(GRIDS[name])
        args[at] = args[at] + step
        return getattr(special, own)(*args)

    expected = (8 * (moved(1e-3) - moved(-1e-3)) - moved(2e-3) + moved(-2e-3)) / 12e-3
    args = list(map(np.array, GRIDS[name]))
    factor = -1 if name == "betaincc_by_a" and own == "betainc" else 1
    rule = DERIVATIVES[f"special.{own}"]
    found = factor * rule(getattr(special, own)(*args), *args)[at]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", GRIDS)
def test_mixed_derivative(name: str) -> None:
    """Its own rule, by the argument; the shapes are numbers, which are not moved."""
    *shapes, x = GRIDS[name]
    for place in np.ndindex(np.shape(np.broadcast_arrays(*shapes)[0])):
        numbers = [
            float(np.broadcast_to(s, np.broadcast_shapes(*map(np.shape, shapes)))[place])
            for s in shapes
        ]
        check_rule(f"special.{name}", (*numbers, x), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "args", "at", "expected"),
    [
        ("gammainc", (2.0, 0.0), 0, 0.0),
        ("gammainc", (2.0, np.inf), 0, 0.0),
        ("gammainc", (-1.0, 2.0), 0, np.nan),
        ("betainc", (2.0, 3.0, 0.0), 0, 0.0),
        ("betainc", (2.0, 3.0, 1.0), 1, 0.0),
        ("betainc", (2.0, -3.0, 0.5), 0, np.nan),
        ("stdtr", (3.0, 0.0), 0, 0.0),
        ("stdtr", (3.0, np.inf), 0, 0.0),
        ("jv", (1.5, 0.0), 0, 0.0),
        ("jv", (2.0, -1.0), 0, np.nan),
        ("iv", (1.5, 0.0), 0, 0.0),
        ("yv", (1.5, 0.0), 0, np.nan),
        ("kv", (1.5, -1.0), 0, np.nan),
        ("kv", (0.0, 2.0), 0, 0.0),
        ("jv", (np.nan, 2.0), 0, np.nan),
    ],
)
def test_edges(name: str, args: tuple[float, ...], at: int, expected: float) -> None:
    with np.errstate(all="ignore"):
        found = DERIVATIVES[f"special.{name}"](getattr(special, name)(*args), *args)[at]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_integer_orders(n: int) -> None:
    """The sums of DLMF 10.15.3 and 10.38.5 for the orders 0, 1, 2, 3."""
    x = np.array([0.3, 2.0, 9.0])
    rows = [
        special.factorial(n) * (x / 2) ** (k - n) / (2 * special.factorial(k) * (n - k))
        for k in range(n)
    ]
    of_j = np.pi / 2 * special.yn(n, x) + sum(row * special.jv(k, x) for k, row in enumerate(rows))
    of_k = sum(row * special.kv(k, x) for k, row in enumerate(rows)) if n else 0 * x
    orders = np.full(3, float(n))
    np.testing.assert_allclose(DERIVATIVES["special.jv"](0, orders, x)[0], of_j, rtol=1e-10)
    np.testing.assert_allclose(DERIVATIVES["special.kv"](0, orders, x)[0], of_k, rtol=1e-10)


def test_many_elements() -> None:
    """More than a block, and none."""
    a = np.linspace(0.5, 4, 2500).reshape(50, 50)
    found = DERIVATIVES["special.gammainc"](0, a, 1.5)[0]
    assert found.shape == (50, 50)
    assert found[-1, -1] == DERIVATIVES["special.gammainc"](0, 4.0, 1.5)[0]
    assert DERIVATIVES["special.gammainc"](0, np.ones((0, 2)), 1.5)[0].shape == (0, 2)


# --- the whole path ----------------------------------------------------------------------------


def tail(a: Any, x: Any) -> Any:
    return np.sum(special.gammainc(a, x) * np.cos(x)) + np.sum(special.jv(a, x))


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("a", [2.5, np.array([0.7, 1.0, 6.0]), np.array([[0.7], [4.0]])])
def test_levels(level: Any, a: Any) -> None:
    if level == "compiled":
        pytest.importorskip("numba")
    x = np.array([0.4, 1.5, 6.0])
    by_a = np.asarray(st.grad(tail, level=level)(a, x))
    step = 1e-3 * np.eye(max(np.size(a), 1)).reshape((-1, *np.shape(a)))
    for place, h in zip(np.ndindex(np.shape(a)), step, strict=True):
        wide = tail(a + 2 * h, x) - tail(a - 2 * h, x)
        expected = (8 * (tail(a + h, x) - tail(a - h, x)) - wide) / 12e-3
        assert by_a[place] == pytest.approx(expected, rel=1e-8)


def test_orders_of_differentiation() -> None:
    """Mixed derivatives are the same either way; a second one by a shape is refused."""
    x = np.array([0.4, 1.5, 6.0])
    first_x = st.grad(lambda a: np.sum(st.grad(tail, 1)(a, x)))(1.7)
    first_a = st.grad(lambda x: st.grad(tail, 0)(1.7, x))(x)
    assert np.sum(first_a) == pytest.approx(first_x, rel=1e-9)
    with pytest.raises(st.DerivativeError, match="`special.gammaincc` by `a` has no derivative"):
        st.grad(lambda a: st.grad(lambda a: special.gammainc(a, 2.0))(a))(1.7)


def test_printed_once_and_only_if_called() -> None:
    function = st.differentiable(level="readable")(
        lambda a, x: special.jv(a, x) + special.jv(a, 2.0)
    )
    text = function.source(1.5, 2.5)
    assert text.count("def jv_slope(") == text.count("def in_blocks(") == 1
    assert "gammaincc" not in text and "Any" not in text
    function = st.differentiable(level="readable")(lambda x, a: special.jv(a, x))
    assert "def jv_slope(" not in function.source(1.5, 2.5)


def test_names_of_arguments() -> None:
    """The text beside the function has names of its own."""

    def f(in_blocks: Any, special_: Any, x: Any) -> Any:
        return special.jv(in_blocks, x) * special_

    first = st.grad(f)(1.5, 2.0, 2.5)
    assert first == pytest.approx(2 * st.grad(lambda a: special.jv(a, 2.5))(1.5))
