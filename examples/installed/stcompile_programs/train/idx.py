"""IDX files, the format of MNIST: a magic number, the dimensions, then bytes in C order.

Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits".
"""

from __future__ import annotations

import gzip
import hashlib
import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from stcompile.base.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
UNSIGNED_BYTES = 0x08
GET_ANOTHER = "delete it and download it again, or name another folder with --data-dir"


def read_idx(path: Path, sha256: str | None = None) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The array in an IDX file of unsigned bytes, compressed with gzip or not.

    ``sha256`` is that of the decompressed content. Raises `DataError`, with the file's name, for
    a file that is missing, corrupt, truncated, of another format, or of another content.
    """
    content = _content(path)
    array = _parse(path, content)
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(
            f"{path} is a sound IDX file, but not the published one: its SHA-256 is "
            f"{hashlib.sha256(content).hexdigest()}, it should be {sha256}",
            hint=GET_ANOTHER,
        )
    return array


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(
            f"{path} does not exist", hint="name the folder of the data with --data-dir"
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}", hint=GET_ANOTHER) from error
    if not content.startswith(GZIP_MAGIC) and path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except EOFError:
        raise DataError(f"{path} is truncated: its gzip stream ends early", hint=GET_ANOTHER) from (
            None
        )
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is corrupt: {error}", hint=GET_ANOTHER) from error


def _parse(path: Path, content: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    if len(content) < 4 or content[:2] != b"\0\0":
        raise DataError(
            f"{path} is not an IDX file: it starts with {content[:4].hex(' ') or 'nothing'}",
            hint=GET_ANOTHER,
        )
    kind, ndim = content[2], content[3]
    if kind != UNSIGNED_BYTES or ndim == 0:
        raise DataError(
            f"{path} is an IDX file of type 0x{kind:02x} with {ndim} dimensions; "
            "unsigned bytes (0x08) with at least one were expected",
            hint=GET_ANOTHER,
        )
    start = 4 + 4 * ndim
    if len(content) < start:
        raise DataError(f"{path} is truncated within its header", hint=GET_ANOTHER)
    shape = struct.unpack(f">{ndim}I", content[4:start])
    promised, found = math.prod(shape), len(content) - start
    if promised != found:
        what = "is truncated" if found < promised else "has bytes left over"
        dims = " x ".join(map(str, shape))
        raise DataError(
            f"{path} {what}: its header says {dims} = {promised} bytes, {found} follow",
            hint=GET_ANOTHER,
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
