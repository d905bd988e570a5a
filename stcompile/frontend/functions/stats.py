"""Methods of distributions of `scipy.stats`: from a name such as ``norm.logpdf`` to its lowering.

A method takes the point at which it is evaluated, then the shape parameters, ``loc`` and ``scale``,
by position or by name.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from stcompile.base.errors import StcompileError, TypingError
from stcompile.base.places import Place
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.operations.attributes import frozen_method
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Frozen
from stcompile.library import (
    statistics_of_samples,
    stats,
    stats_bounded,
    stats_discrete,
    stats_further,
    stats_moments,
    stats_vectors,
)

Lowering = Callable[..., Any]
Support = tuple[float | None, float | None]
LINE: Support = (None, None)
POSITIVE: Support = (0.0, None)
FINITE: Support = (0.0, float(np.finfo(float).max))
"""Positive numbers; the formulas have no value at infinity, which is outside."""


class Continuous(NamedTuple):
    """The shape parameters and the support of a distribution, with a number ``inside`` the support.
    ``is_open``: the density is 0 at the lower bound, where it has no formula. ``signed``: its shape
    parameters may be any number, and need not be positive."""

    shapes: tuple[str, ...] = ()
    support: Support = LINE
    inside: float = 1.0
    is_open: bool = False
    signed: bool = False


CONTINUOUS: dict[str, Continuous] = {
    "norm": Continuous(),
    "t": Continuous(("df",)),
    "cauchy": Continuous(),
    "laplace": Continuous(),
    "logistic": Continuous(),
    "expon": Continuous((), POSITIVE),
    "gamma": Continuous(("a",), POSITIVE),
    "chi2": Continuous(("df",), POSITIVE),
    "lognorm": Continuous(("s",), POSITIVE, is_open=True),
    "weibull_min": Continuous(("c",), POSITIVE),
    "pareto": Continuous(("b",), (1.0, None), 2.0),
    "beta": Continuous(("a", "b"), (0.0, 1.0), 0.5),
    "uniform": Continuous((), (0.0, 1.0), 0.5),
    "gumbel_r": Continuous(),
    "gumbel_l": Continuous(),
    "invgamma": Continuous(("a",), POSITIVE, is_open=True),
    "invgauss": Continuous(("mu",), FINITE, is_open=True),
    "f": Continuous(("dfn", "dfd"), POSITIVE),
    "rayleigh": Continuous((), POSITIVE, is_open=True),
    "halfnorm": Continuous((), POSITIVE),
    "halfcauchy": Continuous((), POSITIVE),
    "vonmises": Continuous(("kappa",)),
    "skewnorm": Continuous(("a",), signed=True),
    "exponnorm": Continuous(("K",)),
    "genlogistic": Continuous(("c",)),
    "hypsecant": Continuous(),
    "johnsonsu": Continuous(("a", "b"), signed=True),
    "laplace_asymmetric": Continuous(("kappa",)),
    "loggamma": Continuous(("c",)),
    "moyal": Continuous(),
    "gennorm": Continuous(("beta",)),
    "chi": Continuous(("df",), POSITIVE),
    "maxwell": Continuous((), POSITIVE, is_open=True),
    "fisk": Continuous(("c",), POSITIVE, is_open=True),
    "burr12": Continuous(("c", "d"), POSITIVE),
    "lomax": Continuous(("c",), POSITIVE),
    "gompertz": Continuous(("c",), POSITIVE),
    "halflogistic": Continuous((), POSITIVE),
    "invweibull": Continuous(("c",), POSITIVE, is_open=True),
    "levy": Continuous((), POSITIVE, is_open=True),
    "nakagami": Continuous(("nu",), POSITIVE),
    "rice": Continuous(("b",), POSITIVE, is_open=True, signed=True),
    "gengamma": Continuous(("a", "c"), POSITIVE, is_open=True, signed=True),
    "betaprime": Continuous(("a", "b"), FINITE),
    "exponweib": Continuous(("a", "c"), POSITIVE, is_open=True),
    "wald": Continuous((), FINITE, is_open=True),
    "erlang": Continuous(("a",), POSITIVE),
    "ncx2": Continuous(("df", "nc"), FINITE, is_open=True),
    "weibull_max": Continuous(("c",), (None, 0.0), -1.0),
    "powerlaw": Continuous(("a",), (0.0, 1.0), 0.5),
    "arcsine": Continuous((), (0.0, 1.0), 0.5),
    "semicircular": Continuous((), (-1.0, 1.0), 0.5),
    "triang": Continuous(("c",), (0.0, 1.0), 0.5),
}
_SAME = {"erlang": "gamma"}
"""Distributions that have the formulas of others."""
DISCRETE: dict[str, tuple[str, ...]] = {
    "poisson": ("mu",),
    "binom": ("n", "p"),
    "bernoulli": ("p",),
    "nbinom": ("n", "p"),
    "geom": ("p",),
    "betabinom": ("n", "a", "b"),
    "logser": ("p",),
    "zipf": ("a",),
    "planck": ("lambda_",),
    "hypergeom": ("M", "n", "N"),
    "randint": ("low", "high"),
}
"""Discrete distributions and their shape parameters."""
# The values, below and above the support, of distribution functions and their like.
_ENDS = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "logcdf": (-np.inf, 0.0), "logsf": (0.0, -np.inf)}


def _lowering(
    value: str, shapes: Sequence[str], defaults: dict[str, Any], method: Callable[..., Any]
) -> Lowering:
    """The lowering of ``method``, which takes the ``value`` (unless that has no name), the tuple of
    the shape parameters and the parameters with ``defaults``, and is inlined."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter("run", inspect.Parameter.POSITIONAL_ONLY),
        *(inspect.Parameter(name, kind) for name in (value, *shapes) if name),
        *(inspect.Parameter(name, kind, default=d) for name, d in defaults.items()),
    ]
    signature = inspect.Signature(parameters)

    def lowering(*arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        run, *rest = bound.args
        first = [rest.pop(0)] if value else []
        given = (*first, tuple(rest[: len(shapes)]), *rest[len(shapes) :])
        try:
            return _call(run, method, given)
        except StcompileError as error:
            return run.refuse(error.reason, error.hint, type(error))

    lowering.__dict__["__signature__"] = signature
    return lowering


def _call(run: Run, method: Any, given: tuple[Any, ...]) -> Any:
    """The method, a partial of static arguments, inlined."""
    return run.call(method.func, [*method.args, *given], method.keywords)


def _continuous(name: str, facts: Continuous) -> dict[str, Lowering]:
    support = (facts.support, facts.inside, facts.is_open, facts.signed)
    found: dict[str, Lowering] = {}

    def add(own: str, value: str, method: Callable[..., Any]) -> None:
        defaults = {"loc": 0, "scale": 1}
        found[f"{name}.{own}"] = _lowering(value, facts.shapes, defaults, method)

    formulas = _formulas(name)
    density = formulas["logpdf"]
    add("pdf", "x", functools.partial(stats.pdf, density, support))
    add("logpdf", "x", functools.partial(stats.logpdf, density, support))
    for own, ends in _ENDS.items():
        if own in formulas:
            method = functools.partial(stats.cdf, formulas[own], support, ends)
        else:  # the logarithm of a method that has a formula
            plain = formulas.get(own.removeprefix("log"))
            if plain is None:
                continue
            method = functools.partial(stats.log_cdf, plain, support, ends)
        add(own, "x", method)
    for own in ("ppf", "isf"):
        if own in formulas:
            add(own, "q", functools.partial(stats.ppf, formulas[own], facts.signed))
    if "ppf" in formulas:
        add("median", "", functools.partial(stats.median, formulas["ppf"], facts.signed))
        interval = functools.partial(stats.interval, formulas["ppf"], facts.signed)
        add("interval", "confidence", interval)
    return found


def _discrete(name: str) -> dict[str, Lowering]:
    shapes, formulas = DISCRETE[name], _formulas(name)
    bounds, valid = formulas["bounds"], formulas["valid"]
    methods = {
        own: functools.partial(getattr(stats_discrete, own), formulas["logpmf"], bounds, valid)
        for own in ("pmf", "logpmf")
    }
    for own, ends in _ENDS.items():
        plain = own.removeprefix("log")
        if plain in formulas:
            shared = stats_discrete.cdf if own == plain else stats_discrete.log_cdf
            methods[own] = functools.partial(shared, formulas[plain], bounds, valid, ends)
    found = {
        f"{name}.{own}": _lowering("k", shapes, {"loc": 0}, method)
        for own, method in methods.items()
    }
    for own in ("ppf", "isf"):
        quantile = functools.partial(stats_discrete.ppf, name, own)
        found[f"{name}.{own}"] = _lowering("q", shapes, {"loc": 0}, quantile)
    return found


def _formulas(name: str) -> dict[str, Callable[..., Any]]:
    """The formulas of a distribution, by the names of its methods."""
    every = {**stats.FORMULAS, **stats_further.FORMULAS, **stats_discrete.FORMULAS}
    first = f"{_SAME.get(name, name)}."
    return {key.removeprefix(first): f for key, f in every.items() if key.startswith(first)}


def _moments() -> dict[str, Lowering]:
    """Means, variances, standard deviations and entropies, which take parameters alone."""
    found: dict[str, Lowering] = {}
    for key, formula in stats_moments.MOMENTS.items():
        name, _, own = key.partition(".")
        if name in CONTINUOUS:
            shapes, facts = CONTINUOUS[name].shapes, (CONTINUOUS[name].signed,)
            defaults = {"loc": 0, "scale": 1}
        else:
            shapes, facts, defaults = DISCRETE[name], (True,), {"loc": 0}
        for method in ("var", "std") if own == "var" else (own,):
            shared = functools.partial(getattr(stats_moments, method), formula, *facts)
            found[f"{name}.{method}"] = _lowering("", shapes, defaults, shared)
    return found


STATS: dict[str, Lowering] = {
    **_moments(),
    **{
        own: lowering
        for name, facts in CONTINUOUS.items()
        for own, lowering in _continuous(name, facts).items()
    },
    **{own: lowering for name in DISCRETE for own, lowering in _discrete(name).items()},
    "multivariate_normal.pdf": inlined(stats_vectors.multivariate_normal_pdf),
    "multivariate_normal.logpdf": inlined(stats_vectors.multivariate_normal_logpdf),
    "multivariate_normal.entropy": inlined(stats_vectors.multivariate_normal_entropy),
    **{
        f"{name}.{own}": inlined(vars(stats_vectors)[f"{name}_{own}"])
        for name in ("multivariate_t", "wishart", "invwishart")
        for own in ("pdf", "logpdf")
    },
    **{
        own.replace("_", ".", 1): inlined(function)
        for own, function in vars(stats_bounded).items()
        if own.startswith(("truncnorm_", "genextreme_"))
    },
    **{
        f"{name}.fit": inlined(vars(statistics_of_samples)[f"{name}_fit"])
        for name in ("norm", "expon", "laplace")
    },
    "dirichlet.pdf": inlined(stats_vectors.dirichlet_pdf),
    "dirichlet.logpdf": inlined(stats_vectors.dirichlet_logpdf),
}


# --- distributions with their parameters: `stats.norm(mu, sigma).logpdf(x)` ----------------------


_NAMES = frozenset(name.partition(".")[0] for name in STATS)

_OF_VECTORS: Mapping[str, tuple[str, ...]] = {
    "multivariate_normal": ("mean", "cov"),
    "multivariate_t": ("loc", "shape", "df"),
    "dirichlet": ("alpha",),
    "wishart": ("df", "scale"),
    "invwishart": ("df", "scale"),
}
"""The parameters of distributions of vectors, as attributes of those that have them."""


def freeze(function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Frozen | None:
    """The distribution with parameters that a call of ``stats.norm`` and the like makes; None for
    other calls."""
    stats = sys.modules.get("scipy.stats")
    name = _name_of(function)
    if stats is None or name not in _NAMES or getattr(stats, name, None) is not function:
        return None
    return Frozen(function, tuple(arguments), dict(keywords))


def thawed(run: Run, owner: Any) -> Frozen | None:
    """A distribution from outside with its parameters; None if it is not a known distribution."""
    kind = type(owner).__name__
    if not kind.endswith("_frozen"):
        return None
    place = Place.constant(owner, _name_of(getattr(owner, "dist", None)) or kind)

    def captured(name: str) -> Any:
        return run.captures.captured(getattr(owner, name), place.attribute(name))

    name = kind.removesuffix("_frozen")
    if name in _OF_VECTORS:
        arguments = tuple(captured(part) for part in _OF_VECTORS[name])
        return Frozen(getattr(sys.modules["scipy.stats"], name), arguments, {})
    name = _name_of(getattr(owner, "dist", None))
    if name not in _NAMES:
        return None
    distribution = getattr(sys.modules["scipy.stats"], name)
    return Frozen(distribution, tuple(captured("args")), dict(captured("kwds")))


def _name_of(distribution: Any) -> str:
    """The name of a distribution in `scipy.stats`."""
    name = getattr(distribution, "name", None)
    if isinstance(name, str):
        return name
    return type(distribution).__name__.removesuffix("_gen")


def _method(run: Run, frozen: Frozen, name: str, *arguments: Any, **keywords: Any) -> Any:
    method = getattr(frozen.distribution, name, None)
    if not callable(method):
        run.raises(AttributeError(f"a frozen distribution has no attribute {name!r}"))
    clash = frozen.keywords.keys() & keywords.keys()
    if clash:
        run.refuse(f"the keyword argument `{min(clash)}` is given twice", "", TypingError)
    first, rest = arguments[:1], arguments[1:]
    return run.call(method, [*first, *frozen.arguments, *rest], {**frozen.keywords, **keywords})


FROZEN: dict[Any, Any] = {frozen_method: _method}
