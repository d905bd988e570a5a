"""Stage a function on its own, inside a run: the start of every transformed function."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError, DerivativeError
from stcompile.frontend.carrying import Carried, Carrier, held_now
from stcompile.frontend.lists.leaving import with_lists, with_rows
from stcompile.frontend.opening import assembled
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.state.known import known_value
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Affine, Array, Bound, Cell, Closure, Scalar, described
from stcompile.wengert.dims import Dim, varies
from stcompile.wengert.ir import Atom, Program, Variable, free_variables
from stcompile.wengert.naming import name_variables
from stcompile.wengert.types import Type, is_input

NOT_ONCE = "which this transformation may run more than once for a call, or not at all"
GIVEN_BACK = "a call gave it back as it is, so that another name stands for the same array"


@dataclass(frozen=True)
class SubStage:
    """A function as a program of its own.

    ``program.inputs`` are the traced leaves of the arguments, then the variables that the function
    reads from the program around it; ``inputs`` are the values of both. ``arguments`` and
    ``keywords`` have the program's variables as leaves; ``result`` has its outputs' positions.
    ``written`` are the arrays around the program that the function has written into, each with the
    position of the output that has its new contents. ``carried`` are its changes of objects from
    outside, which read the ``carried_outputs``.
    """

    program: Program
    inputs: tuple[Atom, ...]
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    result: Any
    captured: tuple[Variable, ...]
    written: tuple[tuple[Array, int], ...] = ()
    carried: tuple[Carried, ...] = ()
    carried_outputs: tuple[int, ...] = ()

    @property
    def kept(self) -> list[int]:
        """The positions of the outputs that `write_back` needs."""
        return [*(index for _, index in self.written), *self.carried_outputs]

    def write_back(self, run: Run, outputs: Mapping[int, Atom]) -> None:
        """Write the new contents into the arrays around the program that the function has written
        into, and change objects from outside as it has; ``outputs`` are the outputs of the program
        where it was recorded, by position."""
        for array, index in self.written:
            new = run.value(outputs[index])
            run.write(array, functools.partial(_new, new))
        for carried in self.carried:
            carried.write_back(run, outputs)


def _new(value: Any, _: Variable) -> Any:
    """The new contents of an array, regardless of its present contents."""
    return value


@dataclass(frozen=True)
class Output:
    """A leaf of a result: the position among the program's outputs; ``others`` are the arrays
    around the program, or other outputs (None), that are the identical array in Python."""

    tree_leaf: ClassVar[bool] = True
    index: int
    type: Type
    others: tuple[Array | None, ...] = ()


@dataclass(eq=False)
class _Inward:
    """The values for the arguments inside the program: the variables ``inner`` for the atoms
    ``outer``, and ``cells``, each with the array that was passed; ``given`` has these arrays by the
    identity of the cell."""

    run: Run
    writes: bool
    passed: Counter[int]  # how often a cell is passed
    inner: list[Variable] = field(default_factory=list)
    outer: list[Atom] = field(default_factory=list)
    cells: list[tuple[Cell, Array]] = field(default_factory=list)
    given: dict[int, Array] = field(default_factory=dict)

    def leaf(self, path: trees.Path, leaf: Any) -> Any:
        run = self.run
        if not isinstance(leaf, Array | Scalar) and not is_input(leaf):
            return leaf
        size = run.size_of(leaf) if isinstance(leaf, Affine) else None
        if isinstance(size, Dim) and not varies(size):
            return size
        atom = run.atom(leaf)  # a float is traced, as it is among the arguments of any call
        hint = run.recorder.hints.get(atom, "") if isinstance(atom, Variable) else ""
        variable = run.recorder.variable(atom.type, hint)
        self.inner.append(variable)
        self.outer.append(atom)
        if _may_be_known(leaf) and (known := known_value(run, atom)) is not None:
            run.known[variable] = known
        if not isinstance(leaf, Array):
            return Scalar(variable)
        run.layouts.note(variable, run.layouts.of(atom))
        cell = Cell(variable, self._why_frozen(leaf, hint), run.depth, lent=True)
        self.given[id(cell)] = leaf
        self.cells.append((cell, leaf))
        return Array(cell, leaf.type)

    def _why_frozen(self, array: Array, hint: str) -> str:
        if not self.writes:
            return f"{hint or 'it'} belongs to the caller"
        is_twice = self.passed[id(array.cell)] > 1
        return "the same array is passed twice" if is_twice else array.cell.frozen


class _Outward:
    """The leaves of a result as outputs of the program."""

    def __init__(self, run: Run, given: Mapping[int, Array], result: Any) -> None:
        self.run = run
        self.given = given
        self.outputs: list[Atom] = []
        self._left = _counted_cells(result)

    def leaf(self, path: trees.Path, leaf: Any) -> Any:
        if not isinstance(leaf, Array | Scalar):
            return leaf
        self.outputs.append(self.run.atom(leaf))
        others = self._others(leaf) if isinstance(leaf, Array) else ()
        return Output(len(self.outputs) - 1, leaf.type, tuple(others))

    def _others(self, leaf: Array) -> Iterator[Array | None]:
        if id(leaf.cell) in self.given or leaf.cell.depth != self.run.depth:
            yield self.given.get(id(leaf.cell), leaf)
        if self._left[id(leaf.cell)] > 1:
            yield None

    def written(self, cells: Sequence[tuple[Cell, Array]]) -> Iterator[tuple[Array, int]]:
        """The arrays that the function has written into; their new contents become outputs."""
        for cell, array in cells:
            if cell.variable != cell.made:
                yield array, len(self.outputs)
                self.outputs.append(cell.variable)
                _check_seen_once(self.run, array)


def _counted_cells(value: Any) -> Counter[int]:
    """The number of arrays in a structure that are in a cell, by the identity of the cell."""
    arrays = (leaf for _, leaf in trees.leaves(value) if isinstance(leaf, Array))
    return Counter(id(array.cell) for array in arrays)


@contextmanager
def _deeper(run: Run, reason: str) -> Iterator[None]:
    """Stage the block one function deeper; with a ``reason`` it leaves objects from outside
    alone."""
    made, around, alone = dict(run.made), run.around, run.leaves_alone
    run.depth += 1
    run.leaves_alone = alone or reason
    try:
        yield
    finally:
        run.leaves_alone = alone
        run.depth -= 1
        run.around = {**around, **run.around}
        run.made = made


def substage(
    run: Run,
    function: Any,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    writes: bool = False,
    sets: bool = False,
) -> SubStage:
    """Stage a call of ``function`` into a program; nothing is recorded in the run itself. With
    ``writes`` the function may write into its arguments, with ``sets`` (or ``writes``) it may
    change objects from outside, and the caller has to write back.
    """
    name, original = function_name(function), (tuple(arguments), dict(keywords))
    with _deeper(run, "" if writes or sets else f"`{name}`, {NOT_ONCE}"):
        inward = _Inward(run, writes, _counted_cells(original))
        staged = trees.map_leaves(inward.leaf, original)
        run.around, before = {}, held_now(run)
        with run.recorder.aside() as equations:
            staged = trees.map_leaves(functools.partial(_as_integer, run), staged)
            pairs = _noted(run, staged, original)
            returned = run.call(function, *assembled(run, staged))
            value = run.about_result(lambda: with_rows(run, returned))
            outward = _Outward(run, inward.given, value)
            result, outputs = trees.map_leaves(outward.leaf, value), outward.outputs
            written = tuple(outward.written(inward.cells))
            first = len(outputs)
            carried = Carrier(run, before, inward.given, pairs, outputs).all()
    inner, free = inward.inner, free_variables(equations, outputs, inward.inner)
    raw = Program(name, (*inner, *free), tuple(equations), tuple(outputs))
    program = name_variables(raw, run.recorder.hints)
    renamed = dict(zip(raw.inputs, program.inputs, strict=True))
    given, named = trees.map_leaves(functools.partial(_in_program, renamed), staged)
    return SubStage(
        program, (*inward.outer, *free), given, named, result, program.inputs[len(inner) :],
        written, carried, tuple(range(first, len(outputs))),
    )  # fmt: skip


def _as_integer(run: Run, path: trees.Path, leaf: Any) -> Any:
    return run.integer(leaf) if isinstance(leaf, Dim) else leaf


def _in_program(renamed: Mapping[Variable, Variable], path: trees.Path, leaf: Any) -> Any:
    """The variable of a program that a leaf of the arguments is."""
    if isinstance(leaf, Array):
        return renamed[leaf.cell.made]  # its array on entry
    return renamed[leaf.atom] if isinstance(leaf, Scalar) else leaf


def _noted(run: Run, staged: Any, original: Any) -> dict[int, tuple[Any, Any]]:
    """Note what stands for the structures and numbers in the arguments: pairs, by identity."""
    for argument in (*staged[0], *staged[1].values()):
        run.mirrors.note_given(argument)
    pairs = {id(one): (one, other) for one, other in _paired(staged, original)}
    for one, other in pairs.values():
        run.mirrors.stands_for(one, other)
    return pairs


def _paired(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """The structures and numbers in an argument, each with what it stands for around the
    program."""
    parts = trees.children(one)
    if parts is None:
        if isinstance(one, Scalar) and isinstance(other, Scalar):
            yield one, other
        return
    yield one, other
    for (_, mine), (_, theirs) in zip(parts, trees.children(other) or (), strict=True):
        yield from _paired(mine, theirs)


def _check_seen_once(run: Run, array: Array) -> None:
    """Refuse to write an argument that the function also reads by a name of the enclosing
    function."""
    if id(array.cell) in run.around:
        run.refuse(
            "the function writes into an array that it is passed, and reads it by another name",
            "pass a copy, or read it by the argument's name alone",
        )


def _may_be_known(leaf: Any) -> bool:
    """True for an array of integers or booleans."""
    return isinstance(leaf, Array) and leaf.type.dtype.kind in "iub"


def rebuild(run: Run, result: Any, atoms: Sequence[Atom]) -> Any:
    """A result's structure with values for its leaves, in order."""
    rest = iter(atoms)

    def value(path: trees.Path, leaf: Any) -> Any:
        if not isinstance(leaf, Output):
            return leaf
        made = run.value(next(rest))
        for array in (made, *leaf.others) if leaf.others else ():
            if isinstance(array, Array):
                run.freeze(array.cell, GIVEN_BACK)
        return made

    return with_lists(run, trees.map_leaves(value, result))


