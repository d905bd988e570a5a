"""Files that are there in whole or not at all."""

from __future__ import annotations

import os
import threading

from stcompile.base.errors import ExportError


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file, in place of one that may be there; text as UTF-8 with the line ends of Unix.

    It is written beside it and then renamed, so that a reader, or a write that is broken off,
    finds the old file or the new one. `ExportError` if the folder cannot be written to.
    """
    data = content.encode() if isinstance(content, str) else content
    target = os.path.realpath(path)
    beside = f"{target}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        try:
            with open(beside, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, target)
        except BaseException:
            if os.path.exists(beside):
                os.unlink(beside)
            raise
    except OSError as error:
        raise ExportError(
            f"{os.fspath(path)} cannot be written: {error.strerror}",
            hint="name a file in a folder that exists and that you may write to",
        ) from error
