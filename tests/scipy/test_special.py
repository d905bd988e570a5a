"""`scipy.special`: values, derivatives to second order, dtypes, and the points where formulas
that textbooks give would cancel or divide by zero."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import stcompile as st

special = pytest.importorskip("scipy.special")

import stcompile.ad.rules as rules  # noqa: E402
from stcompile.codegen_templates.derivatives import DERIVATIVES  # noqa: E402
from stcompile.codegen_templates.marks import partials  # noqa: E402
from stcompile.frontend.functions.scipy import PARTS  # noqa: E402
from stcompile.wengert.primitives.special import NAMES, OWN  # noqa: E402
from stcompile.wengert.templates import BUFFERED, TEMPLATES  # noqa: E402
from tests.scipy.checks import Case, check, check_float32, check_forward, check_value  # noqa: E402
from tests.scipy.functions import after, derivatives, plain  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

UNARY, BINARY = ([n for n, count in NAMES.items() if count == k] for k in (1, 2))
OF_COMPLEX = ("wofz", "lambertw")  # in test_special_library
SEVERAL = [n for n, count in NAMES.items() if count > 2]
TERNARY = ("betainc", "betaincc", "betaincinv", "betainccinv")
# Where each function is smooth and well away from its poles.
DOMAINS = {
    **dict.fromkeys(("erfinv",), (-0.8, 0.8)),
    **dict.fromkeys(("erfcinv",), (0.2, 1.8)),
    **dict.fromkeys(("logit", "ndtri", "entr"), (0.1, 0.9)),
    **dict.fromkeys(("gamma", "gammaln", "loggamma", "digamma", "gammasgn"), (0.3, 4.0)),
    **dict.fromkeys(("y0", "y1", "k0", "k0e", "k1", "k1e", "exp1", "expi", "cbrt"), (0.3, 3.0)),
    **dict.fromkeys(("spence", "sici", "shichi", "ker", "kei", "kerp", "keip"), (0.2, 3.0)),
    **dict.fromkeys(("ellipk", "ellipe", "ellipkm1"), (0.1, 0.9)),
    "ndtri_exp": (-9.0, -0.2),
    **dict.fromkeys(("log1p",), (-0.6, 2.0)),
    **dict.fromkeys(("i0e", "i1e"), (0.2, 2.0)),
}
FIRST = {
    **dict.fromkeys(("iv", "ive", "jv", "yv", "kv", "kve"), 1.5),
    **dict.fromkeys(("gammainc", "gammaincc", "gammaincinv", "gammainccinv"), 2.5),
    **dict.fromkeys(("stdtr", "stdtrit"), 3.5),
    "zeta": 3.0,
    **dict.fromkeys(("expn", "yn"), 2),
    **dict.fromkeys(("struve", "modstruve"), 1.5),
    **{f"spherical_{kind}": 2 for kind in ("jn", "yn", "in", "kn")},
    **{f"eval_{kind}": 3 for kind in ("legendre", "chebyt", "chebyu", "laguerre")},
    **{f"eval_{kind}": 3 for kind in ("hermite", "hermitenorm")},
    "hyp0f1": 1.5,
    "hyp2f1": (1.5, 2.5, 0.7),
    "eval_jacobi": (3, 0.7, 1.5),
    **dict.fromkeys(("eval_genlaguerre", "eval_gegenbauer"), (3, 0.7)),
    **dict.fromkeys(("elliprf", "elliprd"), (0.3, 2.9)),
}  # differentiated once, if at all


def spread(low: float, high: float, size: int = 5) -> Any:
    return np.linspace(low, high, size) + 0.003


def cases() -> list[Case]:
    found = [
        Case(n, plain(getattr(special, n)), (spread(*DOMAINS.get(n, (-2.0, 2.0))),))
        for n in UNARY
        if n not in OF_COMPLEX
    ]
    for name in PARTS:
        args = (np.array([0.7]), np.array([0.4]))[: NAMES[name]]
        found.append(Case(f"{name} 0", plain(getattr(special, name)), args))
    column = spread(0.45, 1.9, 3)[:, None]
    for name in BINARY:
        if name in (*PARTS, *OF_COMPLEX):
            continue
        y = spread(0.2, 0.8, 2) if name in ("gammaincinv", "gammainccinv", "stdtrit") else None
        if name in FIRST:
            static = FIRST[name]
            fixed = after(getattr(special, name), static)
            found.append(Case(name, fixed, (spread(0.4, 2.0) if y is None else y,)))
        else:
            row = spread(0.2, 0.8, 2) if name in ("ellipkinc", "ellipeinc") else spread(0.6, 2.4, 2)
            found.append(Case(name, plain(getattr(special, name)), (column, row)))
    for name in SEVERAL:
        of_x = after(getattr(special, name), *FIRST.get(name, (1.5, 2.5)))
        found.append(Case(name, of_x, (spread(0.2, 0.8),)))
    return found


CASES = cases()
OF_SHAPES = {
    *(name.partition("_by_")[0] for name in OWN),
    *(f"special.{name}" for name in ("gammainc", "gammaincinv", "gammainccinv", "stdtrit")),
}
SHAPES = [
    *(
        Case(name, plain(getattr(special, name)), (np.array([[FIRST[name]], [0.7]]), case.args[0]))
        for case in CASES
        if (name := case.name) in FIRST and f"special.{name}" in OF_SHAPES - {"special.zeta"}
    ),
    *(
        Case(name, plain(getattr(special, name)), (np.array([[1.5], [0.7]]), 2.5, spread(0.2, 0.8)))
        for name in TERNARY
    ),
]  # of all their operands


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(case: Case) -> None:
    check(case, second=False)
    check_forward(case)
    check_float32(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_to_second_order(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_forward_mode(case: Case) -> None:
    check_forward(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_float32(case: Case) -> None:
    check_float32(case)


X = np.sin(np.arange(6.0)).reshape(2, 3)
RTOL = 1e-14
COMPOSED = (
    Case("psi", lambda x: special.psi(x) * x, (spread(0.3, 3.0),)),
    Case("zeta", lambda x: special.zeta(1.5, x) * x, (spread(0.3, 3.0),)),
    Case("jve", lambda x: special.jve(1.5, x) + special.yve(0.5, x), (spread(0.3, 3.0),), 1e-14),
    Case("sph", lambda x: special.spherical_jn(2, x, True), (spread(0.3, 3.0),), 1e-12),
    Case("skn", lambda x: special.spherical_kn(0, x, derivative=True), (spread(0.3, 3.0),), 1e-12),
    Case("polygamma", lambda x: special.polygamma(2, x), (spread(0.5, 3.0),), 1e-14),
    Case("polygamma 0", lambda x: special.polygamma(0, x), (spread(0.5, 3.0),), 1e-14),
    Case("multigammaln", lambda a: special.multigammaln(a, 3), (spread(1.5, 4.0),), 1e-14),
    Case("comb", lambda n, k: special.comb(n, k), (spread(3.0, 5.0), spread(0.4, 2.3)), 1e-14),
    Case("static", lambda x: special.factorial(4) * x + special.comb(5, 2), (spread(1, 2),)),
    *(
        Case(f"logsumexp {axis}", lambda x, axis=axis: special.logsumexp(x, axis=axis), (X,), RTOL)
        for axis in (None, 0, -1, (0, 1))
    ),
    Case("logsumexp keepdims", lambda x: special.logsumexp(x, 1, keepdims=True), (X,), RTOL),
    Case("logsumexp b", lambda x, b: special.logsumexp(x, 0, b=b), (X, X[0] + 3), RTOL),
    Case(
        "logsumexp sign",
        lambda x, b: special.logsumexp(x, 0, b=b, return_sign=True)[0],
        (X, np.array([2.0, -3.0])[:, None] + X / 9),
        RTOL,
    ),
    Case("logsumexp 0-d", lambda x: special.logsumexp(x) * x, (np.array(0.7),), RTOL),
    Case("softmax", lambda x: special.softmax(x), (X,), RTOL),
    Case("softmax 0", lambda x: special.softmax(x, axis=0), (X,), RTOL),
    Case("log_softmax", lambda x: special.log_softmax(x, axis=-1), (X,), RTOL),
)


@pytest.mark.parametrize("case", COMPOSED, ids=str)
def test_composed(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", COMPOSED[10:], ids=str)
def test_composed_float32(case: Case) -> None:
    check_float32(replace(case, rtol=1e-6))


X3 = spread(0.3, 3.0, 3)
DISTRIBUTIONS = (
    Case("chdtr", lambda v, x: special.chdtr(v, x) - special.chdtrc(v, x), (2.3, X3), 1e-13),
    Case("fdtr", lambda m, n, x: special.fdtr(m, n, x), (2.3, 3.1, X3), 1e-13),
    Case("fdtrc", lambda m, n, x: special.fdtrc(m, n, x), (2.3, 3.1, X3), 1e-13),
    Case("gdtr", lambda a, b, x: special.gdtr(a, b, x), (1.3, 2.1, X3), 1e-13),
    Case("gdtrc", lambda a, b, x: special.gdtrc(a, b, x), (1.3, 2.1, X3), 1e-13),
    Case("pdtr", lambda m: special.pdtr(3, m) + 2 * special.pdtrc(2, m), (X3,), 1e-13),
    Case("bdtr", lambda p: special.bdtr(3, 7, p) + 2 * special.bdtrc(2, 7, p), (X3 / 4,), 1e-13),
    Case("nbdtr", lambda p: special.nbdtr(3, 7, p) + 2 * special.nbdtrc(2, 7, p), (X3 / 4,), 1e-13),
    Case("zeta", lambda x, q: special.zeta(x, q) + special.zeta(x), (X3 + 1, X3), 1e-13),
)


@pytest.mark.parametrize("case", DISTRIBUTIONS, ids=str)
def test_distribution_functions(case: Case) -> None:
    check(case, second=False)


def test_numpys_bessel_function() -> None:
    """Its derivative is SciPy's i1."""
    check(Case("np.i0", lambda x: np.i0(x) * x, (spread(-2.0, 9.0),)))
    check_float32(Case("np.i0", lambda x: np.i0(x), (spread(-2.0, 9.0),)))


