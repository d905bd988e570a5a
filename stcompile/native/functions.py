"""Functions of NumPy and Python in C: libm's, and short ones that are printed where they are
called."""

from __future__ import annotations

import re

from stcompile.codegen_templates.c import text as template
from stcompile.native.kinds import Number

_SAME = """
    tanh sinh cosh sin cos tan exp log sqrt exp2 expm1 log2 log10 log1p cbrt hypot floor ceil trunc
    rint copysign fmod atan2 atan asin acos asinh acosh atanh erf erfc fabs lgamma fmax fmin pow
"""
_ARCS = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")
LIBM = (
    {name: name for name in _SAME.split()}
    | {f"arc{n}": f"a{n}" for n in _ARCS}
    | {"gamma": "tgamma"}
)
"""Functions by their names in NumPy and in Python's math; float has the ending f."""

COMPLEX = frozenset({"tanh", "sinh", "cosh", "sin", "cos", "exp", "log", "sqrt"})
"""Functions that C has for complex numbers, with the beginning c."""

CHOSEN = "`np.where(mask, x, 0.0)` keeps the length, or write a loop with an `if`"
LOOPED = "write a loop over the elements, or pass the result as an argument"
"""Advice for selections, and for other functions of whole arrays."""

INLINE = {
    named[1]: part
    for file in ("functions.c", "fourier.c", "lapack.c")
    for part in template(file).rstrip().split("\n\n")
    if (named := re.search(r"(\w+)_[SL]\(", part)) is not None
}
"""Short functions by name, as templates."""


def short_function(name: str, kind: Number, suffix: str) -> str:
    """The text of a short function for numbers of a kind."""
    letter = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}

    def of_lapack(found: re.Match[str]) -> str:
        own = found[1] if kind.part == kind else re.sub("^or", "un", found[1])
        return f"LAPACK({letter[kind.dtype.name]}{own})("

    text = re.sub(r",\n +", ", ", INLINE[name])  # lines are cut when they are printed
    text = re.sub(r"\b(?:complex_)?(\w+)_L\(", of_lapack, text)
    words = {
        "CONJ": f"conj{kind.suffix}" if kind.part != kind else "",
        "T": kind.c,
        "R": kind.part.c,
        "_S": suffix,
        "_F": kind.suffix,
    }
    words["CMPLX_F"] = f"CMPLX{kind.suffix.upper()}"
    return re.sub(r"CMPLX_F|CONJ|_[SF]\b|\b[TR]\b", lambda found: words[found[0]], text)


def called_by(name: str) -> list[str]:
    """The short functions that another one calls."""
    return [own for own in re.findall(r"(\w+)_[SL]\(", INLINE[name]) if own != name]
