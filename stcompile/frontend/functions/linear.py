"""Products: all of them are recorded as the primitive `contract`."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.functions.reductions import axes_in_order
from stcompile.frontend.functions.shapes import (
    broadcast_to,
    diagonal_part,
    ravel,
    reshape,
    transpose,
)
from stcompile.frontend.operations.indexing import get_item
from stcompile.frontend.operations.layout import in_c_order
from stcompile.frontend.operations.operators import matmul
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, is_static
from stcompile.library import linalg
from stcompile.wengert.bounds import greatest, least
from stcompile.wengert.dims import Size, UnknownSizeError
from stcompile.wengert.primitives.contraction import Contraction, contracting


def dot(run: Run, a: Any, b: Any) -> Any:
    """np.dot: with a number the product, else last axis of ``a`` with second-last of ``b``."""
    if 0 in (run.atom(a).type.ndim, run.atom(b).type.ndim):
        return run.record("multiply", run.as_array(a), run.as_array(b))
    return matmul(run, a, b, spelling="dot")


def outer(run: Run, a: Any, b: Any) -> Any:
    x, y = ravel(run, a), ravel(run, b)
    return run.record("contract", x, y, **contracting(spelling="outer"))


def inner(run: Run, a: Any, b: Any) -> Any:
    """np.inner: the last axes of both."""
    x, y = run.as_array(a), run.as_array(b)
    if not x.type.ndim or not y.type.ndim:
        return run.record("multiply", x, y)
    lengths = x.type.dims[-1], y.type.dims[-1]
    if lengths[0] != lengths[1] and not run.may_be_equal(*lengths):
        run.refuse(f"inner: shapes {x.type.dims} and {y.type.dims} do not fit", "", TypingError)
    pair = (x.type.ndim - 1, y.type.ndim - 1)
    return run.record("contract", x, y, **contracting(pair, spelling="inner"))


def vdot(run: Run, a: Any, b: Any) -> Any:
    """np.vdot: of complex numbers the first operand is conjugated."""
    x = ravel(run, a)
    if x.type.dtype.kind == "c":
        x = run.record("conjugate", x)
    return dot(run, x, ravel(run, b))


def tensordot(run: Run, a: Any, b: Any, axes: Any = 2) -> Any:
    """np.tensordot: the last axes of ``a`` with the first of ``b``, or the axes that are named."""
    x, y = run.as_array(a), run.as_array(b)
    if isinstance(axes, int):
        pairs = tuple((x.type.ndim - axes + i, i) for i in range(axes))
    else:
        of_x, of_y = axes
        left = axes_in_order(run, x.type.ndim, of_x)
        right = axes_in_order(run, y.type.ndim, of_y)
        if len(left) != len(right):
            run.refuse(f"axes {axes} do not pair", "name as many of each", TypingError)
        pairs = tuple(zip(left, right, strict=True))
    if not 0 <= len(pairs) <= min(x.type.ndim, y.type.ndim):
        run.refuse(f"axes {axes} for shapes {x.type.dims}, {y.type.dims}", "", TypingError)
    if not x.type.ndim or not y.type.ndim:
        return run.record("multiply", x, y)
    result = run.record("contract", x, y, **contracting(*pairs, spelling="tensordot"))
    return run.as_array(result)  # the result is an array even if no axis is left


def einsum(run: Run, subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    """np.einsum. Two operands that name each of their axes once are a contraction; anything else is
    NumPy's own einsum. With ``optimize`` it becomes contractions, two operands at a time from the
    left: quicker, and equal to NumPy's value up to rounding."""
    if not isinstance(subscripts, str):
        subscripts, operands = _of_lists(run, [subscripts, *operands])
    arrays = [run.as_array(operand) for operand in operands]
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    parts = terms.split(",")
    if len(parts) != len(arrays):
        run.refuse(
            f"np.einsum({subscripts!r}) names {len(parts)} operands, and {len(arrays)} are given",
            "write one term for each operand",
            TypingError,
        )
    rest = ""
    if "..." in subscripts:
        parts, arrays, rest = _named(run, parts, arrays)
        if arrow and rest and "..." not in result:
            run.refuse(f"np.einsum({subscripts!r}): the result lacks `...`", "", TypingError)
        result = result.replace("...", rest)
    names = "".join(parts)
    if not (names + result).isalpha() and names:
        run.refuse(
            f"np.einsum({subscripts!r}): axes are letters",
            "write letters, as in 'ij,jk->ik'",
            TypingError,
        )
    if not arrow:
        once = [name for name in names if names.count(name) == 1 and name not in rest]
        result = rest + "".join(sorted(once))
    for at in range(len(parts)):
        arrays[at] = _as_wide(run, at, parts, arrays)
    _check_terms(run, parts, arrays)
    if len(set(result)) != len(result) or not set(result) <= set(names):
        run.refuse(f"`{result}` cannot be the axes of the result", "", TypingError)
    if len(parts) == 1 and set(names) == set(result):
        return _viewed(run, parts[0], arrays[0], result)
    lone = any(names.count(name) == 1 and name not in result for name in names)
    diagonals = any(len(set(term)) != len(term) for term in parts)
    if optimize or (len(parts) == 2 and all(parts) and not lone and not diagonals):
        return _contracted(run, list(zip(parts, arrays, strict=True)), result)
    return run.record("einsum", *arrays, subscripts=f"{','.join(parts)}->{result}")


