"""Distributions of `scipy.stats`: values on and off the support, derivatives to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

stats = pytest.importorskip("scipy.stats")

from stcompile.frontend.functions.stats import CONTINUOUS, DISCRETE, STATS  # noqa: E402
from stcompile.transforms.primal import Primal  # noqa: E402
from tests.programs import READABLE  # noqa: E402
from tests.scipy.checks import Case, check  # noqa: E402
from tests.scipy.functions import located, parameters, several, shaped  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SHAPES = {"t": (3.5,), "gamma": (2.5,), "chi2": (4.5,), "lognorm": (0.7,), "weibull_min": (1.7,)}
SHAPES |= {"pareto": (2.5,), "beta": (2.5, 1.8), "invgamma": (2.5,), "invgauss": (1.3,)}
SHAPES |= {"f": (2.5, 5.8), "vonmises": (1.7,), "skewnorm": (-1.7,), "exponnorm": (1.3,)}
SHAPES |= {"genlogistic": (1.7,), "johnsonsu": (-0.7, 1.4), "laplace_asymmetric": (1.6,)}
SHAPES |= {"loggamma": (1.7,), "gennorm": (1.6,), "chi": (2.7,), "fisk": (2.6,), "lomax": (1.9,)}
SHAPES |= {"burr12": (1.7, 2.2), "gompertz": (0.7,), "invweibull": (1.7,), "nakagami": (1.3,)}
SHAPES |= {"rice": (0.8,), "gengamma": (1.7, -1.3), "betaprime": (2.5, 1.8), "erlang": (3.0,)}
SHAPES |= {"exponweib": (1.7, 1.3), "ncx2": (3.5, 1.2), "weibull_max": (1.7,), "powerlaw": (1.7,)}
SHAPES |= {"triang": (0.37,)}
MOMENTS = ("mean", "var", "std", "entropy", "median")
RTOL = 1e-11
LOC, SCALE = 0.3, 1.4


def method(name: str) -> Any:
    distribution, own = name.split(".")
    return getattr(getattr(stats, distribution), own)


def points(distribution: str, own: str) -> Any:
    if own in ("ppf", "isf", "interval"):
        return np.array([0.15, 0.4, 0.85])
    if distribution == "weibull_max":
        z = np.array([-1.9, -0.8, -0.35])
    elif CONTINUOUS[distribution].support[1] == 1:
        z = np.array([0.2, 0.45, 0.7])
    else:
        z = np.array([0.35, 0.8, 1.9]) + (1 if distribution == "pareto" else 0)
        z = z - (1.1 if CONTINUOUS[distribution].support[0] is None else 0)
    return z * SCALE + LOC


def cases() -> list[Case]:
    found = []
    for name in STATS:
        distribution, own = name.split(".")
        if distribution not in CONTINUOUS or own in MOMENTS or own == "fit":  # of samples
            continue
        shapes, x = SHAPES.get(distribution, ()), points(distribution, own)
        function, args = located(method(name)), (x, *shapes, LOC, SCALE)
        found.append(Case(name, function, args, RTOL))
    return found


CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_continuous(case: Case) -> None:
    """Densities to second order, the others, which are made of tested functions, to first."""
    check(case, second=case.name.endswith("logpdf") and case.name != "ncx2.logpdf")


@pytest.mark.parametrize("name", [name for name in STATS if name.split(".")[1] in MOMENTS])
def test_moments(name: str) -> None:
    """Of parameters alone; without any, and of invalid ones."""
    scipys = method(name)
    distribution, own = name.split(".")
    shapes = SHAPES.get(distribution, ())
    if distribution in DISCRETE:
        given = PARAMETERS[distribution]
        check(Case(name, parameters(scipys), given, 1e-9))
        assert np.isnan(Primal(parameters(scipys), READABLE)(*given[:-1], -1.0))
        return
    if distribution not in CONTINUOUS:
        return
    function = parameters(scipys)
    check(Case(name, function, (*shapes, LOC, SCALE), 1e-9), second=own != "median")
    found = Primal(function, READABLE)(*shapes, LOC, -1.0)
    np.testing.assert_array_equal(found, np.nan)
    with_default = Primal(parameters(scipys), READABLE)(*shapes)
    np.testing.assert_allclose(with_default, scipys(*shapes), rtol=1e-9)


K = np.array([1, 2, 4])
PARAMETERS = {"poisson": (2.5,), "binom": (6, 0.3), "bernoulli": (0.3,), "nbinom": (3.5, 0.4)}
PARAMETERS |= {"geom": (0.4,), "betabinom": (6, 1.7, 2.2), "logser": (0.4,), "zipf": (2.4,)}
PARAMETERS |= {"planck": (0.7,), "hypergeom": (20, 7, 12), "randint": (1, 6)}


@pytest.mark.parametrize("own", ["pmf", "logpmf"])
@pytest.mark.parametrize("distribution", DISCRETE)
def test_discrete(distribution: str, own: str) -> None:
    k = np.array([0, 1, 1]) if distribution == "bernoulli" else K
    function, given = shaped(method(f"{distribution}.{own}"), k), PARAMETERS[distribution]
    if all(isinstance(parameter, int) for parameter in given):
        found = Primal(function, READABLE)(*given)
        np.testing.assert_allclose(found, function(*given), rtol=RTOL)
    else:
        check(Case(own, function, given, RTOL), second=distribution != "zipf")


@pytest.mark.parametrize("own", ["ppf", "isf"])
@pytest.mark.parametrize("distribution", DISCRETE)
def test_quantiles_of_counts(distribution: str, own: str) -> None:
    """SciPy's, which do not change nearby."""
    q, given = np.array([0.0, 0.2, 0.5, 0.97, 1.3]), PARAMETERS[distribution]
    function = located(method(f"{distribution}.{own}"))
    np.testing.assert_array_equal(Primal(function, READABLE)(q, *given), function(q, *given))
    slope = st.grad(lambda q, *rest: np.sum(function(q, *rest)))(q[1:4], *given)
    np.testing.assert_array_equal(slope, np.zeros(3))


