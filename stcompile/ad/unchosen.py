"""Zeros of cotangents: what was not chosen has none, whatever it is multiplied by.

``np.where(x > 0, np.sqrt(x), 0.0)`` does not choose the root at 0, and its adjoint multiplies the
zero there by the derivative of a root, which is infinite: 0 * inf is NaN. A choice that meets a
factor is therefore moved behind it, which changes nothing else and costs nothing:

    d: where(c, g, 0.0)                     v: multiply(g, f)
    d_x: multiply(d, f)                     d_x: where(c, v, 0.0)

Where no mask tells the zeros, as of sums over uses and of what a loop carries, the product is one
whose zeros win: a *strong* zero, as in the automatic differentiation of Julia (ChainRules, "strong
zero"). Either is done only where the factor may be infinite or NaN (`stcompile.analysis.finite`);
how much is feared depends on where the zeros come from (`Zero`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from stcompile.analysis.finite import INPUT, Limit, Reach, Reaches
from stcompile.base.location import Location
from stcompile.wengert.dims import broadcast
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.naming import name_variables, names_of
from stcompile.wengert.parts import READS
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.control import NESTED, Ports
from stcompile.wengert.recorder import Recorder


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


_TRUSTED = {
    Zero.PART: Limit.LARGE,
    Zero.VANISHED: Limit.LARGE,
    Zero.BEATEN: Limit.PLAIN,
    Zero.CHOSEN: Limit.BOUNDED,
}
"""The factors that zeros are multiplied by as they are."""


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


def keep_zeros_of_tangents(
    recorder: Recorder, equations: Sequence[Equation], tangents: Sequence[Variable]
) -> list[Equation]:
    """The equations of values and their tangents, with products whose zeros stay zeros."""
    walk = _Walk(recorder, Reaches((), {}))
    walk.moving.update(tangents)
    return walk.run(equations)


def keep_zeros(
    recorder: Recorder,
    primal: Sequence[Equation],
    adjoint: Sequence[Equation],
    cotangents: Sequence[Atom] = (),
) -> list[Equation]:
    """The equations of an adjoint with products whose zeros stay zeros. ``cotangents`` are given
    from outside; others begin with the seed, 1."""
    walk = _Walk(recorder, Reaches(list(primal), {}))
    walk.moving.update(atom for atom in cotangents if isinstance(atom, Variable))
    for equation in primal:
        walk.note(equation)
    return walk.run(adjoint)


class _Walk:
    """The walk over an adjoint: ``moving`` depend on a cotangent, ``zeros`` has what is known of
    zeros, ``made`` are the new equations."""

    def __init__(self, recorder: Recorder, reaches: Reaches) -> None:
        self.recorder = recorder
        self.reaches = reaches
        self.moving: set[Variable] = set()
        self.zeros: dict[Variable, Zeros] = {}
        self.makers: dict[Variable, Equation] = {}
        self.made: list[Equation] = []
        self.location: Location

    def run(self, equations: Sequence[Equation]) -> list[Equation]:
        with self.recorder.aside() as made:
            self.made = made
            self.reaches = Reaches(_Both(self.reaches.equations, made), self.reaches.known)
            for equation in equations:
                self.visit(equation)
        return made

    def visit(self, equation: Equation) -> None:
        self.location = equation.location
        is_moving = any(map(self.is_moving, equation.inputs)) or _is_seeded(equation)
        if is_moving:
            self.moving.update(o for o in equation.outputs if o.type.inexact)
            if equation.primitive in ("multiply", "divide") and self.product(equation):
                return
            equation = self.inside(equation)
        self.made.append(equation)
        self.recorder.note(equation)
        self.note(equation)

    def is_moving(self, atom: Atom) -> bool:
        return isinstance(atom, Variable) and atom in self.moving

    def zeros_of(self, atom: Atom) -> Zeros | None:
        if isinstance(atom, Constant):
            is_zero = atom.type.dtype.kind in "fc" and atom.value == 0
            return NOTHING if is_zero else None
        return self.zeros.get(atom)

    # --- products ------------------------------------------------------------------------------

    def product(self, equation: Equation) -> bool:
        """Record a product of a cotangent that has zeros with a factor that may be infinite; False
        if there is no need."""
        x, y = equation.inputs
        sides = ((x, y),) if equation.primitive == "divide" else ((x, y), (y, x))
        for vector, factor in sides:
            if self._is_masked(equation, vector, factor):
                return True
            zeros = self.zeros_of(vector) if self.is_moving(vector) else None
            if zeros is None or not self._fears(zeros, equation, factor):
                continue
            is_array = equation.output.type.kind == "array"
            innermost = _innermost(zeros)
            if innermost is not None and self._fears(innermost, equation, factor):
                return self._strong(equation, zeros, vector, factor)
            if zeros.choice and is_array and self._choose(equation, zeros, vector, factor):
                return True
            return self._strong(equation, zeros, vector, factor)
        return False

    def _is_masked(self, equation: Equation, vector: Atom, mask: Atom) -> bool:
        """Record the product of a cotangent that may be infinite with a mask: a choice, or a
        product in which the zeros of the mask win."""
        zeros = None if self.is_moving(mask) or mask == vector else self.zeros_of(mask)
        if equation.primitive != "multiply" or not self.is_moving(vector):
            return False
        if zeros is None or zeros.all:
            return False
        out = equation.output
        limit = self.reaches[vector].limit
        is_feared = limit >= Limit.LARGE and zeros.kind >= Zero.BEATEN
        if equation.location.section == "tangent":  # of what vanished there is no tangent
            is_feared |= limit >= Limit.WILD and zeros.kind == Zero.VANISHED
        if not is_feared or vector.type.dtype != out.type.dtype:
            return False
        if mask.type.dtype.kind == "b" and zeros.choice and out.type.kind == "array":
            choice = replace(zeros.choice, value=lambda: vector, inner=self.zeros_of(vector))
            self.zeros[out] = Zeros(zeros.kind, choice)
            return self._chosen(out, True, mask, vector)
        if mask.type.dtype != out.type.dtype:
            return False
        self.zeros[out] = Zeros(zeros.kind)
        return self._as(out, "strong_product", mask, vector)

    def _fears(self, zeros: Zeros, equation: Equation, factor: Atom) -> bool:
        reach = self.reaches[factor]
        limit = reach.limit
        if equation.primitive == "divide":
            is_parameter = not factor.type.dims and limit <= Limit.PLAIN
            if not is_parameter or zeros.kind >= Zero.BEATEN:
                limit = max(limit, self.reaches.by(factor, reach))
        return limit > _TRUSTED[zeros.kind]

    def _choose(self, equation: Equation, zeros: Zeros, vector: Atom, factor: Atom) -> bool:
        """Choose after the product instead of before it."""
        choice, out = zeros.choice, equation.output
        assert choice is not None
        mask, value = choice.mask(), choice.value()
        if broadcast(mask.type.dims, out.type.dims) != out.type.dims:
            return False
        operands = (value, factor) if equation.inputs[0] is vector else (factor, value)
        product = self.record(equation.primitive, *operands)
        made = self.made.pop()
        if choice.inner is not None and isinstance(value, Variable):
            self.moving.add(value)
            self.zeros[value] = choice.inner
        if choice.inner is None or not self.product(made):
            self.made.append(made)
            self.note(made)
        inner = self.zeros_of(product)
        self.zeros[out] = Zeros(
            zeros.kind, replace(choice, mask=lambda: mask, value=lambda: product, inner=inner)
        )
        return self._chosen(out, choice.holds, mask, product)

    def _chosen(self, out: Variable, holds: bool, mask: Atom, product: Atom) -> bool:
        zero = Constant(0.0)
        return self._as(out, "where", mask, *((product, zero) if holds else (zero, product)))

    def _strong(self, equation: Equation, zeros: Zeros, vector: Atom, factor: Atom) -> bool:
        primitive = "strong_quotient" if equation.primitive == "divide" else "strong_product"
        made = self.makers.get(factor) if isinstance(factor, Variable) else None
        is_product = made is not None and equation.primitive == "multiply"
        if made and is_product and _is_reciprocal(made):
            primitive, factor = "strong_quotient", made.inputs[1]
        self.zeros[equation.output] = Zeros(zeros.kind)
        return self._as(equation.output, primitive, vector, factor)

    def _as(self, out: Variable, primitive: str, *inputs: Atom) -> bool:
        """Record what a variable is from now on, if it has its type."""
        variable = self.record(primitive, *inputs)
        made = self.made.pop()
        if variable.type != out.type:
            return False
        made = replace(made, outputs=(out,))
        self.made.append(made)
        self.makers[out] = made
        return True

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        (output,) = self.recorder.record(primitive, inputs, self.location, params)
        return output

    # --- what is known of results --------------------------------------------------------------

    def note(self, equation: Equation) -> None:
        """Note the zeros of an equation's results."""
        self.makers.update(dict.fromkeys(equation.outputs, equation))
        if equation.primitive in NESTED:
            found = _outputs(self, equation)
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
            return self.zeros_of(inputs[0])
        if name in ("where", "select"):
            return self._choice(equation)
        if name in ("multiply", "divide"):
            return self._of_product(equation)
        if name in ("strong_product", "strong_quotient"):
            known = self.zeros_of(inputs[0])
            return Zeros(known.kind if known else Zero.CHOSEN)
        if name in ("add", "subtract") or (name == "accumulate" and _adds_all(equation)):
            return self._sum(equation, *map(self.zeros_of, inputs))
        zeros = self.zeros_of(inputs[0]) if inputs else None
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
            found = [z for z in map(self.zeros_of, inputs) if z is not None]
            if name == "pad" or found:
                return Zeros(Zero.PART, all=len(found) == len(inputs) and all(z.all for z in found))
        return None

    def _choice(self, equation: Equation) -> Zeros | None:
        condition, x, y = equation.inputs
        one, other = self.zeros_of(x), self.zeros_of(y)
        if one is not None and one.all:
            value, holds = y, False
        elif other is not None and other.all:
            value, holds = x, True
        else:
            return self._either(lambda: condition, one, other)
        inner = self.zeros_of(value)
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
            zeros = self.zeros_of(side)
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
            known = self.zeros_of(other)
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
        added = self.zeros_of(equation.inputs[1])
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
        new = self.zeros_of(written)
        if new is None or not new.all:
            return Zeros(Zero.PART) if zeros is not None else None
        if len(rest) == 1 and rest[0].type.dtype.kind == "b":
            (mask,) = rest
            if mask.type.dims == array.type.dims and zeros is None:
                return Zeros(Zero.CHOSEN, Choice(lambda: mask, lambda: array, False, mask))
        return Zeros(Zero.PART)

    # --- branches and loops --------------------------------------------------------------------

    def inside(self, equation: Equation) -> Equation:
        """The equation with products whose zeros stay, in its sub-programs."""
        if equation.primitive == "cond":
            operands = equation.inputs[1:]
            arms = {
                way: self._program(equation.params[way], operands) for way in ("then", "otherwise")
            }
            return _with(equation, arms)
        if equation.primitive == "loop":
            ports = Ports.of(equation)
            carry = _carried(self, ports)
            reach = self.reaches.of_body(ports, [self.reaches[a] for a in ports.results])
            facts = _facts_of_body(self, ports, carry)
            return _with(equation, {"body": self._inner(ports.body, facts, reach)})
        return equation

    def _program(self, program: Program, operands: Sequence[Atom]) -> Program:
        facts = [_fact(self, atom) for atom in operands]
        return self._inner(program, facts, [self.reaches[atom] for atom in operands])

    def _inner(self, program: Program, facts: Sequence[_Fact], reach: Sequence[Reach]) -> Program:
        walk = _inner_walk(program, facts, reach)
        made = walk.run(program.equations)
        if all(new is old for new, old in zip(made, program.equations, strict=False)):
            return program
        new = replace(program, equations=tuple(made))
        names = {v: name for v, name in names_of(new).items() if not name.startswith("%")}
        return name_variables(new, names)


