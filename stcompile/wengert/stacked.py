"""Stack an equation: the same primitive for all rows, of operands with an additional axis in front.

>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: f64[2,3]) {
...   y: f64[2] = sum(x; axis=(1,), keepdims=False)
...   return y
... }''')
>>> from stcompile.base.location import NOWHERE
>>> from stcompile.wengert.recorder import Recorder
>>> from stcompile.wengert.types import Type
>>> recorder = Recorder()
>>> rows = recorder.variable(Type.array("float64", (10, 2, 3)))
>>> def record(primitive, inputs, params):
...     return recorder.record(primitive, inputs, NOWHERE, params)[0]
>>> stacked(program.equations[0], [(rows, True)], "rows", 10, record)
%2: f64[10,2]
>>> dict(recorder.equations[0].params)
{'axis': (2,), 'keepdims': False}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Equation, Variable
from stcompile.wengert.primitives.axes import Name, Names
from stcompile.wengert.primitives.axis_rules import axis_map

Record = Callable[[str, "tuple[Atom, ...]", Mapping[str, Any]], Variable]


def stacked(
    equation: Equation,
    operands: Sequence[tuple[Atom, bool]],
    name: Name,
    length: Size,
    record: Record,
) -> Variable | None:
    """The equation of these ``operands``, each flagged if it has an additional axis in front,
    called ``name`` and of the given length; the result has this axis, too. None if the primitive
    has no such form."""
    axes = axis_map(equation)
    if axes is None:
        return None
    result = (name, *axes.result)
    inputs: list[Atom] = []
    names: list[Names] = []
    for side, ((atom, has_rows), own) in enumerate(zip(operands, axes.operands, strict=True)):
        if axes.rule.stacks == "all" and not has_rows:  # the same in all rows
            shape = (length, *atom.type.dims)
            atom, has_rows = record("broadcast_to", (atom,), {"shape": shape}), True
        names.append((name, *own) if has_rows else own)
        gaps = axes.missing(side, names[-1], result) if has_rows else ()
        if gaps:
            rest = iter(atom.type.dims)
            ndim = atom.type.ndim + len(gaps)
            shape = tuple([1 if at in gaps else next(rest) for at in range(ndim)])
            atom = record("reshape", (atom,), {"shape": shape})
        inputs.append(atom)
    params = axes.written(names, result, {name: length})
    if params is None:
        return None
    return record(equation.primitive, tuple(inputs), {**equation.params, **params})
