"""The training loop: epochs of steps, with their costs."""

from __future__ import annotations

import dataclasses
import math
import signal
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from stcompile.base.errors import StcompileError
from stcompile.base.options import Threads
from stcompile_programs.train.batches import Array, count_batches
from stcompile_programs.train.extras import require
from stcompile_programs.train.interrupts import Interrupts
from stcompile_programs.train.keeper import Checkpoints, Keeper, NotFiniteError
from stcompile_programs.train.metric import ACCURACY, Metric
from stcompile_programs.train.replay import Origin, replay
from stcompile_programs.train.results import Epoch, Results
from stcompile_programs.train.state import Run, Step
from stcompile_programs.train.team import ALONE, Team
from stcompile_programs.train.threads import FIXED, FixedThreads, StepThreads, step_threads

Metrics = tuple[float | None, float | None]
"""The metric of the training and of the test images; ``None`` without a metric."""


class DivergedError(StcompileError):
    """A loss, a parameter or a part of the optimiser's state that is not finite.

    ``results`` has the epochs that were finished before; ``epoch`` and ``step``, from 1, say where
    it was found. ``origin`` is the step, and in its ``error`` the line of the model, that made the
    first NaN: None if that was not found. Then ``location`` is None as well.
    """

    def __init__(
        self, what: str, at: tuple[int, int], results: Results, start: str, origin: Origin | None
    ) -> None:
        self.epoch, self.step = at
        self.results, self.origin = results, origin
        reason = f"{what} in epoch {self.epoch}, step {self.step}"
        hint = "choose a smaller --learning-rate, or clip the gradients"
        location = None
        if origin is not None:
            location = origin.error.location
            place = f"in epoch {origin.epoch}, step {origin.step}"
            reason += f"\nreplayed from {start}: {place}, {origin.error.reason}"
            hint = "; ".join(filter(None, (origin.error.hint, hint)))
        super().__init__(reason, location=location, hint=hint)


