"""The symbols that a program needs from outside, and the renaming of symbols for a program that is
inlined where its own symbols are bound already."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stcompile.wengert.bounds import mapped
from stcompile.wengert.dims import Symbol, size_of, symbols_in
from stcompile.wengert.ir import Atom, Equation, Program, Variable, every_equation, freeze
from stcompile.wengert.naming import base_name
from stcompile.wengert.types import Type


def given_symbols(program: Program) -> set[Symbol]:
    """The symbols that a program's inputs mention, and those in their bounds, with values given."""
    found: set[Symbol] = set()
    left = [symbol for v in program.inputs for symbol in symbols_in(v.type.dims)]
    while left:
        symbol = left.pop()
        if symbol not in found:
            found.add(symbol)
            left += symbols_in((symbol.low, symbol.high))
    return found


def lengths_of(kernel: Equation) -> Sequence[Symbol]:
    """The lengths that a kernel needs and does not name itself, each once."""
    spelled: set[Symbol] = set()
    bound: set[Symbol] = set()

    for equation in every_equation([kernel]):
        for value in equation.params.values():
            if isinstance(value, Symbol):
                bound.add(value)
            spelled.update(symbols_in(value))
    return sorted(spelled - bound, key=lambda symbol: symbol.name)


def with_own_symbols(program: Program, bound: Collection[str]) -> Program:
    """Rename symbols so that the program's equations bind none of the names in ``bound``, except
    for the symbols of its inputs."""
    given = given_symbols(program)
    binding = (equation.binds for equation in program.equations)
    own = [symbol for symbol in binding if symbol is not None and symbol not in given]
    if not any(symbol.name in bound for symbol in own):
        return program
    taken = {*bound, *(symbol.name for symbol in own)}
    mapping: dict[Symbol, Symbol] = {}
    for symbol in own:
        number, base = 1, base_name(symbol.name)
        while f"{base}.{number}" in taken:
            number += 1
        name = f"{base}.{number}" if symbol.name in bound else symbol.name
        taken.add(name)
        bounds = _changed(symbol.low, mapping), _changed(symbol.high, mapping)
        mapping[symbol] = replace(symbol, name=name, low=bounds[0], high=bounds[1])
    return _with_symbols(program, mapping)


def _with_symbols(program: Program, mapping: Mapping[Symbol, Symbol]) -> Program:
    def variable(v: Variable) -> Variable:
        return Variable(v.name, _type(v.type, mapping))

    def atom(a: Atom) -> Atom:
        return variable(a) if isinstance(a, Variable) else a

    def equation(e: Equation) -> Equation:
        params = freeze({name: _changed(value, mapping) for name, value in e.params.items()})
        inputs, outputs = tuple(map(atom, e.inputs)), tuple(map(variable, e.outputs))
        return replace(e, outputs=outputs, inputs=inputs, params=params)

    return Program(
        program.name,
        tuple(map(variable, program.inputs)),
        tuple(map(equation, program.equations)),
        tuple(map(atom, program.outputs)),
    )


def _type(t: Type, mapping: Mapping[Symbol, Symbol]) -> Type:
    return replace(t, dims=_changed(t.dims, mapping), of=t.of and _type(t.of, mapping))


def _changed(static: Any, mapping: Mapping[Symbol, Symbol]) -> Any:
    if isinstance(static, Symbol):
        return _symbol(static, mapping)
    if isinstance(static, Program):
        return _with_symbols(static, mapping)
    if isinstance(static, tuple):
        return tuple(_changed(item, mapping) for item in static)
    return mapped(static, lambda symbol: size_of(_symbol(symbol, mapping)))


def _symbol(symbol: Symbol, mapping: Mapping[Symbol, Symbol]) -> Symbol:
    """The symbol with other symbols in its bounds."""
    if symbol in mapping:
        return mapping[symbol]
    low, high = _changed(symbol.low, mapping), _changed(symbol.high, mapping)
    return replace(symbol, low=low, high=high)
