"""Results of a training run: a record for each epoch, and the JSON that holds them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stcompile.base.files import write_whole
from stcompile_programs.train.metric import ACCURACY, Metric


@dataclass(frozen=True)
class Epoch:
    """The record of an epoch.

    ``loss`` is the mean of the batches' losses while it ran; the metric is that of the training and
    of the test images at its end (``None``: there is none). ``seconds`` is the time of training:
    batches and steps, without compiling, evaluation and the step that measures memory.
    ``allocated_bytes`` is the sum over the allocating equations that ran, ``peak_bytes`` the most
    that a step held above the level before it.
    """

    train_metric: float | None
    test_metric: float | None
    loss: float
    seconds: float
    allocated_bytes: int
    peak_bytes: int


@dataclass
class Results:
    """A training run: its finished epochs, and the signal that cut it short if there was one.

    ``microseconds_per_step`` is the median over all timed steps, and
    ``mean_microseconds_per_step`` their mean: ``None`` before the first.
    ``resumable_at`` is the epoch, from 1, and the number of its steps made, of the checkpoint that
    an interrupted run can go on from.
    """

    dataset: str
    epochs: list[Epoch] = field(default_factory=list)
    microseconds_per_step: float | None = None
    allocated_bytes_per_step: int | None = None
    metric: Metric = ACCURACY
    stopped_by: int | None = None
    resumable_at: tuple[int, int] | None = None
    mean_microseconds_per_step: float | None = None

    @property
    def interrupted(self) -> bool:
        return self.stopped_by is not None

    @property
    def test_metric(self) -> float | None:
        """The metric of the test images at the end of the last finished epoch."""
        return self.epochs[-1].test_metric if self.epochs else None

    def as_dict(self) -> dict[str, Any]:
        """The content of the JSON. The metric's name is in the keys: ``test_accuracy``."""
        return {
            "dataset": self.dataset,
            "epochs": [self._epoch_as_dict(epoch) for epoch in self.epochs],
            f"test_{self.metric.key}": self.test_metric,
            "microseconds_per_step": self.microseconds_per_step,
            "mean_microseconds_per_step": self.mean_microseconds_per_step,
            "allocated_bytes_per_step": self.allocated_bytes_per_step,
        }

    def _epoch_as_dict(self, epoch: Epoch) -> dict[str, Any]:
        values = asdict(epoch)
        train, test = values.pop("train_metric"), values.pop("test_metric")
        return {f"train_{self.metric.key}": train, f"test_{self.metric.key}": test, **values}

    def write_json(self, path: Path) -> None:
        text = json.dumps(self.as_dict(), indent=2, allow_nan=False)
        write_whole(path, f"{text}\n")


def format_bytes(count: int) -> str:
    """``count`` in the largest binary unit that keeps it at least 1.

    >>> format_bytes(512), format_bytes(1536), format_bytes(23 * 2**30)
    ('512 B', '1.5 KiB', '23.0 GiB')
    """
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
