"""Facts about this installation that a compiled function depends on."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Iterator

import numpy as np

import stcompile.codegen_templates as templates
from stcompile.base.location import HERE


def versions() -> tuple[object, ...]:
    """The versions of Python and NumPy, and the files of stcompile, in this process."""
    python = sys.implementation.cache_tag, sys.version
    return *python, sys.flags.optimize, str(np.__version__), _sources()


@functools.cache
def scipy_state() -> tuple[object, ...]:
    """A key of the installed SciPy. Importing it would take longer than everything else."""
    spec = importlib.util.find_spec("scipy")
    if spec is None or spec.origin is None:
        return ("none",)
    state = os.stat(os.path.join(os.path.dirname(spec.origin), "version.py"))
    return spec.origin, state.st_size, state.st_mtime_ns


@functools.cache
def _sources() -> tuple[object, ...]:
    """The files of the package with their sizes and times of change. A package under development
    changes without getting another version."""
    folders = HERE, os.path.dirname(str(templates.__file__))
    return tuple(found for folder in folders for found in sorted(_states(folder)))


def _states(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".c")):
                state = entry.stat()
                yield entry.path, state.st_size, state.st_mtime_ns
            elif entry.is_dir() and not entry.name.startswith((".", "__")):
                yield from _states(entry.path)
