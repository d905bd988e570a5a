"""IDX files: read whole, or refused by name with what to do."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from stcompile.base.errors import DataError
from stcompile_programs.train.idx import read_idx

IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
CONTENT = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, *range(24)])


@pytest.mark.parametrize("compress", [False, True])
def test_reads(tmp_path: Path, compress: bool) -> None:
    path = tmp_path / "images"
    path.write_bytes(gzip.compress(CONTENT) if compress else CONTENT)
    array = read_idx(path, hashlib.sha256(CONTENT).hexdigest())
    assert array.dtype == np.uint8
    np.testing.assert_array_equal(array, IMAGES)


ZIPPED = gzip.compress(CONTENT)
BAD = {
    "truncated": (CONTENT[:-1], "is truncated: its header says 2 x 3 x 4 = 24 bytes, 23 follow"),
    "too long": (CONTENT + b"x", "has bytes left over: .* = 24 bytes, 25 follow"),
    "half a header": (CONTENT[:10], "is truncated within its header"),
    "empty": (b"", "is not an IDX file: it starts with nothing"),
    "wrong magic": (b"\x89PNG" + CONTENT, "is not an IDX file: it starts with 89 50 4e 47"),
    "wrong type": (b"\0\0\x0d\3" + CONTENT[4:], "type 0x0d with 3 dimensions"),
    "no dimensions": (b"\0\0\x08\0", "type 0x08 with 0 dimensions"),
    "truncated gzip": (ZIPPED[:-9], "is truncated: its gzip stream ends early"),
    "gzip checksum": (ZIPPED[:-8] + bytes(8), "is corrupt: CRC check failed"),
    "gzip stream": (ZIPPED[:12] + b"\xff\xff" + ZIPPED[14:], "is corrupt"),
    "other content": (CONTENT[:-1] + b"x", "not the published one: its SHA-256 is"),
}


@pytest.mark.parametrize("name", BAD)
def test_refuses(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    path = tmp_path / "images-idx3-ubyte"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_idx(path, hashlib.sha256(CONTENT).hexdigest())
    assert str(path) in caught.value.reason
    assert "download it again" in caught.value.hint


def test_refuses_a_gz_that_is_not_compressed(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    path.write_bytes(b"<html>404 not found</html>")
    with pytest.raises(DataError, match="is corrupt: Not a gzipped file"):
        read_idx(path)


def test_refuses_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere does not exist") as caught:
        read_idx(tmp_path / "nowhere")
    assert "--data-dir" in caught.value.hint
    with pytest.raises(DataError, match="cannot be read"):
        read_idx(tmp_path)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.integers(0, len(ZIPPED) - 1), some.integers(1, 255))
def test_a_changed_byte_is_refused_or_harmless(tmp_path: Path, at: int, change: int) -> None:
    """Harmless are the date in the header, and bits that fill up the last byte of the stream."""
    path = tmp_path / "images.gz"
    path.write_bytes(ZIPPED[:at] + bytes([ZIPPED[at] ^ change]) + ZIPPED[at + 1 :])
    try:
        found = read_idx(path, hashlib.sha256(CONTENT).hexdigest())
    except DataError as error:
        assert str(path) in error.reason
    else:
        np.testing.assert_array_equal(found, IMAGES)
