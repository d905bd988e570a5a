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
from stcompile.native.arrays import made_array
from stcompile.native.errors import place
from stcompile.native.fourier import FOURIER
from stcompile.native.functions import CHOSEN
from stcompile.native.kinds import Array, Number
from stcompile.native.literals import initialised
from stcompile.native.own_calls import own_call, results_of
from stcompile.native.searching import SEARCHING
from stcompile.native.selections import SELECTIONS, is_mask, selected
from stcompile.native.sequences import in_sequence
from stcompile.native.sizes import size_text
from stcompile.native.values import Value
from stcompile.native.whole import WHOLE, Call, flat, of_each_matrix
from stcompile.native.writer import Writer

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


def call_of_arrays(w: Writer, node: ast.Call) -> Value | None:
    """The translation of a call of a function of arrays; None for any other call."""
    made = made_array(w, node)
    if made is not None:
        kind, fill = made
        memory = w.fresh_memory("made", kind.of, *kind.dims)
        if fill is not None:
            w.fill(memory, fill)
        return memory
    name = ast.unparse(node.func)
    if name == "np.array" and isinstance(node.args[0], ast.List):
        return _written_down(w, node, node.args[0])
    if name not in SOLVERS and name not in FUNCTIONS and name not in lapack.PARTS:
        return None
    parts = (one.elts if isinstance(one, ast.Tuple) else [one] for one in node.args)
    values = [w.value(part) for one in parts for part in one]
    if not any(isinstance(value.kind, Array) for value in values):
        return None
    given = {one.arg: w.value(one.value).known for one in node.keywords if one.arg}
    call = Call(node, values, given)
    if name in lapack.PARTS and (w.unit.lapack or name not in SOLVERS):
        return lapack.called(w, call)
    return _solved(w, name, values) if name in SOLVERS else FUNCTIONS[name](w, call)


def _written_down(w: Writer, node: ast.Call, numbers: ast.List) -> Value:
    """``np.array`` of a list of known numbers."""
    dtypes = [w.value(one).static for one in node.args[1:]]
    try:
        values = np.array(_known(numbers), *dtypes)
    except ValueError:
        w.refuse_translation(f"`{ast.unparse(node)}` of numbers that are not known")
    known = w.unit.constants.items()
    same = (own for own, text in known if text == initialised("static const ", own, values)[0])
    own = next(same, None) or w.unit.unique("numbers")
    w.unit.constants[own], code = initialised("static const ", own, values)
    return Value(Array(Number(values.dtype), values.shape), code, is_const=True)


def _known(node: ast.expr) -> Any:
    """The numbers of a list that is written with numbers and their quotients."""
    if isinstance(node, ast.List):
        return [_known(one) for one in node.elts]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _known(node.left) / _known(node.right)
    return ast.literal_eval(node)


def transposed(w: Writer, array: Value, axes: int) -> Value:
    """The array with its last axes in the opposite order, as a copy."""
    kept = len(array.dims) - axes
    order = [*range(kept), *range(kept, kept + axes)[::-1]]
    memory = w.fresh_memory("turned", array.of, *(array.dims[axis] for axis in order))
    with w.each(*memory.dims) as names:
        read = [names[axis] for axis in order]  # which is its own inverse
        target, source = ("".join(f"[{own}]" for own in one) or "[0]" for one in (names, read))
        w.say(f"{memory.code}{target} = {array.code}{source};")
    return memory


def gathered(w: Writer, array: Value, indices: Sequence[Value]) -> Value:
    """The elements or rows of an array at places that arrays of one shape hold."""
    if len(indices) == 1 and is_mask(array, indices[0]):
        return selected(w, array, indices[0])
    kinds = {one.array for one in indices}
    if len(kinds) > 1:
        w.refuse_translation("a part of an array at places of several shapes")
    (kind,) = kinds
    if kind.of.dtype.kind not in "iu":
        w.refuse_translation("a selection by a mask", CHOSEN)
    rest = array.dims[len(indices) :]
    memory = w.fresh_memory("gathered", array.of, *kind.dims, *rest)
    at = w.fresh_name("at")
    numbers = [Value(kind.of, flat(one, at)) for one in indices]
    places = [place(w, one, dim) for one, dim in zip(numbers, array.dims, strict=False)]
    source = array.code + "".join(f"[{one}]" for one in places)
    with w.each(kind.size, names=[at]):
        if rest:
            row = Array(array.of, rest)
            target = f"{flat(memory)} + {at} * ({size_text(row.size)})"
            w.say(f"memcpy({target}, {source}, {row.count} * sizeof({row.of.c}));")
        else:
            w.say(f"{flat(memory, at)} = {source};")
    return memory


def _solved(w: Writer, name: str, values: Sequence[Value]) -> Value:
    """A function of a matrix, by the loops for small ones."""
    if len({one.kind.of for one in values if isinstance(one.kind, Array)}) > 1:
        w.refuse_translation(f"`{name}` of several types", "convert them before")
    for own, function in HELPERS.items():
        if own not in w.unit.definitions:
            (definition,) = ast.parse("\n".join(text_of(function))).body
            assert isinstance(definition, ast.FunctionDef)
            w.unit.definitions[own] = in_sequence(ast.increment_lineno(definition, FAR))
    function, before = SOLVERS[name]

    def of_one(values: Sequence[Value]) -> Value:
        matrix, *right = values
        matrix = own_call(w, before, [matrix]) if before else matrix
        if name in SEVERAL:
            return results_of(w, function, [matrix])[SEVERAL[name]]
        return own_call(w, function, [matrix, *right])

    if all(len(one.dims) < 3 for one in values):
        return of_one(values)
    return of_each_matrix(w, values, of_one)
