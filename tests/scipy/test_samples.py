"""Statistics of samples of `scipy.stats`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

stats = pytest.importorskip("scipy.stats")

from tests.scipy.checks import Case, check, check_forward  # noqa: E402

X = np.array([0.31, 1.74, 0.62, 2.05, 1.13, 0.45, 1.38])
Y = np.array([1.21, 0.35, 0.94, 1.83, 0.57, 2.21, 0.74])
GRID = np.cos(np.arange(12.0) ** 2).reshape(4, 3) + 1.5
W = np.linspace(0.5, 1.4, 7)
OUTSIDE = stats.gaussian_kde(X, weights=W)
RTOL = 1e-12


def plane(x: Any, y: Any, at: Any) -> Any:
    made = stats.gaussian_kde(np.stack([x, y]), bw_method="silverman", weights=np.exp(-x))
    return made(at) + made.logpdf(at)


CASES = (
    Case("moment", lambda x: stats.moment(x, 3) + stats.moment(x, 2, center=0.3), (GRID,), RTOL),
    Case("skew", lambda x: stats.skew(x, axis=None), (GRID,), RTOL),
    Case("skew unbiased", lambda x: stats.skew(x, 1, bias=False), (GRID,), RTOL),
    Case("kurtosis", lambda x: stats.kurtosis(x), (GRID,), RTOL),
    Case("kurtosis raw", lambda x: stats.kurtosis(x, fisher=False, bias=False), (GRID,), RTOL),
    Case("describe", lambda x: [*stats.describe(x)[1:]][1:], (X,), RTOL),
    Case("sem", lambda x: stats.sem(x) + stats.variation(x), (GRID,), RTOL),
    Case("zscore", lambda x: stats.zscore(x, ddof=1) + stats.gzscore(x), (GRID,), RTOL),
    Case("zmap", lambda x, y: stats.zmap(x, y), (X, Y), RTOL),
    Case("means", lambda x: stats.gmean(x) + stats.hmean(x) + stats.pmean(x, 3), (GRID,), RTOL),
    Case("weighted", lambda x, w: stats.gmean(x, weights=w) + stats.hmean(x, weights=w), (X, W)),
    Case("gstd", lambda x: stats.gstd(x), (GRID,), RTOL),
    Case("trim_mean", lambda x: stats.trim_mean(x, 0.2), (X,), RTOL),
    Case("circles", lambda x: stats.circmean(x) + stats.circvar(x) + stats.circstd(x), (X,), RTOL),
    Case("circles of 24", lambda x: stats.circmean(x, 24) + stats.circstd(x, 24), (X,), RTOL),
    Case("rankdata", lambda x: stats.rankdata(x) * x + stats.rankdata(x, "min"), (X,), RTOL),
    Case("ranks", lambda x: stats.rankdata(x, axis=1) * x, (GRID,), RTOL),
    Case("iqr", lambda x: stats.iqr(x) + stats.iqr(x, scale="normal"), (X,), RTOL),
    Case("mad", lambda x: stats.median_abs_deviation(x, scale="normal"), (X,), RTOL),
    Case("score", lambda x: stats.scoreatpercentile(x, 30), (X,), RTOL),
    Case("quantile", lambda x: stats.quantile(x, [0.3, 0.9]), (X,), RTOL),
    Case("mquantiles", lambda x: np.asarray(stats.mstats.mquantiles(x)), (X,), RTOL),
    Case("wasserstein", lambda x, y: stats.wasserstein_distance(x, y[:5]), (X, Y), RTOL),
    Case("energy", lambda x, y, w: stats.energy_distance(x, y, w), (X, Y, W), RTOL),
    Case("pearsonr", lambda x, y: [*stats.pearsonr(x, y)], (X, Y), 1e-10),
    Case("correlation", lambda x, y: stats.pearsonr(x, y).statistic, (X, Y), RTOL),
    Case("spearmanr", lambda x, y: stats.spearmanr(x, y)[0] * x, (X, Y), RTOL),
    Case("kendalltau", lambda x, y: stats.kendalltau(x, y).statistic * y, (X, Y), RTOL),
    Case("linregress", lambda x, y: [*stats.linregress(x, y)], (X, Y), 1e-10),
    Case("ttest_1samp", lambda x: [*stats.ttest_1samp(x, 0.9)], (X,), RTOL),
    Case("ttest_rel", lambda x, y: stats.ttest_rel(x, y).pvalue, (X, Y), RTOL),
    Case("ttest_ind", lambda x, y: [*stats.ttest_ind(x, y[:5])], (X, Y), RTOL),
    Case("f_oneway", lambda x, y: [*stats.f_oneway(x, y, x * y)], (X, Y), 1e-10),
    Case("chisquare", lambda x: stats.chisquare(x).pvalue, (X,), RTOL),
    Case("jarque_bera", lambda x: stats.jarque_bera(x).statistic, (X,), RTOL),
    Case("entropy", lambda x, y: stats.entropy(x) + stats.entropy(x, y, base=2), (X, Y), RTOL),
    Case("boxcox", lambda x, p: stats.boxcox(x, p), (X, 0.4), RTOL),
    Case("boxcox_llf", lambda p, x: stats.boxcox_llf(p, x), (0.4, X), 1e-10),
    Case("yeojohnson", lambda x: stats.yeojohnson(x, 0.4), (X - 1,), RTOL),
    Case("gaussian_kde", plane, (X, Y, GRID[:2]), 1e-10),
    Case("kde outside", lambda x: OUTSIDE(x) + OUTSIDE.pdf(x), (Y,), 1e-10),
    Case("fits", lambda x: [*stats.norm.fit(x), *stats.expon.fit(x), *stats.laplace.fit(x)], (X,)),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_samples(case: Case) -> None:
    check(Case(case.name, case.function, case.args, case.rtol or RTOL))
    check_forward(case)


def test_welch() -> None:
    """The degrees of freedom depend on the samples, whose derivative is known once."""
    welch = lambda x, y: [*stats.ttest_ind(x, y, equal_var=False)]  # noqa: E731
    check(Case("welch", welch, (X, Y), RTOL), second=False)


@pytest.mark.parametrize("level", ["readable", "fast", "compiled"])
def test_levels(level: Any) -> None:
    f = lambda x: stats.skew(x) * stats.pearsonr(x, x * Y)[0] + stats.entropy(x)  # noqa: E731
    value, gradient = st.value_and_grad(f, level=level)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    slopes = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(7)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: stats.boxcox(x)[0], "a given lmbda"),
        (lambda x: stats.theilslopes(x)[0], "`stats.theilslopes` is not supported"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(X)