class _Fact(NamedTuple):
    """Facts about an operand of a sub-program."""

    is_moving: bool
    zeros: Zeros | None


def _fact(walk: _Walk, atom: Atom) -> _Fact:
    zeros = walk.zeros_of(atom)
    is_number = isinstance(atom, Constant) and atom.type.inexact  # a seed, it may be
    return _Fact(is_number or walk.is_moving(atom), zeros and replace(zeros, choice=None))


def _inner_walk(program: Program, facts: Sequence[_Fact], reach: Sequence[Reach]) -> _Walk:
    walk = _Walk(Recorder(program), Reaches((), dict(zip(program.inputs, reach, strict=True))))
    for variable, fact in zip(program.inputs, facts, strict=True):
        if fact.is_moving and variable.type.inexact:
            walk.moving.add(variable)
        if fact.zeros is not None:
            walk.zeros[variable] = fact.zeros
    return walk


def _zeros_through(program: Program, facts: Sequence[_Fact]) -> list[Zeros | None]:
    """Find the zeros of a program's outputs."""
    walk = _inner_walk(program, facts, [INPUT] * len(facts))
    for equation in program.equations:
        walk.note(equation)
    found = map(walk.zeros_of, program.outputs)
    return [zeros and replace(zeros, choice=None) for zeros in found]


