"""Type rules of calls and loops: what goes in fits the sub-program, what comes out is its."""

from __future__ import annotations

from typing import Any

import pytest

from stcompile.wengert.ir import Constant, Equation, Program, Variable, freeze
from stcompile.wengert.primitives import OperandError, infer
from stcompile.wengert.types import Type

F32 = Type.array("float32", (3,))
INT = Type.python(int)


def body() -> Program:
    """(w, t, h, x) -> (h * w, x): one constant, one carried array, one step port."""
    w, t = Variable("w", Type.scalar("float32")), Variable("t", INT)
    h, x = Variable("h", F32), Variable("x", Type.scalar("float32"))
    y = Variable("y", F32)
    step = Equation((y,), "multiply", (h, w), freeze({}))
    return Program("body", (w, t, h, x), (step,), (y, x))


LOOP: dict[str, Any] = {"constants": 1, "carry": 1, "length": 5, "body": body()}
SCALAR, STEPS = Type.scalar("float32"), Type.array("float32", (5,))


def test_loop() -> None:
    assert infer("loop", (SCALAR, F32, STEPS), LOOP) == (F32, STEPS)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ((SCALAR, F32, Type.array("float32", (4,))), "does not have 5 steps"),
        ((SCALAR, Type.array("float64", (3,)), STEPS), "for parameters"),
        ((SCALAR, F32, Type.array("float32", (5, 2))), "for parameters"),
    ],
)
def test_loop_refuses(types: Any, message: str) -> None:
    with pytest.raises(OperandError, match=message):
        infer("loop", types, LOOP)


def test_carry_keeps_its_type() -> None:
    h = Variable("h", F32)
    unsettled = Program("body", (Variable("t", INT), h), (), (Constant(0.5),))
    with pytest.raises(OperandError, match="carries"):
        infer("loop", (F32,), {"constants": 0, "carry": 1, "length": 2, "body": unsettled})


def test_call() -> None:
    params = {"program": body(), "adjoint": None, "name": "f", "value": 2}
    assert infer("call", (SCALAR, INT, F32, SCALAR), params) == (F32, SCALAR)
    with pytest.raises(OperandError, match="^f: "):
        infer("call", (SCALAR, INT, F32, F32), params)
