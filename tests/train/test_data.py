"""Data sets: where they come from, in which order, and what is refused."""

from __future__ import annotations

import functools
import gzip
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile.base.errors import DataError
from stcompile_programs.train import load, sources

download_and_decompress = sources._download_and_decompress
REAL_DATA = os.environ.get(sources.ENVIRONMENT)


def write_all(folder: Path, contents: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def test_named_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = load("mnist", folder)
    assert data.x_train.shape == (20, 16)
    assert data.x_test.shape == (10, 16)
    assert data.x_train.dtype == np.float32
    assert data.y_train.dtype == np.int64
    assert data.image_shape == (4, 4)
    assert 0 <= data.x_train.min() < data.x_train.max() <= 1
    assert data.describe() == f"data: MNIST, 20 + 10 images of 4 x 4, from {folder / 'mnist'}"

    monkeypatch.setenv(sources.ENVIRONMENT, str(folder))
    for name in ("auto", "mnist"):
        again = load(name, dtype="float64")
        assert again.x_train.dtype == np.float64
        np.testing.assert_allclose(again.x_train, data.x_train, rtol=1e-6)


def test_the_flag_precedes_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sources.ENVIRONMENT, "/nowhere")
    assert load("mnist", folder).name == "mnist"


def test_raw_files_are_taken_as_well(tmp_path: Path, contents: dict[str, bytes]) -> None:
    write_all(tmp_path / "raw" / "fashion-mnist", contents)
    data = load("fashion-mnist", tmp_path / "raw")
    assert data.describe().startswith("data: Fashion-MNIST, 20 + 10 images")


def test_standardised(folder: Path) -> None:
    data = load("mnist", folder).standardised()
    assert data.x_train.dtype == np.float32
    assert abs(data.x_train.mean()) < 1e-6
    assert abs(data.x_train.std() - 1) < 1e-6
    assert data.x_test.shape == (10, 16)


@pytest.mark.parametrize("name", ["auto", "mnist"])
def test_bad_files_in_a_named_folder_are_refused(folder: Path, name: str) -> None:
    images = folder / "mnist" / "train-images-idx3-ubyte.gz"
    whole = images.read_bytes()
    images.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte\.gz is truncated"):
        load(name, folder)
    images.unlink()
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte\.gz does not exist") as caught:
        load(name, folder)
    assert "it lacks train-images-idx3-ubyte" in caught.value.hint


def test_other_content_is_refused(folder: Path, contents: dict[str, bytes]) -> None:
    labels = contents["train-labels-idx1-ubyte"]
    path = folder / "mnist" / "train-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(labels[:-1] + bytes([labels[-1] ^ 1])))
    with pytest.raises(DataError, match=r"train-labels-idx1-ubyte\.gz .*not the published one"):
        load("mnist", folder)


def test_mismatched_counts_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = folder / "mnist"
    (inner / "train-labels-idx1-ubyte.gz").write_bytes(
        (inner / "t10k-labels-idx1-ubyte.gz").read_bytes()
    )
    hashes = dict(sources.SHA256["mnist"])
    hashes["train-labels-idx1-ubyte"] = hashes["t10k-labels-idx1-ubyte"]
    monkeypatch.setattr(sources, "SHA256", {"mnist": hashes})
    with pytest.raises(DataError, match=r"\(20, 4, 4\) and .* \(10,\)"):
        load("mnist", folder)


def test_folders_that_do_not_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="--data-dir names .*nowhere, which is not a folder"):
        load("auto", tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"has no folder mnist/"):
        load("mnist", tmp_path)
    monkeypatch.setenv(sources.ENVIRONMENT, str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="STCOMPILE_DATA names .*nowhere"):
        load("auto")


def test_unknown_name() -> None:
    with pytest.raises(DataError, match="no data set is called 'cifar'"):
        load("cifar")


def test_digits() -> None:
    data = load("digits", dtype="float64")
    assert data.x_train.shape == (1438, 64)
    assert data.x_test.shape == (359, 64)
    assert data.x_train.max() == 1
    assert set(data.y_test) == set(range(10))
    np.testing.assert_array_equal(data.x_train, load("digits", dtype="float64").x_train)


