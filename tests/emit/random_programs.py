"""Random programs with branches and loops in any nesting, for whoever must keep their meaning.

The arrays are few and small, and most equations write to them, view them or hand them on: what
matters is who shares storage with whom, and when.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from stcompile.base.location import Location
from stcompile.wengert.ir import Atom, Constant, Program, Variable
from stcompile.wengert.primitives.control import undefined
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type

VECTOR = Type.array("float64", (3,))
PAIR = Type.array("float64", (2,))
MATRIX = Type.array("float64", (2, 3))
NUMBER = Type.scalar("float64")
INTEGER = Type.python(int)
FLAG = Type.scalar("bool")
WHOLE = Type.array("int64", (3,))
SMALL = Type.array("uint8", (3,))
MASK = Type.array("bool", (3,))
STACK = Type.stack(VECTOR)  # as many as `n`, the program's only count
ARRAYS = (VECTOR, PAIR, MATRIX, WHOLE, SMALL, MASK)
ALL = (*ARRAYS, NUMBER, INTEGER, FLAG, STACK)

NAMES = ("", "", "", "h", "h", "y")
Choose = Callable[[int], int]  # a number from 0 up to, but without, another


class Builder:
    """Builds one program; ``choose`` decides about everything."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.line = 0
        self.left = 40  # equations

    def program(self) -> Program:
        scope = Scope(self, Recorder())
        inputs = tuple(
            scope.recorder.variable(type, name)
            for name, type in zip("xwmsn", (VECTOR, VECTOR, MATRIX, NUMBER, INTEGER), strict=True)
        )
        x, scope.stored, m, s, scope.count = inputs
        for variable in (x, m, s, scope.count):
            scope.know(variable)
        scope.fill(12, depth=0)
        outputs = tuple(scope.some(scope.any_type()) for _ in range(1 + self.choose(5)))
        return scope.recorder.program("f", inputs, outputs)

    def pick(self, items: Any) -> Any:
        return items[self.choose(len(items))]