class _Stopped(Exception):
    """A signal asked the run to stop."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.signal = signal


class _LossError(Exception):
    """A loss that is not finite."""

    def __init__(self, loss: float) -> None:
        super().__init__(loss)
        self.loss = loss


def train(
    step: Step,
    params: Any,
    arrays: Sequence[Array],
    *,
    epochs: int,
    batch_size: int,
    rng: np.random.Generator,
    evaluate: Callable[[], Metrics] = lambda: (None, None),
    metric: Metric = ACCURACY,
    arguments: tuple[Any, ...] = (),
    dataset: str = "",
    checkpoints: Checkpoints | None = None,
    progress: bool | None = None,
    team: Team = ALONE,
    threads: Threads = "auto",
    say: Callable[[str], None] = lambda line: None,
) -> Results:
    """Train ``params`` in place by ``step(params, *batch, *arguments)``.

    ``arrays`` are the training data, of equal lengths; a batch takes the same rows of each.
    ``evaluate()`` is asked for the ``metric`` after every epoch, outside the measured time.
    ``progress``: a bar on standard error (``None``: if that is a terminal).

    ``threads`` is the number of threads of the libraries of linear algebra meanwhile. ``"auto"``:
    the number that makes steps fastest, found by trials in the first steps, and again when steps
    become much slower; ``say`` is told in a line the number and the reason. None: unchanged. A
    ``step`` that has an option `threads` itself decides.

    With ``checkpoints`` a run that was interrupted or killed can be resumed, and ends with the same
    parameters, state and losses to the bit, if ``step``, ``params``, ``arrays`` and ``rng`` are
    made as they were; `CheckpointError` if they are seen to differ.

    The ranks of a ``team`` train together, each on its share of every batch; the ``step`` exchanges
    their gradients. All have the same arguments, and the results are the same everywhere. So is a
    checkpoint, from which any number of ranks, or a process alone, can go on.

    Ctrl-C or SIGTERM ends the run after the step under way (Ctrl-C twice: at once, without a
    checkpoint) and returns the epochs that were finished. A loss that is not finite, or a
    parameter at the end of an epoch or at a checkpoint, raises `DivergedError`, after the steps
    since the last checkpoint (or the start) were repeated to find the line that made the first NaN.
    """
    with team.together():
        count = count_batches(len(arrays[0]), batch_size)
        results = Results(dataset, metric=metric)
        run = Run(step, params, arrays, batch_size, rng, arguments, results, team)
        progress = progress if team.leads else False
        if epochs > 0:  # This compiles the step as well, before any clock runs.
            results.allocated_bytes_per_step = int(step.allocated_bytes(params, *run.first_batch))
        keeper = Keeper(run, checkpoints)
        keeper.begin(epochs)
        with Interrupts() as interrupts:
            loop = _Loop(run, keeper, interrupts, count, progress)
            try:
                with step_threads(threads, step, team, loop.said_by(say)) as loop.threads:
                    while run.epoch <= epochs:
                        loop.epoch(f"epoch {run.epoch}/{epochs}", evaluate)
                return results
            except (_Stopped, KeyboardInterrupt) as stopped:
                if team.size > 1 and isinstance(stopped, KeyboardInterrupt):
                    raise  # the others wait for this one
                agreed = stopped.signal if isinstance(stopped, _Stopped) else None
                results.stopped_by = agreed or interrupts.received or signal.SIGINT
                results.resumable_at = None if checkpoints is None else keeper.latest.position
                return results
            except _LossError as error:
                what = f"the loss became {error.loss}"
            except NotFiniteError as error:
                what = f"{error.name} was found to be {error.value}"
        raise _diverged(what, run, keeper, count, progress)


def _diverged(
    what: str, run: Run, keeper: Keeper, count: int, progress: bool | None
) -> DivergedError:
    """The error for a run that went wrong in its last step, or in one before it."""
    results = run.results
    before = dataclasses.replace(results, epochs=list(results.epochs))
    at = run.epoch, len(run.losses)

    @contextmanager
    def bar(title: str, steps: int) -> Iterator[Any]:
        with _bar(title, steps, 0, progress) as shown:
            yield shown

    try:
        origin = replay(run, keeper.latest, at, count, bar)
        found = [one for one in run.team.of_all(origin) if one is not None]
        origin = next((one for one in found if one.error.location), found[0] if found else None)
    except KeyboardInterrupt:
        if run.team.size > 1:
            raise
        origin = None
    results.epochs[:] = before.epochs
    results.microseconds_per_step = before.microseconds_per_step
    results.mean_microseconds_per_step = before.mean_microseconds_per_step
    return DivergedError(what, at, results, keeper.place, origin)


class _Loop:
    """Makes the steps of a run, and measures them."""

    def __init__(
        self, run: Run, keeper: Keeper, interrupts: Interrupts, count: int, progress: bool | None
    ) -> None:
        self.run, self.keeper, self.interrupts = run, keeper, interrupts
        self.count, self.progress = count, progress
        self.threads: StepThreads | FixedThreads = FIXED

    def said_by(self, say: Callable[[str], None]) -> Callable[[str], None]:
        """A function that says a line where no bar is in its way."""

        def said(line: str) -> None:
            with require("tqdm").tqdm.external_write_mode():
                say(line)

        return said

    def epoch(self, title: str, evaluate: Callable[[], Metrics]) -> None:
        """Run the remaining part of an epoch."""
        run, results = self.run, self.run.results
        with _bar(title, self.count, len(run.losses), self.progress) as bar:
            self._steps(bar)
            self.keeper.check()
            train_metric, test_metric = evaluate()
            loss = float(np.mean(run.losses))
            bar.set_postfix_str(_summary(loss, results.metric, test_metric))
        allocated = (results.allocated_bytes_per_step or 0) * self.count
        made = Epoch(train_metric, test_metric, loss, run.seconds, allocated, run.peak_bytes)
        results.epochs.append(made)
        if run.microseconds:
            results.microseconds_per_step = float(np.median(run.microseconds))
            results.mean_microseconds_per_step = float(np.mean(run.microseconds))
        run.next_epoch()
        self.keeper.save()
        _stop_if(run.team.asked_to_stop(self.interrupts.received, at_once=True))

    def _steps(self, bar: Any) -> None:
        clock = time.perf_counter
        run = self.run
        began = clock()
        for batch in run.batches():
            start = clock()
            is_last = len(run.losses) == self.count - 1
            if is_last:
                loss = self._measured_step(batch)
                began += clock() - start
            else:
                loss = run.make_step(batch)
                taken = clock() - start
                run.microseconds.append(taken * 1e6)
                self.threads.tell(taken)
            run.losses.append(loss)
            if not math.isfinite(loss):
                raise _LossError(loss)
            bar.update()
            asked = run.team.asked_to_stop(self.interrupts.received)
            if asked is not None or (self.keeper.is_due() and not is_last):
                run.seconds += clock() - began
                self.keeper.save()
                _stop_if(asked)
                began = clock()
        run.seconds += clock() - began

    def _measured_step(self, batch: tuple[Array, ...]) -> float:
        """The last step of the epoch: it trains like the others, but memory is measured instead
        of time, since tracing makes it slower."""
        tracing = tracemalloc.is_tracing()
        if not tracing:
            tracemalloc.start()
        try:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            loss = self.run.make_step(batch)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            if not tracing:
                tracemalloc.stop()
        self.run.peak_bytes = max(peak - before, 0)
        return loss


def _stop_if(asked: int | None) -> None:
    if asked is not None:
        raise _Stopped(asked)


@contextmanager
def _bar(title: str, count: int, made: int, progress: bool | None) -> Iterator[Any]:
    disable = None if progress is None else not progress  # None: if there is no terminal
    tqdm = require("tqdm").tqdm
    how = {"unit": " steps", "disable": disable, "mininterval": 0.2}
    with tqdm(total=count, initial=made, desc=title, **how) as bar:
        yield bar


def _summary(loss: float, metric: Metric, test_metric: float | None) -> str:
    text = f"loss {loss:.4f}"
    return text if test_metric is None else f"{text}, test {metric.shown(test_metric)}"
