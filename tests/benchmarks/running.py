"""The benchmark as a program: its exit status, and the JSON that it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def benchmark(*arguments: str | Path, modules: Path | None = None) -> tuple[int, str]:
    """Runs ``python -m examples.benchmarks --quick``; returns its exit status and all output.

    ``modules`` is a folder with engines that are named by ``--engines``.
    """
    path = [str(ROOT), *filter(None, [modules and str(modules), os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "examples.benchmarks", "--quick", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout


def rows_in(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of a JSON file, by work and engine."""
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return {(row["work"], row["engine"]): row for row in rows}
