"""What every training example does once its model is defined."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from stcompile.errors import ArgumentsError, StcompileError
from stcompile.train.batches import Array, count_batches
from stcompile.train.data import DataSet
from stcompile.train.loop import Accuracies, DivergedError, Step, accuracy, train
from stcompile.train.options import TrainingOptions
from stcompile.train.report import print_table, write_report
from stcompile.train.results import Results


class Program(Protocol):
    """A main function: command line (``None``: that of the process) to exit status."""

    def __call__(self, arguments: Sequence[str] | None = None) -> int: ...


def run(
    options: TrainingOptions,
    data: DataSet,
    step: Step,
    params: Any,
    scores: Callable[[Any, Array], Array],
    arguments: tuple[Any, ...] = (),
) -> Results:
    """Trains a classifier as the options say, and shows and writes the results.

    ``step(params, x, y, *arguments)`` trains on a batch and ``scores(params, x)`` gives (rows,
    classes). What was finished before an interruption or a loss that is not finite is shown and
    written as well.
    """
    check_outputs(options)
    batch_size = options.rows_in_batch(len(data.x_train))
    if options.show_source:
        count_batches(len(data.x_train), batch_size)
        rows = slice(0, batch_size)
        print(step.source(params, data.x_train[rows], data.y_train[rows], *arguments))

    def evaluate() -> Accuracies:
        of_params = functools.partial(scores, params)
        return (
            accuracy(of_params, data.x_train, data.y_train),
            accuracy(of_params, data.x_test, data.y_test),
        )

    _, shuffling = options.generators()
    try:
        results = train(
            step,
            params,
            (data.x_train, data.y_train),
            epochs=options.epochs,
            batch_size=batch_size,
            rng=shuffling,
            evaluate=evaluate,
            arguments=arguments,
            dataset=data.name,
        )
    except DivergedError as error:
        conclude(options, error.results)
        raise
    conclude(options, results)
    return results


def check_outputs(options: TrainingOptions) -> None:
    """Refuses, before hours of training, a place where results cannot be written."""
    for flag, path in (("--json", options.json), ("--report", options.report)):
        if path is None:
            continue
        folder = path.parent if flag == "--json" else path
        if flag == "--json" and path.is_dir():
            raise ArgumentsError(f"{flag} names {path}, which is a folder", hint="name a file")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentsError(f"{flag}: {folder} cannot be made: {error.strerror}") from None
        if not os.access(folder, os.W_OK):
            raise ArgumentsError(f"{flag}: {folder} cannot be written to")


def conclude(options: TrainingOptions, results: Results) -> None:
    """Writes the JSON and the report if they were asked for, and prints the table."""
    if options.json is not None:
        results.write_json(options.json)
    written: list[Path] = []
    if options.report is not None:
        written = write_report(options.report, results, vars(options))
    print_table(results)
    if written:
        print(f"report: {written[-1]}")


def program(main: Callable[[Sequence[str] | None], Results]) -> Program:
    """Makes an example's main function a program: its exit status, and errors as two lines.

    0: done; 1: refused, or the loss was not finite; 130: interrupted.
    """

    @functools.wraps(main)
    def with_status(arguments: Sequence[str] | None = None) -> int:
        try:
            results = main(arguments)
        except StcompileError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
        return 130 if results.interrupted else 0

    return with_status
