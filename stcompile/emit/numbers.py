"""Equations of numbers as in compiled loops, where Python's errors are raised by code."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from stcompile.analysis.regions import Repeat
from stcompile.code.literals import attribute, literal
from stcompile.code.templates import Code, Operand, substitute
from stcompile.codegen_templates.loops import PLAIN, WRITTEN
from stcompile.emit.statements import Statements
from stcompile.wengert.bounds import greatest
from stcompile.wengert.dims import ENDLESS
from stcompile.wengert.ir import Atom, Constant, Equation, Params, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.elementwise import promoted
from stcompile.wengert.primitives.sizes import COUNT
from stcompile.wengert.types import Type

SINGLE = frozenset(map(np.dtype, ("float32", "complex64")))
MIXED = frozenset(map(np.dtype, ("float32", "int64")))
NUMBERS = frozenset({"python", "scalar"})
INTEGER = frozenset({"add", "subtract", "multiply"})


class Numbers(Statements):
    """Writes the items of a region whose equations are of numbers."""

    @cached_property
    def greatest(self) -> dict[Atom, int]:
        """The greatest magnitudes of Python's integers: of counters, and of integers computed from
        them."""
        loops = (item for _, item in self.schedule.tree.items() if isinstance(item, Repeat))
        return {
            loop.counter: greatest(loop.length)
            for loop in loops
            if loop.counter is not None and loop.length is not None
        }

    def _is_in_range(self, equation: Equation) -> bool:
        """True for integers of Python's that are known to have 64 bits."""
        if equation.primitive not in INTEGER or equation.output.type != COUNT:
            return False
        found = [
            abs(atom.value) if isinstance(atom, Constant) else self.greatest.get(atom, ENDLESS)
            for atom in equation.inputs
        ]
        bound = math.prod(found) if equation.primitive == "multiply" else sum(found)
        if bound < ENDLESS:
            self.greatest[equation.output] = bound
        return bound < ENDLESS

    def code_of(self, equation: Equation, operands: list[Operand]) -> Code:
        if self._is_in_range(equation):
            return substitute(equation.primitive, operands, equation.params)
        return substitute_in_loop(equation.primitive, alike(equation, operands), equation.params)


class Whole(Numbers):
    """Writes a function that is compiled as a whole: its equations of numbers as in loops, and
    those of arrays as for NumPy."""

    def code_of(self, equation: Equation, operands: list[Operand]) -> Code:
        atoms = (*equation.inputs, *equation.outputs)
        is_of_numbers = all(atom.type.kind in NUMBERS for atom in atoms)
        if is_of_numbers and equation.primitive in PLAIN | WRITTEN.keys():
            return super().code_of(equation, operands)
        return Statements.code_of(self, equation, operands)


def substitute_in_loop(primitive: str, operands: Sequence[Operand], params: Params) -> Code:
    """The code of one equation of numbers, in a loop that Numba compiles."""
    return substitute(primitive, operands, params, WRITTEN.get(primitive))


def alike(equation: Equation, operands: list[Operand]) -> list[Operand]:
    """The operands of arithmetic in the dtype that NumPy computes in, where Numba takes another: of
    float32 and a Python number it computes in float64, and of float32 and int64 in float32; so it
    does of complex numbers."""
    types = tuple(operand.atom.type for operand in operands)
    if not PRIMITIVES[equation.primitive].elementwise or any(t.dims for t in types):
        return operands
    dtype, dtypes = promoted(types), {t.dtype for t in types}
    if dtype in SINGLE or (dtype == np.float64 and dtypes >= MIXED):
        return [_as_dtype(operand, dtype) for operand in operands]
    return operands


def _as_dtype(operand: Operand, dtype: np.dtype[Any]) -> Operand:
    atom: Atom = operand.atom
    if atom.type.dtype == dtype:
        return operand
    if isinstance(atom, Constant):
        made = Constant(dtype.type(atom.value))
        return Operand(literal(made.value), made)
    code = ast.Call(attribute("np", dtype.name), [operand.code], [])
    return Operand(code, Variable(atom.name, Type.scalar(dtype)))
