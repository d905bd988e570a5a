"""Random Wengert lists: a list as it is written in the cases, with other integers, axes, lengths,
operands, constants, dtypes and functions, of the right types all the same.

Each change is made blindly, and the types of all that comes after are inferred anew. What is not
well typed then is not taken. Integers of slices, which have to fit together, are drawn as a whole:
any start, any stride up and down, also from an integer of the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.wengert.dims import Dim, UnknownSizeError
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Program,
    Variable,
    freeze,
    inner_effects,
    substituted,
)
from stcompile.wengert.primitives import PRIMITIVES, infer
from stcompile.wengert.primitives.base import OperandError
from stcompile.wengert.primitives.control import COUNTER, step_of
from stcompile.wengert.types import Type
from stcompile.wengert.verify import VerificationError, verify

Rng = np.random.Generator
Change = Callable[["Drawing", Program], "Program | None"]

NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-3)
UNARY = ("negative", "sin", "tanh", "exp", "square", "absolute", "cos", "conjugate", "sign")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "hypot", "power", "fmin")
DTYPES = ("f8", "f4", "c16", "i8", "i4", "u1")
INTEGERS = (
    *(Type.python(int), Type.scalar("i8"), Type.scalar("i4"), Type.scalar("i1")),
    *(Type.scalar("u1"), Type.scalar("u4")),
)


class Drawing:
    """One drawing: what is random in it."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng

    def one(self, among: Sequence[Any]) -> Any:
        return among[int(self.rng.integers(len(among)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def between(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, often one of the two."""
        if high > low and self.chance(0.3):
            return low if self.chance(0.5) else high
        return int(self.rng.integers(low, high + 1))


def drawn(program: Program, rng: Rng, changes: int | None = None) -> Program:
    """The list with some changes, as many of them as leave it well typed."""
    drawing = Drawing(rng)
    wanted = int(rng.integers(1, 5)) if changes is None else changes
    for _ in range(4 * wanted):
        if wanted == 0:
            break
        change = drawing.one(CHANGES)
        changed = _checked(change(drawing, program))
        if changed is not None and str(changed) != str(program):
            program, wanted = changed, wanted - 1
    return program


def _checked(program: Program | None) -> Program | None:
    """The list with the types of its results inferred anew; None if it is not well typed."""
    if program is None:
        return None
    try:
        found = retyped(program, program.types)
        verify(found)
    except (OperandError, UnknownSizeError, VerificationError):
        return None
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError):
        return None  # params of the wrong form
    return found if all(map(_is_written_well, _with_inputs(found))) else None


def _with_inputs(program: Program) -> Iterator[tuple[Program, Equation]]:
    """All equations, each with the program that it is in."""
    for equation in program.equations:
        yield program, equation
        for value in equation.params.values():
            if isinstance(value, Program):
                yield from _with_inputs(value)


def _is_written_well(place: tuple[Program, Equation]) -> bool:
    """False for what no type tells: dropped axes that are not there, a store to no argument, a part
    of what was exchanged that is none of the arrays in it, or anything else of it."""
    program, equation = place
    if equation.primitive == "store":
        return equation.inputs[0] in program.inputs
    if equation.primitive == "slice" and not _is_exchanged_whole(program, equation):
        return False
    if equation.primitive == "pack" and _readers(program, equation) != ["exchange"]:
        return False
    if equation.primitive == "exchange" and {*_readers(program, equation)} != {"slice"}:
        return False
    drop = equation.params.get("drop", ())
    return all(0 <= axis < equation.inputs[0].type.ndim for axis in drop)


def _readers(program: Program, equation: Equation) -> list[str]:
    """What reads the result of an equation."""
    output = equation.output
    readers = [e.primitive for e in program.equations for atom in e.inputs if atom == output]
    return readers + ["return" for atom in program.outputs if atom == output]


def _is_exchanged_whole(program: Program, part: Equation) -> bool:
    """True unless a slice is another part of an exchange than one of the arrays in it."""
    makers = {v: e for e in program.equations for v in e.outputs}
    exchange = makers.get(part.inputs[0])  # type: ignore[arg-type]
    if exchange is None or exchange.primitive != "exchange":
        return True
    pack = makers.get(exchange.inputs[0])  # type: ignore[arg-type]
    sizes = [atom.type.count for atom in pack.inputs] if pack and pack.primitive == "pack" else []
    starts = itertools.accumulate(sizes, initial=0)
    places = [(((start,),), (size,), (1,)) for start, size in zip(starts, sizes, strict=False)]
    return tuple(part.params[key] for key in ("start", "length", "step")) in places


def _made(program: Program) -> Iterator[Variable]:
    return (v for e in program.equations for v in e.outputs)


# --- types ----------------------------------------------------------------------------------------


def retyped(program: Program, types: Sequence[Type]) -> Program:
    """The program of inputs of these types."""
    inputs = tuple(map(_as, program.inputs, types))
    mapping: dict[Variable, Atom] = dict(zip(program.inputs, inputs, strict=True))
    equations = []
    for equation in program.equations:
        atoms = substituted(equation.inputs, mapping)
        given = tuple(atom.type for atom in atoms)
        params = freeze(
            {**equation.params, **_inner(equation, given), **_spelling(equation, given)}
        )
        found = infer(equation.primitive, given, params)
        if len(found) != len(equation.outputs):
            raise OperandError("other results")
        outputs = tuple(map(_as, equation.outputs, found))
        effects = (*PRIMITIVES[equation.primitive].effects, *inner_effects(params))
        equations.append(
            replace(equation, outputs=outputs, inputs=atoms, params=params, effects=effects)
        )
        mapping.update(zip(equation.outputs, outputs, strict=True))
    return replace(
        program,
        inputs=inputs,
        equations=tuple(equations),
        outputs=substituted(program.outputs, mapping),
    )


def _spelling(equation: Equation, given: Sequence[Type]) -> dict[str, str]:
    """A product of operands with other axes is not spelled as it was."""
    if "spelling" not in equation.params or not equation.params["spelling"]:
        return {}
    same = all(t.ndim == atom.type.ndim for t, atom in zip(given, equation.inputs, strict=True))
    return {} if same else {"spelling": ""}


def _as(variable: Variable, type: Type) -> Variable:
    return variable if variable.type == type else Variable(variable.name, type)


def _inner(equation: Equation, given: tuple[Type, ...]) -> dict[str, Program]:
    """The programs of a branch, a loop, a call or a kernel, of operands of these types."""
    params = equation.params
    if equation.primitive == "cond":
        return {name: retyped(params[name], given[1:]) for name in ("then", "otherwise")}
    if equation.primitive == "kernel":
        return {"body": retyped(params["body"], given)}
    if equation.primitive == "call":
        return {"program": retyped(params["program"], given)}
    if equation.primitive != "loop":
        return {}
    length, body = params["length"], params["body"]
    condition = params.get("condition")
    if condition is not None:
        return {"condition": retyped(condition, given), "body": retyped(body, given)}
    given = given[1:] if length is None else given
    first = params["constants"]
    last = first + params["carry"]
    taken = body.types[len(body.types) - len(given[last:]) :]
    xs = [
        old if t.is_named or old.is_named else step_of(t, length)
        for t, old in zip(given[last:], taken, strict=True)
    ]
    return {"body": retyped(body, (*given[:first], COUNTER, *given[first:last], *xs))}


# --- where a change is made -----------------------------------------------------------------------


def equations_of(program: Program) -> Iterator[Equation]:
    """All equations, those of programs inside of others as well."""
    for equation in program.equations:
        yield equation
        for value in equation.params.values():
            if isinstance(value, Program):
                yield from equations_of(value)


def with_changed(
    program: Program, old: Equation, change: Callable[[Program, Equation], Equation]
) -> Program:
    """The program with one of its equations, wherever it is, changed; ``change`` also gets the
    program that it is in."""
    found = []
    for equation in program.equations:
        if equation is old:
            found.append(change(program, equation))
            continue
        inner = {
            name: with_changed(value, old, change)
            for name, value in equation.params.items()
            if isinstance(value, Program)
        }
        if any(value is not equation.params[name] for name, value in inner.items()):
            equation = replace(equation, params=freeze({**equation.params, **inner}))
        found.append(equation)
    pairs = zip(found, program.equations, strict=True)
    if all(new is before for new, before in pairs):
        return program
    return replace(program, equations=tuple(found))


def with_params(program: Program, equation: Equation, **params: Any) -> Program:
    if "spelling" in equation.params:
        params["spelling"] = ""
    return with_changed(
        program,
        equation,
        lambda _, e: replace(e, params=freeze({**e.params, **params})),
    )


def _some(drawing: Drawing, program: Program, wanted: Callable[[Equation], Any]) -> Equation | None:
    found = [e for e in equations_of(program) if wanted(e)]
    return drawing.one(found) if found else None


def _scope(program: Program, equation: Equation) -> list[Variable]:
    """What is known before an equation of a program."""
    found = list(program.inputs)
    for other in program.equations:
        if other is equation:
            break
        found += other.outputs
    return found


# --- the changes ----------------------------------------------------------------------------------


def other_length(drawing: Drawing, program: Program) -> Program | None:
    """All lengths of one number become another one."""
    variables = [*program.inputs, *(v for e in equations_of(program) for v in e.outputs)]
    lengths = sorted({d for v in variables for d in v.type.dims if isinstance(d, int)})
    if not lengths:
        return None
    old = drawing.one(lengths)
    new = (
        drawing.one([*range(5), old - 1, old + 1, *lengths])
        if old < 12
        else old + drawing.one([-1, 1])
    )
    if new < 0 or (new == 0 and not drawing.chance(0.2)):
        return None
    return _with_length(program, old, new)


LENGTHS = frozenset({"shape", "length", "count", "n", "m", "dims", "stop"})


def _with_length(program: Program, old: int, new: int) -> Program:
    def size(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(size, value))
        return new if type(value) is int and value == old else value

    def changed(equation: Equation) -> Equation:
        params = {
            name: _with_length(value, old, new)
            if isinstance(value, Program)
            else size(value)
            if name in LENGTHS
            else value
            for name, value in equation.params.items()
        }
        return replace(equation, params=freeze(params))

    def typed(variable: Variable) -> Variable:
        return Variable(variable.name, replace(variable.type, dims=size(variable.type.dims)))

    return _renamed(replace(program, equations=tuple(map(changed, program.equations))), typed)


def _renamed(program: Program, typed: Callable[[Variable], Variable]) -> Program:
    """The program with its inputs changed."""
    mapping: dict[Variable, Atom] = {v: typed(v) for v in program.inputs}
    return replace(
        program,
        inputs=tuple(map(typed, program.inputs)),
        equations=tuple(e.substitute(mapping) for e in program.equations),
        outputs=substituted(program.outputs, mapping),
    )


def other_slice(drawing: Drawing, program: Program) -> Program | None:
    """Other starts and strides, and sometimes other lengths, of some axes of a slice."""
    equation = _some(drawing, program, _is_slice)
    if equation is None:
        return None
    dims = equation.inputs[0].type.dims
    keys = ("start", "length", "step")
    start, length, step = (list(equation.params[key]) for key in keys)
    for axis, dim in enumerate(dims):
        if drawing.chance(0.4) or isinstance(dim, Dim) or isinstance(length[axis], Dim):
            continue
        if any(start[axis][1:]):
            continue
        if axis in equation.params["drop"]:
            start[axis], step[axis] = (
                (drawing.between(0, max(dim - 1, 0)),),
                drawing.one([1, 1, -1, 2]),
            )
            continue
        length[axis] = length[axis] if drawing.chance(0.7) else drawing.between(0, dim)
        start[axis], step[axis] = _span(drawing, dim, length[axis])
    return with_params(
        program, equation, start=tuple(start), length=tuple(length), step=tuple(step)
    )


def _is_slice(equation: Equation) -> bool:
    return "start" in equation.params and "drop" in equation.params


def _span(drawing: Drawing, dim: int, length: int) -> tuple[tuple[int], int]:
    """A start and a stride of so many elements of an axis."""
    largest = (dim - 1) // (length - 1) if length > 1 else dim
    stride = drawing.between(1, largest) if largest > 1 and drawing.chance(0.5) else 1
    extent = max(length - 1, 0) * stride
    low = drawing.between(0, max(dim - 1 - extent, 0))
    return ((low + extent,), -stride) if drawing.chance(0.3) else ((low,), stride)


def start_of_the_data(drawing: Drawing, program: Program) -> Program | None:
    """A place that the data decide: an integer, which may be negative, as the index of an axis, or
    a place of its own, as loops have it."""
    equation = _some(drawing, program, lambda e: _is_slice(e) and e.params["start"])
    if equation is None:
        return None
    axis = drawing.one(range(len(equation.params["start"])))
    if isinstance(equation.params["length"][axis], Dim):
        return None
    is_top = any(e is equation for e in program.equations)
    names = {v.name for v in (*program.inputs, *_made(program))}
    name = next(name for name in map("i{}".format, itertools.count()) if name not in names)
    added = Variable(name, drawing.one(INTEGERS))

    def changed(inside: Program, e: Equation) -> Equation:
        known = [v for v in inside.inputs if _is_integer(v.type)]
        if not known and not is_top:
            return e
        is_new = is_top and not (known and drawing.chance(0.5))
        factor = 1 if drawing.chance(0.7) else drawing.one([-1, 2, -2, 3])
        offset = 0 if factor == 1 and drawing.chance(0.7) else drawing.between(0, 4)
        last = len(e.inputs) - _first(e)
        own = (offset, *(0,) * last, factor)
        start = e.params["start"]
        params = {**e.params, "start": (*start[:axis], own, *start[axis + 1 :])}
        atom = added if is_new else drawing.one(known)
        return replace(e, inputs=(*e.inputs, atom), params=freeze(params))

    found = with_changed(program, equation, changed)
    if any(added in e.inputs for e in found.equations):
        found = replace(found, inputs=(*found.inputs, added))
    return found


def _first(equation: Equation) -> int:
    """The place of the first counter among the operands of a slice."""
    return 1 if equation.primitive == "slice" else 2


def _is_integer(type: Type) -> bool:
    return type.dtype.kind in "iu" and not type.dims and type.kind in ("python", "scalar")


def other_integer(drawing: Drawing, program: Program) -> Program | None:
    """Another integer somewhere among the params of an equation, or another order of some."""
    equation = _some(drawing, program, lambda e: any(map(_has_integers, e.params.values())))
    if equation is None:
        return None
    names = [name for name, value in equation.params.items() if _has_integers(value)]
    name = drawing.one(names)
    value = equation.params[name]
    if isinstance(value, tuple) and len(value) > 1 and drawing.chance(0.4):
        changed: Any = tuple(value[i] for i in drawing.rng.permutation(len(value)))
    elif isinstance(value, tuple) and all(type(v) is int for v in value) and drawing.chance(0.3):
        more = drawing.between(0, 3)
        changed = value[1:] if value and drawing.chance(0.5) else tuple(sorted({*value, more}))
    else:
        changed = _other(drawing, value)
    return with_params(program, equation, **{name: changed})


def _has_integers(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_integers, value))
    return type(value) is int


def _other(drawing: Drawing, value: Any) -> Any:
    if isinstance(value, tuple):
        places = [at for at, item in enumerate(value) if _has_integers(item)]
        at = drawing.one(places)
        return (*value[:at], _other(drawing, value[at]), *value[at + 1 :])
    return drawing.one([value - 1, value + 1, -value, 0, 1, 2, drawing.between(-4, 4)])


def other_flag(drawing: Drawing, program: Program) -> Program | None:
    """Axes that are kept or not, loops that run the other way."""
    equation = _some(drawing, program, lambda e: any(type(v) is bool for v in e.params.values()))
    if equation is None:
        return None
    name = drawing.one([n for n, v in equation.params.items() if type(v) is bool])
    return with_params(program, equation, **{name: not equation.params[name]})


def other_constant(drawing: Drawing, program: Program) -> Program | None:
    """Another number for a constant."""
    equation = _some(drawing, program, lambda e: any(isinstance(a, Constant) for a in e.inputs))
    if equation is None:
        return None
    at = drawing.one([at for at, a in enumerate(equation.inputs) if isinstance(a, Constant)])
    old = equation.inputs[at]
    new = Constant(_number(drawing, old.type))
    return with_changed(program, equation, lambda _, e: _with_input(e, at, new))


def _number(drawing: Drawing, type: Type) -> Any:
    if type.dtype.kind == "b":
        return (
            type.dtype.type(drawing.chance(0.5)) if type.kind == "scalar" else drawing.chance(0.5)
        )
    value: Any = drawing.one(NUMBERS)
    if type.dtype.kind in "iu":
        value = drawing.between(-3 if type.dtype.kind == "i" else 0, 4)
    if type.dtype.kind == "c":
        value = complex(value, drawing.one(NUMBERS))
    return type.python_type(value) if type.kind == "python" else type.dtype.type(value)


def _with_input(equation: Equation, at: int, atom: Atom) -> Equation:
    return equation.with_inputs((*equation.inputs[:at], atom, *equation.inputs[at + 1 :]))


def other_operand(drawing: Drawing, program: Program) -> Program | None:
    """Another operand, one of the same type or of any other."""
    equation = _some(drawing, program, lambda e: e.inputs)
    if equation is None:
        return None
    at = drawing.one(range(len(equation.inputs)))

    def changed(inside: Program, e: Equation) -> Equation:
        known = _scope(inside, e)
        alike = [v for v in known if v.type == e.inputs[at].type]
        among = alike if alike and drawing.chance(0.7) else known
        return _with_input(e, at, drawing.one(among)) if among else e

    if equation.params.get("spelling"):
        program = with_params(program, equation)
        return program
    return with_changed(program, equation, changed)


def swapped_operands(drawing: Drawing, program: Program) -> Program | None:
    equation = _some(drawing, program, lambda e: len(e.inputs) > 1)
    if equation is None:
        return None
    order = drawing.rng.permutation(len(equation.inputs))

    def changed(_: Program, e: Equation) -> Equation:
        params = {**e.params, "spelling": ""} if "spelling" in e.params else e.params
        return replace(e, inputs=tuple(e.inputs[i] for i in order), params=freeze(params))

    return with_changed(program, equation, changed)


def other_function(drawing: Drawing, program: Program) -> Program | None:
    """Another elementwise function of as many operands."""
    equation = _some(drawing, program, lambda e: e.primitive in (*UNARY, *BINARY))
    if equation is None:
        return None
    among = UNARY if equation.primitive in UNARY else BINARY
    return with_changed(
        program, equation, lambda _, e: replace(e, primitive=drawing.one(among), params=freeze({}))
    )


def other_dtype(drawing: Drawing, program: Program) -> Program | None:
    """An input of another dtype, or an integer of another kind."""
    if not program.inputs:
        return None
    old = drawing.one(program.inputs)
    if old.type.kind not in ("python", "scalar", "array"):
        return None
    type = drawing.one(INTEGERS) if _is_integer(old.type) else None
    if type is None and old.type.kind != "python":
        type = old.type.with_dtype(drawing.one(DTYPES))
    if type is None:
        return None
    return _renamed(program, lambda v: Variable(v.name, type) if v == old else v)


def read_again(drawing: Drawing, program: Program) -> Program | None:
    """One more result of the list: what it makes on the way."""
    among = [v for v in (*program.inputs, *_made(program)) if v.type.kind in ("array", "scalar")]
    if not among:
        return None
    return replace(program, outputs=(*program.outputs, drawing.one(among)))


CHANGES: tuple[Change, ...] = (
    *(other_length, other_slice, other_slice, start_of_the_data, start_of_the_data),
    *(other_integer, other_integer, other_flag, other_constant, other_operand),
    *(swapped_operands, other_function, other_dtype, read_again),
)
