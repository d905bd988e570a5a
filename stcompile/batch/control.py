"""Rules for calls, branches and loops.

A predicate that differs between items sends some of them one way and some the other. Each way is
computed for the whole batch, if any item takes it at all; the items that do not take it are given
the operands of an item that does, so that nothing is computed that no item computes: no logarithm
of a negative number behind ``if x > 0``, no error that is not raised. Then each item takes the
results of its own way. Derivatives do not pass through lent operands.

A loop whose end differs between items runs until the last item has ended; the carried values of an
item that has ended stay unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

import numpy as np

from stcompile.batch.step import Step, batched_type
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Program, Variable, freeze
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.control import COUNTER, Ports, undefined
from stcompile.wengert.primitives.indexing import FIRST_INTEGER
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.stacked import Value
from stcompile.wengert.types import Type


class Inline(Protocol):
    """Records a program's equations for a batch."""

    def __call__(
        self, program: Program, operands: Sequence[Value], size: Size, recorder: Recorder
    ) -> list[Value]: ...


# --- sub-programs ---------------------------------------------------------------------------------


class _Inner:
    """A sub-program under way: the step it belongs to, with a recorder of its own."""

    def __init__(self, step: Step, types: Sequence[Type], names: Sequence[str]) -> None:
        self.step = replace(step, recorder=Recorder())
        self.inputs = tuple(map(self.step.recorder.variable, types, names))

    def spread(self, outputs: Sequence[Value], types: Sequence[Type]) -> list[Atom]:
        """Outputs with a row for each item."""
        return list(map(self.step.spread, outputs, types))

    def program(self, name: str, outputs: Sequence[Atom]) -> Program:
        return self.step.recorder.program(name, self.inputs, outputs)


def _types(program: Program, flags: Sequence[bool], size: Size) -> list[Type]:
    return [
        batched_type(v.type, size) if flag else v.type
        for v, flag in zip(program.inputs, flags, strict=True)
    ]


def _names(program: Program) -> list[str]:
    return [variable.name for variable in program.inputs]


def _batched(
    step: Step, inline: Inline, program: Program, flags: Sequence[bool], wanted: Sequence[bool] = ()
) -> tuple[Program, list[bool]]:
    """A sub-program for the batch; outputs that are ``wanted`` have a row for each item."""
    inner = _Inner(step, _types(program, flags, step.size), _names(program))
    recorder = inner.step.recorder
    outputs = inline(program, list(map(Value, inner.inputs, flags)), step.size, recorder)
    for at, want in enumerate(wanted):
        if want:
            outputs[at] = Value(inner.step.spread(outputs[at], program.outputs[at].type), True)
    found = inner.program(program.name, [output.atom for output in outputs])
    return found, [output.batched for output in outputs]


def _union(*flags: Sequence[bool]) -> list[bool]:
    return [any(each) for each in zip(*flags, strict=True)]


def _record(step: Step, primitive: str, inputs: Sequence[Atom], **params: object) -> Sequence[Atom]:
    changed = {**step.equation.params, **params}
    return step.recorder.record(primitive, tuple(inputs), step.equation.location, changed)


# --- calls ----------------------------------------------------------------------------------------


def _call(step: Step, inline: Inline) -> Sequence[Value]:
    """Batch a call, and its own adjoint if it has one. All results of a call with an adjoint are
    batched, so that each item has its cotangent; the cotangent of an operand that is the same for
    all items is the sum over the items."""
    params = step.equation.params
    body: Program = params["program"]
    adjoint: Program | None = params["adjoint"]
    flags = [operand.batched for operand in step.operands]
    atoms = [operand.atom for operand in step.operands]
    if adjoint is None:
        return inline(body, step.operands, step.size, step.recorder)
    count: int = params["value"]
    is_residual = [at >= count for at in range(len(body.outputs))]
    program, found = _batched(step, inline, body, flags, [not one for one in is_residual])
    given = [*found[count:], *(True for _ in range(count))]
    inner = _Inner(step, _types(adjoint, given, step.size), _names(adjoint))
    cotangents = inline(
        adjoint, list(map(Value, inner.inputs, given)), step.size, inner.step.recorder
    )
    outputs = []
    for target, output, cotangent in zip(
        params["targets"], adjoint.outputs, cotangents, strict=True
    ):
        row = inner.step.spread(cotangent, output.type)
        if not flags[target]:
            row = inner.step.record("sum", row, axis=(0,), keepdims=False)
        outputs.append(row)
    back = inner.program(adjoint.name, outputs)
    results = _record(step, "call", atoms, program=program, adjoint=back)
    return list(map(Value, results, found))


