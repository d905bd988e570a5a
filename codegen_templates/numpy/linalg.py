"""Spellings of linear algebra. A factorisation of several results is a call for each result that is
used: the part is named in the call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..marks import fresh
from .calls import call, with_function

inv = with_function(call, "np.linalg.inv")
solve = with_function(call, "np.linalg.solve")
det = with_function(call, "np.linalg.det")
cholesky = with_function(call, "np.linalg.cholesky")
eigvals = with_function(call, "np.linalg.eigvals")


@fresh
def slogdet(x: Any, *, part: str) -> Any:
    if part == "sign":
        return np.linalg.slogdet(x).sign
    return np.linalg.slogdet(x).logabsdet


@fresh
def eigh(x: Any, *, part: str, lower: bool = True) -> Any:
    if part == "eigenvalues" and lower:
        return np.linalg.eigh(x).eigenvalues
    if part == "eigenvalues":
        return np.linalg.eigh(x, "U").eigenvalues
    if lower:
        return np.linalg.eigh(x).eigenvectors
    return np.linalg.eigh(x, "U").eigenvectors


@fresh
def eigvalsh(x: Any, *, lower: bool = True) -> Any:
    if lower:
        return np.linalg.eigvalsh(x)
    return np.linalg.eigvalsh(x, "U")


@fresh
def eig(x: Any, *, part: str) -> Any:
    if part == "eigenvalues":
        return np.linalg.eig(x).eigenvalues
    return np.linalg.eig(x).eigenvectors


@fresh
def svd(x: Any, *, part: str) -> Any:
    if part == "U":
        return np.linalg.svd(x, full_matrices=False).U
    if part == "S":
        return np.linalg.svd(x, full_matrices=False).S
    return np.linalg.svd(x, full_matrices=False).Vh


@fresh
def svdvals(x: Any) -> Any:
    return np.linalg.svd(x, compute_uv=False)


@fresh
def qr(x: Any, *, part: str) -> Any:
    if part == "Q":
        return np.linalg.qr(x).Q
    return np.linalg.qr(x).R


@fresh
def pinv(x: Any, *, rcond: float | None = None) -> Any:
    if rcond is None:
        return np.linalg.pinv(x)
    return np.linalg.pinv(x, rcond)


@fresh
def lstsq(x: Any, y: Any, *, rcond: float | None = None) -> Any:
    if rcond is None:
        return np.linalg.lstsq(x, y)[0]
    return np.linalg.lstsq(x, y, rcond)[0]
