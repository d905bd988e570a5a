"""Transpose stored arrays so that innermost loops go along their last axis.

An innermost loop that goes down the columns of a matrix reads a number from each row, no two of
them adjacent, and cannot compute several at a time. Where loops do so much more often than the
matrix has elements, it is stored with its axes in another order. A matrix that loops make is made
so; other matrices are copied, and copied back where a version is handed on. A matrix that is only
read may exist in two orders, and each loop reads the order that suits it.

>>> from stcompile.wengert.text import parse_program
>>> print(turn_arrays(parse_program('''
... program f(x: f64[8]) {
...   a: f64[8,3] = empty(; dtype=f64, shape=(8, 3))
...   b: f64[8,3] = loop(x, a; carry=1, constants=1, length=100,
...     body=program body(x: f64[8], k: int, a: f64[8,3]) {
...       b: f64[8,3] = loop(x, a; carry=1, constants=1, length=8,
...         body=program body(x: f64[8], i: int, a: f64[8,3]) {
...           v1: f64 = index(x, i; at=('index',))
...           b: f64[8,3] = index_update(a, v1, i, 2; at=('index', 'index'))
...           return b
...         })
...       return b
...     })
...   y: f64 = loop(b, f64(0.0); carry=1, constants=1, length=8,
...     body=program body(b: f64[8,3], i: int, s: f64) {
...       v1: f64 = index(b, i, 2; at=('index', 'index'))
...       v2: f64 = add(s, v1)
...       return v2
...     })
...   return y
... }''')))
program f(x: f64[8]) {
  a_T: f64[3,8] = empty(; dtype=f64, shape=(3, 8))
  b_T: f64[3,8] = loop(x, a_T; body=program body(x: f64[8], k: int, a: f64[3,8]) {
    b: f64[3,8] = loop(x, a; body=program body(x: f64[8], i: int, a: f64[3,8]) {
      v1: f64 = index(x, i; at=('index',))
      b: f64[3,8] = index_update(a, v1, 2, i; at=('index', 'index'))
      return b
    }, carry=1, constants=1, length=8)
    return b
  }, carry=1, constants=1, length=100)
  y: f64 = loop(b_T, f64(0.0); body=program body(b: f64[3,8], i: int, s: f64) {
    v1: f64 = index(b, 2, i; at=('index', 'index'))
    v2: f64 = add(s, v1)
    return v2
  }, carry=1, constants=1, length=8)
  return y
}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from stcompile.analysis.accesses import Number, Walk, Where
from stcompile.analysis.orders import Groups, Order
from stcompile.base.location import NOWHERE
from stcompile.base.thresholds import TURNED_READS, VECTOR_STEPS
from stcompile.passes.kernels.compilable import is_taken
from stcompile.passes.kernels.memory import new_array
from stcompile.passes.kernels.writer import Lazy, Writer
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    freeze,
    map_programs,
    substituted,
)
from stcompile.wengert.naming import is_numbered
from stcompile.wengert.parts import READS, Indices, integers_of, starts_of
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.primitives.creation import FRESH
from stcompile.wengert.types import Type

T = TypeVar("T")


def turn_arrays(program: Program) -> Program:
    """The program with arrays stored in the order in which its loops read and write them."""
    loops = {at: e for at, e in enumerate(program.equations) if _is_loop(e)}
    inner = [
        e if at in loops else map_programs(e, turn_arrays) for at, e in enumerate(program.equations)
    ]
    program = program.with_equations(inner)
    orders = _Orders(program, {at: uses_of(loop) for at, loop in loops.items()})
    return _Turned(program, orders).run() if orders.is_any else program


def _is_loop(equation: Equation) -> bool:
    return equation.primitive == "loop" and is_taken(equation)


# --- the order that suits the accesses ------------------------------------------------------------


class _Orders:
    """The orders of arrays: ``chosen`` has the orders of variables that are not in their natural
    order, ``of_uses`` the orders of operands that a loop only reads. An array that a loop writes to
    and its later version have the same order."""

    def __init__(self, program: Program, uses: Mapping[int, Mapping[int, Use]]) -> None:
        self.program = program
        self.uses = uses
        self.chosen: dict[Variable, Order] = {}
        self.of_uses: dict[tuple[int, int], Order] = {}
        self._groups = Groups()
        self._join()
        self._choose()
        self._choose_for_reading()

    @property
    def is_any(self) -> bool:
        return bool(self.chosen or self.of_uses)

    def _join(self) -> None:
        """Join the arrays that loops write to with their later versions."""
        for at, uses in self.uses.items():
            ports = Ports.of(self.program.equations[at])
            for place, (atom, result) in enumerate(zip(ports.carry, ports.results, strict=True)):
                if len(ports.constants) + place in uses:
                    self._groups.join([variable_of(atom), result])

    def _choose(self) -> None:
        along: dict[Variable, Counter[int]] = {}
        moved: Counter[Variable] = Counter()  # copies that another order would take
        carried = set[Variable]()
        for at, equation in enumerate(self.program.equations):
            uses = self.uses.get(at, {})
            first = equation.params.get("constants", 0)
            for place, atom in enumerate(equation.inputs):
                if not is_matrix(atom):
                    continue
                joined = self._groups.of(variable_of(atom))
                if place in uses:
                    along.setdefault(joined, Counter()).update(uses[place].along)
                    if place >= first:
                        carried.add(joined)
                elif equation.primitive != "copy":
                    moved[joined] += 1
            for place, output in enumerate(equation.outputs, first):
                if place not in uses and equation.primitive not in FRESH:
                    moved[self._groups.of(output)] += 1
        for atom in (*self.program.inputs, *self.program.outputs):
            moved[self._groups.of(variable_of(atom))] += 1
        orders = {
            joined: order
            for joined in carried
            if (order := _best(along[joined], joined.type, moved[joined]))
        }
        made = (v for e in self.program.equations for v in e.outputs)
        for variable in (*self.program.inputs, *made):
            if self._groups.of(variable) in orders:
                self.chosen[variable] = orders[self._groups.of(variable)]

    def _choose_for_reading(self) -> None:
        """Choose for each loop the order of the operands that it only reads."""
        for at, uses in self.uses.items():
            ports = Ports.of(self.program.equations[at])
            for place, use in uses.items():
                if place >= len(ports.constants):
                    continue
                variable = variable_of(ports.constants[place])
                own = self.chosen.get(variable, natural(variable.type))
                order = _best(use.along, variable.type, 1, own) or own
                if order != natural(variable.type):
                    self.of_uses[at, place] = order


def natural(type: Type) -> Order:
    return tuple(range(type.ndim))


def _best(along: Counter[int], type: Type, copies: int, own: Order | None = None) -> Order | None:
    """The best order for an array whose axes loops go along so often; None if the ``own`` order is
    as good."""
    axes = [axis for axis in own or natural(type) if type.dims[axis] != 1]
    if not axes:
        return None
    axis, last = max(axes, key=lambda axis: along[axis]), axes[-1]
    if along[axis] - along[last] <= TURNED_READS * copies * type.size:
        return None
    return (*(other for other in natural(type) if other != axis), axis)


# --- the program anew -----------------------------------------------------------------------------


class _Turned:
    """Writes the program with arrays in the chosen orders; ``there`` has for each of its variables
    the arrays that hold it, by their orders."""

    def __init__(self, before: Program, orders: _Orders) -> None:
        self.w = Writer()
        self.before = before
        self.orders = orders
        self.there: dict[Variable, dict[Order, Atom]] = {}

    def run(self) -> Program:
        for variable in self.before.inputs:
            self.there[variable] = {natural(variable.type): variable}
        for at, equation in enumerate(self.before.equations):
            with self.w.at(equation.location):
                self._equation(at, equation)
        outputs = tuple(map(self._handed_on, self.before.outputs))
        return self.w.program(self.before.name, self.before.inputs, outputs)

    def _equation(self, at: int, equation: Equation) -> None:
        params, inputs = equation.params, equation.inputs
        is_made = equation.primitive in FRESH
        if is_made and (order := self.orders.chosen.get(equation.output)):
            if equation.primitive == "copy":
                copied = self._in_order(inputs[0], order, is_copy=True)
            else:
                copied = self.w.make(
                    equation.primitive,
                    *map(self._plain, inputs),
                    **{**params, "shape": turned(params["shape"], order)},
                )
            self._note(equation, [copied], [order])
            return
        if at not in self.orders.uses:
            inputs = tuple(map(self._plain, equation.inputs))
            outputs = self.w.record(equation.primitive, inputs, equation.location, params)
            self._note(equation, outputs, [natural(output.type) for output in equation.outputs])
            return
        orders = self._orders_of(at, equation)
        inputs = tuple(
            self._in_order(a, orders[p]) if p in orders else self._plain(a)
            for p, a in enumerate(equation.inputs)
        )
        made, found = _of_loop(equation, orders)
        outputs = self.w.record("loop", inputs, equation.location, made.params)
        self._note(equation, outputs, [found.get(o, natural(o.type)) for o in equation.outputs])

    def _orders_of(self, at: int, loop: Equation) -> dict[int, Order]:
        """The orders of the operands of a loop that are not in their natural order."""
        found = {}
        first = len(Ports.of(loop).constants)
        for place in self.orders.uses[at]:
            atom = loop.inputs[place]
            if (at, place) in self.orders.of_uses:
                found[place] = self.orders.of_uses[at, place]
            elif place >= first and variable_of(atom) in self.orders.chosen:
                found[place] = self.orders.chosen[variable_of(atom)]
        return found

    def _note(self, equation: Equation, outputs: Sequence[Atom], orders: Sequence[Order]) -> None:
        for old, new, order in zip(equation.outputs, outputs, orders, strict=True):
            self.there[old] = {order: new}
            if not is_numbered(old.name):
                self.w.hints.setdefault(
                    variable_of(new), old.name if order == natural(old.type) else f"{old.name}_T"
                )

    def _handed_on(self, atom: Atom) -> Atom:
        maker = next((e for e in self.before.equations if atom in e.outputs), None)
        with self.w.at(NOWHERE if maker is None else maker.location):
            return self._plain(atom)

    def _plain(self, atom: Atom) -> Atom:
        return self._in_order(atom, natural(atom.type))

    def _in_order(self, atom: Atom, order: Order, is_copy: bool = False) -> Atom:
        """The array that holds a variable in the given order."""
        if not isinstance(atom, Variable):
            return atom
        held = self.there[atom]
        if order in held and not is_copy:
            return held[order]
        if order in held:
            return self.w.make("copy", held[order])
        ((was, source), *_) = held.items()
        assert isinstance(source, Variable)

        def element(indices: Indices) -> Atom:
            own = dict(zip(order, indices, strict=True))
            return self.w.read(source, tuple(own[axis] for axis in was))

        type = replace(atom.type, dims=turned(atom.type.dims, order))
        hint = "" if is_numbered(atom.name) else atom.name
        found = new_array(
            self.w, Lazy(type, element), f"{hint}_T" if hint and order != natural(type) else hint
        )
        if not is_copy:
            held[order] = found
        return found


def turned(items: Sequence[T], order: Order) -> tuple[T, ...]:
    return tuple(items[axis] for axis in order)


def _in(variable: Variable, order: Order) -> Variable:
    return Variable(variable.name, replace(variable.type, dims=turned(variable.type.dims, order)))


# --- loops and branches of arrays in other orders -------------------------------------------------

Orders = dict[Variable, Order]


def _of_loop(loop: Equation, orders: Mapping[int, Order]) -> tuple[Equation, Orders]:
    """A loop whose operands at some positions are in other orders, and the orders of its
    results."""
    ports = Ports.of(loop)
    first = 0 if ports.count is None else 1  # the number of steps stands before the operands
    inputs = (*ports.body_constants, *ports.body_carry)
    body, _ = _of_program(ports.body, {inputs[at - first]: order for at, order in orders.items()})
    made = {"body": body}
    if ports.condition is not None:
        of = {ports.condition.inputs[at - first]: order for at, order in orders.items()}
        made["condition"], _ = _of_program(ports.condition, of)
    results = enumerate(ports.results, first + len(ports.constants))
    found = {result: orders[at] for at, result in results if at in orders}
    return _with_outputs(loop, found, made), found


def _of_branches(cond: Equation, orders: Mapping[int, Order]) -> tuple[Equation, Orders]:
    """Branches whose operands at some positions are in other orders, and the orders of their
    results."""
    made: dict[str, Program] = {}
    found: dict[Variable, Order] = {}
    for name in ("then", "otherwise"):
        arm: Program = cond.params[name]
        of = {arm.inputs[at - 1]: order for at, order in orders.items()}
        made[name], results = _of_program(arm, of)
        found |= {v: order for v, order in zip(cond.outputs, results, strict=True) if order}
    return _with_outputs(cond, found, made), found


def _with_outputs(equation: Equation, orders: Orders, programs: Mapping[str, Program]) -> Equation:
    outputs = tuple(_in(v, orders[v]) if v in orders else v for v in equation.outputs)
    return replace(equation, params=freeze({**equation.params, **programs}), outputs=outputs)


def _of_element(equation: Equation, order: Order) -> tuple[Equation, Orders]:
    """A read or a write of an element of an array in another order."""
    first = len(equation.inputs) - len(integers_of(equation))
    if "start" in equation.params:
        start = turned(equation.params["start"], order)
        return _written(
            equation, order, replace(equation, params=freeze({**equation.params, "start": start}))
        )
    integers = turned(equation.inputs[first:], order)
    return _written(equation, order, equation.with_inputs((*equation.inputs[:first], *integers)))


def _written(equation: Equation, order: Order, made: Equation) -> tuple[Equation, Orders]:
    if equation.primitive in READS:
        return made, {}
    found = {equation.output: order}
    return _with_outputs(made, found, {}), found


def _of_program(program: Program, orders: Orders) -> tuple[Program, list[Order | None]]:
    """A program with some of its inputs in other orders, and the orders of its outputs."""
    known = dict(orders)
    equations = []
    for equation in program.equations:
        pairs = enumerate(map(variable_of, equation.inputs))
        places = {at: known[v] for at, v in pairs if v in known}
        made, found = equation, dict[Variable, Order]()
        if equation.primitive == "loop" and places:
            made, found = _of_loop(equation, places)
        elif equation.primitive == "cond" and places:
            made, found = _of_branches(equation, places)
        elif places:
            made, found = _of_element(equation, places[0])
        mapping = {v: _in(v, order) for v, order in known.items()}
        equations.append(made.substitute(mapping))
        known |= found
    mapping = {v: _in(v, order) for v, order in known.items()}
    inputs = tuple(mapping.get(v, v) for v in program.inputs)
    outputs = substituted(program.outputs, mapping)
    found_orders = [known.get(variable_of(atom)) for atom in program.outputs]
    return replace(
        program, inputs=inputs, equations=tuple(equations), outputs=outputs
    ), found_orders


# --- uses: the axes that the innermost loops over numbers go along -------------------------------


@dataclass
class Use:
    """The use of an operand by a loop: how often innermost loops go along each of its axes. An
    operand that is not used ``by_element`` alone has to keep its order."""

    along: Counter[int] = field(default_factory=Counter)
    by_element: bool = True


def uses_of(loop: Equation) -> Mapping[int, Use]:
    """The uses of the operands that may be stored in another order, by their positions."""
    ports = Ports.of(loop)
    given = (*ports.constants, *ports.carry)
    if ports.count is not None or ports.xs:
        return {}
    found = {at: Use() for at, atom in enumerate(given) if is_matrix(atom)}
    _Uses(found).loop(loop, [at if at in found else None for at in range(len(given))], Where())
    return {at: use for at, use in found.items() if use.by_element}


def is_matrix(atom: Atom) -> bool:
    """True for an array of known dims that has more than a single order of axes."""
    t = atom.type
    has_order = isinstance(atom, Variable) and t.kind == "array" and t.ndim > 1
    return has_order and not t.is_named and t.size > 0


class _Uses(Walk):
    """A walk that notes the uses of arrays by their numbers."""

    def __init__(self, uses: Mapping[int, Use]) -> None:
        self.uses = uses

    def access(self, number: int, equation: Equation, where: Where) -> None:
        counters = where.counters_of(where.depth) if where.steps >= VECTOR_STEPS else ()
        starts = enumerate(starts_of(equation))
        axes = [axis for axis, index in starts if any(map(index.times, counters))]
        if len(axes) == 1:
            self.uses[number].along[axes[0]] += where.times

    def lose(self, *numbers: Number) -> None:
        for number in numbers:
            if number is not None:
                self.uses[number].by_element = False


def variable_of(atom: Atom) -> Variable:
    return atom if isinstance(atom, Variable) else Variable("", atom.type)
