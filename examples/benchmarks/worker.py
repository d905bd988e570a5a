"""The process of one engine: ``python -m examples.benchmarks.worker PLAN``.

It speaks JSON, a line for a line: it says when it is ready, then answers ``block`` and ``memory``
until its input ends. Output of a tool goes to the standard error.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import json
import os
import sys
import textwrap
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from .engines.base import Engine, UnsupportedError
from .inputs import Inputs
from .machine import limit_processors, peak_memory, reset_peak_memory
from .pace import Kind, Pace
from .session import Evaluation, Session, Training, allocated_bytes


@dataclass(frozen=True)
class Plan:
    """The task of a worker: an engine, a work, the place of its inputs, the number of threads."""

    module: str
    variant: str
    distribution: str
    work: str
    kind: Kind
    folder: str
    pace: Pace
    threads: int

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Plan:
        fields = json.loads(text)
        return cls(**fields | {"pace": Pace(**fields["pace"])})


@dataclass(frozen=True)
class Ready:
    """An engine that has done its first steps.

    ``first_call`` are the seconds that building and the first step took, imports excluded.
    ``level`` is the peak of resident memory before that.
    """

    session: Session
    engine: Engine
    first_call: float
    version: str
    level: int | None

    @classmethod
    def make(cls, plan: Plan) -> Ready:
        """Imports the tool, builds the work, and warms it up."""
        engine: Engine = importlib.import_module(plan.module).engine(plan.variant, plan.threads)
        version = importlib.metadata.version(plan.distribution) if plan.distribution else ""
        inputs = Inputs.load(Path(plan.folder))
        gc.collect()
        reset_peak_memory()
        level = peak_memory()
        start = time.perf_counter()
        session: Session
        if plan.kind == "training":
            session = Training(engine.trainer(plan.work, inputs), inputs, plan.pace)
        else:
            session = Evaluation(engine.evaluator(plan.work, inputs), plan.pace)
        session.once()
        first_call = time.perf_counter() - start
        for _ in range(plan.pace.warmup):
            session.once()
        return cls(session, engine, first_call, version, level)

    def memory(self) -> dict[str, int | None]:
        """Growth of the peak of resident memory, and what a step allocates, in bytes."""
        peak = peak_memory()
        growth = None if peak is None or self.level is None else peak - self.level
        visible = self.engine.allocates_in_python
        return {
            "memory_growth": growth,
            "allocated": allocated_bytes(self.session) if visible else None,
        }


def serve(plan: Plan, requests: TextIO, answers: TextIO) -> None:
    """Answers until the requests end, or the engine cannot go on."""

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        ready = Ready.make(plan)
        say({"first_call": ready.first_call, "version": ready.version})
        for request in requests:
            if request.strip() == "block":
                say(asdict(ready.session.block()))
            else:
                say(ready.memory())
    except UnsupportedError as error:
        say({"skipped": str(error)})
    except ModuleNotFoundError as error:
        say({"skipped": f"{error.name} is not installed"})
    except Exception as error:
        traceback.print_exc()
        text = "".join(traceback.format_exception_only(error))
        say({"failed": textwrap.shorten(text, 200)})


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    plan = Plan.from_json(sys.argv[1])
    limit_processors(plan.threads)
    serve(plan, sys.stdin, answers)


if __name__ == "__main__":
    main()
