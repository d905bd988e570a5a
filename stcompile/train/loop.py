"""The training loop: epochs of steps, with what they cost."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from stcompile.errors import StcompileError
from stcompile.train.batches import Array, batches, count_batches
from stcompile.train.extras import require
from stcompile.train.results import Epoch, Results

Accuracies = tuple[float | None, float | None]
"""Of the training and of the test images, from 0 to 1; ``None`` where there is none."""


class Step(Protocol):
    """A compiled training step, as `stcompile.train_step` makes it."""

    def __call__(self, params: Any, *batch: Any) -> Any:
        """Changes ``params`` in place and returns the loss."""

    def allocated_bytes(self, params: Any, *batch: Any) -> int:
        """The sum over the allocating equations of one step."""

    def source(self, params: Any, *batch: Any) -> str:
        """The generated function."""


class DivergedError(StcompileError):
    """A loss that is not finite. ``results`` has the epochs that were finished before."""

    def __init__(self, loss: float, epoch: int, step: int, results: Results) -> None:
        super().__init__(
            f"the loss became {loss} in epoch {epoch}, step {step}",
            hint="choose a smaller --learning-rate, or clip the gradients",
        )
        self.results = results


def train(
    step: Step,
    params: Any,
    arrays: Sequence[Array],
    *,
    epochs: int,
    batch_size: int,
    rng: np.random.Generator,
    evaluate: Callable[[], Accuracies] = lambda: (None, None),
    arguments: tuple[Any, ...] = (),
    dataset: str = "",
    progress: bool | None = None,
) -> Results:
    """Trains ``params`` in place by ``step(params, *batch, *arguments)``.

    ``arrays`` are the training data, of equal lengths; a batch takes the same rows of each.
    ``evaluate()`` is asked after every epoch, outside the measured time. ``progress``: a bar on
    standard error (``None``: if that is a terminal). A keyboard interrupt ends the run and
    returns the epochs that were finished; a loss that is not finite raises `DivergedError`.
    """
    count = count_batches(len(arrays[0]), batch_size)
    results = Results(dataset)
    microseconds: list[float] = []
    try:
        if epochs > 0:
            first = tuple(array[:batch_size] for array in arrays)
            # This compiles the step as well, before any clock runs.
            per_step = int(step.allocated_bytes(params, *first, *arguments))
            results.allocated_bytes_per_step = per_step
        for number in range(1, epochs + 1):
            with _bar(f"epoch {number}/{epochs}", count, progress) as bar:
                run = _Run(step, params, arguments, number, results)
                run.epoch(batches(arrays, batch_size, rng), count, bar)
                train_accuracy, test_accuracy = evaluate()
                loss = float(np.mean(run.losses))
                bar.set_postfix_str(_summary(loss, test_accuracy))
            results.epochs.append(
                Epoch(
                    train_accuracy,
                    test_accuracy,
                    loss,
                    run.seconds,
                    per_step * count,
                    run.peak_bytes,
                )
            )
            microseconds += run.microseconds
            if microseconds:
                results.microseconds_per_step = float(np.median(microseconds))
    except KeyboardInterrupt:
        results.interrupted = True
    return results


class _Run:
    """One epoch's steps and their measurements."""

    def __init__(
        self, step: Step, params: Any, arguments: tuple[Any, ...], number: int, results: Results
    ) -> None:
        self.step, self.params, self.arguments = step, params, arguments
        self.number, self.results = number, results
        self.losses: list[float] = []
        self.microseconds: list[float] = []
        self.seconds = 0.0
        self.peak_bytes = 0

    def epoch(self, epoch: Iterator[tuple[Array, ...]], count: int, bar: Any) -> None:
        clock = time.perf_counter
        began = clock()
        for index, batch in enumerate(epoch):
            start = clock()
            if index == count - 1:
                self.seconds = start - began
                self._measured_step(batch)
                bar.update()
                break
            loss = float(self.step(self.params, *batch, *self.arguments))
            self.microseconds.append((clock() - start) * 1e6)
            self._record(loss)
            bar.update()

    def _measured_step(self, batch: tuple[Array, ...]) -> None:
        """The last step of the epoch: it trains like the others, but memory is measured instead
        of time, since tracing makes it slower."""
        tracing = tracemalloc.is_tracing()
        if not tracing:
            tracemalloc.start()
        try:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            loss = float(self.step(self.params, *batch, *self.arguments))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            if not tracing:
                tracemalloc.stop()
        self.peak_bytes = max(peak - before, 0)
        self._record(loss)

    def _record(self, loss: float) -> None:
        self.losses.append(loss)
        if not math.isfinite(loss):
            raise DivergedError(loss, self.number, len(self.losses), self.results)


def accuracy(
    scores: Callable[[Array], Array], x: Array, labels: Array, rows_at_once: int = 1000
) -> float:
    """The share of rows of ``x`` whose largest score is that of their label."""
    right = 0
    for start in range(0, len(x), rows_at_once):
        rows = slice(start, start + rows_at_once)
        right += int(np.sum(np.argmax(scores(x[rows]), axis=1) == labels[rows]))
    return right / len(x)


@contextmanager
def _bar(title: str, count: int, progress: bool | None) -> Iterator[Any]:
    disable = None if progress is None else not progress  # None: where there is no terminal
    tqdm = require("tqdm").tqdm
    with tqdm(total=count, desc=title, unit=" steps", disable=disable, mininterval=0.2) as bar:
        yield bar


def _summary(loss: float, test_accuracy: float | None) -> str:
    text = f"loss {loss:.4f}"
    return text if test_accuracy is None else f"{text}, test {test_accuracy:.2%}"
