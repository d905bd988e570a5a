"""How results lie in memory, and whether they are views: as NumPy has it, for every function."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from stcompile.base.errors import StcompileError
from stcompile.base.strides import alike
from tests.frontend.arrangements import KINDS, arrays_of, permuted, relaid
from tests.gradients.cases import CASES
from tests.gradients.functions.case import Case

UNKNOWN = {"a primitive of a user's", "setxor1d"}  # of functions whose strides nobody tells
ROUNDED_OTHERWISE = {"matvec", "vecmat"}  # of arrays with gaps: matmul copies them for BLAS
# Of broadcasts these are laid out otherwise: they begin with another function than NumPy's do.
NOT_OF_BROADCASTS = {"of NaNs", "median of NaNs", "replaced"}


def check(function: Callable[..., Any], arguments: tuple[Any, ...], name: str = "") -> int:
    """Compare what the compiler takes the results for, and those of the recorded program, with
    NumPy's: strides, shared storage, values to the bit. The number of arrays compared."""
    compared = 0
    for found in arrays_of(function, arguments):
        array, strides = found.array, found.strides
        shown = [(a.shape, a.strides) for a in arguments if isinstance(a, np.ndarray)]
        if array.ndim == 1 and strides is not None:  # of vectors the sign matters
            assert (strides[0] < 0) == (array.strides[0] < 0) or array.size < 2, shown
        elif name not in UNKNOWN or strides is not None:
            assert alike(array.shape, strides, array.strides), (strides, array.strides, shown)
            own = found.computed.strides
            assert alike(array.shape, own, array.strides), (own, array.strides, shown)
        if name in ROUNDED_OTHERWISE:
            np.testing.assert_allclose(found.computed, array, rtol=1e-14)
        else:
            assert np.array_equal(found.computed, array, equal_nan=True), shown
        for argument, shares in zip(arguments, found.shares, strict=True):
            if isinstance(argument, np.ndarray) and array.size and found.writeable:
                assert shares == np.shares_memory(argument, array), shown
        compared += 1
    return compared


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_function(case: Case) -> None:
    choices = Random(0)

    @settings(
        max_examples=4, phases=[Phase.generate], derandomize=True, deadline=None, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case.arguments, st.lists(st.sampled_from(KINDS[:-1]), min_size=3, max_size=3))
    def compare(arguments: tuple[Any, ...], kinds: list[str]) -> None:
        wide = (*kinds, *["C"] * len(arguments))
        laid = tuple(relaid(a, kind, choices) for a, kind in zip(arguments, wide, strict=False))
        try:
            check(case.function, laid, case.name)
        except StcompileError:  # a write into an argument, a shape that is not taken
            return

    compare()


