"""Workers, seen from the process that asks them in turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from .machine import limit_threads
from .worker import Plan

ROOT = Path(__file__).resolve().parents[2]


class WorkerError(Exception):
    """A worker that failed: its error, or the last line that it wrote before it ended."""


class Peer:
    """A worker process: a context that ends it."""

    def __init__(self, name: str, plan: Plan, python: str, scratch: Path) -> None:
        self.name = name
        self.log = scratch / f"{plan.work}-{name}.log"
        self._log: IO[str] = open(self.log, "w", encoding="utf-8")  # noqa: SIM115 - see __exit__
        self._process = subprocess.Popen(
            [python, "-m", f"{__package__}.worker", plan.to_json()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment(os.environ, plan.threads, scratch),
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def answer(self) -> dict[str, Any]:
        """The next line that the worker says."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise WorkerError(answer["failed"])
        return answer

    def ask(self, request: str) -> dict[str, Any]:
        """The answer to ``block`` or ``memory``."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{request}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise WorkerError(self._last_words()) from None
        return self.answer()

    def _last_words(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        spoken = [line for line in lines if line.strip()]
        return spoken[-1] if spoken else f"it ended with status {self._process.wait()}"


def environment(base: Mapping[str, str], threads: int, scratch: Path) -> dict[str, str]:
    """The environment of this process, with the project on the path, and with empty caches."""
    environment = limit_threads(dict(base), threads)
    path = [str(ROOT), *filter(None, [base.get("PYTHONPATH")])]
    return environment | {
        "PYTHONPATH": os.pathsep.join(path),
        "STCOMPILE_CACHE": "0",
        "TORCHINDUCTOR_CACHE_DIR": str(scratch / "inductor"),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def interpreter(engine: str, chosen: Mapping[str, str]) -> str:
    """The Python that runs an engine: the interpreter chosen for it, or the present one."""
    return chosen.get(engine, sys.executable)
