"""Kinds of callables, and their names."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

from stcompile.base.classes import is_changeable, is_written_elsewhere

LIBRARIES = (
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "functools",
    "heapq",
    "importlib",
    "inspect",
    "logging",
    "narwhals",
    "numba",
    "numpy",
    "scipy",
    "tqdm",
    "sklearn.utils.validation",
    "stcompile.codegen_templates.derivatives.axes",
    "stcompile.codegen_templates.numpy",
    "stcompile.frontend",
    "stcompile.library",
    "warnings",
    "_py_warnings",
)
"""Beginnings of the names of modules whose Python functions the tables name."""
_RULES = "stcompile.codegen_templates.derivatives."


def is_instance(function: Any) -> bool:
    """True for an object of a class that is written in Python."""
    return is_changeable(type(function)) and not isinstance(function, type)


def may_be_known(function: Any) -> bool:
    """False for objects that cannot be in a table: those that are not hashable, and the user's
    functions."""
    if isinstance(function, types.FunctionType):
        return (function.__module__ or "").startswith(LIBRARIES)
    return callable(function) and type(function).__hash__ is not None


def is_of_numpy(function: Any) -> bool:
    """True for what a module of NumPy defines."""
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == "numpy"


def is_of_library(function: Any) -> bool:
    module = (getattr(function, "__module__", None) or "").split(".")[0]
    if isinstance(function, type) and is_written_elsewhere(function):
        return False
    if isinstance(function, np.ufunc) or module in ("numpy", "scipy", "math", "random"):
        return True
    return module == "builtins" and not isinstance(getattr(function, "__self__", None), type)


def is_helper(function: Any) -> bool:
    """True for helpers of the derivative rules: pure functions, which are simply called if their
    arguments are static."""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, types.FunctionType) and module.startswith(_RULES)


def name_of(function: Any) -> str:
    """``np.cumprod``, ``math.gamma``, ``helper``: a callable as users write it."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    owner = getattr(function, "__self__", function)
    module = (getattr(function, "__module__", None) or "").split(".")
    if module == [""] and owner is not function and not isinstance(owner, types.ModuleType):
        module = type(owner).__module__.split(".")  # as of `random.random`
    if str(type(owner).__module__).startswith("scipy.stats"):  # in C types it may be any text
        distribution = f"stats.{getattr(owner, 'name', type(owner).__name__)}"
        return distribution if owner is function else f"{distribution}.{function.__name__}"
    if function is getattr(sys.modules.get("scipy.special"), name or "", None):
        return f"special.{name}"
    if isinstance(function, np.ufunc) or module[0] == "numpy":
        if getattr(np, name or "", None) is function:
            return f"np.{name}"
        inner = [part for part in module[1:] if not part.startswith("_") and part != "lib"]
        return ".".join(["np", *inner, name or type(function).__name__])
    name = str(name or type(function).__name__)
    of_user = isinstance(function, types.FunctionType) and not is_of_library(function)
    if module[0] in ("", "builtins", "__main__") or of_user:
        return name
    public = [part for part in module if not part.startswith("_")]
    short = name.rpartition(".")[2]  # as a method of a hidden object: `random.uniform`
    if getattr(sys.modules.get(".".join(public)), short, None) == function:
        name = short
    return ".".join([*public, name])
