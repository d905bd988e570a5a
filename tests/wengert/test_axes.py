"""Axes of operands and results: where they go, and equations written for other operands.

Each primitive that has a map of its axes is evaluated on operands that are stacked, permuted or
sliced; this must give the stacked, permuted or sliced result.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stcompile.wengert.evaluate import apply
from stcompile.wengert.ir import Equation, Variable, freeze
from stcompile.wengert.primitives import OperandError, infer
from stcompile.wengert.primitives.axes import AxisMap, Name, Names
from stcompile.wengert.primitives.axis_rules import ELEMENTWISE, RULES, axis_map, regrouped
from stcompile.wengert.primitives.contraction import contracting
from stcompile.wengert.text import parse_program
from stcompile.wengert.types import Type

MANY = 2  # operands that are stacked

# The primitive, the types of its operands, its params.
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("add", "f64[2,3], f64[3]", {}),
    ("multiply", "f64[2,1,3], f64[4,1]", {}),
    ("subtract", "f64[3], float", {}),
    ("where", "b8[2,3], f64[3], f64[2,1]", {}),
    ("clip", "f64[2,3], f64[3], float", {}),
    ("cast", "f64[2,3]", {"dtype": np.dtype("f4")}),
    ("copy", "f64[2,3]", {}),
    ("asarray", "f64[2,3]", {}),
    ("real", "c128[2,3]", {}),
    ("imag", "c128[2,3]", {}),
    ("complex_sign", "c128[2,3]", {}),
    ("update_part", "c128[2,3], f64[3]", {"part": "real"}),
    ("full", "float", {"shape": (2, 3), "dtype": np.dtype("f8")}),
    ("broadcast_to", "f64[3,1]", {"shape": (2, 3, 4)}),
    ("sum", "f64[2,3,4]", {"axis": (1,), "keepdims": False}),
    ("sum", "f64[2,3,4]", {"axis": (0, 2), "keepdims": True}),
    ("prod", "f64[2,3]", {"axis": (0, 1), "keepdims": False}),
    ("max", "f64[2,3]", {"axis": (1,), "keepdims": True}),
    ("min", "f64[2,3]", {"axis": (0,), "keepdims": False}),
    ("mean", "f64[2,3]", {"axis": (1,), "keepdims": False}),
    ("any", "b8[2,3]", {"axis": (1,), "keepdims": False}),
    ("all", "b8[2,3]", {"axis": (0,), "keepdims": False}),
    ("var", "f64[2,3]", {"axis": (1,), "keepdims": False, "ddof": 1}),
    ("std", "f64[2,3]", {"axis": (1,), "keepdims": True, "ddof": 0}),
    ("argmax", "f64[2,3]", {"axis": 1, "keepdims": False}),
    ("argmin", "f64[2,3]", {"axis": 0, "keepdims": True}),
    ("cumsum", "f64[2,3]", {"axis": 1}),
    ("cumprod", "f64[2,3]", {"axis": 0}),
    ("sort", "f64[2,3]", {"axis": 0}),
    ("argsort", "f64[2,3]", {"axis": 1}),
    ("partition", "f64[2,3]", {"axis": 1, "kth": 1}),
    ("argpartition", "f64[2,3]", {"axis": 1, "kth": 1}),
    ("lexsort", "f64[2,3], f64[2,3]", {"axis": 1}),
    ("fft", "f64[2,3]", {"axis": 1, "n": 4, "norm": "backward"}),
    ("ifft", "f64[2,3]", {"axis": 0, "n": 2, "norm": "ortho"}),
    ("rfft", "f64[2,3]", {"axis": 1, "n": 3, "norm": "backward"}),
    ("irfft", "f64[2,3]", {"axis": 1, "n": 4, "norm": "backward"}),
    ("concatenate", "f64[2,3], f64[2,1]", {"axis": 1}),
    ("stack", "f64[2,3], f64[2,3]", {"axis": 1}),
    ("roll", "f64[2,3,4]", {"axis": (2, 0), "shift": (1, -1)}),
    ("pad", "f64[2,3]", {"pad_width": ((1, 0), (0, 0)), "mode": "constant", "value": 0.5}),
    ("transpose", "f64[2,3,4]", {"axes": (2, 0, 1)}),
    ("expand_dims", "f64[2,3]", {"axis": (0, 2)}),
    ("squeeze", "f64[1,3,1,2]", {"axis": (0, 2)}),
    ("diagonal", "f64[3,4,2]", {"axis1": 0, "axis2": 1, "offset": 1}),
    ("reshape", "f64[2,3,4]", {"shape": (2, 12)}),
    ("reshape", "f64[2,1,3]", {"shape": (2, 3)}),
    ("reshape", "f64[6,4]", {"shape": (2, 3, 1, 4)}),
    (
        "slice",
        "f64[4,3,2]",
        {"start": ((1,), (0,), (1,)), "length": (2, 3, 1), "step": (2, 1, 1), "drop": (2,)},
    ),
    (
        "update",
        "f64[4,3], f64[3]",
        {"start": ((1,), (0,)), "length": (2, 3), "step": (1, 1), "drop": ()},
    ),
    (
        "accumulate",
        "f64[4,3], f64[3]",
        {"op": "slice", "start": ((1,), (0,)), "length": (1, 3), "step": (1, 1), "drop": (0,)},
    ),
    ("accumulate", "f64[4,3], f64[4,3]", {"op": "add"}),
    (
        "windows",
        "f64[5,3,8]",
        {
            "axis": (0, 2),
            "start": (0, 1),
            "count": (2, 2),
            "step": (2, 1),
            "size": (2, 3),
            "dilation": (1, 2),
            "order": (),
        },
    ),
    (
        "windows",
        "f64[5,3]",
        {
            "axis": (0,),
            "start": (0,),
            "count": (2,),
            "step": (2,),
            "size": (2,),
            "dilation": (1,),
            "order": (1, 2, 0),
        },
    ),
    ("index", "f64[4,3], i64[2]", {"at": ("index",)}),
    ("index", "f64[4,3,2], i64[2,3], i64[3]", {"at": ("index", "index")}),
    ("index", "f64[4,3,2], i64[2], i64[2]", {"at": ("index", (0, 3, 1), "index")}),
    ("index", "f64[4,3,2], i64[2]", {"at": ((1, 2, 1), "new", "index")}),
    ("contract", "f64[2,3], f64[3,4]", contracting((1, 0), spelling="matmul")),
    ("contract", "f64[2,3,4], f64[4,5,2]", contracting((2, 0), batch=((0, 2),), order=(2, 0, 1))),
    ("contract", "f64[2,3], f64[4]", contracting(order=(1, 2, 0))),
    ("einsum", "f64[2,3], f64[3,4], f64[4]", {"subscripts": "ij,jk,k->ki"}),
    ("inv", "f64[2,3,3]", {}),
    ("det", "f64[3,3]", {}),
    ("slogdet", "f64[3,3]", {"part": "logabsdet"}),
    ("cholesky", "f64[2,3,3]", {}),
    ("undefined", "f64[2,3], b8[2,3]", {"message": "it is NaN"}),
    ("eigh", "f64[3,3]", {"part": "eigenvalues"}),
    ("eigvalsh", "f64[2,3,3]", {}),
    ("eig", "c128[3,3]", {"part": "eigenvalues"}),
    ("eigvals", "c128[2,3,3]", {}),
    ("svd", "f64[3,2]", {"part": "S"}),
    ("svdvals", "f64[2,3,2]", {}),
    ("qr", "f64[2,3,2]", {"part": "R"}),
    ("pinv", "f64[3,2]", {}),
    ("linalg.expm", "f64[3,3]", {}),
    ("searchsorted", "f64[4], f64[2,3]", {"side": "left"}),
    ("digitize", "f64[2,3], f64[4]", {"right": False}),
    ("interp", "f64[2,3], f64[4], f64[4]", {}),
    ("special.sici", "f64[2,3]", {"part": "Ci"}),
    ("frexp", "f64[2,3]", {"part": "exponent"}),
]
KEEP_SOME_AXES = {
    *("reshape", "index", "diagonal", "searchsorted", "interp", "digitize", "linalg.expm"),
    *("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals"),
    *("qr", "pinv"),
}
OPERANDS = ("f64", "i64", "b8", "c128")


def types_of(text: str) -> tuple[Type, ...]:
    named = (f"x{i}: {t}" for i, t in enumerate(text.split(", ")))
    return parse_program(f"program f({', '.join(named)}) {{ return 0 }}").types


def equation_of(primitive: str, types: Sequence[Type], params: Mapping[str, Any]) -> Equation:
    inputs = tuple(Variable(f"x{i}", type) for i, type in enumerate(types))
    (type,) = infer(primitive, tuple(types), freeze(params))
    return Equation((Variable("y", type),), primitive, inputs, freeze(params))


def operands_of(equation: Equation, seed: int = 0) -> list[Any]:
    return [_operand(equation, v.type, seed + i) for i, v in enumerate(equation.inputs)]


def _operand(equation: Equation, type: Type, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    if equation.primitive in ("cholesky", "eigh", "eigvalsh", "inv", "det", "slogdet"):
        matrix = rng.normal(size=type.dims)
        return matrix @ np.swapaxes(matrix, -1, -2) + 3 * np.eye(type.dims[-1])
    if equation.primitive in ("searchsorted", "digitize", "interp") and type.dims == (4,):
        return np.sort(rng.normal(size=4))
    if type.dtype.kind == "b":
        value: Any = rng.integers(0, 2, type.dims).astype(bool)
    elif type.dtype.kind == "i":
        value = rng.integers(0, 2, type.dims)
    else:
        value = rng.integers(1, 9, type.dims) / 4
        value = value + 1j * rng.integers(1, 9, type.dims) if type.dtype.kind == "c" else value
    return np.asarray(value, type.dtype) if type.kind == "array" else type.python_type(value)


def _of_some(name: str) -> Equation:
    """An elementwise primitive of the first operands that it takes."""
    for kind, count in itertools.product(OPERANDS, (1, 2, 3, 4)):
        dims = ("[2,3]", "[3]", "[2,1]", "[3]")[:count]
        with contextlib.suppress(OperandError):
            return equation_of(name, types_of(", ".join(kind + d for d in dims)), {})
    raise AssertionError(f"{name} takes none of these")


EVERY = [
    equation_of(name, types_of(types), params)
    for name, types, params in CASES
    if not name.startswith("special.") or importlib.util.find_spec("scipy") is not None
]
IDS = [f"{equation.primitive}-{len(equation.inputs)}" for equation in EVERY]


def evaluated(
    axes: AxisMap,
    operands: Sequence[Any],
    names: Sequence[Names],
    result: Names,
    lengths: Mapping[Name, int],
) -> Any:
    """The equation's value on other operands; None if it has no such form."""
    params = axes.written(names, result, lengths)
    if params is None:
        return None
    given = [
        np.expand_dims(x, gap) if (gap := axes.missing(side, own, result)) else x
        for side, (x, own) in enumerate(zip(operands, names, strict=True))
    ]
    return apply(axes.equation.primitive, tuple(given), freeze(params))


