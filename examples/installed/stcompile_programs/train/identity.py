"""The identity of a run: everything that has to be the same for a checkpoint to lead to the same
result."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from stcompile_programs.train.checkpoint import Checkpoint, CheckpointError
from stcompile_programs.train.state import Run

Identity = Mapping[str, Any]


def identity_of(run: Run, settings: Mapping[str, Any]) -> Identity:
    """The version, the settings, the parameters' types, and hashes of the generated step and of
    the training data."""
    return {
        "version": version("stcompile"),
        "settings": {name: _plain(value) for name, value in settings.items()},
        "parameters": {name: f"{a.dtype} {a.shape}" for name, a in run.parameters()},
        "step": _hash_of_code(run.source),
        "data": _hash_of_arrays(run),
    }


def require_same(checkpoint: Checkpoint, identity: Identity, path: Path) -> None:
    """Raise `CheckpointError` if a checkpoint is of a run with another identity: it says what
    differs."""
    found = checkpoint.record["identity"]
    settings = _differences(found["settings"], identity["settings"])
    parameters = _differences(found["parameters"], identity["parameters"])
    if found["version"] != identity["version"]:
        what = f"version {found['version']} of stcompile, not {identity['version']}"
        hint = "go on with the version that wrote it"
    elif settings:
        what = "other settings: " + "; ".join(settings)
        hint = "give the same flags again"
    elif parameters:
        what = "another model: " + "; ".join(parameters)
        hint = "go on with the model that it was written for"
    elif found["step"] != identity["step"]:
        what = "another training step: the generated code is not the same"
        hint = "undo what changed the loss, the optimiser, or whether SciPy is installed"
    elif found["data"] != identity["data"]:
        what = "other training data"
        hint = "go on with the data that it was written for"
    else:
        return
    raise CheckpointError(
        f"{path} is a checkpoint of a run with {what}",
        hint=f"{hint}, or start a new run without --resume",
    )


def _differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """The differences between two mappings, as text."""
    names = dict.fromkeys([*found, *wanted])
    return [
        f"{name} was {found.get(name, 'not there')}, not {wanted.get(name, 'there')}"
        for name in names
        if name not in found or name not in wanted or found[name] != wanted[name]
    ]


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str | None) else str(value)


def _hash_of_code(source: str) -> str:
    """A hash of the code without its comments, which have line numbers of the model's file."""
    with suppress(SyntaxError):  # a step that is no compiled one may show something else
        source = ast.unparse(ast.parse(source))
    return hashlib.sha256(source.encode()).hexdigest()


def _hash_of_arrays(run: Run) -> str:
    found = hashlib.sha256()
    for array in run.arrays:
        found.update(f"{array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
