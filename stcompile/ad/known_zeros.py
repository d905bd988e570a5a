"""Zeros of cotangents that are known: where they come from, and which mask tells them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.parts import READS
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.control import NESTED, Ports


class Zero(enum.IntEnum):
    """Origins of zeros. They decide which factors are feared."""

    PART = 0
    """By a slice or an index: what is beside it. Parts of it are not followed, nor are loops."""
    VANISHED = 1
    """By the exponential of -inf."""
    BEATEN = 2
    """By a maximum or a bound that took something else."""
    CHOSEN = 3
    """By a choice of the user's."""


@dataclass(frozen=True)
class Choice:
    """A value that is ``value()`` where ``mask()`` is ``holds``, and 0 elsewhere. Both are recorded
    when they are asked for; ``source`` tells masks apart. ``inner`` are zeros of ``value()``."""

    mask: Callable[[], Atom]
    value: Callable[[], Atom]
    holds: bool
    source: object
    inner: Zeros | None = None


@dataclass(frozen=True)
class Zeros:
    """The zeros of a value: of a choice, if that is known; ``all`` if it has nothing else."""

    kind: Zero
    choice: Choice | None = None
    all: bool = False


NOTHING = Zeros(Zero.CHOSEN, all=True)
_MOVED = frozenset(
    {
        *("negative", "conjugate", "real", "imag", "cast", "copy", "asarray", "to_scalar", "roll"),
        *("to_python", "slice", "index"),
        *(name for name, primitive in PRIMITIVES.items() if primitive.view),
    }
)
"""Primitives of which each element of the result is one of the first operand."""
_SAME_MASK = frozenset({"negative", "conjugate", "real", "imag", "cast", "to_python"})
_VANISHING = frozenset({"exp", "exp2", "math.exp"})