def _outputs(walk: _Walk, equation: Equation) -> list[Zeros | None]:
    """Find the zeros of the results of a branch or a loop."""
    if equation.primitive == "cond":
        facts = [_fact(walk, atom) for atom in equation.inputs[1:]]
        arms = (equation.params["then"], equation.params["otherwise"])
        return list(map(_either, *(_zeros_through(arm, facts) for arm in arms)))
    ports = Ports.of(equation)
    carry = _carried(walk, ports)
    ys = _zeros_through(ports.body, _facts_of_body(walk, ports, carry))[len(carry) :]
    return [*carry, *ys]


def _either(one: Zeros | None, other: Zeros | None) -> Zeros | None:
    """Join the zeros of two values, of which a branch takes the first or the second."""
    known = [zeros for zeros in (one, other) if zeros is not None]
    if not known:
        return None
    kind = min(Zero.BEATEN, *(z.kind for z in known))
    return Zeros(kind, all=len(known) == 2 and all(z.all for z in known))


def _carried(walk: _Walk, ports: Ports) -> list[Zeros | None]:
    """Find the zeros that a carry has in every step."""
    found = [_fact(walk, atom).zeros for atom in ports.carry]
    while True:
        results = _zeros_through(ports.body, _facts_of_body(walk, ports, found))
        joined = [
            one if one == other else _after(one, other)
            for one, other in zip(found, results, strict=False)
        ]
        if joined == found:
            return found
        found = joined


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


