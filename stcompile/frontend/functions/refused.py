"""Functions of NumPy that are not compiled, with what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_OUTSIDE = "call it outside of the function, and pass what it gives in"
_TEXT = "write an f-string, as in f'{x:.3f}', or return the value and show it outside"
_ARRAYS = "use arrays: of two dimensions, and @ for products"
_HINTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        _OUTSIDE: (
            *("load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "fromstring", "frombuffer"),
            *("from_dlpack", "memmap", "busday_count", "busday_offset", "busdaycalendar"),
            *("is_busday", "datetime_as_string", "datetime_data", "isnat", "trim_zeros"),
            *("packbits", "unpackbits", "einsum_path"),
        ),
        "return the arrays, and write them to files outside of the function": (
            *("save", "savetxt", "savez", "savez_compressed"),
        ),
        _TEXT: (
            *("array2string", "array_repr", "array_str"),
            *("format_float_positional", "format_float_scientific"),
        ),
        "set it before the function is called; in the function, write `with np.errstate(...)`": (
            *("seterr", "seterrcall", "setbufsize", "geterr", "geterrcall", "getbufsize"),
            *("set_printoptions", "get_printoptions", "printoptions"),
        ),
        _ARRAYS: ("matrix", "asmatrix", "bmat"),
        "use one array for each field": ("recarray",),
        "iterate over np.ndenumerate(x), np.ndindex(x.shape) or x.flat": (
            *("nditer", "nested_iters", "flatiter"),
        ),
        "write np.vectorize(f), or a list comprehension": ("frompyfunc",),
        "write np.unique(x, return_index=..., return_inverse=..., return_counts=...)": (
            *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
        ),
        "weigh np.histogram along one axis, or add to an array: np.add.at(counts, (i, j), 1)": (
            *("histogram2d", "histogramdd"),
        ),
        "what shares storage is known where the program is written: make a copy, if in doubt": (
            *("may_share_memory", "shares_memory"),
        ),
        "ask outside of the function": (
            *("get_include", "info", "show_config", "show_runtime", "test", "ufunc"),
        ),
    }
)

REFUSED: Mapping[str, str] = MappingProxyType(
    {name: hint for hint, names in _HINTS.items() for name in names}
)
"""Hints, by the names of NumPy's functions."""


_OF_PYTHON: Mapping[str, str] = MappingProxyType(
    {
        "globals": "write the name itself, or look it up in a dict of your own",
        "id": "compare objects by `is`, or give them names of your own",
        "input": _OUTSIDE,
        "open": _OUTSIDE,
        "__import__": "write an import statement, or importlib.import_module(name)",
    }
)


def hint_for(function: Any, usual: str) -> str:
    """The hint of a refused function: ``usual``, if none is its own."""
    module = str(getattr(function, "__module__", None) or "").partition(".")[0]
    known = {"numpy": REFUSED, "builtins": _OF_PYTHON}.get(module, {})
    return known.get(getattr(function, "__name__", ""), usual)
