"""Rules for primitives that the map of their axes does not batch: numbers, conversions, products,
effects."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from stcompile.batch.step import Step
from stcompile.wengert.ir import Atom
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import contracting
from stcompile.wengert.stacked import Value

Rule = Callable[[Step], Atom]


# --- numbers --------------------------------------------------------------------------------------


def _as_ufunc(step: Step) -> Atom:
    """A function of `math` is that of NumPy, for a batch of numbers."""
    name = PRIMITIVES[step.equation.primitive].rule
    operands = [step.cast(step.rows(at), np.float64) for at in range(len(step.operands))]
    return step.record(name, *operands)


def _rounded(step: Step) -> Atom:
    digits = step.equation.params["ndigits"]
    if digits is not None:
        step.refuse_primitive("round with np.round")
    return step.record("rint", step.rows(0))


def _of_any(step: Step) -> Atom:
    """``math.hypot`` and ``math.fsum``: of an array with an axis for the operands."""
    rows = [step.cast(step.rows(at), np.float64) for at in range(len(step.operands))]
    numbers = step.record("stack", *rows, axis=1)
    if step.equation.primitive == "math.fsum":
        return step.record("sum", numbers, axis=(1,), keepdims=False)
    total: Atom = rows[0] if len(rows) > 1 else step.record("absolute", rows[0])
    for row in rows[1:]:
        total = step.record("hypot", total, row)
    return total


def _number(step: Step) -> Atom:
    """Arrays of one number, and numbers of another kind."""
    return step.cast(step.shaped(step.operands[0].atom, step.size), step.equation.output.type.dtype)


def _logic(name: str) -> Rule:
    """Python's own logic, by NumPy's."""

    def rule(step: Step) -> Atom:
        count = range(len(step.operands))
        return step.record(name, *(step.shaped(step.rows(at), step.size) for at in count))

    return rule


def _full(step: Step) -> Atom:
    """Each item filled with a number of its own."""
    shape = (step.size, *step.equation.output.type.dims)
    number = step.cast(step.operands[0].atom, step.equation.output.type.dtype)
    spread = step.shaped(number, step.size, *(1,) * (len(shape) - 1))
    return step.record("copy", step.record("broadcast_to", spread, shape=shape))


def _array(step: Step) -> Atom:
    """Arrays built from numbers."""
    output = step.equation.output.type
    rows = [step.cast(step.rows(at), output.dtype) for at in range(len(step.operands))]
    return step.shaped(step.record("stack", *rows, axis=1), step.size, *output.dims)


# --- arrangement ----------------------------------------------------------------------------------


def _reshape(step: Step) -> Atom:
    return step.shaped(step.operands[0].atom, step.size, *step.equation.output.type.dims)


def _looked_up(place: int) -> Rule:
    """A function of each element of one operand, by tables that are the same for all items."""

    def rule(step: Step) -> Atom:
        if any(value.batched for at, value in enumerate(step.operands) if at != place):
            step.refuse_primitive(
                "pass one table for all items: only what is looked up in it may differ"
            )
        return step.same(*(value.atom for value in step.operands))

    return rule


def _position(step: Step) -> Atom:
    """The position of the largest or the smallest element."""
    params, x = step.equation.params, step.operands[0].atom
    if params["axis"] is not None:
        return step.same(x, axis=params["axis"] + 1)
    flat = step.shaped(x, step.size, math.prod(step.one(0).dims))
    found = step.same(flat, axis=1, keepdims=False)
    return step.shaped(found, step.size, *step.equation.output.type.dims)


# --- products -------------------------------------------------------------------------------------


def _einsum(step: Step) -> Atom:
    terms, _, result = step.equation.params["subscripts"].partition("->")
    letter = next(c for c in string.ascii_letters if c not in terms)
    parts = zip(terms.split(","), step.operands, strict=True)
    named = [letter + term if value.batched else term for term, value in parts]
    atoms = (value.atom for value in step.operands)
    return step.record("einsum", *atoms, subscripts=f"{','.join(named)}->{letter}{result}")


def _convolve(step: Step) -> Atom:
    """Each element is the product of a window of the longer vector with the shorter one, reversed
    (one product of matrices for all items)."""
    long, short = sorted((0, 1), key=lambda at: -step.one(at).count)
    n, m = step.one(long).count, step.one(short).count
    wide = step.rows(long)
    padded = step.record("pad", wide, pad_width=((0, 0), (m - 1, m - 1)), mode="constant", value=0)
    begin, count = {
        "full": (0, n + m - 1),
        "same": ((m - 1) // 2, n),
        "valid": (m - 1, n - m + 1),
    }[step.equation.params["mode"]]
    windows = step.record(
        "windows",
        padded,
        axis=(1,),
        start=(begin,),
        count=(count,),
        step=(1,),
        size=(m,),
        dilation=(1,),
        order=(),
    )
    value = step.operands[short]
    kernel = value.atom
    axis = kernel.type.ndim - 1
    kernel = step.record(
        "slice",
        kernel,
        start=(*((0,),) * axis, (m - 1,)),
        length=kernel.type.dims,
        step=(*(1,) * axis, -1),
        drop=(),
    )
    batch = ((0, 0),) if value.batched else ()
    return step.record("contract", windows, kernel, **contracting((2, axis), batch=batch))


# --- effects --------------------------------------------------------------------------------------


def effect(step: Step) -> Sequence[Value]:
    """An assertion holds for a batch if it holds for all items."""
    if step.equation.primitive != "assert" or any(shown.batched for shown in step.operands[1:]):
        step.refuse(
            f"`{step.equation.primitive}` with what differs between the items of a batch",
            "leave the values out of the message, or check them outside of vmap",
        )
    flat = step.shaped(step.operands[0].atom, step.size)
    holds = step.record("all", flat, axis=(0,), keepdims=False)
    shown = [value.atom for value in step.operands[1:]]
    inputs = (holds, *shown)
    step.recorder.record("assert", inputs, step.equation.location, step.equation.params)
    return ()


def _refused(hint: str = "") -> Rule:
    def rule(step: Step) -> Atom:
        step.refuse_primitive(hint)

    return rule


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **{name: _as_ufunc for name in PRIMITIVES if name.startswith("math.")},
        **dict.fromkeys(("math.hypot", "math.fsum"), _of_any),
        "math.round": _rounded,
        **dict.fromkeys(("to_python", "to_scalar"), _number),
        "not": _logic("logical_not"),
        "and": _logic("logical_and"),
        "or": _logic("logical_or"),
        "full": _full,
        "array": _array,
        **{name: _reshape for name, primitive in PRIMITIVES.items() if primitive.reshapes},
        **dict.fromkeys(("argmax", "argmin"), _position),
        "searchsorted": _looked_up(1),
        "signal.lfilter": _looked_up(2),
        **dict.fromkeys(("digitize", "interp"), _looked_up(0)),
        "einsum": _einsum,
        "convolve": _convolve,
        "histogram": _refused(),
        "external": _refused("loop over the items, or write it in NumPy"),
    }
)
