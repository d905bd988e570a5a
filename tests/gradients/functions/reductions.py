"""Reductions, statistics, sorting and selecting, methods of arrays, library functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.nn import logsumexp, softmax_cross_entropy
from tests.gradients import arguments as a
from tests.gradients.functions.case import (
    GRID,
    GRID_AND_ROW,
    GRID_WITH_NAN,
    KNOTS,
    ROW,
    TWO_ROWS,
    Case,
    alone,
    real,
    real_alone,
)

REDUCTIONS = (
    Case("sum", lambda x, axis, keep: np.sum(x, axis, keepdims=keep), a.reduced()),
    Case("mean", lambda x, axis, keep: np.mean(x, axis, keepdims=keep), a.reduced(empty=False)),
    alone("prod", lambda x, axis, keep: np.prod(x, axis, keepdims=keep), a.reduced()),
    Case("max", lambda x, axis, keep: np.max(x, axis, keepdims=keep), a.reduced(empty=False)),
    Case("min", lambda x, axis, keep: np.min(x, axis, keepdims=keep), a.reduced(empty=False)),
    real("var", lambda x, axis, keep: np.var(x, axis, keepdims=keep), a.reduced(empty=False)),
    real(
        "var, ddof",
        lambda x, axis, keep: np.var(x, axis, ddof=1, keepdims=keep),
        a.reduced(empty=False, more=1),
    ),
    real_alone(
        "std",
        lambda x, axis, keep: np.std(x, axis, keepdims=keep),
        a.reduced(empty=False, more=1),
    ),
    real_alone(
        "std, ddof",
        lambda x, axis, keep: x.std(axis, ddof=1, keepdims=keep),
        a.reduced(empty=False, more=1, arrays_only=True),
    ),
    Case("cumsum", lambda x, axis: np.cumsum(x, axis), a.with_axis(none=True)),
    alone("amax, amin", lambda x: np.amax(x, 0) * np.amin(x), a.array(1, 3, 1)),
    Case("sum of a list", lambda x, y: np.sum([x, y * x, 2.0]), a.pair()),
    alone("prod of zeros", lambda x: np.prod(x * np.array([1.0, 0.0, 2.0])), a.of_shapes((3,))),
    real(
        "argmax",
        lambda x, axis: x * np.argmax(x, axis, keepdims=True),
        a.with_axis(0, none=True, min_side=1),
    ),
)

METHODS = (
    Case(
        "x.sum", lambda x, axis, keep: x.sum(axis=axis, keepdims=keep), a.reduced(arrays_only=True)
    ),
    Case("x.mean, x.max, x.min", lambda x: x.mean(0) + x.max(0) * x.min(0), a.array(1, 3, 1)),
    alone("x.prod, x.cumsum", lambda x: x.prod(-1, keepdims=True) * x.cumsum(-1), a.array(1, 3)),
    real("x.var, x.std", lambda x: x.var(0) + x.std(0), a.of_shapes((3, 2))),
    alone("x.dot", lambda x, y: x.dot(y), a.dot()),
    Case("x.reshape", lambda x, shape: x.reshape(shape) * x.reshape(*shape), a.reshaping()),
    alone("x.transpose", lambda x, axes: x.transpose(axes), a.permuting()),
    Case("x.T", lambda x: x.T * 2.0, a.array()),
    alone("x.mT", lambda x: x.mT, a.array(2)),
    Case("x.ravel, x.flatten", lambda x: x.ravel() * x.flatten(), a.array()),
    Case("x.squeeze", lambda x, axis: x.squeeze(axis), a.squeezing()),
    Case("x.swapaxes", lambda x, axis: x.swapaxes(axis, 0), a.with_axis()),
    alone("x.repeat", lambda x, n, axis: x.repeat(n, axis), a.repeating()),
    alone("x.astype", lambda x: x.astype(x.dtype) * x.astype(x.dtype, copy=False), a.array()),
    real_alone("astype", lambda x: np.astype(x, np.float64) * x, a.array()),
    alone("x.copy", lambda x: x.copy() * x, a.array()),
    alone("x.tolist", lambda x: [v * 2 for v in x.tolist()], a.of_shapes((3,))),
    real_alone("x.item", lambda x: x.item() * x, a.of_shapes((1, 1))),
    real_alone("x.round", lambda x: x.round() * x, a.array(low=0.6, high=1.4)),
)

LIBRARY = (
    alone("softmax_cross_entropy", lambda x, y: softmax_cross_entropy(x, y), a.classified()),
    alone(
        "softmax", lambda x: np.exp(x) / np.sum(np.exp(x), 1, keepdims=True), a.of_shapes((3, 2))
    ),
    alone("logsumexp", lambda x, axis, keep: logsumexp(x, axis, keep), a.exponents()),
)


def write_along_axis(x: Any, i: Any) -> Any:
    y = x * x
    np.put_along_axis(y, i, 2 * x[:, :1], 1)
    return y


def write_where(x: Any, v: Any) -> Any:
    y = x * x
    np.copyto(y, v * v, where=x > 0)
    np.putmask(y, x < -1, 3 * x)
    return y


def placed(x: Any) -> Any:
    y = x.T * 1.0
    np.place(y, y > 0, x[0] ** 2)
    np.put(y, [1, -1, 1], x[1, :2] * x[0, 0])
    return y


ORDER = (
    real_alone(
        "setxor1d",
        lambda x: np.setxor1d(x, x[1:]) * np.sort_complex(x[0]).real[0],
        a.of_shapes((2, 3)),
    ),
    real_alone("sort", lambda x, axis: np.sort(x, axis) * x, a.with_axis()),
    real_alone("sort, flat", lambda x: np.sort(x, None), a.array()),
    real_alone("argsort", lambda x: x[np.argsort(x[:, 0])] * x.argsort(), GRID),
    real_alone("partition", lambda x: np.partition(x, 1) * np.partition(x, (0, -1), 0), GRID),
    real_alone(
        "argpartition", lambda x: x[np.argpartition(x[:, 1], 1)] * x.argpartition(0), GRID
    ),
    real_alone("lexsort", lambda x: x[np.lexsort((x[:, 0], x[:, 1]))], GRID),
    real_alone("searchsorted", lambda x: np.searchsorted(KNOTS, x, "right") * x, a.unary()),
    real_alone("x.searchsorted", lambda x: KNOTS.searchsorted(x) * x, a.unary()),
    real_alone("histogram", lambda x: np.histogram(x, KNOTS)[0][1] * x, a.unary()),
    real_alone(
        "histogram, density",
        lambda x: np.histogram(x, KNOTS, density=True)[0][1] * x,
        a.of_shapes((5,)),
    ),
    real_alone(
        "histogram, known",
        lambda x: np.sum(np.histogram([1, 2, 2, 4], 3, weights=[1, 2, 3, 4])[0] * x[0, 0]),
        GRID,
    ),
    real_alone(
        "unique",
        lambda x: x[np.unique([2, 0, 2, 1])]
        * np.unique(np.array([3, 1, 3]) * 2, return_counts=True)[1][1],
        GRID,
    ),
    real_alone("histogram, bins", lambda x: np.histogram(x, 4, (-1, 1))[0][2] * x, a.unary()),
    real_alone("digitize", lambda x: np.digitize(x, KNOTS) * x, a.unary()),
    alone("take", lambda x: np.take(x, [0, 2, -1], axis=1) * np.take(x, 5) * x.take([1]), GRID),
    alone("take, integer", lambda x: np.take(x, 1, 0), GRID),
    real_alone("take_along_axis", lambda x: np.take_along_axis(x, np.argsort(x, 0), 0) * x, GRID),
    real_alone("put_along_axis", write_along_axis, GRID.map(
        lambda drawn: (*drawn, np.array([[0, 2], [3, 1], [2, 0]])))),
    real_alone("choose", lambda x: np.choose((x > 0) + 0, [x, x * x]), GRID),
    real_alone("x.choose", lambda x: np.array([2, 0, 1, 0]).choose([x, x * x, 3.0]), GRID),
    real_alone("select", lambda x: np.select([x > 0.5, x > 0], [x * x, 2.0], x), GRID),
    alone("compress", lambda x: np.compress([1, 0, 1], x, axis=0), GRID),
    alone("extract", lambda v: np.extract([True, False, True, True], v), ROW),
    real_alone("piecewise", lambda x: np.piecewise(x, [x < 0, x > 1], [np.sin, 3.0, abs]), GRID),
    real_alone("copyto", write_where, GRID_AND_ROW),
    real_alone("place, put", placed, GRID),
    real_alone("bincount", lambda v: np.bincount([0, 2, 2, 1], v, minlength=5), ROW),
    real_alone("bincount, counts", lambda v: np.bincount([1, 1, 3], minlength=4) * v, ROW),
    real_alone(
        "median", lambda x, axis: np.median(x, axis), a.with_axis(none=True, min_side=1)
    ),
    real_alone("median, axes", lambda x: np.median(x, (0, -1), keepdims=True), a.array(2, 3, 1)),
    real_alone(
        "quantile",
        lambda x: np.quantile(x, 0.25, keepdims=True) * np.quantile(x, [0.0, 0.5, 1.0], axis=1),
        a.of_shapes((3, 5)),
    ),
    real_alone("percentile", lambda x: np.percentile(x, 75, axis=0), a.of_shapes((5, 2))),
)  # fmt: skip

STATISTICS = (
    real_alone("ptp", lambda x: np.ptp(x, 0) * np.ptp(x), GRID),
    real_alone("count_nonzero", lambda x: np.count_nonzero(x, axis=0) * x, GRID),
    alone("average", lambda x, v: np.average(x, axis=1, weights=v * v), GRID_AND_ROW),
    alone("average, all", lambda x: np.average(x, weights=1 + x * x) * np.average(x, 0), GRID),
    alone(
        "average, returned",
        lambda x: [part * 1.0 for part in np.average(x, 1, x * x, returned=True)],
        GRID,
    ),
    real_alone("cov", lambda x: np.cov(x) * np.cov(x[0], bias=True), GRID),
    real_alone("cov, two", lambda v, w: np.cov(v, w, ddof=0), TWO_ROWS),
    real_alone("corrcoef", lambda x: np.corrcoef(x, rowvar=False), a.of_shapes((3, 2))),
    alone("cumprod", lambda x, axis: np.cumprod(x, axis), a.with_axis(none=True)),
    alone("x.cumprod", lambda x: (x * np.array([1.0, 0.0, 2.0, 0.0])).cumprod(-1), GRID),
    alone(
        "cumulative_sum",
        lambda x, axis: np.cumulative_sum(x, axis=axis, include_initial=True),
        a.with_axis(),
    ),
    alone("cumulative_prod", lambda x, axis: np.cumulative_prod(x, axis=axis), a.with_axis()),
    real_alone("nansum", lambda x: np.nansum(x) * np.nansum(x, 1), GRID_WITH_NAN),
    real_alone("nanprod", lambda x: np.nanprod(x, 0, keepdims=True), GRID_WITH_NAN),
    real_alone("nancumsum", lambda x: np.nancumsum(x, 1) * np.nancumprod(x, 0), GRID_WITH_NAN),
    real_alone("nanmean", lambda x: np.nanmean(x) * np.nanmean(x, 0), GRID_WITH_NAN),
    real_alone("nanmax", lambda x: np.nanmax(x) * np.nanmin(x, 0), GRID_WITH_NAN),
    real_alone(
        "nanargmax", lambda x: np.nanargmax(x) * np.nansum(x, 0) + np.nanargmin(x, 0), GRID_WITH_NAN
    ),
    real_alone("nanvar", lambda x: np.nanvar(x) * np.nanvar(x, 0, ddof=1), GRID_WITH_NAN),
    real_alone("nanstd", lambda x: np.nanstd(x, 1, keepdims=True), GRID_WITH_NAN),
    real_alone(
        "nanquantile", lambda x: np.nanquantile(x, 0.25, 1) * np.nanquantile(x, 0.75), GRID_WITH_NAN
    ),
    real_alone("nanpercentile", lambda x: np.nanpercentile(x, [20, 70], axis=0), GRID_WITH_NAN),
    real_alone("nanmedian", lambda x: np.nanmedian(x) * np.nanmedian(x, 1), GRID_WITH_NAN),
)
