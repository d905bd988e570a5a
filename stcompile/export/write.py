"""Writing a file that a user has named."""

from __future__ import annotations

import os

from stcompile.base.errors import ExportError
from stcompile.base.files import write_whole


def write_named(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file completely or not at all; `ExportError` if the folder cannot be written to."""
    try:
        write_whole(path, content, make_folder=False)
    except OSError as error:
        raise ExportError(
            f"{os.fspath(path)} cannot be written: {error.strerror}",
            hint="name a file in a folder that exists and that you may write to",
        ) from error