# --- branches -------------------------------------------------------------------------------------


def _cond(step: Step, inline: Inline) -> Sequence[Value]:
    predicate, *operands = step.operands
    flags = [operand.batched for operand in operands]
    then, otherwise = step.equation.params["then"], step.equation.params["otherwise"]
    if predicate.batched:
        return _both(step, inline)
    first, one = _batched(step, inline, then, flags)
    second, other = _batched(step, inline, otherwise, flags)
    wanted = _union(one, other)
    if one != wanted:
        first, _ = _batched(step, inline, then, flags, wanted)
    if other != wanted:
        second, _ = _batched(step, inline, otherwise, flags, wanted)
    atoms = [operand.atom for operand in operands]
    results = _record(step, "cond", (predicate.atom, *atoms), then=first, otherwise=second)
    return list(map(Value, results, wanted))


def _both(step: Step, inline: Inline) -> Sequence[Value]:
    """Compute both ways, and take for each item the results of its own way."""
    predicate, *operands = step.operands
    yes: Atom = step.shaped(predicate.atom, step.size)
    if yes.type.dtype.kind != "b":
        yes = step.record("not_equal", yes, Constant(0))
    no = step.record("logical_not", yes)
    made = []
    for program, which in (
        (step.equation.params["then"], yes),
        (step.equation.params["otherwise"], no),
    ):
        way = _at_once if is_harmless(program) else _if_any
        made.append(way(step, inline, program, which, operands))
    return [
        Value(_chosen(step, yes, one, other, atom.type), True)
        for one, other, atom in zip(*made, step.equation.outputs, strict=True)
    ]


def _chosen(step: Step, which: Atom, one: Atom, other: Atom, type: Type) -> Atom:
    if step.is_undefined(one):
        return other
    if step.is_undefined(other) or one == other:
        return one
    if type.kind in ("stack", "object"):
        step.refuse(
            "a list that grows differently in two branches, of which some items of the batch go "
            "one way and some the other",
            "append in all cases, or write into an array of the length it may have",
        )
    return step.chosen(which, one, other)


def _at_once(
    step: Step, inline: Inline, program: Program, which: Atom, operands: Sequence[Value]
) -> list[Atom]:
    outputs = inline(program, operands, step.size, step.recorder)
    types = [atom.type for atom in program.outputs]
    return list(map(step.spread, outputs, types))


def _if_any(
    step: Step, inline: Inline, program: Program, which: Atom, operands: Sequence[Value]
) -> list[Atom]:
    """Compute one way, if any item takes it."""
    flags = [operand.batched for operand in operands]
    types = [which.type, *_types(program, flags, step.size)]
    names = ["taken", *_names(program)]
    inner = _Inner(step, types, names)
    taken, *own = inner.inputs
    lent = _lend(inner.step, taken, list(map(Value, own, flags)))
    outputs = inline(program, lent, step.size, inner.step.recorder)
    made = inner.spread(outputs, [atom.type for atom in program.outputs])
    unread = [inner.step.is_undefined(atom) for atom in made]
    then = inner.program(program.name, made)
    none = _Inner(step, types, names)
    nothing = [_nothing(none.step, atom.type) for atom in made]
    is_taken = step.record("any", which, axis=(0,), keepdims=False)
    inputs = (is_taken, which, *(operand.atom for operand in operands))
    results = _record(
        step, "cond", inputs, then=then, otherwise=none.program(program.name, nothing)
    )
    return [
        step.record("undef", **undefined(atom.type)) if is_unread else atom
        for atom, is_unread in zip(results, unread, strict=True)
    ]


def _nothing(step: Step, type: Type) -> Atom:
    if type.kind == "array":
        return step.record("full", Constant(0), shape=type.dims, dtype=type.dtype)
    return step.record("undef", **undefined(type))


def _lend(step: Step, taken: Atom, operands: Sequence[Value]) -> list[Value]:
    """Operands for the items that are ``taken``; the other items get the operands of the first item
    taken."""
    if step.size == 0 or not any(operand.batched for operand in operands):
        return list(operands)
    first = step.record("argmax", taken, axis=0, keepdims=False)
    return [
        Value(step.chosen(taken, value.atom, _constant(step, _row(step, value.atom, first))), True)
        if value.batched and value.atom.type.kind == "array"
        else value
        for value in operands
    ]


def _row(step: Step, rows: Atom, at: Atom) -> Atom:
    return step.record("index", rows, at, at=("index",))


