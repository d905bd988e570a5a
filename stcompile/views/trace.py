"""The evaluation trace: the primal values and the adjoints of one call, side by side.

The table that textbooks print (Griewank & Walther 2008, tables 1.2 and 3.1; Baydin et al. 2018,
table 3): read the left column downwards, the right one upwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from stcompile.ad.reverse import Joint, reverse
from stcompile.ad.sweep import Contribution
from stcompile.base import trees
from stcompile.base.shown import Shown
from stcompile.calls.apart import is_chosen, places_in
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.inline_calls import inline_calls
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal
from stcompile.views.watching import Budget, Enough
from stcompile.wengert.evaluate import environment
from stcompile.wengert.generators import undrawn
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.naming import renumber
from stcompile.wengert.types import is_generator

ADJOINT = "d_"
HEAD = ("primal trace ↓", "adjoint trace ↑   (d_v = dy/dv)")


@dataclass(frozen=True, repr=False)
class TraceRow(Shown):
    """A row: a step of the forward evaluation, and the adjoint steps that belong to it."""

    primal: str
    adjoint: tuple[str, ...]

    def __str__(self) -> str:
        return " │ ".join([self.primal, *self.adjoint])


@dataclass(frozen=True, repr=False)
class Trace(Shown):
    """The rows of the trace, with the value and the gradient they lead to. Prints as a table."""

    rows: tuple[TraceRow, ...]
    value: Any
    gradient: tuple[Any, ...]

    def __str__(self) -> str:
        width = max(map(len, [HEAD[0], *(row.primal for row in self.rows)]))
        lines = [f"{HEAD[0]:<{width}} │ {HEAD[1]}"]
        lines.append("─" * (width + 1) + "┼" + "─" * 48)
        for row in self.rows:
            for index, adjoint in enumerate(row.adjoint or ("",)):
                shown = row.primal if not index else ""
                lines.append(f"{shown:<{width}} │ {adjoint}".rstrip())
        return "\n".join(lines)

    def html(self) -> str:
        from stcompile.base.html import table

        return table([HEAD, *((row.primal, "\n".join(row.adjoint)) for row in self.rows)])


@dataclass(frozen=True)
class Traced:
    """A program, the joint program with the adjoint by ``wrt``, and the value of each variable of
    the joint program at some arguments. The first equations of the joint program are those of the
    program."""

    program: Program
    joint: Joint
    wrt: Sequence[Variable]
    known: Mapping[Variable, Any]

    def value_of(self, atom: Atom) -> Any:
        return atom.value if isinstance(atom, Constant) else self.known[atom]


def trace_of(
    gradient: Gradient[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Trace:
    """The trace of a function and its adjoint at some arguments."""
    return _table(traced(gradient, arguments, keywords))


def traced(
    gradient: Gradient[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    budget: Budget | None = None,
) -> Traced:
    """A function and its adjoint, run equation by equation; with a budget, as far as that goes."""
    bound = gradient.bind(arguments, keywords)
    staged = Primal(gradient.function).stage(bound).without_stores()
    program = renumber(eliminate_dead_code(inline_calls(staged.program)))
    renamed = dict(zip(staged.program.inputs, program.inputs, strict=True))
    places = [*places_in(bound, gradient.wrt)]
    wrt = [renamed[leaf.variable] for leaf in staged.leaves if is_chosen(leaf, bound, places)]
    joint = reverse(program, wrt)
    values = [trees.follow(bound.values[leaf.argument], leaf.path) for leaf in staged.leaves]
    values += [hidden.read() for hidden in staged.hidden]
    known = dict(zip(joint.program.inputs, values, strict=True))

    def watch(
        equation: Equation, _: tuple[Any, ...], results: tuple[Any, ...], steps: tuple[int, ...]
    ) -> None:
        if budget is not None:
            budget.spend(steps)
        if not steps:
            known.update(zip(equation.outputs, results, strict=True))

    with undrawn(values), suppress(Enough):
        environment(joint.program, *values, watch=watch)
    return Traced(program, joint, wrt, known)


def _table(traced: Traced) -> Trace:
    program, joint, known, value_of = traced.program, traced.joint, traced.known, traced.value_of
    gradients = joint.program.outputs[len(program.outputs) :]
    finals = {v.name: g for v, g in zip(traced.wrt, gradients, strict=True)}
    rows = []
    for variable in joint.program.inputs:
        final = finals.get(variable.name)
        shown = () if final is None else (f"{ADJOINT}{variable.name} = {show(value_of(final))}",)
        rows.append(TraceRow(f"{variable.name} = {show(known[variable])}", tuple(shown)))
    steps: dict[Equation, list[Contribution]] = {}
    for contribution in joint.contributions:
        steps.setdefault(contribution.equation, []).append(contribution)
    primal = joint.program.equations[: len(program.equations)]
    first = _first_contributions(joint.contributions)
    for equation in primal:
        adjoint = tuple(
            _step(contribution, contribution in first, value_of)
            for contribution in reversed(steps.get(equation, []))
        )
        rows.append(TraceRow(_evaluated(equation, value_of), adjoint))
    output = joint.program.outputs[0]
    seed = f"{ADJOINT}y = {show(joint.seed.value)}"
    result = f"y = {show(value_of(output))}"
    if isinstance(output, Variable):
        seed = f"{ADJOINT}{output.name} = {seed}"
        result = f"y = {output.name} = {show(value_of(output))}"
    rows.append(TraceRow(result, (seed,)))
    return Trace(tuple(rows), value_of(output), tuple(map(value_of, gradients)))


def _first_contributions(contributions: Sequence[Contribution]) -> list[Contribution]:
    seen: set[Variable] = set()
    first = []
    for contribution in contributions:
        if contribution.variable not in seen:
            seen.add(contribution.variable)
            first.append(contribution)
    return first


def _evaluated(equation: Equation, value_of: Any) -> str:
    """The text of an evaluated equation: ``v1 = log(x1) = log(2) = 0.6931``."""
    outputs = ", ".join(output.name for output in equation.outputs)
    symbols = [a.name if isinstance(a, Variable) else show(a.value) for a in equation.inputs]
    text = f"{outputs} = {_applied(equation.primitive, symbols)}" if outputs else (
        _applied(equation.primitive, symbols)
    )  # fmt: skip
    if all(atom.type.dims == () for atom in equation.inputs) and equation.inputs:
        numbers = [show(value_of(atom)) for atom in equation.inputs]
        text += f" = {_applied(equation.primitive, numbers)}"
    results = ", ".join(show(value_of(output)) for output in equation.outputs)
    return f"{text} = {results}" if results else text


def _step(contribution: Contribution, is_first: bool, value_of: Any) -> str:
    """The text of an adjoint step: ``d_x1 += d_v2 * ∂v2/∂x1 = 0.5 + 5 = 5.5``."""
    variable, result = contribution.variable, contribution.equation.outputs[0]
    sign = "=" if is_first else "+="
    rule = f"{ADJOINT}{result.name} * ∂{result.name}/∂{variable.name}"
    part = "" if contribution.part is None else f" = {show(value_of(contribution.part))}"
    total = value_of(contribution.total)
    if is_first:
        return f"{ADJOINT}{variable.name} = {rule} = {show(total)}"
    return f"{ADJOINT}{variable.name} {sign} {rule}{part} → {show(total)}"


def _applied(primitive: str, operands: Sequence[str]) -> str:
    symbols = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}
    symbols |= {"math.pow": "**", "contract": "@"}
    if primitive in symbols and len(operands) == 2:
        right = f"({operands[1]})" if operands[1].startswith("-") else operands[1]
        return f"{operands[0]} {symbols[primitive]} {right}"
    return f"{primitive}({', '.join(operands)})"


def show(value: Any) -> str:
    """A number with four significant decimals; an array by its shape and norm; a generator by its
    class."""
    if isinstance(value, np.ndarray) and value.ndim:
        wide = np.result_type(value.dtype, np.float64)
        norm = float(np.linalg.norm(value.astype(wide).ravel()))
        return f"{value.dtype}{list(value.shape)} |·|={norm:.4g}"
    if is_generator(value) or isinstance(value, ModuleType):
        return type(value).__name__
    number = value.item() if isinstance(value, np.ndarray | np.generic) else value
    return f"{number:.5g}" if isinstance(number, float | complex) else str(number)
