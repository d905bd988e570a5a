"""Sums of two values, whichever primitive makes them."""

from __future__ import annotations

from stcompile.wengert.ir import Equation


def is_addition(equation: Equation) -> bool:
    """True for ``x + y``: of a whole array, not of a part."""
    return equation.primitive == "add" or (
        equation.primitive == "accumulate" and equation.params["op"] == "add"
    )


def is_sum(equation: Equation) -> bool:
    """True for ``x + y`` and ``x - y``."""
    return equation.primitive == "subtract" or is_addition(equation)
