"""Control flow: equations with closed sub-programs among their params.

``call(operands; program)`` runs a program.

``cond(pred, operands; then, otherwise)`` runs one of two programs of the same operands, by the
truth of ``pred``.

``loop`` runs ``body`` once for each step. Its ports, in the order of the operands:

- *constants*, the same in each step;
- *carry*, the state: the body returns it for the next step, and the state after the last step is
  the loop's result;
- ``xs``, of which each step gets its own item;

and, after the carry among the results, ``ys``: the values of all steps. The number of steps is
``length``; with ``length=None`` it is the first operand, an int. Where it is a size, ``xs`` and
``ys`` are arrays with one row for each step, else, and where the values are stacks themselves, they
are stacks. The body takes ``(*constants, counter, *carry, *xs)``. With ``reverse=True`` the counter
runs down to 0, and item ``t`` of each port belongs to step ``t`` all the same.

With ``binds`` the types and params of the body may mention that symbol: it is the counter. Rows of
the ports that are shorter in some steps are stored at the start of rows that hold them all.

With ``condition`` the loop is a *while* loop: it takes constants and carry only, runs as long as
the condition, a program of ``(*constants, *carry)``, is true, and its body has no counter.

``kernel(operands; body, writes)`` runs a program that becomes a function of its own: loops over
numbers, compiled to machine code. ``writes`` are pairs of an operand and the output that may be
written into it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stcompile.wengert.bounds import bounded, maximum
from stcompile.wengert.dims import Size, Symbol
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives.base import OperandError, Primitive, Types
from stcompile.wengert.types import Type

COUNTER = Type.python(int)


@dataclass(frozen=True)
class Ports:
    """The parts of a ``loop`` by name: its operands and results, and the body's."""

    length: Size | None
    binds: Symbol | None
    reverse: bool
    body: Program
    condition: Program | None
    count: Atom | None
    constants: tuple[Atom, ...]
    carry: tuple[Atom, ...]
    xs: tuple[Atom, ...]
    results: tuple[Variable, ...]
    ys: tuple[Variable, ...]
    has_lengths: bool  # that its steps name

    @staticmethod
    def of(loop: Equation) -> Ports:
        params = loop.params
        condition, length = params.get("condition"), params["length"]
        inputs = loop.inputs
        counted = length is None and condition is None
        count = inputs[0] if counted else None
        inputs = inputs[1:] if counted else inputs
        first = params["constants"]
        last = first + params["carry"]
        return Ports(
            length,
            params.get("binds"),
            params.get("reverse", False),
            params["body"],
            condition,
            count,
            inputs[:first],
            inputs[first:last],
            inputs[last:],
            loop.outputs[: params["carry"]],
            loop.outputs[params["carry"] :],
            "bind" in loop.effects,
        )

    @property
    def steps(self) -> int | None:
        """The number of steps, if it is static and all steps are alike: no length in the body
        depends on the step."""
        are_alike = self.binds is None and not self.has_lengths
        return self.length if isinstance(self.length, int) and are_alike else None

    @property
    def is_while(self) -> bool:
        return self.condition is not None

    @property
    def counter(self) -> Variable | None:
        """The body's counter; None in a while loop."""
        return None if self.is_while else self.body.inputs[len(self.constants)]

    @property
    def body_constants(self) -> tuple[Variable, ...]:
        return self.body.inputs[: len(self.constants)]

    @property
    def body_carry(self) -> tuple[Variable, ...]:
        first = len(self.constants) + (not self.is_while)
        return self.body.inputs[first : first + len(self.carry)]

    @property
    def body_xs(self) -> tuple[Variable, ...]:
        return self.body.inputs[len(self.body.inputs) - len(self.xs) :]

    @property
    def carried(self) -> tuple[Atom, ...]:
        """The values that the body returns for the carry."""
        return self.body.outputs[: len(self.carry)]

    @property
    def stacked(self) -> tuple[Atom, ...]:
        """The values that the body returns for the ys."""
        return self.body.outputs[len(self.carry) :]


def _fit(name: str, given: Types, wanted: Types) -> None:
    if given != wanted:
        raise OperandError(f"{name}: operands {given} for parameters {wanted}")


def _call(types: Types, params: Mapping[str, Any]) -> Types:
    program: Program = params["program"]
    _fit(params["name"] or "call", types, program.types)
    return tuple(atom.type for atom in program.outputs)


def _kernel(types: Types, params: Mapping[str, Any]) -> Types:
    body: Program = params["body"]
    _fit("kernel", types, body.types)
    for operand, output in params["writes"]:
        if types[operand] != body.outputs[output].type:
            raise OperandError(f"kernel: output {output} is not of the type of operand {operand}")
    return tuple(atom.type for atom in body.outputs)


