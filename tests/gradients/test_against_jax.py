"""Second derivatives of functions that are written with others, against JAX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite_e, legendre, polynomial

import stcompile as st

jax = pytest.importorskip("jax")
stats = pytest.importorskip("scipy.stats")
jnp = jax.numpy
X = np.array([0.7, -1.2, 2.1, 0.4])


def by_powers(p: Any, at: Any) -> Any:
    """The value of the polynomial with coefficients p, lowest first, by the formula."""
    return sum(p[i] * at**i for i in range(len(p)))


def third_kind(p: Any, at: Any, three: Callable[..., Any]) -> Any:
    """A series of three terms, of which ``three`` gives the last polynomial."""
    return p[0] + p[1] * at + p[2] * three(at)


def of_sorted(x: Any, by_size: Any) -> Any:
    first, second, *_ = by_size(x)
    return first**2 * second + np.pi * second**3


PAIRS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "polyval": (
        lambda x: np.sum(polynomial.polyval(x[1:], x) ** 2),
        lambda x: jnp.sum(by_powers(x, x[1:]) ** 2),
    ),
    "chebval": (
        lambda x: np.sum(chebyshev.chebval(x, x[:3]) ** 2),
        lambda x: jnp.sum(third_kind(x, x, lambda t: 2 * t * t - 1) ** 2),
    ),
    "legval": (
        lambda x: np.sum(legendre.legval(x, x[:3]) ** 2),
        lambda x: jnp.sum(third_kind(x, x, lambda t: (3 * t * t - 1) / 2) ** 2),
    ),
    "hermeval": (
        lambda x: np.sum(hermite_e.hermeval(x, x[:3]) ** 2),
        lambda x: jnp.sum(third_kind(x, x, lambda t: t * t - 1) ** 2),
    ),
    "polyder and polyint": (
        lambda x: polynomial.polyval(x[0], polynomial.polyder(x)) * polynomial.polyint(x)[2],
        lambda x: by_powers(jnp.stack([x[1], 2 * x[2], 3 * x[3]]), x[0]) * x[1] / 2,
    ),
    "polymul": (
        lambda x: np.sum(polynomial.polymul(x, x[:2]) ** 2),
        lambda x: jnp.sum(jnp.convolve(x, x[:2]) ** 2),
    ),
    "sorted with a key": (
        lambda x: of_sorted(x, lambda x: sorted(x, key=abs, reverse=True)),
        lambda x: of_sorted(x, lambda x: x[jnp.argsort(-jnp.abs(x))]),
    ),
    "divmod": (
        lambda x: divmod(x[2] ** 2, x[0])[1] * divmod(x, 0.5)[1][1] ** 2,
        lambda x: jnp.mod(x[2] ** 2, x[0]) * jnp.mod(x[1], 0.5) ** 2,
    ),
    "vecdot": (
        lambda x: np.vecdot(np.outer(x, x), np.sin(x)) @ x,
        lambda x: jnp.vecdot(jnp.outer(x, x), jnp.sin(x)) @ x,
    ),
    "matvec and vecmat": (
        lambda x: np.sum(np.vecmat(x, np.outer(x, x)) * np.matvec(np.outer(np.exp(x), x), x)),
        lambda x: jnp.sum((x @ jnp.outer(x, x)) * (jnp.outer(jnp.exp(x), x) @ x)),
    ),
    "frozen normal": (
        lambda x: np.sum(stats.norm(x[0], np.exp(x[1])).logpdf(x)),
        lambda x: jnp.sum(jax.scipy.stats.norm.logpdf(x, x[0], jnp.exp(x[1]))),
    ),
    "frozen gamma": (
        lambda x: np.sum(stats.gamma(2.5, scale=np.exp(x[0])).logpdf(np.abs(x))),
        lambda x: jnp.sum(jax.scipy.stats.gamma.logpdf(jnp.abs(x), 2.5, scale=jnp.exp(x[0]))),
    ),
    "a filtered sum": (
        lambda x: sum(v**3 * x[1] for v in x if v > 0.5),
        lambda x: jnp.sum(jnp.where(x > 0.5, x**3 * x[1], 0.0)),
    ),
    "a filtered maximum": (
        lambda x: max(v**2 for v in x if v < 1) * x[3],
        lambda x: x[1] ** 2 * x[3],
    ),
}


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("name", PAIRS)
def test_hessians(name: str, level: Any) -> None:
    ours, theirs = PAIRS[name]
    with jax.enable_x64(True):
        expected = np.asarray(jax.hessian(theirs)(X))
    assert np.any(expected != 0)
    found = st.hessian(ours, level=level)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
