"""Fourier transforms along an axis in C."""

from __future__ import annotations

import numpy as np

from stcompile.native.kinds import Number
from stcompile.native.searching import each_cast
from stcompile.native.sizes import size_text
from stcompile.native.values import Value
from stcompile.native.whole import Call, flat, rows_of
from stcompile.native.writer import Writer
from stcompile.wengert.dims import Size

OWN_NORMS = {"fft": "forward", "rfft": "forward", "ifft": "backward", "irfft": "backward"}
"""The norm for which a transform is divided by its length; by the square root for "ortho"."""


def transformed(w: Writer, call: Call) -> Value:
    """``np.fft.fft``, ``ifft``, ``rfft`` or ``irfft``."""
    (array, *others), name = call.values, call.name
    later = [one.known for one in others]
    given = {**call.given, **dict(zip(("n", "axis", "norm"), later, strict=False))}
    if array.of.dtype.kind not in "fc":
        w.refuse_translation(f"`{call.function}` of integers", "convert them to float64")
    of = Number(np.result_type(array.of.dtype, 1j))
    dims, axis = array.dims, given.get("axis", -1) % len(array.dims)
    n = given.get("n")
    if n is None:
        n = 2 * (dims[axis] - 1) if name == "irfft" else dims[axis]
    count = n // 2 + 1 if name == "rfft" else n
    rows, length, step = rows_of(array.array, axis)
    to = of.part if name == "irfft" else of
    made = w.fresh_memory("transform", to, *dims[:axis], count, *dims[axis + 1 :])
    work = w.fresh_memory("rows", of, 3 * n)
    said = [flat(each_cast(w, array, of)), rows, length, step, size_text(n)]
    scale = _scale(n, of.part, given.get("norm") or "backward", OWN_NORMS[name])
    if name == "irfft":
        w.call("complex_irfft", of, *said, scale, flat(made), work.code)
    else:
        sign = "1" if name == "ifft" else "-1"
        w.call("complex_fft", of, *said, sign, scale, size_text(count), flat(made), work.code)
    return made


def _scale(n: Size, of: Number, norm: str, own: str) -> str:
    """The factor of a transform."""
    if norm != "ortho":
        return f"1 / ({of.c})({size_text(n)})" if norm == own else "1"
    return f"1 / sqrt{of.suffix}(({of.c})({size_text(n)}))"


FOURIER = {f"np.fft.{name}": transformed for name in OWN_NORMS}
"""The functions by their names."""