def _facts_of_body(walk: _Walk, ports: Ports, carry: Sequence[Zeros | None]) -> list[_Fact]:
    counter = [] if ports.is_while else [_Fact(False, None)]
    moving = [_fact(walk, atom).is_moving for atom in ports.carry]
    return [
        *(_fact(walk, atom) for atom in ports.constants),
        *counter,
        *map(_Fact, moving, carry),
        *(_fact(walk, atom) for atom in ports.xs),
    ]


def _innermost(zeros: Zeros) -> Zeros | None:
    """The zeros within all choices: those that no mask tells."""
    found: Zeros | None = zeros
    while found is not None and found.choice is not None:
        found = found.choice.inner
    return found


def _with(equation: Equation, programs: Mapping[str, Program]) -> Equation:
    if all(equation.params[name] is program for name, program in programs.items()):
        return equation
    return replace(equation, params=freeze({**equation.params, **programs}))


def _is_seeded(equation: Equation) -> bool:
    """True for an equation that takes the number 1.0, the cotangent of the value itself."""
    return equation.location.section == "adjoint" and any(
        isinstance(a, Constant) and a.type.inexact and a.value == 1 for a in equation.inputs
    )


def _is_reciprocal(equation: Equation) -> bool:
    ones = (Constant(1), Constant(1.0))
    return equation.primitive == "divide" and equation.inputs[0] in ones


def _adds_all(equation: Equation) -> bool:
    return bool(equation.params["op"] == "add")


class _Both(Sequence[Equation]):
    """Two lists of equations, one after the other; the second one may grow."""

    def __init__(self, first: Sequence[Equation], second: Sequence[Equation]) -> None:
        self.first, self.second = first, second

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    def __getitem__(self, at: Any) -> Any:
        return self.first[at] if at < len(self.first) else self.second[at - len(self.first)]
