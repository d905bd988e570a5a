"""Functions of modules that only the user's program imports: SciPy's, Numba's, parts of NumPy. They
are looked up by name in the tables of these modules.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.foreign import library_of, written_as
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.functions.polynomial import POLYNOMIAL, SHARED
from stcompile.frontend.functions.scipy import SCIPY
from stcompile.frontend.functions.scipy_modules import HELPERS
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Partial, Scalar, class_of_number
from stcompile.library import iteration, validation

# --- Numba's own names in a function under `@njit`, as plain Python ------------------------------


_TYPES = ("float32", "float64", "complex64", "complex128", "bool_", "intp", "uintp") + tuple(
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
)


def _same(run: Run, x: Any) -> Any:
    """numba.literally and literal_unroll."""
    return x


def _range(run: Run, *bounds: Any) -> Any:
    """numba.prange."""
    return run.call(range, bounds, {})


def _block(run: Run, **types: Any) -> Any:
    """numba.objmode: a block of plain Python."""
    return run.call(contextlib.nullcontext, [], {})


def _jit(run: Run, signature_or_function: Any = None, **options: Any) -> Any:
    """numba.jit and njit of functions that the program defines. With a signature or options alone
    they return decorators."""
    function = written_as(signature_or_function)
    is_signature = function is None or isinstance(function, str | list | tuple)
    if is_signature or library_of(function) == "numba":
        return Partial(sys.modules["numba"].njit, (), {})
    return function


def _number(dtype: Any, run: Run, value: Any) -> Any:
    """The lowering of a type of Numba's, called with a number."""
    return run.call(dtype, [value], {})


NUMBA: Mapping[str, Lowering] = MappingProxyType(
    {
        "jit": _jit,
        "literal_unroll": _same,
        "literally": _same,
        "njit": _jit,
        "objmode": _block,
        "prange": _range,
        **{name: functools.partial(_number, getattr(np, name)) for name in _TYPES},
    }
)


# --- questions about the kind of a value, answered by an example; checks of arrays ---------------


_FRAMES = tuple(f"narwhals.{part}dependencies" for part in ("", "stable.v1.", "stable.v2."))
_KINDS = ("dataframe", "series", "lazyframe")
_NAMES = (
    *(f"is_{whose}_{kind}" for whose in ("into", "pandas", "polars") for kind in _KINDS),
    *("is_numpy_array", "is_pyarrow_table"),
)


def _asked(module: str, name: str, run: Run, value: Any) -> Any:
    """The lowering of a function that looks at the class of its argument alone."""
    example = value
    if isinstance(value, Array):
        example = np.empty((0,) * value.type.ndim, value.type.dtype)
    elif isinstance(value, Scalar):
        example = class_of_number(value)(0)
    return getattr(importlib.import_module(module), name)(example)


ASKED: Mapping[str, Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        **{
            module: {name: functools.partial(_asked, module, name) for name in _NAMES}
            for module in _FRAMES
        },
        "numpy.ma": {
            name: functools.partial(_asked, "numpy.ma", name)
            for name in ("isMaskedArray", "is_masked")
        },
        "sklearn.utils.validation": {
            "_assert_all_finite": inlined(validation.assert_all_finite),
        },
    }
)


Lowering = Callable[..., Any]


# --- the tables ----------------------------------------------------------------------------------


MODULES: Mapping[str, Mapping[str, Lowering]] = MappingProxyType(
    {
        **SCIPY,
        **POLYNOMIAL,
        "numba": NUMBA,
        "tqdm": {"tqdm": inlined(iteration.shown), "trange": inlined(iteration.shown_range)},
        "tqdm.auto": {"tqdm": inlined(iteration.shown), "trange": inlined(iteration.shown_range)},
        "stcompile.library.polynomial_series": SHARED,
        **HELPERS,
        **ASKED,
    }
)


def imported_lowering(function: Any) -> Lowering | None:
    """The lowering of a function of one of `MODULES`; None if it belongs to no module that is
    imported."""
    for module in MODULES:
        if module in sys.modules:
            found = _functions(module).get(function)
            if found is not None:
                return found
    return None


@functools.cache
def _functions(module: str) -> Mapping[Any, Lowering]:
    """The lowerings of those functions of a module that its installed version has."""
    found: dict[Any, Lowering] = {}
    for name, lowering in MODULES[module].items():
        try:
            function = operator.attrgetter(name)(importlib.import_module(module))
        except AttributeError:
            continue
        while isinstance(function, functools._lru_cache_wrapper):
            function = function.__wrapped__  # calls of it are calls of this one
        found[function] = lowering
    return found
