"""The common part of the training examples, after the model is defined."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from stcompile.base.command import DONE, application, command_of, start, status
from stcompile.base.errors import ArgumentsError
from stcompile_programs.train.batches import Array, count_batches
from stcompile_programs.train.data import DataSet
from stcompile_programs.train.loop import DivergedError, Metrics, train
from stcompile_programs.train.metric import ACCURACY, Metric
from stcompile_programs.train.options import TrainingOptions
from stcompile_programs.train.report import print_table, write_report
from stcompile_programs.train.results import Results
from stcompile_programs.train.state import Step

Options = TypeVar("Options", bound=TrainingOptions)


def run(
    options: TrainingOptions,
    data: DataSet,
    step: Step,
    params: Any,
    outputs: Callable[[Any, Array], Array],
    arguments: tuple[Any, ...] = (),
    *,
    metric: Metric = ACCURACY,
    is_supervised: bool = True,
) -> Results:
    """Train a model as the options say, and show and write the results.

    ``step(params, x, y, *arguments)`` trains on a batch of images and labels, or, if it is not
    supervised, ``step(params, x, *arguments)``. The ``metric`` is computed from ``outputs(params,
    x)``: for the accuracy scores (rows, classes). Epochs that were finished before an interruption
    or a loss that is not finite are shown and written as well.
    """
    team = options.team
    team.by_first(lambda: check_outputs(options))
    checkpoints = options.make_checkpoints(data)
    batch_size = options.rows_in_batch(len(data.x_train))
    arrays = (data.x_train, data.y_train) if is_supervised else (data.x_train,)
    if options.show_source:
        count_batches(len(data.x_train), batch_size)
        batch = (team.share(array[:batch_size]) for array in arrays)
        print(step.source(params, *batch, *arguments))

    def mean(images: Array, labels: Array) -> float:
        """The metric, of which each rank computes its share."""
        own = team.share(images)
        found = metric.mean(functools.partial(outputs, params), own, team.share(labels))
        return sum(part * rows for part, rows in team.of_all((found, len(own)))) / len(images)

    def evaluate() -> Metrics:
        return mean(data.x_train, data.y_train), mean(data.x_test, data.y_test)

    _, shuffling = options.generators()
    try:
        results = train(
            step,
            params,
            arrays,
            epochs=options.epochs,
            batch_size=batch_size,
            rng=shuffling,
            evaluate=evaluate,
            metric=metric,
            arguments=arguments,
            dataset=data.name,
            checkpoints=checkpoints,
            team=team,
            threads=options.threads,
            say=functools.partial(print, flush=True),
        )
    except DivergedError as error:
        conclude(options, error.results)
        raise
    conclude(options, results)
    if results.resumable_at is not None:
        epoch, made = results.resumable_at
        print(f"checkpoint: {options.checkpoint} (epoch {epoch}, {made} steps made)")
        print("to go on: the same command" + ("" if options.resume else " with --resume"))
    return results


def check_outputs(options: TrainingOptions) -> None:
    """Refuses, before hours of training, a place where results cannot be written."""
    for flag, path in (*options.files().items(), ("--report", options.report)):
        if path is None:
            continue
        is_folder = flag == "--report"
        folder = path if is_folder else path.parent
        if not is_folder and path.is_dir():
            raise ArgumentsError(f"{flag} names {path}, which is a folder", hint="name a file")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentsError(f"{flag}: {folder} cannot be made: {error.strerror}") from None
        if not os.access(folder, os.W_OK):
            raise ArgumentsError(f"{flag}: {folder} cannot be written to")


def conclude(options: TrainingOptions, results: Results) -> None:
    """Writes the JSON and the report if they were asked for, and prints the table."""
    if not options.team.leads:
        return
    if options.json is not None:
        results.write_json(options.json)
    written: list[Path] = []
    if options.report is not None:
        written = write_report(options.report, results, vars(options))
    print_table(results)
    if written:
        print(f"report: {written[-1]}")


class Program(Generic[Options]):
    """A training program: its main function, called with the flags of the command line.

    Exit codes: 0: done; 1: refused, or the loss was not finite; 2: wrong flags; 130: interrupted;
    143: terminated by SIGTERM.
    """

    def __init__(
        self, main: Callable[[Options], Results], options: type[Options], description: str
    ) -> None:
        self.main = main
        self.options = options
        self.description = description

    def __call__(self, arguments: Sequence[str] | None = None) -> int:
        """Run it; ``None``: with the command line of the process."""
        return status(lambda: self._start(self.run, arguments))

    def parse(self, arguments: Sequence[str]) -> Options:
        """Parse the options of a command line; wrong options end the program."""
        found: list[Options] = []

        def keep(options: Options) -> int:
            found.append(options)
            return DONE

        code = self._start(keep, arguments)
        if not found:
            raise SystemExit(code)
        return found[0]

    def run(self, options: Options) -> int:
        if not options.distributed:
            return self._run(options)
        team = options.team
        try:
            with team.quiet():
                return self._run(options)
        except BaseException as error:
            return team.fail(error)

    def _run(self, options: Options) -> int:
        results = self.main(options)
        return DONE if results.stopped_by is None else 128 + results.stopped_by

    def command(self) -> Callable[..., Any]:
        """The program as a command for Typer."""
        return command_of(self.options, self.run, self.description)

    def _start(self, run: Callable[[Options], int], arguments: Sequence[str] | None) -> int:
        command = command_of(self.options, run, self.description)
        return start(application({"": command}, None), arguments)


def program(
    options: type[Options],
) -> Callable[[Callable[[Options], Results]], Program[Options]]:
    """Makes an example's main function a program; the docstring of its module is the help text."""

    def made(main: Callable[[Options], Results]) -> Program[Options]:
        return Program(main, options, main.__globals__["__doc__"] or "")

    return made