# Functions of one array of shape (2, 3, 4), in all orders of its axes.
OF_ONE: dict[str, Callable[[Any], Any]] = {
    "copies": lambda x: (x.copy(), np.copy(x), np.array(x), +x, x.astype(np.float32), x.flatten()),
    "converted": lambda x: (np.float64(x), np.float32(x), np.asarray(x), np.asarray(x, np.float32)),
    "like": lambda x: (np.zeros_like(x), 0 * np.empty_like(x), np.full_like(x, 2.0)),
    "like parts": lambda x: [np.zeros_like(part) for part in (x[::-1], x[:, 1:], x[..., ::2].T)],
    "ordered": lambda x: (np.ascontiguousarray(x), np.asfortranarray(x), np.ravel(x), x.ravel()),
    "elementwise": lambda x: (x + 1, np.sin(x), x > 0, np.where(x > 0, x, 1.0), np.clip(x, 0, 1)),
    "rounded": lambda x: (np.round(x), np.round(x, 2), x.round(1), np.rint(x), np.fix(x)),
    "mixed orders": lambda x: (x + np.ones((2, 3, 4)), x * x.copy(), x.T + np.ones(2)),
    "broadcast": lambda x: (x + x[0], x[:, :1] * x, x[..., None] + x[0, 0], x[:1] * x[:, :1]),
    "sums": lambda x: [np.sum(x, axis) for axis in (0, 1, 2)],
    "kept": lambda x: [np.mean(x, axis, keepdims=True) for axis in (0, 1, (0, 2))],
    "extrema": lambda x: [(x.max(a), x.argmin(a), np.ptp(x, a), x.std(a)) for a in (0, 1, 2)],
    "running": lambda x: [(np.cumsum(x, a), x.cumprod(a), np.diff(x, axis=a)) for a in range(3)],
    "sorted": lambda x: [(np.sort(x, a), np.argsort(x, a), np.partition(x, 1, a)) for a in (0, 2)],
    "quantiles": lambda x: [(np.median(x, a), np.quantile(x, 0.3, a)) for a in (0, 1, (0, 2))],
    "several quantiles": lambda x: [np.quantile(x, [0.1, 0.6], a) for a in (0, 1, 2, None)],
    "of NaNs": lambda x: [(np.nansum(x, a), np.nanmax(x, a), np.nanmean(x, a)) for a in range(3)],
    "quantiles of NaNs": lambda x: [np.nanquantile(x, q, 1) for q in (0.3, [0.3, 0.6])],
    "median of NaNs": lambda x: [np.nanmedian(x, a) for a in (0, 1, 2)],
    "rows": lambda x: (x[[0, 1, 0]], x[:, [0, 2]], x[..., [1, 1]], x[[0], :, [1]], x[[[0], [1]]]),
    "rows of parts": lambda x: (x[::-1, [0, 2]], x[:, ::2, [1, 0]], x[None, [1], ::-1], x[1, [0]]),
    "taken": lambda x: [np.take(x, [0, 1], a) for a in (0, 1, 2, None)],
    "repeated": lambda x: [np.repeat(x, n, a) for n in (1, 2) for a in (0, 1, 2, None)],
    "tiled": lambda x: (np.tile(x, 2), np.tile(x, (1, 1, 1)), np.tile(x, (2, 1, 1)), np.tile(x, 1)),
    "joined": lambda x: [(np.concatenate([x, x], a), np.stack([x, x], a)) for a in (0, 1, 2)],
    "of a list": lambda x: (np.array([x, x]), np.vstack([x, x]), np.dstack([x])),
    "joined to others": lambda x: np.concatenate([x, np.ones((2, 3, 2))], -1),
    "moved": lambda x: (np.roll(x, 1, 1), np.roll(x, 1), np.flip(x, 1), np.rot90(x)),
    "padded": lambda x: (np.pad(x, 1), np.pad(x, 1, mode="edge"), np.pad(x, 0)),
    "cut": lambda x: [np.delete(x, i, a) for i in (1, [0, 1], slice(0, 1)) for a in (0, 1, 2)],
    "inserted": lambda x: [np.insert(x, i, 2.0, a) for i in (1, [0, 1]) for a in (0, 1, 2)],
    "appended": lambda x: (np.append(x, x, 1), np.append(x, 1.0)),
    "parts": lambda x: (*np.split(x, [1], 1), *np.array_split(x, 3, 2), x[::-1, 1:], x[..., 0]),
    "diagonals": lambda x: (np.diagonal(x), np.diagonal(x, 1, 0, 2), np.trace(x), np.tril(x)),
    "reshaped": lambda x: (x.reshape(6, 4), x.reshape(2, 12), x.reshape(-1), x.reshape(4, 3, 2)),
    "reshaped parts": lambda x: (x[:, 1:].reshape(-1), x.T.reshape(4, 6), x[:1].reshape(3, 4)),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, 1),
    "products": lambda x: (x @ x.mT, x.mT @ x, np.matmul(x, np.ones((4, 5))), x @ np.ones(4)),
    "tensor products": lambda x: [np.tensordot(x, x, (a, a)) for a in (0, 1, [0, 2])],
    "tensor products of others": lambda x: (
        np.tensordot(x, np.ones((4, 2)), ([2, 0], [0, 1])), np.dot(x, np.ones((4, 5))),
        np.inner(x, np.ones((2, 4))), np.outer(x, x), np.kron(x[0], x[1]),
    ),
    "einsum": lambda x: (
        np.einsum("ijk,ijk->jik", x, x), np.einsum("ijk,ilk->lji", x, x),
        np.einsum("ijk,kl->lij", x, np.ones((4, 2))), np.einsum("ijk->kj", x),
        np.einsum("ij,k->kji", x[0], x[0, 0]), np.einsum("ijk,i->jk", x, x[:, 0, 0]),
    ),
    "views by einsum": lambda x: (np.einsum("ijk->kij", x), np.einsum("iij->ij", x[:, :2])),
    "transforms": lambda x: [(np.fft.fft(x, axis=a), np.fft.rfft(x, 5, axis=a)) for a in range(3)],
    "transforms of all": lambda x: (np.fft.fft2(x), np.fft.rfftn(x), np.fft.fftshift(x)),
    "inverse transforms": lambda x: [np.fft.irfft(x, 6, axis=a) for a in range(3)],
    "chosen": lambda x: (
        np.choose((x > 0).astype(int), [x, 2 * x]), np.select([x > 0], [x], 1.0),
        np.compress([True, False, True], x, axis=1), np.take_along_axis(x, np.argsort(x, 1), 1),
    ),
    "found": lambda x: (np.searchsorted(np.arange(4.0), x), np.digitize(x, [0.0, 1.0])),
    "interpolated": lambda x: np.interp(x, [0.0, 1.0], [1.0, 3.0]),
    "calculus": lambda x: (*np.gradient(x), np.trapezoid(x, axis=1), np.unwrap(x, axis=0)),
    "crossed": lambda x: [np.cross(x, x + 1, axis=1), np.cross(x, x + 1, axisa=1, axisb=1)],
    "grids": lambda x: np.meshgrid(x[0, 0], x[0, :, 0], x[:, 0, 0]),
    "blocks": lambda x: (np.block([[x, x], [x, x]]), np.column_stack([x[0], x[1]])),
    "complex": lambda x: (np.conjugate(x + 1j * x), (x * 1j).real.copy(), np.abs(1j * x)),
    "averages": lambda x: (np.average(x, 1, [1.0, 2.0, 3.0]), np.cov(x[0]), np.corrcoef(x[1])),
    "replaced": lambda x: (np.nan_to_num(x), np.heaviside(x, 0.5), np.isclose(x, 1.0), np.modf(x)),
}  # fmt: skip

