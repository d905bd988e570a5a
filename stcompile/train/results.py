"""What a training run gives: one record an epoch, and the JSON that holds them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Epoch:
    """One epoch.

    ``loss`` is the mean of the batches' losses while it ran; the accuracies, from 0 to 1, are
    those at its end (``None``: the model is no classifier). ``seconds`` is the time of training:
    batches and steps, without compiling, evaluation and the one step that measures memory.
    ``allocated_bytes`` is the sum over the allocating equations that ran, ``peak_bytes`` the most
    that a step held above the level before it.
    """

    train_accuracy: float | None
    test_accuracy: float | None
    loss: float
    seconds: float
    allocated_bytes: int
    peak_bytes: int


@dataclass
class Results:
    """A training run: its finished epochs, and whether it was cut short by an interruption.

    ``microseconds_per_step`` is the median over all timed steps, ``None`` before the first.
    """

    dataset: str
    epochs: list[Epoch] = field(default_factory=list)
    microseconds_per_step: float | None = None
    allocated_bytes_per_step: int | None = None
    interrupted: bool = False

    @property
    def test_accuracy(self) -> float | None:
        """The test accuracy at the end of the last finished epoch."""
        return self.epochs[-1].test_accuracy if self.epochs else None

    def as_dict(self) -> dict[str, Any]:
        """What the JSON holds."""
        return {
            "dataset": self.dataset,
            "epochs": [asdict(epoch) for epoch in self.epochs],
            "test_accuracy": self.test_accuracy,
            "microseconds_per_step": self.microseconds_per_step,
            "allocated_bytes_per_step": self.allocated_bytes_per_step,
        }

    def write_json(self, path: Path) -> None:
        text = json.dumps(self.as_dict(), indent=2, allow_nan=False)
        write_atomically(path, f"{text}\n".encode())


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file that at no time is there in part; makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


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
