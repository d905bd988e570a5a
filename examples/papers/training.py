"""Train a network by a tool."""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import math
import statistics
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from examples.benchmarks.engines import find as find_engine
from examples.benchmarks.inputs import Inputs
from examples.benchmarks.machine import peak_memory, reset_peak_memory
from stcompile_programs import train
from stcompile_programs.train.batches import batches, count_batches
from stcompile_programs.train.team import ALONE
from stcompile_programs.train.threads import FixedThreads, StepThreads, step_threads

from .networks import FAMILIES, STEPS, WORKED_EXAMPLE, Network, Task, make_task, networks, recurrent
from .runs import COMPARED, Epoch, Plan, Record
from .tools.base import Learner, Tool

SHOWN = 16
"""Images of the test set in a picture."""

CALLS = 2000
"""The number of timed calls of the worked example."""


class NotFiniteError(Exception):
    """A loss became NaN or infinite."""


def network_named(name: str) -> Network:
    if name.startswith("rnn-"):
        return recurrent(int(name.removeprefix("rnn-")))
    return next(network for network in networks(FAMILIES, STEPS) if network.name == name)


def run(plan: Plan, data_dir: Path | None = None, pictures: Path | None = None) -> Record:
    """Trains as the plan says; raises ``ModuleNotFoundError`` if the tool is not installed.

    The reconstructions of test images by an autoencoder are drawn into the folder ``pictures``.
    """
    if plan.network == WORKED_EXAMPLE:
        return worked_example(plan)
    network = network_named(plan.network)
    data = train.load(plan.data or network.data, data_dir)
    if plan.limit is not None:
        part = slice(plan.limit)
        data = replace(
            data,
            x_train=data.x_train[part],
            y_train=data.y_train[part],
            x_test=data.x_test[part],
            y_test=data.y_test[part],
        )
    initial, shuffling = np.random.default_rng(plan.seed).spawn(2)
    task = make_task(network, data, initial)
    del data
    tool: Tool = importlib.import_module(f"{__package__}.tools.{plan.tool}")
    gc.collect()
    reset_peak_memory()
    level = peak_memory()
    learner = tool.learner(task, plan.threads)
    batch_size = min(network.batch_size, len(task.data.x_train))
    record = Record(
        version=importlib.metadata.version(plan.tool),
        steps_an_epoch=count_batches(len(task.data.x_train), batch_size),
    )
    tries = plan.trials and plan.tool == "stcompile"
    said: list[str] = []
    steps: list[float] = []
    with step_threads("auto" if tries else None, None, ALONE, said.append) as threads:
        for number in range(network.epochs if plan.epochs is None else plan.epochs):
            record = _epoch(record, task, learner, batch_size, shuffling, threads, steps)
            if number == 0:
                peak = peak_memory()
                growth = None if peak is None or level is None else peak - level
                record = replace(record, memory_growth=growth)
            metric = evaluate(task, learner)
            record = replace(
                record, epochs=(*record.epochs[:-1], replace(record.epochs[-1], metric=metric))
            )
    if steps:
        median, mean = statistics.median(steps), statistics.fmean(steps)
        record = replace(record, median_step=median, mean_step=mean, said=tuple(said))
    if pictures is not None and network.model == "autoencoder":
        images = task.data.x_test[:SHOWN]
        outputs = task.outputs(dict(learner.parameters()), images)
        pairs = images, outputs
        file = picture_of(plan.network, plan.tool)
        train.write_pairs(pictures / file, *pairs, task.data.image_shape, ("image", "output"))
    return record


def picture_of(network: str, tool: str) -> str:
    """The name of the file with an autoencoder's images."""
    return f"{network}-{tool}-images.png"


def _epoch(
    record: Record,
    task: Task,
    learner: Learner,
    size: int,
    rng: np.random.Generator,
    threads: StepThreads | FixedThreads,
    steps: list[float],
) -> Record:
    """The record with one more epoch, whose metric is yet to be found; ``steps`` gets the seconds
    of its steps."""
    clock = time.perf_counter
    losses: list[float] = []
    rows = batches(task.arrays, size, rng)
    is_first = not record.epochs
    if is_first:
        batch = next(rows)
        start = clock()
        losses.append(learner.step(*batch))
        record = replace(record, first_step_seconds=clock() - start)
        if learner.allocated_bytes is not None:
            record = replace(record, allocated_bytes=learner.allocated_bytes(*batch))
    start = clock()
    for batch in rows:
        begun = clock()
        losses.append(learner.step(*batch))
        steps.append(clock() - begun)
        threads.tell(steps[-1])
    seconds = clock() - start
    if not all(map(math.isfinite, losses)):
        raise NotFiniteError(f"a loss became {next(v for v in losses if not math.isfinite(v))}")
    if is_first:
        record = replace(record, first_losses=tuple(losses[:COMPARED]))
    made = Epoch(float(np.mean(losses)), 0.0, seconds)
    return replace(record, epochs=(*record.epochs, made))


def evaluate(task: Task, learner: Learner) -> float:
    """The metric of the test images, by NumPy for every tool."""
    params = dict(learner.parameters())
    data, metric = task.data, task.network.metric
    return metric.mean(lambda x: task.outputs(params, x), data.x_test, data.y_test)


def worked_example(plan: Plan) -> Record:
    """Value and gradient of ln x₁ + x₁ x₂ − sin x₂ at (2, 5), by the engine of the benchmarks."""
    entry = find_engine(plan.tool)
    if entry is None:
        raise ModuleNotFoundError("the worked example is not written for it", name=plan.tool)
    engine = importlib.import_module(entry.module).engine(entry.variant, plan.threads)
    point = Inputs({"x1": np.array(2.0), "x2": np.array(5.0)})
    evaluator = engine.evaluator("worked_example", point)
    value, gradient = evaluator.read(evaluator.call())
    start = time.perf_counter()
    for _ in range(CALLS):
        evaluator.call()
    return Record(
        version=importlib.metadata.version(entry.distribution),
        value=float(value),
        gradient=tuple(float(part) for part in gradient),
        seconds_a_call=(time.perf_counter() - start) / CALLS,
    )