def _constant(step: Step, atom: Atom) -> Atom:
    """The same value; derivatives by it are zero."""
    if not atom.type.inexact:
        return atom
    same = Variable("x", atom.type)
    seed = Variable("d_x", atom.type)
    params = freeze(
        {
            "program": Program("stop_gradient", (same,), (), (same,)),
            "adjoint": Program("stop_gradient", (seed,), (), ()),
            "name": "stop_gradient",
            "value": 1,
            "targets": (),
        }
    )
    return step.recorder.record("call", (atom,), step.equation.location, params)[0]


BOUNDED = frozenset({"maximum", "minimum", "absolute", "where", "sign", "clip", "undef"})
COMPARISONS = frozenset(
    {
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("logical_and", "logical_or", "logical_not", "logical_xor", "not", "and", "or"),
    }
)
MAKERS = frozenset({"constant", "arange", "eye", "full", "array"})


def is_harmless(program: Program) -> bool:
    """True if a program is defined for all operands, and its derivatives do not depend on them: it
    may be computed for items that do not need it."""
    for equation in program.equations:
        name = equation.primitive
        is_scaled = name in ("multiply", "divide") and isinstance(equation.inputs[1], Constant)
        is_scaled |= name == "multiply" and isinstance(equation.inputs[0], Constant)
        has_place = len(equation.inputs) > FIRST_INTEGER.get(
            name, len(equation.inputs)
        )  # may be none
        is_linear = PRIMITIVES[name].linear and not has_place
        if name == "divide" and is_scaled and equation.inputs[1].value == 0:  # type: ignore[union-attr]
            return False
        if not (is_scaled or is_linear or name in BOUNDED | COMPARISONS | MAKERS):
            return False
    return True


# --- loops ----------------------------------------------------------------------------------------


def _loop(step: Step, inline: Inline) -> Sequence[Value]:
    ports = Ports.of(step.equation)
    operands = list(step.operands)
    count = operands.pop(0) if ports.count is not None else None
    first, carried = len(ports.constants), len(ports.constants) + len(ports.carry)
    constants, carry, xs = operands[:first], operands[first:carried], operands[carried:]
    loop = _BatchedLoop(step, inline, ports, constants, xs, count)
    flags = [value.batched for value in carry]
    while True:
        ends_apart = loop.ends_apart(flags)
        found = loop.found(flags)
        now = [True] * len(flags) if ends_apart else _union(flags, found[: len(flags)])
        if now == flags:
            break
        flags = now
    return loop.recorded(flags, carry, ends_apart)


