"""Functions in the workers of pools and after a fork, see `pools`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("pools.py")


@pytest.mark.slow
def test_in_a_process_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", CASES],
        cwd=CASES.parents[2],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr
