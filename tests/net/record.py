"""What the compiler makes of a case: the list after every stage, and the text, as digests."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from stcompile.base.options import LEVELS, Options
from stcompile.passes import pipeline
from stcompile.wengert.ir import Program
from tests.fuzz.run import OutOfTime, limited
from tests.net.cases import Case

SECONDS = 120  # for one case at one level
Texts = list[tuple[str, str]]  # of stages, each with the list after it, or the code
Trail = list[list[str]]  # of stages, each with the digest of its text


def trails(case: Callable[[], Case], verify: bool = False) -> dict[str, Trail]:
    """The stages of a case at each level. An error is a stage as well."""
    return {
        level: [[stage, digest(text)] for stage, text in texts(case, Options(level, verify=verify))]
        for level in LEVELS
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def texts(case: Callable[[], Case], options: Options) -> Texts:
    """The texts of a case in all stages that changed them: nothing of it is run."""
    found: Texts = []
    with warnings.catch_warnings(), np.errstate(all="ignore"), _told(found):
        warnings.simplefilter("ignore")
        try:
            with limited(SECONDS):
                found += _code(case(), options)
        except OutOfTime:
            found.append(("error", f"more than {SECONDS} s"))
        except Exception as error:
            found.append(("error", f"{type(error).__name__}: {without_addresses(str(error))}"))
    return found


def _code(case: Case, options: Options) -> Iterator[tuple[str, str]]:
    compiled = case.make(options)
    made = compiled.build(compiled.bind(case.args, {}))
    yield "source", made.source
    if made.beside is not None:
        yield "source of the pullback", made.beside.source


@contextmanager
def _told(found: Texts) -> Iterator[None]:
    """Write down the lists of all programs that are optimised meanwhile."""
    optimise = pipeline.optimise

    def watched(
        program: Program, level: Any, saving: Any, parallel: bool, check: pipeline.Check | None
    ) -> Program:
        def note(stage: str, after: Program) -> None:
            found.append((stage, str(after)))
            if check is not None:
                check(stage, after)

        return optimise(program, level, saving, parallel, note)

    with patch.object(pipeline, "optimise", watched):
        yield


def without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x…", text)


def differences(one: dict[str, Any], other: dict[str, Any]) -> Sequence[str]:
    """The first stage in which each program differs, and the programs that only one has."""
    lines = []
    for name in [*one, *(name for name in other if name not in one)]:
        if name not in one or name not in other:
            lines.append(f"{name}: only in the {'first' if name in one else 'second'}")
            continue
        for level in LEVELS:
            stage = first_difference(one[name][level], other[name][level])
            if stage:
                lines.append(f"{name}, {level}: {stage}")
    return lines


def first_difference(one: Trail, other: Trail) -> str:
    """The first stage that differs, of which one may have changed nothing; empty if none does."""
    for at, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            mine_comes_later = mine[0] in [stage for stage, _ in other[at:]]
            return theirs[0] if mine_comes_later else mine[0]
    longer = max(one, other, key=len)
    return longer[min(len(one), len(other))][0] if len(one) != len(other) else ""
