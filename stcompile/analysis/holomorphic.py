"""Check that a function that the user calls holomorphic is made of holomorphic equations alone."""

from __future__ import annotations

from collections.abc import Sequence

from stcompile.analysis.activity import flow
from stcompile.base.errors import DerivativeError
from stcompile.codegen_templates.derivatives import NOT_HOLOMORPHIC
from stcompile.wengert.ir import Equation, Program, Variable


def require_holomorphic(name: str, program: Program, wrt: Sequence[Variable]) -> None:
    """Refuse the first equation that is not holomorphic among those that depend on ``wrt``."""

    def look(equation: Equation, active: set[Variable]) -> None:
        if equation.primitive in NOT_HOLOMORPHIC and not active.isdisjoint(equation.inputs):
            called = equation.params.get("spelling") or equation.primitive
            raise DerivativeError(
                f"`{called}` of complex numbers is not holomorphic, and `{name}` is said to be",
                location=equation.location,
                hint="compute with the complex numbers themselves, or leave holomorphic=True out "
                "and return np.real(...) and np.imag(...)",
            )

    flow(program, set(wrt), look)