@pytest.mark.parametrize("own", ["cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("distribution", ["binom", "nbinom", "geom"])
def test_counts_up_to_numbers(distribution: str, own: str) -> None:
    """By the probability, with numbers outside of the counts."""
    scipys, k = method(f"{distribution}.{own}"), np.array([-1.0, 0.0, 1.0, 2.5, 5.0, 7.0])
    k = k[2:-1] if own.startswith("log") else k  # elsewhere some are infinite
    *first, p = PARAMETERS[distribution]
    check(Case(own, lambda p: scipys(k, *first, p), (p,), RTOL), second=False)


BOUNDED = {
    "truncnorm": ((-0.7, 1.4), np.array([-2.0, -0.3, 0.7, 2.0, 4.0])),
    "truncnorm right": ((8.0, 9.5), np.array([11.9, 12.5, 13.0])),
    "genextreme": ((0.4,), np.array([-2.0, 0.3, 1.9, 9.0])),
    "genextreme left": ((-0.4,), np.array([-9.0, 0.3, 1.9, 9.0])),
    "genextreme 0": ((1e-3,), np.array([-1.0, 0.3, 1.9, 5.0])),
}


@pytest.mark.parametrize("own", ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("name", BOUNDED)
def test_bounded(name: str, own: str) -> None:
    """Supports that depend on shapes; what has no value of its own is refused."""
    distribution = name.split()[0]
    if f"{distribution}.{own}" not in STATS:
        return
    shapes, x = BOUNDED[name]
    if own.startswith("log"):  # elsewhere some are infinite
        function = located(method(f"{distribution}.{own}"))
        found = Primal(function, READABLE)(x, *shapes, LOC, SCALE)
        np.testing.assert_allclose(found, function(x, *shapes, LOC, SCALE), rtol=RTOL)
        x = x[np.isfinite(found)]
    function = located(method(f"{distribution}.{own}"))
    check(Case(name, function, (x, *shapes, LOC, SCALE), RTOL), second=own == "logpdf")


@pytest.mark.parametrize("own", ["cdf", "sf", "logcdf", "logsf"])
def test_counts_up_to_a_number(own: str) -> None:
    """By the mean, with numbers between and outside of the counts."""
    scipys, k = method(f"poisson.{own}"), np.array([0.0, 1.0, 2.5, 7.0])[:, None]
    check(Case(own, shaped(scipys, k), (np.array([0.4, 2.5, 6.0]),), RTOL))
    check(Case(own, lambda mu: scipys(k + 1, mu, 1), (2.5,), RTOL))
    k = np.array([-1.0, -0.5, 0.0, 2.5, np.inf, -np.inf, np.nan])
    found = Primal(shaped(scipys, k), READABLE)
    np.testing.assert_allclose(found(2.5), scipys(k, 2.5), rtol=RTOL)
    np.testing.assert_allclose(found(0.0), scipys(k, 0.0), rtol=RTOL)
    assert np.isnan(found(-1.0)).all()
    outside = np.array([-1.0, np.inf])
    assert st.grad(lambda mu: np.sum(np.exp(scipys(outside, mu))))(2.5) == 0.0


MATRIX = np.array([[1.3, 0.4], [0.4, 0.9]])
POINTS = np.array([[0.5, -0.3], [1.2, 0.8], [0.1, 0.2]])
B = POINTS[1]
VECTORS = (
    Case(
        "multivariate_normal",
        lambda x, m, a: stats.multivariate_normal.logpdf(x, m, a @ a.T),
        (POINTS, POINTS[0], MATRIX),
        RTOL,
    ),
    Case(
        "multivariate_normal pdf",
        lambda x, m: stats.multivariate_normal.pdf(x, mean=m, cov=MATRIX),
        (POINTS[1], POINTS[0]),
        RTOL,
    ),
    Case("diagonal", lambda x: stats.multivariate_normal.logpdf(x, B, [0.5, 2.0]), (POINTS,), RTOL),
    Case("scaled", lambda x: stats.multivariate_normal.logpdf(x, POINTS[0], 2.0), (POINTS,), RTOL),
    Case("one", lambda x: stats.multivariate_normal.logpdf(x), (POINTS[0],), RTOL),
    Case(
        "multivariate_t",
        lambda x, m, a, n: stats.multivariate_t.logpdf(x, m, a @ a.T, n),
        (POINTS, POINTS[0], MATRIX, 3.5),
        RTOL,
    ),
    Case(
        "wishart",
        lambda a, n, b: stats.wishart.logpdf(a @ a.T, n, b @ b.T),
        (MATRIX, 3.5, MATRIX + np.eye(2)),
        RTOL,
    ),
    Case(
        "invwishart",
        lambda a, n, b: stats.invwishart.pdf(a @ a.T, n, b @ b.T),
        (MATRIX, 3.5, MATRIX + np.eye(2)),
        RTOL,
    ),
    Case(
        "perhaps singular",
        lambda x, m, a: stats.multivariate_normal.logpdf(x, m, a @ a.T, allow_singular=True),
        (POINTS, POINTS[0], MATRIX),
        RTOL,
    ),
    Case(
        "singular",
        lambda x, m, a: stats.multivariate_normal.logpdf(
            x @ a[:2], m @ a[:2], a.T @ a, allow_singular=True
        ),
        (POINTS, POINTS[0], np.array([[1.3, 0.4, 0.2], [0.4, 0.9, -0.5]])),
        1e-9,
    ),
    Case(
        "singular pdf",
        lambda x: stats.multivariate_normal.pdf(
            np.concatenate([x, np.ones(2)]), [1, 2, 1, 1], np.diag([1.0, 2.0, 0.0, 0.0]), True
        ),
        (POINTS[1],),
        RTOL,
    ),
    Case(
        "not singular",
        lambda x: (
            stats.multivariate_normal.logpdf(x, B, MATRIX, False)
            * stats.multivariate_normal.pdf(x, B, MATRIX, allow_singular=False)
        ),
        (POINTS,),
        RTOL,
    ),
    Case(
        "entropy",
        lambda m, a: stats.multivariate_normal.entropy(m, a @ a.T),
        (POINTS[0], MATRIX),
        RTOL,
    ),
    Case("entropy, one", lambda a: stats.multivariate_normal.entropy(cov=a), (1.7,), RTOL),
    Case(
        "entropy, diagonal",
        lambda a: stats.multivariate_normal.entropy(None, np.diag(a)) * a,
        (np.array([0.5, 2.0]),),
        RTOL,
    ),
    Case(
        "dirichlet",
        lambda a: stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), a),
        (np.array([1.5, 2.5, 0.8]),),
        RTOL,
    ),
    Case(
        "dirichlet pdf",
        lambda x, a: stats.dirichlet.pdf(x, a),
        (np.array([0.2, 0.3]), np.array([1.5, 2.5, 0.8])),
        RTOL,
    ),
)


@pytest.mark.parametrize("case", VECTORS, ids=str)
def test_vectors(case: Case) -> None:
    check(case)


def test_outside_of_a_plane() -> None:
    """A singular covariance: SciPy's -inf off its support, and flat; no negative eigenvalue."""

    def logpdf(x: Any, cov: Any) -> Any:
        return stats.multivariate_normal.logpdf(x, [0, 0], cov, allow_singular=True)

    cov, x = np.diag([2.0, 0.0]), np.array([[0.5, 0.0], [0.5, 1e-12], [0.5, 1e-3]])
    found = Primal(logpdf, READABLE)(x, cov)
    np.testing.assert_allclose(found, logpdf(x, cov), rtol=1e-12)
    assert found[2] == -np.inf
    gradients = st.grad(lambda x, cov: np.sum(np.exp(logpdf(x, cov))), (0, 1))(x[2:], cov)
    for gradient in gradients:
        np.testing.assert_array_equal(gradient, np.zeros_like(gradient))
    # d/dv of -log(v) / 2 - x**2 / (2 v), where the variance is not 0
    found = st.grad(lambda cov: logpdf(x[0], cov))(cov)
    np.testing.assert_allclose(found, np.diag([-0.25 + 0.25 / 8, 0.0]), atol=1e-15)
    with pytest.raises(ValueError, match="semidefinite"):
        Primal(logpdf, READABLE)(x, np.diag([1.0, -1.0]))


@pytest.mark.parametrize("distribution", CONTINUOUS)
def test_outside(distribution: str) -> None:
    """SciPy's values off the support, at NaN and with invalid parameters; off the support the
    gradient is 0."""
    own = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
    own = tuple(name for name in own if f"{distribution}.{name}" in STATS)
    shapes = SHAPES.get(distribution, ())
    function = several([method(f"{distribution}.{name}") for name in own], shapes)
    x = np.array([-5.0, 1.7 if distribution == "pareto" else 0.7, 20.0, np.nan, -np.inf, np.inf])
    compiled = Primal(function, READABLE)
    for name, found, expected in zip(own, compiled(x, 0.0, 1.0), function(x, 0.0, 1.0)):
        if (distribution, name) == ("gompertz", "logsf"):
            expected[2] = -0.7 * np.expm1(20.0)  # SciPy's underflows
        if distribution == "ncx2":
            expected[5] = found[5]  # SciPy's density is NaN at infinity
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-14, err_msg=name)
    for scale in (0.0, -1.0):
        assert all(np.isnan(part).all() for part in compiled(x, 0.0, scale))
    if CONTINUOUS[distribution].support[0] is not None:
        outside = st.grad(lambda *args: sum(function(*args)), (0, 1, 2), level="readable")
        assert outside(-5.0, 0.0, 1.0) == (0.0, 0.0, 0.0)


