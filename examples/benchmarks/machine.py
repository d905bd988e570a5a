"""The machine, and the load of other programs on it."""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# Variables that pin a matrix kernel or its block sizes: a user's machine has none of them.
PINNED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
# /proc/stat counts in ticks of 10 ms: over less than ten of them it says little.
SHORTEST = 0.1
QUIET = 0.25  # processors

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def limit_threads(environment: dict[str, str], threads: int) -> dict[str, str]:
    """The environment with that number of threads for every library, and nothing pinned."""
    kept = {name: value for name, value in environment.items() if name not in PINNED}
    return kept | dict.fromkeys(THREADS, str(threads))


def limit_processors(number: int) -> None:
    """Keeps this process on ``number`` processors: a limit that no thread pool gets round."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:number])


def describe() -> dict[str, str | int | None]:
    """Kind of machine: processors, model, system, version of Python."""
    return {
        "processors": os.cpu_count(),
        "model": _model(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor()


@dataclass(frozen=True)
class Usage:
    """A reading of clocks: wall time, this process's time and that of all, in seconds."""

    wall: float
    own: float
    all: float | None

    @classmethod
    def now(cls) -> Usage:
        return cls(time.perf_counter(), time.process_time(), _busy_seconds())

    def others_since(self, start: Usage) -> float | None:
        """The number of processors that other programs kept busy since ``start``.

        ``None`` if ``start`` was less than `SHORTEST` ago, or the system has no /proc/stat.
        """
        elapsed = self.wall - start.wall
        if self.all is None or start.all is None or elapsed < SHORTEST:
            return None
        return max(0.0, (self.all - start.all - (self.own - start.own)) / elapsed)


def wait_for_quiet(limit: float) -> None:
    """Returns once the machine is all but idle, at the latest after ``limit`` seconds."""
    end = time.perf_counter() + limit
    while time.perf_counter() < end:
        start = Usage.now()
        time.sleep(SHORTEST)
        busy = Usage.now().others_since(start)
        if busy is None or busy < QUIET:
            return


def _busy_seconds() -> float | None:
    """Time that all processors together were not idle, since the machine started."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            # user nice system idle iowait irq softirq steal (proc(5))
            ticks = [int(field) for field in file.readline().split()[1:9]]
    except OSError:
        return None
    return float(sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def reset_peak_memory() -> None:
    """Forgets the peak of this process's resident memory so far (proc(5), clear_refs)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory() -> int | None:
    """The peak of this process's resident memory in bytes, ``None`` without /proc/self."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return sizes[0] if sizes else None
