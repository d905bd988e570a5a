"""The numbers that every engine starts from, handed from process to process as files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Inputs:
    """The inputs of a work.

    ``params`` are the values that are differentiated by, in order. ``data`` are the batches of a
    training work, each array (batches, ...), or the arrays that a function takes after its
    parameters. ``numbers`` are Python numbers that a model takes last. ``learning_rate`` is that
    of gradient descent.
    """

    params: dict[str, Array]
    data: dict[str, Array] = field(default_factory=dict)
    numbers: dict[str, int | float] = field(default_factory=dict)
    learning_rate: float = 0.0

    def save(self, folder: Path) -> None:
        """Writes what `load` reads; makes the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("params", "data"):
            arrays: dict[str, Any] = getattr(self, name)
            np.savez(folder / f"{name}.npz", **arrays)
        rest = {"numbers": self.numbers, "learning_rate": self.learning_rate}
        (folder / "rest.json").write_text(json.dumps(rest), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Inputs:
        """Read the inputs that `save` wrote into the folder."""
        parts: list[dict[str, Array]] = []
        for name in ("params", "data"):
            with np.load(folder / f"{name}.npz") as arrays:
                parts.append({key: arrays[key] for key in arrays.files})
        params, data = parts
        rest = json.loads((folder / "rest.json").read_text(encoding="utf-8"))
        return cls(params, data, **rest)

    def copied_params(self) -> dict[str, Array]:
        """Copies that an engine may train in place."""
        return {name: value.copy() for name, value in self.params.items()}

    def point(self) -> list[Any]:
        """The parameters as arguments: arrays, and Python numbers for those without axes."""
        return [p if p.ndim else p.item() for p in self.copied_params().values()]

    def constants(self) -> list[Any]:
        """The arguments that a function takes after its parameters."""
        return [*self.data.values(), *self.numbers.values()]
