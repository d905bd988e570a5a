"""A Jupyter kernel that runs cells, as a notebook has them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.manager import KernelManager

from tests.docs.pages import ROOT

PATIENCE = 120.0  # seconds for one cell
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Ran:
    """What a cell printed, the text of its last expression, and the exception that ended it: its
    class, its message and the traceback that the notebook shows; ``html`` is what the notebook
    shows in place of that text."""

    printed: str
    shown: str
    error: str = ""
    message: str = ""
    traceback: str = ""
    html: str = ""

    @property
    def text(self) -> str:
        """All that was printed, and the exception as the pages show it."""
        return f"{self.printed}{self.error}\n{self.message}" if self.error else self.printed


class Kernel:
    """A running kernel."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def run(self, cell: str) -> Ran:
        """Run a cell, whatever comes of it."""
        request = self.client.execute(cell)
        until = time.monotonic() + PATIENCE
        printed, shown, html, failed = [], "", "", {"ename": "", "evalue": "", "traceback": []}
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=max(until - time.monotonic(), 0.1))
            except Empty:
                raise AssertionError(f"the kernel does not answer:\n{cell}") from None
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                printed.append(content["text"])
            elif kind in ("execute_result", "display_data"):
                shown = content["data"].get("text/plain", "")
                html = content["data"].get("text/html", "")
            elif kind == "error":
                failed = content
            elif kind == "status" and content["execution_state"] == "idle":
                break
        traceback = _COLOUR.sub("", "\n".join(failed["traceback"]))
        return Ran("".join(printed), shown, failed["ename"], failed["evalue"], traceback, html)

    def ok(self, cell: str) -> Ran:
        """Run a cell that has to end well."""
        ran = self.run(cell)
        assert not ran.error, f"{cell}\n{ran.traceback}"
        return ran


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """A new kernel that runs in a folder."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    manager = KernelManager(kernel_name="python3")
    environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    manager.start_kernel(cwd=str(folder), env=environment)
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=PATIENCE)
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
