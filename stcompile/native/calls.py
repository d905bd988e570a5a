"""Calls of NumPy's functions of arrays in C: statements that fill an array in the workspace.

Systems of equations are solved by the loops that kernels have for small matrices, whatever the size
is, or by LAPACK. Other functions are short functions of C.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from stcompile.code.beside import text_of
from stcompile.codegen_templates.loops import HELPERS
from stcompile.native import lapack
from stcompile.native.arrays import Arrays
from stcompile.native.fourier import FOURIER
from stcompile.native.functions import CHOSEN
from stcompile.native.kinds import Array, Number
from stcompile.native.literals import initialised
from stcompile.native.searching import SEARCHING
from stcompile.native.selections import SELECTIONS, is_mask, selected
from stcompile.native.sequences import in_sequence
from stcompile.native.sizes import size_text
from stcompile.native.values import Value
from stcompile.native.whole import WHOLE, flat, of_each_matrix

FAR = 10**7
"""A line from which on no text of a user has lines: those of functions of the compiler's."""

SOLVERS = {
    "np.linalg.solve": ("solved", "factored"),
    "np.linalg.inv": ("inverse", "factored"),
    "np.linalg.det": ("determinant", "factored"),
    "np.linalg.cholesky": ("lower_factor", ""),
    "np.linalg.slogdet.sign": ("sign_and_logarithm", "factored"),
    "np.linalg.slogdet.logabsdet": ("sign_and_logarithm", "factored"),
}
"""The functions of loops that compute what one of NumPy's does, and what its matrix is given to
before."""

SEVERAL = {"np.linalg.slogdet.sign": 0, "np.linalg.slogdet.logabsdet": 1}
"""The position of a result among those of such a function."""

FUNCTIONS = {**WHOLE, **SEARCHING, **FOURIER, **SELECTIONS}
"""Other functions of whole arrays, by their names."""


def call_of_arrays(run: Arrays, node: ast.Call) -> Value | None:
    """The translation of a call of a function of arrays; None for any other call."""
    made = run.made_array(node)
    if made is not None:
        kind, fill = made
        memory = run.fresh_memory("made", kind)
        if fill is not None:
            run.fill(memory, fill)
        return memory
    name = ast.unparse(node.func)
    if name == "np.array" and isinstance(node.args[0], ast.List):
        dtypes = [run.value(one).static for one in node.args[1:]]
        try:
            known = _known(node.args[0])
        except ValueError:
            run.refuse(f"`{ast.unparse(node)}` of numbers that are not known has no translation")
        return constant(run, np.array(known, *dtypes))
    if name not in SOLVERS and name not in FUNCTIONS and name not in lapack.PARTS:
        return None
    parts = (one.elts if isinstance(one, ast.Tuple) else [one] for one in node.args)
    values = [run.value(part) for one in parts for part in one]
    if not any(isinstance(value.kind, Array) for value in values):
        return None
    keywords = {one.arg: run.value(one.value) for one in node.keywords if one.arg}
    given = {own: v.static if v.length is None else v.length for own, v in keywords.items()}
    if name in lapack.PARTS and (run.unit.lapack or name not in SOLVERS):
        return lapack.called(run, node, values, given)
    if name in SOLVERS:
        return _solved(run, name, values)
    return FUNCTIONS[name](run, node, values, given)


def _known(node: ast.expr) -> Any:
    """The numbers of a list that is written with numbers and their quotients."""
    if isinstance(node, ast.List):
        return [_known(one) for one in node.elts]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _known(node.left) / _known(node.right)
    return ast.literal_eval(node)


def transposed(run: Arrays, array: Value, axes: int) -> Value:
    """The array with its last axes in the opposite order, as a copy."""
    kept = len(array.dims) - axes
    order = [*range(kept), *range(kept, kept + axes)[::-1]]
    dims = tuple(array.dims[axis] for axis in order)
    memory = run.fresh_memory("turned", Array(array.of, dims))
    names = [run.fresh_name("at") for _ in dims]
    for own, length in zip(names, dims, strict=True):
        run.say(f"for (int64_t {own} = 0; {own} < {size_text(length)}; {own}++)")
        run.text.level += 1
    read = [names[order.index(axis)] for axis in range(len(order))]
    target, source = ("".join(f"[{own}]" for own in one) for one in (names, read))
    run.say(f"{memory.code}{target or '[0]'} = {array.code}{source or '[0]'};")
    run.text.level -= len(dims)
    return memory


def gathered(run: Arrays, array: Value, indices: Sequence[Value]) -> Value:
    """The elements or rows of an array at places that arrays of one shape hold."""
    kinds = [one.kind for one in indices]
    if len(indices) == 1 and is_mask(array, indices[0]):
        return selected(run, array, indices[0])
    if any(kind != kinds[0] or not isinstance(kind, Array) for kind in kinds):
        run.refuse("a part of an array at places of several shapes has no translation")
    assert isinstance(kinds[0], Array)
    if kinds[0].of.dtype.kind not in "iu":
        run.refuse("a selection by a mask has no translation", CHOSEN)
    rest = array.dims[len(indices) :]
    memory = run.fresh_memory("gathered", Array(array.of, (*kinds[0].dims, *rest)))
    at = run.fresh_name("at")
    numbers = [Value(kinds[0].of, flat(one, at)) for one in indices]
    places = [run.place(one, dim) for one, dim in zip(numbers, array.dims, strict=False)]
    source = array.code + "".join(f"[{place}]" for place in places)
    run.say(f"for (int64_t {at} = 0; {at} < {size_text(kinds[0].size)}; {at}++)")
    if rest:
        row = Array(array.of, rest)
        target = f"{flat(memory)} + {at} * ({size_text(row.size)})"
        run.say(f"    memcpy({target}, {source}, {row.count} * sizeof({row.of.c}));")
    else:
        run.say(f"    {flat(memory, at)} = {source};")
    return memory


def constant(run: Arrays, values: np.ndarray[Any, Any]) -> Value:
    """An array of known numbers."""
    known = run.unit.constants.items()
    same = (own for own, text in known if text == initialised("static const ", own, values)[0])
    own = next(same, None) or run.unit.unique("numbers")
    run.unit.constants[own], code = initialised("static const ", own, values)
    return Value(Array(Number(values.dtype), values.shape), code, is_const=True)


def _solved(run: Arrays, name: str, values: Sequence[Value]) -> Value:
    """A function of a matrix, by the loops for small ones."""
    if len({one.kind.of for one in values if isinstance(one.kind, Array)}) > 1:
        run.refuse(f"`{name}` of several types has no translation", "convert them before")
    for own, function in HELPERS.items():
        if own not in run.unit.definitions:
            (definition,) = ast.parse("\n".join(text_of(function))).body
            assert isinstance(definition, ast.FunctionDef)
            run.unit.definitions[own] = in_sequence(ast.increment_lineno(definition, FAR))
    function, before = SOLVERS[name]

    def of_one(values: Sequence[Value]) -> Value:
        matrix, *right = values
        matrix = run.call(before, [matrix]) if before else matrix
        if name in SEVERAL:
            return run.results_of(function, [matrix])[SEVERAL[name]]
        return run.call(function, [matrix, *right])

    if all(len(one.dims) < 3 for one in values):
        return of_one(values)
    return of_each_matrix(run, values, of_one)
