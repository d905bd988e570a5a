"""Explain why a gradient is zero: for each input the lines where it ends.

The call is unfolded to a straight line (`stcompile.views.tape`). Each operand on a path from an
input whose gradient is zero is replaced by ``operand - tap``, with a *tap* of zeros: the derivative
by the tap is the cotangent that flows back through this operand alone. A path ends where no
cotangent flows into an equation although its result receives one.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from stcompile.ad.reverse import reverse
from stcompile.ad.rules import is_differentiable
from stcompile.base import trees
from stcompile.base.location import Location, line_in
from stcompile.base.shown import Shown
from stcompile.calls.apart import is_chosen, places_in
from stcompile.calls.arguments import Arguments
from stcompile.calls.lengths import indented
from stcompile.codegen_templates.numpy.subscripts import has_masks
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal
from stcompile.views.tape import Aside, Tape, unfold
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.generators import undrawn
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.types import Type

Kind = Literal["unused", "elsewhere", "stopped", "integers", "flat", "cancels"]
Use = tuple[Equation, int]  # an equation, and the position of an operand

HEAD = ("input", "gradient", "why")
STOPS = frozenset({"stop_gradient"})
FLAT_EVERYWHERE = frozenset({"sign", "floor", "ceil", "rint", "trunc"})
TO_INTEGERS = frozenset({"floor_divide"})  # results are whole numbers, even as floats


@dataclass(frozen=True, repr=False)
class Cause(Shown):
    """A path from an input towards the output, and where the gradient ends on it. ``always`` is
    true if it ends there at every point."""

    kind: Kind
    text: str
    location: Location | None
    always: bool

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class ReasonRow(Shown):
    """An array or number among the inputs. Its gradient is ``zero`` for the ``causes``, and not
    zero if there are none."""

    path: str
    zero: bool
    causes: tuple[Cause, ...]

    def __str__(self) -> str:
        return f"{self.path} is {self.verdict}: {'; '.join(self.reasons)}"

    @property
    def reasons(self) -> list[str]:
        return [cause.text for cause in self.causes] or ["reaches the output"]

    @property
    def always(self) -> bool:
        """True if the gradient is zero at every point, as far as that is seen."""
        return self.zero and all(cause.always for cause in self.causes)

    @property
    def verdict(self) -> str:
        if not self.zero:
            return "nonzero"
        return "always zero" if self.always else "zero here"


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """The explanation of each input's gradient at one point, and the warnings for the function.
    ``numbers`` are the axes for each length of which the function would be compiled, with the
    reason. Prints as a table."""

    rows: tuple[ReasonRow, ...]
    warnings: tuple[str, ...]
    numbers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [HEAD]
        for row in self.rows:
            first_reason, *others = row.reasons
            lines += [(row.path, row.verdict, first_reason), *(("", "", r) for r in others)]
        first, second, third = (max(len(line[i]) for line in lines) for i in range(3))
        table = [f"{a:<{first}} │ {b:<{second}} │ {c}".rstrip() for a, b, c in lines]
        table.insert(1, f"{'─' * first}─┼─{'─' * second}─┼─{'─' * third}")
        return "\n\n".join(["\n".join(table), *self.warnings, *self.needs])

    @property
    def needs(self) -> list[str]:
        """The text for each axis that needs a number."""
        return [
            "\n".join([f"{axis} is compiled for each length, because", *indented(reason)])
            for axis, reason in self.numbers.items()
        ]

    def html(self) -> str:
        from stcompile.base.html import table, text

        rows = [(row.path, row.verdict, "\n".join(row.reasons)) for row in self.rows]
        return "".join([table([HEAD, *rows]), *map(text, [*self.warnings, *self.needs])])


def explanation_of(
    gradient: Gradient[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Explanation:
    """The explanation of a gradient at some arguments."""
    bound = gradient.bind(arguments, keywords)
    cautions = gradient.stage(bound).cautions  # refuses whatever a gradient refuses
    staged = Primal(gradient.function).stage(bound).without_stores()
    values = [trees.follow(bound.values[leaf.argument], leaf.path) for leaf in staged.leaves]
    values += [hidden.read() for hidden in staged.hidden]
    places = [*places_in(bound, gradient.wrt)]
    with np.errstate(all="ignore"):
        with undrawn(values):
            tape = unfold(staged.program, values)
        positions = [
            at
            for place in dict.fromkeys(places)
            for at, leaf in enumerate(staged.leaves)
            if is_chosen(leaf, bound, [place])
        ]
        found = explain_tape(tape, [tape.program.inputs[at] for at in positions])
    rows = []
    for at, causes in zip(positions, found, strict=True):
        leaf = staged.leaves[at]
        shown = trees.show_path(leaf.argument, leaf.path)
        rows.append(ReasonRow(shown, causes is not None, causes or ()))
    return Explanation(tuple(rows), tuple(map(str, cautions)), _numbers(gradient, bound))


def _numbers(gradient: Gradient[..., Any], arguments: Arguments) -> Mapping[str, str]:
    """The axes whose lengths cannot have names, and why: found by compiling the function with a
    name for each of them."""
    named = replace(gradient.options, dynamic=True)
    trial: Gradient[..., Any] = Gradient(gradient.function, gradient.wrt, True, named)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial.specialise(arguments, False)
    return trial.lengths.numbers


def explain_tape(tape: Tape, wrt: Sequence[Variable]) -> list[tuple[Cause, ...] | None]:
    """The causes for which the gradient of the first output is zero, for each input; None if it is
    not."""
    ways = _Ways(tape, wrt)
    return list(map(ways.causes, wrt))


class _Ways:
    """The ways from some inputs of a straight line to its output."""

    def __init__(self, tape: Tape, wrt: Sequence[Variable]) -> None:
        self.output = tape.program.outputs[0]
        self.asides = _by_variable(tape.asides)
        needed = replace(tape.program, outputs=(self.output, *self.asides))
        self.live = eliminate_dead_code(needed)
        self.uses = _uses(self.live)
        self.all_uses = _uses(tape.program)
        gradients = _gradients(self.live, wrt, tape.inputs)
        self.zero = {v for v, g in zip(wrt, gradients, strict=True) if not np.any(g)}
        self.flows = self._flows(wrt, tape.inputs)

    def causes(self, start: Variable) -> tuple[Cause, ...] | None:
        """The causes for which the gradient by an input is zero; None if it is not."""
        if start not in self.zero:
            return None
        if start.type.size == 0:
            return (Cause("unused", "has no elements", None, True),)
        found: list[Cause] = []
        waiting, seen = [start], {start}
        while waiting:
            variable = waiting.pop(0)
            found += map(_aside, self.asides.get(variable, ()))
            through = [use for use in self.uses.get(variable, ()) if np.any(self._flow(use))]
            if through:
                found.append(_cancels([equation.location for equation, _ in through]))
            for use in self.uses.get(variable, ()):
                cause = self._end(use)
                if cause is not None:
                    found.append(cause)
                    continue
                equation, _ = use
                following = [o for o in equation.outputs if o.type.inexact and o not in seen]
                if use not in through:
                    waiting += following
                    seen.update(following)
        if not found:
            found = [_unused(self.all_uses.get(start, ()))]
        return _distinct(found)

    def _end(self, use: Use) -> Cause | None:
        """The cause of a way that ends in an equation; None if it goes on."""
        equation, position = use
        location = equation.location
        if _is_stopped(use):
            return Cause("stopped", f"stopped at {place(location)}", location, True)
        if not _carries(use):
            kind = "booleans" if _makes_booleans(use) else "integers"
            text = f"passes through {kind}: `{_name(equation)}` at {place(location)}"
            return Cause("integers", text, location, True)
        if equation.primitive in FLAT_EVERYWHERE:
            return Cause("flat", f"flat: `{_name(equation)}` at {place(location)}", location, True)
        if np.any(self._flow(use)) or not any(map(self._is_reached, equation.outputs)):
            return None
        is_overwritten = PRIMITIVES[equation.primitive].assigns and position == 0
        what = "overwritten" if is_overwritten else f"flat at this point: `{_name(equation)}`"
        return Cause("flat", f"{what} at {place(location)}", location, False)

    # --- cotangents that flow back -------------------------------------------------------------

    def _flow(self, use: Use) -> Any:
        """The cotangent that an equation hands to one of its operands."""
        return self.flows.get((id(use[0]), use[1]), 0)

    def _is_reached(self, variable: Variable) -> bool:
        """True if the cotangent of a variable is not zero."""
        if variable == self.output:
            return True
        return bool(np.any(sum(self._flow(use) for use in self.uses.get(variable, ()))))

    def _flows(self, wrt: Sequence[Variable], inputs: Sequence[Any]) -> dict[tuple[int, int], Any]:
        """The cotangent that flows through each operand on a way from an input whose gradient is
        zero."""
        uses = list(self._ways())
        if not uses:
            return {}
        program, taps = _tapped(self.live, uses)
        zeros = [_zeros(tap.type) for tap in taps]
        gradients = _gradients(program, [*wrt, *taps], [*inputs, *zeros])[len(wrt) :]
        keys = [(id(equation), position) for equation, position in uses]
        return dict(zip(keys, gradients, strict=True))

    def _ways(self) -> Iterator[Use]:
        reached = set(self.zero)
        for equation in self.live.equations:
            for position, atom in enumerate(equation.inputs):
                use = (equation, position)
                if atom in reached and _carries(use) and not _is_stopped(use):
                    reached |= {o for o in equation.outputs if o.type.inexact}
                    yield use


def _uses(program: Program) -> dict[Variable, list[Use]]:
    found: dict[Variable, list[Use]] = {}
    for equation in program.equations:
        for position, atom in enumerate(equation.inputs):
            if isinstance(atom, Variable):
                found.setdefault(atom, []).append((equation, position))
    return found


def _by_variable(asides: Iterable[Aside]) -> dict[Variable, list[Aside]]:
    found: dict[Variable, list[Aside]] = {}
    for aside in asides:
        found.setdefault(aside.variable, []).append(aside)
    return found


def _gradients(program: Program, wrt: Sequence[Variable], inputs: Sequence[Any]) -> tuple[Any, ...]:
    joint = reverse(program, wrt)
    with undrawn(inputs):
        return evaluate(joint.program, *inputs)[len(program.outputs) :]


def _tapped(program: Program, uses: Sequence[Use]) -> tuple[Program, list[Variable]]:
    """The program with ``operand - tap`` for each use, and the taps: inputs after its own."""
    recorder = Recorder()
    tapped: dict[int, dict[int, Variable]] = {}
    taps = []
    for equation, position in uses:
        tap = recorder.variable(equation.inputs[position].type)
        tapped.setdefault(id(equation), {})[position] = tap
        taps.append(tap)
    for equation in program.equations:
        inputs: list[Atom] = list(equation.inputs)
        for position, tap in tapped.get(id(equation), {}).items():
            (changed,) = recorder.record("subtract", (inputs[position], tap), equation.location)
            if changed.type != tap.type:  # NumPy makes a scalar of a 0-d array
                (changed,) = recorder.record("asarray", (changed,), equation.location)
            inputs[position] = changed
        recorder.equations.append(replace(equation, inputs=tuple(inputs)))
    variables = (*program.inputs, *taps)
    return replace(program, inputs=variables, equations=tuple(recorder.equations)), taps


def _zeros(type: Type) -> Any:
    if type.kind == "array":
        return np.zeros(type.dims, type.dtype)
    return type.python_type(0) if type.kind == "python" else type.dtype.type(0)


# --- causes --------------------------------------------------------------------------------------


def _carries(use: Use) -> bool:
    """True if an equation is differentiable in this operand, at least in form."""
    equation, position = use
    if not is_differentiable(equation.primitive) or equation.primitive in TO_INTEGERS:
        return False
    if _is_condition(equation, position):
        return False
    inexact = any(output.type.inexact for output in equation.outputs)
    return inexact and equation.inputs[position].type.inexact


def _is_condition(equation: Equation, position: int) -> bool:
    """True for an operand that decides about elements: a condition, or a mask."""
    if equation.primitive == "where":
        return position == 0
    return equation.inputs[position].type.dtype.kind == "b" and has_masks(
        equation.params.get("at", ())
    )


def _makes_booleans(use: Use) -> bool:
    equation, position = use
    return _is_condition(equation, position) or all(
        output.type.dtype.kind == "b" for output in equation.outputs
    )


def _is_stopped(use: Use) -> bool:
    """True for an operand that is declared to have no derivative."""
    equation, position = use
    if equation.primitive == "call":
        return position not in equation.params["targets"]
    return equation.primitive in STOPS


def _aside(aside: Aside) -> Cause:
    if aside.kind == "decides":
        text = f"passes through booleans: it decides a branch or a loop at {place(aside.location)}"
        return Cause("integers", text, aside.location, True)
    text = f"used by code that is not run here: {place(aside.location)}"
    return Cause("elsewhere", text, aside.location, False)


def _cancels(locations: Collection[Location]) -> Cause:
    places = ", ".join(dict.fromkeys(map(place, locations)))
    return Cause("cancels", f"what flows back from {places} adds up to zero here", None, False)


def _unused(uses: Sequence[Use]) -> Cause:
    if not uses:
        return Cause("unused", "not used", None, True)
    equation, _ = uses[0]
    text = f"not used for the result, only at {place(equation.location)}"
    return Cause("unused", text, equation.location, True)


def _distinct(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    found: dict[str, Cause] = {}
    for cause in causes:
        found.setdefault(cause.text, cause)
    return tuple(found.values())


def _name(equation: Equation) -> str:
    if equation.primitive == "call":
        return str(equation.params["name"])
    return str(equation.params.get("spelling") or equation.primitive)


def place(location: Location) -> str:
    """``model.py:3``: the user's line."""
    where = location.shown or location
    return line_in(where.file, where.line)
