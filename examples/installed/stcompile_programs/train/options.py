"""The flags that all training examples share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from stcompile import optim
from stcompile.base.command import Flag, at_least, fraction, one_of, positive, threads
from stcompile.base.errors import ArgumentsError
from stcompile_programs.train.data import NAMES, DataSet
from stcompile_programs.train.keeper import Checkpoints
from stcompile_programs.train.team import ALONE, Team, world

OPTIMIZERS: Mapping[str, type[optim.Optimizer]] = {
    "sgd": optim.SGD,
    "momentum": optim.Momentum,
    "nesterov": optim.Nesterov,
    "rmsprop": optim.RMSprop,
    "adam": optim.Adam,
    "adamw": optim.AdamW,
}
DTYPES = ("float32", "float64")


def choice(help: str, names: Sequence[str]) -> Flag:
    """A flag of a few names."""
    return Flag(help, one_of(names), f"[{'|'.join(names)}]")


def count(help: str, lowest: int = 1) -> Flag:
    """A flag of a whole number."""
    return Flag(help, at_least(lowest), "N")


@dataclass
class TrainingOptions:
    """The options that the flags set. An example with other defaults, or more flags, makes a
    subclass."""

    data: Annotated[
        str, choice("data set; auto is MNIST where it can be had, else the digits", NAMES)
    ] = "auto"
    data_dir: Annotated[
        Path | None,
        Flag("folder that holds mnist/ and fashion-mnist/ (also: STCOMPILE_DATA)", Path, "DIR"),
    ] = None
    epochs: Annotated[int, count("times that all images are seen", 0)] = 5
    batch_size: Annotated[
        int | None,
        Flag("images in a training step", at_least(1), "N", "100; 10 for the few digits"),
    ] = None
    optimizer: Annotated[str, choice("how parameters follow the gradient", tuple(OPTIMIZERS))] = (
        "sgd"
    )
    learning_rate: Annotated[float, Flag("of the optimizer", positive, "X")] = 0.015
    momentum: Annotated[float | None, Flag("of momentum and nesterov", fraction, "X", "0.9")] = None
    weight_decay: Annotated[
        float | None,
        Flag("share of each parameter in its gradient", positive, "X", "none; adamw: 0.01"),
    ] = None
    clip_value: Annotated[float | None, Flag("limit each entry of the gradient", positive, "X")] = (
        None
    )
    clip_norm: Annotated[float | None, Flag("limit the norm of the gradient", positive, "X")] = None
    seed: Annotated[int, count("of initial values and of the order of images", 0)] = 0
    dtype: Annotated[str, choice("of parameters and images", DTYPES)] = "float32"
    checkpoint: Annotated[Path | None, Flag("write checkpoints to FILE", Path, "FILE")] = None
    checkpoint_every: Annotated[int, count("steps from one checkpoint to the next")] = 1000
    resume: Annotated[bool, Flag("go on from the checkpoint, with the same flags")] = False
    threads: Annotated[
        Any, Flag("of BLAS; auto is found by trials in the first steps", threads, "[auto|N]")
    ] = "auto"
    json: Annotated[Path | None, Flag("write the results to FILE", Path, "FILE")] = None
    report: Annotated[Path | None, Flag("write a report with figures into DIR", Path, "DIR")] = None
    show_source: Annotated[bool, Flag("print the generated training step first")] = False
    distributed: Annotated[bool, Flag("each process of mpiexec takes its share of every batch")] = (
        False
    )

    no_settings: ClassVar[frozenset[str]] = frozenset(
        ("data_dir", "epochs", "checkpoint", "checkpoint_every", "resume")
        + ("json", "report", "show_source", "distributed", "threads")
    )
    """Flags that do not affect the numbers of a step."""

    @property
    def team(self) -> Team:
        """The processes that train together."""
        return world() if self.distributed else ALONE

    def generators(self) -> tuple[np.random.Generator, np.random.Generator]:
        """Two independent streams of random numbers: for initial values, and for shuffling."""
        initial, shuffling = np.random.default_rng(self.seed).spawn(2)
        return initial, shuffling

    def settings(self, data: DataSet) -> dict[str, Any]:
        """The settings that decide the numbers of a run on a data set: a checkpoint is for these
        alone."""
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
        """The optimiser that the flags name. Missing flags get its own defaults; a momentum for an
        optimiser without momentum raises `ArgumentsError`."""
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
        """The batch size asked for, or a default that suits the number of images to learn from.

        >>> TrainingOptions().rows_in_batch(60_000), TrainingOptions().rows_in_batch(1_438)
        (100, 10)
        """
        if self.batch_size is not None:
            return self.batch_size
        return 100 if images >= 10_000 else 10


def pixels_per_step(pixels: int, steps: int) -> int:
    """The number of pixels of each of ``steps`` equal parts of an image.

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
