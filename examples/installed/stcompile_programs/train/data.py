"""Data sets: images as rows of numbers from 0 to 1, labels as integers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import stcompile_programs.train.sources as sources
from stcompile.base.errors import DataError
from stcompile_programs.train.extras import require
from stcompile_programs.train.idx import read_idx

NAMES = ("auto", "mnist", "fashion-mnist", "digits")
TITLES = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "digits": "scikit-learn's digits"}

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class DataSet:
    """Images and labels to learn from, and further images and labels for the test.

    ``x_train`` (N, pixels) and ``x_test`` are floating point, from 0 to 1; ``y_train`` (N,) and
    ``y_test`` are int64, the classes from 0. ``origin`` says where it came from.
    """

    name: str
    x_train: Array
    y_train: Array
    x_test: Array
    y_test: Array
    image_shape: tuple[int, int]
    classes: int = 10
    origin: str = ""

    @property
    def title(self) -> str:
        return TITLES.get(self.name, self.name)

    @property
    def pixels(self) -> int:
        return int(self.x_train.shape[1])

    def standardised(self) -> DataSet:
        """The same images with mean 0 and variance 1 over all pixels of the training images.

        Source: Y. LeCun, L. Bottou, G. Orr, K.-R. Müller, "Efficient BackProp", 1998, section 4.3.
        """
        mean, deviation = self.x_train.mean(), self.x_train.std()
        x_train, x_test = ((x - mean) / deviation for x in (self.x_train, self.x_test))
        return replace(self, x_train=x_train, x_test=x_test)

    def describe(self) -> str:
        """A line that names the data set, its size, and its origin."""
        height, width = self.image_shape
        sizes = f"{len(self.x_train)} + {len(self.x_test)} images of {height} x {width}"
        return f"data: {self.title}, {sizes}" + (f", {self.origin}" if self.origin else "")


def load(name: str = "auto", data_dir: Path | None = None, dtype: Any = np.float32) -> DataSet:
    """The data set of that name, with images of the given dtype.

    ``auto`` is MNIST if it is at hand or can be downloaded, else scikit-learn's digits. Raises
    `DataError` for files that are missing or not what they claim to be.
    """
    if name not in NAMES:
        raise DataError(f"no data set is called {name!r}", hint=f"choose one of {', '.join(NAMES)}")
    folder = sources.named_folder(data_dir)
    if name == "digits":
        return _digits(dtype, "bundled with scikit-learn")
    if name != "auto":
        return _from_files(name, folder, dtype)
    for place in dict.fromkeys((folder, None)):
        with suppress(sources.NotAtHandError):
            return _from_files("mnist", place, dtype)
    return _digits(dtype, "since MNIST is not at hand (--data mnist says why)")


def _from_files(name: str, folder: Path | None, dtype: Any) -> DataSet:
    """An IDX data set from the first source that has it."""
    if folder is not None:
        return _read(name, sources.files_in_named_folder(folder, name), dtype)
    refused: DataError | None = None
    for files in sources.other_places(name):
        try:
            return _read(name, files, dtype)
        except DataError as error:
            refused = error  # the download mends a damaged cache
    try:
        return _read(name, sources.download(name), dtype)
    except sources.NotAtHandError as error:
        raise (refused or error) from None


def _read(name: str, files: sources.Files, dtype: Any) -> DataSet:
    arrays = {file: read_idx(path, sources.SHA256[name][file]) for file, path in files.items()}
    parts = {}
    for part in ("train", "t10k"):
        images_name, labels_name = f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"
        images, labels = arrays[images_name], arrays[labels_name]
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
            raise DataError(
                f"{files[images_name]} holds an array of shape {images.shape} and "
                f"{files[labels_name]} one of shape {labels.shape}; images (N, height, width) and "
                "as many labels (N,) were expected",
                hint="replace the two files by the published ones",
            )
        pixels = images.reshape(len(images), -1).astype(dtype)
        pixels /= 255
        parts[part] = pixels, labels.astype(np.int64)
    height, width = arrays["train-images-idx3-ubyte"].shape[1:]
    folder = next(iter(files.values())).parent
    return DataSet(name, *parts["train"], *parts["t10k"], (height, width), 10, f"from {folder}")


def _digits(dtype: Any, origin: str) -> DataSet:
    """scikit-learn's 1797 digits of 8 x 8 pixels; a fifth of them, the same always, for the test.

    They come from few writers, one after the other, hence the shuffling before the split.
    """
    bunch = require("sklearn.datasets").load_digits()
    pixels = (bunch.data / 16).astype(dtype)
    labels = bunch.target.astype(np.int64)
    order = np.random.default_rng(0).permutation(len(labels))
    test, train = np.split(order, [len(labels) // 5])
    return DataSet(
        "digits", pixels[train], labels[train], pixels[test], labels[test], (8, 8), 10, origin
    )
