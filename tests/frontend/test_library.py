"""Functions that are written with others: views stay views, values are NumPy's to the bit at sizes
where the order of sums matters, and what is not supported is refused at the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.frontend.supported import canonical, summary
from stcompile.transforms.primal import Primal
from tests.diagnostics.refusals import refusal
from tests.programs import READABLE, assert_same

X = np.arange(12.0).reshape(3, 4) - 5


def written(view: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that writes through a view of an array, and returns the array."""

    def write(x):
        y = x * 2
        part = view(y)
        part[0] = 7.0
        return y

    return write


VIEWS: dict[str, Callable[[Any], Any]] = {
    "real": lambda y: np.real(y),
    "x.conj": lambda y: y.conj(),
    "conjugate is a copy": lambda y: np.conjugate(y),
    "rot90": lambda y: np.rot90(y),
    "rot90, not at all": lambda y: np.rot90(y, 4),
    "rot90, half": lambda y: np.rot90(y, 2),
    "rollaxis": lambda y: np.rollaxis(y, 1),
    "hsplit": lambda y: np.hsplit(y, 2)[1],
    "unstack": lambda y: np.unstack(y)[1],
    "atleast_3d": lambda y: np.atleast_3d(y),
    "take is a copy": lambda y: np.take(y, 1, axis=0),
    "tile is a copy": lambda y: np.tile(y, 1),
    "meshgrid copies": lambda y: np.meshgrid(y[0], y[1])[0],
    "matrix_power 1": lambda y: np.linalg.matrix_power(y[:, :3], 1),
    "diff 0": lambda y: np.diff(y, 0),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name: str) -> None:
    function = written(VIEWS[name])
    assert_same(Primal(function, READABLE)(X), function(X), name)


def test_a_diagonal_sees_later_writes() -> None:
    def later(x):
        y = x * 2
        diagonal, again = np.diagonal(y), np.diag(y, 1)
        y[0, 0] = 9.0
        y[0, 1] = x[0, 2]
        return np.sum(diagonal) + np.sum(again) * x[0, 0]

    assert_same(Primal(later, READABLE)(X), later(X), "the value")
    expected = np.zeros((3, 4))
    expected[1, 1] = expected[2, 2] = 2
    expected[0, 0] = X[0, 2] + 2 * X[1, 2] + 2 * X[2, 3]
    expected[0, 2] = X[0, 0]
    expected[1, 2] = expected[2, 3] = 2 * X[0, 0]
    np.testing.assert_allclose(st.grad(later)(X), expected)


# --- values --------------------------------------------------------------------------------------

