"""Calls of LAPACK in C: factorisations of matrices, and systems of equations.

LAPACK's matrices lie in columns: those of C are turned, as NumPy does it, so that the signs of
eigenvectors are NumPy's. Memory to work in is that of the workspace, as large as LAPACK asks for,
with room for blocks of columns.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from stcompile.native.arrays import Arrays
from stcompile.native.kinds import Array, Number
from stcompile.native.sizes import size_text
from stcompile.native.values import Value
from stcompile.native.whole import flat, of_each_matrix
from stcompile.wengert.bounds import maximum, minimum
from stcompile.wengert.dims import Size

Results: TypeAlias = Mapping[str, Value]  # of a call, by the names of its parts
BLOCK = 64  # columns that LAPACK takes at once
INTEGER = Number(np.dtype("int32"))
HINT = "export it with lapack=True (--lapack), and link the program with -llapack"


def eigh(run: Arrays, values: Sequence[Value], given: Mapping[str, Any], job: str = "V") -> Results:
    a, of = values[0], values[0].of
    n = a.dims[0]
    columns, found = _turned(run, a), _memory(run, "eigenvalues", of.part, n)
    part = values[1].static if len(values) > 1 else "L"
    said = [f'"{job}"', f'"{part}"', size_text(n), columns, found.code]
    size = 1 + (6 + BLOCK) * n + (2 * n * n if job == "V" else 0)
    said += _work(run, "work", of, size)
    said += _work(run, "parts", of.part, 1 + 5 * n + 2 * n * n) if of.part != of else []
    said += _work(run, "integers", INTEGER, 3 + 5 * n)
    _called(run, "eigh", of, [*said, *_error(run, "Eigenvalues did not converge")])
    if job == "N":
        return {"": found}
    return {"eigenvalues": found, "eigenvectors": _turned_back(run, columns, of, n, n)}


def eigvalsh(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    return eigh(run, values, given, "N")


def svd(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    if given.get("compute_uv") is False:
        return {"": _singular(run, values[0], "N")[1]}
    (m, n), of = values[0].dims, values[0].of
    u, s, vt = _singular(run, values[0], "S")
    k = minimum(m, n)
    return {
        "U": _turned_back(run, u, of, m, k),
        "S": s,
        "Vh": _turned_back(run, vt, of, k, n),
    }


def _singular(run: Arrays, a: Value, job: str) -> tuple[str, Value, str]:
    """The singular values of a matrix and its vectors, which lie in columns."""
    (m, n), of = a.dims, a.of
    k, columns, found = minimum(m, n), _turned(run, a), None
    found = _memory(run, "singular", of.part, k)
    u = vt = columns
    if job == "S":
        u, vt = _memory(run, "left", of, m * k).code, _memory(run, "right", of, k * n).code
    said = [f'"{job}"', size_text(m), size_text(n), columns, found.code, u, vt]
    said += _work(run, "work", of, 8 * k * k + BLOCK * (m + n))
    if of.part != of:
        said.append(_memory(run, "parts", of.part, 5 * k * k + 7 * k + 2 * (m + n) * k).code)
    said.append(_memory(run, "integers", INTEGER, 8 * k).code)
    _called(run, "svd", of, [*said, *_error(run, "SVD did not converge")])
    return u, found, vt


def pinv(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    return {"": _pseudoinverse(run, values[0], _cutoff(values[1:], "1e-15"))}


def _pseudoinverse(run: Arrays, a: Value, cutoff: str) -> Value:
    u, s, vt = _singular(run, a, "S")
    m, n = a.dims
    made = run.fresh_memory("inverse", Array(a.of, (n, m)))
    said = size_text(m), size_text(n), u, s.code, vt, f"({a.of.part.c})({cutoff})", flat(made)
    run.say(f"{run.inline('pseudoinverse', a.of)}({', '.join(said)});")
    return made


def _cutoff(values: Sequence[Value], otherwise: str) -> str:
    """The part of the largest singular value up to which others are taken for 0."""
    return repr(float(values[0].static)) if values else otherwise


def lstsq(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    a, b = values[:2]
    m, n = a.dims
    eps = float(np.finfo(a.of.dtype).eps)
    cutoff = _cutoff(values[2:], f"{eps!r} * (double)({size_text(maximum(m, n))})")
    inverse = _pseudoinverse(run, a, cutoff)
    made = run.fresh_memory("solution", Array(a.of, (n, *b.dims[1:])))
    count = b.dims[1] if len(b.dims) > 1 else 1
    said = flat(inverse), size_text(n), size_text(m), flat(b), size_text(count), flat(made)
    run.say(f"{run.inline('matrix_product', a.of)}({', '.join(said)});")
    return {"0": made}


def qr(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    (m, n), of = values[0].dims, values[0].of
    k, columns = minimum(m, n), _turned(run, values[0])
    r = run.fresh_memory("triangle", Array(of, (k, n)))
    said = [size_text(m), size_text(n), columns, flat(r), _memory(run, "factors", of, k).code]
    run.say(
        f"{run.inline('lapack_qr', of)}({', '.join([*said, *_work(run, 'work', of, BLOCK * n)])});"
    )
    return {"Q": _turned_back(run, columns, of, m, k), "R": r}


def solve(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    a, b = values
    n, count = a.dims[0], b.dims[1] if len(b.dims) > 1 else 1
    columns, right = _turned(run, a), _turned(run, b)
    _solved(run, a.of, n, count, columns, right)
    if len(b.dims) < 2:
        return {"": Value(b.array, right)}
    return {"": _turned_back(run, right, a.of, n, count)}


def inv(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    (a,) = values
    n, columns = a.dims[0], _turned(run, a)
    inverse = _memory(run, "inverse", a.of, n * n).code
    run.say(f"{run.inline('unit_matrix', a.of)}({size_text(n)}, {inverse});")
    _solved(run, a.of, n, n, columns, inverse)
    return {"": _turned_back(run, inverse, a.of, n, n)}


def _solved(run: Arrays, of: Number, n: Size, count: Size, columns: str, right: str) -> None:
    said = size_text(n), size_text(count), columns, _memory(run, "pivots", INTEGER, n).code, right
    run.say(
        f"{run.inline('lapack_solve', of)}({', '.join((*said, *_error(run, 'Singular matrix')))});"
    )


def det(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    (a,) = values
    n, columns = a.dims[0], _turned(run, a)
    said = size_text(n), columns, _memory(run, "pivots", INTEGER, n).code
    found = run.fresh_memory("determinant", Array(a.of, ()))
    run.say(f"{found.code}[0] = {run.inline('lapack_det', a.of)}({', '.join(said)});")
    return {"": Value(a.of, f"{found.code}[0]")}


def cholesky(run: Arrays, values: Sequence[Value], given: Mapping[str, Any]) -> Results:
    (a,) = values
    columns, factor = _turned(run, a), run.fresh_memory("factor", a.array)
    said = size_text(a.dims[0]), columns, flat(factor)
    error = _error(run, "Matrix is not positive definite")
    run.say(f"{run.inline('lapack_cholesky', a.of)}({', '.join((*said, *error))});")
    return {"": factor}


def _memory(run: Arrays, wish: str, of: Number, size: Size) -> Value:
    return run.fresh_memory(wish, Array(of, (size,)))


def _work(run: Arrays, wish: str, of: Number, size: Size) -> list[str]:
    """Memory that a function works in, and its size."""
    return [_memory(run, wish, of, size).code, size_text(size)]


def _error(run: Arrays, text: str) -> list[str]:
    """The place at which an error is noted, and its code."""
    return ["&work->error", run.code("LinAlgError", [text])]


def _called(run: Arrays, name: str, of: Number, said: Sequence[str]) -> None:
    """A call of a function that real and complex numbers have different ones of."""
    own = f"complex_lapack_{name}" if of.part != of else f"lapack_{name}"
    run.say(f"{run.inline(own, of)}({', '.join(said)});")


def _turned(run: Arrays, a: Value) -> str:
    """A copy of a matrix, or of a vector as one column, that lies in columns."""
    m, n = a.dims if len(a.dims) > 1 else (a.dims[0], 1)
    columns = _memory(run, "columns", a.of, m * n).code
    said = flat(a), size_text(m), size_text(n), columns
    run.say(f"{run.inline('to_columns', a.of)}({', '.join(said)});")
    return columns


def _turned_back(run: Arrays, columns: str, of: Number, m: Size, n: Size) -> Value:
    """A matrix that lies in columns, as an array."""
    made = run.fresh_memory("matrix", Array(of, (m, n)))
    said = columns, size_text(n), size_text(m), flat(made)
    run.say(f"{run.inline('to_columns', of)}({', '.join(said)});")
    return made


Compute: TypeAlias = Callable[[Arrays, Sequence[Value], Mapping[str, Any]], Results]
FUNCTIONS: dict[str, tuple[Compute, tuple[str, ...]]] = {
    "np.linalg.eigh": (eigh, ("eigenvalues", "eigenvectors")),
    "np.linalg.eigvalsh": (eigvalsh, ("",)),
    "np.linalg.svd": (svd, ("U", "S", "Vh", "")),
    "np.linalg.pinv": (pinv, ("",)),
    "np.linalg.lstsq": (lstsq, ("0",)),
    "np.linalg.qr": (qr, ("Q", "R")),
    "np.linalg.solve": (solve, ("",)),
    "np.linalg.inv": (inv, ("",)),
    "np.linalg.det": (det, ("",)),
    "np.linalg.cholesky": (cholesky, ("",)),
}
"""The functions by their names, each with the names of its results ("" for one alone)."""

PARTS = {
    ".".join(filter(None, (name, part))): (name, part)
    for name, (_, parts) in FUNCTIONS.items()
    for part in parts
}
"""The function and the result that a name in a call stands for."""


def called(run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]) -> Value:
    """A result of a function of LAPACK's. Those of a call are computed once for all parts of it
    that are read before anything else is done."""
    name, part = PARTS[ast.unparse(node.func)]
    compute, _ = FUNCTIONS[name]
    if not run.unit.lapack:
        run.refuse(f"`{name}` is a function of LAPACK's", HINT)
    arrays = [one for one in values if isinstance(one.kind, Array)]
    if {*"fc"}.isdisjoint(arrays[0].of.dtype.kind) or len({one.of for one in arrays}) > 1:
        run.refuse(f"`{name}` of these types has no translation", "convert them before")
    if any(0 in one.dims for one in arrays):
        run.refuse(f"`{name}` of a matrix without elements has no translation")
    if any(len(one.dims) > 2 for one in arrays):
        return of_each_matrix(run, values, lambda given_: compute(run, given_, given)[part])
    key = f"{name}({', '.join(map(ast.unparse, [*node.args, *node.keywords]))})"
    if part not in run.factored.get(key, {}):
        run.factored[key] = dict(compute(run, values, given))
    return run.factored[key].pop(part)