MATRICES: dict[str, Callable[[Any], Any]] = {
    "inverses": lambda x: (np.linalg.inv(x), np.linalg.pinv(x), np.linalg.matrix_power(x, 0)),
    "powers": lambda x: [np.linalg.matrix_power(x, n) for n in (1, 2, 3, 5, -1)],
    "solutions": lambda x: (np.linalg.solve(x, x), np.linalg.solve(x, np.ones((3, 2)))),
    "factors": lambda x: (np.linalg.cholesky(x @ x.mT + 9 * np.eye(3)), *np.linalg.qr(x)),
    "spectra": lambda x: (*np.linalg.eigh(x + x.mT), *np.linalg.svd(x), np.linalg.svdvals(x)),
    "triangles": lambda x: (np.tril(x), np.triu(x, 1)),
    "norms": lambda x: (np.linalg.norm(x, axis=1), np.linalg.det(x), np.linalg.norm(x, 2, (1, 2))),
}

ENTRIES = 0.3 + np.random.default_rng(1).random((2, 3, 4))
SQUARES = ENTRIES[..., :3] + 2 * np.eye(3)


@pytest.mark.parametrize("name", [*OF_ONE, *MATRICES])
def test_all_orders(name: str) -> None:
    function = OF_ONE.get(name) or MATRICES[name]
    entries = ENTRIES if name in OF_ONE else SQUARES
    choices = Random(name)
    for array in permuted(entries):
        assert check(function, (array,))
    kinds = KINDS[:-1] if name in NOT_OF_BROADCASTS or name in MATRICES else KINDS
    for kind in kinds:
        assert check(function, (relaid(entries, kind, choices),))


@pytest.mark.parametrize(
    "shape", [(1, 3, 4), (2, 1, 4), (2, 3, 1), (1, 1, 4), (0, 3, 4), (2, 0, 4)]
)
def test_axes_of_one_element_and_none(shape: tuple[int, ...]) -> None:
    names = ("copies", "converted", "like", "ordered", "sums", "running", "joined")
    entries = np.arange(1.0, 1 + math.prod(shape)).reshape(shape)
    for array in permuted(entries):
        for function in (*map(OF_ONE.__getitem__, names), arithmetic, arranged):
            assert check(function, (array,))


def arithmetic(x: Any) -> Any:
    return x + 1, x * x.copy(), x * x[:1], x[..., None] * x[..., None, :1]


def arranged(x: Any) -> Any:
    return x.reshape(-1), x.reshape(*x.shape[::-1]), x.ravel(), x.T.ravel(), np.roll(x, 1, 0)


def listed(x: Any) -> Any:
    rows = [x[i] for i in range(6)]
    return np.array(rows), np.stack(rows), np.concatenate(rows), np.array([x[6].copy(), *rows])


def repeated(x: Any) -> Any:
    same = x[0] * 2
    return np.array([x[1], x[2]] + [same] * 17), np.stack([same] * 17 + [x[0]])


@pytest.mark.parametrize("shape", [(7, 3), (7, 2, 3)])
def test_rows_of_lists(shape: tuple[int, ...]) -> None:
    entries = np.arange(1.0, 1 + math.prod(shape)).reshape(shape)
    for array in (a for a in permuted(entries) if len(a) == 7):
        for function in (listed, repeated):
            assert check(function, (array,))
