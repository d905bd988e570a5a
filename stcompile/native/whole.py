"""Functions of whole arrays in C: along an axis, of each matrix of a stack, sums of products."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from stcompile.native.arrays import Arrays
from stcompile.native.kinds import Array, common
from stcompile.native.sizes import size_text
from stcompile.native.values import Value, cast, literal
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Sizes, number_of_elements

FLOATS = "convert it to float64 before"


def flat(array: Value, at: str = "") -> str:
    """The elements of an array one after the other, or the one at a place."""
    assert isinstance(array.kind, Array)
    if len(array.kind.dims) < 2:
        return f"{array.code}[{at}]" if at else array.code
    pointer = f"({'const ' if array.is_const else ''}{array.kind.of.c} *){array.code}"
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


def _floats(run: Arrays, node: ast.Call, array: Value) -> Array:
    kind = array.kind
    if not isinstance(kind, Array) or kind.of.dtype.kind != "f":
        run.refuse(f"`{ast.unparse(node.func)}` of this type has no translation", FLOATS)
    return kind


def products_so_far(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """``np.cumprod``."""
    kind = _floats(run, node, values[0])
    axis = given.get("axis")
    made = kind if axis is not None else Array(kind.of, (kind.size,))
    memory = run.fresh_memory("products", made)
    own = run.inline("cumprod", kind.of)
    run.say(f"{own}({', '.join((flat(values[0]), *rows_of(kind, axis), flat(memory)))});")
    return memory


def spread(run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]) -> Value:
    """``np.var`` or ``np.std``, of all elements or along an axis."""
    kind, axis = _floats(run, node, values[0]), given.get("axis")
    axes = range(len(kind.dims))
    if isinstance(axis, tuple) and len(axis) in (1, len(kind.dims)):
        axis = axis[0] if len(axis) == 1 else None
    if isinstance(axis, tuple) or given.keys() - {"axis", "ddof", "keepdims"}:
        run.refuse(f"`{ast.unparse(node)}` has no translation", "write it by means of squares")
    gone = axes if axis is None else [axis % len(kind.dims)]
    rest = [n for at, n in enumerate(kind.dims) if at not in gone]
    if given.get("keepdims"):
        rest = [1 if at in gone else n for at, n in enumerate(kind.dims)]
    memory = run.fresh_memory("spread", Array(kind.of, tuple(rest)))
    own = run.inline("spread", kind.of)
    less = literal(float(given.get("ddof", 0)), kind.of).code
    is_root = "true" if ast.unparse(node.func) == "np.std" else "false"
    said = flat(values[0]), *rows_of(kind, axis), less, is_root, flat(memory)
    run.say(f"{own}({', '.join(said)});")
    return memory if rest else Value(kind.of, f"{memory.code}[0]")


def convolved(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """``np.convolve``."""
    one, other = values[:2]
    mode = values[2].static if len(values) > 2 else given.get("mode", "full")
    kind = _floats(run, node, one)
    lengths = [v.kind.dims[0] for v in (one, other) if isinstance(v.kind, Array)]
    if other.kind != Array(kind.of, tuple(lengths[1:])):
        run.refuse("`np.convolve` of several types has no translation", "convert them before")
    long, short = lengths if least(lengths[0] - lengths[1]) >= 0 else lengths[::-1]
    if least(long - short) < 0:
        run.refuse("`np.convolve` of lengths of which either may be longer has no translation")
    sizes = {"full": short + long - 1, "same": long, "valid": long - short + 1}
    starts = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}
    memory = run.fresh_memory("convolved", Array(kind.of, (sizes[mode],)))
    numbers = map(size_text, (*lengths, starts[mode], sizes[mode]))
    n, m, start, count = numbers
    said = one.code, n, other.code, m, start, count, memory.code
    run.say(f"{run.inline('convolve', kind.of)}({', '.join(said)});")
    return memory


def summed_products(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """``np.einsum`` of letters."""
    spelt = values[0].static
    kinds = [one.kind for one in values[1:] if isinstance(one.kind, Array)]
    if not isinstance(spelt, str) or "->" not in spelt or "." in spelt or given.keys():
        run.refuse(f"`{ast.unparse(node)}` has no translation", "write all letters, and `->`")
    before, _, wanted = spelt.replace(" ", "").partition("->")
    parts = before.split(",")
    sizes = {
        letter: n
        for part, kind in zip(parts, kinds, strict=True)
        for letter, n in zip(part, kind.dims, strict=True)
    }
    of = reduce(common, (kind.of for kind in kinds))
    memory = run.fresh_memory("summed", Array(of, tuple(sizes[letter] for letter in wanted)))
    names = {letter: run.fresh_name("at") for letter in sizes}
    total = run.fresh_name("total")
    factors = [
        cast(Value(kind.of, one.code + "".join(f"[{names[n]}]" for n in part)), of)
        for part, kind, one in zip(parts, kinds, values[1:], strict=True)
    ]
    outer, inner = list(wanted), [n for n in sizes if n not in wanted]
    _loops(run, [(names[n], sizes[n]) for n in outer])
    run.say("{")
    run.text.level += 1
    run.say(f"{of.c} {total} = {literal(0, of).code};")
    _loops(run, [(names[n], sizes[n]) for n in inner])
    run.say(f"{total} += {reduce(lambda a, b: run.binary(ast.Mult, a, b), factors).code};")
    run.text.level -= len(inner)
    run.say(f"{memory.code}{''.join(f'[{names[n]}]' for n in outer) or '[0]'} = {total};")
    run.text.level -= 1
    run.say("}")
    run.text.level -= len(outer)
    return memory if outer else Value(of, f"{memory.code}[0]")


def _loops(run: Arrays, counters: Sequence[tuple[str, Any]]) -> None:
    for own, length in counters:
        run.say(f"for (int64_t {own} = 0; {own} < {size_text(length)}; {own}++)")
        run.text.level += 1


def of_each_matrix(
    run: Arrays, values: Sequence[Value], compute: Callable[[Sequence[Value]], Value]
) -> Value:
    """The results of a function of matrices for each of a stack."""
    stacked = [v for v in values if isinstance(v.kind, Array) and len(v.kind.dims) > 2]
    batches = {v.kind.dims[:-2] for v in stacked if isinstance(v.kind, Array)}
    if len(batches) != 1:
        run.refuse("a function of stacks of several shapes has no translation", "broadcast them")
    (batch,) = batches
    at = run.fresh_name("at")
    run.say(f"for (int64_t {at} = 0; {at} < {size_text(number_of_elements(batch))}; {at}++) {{")
    run.text.level += 1
    part = [_matrix(v, at, batch) if v in stacked else v for v in values]
    result = compute(part)
    memory = run.fresh_memory("stack", Array(result.of, (*batch, *result.dims)))
    if isinstance(result.kind, Array):
        size = f"{result.kind.count} * sizeof({result.of.c})"
        target = f"{flat(memory)} + {at} * ({size_text(result.kind.size)})"
        run.say(f"memcpy({target}, {result.code}, {size});")
    else:
        run.say(f"{flat(memory, at)} = {result.code};")
    run.text.level -= 1
    run.say("}")
    return memory


def _matrix(stack: Value, at: str, batch: Sizes) -> Value:
    """A matrix of a stack."""
    assert isinstance(stack.kind, Array)
    of, dims = stack.kind.of, stack.kind.dims
    whole = Array(of, (number_of_elements(batch), *dims[-2:]))
    const = "const " if stack.is_const else ""
    code = f"(({const}{whole.pointer('')}){stack.code})[{at}]"
    return Value(Array(of, dims[-2:]), code, is_const=stack.is_const)


WHOLE = {
    "np.cumprod": products_so_far,
    "np.var": spread,
    "np.std": spread,
    "np.convolve": convolved,
    "np.einsum": summed_products,
}
"""The functions by their names."""
