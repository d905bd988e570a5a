"""Conditions: ``and``, ``or``, ``not`` and the truth of values known only at run time."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from stcompile.frontend.control.branches import choose, predicate_of
from stcompile.frontend.control.paths import attempted, stage_path
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.known import number_known
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Traced, describe, is_traced
from stcompile.wengert.bounds import greatest, least
from stcompile.wengert.dims import size_of
from stcompile.wengert.ir import Equation, Variable
from stcompile.wengert.primitives import PRIMITIVES


def refuse_truth(run: Run, value: Traced, construct: str) -> NoReturn:
    """Refuse a traced value where a static one is needed."""
    run.refuse(
        f"{construct} depends on a value ({describe(value)}), which is known only at run time",
        "select with np.where(condition, a, b), np.maximum or np.minimum",
    )


def asked(run: Run, value: Any) -> Any:
    """Ask what decides whether a value is true: a flag that follows from constants is known."""
    return number_known(run, run.asked(value))


def evaluate_test(run: Run, node: ast.expr, frame: Frame) -> Any:
    """Evaluate an expression of which only the truth matters."""
    if not isinstance(node, ast.BoolOp):
        return asked(run, run.evaluate(node, frame))
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
    value = asked(run, value)
    if not is_traced(value):
        return not run.truth(value)
    return run.record("not", predicate_of(run, value))


def combined(run: Run, is_and: bool, value: Any, other: Callable[[], Any]) -> Any:
    """``value and other()`` or ``value or other()``: the second operand is evaluated only if the
    first does not decide. Two conditions that cannot fail are recorded as a single equation."""
    decides = asked(run, value)
    if not is_traced(decides):
        return other() if run.truth(decides) == is_and else value
    predicate_of(run, decides)
    path = stage_path(run, lambda: attempted(run, other))
    flags = _is_flag(value) and _is_flag(path.result)
    if flags and path.is_pure and never_fail(run, path.equations):
        return run.record("and" if is_and else "or", value, other())
    decided = (other, lambda: value) if is_and else (lambda: value, other)
    return choose(run, decides, *decided)


def _is_flag(value: Any) -> bool:
    return is_traced(value) and value.type.dtype.kind == "b" and value.type.kind != "array"


_SAFE = {"and", "or", "not", "sum", "max", "min", "any", "all", "mean", "contract"}
_SAFE |= {"to_scalar", "to_python", "asarray", "reshape", "transpose"}


def never_fail(run: Run, equations: Iterable[Equation]) -> bool:
    """True if none of the equations ever raises, whatever the values."""
    return all(_never_fails(run, equation) for equation in equations)


def _never_fails(run: Run, equation: Equation) -> bool:
    """False for an equation that may raise: Python's division, `math`, an index that the data
    decide."""
    if equation.primitive.startswith("math."):
        return False
    if equation.primitive == "cond":
        return all(never_fail(run, arm.equations) for arm in equation.programs.values())
    if equation.primitive == "slice":
        return _is_within(run, equation)
    python = any(atom.type.kind == "python" for atom in equation.inputs)
    if python and equation.primitive in ("divide", "floor_divide", "remainder", "power"):
        return False
    return PRIMITIVES[equation.primitive].elementwise or equation.primitive in _SAFE


def _is_within(run: Run, part: Equation) -> bool:
    """True if a part is known to lie within its array."""
    array, *counters = part.inputs
    terms = [run.terms.get(counter) for counter in counters if isinstance(counter, Variable)]
    if None in terms or len(terms) < len(counters):
        return False
    known = [size_of(term) for term in terms if term is not None]
    names = ("start", "length", "step")
    axes = zip(array.type.dims, *(part.params[name] for name in names), strict=True)
    for dim, (first, *factors), length, step in axes:
        for factor, place in zip(factors, known, strict=False):
            first = first + place * factor
        ends = (first, first + (length - 1) * step)
        is_outside = any(least(end) < 0 or least(dim - end) <= 0 for end in ends)
        if is_outside and greatest(length) > 0:
            return False
    return True


def truth_of(run: Run, value: Any) -> Any:
    """``bool(value)``; the result is a flag if the value is traced."""
    value = asked(run, value)
    if not is_traced(value):
        return run.truth(value)
    if value.type.kind == "python" and value.type.dtype.kind == "b":
        return value
    return run.record("not", run.record("not", predicate_of(run, value)))
