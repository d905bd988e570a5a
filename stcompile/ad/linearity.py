"""Check that an adjoint is linear in its cotangents, so that its transpose is a tangent: no branch
or loop may depend on them."""

from __future__ import annotations

from collections.abc import Sequence

from stcompile.base.errors import DerivativeError
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives.control import Ports


def require_same_way(program: Program, cotangents: Sequence[int]) -> None:
    """Refuse a program with a branch that some inputs decide, or a loop that they end."""
    _reached(program, [at in cotangents for at in range(len(program.inputs))])


def _reached(program: Program, flags: Sequence[bool]) -> list[bool]:
    """For each output, whether it depends on the inputs with a flag."""
    reached: dict[Atom, bool] = dict(zip(program.inputs, flags, strict=True))

    def is_reached(atom: Atom) -> bool:
        return isinstance(atom, Variable) and reached[atom]

    for equation in program.equations:
        found = _outputs(equation, list(map(is_reached, equation.inputs)))
        reached.update(zip(equation.outputs, found, strict=True))
    return list(map(is_reached, program.outputs))


def _outputs(equation: Equation, flags: list[bool]) -> list[bool]:
    params = equation.params
    if not any(flags):
        return [False for _ in equation.outputs]
    if equation.primitive == "call":
        return _reached(params["program"], flags)
    if equation.primitive == "cond":
        if flags[0]:
            _refuse(equation, "which branch an adjoint takes")
        ways = (_reached(params[way], flags[1:]) for way in ("then", "otherwise"))
        return [any(pair) for pair in zip(*ways, strict=True)]
    if equation.primitive == "loop":
        return _loop(equation, flags)
    return [True for _ in equation.outputs]


def _loop(equation: Equation, flags: list[bool]) -> list[bool]:
    ports = Ports.of(equation)
    if ports.count is not None and flags.pop(0):
        _refuse(equation, "how many steps a loop of an adjoint makes")
    first, last = len(ports.constants), len(ports.constants) + len(ports.carry)
    constants, carry, xs = flags[:first], flags[first:last], flags[last:]
    counter = [] if ports.is_while else [False]
    while True:
        found = _reached(ports.body, [*constants, *counter, *carry, *xs])
        now = [a or b for a, b in zip(carry, found[: len(carry)], strict=True)]
        if now == carry:
            break
        carry = now
    if ports.condition is not None and any(_reached(ports.condition, [*constants, *carry])):
        _refuse(equation, "how many steps a loop of an adjoint makes")
    return [*carry, *found[len(carry) :]]


def _refuse(equation: Equation, what: str) -> None:
    location = equation.location
    raise DerivativeError(
        f"{what} depends on the cotangent: it is not linear, and no tangent follows from it",
        location=location.shown or location,
        hint="decide by the residuals, as the value does; or use reverse mode: st.grad, st.vjp",
    )
