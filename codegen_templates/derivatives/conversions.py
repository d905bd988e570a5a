"""Adjoints of conversions: the engine returns every cotangent to its input's kind and dtype."""

from __future__ import annotations

from ..marks import Table

ADJOINTS: Table = {
    "cast": lambda out, x, d_out, *, dtype: d_out,
    "to_python": lambda out, x, d_out, *, dtype: d_out,
    "to_scalar": lambda out, x, d_out: d_out,
    "asarray": lambda out, x, d_out: d_out,
    "copy": lambda out, x, d_out, *, order="K": d_out,
}
