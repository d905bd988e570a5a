"""Calls of NumPy's functions of arrays in C: statements that fill an array in the workspace.

Systems of equations are solved by the loops that kernels have for small matrices, whatever the size
is. Sorts and searches are short functions of C.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from stcompile.code.beside import text_of
from stcompile.codegen_templates.loops import HELPERS
from stcompile.native.arrays import Arrays
from stcompile.native.functions import CHOSEN
from stcompile.native.kinds import BOOL, FLOAT, INT, Array, Number
from stcompile.native.literals import initialised
from stcompile.native.sequences import in_sequence
from stcompile.native.sizes import size_text
from stcompile.native.values import Value, cast
from stcompile.native.whole import WHOLE, flat, of_each_matrix, rows_of

Given: TypeAlias = Mapping[str, Any]  # keyword arguments, which are known
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

SORTING = {"np.partition": "np.sort", "np.argpartition": "np.argsort"}
"""Functions that a whole sort does the work of."""

ORDERED = frozenset({"np.sort", "np.argsort", "np.searchsorted", "np.interp"})


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
    name = SORTING.get(name, name)
    if name not in SOLVERS and name not in ORDERED and name not in WHOLE:
        return None
    values = [run.value(argument) for argument in node.args]
    if not any(isinstance(value.kind, Array) for value in values):
        return None
    given = {one.arg: run.value(one.value).static for one in node.keywords if one.arg}
    if name in SOLVERS:
        return _solved(run, name, values)
    if name in WHOLE:
        return WHOLE[name](run, node, values, given)
    if name == "np.searchsorted":
        return _found(run, values, given)
    if name == "np.interp":
        return _interpolated(run, values)
    return _sorted(run, name.removeprefix("np."), values[:1], given)


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
    of, dims = values[-1].of, values[-1].dims
    is_number = name in SEVERAL or name == "np.linalg.det"
    made = of if is_number else Array(of, dims[-2:])
    return of_each_matrix(run, values, made, of_one)


def _sorted(run: Arrays, name: str, values: Sequence[Value], given: Given) -> Value:
    """``np.sort`` or ``np.argsort`` along an axis."""
    (array,) = values
    of, axis = array.of, given.get("axis", -1)
    if axis is None or given.keys() - {"axis", "kind", "stable"} or of.dtype.kind not in "ifb":
        run.refuse(f"`np.{name}` in this order or of this type has no translation")
    dims = array.dims
    axis %= len(dims)
    kind = array.array if name == "sort" else Array(INT, dims)
    memory = run.fresh_memory("sorted" if name == "sort" else "order", kind)
    places = run.fresh_memory("places", Array(INT, (2 * dims[axis],)))
    source, target = flat(array), flat(memory)
    if of == BOOL:
        of = Number(np.dtype("int8"))
        source = f"(const int8_t *){array.code}"
        target = f"(int8_t *){memory.code}" if name == "sort" else target
    said = source, *rows_of(array.array, axis), target, places.code
    run.say(f"{run.inline(name, of)}({', '.join(said)});")
    return memory


def _found(run: Arrays, values: Sequence[Value], given: Given) -> Value:
    """``np.searchsorted`` of a number or of each of an array."""
    array, wanted = values
    if not isinstance(array.kind, Array) or array.kind.of.dtype.kind not in "if":
        run.refuse("`np.searchsorted` of this type has no translation")
    of = array.kind.of
    before = array.code, size_text(array.kind.dims[0])
    after = ("true" if given.get("side") == "right" else "false",)
    if np.promote_types(of.dtype, wanted.of.dtype) != of.dtype:
        run.refuse("`np.searchsorted` of several types has no translation", "convert them before")
    return _each(run, wanted, run.inline("searchsorted", of), of, INT, (before, after))


def _interpolated(run: Arrays, values: Sequence[Value]) -> Value:
    """``np.interp`` of a number or of each of an array."""
    x, *points = values
    if any(not isinstance(one.kind, Array) or one.kind.of != FLOAT for one in points):
        run.refuse("`np.interp` of this type has no translation", "convert the points to float64")
    after = *(one.code for one in points), size_text(points[0].dims[0])
    return _each(run, x, run.inline("interp", FLOAT), FLOAT, FLOAT, ((), after))


def _each(
    run: Arrays,
    x: Value,
    function: str,
    of: Number,
    to: Number,
    others: tuple[Sequence[str], Sequence[str]],
) -> Value:
    """A function of each element of ``x``, which takes numbers ``of`` a type between the others."""

    def called(code: str) -> str:
        element = cast(Value(x.of, code), of).code
        return f"{function}({', '.join((*others[0], element, *others[1]))})"

    if not isinstance(x.kind, Array):
        return Value(to, called(x.code))
    memory = run.fresh_memory("found", Array(to, x.kind.dims))
    at = run.fresh_name("at")
    run.say(f"for (int64_t {at} = 0; {at} < {size_text(x.kind.size)}; {at}++)")
    run.say(f"    {flat(memory, at)} = {called(flat(x, at))};")
    return memory
