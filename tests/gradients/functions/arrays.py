"""Shapes, indexing, making and arranging arrays, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from tests.gradients import arguments as a
from tests.gradients.functions.case import (
    GRID,
    GRID_AND_ROW,
    ROW,
    SQUARE_GRID,
    TWO_ROWS,
    Case,
    alone,
    real_alone,
)

SHAPES = (
    real_alone(
        "reshape, F",
        lambda x: x.reshape((4, -1), order="F") * np.reshape(x.T * 2, (4, 6), "F"),
        a.of_shapes((2, 3, 4)),
    ),
    real_alone("ravel, F", lambda x: x.T.ravel("F") * (x * x).flatten("F"), a.of_shapes((2, 3, 4))),
    Case("reshape", lambda x, shape: np.reshape(x, shape), a.reshaping()),
    Case("ravel", lambda x: np.ravel(x) * 2, a.unary()),
    alone("transpose", lambda x, axes: np.transpose(x, axes), a.permuting()),
    alone("permute_dims", lambda x, axes: np.permute_dims(x, axes), a.permuting()),
    alone("matrix_transpose", lambda x: np.matrix_transpose(x), a.array(2)),
    Case("swapaxes", lambda x, axis: np.swapaxes(x, axis, -1), a.with_axis()),
    Case("moveaxis", lambda x, source, target: np.moveaxis(x, source, target), a.moving()),
    alone("expand_dims", lambda x, axis: np.expand_dims(x, axis), a.expanding()),
    Case("squeeze", lambda x, axis: np.squeeze(x, axis), a.squeezing()),
    alone("broadcast_to", lambda x, shape: np.broadcast_to(x, shape), a.spreading()),
    Case("concatenate", lambda x, y, axis: np.concatenate([x, y, x], axis), a.joining()),
    alone("concatenate, flat", lambda x, y: np.concatenate((x, y), axis=None), a.rows()),
    Case("stack", lambda x, y, axis: np.stack([x, y, x], axis), a.stacking()),
    Case("vstack", lambda x, y: np.vstack([x, y]), a.rows()),
    Case("hstack", lambda x, y: np.hstack([x, y]), a.columns()),
    Case("atleast_1d", lambda x: np.atleast_1d(x), a.unary()),
    Case("atleast_2d", lambda x: np.atleast_2d(x), a.unary()),
    alone("split", lambda x, at, axis: np.split(x, at, axis), a.splitting()),
    alone("array_split", lambda x, at, axis: np.array_split(x, at, axis), a.splitting(False)),
    alone("flip", lambda x, axis: np.flip(x, axis), a.flipping()),
    Case("flipud, fliplr", lambda x: np.flipud(x) * np.fliplr(x), a.array(2)),
    alone("roll", lambda x, shift, axis: np.roll(x, shift, axis), a.rolling()),
    alone("roll, one axis twice", lambda x: np.roll(x, (1, 2), (0, -1)), a.array(1, 1)),
    Case("pad", lambda x, width: np.pad(x, width, "constant"), a.padding()),
    alone("pad, edge", lambda x: np.pad(x, ((1, 2), (0, 3)), "edge"), GRID),
    alone("pad, reflect", lambda x: np.pad(x, ((5, 2), (0, 3)), "reflect"), GRID),
    alone("pad, symmetric", lambda x: np.pad(x, 4, "symmetric"), GRID),
    alone("pad, wrap", lambda x: np.pad(x, (2, 5), "wrap"), ROW),
    alone("pad, value", lambda x: np.pad(x, 1, constant_values=2.0), a.array(1)),
    alone("repeat", lambda x, n, axis: np.repeat(x, n, axis), a.repeating()),
    alone("sliding_window_view", lambda x: sliding_window_view(np.pad(x, 1), 2, 0), a.array(1)),
)


def write_slice(x: Any, at: Any, value: Any) -> Any:
    y = x * x
    y[at] = value * 2.0
    return y * x


def add_to_slice(x: Any, at: Any, value: Any) -> Any:
    y = x * x
    y[at] += value * x[at]
    return y * x


def scale_slice(x: Any, at: Any, value: Any) -> Any:
    y = np.copy(x)
    y[at] *= value
    y[at] -= 1.0
    return y


def write_items(x: Any, i: Any) -> Any:
    y = np.zeros_like(x)
    y[i] = x[i] * 2.0
    y[i] += x[i] * x[i]
    return y * x


def fill(x: Any, value: Any) -> Any:
    y = np.ones(3)
    y.fill(value)
    y[:2] += x
    return y


def write_items_of_a_mask(x: Any, y: Any) -> Any:
    z = x * y
    z[y > 0.1] = 2.0
    z[y < -0.1] = x[y < -0.1] * x[y < -0.1]
    z[y > 0.5] *= y[y > 0.5]
    return z


def reduce_items_of_a_mask(x: Any, y: Any) -> Any:
    rows = y[:, 0] > 0.1
    return np.mean(x[y > 0.1] ** 2) + np.prod(x[y < 0.1]) + np.sum(x[rows], axis=0) * x[0]


def weigh_items_of_sets(x: Any) -> Any:
    """Sets of values that are all different, in increasing order."""
    kept = np.setdiff1d(x, [7.0, 8.0])
    both = np.intersect1d(x * x, x[1:] * x[1:]) * np.arange(3.0)
    return np.sum(np.union1d(kept, [7.0]) ** 2) + np.sum(both)


INDEXING = (
    Case("x[basic]", lambda x, at: x[at], a.basic()),
    Case("x[basic] twice", lambda x, at: x[at] * x[at], a.basic()),
    alone("x[..., 1]", lambda x: x[..., 1] * x[0, ...], a.of_shapes((2,))),
    Case("x[i]", lambda x, i: x[i], a.fancy()),
    Case("x[i, j]", lambda x, i, j: x[i, j], a.fancy(2)),
    Case("x[i, j, k]", lambda x, i, j, k: x[i, j, k], a.fancy(3)),
    Case("x[i, :, j]", lambda x, i, j: x[:, None][i, 0, j], a.fancy(2)),
    Case("x[1, i]", lambda x, i, j: x[1, i] * x[:, j][:, :1], a.of_shapes((3, 3)).map(
        lambda drawn: (*drawn, np.array([0, 2]), np.array([1, 1, 0])))),
    Case("x[..., i]", lambda x, i: x.T[..., i], a.fancy()),
    Case("x[i, None]", lambda x, i: x[i, None] * np.sum(x[None, i]), a.fancy()),
    Case("x[list]", lambda x: x[[0, 2, -1, 0]] * x[[1]], a.of_shapes((3, 2))),
    Case("x[i][slice]", lambda x, i: x[i, None][..., ::-1] * x[1:].sum(), a.fancy()),
    real_alone("y[basic] = value", write_slice, a.writing()),
    real_alone("y[basic] += value", add_to_slice, a.writing()),
    real_alone("y[basic] *= value", scale_slice, a.writing()),
    real_alone("y[i] = value", write_items, a.fancy(unique=True)),
    real_alone("y[mask] = value", write_items_of_a_mask, a.masking()),
    real_alone("np.sum(x[mask])", reduce_items_of_a_mask, a.masking()),
    real_alone("sets", weigh_items_of_sets, a.of_shapes((4,)).map(lambda drawn: (
        np.sort(np.abs(drawn[0])) + np.arange(1.0, 5.0),))),
    real_alone("fill", fill, a.pair()),
)  # fmt: skip


def windows(x: Any) -> Any:
    """The windows of NumPy, of which one has a parameter."""
    fixed = np.hanning(5) * np.hamming(5) + np.bartlett(5) * np.blackman(5)
    return fixed * np.kaiser(5, 3 + x)


CREATION = (
    real_alone("logspace", lambda x, y: np.logspace(x, y * y, 4, base=2.0), a.pair()),
    real_alone(
        "logspace, base", lambda x: np.logspace(x[0], x[1], 3, base=np.exp(x)), a.of_shapes((2, 3))
    ),
    real_alone(
        "geomspace",
        lambda x, y: np.geomspace(x, 3 * y, 4, endpoint=False) * np.geomspace(-y, -x, 4),
        a.pair(0.5, 1.5),
    ),
    real_alone("kaiser", windows, a.single(0.3, 1.5)),
    real_alone("fromiter", lambda x: np.fromiter((v * v for v in x), float), a.of_shapes((3,))),
    real_alone(
        "asarray_chkfinite", lambda x: np.asarray_chkfinite(np.require(x, None, "C")) * x, a.array()
    ),
    real_alone(
        "x.view", lambda x: (x * (1 + 2j)).view(x.dtype) * x.view().sum(), a.of_shapes((2, 3))
    ),
    real_alone("full", lambda x: np.full((2, 3), x) * np.full(2, x, float)[:, None], a.single()),
    real_alone("full_like", lambda x, y: np.full_like(np.ones(3), x * y) + x, a.pair()),
    Case("array", lambda x, y: np.array([x, 1.0, x * y, y]), a.pair()),
    Case("array, nested", lambda x, y: np.array([[x, y], [y * y, 2.0]]) @ np.ones(2), a.pair()),
    alone("asarray", lambda x: np.asarray(x) * 2, a.unary()),
    alone("copy", lambda x: np.copy(x) * np.array(x), a.unary()),
    alone("asfortranarray", lambda x: np.asfortranarray(x) * 2, a.array(1)),
    alone("ascontiguousarray", lambda x: np.ascontiguousarray(x.T), a.array(1)),
    real_alone("float", lambda x: float(x) ** 2, a.single()),
    real_alone("float64", lambda x: np.float64(x) * x, a.single()),
    alone("zeros and ones", lambda x: np.zeros(3) + x * np.ones_like(np.empty(3)), a.single()),
    Case("arange, eye", lambda x: x * np.arange(3.0) + np.eye(3) * x, a.of_shapes((3,))),
)

RANDOM = (
    real_alone(
        "normal", lambda x, y: np.random.default_rng(3).normal(x, y), a.broadcasting(2, 0.4, 2.0)
    ),
    real_alone(
        "uniform", lambda x, y: np.random.default_rng(3).uniform(-x, y), a.broadcasting(2, 0.4, 2.0)
    ),
    real_alone("exponential", lambda x: np.random.default_rng(3).exponential(x), a.unary(0.4, 2.0)),
)

INDICES = (
    alone("ndindex", lambda x: [x[i] * i[0] for i in np.ndindex(x.shape)], GRID),
    alone("ndenumerate", lambda x: [v * i for (i, _), v in np.ndenumerate(x)], GRID),
    alone("indices", lambda x: x * np.indices((3, 4))[1], GRID),
    alone("fromfunction", lambda v: np.fromfunction(lambda i, j: i * v[0] + j * v, (3, 4)), ROW),
    alone("triu_indices", lambda x: x[np.triu_indices(3, 1)], GRID),
    alone("tril_indices", lambda x: x[np.tril_indices(3, 0, 4)], GRID),
    alone("diag_indices", lambda x: x[np.diag_indices(3)], GRID),
    alone("triu_indices_from", lambda x: x[np.triu_indices_from(x, 1)], GRID),
    alone("tril_indices_from", lambda x: x[np.tril_indices_from(x)], GRID),
    alone("diag_indices_from", lambda x: x[np.diag_indices_from(x)], SQUARE_GRID),
    real_alone("unravel_index", lambda x: x[np.unravel_index(np.argmax(x), x.shape)] * x, GRID),
    real_alone(
        "ravel_multi_index",
        lambda x: np.ravel(x)[np.ravel_multi_index((np.argmax(x, 1), [0, 1, 2]), (4, 3))] * x[:, 0],
        GRID,
    ),
    alone("flat", lambda x: [v * 2 for v in x.flat] + [x.flat[3], x.T.flat[1:5]], GRID),
)

ARRANGEMENT = (
    alone("tile", lambda x: np.tile(x, 2), a.array()),
    alone(
        "tile, axes",
        lambda x: np.tile(x, (2, 1, 2)) * np.tile(x, (3,))[:1, :1],
        a.array(2, 2, 1),
    ),
    alone("resize", lambda x: np.resize(x, (5, 4)) * np.resize(x, 4), GRID),
    alone("rot90", lambda x, k: np.rot90(x, k, (0, -1)), a.array(2).flatmap(
        lambda drawn: st.tuples(st.just(drawn[0]), st.integers(-5, 5)))),
    alone("rollaxis", lambda x: np.rollaxis(x, 2) + np.rollaxis(x, -1, 0), a.of_shapes((2, 3, 4))),
    alone("rollaxis, forth", lambda x: np.rollaxis(x, 0, 2), a.of_shapes((2, 3, 4))),
    alone("atleast_3d", lambda x: np.atleast_3d(x), a.unary()),
    alone("dstack", lambda x, y: np.dstack([x, y]), a.stacking(1, axis=False)),
    alone("column_stack", lambda x: np.column_stack([x, x[:, 0]]), GRID),
    alone("block", lambda x, v: np.block([[x, x * x], [v, 1.0, 2.0, v[:2]]]), GRID_AND_ROW),
    alone("hsplit", lambda x: [*np.hsplit(x, 2), *np.vsplit(x, [2]), *np.hsplit(x[0], [1])], GRID),
    alone("dsplit", lambda x: list(np.dsplit(x, 2)), a.of_shapes((3, 2, 4))),
    alone("unstack", lambda x: [*np.unstack(x), *np.unstack(x, axis=-1)], GRID),
    alone("meshgrid", lambda v, w: list(np.meshgrid(v, w)), TWO_ROWS),
    alone(
        "meshgrid, sparse",
        lambda v, w: list(np.meshgrid(v, w, v, sparse=True, indexing="ij")),
        TWO_ROWS,
    ),
    alone("broadcast_arrays", lambda x, y: [p * 1 for p in np.broadcast_arrays(x, y)],
          a.broadcasting()),
    alone("ix_", lambda x: x[np.ix_([0, 2], [1, 1, 3])], GRID),
    alone("apply_along_axis", lambda x: np.apply_along_axis(lambda v: v * v.sum(), 0, x), GRID),
    alone("apply_along_axis, sums", lambda x: np.apply_along_axis(np.sum, 1, x * x), GRID),
    alone("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x * x, [0, 1]), GRID),
)  # fmt: skip
