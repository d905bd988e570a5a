"""New arrangements of elements, in a given array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import into
from ..numpy.subscripts import inside


@into()
def concatenate(out: Any, xs: Any, *, axis: int = 0) -> None:
    np.concatenate(xs, axis=axis, out=out)


@into()
def pack(out: Any, xs: Any) -> None:
    np.concatenate(xs, axis=None, out=out)


@into()
def stack(out: Any, xs: Any, *, axis: int = 0) -> None:
    np.stack(xs, axis=axis, out=out)


@into()
def pad(out: Any, x: Any, *, pad_width: Any, mode: str = "constant", value: Any = 0) -> None:
    out.fill(value)
    np.copyto(out[inside(pad_width, x.shape)], x)


@into()
def full(out: Any, v: Any, *, shape: Any, dtype: Any) -> None:
    out.fill(v)
