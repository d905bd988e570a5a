"""Functions of `scipy.special`, all of them elementwise and, but for a few, of real numbers.

A result has the dtype that SciPy gives it. It is found by calling the function with ones, since
SciPy has no table of dtypes that NumPy could look up for all of them; programs with these
primitives need SciPy.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from stcompile.wengert.primitives.base import (
    Infer,
    OperandError,
    Primitive,
    Types,
    UnsupportedOperandError,
    array_or_scalar,
    broadcast,
    require_count,
)

_PREFIX = "special."
UNARY = (
    *("erf", "erfc", "erfinv", "erfcinv", "erfcx", "dawsn", "ndtr", "log_ndtr", "ndtri"),
    *("gamma", "gammaln", "loggamma", "gammasgn", "rgamma", "digamma"),
    *("expit", "logit", "log_expit", "entr", "sici"),
    *("i0", "i0e", "i1", "i1e", "j0", "j1", "y0", "y1", "k0", "k0e", "k1", "k1e"),
    *("exp1", "expi", "spence", "exprel", "cosm1", "expm1", "log1p", "cbrt", "exp2", "exp10"),
)
BINARY = (
    *("zeta", "beta", "betaln", "xlogy", "xlog1py", "rel_entr", "kl_div"),
    *("iv", "ive", "jv", "yv", "yn", "kv", "kve", "expn", "binom", "poch"),
    *("stdtr", "stdtrit"),
    *("gammainc", "gammaincc", "gammaincinv", "gammainccinv"),
    *("boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p", "huber", "pseudo_huber"),
)
TERNARY = ("betainc", "betaincc", "betaincinv")
OF_COMPLEX = frozenset({"erf", "erfc"})
NAMES = (*UNARY, *BINARY, *TERNARY)


def _of(name: str, count: int) -> Infer:
    own = _PREFIX + name

    def infer(types: Types, params: Any) -> Types:
        require_count(own, types, count)
        if name not in OF_COMPLEX and any(t.dtype.kind == "c" for t in types):
            raise UnsupportedOperandError(f"{own}: takes real numbers")
        dims = broadcast(own, types)
        known = (t.python_type if t.kind == "python" else t.dtype for t in types)
        return (array_or_scalar(_dtype(name, tuple(known)), dims),)

    return infer


@functools.lru_cache(maxsize=1024)
def _dtype(name: str, operands: tuple[type | np.dtype[Any], ...]) -> np.dtype[Any]:
    """The dtype of the result for operands of these dtypes, Python numbers by their type."""
    ones = [np.ones(1, t) if isinstance(t, np.dtype) else t(1) for t in operands]
    function = getattr(importlib.import_module("scipy.special"), name)
    with np.errstate(all="ignore"):
        try:
            result = function(*ones)
        except TypeError:
            shown = " and ".join(str(np.asarray(one).dtype) for one in ones)
            raise OperandError(f"{_PREFIX}{name}: SciPy does not define it for {shown}") from None
    first = result[0] if isinstance(result, tuple) else result
    return np.asarray(first).dtype


SPECIAL: tuple[Primitive, ...] = tuple(
    Primitive(_PREFIX + name, _of(name, count), elementwise=True)
    for count, names in ((1, UNARY), (2, BINARY), (3, TERNARY))
    for name in names
)
