"""A program through the pipeline, with the verifier and the evaluator behind each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stcompile.calls.dispatch import Dispatcher
from stcompile.passes.pipeline import Stage
from stcompile.wengert.generators import undrawn
from stcompile.wengert.ir import Program
from stcompile.wengert.naming import renumber
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import VerificationError, verify
from tests.passes.apart import alike, apart
from tests.passes.programs import Example, assert_equal, run

# Relative to the largest entry: what a stage that is not exact may change in one result.
TOLERANCE = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-5}


class StageError(AssertionError):
    """A stage that breaks a program; the message names it and shows the program before it."""


def check_stages(
    stages: Sequence[Stage],
    program: Program,
    inputs: list[Any],
    primal: int,
    settled: bool = False,
    by_name: bool = False,
) -> list[str]:
    """Assert that each stage leaves the program well formed and its results what they were: bit by
    bit if it is exact, else within `TOLERANCE`, but the first ``primal`` of them (None: all) bit
    by bit as well at the readable level. If ``settled``, a second run of a stage changes nothing.
    Unless stages go ``by_name``, none depends on the names of variables, in the program and those
    within it.
    Returns the names of the stages that changed something.
    """
    results = evaluated(program, inputs)
    changed = []
    for stage in stages:
        after = stage.run(program)
        if after is program:
            continue
        changed.append(stage.name)
        try:
            verify(after)
            assert after.types == program.types
            assert [o.type for o in after.outputs] == [o.type for o in program.outputs]
            assert parse_program(str(after)) == after
            if settled:
                assert str(renumber(stage.run(after))) == str(renumber(after)), "it is not settled"
            found = evaluated(after, inputs)
            for position, (one, other) in enumerate(zip(found, results, strict=True)):
                exact = stage.exact or ("readable" in stage.levels and position < primal)
                assert_equal(one, other, 0) if exact else assert_close(one, other)
            for names in () if by_name else (apart, alike):
                assert str(alike(stage.run(names(program)))) == str(alike(after)), names.__name__
        except (AssertionError, VerificationError) as error:
            raise StageError(f"after the stage {stage.name!r}: {error}\nof\n{program}") from error
        program, results = after, found
    return changed


def evaluated(program: Program, inputs: list[Any]) -> list[Any]:
    """The outputs of a program, then its inputs, which it may have written to."""
    with undrawn(inputs), np.errstate(all="ignore"):
        outputs, stored = run(program, inputs)
    return [*outputs, *stored]


def assert_close(found: Any, expected: Any) -> None:
    """The same type, and close numbers."""
    assert type(found) is type(expected)
    kinds = np.asarray(found).dtype, np.asarray(expected).dtype
    assert kinds[0] == kinds[1]
    tolerance = TOLERANCE.get(kinds[0])
    if tolerance is None:
        assert_equal(found, expected)
        return
    scale = float(np.max(np.abs(expected), initial=1.0, where=np.isfinite(expected)))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def check_example(stages: Sequence[Stage], transformed: Dispatcher, args: Any) -> list[str]:
    """`check_stages` for a call of a transformed function."""
    example = Example(transformed, tuple(args))
    staged = example.staged()
    primal = transformed.results
    count = len(staged.program.outputs) if primal is None else primal
    return check_stages(stages, staged.program, example.inputs(staged), count)
