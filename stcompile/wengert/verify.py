"""The verifier: invariants of programs that every pass may rely on, and must keep.

A program is well formed if every variable is defined once, before it is read, with the type that
its primitive infers; if its equations have the effects of their primitives and of the programs
within them; and if those programs are well formed and read nothing from outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from stcompile.wengert.dims import Dim, Symbol, symbols_in
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, inner_effects
from stcompile.wengert.primitives import PRIMITIVES, OperandError, infer
from stcompile.wengert.types import is_number

# Params of control flow. Where others are missing, inferring the types fails.
REQUIRED = {
    "call": {"program", "adjoint", "name", "value"},
    "cond": {"then", "otherwise"},
    "loop": {"body", "constants", "carry", "length"},
    "kernel": {"body", "writes"},
}


class VerificationError(Exception):
    """A program that is not well formed; the message names the program and the equation."""


class _Wrong(Exception):
    """Raised with the fault of an equation, without its position."""


def verify(program: Program) -> None:
    """Raise `VerificationError` unless the program is well formed."""
    Verifier().verify(program)


class Verifier:
    """A verifier of programs each of which was made of the previous: facts about an equation by
    itself are checked once, as long as the same lengths are bound outside."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Equation, Set[Symbol]]] = {}

    def verify(self, program: Program) -> None:
        """Raise `VerificationError` unless the program is well formed."""
        self._program(program, program.name, frozenset(program.symbols))

    def verify_stage(self, name: str, program: Program) -> None:
        """Verify a program, with the name of the stage that made it in the message."""
        try:
            self.verify(program)
        except VerificationError as error:
            raise VerificationError(f"after {name}: {error}") from error

    def _program(self, program: Program, path: str, bound: Set[Symbol]) -> None:
        defined: dict[str, Variable] = {}
        where: Equation | str = "inputs"
        try:
            for variable in program.inputs:
                _define(variable, defined, bound)
            for equation in program.equations:
                where = equation
                for atom in equation.inputs:
                    _read(atom, defined)
                self._equation(equation, path, bound)
                if equation.binds is not None:
                    if equation.binds in bound:
                        raise _Wrong(f"{equation.binds} is bound already")
                    bound = {*bound, equation.binds}
                for variable in equation.outputs:
                    _define(variable, defined, bound)
            where = "return"
            for atom in program.outputs:
                _read(atom, defined)
        except _Wrong as wrong:
            raise VerificationError(f"{path}: {where}\n{wrong}") from wrong

    def _equation(self, equation: Equation, path: str, bound: Set[Symbol]) -> None:
        known = self._known.get(id(equation))
        if known is not None and known[1] == bound:
            return
        _verify_operation(equation, bound)
        binds = equation.params.get("binds")
        inner = bound if binds is None else {*bound, binds}
        for name, program in equation.programs.items():
            self._program(program, f"{path} > {equation.primitive}.{name} {program.name}", inner)
        self._known[id(equation)] = equation, bound  # keeps the equation alive, and so its id


def _define(variable: Variable, defined: dict[str, Variable], bound: Set[Symbol]) -> None:
    if variable.type.kind != "stack":  # the items of a list may have the lengths of a step
        _mention(variable.type.dims, bound)
    if variable.name in defined:
        raise _Wrong(f"{variable.name} is defined twice")
    defined[variable.name] = variable


def _mention(static: Any, bound: Set[Symbol]) -> None:
    for symbol in symbols_in(static):
        if symbol not in bound:
            raise _Wrong(f"mentions {symbol}, which nothing around it binds")


def _read(atom: Atom, defined: Mapping[str, Variable]) -> None:
    if isinstance(atom, Constant):
        if not is_number(atom.value):
            raise _Wrong(f"{atom.value!r} is not a number")
    elif atom.name not in defined:
        raise _Wrong(f"{atom.name} is read before it is defined")
    elif defined[atom.name] != atom:
        raise _Wrong(f"{defined[atom.name]} is read as {atom}")


def _verify_operation(equation: Equation, bound: Set[Symbol]) -> None:
    primitive = PRIMITIVES.get(equation.primitive)
    if primitive is None:
        raise _Wrong(f"{equation.primitive} is not a primitive")
    if missing := REQUIRED.get(equation.primitive, set()) - set(equation.params):
        raise _Wrong(f"has no {', '.join(sorted(missing))}")
    for static in equation.params.values():
        _mention(static, bound)
    binds = equation.params.get("binds")
    if binds is not None:
        _mention((binds.low, binds.high), bound)
    if equation.primitive == "loop":
        _verify_ports(equation)
    try:
        types = infer(equation.primitive, tuple(a.type for a in equation.inputs), equation.params)
    except OperandError as error:
        raise _Wrong(str(error)) from error
    except Exception as error:  # params are missing or of the wrong form
        raise _Wrong(f"{type(error).__name__}: {error}") from error
    found = tuple(variable.type for variable in equation.outputs)
    if found != types:
        raise _Wrong(f"has outputs {found} where {types} are inferred")
    effects = {*primitive.effects, *inner_effects(equation.params)}
    # A kernel is a function: lengths that it names are its own, and may be known outside.
    own = {"bind"} if equation.primitive == "kernel" else set[str]()
    if set(equation.effects) - own != effects - own:
        raise _Wrong(f"has effects {equation.effects}, not {sorted(effects)}")
    if equation.primitive == "call":
        results = equation.params["value"]
        if not 0 <= results <= len(equation.outputs):
            raise _Wrong(f"has {len(equation.outputs)} outputs, not {results}")


def _verify_ports(loop: Equation) -> None:
    numbers = [loop.params[name] for name in ("constants", "carry", "length")]
    counts = numbers[:-1] if numbers[-1] is None or isinstance(numbers[-1], Dim) else numbers
    if not all(type(number) is int and number >= 0 for number in counts):
        raise _Wrong(f"constants, carry, length are {numbers}")
    constants, carry = counts[:2]
    body: Program = loop.params["body"]
    counted = numbers[-1] is None and loop.params.get("condition") is None
    if counted + constants + carry > len(loop.inputs):
        raise _Wrong(f"has {len(loop.inputs)} inputs, fewer than its ports")
    if carry > len(body.outputs):
        raise _Wrong(f"carries {carry} of {len(body.outputs)} outputs")
