"""Functions with a derivative rule of their own, which is known to be cheaper or more stable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from stcompile.base import trees
from stcompile.base.errors import DerivativeError
from stcompile.base.generics import P, R
from stcompile.base.shown import Shown
from stcompile.base.signatures import real_signature
from stcompile.calls.described import call_of
from stcompile.calls.travel import Travels
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Cell, Scalar
from stcompile.frontend.substage import Output, SubStage, rebuild, substage
from stcompile.wengert.ir import Atom, Program, Variable


@dataclass(frozen=True)
class RuleCall:
    """The operands and params of a ``call``, and the structure of its value."""

    inputs: tuple[Atom, ...]
    params: Mapping[str, Any]
    value: Any


class CustomRule(Travels, Shown, Generic[P, R]):
    """A function, and the rule that differentiates it.

    ``forward(*arguments)`` returns ``(value, residuals)``; ``backward(residuals, cotangent)``, a
    function or a transformed function, returns a cotangent for each argument, None for arguments
    without derivative. Both are written in the user's language, so that second derivatives follow
    by themselves. Called plainly, it returns the value of ``forward``. ``through`` says that the
    rule concerns the backward pass alone: tangents pass through ``forward``.
    """

    def __init__(
        self,
        forward: Callable[P, tuple[R, Any]],
        backward: Any,
        name: str = "",
        through: bool = False,
    ) -> None:
        self.forward = forward
        self.backward = backward
        self.through = through
        self.__name__ = name or forward.__name__.lstrip("_")  # users call the rule by this name
        self.__doc__ = forward.__doc__
        self.__signature__ = real_signature(forward)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        value, _ = self.forward(*arguments, **keywords)
        return value

    def __str__(self) -> str:
        return f"{call_of(self, self.__name__)}, with a derivative of its own"

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        call = self.staged(run, arguments, keywords)
        return rebuild(run, call.value, run.record_atoms("call", call.inputs, call.params))

    def staged(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> RuleCall:
        """The call, with the programs of the value and of its adjoint; nothing is recorded."""
        bound = self.__signature__.bind(*arguments, **keywords)
        bound.apply_defaults()
        sub = substage(run, self.forward, bound.args, bound.kwargs)
        value, residuals = sub.result
        results = [leaf for _, leaf in trees.leaves(value) if isinstance(leaf, Output)]
        program = _with_outputs(sub.program, results, residuals)
        outputs = tuple(run.recorder.variable(atom.type) for atom in program.outputs)
        count = len(results)
        adjoint, targets = self._adjoint(run, sub, residuals, outputs[:count], outputs[count:])
        params = {
            "program": program,
            "adjoint": adjoint,
            "name": self.__name__,
            "value": count,
            "targets": targets,
        }
        if self.through:
            params["through"] = True
        return RuleCall(sub.inputs, params, value)

    def _adjoint(
        self,
        run: Run,
        sub: SubStage,
        residuals: Any,
        results: Sequence[Variable],
        kept: Sequence[Variable],
    ) -> tuple[Program, tuple[int, ...]]:
        """The program from residuals and cotangents to the cotangents of the inputs that have a
        cotangent, and the positions of these inputs."""
        if sub.captured:
            names = ", ".join(variable.name for variable in sub.captured)
            run.refuse(f"`{self.__name__}` reads {names} from outside", "pass it as an argument")
        rest = iter(kept)
        given = trees.map_leaves(
            lambda path, leaf: _value(next(rest)) if isinstance(leaf, Output) else leaf, residuals
        )
        back = substage(run, self.backward, [given, *map(_value, results)], {})
        if back.captured:
            run.refuse(f"the adjoint of `{self.__name__}` reads values from outside", "")
        cotangents = back.result if isinstance(back.result, tuple) else (back.result,)
        if len(cotangents) != len(sub.arguments):
            raise DerivativeError(
                f"the adjoint of `{self.__name__}` returns {len(cotangents)} cotangents for "
                f"{len(sub.arguments)} arguments"
            )
        positions = {variable: index for index, variable in enumerate(sub.program.inputs)}
        targets, outputs = [], []
        for argument, cotangent in zip(sub.arguments, cotangents, strict=True):
            if isinstance(argument, Variable) and isinstance(cotangent, Output):
                targets.append(positions[argument])
                outputs.append(back.program.outputs[cotangent.index])
        program = back.program
        adjoint = Program(program.name, program.inputs, program.equations, tuple(outputs))
        return adjoint, tuple(targets)


def _value(variable: Variable) -> Any:
    if variable.type.kind != "array":
        return Scalar(variable)
    return Array(Cell(variable, "a residual of a custom rule"), variable.type)


def _with_outputs(program: Program, results: Sequence[Output], residuals: Any) -> Program:
    """The program with the value's outputs first, then the residuals'."""
    kept = [leaf for _, leaf in trees.leaves(residuals) if isinstance(leaf, Output)]
    outputs = tuple(program.outputs[leaf.index] for leaf in (*results, *kept))
    return Program(program.name, program.inputs, program.equations, outputs)
