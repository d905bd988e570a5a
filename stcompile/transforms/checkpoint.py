"""``checkpoint``: a function whose values are computed again for its adjoint, instead of kept.

Only the operands of a call are kept (Griewank & Walther 2008, ch. 12).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic

from stcompile.ad.reverse import again
from stcompile.base import trees
from stcompile.base.generics import P, R
from stcompile.base.shown import Shown
from stcompile.calls.described import call_of
from stcompile.calls.travel import Travels
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import Output, function_name, rebuild, substage
from stcompile.wengert.ir import Equation, Program, inner_effects, map_programs

_DONE_ONCE = frozenset({"print", "warn", "log_message", "assert", "raise"})


class Checkpoint(Travels, Shown, Generic[P, R]):
    """A function that is run once more when its adjoint is computed."""

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        return self.function(*arguments, **keywords)

    def __str__(self) -> str:
        return f"{call_of(self, function_name(self.function))}, run again for its adjoint"

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        sub = substage(run, self.function, arguments, keywords)
        program = sub.program
        name = function_name(self.function)
        inner = _without_prints(program)
        if any({*equation.effects} - {"bind"} for equation in inner.equations):
            run.refuse(
                f"`{name}` draws random numbers or changes something, which must be done once: its "
                "values cannot be computed again",
                "draw outside, and pass the numbers in",
            )
        targets = tuple(i for i, v in enumerate(program.inputs) if v.type.inexact)
        results = [leaf for _, leaf in trees.leaves(sub.result) if isinstance(leaf, Output)]
        params = {
            "program": replace(program, outputs=(*program.outputs, *program.inputs)),
            "adjoint": again(inner, targets),
            "name": name,
            "value": len(program.outputs),
            "targets": targets,
            "through": True,
        }
        recorded = run.record_atoms("call", sub.inputs, params)
        return rebuild(run, sub.result, recorded[: len(results)])


def _without_prints(program: Program) -> Program:
    """The program, to be run for the adjoint, without its prints and asserts, which were done
    before."""

    def moved(equation: Equation) -> Equation:
        inner = map_programs(equation, _without_prints)
        location = inner.location
        return replace(
            inner,
            location=replace(location, section="adjoint", again=location.again + 1),
            effects=inner_effects(inner.params) if inner.programs else inner.effects,
        )

    kept = [e for e in program.equations if e.primitive not in _DONE_ONCE]
    return replace(program, equations=tuple(map(moved, kept)))
