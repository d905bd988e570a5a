"""Locks and forks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from stcompile.base.locks import Lock

PROGRAM = """
import os, threading
from stcompile.base.locks import Lock

lock, entered, leave = Lock(), threading.Event(), threading.Event()

def hold():
    with lock.held(), lock.held():  # one thread may take it twice
        entered.set()
        leave.wait()

thread = threading.Thread(target=hold)
thread.start()
entered.wait()
child = os.fork()
if child == 0:
    with lock.held():
        os._exit(7)
leave.set()
thread.join()
with lock.held():
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_it_is_free_in_the_child_of_a_fork() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.stdout == "7\n", found.stderr


def test_an_error_gives_it_back() -> None:
    lock = Lock()
    with pytest.raises(ValueError, match="inside"), lock.held():
        raise ValueError("inside")
    with lock.held():
        pass
