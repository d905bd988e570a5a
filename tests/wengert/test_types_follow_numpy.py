"""Every type rule against NumPy itself: run the template, compare the type of its result."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcompile.wengert.primitives import OperandError, infer
from stcompile.wengert.primitives.elementwise import MATH_BINARY, MATH_INTEGER, MATH_RULES
from stcompile.wengert.primitives.reductions import REDUCTIONS
from stcompile.wengert.templates import TEMPLATES, grouped
from stcompile.wengert.types import type_of
from tests.programs import BINARY, UNARY

DTYPES = ("bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64")
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
quick = settings(max_examples=60, deadline=None)


def spread(name: str, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """The template on inputs spread as its primitive spreads them."""
    template = TEMPLATES[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return template(*grouped(template, inputs), **params)


def check(name: str, inputs: tuple[Any, ...], params: dict[str, Any]) -> None:
    """`infer` gives the type of the result, and refuses where NumPy raises."""
    types = tuple(map(type_of, inputs))
    try:
        (expected,) = infer(name, types, params)
    except OperandError:
        return
    copies = tuple(np.copy(x) if isinstance(x, np.ndarray) else x for x in inputs)
    assert type_of(spread(name, copies, params)) == expected, (name, types, params)


def accepted(name: str, inputs: tuple[Any, ...], params: dict[str, Any]) -> bool:
    try:
        infer(name, tuple(map(type_of, inputs)), params)
    except OperandError:
        return False
    return True


def runs(name: str, inputs: tuple[Any, ...], params: dict[str, Any]) -> bool:
    try:
        spread(name, inputs, params)
    except (TypeError, ValueError, IndexError):
        return False
    return True


@st.composite
def operands(draw: Callable[..., Any], shape: tuple[int, ...] | None = None) -> Any:
    """A number or an array, positive, of any kind and dtype."""
    kind = draw(st.sampled_from(("python", "scalar", "array", "array")))
    if kind == "python":
        return draw(st.sampled_from((True, 2, 1.5, 1.5 + 0j)))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    if kind == "scalar":
        return dtype.type(1)
    return np.ones(draw(SHAPES) if shape is None else shape, dtype)


@quick
@given(operands())
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, x: Any) -> None:
    assert accepted(name, (x,), {}) == runs(name, (x,), {})
    check(name, (x,), {})


@st.composite
def fitting(draw: Callable[..., Any], count: int) -> tuple[Any, ...]:
    """Operands whose shapes mostly broadcast."""
    shape = draw(SHAPES)
    shapes = [shape, shape[1:], tuple(1 for _ in shape), (), None]
    return tuple(draw(operands(draw(st.sampled_from(shapes)))) for _ in range(count))


@quick
@given(fitting(2))
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, xy: tuple[Any, ...]) -> None:
    bool_to_int = name == "power" and type_of(xy[0]).dtype == bool and type(xy[1]) is int
    if not bool_to_int or type_of(xy[0]).kind == "python":
        assert accepted(name, xy, {}) == runs(name, xy, {}), (name, xy)
    check(name, xy, {})


@quick
@given(fitting(3))
@pytest.mark.parametrize("name", ["where", "clip"])
def test_ternary(name: str, operands: tuple[Any, ...]) -> None:
    check(name, operands, {})


@quick
@given(st.data())
@pytest.mark.parametrize("name", [*MATH_RULES, *MATH_INTEGER])
def test_math(name: str, data: st.DataObject) -> None:
    count = 1 + (name in MATH_BINARY)
    value = 1.0 if name in ("math.acos", "math.asin", "math.acosh") else 0.5
    numbers = st.sampled_from((value, np.float32(value), np.array(value), 1 + 1j, np.ones(2)))
    inputs = tuple(data.draw(numbers) for _ in range(count))
    assert accepted(name, inputs, {}) == runs(name, inputs, {})
    check(name, inputs, {})


@quick
@given(operands(), st.sampled_from(DTYPES), st.sampled_from((bool, int, float, complex)))
def test_conversions(x: Any, dtype: str, python: type) -> None:
    check("cast", (x,), {"dtype": np.dtype(dtype)})
    target = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}[python]
    check("to_python", (x,), {"dtype": np.dtype(target)})
    for name in ("to_scalar", "asarray", "copy"):
        check(name, (x,), {})


@quick
@given(operands(), st.data(), st.booleans())
@pytest.mark.parametrize("name", [p.name for p in REDUCTIONS])
def test_reductions(name: str, x: Any, data: st.DataObject, keepdims: bool) -> None:
    ndim = np.ndim(x)
    if name in ("cumsum", "cumprod"):
        if ndim:
            check(name, (x,), {"axis": data.draw(st.integers(0, ndim - 1))})
        return
    if name in ("argmax", "argmin"):
        axis: Any = data.draw(st.sampled_from((None, *range(ndim))))
    else:
        axis = tuple(i for i in range(ndim) if data.draw(st.booleans()))
    params = {"axis": axis, "keepdims": keepdims}
    if name in ("var", "std"):
        params["ddof"] = data.draw(st.integers(0, 1))
    if isinstance(x, np.ndarray | np.generic):
        assert accepted(name, (x,), params) == runs(name, (x,), params)
    check(name, (x,), params)


@quick
@given(operands(), st.data())
def test_arrangements(x: Any, data: st.DataObject) -> None:
    shape = np.shape(x)
    ndim = len(shape)
    check("reshape", (x,), {"shape": (np.size(x),)})
    check("reshape", (x,), {"shape": (1, *shape, 1)})
    check("reshape", (x,), {"shape": ()})
    check("transpose", (x,), {"axes": tuple(data.draw(st.permutations(range(ndim))))})
    places = data.draw(st.sets(st.integers(0, ndim + 1), min_size=2, max_size=2))
    check("expand_dims", (x,), {"axis": tuple(sorted(places))})
    check("squeeze", (x,), {"axis": tuple(i for i, d in enumerate(shape) if d == 1)})
    check("broadcast_to", (x,), {"shape": (2, *(3 if d == 1 else d for d in shape))})
    check("roll", (x,), {"shift": (1,) * ndim, "axis": tuple(range(ndim))})
    widths = tuple((1, 2) for _ in shape)
    check("pad", (x,), {"pad_width": widths, "mode": "constant", "value": 0})


@quick
@given(st.sampled_from(DTYPES), st.sampled_from(((), (2,), (0,))), st.integers(1, 3), st.data())
def test_linear_algebra(dtype: str, stack: tuple[int, ...], n: int, data: st.DataObject) -> None:
    x = np.broadcast_to(np.eye(n), (*stack, n, n)).astype(dtype)
    wide = np.broadcast_to(np.eye(n, 3), (*stack, n, 3)).astype(dtype)
    for name in ("inv", "det", "cholesky", "pinv", "svdvals"):
        check(name, (x,), {})
        check(name, (wide,), {})
    y = np.ones(data.draw(st.sampled_from(((n,), (n, 2), (2, n, 1), (4,)))), dtype)
    check("solve", (x, y), {})
    check("lstsq", (x, y), {})
    for part in ("sign", "logabsdet"):
        check("slogdet", (x,), {"part": part})
    for part in ("eigenvalues", "eigenvectors"):
        check("eigh", (x,), {"part": part, "lower": True})
    check("eigvalsh", (x,), {"lower": True})
    for part in ("U", "S", "Vh"):
        check("svd", (wide,), {"part": part})
    check("cholesky", (x * (1 + 0j),), {})
    for part in ("sign", "logabsdet"):
        check("slogdet", (x * (1 + 1j),), {"part": part})
    check("pinv", (wide * (1 + 1j),), {"rcond": 0.1})
    check("lstsq", (x * (1 + 1j), y), {})
    for name in ("eigvals", "eigvalsh", "svdvals"):
        check(name, (x * (1 + 1j),), {"lower": True} if name == "eigvalsh" else {})
    for part in ("eigenvalues", "eigenvectors"):
        check("eigh", (x * (1 + 1j),), {"part": part, "lower": True})
        check("eig", (x * (1 + 1j),), {"part": part})
    for part in ("U", "S", "Vh"):
        check("svd", (wide * (1 + 1j),), {"part": part})
    for part in "QR":
        check("qr", (np.swapaxes(wide, -1, -2),), {"part": part})


@quick
@given(st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.integers(0, 3))
def test_einsum(one: str, two: str, n: int) -> None:
    x, y, z = np.ones((n, n), one), np.ones((n, 2), two), np.ones((), one)
    for subscripts, xs in (("ii->", (x,)), ("ii->i", (x,)), ("ii,ij,->j", (x, y, z))):
        check("einsum", xs, {"subscripts": subscripts})


@quick
@given(operands(), st.data())
def test_sorting(x: Any, data: st.DataObject) -> None:
    check("sinc", (x,), {})
    ndim = np.ndim(x)
    if not ndim:
        return
    axis = data.draw(st.integers(0, ndim - 1))
    for name in ("sort", "argsort"):
        check(name, (x,), {"axis": axis})
    check("lexsort", (x, x), {"axis": axis})
    for name in ("partition", "argpartition"):
        for kth in (0, 2, (0, 1)):
            params = {"axis": axis, "kth": kth}
            if accepted(name, (x,), params):
                assert runs(name, (x,), params)
            check(name, (x,), params)


@quick
@given(operands(), operands(), st.integers(-3, 3), st.data())
def test_looking_up(x: Any, v: Any, offset: int, data: st.DataObject) -> None:
    knots = np.array([1.0, 2.0])
    check("searchsorted", (knots, x), {"side": "right"})
    check("searchsorted", (v, x), {"side": "left"})
    check("digitize", (x, knots), {"right": False})
    check("interp", (x, knots, knots.astype(np.float32)), {})
    ndim = np.ndim(x)
    if isinstance(x, np.ndarray) and ndim > 1:
        one, two = data.draw(st.permutations(range(ndim)))[:2]
        check("diagonal", (x,), {"offset": offset, "axis1": one, "axis2": two})


@quick
@given(st.data())
@pytest.mark.parametrize("name", ["concatenate", "stack"])
def test_joins(name: str, data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    xs = tuple(data.draw(operands(shape)) for _ in range(data.draw(st.integers(1, 3))))
    axis = data.draw(st.integers(0, max(len(shape) - 1, 0)))
    assert accepted(name, xs, {"axis": axis}) == runs(name, xs, {"axis": axis})
    check(name, xs, {"axis": axis})


@quick
@given(st.sampled_from(DTYPES), SHAPES, st.integers(-3, 3), st.integers(-3, 3))
def test_creation(dtype: str, shape: tuple[int, ...], low: int, high: int) -> None:
    d = np.dtype(dtype)
    for v in (0, 1.0, 2, np.float32(3), np.array([1.0])):
        check("full", (v,), {"shape": shape, "dtype": d})
    for step in (1, 2, -1):
        if dtype not in ("bool", "uint8", "uint64"):
            check("arange", (), {"start": low, "stop": high, "step": step, "dtype": d})
    check("arange", (), {"start": 0.0, "stop": 2.5, "step": 1, "dtype": np.dtype("int64")})
    check("eye", (), {"n": len(shape), "m": high + 3, "k": low, "dtype": d})
    size = int(np.prod(shape, dtype=int))
    check("constant", (), {"values": (1,) * size, "shape": shape, "dtype": d})
    check("array", (np.float32(1), 2, True)[:size], {"shape": (min(size, 3),), "dtype": d})


@quick
@given(st.data())
def test_contract(data: st.DataObject) -> None:
    dims = {"b": 2, "c": 3, "k": 2, "l": 3, "i": 1, "j": 4}
    names = st.sets(st.sampled_from("bcklij"), min_size=1).map(sorted).flatmap(st.permutations)
    left, right = data.draw(names), data.draw(names)
    dtypes = [np.dtype(data.draw(st.sampled_from(DTYPES))) for _ in range(2)]
    x, y = (
        np.ones(tuple(dims[n] for n in letters), dtype)
        for letters, dtype in zip((left, right), dtypes, strict=True)
    )
    shared = [n for n in left if n in right]
    pairs = {n: (left.index(n), right.index(n)) for n in shared}
    batch = tuple(pairs[n] for n in shared if n in "bc")
    contracted = tuple(pairs[n] for n in shared if n not in "bc")
    free = len(left) + len(right) - 2 * len(shared) + len(batch)
    order = data.draw(st.sampled_from(((), tuple(data.draw(st.permutations(range(free)))))))
    params = {"batch": batch, "contracted": contracted, "order": order, "spelling": ""}
    check("contract", (x, y), params)
