"""Functions of scikit-learn: metrics, kernels, losses, activations, likelihoods."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .judge import Call, Case

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(7, 3)), RNG.normal(size=(5, 3))
TRUE, PREDICTED = RNG.random(8) + 0.5, RNG.random(8) + 0.4
WEIGHTS = RNG.random(8) + 0.3
LABELS = np.array([0, 1, 1, 0, 1, 0, 1, 1])


def found(
    path: str, name: str, *arguments: Any, wrt: int = 0, label: str = "", **keywords: Any
) -> Case:
    def make() -> Call:
        return Call(
            getattr(importlib.import_module(f"sklearn.{path}"), name), arguments, wrt, keywords
        )

    return Case(f"{path}.{name} {label}".strip(), make)


def metrics() -> Iterator[Case]:
    names = (
        "mean_absolute_error",
        "mean_pinball_loss",
        "mean_absolute_percentage_error",
        "mean_squared_error",
        "root_mean_squared_error",
        "mean_squared_log_error",
        "root_mean_squared_log_error",
        "median_absolute_error",
        "explained_variance_score",
        "r2_score",
        "max_error",
        "mean_tweedie_deviance",
        "mean_poisson_deviance",
        "mean_gamma_deviance",
        "d2_tweedie_score",
        "d2_pinball_score",
        "d2_absolute_error_score",
    )
    for name in names:
        yield found("metrics", name, TRUE, PREDICTED, wrt=1)
        if name != "max_error":
            yield found(
                "metrics", name, TRUE, PREDICTED, wrt=1, sample_weight=WEIGHTS, label="weighted"
            )
    for name in names[:10]:
        yield found(
            "metrics",
            name,
            TRUE.reshape(4, 2),
            PREDICTED.reshape(4, 2),
            wrt=1,
            label="of two outputs",
        )
    yield found("metrics", "mean_tweedie_deviance", TRUE, PREDICTED, wrt=1, power=1.5, label="1.5")
    probabilities = PREDICTED / 1.6
    yield found("metrics", "log_loss", LABELS, probabilities, wrt=1)
    three = RNG.random((6, 3)) + 0.2
    yield found(
        "metrics",
        "log_loss",
        np.array([0, 1, 2, 1, 0, 2]),
        three / three.sum(1, keepdims=True),
        wrt=1,
        label="of three classes",
    )
    yield found("metrics", "brier_score_loss", LABELS, probabilities, wrt=1)
    yield found("metrics", "d2_log_loss_score", LABELS, probabilities, wrt=1)
    yield found("metrics", "hinge_loss", LABELS, PREDICTED, wrt=1)
    relevance, scores = np.array([[3.0, 1.0, 2.0, 0.5]]), np.array([[0.4, 1.2, 0.1, 0.9]])
    yield found("metrics", "dcg_score", relevance, scores)
    yield found("metrics", "ndcg_score", relevance, scores)
    yield found(
        "metrics", "auc", np.array([0.0, 0.2, 0.7, 1.0]), np.array([0.1, 0.4, 0.8, 0.9]), wrt=1
    )
    yield found("metrics", "silhouette_score", X, np.array([0, 1, 0, 1, 0, 1, 1]))
    yield found("metrics", "davies_bouldin_score", X, np.array([0, 1, 0, 1, 0, 1, 1]))
    yield found("metrics", "calinski_harabasz_score", X, np.array([0, 1, 0, 1, 0, 1, 1]))
    pairwise = "metrics.pairwise"
    for name in (
        "euclidean_distances",
        "manhattan_distances",
        "cosine_distances",
        "linear_kernel",
        "polynomial_kernel",
        "sigmoid_kernel",
        "rbf_kernel",
        "laplacian_kernel",
        "cosine_similarity",
        "pairwise_distances",
        "pairwise_kernels",
    ):
        yield found(pairwise, name, X, Y)
    for name in ("chi2_kernel", "additive_chi2_kernel"):
        yield found(pairwise, name, np.abs(X), np.abs(Y))
    yield found(pairwise, "rbf_kernel", X, Y, 0.7, wrt=2, label="by gamma")
    yield found(pairwise, "polynomial_kernel", X, Y, 2, 0.7, wrt=3, label="by gamma")
    yield found(pairwise, "euclidean_distances", X, Y, squared=True, label="squared")
    yield found(pairwise, "_euclidean_distances", X, Y)
    yield found(pairwise, "haversine_distances", X[:, :2], Y[:, :2])
    for name in (
        "paired_euclidean_distances",
        "paired_manhattan_distances",
        "paired_cosine_distances",
    ):
        yield found(pairwise, name, X[:5], Y)


def kernels() -> Iterator[Case]:
    k = importlib.import_module("sklearn.gaussian_process.kernels")
    regressors = importlib.import_module("sklearn.gaussian_process")
    made: dict[str, Callable[[], Any]] = {
        "ConstantKernel": lambda: k.ConstantKernel(1.3),
        "WhiteKernel": lambda: k.WhiteKernel(0.4),
        "RBF": lambda: k.RBF(0.8),
        "RBF of three lengths": lambda: k.RBF([0.8, 1.2, 0.5]),
        "Matern 0.5": lambda: k.Matern(0.8, nu=0.5),
        "Matern 1.5": lambda: k.Matern(0.8, nu=1.5),
        "Matern 2.5": lambda: k.Matern(0.8, nu=2.5),
        "RationalQuadratic": lambda: k.RationalQuadratic(0.8, 1.2),
        "ExpSineSquared": lambda: k.ExpSineSquared(0.8, 1.2),
        "DotProduct": lambda: k.DotProduct(0.7),
        "Sum": lambda: k.RBF(0.8) + k.WhiteKernel(0.4),
        "Product": lambda: k.ConstantKernel(1.3) * k.RBF(0.8),
        "Exponentiation": lambda: k.RBF(0.8) ** 2,
        "PairwiseKernel": lambda: k.PairwiseKernel(metric="rbf"),
    }
    for name, make in made.items():
        yield Case(f"kernels.{name}(X, Y)", lambda make=make: Call(make(), (X, Y)))
        yield Case(f"kernels.{name}(X)", lambda make=make: Call(make(), (X,)))

        def by_theta(make: Callable[[], Any] = make) -> Call:
            kernel = make()
            return Call(lambda theta: kernel.clone_with_theta(theta)(X), (kernel.theta,))

        yield Case(f"kernels.{name} by theta", by_theta)
        yield Case(f"kernels.{name}.diag", lambda make=make: Call(make().diag, (X,)))
    for name in ("RBF", "Sum", "Product", "Matern 1.5"):

        def likelihood(make: Callable[[], Any] = made[name]) -> Call:
            model = regressors.GaussianProcessRegressor(make(), alpha=0.1, optimizer=None).fit(
                X, X[:, 0]
            )
            return Call(model.log_marginal_likelihood, (model.kernel_.theta,))

        def predicted(make: Callable[[], Any] = made[name]) -> Call:
            model = regressors.GaussianProcessRegressor(make(), alpha=0.1, optimizer=None).fit(
                X, X[:, 0]
            )
            return Call(model.predict, (Y,))

        yield Case(f"GaussianProcessRegressor({name}).log_marginal_likelihood", likelihood)
        yield Case(f"GaussianProcessRegressor({name}).predict", predicted)

    def classifier() -> Call:
        model = regressors.GaussianProcessClassifier(k.RBF(0.8), optimizer=None).fit(X, X[:, 0] > 0)
        return Call(model.base_estimator_.log_marginal_likelihood, (np.array([0.3]),))

    yield Case("GaussianProcessClassifier.log_marginal_likelihood", classifier)


def losses() -> Iterator[Case]:
    yield found(
        "linear_model._huber",
        "_huber_loss_and_gradient",
        np.array([0.3, -0.2, 0.5, 0.1, 1.2]),
        X,
        X[:, 0],
        1.35,
        0.1,
        np.ones(7),
    )
    base = importlib.import_module("sklearn.neural_network._base")

    def activation(name: str) -> Case:
        def make() -> Call:
            def applied(x: Any) -> Any:
                x = x.copy()
                base.ACTIVATIONS[name](x)
                return x

            return Call(applied, (X,))

        return Case(f"neural_network ACTIVATIONS {name}", make)

    yield from (activation(name) for name in ("identity", "tanh", "logistic", "relu", "softmax"))
    three = RNG.random((6, 3)) + 0.2
    three /= three.sum(1, keepdims=True)
    one_hot = np.eye(3)[[0, 1, 2, 1, 0, 2]]
    yield found("neural_network._base", "squared_loss", one_hot, three, wrt=1)
    yield found("neural_network._base", "poisson_loss", one_hot, three, wrt=1)
    yield found("neural_network._base", "log_loss", one_hot, three, wrt=1)
    yield found(
        "neural_network._base", "binary_log_loss", LABELS[:, None], PREDICTED[:, None] / 1.6, wrt=1
    )
    networks = importlib.import_module("sklearn.neural_network")

    def network(kind: str, method: str) -> Case:
        def make() -> Call:
            target = X[:, 0] if kind == "MLPRegressor" else (X[:, 0] > 0).astype(int)
            model = getattr(networks, kind)((4,), max_iter=5, activation="tanh").fit(X, target)
            return Call(getattr(model, method), (Y,))

        return Case(f"{kind}.{method}", make)

    yield network("MLPRegressor", "predict")
    yield network("MLPRegressor", "_forward_pass_fast")
    yield network("MLPClassifier", "predict_proba")
    yield network("MLPClassifier", "predict_log_proba")

    link = importlib.import_module("sklearn._loss.link")
    inside = {
        "IdentityLink": X,
        "LogLink": np.abs(X),
        "LogitLink": np.abs(np.tanh(X)),
        "HalfLogitLink": np.abs(np.tanh(X)),
        "MultinomialLogit": np.abs(X) / np.abs(X).sum(1, keepdims=True),
    }
    for name, point in inside.items():
        yield Case(
            f"_loss.link.{name}.link",
            lambda name=name, point=point: Call(getattr(link, name)().link, (point,)),
        )
        yield Case(
            f"_loss.link.{name}.inverse",
            lambda name=name: Call(getattr(link, name)().inverse, (X,)),
        )
    loss = importlib.import_module("sklearn._loss.loss")
    for name in (
        "HalfBinomialLossArrayAPI",
        "HalfMultinomialLossArrayAPI",
        "HalfSquaredError",
        "HalfPoissonLoss",
    ):

        def make(name: str = name) -> Call:
            if name == "HalfMultinomialLossArrayAPI":
                made = loss.HalfMultinomialLossArrayAPI(np, None, n_classes=3)
                return Call(made.__call__, (np.array([0.0, 1, 2, 1, 0, 2]), three), 1)
            made = getattr(loss, name)(*((np, None) if "API" in name else ()))
            return Call(made.__call__, (LABELS.astype(float), PREDICTED), 1)

        yield Case(f"_loss.{name}", make)
    linear = importlib.import_module("sklearn.linear_model._linear_loss")

    def penalised(method: str) -> Case:
        def make() -> Call:
            made = linear.LinearModelLoss(base_loss=loss.HalfSquaredError(), fit_intercept=True)
            arguments = {
                "loss": (np.array([0.3, -0.2, 0.4, 0.1]), X, X[:, 0]),
                "l2_penalty": (np.array([0.3, -0.2, 0.4, 0.1]), 0.3),
            }
            return Call(getattr(made, method), arguments[method])

        return Case(f"LinearModelLoss.{method}", make)

    yield penalised("loss")
    yield penalised("l2_penalty")


def likelihoods() -> Iterator[Case]:
    covariance = np.cov(X.T)
    precision = np.linalg.inv(covariance)
    yield found("covariance", "log_likelihood", covariance, precision, wrt=1)
    yield found("covariance", "empirical_covariance", X)
    yield found("covariance", "shrunk_covariance", covariance, 0.2)
    yield found("covariance", "oas", X)
    yield found("covariance", "ledoit_wolf", X)
    yield found("covariance", "ledoit_wolf_shrinkage", X)
    yield found("covariance._graph_lasso", "_objective", covariance, precision, 0.1, wrt=1)
    yield found("covariance._graph_lasso", "_dual_gap", covariance, precision, 0.1, wrt=1)
    mixture = "mixture._gaussian_mixture"
    means, chol = RNG.normal(size=(2, 3)), np.stack([np.linalg.cholesky(precision)] * 2)
    shapes = {
        "full": chol,
        "tied": chol[0],
        "diag": RNG.random((2, 3)) + 0.5,
        "spherical": RNG.random(2) + 0.5,
    }
    responsibilities = RNG.random((7, 2))
    for kind, factors in shapes.items():
        yield found(mixture, "_estimate_log_gaussian_prob", X, means, factors, kind, label=kind)
        yield found(
            mixture,
            "_estimate_log_gaussian_prob",
            X,
            means,
            factors,
            kind,
            wrt=2,
            label=f"{kind} by factors",
        )
        yield found(mixture, "_compute_log_det_cholesky", factors, kind, 3, label=kind)
        yield found(
            mixture,
            f"_estimate_gaussian_covariances_{kind}",
            responsibilities,
            X,
            responsibilities.sum(0),
            means,
            1e-6,
        )
        yield found(
            mixture,
            "_estimate_gaussian_parameters",
            X,
            responsibilities,
            1e-6,
            kind,
            wrt=1,
            label=kind,
        )
        inverse = {"full": np.stack([covariance] * 2), "tied": covariance}.get(kind, factors)
        yield found(mixture, "_compute_precision_cholesky", inverse, kind, label=kind)

        def fitted(method: str, kind: str = kind) -> Case:
            def make() -> Call:
                model = (
                    importlib.import_module("sklearn.mixture")
                    .GaussianMixture(2, covariance_type=kind, random_state=0, reg_covar=0.1)
                    .fit(X)
                )
                return Call(getattr(model, method), (Y,))

            return Case(f"GaussianMixture {kind}.{method}", make)

        yield from (fitted(method) for method in ("score_samples", "score", "predict_proba"))

    def divergence() -> Call:
        manifold = importlib.import_module("sklearn.manifold._t_sne")
        p = np.abs(RNG.random(21))
        return Call(manifold._kl_divergence, (X[:, :2].ravel(), p / p.sum(), 1.0, 7, 2))

    yield Case("manifold._t_sne._kl_divergence", divergence)
    a, w, h = RNG.random((5, 4)) + 0.2, RNG.random((5, 2)) + 0.2, RNG.random((2, 4)) + 0.2
    for beta in (0, 1, 2, 1.5):
        yield found("decomposition._nmf", "_beta_divergence", a, w, h, beta, wrt=1, label=str(beta))
    yield found("decomposition._nmf", "norm", X)
    yield found("decomposition._nmf", "trace_dot", X, X[::-1].copy())
    yield found(
        "decomposition._nmf",
        "_beta_divergence",
        a,
        w,
        h,
        "frobenius",
        True,
        wrt=2,
        label="square root",
    )
    extmath = "utils.extmath"
    yield found(extmath, "squared_norm", X)
    yield found(extmath, "row_norms", X)
    yield found(extmath, "row_norms", X, squared=True, label="squared")
    yield found(extmath, "fast_logdet", covariance)
    yield found(extmath, "safe_sparse_dot", X, Y.T.copy())
    yield found(extmath, "softmax", X)
    for copy in (None, True):
        yield found(
            "externals.array_api_compat.numpy",
            "reshape",
            X,
            (-1, 1),
            copy=copy,
            label=f"copy={copy}",
        )
    yield found(extmath, "make_nonnegative", X)
    yield found(extmath, "stable_cumsum", X[:, 0])
    yield found(extmath, "safe_sqr", X)
    yield found(extmath, "_nanaverage", X)
    yield found(extmath, "density", X)
    yield found(extmath, "cartesian", (X[:, 0], Y[:, 0]))._replace(
        make=lambda: Call(
            lambda a: importlib.import_module("sklearn.utils.extmath").cartesian((a, Y[:, 0])),
            (X[:, 0],),
        )
    )
    for name in (
        "scale",
        "minmax_scale",
        "maxabs_scale",
        "robust_scale",
        "normalize",
        "add_dummy_feature",
        "power_transform",
    ):
        yield found("preprocessing", name, X)
    api = "utils._array_api"
    for name in (
        "_expit",
        "_logsumexp",
        "_nanmean",
        "_nanmax",
        "_nansum",
        "_average",
        "_median",
        "_ravel",
    ):
        yield found(api, name, X)
    yield found(api, "_logit", np.abs(np.tanh(X)))
    yield found(api, "_xlogy", np.abs(X), np.abs(X) + 1)
    yield found(api, "_add_to_diagonal", covariance, 0.3, np)._replace(
        make=lambda: Call(added, (covariance,))
    )
    utils = "utils"
    yield found(utils, "check_array", X)
    yield found(utils, "check_X_y", X, X[:, 0])
    yield found(utils, "column_or_1d", X[:, 0])
    yield found("utils.validation", "check_symmetric", covariance)


def added(a: Any) -> Any:
    from sklearn.utils import _array_api

    a = a.copy()
    _array_api._add_to_diagonal(a, 0.3, np)
    return a


def estimators() -> Iterator[Case]:
    def fitted(path: str, name: str, method: str, target: Any = None, **options: Any) -> Case:
        def make() -> Call:
            model = getattr(importlib.import_module(f"sklearn.{path}"), name)(**options)
            model.fit(*((X,) if target is None else (X, target)))
            return Call(getattr(model, method), (Y,))

        return Case(f"{name}.{method}", make)

    y, c = X[:, 0] + 0.1 * X[:, 1] ** 2, (X[:, 0] > 0).astype(int)
    for name in (
        "LinearRegression",
        "Ridge",
        "Lasso",
        "ElasticNet",
        "BayesianRidge",
        "ARDRegression",
        "HuberRegressor",
        "TheilSenRegressor",
    ):
        yield fitted("linear_model", name, "predict", y)
    for name in ("PoissonRegressor", "GammaRegressor", "TweedieRegressor"):
        yield fitted("linear_model", name, "predict", np.exp(y))
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        yield fitted("linear_model", "LogisticRegression", method, c)
    yield fitted("linear_model", "RidgeClassifier", "decision_function", c)
    yield fitted("linear_model", "SGDClassifier", "decision_function", c)
    for name in ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"):
        options = {"reg_param": 0.1} if name[0] == "Q" else {}
        for method in ("decision_function", "predict_proba"):
            yield fitted("discriminant_analysis", name, method, c, **options)
    yield fitted("naive_bayes", "GaussianNB", "predict_proba", c)
    yield fitted("naive_bayes", "GaussianNB", "predict_joint_log_proba", c)
    yield fitted("kernel_ridge", "KernelRidge", "predict", y, kernel="rbf")
    for name in (
        "StandardScaler",
        "MinMaxScaler",
        "MaxAbsScaler",
        "RobustScaler",
        "Normalizer",
        "PolynomialFeatures",
        "PowerTransformer",
    ):
        yield fitted("preprocessing", name, "transform")
        if name in (
            "StandardScaler",
            "MinMaxScaler",
            "RobustScaler",
            "MaxAbsScaler",
            "PowerTransformer",
        ):
            yield fitted("preprocessing", name, "inverse_transform")
    for name in ("PCA", "FactorAnalysis", "FastICA", "TruncatedSVD", "KernelPCA"):
        yield fitted("decomposition", name, "transform", n_components=2)
    yield fitted("decomposition", "PCA", "score_samples", n_components=2)
    yield fitted("decomposition", "PCA", "score", n_components=2)
    yield fitted("decomposition", "FactorAnalysis", "score_samples", n_components=2)
    yield fitted("covariance", "EmpiricalCovariance", "mahalanobis")
    yield fitted("covariance", "EmpiricalCovariance", "score")
    yield fitted("covariance", "LedoitWolf", "mahalanobis")
    yield fitted("mixture", "BayesianGaussianMixture", "score_samples", n_components=2)
    yield fitted("cross_decomposition", "PLSRegression", "predict", y)
    yield fitted("cluster", "KMeans", "transform", n_clusters=2)
    yield fitted("kernel_approximation", "RBFSampler", "transform", n_components=4)
    yield fitted("kernel_approximation", "Nystroem", "transform", n_components=4)
    yield fitted("svm", "SVR", "predict", y)
    yield fitted("svm", "LinearSVR", "predict", y)
    yield fitted("isotonic", "IsotonicRegression", "predict", y)._replace(
        make=lambda: Call(
            importlib.import_module("sklearn.isotonic")
            .IsotonicRegression()
            .fit(X[:, 0], y)
            .predict,
            (np.array([0.1, 0.2]),),
        )
    )

    def pipeline() -> Call:
        made = importlib.import_module("sklearn.pipeline").make_pipeline(
            importlib.import_module("sklearn.preprocessing").StandardScaler(),
            importlib.import_module("sklearn.linear_model").Ridge(),
        )
        return Call(made.fit(X, y).predict, (Y,))

    yield Case("Pipeline.predict", pipeline)


def cases() -> Iterator[Case]:
    for family in (metrics, kernels, losses, likelihoods, estimators):
        yield from family()
