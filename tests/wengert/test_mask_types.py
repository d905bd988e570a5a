"""Type rules of what boolean masks select, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.wengert.primitives import OperandError, infer
from stcompile.wengert.templates import TEMPLATES
from stcompile.wengert.types import Type, type_of

X = np.sin(np.arange(24.0)).reshape(3, 4, 2)
MASKS = [X > 0, X[..., 0] > 0, X[:, 0, 0] > 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8, np.bool_])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "max", "min", "any", "all"])
def test_reductions(reduce: str, mask: Any, dtype: Any) -> None:
    x = (X * 9).astype(dtype)
    ndim = x.ndim - mask.ndim + 1
    for axis in ((0,), tuple(range(ndim))):
        params = {"reduce": reduce, "axis": axis}
        result = TEMPLATES["masked"](x, mask, **params)
        expected = getattr(np, reduce)(x[mask], axis=axis)
        np.testing.assert_array_equal(result, expected, strict=True)
        assert infer("masked", (type_of(x), type_of(mask)), params) == (type_of(expected),)


@pytest.mark.parametrize("mask", MASKS)
def test_writes(mask: Any) -> None:
    trailing = X.shape[mask.ndim :]
    for v in (2, 2.5, np.float32(1), np.ones(trailing, np.float32), np.ones((1, *trailing))):
        expected = X.copy()
        expected[mask] = v
        result = TEMPLATES["masked_update"](X.copy(), v, mask, items=False)
        np.testing.assert_array_equal(result, expected)
        types = tuple(map(type_of, (X, v, mask)))
        assert infer("masked_update", types, {"items": False}) == (type_of(X),)
    expected = X.copy()
    expected[mask] = (X * 2)[mask]
    result = TEMPLATES["masked_update"](X.copy(), X * 2, mask, items=True)
    np.testing.assert_array_equal(result, expected)


F64, ROWS = Type.array("f8", (4, 3)), Type.array("bool", (4,))
SUM = {"reduce": "sum", "axis": (0,)}


@pytest.mark.parametrize(
    ("name", "types", "params", "message"),
    [
        ("masked", (F64, Type.array("i8", (4,))), SUM, "a mask is an array of booleans"),
        ("masked", (F64, Type.array("bool", (3,))), SUM, "shapes (4, 3) and (3,)"),
        ("masked", (F64, Type.array("bool", ())), SUM, "a mask is an array"),
        ("masked", (F64, ROWS), {"reduce": "sum", "axis": (1,)}, "not only the axes (1,)"),
        ("masked", (F64, ROWS), {"reduce": "var", "axis": (0,)}, "no reduction 'var'"),
        (
            "masked_update",
            (F64, Type.array("f8", (4, 1)), ROWS),
            {"items": False},
            "shape (4, 1) does not broadcast into shape (1, 3)",
        ),
        (
            "masked_update",
            (F64, Type.array("f8", (4,)), ROWS),
            {"items": True},
            "shapes (4,) and (4, 3) do not fit",
        ),
        (
            "masked_update",
            (F64, Type.array("f8", (4, 2)), ROWS),
            {"items": True},
            "shape (2,) does not broadcast into shape (3,)",
        ),
    ],
)
def test_refusals(name: str, types: Any, params: Any, message: str) -> None:
    with pytest.raises(OperandError) as caught:
        infer(name, types, params)
    assert message in str(caught.value)