def value_of(equation: Equation, operands: Sequence[Any]) -> Any:
    return apply(equation.primitive, tuple(operands), equation.params)


def test_every_map_is_tried() -> None:
    others = {name for name in RULES if RULES[name] is not ELEMENTWISE}
    assert others <= {equation.primitive for equation in EVERY}
    assert all(axis_map(equation) is not None for equation in EVERY)


@pytest.mark.parametrize("special", [False, True], ids=["numpy", "scipy"])
def test_every_elementwise_primitive_is_stacked_and_turned(special: bool) -> None:
    if special:
        pytest.importorskip("scipy")
    tried = {equation.primitive for equation in EVERY}
    tried |= {
        "special.airy",
        "special.fresnel",
        "special.shichi",
        "special.ellipj",
    }  # of several results
    tried |= {name for name in RULES if "_by_" in name}  # by helpers of their own
    names = [name for name in RULES if name not in tried and RULES[name] is ELEMENTWISE]
    for equation in map(_of_some, [n for n in names if n.startswith("special.") == special]):
        with np.errstate(all="ignore"):
            check_stacked(equation)
            axes = named(equation)
            check_turned(axes, [own[::-1] for own in axes.operands], axes.result[::-1])
            check_sliced(equation)


def named(equation: Equation) -> AxisMap:
    axes = axis_map(equation)
    assert axes is not None
    return axes


