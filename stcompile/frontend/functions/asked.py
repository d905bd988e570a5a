"""Questions that libraries ask about the kind of a value: answered when a function is compiled, by
an example of its class. Checks that a library makes of arrays: written in `stcompile.library`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.frontend.functions.library import inlined
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar, class_of_number
from stcompile.library import validation

_FRAMES = tuple(f"narwhals.{part}dependencies" for part in ("", "stable.v1.", "stable.v2."))
_KINDS = ("dataframe", "series", "lazyframe")
_NAMES = (
    *(f"is_{whose}_{kind}" for whose in ("into", "pandas", "polars") for kind in _KINDS),
    *("is_numpy_array", "is_pyarrow_table"),
)


def _asked(module: str, name: str) -> Callable[..., Any]:
    """The lowering of a function that looks at the class of its argument alone."""

    def lowering(run: Run, value: Any) -> Any:
        example = value
        if isinstance(value, Array):
            example = np.empty((0,) * value.type.ndim, value.type.dtype)
        elif isinstance(value, Scalar):
            example = class_of_number(value)(0)
        return getattr(importlib.import_module(module), name)(example)

    return lowering


ASKED: Mapping[str, Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        **{module: {name: _asked(module, name) for name in _NAMES} for module in _FRAMES},
        "numpy.ma": {name: _asked("numpy.ma", name) for name in ("isMaskedArray", "is_masked")},
        "sklearn.utils.validation": {
            "_assert_all_finite": inlined(validation.assert_all_finite),
        },
    }
)