def _cond(types: Types, params: Mapping[str, Any]) -> Types:
    then: Program = params["then"]
    otherwise: Program = params["otherwise"]
    predicate, *operands = types
    if predicate.size != 1 or predicate.kind == "stack":
        raise OperandError(f"cond: the truth of {predicate} is ambiguous")
    _fit("cond", tuple(operands), then.types)
    _fit("cond", tuple(operands), otherwise.types)
    results = tuple(atom.type for atom in then.outputs)
    others = tuple(atom.type for atom in otherwise.outputs)
    if results != others:
        raise OperandError(f"cond: gives {results} or {others}")
    return results


def step_of(t: Type, length: Size | None) -> Type:
    """The type of a step of a port of type ``t``: without axis 0, as ``xs[i]``, or a stack's
    item."""
    if t.kind == "stack":
        return t.item
    if length is None:
        raise OperandError(f"loop: takes stacks to step through, not {t}")
    if t.kind != "array" or not t.dims:
        raise OperandError(f"loop: takes arrays to step through, not {t}")
    if t.dims[0] != length:
        raise OperandError(f"loop: {t} does not have {length} steps")
    return Type.array(t.dtype, t.dims[1:]) if t.dims[1:] else Type.scalar(t.dtype)


def port_of(t: Type, length: Size | None, binds: Sequence[Symbol] = ()) -> Type:
    """The type of a port with values of type ``t`` for all steps."""
    if length is None or t.kind == "stack":
        return Type.stack(t)
    return Type.array(t.dtype, (length, *widest(t, binds).dims))


def widest(t: Type, binds: Sequence[Symbol]) -> Type:
    """The type of a row that holds values of type ``t``, whatever numbers the symbols stand for:
    the innermost symbol comes last."""
    if not binds or t.kind != "array" or not t.is_named:
        return t
    dims = t.dims
    for symbol in reversed(binds):
        dims = tuple(bounded(dim, symbol) for dim in dims)
    return Type.array(t.dtype, tuple(maximum(0, dim) for dim in dims))


def _steps(xs: Types, length: Size | None, binds: Sequence[Symbol], taken: Types) -> Types:
    """The types of a step of the ports: the types that the body takes, if they fit."""
    given = (step_of(x, length) for x in xs)
    return tuple(t if widest(t, binds) == row else row for row, t in zip(given, taken, strict=True))


def _loop(types: Types, params: Mapping[str, Any]) -> Types:
    body: Program = params["body"]
    condition: Program | None = params.get("condition")
    constants, carry, length = params["constants"], params["carry"], params["length"]
    if length is None and condition is None:
        count, *rest = types
        types = tuple(rest)
        _fit("loop", (count,), (COUNTER,))
    fixed, carried, xs = (
        types[:constants],
        types[constants : constants + carry],
        types[constants + carry :],
    )
    counter: Types = (COUNTER,)
    if condition is not None:
        counter = ()
        _fit("loop", (*fixed, *carried), condition.types)
        if length is not None or xs or len(condition.outputs) != 1:
            raise OperandError("loop: a while loop has one condition, no length and no xs")
        if condition.outputs[0].type.size != 1:
            raise OperandError(f"loop: the truth of {condition.outputs[0].type} is ambiguous")
    own = params.get("binds")
    binds = () if own is None else (own,)
    taken = body.types[len(body.types) - len(xs) :]
    _fit("loop", (*fixed, *counter, *carried, *_steps(xs, length, binds, taken)), body.types)
    results = tuple(atom.type for atom in body.outputs)
    if results[:carry] != carried:
        raise OperandError(f"loop: carries {carried} in and {results[:carry]} out")
    return (*carried, *(port_of(y, length, binds) for y in results[carry:]))


def _undef(types: Types, params: Mapping[str, Any]) -> Types:
    found = Type(params["kind"], params["dtype"], params["dims"])
    for _ in range(params["depth"]):
        found = Type.stack(found)
    return (found,)


def undefined(t: Type) -> dict[str, Any]:
    """The params of ``undef``, a value that is never read: the type of a stack's innermost items,
    and the depth of stacks."""
    depth = 0
    while t.of is not None:
        t, depth = t.of, depth + 1
    return {"kind": t.kind, "dtype": t.dtype, "dims": t.dims, "depth": depth}


NESTED = frozenset({"loop", "cond"})  # their equations run for each step, or for one branch
CONTROL: tuple[Primitive, ...] = (
    Primitive("call", _call, control=True),
    Primitive("cond", _cond, control=True),
    Primitive("loop", _loop, control=True),
    Primitive("kernel", _kernel, control=True),
    Primitive("undef", _undef),
)
