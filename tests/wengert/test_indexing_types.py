"""Type rules of slices and indices against NumPy, and the results against plain subscripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stcompile.wengert.primitives import OperandError, infer
from stcompile.wengert.templates import TEMPLATES
from stcompile.wengert.types import Type, type_of


@st.composite
def slices(draw: Callable[..., Any]) -> Any:
    """An array, counters, the params of a slice, and the positions that it means per axis."""
    shape = draw(st.lists(st.integers(1, 6), max_size=4).map(tuple))
    counters = tuple(draw(st.integers(0, 2)) for _ in range(draw(st.integers(0, 2))))
    starts, lengths, steps, drop, positions = [], [], [], [], []
    for axis, dim in enumerate(shape):
        step = draw(st.sampled_from((1, 1, 2, -1, -2)))
        most = (dim - 1) // abs(step) + 1
        length = draw(st.one_of(st.just(most), st.integers(0, most)))
        extent = max(length - 1, 0) * abs(step)
        low = draw(st.integers(0, dim - 1 - extent))
        first = low + extent if step < 0 else low
        form = tuple(draw(st.sampled_from((0, 1, 2, -1))) for _ in counters)
        offset = first - sum(c * n for c, n in zip(form, counters, strict=True))
        starts.append((offset, *form))
        lengths.append(length)
        steps.append(step)
        if length == 1 and draw(st.booleans()):
            drop.append(axis)
        positions.append([first + i * step for i in range(length)])
    params = {
        "start": tuple(starts),
        "length": tuple(lengths),
        "step": tuple(steps),
        "drop": tuple(drop),
    }
    x = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    return x, counters, params, positions


def expected_part(x: Any, params: dict[str, Any], positions: Any) -> Any:
    part = x[np.ix_(*positions)] if positions else x
    dims = tuple(n for axis, n in enumerate(params["length"]) if axis not in params["drop"])
    return part.reshape(dims)


@given(slices())
def test_slice(case: Any) -> None:
    x, counters, params, positions = case
    result = TEMPLATES["slice"](x, counters, **params)
    (t,) = infer("slice", tuple(map(type_of, (x, *counters))), params)
    assert type_of(result) == t
    assert np.array_equal(result, expected_part(x, params, positions))


@given(slices())
def test_update_and_accumulate(case: Any) -> None:
    x, counters, params, positions = case
    part = expected_part(x, params, positions)
    v = (part + 100).astype(np.float32)
    where = np.zeros(x.shape, bool)
    where[np.ix_(*positions) if positions else ()] = True
    if x.ndim:
        updated = TEMPLATES["update"](x.copy(), v, counters, **params)
        assert np.array_equal(updated, np.where(where, x + 100, x))
        added = TEMPLATES["accumulate"](x.copy(), (v, *counters), op="slice", **params)
        assert np.array_equal(added, np.where(where, 2 * x + 100, x))
        types = tuple(map(type_of, (x, v, *counters)))
        assert infer("update", types, params) == (type_of(x),)
        assert infer("accumulate", types, {"op": "slice", **params}) == (type_of(x),)


@st.composite
def indices(draw: Callable[..., Any]) -> Any:
    """An array, index operands, ``at``, and the subscript that they mean."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple))
    common = draw(st.lists(st.integers(0, 3), max_size=2).map(tuple))
    operands: list[Any] = []
    at: list[Any] = []
    subscript: list[Any] = []
    for dim in shape[: draw(st.integers(1, min(len(shape), 4)))]:
        if draw(st.booleans()) and draw(st.booleans()):
            at.append("new")
            subscript.append(None)
        if draw(st.booleans()):
            dims = draw(st.sampled_from((common, common[1:], ())))
            number = draw(st.integers(-dim, dim - 1))
            kind = draw(st.sampled_from((int, np.int64, np.array))) if not dims else np.array
            i: Any = kind(number) if not dims else np.full(dims, number)
            operands.append(i)
            at.append("index")
            subscript.append(i)
        else:
            at.append((dim - 1, dim, -1) if draw(st.booleans()) else (0, dim - 1, 1))
            subscript.append(slice(None, None, -1) if at[-1][2] < 0 else slice(0, dim - 1))
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return x, tuple(operands), tuple(at), tuple(subscript)


@given(indices())
def test_index(case: Any) -> None:
    x, operands, at, subscript = case
    result = TEMPLATES["index"](x, operands, at=at)
    assert np.array_equal(result, x[subscript])
    assert (
        type_of(result).dims
        == infer("index", tuple(map(type_of, (x, *operands))), {"at": at})[0].dims
    )
    v = np.float32(5)
    updated, expected = x.copy(), x.copy()
    TEMPLATES["index_update"](updated, v, operands, at=at)
    expected[subscript] = v
    assert np.array_equal(updated, expected)
    TEMPLATES["accumulate"](updated, (v, *operands), op="index", at=at)
    np.add.at(expected, subscript, v)
    assert np.array_equal(updated, expected)


F32 = Type.array("float32", (2, 3))
INT = Type.python(int)


@pytest.mark.parametrize(
    ("name", "types", "params", "message"),
    [
        (
            "add",
            (F32, Type.array("float32", (4,))),
            {},
            "add: shapes (2, 3) and (4,) do not broadcast",
        ),
        (
            "contract",
            (Type.array("float32", (100, 3)), Type.array("float32", (4, 5))),
            {"batch": (), "contracted": ((1, 0),), "order": (), "spelling": "matmul"},
            "matmul: shapes (100, 3) and (4, 5) do not fit: 3 != 4",
        ),
        ("index", (F32, Type.array("bool", (2,))), {"at": ("index",)}, "indices are integers"),
        ("index", (F32, Type.array("bool", (9,))), {"at": (("mask", 2, 1),)}, "is no mask"),
        ("index", (F32, Type.array("float32", (2,))), {"at": ("index",)}, "indices are integers"),
        (
            "index",
            (F32, Type.array("int64", (2,)), Type.array("int64", (3,))),
            {"at": ("index", "index")},
            "index: index shapes (2,) and (3,) do not broadcast",
        ),
        ("reshape", (F32,), {"shape": (4,)}, "has 6 elements, (4,) has 4"),
        ("concatenate", (F32, Type.array("f4", (2, 4))), {"axis": 0}, "do not fit along axis 0"),
        ("max", (Type.array("f4", (0, 3)),), {"axis": (0,), "keepdims": False}, "no elements"),
        ("sum", (F32,), {"axis": (2,), "keepdims": False}, "axis 2 is out of bounds"),
        (
            "update",
            (F32, Type.array("f4", (4,))),
            {"start": ((0,), (0,)), "length": (1, 3), "step": (1, 1), "drop": (0,)},
            "update: shape (4,) does not broadcast into shape (3,)",
        ),
        (
            "slice",
            (F32,),
            {"start": ((5,), (0,)), "length": (1, 3), "step": (1, 1), "drop": (0,)},
            "out of bounds for axis 0",
        ),
        ("less", (Type.python(complex), INT), {}, "less: Python does not define it"),
        ("subtract", (Type.array("bool", (2,)),) * 2, {}, "subtract: NumPy does not define it"),
        ("store", (F32, Type.array("f4", (4,))), {}, "store: shape (4,)"),
        ("print", (F32,), {"parts": ("a",), "end": "\n"}, "print: 1 values for 0 places"),
    ],
)
def test_refusals_name_the_shapes(name: str, types: Any, params: Any, message: str) -> None:
    with pytest.raises(OperandError) as caught:
        infer(name, types, params)
    assert message in str(caught.value)
