"""Each template, in each of its forms: the NumPy code that it is printed as, and the same values.

The text that is expected is plain NumPy. The emitter must print it, and the template, called by
itself, must give what the text gives, to the bit.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from stcompile.code.literals import name as named
from stcompile.code.templates import Operand, substitute, substitute_into
from stcompile.wengert.ir import Atom, Constant, Variable
from stcompile.wengert.templates import BUFFERED, TEMPLATES, grouped
from stcompile.wengert.types import type_of
from tests.templates import written_arrays, written_numbers
from tests.templates.rows import A, B, Counter, I, Row, S, T, V, W, Z, product, row


def into() -> list[Row]:
    """Templates that write into an array."""
    two, deep = {"contracted": ((0, 0), (1, 1))}, np.moveaxis(S, 0, 1)
    transposed = "np.matmul(x0.transpose(1, 0, 2), x1, out=out.transpose({}))"
    return [
        row("power", "np.square(x0, out=out)", A, 2),
        row("power", "np.sqrt(x0, out=out)", A * A, 0.5),
        row("power", "np.reciprocal(x0, out=out)", A, -1),
        row("power", "np.power(x0, 3, out=out)", A, 3),
        row("power", "np.power(2, x1, out=out)", 2, A),
        row("power", "np.power(x0, 2, out=out)", I, 2),
        row("where", "np.copyto(out, x2); np.copyto(out, x1, where=x0)", A > 0, A, B),
        row("sum", "np.add.reduce(x0, axis=(0, 1), out=out)", S, axis=(0, 1)),
        row(
            "sum", "np.add.reduce(x0, axis=1, keepdims=True, out=out)", S, axis=(1,), keepdims=True
        ),
        row("mean", "np.add.reduce(x0, axis=1, out=out); np.divide(out, 4, out=out)", A, axis=(1,)),
        row("mean", "np.mean(x0, axis=1, out=out)", A.astype(int), axis=(1,)),
        row("mean", "np.mean(x0, axis=1, out=out)", A.astype("f2"), axis=(1,)),
        row("mean", "np.mean(x0, axis=1, out=out)", A[:, :0], axis=(1,)),
        row("mean", "np.mean(x0, out=out)", A.astype(int), axis=(0, 1)),
        row("var", "np.var(x0, axis=1, ddof=1, out=out)", A, axis=(1,), ddof=1),
        row("std", "np.std(x0, ddof=1, keepdims=True, out=out)", A, **OF_ALL),
        row("contract", "np.matmul(x0, x1, out=out)", A, V, **product(spelling="matmul")),
        row("contract", "np.matmul(x0, x1.T, out=out)", A, B, **product(contracted=((1, 1),))),
        row("contract", "np.matmul(x0, x1.T, out=out)", S, A, **product(contracted=((2, 1),))),
        row("contract", "np.multiply(x0[:, None], x1, out=out)", V, W[:3], **product()),
        row("contract", "np.multiply(x1[:, None], x0, out=out)", V, W[:3], **product(order=(1, 0))),
        row(
            "contract",
            transposed.format("0, 1, 2").replace(".transpose(0, 1, 2)", ""),
            *(deep, T),
            **product(((1, 0),), ((2, 1),)),
        ),
        row(
            "contract",
            transposed.format("1, 0, 2"),
            *(deep, T),
            **product(((1, 0),), ((2, 1),), (1, 0, 2)),
        ),
        row(
            "contract",
            "np.einsum('bi,bi->b', x0, x1, out=out)",
            *(A, B),
            **product(((0, 0),), ((1, 1),)),
        ),
        row("contract", "", A, B, **product(**two)),
        row("contract", "", S, A[:2], **product(contracted=((0, 0),))),
        row("fft", "np.fft.fft(x0, 5, 1, 'backward', out=out)", Z, n=5, axis=1, norm="backward"),
        row("pad", "out.fill(2); np.copyto(out[1:, 0:4], x0)", A, **PADDED, value=2),
        row("full", "out.fill(x0)", V[0], shape=(3,), dtype=A.dtype),
        row("concatenate", "np.concatenate((x0, x1), axis=1, out=out)", A, B, axis=1),
        row("cumsum", "np.cumsum(x0, axis=1, out=out)", A, axis=1),
    ]


OF_ALL = {"axis": (0, 1), "keepdims": True, "ddof": 1}
PADDED = {"pad_width": ((1, 0), (0, 2)), "mode": "constant"}
TABLES = (
    *(written_arrays.arrangements, written_arrays.parts),
    *(written_arrays.sorting, written_numbers.transforms, written_numbers.products),
    *(written_numbers.algebra, written_numbers.conversions, written_numbers.draws),
)
ROWS = [case for table in TABLES for case in table()]


def operand(at: int, x: Any) -> Operand:
    own = f"x{at}"
    if isinstance(x, Counter):
        return Operand(named(own), Variable(own, type_of(int(x))))
    known = type(x) in (int, float)
    atom: Atom = Constant(x) if known else Variable(own, type_of(x))
    return Operand(named(own), atom)


def run(code: str, values: Mapping[str, Any]) -> Any:
    """The value of the last of some statements."""
    *statements, last = ast.parse(code).body
    scope = {"np": np, **values}
    exec(compile(ast.Module(statements, []), "<code>", "exec"), scope)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "<code>", "eval"), scope)
    return exec(compile(ast.Module([last], []), "<code>", "exec"), scope)


def equal(actual: Any, expected: Any) -> None:
    assert type(actual) is type(expected)
    np.testing.assert_array_equal(actual, expected, strict=isinstance(expected, np.ndarray))


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_written_and_computed(case: Row) -> None:
    operands = [operand(at, x) for at, x in enumerate(case.inputs)]
    code = substitute(case.primitive, operands, case.params)
    written = [ast.unparse(ast.fix_missing_locations(s)) for s in code.statements]
    written += [ast.unparse(code.value)] if code.value is not None else []
    assert "; ".join(written) == case.code
    expected = run(case.code, {f"x{i}": x for i, x in enumerate(copy.deepcopy(case.inputs))})
    template = TEMPLATES[case.primitive]
    found = template(*grouped(template, copy.deepcopy(case.inputs)), **case.params)
    equal(found, expected)


@pytest.mark.parametrize("own", ["default_rng", "random_state"])
def test_generators(own: str) -> None:
    """Without a seed, two of them are never equal."""
    called = {"default_rng": "np.random.default_rng", "random_state": "np.random.RandomState"}[own]
    for seed, code in ((None, "()"), (5, "(5)")):
        value = substitute(own, (), {"seed": seed}).value
        assert value is not None and ast.unparse(value) == called + code


@pytest.mark.parametrize("case", into(), ids=str)
def test_written_into(case: Row) -> None:
    """The form that writes into ``out``; none for some products, whose result is a new array."""
    template, other = BUFFERED[case.primitive], TEMPLATES[case.primitive]
    plain = np.asarray(other(*grouped(other, case.inputs), **case.params))
    operands = [operand(at, x) for at, x in enumerate(case.inputs)]
    target = Operand(named("out"), Variable("out", type_of(plain)))
    statements = substitute_into(case.primitive, target, operands, case.params)
    written = [ast.unparse(ast.fix_missing_locations(statement)) for statement in statements]
    assert "; ".join(written) == case.code
    if not case.code:
        return
    expected, found = (np.full_like(plain, 77) for _ in range(2))
    run(case.code, {"out": expected, **{f"x{i}": x for i, x in enumerate(case.inputs)}})
    template(*grouped(template, (found, *case.inputs)), **case.params)
    np.testing.assert_array_equal(found, expected, strict=True)
    np.testing.assert_allclose(found, plain, rtol=1e-12)
