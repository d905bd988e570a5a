"""The math module of Python, whose functions give Python numbers."""

from __future__ import annotations

import ast
import functools
import math
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.objects import number_of
from stcompile.frontend.operations.iteration import (
    items_of,
)
from stcompile.frontend.operations.operators import (
    BINARY,
    binary,
)
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    described,
    is_static,
    is_traced,
)
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.types import Type, is_number


def mathematics(name: str, run: Run, *operands: Any) -> Any:
    """The lowering of a function of the math module, which gives Python numbers."""
    operands = tuple(number_of(run, float, x) for x in operands)
    if not any(map(is_traced, operands)):
        return static_mathematics(run, name, *operands)
    return run.record(f"math.{name}", *(_number(run, name, x) for x in operands))


def static_mathematics(run: Run, name: str, *operands: Any) -> Any:
    """A function of the math module, computed at compile time."""
    try:
        return getattr(math, name)(*operands)
    except (TypeError, ValueError, ArithmeticError) as error:
        return run.raises(error, reason=f"math.{name}: {error}")


def log(run: Run, x: Any, base: Any = None) -> Any:
    """math.log: to another base the quotient of two logarithms, as Python computes it."""
    if base is None:
        return mathematics("log", run, x)
    if is_static([x, base]):
        return static_mathematics(run, "log", x, base)
    logarithms = [mathematics("log", run, number) for number in (x, base)]
    return binary(run, BINARY[ast.Div], *logarithms)


def dist(run: Run, p: Any, q: Any) -> Any:
    """math.dist: math.hypot of the differences, which is how Python computes it."""
    one, other = items_of(run, p), items_of(run, q)
    if len(one) != len(other):
        run.refuse("math.dist: both points must have the same number of dimensions", "")
    numbers = [[_number(run, "dist", x) for x in point] for point in (one, other)]
    pairs = zip(*numbers, strict=True)
    return mathematics("hypot", run, *(binary(run, BINARY[ast.Sub], x, y) for x, y in pairs))


def fsum(run: Run, seq: Any) -> Any:
    """math.fsum: the sum, rounded once."""
    items = items_of(run, seq)
    if is_static(items):
        return static_mathematics(run, "fsum", items)
    return mathematics("fsum", run, *items)


def prod(run: Run, iterable: Any, *, start: Any = 1) -> Any:
    """math.prod: multiplications from ``start``, in order."""
    total = start
    for item in items_of(run, iterable):
        total = binary(run, BINARY[ast.Mult], total, item)
    return total


def _number(run: Run, name: str, value: Any) -> Any:
    """An operand as a Python number, as functions of the math module take it."""
    if not is_traced(value):
        return value if is_number(value) else run.refuse(f"math.{name} takes numbers", "")
    if value.type.ndim:
        run.refuse(
            f"math.{name} takes one number, not {described(value)}", f"use np.{name}", TypingError
        )
    if value.type.kind == "python":
        return value
    if name == "trunc" and value.type != Type.scalar(np.float64):
        error = TypeError(f"type numpy.{value.type.dtype} doesn't define __trunc__ method")
        run.fails(error, "use np.trunc")
    return run.record("to_python", value, dtype=np.dtype(np.float64))


MATH: dict[Any, Any] = {
    **{
        getattr(math, name.removeprefix("math.")): functools.partial(
            mathematics, name.removeprefix("math.")
        )
        for name in PRIMITIVES
        if name.startswith("math.") and name != "math.round"
    },
    math.log: log,
    math.dist: dist,
    math.fsum: fsum,
    math.prod: prod,
}
