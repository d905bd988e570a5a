"""Messages for users who wait for a long compilation."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from stcompile.base.extras import MissingExtraError, require

PATIENCE = 2.0  # seconds after which something is said
_UNDER_WAY: ContextVar[bool] = ContextVar("under_way", default=False)


@contextmanager
def shown_if_long(text: str) -> Iterator[None]:
    """Say on standard error what is under way, if the block takes longer than two seconds, and how
    long it took. On a terminal the seconds are counted, if tqdm is installed. Of nested blocks only
    the outermost reports."""
    if _UNDER_WAY.get():
        yield
        return
    token, start, done = _UNDER_WAY.set(True), time.perf_counter(), threading.Event()
    thread = threading.Thread(target=_wait, args=(text, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        _UNDER_WAY.reset(token)
        done.set()
        seconds = time.perf_counter() - start
        if seconds > PATIENCE:
            thread.join(1.0)
            print(f"stcompile: {text}: {seconds:.1f} s", file=sys.stderr)


def _wait(text: str, done: threading.Event) -> None:
    """Show that a block is under way, from two seconds after its start to its end."""
    if done.wait(PATIENCE):
        return
    try:
        is_terminal = sys.stderr.isatty()
        bars = require("tqdm", "train", "counting seconds") if is_terminal else None
    except MissingExtraError:
        bars = None
    if bars is None:
        print(f"stcompile: {text} …", file=sys.stderr)
        return
    with bars.tqdm(desc=f"stcompile: {text}", bar_format="{desc} … {elapsed}", leave=False) as bar:
        while not done.wait(1.0):
            bar.refresh()
