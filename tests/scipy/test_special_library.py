"""`scipy.special`: functions that are written with others, and those with complex results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

special = pytest.importorskip("scipy.special")

from tests.scipy.checks import Case, check, check_forward  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.array([0.31, 0.74, 1.62])
P = np.array([0.2, 0.45, 0.8])
RTOL = 1e-12


def both(z: Any) -> Any:
    """The parts of a complex result."""
    return np.stack([np.real(z), np.imag(z)])


CASES = (
    Case("wofz", lambda x: both(special.wofz(x)), (X,), RTOL),
    Case("wofz complex", lambda x, y: both(special.wofz(x + 1j * y)), (X, X - 0.7), RTOL),
    Case("wofz far", lambda x: 1e3 * both(special.wofz(20 * x + 9j)), (X,), RTOL),
    Case("lambertw", lambda x: both(special.lambertw(x)), (X,), RTOL),
    Case("lambertw 0", lambda x: special.lambertw(x).real, (0.0,), RTOL),
    Case("lambertw -1", lambda x: special.lambertw(-x / 5, k=-1).real, (X,), RTOL),
    Case("lambertw 2", lambda x: both(special.lambertw(x, 2)), (X,), RTOL),
    Case("voigt", lambda x, s, g: special.voigt_profile(x, s, g), (X - 0.7, 0.6, 0.3), RTOL),
    Case("lorentz", lambda x, g: special.voigt_profile(x, 0.0, g), (X - 0.7, 0.3), RTOL),
    Case("hankel", lambda x: both(special.hankel1(1.5, x) + special.hankel2e(0.5, x)), (X,), RTOL),
    Case("hankel 1e", lambda x: both(special.hankel1e(0, x) * special.hankel2(1, x)), (X,), RTOL),
    Case("kelvin", lambda x: [both(z) for z in special.kelvin(x)], (X,), RTOL),
    Case("jvp", lambda x: special.jvp(1.5, x, 2) + special.yvp(2, x), (X,), 1e-11),
    Case("ivp", lambda x: special.ivp(1.5, x, 3) + special.kvp(2, x), (X,), 1e-11),
    Case("h1vp", lambda x: both(special.h1vp(1, x) * special.h2vp(0, x, 2)), (X,), 1e-11),
    *(
        Case(f"sph_harm_y {n} {m}", lambda t, p, n=n, m=m: both(special.sph_harm_y(n, m, t, p)), a)
        for (n, m), a in zip(
            ((0, 0), (3, 2), (4, -3), (2, 0), (1, 2)), ((np.append(X, 0.0), X[0]),) * 5, strict=True
        )
    ),
    *(
        Case(f"lpmv {m}", lambda x, m=m: special.lpmv(m, 4, x), (P - 0.5,), RTOL)
        for m in (0, 1, 2, -3)
    ),
    Case("agm", lambda a, b: special.agm(a, b), (X, 0.7), RTOL),
    Case("diric", lambda x: special.diric(x, 5) + special.diric(x, 4), (X,), RTOL),
    Case("degrees", lambda x: special.cosdg(x) + special.sindg(x) * special.tandg(x), (X,), RTOL),
    Case("cotdg", lambda x: special.cotdg(40 * x), (X,), RTOL),
    Case("sh_legendre", lambda x: special.eval_sh_legendre(3, x), (P,), RTOL),
    Case("sh_cheby", lambda x: special.eval_sh_chebyt(3, x) + special.eval_sh_chebyu(2, x), (P,)),
    Case("cheby", lambda x: special.eval_chebyc(3, x) * special.eval_chebys(2, x), (P,), RTOL),
    Case("sh_jacobi", lambda x: special.eval_sh_jacobi(3, 2.5, 1.5, x), (P,), RTOL),
    Case("chdtri", lambda v, p: special.chdtri(v, p), (3.5, P), RTOL),
    Case("fdtri", lambda m, n, p: special.fdtri(m, n, p), (3.5, 5.5, P), RTOL),
    Case("gdtrix", lambda a, b, p: special.gdtrix(a, b, p), (1.5, 2.5, P), RTOL),
    Case("bdtri", lambda y: special.bdtri(3, 7, y) + special.nbdtri(2, 4, y), (P,), RTOL),
    Case("pdtri", lambda y: special.pdtri(3, y), (P,), RTOL),
)
OF_SHAPES = ("chdtri", "fdtri", "gdtrix")  # differentiated once


@pytest.mark.parametrize("case", CASES, ids=str)
def test_library(case: Case) -> None:
    if case.name.startswith(("sph_harm_y", "sh_cheby")):
        case = Case(case.name, case.function, case.args, RTOL)
    check(case, second=case.name not in OF_SHAPES)
    check_forward(case)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_levels(level: Any) -> None:
    def f(x: Any) -> Any:
        sn, cn, dn, ph = special.ellipj(x, 0.4)
        return np.sum(special.voigt_profile(x, 0.5, sn) + special.lambertw(cn).real * dn + ph)

    value, gradient = st.value_and_grad(f, level=level)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    steps = 1e-6 * np.eye(3)
    np.testing.assert_allclose(gradient, [(f(X + h) - f(X - h)) / 2e-6 for h in steps], atol=1e-8)


def test_known_at_compile_time() -> None:
    """What no table has is computed at compile time, and refused where the operand varies."""

    def f(x: Any) -> Any:
        nodes, weights = special.roots_legendre(4)
        return np.sum(weights * np.exp(nodes * x)) + special.smirnov(3, 0.2) * special.factorial2(5)

    np.testing.assert_allclose(st.compile(f)(0.7), f(0.7), rtol=1e-14)
    with pytest.raises(st.StcompileError, match=r"`special.smirnov` is not supported"):
        st.compile(lambda x: special.smirnov(3, x))(0.2)
