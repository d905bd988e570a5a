"""The trainer's tests use no network, no cache of the user, and no data set unless they say so."""

from __future__ import annotations

import gzip
import hashlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile_programs.train import sources


def idx(array: np.ndarray[Any, Any]) -> bytes:
    """The IDX file of an array of unsigned bytes."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No folder in the environment, an empty cache, no Debian package, no network."""

    def no_network(url: str, output_file: Any, pooch: Any) -> None:
        raise ConnectionError(f"no network in tests: {url}")

    cache = tmp_path / "cache"
    monkeypatch.delenv(sources.ENVIRONMENT, raising=False)
    monkeypatch.setattr(sources, "cache_folder", lambda dataset: cache / dataset)
    monkeypatch.setattr(sources, "DEBIAN", {"fashion-mnist": tmp_path / "debian"})
    monkeypatch.setattr(sources, "_download_and_decompress", no_network)
    return cache


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """IDX files of 20 + 10 images of 4 x 4 that pass for the published MNIST and Fashion-MNIST."""
    rng = np.random.default_rng(0)
    files = {}
    for part, count in (("train", 20), ("t10k", 10)):
        images = rng.integers(0, 256, (count, 4, 4), dtype=np.uint8)
        labels = rng.integers(0, 10, count, dtype=np.uint8)
        files[f"{part}-images-idx3-ubyte"] = idx(images)
        files[f"{part}-labels-idx1-ubyte"] = idx(labels)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    monkeypatch.setattr(sources, "SHA256", {"mnist": hashes, "fashion-mnist": hashes})
    return files


@pytest.fixture
def folder(tmp_path: Path, contents: dict[str, bytes]) -> Path:
    """A folder for ``--data-dir`` whose mnist/ holds those files, compressed."""
    inner = tmp_path / "data" / "mnist"
    inner.mkdir(parents=True)
    for name, content in contents.items():
        (inner / f"{name}.gz").write_bytes(gzip.compress(content))
    return tmp_path / "data"
