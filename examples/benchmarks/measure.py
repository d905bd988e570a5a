"""The measurement: one process an engine, asked in turn for blocks of steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .engines import VALUE_ALONE, find
from .machine import wait_for_quiet
from .pace import Pace
from .peers import Peer, WorkerError, interpreter
from .results import Measured, Row, rows_of
from .session import Block
from .worker import Plan
from .works import Work

# Threads of matrix libraries spin for a while after their last product: they would be in the way
# of the next engine.
PAUSE = 0.2


@dataclass(frozen=True)
class Settings:
    """``engines`` by name, in the order in which they take turns; ``pythons``: interpreters of
    those that need their own; ``rounds``: blocks of each engine; ``patience``: for how many seconds
    a block waits for other programs to leave the machine alone."""

    engines: Sequence[str]
    threads: int
    rounds: int
    patience: float = 0.0
    pythons: Mapping[str, str] = field(default_factory=dict)


class _Candidate:
    """An engine on its way to a row."""

    def __init__(self, work: str, peer: Peer) -> None:
        self.work = work
        self.name = peer.name
        self.peer = peer
        self.blocks: list[Block] = []
        self.ready: dict[str, Any] = {}
        self.memory: dict[str, Any] = {}
        self.dropped: Row | None = None

    def attempt(self, act: Callable[[], None]) -> None:
        """Does it, unless the engine has dropped out; drops it if its worker ends."""
        if self.dropped is not None:
            return
        try:
            act()
        except WorkerError as error:
            self.dropped = Row(self.work, self.name, "failed", reason=str(error))

    def start(self) -> None:
        self.ready = self.peer.answer()
        if "skipped" in self.ready:
            reason = self.ready["skipped"]
            self.dropped = Row(self.work, self.name, "skipped", reason=reason)

    def block(self, patience: float) -> None:
        time.sleep(PAUSE)
        wait_for_quiet(patience)
        self.blocks.append(Block.from_fields(self.peer.ask("block")))

    def weigh(self) -> None:
        self.memory = self.peer.ask("memory")

    def measured(self) -> Measured:
        return Measured(self.name, blocks=self.blocks, **self.ready, **self.memory)


def measure(
    work: Work, pace: Pace, inputs: Path, settings: Settings, say: Callable[[str], None]
) -> list[Row]:
    """A row for every engine, in the order of the settings; ``say`` is told of the progress."""
    names = [*settings.engines, *([VALUE_ALONE] if work.kind == "gradient" else [])]
    with ExitStack() as stack:
        candidates = []
        for name in names:
            say(f"{work.name}: {name} compiles")
            entry = find(name)
            assert entry is not None, name
            plan = Plan(
                entry.module,
                entry.variant,
                entry.distribution,
                work.name,
                work.kind,
                str(inputs),
                pace,
                settings.threads,
            )
            python = interpreter(name, settings.pythons)
            peer = stack.enter_context(Peer(name, plan, python, inputs.parent))
            candidate = _Candidate(work.name, peer)
            candidate.attempt(candidate.start)
            candidates.append(candidate)
        for number in range(1, settings.rounds + 1):
            say(f"{work.name}: round {number} of {settings.rounds}")
            for candidate in candidates:
                candidate.attempt(partial(candidate.block, settings.patience))
        for candidate in candidates:
            candidate.attempt(candidate.weigh)
    compared = rows_of(work.name, [c.measured() for c in candidates if c.dropped is None])
    by_name = {row.engine: row for row in compared}
    return [c.dropped or by_name[c.name] for c in candidates]
