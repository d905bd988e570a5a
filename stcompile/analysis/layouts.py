"""Layouts: the strides that NumPy gives to the arrays of a program.

No primitive has a rule of its own. NumPy is asked: the template of the primitive runs on small
arrays with the layouts of the operands, and its result has the layout of the true result. Views are
taken of placeholders of full size, whose elements are never read. So the answer is that of the
installed NumPy, with all its special cases: mixed orders, axes of one element, broadcasts.

>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: f64[2,3], y: f64[2,3]) {
...   v1: f64[2,3] = multiply(x, y)
...   v2: f64[3,2] = transpose(v1; axes=(1, 0))
...   return v1, v2
... }''')
>>> fortran = (8, 16)
>>> Layouts.of_program(program, [fortran, fortran]).outputs(program)
((8, 16), (16, 8))
>>> Layouts.of_program(program, [fortran, (24, 8)]).outputs(program)
((24, 8), (8, 24))
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from stcompile.base.numpys import RESHAPE_CAN_REFUSE
from stcompile.base.strides import (
    Strides,
    alike,
    dense_like,
    example,
    in_order,
    natural,
    placeholder,
    shortened,
)
from stcompile.base.thresholds import LAYOUT_GUESSES
from stcompile.wengert.bounds import generic
from stcompile.wengert.dims import UnknownSizeError
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze
from stcompile.wengert.primitives.attempts import of_called
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.templates import TEMPLATES, grouped, inplace_operand, mark_of
from stcompile.wengert.types import Type

_SHORT = 2  # no axis of what NumPy is asked with is longer

# Results that are in C order, whatever order the operands are in.
_NATURAL = frozenset({"full", "arange", "eye", "constant", "array"})
# Results of unknown order: of the user's own functions, and of values that are never read.
_UNKNOWN = frozenset({"external", "undef"})
# NumPy's moments warn about arrays without elements; their results lie like a sum's.
_MOMENTS = frozenset({"mean", "var", "std"})


class Operand(NamedTuple):
    """An operand's type and strides, on which the result of a function of NumPy depends."""

    type: Type
    strides: tuple[int, ...]


class Layouts:
    """The strides of variables, computed when they are read. ``producers`` are the equations that
    compute the variables; the strides of other variables are noted."""

    def __init__(self, producers: Mapping[Variable, Equation]) -> None:
        self._producers = producers
        self._known: dict[Variable, Strides] = {}

    @staticmethod
    def of_program(program: Program, inputs: Sequence[Strides]) -> Layouts:
        """The layouts of a program's variables, given the strides of its inputs."""
        producers = {output: e for e in program.equations for output in e.outputs}
        layouts = Layouts(producers)
        for variable, strides in zip(program.inputs, inputs, strict=True):
            layouts.note(variable, strides)
        return layouts

    def outputs(self, program: Program) -> tuple[Strides, ...]:
        return tuple(map(self.of, program.outputs))

    def note(self, variable: Variable, strides: Strides) -> None:
        """Note the strides of a variable that no equation computes, or that was stored into an
        array that existed before."""
        self._known[variable] = strides

    def of(self, atom: Atom) -> Strides:
        """The strides of a value; those of a number are ``()``."""
        if not isinstance(atom, Variable) or not atom.type.dims:
            return ()
        pending = [atom]
        while pending:
            variable = pending[-1]
            producer = self._producers.get(variable)
            if variable in self._known or producer is None:
                self._known.setdefault(variable, None)
                pending.pop()
                continue
            missing = [v for v in _read(producer) if v not in self._known and v.type.dims]
            if missing:
                pending += missing
                continue
            found = results(producer, [self._of(each) for each in producer.inputs])
            for output, strides in zip(producer.outputs, found, strict=True):
                self._known.setdefault(output, strides)
        return self._known[atom]

    def _of(self, atom: Atom) -> Strides:
        is_array = isinstance(atom, Variable) and atom.type.dims
        return self._known.get(atom) if is_array else ()  # type: ignore[arg-type]


def _read(equation: Equation) -> list[Variable]:
    """The inputs whose strides determine those of the results."""
    if mark_of(equation.primitive) == "write":
        target = equation.inputs[inplace_operand(equation.primitive)]
        return [target] if isinstance(target, Variable) else []
    return list(equation.variables)


def results(equation: Equation, inputs: Sequence[Strides]) -> tuple[Strides, ...]:
    """The strides of an equation's results, given the strides of its inputs."""
    primitive, params = equation.primitive, equation.params
    if primitive == "call":
        program: Program = params["program"]
        return Layouts.of_program(program, inputs).outputs(program)
    if primitive == "cond":
        arms = [params["then"], params["otherwise"]]
        found = [Layouts.of_program(arm, inputs[1:]).outputs(arm) for arm in arms]
        return _common(equation.outputs, *found)
    if primitive == "loop":
        return _loop(equation, inputs)
    return tuple(_result(equation, output, inputs) for output in equation.outputs)


