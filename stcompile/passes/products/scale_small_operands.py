"""A number times a product goes to the smaller factor: ``2 * (d * x)`` is ``(2 * d) * x``.

So does a sign. Rounds differently: it runs at the fast level alone.

>>> from stcompile.wengert.text import parse_program
>>> print(scale_small_operands(parse_program('''
... program f(d: f64[100], x: f64[100,50]) {
...   v1: f64[100] = multiply(d, -0.5)
...   v2: f64[100,1] = expand_dims(v1; axis=(1,))
...   v3: f64[100,50] = multiply(v2, x)
...   v4: f64[100,50] = multiply(2, v3)
...   return v4
... }''')))
program f(d: f64[100], x: f64[100,50]) {
  v5: f64[100] = negative(d)
  v6: f64[100,1] = expand_dims(v5; axis=(1,))
  v4: f64[100,50] = multiply(v6, x)
  return v4
}
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, freeze
from stcompile.wengert.primitives import PRIMITIVES

MINUS_ONE = Constant(-1.0)


def scale_small_operands(program: Program) -> Program:
    """The program with numbers multiplied by the smaller factors of products."""
    program = with_inner(program, scale_small_operands)
    while True:  # a product of two numbers and an array takes two rounds
        changed = _once(program)
        if changed is program:
            return program
        program = changed


def _once(program: Program) -> Program:
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        for number, product in _scalings(equation):
            if _scale(rebuild, at, number, product):
                break
    return rebuild.done()


def _scalings(equation: Equation) -> list[tuple[Atom, Atom]]:
    """How an equation multiplies by a number: the number, and what it multiplies."""
    if equation.primitive == "negative":
        return [(MINUS_ONE, equation.inputs[0])]
    if equation.primitive == "multiply":
        dtype = equation.output.type.dtype
        pairs = (equation.inputs, equation.inputs[::-1])
        return [(n, x) for n, x in pairs if n.type.kind != "array" and _is_moderate(n, dtype)]
    return []


def _is_moderate(atom: Atom, dtype: np.dtype[Any]) -> bool:
    """False for a number so large or small that a product with it may be lost, though what that is
    multiplied by is not; nor are 0, infinity and NaN moved."""
    if not isinstance(atom, Constant) or dtype.kind not in "fc":
        return True
    finite = np.finfo(dtype)
    size = np.abs(atom.value)
    return bool(float(finite.tiny) ** 0.25 <= size <= float(finite.max) ** 0.25)


def _scale(rebuild: Rebuild, at: int, number: Atom, product: Atom) -> bool:
    """Multiply the smaller factor of a product by a number instead of the product."""
    root, maker = rebuild.equations[at], rebuild.maker(product, "multiply")
    if maker is None or not _is_free(rebuild, product, root):
        return False
    x, y = maker.inputs
    small, large = (x, y) if x.type.size <= y.type.size else (y, x)
    if large.type != product.type or root.output.type != product.type:
        return False
    if small.type.size >= large.type.size or small.type.dtype != product.type.dtype:
        return False
    if not _is_moderate(small, product.type.dtype):
        return False
    scaled = _scaled(rebuild, at, number, small)
    factors = (scaled, large) if small is x else (large, scaled)
    rebuild.substitute(at, replace(root, primitive="multiply", inputs=factors, params=freeze({})))
    rebuild.drop(rebuild.defined_at(product))
    return True


def _is_free(rebuild: Rebuild, atom: Atom, root: Equation) -> bool:
    """True for an array of floats that only the root reads, made under the same settings."""
    where = rebuild.defined_at(atom)
    if where < 0 or where in rebuild.dropped or not rebuild.is_used_once(atom):
        return False
    if rebuild.current(where) is not rebuild.equations[where]:
        return False
    settings = rebuild.equations[where].location.errstate == root.location.errstate
    return settings and atom.type.kind == "array" and atom.type.inexact


def _scaled(rebuild: Rebuild, at: int, number: Atom, atom: Atom) -> Atom:
    """A number times an atom: times what it is a view of, and with other numbers, at once."""
    root = rebuild.equations[at]
    location = root.location
    if isinstance(atom, Constant) and isinstance(number, Constant):
        return _folded(number, atom, root.output.type.dtype)
    if isinstance(atom, Variable) and _is_free(rebuild, atom, root):
        made = rebuild.equations[rebuild.defined_at(atom)]
        if PRIMITIVES[made.primitive].rearranges or made.primitive == "broadcast_to":
            rebuild.drop(rebuild.defined_at(atom))
            inner = _scaled(rebuild, at, number, made.inputs[0])
            return rebuild.insert(at, made.primitive, (inner,), location, **made.params)
        for constant, array in _scalings(made):
            if not (isinstance(constant, Constant) and isinstance(number, Constant)):
                continue
            if array.type == atom.type:  # a complex number may have made it complex
                rebuild.drop(rebuild.defined_at(atom))
                return _times(rebuild, at, _folded(number, constant, atom.type.dtype), array)
    return _times(rebuild, at, number, atom)


def _folded(one: Constant, other: Constant, dtype: np.dtype[Any]) -> Constant:
    """The product of two numbers by which an array of a dtype is multiplied: of that dtype, unless
    both are Python's. (NumPy's integers would wrap around.)"""
    if one.type.kind == other.type.kind == "python":
        return Constant(one.value * other.value)
    return Constant(dtype.type(one.value) * dtype.type(other.value))


def _times(rebuild: Rebuild, at: int, number: Atom, atom: Atom) -> Atom:
    location = rebuild.equations[at].location
    if isinstance(number, Constant) and number.value == 1:
        return atom
    if isinstance(number, Constant) and number.value == -1:
        return rebuild.insert(at, "negative", (atom,), location)
    return rebuild.insert(at, "multiply", (number, atom), location)
