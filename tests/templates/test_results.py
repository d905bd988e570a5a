"""A template computes what the plain NumPy call does, to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stcompile.wengert.primitives.elementwise import (
    MATH_BINARY,
    MATH_INTEGER,
    MATH_OF_ANY,
    MATH_RULES,
)
from stcompile.wengert.templates import TEMPLATES
from tests.programs import BINARY, UNARY

X = np.random.default_rng(0).normal(size=(3, 4, 2)).astype(np.float32)
M = X[:, :, 0]
LOGICAL = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift")
INTEGERS = (*LOGICAL, "gcd", "lcm", "bitwise_count")


def same(actual: Any, expected: Any) -> None:
    assert type(actual) is type(expected)
    np.testing.assert_array_equal(actual, expected, strict=True)


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_ufuncs(name: str) -> None:
    ufunc = getattr(np, name)
    x = np.arange(12).reshape(3, 4) if name in INTEGERS else M
    second = np.array([1, -2, 3, 0]) if name == "ldexp" else x[0] + x[0]
    operands = (x, second)[: ufunc.nin]
    with np.errstate(all="ignore"):
        same(TEMPLATES[name](*operands), ufunc(*operands))
        numbers = tuple(operand.flat[1] for operand in operands)
        same(TEMPLATES[name](*numbers), ufunc(*numbers))


@pytest.mark.parametrize("name", sorted({*MATH_RULES, *MATH_INTEGER} - MATH_OF_ANY))
def test_math(name: str) -> None:
    x = (1.5, 2.5) if name in MATH_BINARY else (1.5,)
    if name in ("math.asin", "math.acos", "math.atanh"):
        x = (0.5,)
    same(TEMPLATES[name](*x), getattr(math, name.removeprefix("math."))(*x))


def test_rounding() -> None:
    for x in (1.5, 2.5, 2.675, np.float64(2.5), np.float32(2.5)):
        same(TEMPLATES["math.round"](x, ndigits=None), round(x))
    same(TEMPLATES["math.round"](2.675, ndigits=2), 2.67)
    same(TEMPLATES["math.round"](1250, ndigits=-2), 1200)


def test_math_of_any_number() -> None:
    same(TEMPLATES["math.hypot"](1.5, 2.5, 0.5), math.hypot(1.5, 2.5, 0.5))
    same(TEMPLATES["math.fsum"]((1e16, 2.5, -1e16)), 2.5)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [(0, 1, 2), (1,), (0, 2), ()])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all", "var", "std"])
def test_reductions(name: str, axis: Any, keepdims: bool) -> None:
    expected = getattr(np, name)(X, axis=axis, keepdims=keepdims)
    params = {"ddof": 0} if name in ("var", "std") else {}
    same(TEMPLATES[name](X, axis=axis, keepdims=keepdims, **params), expected)


def test_arrangements() -> None:
    same(TEMPLATES["cumsum"](X, axis=1), np.cumsum(X, axis=1))
    same(TEMPLATES["cumprod"](X, axis=1), np.cumprod(X, axis=1))
    same(TEMPLATES["diagonal"](X, offset=0, axis1=0, axis2=1), np.diagonal(X))
    same(TEMPLATES["diagonal"](X, offset=-1, axis1=0, axis2=1), np.diagonal(X, -1))
    same(TEMPLATES["diagonal"](X, offset=1, axis1=2, axis2=0), np.diagonal(X, 1, 2, 0))
    same(TEMPLATES["sinc"](X), np.sinc(X))
    same(TEMPLATES["argmax"](X, axis=None, keepdims=False), np.argmax(X))
    same(TEMPLATES["argmin"](X, axis=2, keepdims=True), np.argmin(X, 2, keepdims=True))
    same(TEMPLATES["reshape"](X, shape=(6, 4)), np.reshape(X, (6, 4)))
    same(TEMPLATES["reshape"](2.0, shape=(1, 1)), np.reshape(2.0, (1, 1)))
    for axes in ((0, 2, 1), (2, 1, 0), (1, 2, 0), (0, 1, 2)):
        same(TEMPLATES["transpose"](X, axes=axes), np.transpose(X, axes))
    same(TEMPLATES["transpose"](M, axes=(1, 0)), M.T)
    same(TEMPLATES["expand_dims"](M, axis=(0, 2)), np.expand_dims(M, (0, 2)))
    same(TEMPLATES["expand_dims"](2.0, axis=(0, 1)), np.expand_dims(2.0, (0, 1)))
    same(TEMPLATES["squeeze"](X[:1], axis=(0,)), np.squeeze(X[:1], 0))
    same(TEMPLATES["broadcast_to"](M, shape=(2, 3, 4)), np.broadcast_to(M, (2, 3, 4)))
    same(TEMPLATES["concatenate"]((M, X[:, :, 1]), axis=1), np.concatenate([M, X[:, :, 1]], 1))
    same(TEMPLATES["stack"]((M, M), axis=2), np.stack([M, M], 2))
    same(TEMPLATES["roll"](X, shift=(1, 2), axis=(0, 1)), np.roll(X, (1, 2), (0, 1)))
    widths = ((1, 0), (0, 2))
    same(TEMPLATES["pad"](M, pad_width=widths, mode="constant", value=0), np.pad(M, widths))
    expected = np.pad(M, widths, constant_values=1.5)
    same(TEMPLATES["pad"](M, pad_width=widths, mode="constant", value=1.5), expected)


def test_sorting() -> None:
    same(TEMPLATES["sort"](X, axis=1), np.sort(X, axis=1))
    same(TEMPLATES["argsort"](X, axis=0), np.argsort(X, axis=0))
    same(TEMPLATES["argsort"](X, axis=0, kind="stable"), np.argsort(X, axis=0, kind="stable"))
    same(TEMPLATES["partition"](X, kth=(0, 2), axis=1), np.partition(X, (0, 2), axis=1))
    same(TEMPLATES["argpartition"](X, kth=2, axis=1), np.argpartition(X, 2, axis=1))
    same(TEMPLATES["lexsort"]((M, M + 1), axis=0), np.lexsort((M, M + 1), axis=0))
    knots = np.array([-1.0, 0.0, 0.5], np.float32)
    for side in ("left", "right"):
        same(TEMPLATES["searchsorted"](knots, X, side=side), np.searchsorted(knots, X, side))
    same(TEMPLATES["digitize"](X, knots, right=True), np.digitize(X, knots, right=True))
    same(TEMPLATES["interp"](X, knots, knots), np.interp(X, knots, knots))


def test_linear_algebra() -> None:
    stack = np.random.default_rng(1).normal(size=(2, 3, 3)).astype(np.float32)
    stack += 4 * np.eye(3, dtype=np.float32)
    for name in ("inv", "det", "cholesky", "eigvalsh", "svdvals", "pinv"):
        same(TEMPLATES[name](stack), getattr(np.linalg, name)(stack))
    same(TEMPLATES["eigvalsh"](stack, lower=False), np.linalg.eigvalsh(stack, "U"))
    same(TEMPLATES["solve"](stack, stack[0]), np.linalg.solve(stack, stack[0]))
    same(TEMPLATES["lstsq"](M, M[:, 0]), np.linalg.lstsq(M, M[:, 0])[0])
    signs = np.linalg.slogdet(stack)
    for place, part in enumerate(("sign", "logabsdet")):
        same(TEMPLATES["slogdet"](stack, part=part), signs[place])
    for uplo in "LU":
        for place, part in enumerate(("eigenvalues", "eigenvectors")):
            found = TEMPLATES["eigh"](stack, part=part, lower=uplo == "L")
            same(found, np.linalg.eigh(stack, uplo)[place])
    turned = stack * np.complex64(1 + 1j)
    same(TEMPLATES["pinv"](stack, rcond=0.5), np.linalg.pinv(stack, 0.5))
    same(TEMPLATES["eigvals"](turned), np.linalg.eigvals(turned))
    for place, part in enumerate(("eigenvalues", "eigenvectors")):
        same(TEMPLATES["eig"](turned, part=part), np.linalg.eig(turned)[place])
    for place, part in enumerate(("U", "S", "Vh")):
        same(TEMPLATES["svd"](M, part=part), np.linalg.svd(M, full_matrices=False)[place])
    for place, part in enumerate("QR"):
        same(TEMPLATES["qr"](stack, part=part), np.linalg.qr(stack)[place])


def test_selections() -> None:
    same(TEMPLATES["where"](M > 0, M, 0.0), np.where(M > 0, M, 0.0))
    same(TEMPLATES["clip"](M, -0.5, 0.5), np.clip(M, -0.5, 0.5))


@pytest.mark.parametrize("x", [1.5, np.float32(1.5), np.array(1.5), np.array([1.5])])
def test_conversions(x: Any) -> None:
    expected = x.astype("f4") if isinstance(x, np.ndarray) else np.float32(x)
    same(TEMPLATES["cast"](x, dtype=np.dtype("f4")), expected)
    for dtype, python in (("f8", float), ("i8", int), ("?", bool), ("c16", complex)):
        same(TEMPLATES["to_python"](x, dtype=np.dtype(dtype)), python(np.asarray(x).item()))
    same(TEMPLATES["asarray"](x), np.asarray(x))
    same(TEMPLATES["copy"](x), np.copy(x))


def test_numbers_to_scalars() -> None:
    for number, scalar in ((True, np.bool_), (2, np.int64), (1.5, np.float64), (1j, np.complex128)):
        same(TEMPLATES["to_scalar"](number), scalar(number))
    same(TEMPLATES["to_scalar"](np.float32(2)), np.float32(2))
    same(TEMPLATES["to_scalar"](np.array(2.0)), np.float64(2))


def test_creation() -> None:
    f4 = np.dtype("f4")
    for v in (0, 1, -0.0, 2.5, np.float32(0)):
        result = TEMPLATES["full"](v, shape=(2, 3), dtype=f4)
        same(result, np.full((2, 3), v, f4))
        np.testing.assert_array_equal(np.signbit(result), np.signbit(v))
    same(TEMPLATES["full"](2, shape=(), dtype=f4), np.full((), 2, f4))
    for start, stop, step in ((0, 5, 1), (1, 5, 1), (5, 0, -2), (0, 2.5, 1)):
        expected = np.arange(start, stop, step, dtype=np.int64)
        params = {"start": start, "stop": stop, "step": step, "dtype": np.dtype("i8")}
        same(TEMPLATES["arange"](**params), expected)
    same(TEMPLATES["eye"](n=2, m=3, k=1, dtype=f4), np.eye(2, 3, 1, dtype=f4))
    same(TEMPLATES["eye"](n=2, m=2, k=0, dtype=f4), np.eye(2, dtype=f4))
    same(
        TEMPLATES["constant"](values=(1, 2, 3, 4), shape=(2, 2), dtype=f4),
        np.array([[1, 2], [3, 4]], f4),
    )
    same(TEMPLATES["constant"](values=(), shape=(0, 3), dtype=f4), np.zeros((0, 3), f4))
    same(TEMPLATES["array"]((1.0, np.float32(2)), shape=(2, 1), dtype=f4), np.array([[1], [2]], f4))


# --- contractions ----------------------------------------------------------------------------

DIMS = {"b": 2, "c": 3, "k": 4, "l": 3, "i": 5, "j": 2, "m": 3, "n": 1}


@st.composite
def contractions(draw: Callable[..., Any]) -> tuple[str, str, Any]:
    shared = draw(st.sets(st.sampled_from("bckl"), max_size=3).map(sorted))
    left = draw(st.permutations([*shared, *draw(st.sampled_from(("", "i", "ij")))]))
    right = draw(st.permutations([*shared, *draw(st.sampled_from(("", "m", "mn")))]))
    natural = [n for n in left if n in right and n in "bc"]
    natural += [n for n in left if n not in right] + [n for n in right if n not in left]
    order = draw(st.sampled_from(((), tuple(draw(st.permutations(range(len(natural))))))))
    return "".join(left), "".join(right), order


def equation_of(case: tuple[str, str, Any]) -> tuple[Any, dict[str, Any], str]:
    """Operands, params, and the product as subscripts of ``numpy.einsum``; no operands for a
    product of a number."""
    left, right, order = case
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-3, 4, [DIMS[n] for n in names]).astype("f4") for names in (left, right))
    shared = [n for n in left if n in right]
    pairs = {n: (left.index(n), right.index(n)) for n in shared}
    natural = [n for n in shared if n in "bc"]
    natural += [n for n in left if n not in right] + [n for n in right if n not in left]
    result = "".join(natural[i] for i in order) if order else "".join(natural)
    params = {
        "batch": tuple(pairs[n] for n in shared if n in "bc"),
        "contracted": tuple(pairs[n] for n in shared if n not in "bc"),
        "order": order,
        "spelling": "",
    }
    return (x, y) if left and right else None, params, f"{left},{right}->{result}"


@given(contractions())
def test_contract(case: tuple[str, str, Any]) -> None:
    operands, params, subscripts = equation_of(case)
    if operands is None:
        return
    # Small integers: every order of summation is exact.
    same(TEMPLATES["contract"](*operands, **params), np.einsum(subscripts, *operands))


def test_einsum() -> None:
    for subscripts, xs in (("ii->", (M[:, :3],)), ("ij,kj,kl->il", (M, M, M))):
        same(TEMPLATES["einsum"](xs, subscripts=subscripts), np.einsum(subscripts, *xs))


def test_spellings() -> None:
    params: dict[str, Any] = {"batch": (), "contracted": ((1, 0),), "order": ()}
    for spelling in ("matmul", "dot", ""):
        same(TEMPLATES["contract"](M, M.T, **params, spelling=spelling), M @ M.T)
    outer: dict[str, Any] = {"batch": (), "contracted": (), "order": (), "spelling": "outer"}
    same(TEMPLATES["contract"](M[0], M[1], **outer), np.outer(M[0], M[1]))


# --- effects ---------------------------------------------------------------------------------


def test_effects(capsys: pytest.CaptureFixture[str]) -> None:
    TEMPLATES["print"]((1.5, 2), parts=("a", None, "b", None), end="!\n")
    assert capsys.readouterr().out == "a 1.5 b 2!\n"
    target = np.zeros((2, 3))
    TEMPLATES["store"](target, np.ones(3))
    assert np.all(target == 1)
    with pytest.raises(KeyError, match="^'why 2'$"):
        TEMPLATES["raise"]((2,), error="KeyError", arguments=(("why ", ("", "")),))
    TEMPLATES["assert"](True, ())
    with pytest.raises(AssertionError, match="^why$"):
        TEMPLATES["assert"](False, (), message=("why",))
    with pytest.raises(AssertionError, match="^1.50 and '1'$"):
        TEMPLATES["assert"](False, (1.5, "1"), message=((("", ".2f"), " and ", ("r", "")),))


def test_stacks_are_added() -> None:
    """Lists with an item for each step of a loop, or lists of them."""
    x, y = [1.0, [M[0], 2.0]], [0.5, [M[1], 3.0]]
    found = TEMPLATES["accumulate"](x, (y,), op="add")
    assert found[0] == 1.5 and found[1][1] == 5.0
    same(found[1][0], M[0] + M[1])


def test_functions_of_the_user() -> None:
    assert TEMPLATES["external"]((2.0, 3.0), function=math.pow, spelling="math.pow") == 8.0


def test_generators() -> None:
    for seed in (5, 6):
        made = TEMPLATES["default_rng"](seed=seed)
        same(made.random(3), np.random.default_rng(seed).random(3))
        old = TEMPLATES["random_state"](seed=seed)
        same(old.random(3), np.random.RandomState(seed).random(3))
    assert type(TEMPLATES["default_rng"](seed=None)) is np.random.Generator
    assert type(TEMPLATES["random_state"](seed=None)) is np.random.RandomState
    assert TEMPLATES["global_rng"]() is np.random
