"""Files that are there in whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_whole(
    path: str | os.PathLike[str], content: str | bytes, *, make_folder: bool = True
) -> None:
    """Write a file, in place of one that may be there; text as UTF-8 with the line ends of Unix.

    It is written beside it and then renamed, so that a reader, or a write that is broken off,
    finds the old file or the new one. The file of a process that is killed meanwhile, ``.*.tmp``,
    is left.
    """
    target = Path(os.path.realpath(path))
    if make_folder:
        target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with open(beside, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
