"""Sources of the files of MNIST and Fashion-MNIST.

In order: the folder that the user names (``--data-dir`` or ``STCOMPILE_DATA``), which holds
``mnist/`` and ``fashion-mnist/``; the user's cache folder; Debian's package
``dataset-fashion-mnist``; a download into the cache. A folder that the user names is believed:
a bad file in it is refused, never replaced by another source in silence.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stcompile.base.errors import DataError
from stcompile_programs.train.extras import require

ENVIRONMENT = "STCOMPILE_DATA"
DEBIAN = {"fashion-mnist": Path("/usr/share/datasets/fashion-mnist")}
CONNECT_AND_READ_SECONDS = (4, 20)

SHA256: dict[str, dict[str, str]] = {
    "mnist": {
        "train-images-idx3-ubyte": (
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
        ),
        "train-labels-idx1-ubyte": (
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
        ),
        "t10k-images-idx3-ubyte": (
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
        ),
        "t10k-labels-idx1-ubyte": (
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
        ),
    },
    "fashion-mnist": {
        "train-images-idx3-ubyte": (
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
        ),
        "train-labels-idx1-ubyte": (
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"
        ),
        "t10k-images-idx3-ubyte": (
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
        ),
        "t10k-labels-idx1-ubyte": (
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
        ),
    },
}
"""SHA-256 of the decompressed content, whatever compressed it."""

MIRRORS: dict[str, tuple[str, ...]] = {
    "mnist": (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
    "fashion-mnist": (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    ),
}

Files = Mapping[str, Path]
"""The name of each of the four files (without ``.gz``) -> its path."""


class NotAtHandError(DataError):
    """A data set that no source has."""


def named_folder(data_dir: Path | None) -> Path | None:
    """The folder that the user named, by the flag or in the environment; it must exist."""
    text = str(data_dir) if data_dir is not None else os.environ.get(ENVIRONMENT, "")
    if not text:
        return None
    folder = Path(text).expanduser()
    if not folder.is_dir():
        origin = "--data-dir" if data_dir is not None else ENVIRONMENT
        raise DataError(
            f"{origin} names {folder}, which is not a folder",
            hint="name a folder that holds mnist/ and fashion-mnist/",
        )
    return folder


def files_in_named_folder(folder: Path, dataset: str) -> Files:
    """The four files in ``folder/dataset``; `DataError` names one that is missing."""
    inner = folder / dataset
    if not inner.is_dir():
        raise NotAtHandError(
            f"{folder} has no folder {dataset}/",
            hint=f"put the four files of {dataset} into {inner}, or leave --data-dir and "
            f"{ENVIRONMENT} away to have them downloaded",
        )
    files = _files_in(inner, dataset)
    missing = [name for name in SHA256[dataset] if name not in files]
    if missing:
        raise DataError(
            f"{inner / missing[0]}.gz does not exist (nor does it without .gz)",
            hint=f"complete {inner}: it lacks {', '.join(missing)}",
        )
    return files


def other_places(dataset: str) -> Iterator[Files]:
    """The data set as the cache and as Debian have it: complete sets of files, not yet checked."""
    for folder in (cache_folder(dataset), DEBIAN.get(dataset)):
        if folder is not None:
            files = _files_in(folder, dataset)
            if len(files) == len(SHA256[dataset]):
                yield files


def cache_folder(dataset: str) -> Path:
    """The folder where downloads of the data set are kept for this user."""
    return Path(require("pooch").os_cache("stcompile")) / dataset


def download(dataset: str) -> Files:
    """The four files in the cache, downloaded if they are missing or differ from the published
    files.

    A file appears in the cache whole and checked, or not at all.
    """
    return {name: _download_file(dataset, name) for name in SHA256[dataset]}


def _download_file(dataset: str, name: str) -> Path:
    pooch = require("pooch")
    pooch.get_logger().setLevel("WARNING")
    failures = []
    for mirror in MIRRORS[dataset]:
        try:
            path = pooch.retrieve(
                f"{mirror}{name}.gz",
                known_hash=SHA256[dataset][name],
                fname=name,
                path=cache_folder(dataset),
                downloader=_download_and_decompress,
            )
        except (OSError, ValueError, EOFError) as error:
            failures.append(f"{mirror}: {_one_line(error)}")
        else:
            return Path(path)
    raise NotAtHandError(
        f"{dataset} cannot be downloaded ({'; '.join(failures)})",
        hint=f"name a folder that holds {dataset}/ with --data-dir or {ENVIRONMENT}",
    )


def _download_and_decompress(url: str, output_file: Any, pooch: Any) -> None:
    """Writes the decompressed content, whose hash is the published one, to ``output_file``."""
    fetch = require("pooch").HTTPDownloader(
        progressbar=sys.stderr.isatty(), timeout=CONNECT_AND_READ_SECONDS
    )
    compressed = Path(f"{output_file}.gz")
    try:
        fetch(url, str(compressed), pooch)
        with gzip.open(compressed) as source, open(output_file, "wb") as target:
            shutil.copyfileobj(source, target)
    finally:
        compressed.unlink(missing_ok=True)


def _files_in(folder: Path, dataset: str) -> dict[str, Path]:
    files = {}
    for name in SHA256[dataset]:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                files[name] = path
                break
    return files


def _one_line(error: Exception) -> str:
    """The kind of a failure; with its text where the kind alone does not say enough."""
    unreachable = isinstance(error, OSError) and getattr(error, "response", None) is None
    text = "" if unreachable else " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