def common(dims: tuple[int, ...], one: Strides, other: Strides) -> Strides:
    """The strides of a value that is either of two arrays of the same shape."""
    return one if one is not None and alike(dims, one, other) else None


def _common(
    variables: Sequence[Variable], ones: Sequence[Strides], others: Sequence[Strides]
) -> tuple[Strides, ...]:
    pairs = zip(variables, ones, others, strict=False)
    return tuple(common(variable.type.dims, one, other) for variable, one, other in pairs)


def _loop(equation: Equation, inputs: Sequence[Strides]) -> tuple[Strides, ...]:
    """The strides of a loop's results. The strides of a carried array may change after a step, so
    the steps are followed until nothing changes."""
    ports = Ports.of(equation)
    inputs = inputs[1:] if ports.count is not None else inputs
    first, last = len(ports.constants), len(ports.constants) + len(ports.carry)
    carry = tuple(inputs[first:last])
    rows = [strides if strides is None else strides[1:] for strides in inputs[last:]]
    counter = [] if ports.is_while else [()]
    while True:
        given = [*inputs[:first], *counter, *carry, *rows]
        after = Layouts.of_program(ports.body, given).outputs(ports.body)
        settled = _common(ports.results, carry, after)
        if settled == carry:
            break
        carry = settled
    return (*carry, *map(_in_c_order, ports.ys))


def _in_c_order(variable: Variable) -> Strides:
    """The strides of an array that is made in C order; None for the values of all steps of a loop
    whose number of steps is not known."""
    type_ = variable.type
    if type_.kind == "stack":
        return None if type_.dims else ()
    try:
        return natural(generic(type_.dims), type_.dtype.itemsize)
    except UnknownSizeError:
        return None


def _result(equation: Equation, output: Variable, inputs: Sequence[Strides]) -> Strides:
    primitive, type_ = equation.primitive, output.type
    if type_.kind != "array" or not type_.dims:
        return None if type_.dims else ()
    if mark_of(primitive) == "write":
        return inputs[inplace_operand(primitive)]
    if primitive in _UNKNOWN:
        return None
    is_view = mark_of(primitive) == "view" and primitive != "index"  # index arrays copy
    if equation.is_named:
        try:
            equation, type_ = _generic(equation), replace(type_, dims=generic(type_.dims))
        except UnknownSizeError:
            return _of_named(equation, type_, inputs, is_view)
    if is_view:
        return viewed(primitive, equation.inputs[0].type, inputs[0], equation.params)
    is_draw = any(each.type.kind == "object" for each in equation.inputs)
    if primitive in _NATURAL or is_draw or type_.ndim == 1:
        return natural(type_.dims, type_.dtype.itemsize)
    found: set[Strides] = set()
    for given in _possible(equation, inputs):
        pairs = zip(equation.inputs, given, strict=True)
        operands = tuple(Operand(atom.type, strides) for atom, strides in pairs)
        found.add(_asked(primitive, operands, equation.params, type_))
    return found.pop() if len(found) == 1 else None


def _generic(equation: Equation) -> Equation:
    """The equation with its lengths replaced by numbers."""
    inputs = (
        Variable(atom.name, replace(atom.type, dims=generic(atom.type.dims)))
        if isinstance(atom, Variable)
        else atom
        for atom in equation.inputs
    )
    params = {name: generic(value) for name, value in equation.params.items()}
    return replace(equation, inputs=tuple(inputs), params=freeze(params))


def _of_named(equation: Equation, type_: Type, inputs: Sequence[Strides], is_view: bool) -> Strides:
    """The strides of a result if lengths of axes are known only at run time, so that NumPy cannot
    be asked."""
    strides = inputs[0] if inputs else None
    if equation.primitive == "slice" and strides is not None:
        steps, drop = equation.params["step"], equation.params["drop"]
        return tuple(strides[a] * step for a, step in enumerate(steps) if a not in drop)
    return (type_.dtype.itemsize,) if type_.ndim == 1 and not is_view else None


def _possible(equation: Equation, inputs: Sequence[Strides]) -> list[tuple[tuple[int, ...], ...]]:
    """The strides that the inputs may have: for an input whose strides are not known, the strides
    for every order of its axes."""
    choices: list[list[tuple[int, ...]]] = []
    for atom, strides in zip(equation.inputs, inputs, strict=True):
        dims, size = atom.type.dims, atom.type.dtype.itemsize
        orders = itertools.permutations(range(len(dims)))
        if strides is not None:
            choices.append([strides])
        elif math.factorial(len(dims)) <= LAYOUT_GUESSES:
            choices.append([in_order(dims, size, order) for order in orders])
        else:
            return []
    if math.prod(map(len, choices)) > LAYOUT_GUESSES:
        return []
    return list(itertools.product(*choices))


# --- views -----------------------------------------------------------------------------------


