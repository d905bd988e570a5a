"""Convert the arrays of an elementwise equation to the dtype that it computes in.

NumPy converts them as well, piece by piece and through buffers that it allocates in each call; a
conversion of its own is faster, and can be shared.

>>> from stcompile.wengert.text import parse_program
>>> print(cast_operands(parse_program('''
... program f(x: f32[3], mask: b8[3]) {
...   v1: f32[3] = multiply(x, mask)
...   return v1
... }''')))
program f(x: f32[3], mask: b8[3]) {
  v2: f32[3] = cast(mask; dtype=f32)
  v1: f32[3] = multiply(x, v2)
  return v1
}
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.types import Type


def cast_operands(program: Program) -> Program:
    """The program with conversions before its elementwise equations."""
    program = with_inner(program, cast_operands)
    rebuild = Rebuild(program)
    converted: dict[tuple[Variable, np.dtype[np.generic]], Atom] = {}
    for at, equation in enumerate(program.equations):
        wanted = _dtypes(equation)
        inputs = list(equation.inputs)
        for place, (atom, dtype) in enumerate(zip(equation.inputs, wanted, strict=False)):
            if not isinstance(atom, Variable) or not _is_other(atom.type, dtype):
                continue
            known = converted.get((atom, dtype))
            if known is None:
                known = rebuild.insert(at, "cast", (atom,), equation.location, dtype=dtype)
                converted[atom, dtype] = known
            inputs[place] = known
        if tuple(inputs) != equation.inputs:
            rebuild.substitute(at, replace(equation, inputs=tuple(inputs)))
    return rebuild.done()


def _is_other(type: Type, dtype: np.dtype[np.generic]) -> bool:
    return type.ndim > 0 and type.size > 0 and type.dtype != dtype


def _dtypes(equation: Equation) -> tuple[np.dtype[np.generic], ...]:
    """The dtypes that a ufunc converts its operands to; none for other equations."""
    ufunc = getattr(np, equation.primitive, None)
    types = [atom.type for atom in equation.inputs]
    if not isinstance(ufunc, np.ufunc) or "array" not in {t.kind for t in types}:
        return ()
    given = [t.python_type if _is_weak(t) else t.dtype for t in types]
    resolved = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))
    return tuple(resolved[: len(types)])


def _is_weak(type: Type) -> bool:
    return type.kind == "python" and type.python_type is not bool
