"""The training examples, as modules and as programs."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from stcompile_programs.train import sources

ROOT = Path(__file__).resolve().parents[2]


def path_of(name: str) -> Path:
    return ROOT / "examples" / f"{name}.py"


def load(name: str) -> ModuleType:
    return importlib.import_module(f"stcompile_programs.networks.{name}")


def run(name: str, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """An example as a user runs it, from another folder, with no data set but the one named."""
    environment = {k: v for k, v in os.environ.items() if k != sources.ENVIRONMENT}
    environment["PYTHONPATH"] = str(ROOT)
    return subprocess.run(
        [sys.executable, str(path_of(name)), *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
