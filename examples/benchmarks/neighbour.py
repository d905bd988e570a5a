"""A process that computes beside what is measured, as other programs of a user do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# It ends with its parent, however that ends.
PROGRAM = """
import os, sys
parent = int(sys.argv[1])
while os.getppid() == parent:
    sum(range(1_000_000))
"""


@contextmanager
def busy_neighbour(wanted: bool) -> Iterator[None]:
    """Keep a processor busy during the block, if that is wanted."""
    if not wanted:
        yield
        return
    neighbour = subprocess.Popen([sys.executable, "-c", PROGRAM, str(os.getpid())])
    try:
        yield
    finally:
        neighbour.kill()
        neighbour.wait()
