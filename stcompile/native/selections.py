"""Selections by masks in C: arrays of as many elements as a mask is true at.

That number is a length that has a name, of a variable instead of an argument. The workspace has
memory for all elements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stcompile.native.arrays import Arrays
from stcompile.native.functions import CHOSEN
from stcompile.native.kinds import BOOL, INT, Array
from stcompile.native.sizes import size_text
from stcompile.native.values import EQUAL, Value, cast, static_value
from stcompile.native.whole import flat
from stcompile.wengert.dims import Dim, Sizes, number_of_elements


def is_mask(array: Value, mask: Value) -> bool:
    """True for a mask that chooses elements or rows of an array."""
    axes = len(mask.dims) if isinstance(mask.kind, Array) else 0
    return axes > 0 and mask.of == BOOL and mask.dims == array.dims[:axes]


def counted(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """``np.count_nonzero``, ``np.sum`` or ``np.any`` of all of a mask."""
    (mask,) = values
    if not isinstance(mask.kind, Array) or mask.of != BOOL or given.get("axis") is not None:
        run.refuse(f"`{ast.unparse(node)}` has no translation", "write a loop over the elements")
    own = _count(run, mask)
    if ast.unparse(node.func) == "np.any":
        return Value(BOOL, f"{own} != 0", EQUAL)
    return Value(INT, own) if run.text.level > 1 else static_value(run.chosen[mask.code])


def _count(run: Arrays, mask: Value) -> str:
    """Count the places at which a mask is true, and return the name of the number."""
    own, at = run.unit.unique("count"), run.fresh_name("at")
    run.say(f"int64_t {own} = 0;")
    run.say(f"for (int64_t {at} = 0; {at} < {size_text(mask.array.size)}; {at}++)")
    run.say(f"    {own} += {flat(mask, at)};")
    run.chosen[mask.code] = run.unit.count(own, mask.array.size)
    return own


def _length(run: Arrays, mask: Value) -> Dim:
    if run.text.level > 1:
        run.refuse("a selection by a mask in a loop or a branch has no translation", CHOSEN)
    if mask.code not in run.chosen:
        _count(run, mask)
    return run.chosen[mask.code]


def _each_chosen(
    run: Arrays, mask: Value, rest: Sizes, statement: Callable[[str, str], str]
) -> None:
    """A statement for each element that a mask chooses, or for each of rows of the shape ``rest``,
    of its place among all and of that among the chosen ones."""
    at, place, step = map(run.fresh_name, ("at", "place", "step"))
    run.say(f"for (int64_t {at} = 0, {place} = 0; {at} < {size_text(mask.array.size)}; {at}++) {{")
    run.say(f"    if (!{flat(mask, at)})")
    run.say("        continue;")
    if rest:
        size = size_text(number_of_elements(rest))
        run.say(f"    for (int64_t {step} = 0; {step} < {size}; {step}++)")
        of_row = (f"{one} * ({size}) + {step}" for one in (at, place))
        run.say(f"        {statement(*of_row)}")
    else:
        run.say(f"    {statement(at, place)}")
    run.say(f"    {place}++;")
    run.say("}")


def selected(run: Arrays, array: Value, mask: Value) -> Value:
    """``array[mask]``."""
    rest = array.dims[len(mask.dims) :]
    memory = run.fresh_memory("selected", Array(array.of, (_length(run, mask), *rest)))
    _each_chosen(run, mask, rest, lambda at, place: f"{flat(memory, place)} = {flat(array, at)};")
    return memory


def set_where(run: Arrays, array: Value, mask: Value, value: Value, sign: str) -> None:
    """Set the elements that a mask chooses, to a number or to those of an array."""
    rest = array.dims[len(mask.dims) :]
    if isinstance(value.kind, Array) and value.dims != (run.chosen.get(mask.code), *rest):
        run.refuse("what is set where a mask is true has another shape")

    def statement(at: str, place: str) -> str:
        one = Value(value.of, flat(value, place)) if isinstance(value.kind, Array) else value
        return f"{flat(array, at)} {sign} {cast(one, array.of).code};"

    _each_chosen(run, mask, rest, statement)


def places(run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]) -> Value:
    """``np.flatnonzero``, or an item of ``np.nonzero``: the places along an axis."""
    (mask,) = values
    if not isinstance(mask.kind, Array) or mask.of != BOOL:
        run.refuse(f"`{ast.unparse(node)}` has no translation", "pass a mask: `x != 0`")
    memory = run.fresh_memory("places", Array(INT, (_length(run, mask),)))
    name, dims, text = ast.unparse(node.func), mask.dims, "{at}"
    if name != "np.flatnonzero" and len(dims) > 1:
        axis = int(name.rpartition(".")[2])
        step = size_text(number_of_elements(dims[axis + 1 :]))
        text = f"{{at}} / ({step}) % ({size_text(dims[axis])})"
    _each_chosen(run, mask, (), lambda at, place: f"{flat(memory, place)} = {text.format(at=at)};")
    return memory


SELECTIONS = {
    **dict.fromkeys(("np.count_nonzero", "np.sum", "np.any"), counted),
    **dict.fromkeys(("np.flatnonzero", *(f"np.nonzero.{axis}" for axis in range(4))), places),
}
"""The functions by their names."""
