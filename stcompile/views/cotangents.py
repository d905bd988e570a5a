"""The cotangents of named values, and the parts that make up a gradient.

The call is unfolded to a straight line (`stcompile.views.tape`), so that each step of a loop has
values of its own, and differentiated by its inputs. The reverse sweep notes what each equation adds
to the cotangent of which variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.ad.reverse import Joint, reverse
from stcompile.base import trees
from stcompile.base.errors import DerivativeError
from stcompile.base.location import Location, line_in
from stcompile.base.wording import table
from stcompile.calls.arguments import Arguments
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal
from stcompile.views.tape import unfold
from stcompile.wengert.evaluate import environment
from stcompile.wengert.generators import undrawn
from stcompile.wengert.ir import Atom, Constant, Variable
from stcompile.wengert.naming import base_name, is_numbered


@dataclass(frozen=True)
class Assignment:
    """A value with a name, in the order of the program: the ``line`` of ``file`` that made it (0
    for an argument), and the ``cotangent``. A part of an argument, as ``p["w"]``, is also found by
    its ``short`` name if no other value is called so."""

    name: str
    file: str
    line: int
    cotangent: Any
    short: str = ""


class Cotangents(Mapping[str, Any]):
    """Cotangents by name, as `Differentiable.cotangents` gives them; ``assignments`` has all of
    them one by one. Prints as a table."""

    def __init__(self, assignments: Sequence[Assignment]) -> None:
        self.assignments = tuple(assignments)

    def __getitem__(self, name: str) -> Any:
        base, _, line = name.rpartition(":")
        found = [
            one.cotangent
            for one in self.assignments
            if one.name == name or (one.name == base and str(one.line) == line)
        ]
        found = found or [one.cotangent for one in self.assignments if one.short == name]
        if not found:
            raise KeyError(f"no value is called {name}: there are {', '.join(self) or 'none'}")
        return _stacked(found)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(one.name for one in self.assignments))

    def __len__(self) -> int:
        return len([*iter(self)])

    def __str__(self) -> str:
        return table([("name", "line", "cotangent", "norm"), *self._rows()])

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for one in self.assignments:
            where = line_in(one.file, one.line) if one.line else "argument"
            yield one.name, where, _shape(one.cotangent), _norm(one.cotangent)


@dataclass(frozen=True)
class Part:
    """The contribution of one use to a gradient: the ``line`` of ``file`` with the ``text`` that
    reads the value, and the ``step``, which counts how often that line has read it before."""

    file: str
    line: int
    text: str
    step: int
    value: Any


@dataclass(frozen=True)
class Contributions:
    """The parts of the gradient by ``name``, in the order of the program. Prints as a table."""

    name: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> Any:
        """The gradient: the sum of all parts."""
        return sum(part.value for part in self.parts)

    @property
    def by_step(self) -> Any:
        """The sums over lines, for each step: an array with a new first axis."""
        steps: dict[int, Any] = {}
        for part in self.parts:
            steps[part.step] = steps.get(part.step, 0) + part.value
        return np.stack([np.asarray(steps[step]) for step in sorted(steps)])

    @property
    def by_line(self) -> dict[int, Any]:
        """The sums over steps, for each line."""
        lines: dict[int, Any] = {}
        for part in self.parts:
            lines[part.line] = lines.get(part.line, 0) + part.value
        return lines

    def __str__(self) -> str:
        rows = ((line_in(p.file, p.line), str(p.step), _norm(p.value), p.text) for p in self.parts)
        return table([("line", "step", "norm", f"what reads {self.name}"), *rows])


def cotangents_of(
    function: Any,
    gradient: Gradient[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Cotangents:
    """The cotangents of a call."""
    call = _Call(function, gradient.bind(arguments, keywords))
    made = [
        Assignment(path, "", 0, call.value(call.finals[variable]), base_name(variable.name))
        for variable, path in call.paths.items()
        if variable in call.finals
    ]
    for equation in call.primal:
        shown = equation.location.shown
        if shown is None or equation.location.is_inside:
            continue
        for variable in equation.outputs:
            if variable in call.finals and not is_numbered(variable.name):
                cotangent = call.value(call.finals[variable])
                made.append(Assignment(base_name(variable.name), shown.file, shown.line, cotangent))
    return Cotangents(made)


def contributions_of(
    function: Any,
    gradient: Gradient[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    of: str,
) -> Contributions:
    """The parts of a gradient."""
    call = _Call(function, gradient.bind(arguments, keywords))
    target = call.argument(of)
    found: list[tuple[Location, Any]] = []
    before: Any = None
    for step in call.joint.contributions:
        if step.variable == target:
            total = call.value(step.total)
            part = step.part
            if part is not None or before is None:
                value = total if part is None else call.value(part)
            else:  # the rule has added by itself
                value = total - before
            before = total
            found.append((step.equation.location, value))
    found.reverse()
    counts: dict[tuple[str, int], int] = {}
    parts = []
    for location, value in found:
        shown = location.shown or location
        where = shown.file, shown.line
        counts[where] = counts.get(where, -1) + 1
        parts.append(Part(*where, shown.text, counts[where], value))
    return Contributions(of, tuple(parts))


class _Call:
    """A call as a straight line, with its adjoint, and all their values."""

    def __init__(self, function: Any, bound: Arguments) -> None:
        staged = Primal(function).stage(bound).without_stores()
        values = [trees.follow(bound.values[leaf.argument], leaf.path) for leaf in staged.leaves]
        values += [hidden.read() for hidden in staged.hidden]
        with np.errstate(all="ignore"), undrawn(values):
            program = unfold(staged.program, values).program
            wrt = [variable for variable in program.inputs if variable.type.inexact]
            self.joint: Joint = reverse(program, wrt)
        with np.errstate(all="ignore"), undrawn(values):
            self.known = environment(self.joint.program, *values)
        self.primal = self.joint.program.equations[: len(program.equations)]
        leaves = zip(self.joint.program.inputs, staged.leaves, strict=False)
        self.paths = {v: trees.show_path(leaf.argument, leaf.path) for v, leaf in leaves}
        self.finals: dict[Variable, Atom] = {}
        output = self.joint.program.outputs[0]
        if isinstance(output, Variable):
            self.finals[output] = self.joint.seed
        self.finals.update((step.variable, step.total) for step in self.joint.contributions)

    def value(self, atom: Atom) -> Any:
        return atom.value if isinstance(atom, Constant) else self.known[atom]

    def argument(self, name: str) -> Variable:
        for variable, path in self.paths.items():
            if name in (variable.name, path) and variable.type.inexact:
                return variable
        known = ", ".join(path for v, path in self.paths.items() if v.type.inexact)
        raise DerivativeError(
            f"`of={name!r}` is no array or float of the arguments",
            hint=f"name one of {known}" if known else "pass it as an array or a float",
        )


def _stacked(found: Sequence[Any]) -> Any:
    if len(found) == 1:
        return found[0]
    alike = len({np.shape(value) for value in found}) == 1
    return np.stack([np.asarray(value) for value in found]) if alike else list(found)


def _shape(value: Any) -> str:
    return f"{np.asarray(value).dtype} {np.shape(value)}" if np.ndim(value) else "number"


def _norm(value: Any) -> str:
    return f"{float(np.linalg.norm(np.asarray(value, dtype=np.complex128).ravel())):.4g}"
