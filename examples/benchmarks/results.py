"""Measured results: a row for every engine on every work, and whether they agree."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from .engines import VALUE_ALONE, find
from .session import Block

TOLERANCE = 1e-3  # of losses and gradients, relative to the larger of 1 and the reference


@dataclass(frozen=True)
class Measured:
    """An engine on a work, as its worker told it; times in seconds, memory in bytes."""

    engine: str
    first_call: float
    version: str
    blocks: Sequence[Block]
    memory_growth: int | None = None
    allocated: int | None = None

    @property
    def median(self) -> float:
        return statistics.median(s for block in self.blocks for s in block.seconds)

    @property
    def mean(self) -> float:
        return statistics.fmean(s for block in self.blocks for s in block.seconds)


@dataclass(frozen=True)
class Row:
    """A line of the table, and of the JSON.

    ``status`` is ``measured``, ``skipped`` or ``failed``, the last two with a ``reason``. Times are
    microseconds a step, ``first_call_ms`` milliseconds. ``ratio`` is the median divided by that of
    the fastest peer; ``gradient_cost`` the median divided by that of the value alone.
    ``other_processors`` is the mean over the blocks. ``mismatch`` says what differs from whom.
    """

    work: str
    engine: str
    status: Literal["measured", "skipped", "failed"]
    reason: str | None = None
    version: str | None = None
    median_us: float | None = None
    minimum_us: float | None = None
    block_medians_us: list[float] = field(default_factory=list)
    ratio: float | None = None
    gradient_cost: float | None = None
    first_call_ms: float | None = None
    allocated_bytes: int | None = None
    memory_growth_bytes: int | None = None
    loss: float | None = None
    losses: list[float | None] = field(default_factory=list)
    gradient_norm: float | None = None
    other_processors: float | None = None
    mismatch: str | None = None
    mean_us: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def wrong(self) -> bool:
        """The engine failed, or does not agree with the others."""
        return self.status == "failed" or self.mismatch is not None


def rows_of(work: str, measured: Sequence[Measured]) -> list[Row]:
    """A row each, compared with one another.

    The reference of losses and gradients is the first peer, or the first engine if there is none.
    """
    peers = [m for m in measured if _is_peer(m.engine)]
    fastest = min((m.median for m in peers), default=None)
    values = [m.median for m in measured if m.engine == VALUE_ALONE]
    value_alone = values[0] if values else None
    reference = (peers or [m for m in measured if m.engine != VALUE_ALONE] or measured)[:1]
    rows = []
    for one in measured:
        row = _row(work, one)
        row = replace(
            row,
            ratio=one.median / fastest if fastest and one.engine != VALUE_ALONE else None,
            gradient_cost=one.median / value_alone if value_alone else None,
            mismatch=mismatch(one, reference[0]),
        )
        rows.append(row)
    return rows


def _is_peer(engine: str) -> bool:
    entry = find(engine)
    return entry is not None and entry.peer


def _row(work: str, measured: Measured) -> Row:
    blocks = measured.blocks
    others = [block.others for block in blocks if block.others is not None]
    gradient = blocks[-1].gradient
    losses = [_finite(block.loss) for block in blocks]
    return Row(
        work,
        measured.engine,
        "measured",
        version=measured.version,
        median_us=1e6 * measured.median,
        minimum_us=1e6 * min(s for block in blocks for s in block.seconds),
        block_medians_us=[1e6 * statistics.median(block.seconds) for block in blocks],
        first_call_ms=1e3 * measured.first_call,
        allocated_bytes=measured.allocated,
        memory_growth_bytes=measured.memory_growth,
        loss=losses[-1],
        losses=losses,
        gradient_norm=None if gradient is None else _finite(gradient.norm),
        other_processors=statistics.fmean(others) if others else None,
        mean_us=1e6 * measured.mean,
    )


def _finite(number: float) -> float | None:
    """``None`` for what JSON has no word for."""
    return number if math.isfinite(number) else None


def mismatch(one: Measured, reference: Measured) -> str | None:
    """The first block in which loss or gradient differ by more than the tolerance, in words.

    Losses may differ by the tolerance times the larger of 1 and the reference's, norms and products
    of gradients (`examples.benchmarks.session.Gradient`) by the tolerance times the reference's
    norm.
    """
    for number, (ours, theirs) in enumerate(zip(one.blocks, reference.blocks, strict=True), 1):
        pairs = {"loss": (ours.loss, theirs.loss, max(1.0, abs(theirs.loss)))}
        if ours.gradient is not None and theirs.gradient is not None:
            a, b = ours.gradient, theirs.gradient
            pairs["norm of the gradient"] = a.norm, b.norm, b.norm
            pairs["product of the gradient"] = a.product, b.product, b.norm
        for quantity, (our, their, scale) in pairs.items():
            if not abs(our - their) <= TOLERANCE * scale:
                return (
                    f"{quantity} {our:.6g} in block {number}, {their:.6g} with {reference.engine}"
                )
    return None