def test_softplus() -> None:
    softplus = getattr(special, "softplus", None)
    if softplus is None:
        pytest.skip("this SciPy has none")
    check(Case("softplus", lambda x: softplus(x), (spread(-3, 3),)))


# --- points that are special ---------------------------------------------------------------------


def mills(x: float) -> tuple[float, float]:
    """The derivatives of log_ndtr far to the left, by Laplace's continued fraction of
    ``1 / (r + x)``, where ``r`` is the density over the distribution function."""
    tail = 0.0
    for k in range(200, 1, -1):
        tail = k / (-x + tail)
    gap = 1 / (-x + tail)  # x + r
    return gap - x, -(gap - x) * gap


MILLS = mills(-30.0)
POINTS = [
    ("xlogy", (0.0, 0.0), 1, (0.0, 0.0)),
    ("xlogy", (0.0, 2.0), 0, (np.log(2.0), 0.0)),
    ("xlogy", (0.0, 0.0), 0, (0.0, 0.0)),
    ("xlog1py", (0.0, -1.0), 1, (0.0, 0.0)),
    ("xlog1py", (0.0, -1.0), 0, (0.0, 0.0)),
    ("i0", (0.0,), 0, (0.0, 0.5)),
    ("i1", (0.0,), 0, (0.5, 0.0)),
    ("i0e", (0.0,), 0, (0.0, 0.5)),
    ("j0", (0.0,), 0, (0.0, -0.5)),
    ("j1", (0.0,), 0, (0.5, 0.0)),
    ("yn", (0, 0.7), 1, (-special.y1(0.7), 0.5 * (special.yn(2, 0.7) - special.y0(0.7)))),
    # n! (-1)^n and -2 n! (-1)^n psi(n + 1) where the gamma function has poles
    ("rgamma", (0.0,), 0, (1.0, 2 * np.euler_gamma)),
    ("rgamma", (-3.0,), 0, (-6.0, 12 * special.psi(4.0))),
    ("rgamma", (300.0,), 0, (0.0, 0.0)),
    ("expit", (40.0,), 0, (np.exp(-40), -np.exp(-40))),
    ("expit", (-40.0,), 0, (np.exp(-40), np.exp(-40))),
    ("expit", (1000.0,), 0, (0.0, 0.0)),
    ("log_expit", (-50.0,), 0, (1.0, -np.exp(-50))),
    ("log_expit", (50.0,), 0, (np.exp(-50), -np.exp(-50))),
    ("exprel", (0.0,), 0, (0.5, 1 / 3)),
    ("exprel", (1e-9,), 0, (0.5 + 1e-9 / 3, 1 / 3 + 1e-9 / 4)),
    ("boxcox", (2.0, 0.0), 1, (np.log(2) ** 2 / 2, np.log(2) ** 3 / 3)),
    ("boxcox", (2.0, 0.0), 0, (0.5, -0.25)),
    ("inv_boxcox", (2.0, 0.0), 1, (-2 * np.exp(2), np.exp(2) * (4 + 16 / 3))),
    # gamma(x + 1) / gamma(y + 1) * rgamma(x - y + 1) where the last one is 0
    ("binom", (1.3, 2.3), 0, (1 / 2.3, 2 * (special.psi(2.3) + np.euler_gamma) / 2.3)),
    ("binom", (2.0, 3.0), 1, (-1 / 3, 2 * (special.psi(4.0) + np.euler_gamma) / 3)),
    ("spence", (1.0,), 0, (-1.0, 0.5)),
    ("entr", (-1.0,), 0, (0.0, 0.0)),
    ("rel_entr", (0.0, 0.0), 1, (0.0, 0.0)),
    ("kl_div", (2.0, 2.0), 0, (0.0, 0.5)),
    ("pseudo_huber", (0.0, 0.0), 1, (0.0, 0.0)),
    ("pseudo_huber", (1.0, 0.0), 1, (0.0, 1.0)),
    ("huber", (1.0, 0.0), 1, (0.0, 1.0)),
    ("log_ndtr", (-30.0,), 0, MILLS),
    ("log_ndtr", (40.0,), 0, (0.0, 0.0)),
    # 2 x erfcx(x) - 2 / sqrt(pi) by the asymptotic series
    ("erfcx", (1e6,), 0, (-5.641895835469102e-13, 1.1283791670921196e-18)),
    ("dawsn", (1e6,), 0, (-5.00000000000750e-13, 1.00000000000300e-18)),
]


