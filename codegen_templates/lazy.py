"""Modules of SciPy and mpi4py for templates and rules, imported when an attribute is used.

Only functions that use the modules themselves need them.

>>> special.__name__
'scipy.special'
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for a module that is imported when an attribute of it is first read."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # tools look for such names in every module
            raise AttributeError(name)
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value


special: Any = LazyModule("scipy.special")
linalg: Any = LazyModule("scipy.linalg")
optimize: Any = LazyModule("scipy.optimize")
ndimage: Any = LazyModule("scipy.ndimage")
interpolate: Any = LazyModule("scipy.interpolate")
spatial: Any = LazyModule("scipy.spatial")
signal: Any = LazyModule("scipy.signal")
stats: Any = LazyModule("scipy.stats")
MPI: Any = LazyModule("mpi4py.MPI")
