"""Names of variables: the user's own, then ``h.1``, ``h.2``; ``v1, v2, …`` for unnamed variables.

In generated code, where a name is an identifier, ``h.1`` is ``h_1``.

The unnamed are numbered in order, as in a Wengert list, so that a program and its copy print
alike.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping

from stcompile.wengert.ir import Atom, Equation, Program, Variable

RESERVED = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "math", "inf", "nan"}
)
_NUMBERED = re.compile(r"v\d+")


def is_numbered(name: str) -> bool:
    """True for ``v1``, ``v2``, …: names that the user never gave."""
    return _NUMBERED.fullmatch(name) is not None


def base_name(name: str) -> str:
    """The user's name in a name: ``h`` for ``h.3``."""
    return name.partition(".")[0]


class Names:
    """A source of unique names: ``h``, then ``h``, the separator and a number."""

    def __init__(self, taken: Iterable[str] = (), separator: str = "_") -> None:
        self._separator = separator
        self._taken = set(taken) | RESERVED
        self._last: dict[str, int] = {}
        self._count = 0

    def unnamed(self) -> str:
        self._count += 1
        while f"v{self._count}" in self._taken:
            self._count += 1
        return self._take(f"v{self._count}")

    def like(self, hint: str) -> str:
        """Return ``hint`` itself if it is free, else its base with the next number."""
        exact = hint.replace(".", self._separator)
        if exact not in self._taken and not is_numbered(exact):
            return self._take(exact)
        hint = base_name(hint)
        index = self._last.get(hint, 0) + 1
        while f"{hint}{self._separator}{index}" in self._taken:
            index += 1
        self._last[hint] = index
        return self._take(f"{hint}{self._separator}{index}")

    def _take(self, name: str) -> str:
        self._taken.add(name)
        return name


def name_variables(program: Program, hints: Mapping[Variable, str]) -> Program:
    """The program with every variable renamed after its hint, or numbered."""
    names = Names(separator=".")
    mapping: dict[Variable, Variable] = {}
    for variable in program.inputs:
        wish = hints.get(variable) or variable.name
        name = names.unnamed() if wish.startswith("%") else names.like(wish)
        mapping[variable] = _named(variable, name)
    for equation in program.equations:
        for output in equation.outputs:
            hint = hints.get(output)
            is_named = hint is not None and not is_numbered(base_name(hint))
            name = names.like(hint) if hint and is_named else names.unnamed()
            mapping[output] = _named(output, name)
    return rename(program, mapping)


def _named(variable: Variable, name: str) -> Variable:
    return variable if variable.name == name else Variable(name, variable.type)


def renumber(program: Program) -> Program:
    """The program with its numbered names dense again after equations were removed."""
    return name_variables(program, names_of(program))


def names_of(program: Program) -> dict[Variable, str]:
    """The names that are not numbers, as hints."""
    outputs = (output for equation in program.equations for output in equation.outputs)
    return {v: v.name for v in (*program.inputs, *outputs) if not is_numbered(v.name)}


def rename(program: Program, mapping: Mapping[Variable, Variable]) -> Program:
    """The program with its own variables replaced throughout."""

    def atom(a: Atom) -> Atom:
        return mapping.get(a, a) if isinstance(a, Variable) else a

    def equation(e: Equation) -> Equation:
        outputs = tuple([mapping.get(o, o) for o in e.outputs])
        inputs = tuple([atom(a) for a in e.inputs])
        return Equation(outputs, e.primitive, inputs, e.params, e.effects, e.location)

    return Program(
        program.name,
        tuple([mapping.get(v, v) for v in program.inputs]),
        tuple(map(equation, program.equations)),
        tuple(map(atom, program.outputs)),
    )
