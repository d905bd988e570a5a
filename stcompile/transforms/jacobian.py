"""``jacobian``: all partial derivatives of a function of arrays, row by row or column by column.

In reverse mode it is the adjoint of each number of the output, in forward mode the tangent of each
number of the arguments (Griewank & Walther 2008, ch. 3). They are computed as a batch
(`stcompile.batch`), or by a loop where the values of all would be too large. Values that do not
depend on the row or the column are computed once, before.

Complex numbers: the derivative of a complex output by a real argument consists of those of its real
and its imaginary part, that of a real output by a complex argument follows the convention of
gradients; both take two directions. The derivative of a complex output by a complex argument is a
single complex number only if the function is holomorphic, and takes one direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np

from stcompile.ad.forward import forward
from stcompile.ad.reverse import split
from stcompile.analysis.holomorphic import require_holomorphic
from stcompile.base import trees
from stcompile.base.errors import LanguageError
from stcompile.base.generics import P, R
from stcompile.base.options import Options
from stcompile.base.thresholds import BATCHED_ELEMENTS
from stcompile.batch.walk import batched
from stcompile.calls.arguments import Wrt, is_several
from stcompile.frontend.lists.leaving import has_rows
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import (
    Output,
    SubStage,
    output_and_aux,
    rebuild,
    substage,
    with_outputs,
)
from stcompile.library.unit_vectors import (
    of_all_unit_vectors,
    of_blocks_of_unit_vectors,
    of_one,
    of_unit_vectors,
)
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.transforms.pushforward import exactly, zero
from stcompile.transforms.with_respect_to import DifferentiatedBy, Results
from stcompile.wengert.bounds import mapped, usual
from stcompile.wengert.dims import (
    Size,
    Sizes,
    Symbol,
    UnknownSizeError,
    number_of_elements,
    size_of,
)
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    every_equation,
    free_variables,
    mentioned,
)
from stcompile.wengert.types import Type, is_number

Mode = Literal["auto", "forward", "reverse"]
MODES = ("auto", "forward", "reverse")
GROWN = 16  # factor by which named lengths are tried longer
Blocks: TypeAlias = tuple[list[list[Atom]], list[Atom]]


@dataclass(frozen=True)
class _Wanted:
    """The Jacobian of some ``outputs`` of a function by ``variables``, and in addition the values
    of ``others``: the function runs once for both."""

    sub: SubStage
    outputs: Sequence[int]
    others: Sequence[int]
    variables: Sequence[Variable]


class Jacobian(DifferentiatedBy[P, R]):
    """The Jacobian of a function of arrays.

    For an output of shape S and an argument of shape T it has shape ``S + T``; an output that is a
    structure gives that structure of Jacobians, each in the structure of the argument.
    """

    takes_complex = True
    takes_constants = False  # among the results: of a function they are refused as a mistake

    def __init__(
        self,
        function: Any,
        wrt: Wrt = 0,
        mode: Mode = "auto",
        has_aux: bool = False,
        options: Options | None = None,
        holomorphic: bool = False,
    ) -> None:
        super().__init__(function, wrt, options)
        if mode not in MODES:
            raise ValueError(f"the mode of a Jacobian is one of {', '.join(MODES)}, not {mode!r}")
        self.mode = mode
        self.has_aux = has_aux
        self.holomorphic = holomorphic
        self.name = f"{self.function_name}_jacobian"
        self.title = f"The Jacobian of `{self.function_name}` by {self.all_shown}."

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        arguments, keywords = self.opened(run, arguments, keywords)
        sub = substage(run, self.copying, arguments, keywords, sets=True)
        staged, variables = self.chosen_leaves(run, sub)
        given = self.chosen_parts(run, arguments, keywords)
        result, aux = sub.result, ()
        if self.has_aux:
            result, aux = output_and_aux(run, self.function, result)
        outputs = self._outputs(run, sub, result, variables)
        self._check_complex(run, sub.program, outputs, variables)
        others = [leaf.index for _, leaf in trees.leaves(aux) if isinstance(leaf, Output)]
        kept = [*others, *sub.kept]
        blocks, beside = self._blocks(run, _Wanted(sub, outputs, kept, variables))
        sub.write_back(run, dict(zip(kept, beside, strict=True)))
        rows = iter(blocks)

        def leaf(path: trees.Path, value: Any) -> Any:
            if not isinstance(value, Output) and not is_number(value):
                return value
            known = not isinstance(value, Output)  # nothing to differentiate by
            made = _of_a_constant(run, value, variables) if known else next(rows)
            results = Results(run, dict(zip(variables, made, strict=True)))
            found = [results.of(one, other) for one, other in zip(staged, given, strict=True)]
            return tuple(found) if is_several(self.wrt) else found[0]

        jacobians = trees.map_leaves(leaf, result)
        return (jacobians, rebuild(run, aux, beside[: len(others)])) if self.has_aux else jacobians

    def _outputs(
        self, run: Run, sub: SubStage, result: Any, variables: Sequence[Variable]
    ) -> list[int]:
        """The outputs to differentiate. Of arguments without elements a number does not depend:
        the loop over them has no step."""
        found = []
        may_be_known = self.takes_constants or all(
            variable.type.dims.count(0) for variable in variables
        )
        if has_rows(result):
            self.refuse_result(
                run,
                f"`{self.function_name}` returns a list whose length the data decide, which has no "
                "Jacobian",
                "return an array whose length they do not decide; of the list there is st.vjp",
            )
        for path, leaf in trees.leaves(result):
            shown = trees.show_path("the result", path)
            if not isinstance(leaf, Output):
                if may_be_known and is_number(leaf):
                    continue
                self.refuse_result(
                    run,
                    f"{shown} of `{self.function_name}` is {leaf!r}, which does not depend on the "
                    "arguments",
                    "return arrays or numbers that do; what else there is, by has_aux=True",
                )
            type = sub.program.outputs[leaf.index].type
            if not type.inexact:
                self.refuse_result(
                    run,
                    f"{shown} of `{self.function_name}` is {type}, which has no Jacobian",
                    "return floating-point numbers; what else there is, by has_aux=True",
                )
            found.append(leaf.index)
        return found

    def _check_complex(
        self, run: Run, program: Program, outputs: Sequence[int], variables: Sequence[Variable]
    ) -> None:
        """Refuse derivatives by complex arguments that are not one complex number."""
        turning = [variable for variable in variables if _is_complex(variable)]
        if not turning:
            return
        of_complex = [_is_complex(program.outputs[index]) for index in outputs]
        if self.holomorphic:
            if not all(of_complex):
                self.refuse_result(
                    run,
                    f"`{self.function_name}` returns real numbers, and is not holomorphic",
                    "leave holomorphic=True out: the Jacobian is then that of gradients",
                )
            wanted = with_outputs(program, tuple(program.outputs[index] for index in outputs))
            require_holomorphic(self.function_name, eliminate_dead_code(wanted), turning)
        elif any(of_complex):
            self.refuse_complex(run)

    def refuse_complex(self, run: Run) -> NoReturn:
        """Refuse complex results of complex arguments."""
        self.refuse_result(
            run,
            f"`{self.function_name}` returns complex numbers and is differentiated by complex "
            "numbers: the derivative is one complex number only where it is holomorphic",
            "say holomorphic=True if it is; else return np.real(...) and np.imag(...), or give the "
            "real and imaginary parts as two arguments",
        )

    def _blocks(self, run: Run, wanted: _Wanted) -> Blocks:
        """For each output and each variable the block of the Jacobian, and the other outputs."""
        program = wanted.sub.program
        height = sum(program.outputs[i].type.size for i in wanted.outputs)
        width = sum(variable.type.size for variable in wanted.variables)
        has_effects = any({*equation.effects} - {"bind"} for equation in program.equations)
        is_forward = self.mode == "forward" or (self.mode == "auto" and width < height)
        if is_forward and has_effects and self.mode == "auto":
            is_forward = False  # in a loop over columns an effect would happen once for each
        return self._columns(run, wanted) if is_forward else self._rows(run, wanted)

    def _rows(self, run: Run, wanted: _Wanted) -> Blocks:
        """The Jacobian by rows: the adjoint of each unit vector."""
        sub, variables = wanted.sub, wanted.variables
        parts = split(sub.program, variables, wanted.outputs)
        results = run.recorder.inline(parts.primal, sub.inputs)
        kept = results[len(sub.program.outputs) :]
        seeds = parts.adjoint.inputs[parts.residuals :]
        blocks = []
        for at, seed in enumerate(seeds):
            joined = tuple(_is_complex(seed) and not _is_complex(by) for by in variables)
            made = _mapped(run, _Linear(parts.adjoint, kept, at), seed.type, joined)
            shapes = [seed.type.dims + variable.type.dims for variable in variables]
            blocks.append([_shaped(run, *pair) for pair in zip(made, shapes, strict=True)])
        return blocks, [results[i] for i in wanted.others]

    def _columns(self, run: Run, wanted: _Wanted) -> Blocks:
        """The Jacobian by columns: the tangent of each unit vector."""
        sub, outputs, others = wanted.sub, wanted.outputs, wanted.others
        joint = forward(sub.program, wanted.variables)
        fixed, moving = apart(joint, len(sub.program.inputs), len(sub.program.outputs), outputs)
        if any({*equation.effects} - {"raise", "bind"} for equation in moving.equations):
            self.refuse(
                run,
                f"`{self.function_name}` draws or prints in a loop or a branch, which would be "
                "done once for each column",
                "use mode='reverse'",
            )
        beside = self._beside(run, sub, joint, fixed, others)
        known = run.recorder.inline(with_outputs(fixed, (*fixed.outputs, *beside)), sub.inputs)
        kept, values = known[: len(fixed.outputs)], list(known[len(fixed.outputs) :])
        if len(values) < len(others):  # some come from a loop or a branch with tangents
            again = run.recorder.inline(sub.program, sub.inputs)
            values = [again[i] for i in others]
        results = [sub.program.outputs[index] for index in outputs]
        blocks = []
        for at, seed in enumerate(moving.inputs[len(kept) :]):
            joined = tuple(_is_complex(seed) and not _is_complex(of) for of in results)
            made = _mapped(run, _Linear(moving, kept, at), seed.type, joined)
            pairs = zip(made, results, strict=True)
            blocks.append([_turned(run, v, seed.type.dims, of.type.dims) for v, of in pairs])
        return [list(row) for row in zip(*blocks, strict=True)], values

    def _beside(
        self, run: Run, sub: SubStage, joint: Program, fixed: Program, others: Sequence[int]
    ) -> list[Atom]:
        """The values of the other outputs, if the ``fixed`` part of the program computes all of
        them; else none, if the function may run once more for them."""
        made = {v for e in fixed.equations for v in e.outputs} | {*fixed.inputs}
        atoms = [joint.outputs[i] for i in others]
        if all(not isinstance(atom, Variable) or atom in made for atom in atoms):
            return atoms
        if any({*equation.effects} - {"bind"} for equation in sub.program.equations):
            self.refuse(
                run,
                f"what `{self.function_name}` returns beside its output is computed with the "
                "tangents, and it draws, prints or asserts, which would be done once more",
                "use mode='reverse'",
            )
        return []


def apart(
    joint: Program, inputs: int, values: int, outputs: Sequence[int]
) -> tuple[Program, Program]:
    """Split a joint program in two: the part that does not depend on tangents, which returns the
    values that the other part reads; and the rest, from these values and the tangents of the inputs
    to the tangents of ``outputs``."""
    dots = joint.inputs[inputs:]
    inexact = [i for i, output in enumerate(joint.outputs[:values]) if output.type.inexact]
    wanted = tuple(joint.outputs[values + inexact.index(i)] for i in outputs)
    moving: set[Atom | Symbol] = {*dots}
    fixed: list[Equation] = []
    rest: list[Equation] = []
    for equation in joint.equations:
        is_moving = not moving.isdisjoint((*equation.inputs, *mentioned([equation])))
        (rest if is_moving else fixed).append(equation)
        if is_moving:
            moving.update(equation.outputs)
            if equation.binds is not None:
                moving.add(equation.binds)
    pruned = eliminate_dead_code(Program(joint.name, joint.inputs, tuple(rest), wanted))
    read = free_variables(pruned.equations, pruned.outputs, dots)
    primal = Program(joint.name, joint.inputs[:inputs], tuple(fixed), read)
    tangent = Program(joint.name, (*read, *dots), pruned.equations, pruned.outputs)
    return primal, tangent


class _Linear:
    """A linear program as a function of one of its linear inputs, with zeros for the others. The
    other values that it reads come first among its inputs."""

    def __init__(self, program: Program, kept: Sequence[Atom], at: int) -> None:
        self.program = program
        self.kept = tuple(kept)
        self.at = len(kept) + at

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        inputs = list(self.kept)
        for index, variable in enumerate(self.program.inputs[len(inputs) :], len(inputs)):
            given = arguments[0] if index == self.at else zero(run, variable.type)
            inputs.append(exactly(run, run.atom(given), variable.type))
        return tuple(map(run.value, run.recorder.inline(self.program, tuple(inputs))))


def _mapped(run: Run, linear: _Linear, seed: Type, joined: tuple[bool, ...]) -> Sequence[Any]:
    """The outputs of a linear program for each unit vector: arrays with a first axis for the
    vectors. Outputs that are ``joined`` are real, and take two directions."""
    if seed.kind != "array":
        one = seed.python_type(1) if seed.kind == "python" else seed.dtype.type(1)
        made: Sequence[Any] = run.call(of_one, (linear, one, joined), {})
        return made
    if seed.size == 0 and not seed.is_named:
        pairs = zip(linear.program.outputs, joined, strict=True)
        return [_empty(run, atom.type, join) for atom, join in pairs]
    shape, count = tuple(map(run.integer, seed.dims)), run.integer(number_of_elements(seed.dims))
    blocks = _in_blocks(linear, seed)
    given = (linear if blocks is None else blocks.linear, shape, count, seed.dtype, joined)
    if blocks is None:
        found: Sequence[Any] = run.call(of_unit_vectors, given, {})
    elif blocks.count == 1:
        found = run.call(of_all_unit_vectors, given, {})
    else:
        found = run.call(of_blocks_of_unit_vectors, (*given, blocks.count), {})
    return found


@dataclass(frozen=True)
class _Blocks:
    """A linear program for as many unit vectors at once as each of ``count`` blocks has."""

    linear: _Linear
    count: int


def _in_blocks(linear: _Linear, seed: Type) -> _Blocks | None:
    """The linear program for all unit vectors or for blocks of them, as many at once as pay; None
    if it has no form for a batch, or if no two pay at once."""
    directions = number_of_elements(seed.dims)
    whole = _at_once(linear, directions)
    if whole is None:
        return None
    if seed.is_named:  # the number of blocks would have a name as well
        return _Blocks(whole, 1) if _pays_for_named(whole.program, seed) else None
    times = -(-_largest(whole.program, directions) // BATCHED_ELEMENTS)
    if times == 1:
        return _Blocks(whole, 1)
    count = number_of_blocks(seed.size, times)
    if count >= seed.size:
        return None
    block = _at_once(linear, -(-seed.size // count))
    return None if block is None else _Blocks(block, count)


def number_of_blocks(directions: int, least: int) -> int:
    """A number of blocks, at least ``least``, of equal length, if possible; else the number whose
    last block is the least short."""
    numbers = range(least, min(2 * least, directions) + 1)
    return min(numbers, key=lambda count: -directions % count, default=directions)


def _at_once(linear: _Linear, directions: Size) -> _Linear | None:
    """The linear program for a batch of ``directions`` vectors; None if it has no form for a
    batch."""
    flags = [index == linear.at for index in range(len(linear.program.inputs))]
    wanted = [True for _ in linear.program.outputs]
    try:
        program, _ = batched(linear.program, flags, directions, wanted)
    except (LanguageError, UnknownSizeError):
        return None
    return _Linear(program, linear.kept, linear.at - len(linear.kept))


def _largest(program: Program, directions: Size) -> int:
    """The number of elements of the largest batch that is computed."""
    return _most([type.dims for type in _batches(program, directions)])


def _pays_for_named(program: Program, seed: Type) -> bool:
    """True if no computed batch is too large, and none grows faster with named lengths than the
    results do: the lengths of later calls may be far greater."""
    batches = [type.dims for type in _batches(program, number_of_elements(seed.dims))]
    results = [output.type.dims for output in program.outputs]
    largest = _most(batches)
    growth = _most(batches, GROWN) / max(largest, 1)
    return largest <= BATCHED_ELEMENTS and growth <= 2 * _most(results, GROWN) / _most(results)


def _batches(program: Program, size: Size) -> Iterator[Type]:
    """The types of the batches that are computed."""
    for equation in every_equation(program.equations):
        types = (output.type for output in equation.outputs)
        yield from (type for type in types if type.dims[:1] == (size,))


def _most(shapes: Sequence[Sizes], times: int = 1) -> int:
    """The number of elements of the largest of some arrays, with named lengths ``times`` times
    their usual value."""

    def longer(symbol: Symbol) -> Size:
        return size_of(symbol) if symbol.typical is None else times * symbol.typical

    grown: Sequence[Sizes] = [mapped(shape, longer) for shape in shapes]
    return max([1, *(math.prod(max(usual(dim), 0) for dim in dims) for dims in grown)])


def _of_a_constant(run: Run, value: Any, variables: Sequence[Variable]) -> list[Atom]:
    """The derivatives of a number that does not depend on the arguments."""
    return [run.atom(zero(run, _product_type(value, v.type))) for v in variables]


def _product_type(value: Any, factor: Type) -> Type:
    """The type of a number times a value of another type."""
    if factor.kind != "array":
        return factor
    return Type.array(np.result_type(factor.dtype, type(value)), factor.dims)


def _empty(run: Run, type: Type, joined: bool) -> Any:
    """The results of a type for no unit vectors: an array without elements."""
    dtype = np.result_type(type.dtype, np.complex64) if joined else type.dtype
    return zero(run, Type.array(dtype, (0, *type.dims)))


def _is_complex(atom: Atom) -> bool:
    return atom.type.dtype.kind == "c"


def _shaped(run: Run, value: Any, dims: Sizes) -> Atom:
    """A value in a shape; a number stays one."""
    atom = run.atom(value)
    if atom.type.dims == dims:
        return atom
    return run.atom(run.record("reshape", value, shape=dims))


def _turned(run: Run, value: Any, columns: Sizes, dims: Sizes) -> Atom:
    """Tangents, an axis for the unit vectors first, in the shape of a block of a Jacobian."""
    atom = run.atom(value)
    if not columns:  # the derivative by a number has no axis for it
        return _shaped(run, value, dims)
    axes = (*range(1, atom.type.ndim), 0)
    turned = run.record("transpose", value, axes=axes) if dims else value
    return _shaped(run, turned, (*dims, *columns))