@pytest.mark.parametrize("equation", EVERY, ids=IDS)
def test_stacked_operands_give_the_stacked_result(equation: Equation) -> None:
    check_stacked(equation)


def check_stacked(equation: Equation) -> None:
    axes = named(equation)
    arrays = [i for i, v in enumerate(equation.inputs) if v.type.kind == "array"]
    sets = [s for n in range(1, len(arrays) + 1) for s in itertools.combinations(arrays, n)]
    found = 0
    for stacked in sets:
        each = [operands_of(equation, seed) for seed in (0, 10)]
        for one, other in itertools.product(range(MANY), range(len(each[0]))):
            each[one][other] = each[one][other] if other in stacked else each[0][other]
        given = [
            np.stack(xs) if i in stacked else xs[0] for i, xs in enumerate(zip(*each, strict=True))
        ]
        names = [("many", *own) if i in stacked else own for i, own in enumerate(axes.operands)]
        value = evaluated(axes, given, names, ("many", *axes.result), {"many": MANY})
        if value is not None:
            found += 1
            expected = np.stack([value_of(equation, operands) for operands in each])
            np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12)
            assert value.dtype == expected.dtype
    assert found or equation.primitive == "full"  # of one number


@pytest.mark.parametrize("equation", EVERY, ids=IDS)
@given(data=st.data())
@settings(max_examples=25)
def test_permuted_operands_give_the_permuted_result(equation: Equation, data: Any) -> None:
    axes = named(equation)
    every_name = list(dict.fromkeys(itertools.chain(*axes.operands, axes.result)))
    if RULES[equation.primitive].is_free:
        orders = [tuple(data.draw(st.permutations(own))) for own in axes.operands]
        result = tuple(data.draw(st.permutations(axes.result)))
        if equation.primitive == "reshape":
            result = regrouped(axes, orders[0]) or result
    else:
        frame = data.draw(st.permutations(every_name))
        orders = [tuple(n for n in frame if n in own) for own in axes.operands]
        result = tuple(n for n in frame if n in axes.result)
    check_turned(axes, orders, result)


