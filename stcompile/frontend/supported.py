"""Count the supported functions: ``python -m stcompile.frontend.supported``.

A function counts once, under the name that NumPy prints for it. Other names of it do not count, nor
do functions of other modules that mean the same (`numpy.linalg.trace`), operators and methods
(``+`` is `numpy.add`), or functions of static values, which run at compile time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.frontend.callables import name_of
from stcompile.frontend.functions import FUNCTIONS
from stcompile.frontend.functions.creation import SUBSCRIPTED
from stcompile.frontend.functions.polynomial import POLYNOMIAL
from stcompile.frontend.functions.random import GENERATOR, RANDOM
from stcompile.frontend.functions.scipy import SCIPY

# Second names of functions for which NumPy has an object of its own.
_SECOND_NAMES = frozenset({"amax", "amin", "around", "fix"})
_OF_LINALG_TOO = frozenset(
    {"cross", "trace", "diagonal", "outer", "matmul", "tensordot", "matrix_transpose"}
)
_OF_NUMPY_TOO = frozenset({"round", "sum", "max", "min", "any", "all", "abs", "pow"})


def canonical() -> Mapping[str, tuple[str, ...]]:
    """The names of all supported functions, each once, by the module they come from.

    >>> len(canonical()["numpy"]) + len(canonical()["numpy.linalg"]) >= 250
    True
    """
    found: dict[str, set[str]] = {"numpy": set(), "numpy.linalg": set(), "numpy.fft": set()}
    found["numpy.random"] = {*GENERATOR, *(function.__name__ for function in RANDOM)}
    series = ((module, name) for module, names in POLYNOMIAL.items() for name in names)
    found["numpy.polynomial"] = {f"{module}.{name}" for module, name in series if "." not in name}
    found |= {module: set(names) for module, names in SCIPY.items()}
    found |= {"math": set(), "builtins": set()}
    found["numpy"] |= {f"np.{name}" for name in makers()}
    for function in FUNCTIONS.keys() - SUBSCRIPTED.keys():
        name, module = getattr(function, "__name__", ""), _module(function)
        if getattr(function, "__qualname__", name) != name:
            continue  # a method
        if module == "numpy" and function not in RANDOM and name not in _SECOND_NAMES:
            found["numpy"].add(name_of(function))
        elif module == "numpy.linalg" and name not in _OF_LINALG_TOO:
            found["numpy.linalg"].add(name_of(function))
        elif module == "numpy.fft":
            found["numpy.fft"].add(name_of(function))
        elif module == "math" and getattr(math, name, None) is function:
            found["math"].add(f"math.{name}")
        elif module == "builtins" and name not in _OF_NUMPY_TOO:
            found["builtins"].add(name)
    return MappingProxyType({title: tuple(sorted(names)) for title, names in found.items()})


def makers() -> tuple[str, ...]:
    """The objects of NumPy that make arrays or subscripts by being subscripted, such as `np.r_`."""
    names = (name for name in vars(np) if not name.startswith("_"))
    made_by = {name: getattr(type(getattr(np, name)), "__getitem__", None) for name in names}
    return tuple(sorted(name for name, method in made_by.items() if method in SUBSCRIPTED))


def _module(function: Any) -> str:
    if isinstance(function, np.ufunc):
        return "numpy"
    module = str(getattr(function, "__module__", "") or "")
    if module.startswith("numpy."):
        parts = ".".join(module.split(".")[:2])
        return parts if parts in ("numpy.linalg", "numpy.fft") else "numpy"
    return module


def summary() -> str:
    """The counts, each on a line, and their sum."""
    names = canonical()
    width = max(map(len, names))
    lines = [f"{title:{width}}  {len(of)}" for title, of in names.items()]
    return "\n".join([*lines, f"{'all':{width}}  {sum(map(len, names.values()))}"])


if __name__ == "__main__":
    print(summary())
