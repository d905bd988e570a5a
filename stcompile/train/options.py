"""The flags that all training examples share."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from stcompile import optim
from stcompile.base.errors import ArgumentsError
from stcompile.train.data import NAMES, DataSet
from stcompile.train.keeper import Checkpoints

OPTIMIZERS: Mapping[str, type[optim.Optimizer]] = {
    "sgd": optim.SGD,
    "momentum": optim.Momentum,
    "nesterov": optim.Nesterov,
    "rmsprop": optim.RMSprop,
    "adam": optim.Adam,
    "adamw": optim.AdamW,
}


@dataclass
class TrainingOptions:
    """What the flags say. An example with other defaults, or more flags, makes a subclass."""

    data: str = "auto"
    data_dir: Path | None = None
    epochs: int = 5
    batch_size: int | None = None
    optimizer: str = "sgd"
    learning_rate: float = 0.015
    momentum: float | None = None
    weight_decay: float | None = None
    clip_value: float | None = None
    clip_norm: float | None = None
    seed: int = 0
    dtype: str = "float32"
    checkpoint: Path | None = None
    checkpoint_every: int = 1000
    resume: bool = False
    json: Path | None = None
    report: Path | None = None
    show_source: bool = False

    no_settings: ClassVar[frozenset[str]] = frozenset(
        ("data_dir", "epochs", "checkpoint", "checkpoint_every", "resume")
        + ("json", "report", "show_source")
    )
    """Flags that do not decide which numbers are computed on the way."""

    def generators(self) -> tuple[np.random.Generator, np.random.Generator]:
        """Two independent streams of random numbers: for initial values, and for shuffling."""
        initial, shuffling = np.random.default_rng(self.seed).spawn(2)
        return initial, shuffling

    def settings(self, data: DataSet) -> dict[str, Any]:
        """What decides the numbers of a run on a data set: a checkpoint is for these alone."""
        values = {k: v for k, v in vars(self).items() if k not in self.no_settings}
        batch_size = self.rows_in_batch(len(data.x_train))
        values |= {"data": data.name, "batch_size": batch_size}
        return {f"--{name.replace('_', '-')}": value for name, value in values.items()}

    def files(self) -> dict[str, Path | None]:
        """The files that are written, by their flags; None for one that is not asked for."""
        return {"--json": self.json, "--checkpoint": self.checkpoint}

    def make_checkpoints(self, data: DataSet) -> Checkpoints | None:
        """The checkpoints that the flags ask for; `ArgumentsError` for ``--resume`` alone."""
        if self.checkpoint is not None:
            return Checkpoints(
                self.checkpoint, self.checkpoint_every, self.resume, self.settings(data)
            )
        if self.resume:
            raise ArgumentsError(
                "--resume needs the checkpoint to go on from", hint="name it: --checkpoint FILE"
            )
        return None

    def make_optimizer(self) -> optim.Optimizer:
        """The optimiser that the flags name. What they do not say is its own default; a momentum
        for one that has none raises `ArgumentsError`."""
        chosen = OPTIMIZERS[self.optimizer]
        given: dict[str, Any] = {"clip_value": self.clip_value, "clip_norm": self.clip_norm}
        if self.weight_decay is not None:
            given["weight_decay"] = self.weight_decay
        if self.momentum is not None:
            if not issubclass(chosen, optim.Momentum | optim.Nesterov):
                raise ArgumentsError(
                    f"--momentum is not for --optimizer {self.optimizer}",
                    hint="choose --optimizer momentum or nesterov",
                )
            given["momentum"] = self.momentum
        return chosen(self.learning_rate, **given)

    def rows_in_batch(self, images: int) -> int:
        """The batch size asked for, or what suits that number of images to learn from.

        >>> TrainingOptions().rows_in_batch(60_000), TrainingOptions().rows_in_batch(1_438)
        (100, 10)
        """
        if self.batch_size is not None:
            return self.batch_size
        return 100 if images >= 10_000 else 10


def pixels_per_step(pixels: int, steps: int) -> int:
    """How many pixels each of ``steps`` equal parts of an image has.

    >>> pixels_per_step(784, steps=4)
    196
    """
    if pixels % steps:
        divisors = ", ".join(str(n) for n in range(1, pixels + 1) if pixels % n == 0)
        raise ArgumentsError(
            f"{pixels} pixels cannot be read in {steps} equal parts",
            hint=f"choose --steps from {divisors}",
        )
    return pixels // steps


Options = TypeVar("Options", bound=TrainingOptions)


def training_parser(description: str | None, defaults: TrainingOptions) -> argparse.ArgumentParser:
    """A parser of the shared flags; an example adds its own to it."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def add(flag: str, help: str, **how: Any) -> None:
        value = getattr(defaults, flag.lstrip("-").replace("-", "_"))
        default = "" if value is None or value is False else f" (default: {value})"
        parser.add_argument(flag, help=help + default, **how)

    add("--data", "data set; auto is MNIST where it can be had, else the digits", choices=NAMES)
    add(
        "--data-dir",
        "folder that holds mnist/ and fashion-mnist/ (also: STCOMPILE_DATA)",
        type=Path,
        metavar="DIR",
    )
    add("--epochs", "times that all images are seen", type=at_least(0), metavar="N")
    usual = " (default: 100, 10 for the few digits)" if defaults.batch_size is None else ""
    add("--batch-size", "images in a training step" + usual, type=at_least(1), metavar="N")
    add("--optimizer", "how parameters follow the gradient", choices=tuple(OPTIMIZERS))
    add("--learning-rate", "of the optimizer", type=positive, metavar="X")
    add("--momentum", "of momentum and nesterov (default: 0.9)", type=fraction, metavar="X")
    add(
        "--weight-decay",
        "share of each parameter in its gradient (default: none; adamw: 0.01)",
        type=positive,
        metavar="X",
    )
    add("--clip-value", "limit each entry of the gradient", type=positive, metavar="X")
    add("--clip-norm", "limit the norm of the gradient", type=positive, metavar="X")
    add("--seed", "of initial values and of the order of images", type=at_least(0), metavar="N")
    add("--dtype", "of parameters and images", choices=("float32", "float64"))
    add("--checkpoint", "write checkpoints to FILE", type=Path, metavar="FILE")
    add(
        "--checkpoint-every",
        "steps from one checkpoint to the next",
        type=at_least(1),
        metavar="N",
    )
    add("--resume", "go on from the checkpoint, with the same flags", action="store_true")
    add("--json", "write the results to FILE", type=Path, metavar="FILE")
    add("--report", "write a report with figures into DIR", type=Path, metavar="DIR")
    add("--show-source", "print the generated training step first", action="store_true")
    return parser


def parse(
    parser: argparse.ArgumentParser, defaults: Options, arguments: Sequence[str] | None = None
) -> Options:
    """The options: ``defaults`` with what the command line changes."""
    given = vars(parser.parse_args(arguments, argparse.Namespace(**vars(defaults))))
    return type(defaults)(**given)


def at_least(lowest: int) -> Callable[[str], int]:
    """Type of a flag: an integer not below ``lowest``."""

    def integer(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
        if value < lowest:
            raise argparse.ArgumentTypeError(f"{value} is less than {lowest}")
        return value

    return integer


def positive(text: str) -> float:
    """Type of a flag: a finite number above zero."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a finite number above 0")
    return value


def fraction(text: str) -> float:
    """Type of a flag: a number from 0 to below 1."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to below 1")
    return value
