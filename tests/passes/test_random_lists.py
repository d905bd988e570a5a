"""Each pass and each rewriting rule by itself, on random lists that it changes.

The lists are those of the cases (`rewrites/`), of the docstrings of the passes and of `lists/`,
with other integers, lengths, operands, numbers, dtypes and functions (`drawn_lists.py`). A list and
what is made of it have to compute the same bits, or the same up to rounding, and to have the same
cotangents; integers of the data are places of their axes from either end (`judged_lists.py`). A
rule or a pass that is not in here, or that few of the lists match, fails.

``HYPOTHESIS_PROFILE=thorough`` draws many more lists.
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile.passes
from stcompile.base.options import Form
from stcompile.passes.loops.checkpoint_loops import checkpoint_loops
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.phases import drop_idle_ports, push_maxima
from stcompile.passes.pipeline import PIPELINE, Stage, stages_at
from stcompile.passes.rewriting.rewrite import Rule, RuleBook, rewrite
from stcompile.wengert.ir import Program
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.drawn_lists import Rng, drawn
from tests.passes.judged_lists import Judged, Pass, Wrong, fitting, judge
from tests.passes.test_rewrites import CASES, all_again, read

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
WANTED = 500 if THOROUGH else 12  # lists that match
TIRED = 40  # draws for each of them at most
SHORT = 1_000  # elements that a list makes, if there are shorter ones
NOTHING = RuleBook(())
HERE = Path(__file__).parent


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(stcompile.passes.__path__, "stcompile.passes."):
        yield importlib.import_module(found.name)


def _rules() -> Iterator[Rule]:
    """All rules that are written somewhere."""
    for module in _modules():
        for value in vars(module).values():
            rules = value if isinstance(value, tuple) else (value,)
            yield from (one for one in rules if isinstance(one, Rule))


RULES = {one.apply.__name__: replace(one, derived=False) for one in _rules()}
ROUNDS = frozenset(
    [
        *("added_where_it_belongs", "quotient_times_divisor", "times_reciprocal", "two_factors"),
        *("logistic_slope", "rows_summed_by_blas", "factor_in_product", "factor_in_sum"),
        *("products_one_by_one", "long_sum_in_parts", "long_rows_in_parts"),
        *("smaller_factor_scaled", "repeated_factor"),
        *("outer_product", "thin_product", "product_of_transposed", "product_in_other_order"),
        *("factors_in_other_order", "identity_factor", "sign_of_smaller_result"),
        *("sum_over_nothing", "sign_in_factor"),  # 0.0 for -0.0
        "operands_converted",  # a repeated exponent of 2 is a square to NumPy
    ]
)
"""The rules that may round another way."""
BESIDE = {"two_factors": ("by_one",)}
"""Rules that go round in a circle without others."""


class _MPI:
    """What exchanges name of mpi4py, which may have no library to load."""

    IN_PLACE = None

    class Request:
        Waitall = staticmethod(lambda requests: None)


@pytest.fixture(autouse=True)
def _without_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stcompile.codegen_templates.numpy.exchange.MPI", _MPI)


# --- the lists that others are drawn from ---------------------------------------------------------


def _size(program: Program) -> int:
    """The elements that a list makes, those of loops in each step."""
    total = 0
    for equation in program.equations:
        inner = sum(_size(v) for v in equation.params.values() if isinstance(v, Program))
        length = equation.params.get("length")
        times = length if equation.primitive == "loop" and isinstance(length, int) else 1
        total += sum(v.type.size for v in equation.outputs) + inner * max(times, 1)
    return total


def _documented() -> Iterator[Program]:
    """The lists in the docstrings of passes."""
    for module in _modules():
        text = (module.__doc__ or "").replace("... ", "")
        for found in re.findall(r"parse_program\('''(.*?)'''\)", text, re.DOTALL):
            yield parse_program(found)


@functools.cache
def bank() -> tuple[Program, ...]:
    """All lists that are written somewhere, short ones first."""
    written = [case for path in sorted((HERE / "lists").glob("*.txt")) for case in read(path)]
    programs = (*(case.before() for case in (*written, *CASES)), *_documented())
    for program in programs:
        verify(program)
    return tuple(sorted(programs, key=_size))


def _short(programs: list[Program]) -> list[Program]:
    return [p for p in programs if _size(p) <= SHORT] or programs[:1]


def _has_integers(program: Program) -> bool:
    return any(v.type.dtype.kind in "iu" for v in program.inputs)


class Drawer:
    """Draws lists from those that a pass changes, and leaves those of which it changes none."""

    def __init__(self, name: str, programs: list[Program]) -> None:
        self.name = name
        self.rng: Rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.programs = programs
        self.missed = [0] * len(programs)

    def next(self) -> tuple[int, Program]:
        places = [at for at, missed in enumerate(self.missed) if missed < 4] or range(
            len(self.programs)
        )
        at = int(self.rng.choice(list(places)))
        return at, drawn(self.programs[at], self.rng)

    def tell(self, at: int, matched: bool) -> None:
        self.missed[at] = 0 if matched else self.missed[at] + 1


# --- rules ----------------------------------------------------------------------------------------


def _pass_of(name: str) -> Pass:
    book = RuleBook(RULES[one] for one in (name, *BESIDE.get(name, ())))
    return lambda program: rewrite(program, book)


def _read(program: Program) -> Program:
    """A list without what nothing reads, which no rule sees."""
    return rewrite(program, NOTHING)


SMALLER: Mapping[str, Mapping[str, int]] = {
    "long_sum_in_parts": {
        "rewriting.smaller_work.SMALL_PRODUCT": 60,
        "rewriting.smaller_work.SPLIT_RESULT": 60,
    },
    "long_rows_in_parts": {
        "rewriting.smaller_work.SMALL_PRODUCT": 60,
        "rewriting.smaller_work.SPLIT_RESULT": 60,
    },
    "share_out": {"kernels.threads.SHARED_OPERATIONS": 20},
    "merge_steps": {"loops.merge_steps.MERGED_AXIS": 3},
    "turn_arrays": {"kernels.turn_arrays.TURNED_READS": 1},
    "merge_triangles": {"loops.merge_triangles.LARGE_PRODUCT": 20},
}
"""Thresholds with which short lists match as well."""


def _make_smaller(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, value in SMALLER.get(name, {}).items():
        monkeypatch.setattr(f"stcompile.passes.{place}", value)


INDEXED = frozenset(
    [
        *("added_where_it_belongs", "added_to_zeros", "written_as_it_was"),
        *("push_slices", "check_indices", "gather_parts", "loop_over_parts", "scalarise"),
        *("scalarise_where_it_pays", "join_loops", "turn_arrays", "check_again", "leave_checks"),
    ]
)
"""Rules and passes that see the integers of parts: some of them have to be negative."""


def _is_enough(name: str, judged: Judged) -> bool:
    negative = WANTED // 3 if name in INDEXED else 0
    return judged.lists >= WANTED and judged.negative >= negative


@pytest.mark.parametrize("name", RULES)
def test_rules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_smaller(name, monkeypatch)
    run = _pass_of(name)
    seeds = _short([p for p in map(_read, bank()) if run(p) is not p])
    assert seeds, "no case is changed by this rule alone"
    drawer, judged = Drawer(name, seeds), Judged()
    for _ in range(TIRED * WANTED):
        if _is_enough(name, judged):
            break
        at, program = drawer.next()
        drawer.tell(at, judge(run, _read(program), drawer.rng, name not in ROUNDS, judged))
    assert _is_enough(name, judged), f"few lists match: {judged}"
    assert judged.values >= WANTED and judged.cotangents >= WANTED // 2, judged


# --- passes ---------------------------------------------------------------------------------------

OTHERS: Mapping[str, Stage] = {
    "drop_idle_ports": Stage(drop_idle_ports),
    "push_maxima": Stage(push_maxima, exact=False),
    "checkpoint_loops": Stage(checkpoint_loops),
    "own_outputs": Stage(own_outputs),
    "rematerialise": Stage(all_again),
}
"""The passes that no level always runs."""
PASSES: Mapping[str, Stage] = {**{stage.name: stage for stage in PIPELINE}, **OTHERS}


def _before(stage: Stage) -> tuple[Stage, ...]:
    """The stages before this one, at the level that it is for."""
    if stage not in PIPELINE:
        return ()
    level: Form = "compiled" if "compiled" in stage.levels else stage.levels[-1]
    every = stages_at(level, parallel=True)
    return every[: every.index(stage)]


def _after(stages: tuple[Stage, ...], program: Program, rng: Rng) -> Program | None:
    """A list after some passes; None if there are no values that it is for."""
    for stage in stages:
        try:
            program = stage.run(program)
        except Exception as error:
            if fitting(program, rng) is None:
                return None
            raise AssertionError(f"{stage.name} fails on\n{program}") from error
    return program


WITHOUT_ADJOINT = frozenset(
    ["share_factors", "enclose_loops", "disclose_loops", "outline", "share_out", "hoist_memory"]
    + ["overlap_exchange"]
)
"""What makes, or gets, kernels, factors or buckets, which have no derivative: no adjoint is taken
of them."""

ALONE = frozenset(["inline_calls", "renumber", *OTHERS])
"""What is run on lists as they are drawn, not after the stages before it."""


@pytest.mark.parametrize("name", PASSES)
def test_passes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_smaller(name, monkeypatch)
    stage = PASSES[name]
    own = _short([p for p in bank() if str(stage.run(p)) != str(p)])
    earlier = () if name in ALONE else _before(stage)
    drawers = [Drawer(name, own)] if own else []
    if earlier:
        drawers.append(Drawer(f"{name} after others", _short(list(bank()))))
    if earlier and name in INDEXED:
        drawers.append(Drawer(f"{name} of integers", _short(list(filter(_has_integers, bank())))))
    judged = Judged()
    for turn in range(TIRED * WANTED):
        if _is_enough(name, judged):
            break
        drawer = drawers[turn % len(drawers)]
        at, program = drawer.next()
        if earlier and drawer.name != name:
            made = _after(earlier, program, drawer.rng)
            if made is None:
                continue
            program = made
        drawer.tell(at, judge(stage.run, program, drawer.rng, stage.exact, judged))
    assert _is_enough(name, judged), f"few lists match: {judged}"
    assert judged.values >= WANTED, judged
    assert name in WITHOUT_ADJOINT or judged.cotangents >= WANTED // 2, judged


# --- that nothing is missing, and that what is wrong shows ----------------------------------------


def test_every_rule_is_judged() -> None:
    found = [one for module in _modules() for one in vars(module).values()]
    books = [book for book in found if isinstance(book, RuleBook)]
    assert {one.apply.__name__ for book in books for one in book.rules} == RULES.keys()
    assert len({one.apply for one in _rules()}) == len(RULES), "two rules have one name"


PART = parse_program("""
    program f(x: f64[5], d: f64[7], i: int) {
      a: f64 = slice(x, i; drop=(0,), length=(1,), start=((0, 1),), step=(1,))
      b: f64[3] = slice(d; drop=(), length=(3,), start=((6,),), step=(-2,))
      c: f64[3] = multiply(a, b)
      return c
    }""")


WRONG = {
    "another start": ("start=((6,),)", "start=((5,),)"),
    "the other way": ("start=((6,),), step=(-2,)", "start=((2,),), step=(2,)"),
    "a place counted from the start alone": ("start=((0, 1),)", "start=((5, 1),)"),
    "another factor": ("start=((0, 1),)", "start=((0, -1),)"),
    "another result": ("return c", "return b"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_passes_are_found(name: str) -> None:
    old, new = WRONG[name]
    rng, judged = np.random.default_rng(5), Judged()
    with pytest.raises(Wrong):
        for _ in range(20):
            judge(lambda p: parse_program(str(p).replace(old, new)), PART, rng, False, judged)


def test_bits_count_for_what_is_exact() -> None:
    def pass_of(changed: str) -> Pass:
        return lambda p: parse_program(str(p).replace("multiply(a, b)", changed))

    rng, judged = np.random.default_rng(5), Judged()
    assert judge(pass_of("multiply(b, a)"), PART, rng, True, judged)
    nearly = str(PART).replace(
        "  c: f64[3] = multiply(a, b)",
        "  v: f64 = multiply(a, 1.0000000000000002)\n  c: f64[3] = multiply(v, b)",
    )
    assert judge(lambda p: parse_program(nearly), PART, rng, False, judged)
    with pytest.raises(Wrong):
        judge(lambda p: parse_program(nearly), PART, rng, True, judged)
