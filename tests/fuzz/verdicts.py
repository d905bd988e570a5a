"""Verdicts on random programs: what is right, refused, wrong or crashed, and how it is told."""

from __future__ import annotations

import linecache
import os
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.location import Location
from tests.uninitialised import spoilt_memory

REFUSALS = (st.LanguageError, st.TypingError, st.DerivativeError)
UNDER_NUMBA = bool(os.environ.get("FUZZ_NUMBA"))


@contextmanager
def interpreted() -> Iterator[None]:
    """Kernels run as plain Python, unless the environment has ``FUZZ_NUMBA``: compiling them takes
    a second or more for each program."""
    config = import_module("numba").config
    before, config.DISABLE_JIT = config.DISABLE_JIT, not UNDER_NUMBA
    try:
        yield
    finally:
        config.DISABLE_JIT = before


@dataclass(frozen=True)
class Verdict:
    """``kind`` is right, refused, wrong, crashed or not judged; ``about`` is the same for findings
    of one sort."""

    kind: str
    about: str = ""
    details: str = ""
    differences: int = 0  # slopes that were compared with differences
    kinks: int = 0  # and that could not be


class Mismatch(Exception):
    """What is wrong, in two texts: of which sort, and the details."""


def _shows(place: Location | None, file: str) -> bool:
    """True if a refusal points into the program, or at a helper that the program calls."""
    while place is not None and place.file != file:
        place = place.caller
    return place is not None


def verdict_of(
    function: Callable[..., Any],
    examine: Callable[[], tuple[int, int]],
    *judges: Callable[..., Any],
) -> Verdict:
    """The verdict on a program by an examination of it, which raises where it is wrong and counts
    the slopes that it compared, and those at kinks. A refusal points into the program, or at a
    function of the judge's that is compiled with it. New memory holds NaN meanwhile, unless Numba
    has to know the function that makes it."""
    memory = nullcontext() if UNDER_NUMBA else spoilt_memory()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), memory:
            warnings.simplefilter("ignore")
            counts = examine()
        return Verdict("right", "", "", *counts)
    except Mismatch as mismatch:
        about, details = mismatch.args
        return Verdict("wrong", about, details)
    except REFUSALS as error:
        files = [one.__code__.co_filename for one in (function, *judges)]
        if not any(_shows(error.location, file) for file in files):
            return Verdict("wrong", "a refusal without the user's line", str(error))
        return Verdict("refused", general(error.reason.split("\n")[0]), str(error))
    except st.ExportError as error:
        return Verdict("refused", general(error.reason), str(error))
    except Exception as error:
        first = error.__cause__ or error  # of an internal error what was raised inside
        frames = traceback.extract_tb(first.__traceback__)[-3:]
        about = f"{type(error).__name__}: {general(str(first))}"
        if first is not error:
            about = f"{type(error).__name__}, {type(first).__name__} in {frames[-1].name}"
        return Verdict("crashed", about, f"{first!r}\n{''.join(traceback.format_list(frames))}")
    finally:
        linecache.cache.pop(function.__code__.co_filename, None)


def general(text: str) -> str:
    """A message without the names, numbers and shapes of its program."""
    text = re.sub(r"[`'\"][^`'\"]*[`'\"]", "…", text.split("\n")[-1])
    text = re.sub(r"\([^()]*\)", "(…)", text)
    text = re.sub(r"\b[a-z]+\d*\[[^\]]*\]", "…", text)
    return re.sub(r"-?\d+(\.\d+)?", "N", re.sub(r"\b[a-z]\d+\b", "…", text))


def close(found: Any, expected: Any, tolerance: float) -> bool:
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    return bool(np.allclose(found, expected, rtol=tolerance, atol=tolerance * scale))
