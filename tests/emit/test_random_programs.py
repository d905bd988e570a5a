"""Random programs with branches and loops are emitted as what they mean."""

from __future__ import annotations

import itertools
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from stcompile.analysis.liveness import Moments
from stcompile.analysis.regions import Repeat, unfold
from stcompile.analysis.storage import plan_writes
from stcompile.base.options import Options
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Atom, Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.emit.emitting import check, emitted, run
from tests.emit.random_programs import CALLS, Builder
from tests.programs import assert_fresh

EXAMPLES = max(40, settings.default.max_examples if settings.default else 0)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    return Builder(draw(st.randoms(use_true_random=False)).randrange).program()


@settings(max_examples=EXAMPLES)
@given(programs())
def test_emitted_is_evaluated(program: Program) -> None:
    verify(program)
    check(program, *CALLS)


@settings(max_examples=EXAMPLES)
@given(programs())
def test_buffered_is_evaluated(program: Program) -> None:
    """... at the fast level, with one workspace for all calls."""
    check(own_outputs(program), *CALLS, options=Options("fast"))


@settings(max_examples=EXAMPLES // 2)
@given(programs())
def test_outputs_get_storage_of_their_own(program: Program) -> None:
    """... and so do not share memory with each other and the arguments, after emission as well."""
    owned = own_outputs(program)
    verify(owned)
    made = check(owned, *CALLS)
    namespace: dict = {}
    exec(made.source, namespace)
    for arguments in CALLS:
        outcome = run(namespace[made.name], arguments)
        arrays = [result for result in outcome.results if isinstance(result, np.ndarray)]
        assert_fresh(arrays, [a for a in outcome.arguments if isinstance(a, np.ndarray)])
        expected = run(lambda *given: evaluate(program, *given), arguments)
        for one, other in itertools.zip_longest(outcome.results, expected.results):
            if isinstance(one, np.ndarray):
                np.testing.assert_array_equal(one, other)


@settings(max_examples=EXAMPLES // 4)
@given(programs())
def test_two_emissions_give_equal_bytes(program: Program) -> None:
    assert emitted(program).source == emitted(program).source


UNREAD = """\
program f(x: f64[3], n: int) {
  last: f64[3], rows: f64[1,3] = loop(x, x; body=program body(x: f64[3], k: int, h: f64[3]) {
    again: f64[3] = loop(x, h; body=program again(x: f64[3], k: int, h: f64[3]) {
      h.1: f64[3] = add(h, x)
      return h.1
    }, carry=1, constants=1, length=3)
    twice: f64[3] = add(x, x)
    return again, twice
  }, carry=1, constants=1, length=1)
  return last
}
"""


def test_what_is_collected_and_never_read_is_in_its_place() -> None:
    """Another loop may have run in the step meanwhile."""
    check(parse_program(UNREAD), (CALLS[0][0], 1), options=Options("fast"))


def test_the_random_programs_are_of_all_kinds() -> None:
    """They write in place in loops and branches, copy before loops, and collect in lists."""
    found: set[str] = set()
    for seed in range(150):
        tree = unfold(Builder(random.Random(seed).randrange).program())
        writes = plan_writes(tree, Moments(tree))
        found |= {"in place"} if any(writes.inplace.values()) else set()
        found |= {"copied"} if not all(writes.inplace.values()) else set()
        found |= {"copied before"} if writes.copied else set()
        for _, item in tree.items():
            if isinstance(item, Repeat):
                kind = "while" if item.condition else "static" if item.length else "counted"
                found |= {kind, *(["reverse"] if item.reverse else [])}
                found |= {"list" for c in item.collected if c.is_stack}
                found |= {"swap" for c in item.carry if _is_another(c.final, item)}
    kinds = {"in place", "copied", "copied before", "while", "static", "counted", "reverse"}
    assert found == kinds | {"list", "swap"}


def _is_another(final: Atom, loop: Repeat) -> bool:
    return any(carry.variable == final for carry in loop.carry)