def _check_terms(run: Run, parts: Sequence[str], arrays: Sequence[Array]) -> None:
    """Refuse terms that do not name each axis, or that name axes of two lengths alike."""
    sizes: dict[str, Size] = {}
    for term, given in zip(parts, arrays, strict=True):
        if len(term) != given.type.ndim:
            run.refuse(
                f"`{term}` does not name the axes of {given.type}",
                "write a letter for each axis of the operand",
                TypingError,
            )
        for name, size in zip(term, given.type.dims, strict=True):
            if sizes.setdefault(name, size) != size:
                run.refuse(
                    f"einsum: `{name}` is an axis of {sizes[name]} and of {size}", "", TypingError
                )


def _viewed(run: Run, term: str, x: Array, result: str) -> Any:
    """Take diagonals of a single operand and reorder its axes, as a view, as NumPy does."""
    left, view = _reduced(run, term, x, set(result))
    return transpose(run, view, tuple(left.index(name) for name in result))


def _as_wide(run: Run, at: int, parts: list[str], arrays: list[Array]) -> Array:
    """Broadcast the axes of length 1 of an operand to the length that their names have in other
    operands."""
    term, x = parts[at], arrays[at]
    sizes = {
        name: size
        for other, array in zip(parts, arrays, strict=True)
        for name, size in zip(other, array.type.dims, strict=False)
        if size != 1
    }
    once = len(set(term)) == len(term) == x.type.ndim
    dims = tuple(
        sizes.get(name, 1) if size == 1 else size
        for name, size in zip(term, x.type.dims, strict=False)
    )
    return broadcast_to(run, x, dims) if once and dims != x.type.dims else x


def _of_lists(run: Run, given: list[Any]) -> tuple[str, tuple[Any, ...]]:
    """``einsum(x, [0, 1], y, [1, ...], [0, ...])`` as a string of subscripts and its operands."""
    result = given.pop() if len(given) % 2 else None
    terms = [*given[1::2], *([] if result is None else [result])]
    if not is_static(terms) or not all(isinstance(term, list | tuple) for term in terms):
        run.refuse(
            "np.einsum takes its subscripts as a string",
            "write letters, as in 'ij,jk->ik'",
            TypingError,
        )
    *inputs, last = [
        "".join("..." if axis is Ellipsis else string.ascii_letters[axis] for axis in term)
        for term in terms
    ]
    if result is None:
        return ",".join([*inputs, last]), tuple(given[::2])
    return f"{','.join(inputs)}->{last}", tuple(given[::2])


def _named(run: Run, parts: list[str], arrays: list[Array]) -> tuple[list[str], list[Array], str]:
    """Replace ``...`` in the terms by letters; return the terms, the operands and the letters. The
    last axes of all operands get the same letters; an axis of length 1 that is broadcast is
    removed."""
    counts = [
        x.type.ndim - len(term.replace("...", "")) for term, x in zip(parts, arrays, strict=True)
    ]
    ranks = [n for n, term in zip(counts, parts, strict=True) if "..." in term]
    if min(ranks) < 0:
        run.refuse("einsum: a term names more axes than its operand has", "", TypingError)
    free = [letter for letter in string.ascii_letters if letter not in "".join(parts)]
    rest = "".join(free[: max(ranks)])
    sizes = dict.fromkeys(rest, 1)
    for n, term, x in zip(counts, parts, arrays, strict=True):
        first = term.find("...")
        if first >= 0:
            for letter, size in zip(rest[len(rest) - n :], x.type.dims[first:], strict=False):
                sizes[letter] = size if sizes[letter] == 1 else sizes[letter]
    terms, kept = [], []
    for n, term, x in zip(counts, parts, arrays, strict=True):
        named = term.replace("...", rest[len(rest) - n :] if n else "")
        dims = zip(named, x.type.dims, strict=False)
        wide = [not (letter in sizes and size == 1 < sizes[letter]) for letter, size in dims]
        if not all(wide) and "..." in term:
            left = tuple(size for size, is_kept in zip(x.type.dims, wide, strict=True) if is_kept)
            x = reshape(run, x, left)
            named = "".join(name for name, is_kept in zip(named, wide, strict=True) if is_kept)
        terms.append(named)
        kept.append(x)
    return terms, kept, rest


