"""Find arrays that are better stored with their longest axis innermost, since their short rows are
summed.

A sum over a short last axis starts anew for every row, and a product of a stack of matrices with
short rows has little to do in each. With the longest axis innermost both run along it. Arrays that
meet in elementwise equations have the same order, and so has the factor of a product that the
longest axis comes from. Arguments, results, the arrays that meet them, and arrays that have to be
read in their own order keep it.
"""

from __future__ import annotations

from collections.abc import Mapping

from stcompile.analysis.orders import Groups, Order, longest_last, sums_short_rows
from stcompile.base.thresholds import TURNED_ELEMENTS
from stcompile.wengert.ir import Equation, Program, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import Contraction

FOLLOWS = frozenset({"contract", "expand_dims", "squeeze"})


def short_rows(program: Program) -> Mapping[Variable, Order]:
    """The order of each array that is better not stored in its natural order."""
    return _Choice(program).orders()


class _Choice:
    """The choice of orders. ``groups`` have the arrays that meet, ``fixed`` the arrays that stay in
    their natural order."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.groups = Groups()
        self.fixed = {atom for atom in program.outputs if isinstance(atom, Variable)}
        self.fixed.update(program.inputs)
        self.made = [output for equation in program.equations for output in equation.outputs]

    def orders(self) -> Mapping[Variable, Order]:
        wanted: set[Variable] = set()
        for equation in self.program.equations:
            self._note(equation)
            if PRIMITIVES[equation.primitive].reduction and _is_worth(equation):
                wanted.update(equation.variables)
        banned = {self.groups.of(variable) for variable in self.fixed}
        chosen = {self.groups.of(variable) for variable in wanted} - banned
        for equation in reversed(self.program.equations):
            if equation.primitive == "contract" and self.groups.of(equation.output) in chosen:
                chosen.update({self.groups.of(v) for v in _lending(equation)} - banned)
        return {
            variable: longest_last(variable.type.dims)
            for variable in self.made
            if self.groups.of(variable) in chosen
        }

    def _note(self, equation: Equation) -> None:
        primitive = PRIMITIVES[equation.primitive]
        if (primitive.elementwise or _keeps(equation)) and not equation.varies:
            dims = equation.output.type.dims
            self.groups.join([*equation.outputs, *(v for v in equation.variables if _has(v, dims))])
        elif equation.primitive not in FOLLOWS or equation.varies:
            self.fixed.update(equation.outputs)
            if not primitive.reduction:
                self.fixed.update(equation.variables)


def _keeps(equation: Equation) -> bool:
    """True for equations that keep the order of their operands as elementwise equations do."""
    return equation.primitive == "copy" or equation.params.get("op") == "add"


def _has(variable: Variable, dims: tuple[object, ...]) -> bool:
    return variable.type.dims == dims


def _is_worth(equation: Equation) -> bool:
    return equation.inputs[0].type.size >= TURNED_ELEMENTS and sums_short_rows(equation)


def _lending(equation: Equation) -> list[Variable]:
    """The factors that the longest axis of a product comes from."""
    product, dims = Contraction.of(equation), equation.output.type.dims
    innermost = product.names[2][longest_last(dims)[-1]]
    found = []
    for atom, names in zip(equation.inputs, product.names, strict=False):
        is_own = innermost in names and names[longest_last(atom.type.dims)[-1]] == innermost
        if is_own and isinstance(atom, Variable):
            found.append(atom)
    return found
