"""Functions of SciPy: test problems, distributions, distances, statistics, signals."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from .judge import Call, Case

POINT = np.array([0.3, 1.2, -0.7, 0.45, 1.6])


def module(name: str) -> Any:
    return importlib.import_module(f"scipy.{name}")


def fixed(name: str, function: Any, *arguments: Any, wrt: int = 0, **keywords: Any) -> Case:
    return Case(name, lambda: Call(function, arguments, wrt, keywords))


def found(path: str, name: str, *arguments: Any, wrt: int = 0, **keywords: Any) -> Case:
    """A function that is looked up when its turn comes: modules of tests are slow to import."""

    def make() -> Call:
        function = module(path)
        for part in name.split("."):
            function = getattr(function, part)
            if isinstance(function, type):
                function = function()
                getattr(function, "setup_method", lambda: None)()
        return Call(function, arguments, wrt, keywords)

    return Case(f"{path}.{name}", make)


def optimize() -> Iterator[Case]:
    for name in ("rosen", "rosen_der", "rosen_hess"):
        yield found("optimize", name, POINT)
    yield found("optimize", "rosen_hess_prod", POINT, POINT[::-1].copy(), wrt=1)
    tests = "optimize.tests.test_optimize"
    for name in ("func", "grad", "hess"):
        yield found(tests, f"CheckOptimize.{name}", POINT[:3])
    for name in ("himmelblau", "himmelblau_grad", "himmelblau_hess"):
        yield found(tests, name, POINT[:2])
    for name in ("f1", "f2", "f3", "brute_func"):
        yield found(tests, name, POINT[:2], 2, 3, 7, 8, 9, 10, 44, -1, 2, 26, 1, -2, 0.5)
    for name in ("fun", "jac"):
        yield found(tests, f"TestLBFGSBBounds.{name}", POINT[:2])
    yield found(tests, "TestOptimizeScalar.fun", 0.7)
    yield found(tests, "FunctionWithGradient", POINT[:3])
    least = "optimize.tests.test_least_squares"
    yield found(least, "fun_trivial", np.array([2.0]))
    for name in (
        "fun_2d_trivial",
        "fun_rosenbrock",
        "jac_rosenbrock",
        "fun_rosenbrock_cropped",
        "Fun_Rosenbrock",
    ):
        yield found(least, name, POINT[:2])
    yield found(least, "fun_bvp", np.linspace(0.1, 0.9, 9))
    yield found(least, "BroydenTridiagonal.fun", np.linspace(-1, 1, 100))
    yield found(least, "ExponentialFittingProblem.fun", np.array([1.2, -0.7]))
    yield found(least, "cubic_soft_l1", np.array([0.3, 1.4, 2.0]))
    constrained = "optimize.tests.test_minimize_constrained"
    for problem in (
        "Maratos",
        "MaratosGradInFunc",
        "HyperbolicIneq",
        "Rosenbrock",
        "IneqRosenbrock",
        "EqIneqRosenbrock",
    ):
        for name in ("fun", "grad", "hess"):
            if (problem, name) != ("MaratosGradInFunc", "grad"):
                yield found(constrained, f"{problem}.{name}", POINT[:2])
    yield found(constrained, "Elec.fun", np.random.default_rng(0).normal(size=600))

    def electrons(part: str) -> Case:
        def make() -> Call:
            return Call(
                getattr(module(constrained).Elec(n_electrons=4), part),
                (np.random.default_rng(0).normal(size=12),),
            )

        return Case(f"{constrained}.Elec(4).{part}", make)

    yield from (electrons(part) for part in ("fun", "grad", "hess"))

    def constraint(problem: str) -> Case:
        def make() -> Call:
            chosen = module(constrained)
            made = chosen.Elec(n_electrons=2) if problem == "Elec" else getattr(chosen, problem)()
            return Call(made.constr.fun, (POINT[:2] if problem != "Elec" else np.r_[POINT, 0.3],))

        return Case(f"{constrained}.{problem}.constr", make)

    yield from (constraint(problem) for problem in ("Maratos", "HyperbolicIneq", "Elec"))
    nonlinear = "optimize.tests.test_nonlin"
    for name, point in (
        ("F", POINT),
        ("F2", POINT),
        ("F3", POINT[:3]),
        ("F4_powell", POINT[:2]),
        ("F5", POINT[:4] + 1),
        ("F6", POINT[:2]),
    ):
        yield found(nonlinear, name, point)
    yield found(
        "optimize.tests.test_minpack", "pressure_network", POINT[:4] + 1, 4.0, np.full(4, 0.5)
    )
    yield found(
        "optimize.tests.test_minpack",
        "pressure_network_jacobian",
        POINT[:4] + 1,
        4.0,
        np.full(4, 0.5),
    )
    yield found(
        "optimize.tests.test_minpack",
        "pressure_network_fun_and_grad",
        POINT[:4] + 1,
        4.0,
        np.full(4, 0.5),
    )
    basin = "optimize.tests.test__basinhopping"
    yield found(basin, "func1d", POINT[:1])
    for name in ("func2d", "func2d_nograd", "func2d_easyderiv"):
        yield found(basin, name, POINT[:2])
    shgo = "optimize.tests.test__shgo"
    for name, size in (
        ("test1_1", 2),
        ("test2_1", 2),
        ("test3_1", 2),
        ("test4_1", 7),
        ("test5_1", 2),
        ("testLJ_", 6),
        ("test_s_", 3),
        ("test_table", 2),
    ):
        x = np.random.default_rng(1).uniform(0.5, 2, size)
        for part in ("f", "g"):

            def make(name: str = name, part: str = part, x: Any = x) -> Call:
                tests = module(shgo)
                name = {"testLJ_": "test_LJ", "test_s_": "test_s"}.get(name, name)
                if not hasattr(tests, name):
                    name = next(n for n in vars(tests) if n.lower().startswith(name.lower()))
                return Call(getattr(getattr(tests, name), part), (x,))

            if part == "f" or name in ("test1_1", "test2_1", "test4_1"):
                yield Case(f"{shgo}.{name}.{part}", make)
    yield found("optimize.tests.test__dual_annealing", "TestDualAnnealing.func", POINT)
    yield found("optimize.tests.test__dual_annealing", "TestDualAnnealing.rosen_der_wrapper", POINT)
    yield found(
        "optimize.tests.test__differential_evolution",
        "TestDifferentialEvolutionSolver.quadratic",
        POINT[:1],
    )
    for name in (
        "fun",
        "jac",
        "fun_and_jac",
        "f_eqcon",
        "fprime_eqcon",
        "f_eqcon_scalar",
        "f_ieqcon",
        "f_ieqcon2",
    ):
        yield found("optimize.tests.test_slsqp", f"TestSLSQP.{name}", POINT[:2])
    for name in ("fun", "con1", "con2"):
        yield found("optimize.tests.test_cobyla", f"TestCobyla.{name}", POINT[:2])
    for name in ("sphere", "styblinski_tang"):
        yield found("optimize.tests.test_direct", f"TestDIRECT.{name}", POINT)
    yield found("optimize.tests.test_direct", "TestDIRECT.circle_with_args", POINT[:2], 0.3, 0.4)
    for name in ("f1", "f3", "f4", "f5"):
        yield found("optimize.tests.test_tnc", f"TestTnc.{name}", POINT[:2])
    yield found("optimize.tests.test_tnc", "TestTnc.f38", POINT[:4])
    yield found("optimize.tests.test_tnc", "TestTnc.f45", POINT)
    yield found("optimize.tests.test_tnc", "TestTnc.g38", POINT[:4])
    for name in ("_scalar_func_1", "_scalar_func_2", "_scalar_func_3"):
        yield found("optimize.tests.test_linesearch", f"TestLineSearch.{name}", 0.6)
    yield found("optimize.tests.test_linesearch", "TestLineSearch._line_func_1", POINT[:3])
    differ = "optimize.tests.test_differentiable_functions"
    for name in ("fun", "grad", "hess"):
        yield found(differ, f"ExScalarFunction.{name}", POINT[:2])
    for name in ("fun", "jac"):
        yield found(differ, f"ExVectorialFunction.{name}", POINT[:2])
    numdiff = "optimize.tests.test__numdiff"
    for name, x in (
        ("fun_scalar_scalar", 0.4),
        ("jac_scalar_scalar", 0.4),
        ("fun_scalar_vector", POINT[:1]),
        ("fun_vector_scalar", POINT[:2]),
        ("jac_vector_scalar", POINT[:2]),
        ("fun_vector_vector", POINT[:2]),
        ("jac_vector_vector", POINT[:2]),
        ("fun_zero_jacobian", POINT[:2]),
        ("fun_non_numpy", 0.4),
    ):
        yield found(numdiff, f"TestApproxDerivativesDense.{name}", x)
    spectral = "optimize.tests.test__spectral"
    for name in ("f_1", "f_2"):
        yield found(spectral, name, POINT)


def roots() -> Iterator[Case]:
    path = "optimize._tstutils"
    for name in ("f1", "f2", "f3", "f4", "f5", "f6"):
        for suffix in ("", "_fp", "_fpp") if name in ("f1", "f2", "f3") else ("",):
            yield found(path, name + suffix, 1.3)
    for k in range(1, 10):
        yield found(path, f"fun{k}", 0.6)
    extra = {
        3: (-40.0, -1.0),
        4: (4, 0.2),
        **dict.fromkeys((6, 7, 8, 9, 10, 11, 12), (5,)),
        14: (5,),
        15: (20,),
    }
    for k in range(1, 16):
        for suffix in ("f", "fp", "fpp"):
            yield found(path, f"aps{k:02}_{suffix}", 0.0007 if k == 15 else 0.35, *extra.get(k, ()))


def equations() -> Iterator[Case]:
    bvp = "integrate.tests.test_bvp"
    x, rng = np.linspace(0.1, 1, 5), np.random.default_rng(0)
    pair = rng.normal(size=(2, 5))
    for name in (
        "exp_fun",
        "emden_fun",
        "undefined_fun",
        "shock_fun",
        "nonlin_bc_fun",
        "exp_fun_jac",
        "emden_fun_jac",
        "big_fun",
    ):
        yield found(bvp, name, x, pair, wrt=1)
    yield found(bvp, "sl_fun", x, pair, np.array([1.3]), wrt=2)
    yield found(bvp, "sl_fun_jac", x, pair, np.array([1.3]), wrt=2)
    for name in ("exp_bc", "emden_bc", "shock_bc", "nonlin_bc_bc", "big_bc", "undefined_bc"):
        yield found(bvp, name, pair[:, 0], pair[:, 1])
    yield found(bvp, "sl_bc", pair[:, 0], pair[:, 1], np.array([1.3]), wrt=2)
    yield found(
        bvp, "big_fun_with_parameters", x, rng.normal(size=(10, 5)), np.array([1.3, 0.4]), wrt=2
    )
    yield found(bvp, "big_bc_with_parameters", pair[:, 0], pair[:, 1], np.array([1.3, 0.4]), wrt=2)
    for name in ("exp_sol", "emden_sol", "shock_sol", "nonlin_bc_sol"):
        yield found(bvp, name, x)
    yield found(bvp, "sl_sol", x, np.array([1.3]), wrt=1)
    yield found(bvp, "big_sol", x, 4)
    integrate = "integrate.tests.test_integrate"
    state = {"SimpleOscillator": 2, "ComplexExp": 0, "Pi": 0, "CoupledDecay": 3}
    for name, size in state.items():
        if size:
            yield found(integrate, f"{name}.f", POINT[:size], 0.3)
            yield found(integrate, f"{name}.jac", POINT[:size], 0.3)
    ivp = "integrate._ivp.tests.test_ivp"
    two = POINT[:2]
    for name, y in (
        ("fun_zero", two),
        ("fun_linear", two),
        ("fun_rational", two + 2),
        ("fun_rational_vectorized", pair + 3),
        ("event_rational_1", two + 2),
        ("event_rational_2", two + 2),
        ("fun_medazko", np.linspace(0.1, 1, 20)),
        ("fun_event_dense_output_LSODA", two),
        ("jac_rational", two + 2),
        ("emden_fowler", two),
    ):
        yield found(ivp, name, 1.3, y, wrt=1)


def distributions() -> Iterator[Case]:
    stats = module("stats")
    table = importlib.import_module("scipy.stats._distr_params").distcont
    seen = set()
    for name, shapes in table:
        if not isinstance(name, str) or name in seen:
            continue
        seen.add(name)
        distribution = getattr(stats, name)
        kind = type(distribution)
        generic = stats.rv_continuous
        for method in ("_pdf", "_logpdf", "_cdf", "_sf"):
            if getattr(kind, method) is getattr(generic, method) or (
                method == "_sf" and len(seen) % 3
            ):
                continue
            if not inspect.isfunction(getattr(kind, method)):
                continue

            def make(
                distribution: Any = distribution, method: str = method, shapes: Any = shapes
            ) -> Call:
                x = distribution.ppf(np.array([0.2, 0.37, 0.66, 0.83]), *shapes)
                return Call(getattr(distribution, method), (x, *(float(shape) for shape in shapes)))

            yield Case(f"stats.{name}.{method}", make)


def statistics() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    a, b = rng.random(12) + 0.2, rng.random(12) + 0.2
    for name in (
        "gmean",
        "hmean",
        "tmean",
        "tvar",
        "tstd",
        "tsem",
        "skew",
        "kurtosis",
        "sem",
        "zscore",
        "gzscore",
        "gstd",
        "iqr",
        "median_abs_deviation",
        "trimboth",
        "entropy",
        "variation",
        "moment",
        "kstat",
        "kstatvar",
        "circmean",
        "circvar",
        "circstd",
        "skewtest",
        "kurtosistest",
        "jarque_bera",
        "expectile",
        "lmoment",
        "rankdata",
        "normaltest",
        "boxcox_llf",
        "differential_entropy",
    ):
        if name == "boxcox_llf":
            yield found("stats", name, 0.4, a)
            yield found("stats", "yeojohnson_llf", 0.4, a)
        elif name != "rankdata":
            yield found("stats", name, a)
    yield found("stats", "pmean", a, 1.7)
    yield found("stats", "trim_mean", a, 0.1)
    for name in (
        "pearsonr",
        "linregress",
        "ttest_ind",
        "ttest_rel",
        "zmap",
        "f_oneway",
        "wasserstein_distance",
        "energy_distance",
        "spearmanr",
    ):
        yield found("stats", name, a, b)
    yield found("stats", "ttest_1samp", a, 0.5)
    yield found("stats", "ttest_ind_from_stats", 0.4, 0.7, 10, 0.6, 0.8, 12)
    yield found("stats", "power_divergence", a, b * a.sum() / b.sum())
    covariance = np.cov(rng.normal(size=(3, 20)))
    yield found("stats", "multivariate_normal.logpdf", POINT[:3], np.zeros(3), covariance)
    yield found("stats", "multivariate_t.logpdf", POINT[:3], np.zeros(3), covariance, 4.0)
    yield found(
        "stats", "dirichlet.logpdf", np.array([0.2, 0.3, 0.5]), np.array([1.2, 2.0, 3.0]), wrt=1
    )
    yield found("stats", "wishart.logpdf", covariance, 5, np.eye(3))
    yield found("stats", "gaussian_kde", a)._replace(
        name="stats.gaussian_kde.evaluate",
        make=lambda: Call(module("stats").gaussian_kde(a).evaluate, (b,)),
    )


def distances() -> Iterator[Case]:
    u, v = POINT, np.array([0.9, 0.1, 0.5, -0.6, 1.1])
    for name in (
        "euclidean",
        "sqeuclidean",
        "correlation",
        "cosine",
        "cityblock",
        "chebyshev",
        "braycurtis",
        "canberra",
    ):
        yield found("spatial.distance", name, u, v)
    yield found("spatial.distance", "minkowski", u, v, 3)
    yield found("spatial.distance", "seuclidean", u, v, np.full(5, 1.3))
    yield found("spatial.distance", "mahalanobis", u, v, np.eye(5) + 0.1)
    yield found("spatial.distance", "jensenshannon", np.abs(u), np.abs(v))
    yield found("spatial.distance", "euclidean", u, v, w=np.array([1, 2, 3, 1, 0.5]))._replace(
        name="spatial.distance.euclidean weighted"
    )
    yield fixed(
        "spatial.geometric_slerp",
        module("spatial").geometric_slerp,
        np.array([1.0, 0, 0]),
        np.array([0, 1.0, 0]),
        np.array([0.2, 0.5]),
        wrt=2,
    )


def special() -> Iterator[Case]:
    x = np.array([0.4, 0.9, 1.7])
    for name in ("jvp", "yvp", "kvp", "ivp"):
        yield found("special", name, 2, x, wrt=1)
    yield found("special", "diric", x, 5)
    yield found("special", "polygamma", 1, x, wrt=1)
    yield found("special", "assoc_laguerre", x, 3, 0.5)
    yield found("special", "zeta", x + 2)
    yield found("special", "multigammaln", 4.3, 3)
    yield found("special", "softplus", x)
    for name in ("logsumexp", "softmax", "log_softmax"):
        yield found("special", name, x)
    for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
        yield found("special", name, 2, x, wrt=1)
    yield found("special", "comb", x + 4, 2.0)
    yield found("special", "factorial", 5)._replace(
        name="special.perm", make=lambda: Call(module("special").perm, (x + 4, 2.0))
    )
    for name in ("riccati_jn", "riccati_yn"):
        yield found("special", name, 3, 0.7, wrt=1)
    for name in ("legendre", "chebyt", "chebyu", "hermite", "hermitenorm", "laguerre", "jacobi"):

        def make(name: str = name) -> Call:
            return Call(
                getattr(module("special"), name)(4, *((0.3, 0.6) if name == "jacobi" else ())), (x,)
            )

        yield Case(f"special.{name}(4)", make)


def signals() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    t, x, taps = np.linspace(0.05, 0.95, 16), rng.normal(size=16), np.array([0.2, 0.5, 0.3])
    windows = "signal.windows"
    yield found(windows, "general_cosine", 9, np.array([0.3, 0.5, 0.2]), wrt=1)
    for name, value in (
        ("general_hamming", 0.6),
        ("kaiser", 3.0),
        ("gaussian", 2.0),
        ("tukey", 0.4),
    ):
        yield found(windows, name, 9, value, wrt=1)
    yield found(windows, "general_gaussian", 9, 1.3, 2.0, wrt=2)
    yield found(windows, "exponential", 9, None, 2.0, wrt=2)
    yield found("signal", "chirp", t, 1.3, 1.0, 4.0)
    yield found("signal", "chirp", t, 1.3, 1.0, 4.0, "quadratic", wrt=1)._replace(
        name="signal.chirp quadratic"
    )
    yield found("signal", "gausspulse", 0.01 * t, 20.0)
    yield found("signal", "sweep_poly", t, np.array([0.3, 1.2, 0.4]))
    yield found("signal", "sawtooth", t)
    yield found("signal", "gauss_spline", t, 3)
    for name in ("correlate", "convolve", "fftconvolve", "oaconvolve"):
        yield found("signal", name, x, taps)
    yield found("signal", "lfilter", taps, np.array([1.0, 0.3]), x, wrt=2)
    yield found("signal", "lfilter_zi", taps, np.array([1.0, 0.3, 0.1]))
    yield found("signal", "filtfilt", taps, np.array([1.0, 0.3]), x, wrt=2)
    yield found("signal", "detrend", x)
    yield found("signal", "resample", x, 24)
    yield found("signal", "resample_poly", x, 3, 2)
    yield found("signal", "wiener", x)
    yield found("signal", "medfilt", x)
    yield found("signal", "savgol_filter", x, 5, 2)
    yield found("signal", "vectorstrength", t, 0.7)
    yield found("signal", "deconvolve", x, taps)
    yield found("signal", "welch", x, 1.0, "hann", 8)._replace(
        make=lambda: Call(lambda x: module("signal").welch(x, nperseg=8)[1], (x,))
    )
    yield found("signal", "periodogram", x)._replace(
        make=lambda: Call(lambda x: module("signal").periodogram(x)[1], (x,))
    )
    yield found("signal", "normalize", taps, np.array([2.0, 0.3]), wrt=1)
    yield found("signal", "bilinear", taps, np.array([1.0, 0.3, 0.4]))
    yield found("signal", "lp2lp", taps, np.array([1.0, 0.3, 0.4]), 1.4, wrt=2)
    yield found("signal", "lp2hp", taps, np.array([1.0, 0.3, 0.4]), 1.4, wrt=2)
    yield found("signal", "sos2tf", rng.normal(size=(2, 6)))
    yield found("signal", "sosfilt", np.array([[0.2, 0.3, 0.1, 1.0, 0.2, 0.1]]), x, wrt=1)


def algebra() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    s = a @ a.T
    for name in (
        "expm",
        "cosm",
        "sinm",
        "coshm",
        "sinhm",
        "tanhm",
        "det",
        "inv",
        "pinv",
        "norm",
        "sqrtm",
        "logm",
    ):
        yield found("linalg", name, 0.3 * s if name != "inv" else s)
    for name in ("cholesky", "cho_factor"):
        yield found("linalg", name, s)
    for name in ("solve", "lstsq"):
        yield found("linalg", name, s, POINT[:3])
    yield found("linalg", "solve_triangular", np.tril(a), POINT[:3], lower=True)
    yield found("linalg", "khatri_rao", a, s)
    for name in ("toeplitz", "circulant", "companion", "hankel", "leslie", "fiedler"):
        yield found("linalg", name, POINT[:3], *((POINT[:2],) if name == "leslie" else ()))
    yield found("linalg", "block_diag", a, s)
    common = "optimize._lsq.common"
    j = rng.normal(size=(5, 3))
    yield found(common, "build_quadratic_1d", j, POINT[:3], POINT[2:5])
    yield found(common, "evaluate_quadratic", j, POINT[:3], POINT[2:5], wrt=2)
    yield found(common, "intersect_trust_region", POINT[:3] * 0.1, POINT[2:5], 2.0)
    yield found(common, "compute_jac_scale", j)
    yield found(
        common, "scale_for_robust_loss_function", j, POINT, np.abs(rng.normal(size=(3, 5))) + 1
    )
    yield found(common, "reflective_transformation", POINT, np.full(5, -0.5), np.full(5, 1.5))
    yield found("optimize._lsq.least_squares", "huber", POINT**2, np.empty((3, 5)), False)._replace(
        name="optimize._lsq.least_squares.construct_loss_function",
        make=lambda: Call(
            functools.partial(
                module("optimize._lsq.least_squares").construct_loss_function(5, "soft_l1", 0.7),
                cost_only=True,
            ),
            (POINT,),
        ),
    )
    for loss in ("huber", "cauchy", "arctan"):

        def make(loss: str = loss) -> Call:
            return Call(
                module("optimize._lsq.least_squares").construct_loss_function(5, loss, 0.7),
                (POINT, True),
            )

        yield Case(f"optimize._lsq.least_squares.construct_loss_function {loss}", make)
    interpolate = module("interpolate")
    x = np.linspace(0, 1, 6)
    t = np.array([0.13, 0.44, 0.71])
    for kind in (
        "CubicSpline",
        "PchipInterpolator",
        "Akima1DInterpolator",
        "BarycentricInterpolator",
        "KroghInterpolator",
        "make_interp_spline",
    ):
        yield Case(
            f"interpolate.{kind}",
            lambda kind=kind: Call(getattr(interpolate, kind)(x, np.sin(5 * x)), (t,)),
        )
    yield Case(
        "interpolate.RBFInterpolator",
        lambda: Call(interpolate.RBFInterpolator(x[:, None], np.sin(5 * x)), (t[:, None],)),
    )
    yield Case(
        "interpolate.RegularGridInterpolator",
        lambda: Call(interpolate.RegularGridInterpolator((x,), np.sin(5 * x)), (t[:, None],)),
    )
    for name in ("trapezoid", "simpson", "cumulative_trapezoid"):
        yield found("integrate", name, x**2, x)
    yield found("integrate", "romb", np.linspace(0, 1, 9) ** 2)


def cases() -> Iterator[Case]:
    for family in (
        optimize,
        roots,
        equations,
        distributions,
        statistics,
        distances,
        special,
        signals,
        algebra,
    ):
        yield from family()
