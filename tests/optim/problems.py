"""Small problems with float32 or float64 parameters in every structure, and their gradients by
hand."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from stcompile.base import trees


@dataclasses.dataclass
class Affine:
    W: Any
    b: Any
    name: str = "layer"


class Pair(NamedTuple):
    first: Any
    second: Any


def arrays(dtype: Any) -> list[Any]:
    """(3, 4), (4,), (4, 2) and ()."""
    rng = np.random.default_rng(3)
    return [np.asarray(rng.standard_normal(s), dtype) for s in [(3, 4), (4,), (4, 2), ()]]


def as_dict(dtype: Any) -> dict[str, Any]:
    return dict(zip("WbVc", arrays(dtype), strict=True))


def as_list(dtype: Any) -> list[Any]:
    return arrays(dtype)


def as_nested(dtype: Any) -> dict[str, Any]:
    W, b, V, c = arrays(dtype)
    return {"layers": [Affine(W, b), Pair(V, c)], 0: "not trained"}


STRUCTURES = {"dict": as_dict, "list": as_list, "nested": as_nested}


def of_dict(params, x):
    h = np.tanh(x @ params["W"] + params["b"])
    return np.sum((h @ params["V"]) ** 2) * 3 + params["c"] ** 2


def of_list(params, x):
    W, b, V, c = params
    h = np.tanh(x @ W + b)
    return np.sum((h @ V) ** 2) * 3 + c**2


def of_nested(params, x):
    first, last = params["layers"]
    h = np.tanh(x @ first.W + first.b)
    return np.sum((h @ last.first) ** 2) * 3 + last.second**2


LOSSES = {"dict": of_dict, "list": of_list, "nested": of_nested}


def leaves(params: Any) -> list[Any]:
    """The arrays of parameters: W, b, V, c."""
    return [leaf for _, leaf in trees.leaves(params) if isinstance(leaf, np.ndarray)]


def gradients(params: list[Any], x: Any) -> list[Any]:
    """The gradients of the losses by W, b, V, c, derived by hand."""
    W, b, V, c = params
    h = np.tanh(x @ W + b)
    d_out = 6 * (h @ V)
    d_a = (d_out @ V.T) * (1 - h * h)
    return [x.T @ d_a, d_a.sum(axis=0), h.T @ d_out, 2 * c]