VALUES: dict[str, Callable[[Any], Any]] = {
    "norms": lambda x: [np.linalg.norm(x), np.linalg.norm(x.T * 2), np.linalg.norm(x, axis=0)],
    "norms of parts": lambda x: [np.linalg.norm(x[:, ::2]), np.linalg.norm((x.T * 2)[1:])],
    "more norms": lambda x: [np.linalg.norm(x, 1), np.linalg.norm(x, "nuc"), np.linalg.cond(x)],
    "traces": lambda x: [np.trace(x), np.trace(np.stack([x[:29], 2 * x[:29]], -1))],
    "averages": lambda x: [np.average(x, 1, x[0] ** 2), np.average(x, weights=x * x)],
    "without NaNs": lambda x: [np.nanmean(x, 0), np.nanvar(x), np.nansum(x.T, 0), np.nanstd(x, 1)],
    "covariances": lambda x: [np.cov(x), np.corrcoef(x.T)],
    "in order": lambda x: [np.quantile(x, 0.25, 0), np.median(x.T, 0), np.median(x, (0, 1))],
    "quantiles": lambda x: [np.quantile(x, [0.1, 0.6], 1), np.percentile(x, 50), np.ptp(x, 0)],
    "products": lambda x: [
        np.linalg.multi_dot([x, x.T, x, x[0]]),
        np.linalg.matrix_power(x[:29], 5),
    ],
    "solutions": lambda x: [np.linalg.solve(x[:29].T, x[:3].T), np.linalg.lstsq(x, x[:, 0])[0]],
    "inverses": lambda x: [np.linalg.inv(x[:29]), np.linalg.pinv(x), np.linalg.det(x[:29])],
    "factors": lambda x: [*np.linalg.svd(x, False), *np.linalg.qr(x), *np.linalg.eigh(x.T @ x)],
    "integrals": lambda x: [np.trapezoid(x, axis=0), *np.gradient(x), np.unwrap(4 * x)],
    "running products": lambda x: [np.cumprod(x, 0), np.vander(x[0], 5), np.polyval(x[0], x[1])],
    "sums of arrangements": lambda x: [
        np.sum(np.tile(x, 2)), np.sum(np.rot90(x)), np.sum(np.triu(x)), np.sum(np.diagonal(x)),
        np.sum(np.take_along_axis(x, np.argsort(x, 0), 0), 0), np.mean(np.take(x, [3, 1], 1), 1),
        np.sum(np.kron(x[:3], x[:2]), 0), np.sum(np.cross(x[:, :3], x[:, 3:6])),
    ],
    "sums by names": lambda x: [np.einsum("ij->", x), np.einsum("ij,kj,kl->il", x, x, x)],
    "interpolation": lambda x: [np.interp(x, np.sort(x[0]), x[1]), np.sort(x.T, 0)],
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    function = VALUES[name]
    x = np.random.default_rng(0).normal(size=(37, 29))
    wide = np.zeros((74, 58))
    wide[::2, ::2] = x
    for array in (x, np.asfortranarray(x), wide[::2, ::2], x[::-1]):
        assert_same(Primal(function, READABLE)(array), function(array), f"{name}, {array.strides}")


@pytest.mark.parametrize("q", [0.0, 0.1, 0.45, 0.9])
def test_quantiles_known_at_run_time(q: float) -> None:
    """The derivative by q is the step between neighbours, times their number."""

    def quantile(x, q):
        return np.quantile(x, q)

    x = np.array([0.2, -1.3, -0.25, 1.25])
    value, (d_x, d_q) = st.value_and_grad(quantile, (0, 1))(x, q)
    assert value == pytest.approx(np.quantile(x, q), rel=1e-14)
    order, place = np.argsort(x), int(3 * q)
    expected = np.zeros(4)
    expected[order[place]], expected[order[place + 1]] = 1 - (3 * q - place), 3 * q - place
    np.testing.assert_allclose(d_x, expected, atol=1e-14)
    assert d_q == pytest.approx(3 * (x[order[place + 1]] - x[order[place]]))


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "real": lambda x: [np.real(2.0), np.real(x[0, 0]), np.imag(x[0, 0]), np.nan_to_num(x[0, 0])],
    "counts": lambda x: [np.count_nonzero(x), np.allclose(x, x), np.isclose(1.0, 1.0)],
    "elementwise": lambda x: [np.sinc(0.5), np.float_power(2.0, 3.0), *np.divmod(x[0, 1], 3.0)],
    "looked up": lambda x: [np.interp(0.5, [0.0, 1.0], [2.0, 3.0]), np.digitize(0.5, [0.0, 1.0])],
    "insert": lambda x: [np.insert(x, -1, 5.0), np.insert(x, 1, np.ones((3, 3)), axis=1)],
    "insert, list": lambda x: [np.insert(x[0], [1], [7.0, 8.0]), np.insert(x, [3, 0], 2.0, axis=0)],
    "booleans": lambda x: [np.tril(x > 0), np.diag(x[0] > 0), np.sort(x > 0), np.trace(x > 0)],
    "bincount": lambda x: [np.bincount([1, 2, 2], minlength=5), np.bincount([1, 2], [0.1, 0.2], 4)],
    "kron": lambda x: [np.kron(2.0, x), np.tile(1.0, 3), np.vander([1, 2, 3]), np.block(x)],
    "along": lambda x: [np.apply_along_axis(lambda v: v[:, None] * v, 1, x), np.resize(x, (2, 3))],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_kinds_of_results(name: str) -> None:
    assert_same(Primal(NUMBERS[name], READABLE)(X), NUMBERS[name](X), name)


# --- refusals ------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "order": (lambda x: np.diff(x, -1), "order must be non-negative"),
    "axis": (lambda x: np.diff(x, axis=2), "axis 2 is out of bounds"),
    "cross": (lambda x: np.cross(x, x), "vectors of dimension 3"),
    "square": (lambda x: np.linalg.inv(x), "inv: takes square matrices, not shape"),
    "shapes": (lambda x: np.linalg.solve(x[:, :3], x[0]), "solve: shapes .* do not fit"),
    "full matrices": (lambda x: np.linalg.svd(x)[0], "full_matrices=True"),
    "wide qr": (lambda x: np.linalg.qr(x)[0], "fewer rows than columns"),
    "residuals": (lambda x: np.linalg.lstsq(x, x)[1], "only the solution"),
    "norm": (lambda x: np.linalg.norm(x, 5), "Invalid norm order"),
    "quantile": (lambda x: np.quantile(x, x[0] / 99), "quantiles are single numbers"),
    "method": (lambda x: np.quantile(x, 0.5, method="least"), "not a valid method"),
    "range": (lambda x: np.percentile(x, 101), "range"),
    "masks": (lambda x: np.convolve(x[x > 0], [1, 2]), "needs to know the length of an axis"),
    "positions": (lambda x: np.delete(x, [True, False]), "positions are integers known"),
    "bounds": (lambda x: np.delete(x, 12), "index 12 is out of bounds"),
    "knots": (lambda x: np.interp(x, [0.0, 1.0], [0.0]), "interp: shapes"),
    "partition": (lambda x: np.partition(x, 4), "4 is out of bounds"),
    "kind": (lambda x: np.sort(x, kind="bubble"), "does not know the kind"),
    "diagonal": (lambda x: np.diagonal(x, 0, 1, 1), "cannot be the same"),
    "ellipsis": (lambda x: np.einsum("...j->j", x), "name each axis"),
    "operands": (lambda x: np.einsum("ij,jk", x), "names 2 operands, and 1 are given"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    function, reason = REFUSED[name]

    def total(x):
        return np.sum(function(x))

    error = refusal(total, X + 6)
    assert error.location is not None
    assert error.location.file == __file__
    with pytest.raises(st.StcompileError, match=reason):
        raise error


def test_writing_to_a_diagonal_is_refused() -> None:
    def f(x):
        y = x * 2
        d = np.diagonal(y)
        d[0] = 1.0
        return np.sum(y)

    assert "np.diagonal gives a read-only view" in refusal(f, X).reason


def test_what_is_known_at_run_time_raises_there() -> None:
    def f(x, i):
        return np.sum(np.bincount(i, x, minlength=3)) + np.sum(np.choose(i, [x, x]))

    x = np.ones(3)
    assert st.grad(f)(x, np.array([0, 1, 1])).shape == (3,)
    for i in ([0, 1, -1], [0, 1, 3], [0, 1, 2]):
        with pytest.raises(ValueError, match="bincount|choice"):
            st.grad(f)(x, np.array(i))


def test_count() -> None:
    counts = {title: len(names) for title, names in canonical().items()}
    assert counts["numpy"] + counts["numpy.linalg"] >= 250
    assert summary().endswith(str(sum(counts.values())))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_modf_of_special_numbers(dtype: type) -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan], dtype)
    compiled = Primal(lambda x: list(np.modf(x)), READABLE)
    assert_same(compiled(x), list(np.modf(x)), "of an array")
    for number in x:
        assert_same(compiled(number), list(np.modf(number)), f"of {number}")
