"""Calls of LAPACK in C: factorisations of matrices, and systems of equations.

LAPACK's matrices lie in columns: those of C are turned, as NumPy does it, so that the signs of
eigenvectors are NumPy's. Memory to work in is that of the workspace, as large as LAPACK asks for,
with room for blocks of columns.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from stcompile.native.kinds import Array, Number
from stcompile.native.sizes import size_text
from stcompile.native.values import Value
from stcompile.native.whole import Call, flat, of_each_matrix
from stcompile.native.writer import Writer
from stcompile.wengert.bounds import maximum, minimum
from stcompile.wengert.dims import Size

Results: TypeAlias = Mapping[str, Value]  # of a call, by the names of its parts
BLOCK = 64  # columns that LAPACK takes at once
INTEGER = Number(np.dtype("int32"))
HINT = "export it with lapack=True (--lapack), and link the program with -llapack"


def eigh(w: Writer, call: Call, job: str = "V") -> Results:
    a, *parts = call.values
    n, of = a.dims[0], a.of
    columns, found = _turned(w, a), w.fresh_memory("eigenvalues", of.part, n)
    part = parts[0].static if parts else "L"
    said = [f'"{job}"', f'"{part}"', size_text(n), columns, found.code]
    said += _work(w, "work", of, 1 + (6 + BLOCK) * n + (2 * n * n if job == "V" else 0))
    said += _work(w, "parts", of.part, 1 + 5 * n + 2 * n * n) if of.part != of else []
    said += _work(w, "integers", INTEGER, 3 + 5 * n)
    w.call(_own("eigh", of), of, *said, *_error(w, "Eigenvalues did not converge"))
    if job == "N":
        return {"": found}
    return {"eigenvalues": found, "eigenvectors": _turned_back(w, columns, of, n, n)}


def eigvalsh(w: Writer, call: Call) -> Results:
    return eigh(w, call, "N")


def svd(w: Writer, call: Call) -> Results:
    a = call.values[0]
    if call.given.get("compute_uv") is False:
        return {"": _singular(w, a, "N")[1]}
    (m, n), (u, s, vt) = a.dims, _singular(w, a, "S")
    k = minimum(m, n)
    left, right = _turned_back(w, u, a.of, m, k), _turned_back(w, vt, a.of, k, n)
    return {"U": left, "S": s, "Vh": right}


def _singular(w: Writer, a: Value, job: str) -> tuple[str, Value, str]:
    """The singular values of a matrix and its vectors, which lie in columns."""
    (m, n), of = a.dims, a.of
    k, columns = minimum(m, n), _turned(w, a)
    found = w.fresh_memory("singular", of.part, k)
    u = vt = columns
    if job == "S":
        u, vt = _code(w, "left", of, m * k), _code(w, "right", of, k * n)
    said = [f'"{job}"', size_text(m), size_text(n), columns, found.code, u, vt]
    said += _work(w, "work", of, 8 * k * k + BLOCK * (m + n))
    if of.part != of:
        said.append(_code(w, "parts", of.part, 5 * k * k + 7 * k + 2 * (m + n) * k))
    said.append(_code(w, "integers", INTEGER, 8 * k))
    w.call(_own("svd", of), of, *said, *_error(w, "SVD did not converge"))
    return u, found, vt


def pinv(w: Writer, call: Call) -> Results:
    a, *cutoffs = call.values
    return {"": _pseudoinverse(w, a, _cutoff(cutoffs, "1e-15"))}


def _pseudoinverse(w: Writer, a: Value, cutoff: str) -> Value:
    u, s, vt = _singular(w, a, "S")
    m, n = a.dims
    made = w.fresh_memory("inverse", a.of, n, m)
    part = f"({a.of.part.c})({cutoff})"
    w.call("pseudoinverse", a.of, size_text(m), size_text(n), u, s.code, vt, part, flat(made))
    return made


def _cutoff(values: Sequence[Value], otherwise: str) -> str:
    """The part of the largest singular value up to which others are taken for 0."""
    return repr(float(values[0].static)) if values else otherwise


def lstsq(w: Writer, call: Call) -> Results:
    a, b, *cutoffs = call.values
    m, n = a.dims
    eps = float(np.finfo(a.of.dtype).eps)
    cutoff = _cutoff(cutoffs, f"{eps!r} * (double)({size_text(maximum(m, n))})")
    inverse = _pseudoinverse(w, a, cutoff)
    made = w.fresh_memory("solution", a.of, n, *b.dims[1:])
    rows, inner, count = map(size_text, (n, m, _columns(b)))
    w.call("matrix_product", a.of, flat(inverse), rows, inner, flat(b), count, flat(made))
    return {"0": made}


def qr(w: Writer, call: Call) -> Results:
    a = call.values[0]
    (m, n), of = a.dims, a.of
    k, columns = minimum(m, n), _turned(w, a)
    r = w.fresh_memory("triangle", of, k, n)
    said = size_text(m), size_text(n), columns, flat(r), _code(w, "factors", of, k)
    w.call("lapack_qr", of, *said, *_work(w, "work", of, BLOCK * n))
    return {"Q": _turned_back(w, columns, of, m, k), "R": r}


def solve(w: Writer, call: Call) -> Results:
    a, b = call.values
    n, columns, right = a.dims[0], _turned(w, a), _turned(w, b)
    _solved(w, a.of, n, _columns(b), columns, right)
    is_vector = len(b.dims) < 2
    return {"": Value(b.array, right) if is_vector else _turned_back(w, right, a.of, n, b.dims[1])}


def inv(w: Writer, call: Call) -> Results:
    (a,) = call.values
    n, columns = a.dims[0], _turned(w, a)
    inverse = _code(w, "inverse", a.of, n * n)
    w.call("unit_matrix", a.of, size_text(n), inverse)
    _solved(w, a.of, n, n, columns, inverse)
    return {"": _turned_back(w, inverse, a.of, n, n)}


def _solved(w: Writer, of: Number, n: Size, count: Size, columns: str, right: str) -> None:
    said = size_text(n), size_text(count), columns, _code(w, "pivots", INTEGER, n), right
    w.call("lapack_solve", of, *said, *_error(w, "Singular matrix"))


def det(w: Writer, call: Call) -> Results:
    (a,) = call.values
    n, columns = a.dims[0], _turned(w, a)
    pivots = _code(w, "pivots", INTEGER, n)
    found = f"{w.fresh_memory('determinant', a.of).code}[0]"
    w.say(f"{found} = {w.inline('lapack_det', a.of)}({size_text(n)}, {columns}, {pivots});")
    return {"": Value(a.of, found)}


def cholesky(w: Writer, call: Call) -> Results:
    (a,) = call.values
    columns, factor = _turned(w, a), w.fresh_memory("factor", a.of, *a.dims)
    error = _error(w, "Matrix is not positive definite")
    w.call("lapack_cholesky", a.of, size_text(a.dims[0]), columns, flat(factor), *error)
    return {"": factor}


def _code(w: Writer, wish: str, of: Number, size: Size) -> str:
    """Memory that a function works in."""
    return w.fresh_memory(wish, of, size).code


def _work(w: Writer, wish: str, of: Number, size: Size) -> list[str]:
    """Memory that a function works in, and its size."""
    return [_code(w, wish, of, size), size_text(size)]


def _error(w: Writer, text: str) -> list[str]:
    """The place at which an error is noted, and its code."""
    return ["&work->error", w.code("LinAlgError", text)]


def _own(name: str, of: Number) -> str:
    """The name of a function that real and complex numbers have different ones of."""
    return f"complex_lapack_{name}" if of.part != of else f"lapack_{name}"


def _columns(b: Value) -> Size:
    """The number of columns; a vector is one."""
    return b.dims[1] if len(b.dims) > 1 else 1


def _turned(w: Writer, a: Value) -> str:
    """A copy of a matrix or a vector that lies in columns."""
    m, n = a.dims[0], _columns(a)
    columns = _code(w, "columns", a.of, m * n)
    w.call("to_columns", a.of, flat(a), size_text(m), size_text(n), columns)
    return columns


def _turned_back(w: Writer, columns: str, of: Number, m: Size, n: Size) -> Value:
    """A matrix that lies in columns, as an array."""
    made = w.fresh_memory("matrix", of, m, n)
    w.call("to_columns", of, columns, size_text(n), size_text(m), flat(made))
    return made


Compute: TypeAlias = Callable[[Writer, Call], Results]
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


def called(w: Writer, call: Call) -> Value:
    """A result of a function of LAPACK's. Those of a call are computed once for all parts of it
    that are read before anything else is done."""
    name, part = PARTS[call.function]
    compute, _ = FUNCTIONS[name]
    if not w.unit.lapack:
        w.refuse(f"`{name}` is a function of LAPACK's", HINT)
    arrays = [one for one in call.values if isinstance(one.kind, Array)]
    if {*"fc"}.isdisjoint(arrays[0].of.dtype.kind) or len({one.of for one in arrays}) > 1:
        w.refuse_translation(f"`{name}` of these types", "convert them before")
    if any(0 in one.dims for one in arrays):
        w.refuse_translation(f"`{name}` of a matrix without elements")
    if any(len(one.dims) > 2 for one in arrays):
        return of_each_matrix(
            w, call.values, lambda values: compute(w, replace(call, values=values))[part]
        )
    key = f"{name}({', '.join(map(ast.unparse, [*call.node.args, *call.node.keywords]))})"
    if part not in w.factored.get(key, {}):
        w.factored[key] = dict(compute(w, call))
    return w.factored[key].pop(part)
