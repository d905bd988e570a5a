"""Cautions: code that is allowed, but that its author probably did not intend.

Two things go unnoticed in NumPy and change a gradient: arithmetic that leaves float32, and a float
that is truncated because it is stored in an integer array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stcompile.analysis.activity import flow
from stcompile.base.errors import Caution
from stcompile.base.location import Location
from stcompile.wengert.ir import Equation, Program, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.types import Type

MOST = 5  # cautions of one kind that are shown

# Primitives whose result has a certain dtype because the user asked for it.
_EXPLICIT = frozenset({"cast", "accumulate", "store", "full", "array"})


def distinct(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """The first caution of each line for each hint."""
    found: dict[tuple[str, int, str], Caution] = {}
    for caution in cautions:
        where = caution.location
        found.setdefault((where.file, where.line, caution.hint), caution)
    return tuple(found.values())


def _limited(cautions: Iterable[Caution]) -> list[Caution]:
    lines: dict[tuple[str, int], Caution] = {}
    for caution in cautions:
        lines.setdefault((caution.location.file, caution.location.line), caution)
    return list(lines.values())[:MOST]


# --- upcasts -------------------------------------------------------------------------------------


def upcasts(program: Program) -> list[Caution]:
    """The lines where an array of float32 or float16 becomes an array of float64, if every floating
    array among the inputs is narrower than float64; at most `MOST`."""
    floating = [t for t in program.types if t.kind == "array" and t.dtype.kind == "f"]
    if not floating or not all(map(_is_narrow, floating)):
        return []
    return _limited(_upcasts(program))


def _upcasts(program: Program) -> Iterator[Caution]:
    for equation in _every(program):
        where = equation.location.shown
        if where is None or where.section != "forward":
            continue
        caution = _upcast(equation, where)
        if caution is not None:
            yield caution


def _upcast(equation: Equation, where: Location) -> Caution | None:
    primitive = PRIMITIVES[equation.primitive]
    if equation.primitive in _EXPLICIT or primitive.assigns or primitive.control:
        return None
    types = [atom.type for atom in equation.inputs]
    narrow = next((t for t in types if t.kind == "array" and _is_narrow(t)), None)
    strong = next((t for t in types if t.kind != "python" and _widens(t, narrow)), None)
    (output,) = (o.type for o in equation.outputs) if len(equation.outputs) == 1 else (None,)
    if narrow is None or strong is None or output is None:
        return None
    if output.kind != "array" or output.dtype.kind != "f" or output.dtype.itemsize < 8:
        return None
    name = equation.params.get("spelling") or equation.primitive
    reason = (
        f"`{name}` of {narrow.dtype} and {_described(strong)} gives {output.dtype}: what follows "
        "is computed in double precision"
    )
    return Caution(where, reason, _narrower(strong, narrow))


def _is_narrow(t: Type) -> bool:
    return t.dtype.kind == "f" and t.dtype.itemsize < 8


def _widens(t: Type, narrow: Type | None) -> bool:
    """True for a type whose operands turn narrower floats into float64: float64, and wide
    integers."""
    if narrow is None or t.dtype.kind not in "iuf":
        return False
    return t.dtype.itemsize >= 8 or (t.dtype.kind in "iu" and t.dtype.itemsize > 2)


def _described(t: Type) -> str:
    if t.kind == "scalar":
        return f"the NumPy scalar np.{t.dtype}"
    return f"an array of {t.dtype}"


def _narrower(strong: Type, narrow: Type) -> str:
    if strong.dtype.kind in "iu":
        return f"convert it: .astype(np.{narrow.dtype})"
    if strong.kind == "scalar":
        return f"use a Python float, which takes the array's dtype, or np.{narrow.dtype}(...)"
    return f"make it of {narrow.dtype}: dtype=x.dtype, or .astype(np.{narrow.dtype})"


# --- truncations ---------------------------------------------------------------------------------


def truncations(program: Program, wrt: Iterable[Variable]) -> list[Caution]:
    """The lines where a value that depends on ``wrt`` is stored in an array of integers."""
    found: list[Caution] = []

    def look(equation: Equation, active: set[Variable]) -> None:
        if not PRIMITIVES[equation.primitive].assigns:
            return
        target, value, *_ = equation.inputs
        where = equation.location.shown
        if where is None or target.type.inexact or value not in active:
            return
        dtype = target.type.dtype
        is_bool = dtype.kind == "b"
        becomes = "becomes a boolean" if is_bool else "is truncated"
        reason = (
            f"a {value.type.dtype} that depends on `wrt` is stored in an array of {dtype}: it "
            f"{becomes}, and no gradient flows through it"
        )
        cast = f".astype({'bool' if is_bool else 'int'})"
        hint = f"make an array of floats, such as np.zeros(n), or write the cast: {cast}"
        found.append(Caution(where, reason, hint))

    flow(program, set(wrt), look)
    return _limited(found)


def _every(program: Program) -> Iterator[Equation]:
    """The equations of a program, and those of sub-programs that run with it."""
    for equation in program.equations:
        yield equation
        for name in ("program", "then", "otherwise", "condition", "body"):
            inner = equation.params.get(name)
            if isinstance(inner, Program):
                yield from _every(inner)
