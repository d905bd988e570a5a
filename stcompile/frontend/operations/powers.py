"""``x ** y`` of Python numbers: the type of the result depends on their signs.

A negative float to a fractional power is complex, and an int to a negative int a float. In a
program every value has a single type, so powers that may be complex are `math.pow`, which raises a
`ValueError` there, and an int power that may be a float is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine, Scalar
from stcompile.wengert.ir import Constant, Equation, Variable, every_equation
from stcompile.wengert.primitives.elementwise import SUMS_AND_PRODUCTS

_DEPTH = 8  # equations that are looked back at
_FLOAT = np.dtype(np.float64)
_NEVER_NEGATIVE = frozenset({"absolute", "math.exp", "math.sqrt", "math.hypot", "math.fabs"})
_WHOLE = SUMS_AND_PRODUCTS | {"to_python"}  # of whole numbers
_KEEPING = frozenset({"add", "multiply", "divide"})  # of numbers that are not negative


def is_python_power(left: Any, right: Any) -> bool:
    """True if an operator ``**`` is Python's own, of real numbers."""
    return all(_kind(value) in "biuf" for value in (left, right))


def power(run: Run, left: Any, right: Any) -> Any:
    """``left ** right`` of real Python numbers, at least one of which is traced."""
    if _kind(right) == "f":
        is_real = _is_whole(run, right) or _is_never_negative(run, left)
        return run.record("power" if is_real else "math.pow", left, right)
    if _kind(left) == "f":
        return run.record("power", left, right)
    low, high = _bounds(right)
    if low >= 0:
        return run.record("power", left, right)
    if high >= 0:
        run.refuse(
            "an int to the power of an int known only at run time is an int or a float, by the "
            "sign of that power",
            "make the base a float: `2.0 ** n`",
        )
    base = run.record("to_python", left, dtype=_FLOAT) if isinstance(left, Scalar) else float(left)
    return run.record("power", base, right)


def may_be_complex(run: Run, value: Any) -> bool:
    """True for a float that may be complex in Python: it is computed from a power that may be
    complex, perhaps in a branch or a loop."""
    seen: set[Any] = set()
    waiting: list[Any] = []
    if isinstance(value, Scalar) and _kind(value) == "f":
        waiting.append(value.atom)
    while waiting:
        atom = waiting.pop()
        made = run.recorder.producers.get(atom)
        if made is None or atom in seen or atom.type.kind != "python":
            continue
        if _takes_power(made):
            return True
        seen.add(atom)
        if not made.primitive.startswith("math."):  # functions of `math` take no complex numbers
            waiting += made.inputs
    return False


def _takes_power(equation: Equation) -> bool:
    return any(one.primitive == "math.pow" for one in every_equation([equation]))


def refuse_complex(run: Run, value: Any, question: str) -> None:
    """Refuse a ``question`` whose answer depends on whether a power is complex."""
    if may_be_complex(run, value):
        run.refuse(
            f"{question} depends on a power: that of a negative float may be complex",
            "use np.float64(x), whose powers are never complex, or test its sign before",
        )


def _kind(value: Any) -> str:
    """The kind of a Python number's dtype; ``O`` for anything else."""
    if isinstance(value, Scalar):
        return value.type.dtype.kind if value.type.kind == "python" else "O"
    return {bool: "b", int: "i", float: "f"}.get(type(value), "O")


def _is_whole(run: Run, exponent: Any) -> bool:
    """True for an exponent with which the power of a negative number is real."""
    return _is_made_whole(run, run.atom(exponent), _DEPTH)


def _is_made_whole(run: Run, atom: Any, depth: int) -> bool:
    if isinstance(atom, Constant):
        return not atom.value % 1 > 0  # powers to infinity are real as well
    if atom.type.dtype.kind in "biu":
        return True
    made: Equation | None = run.recorder.producers.get(atom)
    if made is None or depth == 0 or made.primitive not in _WHOLE:
        return False
    return all(_is_made_whole(run, part, depth - 1) for part in made.inputs)


def _bounds(number: Any) -> tuple[float, float]:
    """The least and the greatest value of an integer."""
    if isinstance(number, Affine):
        return number.low, number.high
    if not isinstance(number, Scalar):
        return number, number
    is_flag = number.type.dtype.kind == "b"
    return (0, 1) if is_flag else (-np.inf, np.inf)


def _is_never_negative(run: Run, value: Any) -> bool:
    """True for a number that is known not to be below zero: by its value, or by the equation that
    makes it."""
    if isinstance(value, Scalar) and not isinstance(value, Affine):
        return _is_made_positive(run, value.atom, _DEPTH)
    return bool(_bounds(value)[0] >= 0)


def _is_made_positive(run: Run, atom: Any, depth: int) -> bool:
    if isinstance(atom, Constant):
        return bool(atom.value >= 0)
    if atom.type.dtype.kind == "b":
        return True
    made: Equation | None = run.recorder.producers.get(atom)
    if made is None or depth == 0:
        return False
    if made.primitive in _NEVER_NEGATIVE:
        return True
    first, *rest = made.inputs
    if made.primitive == "multiply" and isinstance(first, Variable) and first in rest:
        return True
    if made.primitive == "power" and _is_even(rest[0]):
        return True
    if made.primitive in ("power", "math.pow"):
        return _is_made_positive(run, first, depth - 1)
    parts = made.inputs if made.primitive in _KEEPING else ()
    return bool(parts) and all(_is_made_positive(run, part, depth - 1) for part in parts)


def _is_even(exponent: Any) -> bool:
    return isinstance(exponent, Constant) and bool(exponent.value % 2 == 0)
