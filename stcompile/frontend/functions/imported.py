"""Functions of modules that only the user's program imports: SciPy's, Numba's, parts of NumPy. They
are looked up by name in the tables of these modules.
"""

from __future__ import annotations

import functools
import importlib
import operator
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from stcompile.frontend.functions.asked import ASKED
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.functions.numba import NUMBA
from stcompile.frontend.functions.polynomial import POLYNOMIAL, SHARED
from stcompile.frontend.functions.scipy import SCIPY
from stcompile.frontend.functions.scipy_modules import HELPERS
from stcompile.library import iteration

Lowering = Callable[..., Any]
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
