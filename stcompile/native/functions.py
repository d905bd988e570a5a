"""Functions of NumPy and Python in C: libm's, and short ones that are printed where they are
called."""

from __future__ import annotations

import re

from stcompile.codegen_templates.c import text as template
from stcompile.native.kinds import Number

_SAME = (
    *("tanh", "sinh", "cosh", "sin", "cos", "tan", "exp", "log", "sqrt", "exp2", "expm1", "log2"),
    *("log10", "log1p", "cbrt", "hypot", "floor", "ceil", "trunc", "rint", "copysign", "fmod"),
    *("atan2", "atan", "asin", "acos", "asinh", "acosh", "atanh", "erf", "erfc", "fabs", "lgamma"),
    *("fmax", "fmin", "pow"),
)
_ARCS = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")
LIBM = {name: name for name in _SAME} | {f"arc{n}": f"a{n}" for n in _ARCS} | {"gamma": "tgamma"}
"""Functions by their names in NumPy and in Python's math; float has the ending f."""

COMPLEX = frozenset({"tanh", "sinh", "cosh", "sin", "cos", "exp", "log", "sqrt"})
"""Functions that C has for complex numbers, with the beginning c."""

CHOSEN = "`np.where(mask, x, 0.0)` keeps the length, or write a loop with an `if`"
LOOPED = "write a loop over the elements, or pass the result as an argument"
"""Advice for selections, and for other functions of whole arrays."""

INLINE = {
    named[1]: part
    for file in ("functions.c", "fourier.c")
    for part in template(file).rstrip().split("\n\n")
    if (named := re.search(r"(\w+)_S\(", part)) is not None
}
"""Short functions by name, as templates."""


def short_function(name: str, kind: Number, suffix: str) -> str:
    """The text of a short function for numbers of a kind."""
    words = {"T": kind.c, "R": kind.part.c, "_S": suffix, "_F": kind.suffix}
    words["CMPLX_F"] = f"CMPLX{kind.suffix.upper()}"
    return re.sub(r"CMPLX_F|_[SF]\b|\b[TR]\b", lambda found: words[found[0]], INLINE[name])


def called_by(name: str) -> list[str]:
    """The short functions that another one calls."""
    return [own for own in re.findall(r"(\w+)_S\(", INLINE[name]) if own != name]
