"""``linearize``: a value, and the function from tangents of the primals to the tangent of the
value.

The adjoint is split from the program, as for ``vjp``, and transposed: a linear map of cotangents
becomes a linear map of tangents (`stcompile.ad.forward.transpose`). So the function's values that
the map reads are computed and kept once, in loops too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.ad.forward import transpose
from stcompile.ad.reverse import Split
from stcompile.ad.vectors import Vectors
from stcompile.base import trees
from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError, DerivativeError
from stcompile.frontend.lists.leaving import with_lists
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import described
from stcompile.frontend.substage import Output
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.transforms.at_paths import place_at
from stcompile.transforms.pullback import (
    Apart,
    Backward,
    LinearFunction,
    StagedPullback,
    Vjp,
    lengths_in,
)
from stcompile.transforms.pushforward import converted, zero
from stcompile.wengert.ir import Equation, Program, Variable, freeze, map_programs
from stcompile.wengert.naming import name_variables
from stcompile.wengert.recorder import Recorder


class Linearize(Vjp):
    """A function whose call gives ``(value, linear)``."""

    backward_title = "The derivative of `{}` at a point."

    def __call__(self, *primals: Any) -> Any:
        arguments = self.bind(primals, {})
        compiled = self.specialise(arguments)
        value, residuals = compiled.call(arguments.passed)
        backward: Backward = compiled.beside
        zeros = trees.map_leaves(lambda path, leaf: np.zeros_like(leaf)[()], value)
        known = lengths_in(compiled, arguments)
        given = tuple(arguments.values.values())
        return value, LinearMap(backward, residuals, given, zeros, self.function_name, known)

    def differentiated(self, program: Program) -> Program:
        """The program without rules for cotangents alone: tangents pass through."""
        return _through(program)

    def staged_apart(self, run: Run, primals: Sequence[Any]) -> tuple[Any, Apart]:
        made, pullback = self.staged_pullback(run, primals)
        return made, StagedLinear(pullback)


def _through(program: Program) -> Program:
    def moved(equation: Equation) -> Equation:
        inner = map_programs(equation, _through)
        if inner.primitive == "call" and inner.params.get("through"):
            return replace(inner, params=freeze({**inner.params, "adjoint": None}))
        return inner

    return program.with_equations(tuple(map(moved, program.equations)))


def _transposed(parts: Split, variables: Sequence[Variable]) -> Program:
    """The program from residuals and tangents of ``variables`` to the tangents of the outputs."""
    adjoint, count = parts.adjoint, parts.residuals
    cotangents = adjoint.inputs[count:]
    linear = eliminate_dead_code(
        transpose(adjoint, range(count, len(adjoint.inputs)), range(len(adjoint.outputs)))
    )
    read = {v for e in linear.equations for v in e.variables}.union(linear.outputs)
    own = linear.inputs[count : len(adjoint.inputs)]
    dropped = {v for v in own if v not in read}  # so that no length is told by one
    linear = replace(linear, inputs=tuple(v for v in linear.inputs if v not in dropped))
    recorder = Recorder()
    kept = tuple(recorder.variable(v.type, v.name) for v in adjoint.inputs[:count])
    tangents = tuple(
        recorder.variable(output.type, f"{variable.name}_dot")
        for output, variable in zip(adjoint.outputs, variables, strict=True)
    )
    zeros = [Vectors(recorder).zeros(v.type) for v in own if v in read]  # it is linear in them
    found = recorder.inline(linear, (*kept, *zeros, *tangents))
    vectors = Vectors(recorder)
    outputs = tuple(
        vectors.exactly(one, cotangent.type)
        for one, cotangent in zip(found, cotangents, strict=True)
    )
    name = f"{adjoint.name.removesuffix('_pullback')}_linear"
    raw = Program(name, (*kept, *tangents), tuple(recorder.equations), outputs)
    return name_variables(eliminate_dead_code(raw), recorder.hints)


class LinearMap(LinearFunction):
    """The derivative of a function at the primals that ``linearize`` was called with.

    Called with a tangent for each primal, in the structure of the primal, it returns the tangent of
    the value, in the structure of the value.
    """

    operand = "the tangents"

    @public
    def __call__(self, *tangents: Any) -> Any:
        found = self._called(tangents)
        places = (place_at(self._results, path) for path in self._backward.results)
        vectors: dict[trees.Path, Any] = {}
        for place, vector in zip(places, found, strict=True):
            vectors.update(place.spread(vector))
        return trees.map_leaves(lambda path, zero: vectors.get(path, zero), self._results)

    def _differs(self) -> ArgumentsError:
        return ArgumentsError(
            f"the tangents of `{self._name}` have another structure than its arguments",
            hint="give a tangent for each array and number, in the same structure",
        )

    def __str__(self) -> str:
        return f"the derivative of `{self._name}` at a point: from tangents to that of the value"


class StagedLinear:
    """A linear map inside a function that is being staged."""

    tree_leaf = True

    def __init__(self, pullback: StagedPullback) -> None:
        leaves = [*trees.leaves(tuple(pullback.staged))]
        moving = [(path, leaf) for path, leaf in leaves if isinstance(leaf, Variable)]
        if len({leaf for _, leaf in moving}) < len(moving):
            raise DerivativeError(
                "an array stands in two places of an object: st.linearize takes a tangent for each",
                hint="use st.jvp, which takes one tangent for the array",
            )
        self.pullback = pullback
        self.residuals = pullback.residuals
        self.whole = [path for path, _ in leaves]
        self.positions: Mapping[trees.Path, int] = {path: at for at, (path, _) in enumerate(moving)}
        self.results = tuple(pullback.positions)
        linear = _transposed(pullback.parts, [leaf for _, leaf in moving])
        self.parts = replace(pullback.parts, adjoint=linear)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        leaves = dict(trees.leaves(tuple(arguments)))
        if [*leaves] != self.whole or keywords:
            run.refuse(
                f"the tangents are {described(tuple(arguments))} of another structure than the "
                "arguments",
                "give a tangent for each array and number, in the same structure",
            )
        types = [variable.type for variable in self.parts.adjoint.inputs[len(self.residuals) :]]
        tangents = [
            converted(run, trees.show_path("the tangents", path), type, leaves[path])
            for path, type in zip(self.positions, types, strict=True)
        ]
        found = iter(run.recorder.inline(self.parts.adjoint, (*self.residuals, *tangents)))
        positions, outputs = self.pullback.positions, self.pullback.sub.program.outputs

        def leaf(path: trees.Path, value: Any) -> Any:
            if path in positions:
                return run.value(next(found))
            return zero(run, outputs[value.index].type) if isinstance(value, Output) else value

        return with_lists(run, trees.map_leaves(leaf, self.pullback.output))
