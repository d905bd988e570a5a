"""Selections by masks in C: arrays of as many elements as a mask is true at.

That number is a length that has a name, of a variable instead of an argument. The workspace has
memory for all elements.
"""

from __future__ import annotations

from collections.abc import Callable

from stcompile.native.functions import CHOSEN
from stcompile.native.kinds import BOOL, INT, Array
from stcompile.native.sizes import size_text
from stcompile.native.values import Binds, Value, cast, static_value
from stcompile.native.whole import Call, flat
from stcompile.native.writer import Writer
from stcompile.wengert.dims import Dim, Sizes, number_of_elements


def is_mask(array: Value, mask: Value) -> bool:
    """True for a mask that chooses elements or rows of an array."""
    axes = len(mask.dims) if isinstance(mask.kind, Array) else 0
    return axes > 0 and mask.of == BOOL and mask.dims == array.dims[:axes]


def counted(w: Writer, call: Call) -> Value:
    """``np.count_nonzero``, ``np.sum`` or ``np.any`` of all of a mask."""
    (mask,) = call.values
    if not isinstance(mask.kind, Array) or mask.of != BOOL or call.given.get("axis") is not None:
        w.refuse_translation(call.node, "write a loop over the elements")
    number = static_value(_length(w, mask)) if w.text.level == 1 else Value(INT, _count(w, mask))
    return Value(BOOL, f"{number.code} != 0", Binds.EQUAL) if call.name == "any" else number


def _count(w: Writer, mask: Value) -> str:
    """Count the places at which a mask is true, and return the name of the number."""
    own = w.unit.unique("count")
    w.say(f"int64_t {own} = 0;")
    with w.each(mask.array.size) as (at,):
        w.say(f"{own} += {flat(mask, at)};")
    w.chosen[mask.code] = w.unit.count(own, mask.array.size)
    return own


def _length(w: Writer, mask: Value) -> Dim:
    if w.text.level > 1:
        w.refuse_translation("a selection by a mask in a loop or a branch", CHOSEN)
    if mask.code not in w.chosen:
        _count(w, mask)
    return w.chosen[mask.code]


def _each_chosen(w: Writer, mask: Value, rest: Sizes, statement: Callable[[str, str], str]) -> None:
    """A statement for each element that a mask chooses, or for each of rows of the shape ``rest``,
    of its place among all and of that among the chosen ones."""
    at, place, step = map(w.fresh_name, ("at", "place", "step"))
    count = size_text(mask.array.size)
    with w.braces(f"for (int64_t {at} = 0, {place} = 0; {at} < {count}; {at}++)"):
        w.say(f"if (!{flat(mask, at)})")
        w.say("    continue;")
        if rest:
            size = number_of_elements(rest)
            with w.each(size, names=[step]):
                of_row = (f"{one} * ({size_text(size)}) + {step}" for one in (at, place))
                w.say(statement(*of_row))
        else:
            w.say(statement(at, place))
        w.say(f"{place}++;")


def selected(w: Writer, array: Value, mask: Value) -> Value:
    """``array[mask]``."""
    rest = array.dims[len(mask.dims) :]
    memory = w.fresh_memory("selected", array.of, _length(w, mask), *rest)
    _each_chosen(w, mask, rest, lambda at, place: f"{flat(memory, place)} = {flat(array, at)};")
    return memory


def set_where(w: Writer, array: Value, mask: Value, value: Value, sign: str) -> None:
    """Set the elements that a mask chooses, to a number or to those of an array."""
    rest = array.dims[len(mask.dims) :]
    # The text has compared the lengths before, where they are not known to be the same.
    if isinstance(value.kind, Array) and (value.dims[1:] != rest or value.dims[:1] in ((), (1,))):
        w.refuse(
            "an array of one item, set where a mask is true, has no translation", "set a number"
        )

    def statement(at: str, place: str) -> str:
        one = Value(value.of, flat(value, place)) if isinstance(value.kind, Array) else value
        return f"{flat(array, at)} {sign} {cast(one, array.of).code};"

    _each_chosen(w, mask, rest, statement)


def places(w: Writer, call: Call) -> Value:
    """``np.flatnonzero``, or an item of ``np.nonzero``: the places along an axis."""
    (mask,) = call.values
    if not isinstance(mask.kind, Array) or mask.of != BOOL:
        w.refuse_translation(call.node, "pass a mask: `x != 0`")
    memory = w.fresh_memory("places", INT, _length(w, mask))
    dims, text = mask.dims, "{at}"
    if call.name != "flatnonzero" and len(dims) > 1:
        axis = int(call.name)
        step = size_text(number_of_elements(dims[axis + 1 :]))
        text = f"{{at}} / ({step}) % ({size_text(dims[axis])})"
    _each_chosen(w, mask, (), lambda at, place: f"{flat(memory, place)} = {text.format(at=at)};")
    return memory


SELECTIONS = {
    **dict.fromkeys(("np.count_nonzero", "np.sum", "np.any"), counted),
    **dict.fromkeys(("np.flatnonzero", *(f"np.nonzero.{axis}" for axis in range(4))), places),
}
"""The functions by their names."""
