"""The rules of `scipy.special` by themselves, on both sides of where a formula changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy.special")

from stcompile.codegen_templates.derivatives import DERIVATIVES
from stcompile.wengert.primitives.special import NAMES
from tests.derivatives.numeric import check_rule

ANY = (-1.7, -0.4, 0.3, 1.2)
POSITIVE = (0.3, 0.9, 1.4, 3.2)
INSIDE = (0.15, 0.4, 0.6, 0.85)
AROUND_0 = (-2.0, -0.6, -0.4, -0.03, 0.02, 0.48, 0.52, 1.5)
POINTS: dict[str, tuple[float, ...]] = {  # of others: ANY
    **dict.fromkeys(("gamma", "gammaln", "loggamma", "gammasgn", "digamma", "cbrt"), POSITIVE),
    **dict.fromkeys(("y0", "y1", "k0", "k1", "k0e", "k1e", "exp1", "expi"), POSITIVE),
    **dict.fromkeys(("erfcinv", "ndtri", "logit", "ellipk", "ellipe", "ellipkm1"), INSIDE),
    **dict.fromkeys(("ker", "kei", "kerp", "keip"), POSITIVE),
    "ndtri_exp": (-30.0, -2.0, -0.1),
    "erfinv": (-0.7, -0.1, 0.3, 0.8),
    "erfcx": (-1.0, 0.3, 5.0, 14.9, 15.2, 40.0),
    "dawsn": (-40.0, -15.1, -14.9, 0.3, 14.9, 15.1),
    "log_ndtr": (-30.0, -2.0, -1.01, -0.99, 0.5, 3.0),
    "rgamma": (-2.5, 0.2, 0.48, 0.52, 3.0),
    "entr": (0.2, 0.9, 2.0),
    "spence": (0.3, 0.94, 0.96, 1.02, 1.04, 1.07, 2.5),
    "exprel": AROUND_0,
    "log1p": (-0.6, 0.1, 2.0),
    "cbrt": (-2.0, 0.4, 3.0),
}
SPHERICAL = tuple(f"spherical_{kind}" for kind in ("jn", "yn", "in", "kn"))
POLYNOMIALS = ("legendre", "chebyt", "chebyu", "hermite", "hermitenorm", "laguerre")
ORDERED = (*SPHERICAL, *(f"eval_{kind}" for kind in POLYNOMIALS))
COLUMN, ROW = np.array([[0.45], [1.3], [1.9]]), np.array([0.7, 2.3])
PAIRS: dict[str, tuple[tuple[Any, Any], ...]] = {  # of others: a column and a row
    **dict.fromkeys(
        ("xlogy", "rel_entr", "kl_div"),
        (
            (COLUMN, ROW),
            (np.zeros(1), ROW),
        ),
    ),
    "binom": (
        (COLUMN, ROW),  # 1.3 over 2.3 is 0, where the digamma function has a pole
        (np.array([2.0, 5.0, 0.2, 8.0]), np.array([3.0, 6.5, 5.9, 3.3])),
    ),
    "xlog1py": ((COLUMN, ROW - 1.5),),
    **dict.fromkeys(
        ("yv", "kv", "kve"),
        (
            (1.5, ROW),
            (0.3, ROW),
        ),
    ),
    **dict.fromkeys(
        ("gammainc", "gammaincc"),
        (
            (2.5, ROW),
            (0.7, ROW),
        ),
    ),
    **dict.fromkeys(("gammaincinv", "gammainccinv", "stdtrit"), ((3.5, np.array(INSIDE)),)),
    "stdtr": ((3.5, np.array(ANY)),),
    **{name: ((2.0, np.array([-1.2, 0.7])), (0.3, ROW)) for name in ("iv", "ive", "jv")},
    **dict.fromkeys(("struve", "modstruve"), ((2.0, ROW), (0.3, ROW))),
    "ellipj": ((np.array([[-2.0], [0.3], [1.7], [6.0]]), np.array([0.02, 0.4, 0.8])),),
    "zeta": (
        (3.0, ROW),
        (1.5, ROW),
    ),
    "expn": (
        (2, ROW),
        (1, ROW),
    ),
    "yn": ((2, ROW),),
    **{name: tuple((n, np.array(INSIDE)) for n in (0, 1, 4)) for name in ORDERED},
    "hyp0f1": ((1.5, np.array(ANY)),),
    **dict.fromkeys(
        ("ellipkinc", "ellipeinc"),
        ((np.array([[-2.0], [0.3], [1.4], [1.7], [6.0]]), np.array([-2.0, 1e-2, 0.8])),),
    ),
    "boxcox": (
        (ROW, COLUMN),
        (ROW, -COLUMN),
        (ROW, np.full((1, 1), 1e-3)),
    ),
    "boxcox1p": (
        (ROW, COLUMN),
        (ROW - 1.5, -COLUMN),
    ),
    "inv_boxcox": (
        (ROW, COLUMN),
        (ROW / 9, -COLUMN / 9),
        (ROW, np.full((1, 1), 1e-3)),
    ),
    "inv_boxcox1p": (
        (ROW, COLUMN),
        (ROW / 9, -COLUMN / 9),
    ),
    "huber": ((COLUMN, np.array([-3.1, -0.4, 0.3, 2.5])),),
    "pseudo_huber": ((COLUMN, np.array([-3.1, -0.4, 0.3, 2.5])),),
}
OF_INSIDE = (np.array(INSIDE),)
SEVERAL: dict[str, tuple[tuple[Any, ...], ...]] = {  # of others: a = 1.5, b = 2.5
    **dict.fromkeys(
        ("elliprf", "elliprd"),
        ((np.array([0.3, 1.0]), np.array([0.7, 0.2]), np.array([1.4, 9.0])),),
    ),
    "hyp2f1": ((1.5, 2.5, 0.7, np.array([-4.0, -0.3, 0.6])),),
    "eval_jacobi": tuple((n, 0.7, 1.5, *OF_INSIDE) for n in (0, 1, 4)),
    **dict.fromkeys(
        ("eval_gegenbauer", "eval_genlaguerre"), tuple((n, 0.7, *OF_INSIDE) for n in (0, 1, 4))
    ),
}
UNARY, BINARY = ([n for n, count in NAMES.items() if count == k] for k in (1, 2))
PARTS = {"sici": ("Si", "Ci"), "shichi": ("Shi", "Chi"), "fresnel": ("S", "C")}
PARTS["ellipj"] = ("sn", "cn", "dn", "ph")
PARTS["airy"] = ("Ai", "Aip", "Bi", "Bip")
OF_COMPLEX = ("wofz", "lambertw")  # tried in test_complex


@pytest.mark.parametrize("name", [name for name in UNARY if name not in (*PARTS, *OF_COMPLEX)])
def test_of_one_number(name: str) -> None:
    check_rule(f"special.{name}", (np.array(POINTS.get(name, ANY)),), rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in BINARY if name not in (*PARTS, *OF_COMPLEX)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_two_numbers(name: str) -> None:
    for x, y in PAIRS.get(name, ((COLUMN, ROW),)):
        if isinstance(x, np.ndarray) and not x.all():  # x is not moved: it is not negative
            x = 0.0
        check_rule(f"special.{name}", (x, y), rtol=1e-5)


@pytest.mark.parametrize("name", [name for name, count in NAMES.items() if count > 2])
def test_of_several_numbers(name: str) -> None:
    for inputs in SEVERAL.get(name, ((1.5, 2.5, *OF_INSIDE),)):
        check_rule(f"special.{name}", inputs, rtol=1e-5)


@pytest.mark.parametrize(("name", "part"), [(n, part) for n in PARTS for part in PARTS[n]])
def test_of_several_results(name: str, part: str) -> None:
    check_rule(f"special.{name}", PAIRS.get(name, ((np.array(POSITIVE),),))[0], {"part": part})


def test_with_facts() -> None:
    for order in (0, 1, 3):
        check_rule("special.expn", (order, ROW), static=(True, False))
    check_rule("special.expn", (np.array([1, 2]), ROW))


@pytest.mark.parametrize("name", ["rel_entr", "kl_div", "huber", "pseudo_huber"])
def test_constant_outside(name: str) -> None:
    """Where the value is infinite whatever the operands are, the derivatives are 0."""
    x, y = np.array([-1.0, -0.5]), np.array([0.7, -0.3])
    for partial in DERIVATIVES[f"special.{name}"](np.full(2, np.inf), x, y):
        np.testing.assert_array_equal(partial, np.zeros(2))
