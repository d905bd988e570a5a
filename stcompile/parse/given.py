"""The text of a program that is in no file: given by ``python -c``, or on standard input.

Python compiles it under the name ``<string>`` or ``<stdin>`` and, before version 3.13, keeps no
text. The command line is still there (`sys.orig_argv`), and so is a file that standard input was
redirected from; what came through a pipe is gone. A text that is found is registered with
`linecache` under a name of its own, for messages to show its lines: other code that has no file,
such as that of `exec`, is called ``<string>`` as well.
"""

from __future__ import annotations

import os
import stat
import sys
import textwrap
from collections.abc import Iterator, Sequence

from stcompile.base.location import register_text

COMMAND, INPUT = "<string>", "<stdin>"  # what Python calls these programs
_TITLES = {COMMAND: "python -c", INPUT: "standard input"}


def given_texts(file: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names and the lines of the texts that code of this file name may be from."""
    text = _command(getattr(sys, "orig_argv", [])[1:]) if file == COMMAND else _redirected()
    if text:
        yield registered(file, tuple(f"{line}\n" for line in text.split("\n")))


def registered(file: str, lines: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The lines of what Python compiled under this name, with the name that they are found by."""
    title = _TITLES.get(file, "")
    name = f"<{title}>" if title else file
    register_text(name, lines, title or name)
    return name, lines


def _command(words: Sequence[str]) -> str:
    """The text after ``-c`` among the words of a command line; empty if there is none.

    >>> _command(["-W", "error", "-Ic", "x = 1", "-c"]), _command(["model.py", "-c", "x = 1"])
    ('x = 1', '')
    """
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":  # a file, or standard input
            return ""
        if word.startswith("--"):
            if word == "--check-hash-based-pycs":
                next(rest, "")
            continue
        letters = word[1:]
        option = next((letter for letter in letters if letter in "cmWX"), "")
        if option:
            text = letters.partition(option)[2] or next(rest, "")
        if option == "c":
            return textwrap.dedent(text) if sys.version_info >= (3, 14) else text
        if option == "m":
            return ""
    return ""


def _redirected() -> str:
    """The text of a file that standard input was redirected from; empty if it is none."""
    try:
        if not stat.S_ISREG(os.fstat(0).st_mode):
            return ""
        return os.pread(0, os.fstat(0).st_size, 0).decode()
    except (AttributeError, OSError, UnicodeDecodeError):  # Windows has no `pread`
        return ""