def viewed(primitive: str, type: Type, strides: Strides, params: Mapping[str, Any]) -> Strides:
    """The strides of a view of an array, or of the copy that a reshape makes."""
    if primitive == "asarray" or (primitive == "reshape" and not type.dims):
        dims = params.get("shape", type.dims)
        return (type.dtype.itemsize,) * len(dims)
    if type.kind != "array" or not type.dims:  # a number, broadcast
        dims = params.get("shape", (1,) * len(params.get("axis", ())))
        return (0,) * len(dims) if primitive == "broadcast_to" else natural(dims, 1)
    if strides is None:
        return None
    dummy = placeholder(type.dtype, type.dims, strides)
    if primitive == "reshape":
        reshaped = reshaped_view(dummy, params["shape"])
        if reshaped is None:
            return natural(params["shape"], type.dtype.itemsize)
        return tuple(reshaped.strides)
    return tuple(seen_through(primitive, params, dummy).strides)


def seen_through(primitive: str, params: Mapping[str, Any], dummy: Any) -> Any:
    """A view of a placeholder. The start of the view does not matter."""
    if primitive == "as_shape":
        return np.lib.stride_tricks.as_strided(dummy, params["shape"], dummy.strides)
    arguments = (dummy, ()) if primitive == "slice" else (dummy,)
    return TEMPLATES[primitive](*arguments, **params)


def reshaped_view(dummy: Any, dims: tuple[int, ...]) -> Any:
    """The array in another shape if NumPy can make a view of it, else None."""
    try:
        if RESHAPE_CAN_REFUSE:
            return np.reshape(dummy, dims, copy=False)
        view = dummy.view()
        view.shape = dims
        return view
    except (AttributeError, ValueError):
        return None


# --- asking ----------------------------------------------------------------------------------


def _asked(
    primitive: str, operands: tuple[Operand, ...], params: Mapping[str, Any], output: Type
) -> Strides:
    if any(operand.type.kind in ("object", "stack") for operand in operands):
        return None
    if 0 in output.dims or output.ndim == 0:
        return natural(output.dims, output.dtype.itemsize)
    is_empty = any(0 in operand.type.dims for operand in operands)
    length = max(d for t, _ in operands for d in t.dims) if is_empty else _SHORT
    short = operands if is_empty else tuple(_shortened(each, length) for each in operands)
    name = "sum" if primitive in _MOMENTS and is_empty else primitive
    given = {k: v for k, v in params.items() if k != "ddof"} if name == "sum" else params
    made = _ask(name, short, tuple(_short_params(given, length).items()))
    if made is None:
        return None
    dummy = placeholder(*made)
    if [dim == 1 for dim in dummy.shape] != [dim == 1 for dim in output.dims]:
        return None
    return dense_like(dummy, output.dims, output.dtype.itemsize)


def _shortened(operand: Operand, length: int) -> Operand:
    given = operand.type
    dims, strides = shortened(given.dims, operand.strides, given.dtype.itemsize, length)
    return Operand(Type(given.kind, given.dtype, dims), strides)


def _short_params(params: Mapping[str, Any], length: int) -> dict[str, Any]:
    """The params with lengths and positions that fit the short operands."""
    found = dict(params)
    if "ddof" in found:
        found["ddof"] = 0
    if isinstance(found.get("n"), int):  # the length of a Fourier transform
        found["n"] = min(found["n"], length)
    if "kth" in found:
        found["kth"] = 0
    if "pad_width" in found:
        found["pad_width"] = tuple(tuple(min(w, 1) for w in pair) for pair in found["pad_width"])
    if "at" in found:
        found["at"] = tuple(_short_entry(entry, length) for entry in found["at"])
    return found


def _short_entry(entry: Any, length: int) -> Any:
    """An entry of a subscript, with slices shortened to ``length``."""
    if not isinstance(entry, tuple) or entry[0] == "mask":
        return entry
    _, count, step = entry
    count = min(count, length)
    return (0, count, 1) if step > 0 else (max(count - 1, 0), count, -1)


@functools.lru_cache(maxsize=4096)
def _ask(
    primitive: str, operands: tuple[Operand, ...], params: tuple[tuple[str, Any], ...]
) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]] | None:
    """Dtype, shape and strides of the result that NumPy computes from the operands; None if NumPy
    refuses them."""
    facts = dict(params)
    if primitive == "attempted":
        primitive, facts = facts["called"], dict(of_called(facts))
    template = TEMPLATES[primitive]
    inputs = [_value(operand) for operand in operands]
    try:
        with np.errstate(all="ignore"):
            made = template(*grouped(template, inputs), **facts)
    except (ArithmeticError, LookupError, TypeError, ValueError, np.linalg.LinAlgError):
        return None
    return (made.dtype, made.shape, made.strides) if isinstance(made, np.ndarray) else None


def _value(operand: Operand) -> Any:
    given, strides = operand
    if given.kind == "array":
        return example(given.dtype, given.dims, strides)
    one = 0 if given.dtype.kind in "iu" else 1
    return given.python_type(one) if given.kind == "python" else given.dtype.type(one)
