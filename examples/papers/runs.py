"""A run: one network, one tool, one seed; what it gives, and where that is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stcompile.base.files import write_whole

COMPARED = 100
"""The number of steps at the start whose losses are kept, to be compared among the tools."""


@dataclass(frozen=True)
class Plan:
    """The settings that decide the numbers of a run.

    ``network`` is a name; ``data`` a data set other than the network's own; ``epochs`` and
    ``limit`` (images of each part of the data set) are ``None`` for what the network says and for
    all of them. With ``trials`` stcompile finds out how many of its ``threads`` BLAS should take.
    """

    network: str
    tool: str
    seed: int = 0
    data: str | None = None
    epochs: int | None = None
    limit: int | None = None
    threads: int = 2
    trials: bool = False

    def file(self, folder: Path) -> Path:
        """The file with its results."""
        return folder / "runs" / self.network / f"{self.tool}-seed-{self.seed}.json"

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Plan:
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Epoch:
    """The mean of the batches' losses, the metric of the test images at the end, and the time of
    batches and steps, without the very first step of the run and without evaluation."""

    loss: float
    metric: float
    seconds: float


@dataclass(frozen=True)
class Record:
    """The results of a run.

    ``first_step_seconds``: with compiling. ``allocated_bytes``: in arrays, by one step, ``None`` if
    the tool does not tell. ``memory_growth``: how far the peak of resident memory rose from
    before the first step to the end of the first epoch. ``first_losses`` are those of the first
    `COMPARED` steps. ``median_step`` and ``mean_step`` are seconds of all steps but the first,
    ``said`` the lines about threads. A worked example has no epochs, but its ``value``,
    ``gradient`` and the ``seconds_a_call``.
    """

    version: str
    steps_an_epoch: int = 0
    epochs: tuple[Epoch, ...] = ()
    first_step_seconds: float = 0.0
    allocated_bytes: int | None = None
    memory_growth: int | None = None
    first_losses: tuple[float, ...] = ()
    value: float | None = None
    gradient: tuple[float, ...] = ()
    seconds_a_call: float | None = None
    median_step: float = 0.0
    mean_step: float = 0.0
    said: tuple[str, ...] = ()

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Record:
        """The record whose ``dataclasses.asdict`` gave the ``fields``, read from JSON."""
        epochs = tuple(Epoch(**epoch) for epoch in fields["epochs"])
        lists = {name: tuple(fields[name]) for name in ("first_losses", "gradient", "said")}
        return cls(**{**fields, **lists, "epochs": epochs})


def save(folder: Path, plan: Plan, record: Record) -> None:
    """Writes the results of a run, at once in whole."""
    text = json.dumps({"plan": asdict(plan), "record": asdict(record)}, indent=1, allow_nan=False)
    write_whole(plan.file(folder), f"{text}\n")


def find(folder: Path, plan: Plan) -> Record | None:
    """The results of a run that was made with this very plan; ``None`` if there is none."""
    try:
        kept = json.loads(plan.file(folder).read_text(encoding="utf-8"))
        return Record.from_fields(kept["record"]) if kept["plan"] == asdict(plan) else None
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):  # edited, or of another version: made anew
        return None
