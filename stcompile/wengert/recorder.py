"""Record equations in order and build a program of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stcompile.base.location import NOWHERE, Location
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Params,
    Program,
    Variable,
    freeze,
    inner_effects,
    substituted,
)
from stcompile.wengert.naming import is_numbered, name_variables
from stcompile.wengert.primitives import PRIMITIVES, infer
from stcompile.wengert.symbols import given_symbols, with_own_symbols
from stcompile.wengert.types import Type


class Recorder:
    """An open list of equations over fresh variables.

    Variables are placeholders (``%1``, ``%2``, …) until `program` names them: by the hint given for
    them, or ``v1, v2, …``. A recorder for the equations of the program ``of`` does not bind again,
    in further equations such as the bodies of calls, the lengths that these equations bind.
    """

    def __init__(self, of: Program | None = None) -> None:
        self.equations: list[Equation] = []
        self.hints: dict[Variable, str] = {}
        self.producers: dict[Variable, Equation] = {}
        self.bound: set[str] = set()  # names of symbols
        self.nesting = 0  # lists of their own around the present list
        self._count = 0
        for equation in () if of is None else of.equations:
            self.note(equation)

    def variable(self, type: Type, hint: str = "") -> Variable:
        self._count += 1
        variable = Variable(f"%{self._count}", type)
        if hint:
            self.hints[variable] = hint
        return variable

    def record(
        self,
        primitive: str,
        inputs: tuple[Atom, ...],
        location: Location,
        params: Mapping[str, Any] | Params | None = None,
    ) -> tuple[Variable, ...]:
        """Append an equation and return its outputs; `OperandError` if the operands do not fit."""
        frozen = freeze(params or {})
        types = infer(primitive, tuple(atom.type for atom in inputs), frozen)
        outputs = tuple(map(self.variable, types))
        effects = (*PRIMITIVES[primitive].effects, *inner_effects(frozen))
        equation = Equation(outputs, primitive, inputs, frozen, effects, location)
        self.equations.append(equation)
        self.note(equation)
        self.producers.update(dict.fromkeys(outputs, equation))
        return outputs

    def note(self, equation: Equation) -> None:
        """Note an equation that is in the list, so that its symbol is not bound again."""
        if equation.binds is not None:
            self.bound.add(equation.binds.name)

    def inputs_of(self, program: Program) -> tuple[Variable, ...]:
        """New variables for the inputs of a program, with the same names."""
        return tuple(self.variable(v.type, v.name) for v in program.inputs)

    def again(
        self,
        equation: Equation,
        mapping: dict[Variable, Atom],
        location: Location | None = None,
    ) -> tuple[Variable, ...]:
        """Append an equation with other operands, and note its new outputs."""
        inputs, where = substituted(equation.inputs, mapping), location or equation.location
        outputs = self.record(equation.primitive, inputs, where, equation.params)
        self.name_as(equation.outputs, outputs)
        mapping.update(zip(equation.outputs, outputs, strict=True))
        return outputs

    def name_as(self, old: Iterable[Variable], new: Iterable[Atom]) -> None:
        """Name variables, unless they have a name, as others are called that are not numbered."""
        for known, atom in zip(old, new, strict=True):
            if isinstance(atom, Variable) and not is_numbered(known.name):
                self.hints.setdefault(atom, known.name)

    def inline(
        self, program: Program, inputs: tuple[Atom, ...], location: Location | None = None
    ) -> tuple[Atom, ...]:
        """Append the equations of a program with ``inputs`` for its own; return its outputs.

        With a location, the equations are located there. An input may be a number of another kind,
        such as a weak number where the program has a NumPy scalar: types are inferred anew.
        Branches and loops have fixed types, so that it is converted for a program that contains
        any.
        """
        pairs = zip(inputs, program.inputs, strict=True)
        if any(atom.type != v.type for atom, v in pairs) and any(
            e.programs for e in program.equations
        ):
            inputs = tuple(map(self._number, inputs, program.inputs))
        program = with_own_symbols(program, self.bound)
        mapping: dict[Variable, Atom] = dict(zip(program.inputs, inputs, strict=True))
        given = given_symbols(program)
        for equation in program.equations:
            if equation.binds in given:  # it is bound here already
                (mapping[equation.output],) = substituted(equation.inputs, mapping)
            else:
                self.again(equation, mapping, location)
        return substituted(program.outputs, mapping)

    def _number(self, atom: Atom, like: Variable) -> Atom:
        """Convert a number to the kind of a variable of its dtype."""
        to = like.type
        if atom.type == to or atom.type.dtype != to.dtype or "array" in (atom.type.kind, to.kind):
            return atom
        is_weak = to.kind == "python"
        if isinstance(atom, Constant):
            return Constant((to.python_type if is_weak else to.dtype.type)(atom.value))
        params = {"dtype": to.dtype} if is_weak else {}
        return self.record("to_python" if is_weak else "to_scalar", (atom,), NOWHERE, params)[0]

    @contextmanager
    def aside(self) -> Iterator[list[Equation]]:
        """Record into a list of its own, for a sub-program."""
        outer, self.equations = self.equations, []
        bound = set(self.bound)
        self.nesting += 1
        try:
            yield self.equations
        finally:
            self.equations, self.bound = outer, bound
            self.nesting -= 1

    def program(
        self,
        name: str,
        inputs: Iterable[Variable],
        outputs: Iterable[Atom],
        equations: Iterable[Equation] | None = None,
    ) -> Program:
        """The program recorded so far, or of equations that were recorded aside, its variables
        named."""
        made = self.equations if equations is None else equations
        raw = Program(name, tuple(inputs), tuple(made), tuple(outputs))
        return name_variables(raw, self.hints)
