"""Values in a storage order: a variable whose axes are the axes of a value in another order.

An *order* lists the axes of a value from the outermost to the innermost in memory. A program that
is laid out has a variable with its axes in that order instead of the value; equations are written
on these variables, and a transpose is needed only where two orders meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stcompile.analysis.orders import Order
from stcompile.base.location import Location
from stcompile.base.thresholds import SPREAD_OVER
from stcompile.passes.general.rebuild import Scope
from stcompile.wengert.ir import Atom, Equation, Program, Variable, freeze
from stcompile.wengert.primitives import PRIMITIVES, infer
from stcompile.wengert.primitives.axes import AxisMap, Name
from stcompile.wengert.primitives.axis_rules import axis_map


@dataclass(frozen=True)
class Laid:
    """A value that is laid out: ``atom`` has its axes in an ``order``."""

    atom: Atom
    order: Order

    @property
    def is_natural(self) -> bool:
        return self.order == tuple(range(len(self.order)))


class LayoutScope(Scope):
    """The program that is being laid out: its equations so far, and the variables of its values.

    Some values, such as windows, are made only when they are read, in the order that suits the
    first reader: ``later`` has their equations. ``wanted`` are the orders of values that are given,
    whatever the orders of their operands are.
    """

    def __init__(self, program: Program, wanted: Mapping[Variable, Order]) -> None:
        super().__init__(program)
        self.program = program
        self.wanted = wanted
        self.laid: dict[Atom, Laid] = {}
        self.later: dict[Atom, Equation] = {}
        self.turned: dict[tuple[Atom, Order], Atom] = {}
        self.copies: dict[Atom, Atom] = {}
        self.factors: dict[Atom, Order] = {}  # the orders of factors that are turned
        self.contiguous: set[Variable] = set(program.inputs)

    # --- reading -------------------------------------------------------------------------------

    def of(self, atom: Atom) -> Laid:
        """The variable and the order of a value; a value that is made later counts as natural."""
        return self.laid.get(atom, Laid(atom, tuple(range(atom.type.ndim))))

    def is_laid(self, atom: Atom) -> bool:
        """True for a value that is made later, or is not in its natural order."""
        return atom in self.later or atom in self.laid

    def is_later(self, atom: Atom) -> bool:
        return atom in self.later

    def in_order(self, atom: Atom, order: Sequence[int], location: Location) -> Atom:
        """An atom with the value's axes in the given order."""
        wanted = tuple(order)
        if isinstance(atom, Variable) and atom in self.later:
            self._make(atom, wanted)
        laid = self.of(atom)
        axes = tuple(laid.order.index(axis) for axis in wanted)
        if axes == tuple(range(len(axes))):
            return laid.atom
        key = laid.atom, axes
        if key not in self.turned:
            self.turned[key] = self.record("transpose", (laid.atom,), location, axes=axes)
        return self.turned[key]

    def natural(self, atom: Atom, location: Location) -> Atom:
        return self.in_order(atom, range(atom.type.ndim), location)

    # --- writing -------------------------------------------------------------------------------

    def put(self, equation: Equation, stored: Sequence[int], **params: Any) -> None:
        """Add an equation with other params, of operands in other orders: its output is the value
        of its name in the given order."""
        frozen, value = freeze({**equation.params, **params}), equation.output
        (type,) = infer(equation.primitive, tuple(atom.type for atom in equation.inputs), frozen)
        output = value if type == value.type else Variable(value.name, type)
        self.add(replace(equation, outputs=(output,), params=frozen))
        self.lay(value, output, tuple(stored))

    def arrange(self, equation: Equation, axes: AxisMap, frame: Sequence[Name]) -> bool:
        """Add an equation in place of ``equation``, with the axes of its operands and of its result
        in the order of their names in ``frame``; False if it cannot be written so."""
        names = [tuple(name for name in frame if name in own) for own in axes.operands]
        result = tuple(name for name in frame if name in axes.result)
        params = axes.written(names, result)
        if params is None:
            return False
        inputs: list[Atom] = []
        for side, atom in enumerate(equation.inputs):
            own = [axes.operands[side].index(name) for name in names[side]]
            turned = self.in_order(atom, own, equation.location)
            if equation.output in self.wanted and _is_spread(equation, atom, own):
                turned = self.packed(turned, equation.location)
            gaps = axes.missing(side, names[side], result)
            if gaps:
                turned = self.record("expand_dims", (turned,), equation.location, axis=gaps)
            inputs.append(turned)
        order = [axes.result.index(name) for name in result]
        self.put(equation.with_inputs(tuple(inputs)), order, **params)
        return True

    def lay(self, value: Variable, atom: Atom, order: Order) -> None:
        """Note the variable and the order of a value."""
        if atom != value or order != tuple(range(len(order))):
            self.laid[value] = Laid(atom, order)

    def add(self, equation: Equation) -> None:
        super().add(equation)
        primitive = PRIMITIVES[equation.primitive]
        keeps_order = not primitive.view or (
            primitive.reshapes and equation.inputs[0] in self.contiguous
        )
        if keeps_order and equation.primitive != "index":
            self.contiguous.update(equation.outputs)

    def packed(self, atom: Atom, location: Location) -> Atom:
        """A contiguous atom with the same elements."""
        if not isinstance(atom, Variable) or atom in self.contiguous:
            return atom
        if atom not in self.copies:
            self.copies[atom] = self.record("copy", (atom,), location)
        return self.copies[atom]

    def _make(self, value: Variable, order: Order) -> None:
        """Make a value that was left for later."""
        equation = self.later.pop(value)
        axes = axis_map(equation)
        assert axes is not None
        names = tuple(axes.result[axis] for axis in order)
        if equation.primitive != "windows":
            self.arrange(equation, axes, names)
            return
        laid = self.of(equation.inputs[0])  # windows follow its order; they are copied into another
        own = tuple(axes.operands[0][axis] for axis in laid.order)
        params = axes.written([own], names)
        assert params is not None
        view = self.record("windows", (laid.atom,), equation.location, **params)
        copy = Equation((value,), "copy", (view,), freeze({}), (), equation.location)
        self.put(copy, order)


def _is_spread(equation: Equation, atom: Atom, order: Sequence[int]) -> bool:
    """True for an operand that is worth a copy in another order, since it is read many times."""
    long = [axis for axis in order if atom.type.dims[axis] != 1]
    return long != sorted(long) and SPREAD_OVER * atom.type.size <= equation.output.type.size
