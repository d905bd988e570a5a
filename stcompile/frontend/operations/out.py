"""The argument ``out``: a result that is written into an array.

The result is computed as without ``out``, and then written. NumPy does the same where the dtypes
agree; where they do not, some functions compute in the dtype of ``out``, and their calls are
refused. With ``where``, a ufunc computes and writes only some of the elements.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, described, is_traced
from stcompile.wengert.types import is_number, type_of

# Methods of arrays, and functions written in C, whose signature Python does not always know.
_METHODS = frozenset(
    {"all", "any", "argmax", "argmin", "clip", "cumsum", "dot", "max", "mean", "min", "prod"}
    | {"round", "std", "sum", "var"}
)
_IN_C = frozenset({np.dot, np.concatenate})
_OF_GENERATORS = frozenset({"random", "standard_normal", "standard_exponential"})

# Functions that, like ufuncs, compute in their own dtype and cast the result.
_CASTING = frozenset({np.clip, np.concatenate, np.stack, np.max, np.min, np.outer})
_CASTING_METHODS = frozenset({"clip", "max", "min"})
_NARROW = frozenset({"mean", "std", "var"})  # float16 is rounded in another place


class Callee(NamedTuple):
    """A callable with an argument ``out``: a function, or a method of an array or a generator."""

    name: str
    function: Any = None
    of_generator: bool = False

    @property
    def takes_out(self) -> bool:
        if self.function is not None:
            return _takes_out(self.function)
        return self.name in (_OF_GENERATORS if self.of_generator else _METHODS)

    @property
    def casts(self) -> bool:
        if self.function is None:
            return not self.of_generator and self.name in _CASTING_METHODS
        return isinstance(self.function, np.ufunc) or self.function in _CASTING


@functools.cache
def _takes_out(function: Any) -> bool:
    if isinstance(function, np.ufunc) or function in _IN_C:
        return True
    if not (getattr(function, "__module__", None) or "").startswith("numpy"):
        return False
    if isinstance(function, types.BuiltinFunctionType):  # `inspect` would parse its signature
        text = getattr(function, "__text_signature__", None) or ""
        return "out" in {part.strip().partition("=")[0] for part in text.strip("()").split(",")}
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def without_out(
    run: Run, callee: Callee, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any], Array | None]:
    """The arguments of a call without ``out``, and the array given as ``out``, if any."""
    if not callee.takes_out:
        return arguments, keywords, None
    rest = dict(keywords)
    out = rest.pop("out", None)
    count = callee.function.nin if isinstance(callee.function, np.ufunc) else None
    if count is not None and len(arguments) == count + 1:
        *arguments, last = arguments
        if out is not None:
            run.refuse("`out` is given twice", "give it once", TypingError)
        out = last
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if out is None or (out is Ellipsis and run.location.is_numpys):
        return arguments, rest, None
    if not isinstance(out, Array):
        run.refuse(f"`out` is {described(out)}", "give an array", TypingError)
    run.check_writeable(out)
    if callee.of_generator and rest.get("size") is None and not arguments[1:]:
        rest["size"] = out.type.dims
    return arguments, rest, out


def without_where(
    run: Run,
    callee: Callee,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    out: Array | None,
) -> tuple[Mapping[str, Any], Any]:
    """The keywords of a ufunc without ``where``, and the value of ``where``: True, or a condition;
    the elements of ``out`` are written where it holds."""
    rest = dict(keywords)
    where = rest.pop("where")
    if where is True:
        return rest, True
    if out is None:
        run.refuse(
            f"`{callee.name}` with `where` and without `out`: what is not computed has no value",
            "give an array as `out`, or choose with np.where",
        )
    kinds = {run.atom(a).type.dtype.kind for a in arguments if is_traced(a) or is_number(a)}
    if out.type.dtype.kind not in "fc" or ("c" in kinds and out.type.dtype.kind != "c"):
        run.refuse(
            f"`{callee.name}` with `where` is not written into `out` of {out.type.dtype}",
            "assign: `out[where] = ...`",
            TypingError,
        )
    return rest, where


def write_out(run: Run, callee: Callee, result: Any, out: Array) -> Array:
    """Write a result into ``out`` and return it as the value of the call."""
    if not (is_traced(result) or is_number(result)):
        run.refuse(f"`{callee.name}` gives no array to write into `out`", "assign the result")
    found = result.type if is_traced(result) else type_of(result)
    to = out.type
    if found.dims != to.dims:
        run.refuse(
            f"the result of `{callee.name}` has shape {found.dims}, but `out` has {to.dims}",
            "make `out` of that shape, or assign: `out[...] = ...`",
            TypingError,
        )
    fits = np.can_cast(found.dtype, to.dtype, "same_kind") if callee.casts else (
        found.dtype == to.dtype
    )  # fmt: skip
    if not fits or (callee.name.removeprefix("np.") in _NARROW and to.dtype == np.float16):
        run.refuse(
            f"`{callee.name}` gives {found.dtype}, which is not written into `out` of {to.dtype}",
            f"make `out` of {found.dtype}, or assign: `out[...] = ...`",
            TypingError,
        )
    run.write(out, lambda present: run.as_array(result, to.dtype))
    return out