@pytest.mark.parametrize("named", [False, True])
def test_auto_falls_back_on_digits_and_says_so(tmp_path: Path, named: bool) -> None:
    data = load("auto", tmp_path if named else None)
    assert data.name == "digits"
    assert "scikit-learn's digits" in data.describe()
    assert "MNIST is not at hand" in data.describe()


def test_without_any_source_the_reasons_are_given() -> None:
    with pytest.raises(DataError, match="mnist cannot be downloaded .*ConnectionError") as caught:
        load("mnist")
    assert "--data-dir" in caught.value.hint


def test_debian_package(tmp_path: Path, contents: dict[str, bytes]) -> None:
    write_all(tmp_path / "debian", contents)
    assert load("fashion-mnist").origin == f"from {tmp_path / 'debian'}"
    assert load("auto").name == "digits"


def test_cache_precedes_debian(tmp_path: Path, isolated: Path, contents: dict[str, bytes]) -> None:
    write_all(tmp_path / "debian", contents)
    write_all(isolated / "fashion-mnist", contents)
    assert load("fashion-mnist").origin == f"from {isolated / 'fashion-mnist'}"


def test_damaged_cache_without_network_is_named(isolated: Path, contents: dict[str, bytes]) -> None:
    write_all(isolated / "mnist", contents)
    path = isolated / "mnist" / "t10k-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    for name in ("auto", "mnist"):
        with pytest.raises(DataError, match="cache/mnist/t10k-images-idx3-ubyte is truncated"):
            load(name)


# --- downloads, from a server on this machine --------------------------------------------------


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def origin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is served as the second mirror of MNIST; the first one has nothing."""
    inner = folder / "mnist"
    handler = functools.partial(_Quiet, directory=str(inner))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setattr(sources, "MIRRORS", {"mnist": (f"{url}gone/", url)})
        monkeypatch.setattr(sources, "_download_and_decompress", download_and_decompress)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield inner
        server.shutdown()
        thread.join()


def test_download_from_the_second_mirror_is_kept(
    origin: Path, isolated: Path, contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load("mnist").origin == f"from {isolated / 'mnist'}"
    kept = {path.name: path.read_bytes() for path in (isolated / "mnist").iterdir()}
    assert kept == contents
    monkeypatch.setattr(sources, "MIRRORS", {"mnist": ()})
    assert load("auto").name == "mnist"


def test_download_mends_a_damaged_cache(
    origin: Path, isolated: Path, contents: dict[str, bytes]
) -> None:
    write_all(isolated / "mnist", contents)
    path = isolated / "mnist" / "t10k-images-idx3-ubyte"
    path.write_bytes(b"damaged")
    assert load("mnist").name == "mnist"
    assert path.read_bytes() == contents[path.name]


@pytest.mark.parametrize("damage", ["truncated", "other content", "web page"])
def test_bad_downloads_are_refused_and_leave_nothing(
    origin: Path, isolated: Path, contents: dict[str, bytes], damage: str
) -> None:
    path = origin / "train-images-idx3-ubyte.gz"
    other = contents["t10k-images-idx3-ubyte"]
    path.write_bytes(
        {
            "truncated": path.read_bytes()[:-20],
            "other content": gzip.compress(other),
            "web page": b"<html></html>",
        }[damage]
    )
    with pytest.raises(DataError, match="mnist cannot be downloaded .*404 Client Error"):
        load("mnist")
    assert load("auto").name == "digits"
    assert list((isolated / "mnist").iterdir()) == []


# --- the real thing, where it is ---------------------------------------------------------------


@pytest.mark.skipif(REAL_DATA is None, reason="STCOMPILE_DATA is not set")
@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
def test_published_files(name: str) -> None:
    data = load(name, Path(str(REAL_DATA)))
    assert data.x_train.shape == (60_000, 784)
    assert data.x_test.shape == (10_000, 784)
    assert set(data.y_train) == set(range(10))
    assert data.x_train.min() == 0
    assert data.x_train.max() == 1