class KnownZeros:
    """The zeros of the values of a program, and the equations that make these values. ``record``
    records an equation where one is needed to tell zeros."""

    def __init__(self, record: Callable[..., Variable]) -> None:
        self.record = record
        self.zeros: dict[Variable, Zeros] = {}
        self.makers: dict[Variable, Equation] = {}

    def of(self, atom: Atom) -> Zeros | None:
        if isinstance(atom, Constant):
            is_zero = atom.type.dtype.kind in "fc" and atom.value == 0
            return NOTHING if is_zero else None
        return self.zeros.get(atom)

    def note(self, equation: Equation) -> None:
        """Note the zeros of an equation's results."""
        self.makers.update(dict.fromkeys(equation.outputs, equation))
        if equation.primitive in NESTED:
            found = self._outputs(equation)
            self.zeros.update((o, z) for o, z in zip(equation.outputs, found, strict=True) if z)
        elif len(equation.outputs) == 1:
            zeros = self._found(equation)
            if zeros is not None:
                self.zeros[equation.output] = zeros

    def _found(self, equation: Equation) -> Zeros | None:
        name, inputs, out = equation.primitive, equation.inputs, equation.output
        if out.type.dtype.kind == "b":
            kind = Zero.BEATEN if equation.location.is_derived else Zero.CHOSEN
            return Zeros(kind, Choice(lambda: out, lambda: Constant(1.0), True, out))
        if name == "cast" and inputs[0].type.dtype.kind == "b":
            return self.of(inputs[0])
        if name in ("where", "select"):
            return self._choice(equation)
        if name in ("multiply", "divide"):
            return self._of_product(equation)
        if name in ("strong_product", "strong_quotient"):
            known = self.of(inputs[0])
            return Zeros(known.kind if known else Zero.CHOSEN)
        if name in ("add", "subtract") or (name, equation.params.get("op")) == (
            "accumulate",
            "add",
        ):
            return self._sum(equation, *map(self.of, inputs))
        zeros = self.of(inputs[0]) if inputs else None
        if name in _MOVED:
            return zeros and self._moved(equation, zeros)
        if name in ("sum", "cumsum"):
            return zeros and Zeros(zeros.kind, all=zeros.all)
        if name in _VANISHING:
            return Zeros(Zero.VANISHED)
        if name == "full":
            return NOTHING if isinstance(inputs[0], Constant) and inputs[0].value == 0 else zeros
        if name == "accumulate" and equation.params["op"] != "contract":
            return zeros and self._into(equation, zeros)
        if name in ("update", "index_update"):
            return self._updated(equation, zeros)
        if name in ("concatenate", "stack", "pad"):
            found = [z for z in map(self.of, inputs) if z is not None]
            if name == "pad" or found:
                return Zeros(Zero.PART, all=len(found) == len(inputs) and all(z.all for z in found))
        return None

    def _choice(self, equation: Equation) -> Zeros | None:
        condition, x, y = equation.inputs
        one, other = self.of(x), self.of(y)
        if one is not None and one.all:
            value, holds = y, False
        elif other is not None and other.all:
            value, holds = x, True
        else:
            return self._either(lambda: condition, one, other)
        inner = self.of(value)
        if (
            inner
            and inner.choice
            and (inner.choice.source, inner.choice.holds) == (condition, holds)
        ):
            return inner
        choice = Choice(lambda: condition, lambda: value, holds, condition, inner)
        return Zeros(self._kind(condition), choice)

    def _either(
        self, mask: Callable[[], Atom], one: Zeros | None, other: Zeros | None
    ) -> Zeros | None:
        """Find the zeros of a choice between two values: what neither of them has."""
        if one is None or other is None:
            return None
        kind, a, b = min(one.kind, other.kind), one.choice, other.choice
        if a is None or b is None or a.source != b.source or a.holds != b.holds:
            return Zeros(kind)

        def value() -> Atom:
            return self.record("where", mask(), a.value(), b.value())

        inner = self._either(mask, a.inner, b.inner)
        return Zeros(kind, replace(a, value=value, inner=inner))

    def _kind(self, condition: Atom) -> Zero:
        """The kind of a choice: a guard against 0, ``x == 0``, and a triangle of a rule fear poles
        alone."""
        made = self.makers.get(condition) if isinstance(condition, Variable) else None
        if made is None:
            return Zero.CHOSEN
        if made.location.is_derived:
            is_of_data = any(atom.type.inexact for atom in made.inputs)
            return Zero.BEATEN if is_of_data else Zero.PART
        is_guard = made.primitive == "equal" and made.inputs[1] in (Constant(0), Constant(0.0))
        return Zero.VANISHED if is_guard else Zero.CHOSEN

    def _of_product(self, equation: Equation) -> Zeros | None:
        """Find the zeros of a product: those of either factor."""
        x, y = equation.inputs
        for side, other in ((x, y), (y, x)):
            zeros = self.of(side)
            if zeros is None or (equation.primitive == "divide" and side is y):
                continue
            if zeros.choice is None:
                return Zeros(zeros.kind, all=zeros.all)
            return Zeros(zeros.kind, self._times(equation, zeros.choice, side is x, other))
        return None

    def _times(self, equation: Equation, choice: Choice, is_first: bool, other: Atom) -> Choice:
        def value() -> Atom:
            inner = choice.value()
            if isinstance(inner, Constant) and inner.value == 1 and is_plain:
                return other
            return self.record(
                equation.primitive, *((inner, other) if is_first else (other, inner))
            )

        is_plain = (
            equation.primitive == "multiply" and other.type.dtype == equation.output.type.dtype
        )
        inner = choice.inner
        if inner is not None and inner.choice:
            inner = replace(inner, choice=self._times(equation, inner.choice, is_first, other))
        elif inner is None and equation.primitive == "multiply":
            known = self.of(other)
            inner = known and replace(known, choice=None)
        return replace(choice, value=value, inner=inner)

    def _sum(self, equation: Equation, one: Zeros | None, other: Zeros | None) -> Zeros | None:
        """Find the zeros of a sum: those of both terms."""
        if one is None or other is None:
            return None
        if one.all or other.all:
            known = other if one.all else one
            is_same = known.all or not (one.all and equation.primitive == "subtract")
            return known if is_same else Zeros(known.kind)
        a, b = one.choice, other.choice
        kind = min(one.kind, other.kind)
        if a is None or b is None or a.source != b.source:
            return Zeros(kind)
        if a.holds != b.holds:  # what one term has not chosen, the other has
            if equation.primitive != "subtract" and equation.output.type.kind == "array":
                return self._either(
                    a.mask, *((a.inner, b.inner) if a.holds else (b.inner, a.inner))
                )
            return a.inner and b.inner and Zeros(min(a.inner.kind, b.inner.kind))

        def value() -> Atom:
            return self.record(equation.primitive, a.value(), b.value(), **equation.params)

        inner = self._sum(equation, a.inner, b.inner)
        return Zeros(kind, replace(a, value=value, inner=inner))

    def _moved(self, equation: Equation, zeros: Zeros) -> Zeros | None:
        choice = zeros.choice
        if zeros.kind == Zero.PART and equation.primitive in READS:
            return None
        if choice is None:
            return zeros
        dims = equation.inputs[0].type.dims

        def moved(inner: Atom, with_mask: bool) -> Atom:
            if with_mask and equation.primitive in _SAME_MASK:
                return inner
            if dims and inner.type.dims != dims:
                inner = self.record("broadcast_to", inner, shape=dims)
            inputs = (inner, *equation.inputs[1:])
            return self.record(equation.primitive, *inputs, **equation.params)

        mask, value = choice.mask, choice.value
        changed = replace(
            choice,
            mask=lambda: moved(mask(), True),
            value=lambda: moved(value(), False),
            source=(equation.output, choice.source),
            inner=choice.inner and self._moved(equation, choice.inner),
        )
        return replace(zeros, choice=changed)

    def _into(self, equation: Equation, zeros: Zeros) -> Zeros | None:
        """Find the zeros of an array to a part of which a value is added."""
        added = self.of(equation.inputs[1])
        if added is None and equation.inputs[1].type.dims == equation.output.type.dims:
            return None
        is_nothing = zeros.all and added is not None and added.all
        if equation.params["op"] == "distinct":  # a mask
            return Zeros(Zero.CHOSEN if zeros.all else zeros.kind, all=is_nothing)
        kinds = [z.kind for z in (zeros, added) if z is not None and not z.all]
        kind = Zero.VANISHED if Zero.VANISHED in kinds else Zero.PART
        return Zeros(kind, all=is_nothing)

    def _updated(self, equation: Equation, zeros: Zeros | None) -> Zeros | None:
        """Find the zeros of an array of which a part is written."""
        array, written, *rest = equation.inputs
        new = self.of(written)
        if new is None or not new.all:
            return Zeros(Zero.PART) if zeros is not None else None
        if len(rest) == 1 and rest[0].type.dtype.kind == "b":
            (mask,) = rest
            if mask.type.dims == array.type.dims and zeros is None:
                return Zeros(Zero.CHOSEN, Choice(lambda: mask, lambda: array, False, mask))
        return Zeros(Zero.PART)

    # --- branches and loops --------------------------------------------------------------------

    def at_entry(self, atom: Atom) -> Zeros | None:
        """The zeros of an operand of a sub-program, whose masks are not known there."""
        zeros = self.of(atom)
        return zeros and replace(zeros, choice=None)

    def at_step(self, ports: Ports, carry: Sequence[Zeros | None]) -> list[Zeros | None]:
        """The zeros of the inputs of a loop's body."""
        counter = [] if ports.is_while else [None]
        constants, xs = map(self.at_entry, ports.constants), map(self.at_entry, ports.xs)
        return [*constants, *counter, *carry, *xs]

    def carried(self, ports: Ports) -> list[Zeros | None]:
        """Find the zeros that a carry has in every step."""
        found = [self.at_entry(atom) for atom in ports.carry]
        while True:
            results = self._through(ports.body, self.at_step(ports, found))
            joined = [
                one if one == other else _after(one, other)
                for one, other in zip(found, results, strict=False)
            ]
            if joined == found:
                return found
            found = joined

    def _outputs(self, equation: Equation) -> list[Zeros | None]:
        """Find the zeros of the results of a branch or a loop."""
        if equation.primitive == "cond":
            known = [self.at_entry(atom) for atom in equation.inputs[1:]]
            arms = (equation.params["then"], equation.params["otherwise"])
            return list(map(_either, *(self._through(arm, known) for arm in arms)))
        ports = Ports.of(equation)
        carry = self.carried(ports)
        return [*carry, *self._through(ports.body, self.at_step(ports, carry))[len(carry) :]]

    def _through(self, program: Program, known: Sequence[Zeros | None]) -> list[Zeros | None]:
        """Find the zeros of a program's outputs."""
        inner = KnownZeros(self.record)
        inner.zeros.update((v, z) for v, z in zip(program.inputs, known, strict=True) if z)
        for equation in program.equations:
            inner.note(equation)
        return [inner.at_entry(atom) for atom in program.outputs]


def _either(one: Zeros | None, other: Zeros | None) -> Zeros | None:
    """Join the zeros of two values, of which a branch takes the first or the second."""
    known = [zeros for zeros in (one, other) if zeros is not None]
    if not known:
        return None
    kind = min(Zero.BEATEN, *(z.kind for z in known))
    return Zeros(kind, all=len(known) == 2 and all(z.all for z in known))


def _after(one: Zeros | None, other: Zeros | None) -> Zeros | None:
    """Join the zeros of a carry before and after a step."""
    if one is None or other is None:
        return None
    kinds = [zeros.kind for zeros in (one, other) if not zeros.all]
    kind = min(kinds, default=Zero.PART)
    if Zero.VANISHED in kinds:  # it may be in a part of an array
        kind = Zero.VANISHED
    is_all = one.all and other.all
    return Zeros(kind, all=is_all) if is_all or kind > Zero.PART else None


def innermost(zeros: Zeros) -> Zeros | None:
    """The zeros within all choices: those that no mask tells."""
    found: Zeros | None = zeros
    while found is not None and found.choice is not None:
        found = found.choice.inner
    return found
