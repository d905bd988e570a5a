"""Conditions: ``and``, ``or``, ``not`` and the truth of values known only at run time."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any, NoReturn

from stcompile.frontend.control.branches import attempted, choose, predicate_of, stage_path
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Traced, describe, is_traced
from stcompile.wengert.ir import Equation, Program
from stcompile.wengert.primitives import PRIMITIVES


def refuse_truth(run: Run, value: Traced, construct: str) -> NoReturn:
    """Refuse a traced value where a static one is needed."""
    run.refuse(
        f"{construct} depends on a traced value ({describe(value)}), which is known only at run "
        "time",
        "select with np.where(condition, a, b), np.maximum or np.minimum",
    )


def evaluate_test(run: Run, node: ast.expr, frame: Frame) -> Any:
    """The value of an expression of which only the truth matters."""
    if not isinstance(node, ast.BoolOp):
        return run.asked(run.evaluate(node, frame))
    first, *rest = [functools.partial(evaluate_test, run, part, frame) for part in node.values]
    value = first()
    for part in rest:
        other = functools.partial(_flag, run, part)
        value = combined(run, isinstance(node.op, ast.And), _as_flag(run, value), other)
    return value


def _flag(run: Run, value: Callable[[], Any]) -> Any:
    return _as_flag(run, value())


def _as_flag(run: Run, value: Any) -> Any:
    """The truth of a value; NumPy's own flags stay as they are."""
    return value if _is_flag(value) else truth_of(run, value)


def negated(run: Run, value: Any) -> Any:
    """``not value``."""
    value = run.asked(value)
    if not is_traced(value):
        return not run.truth(value)
    return run.record("not", predicate_of(run, value))


def combined(run: Run, is_and: bool, value: Any, other: Callable[[], Any]) -> Any:
    """``value and other()`` or ``value or other()``: the second operand is evaluated only if the
    first does not decide. Two conditions that cannot fail are one equation."""
    asked = run.asked(value)
    if not is_traced(asked):
        return other() if run.truth(asked) == is_and else value
    predicate_of(run, asked)
    path = stage_path(run, lambda: attempted(run, other))
    flags = _is_flag(value) and _is_flag(path.result)
    if flags and path.is_pure and all(map(never_fails, path.equations)):
        return run.record("and" if is_and else "or", value, other())
    decided = (other, lambda: value) if is_and else (lambda: value, other)
    return choose(run, asked, *decided)


def _is_flag(value: Any) -> bool:
    return is_traced(value) and value.type.dtype.kind == "b" and value.type.kind != "array"


_SAFE = {"and", "or", "not", "sum", "max", "min", "any", "all", "mean", "contract", "slice"}
_SAFE |= {"to_scalar", "to_python", "asarray", "reshape", "transpose"}


def never_fails(equation: Equation) -> bool:
    """True if an equation never raises, whatever the values. Python's division and `math` raise."""
    if equation.primitive.startswith("math."):
        return False
    if equation.primitive == "cond":
        programs = [value for value in equation.params.values() if isinstance(value, Program)]
        return all(never_fails(inner) for program in programs for inner in program.equations)
    python = any(atom.type.kind == "python" for atom in equation.inputs)
    if python and equation.primitive in ("divide", "floor_divide", "remainder", "power"):
        return False
    return PRIMITIVES[equation.primitive].elementwise or equation.primitive in _SAFE


def truth_of(run: Run, value: Any) -> Any:
    """``bool(value)``; a traced one is a flag."""
    value = run.asked(value)
    if not is_traced(value):
        return run.truth(value)
    if value.type.kind == "python" and value.type.dtype.kind == "b":
        return value
    return run.record("not", run.record("not", predicate_of(run, value)))