class _BatchedLoop:
    """A loop for a batch of items."""

    def __init__(
        self,
        step: Step,
        inline: Inline,
        ports: Ports,
        constants: Sequence[Value],
        xs: Sequence[Value],
        count: Value | None,
    ) -> None:
        self.step, self.inline, self.ports = step, inline, ports
        self.constants, self.xs, self.count = constants, xs, count

    def flags(self, carry: Sequence[bool]) -> list[bool]:
        """For each input of the body: true if it is batched."""
        counter = [] if self.ports.is_while else [False]
        fixed, items = ([value.batched for value in part] for part in (self.constants, self.xs))
        return [*fixed, *counter, *carry, *items]

    def found(self, carry: Sequence[bool]) -> list[bool]:
        """For each output of the body: true if it is batched when the carried values are as
        ``carry`` says."""
        return _batched(self.step, self.inline, self.ports.body, self.flags(carry))[1]

    def ends_apart(self, carry: Sequence[bool]) -> bool:
        """True if the items end after different numbers of steps."""
        if self.ports.condition is None:
            return self.count is not None and self.count.batched
        flags = [*(value.batched for value in self.constants), *carry]
        return _batched(self.step, self.inline, self.ports.condition, flags)[1][0]

    def recorded(
        self, flags: Sequence[bool], carry: Sequence[Value], ends_apart: bool
    ) -> list[Value]:
        step, ports = self.step, self.ports
        inputs = [
            step.spread(value, atom.type) if flag else value.atom
            for value, atom, flag in zip(carry, ports.carry, flags, strict=True)
        ]
        fixed = [value.atom for value in self.constants]
        stepped = [self._steps_first(value) for value in self.xs]
        found = self.found(flags)
        wanted = [*flags, *found[len(flags) :]]
        params: dict[str, object] = {}
        lead: list[Atom] = []
        if self.count is not None:
            lead = [self.count.atom]
        if not ends_apart:
            body, _ = _batched(step, self.inline, ports.body, self.flags(flags), wanted)
            if ports.condition is not None:
                params["condition"], _ = self._condition(flags)
        elif ports.condition is not None:
            body = self._body_until(flags, found, self._still_in_while)
            params["condition"] = self._any_condition(flags)
        else:
            assert self.count is not None
            counts = step.shaped(self.count.atom, step.size)
            fixed = [counts, *fixed]
            params["constants"] = len(fixed)
            longest = step.record("max", self._with_none(counts), axis=(0,), keepdims=False)
            lead = [step.record("to_python", longest, dtype=COUNTER.dtype)]
            body = self._body_until(flags, found, self._still_counting, counts.type)
        results = _record(step, "loop", (*lead, *fixed, *inputs, *stepped), body=body, **params)
        return [
            self._items_first(Value(atom, flag), at >= len(flags))
            for at, (atom, flag) in enumerate(zip(results, wanted, strict=True))
        ]

    # --- its ports -----------------------------------------------------------------------------

    def _steps_first(self, value: Value) -> Atom:
        """Items of the steps, an array with the axis of steps in front of that of the batch."""
        if not value.batched or value.atom.type.kind == "stack":
            return value.atom
        axes = (1, 0, *range(2, value.atom.type.ndim))
        return self.step.turned(value.atom, axes)

    def _items_first(self, value: Value, is_stacked: bool) -> Value:
        if not is_stacked:
            return value
        return Value(self._steps_first(value), value.batched)

    # --- ends that differ ----------------------------------------------------------------------

    def _with_none(self, counts: Atom) -> Atom:
        """The numbers of steps, and a 0 with them if the batch may be empty."""
        if least(self.step.size) > 0:
            return counts
        none = self.step.record("full", Constant(0), shape=(1,), dtype=counts.type.dtype)
        return self.step.record("concatenate", counts, none, axis=0)

    def _condition(self, flags: Sequence[bool]) -> tuple[Program, list[bool]]:
        assert self.ports.condition is not None
        given = [*(value.batched for value in self.constants), *flags]
        return _batched(self.step, self.inline, self.ports.condition, given)

    def _any_condition(self, flags: Sequence[bool]) -> Program:
        program, _ = self._condition(flags)
        types = [variable.type for variable in program.inputs]
        inner = _Inner(self.step, types, _names(program))
        (holds,) = inner.step.recorder.inline(program, inner.inputs)
        flat = inner.step.shaped(holds, self.step.size)
        goes_on = inner.step.record("any", flat, axis=(0,), keepdims=False)
        return inner.program(program.name, [goes_on])

    def _still_in_while(self, inner: _Inner, flags: Sequence[bool]) -> Atom:
        program, _ = self._condition(flags)
        (holds,) = inner.step.recorder.inline(program, inner.inputs)
        flat = inner.step.shaped(holds, self.step.size)
        if flat.type.dtype == np.bool_:
            return flat
        return inner.step.record("not_equal", flat, Constant(0))

    def _still_counting(self, inner: _Inner, flags: Sequence[bool]) -> Atom:
        counter = inner.inputs[1 + len(self.constants)]
        return inner.step.record("less", counter, inner.inputs[0])

    def _body_until(
        self,
        flags: Sequence[bool],
        found: Sequence[bool],
        still: Callable[[_Inner, Sequence[bool]], Atom],
        *more: Type,
    ) -> Program:
        """The body in which items that have ended keep their carried values; ``more`` are the types
        of constants that it has in front."""
        body, given = self.ports.body, self.flags(flags)
        types = [*more, *_types(body, given, self.step.size)]
        inner = _Inner(self.step, types, [*("counts" for _ in more), *_names(body)])
        own = list(map(Value, inner.inputs[len(more) :], given))
        first = len(self.constants) + (not self.ports.is_while)
        active = still(inner, flags)
        lent = own if is_harmless(body) else _lend(inner.step, active, own)
        outputs = self.inline(body, lent, self.step.size, inner.step.recorder)
        made: list[Atom] = []
        for at, (output, atom) in enumerate(zip(outputs, body.outputs, strict=True)):
            if at >= len(flags):
                made.append(output.atom)
                continue
            before = own[first + at].atom
            if output.atom == before:
                made.append(before)
                continue
            after = inner.step.spread(output, atom.type)
            made.append(_chosen(inner.step, active, after, before, atom.type))
        return inner.program(body.name, made)


STRUCTURED: Mapping[str, Callable[[Step, Inline], Sequence[Value]]] = MappingProxyType(
    {"call": _call, "cond": _cond, "loop": _loop}
)