def function_name(function: Any) -> str:
    """The name of a function, for programs that are made of it."""
    if isinstance(function, Bound):
        function = function.function
    made_inside = isinstance(function, Closure)
    name = function.name if made_inside else getattr(function, "__name__", type(function).__name__)
    return str(name) if str(name).isidentifier() else "function"


def output_and_aux(run: Run, function: Callable[..., Any], result: Any) -> tuple[Any, Any]:
    """The two results of a function with ``has_aux``."""
    if not isinstance(result, tuple) or len(result) != 2:
        shown = described(result)
        if isinstance(result, Output):
            shown = f"one value of type {result.type!r}"
        run.about_result(
            lambda: run.refuse(
                f"with has_aux=True `{function_name(function)}` returns a pair: the output to "
                f"differentiate, and what else there is; this is {shown}",
                "return output, aux",
                DerivativeError,
            )
        )
    return result[0], result[1]


def with_outputs(program: Program, outputs: Sequence[Atom]) -> Program:
    """The program with other outputs."""
    return Program(program.name, program.inputs, program.equations, tuple(outputs))


class Copying:
    """The ``function``, called with copies of the arguments called ``names``, or of all (True)."""

    def __init__(self, function: Any, names: bool | str | tuple[str, ...]) -> None:
        self.function = function
        self.names = names
        self.__name__ = function_name(function)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        copied = self._copied(run, arguments, keywords)

        def leaf(path: trees.Path, value: Any) -> Any:
            return run.record("copy", value) if isinstance(value, Array) else value

        def own(name: str, value: Any) -> Any:
            made = trees.map_leaves(leaf, value) if name in copied else value
            run.mirrors.note_given(made)
            return made

        named = {name: own(name, value) for name, value in keywords.items()}
        pairs = zip(self._positions(len(arguments)), arguments, strict=True)
        return run.call(self.function, [own(name, value) for name, value in pairs], named)

    def _copied(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Sequence[str]:
        """The names of the arguments that are copied."""
        given = [*self._positions(len(arguments)), *keywords]
        if isinstance(self.names, bool):
            return given
        signature = signature_of(self.function)
        wrong = [n for n in self.names if n not in given and n not in signature.parameters]
        if wrong:
            raise ArgumentsError(
                f"`copy={wrong[0]!r}` is no argument of `{self.__name__}{signature}`",
                location=run.caller,
                hint="name the arguments that the function writes into, or say copy=True",
            )
        return tuple(self.names)

    def _positions(self, count: int) -> list[str]:
        """The names of the first positional arguments; all arguments in ``*args`` have its name."""
        names: list[str] = []
        for parameter in signature_of(self.function).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                return [*names, *[parameter.name] * count][:count]
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
        return [*names, *(f"argument {at}" for at in range(len(names), count))][:count]
