"""Distributions of `scipy.stats` with their parameters: ``stats.norm(mu, sigma).logpdf(x)`` is
``stats.norm.logpdf(x, mu, sigma)``. They are made in the function, or come from outside.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from stcompile.base.errors import TypingError
from stcompile.base.places import Place
from stcompile.frontend.functions.stats import STATS
from stcompile.frontend.operations.attributes import frozen_method
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Frozen

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
