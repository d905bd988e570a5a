"""`scipy.ndimage`: other sizes, ranks in windows, and measurements of labelled parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

ndimage = pytest.importorskip("scipy.ndimage")

from tests.scipy.checks import Case, check, check_forward  # noqa: E402

X = np.cos(np.arange(30.0) ** 2).reshape(5, 6) + 0.2
MARKS = np.array([[1, 1, 0, 2, 2, 2], [1, 0, 0, 0, 2, 0], [0, 3, 3, 0, 0, 0], *[[0] * 6] * 2])
TURN = np.array([[0.913, -0.207], [0.151, 1.083]])

CASES = (
    Case("zoom", lambda x: ndimage.zoom(x, 1.7), (X,)),
    Case("zoom linear", lambda x: ndimage.zoom(x, (2, 0.5), order=1), (X,)),
    Case("affine", lambda x, m: ndimage.affine_transform(x, m, [0.317, 0.411], order=1), (X, TURN)),
    Case(
        "affine cubic", lambda x, m: ndimage.affine_transform(x, m, 0.1, mode="mirror"), (X, TURN)
    ),
    Case("diagonal", lambda x, m: ndimage.affine_transform(x, m, 0.21, order=1), (X, TURN[:, 1])),
    Case("rotate", lambda x: ndimage.rotate(x, 33.0), (X,)),
    Case("turn", lambda x, a: ndimage.rotate(x, a, reshape=False, mode="mirror"), (X, 17.0)),
    Case("median", lambda x: ndimage.median_filter(x, 3), (X,)),
    Case("median even", lambda x: ndimage.median_filter(x, (2, 3), mode="nearest"), (X,)),
    Case("percentile", lambda x: ndimage.percentile_filter(x, 30, 3), (X,)),
    Case("rank", lambda x: ndimage.rank_filter(x, -2, 3, mode="constant"), (X,)),
    Case("opening", lambda x: ndimage.grey_opening(x, 3) + ndimage.grey_closing(x, 3), (X,)),
    Case("erosion", lambda x: ndimage.grey_erosion(x, 3) * ndimage.grey_dilation(x, 3), (X,)),
    Case("label", lambda x: x * ndimage.label(x > 0.4)[0], (X,)),
    Case("count", lambda x: x * ndimage.label(x > 0.4)[1], (X,)),
    Case("distances", lambda x: x * ndimage.distance_transform_edt(x > 0), (X,)),
    Case("masks", lambda x: x * ndimage.binary_dilation(x > 1, iterations=2), (X,)),
    Case("holes", lambda x: x * ndimage.binary_fill_holes(x > 0), (X,)),
    Case("sum", lambda x: ndimage.sum_labels(x, MARKS, [1, 2, 3]), (X,)),
    Case("sum of one", lambda x: ndimage.sum(x, MARKS, 2) + ndimage.sum(x), (X,)),
    Case("mean", lambda x: ndimage.mean(x, MARKS, [1, 2]), (X,)),
    Case("variance", lambda x: ndimage.variance(x, MARKS), (X,)),
    Case("deviation", lambda x: ndimage.standard_deviation(x, MARKS, [1, 2]), (X,)),
    Case("ends", lambda x: ndimage.maximum(x, MARKS, 1) * ndimage.minimum(x, MARKS, 2), (X,)),
    Case("centre", lambda x: np.array(ndimage.center_of_mass(x * x)), (X,)),
    Case("centres", lambda x: np.array(ndimage.center_of_mass(x * x, MARKS, [1, 2])), (X,)),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_images(case: Case) -> None:
    linear = ("median", "percentile", "rank", "opening", "erosion", "masks", "holes", "label")
    is_checked = not case.name.startswith(linear)
    check(Case(case.name, case.function, case.args, 1e-10), second=is_checked)
    check_forward(case)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.sum(ndimage.rotate(x, x[0, 0])), "reshape=False"),
        (lambda x: np.sum(ndimage.grey_erosion(x, 2)), "odd"),
        (lambda x: np.sum(ndimage.watershed_ift(x, x)), "`ndimage.watershed_ift`"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(f)(X)