def test_probabilities_outside() -> None:
    for name in ("norm", "expon", "uniform"):
        for own in ("ppf", "isf"):
            function = located(method(f"{name}.{own}"))
            q = np.array([-0.1, 0.0, 0.5, 1.0, 1.1, np.nan])
            np.testing.assert_allclose(
                Primal(function, READABLE)(q, 0.5, 2.0), function(q, 0.5, 2.0), rtol=1e-12
            )


def test_counts_outside() -> None:
    for name, given in PARAMETERS.items():
        scipys = method(f"{name}.logpmf")
        k = np.array([-1.0, 0.0, 1.0, 2.5, 7.0])
        function = shaped(scipys, k)
        np.testing.assert_allclose(
            Primal(function, READABLE)(*given), scipys(k, *given), rtol=1e-10
        )
        assert np.isnan(Primal(function, READABLE)(*given[:-1], -1.0)).all()


def test_ways_to_call() -> None:
    """By position and by name, with and without loc and scale, of numbers and integers."""
    functions = (
        lambda x: stats.norm.logpdf(x),
        lambda x: stats.norm.logpdf(x, 1.0),
        lambda x: stats.norm.logpdf(x, scale=2),
        lambda x: stats.gamma.logpdf(x, a=2.0, loc=-1),
        lambda x: stats.beta.pdf(x, 2, b=3.0) + stats.t.cdf(x, df=4),
    )
    for function in functions:
        check(Case("call", function, (0.4,), RTOL))
    found = Primal(functions[0], READABLE)(np.array([1, 2]))
    np.testing.assert_allclose(found, stats.norm.logpdf([1, 2]), rtol=1e-14)


