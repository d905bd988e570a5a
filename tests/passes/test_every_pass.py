"""What holds of every pass: programs stay well formed, results the same, and one run is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.base import trees
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.pipeline import OWN, Stage, optimise, prepare, stages_at
from stcompile.wengert.ir import Program
from stcompile.wengert.naming import renumber
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.programs import EXAMPLES, assert_equal, follow, run

STAGES = (*stages_at("readable"), Stage(OWN, own_outputs))
every_example = pytest.mark.parametrize("name", EXAMPLES)
every_stage = pytest.mark.parametrize("stage", STAGES, ids=[stage.name for stage in STAGES])


def before(name: str, stage: Stage) -> Program:
    """The program as it comes to a stage."""
    program = EXAMPLES[name].staged().program
    for earlier in STAGES[: STAGES.index(stage)]:
        program = earlier.run(program)
    return program


@every_example
@every_stage
def test_programs_stay_well_formed(name: str, stage: Stage) -> None:
    program = before(name, stage)
    verify(program)
    after = stage.run(program)
    verify(after)
    assert after.types == program.types
    assert [o.type for o in after.outputs] == [o.type for o in program.outputs]
    assert parse_program(str(after)) == after


@every_example
@every_stage
def test_results_stay_the_same(name: str, stage: Stage) -> None:
    """To the bit; but stages that are not exact may round gradients differently."""
    example = EXAMPLES[name]
    program, inputs = before(name, stage), example.inputs(example.staged())
    outputs, stored = run(program, inputs)
    again, stored_again = run(stage.run(program), inputs)
    primal = example.transformed.results
    if primal is None:  # no gradients: everything is the primal
        primal = len(outputs)
    narrow = any(np.asarray(o).dtype == np.float32 for o in outputs)
    rounding = 0 if stage.exact else (1e-6 if narrow else 1e-12)
    for position, (found, expected) in enumerate(zip(again, outputs, strict=True)):
        assert_equal(found, expected, 0 if position < primal else rounding)
    for found, expected in zip(stored_again, stored, strict=True):
        assert_equal(found, expected, rounding)


@every_example
@every_stage
def test_a_second_run_changes_nothing(name: str, stage: Stage) -> None:
    once = stage.run(before(name, stage))
    assert str(renumber(stage.run(once))) == str(renumber(once))


@every_example
def test_passes_are_deterministic(name: str) -> None:
    program = EXAMPLES[name].staged().program
    assert str(optimise(program)) == str(optimise(program))


@every_example
def test_effects_keep_their_number_and_order(name: str) -> None:
    def effects(program: Program) -> list[Any]:
        found = [e for e in program.equations if e.effects]
        return [(e.primitive, e.params) for e in found if e.primitive != "store"]

    program = EXAMPLES[name].staged().program
    assert effects(optimise(program)) == effects(program)


@every_example
def test_the_emitted_function_computes_the_program(name: str) -> None:
    """To the bit; what it stores into its arguments as well."""
    example = EXAMPLES[name]
    ready = prepare(example.staged(), example.transformed.results)
    verify(ready.program)
    expected, stored = run(ready.program, example.inputs(ready))
    made = example.transformed.build(example.bound)
    given = trees.map_leaves(
        lambda path, leaf: np.copy(leaf) if isinstance(leaf, np.ndarray) else leaf,
        tuple(example.bound.values.values()),
    )
    result = made.call(given)
    found = [leaf for _, leaf in trees.leaves(result)]
    if name == "structured":  # its integer is no part of the program, or a constant of it
        assert found[3:] == [3, 0.5]
    for one, other in zip(found, expected, strict=True):
        assert_equal(one, other)
    names = list(example.bound.values)
    for leaf, other in zip(ready.leaves, stored[: len(ready.leaves)], strict=True):
        assert_equal(follow(given[names.index(leaf.argument)], leaf.path), other)
