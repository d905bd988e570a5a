"""Values in a storage order: a variable whose axes are those of a value, in another order.

An *order* lists the axes of a value from the outermost to the innermost in memory. A program that
is laid out has a variable with its axes in that order instead of the value; equations are written
on these, and a transpose stands only where two orders meet.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from stcompile.base.location import Location
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze
from stcompile.wengert.primitives import PRIMITIVES, infer

Order: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Laid:
    """A value: ``atom`` has its axes in an ``order``."""

    atom: Atom
    order: Order

    @property
    def is_natural(self) -> bool:
        return self.order == tuple(range(len(self.order)))


class Layouts:
    """The program that is being laid out: its equations so far, and where its values are.

    Some values, such as windows, are made only when they are read, in the order that suits the
    first reader: ``later`` has their equations.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.made: list[Equation] = []
        self.laid: dict[Atom, Laid] = {}
        self.later: dict[Atom, Equation] = {}
        self.turned: dict[tuple[Atom, Order], Atom] = {}
        self.copies: dict[Atom, Atom] = {}
        self.factors: dict[Atom, Order] = {}  # the orders of factors that are turned
        self.contiguous: set[Variable] = set(program.inputs)
        outputs = [output for equation in program.equations for output in equation.outputs]
        names = {v.name for v in (*program.inputs, *outputs)}
        self._names = (f"v{n}" for n in itertools.count(1) if f"v{n}" not in names)

    # --- reading -------------------------------------------------------------------------------

    def of(self, atom: Atom) -> Laid:
        """Where a value is; one that is made later counts as natural."""
        return self.laid.get(atom, Laid(atom, tuple(range(atom.type.ndim))))

    def is_laid(self, atom: Atom) -> bool:
        """True for a value that is made later, or is not in its natural order."""
        return atom in self.later or atom in self.laid

    def is_later(self, atom: Atom) -> bool:
        return atom in self.later

    def in_order(self, atom: Atom, order: Sequence[int], location: Location) -> Atom:
        """An atom with the value's axes in an order."""
        wanted = tuple(order)
        if isinstance(atom, Variable) and atom in self.later:
            self._make(atom, wanted)
        laid = self.of(atom)
        axes = tuple(laid.order.index(axis) for axis in wanted)
        if axes == tuple(range(len(axes))):
            return laid.atom
        key = laid.atom, axes
        if key not in self.turned:
            self.turned[key] = self.add("transpose", (laid.atom,), location, axes=axes)
        return self.turned[key]

    def natural(self, atom: Atom, location: Location) -> Atom:
        return self.in_order(atom, range(atom.type.ndim), location)

    def spread(self, atom: Atom, order: Sequence[int], location: Location) -> Atom:
        """An atom that broadcasts against values with the axes of an order, in that order."""
        ndim, own = len(order), atom.type.ndim
        if own == ndim:
            return self.in_order(atom, order, location)
        if own == 0:
            return atom
        lead = ndim - own
        turned = self.in_order(atom, [axis - lead for axis in order if axis >= lead], location)
        new = tuple(at for at, axis in enumerate(order) if axis < lead)
        if new == tuple(range(lead)):
            return turned  # they stand in front, where broadcasting puts them
        return self.add("expand_dims", (turned,), location, axis=new)

    # --- writing -------------------------------------------------------------------------------

    def add(
        self, primitive: str, inputs: tuple[Atom, ...], location: Location, **params: Any
    ) -> Variable:
        """A new equation; returns its output."""
        return self._added(next(self._names), primitive, inputs, location, params)

    def add_for(
        self,
        value: Variable,
        stored: Order,
        primitive: str,
        inputs: tuple[Atom, ...],
        location: Location,
        **params: Any,
    ) -> None:
        """A new equation whose output, under the value's name, is the value in an order."""
        output = self._added(value.name, primitive, inputs, location, params)
        self.lay(value, output, stored)

    def _added(
        self,
        name: str,
        primitive: str,
        inputs: tuple[Atom, ...],
        location: Location,
        params: Mapping[str, Any],
    ) -> Variable:
        frozen = freeze(params)
        (type,) = infer(primitive, tuple(atom.type for atom in inputs), frozen)
        output = Variable(name, type)
        self.append(Equation((output,), primitive, inputs, frozen, (), location))
        return output

    def put(
        self, equation: Equation, inputs: tuple[Atom, ...], stored: Sequence[int], **params: Any
    ) -> None:
        """An equation for one, with its result in an order."""
        order, value = tuple(stored), equation.output
        frozen = freeze({**equation.params, **params})
        (type,) = infer(equation.primitive, tuple(atom.type for atom in inputs), frozen)
        output = value if type == value.type else Variable(value.name, type)
        self.append(replace(equation, outputs=(output,), inputs=inputs, params=frozen))
        self.lay(value, output, order)

    def lay(self, value: Variable, atom: Atom, order: Order) -> None:
        """Note where a value is."""
        if atom != value or order != tuple(range(len(order))):
            self.laid[value] = Laid(atom, order)

    def append(self, equation: Equation) -> None:
        self.made.append(equation)
        primitive = PRIMITIVES[equation.primitive]
        keeps_order = not primitive.view or (
            primitive.reshapes and equation.inputs[0] in self.contiguous
        )
        if keeps_order and equation.primitive != "index":
            self.contiguous.update(equation.outputs)

    def packed(self, atom: Atom, location: Location) -> Atom:
        """An atom that is contiguous."""
        if not isinstance(atom, Variable) or atom in self.contiguous:
            return atom
        if atom not in self.copies:
            self.copies[atom] = self.add("copy", (atom,), location)
        return self.copies[atom]

    def _make(self, value: Variable, order: Order) -> None:
        """Make a value that was left for later."""
        equation = self.later.pop(value)
        location = equation.location
        if equation.primitive == "full":
            dims = tuple(value.type.dims[axis] for axis in order)
            self.put(equation, equation.inputs, order, shape=dims)
            return
        (source,) = equation.inputs
        if equation.primitive == "pad":
            widths = tuple(equation.params["pad_width"][axis] for axis in order)
            self.put(equation, (self.in_order(source, order, location),), order, pad_width=widths)
            return
        laid = self.of(source)  # of windows, which follow its order; they are copied into another
        axes = [*laid.order, *range(len(laid.order), len(order))]
        params = {
            **equation.params,
            "axis": tuple(laid.order.index(axis) for axis in equation.params["axis"]),
            "order": tuple(axes.index(axis) for axis in order),
        }
        view = self.add("windows", (laid.atom,), location, **params)
        self.add_for(value, order, "copy", (view,), location)