@pytest.mark.parametrize(
    ("name", "args", "wrt", "expected"), POINTS, ids=[f"{p[0]}{p[1]}{p[2]}" for p in POINTS]
)
def test_points(name: str, args: Any, wrt: int, expected: Any) -> None:
    np.testing.assert_allclose(
        derivatives(getattr(special, name), *args, wrt=wrt), expected, rtol=1e-12, atol=1e-300
    )


def test_entropy_is_steep_at_zero() -> None:
    assert derivatives(special.entr, 0.0)[0] == np.inf


def test_logsumexp_of_nothing() -> None:
    f = lambda x: special.logsumexp(x)  # noqa: E731
    value, gradient = st.value_and_grad(f)(np.full(3, -np.inf))
    assert value == -np.inf
    np.testing.assert_array_equal(gradient, np.zeros(3))
    value, gradient = st.value_and_grad(f)(np.array([1000.0, 1000.0, -np.inf]))
    assert value == pytest.approx(1000 + np.log(2))
    np.testing.assert_allclose(gradient, [0.5, 0.5, 0])


# --- kinds of operands ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x", [0.5, np.float64(0.5), np.float32(0.5), np.array(0.5), np.ones((0, 2))]
)
def test_kinds(x: Any) -> None:
    case = Case("kinds", lambda x: special.erf(x) * special.xlogy(x, 2.0) + special.j0(x), (x,))
    check_value(case, (x,))
    gradient = st.grad(lambda x: np.sum(special.erf(x) * special.gammaln(x + 2)))(x)
    assert np.asarray(gradient).dtype == np.asarray(x).dtype
    assert np.shape(gradient) == np.shape(x)


