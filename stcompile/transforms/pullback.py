"""``vjp``: a value, and the function from its cotangent to the cotangents of the primals, for later
calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeAlias

import numpy as np

from stcompile.ad.reverse import Split, split
from stcompile.base import trees
from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError, DerivativeError
from stcompile.base.generics import G
from stcompile.base.opening import filled, outline
from stcompile.base.options import Options
from stcompile.base.shown import Shown, Source
from stcompile.base.timings import timed
from stcompile.calls.arguments import Arguments
from stcompile.calls.link import link
from stcompile.calls.specialisation import Specialisation
from stcompile.calls.workspaces import workspaces_of
from stcompile.emit.function import emit
from stcompile.frontend.lists.leaving import with_rows
from stcompile.frontend.protocol import Staging
from stcompile.frontend.stage import stage
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import described
from stcompile.frontend.substage import Output, SubStage, output_and_aux, rebuild, substage
from stcompile.passes.pipeline import prepare
from stcompile.transforms.at_paths import place_at
from stcompile.transforms.pushforward import converted
from stcompile.transforms.with_respect_to import DifferentiatedBy, Results, variables_in
from stcompile.wengert.dims import Sizes, Symbol, measured, size_of, symbols_in
from stcompile.wengert.ir import Atom, Program, Variable, mentioned
from stcompile.wengert.naming import Names, base_name, is_numbered
from stcompile.wengert.primitives.external import externals_of
from stcompile.wengert.staged import Group, Item, Leaf, Staged
from stcompile.wengert.types import Type

FLOAT = np.dtype(np.float64)
Paths: TypeAlias = "tuple[trees.Path, ...]"


@dataclass(frozen=True)
class Backward:
    """The compiled adjoint: a function of the residuals, then of the cotangents, of the types
    ``types``, of the leaves at ``paths`` in the value. Its results belong to ``results`` in the
    primals; ``lengths`` are those that its factory takes. It is pickled as its text."""

    source: str
    name: str
    workspace: str | None
    beside: Mapping[str, Any]
    types: tuple[Type, ...]
    paths: Paths
    results: Paths
    lengths: tuple[tuple[int, trees.Path, int], ...]
    function: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        linked = link(self.source, self.name, self.workspace, self.beside)
        function = workspaces_of(linked, self.lengths) if self.workspace else linked
        object.__setattr__(self, "function", function)

    def __reduce__(self) -> Any:
        made_with = self.source, self.name, self.workspace, dict(self.beside)
        return Backward, (*made_with, self.types, self.paths, self.results, self.lengths)


class Apart(Protocol):
    """A linear function that is called later: the program and its linear ``parts``, the residuals,
    and where its operands stand in their structure."""

    parts: Split
    residuals: tuple[Atom, ...]
    positions: Mapping[trees.Path, int]
    results: Paths

    def stage_call(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any: ...


class Vjp(DifferentiatedBy[..., Any]):
    """A function whose call gives ``(value, pullback)``, or with ``has_aux`` ``(value, pullback,
    aux)``."""

    takes_complex = True
    backward_title = "The pullback of `{}`."

    def __init__(
        self, function: Any, count: int, has_aux: bool = False, options: Options | None = None
    ) -> None:
        super().__init__(function, tuple(range(count)), options)
        self.has_aux = has_aux
        self.name = f"{self.function_name}_with_residuals"
        self.title = f"The value of `{self.function_name}` and the residuals of its adjoint."

    def __call__(self, *primals: Any) -> Any:
        arguments = self.bind(primals, {})
        compiled = self.specialise(arguments)
        backward: Backward = compiled.beside
        made, residuals = compiled.call(arguments.passed)
        value = made[0] if self.has_aux else made
        results = outline(tuple(arguments.values.values()))
        known = lengths_in(compiled, arguments)
        pullback: Pullback[Any] = Pullback(
            backward, residuals, value, results, self.function_name, known
        )
        return (value, pullback, made[1]) if self.has_aux else (value, pullback)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        made, pullback = self.staged_apart(run, arguments)
        return (made[0], pullback, made[1]) if self.has_aux else (made, pullback)

    def differentiated(self, program: Program) -> Program:
        """The program that is split from its adjoint."""
        return program

    def staged_apart(self, run: Run, primals: Sequence[Any]) -> tuple[Any, Apart]:
        """The function's result, and the function that is called later."""
        return self.staged_pullback(run, primals)

    def staged_pullback(self, run: Run, primals: Sequence[Any]) -> tuple[Any, StagedPullback]:
        """The function's result, and the pullback of that part of it that is to be
        differentiated."""
        primals, _ = self.opened(run, primals, {})
        sub = substage(run, self.copying, primals, {}, sets=True)
        staged, variables = self.chosen_leaves(run, sub)
        output = sub.result
        if self.has_aux:
            output, _ = output_and_aux(run, self.function, sub.result)
        parts = split(
            self.differentiated(sub.program), variables, [*_positions(sub, output).values()]
        )
        results = run.recorder.inline(parts.primal, sub.inputs)
        count = len(sub.program.outputs)
        sub.write_back(run, dict(enumerate(results[:count])))
        made = rebuild(run, sub.result, results[:count])
        given = self.chosen_parts(run, primals, {})
        return made, StagedPullback(self, parts, results[count:], sub, output, staged, given)

    def stage(self, arguments: Arguments) -> Staged:
        staged, *_ = self._apart(arguments)
        return staged

    def build(self, arguments: Arguments) -> Specialisation:
        staged, parts, paths, results = self._apart(arguments)
        backward = self._backward(parts, paths, results)
        return replace(self.specialised(staged, arguments), beside=backward)

    def _apart(self, arguments: Arguments) -> tuple[Staged, Split, Paths, Paths]:
        """The call as a program that returns the residuals, too; the adjoint; the leaves that the
        adjoint takes vectors for, and the leaves that it gives vectors for."""
        found: list[tuple[Split, Paths, Paths]] = []

        def recorded(run: Run, primals: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
            made, pullback = self.staged_apart(run, primals)
            unknown = _unknown(pullback.parts.adjoint)
            own = _with_lengths(pullback.parts, unknown)
            found.append((own, tuple(pullback.positions), pullback.results))
            lengths = [run.record("full", 0.0, shape=_told(s), dtype=FLOAT) for s in unknown]
            return made, (*map(run.value, pullback.residuals), *lengths)

        staged = stage(
            Staging(recorded),
            arguments.values,
            arguments.positional,
            name=self.name,
            keywords=arguments.keywords,
            sizes=arguments.sizes,
        )
        return staged, *found[0]

    def _backward(self, parts: Split, paths: Paths, results: Paths) -> Backward:
        program = parts.adjoint
        for external in externals_of(program).values():
            if external.linear:
                raise DerivativeError(
                    f"`{self.function_name}` has {external.shown}, whose entries may be others "
                    "when its derivative is called later",
                    location=self.definition,
                    hint="use what computes at once: st.grad of np.sum(d * f(x)), or st.jvp",
                )
        names = Names()
        hints = ["kept"] * parts.residuals
        hints += ["d_value"] * (len(program.inputs) - parts.residuals)
        arguments = [
            names.like(hint if is_numbered(variable.name) else base_name(variable.name))
            for variable, hint in zip(program.inputs, hints, strict=True)
        ]
        leaves = [
            Leaf(name, (), variable)
            for name, variable in zip(arguments, program.inputs, strict=True)
        ]
        made_of = tuple(map(Item, program.outputs))
        result = Group("tuple", tuple(range(len(made_of))), made_of)
        staged = Staged(program, tuple(leaves), (), (), result)
        made = prepare(staged, 0, self.options.form, parallel=self.options.parallel)
        title = self.backward_title.format(self.function_name)
        with timed("source"):
            emitted = emit(made, arguments, title, "", self.options)
        beside = {**externals_of(made.program), **emitted.saved}
        types = tuple(variable.type for variable in program.inputs[parts.residuals :])
        text = emitted.source, emitted.name, emitted.workspace
        return Backward(*text, beside, types, paths, results, emitted.lengths)


def _unknown(program: Program) -> Sequence[Symbol]:
    """The lengths of arguments that a program mentions, and no input of it tells."""
    types = (atom.type.dims for atom in (*program.inputs, *program.outputs))
    found = {*mentioned(program.equations), *symbols_in(tuple(types))}
    given = {symbol for symbol in found if symbol.typical is not None}
    return sorted(given.difference(program.symbols), key=str)


def _with_lengths(parts: Split, lengths: Sequence[Symbol]) -> Split:
    """The same, with arrays without elements after the residuals, which tell some lengths."""
    names = [base_name(symbol.name) for symbol in lengths]
    own = [
        Variable(f"{name}_like", Type.array(FLOAT, _told(symbol)))
        for name, symbol in zip(names, lengths, strict=True)
    ]
    inputs = parts.adjoint.inputs
    inputs = (*inputs[: parts.residuals], *own, *inputs[parts.residuals :])
    adjoint = replace(parts.adjoint, inputs=inputs)
    return replace(parts, adjoint=adjoint, residuals=parts.residuals + len(own))


def _told(length: Symbol) -> Sizes:
    """The shape of an array that tells a length and has no elements."""
    return size_of(length), 0


def lengths_in(compiled: Specialisation, arguments: Arguments) -> Mapping[Symbol, int]:
    """The lengths with names in a call."""
    return measured(
        (dims, trees.follow(arguments.values[name], path).shape)
        for (name, path), dims in compiled.sizes.items()
    )


def _positions(sub: SubStage, output: Any) -> dict[trees.Path, int]:
    """The outputs of a program with a cotangent, by their paths in the value; static leaves have
    none."""
    outputs = sub.program.outputs
    leaves = [(path, leaf) for path, leaf in trees.leaves(output) if isinstance(leaf, Output)]
    return {path: leaf.index for path, leaf in leaves if outputs[leaf.index].type.inexact}


class LinearFunction(Shown):
    """A compiled linear function from vectors in the structure of ``operands`` to vectors in the
    structure of ``results``. It owns the values that it reads, and can be called any number of
    times."""

    operand: str  # the name of its operand

    def __init__(
        self,
        backward: Backward,
        residuals: tuple[Any, ...],
        operands: Any,
        results: Any,
        name: str,
        lengths: Mapping[Symbol, int],
    ) -> None:
        self._backward = backward
        self._shapes = [
            place_at(operands, path).shape(type, lengths)
            for path, type in zip(backward.paths, backward.types, strict=True)
        ]
        self._residuals = residuals
        self._operands = [path for path, _ in trees.leaves(operands)]
        self._results = results
        self._name = name

    def _differs(self) -> ArgumentsError:
        """The error for an operand in another structure."""
        raise NotImplementedError

    def _called(self, operand: Any) -> Any:
        if [path for path, _ in trees.leaves(operand)] != self._operands:
            raise self._differs()
        backward = self._backward
        vectors = [
            place_at(operand, path).vector(self.operand, type, shape)
            for path, type, shape in zip(backward.paths, backward.types, self._shapes, strict=True)
        ]
        return self._backward.function(*self._residuals, *vectors)

    @property
    def source(self) -> Source:
        """The generated function: it takes the kept values, then the vectors."""
        return Source(self._backward.source)


class Pullback(LinearFunction, Generic[G]):
    """The adjoint of a function at the primals that ``vjp`` was called with.

    Called with a cotangent in the structure of the value, it returns a tuple: for each primal its
    cotangent, in its structure.
    """

    operand = "the cotangent"

    @public
    def __call__(self, cotangent: Any) -> G:
        made: G = filled(self._results, iter(self._called(cotangent)))
        return made

    def _differs(self) -> ArgumentsError:
        return ArgumentsError(
            f"the cotangent of `{self._name}` has another structure than its value",
            hint="give a cotangent for each array and number, in the same structure",
        )

    def __str__(self) -> str:
        return f"the pullback of `{self._name}`: from a cotangent to those of its primals"


class StagedPullback:
    """A pullback inside a function that is being staged; ``output`` is the structure of the leaves
    with a cotangent, ``staged`` and ``given`` are the primals."""

    tree_leaf = True

    def __init__(
        self,
        vjp: Vjp,
        parts: Split,
        residuals: Sequence[Atom],
        sub: SubStage,
        output: Any,
        staged: Sequence[Any],
        given: Sequence[Any],
    ) -> None:
        self.vjp = vjp
        self.parts = parts
        self.residuals = tuple(residuals)
        self.sub = sub
        self.output = output
        self.positions: Mapping[trees.Path, int] = _positions(sub, output)
        self.results: Paths = ()
        self.staged = staged
        self.given = given

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        if len(arguments) != 1 or keywords:
            run.refuse("a pullback takes one argument: the cotangent of the value", "")
        leaves = dict(trees.leaves(with_rows(run, arguments[0])))
        if [*leaves] != [path for path, _ in trees.leaves(self.output)]:
            run.refuse(
                f"the cotangent is {described(arguments[0])} of another structure than the value",
                "give a cotangent for each array and number, in the same structure",
            )
        outputs = self.sub.program.outputs
        cotangents = [
            converted(
                run, trees.show_path("the cotangent", path), outputs[index].type, leaves[path]
            )
            for path, index in self.positions.items()
        ]
        found = run.recorder.inline(self.parts.adjoint, (*self.residuals, *cotangents))
        variables = variables_in(tuple(self.staged))
        results = Results(run, dict(zip(variables, found, strict=True)))
        pairs = zip(self.staged, self.given, strict=True)
        return tuple([results.of(one, other) for one, other in pairs])
