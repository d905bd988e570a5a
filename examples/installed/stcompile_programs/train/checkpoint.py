"""Checkpoints: files that hold all that a training run needs to go on.

A checkpoint is an .npz archive, which `np.load` opens: arrays, and a record of everything else as
JSON. Nothing in it is pickled. The archive's comment ends with the SHA-256 of all bytes before it,
so that a file with a single changed or missing byte is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stcompile.base.errors import DataError
from stcompile.base.files import write_whole

FORMAT = 1
RECORD = "record"
_MARK = b"stcompile checkpoint; SHA-256 of the bytes before it: "
_DIGEST = 64  # hexadecimal digits
_ANOTHER = "resume from another checkpoint, or start a new run without --resume"

Array = np.ndarray[Any, np.dtype[Any]]


class CheckpointError(DataError):
    """A checkpoint that is missing, damaged, or of another run; or that cannot be written."""


@dataclass(frozen=True)
class Checkpoint:
    """The content of a checkpoint: ``record`` can be written as JSON (with arrays of integers in
    it), ``arrays`` are by name."""

    record: Mapping[str, Any]
    arrays: Mapping[str, Array]

    @property
    def position(self) -> tuple[int, int]:
        """The epoch, from 1, and how many of its steps were made."""
        return self.record["epoch"], len(self.arrays["losses"])

    def write(self, path: Path) -> None:
        """Write the file, replacing an existing file: at no time is a part of it visible.
        `CheckpointError` if it cannot be written; then the old file stays."""
        try:
            write_whole(path, self._content())
        except OSError as error:
            raise CheckpointError(
                f"the checkpoint {path} cannot be written: {error.strerror}",
                hint="what it held before is still there: make room, and go on with --resume",
            ) from error

    def _content(self) -> bytes:
        text = json.dumps({"format": FORMAT, **self.record}, default=_as_json)
        record = np.frombuffer(text.encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **{RECORD: record}, **self.arrays)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.comment = _MARK + b"0" * _DIGEST
        body = buffer.getvalue()[:-_DIGEST]
        return body + _digest(body)


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file; `CheckpointError` says what is wrong with a file that is missing,
    truncated, corrupt, of another format, or no checkpoint at all."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(
            f"the checkpoint {path} does not exist", hint="leave --resume away to start a new run"
        ) from None
    except OSError as error:
        raise CheckpointError(
            f"the checkpoint {path} cannot be read: {error.strerror}", hint=_ANOTHER
        ) from error
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if not body.endswith(_MARK) or digest != _digest(body):
        raise CheckpointError(f"{path} {_what_is_wrong(content)}", hint=_ANOTHER)
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    record = json.loads(arrays.pop(RECORD).tobytes(), object_hook=_from_json)
    if record["format"] != FORMAT:
        raise CheckpointError(
            f"{path} is a checkpoint of format {record['format']}; this version of stcompile reads "
            f"format {FORMAT}",
            hint="go on with the version that wrote it, or start a new run without --resume",
        )
    return Checkpoint(record, arrays)


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _what_is_wrong(content: bytes) -> str:
    """The fault of a file whose digest does not fit its content."""
    if not content.startswith(b"PK\x03\x04"):
        start = content[:4].hex(" ")
        return f"is not a checkpoint: it starts with {start}" if start else "is an empty file"
    if content[:-_DIGEST].endswith(_MARK):
        return (
            f"is corrupt: its SHA-256 is {_digest(content[:-_DIGEST]).decode()}, but "
            f"{content[-_DIGEST:].decode(errors='replace')} was written into it"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            is_foreign = not archive.comment.startswith(_MARK[:9])
    except zipfile.BadZipFile:
        is_foreign = False
    if is_foreign:
        return "is an archive, but not a checkpoint of stcompile"
    return "is truncated or corrupt: it does not end as checkpoints do"


# --- arrays in the record: the states of some random generators ----------------------------------


def _as_json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "values": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def _from_json(found: dict[str, Any]) -> Any:
    if found.keys() == {"dtype", "values"}:
        return np.array(found["values"], np.dtype(found["dtype"]))
    return found
