"""Files of the cache, used so that no error in them stops a program."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from stcompile.base import logs
from stcompile.base.options import bytes_of
from stcompile.base.private import DamageError, PrivacyError, PrivateFolder
from stcompile.calls.fingerprint import Untold

SIZE = "STCOMPILE_CACHE_SIZE"
DEFAULT_SIZE = "256MB"
T = TypeVar("T")


def most_bytes() -> int:
    """The most bytes that the cache may hold."""
    try:
        return bytes_of(os.environ.get(SIZE) or DEFAULT_SIZE)
    except ValueError as error:
        logs.warning("%s: %s", SIZE, error)
        return bytes_of(DEFAULT_SIZE)


def read_entry(folder: PrivateFolder, name: str, consequence: str) -> bytes | None:
    """The content of an entry; None if another process has removed it, or if it is damaged: then it
    is removed."""
    try:
        return folder.read(name)
    except FileNotFoundError:
        return None
    except (DamageError, PrivacyError) as error:
        logs.warning("%s; it is removed, and %s", error, consequence)
        folder.remove(name)
        return None


def write_entry(folder: PrivateFolder, name: str, content: bytes) -> None:
    """Write an entry, unless it is larger than the whole cache may be; the least recently used
    entries are removed."""
    most = most_bytes()
    if len(content) <= most:
        folder.write(name, content)
        folder.trim(most, time.time())


def guarded(action: Callable[[], T], consequence: str, folder: PrivateFolder) -> T | None:
    """The result of ``action``; None, and a line in the log, if it fails: no program stops because
    of its cache."""
    try:
        return action()
    except Untold as error:
        logs.debug("%s: %s", consequence, error)
    except (OSError, PrivacyError, DamageError) as error:  # read-only, full, somebody else's
        _complain(str(folder.path), consequence, error)
    except Exception as error:
        logs.warning("%s: the cache failed (%s: %s)", consequence, type(error).__name__, error)
    return None


def _complain(folder: str, consequence: str, error: Exception) -> None:
    """Log the fault of a folder, as a warning the first time in a process."""
    level = logs.debug if folder in _COMPLAINED else logs.warning
    _COMPLAINED.add(folder)
    level("%s: the cache in %s cannot be used (%s)", consequence, folder, error)


_COMPLAINED: set[str] = set()
