"""``stcompile supported``: count the supported functions."""

from __future__ import annotations


def supported() -> None:
    """Count what is supported.

    The functions of NumPy, SciPy and Python, by module.

    Examples:
      stcompile supported
    """
    from stcompile.frontend.supported import summary

    print(summary())
