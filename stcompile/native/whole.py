"""Functions of whole arrays in C: along an axis, of each matrix of a stack, sums of products."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

from stcompile.native.kinds import Array, common
from stcompile.native.operators import binary
from stcompile.native.sizes import size_text
from stcompile.native.values import Value, as_shape, cast, literal
from stcompile.native.writer import Writer
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Sizes, number_of_elements


@dataclass(frozen=True)
class Call:
    """A call of a function of whole arrays: its text, its arguments, and its keywords."""

    node: ast.Call
    values: Sequence[Value]
    given: Mapping[str, Any]

    @property
    def function(self) -> str:
        """The name of the function, as `np.fft.fft`."""
        return ast.unparse(self.node.func)

    @property
    def name(self) -> str:
        """The name of the function, without its module."""
        return self.function.rpartition(".")[2]

    def checked(self, w: Writer, array: Value, kinds: str = "f") -> Array:
        """The kind of an array, which must have numbers of one of these kinds of dtypes."""
        if not isinstance(array.kind, Array) or array.of.dtype.kind not in kinds:
            hint = "convert it to float64 before" if kinds == "f" else ""
            w.refuse_translation(f"`{self.function}` of this type", hint)
        return array.kind


def flat(array: Value, at: str = "") -> str:
    """The elements of an array one after the other, or the one at a place."""
    if len(array.array.dims) < 2:
        return f"{array.code}[{at}]" if at else array.code
    pointer = f"({'const ' if array.is_const else ''}{array.of.c} *){array.code}"
    return f"({pointer})[{at}]" if at else pointer


def rows_of(kind: Array, axis: int | None) -> tuple[str, str, str]:
    """The number of rows along an axis, or of all elements as one row; their length; and the step
    from element to element."""
    if axis is None:
        return "1", size_text(kind.size), "1"
    dims, axis = kind.dims, axis % len(kind.dims)
    sizes = (*dims[:axis], *dims[axis + 1 :]), dims[axis : axis + 1], dims[axis + 1 :]
    rows, length, step = (size_text(number_of_elements(one)) for one in sizes)
    return rows, length, step


def products_so_far(w: Writer, call: Call) -> Value:
    """``np.cumprod``."""
    array, axis = call.values[0], call.given.get("axis")
    kind = call.checked(w, array)
    dims = kind.dims if axis is not None else (kind.size,)
    memory = w.fresh_memory("products", kind.of, *dims)
    w.call("cumprod", kind.of, flat(array), *rows_of(kind, axis), flat(memory))
    return memory


def spread(w: Writer, call: Call) -> Value:
    """``np.var`` or ``np.std``, of all elements or along an axis."""
    (array, *_), given = call.values, call.given
    kind, axis = call.checked(w, array), given.get("axis")
    if isinstance(axis, tuple) and len(axis) in (1, len(kind.dims)):
        axis = axis[0] if len(axis) == 1 else None
    if isinstance(axis, tuple) or given.keys() - {"axis", "ddof", "keepdims"}:
        w.refuse_translation(call.node, "write it by means of squares")
    gone = range(len(kind.dims)) if axis is None else [axis % len(kind.dims)]
    rest = [n for at, n in enumerate(kind.dims) if at not in gone]
    if given.get("keepdims"):
        rest = [1 if at in gone else n for at, n in enumerate(kind.dims)]
    memory = w.fresh_memory("spread", kind.of, *rest)
    less = literal(float(given.get("ddof", 0)), kind.of).code
    is_root = "true" if call.name == "std" else "false"
    w.call("spread", kind.of, flat(array), *rows_of(kind, axis), less, is_root, flat(memory))
    return memory if rest else Value(kind.of, f"{memory.code}[0]")


def convolved(w: Writer, call: Call) -> Value:
    """``np.convolve``."""
    one, other, *modes = call.values
    mode = modes[0].static if modes else call.given.get("mode", "full")
    kind = call.checked(w, one)
    lengths = [kind.dims[0], *other.dims[:1]]
    if other.kind != Array(kind.of, tuple(lengths[1:])):
        w.refuse_translation("`np.convolve` of several types", "convert them before")
    long, short = lengths if least(lengths[0] - lengths[1]) >= 0 else lengths[::-1]
    if least(long - short) < 0:
        w.refuse_translation("`np.convolve` of lengths of which either may be longer")
    sizes = {"full": short + long - 1, "same": long, "valid": long - short + 1}
    starts = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}
    memory = w.fresh_memory("convolved", kind.of, sizes[mode])
    n, m, start, count = map(size_text, (*lengths, starts[mode], sizes[mode]))
    w.call("convolve", kind.of, one.code, n, other.code, m, start, count, memory.code)
    return memory


def summed_products(w: Writer, call: Call) -> Value:
    """``np.einsum`` of letters."""
    spelt, *arrays = call.values
    text = spelt.static
    if not isinstance(text, str) or "->" not in text or "." in text or call.given:
        w.refuse_translation(call.node, "write all letters, and `->`")
    before, _, wanted = text.replace(" ", "").partition("->")
    pairs = [*zip(before.split(","), arrays, strict=True)]
    sizes = {n: size for part, one in pairs for n, size in zip(part, one.dims, strict=True)}
    of = reduce(common, (one.of for one in arrays))
    memory = w.fresh_memory("summed", of, *(sizes[letter] for letter in wanted))
    names = {letter: w.fresh_name("at") for letter in sizes}
    total = w.fresh_name("total")

    def element(one: Value, letters: str) -> Value:
        return Value(one.of, one.code + "".join(f"[{names[n]}]" for n in letters))

    def each(letters: Sequence[str]) -> AbstractContextManager[Any]:
        return w.each(*(sizes[n] for n in letters), names=[names[n] for n in letters])

    factors = [cast(element(one, part), of) for part, one in pairs]
    product = reduce(partial(binary, w, ast.Mult), factors)
    with each(wanted), w.braces():
        w.say(f"{of.c} {total} = {literal(0, of).code};")
        with each([n for n in sizes if n not in wanted]):
            w.say(f"{total} += {product.code};")
        w.say(f"{element(memory, wanted).code if wanted else f'{memory.code}[0]'} = {total};")
    return memory if wanted else Value(of, f"{memory.code}[0]")


def of_each_matrix(
    w: Writer, values: Sequence[Value], compute: Callable[[Sequence[Value]], Value]
) -> Value:
    """The results of a function of matrices for each of a stack."""
    stacked = [one for one in values if isinstance(one.kind, Array) and len(one.dims) > 2]
    batches = {one.dims[:-2] for one in stacked}
    if len(batches) != 1:
        w.refuse_translation("a function of stacks of several shapes", "broadcast them")
    (batch,) = batches
    at = w.fresh_name("at")
    count = size_text(number_of_elements(batch))
    with w.braces(f"for (int64_t {at} = 0; {at} < {count}; {at}++)"):
        result = compute([_matrix(one, at, batch) if one in stacked else one for one in values])
        memory = w.fresh_memory("stack", result.of, *batch, *result.dims)
        if isinstance(result.kind, Array):
            target = f"{flat(memory)} + {at} * ({size_text(result.kind.size)})"
            w.copy(Value(result.kind, target), result)
        else:
            w.say(f"{flat(memory, at)} = {result.code};")
    return memory


def _matrix(stack: Value, at: str, batch: Sizes) -> Value:
    """A matrix of a stack."""
    dims = stack.dims[-2:]
    matrices = as_shape(stack, (number_of_elements(batch), *dims))
    return replace(matrices, kind=Array(stack.of, dims), code=f"{matrices.code}[{at}]")


WHOLE = {
    "np.cumprod": products_so_far,
    "np.var": spread,
    "np.std": spread,
    "np.convolve": convolved,
    "np.einsum": summed_products,
}
"""The functions by their names."""
