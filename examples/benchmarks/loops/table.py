"""The table of the suite: a line for each program, a column for each thing that is found out."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..report import number
from .program import SIZES

Facts = Mapping[str, Any]
"""The known facts of a program, by the names that `examples.benchmarks.loops.worker` gives them."""


@dataclass(frozen=True)
class Column:
    """A heading, and the text below it for what is known of a program."""

    heading: str
    text: Callable[[Facts], str]


def columns(
    levels: Sequence[str], counted: bool, with_jax: bool, with_numba: bool = False
) -> list[Column]:
    """The columns; the other levels are compared with the first."""
    found = [Column("program", lambda facts: str(facts["program"])), _seconds("NumPy ms", "numpy")]
    for level in levels:
        found += [
            Column(f"{level}: compile s", partial(_compiled, level)),
            _seconds("value ms", f"{level} value"),
            _seconds("value + gradient ms", level),
            _mean("mean ms", level),
            _ratio("× NumPy", level, "numpy"),
            _ratio("× value", level, f"{level} value"),
        ]
    found += [Column(f"lines {size}", partial(_lines, size)) for size in SIZES]
    if with_jax:
        found += [_seconds("jax.jit ms", "jax"), _mean("mean ms", "jax")]
        found += [_ratio("jax × slower", "jax", levels[0])]
    if with_numba:
        found += [
            _seconds("Numba value ms", "numba value"),
            _ratio("compiled × Numba value", "compiled", "numba value"),
            _seconds("by hand ms", "hand-written"),
            _ratio("compiled × by hand", "compiled", "hand-written"),
        ]
    found.append(Column("error", partial(_error, levels)))
    if counted:
        found += [Column(f"counts {size}", partial(_counts, size)) for size in ("S", "4S")]
    return found


def cells(facts: Sequence[Facts], chosen: Sequence[Column]) -> list[list[str]]:
    """Headings, and a line of text for each program."""
    lines = [[column.text(one) for column in chosen] for one in facts]
    return [[column.heading for column in chosen], *lines]


def means(facts: Sequence[Facts], whole: Collection[str], level: str) -> Iterator[str]:
    """The mean ratio of JAX's time to that of a level, over two kinds of programs: programs of
    ``whole`` arrays, and programs with loops over numbers and parts; and the programs where the
    level is behind."""
    known = {one["program"]: _ratio_of(one, "jax", level) for one in facts}
    found = {name: ratio for name, ratio in known.items() if ratio is not None}
    for kind, is_whole in (("numbers and parts", False), ("whole arrays", True)):
        ratios = [ratio for name, ratio in found.items() if (name in whole) == is_whole]
        if ratios:
            mean, count = number(statistics.geometric_mean(ratios)), len(ratios)
            yield f"{level} against jax.jit, {count} programs of {kind}: geometric mean {mean}"
    behind = [f"{name} {number(ratio)}" for name, ratio in found.items() if ratio < 1]
    if behind:
        yield f"{level} behind jax.jit: {', '.join(behind)}"


def notes(facts: Sequence[Facts]) -> Iterator[str]:
    """A line for each thing that failed."""
    for one in facts:
        said: dict[str, list[str]] = {}
        for name, value in one.items():
            if name.endswith(" failed"):
                said.setdefault(value, []).append(name.removesuffix(" failed"))
        for reason, names in said.items():
            yield f"{one['program']}: {', '.join(names)}: {reason}"


def _seconds(heading: str, name: str) -> Column:
    def text(facts: Facts) -> str:
        seconds = facts.get(f"{name} seconds")
        return "–" if seconds is None else number(1e3 * seconds)

    return Column(heading, text)


def _mean(heading: str, name: str) -> Column:
    def text(facts: Facts) -> str:
        seconds = facts.get(f"{name} mean")
        return "–" if seconds is None else number(1e3 * seconds)

    return Column(heading, text)


def _ratio(heading: str, name: str, to: str) -> Column:
    def text(facts: Facts) -> str:
        ratio = _ratio_of(facts, name, to)
        return "–" if ratio is None else number(ratio)

    return Column(heading, text)


def _ratio_of(facts: Facts, name: str, to: str) -> float | None:
    one, other = facts.get(f"{name} seconds"), facts.get(f"{to} seconds")
    return None if one is None or other is None else float(one / other)


def _compiled(level: str, facts: Facts) -> str:
    seconds = facts.get(f"{level} compile")
    return _failure(facts, level) if seconds is None else number(seconds)


def _lines(size: str, facts: Facts) -> str:
    found = facts.get(f"lines {size}")
    return _failure(facts, f"lines {size}") if found is None else str(found)


def _error(levels: Sequence[str], facts: Facts) -> str:
    errors = [facts[name] for name in (f"{level} error" for level in levels) if name in facts]
    return f"{max(errors):.0e}" if errors else "–"


def _counts(size: str, facts: Facts) -> str:
    found = facts.get(f"counts {size}")
    if found is None:
        return _failure(facts, f"counts {size}")
    value, both = found
    return number(both / max(1, value))


def _failure(facts: Facts, name: str) -> str:
    """The time that was waited, or a word for a program that cannot be done; a note says why."""
    reason = facts.get(f"{name} failed")
    if reason is None:
        return "–"
    return str(reason) if str(reason).startswith(">") else "refused"