def test_float32_arguments() -> None:
    """SciPy computes in float64; gradients have the dtype of their arguments."""
    total = lambda x: np.sum(stats.norm.logpdf(x, 0.5, 2.0))  # noqa: E731
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    value, gradient = st.value_and_grad(total)(x)
    assert value.dtype == total(x).dtype == np.float64
    assert gradient.dtype == np.float32
    assert st.grad(total)(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: stats.norm(x, 1.0).rvs(), "`stats.norm.rvs` is not supported"),
        (lambda x: stats.norm.moment(2, x), "`stats.norm.moment` is not supported"),
        (lambda x: stats.nct.logpdf(x, 2.0, 1.0), "`stats.nct.logpdf` is not supported"),
        (lambda x: stats.norm.logpdf(x, sigma=2.0), "`sigma`"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(1.5)


@pytest.mark.parametrize("name", ["laplace", "norm", "cauchy", "logistic", "hypsecant", "gumbel_r"])
def test_slopes_at_the_center_are_densities(name: str) -> None:
    """A formula by the absolute value has no slope there, though the function has one."""
    law = getattr(stats, name)
    density, below = law.pdf(0.3, 0.3, 1.7), law.cdf(0.3, 0.3, 1.7)
    slopes = [
        st.grad(lambda x: law.cdf(x, 0.3, 1.7))(0.3),
        -st.grad(lambda x: law.sf(x, 0.3, 1.7))(0.3),
        below * st.grad(lambda x: law.logcdf(x, 0.3, 1.7))(0.3),
        1 / st.grad(lambda q: law.ppf(q, 0.3, 1.7))(below),
    ]
    np.testing.assert_allclose(slopes, density, rtol=1e-12)


@pytest.mark.parametrize("beta", [0.7, 1.0, 1.6, 3.0])
def test_slopes_of_gennorm_at_the_center(beta: float) -> None:
    density = stats.gennorm.pdf(0.3, beta, 0.3, 1.7)
    wrt = ("x", "beta", "loc", "scale")

    def cdf(x: Any, beta: Any, loc: Any, scale: Any) -> Any:
        return stats.gennorm.cdf(x, beta, loc, scale)

    def sf(x: Any, beta: Any, loc: Any, scale: Any) -> Any:
        return stats.gennorm.sf(x, beta, loc, scale)

    for f, sign in ((cdf, 1), (sf, -1)):
        value, slopes = st.value_and_grad(f, wrt=wrt)(0.3, beta, 0.3, 1.7)
        assert value == 0.5
        np.testing.assert_allclose(slopes, (sign * density, 0, -sign * density, 0), rtol=1e-12)
    row = st.grad(lambda x: np.sum(cdf(x, beta, 0.3, 1.7)))(np.array([0.3, 0.4]))
    np.testing.assert_allclose(row, stats.gennorm.pdf([0.3, 0.4], beta, 0.3, 1.7), rtol=1e-10)
    assert st.hessian(lambda x: cdf(x, beta, 0.3, 1.7))(0.3) == 0  # the density is symmetric
