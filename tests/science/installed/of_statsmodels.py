"""Functions of statsmodels: likelihoods of models, links, families, norms, kernels, copulas."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .judge import Call, Case

RNG = np.random.default_rng(0)
N = 30
EXOG = np.column_stack([np.ones(N), RNG.normal(size=(N, 2))])
PARAMS = np.array([0.3, -0.4, 0.2])
ENDOG = EXOG @ PARAMS + 0.3 * RNG.normal(size=N)
COUNTS = RNG.poisson(np.exp(EXOG @ PARAMS))
BINARY = (ENDOG > 0.2).astype(float)
CLASSES = RNG.integers(0, 3, N)
SHARES = 1 / (1 + np.exp(-ENDOG))
POSITIVE = np.exp(ENDOG)
SERIES = np.cumsum(RNG.normal(size=40)) * 0.3


_UNFINISHED = {  # methods that raise NotImplementedError, or have arguments of their own
    *((name, method) for name in ("OLS", "WLS", "GLS", "GLSAR") for method in ("score", "hessian")),
    *(
        (name, method)
        for name in ("NegativeBinomial", "NegativeBinomialP", "GeneralizedPoisson", "Poisson")
        for method in ("cdf", "pdf")
    ),
    *((name, "predict") for name in ("PoissonGMLE", "TLinearModel", "PHReg", "BetaModel")),
    *(("MixedLM", method) for method in ("score", "hessian", "predict")),
    ("OrderedModel", "hessian"),
}


def models() -> Iterator[Case]:
    api = importlib.import_module("statsmodels.api")
    discrete = importlib.import_module("statsmodels.discrete.discrete_model")
    zero = importlib.import_module("statsmodels.discrete.count_model")
    truncated = importlib.import_module("statsmodels.discrete.truncated_model")
    ordinal = importlib.import_module("statsmodels.miscmodels.ordinal_model")
    misc = importlib.import_module("statsmodels.miscmodels.api")
    beta = importlib.import_module("statsmodels.othermod.betareg")
    families = api.families
    more = np.append(PARAMS, 0.6)
    made: dict[str, tuple[Callable[[], Any], Any]] = {
        "OLS": (lambda: api.OLS(ENDOG, EXOG), PARAMS),
        "WLS": (lambda: api.WLS(ENDOG, EXOG, weights=POSITIVE), PARAMS),
        "GLS": (lambda: api.GLS(ENDOG, EXOG, sigma=POSITIVE), PARAMS),
        "GLSAR": (lambda: api.GLSAR(ENDOG, EXOG, 1), PARAMS),
        "Logit": (lambda: discrete.Logit(BINARY, EXOG), PARAMS),
        "Probit": (lambda: discrete.Probit(BINARY, EXOG), PARAMS),
        "Poisson": (lambda: discrete.Poisson(COUNTS, EXOG), PARAMS),
        "GeneralizedPoisson": (lambda: discrete.GeneralizedPoisson(COUNTS, EXOG), more),
        "NegativeBinomial": (lambda: discrete.NegativeBinomial(COUNTS, EXOG), more),
        "NegativeBinomial geometric": (
            lambda: discrete.NegativeBinomial(COUNTS, EXOG, "geometric"),
            PARAMS,
        ),
        "NegativeBinomialP": (lambda: discrete.NegativeBinomialP(COUNTS, EXOG), more),
        "MNLogit": (lambda: discrete.MNLogit(CLASSES, EXOG), np.linspace(-0.4, 0.5, 6)),
        "ZeroInflatedPoisson": (
            lambda: zero.ZeroInflatedPoisson(COUNTS, EXOG),
            np.append(0.2, PARAMS),
        ),
        "ZeroInflatedNegativeBinomialP": (
            lambda: zero.ZeroInflatedNegativeBinomialP(COUNTS, EXOG),
            np.append(0.2, more),
        ),
        "TruncatedLFPoisson": (lambda: truncated.TruncatedLFPoisson(COUNTS + 1, EXOG), PARAMS),
        "HurdleCountModel": (
            lambda: truncated.HurdleCountModel(COUNTS, EXOG),
            np.append(PARAMS, PARAMS),
        ),
        "OrderedModel probit": (
            lambda: ordinal.OrderedModel(CLASSES, EXOG[:, 1:], distr="probit"),
            np.array([0.3, -0.2, -0.4, 0.2]),
        ),
        "OrderedModel logit": (
            lambda: ordinal.OrderedModel(CLASSES, EXOG[:, 1:], distr="logit"),
            np.array([0.3, -0.2, -0.4, 0.2]),
        ),
        "BetaModel": (lambda: beta.BetaModel(SHARES, EXOG), np.append(PARAMS, 1.2)),
        "PoissonGMLE": (lambda: misc.PoissonGMLE(COUNTS, EXOG), PARAMS),
        "TLinearModel": (lambda: misc.TLinearModel(ENDOG, EXOG), np.append(PARAMS, (5.0, 0.6))),
        "PHReg": (lambda: api.PHReg(POSITIVE, EXOG[:, 1:]), PARAMS[1:]),
        "MixedLM": (
            lambda: api.MixedLM(ENDOG, EXOG, groups=np.arange(N) // 5),
            np.append(PARAMS, 0.3),
        ),
    }
    for family, link in (
        ("Gaussian", None),
        ("Poisson", None),
        ("Binomial", None),
        ("Gamma", "Log"),
        ("InverseGaussian", "Log"),
        ("NegativeBinomial", None),
        ("Tweedie", None),
    ):

        def glm(family: str = family, link: Any = link) -> Any:
            endog = {
                "Gaussian": ENDOG,
                "Binomial": BINARY,
                "Poisson": COUNTS,
                "NegativeBinomial": COUNTS,
            }.get(family, POSITIVE)
            given = {"link": getattr(families.links, link)()} if link else {}
            given |= {"alpha": 0.7} if family == "NegativeBinomial" else {}
            given |= {"var_power": 1.5, "eql": True} if family == "Tweedie" else {}
            return api.GLM(endog, EXOG, getattr(families, family)(**given))

        made[f"GLM {family}"] = glm, PARAMS
    for name, (make, params) in made.items():
        for method in (
            "loglike",
            "loglikeobs",
            "score",
            "score_obs",
            "predict",
            "hessian",
            "nloglikeobs",
            "cdf",
            "pdf",
        ):

            def bound(
                make: Callable[[], Any] = make, method: str = method, params: Any = params
            ) -> Call:
                given = (np.linspace(-1, 1, 5),) if method in ("cdf", "pdf") else (params,)
                return Call(getattr(make(), method), given)

            if hasattr(type(make()), method) and (name.split()[0], method) not in _UNFINISHED:
                yield Case(f"{name}.{method}", bound)
    for norm in ("HuberT", "TukeyBiweight", "LeastSquares", "Hampel"):
        yield Case(
            f"RLM {norm}.deviance",
            lambda norm=norm: Call(
                lambda p: api.RLM(ENDOG, EXOG, getattr(api.robust.norms, norm)()).M.rho(
                    ENDOG - EXOG @ p
                ),
                (PARAMS,),
            ),
        )


def series() -> Iterator[Case]:
    api = importlib.import_module("statsmodels.tsa.api")
    made: dict[str, tuple[Callable[[], Any], Any]] = {
        "AutoReg": (lambda: api.AutoReg(SERIES, 2), np.array([0.1, 0.3, 0.2])),
        "ARIMA": (lambda: api.ARIMA(SERIES, order=(1, 0, 1)), np.array([0.1, 0.3, 0.2, 0.5])),
        "SARIMAX": (lambda: api.SARIMAX(SERIES, order=(1, 0, 0)), np.array([0.3, 0.5])),
        "UnobservedComponents": (
            lambda: api.UnobservedComponents(SERIES, "local level"),
            np.array([0.3, 0.5]),
        ),
        "ETSModel": (lambda: api.ETSModel(SERIES + 5), np.array([0.4, 4.8])),
    }
    for name, (make, params) in made.items():
        yield Case(
            f"{name}.loglike", lambda make=make, params=params: Call(make().loglike, (params,))
        )
    process = importlib.import_module("statsmodels.tsa.arima_process")
    ar, ma = np.array([1, -0.4]), np.array([1, 0.3])
    for name in (
        "arma_acovf",
        "arma_acf",
        "arma_impulse_response",
        "arma2ma",
        "arma2ar",
        "arma_pacf",
    ):
        yield Case(
            f"arima_process.{name}", lambda name=name: Call(getattr(process, name), (ar, ma, 6))
        )
    yield Case(
        "arima_process.arma_periodogram",
        lambda: Call(lambda ar: process.arma_periodogram(ar, ma)[1][1:], (ar,)),
    )
    tools = importlib.import_module("statsmodels.tsa.stattools")
    for name in (
        "acovf",
        "acf",
        "pacf_yw",
        "levinson_durbin",
        "q_stat",
        "kpss",
        "pacf_ols",
        "pacf_burg",
    ):
        given = (SERIES, 30) if name == "q_stat" else (SERIES,)
        yield Case(
            f"stattools.{name}", lambda name=name, given=given: Call(getattr(tools, name), given)
        )
    tsatools = importlib.import_module("statsmodels.tsa.tsatools")
    for name in ("_ar_transparams", "_ar_invtransparams", "_ma_transparams"):
        yield Case(
            f"tsatools.{name}",
            lambda name=name: Call(getattr(tsatools, name), (np.array([0.2, -0.3, 0.1]),)),
        )
    yield Case("tsatools.detrend", lambda: Call(tsatools.detrend, (SERIES,)))
    yield Case("tsatools.lagmat", lambda: Call(tsatools.lagmat, (SERIES, 2)))
    filters = importlib.import_module("statsmodels.tsa.filters.api")
    for name in ("bkfilter", "cffilter", "hpfilter"):
        yield Case(f"filters.{name}", lambda name=name: Call(getattr(filters, name), (SERIES,)))
    yield Case(
        "filters.recursive_filter",
        lambda: Call(filters.recursive_filter, (SERIES, np.array([0.3]))),
    )
    yield Case(
        "filters.convolution_filter",
        lambda: Call(
            lambda x: filters.convolution_filter(x, np.array([0.2, 0.5, 0.3]), nsides=1)[2:],
            (SERIES,),
        ),
    )
    durbin = importlib.import_module("statsmodels.stats.stattools")
    for name in (
        "durbin_watson",
        "jarque_bera",
        "robust_skewness",
        "medcouple",
        "robust_kurtosis",
        "omni_normtest",
    ):
        yield Case(
            f"stats.stattools.{name}", lambda name=name: Call(getattr(durbin, name), (SERIES,))
        )


def links() -> Iterator[Case]:
    links = importlib.import_module("statsmodels.genmod.families.links")
    p, z = np.array([0.2, 0.45, 0.7]), np.array([0.3, 0.8, 1.4])
    for name in (
        "Logit",
        "Identity",
        "InversePower",
        "Sqrt",
        "InverseSquared",
        "Log",
        "LogC",
        "Probit",
        "Cauchy",
        "CLogLog",
        "LogLog",
        "NegativeBinomial",
    ):
        for method in ("__call__", "inverse", "deriv", "deriv2", "inverse_deriv", "inverse_deriv2"):
            point = z if "inverse" in method else p
            if (name == "LogC" and "inverse" in method) or (
                name == "NegativeBinomial" and "inverse" in method
            ):
                point = -point
            yield Case(
                f"links.{name}.{method}",
                lambda name=name, method=method, point=point: Call(
                    getattr(getattr(links, name)(), method), (point,)
                ),
            )
    families = importlib.import_module("statsmodels.genmod.families.family")
    y, mu = np.array([1.0, 0.0, 1.0]), np.array([0.4, 0.3, 0.8])
    for name in (
        "Poisson",
        "Gaussian",
        "Gamma",
        "Binomial",
        "InverseGaussian",
        "NegativeBinomial",
        "Tweedie",
    ):
        target = y if name in ("Poisson", "Binomial", "NegativeBinomial", "Gaussian") else y + 0.5
        options = {
            "NegativeBinomial": {"alpha": 0.7},
            "Tweedie": {"var_power": 1.5, "eql": True},
        }.get(name, {})

        def made(name: str = name, options: Any = options) -> Any:
            family = getattr(families, name)(**options)
            if name == "Binomial":
                family.initialize(y, np.ones(3))
            return family

        for method in ("deviance", "loglike", "loglike_obs", "resid_dev", "resid_anscombe"):
            yield Case(
                f"families.{name}.{method}",
                lambda method=method, made=made, target=target: Call(
                    getattr(made(), method), (target, mu), 1
                ),
            )
        for method in ("weights", "fitted", "predict", "variance"):
            yield Case(
                f"families.{name}.{method}",
                lambda method=method, made=made: Call(getattr(made(), method), (mu,)),
            )


def norms() -> Iterator[Case]:
    norms = importlib.import_module("statsmodels.robust.norms")
    z = np.array([-4.4, -2.1, -0.7, 0.3, 1.2, 2.3, 3.7])
    for name in (
        "LeastSquares",
        "HuberT",
        "RamsayE",
        "AndrewWave",
        "TrimmedMean",
        "Hampel",
        "TukeyBiweight",
        "TukeyQuartic",
    ):
        for method in ("rho", "psi", "weights", "__call__"):
            yield Case(
                f"norms.{name}.{method}",
                lambda name=name, method=method: Call(
                    getattr(getattr(norms, name)(), method), (z,)
                ),
            )
    yield Case("norms.StudentT.rho", lambda: Call(norms.StudentT().rho, (z,)))
    yield Case("norms.StudentT.psi", lambda: Call(norms.StudentT().psi, (z,)))
    yield Case(
        "norms.MQuantileNorm.rho", lambda: Call(norms.MQuantileNorm(0.3, norms.HuberT()).rho, (z,))
    )
    yield Case("norms.estimate_location", lambda: Call(norms.estimate_location, (z, 1.3)))
    scale = importlib.import_module("statsmodels.robust.scale")
    for name in ("mad", "iqr", "scale_tau", "qn_scale"):
        yield Case(f"scale.{name}", lambda name=name: Call(getattr(scale, name), (z**2 + z,)))
    yield Case("scale.huber", lambda: Call(scale.huber, (z,)))
    yield Case("scale.hubers_scale", lambda: Call(scale.HuberScale(), (5, 7, z), 2))


def kernels() -> Iterator[Case]:
    asymmetric = importlib.import_module("statsmodels.nonparametric.kernels_asymmetric")
    sample = RNG.random(9) * 0.8 + 0.1
    for name, function in vars(asymmetric).items():
        if name.startswith("kernel_") and inspect.isfunction(function):
            yield Case(
                f"kernels_asymmetric.{name}",
                lambda function=function: Call(function, (0.4, sample, 0.1), 2),
            )
    for kind in ("beta", "gamma", "invgauss", "lognorm"):
        yield Case(
            f"kernels_asymmetric.pdf_kernel_asym {kind}",
            lambda kind=kind: Call(
                asymmetric.pdf_kernel_asym, (np.array([0.3, 0.6]), sample, 0.1, kind), 2
            ),
        )
    plain = importlib.import_module("statsmodels.nonparametric.kernels")
    for name in ("gaussian", "tricube", "gaussian_convolution", "gaussian_cdf", "d_gaussian"):
        yield Case(
            f"nonparametric.kernels.{name}",
            lambda name=name: Call(getattr(plain, name), (0.7, sample, 0.4)),
        )
    sandbox = importlib.import_module("statsmodels.sandbox.nonparametric.kernels")
    for name in (
        "Triangular",
        "Epanechnikov",
        "Biweight",
        "Triweight",
        "Gaussian",
        "Cosine",
        "Tricube",
    ):
        yield Case(
            f"sandbox.kernels.{name}.density",
            lambda name=name: Call(getattr(sandbox, name)(h=0.5).density, (sample, 0.42)),
        )
        yield Case(
            f"sandbox.kernels.{name}.smooth",
            lambda name=name: Call(
                getattr(sandbox, name)(h=0.5).smooth, (sample, sample**2, 0.42), 1
            ),
        )


def copulas() -> Iterator[Case]:
    api = importlib.import_module("statsmodels.distributions.copula.api")
    u = np.array([[0.3, 0.6], [0.2, 0.9], [0.7, 0.45]])
    for name, theta in (("ClaytonCopula", 1.4), ("FrankCopula", 2.1), ("GumbelCopula", 1.7)):
        for method in ("pdf", "logpdf", "cdf"):
            yield Case(
                f"{name}.{method}",
                lambda name=name, theta=theta, method=method: Call(
                    getattr(getattr(api, name)(), method), (u, (theta,))
                ),
            )
            yield Case(
                f"{name}.{method} by theta",
                lambda name=name, theta=theta, method=method: Call(
                    lambda theta: getattr(getattr(api, name)(), method)(u, (theta,)), (theta,)
                ),
            )
    for method in ("pdf", "logpdf"):
        yield Case(
            f"GaussianCopula.{method}",
            lambda method=method: Call(getattr(api.GaussianCopula(corr=0.4), method), (u,)),
        )
        yield Case(
            f"StudentTCopula.{method}",
            lambda method=method: Call(getattr(api.StudentTCopula(corr=0.4, df=5), method), (u,)),
        )
    yield Case("IndependenceCopula.cdf", lambda: Call(api.IndependenceCopula().cdf, (u,)))
    transforms = importlib.import_module("statsmodels.distributions.copula.transforms")
    for name in ("TransfFrank", "TransfClayton", "TransfGumbel"):
        for method in ("evaluate", "inverse", "deriv", "deriv2"):
            yield Case(
                f"{name}.{method}",
                lambda name=name, method=method: Call(
                    getattr(getattr(transforms, name)(), method), (np.array([0.3, 0.6]), 1.6)
                ),
            )
    depend = importlib.import_module("statsmodels.distributions.copula.depfunc_ev")
    for name, given in (
        ("AsymLogistic", (0.5, 0.4, 0.6)),
        ("AsymNegLogistic", (0.5, 0.4, 0.6)),
        ("AsymMixed", (0.3, 0.2)),
        ("HR", (0.7,)),
        ("TEV", (0.4, 3.0)),
    ):
        yield Case(
            f"{name}.evaluate",
            lambda name=name, given=given: Call(
                getattr(depend, name)().evaluate, (np.array([0.3, 0.6]), *given)
            ),
        )


def tools() -> Iterator[Case]:
    nonlinear = importlib.import_module("statsmodels.tools.eval_measures")
    one, two = ENDOG, ENDOG + 0.1 * RNG.normal(size=N)
    for name in (
        "mse",
        "rmse",
        "rmspe",
        "maxabs",
        "meanabs",
        "medianabs",
        "bias",
        "medianbias",
        "vare",
        "stde",
        "iqr",
    ):
        yield Case(
            f"eval_measures.{name}", lambda name=name: Call(getattr(nonlinear, name), (two, one))
        )
    for name in ("aic", "bic", "hqic", "aicc"):
        yield Case(
            f"eval_measures.{name}",
            lambda name=name: Call(getattr(nonlinear, name), (-12.3, 30, 3)),
        )
    moments = importlib.import_module("statsmodels.stats.moment_helpers")
    values = np.array([0.2, 1.3, 0.4, 3.7])
    for name in (
        "mc2mnc",
        "mnc2mc",
        "cum2mc",
        "mnc2cum",
        "mc2cum",
        "mvsk2mc",
        "mvsk2mnc",
        "mc2mvsk",
        "mnc2mvsk",
    ):
        given = tuple(values) if "mvsk2" in name else values
        if isinstance(given, tuple):
            yield Case(
                f"moment_helpers.{name}",
                lambda name=name: Call(
                    lambda a: np.array(getattr(moments, name)(tuple(a))), (values,)
                ),
            )
        else:
            yield Case(
                f"moment_helpers.{name}",
                lambda name=name: Call(lambda a: np.array(getattr(moments, name)(a)), (values,)),
            )
    yield Case("moment_helpers.cov2corr", lambda: Call(moments.cov2corr, (np.cov(EXOG[:, 1:].T),)))
    correlation = importlib.import_module("statsmodels.stats.correlation_tools")
    yield Case(
        "correlation_tools.clip_evals",
        lambda: Call(correlation.clip_evals, (np.cov(EXOG[:, 1:].T),)),
    )
    gof = importlib.import_module("statsmodels.stats.gof")
    yield Case(
        "gof.powerdiscrepancy",
        lambda: Call(gof.powerdiscrepancy, (np.array([5.0, 9, 6]), np.array([0.3, 0.4, 0.3]))),
    )
    yield Case(
        "gof.chisquare_effectsize",
        lambda: Call(
            gof.chisquare_effectsize, (np.array([0.3, 0.5, 0.2]), np.array([0.3, 0.4, 0.3]))
        ),
    )
    meta = importlib.import_module("statsmodels.stats.meta_analysis")
    yield Case(
        "meta_analysis.effectsize_smd",
        lambda: Call(meta.effectsize_smd, (1.2, 0.4, 20, 0.9, 0.5, 22)),
    )
    weight = importlib.import_module("statsmodels.stats.weightstats")
    for name in (
        "mean",
        "var",
        "std",
        "sum",
        "std_mean",
        "demeaned",
        "sumsquares",
        "tconfint_mean",
    ):

        def described(name: str = name) -> Call:
            def statistic(data: Any) -> Any:
                made = getattr(weight.DescrStatsW(data, weights=POSITIVE), name)
                return made() if callable(made) else made

            return Call(statistic, (ENDOG,))

        yield Case(f"DescrStatsW.{name}", described)
    distance = importlib.import_module("statsmodels.stats.dist_dependence_measures")
    for name in ("distance_covariance", "distance_correlation"):
        yield Case(f"{name}", lambda name=name: Call(getattr(distance, name), (one, two)))
    yield Case("distance_variance", lambda: Call(distance.distance_variance, (one,)))
    diagnostic = importlib.import_module("statsmodels.stats.diagnostic")
    yield Case("het_breuschpagan", lambda: Call(diagnostic.het_breuschpagan, (ENDOG, EXOG)))
    multivariate = importlib.import_module("statsmodels.stats.multivariate_tools")
    yield Case(
        "multivariate_tools.partial_project",
        lambda: Call(lambda a: multivariate.partial_project(a, EXOG).resid, (EXOG[:, 1:] ** 2,)),
    )
    factor = importlib.import_module("statsmodels.multivariate.factor_rotation")
    loadings = RNG.normal(size=(5, 2))
    yield Case(
        "factor_rotation.oblimin_objective", lambda: Call(factor.oblimin_objective, (loadings,))
    )
    numdiff = importlib.import_module("statsmodels.tools.numdiff")
    yield Case(
        "numdiff.approx_fprime",
        lambda: Call(lambda x: numdiff.approx_fprime(x, lambda y: np.sum(y**3), 1e-3), (PARAMS,)),
    )


def cases() -> Iterator[Case]:
    for family in (models, series, links, norms, kernels, copulas, tools):
        yield from family()
