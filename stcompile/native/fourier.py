"""Fourier transforms along an axis in C."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.native.arrays import Arrays
from stcompile.native.kinds import Array, Number
from stcompile.native.searching import each_cast
from stcompile.native.sizes import size_text
from stcompile.native.values import Value
from stcompile.native.whole import flat, rows_of
from stcompile.wengert.dims import Size

OWN_NORMS = {"fft": "forward", "rfft": "forward", "ifft": "backward", "irfft": "backward"}
"""The norm for which a transform is divided by its length; by the square root for "ortho"."""


def transformed(
    run: Arrays, node: ast.Call, values: Sequence[Value], given: Mapping[str, Any]
) -> Value:
    """``np.fft.fft``, ``ifft``, ``rfft`` or ``irfft``."""
    array, name = values[0], ast.unparse(node.func).rpartition(".")[2]
    later = [one.static if one.length is None else one.length for one in values[1:]]
    given = {**given, **dict(zip(("n", "axis", "norm"), later, strict=False))}
    if array.of.dtype.kind not in "fc":
        run.refuse(f"`np.fft.{name}` of integers has no translation", "convert them to float64")
    of = Number(np.result_type(array.of.dtype, 1j))
    dims, axis = array.dims, given.get("axis", -1) % len(array.dims)
    n = given.get("n")
    if n is None:
        n = 2 * (dims[axis] - 1) if name == "irfft" else dims[axis]
    count = n // 2 + 1 if name == "rfft" else n
    rows, length, step = rows_of(array.array, axis)
    to = of.part if name == "irfft" else of
    made = run.fresh_memory("transform", Array(to, (*dims[:axis], count, *dims[axis + 1 :])))
    work = run.fresh_memory("rows", Array(of, (3 * n,)))
    said = [flat(each_cast(run, array, of)), rows, length, step, size_text(n)]
    said += [] if name == "irfft" else ["1" if name == "ifft" else "-1"]
    said += [_scale(n, of.part, given.get("norm") or "backward", OWN_NORMS[name])]
    said += [] if name == "irfft" else [size_text(count)]
    function = run.inline(f"complex_{'irfft' if name == 'irfft' else 'fft'}", of)
    run.say(f"{function}({', '.join([*said, flat(made), work.code])});")
    return made


def _scale(n: Size, of: Number, norm: str, own: str) -> str:
    """The factor of a transform."""
    if norm != "ortho":
        return f"1 / ({of.c})({size_text(n)})" if norm == own else "1"
    return f"1 / sqrt{of.suffix}(({of.c})({size_text(n)}))"


FOURIER = {f"np.fft.{name}": transformed for name in OWN_NORMS}
"""The functions by their names."""
