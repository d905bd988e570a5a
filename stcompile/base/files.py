"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_whole(
    path: str | os.PathLike[str],
    content: str | bytes,
    *,
    make_folder: bool = True,
    private: bool = False,
) -> None:
    """Write a file, replacing an existing file; text is written as UTF-8 with the line ends of
    Unix.

    The text goes to a new file in the same folder, which is then renamed, so that a reader finds
    the old file or the new file even if the write is broken off. If the process is killed
    meanwhile, the new file, ``.*.tmp``, is left behind. A ``private`` file can be read and written
    by the user alone.
    """
    target = Path(os.path.realpath(path))
    if make_folder:
        target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with open(beside, "wb", opener=_private if private else None) as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