def check_turned(axes: AxisMap, orders: Sequence[Names], result: Names) -> None:
    operands = operands_of(axes.equation)
    turned = [
        np.transpose(x, [own.index(n) for n in order]) if order else x
        for x, own, order in zip(operands, axes.operands, orders, strict=True)
    ]
    value = evaluated(axes, turned, orders, result, {})
    if value is None:
        assert (*orders, result) != (*axes.operands, axes.result)
        assert axes.equation.primitive in KEEP_SOME_AXES
        return
    places = [axes.result.index(n) for n in result]
    expected = np.transpose(value_of(axes.equation, operands), places)
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("equation", EVERY, ids=IDS)
def test_sliced_operands_give_the_sliced_result(equation: Equation) -> None:
    check_sliced(equation)


def check_sliced(equation: Equation) -> None:
    axes = named(equation)
    operands = operands_of(equation)
    value = value_of(equation, operands)
    for at, name in enumerate(axes.result):
        if name in axes.whole or not any(name in own for own in axes.operands):
            continue
        length = axes.lengths[name]
        for part in (slice(1, None), slice(None, None, -1)):
            taken = [
                np.take(x, range(length)[part], own.index(name))
                if name in own and x.shape[own.index(name)] == length > 1
                else x
                for x, own in zip(operands, axes.operands, strict=True)
            ]
            shorter = {name: len(range(length)[part])} if length > 1 else {}
            found = evaluated(axes, taken, axes.operands, axes.result, shorter)
            expected = np.take(value, range(length)[part], at) if length > 1 else value
            assert found is not None
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("equation", EVERY, ids=IDS)
def test_operands_without_an_axis_give_the_result_without_it(equation: Equation) -> None:
    axes = named(equation)
    operands = operands_of(equation)
    value = value_of(equation, operands)
    for at, name in enumerate(axes.result):
        if name in axes.whole or not any(name in own for own in axes.operands):
            continue
        taken = [
            np.take(x, 0, own.index(name)) if name in own else x
            for x, own in zip(operands, axes.operands, strict=True)
        ]
        names = [tuple(n for n in own if n != name) for own in axes.operands]
        left = tuple(n for n in axes.result if n != name)
        if any(own and not names[i] for i, own in enumerate(axes.operands)):
            continue  # a number is left
        found = evaluated(axes, taken, names, left, {})
        if found is not None:
            np.testing.assert_allclose(found, np.take(value, 0, at), rtol=1e-9, atol=1e-12)
