"""Optional libraries, which are imported only when a feature that needs them is used."""

from __future__ import annotations

import importlib
from typing import Any

from stcompile.base.errors import StcompileError


class MissingExtraError(StcompileError):
    """A library that belongs to an extra, and is not installed."""


def require(module: str, extra: str, purpose: str) -> Any:
    """Import a module; raise a `MissingExtraError` that says what needs it, and the command that
    installs the extra that it belongs to."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
            raise
        raise MissingExtraError(
            f"{purpose} needs {error.name}, which is not installed",
            hint=f'python -m pip install "stcompile[{extra}]"',
        ) from None
