"""The log of the package: the logger "stcompile" of the standard library.

Importing `logging` takes time that a program which shows no log has no use for: lines of the levels
DEBUG and INFO are written if something else has imported it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging

NAME = "stcompile"


def logger() -> logging.Logger:
    """The logger. It has a handler that does nothing, as libraries are asked to have: what becomes
    of the log is for the program to say."""
    import logging

    found = logging.getLogger(NAME)
    if not any(isinstance(handler, logging.NullHandler) for handler in found.handlers):
        found.addHandler(logging.NullHandler())
    return found


def shows(level: str) -> bool:
    """True if lines of a level ("DEBUG") are shown or kept by anybody."""
    logging = sys.modules.get("logging")
    return logging is not None and logger().isEnabledFor(getattr(logging, level))


def debug(text: str, *values: Any) -> None:
    if shows("DEBUG"):
        logger().debug(text, *values)


def info(text: str, *values: Any) -> None:
    if shows("INFO"):
        logger().info(text, *values)


def warning(text: str, *values: Any) -> None:
    logger().warning(text, *values)
