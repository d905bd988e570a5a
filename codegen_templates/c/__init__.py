"""Parts of C as files: `functions.c`, `fourier.c` and `lapack.c` have functions that are printed
where they are called, `python.c` has what a kernel needs that Python calls, `differ.c` and
`differ_exactly.c` compare in self-tests, and the others have macros."""

from __future__ import annotations

from importlib import resources


def text(name: str) -> str:
    """The text of a file."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
