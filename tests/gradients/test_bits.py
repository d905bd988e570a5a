"""Values are NumPy's to the bit at sizes where it matters in which order numbers are added.

`np.dot`, `np.inner` and ``@`` are different loops for arrays that BLAS does not take as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stcompile.transforms.primal import Primal
from tests.gradients.arguments import laid_out
from tests.programs import READABLE, assert_same

LAYOUTS = ("C", "F", "strided", "reversed")
PRODUCTS: dict[str, Callable[..., Any]] = {
    "x @ y": lambda x, y: x @ y,
    "matmul": lambda x, y: np.matmul(x, y),
    "dot": lambda x, y: np.dot(x, y),
    "x.dot": lambda x, y: x.dot(y),
    "inner": lambda x, y: np.inner(x, y.T),
    "outer": lambda x, y: np.outer(x, y),
    "vdot": lambda x, y: np.vdot(x.T[0], y[:, 0] if y.ndim > 1 else y[:1]),
    "x.T @ x": lambda x, y: x.T @ x,
    "all axes in another order": lambda x, y: np.tensordot(x, x + 1, ([*range(x.ndim)][::-1],) * 2),
    "all axes": lambda x, y: np.tensordot(x, x + 1, x.ndim),
}
SHAPES = (
    *(((33,), (33,)), ((17, 33), (33,)), ((33,), (33, 9)), ((17, 33), (33, 9))),
    *(((4, 17, 33), (33, 9)), ((4, 17, 33), (33,)), ((1, 33), (33, 1))),
)
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda x: np.sum(x),
    "rows": lambda x: x.sum(-1) + x.mean(-1),
    "columns": lambda x: x.sum(0) * x.prod(0),
    "var": lambda x: np.var(x, axis=0) + np.std(x),
    "of a transpose": lambda x: x.T.sum(0) + np.sum(x.T),
    "of a reshape": lambda x: np.sum(x.reshape(-1)) + x.reshape(-1, 1).mean(),
    "of parts": lambda x: np.split(x, [5])[1].sum() + x[::2].sum() + x[:, ::-1].sum(),
    "of copies": lambda x: np.concatenate([x, x]).sum(0) + np.roll(x, 1).sum() + np.flip(x).sum(),
    "of a stack": lambda x: np.stack([x, x], -1).sum() + np.pad(x, 1).sum() + x.repeat(2).sum(),
}


def sample(shape: tuple[int, ...], layout: str, dtype: Any, seed: int = 0) -> Any:
    return laid_out(np.random.default_rng(seed).standard_normal(shape).astype(dtype), layout)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, dtype: Any) -> None:
    function = PRODUCTS[name]
    for left, right in SHAPES:
        for layout in LAYOUTS:
            for other in LAYOUTS:
                x, y = sample(left, layout, dtype), sample(right, other, dtype, 1)
                try:
                    expected = function(x, y)
                except ValueError:
                    continue
                what = f"{left} {layout}, {right} {other}"
                assert_same(Primal(function, READABLE)(x, y), expected, what)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, dtype: Any) -> None:
    function = REDUCTIONS[name]
    for layout in LAYOUTS:
        x = sample((37, 29), layout, dtype)
        assert_same(Primal(function, READABLE)(x), function(x), layout)