class Scope:
    """One program that is being built, and what may be read in it."""

    def __init__(self, builder: Builder, recorder: Recorder) -> None:
        self.builder = builder
        self.choose, self.pick = builder.choose, builder.pick
        self.recorder = recorder
        self.known: dict[Type, list[Atom]] = {}
        self.count: Variable
        self.stored: Variable

    def know(self, atom: Atom) -> None:
        self.known.setdefault(atom.type, []).append(atom)

    def any_type(self) -> Type:
        return self.pick([type for type in ALL if self.known.get(type)])

    def some(self, type: Type) -> Atom:
        """A value of a type: rather a late one, else a new one."""
        known = self.known.get(type, [])
        if known and self.choose(12):
            return known[-1 - min(self.choose(len(known)), self.choose(len(known)))]
        if type == NUMBER:
            return Constant(np.float64(self.choose(4) - 1))
        if type == INTEGER:
            return Constant(self.choose(4))
        if type == FLAG:
            return self.record("greater", self.some(NUMBER), Constant(0.5))
        if type == STACK:
            return self.pick(known)
        if type in (WHOLE, SMALL, MASK):
            value = Constant(type.dtype.type(self.choose(3)))
            return self.record("full", value, shape=type.dims, dtype=type.dtype)
        return self.record("full", self.some(NUMBER), shape=type.dims, dtype=type.dtype)

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Atom:
        outputs = self.record_all(primitive, inputs, params)
        return outputs[0] if outputs else Constant(0)

    def record_all(
        self, primitive: str, inputs: tuple[Atom, ...], params: dict[str, Any]
    ) -> tuple[Variable, ...]:
        self.builder.line += not self.choose(6)
        line = self.builder.line
        where = Location("m.py", line, text=f"line {line}", statement=line)
        outputs = self.recorder.record(primitive, inputs, where, params)
        for output in outputs:
            if hint := self.pick(NAMES):
                self.recorder.hints[output] = hint
            if output.type in ALL:
                self.know(output)
        return outputs

    # --- equations -----------------------------------------------------------------------------

    def fill(self, most: int, depth: int) -> None:
        """Record some equations, with control flow among them."""
        for _ in range(1 + self.choose(most)):
            self.builder.left -= 1
            kind = self.choose(10) if depth < 3 and self.builder.left > 0 else 9
            if kind == 0:
                self.branch(depth)
            elif kind < 3:
                self.loop(depth)
            elif kind == 3 and depth < 2:
                self.guarded(depth)
            else:
                self.pick(self.EQUATIONS)(self)

    def add(self) -> None:
        type = self.pick((VECTOR, PAIR, MATRIX, NUMBER))
        self.record(self.pick(("add", "subtract", "maximum")), self.some(type), self.some(type))

    def scale(self) -> None:
        self.record("multiply", self.some(self.pick((VECTOR, MATRIX, NUMBER))), self.some(NUMBER))

    def compare(self) -> None:
        type = self.pick((NUMBER, NUMBER, VECTOR, WHOLE, SMALL))
        self.record(self.pick(("less", "greater", "not_equal")), self.some(type), self.some(type))

    def whole(self) -> None:
        """An array of integers or booleans."""
        kind = self.choose(6)
        if kind == 0:
            self.record("cast", self.some(self.pick((MASK, WHOLE))), dtype=SMALL.dtype)
        elif kind == 1:
            self.record("cast", self.some(self.pick((MASK, SMALL))), dtype=WHOLE.dtype)
        elif kind == 2:
            type = self.pick((WHOLE, SMALL))
            primitive = self.pick(("add", "subtract", "multiply", "maximum", "bitwise_and"))
            self.record(primitive, self.some(type), self.some(type))
        elif kind == 3:
            primitive = self.pick(("logical_and", "bitwise_or", "bitwise_xor", "maximum"))
            self.record(primitive, self.some(MASK), self.some(MASK))
        elif kind == 4:
            self.record("where", self.some(MASK), self.some(VECTOR), self.some(VECTOR))
        else:
            self.record("multiply", self.some(self.pick((MASK, WHOLE))), self.some(VECTOR))

    def total(self) -> None:
        self.record("sum", self.some(VECTOR), axis=(0,), keepdims=False)

    def copied(self) -> None:
        self.record("copy", self.some(self.pick((VECTOR, MATRIX, WHOLE, MASK))))

    def spread(self) -> None:
        self.record("broadcast_to", self.some(NUMBER), shape=(3,))

    def view(self) -> None:
        kind = self.choose(5)
        if kind == 0:
            self.slice(self.some(VECTOR), (2,), (3,), (-1,))
        elif kind == 1:
            self.slice(self.some(VECTOR), (1,), (2,), (1,))
        elif kind == 2:
            self.slice(self.some(MATRIX), (self.choose(2), 0), (1, 3), (1, 1), (0,))
        elif kind == 3:
            self.slice(self.some(VECTOR), (self.choose(3),), (1,), (1,), (0,))
        else:
            at = ("index",)
            self.record("index", self.some(MATRIX), Constant(self.choose(2)), at=at)

    def slice(self, x: Atom, start: Any, length: Any, step: Any, drop: Any = ()) -> None:
        starts = tuple((first,) for first in start)
        self.record("slice", x, start=starts, length=length, step=step, drop=drop)

    def write(self) -> None:
        kind = self.choose(7)
        if kind == 6:
            type, at = self.pick((WHOLE, SMALL, MASK)), ("index",)
            value = Constant(type.dtype.type(self.choose(3)))
            self.record("index_update", self.some(type), value, Constant(self.choose(3)), at=at)
        elif kind < 3:
            first, drop = self.choose(2), (0,) if kind else ()
            params = {"start": ((first,),), "length": (1 if kind else 2,), "step": (1,)}
            params["drop"] = drop
            x, v = self.some(VECTOR), self.some(NUMBER)
            if kind == 1:
                self.record("accumulate", x, v, op="slice", **params)
            else:
                self.record("update", x, v, **params)
        elif kind == 3:
            at = ("index",)
            self.record("index_update", self.some(MATRIX), self.some(VECTOR), Constant(1), at=at)
        else:
            type = self.pick((VECTOR, VECTOR, PAIR, MATRIX, NUMBER, STACK, WHOLE, SMALL))
            if type != STACK or self.known.get(STACK):
                self.record("accumulate", self.some(type), self.some(type), op="add")

    def effect(self) -> None:
        if self.choose(2):
            parts = ("at", None)
            self.record("print", self.some(self.pick((NUMBER, VECTOR))), parts=parts)
        else:
            self.record("store", self.stored, self.some(VECTOR))

    EQUATIONS = (
        add,
        scale,
        compare,
        whole,
        whole,
        total,
        copied,
        spread,
        view,
        view,
        write,
        write,
        write,
        effect,
    )

    # --- control flow --------------------------------------------------------------------------

    def inside(self, variables: list[Variable], own: list[Variable]) -> Scope:
        """A scope for a sub-program, which knows some values of this one."""
        inner = Scope(self.builder, Recorder())
        inner.stored, inner.count, *rest = (inner.variable(v.type) for v in variables)
        for old, new in zip(variables, (inner.stored, inner.count, *rest), strict=True):
            hint = self.recorder.hints.get(old, "")
            inner.recorder.hints[new] = (
                hint if self.choose(2) else inner.recorder.hints.get(new, "")
            )
        inner.operands = [inner.stored, inner.count, *rest]
        inner.own = [inner.variable(v.type) for v in own]
        for variable in (inner.count, *rest, *inner.own):
            if variable.type in ALL:
                inner.know(variable)
        return inner

    operands: list[Variable]
    own: list[Variable]

    def variable(self, type: Type) -> Variable:
        return self.recorder.variable(type, self.pick(NAMES))

    def closed(self, outputs: list[Atom]) -> Program:
        inputs = (*self.operands, *self.own)
        return self.recorder.program("part", inputs, tuple(outputs))

    def seen(self) -> list[Variable]:
        """Variables to be known in a sub-program."""
        known = [v for atoms in self.known.values() for v in atoms if isinstance(v, Variable)]
        chosen = [self.pick(known) for _ in range(self.choose(5))]
        return list(dict.fromkeys([self.stored, self.count, *chosen]))

    def branch(self, depth: int) -> None:
        operands = self.seen()
        types = [self.any_type() for _ in range(self.choose(4))]
        arms = []
        for _ in range(2):
            arm = self.inside(operands, [])
            if self.choose(4):
                arm.fill(4, depth + 1)
            types = [type for type in types if type != STACK or arm.known.get(STACK)]
            arms.append(arm)
        swapped = dict(zip(arms[0].operands, arms[1].operands, strict=True))
        first = [arms[0].some(type) for type in types]
        second = [arms[1].some(type) for type in types]
        if len(set(types)) < len(types) and self.choose(2):  # the other way round
            second = [swapped.get(atom, new) for atom, new in zip(first, second, strict=True)]
            for one, other in itertools.combinations(range(len(types)), 2):
                if types[one] == types[other]:
                    second[one], second[other] = second[other], second[one]
        params = {"then": arms[0].closed(first), "otherwise": arms[1].closed(second)}
        self.record_all("cond", (self.some(FLAG), *operands), params)

    def guarded(self, depth: int) -> None:
        """A value that one arm leaves undefined, and that another branch reads if it is not."""
        predicate, operands = self.some(FLAG), self.seen()
        type = self.pick((VECTOR, NUMBER))
        then, otherwise = self.inside(operands, []), self.inside(operands, [])
        then.fill(3, depth + 1)
        params = undefined(type)
        nothing = otherwise.recorder.record("undef", (), Location("m.py", 0), params)
        programs = {
            "then": then.closed([then.some(type)]),
            "otherwise": otherwise.closed([*nothing]),
        }
        inputs = (predicate, *operands)
        (value,) = self.recorder.record("cond", inputs, Location("m.py", 0), programs)
        if self.choose(2):
            self.fill(2, depth + 1)
        operands = [*self.seen(), value]
        then, otherwise = self.inside(operands, []), self.inside(operands, [])
        otherwise.known[type].remove(otherwise.operands[-1])
        then.fill(3, depth + 1)
        programs = {
            "then": then.closed([then.some(type)]),
            "otherwise": otherwise.closed([otherwise.some(type)]),
        }
        self.record_all("cond", (predicate, *operands), programs)

    def loop(self, depth: int) -> None:
        kind = self.choose(3)  # static, counted, while
        constants = self.seen()
        carried = [self.some(self.any_type()) for _ in range(self.choose(5))]
        if carried and not self.choose(3):
            carried.append(carried[0])
        length = self.pick((0, 1, 2, 2, 3, 3, 4)) if kind == 0 else None
        sources: list[Atom] = []
        if kind == 0:
            wanted = {2: MATRIX, 3: VECTOR}.get(length or 0)
            sources = [self.some(wanted)] if wanted and self.choose(2) else []
        elif kind == 1 and self.known.get(STACK):
            sources = [self.some(STACK) for _ in range(self.choose(3))]
        if kind == 2:
            carried = [Constant(self.choose(3)), *carried]
        counter = [] if kind == 2 else [INTEGER]
        items = [NUMBER if s.type == VECTOR else VECTOR for s in sources]
        types = [*counter, *(atom.type for atom in carried), *items]
        own = [Variable("", type) for type in types]
        body = self.inside(constants, own)
        if self.choose(6):
            body.fill(5, depth + 1)
        first = len(counter)
        finals = [body.final(variable) for variable in body.own[first : first + len(carried)]]
        if len(finals) > 1 and finals[0].type == finals[1].type and self.choose(2):
            finals[0], finals[1] = finals[1], finals[0]
        params: dict[str, Any] = {"constants": len(constants), "carry": len(carried)}
        if kind == 2:
            step = Constant(1)
            finals[0] = body.record("add", body.own[0], step)
            params["condition"] = self.condition(constants, carried, depth)
        ys = [body.some(body.pick((VECTOR, NUMBER))) for _ in range(self.choose(3))]
        ys = [_as_vector(body, y) if kind == 1 else y for y in ys] if kind != 2 else []
        params |= {"length": length, "body": body.closed([*finals, *ys])}
        if kind != 2:
            params["reverse"] = bool(self.choose(2))
        count = [self.count] if kind == 1 else []
        inputs = (*count, *constants, *carried, *sources)
        self.record_all("loop", inputs, params)

    def final(self, variable: Variable) -> Atom:
        """What a step hands on for a variable: a new value, another one, or itself."""
        return self.some(variable.type) if self.choose(5) else variable

    def condition(self, constants: list[Variable], carried: list[Atom], depth: int) -> Program:
        own = [Variable("", atom.type) for atom in carried]
        scope = self.inside(constants, own)
        if not self.choose(4):
            scope.fill(2, depth + 2)
        limit = Constant(self.choose(5))
        return scope.closed([scope.record("less", scope.own[0], limit)])


def _as_vector(scope: Scope, atom: Atom) -> Atom:
    return atom if atom.type == VECTOR else scope.some(VECTOR)


X = np.array([1.0, -2.0, 3.0])
W = np.array([7.0, 8.0, 9.0])
M = np.array([[1.0, 0.5, -1.0], [2.0, -3.0, 4.0]])

CALLS = tuple((X, W, M, np.float64(s), n) for s in (2.0, -1.0) for n in (0, 1, 3))
"""Arguments of the programs."""