def _contracted(run: Run, factors: list[tuple[str, Any]], result: str) -> Any:
    """The product of factors with named axes, summed over all axes but those in ``result``."""
    reduced = []
    for at, (term, x) in enumerate(factors):
        others = [name for i, (names, _) in enumerate(factors) if i != at for name in names]
        reduced.append(_reduced(run, term, x, {*others, *result}))
    (left, x), *rest = reduced
    while rest:
        (right, y), *rest = rest
        needed = {name for term, _ in rest for name in term} | {*result}
        last = not rest
        kept = result if last else "".join(n for n in dict.fromkeys(left + right) if n in needed)
        x = _pair(run, (left, x), (right, y), kept)
        left = kept
    if left != result:
        x = transpose(run, x, tuple(left.index(name) for name in result))
    return run.record("to_scalar", x) if not result and isinstance(x, Array) else x


def _reduced(run: Run, term: str, x: Any, needed: set[str]) -> tuple[str, Any]:
    """A factor of which diagonals were taken, and summed over the axes that nothing else names."""
    for name in dict.fromkeys(term):
        while term.count(name) > 1:
            one = term.index(name)
            two = term.index(name, one + 1)
            x = diagonal_part(run, x, 0, one, two)
            term = term[:one] + term[one + 1 : two] + term[two + 1 :] + name
    lone = tuple(i for i, name in enumerate(term) if name not in needed)
    if lone:
        x = run.as_array(run.record("sum", x, axis=lone, keepdims=False))
        term = "".join(name for name in term if name in needed)
    return term, x


def _pair(run: Run, one: tuple[str, Any], two: tuple[str, Any], result: str) -> Any:
    (left, x), (right, y) = one, two
    if not left or not right:
        product = run.record("multiply", x, y)
        names = left + right
        return transpose(run, run.as_array(product), tuple(names.index(n) for n in result))
    params = Contraction.of_names(left, right, result).params
    return run.record("contract", x, y, **{**params, "spelling": "einsum"})


def convolve(run: Run, a: Any, v: Any, mode: str = "full") -> Any:
    """np.convolve: numbers count as vectors of a single element."""
    if mode not in ("full", "same", "valid"):
        run.refuse(
            f"the mode {mode!r} is not supported", "write 'full', 'same' or 'valid'", TypingError
        )
    return run.record("convolve", _vector(run, a), _vector(run, v), mode=mode)


def correlate(run: Run, a: Any, v: Any, mode: str = "valid") -> Any:
    """np.correlate: a convolution with the shorter vector reversed and the second vector
    conjugated. If the first vector is shorter the result is reversed, too."""
    x, y = _vector(run, a), _vector(run, v)
    if y.type.dtype.kind == "c":
        y = run.record("conjugate", y)
    turned = slice(None, None, -1)
    shorter = x.type.dims[0] - y.type.dims[0]
    if least(shorter) < 0 <= greatest(shorter):
        raise UnknownSizeError(f"the length {shorter} of an axis", shorter)
    if greatest(shorter) < 0:
        return in_c_order(
            run, get_item(run, convolve(run, y, get_item(run, x, turned), mode), turned)
        )
    return convolve(run, x, get_item(run, y, turned), mode)


def _vector(run: Run, x: Any) -> Any:
    array = run.as_array(x)
    return array if array.type.ndim else run.record("reshape", array, shape=(1,))


# Functions of NumPy 2.0 and 2.2, which not every version has.
_PRODUCTS = {"vecdot": linalg.vecdot, "matvec": linalg.matvec, "vecmat": linalg.vecmat}

LINEAR: dict[Any, Any] = {
    np.convolve: convolve,
    np.correlate: correlate,
    np.matmul: lambda run, x1, x2: matmul(run, x1, x2),
    np.dot: dot,
    np.outer: outer,
    np.inner: inner,
    np.vdot: vdot,
    np.tensordot: tensordot,
    np.einsum: einsum,
    **{getattr(np, name): inlined(f) for name, f in _PRODUCTS.items() if hasattr(np, name)},
}
