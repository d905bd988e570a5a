"""Lengths that a step or an arm names, and their use in its adjoint.

An array whose length the data decide cannot leave the program that names its length. So an array
that the adjoint reads is kept at the start of an array of the greatest possible length, and the
length as a number beside it:

    primal                                adjoint
    n: int = named(...; binds=[n.1])      n': int = named(n; binds=[n.1])
    v: f64[n.1] = ...                     v: f64[n.1] = slice(wide; length=([n.1],))
    wide: f64[20] = update(zeros, v)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from stcompile.base.errors import DerivativeError
from stcompile.base.location import Location
from stcompile.wengert.bounds import usual
from stcompile.wengert.dims import ENDLESS, Symbol, symbols_in
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Variable,
    free_variables,
    freeze,
    mentioned,
)
from stcompile.wengert.parts import Part
from stcompile.wengert.primitives.control import widest
from stcompile.wengert.primitives.sizes import COUNT
from stcompile.wengert.recorder import Recorder


def name_again(
    recorder: Recorder,
    primal: list[Equation],
    adjoint: list[Equation],
    outcome: Iterable[Atom],
    given: Collection[Variable],
) -> None:
    """Let the adjoint of a program use the lengths that the program names: the values of the
    program that it reads have other types outside. The values ``given`` come from elsewhere."""
    bound = {e.binds: e for e in primal if e.binds is not None}
    if not bound:
        return
    read = free_variables(adjoint, outcome, given)
    ragged = [v for v in read if not bound.keys().isdisjoint(symbols_in(v.type.dims))]
    wanted = mentioned(adjoint) | {s for v in ragged for s in symbols_in(v.type.dims)}
    for symbol in reversed(bound):  # the bounds of later ones may mention earlier ones
        if symbol in wanted:
            wanted.update(symbols_in((symbol.low, symbol.high)))
    prologue: list[Equation] = []
    for symbol, equation in bound.items():
        if symbol in wanted:
            where = equation.location.in_section("adjoint")
            again, params = recorder.variable(COUNT), freeze({"binds": symbol})
            named = Equation((again,), "named", equation.outputs, params, ("bind",), where)
            prologue.append(named)
    makers = {v: equation for equation in primal for v in equation.outputs}
    for variable in ragged:
        location = makers[variable].location
        if variable.type.kind != "array":
            raise DerivativeError(
                "the adjoint of a loop keeps values of a length that another loop decides",
                location=location.shown or location,
                hint="keep the shape in inner loops: np.where(mask, x, 0)",
            )
        wide = _widened(recorder, primal, variable, tuple(bound), location)
        where = location.in_section("adjoint")
        part = freeze(Part.first(variable.type.dims).params)
        prologue.append(Equation((variable,), "slice", (wide,), part, (), where))
    adjoint[:0] = prologue


def _widened(
    recorder: Recorder,
    primal: list[Equation],
    variable: Variable,
    symbols: tuple[Symbol, ...],
    location: Location,
) -> Variable:
    """An array of the greatest length that starts with a variable's elements."""
    type_ = widest(variable.type, symbols)
    if any(usual(dim) >= ENDLESS for dim in type_.dims):
        raise DerivativeError(
            "an adjoint that is apart from its function, as in st.vjp, or that of a loop or a "
            "branch, keeps values of a length that has no bound",
            location=location.shown or location,
            hint="do this before the loop or the branch; use st.grad or st.jacobian for st.vjp",
        )
    blank = recorder.variable(type_)
    wide = recorder.variable(type_, recorder.hints.get(variable, ""))
    zero = Constant(type_.dtype.type(0))
    filled = freeze({"shape": type_.dims, "dtype": type_.dtype})
    primal.append(Equation((blank,), "full", (zero,), filled, (), location))
    primal.append(
        Equation(
            (wide,),
            "update",
            (blank, variable),
            freeze(Part.first(variable.type.dims).params),
            (),
            location,
        )
    )
    return wide
