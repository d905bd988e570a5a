"""``python -m examples.benchmarks.loops``."""

from __future__ import annotations

from .command import main

if __name__ == "__main__":
    raise SystemExit(main())
