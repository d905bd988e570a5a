"""Count the elements of arrays that a program reads and writes: its cost without timing.

Each equation that runs counts the elements of its operands, which it reads, and of its results,
which it writes. A number is a single element; constants of the program, and Python's integers and
truth values (counters, conditions), count 0. A loop counts as often as it runs, a branch by the arm
that was taken. Further rules:

- a view touches nothing; its reader counts the elements of the view, and if it is broadcast, the
  elements of the array behind it;
- a write into a part of an array counts that part: once, or twice where it is added to, which
  reads it as well;
- a write that cannot happen in place copies the whole array first, and a copy counts twice;
- the values of all steps of a loop that are kept as an array are written there once more;
- a product that is added to an array, and not read elsewhere, is one operation with the addition
  (``axpy``; of two vectors ``ger``), and is not stored, as in the bounds of the cost of gradients
  (Griewank and Walther 2008, chapter 3); the value and the gradient are counted alike.

Otherwise equations count as they stand in the list: savings of the emitter, such as two equations
in a single call of BLAS, or a result that is written straight to its final place, do not count.

>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: f64[100], v: f64) {
...   y: f64[100] = copy(x)
...   z: f64[100] = update(y, v; drop=(0,), length=(1,), start=((3,),), step=(1,))
...   return z
... }''')
>>> count_touched(program, np.zeros(100), np.float64(2.0))  # 200 to copy, 2 to write an element
202
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.analysis.storage import shared_input
from stcompile.wengert.dims import Symbol, numbers_in
from stcompile.wengert.evaluate import apply, evaluate
from stcompile.wengert.ir import Constant, Equation, Program, freeze
from stcompile.wengert.parts import params_of, view_of
from stcompile.wengert.templates import inplace_operand, mark_of

from .copies import COPY, Copies


def count_touched(program: Program, *args: Any) -> int:
    """Count the elements that the program reads and writes on these arguments, which stay
    unchanged.

    The program is run by the evaluator, so this is slow; an optimised list (``program`` of a
    compiled function) says what a call costs.
    """
    counter = _Counter(Copies.of(program))
    given = [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        evaluate(program, *given, watch=counter.watch)
    return counter.touched


class _Counter:
    """Watches the evaluator."""

    def __init__(self, copies: Copies) -> None:
        self.copies = copies
        self.bound: dict[Symbol, int] = {}  # lengths of axes that the data decided
        self.touched = 0

    def watch(
        self,
        equation: Equation,
        inputs: tuple[Any, ...],
        results: tuple[Any, ...],
        steps: tuple[int, ...],
    ) -> None:
        if equation.binds is not None:
            self.bound[equation.binds] = results[0]
        count = _BY_NAME.get(equation.primitive) or _BY_MARK[mark_of(equation.primitive)]
        counted = equation
        if mark_of(equation.primitive) == "write":  # only here do params say how much is touched
            pairs = zip(self.copies.counters.get(id(equation), ()), steps, strict=False)
            known = {symbol: step for symbol, step in pairs if symbol is not None} | self.bound
            params = numbers_in(equation.params, known)
            if params is not equation.params:
                counted = replace(equation, params=freeze(params))
        self.touched += count(counted, inputs, results)
        if id(equation) in self.copies.writes:
            self.touched += COPY * _size(inputs[inplace_operand(equation.primitive)])
        if id(equation) in self.copies.unstored:
            self.touched -= _size(results[0])
        if id(equation) in self.copies.unread:
            self.touched -= _size(inputs[-1 if equation.primitive == "negative" else 1])
        for place in self.copies.loops.get(id(equation), ()):
            self.touched += COPY * _size(results[place])


_Count = Callable[[Equation, tuple[Any, ...], tuple[Any, ...]], int]


def _fresh(equation: Equation, inputs: tuple[Any, ...], results: tuple[Any, ...]) -> int:
    return _read(equation, inputs) + sum(map(_size, results))


def _view(equation: Equation, inputs: tuple[Any, ...], results: tuple[Any, ...]) -> int:
    """0; but the elements read if the result is a number, or copied if a reshape has to copy."""
    shares = shared_input(equation) is not None and np.may_share_memory(results[0], inputs[0])
    if shares and np.ndim(results[0]):
        return 0
    return COPY * _size(results[0]) + _read(equation, inputs, 1)


def _written(equation: Equation, inputs: tuple[Any, ...], results: tuple[Any, ...]) -> int:
    """The size of the part that is written, of the value written there, and of the indices."""
    target, _, *places = inputs
    view, part = view_of(equation), target
    if view:
        part = apply(view, (target, *places), params_of(equation))
    times = 2 if "op" in equation.params else 1
    return _size(part) * times + _read(equation, inputs, 1)


def _loop(equation: Equation, inputs: tuple[Any, ...], results: tuple[Any, ...]) -> int:
    """The size of the arrays that collect the values of all steps; the steps themselves count on
    their own."""
    kept = results[equation.params["carry"] :]
    return sum(_size(values) for values in kept if isinstance(values, np.ndarray))


def _nothing(equation: Equation, inputs: tuple[Any, ...], results: tuple[Any, ...]) -> int:
    return 0


_BY_NAME: Mapping[str, _Count] = {
    "call": _nothing,
    "cond": _nothing,
    "loop": _loop,
    "undef": _nothing,
}
_BY_MARK: Mapping[str, _Count] = {
    "fresh": _fresh,
    "view": _view,
    "write": _written,
    "effect": _fresh,
}


def _read(
    equation: Equation, inputs: tuple[Any, ...], first: int = 0, last: int | None = None
) -> int:
    """The elements of operands, without constants."""
    pairs = zip(equation.inputs[first:last], inputs[first:last], strict=True)
    return sum(_behind(value) for atom, value in pairs if not isinstance(atom, Constant))


def _behind(value: Any) -> int:
    """The number of elements of the array that a broadcast repeats."""
    if isinstance(value, np.ndarray):
        sides = zip(value.shape, value.strides, strict=True)
        return math.prod(side for side, stride in sides if stride) if value.size else 0
    return _size(value)


def _size(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_size, value))
    return 0 if isinstance(value, int) else np.size(value)
