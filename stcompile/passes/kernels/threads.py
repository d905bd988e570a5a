"""Mark loops of kernels whose steps may run at the same time.

Each step writes elements of its own: in every array that the loop writes to, there is an axis along
which all accesses of a step are at its counter. Other arrays that it reads are not written to. So
it does not matter which thread runs a step, and when: the results are bitwise the same for any
number of threads. Numbers that are summed over steps are not added up by threads, whose order would
be open: each step notes its own term, and the terms are added up in order.

A loop of little work is left alone, and so is a loop whose steps may raise: threads would raise the
error of any step.

>>> from stcompile.wengert.text import parse_program
>>> print(share_out(parse_program('''
... program f(x: f64[30000]) {
...   t: f64 = kernel(x; writes=(), body=program kernel(x: f64[30000]) {
...     t: f64 = loop(x, f64(0.0); carry=1, constants=1, length=30000,
...       body=program body(x: f64[30000], i: int, t: f64) {
...         v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
...         v2: f64 = exp(v1)
...         t.1: f64 = add(t, v2)
...         return t.1
...       })
...     return t
...   })
...   return t
... }''')))
program f(x: f64[30000]) {
  t: f64 = kernel(x; body=program kernel(x: f64[30000]) {
    v1: f64[30000] = empty(; dtype=f64, shape=(30000,))
    v2: f64[30000] = loop(x, v1; body=program body(x: f64[30000], i: int, v3: f64[30000]) {
      v1: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
      v2: f64 = exp(v1)
      v4: f64[30000] = update(v3, v2, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
      return v4
    }, carry=1, constants=1, length=30000, parallel=True)
    t: f64 = loop(v2, f64(0.0); body=program body(notes: f64[30000], i: int, t: f64) {
      v2: f64 = slice(notes, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
      t.1: f64 = add(t, v2)
      return t.1
    }, carry=1, constants=1, length=30000)
    return t
  }, writes=())
  return t
}
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from stcompile.analysis.accesses import WHILE_STEPS, Number, Walk, Where
from stcompile.base.thresholds import SHARED_OPERATIONS
from stcompile.codegen_templates.loops import MATRICES
from stcompile.passes.general.rebuild import Builder
from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    as_variable,
    free_variables,
    freeze,
    map_programs,
)
from stcompile.wengert.parts import Index, integers_of, one_element, starts_of
from stcompile.wengert.primitives.control import COUNTER, Ports
from stcompile.wengert.primitives.elementwise import ELEMENTARY, by_python

PYTHON_ARITHMETIC = frozenset(
    {"add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power"}
)


def share_out(program: Program) -> Program:
    """The program with the loops of its kernels marked whose steps may run at the same time."""

    def shared(equation: Equation) -> Equation:
        if equation.primitive != "kernel":
            return map_programs(equation, share_out)
        body = _shared(equation.params["body"])
        return replace(equation, params=freeze({**equation.params, "body": body}))

    return program.with_equations([shared(equation) for equation in program.equations])


def _shared(program: Program) -> Program:
    """A program in a kernel, with its outermost loops that can be shared out marked."""
    made, builder = list[Equation](), Builder(program)
    for equation in program.equations:
        found = None
        if equation.primitive == "loop" and _work(equation) >= SHARED_OPERATIONS:
            found = _marked(equation, builder)
        made += found or [map_programs(equation, _shared)]
    return program.with_equations(made)


def _work(equation: Equation) -> float:
    """An estimate of the number of operations on numbers in an equation."""
    inner = equation.programs.values()
    steps = 1
    if equation.primitive == "loop":
        length = Ports.of(equation).length
        steps = WHILE_STEPS if length is None else usual(length)
    cost = sum(_work(e) for program in inner for e in program.equations)
    own = 20 if equation.primitive in ELEMENTARY else 1
    return steps * (cost if inner else own)


def _marked(loop: Equation, outer: Builder) -> Sequence[Equation] | None:
    """The loop, marked, and the loops that add up the terms of its steps; None if its steps may not
    run at the same time."""
    ports = Ports.of(loop)
    counter, length = ports.counter, ports.length
    if counter is None or not isinstance(length, int) or ports.binds is not None:
        return None
    if ports.xs or ports.ys or ports.has_lengths:
        return None
    body, inner = ports.body, Builder(ports.body)
    sums = {at: _summed(body, v) for at, v in enumerate(ports.body_carry) if not v.type.dims}
    kept = [at for at in range(len(ports.carry)) if at not in sums]
    before, after = list[Equation](), list[Equation]()
    equations = [e for e in body.equations if e not in sums.values()]
    carry = [ports.carry[at] for at in kept]
    carried = [ports.body_carry[at] for at in kept]
    outputs = [body.outputs[at] for at in kept]
    results = [ports.results[at] for at in kept]
    for at, summed in sums.items():
        if summed is None:
            return None
        part = _part(summed, ports.body_carry[at])
        where = loop.location
        shape = {"shape": (length,), "dtype": part.type.dtype}
        before.append(outer.equation("empty", (), where, shape))
        noted = inner.variable(before[-1].output.type)
        params = one_element((Index.of(counter),))[1]
        equations.append(inner.equation("update", (noted, part, counter), summed.location, params))
        carry.append(before[-1].output)
        carried.append(noted)
        outputs.append(equations[-1].output)
        results.append(outer.variable(noted.type))
        after.append(_added_up(loop, at, summed, results[-1]))
    own = (*ports.body_constants, counter, *carried)
    program = Program(body.name, own, tuple(equations), tuple(outputs))
    if not _Steps(program, counter, carried).are_apart():
        return None
    params = {**loop.params, "body": program, "carry": len(carry), "parallel": True}
    params.pop("reverse", None)
    inputs = (*ports.constants, *carry)
    marked = replace(loop, outputs=tuple(results), inputs=inputs, params=freeze(params))
    return [*before, marked, *after]


def _summed(body: Program, carried: Variable) -> Equation | None:
    """The only equation that reads a carried number, if it computes the number that is handed
    on."""
    at = body.inputs.index(carried)
    readers = [e for e in body.equations if carried in free_variables([e], (), ())]
    if len(readers) != 1 or carried in body.outputs:
        return None
    (equation,) = readers
    place = at - (len(body.inputs) - len(body.outputs))
    others = (e for e in body.equations if equation.outputs[0] in e.variables)
    is_handed = body.outputs[place] == equation.outputs[0] and next(others, None) is None
    is_number = equation.primitive in ("add", "multiply", "maximum", "minimum")
    if not is_handed or not is_number or body.outputs.count(equation.outputs[0]) != 1:
        return None
    part = _part(equation, carried)
    return equation if isinstance(part, Variable) and part.type.kind == "scalar" else None


def _part(summed: Equation, carried: Variable) -> Atom:
    one, other = summed.inputs
    return other if one == carried else one


def _added_up(loop: Equation, at: int, summed: Equation, noted: Variable) -> Equation:
    """The loop that adds up the terms of steps, in their order."""
    ports = Ports.of(loop)
    carried = ports.body_carry[at]
    part = as_variable(_part(summed, carried))
    notes, counter = Variable("notes", noted.type), Variable("i", COUNTER)
    params = freeze(one_element((Index.of(counter),))[1])
    read = Equation((part,), "slice", (notes, counter), params, (), summed.location)
    own = (notes, counter, carried)
    body = Program("body", own, (read, summed), summed.outputs)
    chosen = {"body": body, "constants": 1, "carry": 1, "length": ports.length}
    if ports.reverse:
        chosen["reverse"] = True
    inputs = (noted, ports.carry[at])
    return Equation(
        (ports.results[at],), "loop", inputs, freeze(chosen), loop.effects, loop.location
    )


# --- the elements that steps read and write -----------------------------------------------------


class _TogetherError(Exception):
    """Raised if a step may read or write elements of another step, or raise."""


class _Steps(Walk):
    """The steps of a loop with the arrays that are written to, its ``carried`` variables.
    ``places`` are the axes and indices that all reads and writes of an array have in common."""

    def __init__(self, body: Program, counter: Variable, carried: Sequence[Variable]) -> None:
        self.body = body
        self.counter = counter
        self.carried = carried
        self.places: dict[int, set[tuple[int, int, int]]] = {}

    def are_apart(self) -> bool:
        own = {variable: at for at, variable in enumerate(self.carried)}
        try:
            found = self.program(self.body, own, Where({self.counter: 0}))
        except _TogetherError:
            return False
        return found == list(own.values()) and all(self.places.values())

    def visit(self, equation: Equation, where: Where) -> None:
        if equation.primitive == "loop":
            ports = Ports.of(equation)
            if ports.xs or ports.ys or ports.condition is not None or ports.length is None:
                raise _TogetherError
        elif equation.primitive != "cond" and may_raise(equation, where.counters):
            raise _TogetherError

    def access(self, number: int, equation: Equation, where: Where) -> None:
        places = {
            (axis, index.offset, index.times(counter))
            for axis, index in enumerate(starts_of(equation))
            for counter in where.counters_of(0)
            if isinstance(index.offset, int) and {v for v, _ in index.terms} == {counter}
        }
        self.places[number] = self.places.get(number, places) & places

    def lose(self, *numbers: Number) -> None:
        if any(number is not None for number in numbers):
            raise _TogetherError


def may_raise(equation: Equation, counters: Container[Atom]) -> bool:
    """True for an equation of numbers that may raise: where Python does, and for an index that is
    not a counter of a loop."""
    primitive, inputs = equation.primitive, equation.inputs
    if (
        primitive in MATRICES
        or primitive == "within"
        or primitive.startswith("math.")
        or (primitive == "to_python" and _is_rounded(equation))
    ):
        return True
    if primitive in PYTHON_ARITHMETIC:
        return by_python(tuple(atom.type for atom in inputs)) and (
            primitive not in ("add", "subtract", "multiply")
            or all(atom.type.dtype.kind in "iub" for atom in inputs)
        )
    indices = integers_of(equation)
    return any(isinstance(atom, Variable) and atom not in counters for atom in indices)


def _is_rounded(equation: Equation) -> bool:
    return equation.params["dtype"].kind == "i" and equation.inputs[0].type.dtype.kind == "f"
