"""``vmap``: a function of one item, for a batch of items at once.

The function is staged for one item; its Wengert list is then rewritten so that every equation
computes all items (`stcompile.batch`). The generated code has no loop over them; derivatives of it,
and batches of derivatives, are lists like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError
from stcompile.base.options import Options
from stcompile.base.wording import an
from stcompile.batch.walk import inlined, spread_output
from stcompile.calls.arguments import Arguments, Parameters
from stcompile.calls.dispatch import Dispatcher
from stcompile.frontend.lists.item_layouts import Rows
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Cell, Scalar, described
from stcompile.frontend.substage import GIVEN_BACK, Output, SubStage, substage
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.primitives.base import array_or_scalar
from stcompile.wengert.stacked import Value
from stcompile.wengert.types import is_number

Axes: TypeAlias = Any  # an axis, None, or a structure of these that leads the arguments' own


class Vmap(Dispatcher[..., Any]):
    """A function of a single item, called with batches of items.

    ``in_axes`` says which axis of each argument counts the items: a number for all, or a tuple with
    an entry for each positional argument, which may be a structure like the argument's; None for an
    argument that is the same for all items. Keyword arguments have the axis in front. ``out_axes``
    says where the results have it; None for results that are the same for all items.
    """

    def __init__(
        self, function: Any, in_axes: Axes = 0, out_axes: Axes = 0, options: Options | None = None
    ) -> None:
        super().__init__(function, options)
        _check_axes("in_axes", in_axes)
        _check_axes("out_axes", out_axes)
        if isinstance(in_axes, dict):
            raise ArgumentsError(
                "in_axes is an axis, None, or a tuple with an entry for each argument",
                hint="put the dict into the tuple: in_axes=({...},)",
            )
        self.in_axes = in_axes
        self.out_axes = out_axes
        self.name = f"{self.function_name}_batched"
        self.title = f"`{self.function_name}` for a batch of items."

    @property
    def parameters(self) -> Parameters:
        found = self._parameters
        if found is None or not found.are_current():
            plain = super().parameters
            found = self._parameters = _AsGiven(self.function, plain.has_source)
        return found

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Arguments:
        """The arguments without defaults: keyword arguments are batched in another way, and
        defaults not at all."""
        filled = self.parameters.fill(arguments, keywords)
        if filled is not None:
            return Arguments(filled, tuple(filled), ())
        super().bind(arguments, keywords)  # refuses what does not fit
        given = self.parameters.signature.bind_partial(*arguments).arguments
        values: dict[str, Any] = {}
        for parameter in self.parameters.signature.parameters.values():
            if parameter.name not in given:
                continue
            value = given[parameter.name]
            several = parameter.kind is parameter.VAR_POSITIONAL
            items = enumerate(value) if several else ()
            values |= {f"{parameter.name}_{i}": item for i, item in items}
            if not several:
                values[parameter.name] = value
        return Arguments({**values, **keywords}, tuple(values), tuple(keywords))

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        batch = _Batch(self, run)
        axes = self._axes_of(run, arguments)
        names = self._names(len(arguments))
        ones = [
            batch.one(name, value, axis)
            for name, value, axis in zip(names, arguments, axes, strict=True)
        ]
        named = {name: batch.one(name, value, 0) for name, value in keywords.items()}
        size = batch.size()
        sub = substage(run, self.copying, ones, named)
        operands = [batch.value(atom) for atom in sub.inputs]
        outputs = inlined(sub.program, operands, size, run.recorder)
        return _Result(self, run, sub, outputs, size).made(sub.result, self.out_axes, ())

    def _axes_of(self, run: Run, arguments: Sequence[Any]) -> list[Axes]:
        """The entry of ``in_axes`` for each argument; arguments beyond it are defaults."""
        axes = self.in_axes
        if not isinstance(axes, tuple | list):
            return [axes] * len(arguments)
        beyond = self._names(len(arguments))[len(axes) :]
        if len(axes) > len(arguments) or not set(beyond) <= self._with_default():
            self.refuse(
                run,
                f"in_axes has {len(axes)} entries for {len(arguments)} positional arguments of "
                f"`{self.function_name}`",
                "give one for each, None for what is the same for all items",
            )
        return [*axes, *(None for _ in beyond)]

    def _names(self, count: int) -> list[str]:
        names = [
            p.name
            for p in signature_of(self.function).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ][:count]
        return [*names, *(f"argument {at}" for at in range(len(names), count))]

    def _with_default(self) -> set[str]:
        parameters = signature_of(self.function).parameters.values()
        return {p.name for p in parameters if p.default is not p.empty}

    def may_be_shared(self, name: str) -> bool:
        """True for arguments of which numbers are taken to be the same for all items."""
        return name in self._with_default()

    def refuse_result(self, run: Run, reason: str, hint: str) -> NoReturn:
        location = run.place_of_result or run.caller or self.definition
        raise ArgumentsError(f"vmap: {reason}", location=location, hint=hint)

    def refuse(self, run: Run, reason: str, hint: str) -> NoReturn:
        raise ArgumentsError(f"vmap: {reason}", location=run.caller or self.definition, hint=hint)


class _AsGiven(Parameters):
    """Arguments by name, without defaults for arguments that were not given."""

    def fill(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any] | None:
        filled = None if keywords else super().fill(arguments, keywords)
        return None if filled is None else dict(list(filled.items())[: len(arguments)])


def _check_axes(what: str, axes: Axes) -> None:
    parts = trees.children(axes)
    if parts is None and not (axes is None or type(axes) is int):
        raise ArgumentsError(
            f"{what} has {axes!r} in it: an axis is an int, or None",
            hint="None is for what is the same for all items",
        )
    for _, part in parts or ():
        _check_axes(what, part)


def _parts_of(axes: Axes, value: Any) -> list[Axes] | None:
    """The axes of each part of a structure; None if they do not fit it."""
    parts = trees.children(value)
    if axes is None or isinstance(axes, int):
        return [axes for _ in parts or ()]
    own = trees.children(axes) or []
    if parts is None or [step for step, _ in own] != [step for step, _ in parts]:
        return None
    return [part for _, part in own]


@dataclass(frozen=True)
class _Along:
    """A batched leaf: its atom with the batch in front, the size of the batch, and a text that
    names the axis."""

    atom: Atom
    size: int
    shown: str


class _Batch:
    """The arguments of a call: of one item for staging, and of all."""

    def __init__(self, vmap: Vmap, run: Run) -> None:
        self.vmap = vmap
        self.run = run
        self.found: dict[Variable, _Along] = {}  # by the variable that stands for one item

    def one(self, name: str, value: Any, axes: Axes, path: trees.Path = ()) -> Any:
        """An argument reduced to a single item."""
        if axes is None:
            return value
        parts = trees.children(value)
        own = _parts_of(axes, value)
        shown = trees.show_path(name, path)
        if own is None or (parts is None and not isinstance(axes, int)):
            self.vmap.refuse(
                self.run,
                f"in_axes has another structure than {shown}",
                "give an axis for all of it, or for each of its parts",
            )
        if parts is None:
            return self._leaf(name, shown, value, axes)
        made = [
            self.one(name, part, axis, (*path, step))
            for (step, part), axis in zip(parts, own, strict=True)
        ]
        return trees.with_children(value, made)

    def _leaf(self, name: str, shown: str, value: Any, axis: int) -> Any:
        run = self.run
        if isinstance(value, list | tuple | dict) or value is None:
            return value  # an empty structure
        type = value.type if isinstance(value, Array) else None
        if type is None or not type.dims:
            if self.vmap.may_be_shared(name) and not isinstance(value, Array):
                return value
            what = "a number" if isinstance(value, Scalar) else described(value)
            self.vmap.refuse(
                run,
                f"{shown} is {what}, which has no axis {axis}",
                "give None in in_axes for what is the same for all items: in_axes=(0, None)",
            )
        ndim = type.ndim
        if not -ndim <= axis < ndim:
            self.vmap.refuse(
                run,
                f"{shown} of shape {type.dims} has no axis {axis}",
                f"in_axes is from {-ndim} to {ndim - 1} for it",
            )
        at = axis % ndim
        atom = run.atom(value)
        if at:
            order = (at, *(a for a in range(ndim) if a != at))
            (atom,) = run.record_atoms("transpose", (atom,), {"axes": order})
        hint = run.recorder.hints.get(atom, "") if isinstance(atom, Variable) else ""
        dims = atom.type.dims[1:]
        item = run.recorder.variable(array_or_scalar(type.dtype, dims), hint)
        self.found[item] = _Along(atom, type.dims[at], f"{shown} has {type.dims[at]} (axis {axis})")
        return (
            Array(Cell(item, f"{shown} belongs to the caller"), item.type) if dims else Scalar(item)
        )

    def size(self) -> int:
        """The number of items."""
        sizes: dict[int, str] = {}
        for along in self.found.values():
            sizes.setdefault(along.size, along.shown)
        if not sizes:
            self.vmap.refuse(
                self.run,
                f"no argument of `{self.vmap.function_name}` is batched",
                "name the axis of at least one in in_axes",
            )
        if len(sizes) > 1:
            self.vmap.refuse(
                self.run,
                f"the numbers of items differ: {', '.join(sizes.values())}",
                "give as many items of each; None in in_axes for what is the same for all",
            )
        return next(iter(sizes))

    def value(self, atom: Atom) -> Value:
        along = self.found.get(atom) if isinstance(atom, Variable) else None
        return Value(atom, False) if along is None else Value(along.atom, True)


class _Result:
    """The result of a function for the batch."""

    def __init__(
        self, vmap: Vmap, run: Run, sub: SubStage, outputs: Sequence[Value], size: int
    ) -> None:
        self.vmap, self.run, self.sub, self.outputs, self.size = vmap, run, sub, outputs, size

    def made(self, result: Any, axes: Axes, path: trees.Path) -> Any:
        """A result with the axis of items where ``axes`` says."""
        parts, own = trees.children(result), _parts_of(axes, result)
        shown = trees.show_path("the result", path)
        if isinstance(result, Rows):
            self.vmap.refuse_result(
                self.run,
                f"{shown} of `{self.vmap.function_name}` is a list whose length the data decide",
                "return an array, and how many of its items are meant",
            )
        if own is None or (parts is None and trees.children(axes) is not None):
            self.vmap.refuse_result(
                self.run,
                f"out_axes has another structure than {shown} of `{self.vmap.function_name}`",
                "give an axis for all of it, or for each of its parts",
            )
        if parts is None:
            return self._leaf(result, axes, shown)
        made = [
            self.made(part, axis, (*path, step))
            for (step, part), axis in zip(parts, own, strict=True)
        ]
        return trees.with_children(result, made)

    def _leaf(self, leaf: Any, axis: int | None, shown: str) -> Any:
        run = self.run
        if not isinstance(leaf, Output):
            return self._static(leaf, axis, shown)
        output = self.outputs[leaf.index]
        if axis is None:
            if output.batched:
                self.vmap.refuse_result(
                    run,
                    f"{shown} of `{self.vmap.function_name}` differs from item to item",
                    "give it an axis in out_axes instead of None",
                )
            return self._shared(leaf, output)
        spread = spread_output(self.sub.program, leaf.index, output, self.size, run.recorder)
        return run.value(self._turned(spread.atom, axis, shown))

    def _shared(self, leaf: Output, output: Value) -> Any:
        """A value that is the same for all items; other names may stand for the same array."""
        made = self.run.value(output.atom)
        for array in (made, *leaf.others) if leaf.others else ():
            if isinstance(array, Array):
                self.run.freeze(array.cell, GIVEN_BACK)
        return made

    def _static(self, leaf: Any, axis: int | None, shown: str) -> Any:
        if axis is None or not is_number(leaf):
            if axis is not None and leaf is not None and not isinstance(leaf, list | tuple | dict):
                self.vmap.refuse_result(
                    self.run,
                    f"{shown} of `{self.vmap.function_name}` is {an(type(leaf).__name__)}, of "
                    "which there is no batch",
                    "return arrays and numbers, or say None for it in out_axes",
                )
            return leaf
        dtype = np.asarray(leaf).dtype
        made = self.run.record("full", leaf, shape=(self.size,), dtype=dtype)
        return self.run.value(self._turned(self.run.atom(made), axis, shown))

    def _turned(self, atom: Atom, axis: int, shown: str) -> Atom:
        ndim = atom.type.ndim
        if not -ndim <= axis < ndim:
            self.vmap.refuse_result(
                self.run,
                f"{shown} of `{self.vmap.function_name}` has no axis {axis}: for all items it has "
                f"{ndim} axes",
                f"out_axes is from {-ndim} to {ndim - 1} for it",
            )
        at = axis % ndim
        if not at:
            return atom
        order = (*range(1, at + 1), 0, *range(at + 1, ndim))
        return self.run.record_atoms("transpose", (atom,), {"axes": order})[0]