def test_out_and_masks() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(4)
        special.erf(x, out=y)
        return np.sum(y * x) + np.sum(special.gammaln(x[x > 1]))

    x = np.array([0.5, 1.5, 2.5, -1.0])
    value, gradient = st.value_and_grad(f)(x)
    assert value == f(x)
    inside = special.erf(x) + x * 2 / np.sqrt(np.pi) * np.exp(-x * x)
    np.testing.assert_allclose(gradient, inside + np.where(x > 1, special.psi(x), 0))


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: special.yn(x, 2.0), "with respect to its operand 1"),
        (lambda x: special.mathieu_a(2, x), "`special.mathieu_a` is not supported"),
        (lambda x: special.factorial(x), "known at compile time"),
        (lambda x: special.sph_harm_y(x, 1, 0.3, 0.4), "Python integers"),
        (lambda x: special.lambertw(x, tol=1e-3), "`tol`"),
        (lambda x: special.gammaln(x * 1j), "takes real numbers"),
        (lambda x: special.beta(x), "`special.beta` takes 2 operands"),
        (lambda x: special.hyp2f1(x, 1.0, 2.0, 0.5), "with respect to its operand 1"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(1.5)
    with pytest.raises(st.StcompileError, match=message):
        st.jvp(f, (1.5,), (1.0,))


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = DERIVATIVES["special.erf"]

    @partials
    def erf(out: Any, x: Any) -> Any:
        return 1.1 * np.exp(-x * x)

    case = Case("wrong", lambda x: special.erf(x), (spread(0.1, 1.0),))
    check(case)
    rules._rule.cache_clear()
    monkeypatch.setitem(DERIVATIVES, "special.erf", erf)
    with pytest.raises(AssertionError):
        check(case)
    monkeypatch.setitem(DERIVATIVES, "special.erf", right)
    rules._rule.cache_clear()
    check(case)


# --- the tables ----------------------------------------------------------------------------------


def test_every_rule_is_tried() -> None:
    tried = {case.name.split()[0] for case in CASES}
    rules_ = {name.removeprefix("special.") for name in DERIVATIVES if name.startswith("special.")}
    assert {name for name in rules_ if "_by_" not in name} == set(NAMES) == tried | {*OF_COMPLEX}
    ufuncs = {name: f for name in NAMES if isinstance(f := getattr(special, name), np.ufunc)}
    assert {name: NAMES[name] for name in ufuncs} == {name: f.nin for name, f in ufuncs.items()}
    functions = {"zeta", "lambertw", *(f"spherical_{kind}" for kind in ("jn", "yn", "in", "kn"))}
    assert NAMES.keys() - ufuncs == functions


@pytest.mark.parametrize(
    ("name", "part"), [(n, part) for n in NAMES for part in PARTS.get(n, ("",))]
)
def test_templates(name: str, part: str) -> None:
    """Those that write into an array give what the others give, over an operand as well."""
    template = TEMPLATES[f"special.{name}"]
    params = {"part": part} if part else {}
    for dtype in (np.float32, np.float64):
        count = NAMES[name]
        above = 1 if name == "zeta" else 0  # it has no values below
        lows = (0.2, 0.3, 0.4, 0.5)[:count]
        xs = [above + np.linspace(low, 0.8, 4).astype(dtype) for low in lows]
        if name == "lambertw":
            xs[1] = np.arange(4)
        if name.startswith(("spherical", "eval")):
            xs[0] = np.arange(4)
        expected = template(*xs, **params)
        found = getattr(special, name)(*xs)
        np.testing.assert_array_equal(
            expected, found[PARTS[name].index(part)] if part else found, strict=True
        )
        if f"special.{name}" not in BUFFERED:
            continue
        for place in range(count):
            inputs = [x.copy() for x in xs]
            if inputs[place].dtype == expected.dtype:
                BUFFERED[f"special.{name}"](inputs[place], *inputs)
                np.testing.assert_array_equal(inputs[place], expected, strict=True)
