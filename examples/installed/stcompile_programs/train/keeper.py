"""Write the checkpoints of a run, and resume a run from a checkpoint."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stcompile_programs.train.checkpoint import Checkpoint, CheckpointError, read_checkpoint
from stcompile_programs.train.identity import identity_of, require_same
from stcompile_programs.train.state import Run


@dataclass(frozen=True)
class Checkpoints:
    """Write a checkpoint into the file ``path`` at the start, after every ``every`` steps, at the
    end of each epoch, and when the run is interrupted. With ``resume``, go on from the existing
    checkpoint: `CheckpointError` if it is of a run with other ``settings``, or of another model,
    data set or version. Without ``resume`` an existing file is refused.
    """

    path: str | os.PathLike[str]
    every: int = 1000
    resume: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


class NotFiniteError(Exception):
    """An array of the run has an infinity or a NaN, so that no run can go on from it."""

    def __init__(self, name: str, value: float) -> None:
        super().__init__(name)
        self.name, self.value = name, value


class Keeper:
    """The checkpoints of a run. ``latest`` is the last checkpoint: without `Checkpoints` the
    start."""

    def __init__(self, run: Run, wanted: Checkpoints | None) -> None:
        self.run, self.wanted = run, wanted
        is_kept = wanted is not None and run.team.leads
        self._identity = identity_of(run, wanted.settings) if wanted and is_kept else None
        self._unsaved = 0
        self.latest: Checkpoint = run.checkpoint(self._identity)

    @property
    def place(self) -> str:
        """A description of ``latest`` in words."""
        if self.wanted is None:
            return "the start of the run"
        epoch, step = self.latest.position
        return f"the checkpoint {self.wanted.path} (epoch {epoch}, {step} steps made)"

    def begin(self, epochs: int) -> None:
        """Write the first checkpoint, or go on from the existing checkpoint."""
        if self.wanted is None:
            return
        if self.run.team.by_first(self._prepare):
            self._resume(epochs)
        else:
            self.save()

    def _prepare(self) -> bool:
        """Make room for the file; True if there is a checkpoint to go on from."""
        assert self.wanted is not None
        path = Path(self.wanted.path)
        target = path.resolve()
        for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
            left.unlink(missing_ok=True)  # left by a run that was killed while it wrote
        if not self.wanted.resume and path.exists():
            raise CheckpointError(
                f"{path} is there already",
                hint="go on from it with --resume, or name another file",
            )
        return self.wanted.resume

    def _resume(self, epochs: int) -> None:
        checkpoint = self.run.team.by_first(self._read)
        epoch, step = checkpoint.position
        if epoch > epochs + 1 or (epoch == epochs + 1 and step):
            assert self.wanted is not None
            raise CheckpointError(
                f"{self.wanted.path} is in epoch {epoch}, beyond the {epochs} that are asked for",
                hint="give a larger --epochs, or start a new run without --resume",
            )
        self.run.restore(checkpoint)
        self.latest = checkpoint

    def _read(self) -> Checkpoint:
        assert self.wanted is not None and self._identity is not None
        checkpoint = read_checkpoint(Path(self.wanted.path))
        require_same(checkpoint, self._identity, Path(self.wanted.path))
        return checkpoint

    def is_due(self) -> bool:
        """True if it is time for a checkpoint; counts a step."""
        self._unsaved += 1
        return self.wanted is not None and self._unsaved >= self.wanted.every

    def check(self) -> None:
        """Raise `NotFiniteError` if there is a NaN or an infinity that was not there at the start;
        `ArgumentsError` if ranks have come to different parameters."""
        if self.run.team.size > 1:
            self.run.team.require_same(self.run.digests())
        found = self.run.no_longer_finite()
        if found is not None:
            raise NotFiniteError(*found)

    def save(self) -> None:
        """Write a checkpoint, if they are wanted. It is never one that `check` refuses."""
        self.check()
        if self.wanted is not None:
            checkpoint, path = self.run.checkpoint(self._identity), Path(self.wanted.path)
            self.run.team.by_first(lambda: checkpoint.write(path))
            self.latest = checkpoint
        self._unsaved = 0
