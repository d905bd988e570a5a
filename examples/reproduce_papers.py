"""Train every network of the papers with several tools, and write a report.

The same as ``python -m examples.papers``, from any folder; ``--help`` shows the flags.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    runpy.run_module("examples.papers", run_name="__main__", alter_sys=True)
