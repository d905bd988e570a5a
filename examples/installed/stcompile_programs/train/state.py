"""Training runs under way: their progress, and the state that they change."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Protocol

import numpy as np

from stcompile.base import trees
from stcompile.optim.state import Stateful
from stcompile.wengert.generators import set_state, state_of
from stcompile.wengert.types import is_generator
from stcompile_programs.train.batches import Array, batches
from stcompile_programs.train.checkpoint import Checkpoint
from stcompile_programs.train.results import Epoch, Results
from stcompile_programs.train.team import ALONE, Team


class Step(Protocol):
    """A compiled training step, as `stcompile.transforms.train_step` makes it."""

    def __call__(self, params: Any, *batch: Any) -> Any:
        """Changes ``params`` in place and returns the loss."""

    def allocated_bytes(self, params: Any, *batch: Any) -> int:
        """The sum over the allocating equations of one step."""

    def source(self, params: Any, *batch: Any) -> str:
        """The generated function."""


class Run:
    """A run: ``step(params, *batch, *arguments)`` on batches of ``arrays``.

    ``epoch`` counts from 1; ``losses``, ``seconds`` and ``peak_bytes`` are of the steps of this
    epoch that were made, ``microseconds`` of all timed steps. Arguments that are not random
    generators are not restored from a checkpoint.
    """

    def __init__(
        self,
        step: Step,
        params: Any,
        arrays: Sequence[Array],
        batch_size: int,
        rng: np.random.Generator,
        arguments: tuple[Any, ...],
        results: Results,
        team: Team = ALONE,
    ) -> None:
        self.team = team
        team.spread(leaf for _, leaf in trees.leaves(arguments))
        self.step, self.params, self.arguments = step, params, arguments
        self.arrays, self.batch_size, self.rng = arrays, batch_size, rng
        self.results = results
        self.epoch = 1
        self.losses: list[float] = []
        self.microseconds: list[float] = []
        self.seconds = 0.0
        self.peak_bytes = 0
        self._states_of = team.rank  # the rank whose states of generators are restored
        self._order: Any = None  # the state that the order of this epoch was drawn from
        self._after_order: list[Any] | None = None  # states to set once it is drawn again
        self._finite = [name for name, array in self._arrays() if _is_finite(array)]

    @property
    def first_batch(self) -> tuple[Any, ...]:
        """Arguments of a step after the parameters: rows in their own order."""
        return *map(self.team.share, self._first_rows), *self.arguments

    @property
    def source(self) -> str:
        """The code of a step that a single process makes on a whole batch: the code of the run,
        however many processes share it out."""
        step = getattr(self.step, "alone", self.step)
        text: str = step.source(self.params, *self._first_rows, *self.arguments)
        return text

    @property
    def _first_rows(self) -> tuple[Array, ...]:
        return tuple(array[: self.batch_size] for array in self.arrays)

    def batches(self) -> Iterator[tuple[Array, ...]]:
        """The remaining batches of this epoch."""
        self._order = state_of(self.rng)
        start, share = len(self.losses), self.team.share
        left = batches(self.arrays, self.batch_size, self.rng, start, share)
        if self._after_order is not None:
            self._set_states(self._after_order)
            self._after_order = None
        return left

    def make_step(self, batch: tuple[Array, ...], step: Step | None = None) -> float:
        """Make a step, by another ``step`` if given; return the loss."""
        return float((step or self.step)(self.params, *batch, *self.arguments))

    def parameters(self) -> Iterator[tuple[str, Array]]:
        """The arrays of the parameters, by the names that they have in a checkpoint."""
        return ((trees.show_path("params", path), leaf) for path, leaf in _arrays_of(self.params))

    def next_epoch(self) -> None:
        self.epoch += 1
        self.losses = []
        self.seconds, self.peak_bytes = 0.0, 0
        self._order = None

    def no_longer_finite(self) -> tuple[str, float] | None:
        """The first array of the parameters or of the optimiser's state that was finite before the
        first step (as its state is) and is no longer, and the first such number in it."""
        for name, array in self._arrays():
            if not _is_finite(array) and (name in self._finite or not name.startswith("params")):
                values = array[~np.isfinite(array)]
                has_nan = bool(np.isnan(values).any())
                return name, float("nan") if has_nan else float(values.real[0])
        return None

    def digests(self) -> dict[str, str]:
        """Digests of the arrays of `checkpoint`."""
        return {
            name: sha256(np.ascontiguousarray(a).data).hexdigest() for name, a in self._arrays()
        }

    # --- checkpoints -----------------------------------------------------------------------------

    def checkpoint(self, identity: Any = None) -> Checkpoint:
        """A copy of all that is restored; ``identity`` is stored with it."""
        record = {
            "identity": identity,
            "epoch": self.epoch,
            "order": self._order,
            "rank": self.team.rank,
            "generators": [state_of(generator) for generator in self._generators()],
            "hyperparameters": self._hyperparameters(),
            "seconds": self.seconds,
            "peak_bytes": self.peak_bytes,
            "epochs": [dataclasses.asdict(epoch) for epoch in self.results.epochs],
            "microseconds_per_step": self.results.microseconds_per_step,
            "mean_microseconds_per_step": self.results.mean_microseconds_per_step,
            "optimizer": [keys for keys, _ in self._slots()],  # the names of the arrays, as lists
        }
        arrays = {name: array.copy() for name, array in self._arrays()}
        arrays["losses"] = np.array(self.losses, np.float64)
        arrays["microseconds"] = np.array(self.microseconds, np.float64)
        return Checkpoint(record, arrays)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Be as the run was when the checkpoint was taken. Parameters are written in place."""
        record, arrays = checkpoint.record, checkpoint.arrays
        for name, array in self.parameters():
            array[...] = arrays[name]
        self._restore_optimizer(record, arrays)
        self.epoch = record["epoch"]
        self.losses = arrays["losses"].tolist()
        self.microseconds = arrays["microseconds"].tolist()
        self.seconds, self.peak_bytes = record["seconds"], record["peak_bytes"]
        self.results.epochs[:] = [Epoch(**epoch) for epoch in record["epochs"]]
        self.results.microseconds_per_step = record["microseconds_per_step"]
        mean = record.get("mean_microseconds_per_step")  # older checkpoints have none
        self.results.mean_microseconds_per_step = mean
        self._order, self._after_order = record["order"], None
        self._states_of = record.get("rank", 0)
        self._set_states(record["generators"])
        if self._order is not None:
            set_state(self.rng, self._order)
            self._after_order = list(record["generators"])

    def _restore_optimizer(self, record: Any, arrays: Any) -> None:
        if self._optimizer is None:
            return
        for name, value in record["hyperparameters"].items():
            setattr(self._optimizer, name, value)
        saved: dict[str, Any] = {}
        for keys in record["optimizer"]:
            inner = saved
            for key in keys[:-1]:
                inner = inner.setdefault(key, {})
            inner[keys[-1]] = arrays[_slot_name(keys)]
        self._optimizer.load_state_dict(saved)

    @property
    def _optimizer(self) -> Stateful | None:
        optimizer = getattr(self.step, "optimizer", None)
        return optimizer if isinstance(optimizer, Stateful) else None

    def _hyperparameters(self) -> dict[str, Any]:
        optimizer: Any = self._optimizer
        if not dataclasses.is_dataclass(optimizer):
            return {}
        values = {f.name: getattr(optimizer, f.name) for f in dataclasses.fields(optimizer)}
        return {k: v for k, v in values.items() if isinstance(v, int | float | str | None)}

    def _slots(self) -> Iterator[tuple[tuple[str, ...], Array]]:
        """The optimiser's state: the keys that lead to an array of it, and the array."""
        state = {} if self._optimizer is None else self._optimizer.state_dict()
        for path, leaf in trees.leaves(state):
            yield tuple(key for _, key in path), np.asarray(leaf)

    def _arrays(self) -> Iterator[tuple[str, Array]]:
        """Parameters and the optimiser's state, by the names that they have in a checkpoint."""
        yield from self.parameters()
        for keys, array in self._slots():
            yield _slot_name(keys), array

    def _generators(self) -> list[Any]:
        """All random generators: for the order of images, those that the step gets, and NumPy's
        global generator."""
        return [self.rng, *self._drawn_from(), np.random]

    def _drawn_from(self) -> list[Any]:
        """The generators that the step gets."""
        return [leaf for _, leaf in trees.leaves(self.arguments) if is_generator(leaf)]

    def _set_states(self, states: Sequence[Any]) -> None:
        for generator, state in zip(self._generators(), states, strict=True):
            set_state(generator, state)
        if self._states_of != self.team.rank:
            self.team.spread(self._drawn_from())


def _slot_name(keys: Sequence[str]) -> str:
    return trees.show_path("optimizer", tuple(("item", key) for key in keys))


def _arrays_of(params: Any) -> Iterator[tuple[trees.Path, Array]]:
    return ((path, leaf) for path, leaf in trees.leaves(params) if isinstance(leaf, np.ndarray))


def _is_finite(array: Array) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
