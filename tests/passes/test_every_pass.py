"""What holds of every pass: programs stay well formed, results the same, and one run is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.base import trees
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.pipeline import Stage, optimise, prepare, stages_at
from stcompile.wengert.ir import Program
from stcompile.wengert.verify import verify
from tests.passes.programs import EXAMPLES, assert_equal, follow, run
from tests.passes.stages import check_stages

STAGES = (*stages_at("readable"), Stage(own_outputs))
every_example = pytest.mark.parametrize("name", EXAMPLES)


@every_example
def test_each_stage_keeps_the_program(name: str) -> None:
    """It stays well formed, its results the same, and one run of the stage is enough."""
    example = EXAMPLES[name]
    staged = example.staged()
    primal = example.transformed.results
    count = len(staged.program.outputs) if primal is None else primal
    verify(staged.program)
    check_stages(STAGES, staged.program, example.inputs(staged), count, settled=True)


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
