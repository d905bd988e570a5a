"""What every pass may rely on, and must leave true.

A program is well formed if every variable is defined once, before it is read, with the type that
its primitive infers; if its equations have the effects of their primitives and of the programs
within them; and if those programs are well formed and read nothing from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
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


def verify(program: Program) -> None:
    """Raise `VerificationError` unless the program is well formed."""
    _verify(program, program.name, frozenset(program.symbols))


def verify_stage(name: str, program: Program) -> None:
    """Raise `VerificationError`, with the name of a stage, unless it left a well-formed program."""
    try:
        verify(program)
    except VerificationError as error:
        raise VerificationError(f"after {name}: {error}") from error


def _verify(program: Program, path: str, bound: Set[Symbol]) -> None:
    defined: dict[str, Variable] = {}
    for variable in program.inputs:
        _define(variable, defined, f"{path}: inputs", bound)
    for equation in program.equations:
        where = f"{path}: {equation}"
        for atom in equation.inputs:
            _read(atom, defined, where)
        _verify_operation(equation, where, path, bound)
        if equation.binds is not None:
            if equation.binds in bound:
                raise VerificationError(f"{where}\n{equation.binds} is bound already")
            bound = {*bound, equation.binds}
        for variable in equation.outputs:
            _define(variable, defined, where, bound)
    for atom in program.outputs:
        _read(atom, defined, f"{path}: return")


def _define(
    variable: Variable, defined: dict[str, Variable], where: str, bound: Set[Symbol]
) -> None:
    if variable.type.kind != "stack":  # the items of a list may have the lengths of a step
        _mention(variable.type.dims, bound, where)
    if variable.name in defined:
        raise VerificationError(f"{where}\n{variable.name} is defined twice")
    defined[variable.name] = variable


def _mention(static: Any, bound: Set[Symbol], where: str) -> None:
    for symbol in symbols_in(static):
        if symbol not in bound:
            raise VerificationError(f"{where}\nmentions {symbol}, which nothing around it binds")


def _read(atom: Atom, defined: Mapping[str, Variable], where: str) -> None:
    if isinstance(atom, Constant):
        if not is_number(atom.value):
            raise VerificationError(f"{where}\n{atom.value!r} is not a number")
    elif atom.name not in defined:
        raise VerificationError(f"{where}\n{atom.name} is read before it is defined")
    elif defined[atom.name] != atom:
        raise VerificationError(f"{where}\n{defined[atom.name]} is read as {atom}")


def _verify_operation(equation: Equation, where: str, path: str, bound: Set[Symbol]) -> None:
    primitive = PRIMITIVES.get(equation.primitive)
    if primitive is None:
        raise VerificationError(f"{where}\n{equation.primitive} is not a primitive")
    if missing := REQUIRED.get(equation.primitive, set()) - set(equation.params):
        raise VerificationError(f"{where}\nhas no {', '.join(sorted(missing))}")
    for static in equation.params.values():
        _mention(static, bound, where)
    binds = equation.params.get("binds")
    inner = bound if binds is None else {*bound, binds}
    if binds is not None:
        _mention((binds.low, binds.high), bound, where)
    for name, program in sub_programs(equation.params):
        _verify(program, f"{path} > {equation.primitive}.{name} {program.name}", inner)
    if equation.primitive == "loop":
        _verify_ports(equation, where)
    try:
        types = infer(equation.primitive, tuple(a.type for a in equation.inputs), equation.params)
    except OperandError as error:
        raise VerificationError(f"{where}\n{error}") from error
    except Exception as error:  # params are missing or of the wrong form
        raise VerificationError(f"{where}\n{type(error).__name__}: {error}") from error
    found = tuple(variable.type for variable in equation.outputs)
    if found != types:
        raise VerificationError(f"{where}\nhas outputs {found} where {types} are inferred")
    effects = {*primitive.effects, *inner_effects(equation.params)}
    # A kernel is a function: lengths that it names are its own, and may be known outside.
    own = {"bind"} if equation.primitive == "kernel" else set[str]()
    if set(equation.effects) - own != effects - own:
        raise VerificationError(f"{where}\nhas effects {equation.effects}, not {sorted(effects)}")
    if equation.primitive == "call":
        results = equation.params["value"]
        if not 0 <= results <= len(equation.outputs):
            raise VerificationError(f"{where}\nhas {len(equation.outputs)} outputs, not {results}")


def _verify_ports(loop: Equation, where: str) -> None:
    numbers = [loop.params[name] for name in ("constants", "carry", "length")]
    counts = numbers[:-1] if numbers[-1] is None or isinstance(numbers[-1], Dim) else numbers
    if not all(type(number) is int and number >= 0 for number in counts):
        raise VerificationError(f"{where}\nconstants, carry, length are {numbers}")
    constants, carry = counts[:2]
    body: Program = loop.params["body"]
    counted = numbers[-1] is None and loop.params.get("condition") is None
    if counted + constants + carry > len(loop.inputs):
        raise VerificationError(f"{where}\nhas {len(loop.inputs)} inputs, fewer than its ports")
    if carry > len(body.outputs):
        raise VerificationError(f"{where}\ncarries {carry} of {len(body.outputs)} outputs")


def sub_programs(params: Mapping[str, Any]) -> Iterator[tuple[str, Program]]:
    """The programs among an equation's params, with their names."""
    return ((name, value) for name, value in params.items() if isinstance(value, Program))
