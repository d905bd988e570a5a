"""Mutants that are as right as the original, so that no test of values can notice them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutation.mutants import Mutant


@dataclass(frozen=True)
class Equivalent:
    """Changes that are no mistakes: where (a part of "file function"), of what, and why."""

    where: str
    before: str
    after: str
    why: str


EQUIVALENT: tuple[Equivalent, ...] = ()


def reason(mutant: Mutant) -> str:
    """Why a mutant is no mistake; nothing if it may be one."""
    for known in EQUIVALENT:
        if known.where in f"{mutant.file} {mutant.function}" and (
            (known.before, known.after) == (mutant.before, mutant.after)
        ):
            return known.why
    return ""
