"""Derivative rules: one function for each differentiable primitive, named like it.

A rule takes the result ``out``, the inputs, and (`adjoint`) the cotangent ``d_out``; params are
keywords. A last input called ``xs``, ``indices``, ``counters`` or ``operands`` stands for all the
remaining ones, as in the templates. Rules with several results return one for each input in a flat
tuple, ``None`` where an input has no derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import conversions, creation, elementwise, indexing, linear, reductions, selection, shapes
from .nondifferentiable import NON_DIFFERENTIABLE

__all__ = ["DERIVATIVES", "NON_DIFFERENTIABLE"]


DERIVATIVES: dict[str, Callable[..., Any]] = {
    "negative": elementwise.negative,
    "add": elementwise.add,
    "subtract": elementwise.subtract,
    "multiply": elementwise.multiply,
    "divide": elementwise.divide,
    "floor_divide": elementwise.floor_divide,
    "remainder": elementwise.remainder,
    "power": elementwise.power,
    "square": elementwise.square,
    "reciprocal": elementwise.reciprocal,
    "absolute": elementwise.absolute,
    "hypot": elementwise.hypot,
    "exp": elementwise.exp,
    "exp2": elementwise.exp2,
    "expm1": elementwise.expm1,
    "log": elementwise.log,
    "log2": elementwise.log2,
    "log10": elementwise.log10,
    "log1p": elementwise.log1p,
    "logaddexp": elementwise.logaddexp,
    "sqrt": elementwise.sqrt,
    "cbrt": elementwise.cbrt,
    "sin": elementwise.sin,
    "cos": elementwise.cos,
    "tan": elementwise.tan,
    "arcsin": elementwise.arcsin,
    "arccos": elementwise.arccos,
    "arctan": elementwise.arctan,
    "arctan2": elementwise.arctan2,
    "sinh": elementwise.sinh,
    "cosh": elementwise.cosh,
    "tanh": elementwise.tanh,
    "arcsinh": elementwise.arcsinh,
    "arccosh": elementwise.arccosh,
    "arctanh": elementwise.arctanh,
    "deg2rad": elementwise.deg2rad,
    "rad2deg": elementwise.rad2deg,
    "sign": elementwise.sign,
    "floor": elementwise.floor,
    "ceil": elementwise.ceil,
    "rint": elementwise.rint,
    "trunc": elementwise.trunc,
    "maximum": selection.maximum,
    "minimum": selection.minimum,
    "fmax": selection.fmax,
    "fmin": selection.fmin,
    "clip": selection.clip,
    "where": selection.where,
    "cast": conversions.cast,
    "to_python": conversions.to_python,
    "to_scalar": conversions.to_scalar,
    "asarray": conversions.asarray,
    "copy": conversions.copy,
    "sum": reductions.sum,
    "mean": reductions.mean,
    "prod": reductions.prod,
    "max": reductions.max,
    "min": reductions.min,
    "var": reductions.var,
    "std": reductions.std,
    "cumsum": reductions.cumsum,
    "reshape": shapes.reshape,
    "transpose": shapes.transpose,
    "expand_dims": shapes.expand_dims,
    "squeeze": shapes.squeeze,
    "broadcast_to": shapes.broadcast_to,
    "concatenate": shapes.concatenate,
    "stack": shapes.stack,
    "roll": shapes.roll,
    "pad": shapes.pad,
    "full": creation.full,
    "array": creation.array,
    "slice": indexing.slice,
    "index": indexing.index,
    "update": indexing.update,
    "index_update": indexing.index_update,
    "accumulate": indexing.accumulate,
    "contract": linear.contract,
}
