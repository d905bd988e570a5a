"""Locations: where in the user's program an equation comes from.

A location is a chain of call sites, so that an error inside an inlined helper can show both the
helper's line and the line that called it.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # of the package
LIBRARY = (
    HERE,
    os.path.join(HERE, "transforms"),
    os.path.join(HERE, "nn"),
    os.path.join(HERE, "optim"),
    os.path.join(HERE, "library"),
)  # folders with functions that user programs call
PYTHON = os.path.dirname(os.__file__)  # `copy`, `statistics` and the like
PACKAGES = tuple(f"{os.sep}{name}-packages{os.sep}" for name in ("site", "dist"))
NUMPY = os.path.join(os.path.dirname(np.__file__), "")  # functions that it writes in Python
Section = Literal["forward", "tangent", "adjoint", "exchange", "update"]


@dataclass(frozen=True, repr=False)
class Location:
    """An expression of the user's program.

    ``line`` counts from 1, ``column`` and ``end_column`` from 0 (characters, not bytes).
    ``statement`` is the first line of the statement around it and ``text`` that line, stripped.
    ``note`` tells copies of an unrolled line apart (``"t = 1"``). ``caller`` is the call site that
    this code was inlined at. ``section`` names the part of a generated function that the equation
    belongs to. ``errstate`` are the settings of `numpy.errstate` that the code runs under:
    ``(("divide", "ignore"),)``. ``again`` is not 0 for equations that
    `stcompile.transforms.checkpoint` computes a second time.
    """

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""
    text: str = ""
    note: str = ""
    caller: Location | None = None
    section: Section = "forward"
    statement: int = 0
    errstate: tuple[tuple[str, str], ...] = ()
    again: int = 0

    def __repr__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"<{line_in(self.file, self.line)}{note}  {self.text}>"

    def in_section(self, section: Section) -> Location:
        return self if self.section == section else replace(self, section=section)

    @property
    def part(self) -> Section:
        """The part of the generated text: tangents stand beside the primal's lines."""
        return "forward" if self.section == "tangent" else self.section

    @property
    def is_derived(self) -> bool:
        """True for tangents and adjoints, the equations that the chain rule made."""
        return self.section in ("tangent", "adjoint")

    @property
    def shown(self) -> Location | None:
        """The nearest call site in the user's own files: for code of this package's library, the
        user's line that calls it."""
        here: Location | None = self
        while here is not None and here.is_inside:
            here = here.caller
        return here.in_section(self.section) if here is not None else None

    @property
    def is_own(self) -> bool:
        """True for code of this package's library."""
        return _folder(self.file) in LIBRARY

    @property
    def is_inside(self) -> bool:
        """True for code that no user wrote: of this package, of NumPy, and of Python's own
        modules."""
        return self.is_own or _folder(self.file) == PYTHON or self.is_numpys

    @property
    def is_installed(self) -> bool:
        """True for code of this package, of NumPy, of Python, and of packages beside them."""
        return self.is_inside or any(folder in self.file for folder in PACKAGES)

    @property
    def is_numpys(self) -> bool:
        """True for code of NumPy."""
        return self.file.startswith(NUMPY)


@functools.cache
def _folder(file: str) -> str:
    return os.path.dirname(file)


def register_text(name: str, lines: Sequence[str], title: str) -> None:
    """Let Python find the lines of a text that is in no file, and messages call it by a title.

    `linecache` keeps the title in the place of a path, which it does not look at for a text without
    a time of modification.
    """
    linecache.cache[name] = sum(map(len, lines)), None, list(lines), title


def title_of(file: str) -> str:
    """A file as messages name it: ``model.py``, or ``Cell In[3]`` for a cell of a notebook."""
    return _title(file) or os.path.basename(file)


def line_in(file: str, line: int) -> str:
    """A line as messages name it: ``model.py:14``, or ``Cell In[3], line 2``, as IPython has it."""
    title = _title(file)
    return f"{title}, line {line}" if title else f"{os.path.basename(file)}:{line}"


def _title(file: str) -> str:
    """The title of a text that is in no file; empty for other files."""
    if file.startswith("<"):
        match linecache.cache.get(file):
            case (_, None, _, str(title)) if title != file:
                return title
    return _cell(file)


def _cell(file: str) -> str:
    """The name that IPython gives the cell that it compiled as this file; empty for other files."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    found = shell.compile.format_code_name(file) if shell is not None else None
    return " ".join(found) if found else ""


NOWHERE = Location("<unknown>", 0)
