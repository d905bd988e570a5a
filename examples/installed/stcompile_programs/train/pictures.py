"""Pictures of images."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stcompile.base.files import write_whole
from stcompile_programs.train.extras import require

Array = np.ndarray[Any, np.dtype[Any]]


def write_pairs(
    path: Path,
    first: Array,
    second: Array,
    image_shape: tuple[int, int],
    titles: Sequence[str],
    pairs_in_row: int = 4,
) -> None:
    """Writes a PNG in which each image of ``first`` (N, pixels) has that of ``second`` at its
    right; pixels are from 0, black, to 1. The ``titles`` are of the two."""
    lines = -(-len(first) // pairs_in_row)
    columns = 2 * min(pairs_in_row, len(first))
    size = (0.9 * columns, 0.9 * lines + 0.4)
    figure = require("matplotlib.figure").Figure(figsize=size, layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    for number, pair in enumerate(zip(first, second, strict=True)):
        line, place = divmod(number, pairs_in_row)
        for side, image in enumerate(pair):
            axes = grid[line, 2 * place + side]
            axes.imshow(image.reshape(image_shape), cmap="gray", vmin=0, vmax=1)
            if line == 0:
                axes.set_title(titles[side], fontsize=8)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    write_whole(path, buffer.getvalue())
