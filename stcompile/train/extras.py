"""Libraries that the trainer uses and the compiler does not: imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from stcompile.errors import StcompileError


class MissingExtraError(StcompileError):
    """A library of the ``train`` extra that is not installed."""


def require(module: str) -> Any:
    """The module, or a `MissingExtraError` whose hint is the command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
            raise
        raise MissingExtraError(
            f"training needs {error.name}, which is not installed",
            hint='python -m pip install "stcompile[train]"',
        ) from None
