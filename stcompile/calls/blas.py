"""SciPy's BLAS without the rest of SciPy.

Generated code says ``from scipy.linalg.blas import sgemm``. That module has the functions from an
extension module, and importing it imports all of `scipy.linalg`, which takes longer than to compile
a function. So the extension module is imported alone where that works.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import sys
import types
from collections.abc import Mapping
from importlib import import_module
from typing import Any

_MODULE, _EXTENSION = "scipy.linalg.blas", "scipy.linalg._fblas"
_IMPORT = re.compile(rf"^from {re.escape(_MODULE)} import ([\w, ]+)$", re.MULTILINE)


def without_blas(source: str) -> tuple[str, Mapping[str, Any]]:
    """Replace the imports of BLAS in a text by empty lines; return the text and the functions that
    would be imported."""
    wanted = [name.strip() for line in _IMPORT.findall(source) for name in line.split(",")]
    if not wanted:
        return source, {}
    blas = _blas()
    return _IMPORT.sub("", source), {name: getattr(blas, name) for name in wanted}


def _blas() -> types.ModuleType:
    for name in (_MODULE, _EXTENSION):
        if name in sys.modules:
            return sys.modules[name]
    if sys.platform != "win32":  # there SciPy prepares the loading of its libraries itself
        try:
            return _extension()
        except (ImportError, OSError):
            pass
    return import_module(_MODULE)


def _extension() -> types.ModuleType:
    """Import the extension module under the name that a later import of `scipy.linalg` uses."""
    package = importlib.util.find_spec("scipy")
    if package is None or package.origin is None:
        raise ImportError("SciPy is not installed")
    folder = os.path.join(os.path.dirname(package.origin), "linalg")
    spec = importlib.machinery.PathFinder.find_spec(_EXTENSION, [folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"{_EXTENSION} is not in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_EXTENSION] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[_EXTENSION]
        raise
    return module
