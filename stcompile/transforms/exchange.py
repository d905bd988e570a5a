"""Training steps that the ranks of a communicator make together.

Each rank has a share of the rows of a batch. The loss is the mean over rows, and the step is that
of the mean over the rows of all ranks: each rank differentiates its mean times its rows, the ranks
add up these gradients, the losses and the numbers of rows, and divide by the rows of all. The
gradients of the same dtype lie in a single array, which is exchanged at once.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError
from stcompile.base.extras import require
from stcompile.base.location import NOWHERE
from stcompile.base.options import bytes_of
from stcompile.base.places import Place
from stcompile.calls.arguments import Arguments
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array
from stcompile.wengert.ir import Atom, Constant, Variable
from stcompile.wengert.parts import Part
from stcompile.wengert.types import Type, is_communicator

BUCKET = "25MB"  # of gradients that are exchanged while others are still computed


@dataclass(frozen=True)
class Exchange:
    """The settings of an exchange. ``rows`` names the argument whose first axis counts the rows of
    a rank's share (None: all arrays that are not trained agree in it). Gradients are exchanged in
    buckets of at least ``bucket`` bytes as soon as they are computed (0: all at the end)."""

    comm: Any
    rows: str | None
    bucket: int

    def count(self, run: Run, arguments: Arguments, trained: Sequence[str]) -> Any:
        """The rows of the share in staged arguments: an integer, traced if it has a name."""
        names = [n for n in arguments.values if n not in trained]
        if self.rows is not None:
            if self.rows not in names:
                is_trained = self.rows in arguments.values
                what = "an argument that is trained" if is_trained else "no argument of the loss"
                _refuse(run, f"`rows={self.rows!r}` is {what}", names)
            names = [self.rows]
        found: dict[str, Any] = {}
        for name in names:
            for path, leaf in trees.leaves(arguments.values[name]):
                if isinstance(leaf, Array) and leaf.type.dims:
                    found[trees.show_path(name, path)] = leaf.type.dims[0]
        lengths = set(found.values())
        if len(lengths) != 1:
            shown = ", ".join(f"{name} has {length}" for name, length in found.items())
            reason = f": {shown}" if found else ", since no argument but the parameters is an array"
            _refuse(run, f"the rows of a batch cannot be counted{reason}", names)
        (length,) = lengths
        return run.integer(length)

    def mean(
        self, run: Run, value: Any, params: Sequence[Array], gradients: Sequence[Any], rows: Any
    ) -> tuple[Any, list[Any]]:
        """The loss and the gradients over the rows of all ranks, given those of a rank times its
        rows; a rank without rows has no loss."""
        return _Exchanging(self, run).mean(value, params, gradients, rows)


def exchange_for(comm: Any, rows: str | None, overlap: bool | int | str) -> Exchange:
    """The exchange that the keywords of a training step ask for."""
    if not is_communicator(comm):
        raise ArgumentsError(
            f"`comm` is no communicator of mpi4py: {comm!r:.80}",
            hint="pass one of mpi4py: comm=MPI.COMM_WORLD",
        )
    require("mpi4py.MPI", "mpi", "an exchange of gradients")
    if not comm:
        raise ArgumentsError("`comm` has no ranks: it is COMM_NULL, or was freed")
    if getattr(comm, "Is_inter", bool)():
        raise ArgumentsError(
            "`comm` is an intercommunicator, whose two groups would exchange their gradients",
            hint="merge the groups: comm.Merge()",
        )
    if isinstance(overlap, bool):
        return Exchange(comm, rows, bytes_of(BUCKET) if overlap else 0)
    return Exchange(comm, rows, max(bytes_of(overlap), 1))


def _refuse(run: Run, reason: str, names: Sequence[str]) -> None:
    raise ArgumentsError(
        reason,
        location=run.caller,
        hint="name the argument whose first axis has one row for each example: "
        f"rows={names[0] if names else 'x'!r}",
    )


class TimesRows:
    """A loss times a number of rows."""

    def __init__(self, loss: Any, rows: Any) -> None:
        functools.update_wrapper(self, loss)
        self.loss, self.rows = loss, rows
        self.__name__: str = getattr(loss, "__name__", "loss")

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.loss(*arguments, **keywords) * self.rows

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        rows = float(self.rows) if isinstance(self.rows, int) else self.rows
        return run.record("multiply", run.call(self.loss, arguments, keywords), rows)


class _Exchanging:
    """Records the exchange of a step."""

    def __init__(self, exchange: Exchange, run: Run) -> None:
        self.exchange, self.run = exchange, run
        place = Place.constant(exchange.comm, "comm")
        self.comm = run.captures.hide(exchange.comm, place)

    def mean(
        self, value: Any, params: Sequence[Array], gradients: Sequence[Any], rows: Any
    ) -> tuple[Any, list[Any]]:
        run = self.run
        # Of the parameters alone, so that it is the same on a rank that has no rows, and no loss.
        dtype = np.result_type(np.float32, *(param.type.dtype for param in params))
        loss = Constant(dtype.type(0)) if value is None else run.atom(value)
        totals = [self._cast(loss, dtype), self._counted(rows, dtype)]
        pairs = zip(gradients, params, strict=True)
        atoms = [self._cast(run.atom(gradient), p.type.dtype) for gradient, p in pairs]
        packed: dict[np.dtype[Any], list[Atom]] = {}
        for atom in atoms:
            if atom.type.size:
                packed.setdefault(atom.type.dtype, []).append(atom)
        packed.setdefault(dtype, []).extend(totals)
        wholes = {own: self._exchanged(parts) for own, parts in packed.items()}
        summed, total_rows = self._parts(wholes[dtype], packed[dtype])[-2:]
        share = self._record("divide", Constant(1.0), self._python(total_rows))
        run.recorder.hints[share] = "share"
        rest = {own: iter(self._parts(wholes[own], parts)) for own, parts in packed.items()}
        means: list[Any] = []
        for atom in atoms:
            whole = next(rest[atom.type.dtype]) if atom.type.size else atom
            mean = self._record("multiply", whole, share)
            if isinstance(atom, Variable):
                run.recorder.hints[mean] = run.recorder.hints.get(atom, "")
            means.append(run.value(mean))
        total = self._like(self._record("multiply", summed, share), loss.type)
        if isinstance(total, Variable):
            run.recorder.hints[total] = "loss"
        return run.value(total), means

    def _exchanged(self, parts: Sequence[Atom]) -> Variable:
        packed = self._record("pack", *parts)
        whole = self._record("exchange", packed, self.comm, bucket=self.exchange.bucket)
        self.run.recorder.hints |= {packed: "gradients", whole: "gradients"}
        return whole

    def _parts(self, whole: Variable, atoms: Sequence[Atom]) -> list[Variable]:
        """The parts of the exchanged array, in the shapes of the packed atoms."""
        found, start = [], 0
        for atom in atoms:
            size, dims = atom.type.count, atom.type.dims
            at = Part.block((start,), (size,), drop=() if dims else (0,))
            part = self._record("slice", whole, **at.params)
            found.append(self._record("reshape", part, shape=dims) if len(dims) > 1 else part)
            start += size
        return found

    def _like(self, atom: Atom, type: Type) -> Atom:
        """A number in the dtype and kind of the loss."""
        atom = self._cast(atom, type.dtype)
        if type.kind == "array":
            return self._record("reshape", atom, shape=type.dims)
        return self._python(atom) if type.kind == "python" else atom

    def _cast(self, atom: Atom, dtype: np.dtype[Any]) -> Atom:
        return atom if atom.type.dtype == dtype else self._record("cast", atom, dtype=dtype)

    def _counted(self, rows: Any, dtype: np.dtype[Any]) -> Atom:
        if isinstance(rows, int):
            return Constant(float(rows) if dtype == np.float64 else dtype.type(rows))
        return self._record("cast", self.run.atom(rows), dtype=dtype)

    def _python(self, number: Atom) -> Variable:
        return self._record("to_python", number, dtype=np.dtype(np.float64))

    def _record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        location = NOWHERE.in_section("exchange")
        return self.run.recorder.record(primitive, inputs, location, params)[0]
