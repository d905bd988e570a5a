"""The pipeline: the passes, in order, and the preparation of a staged call before it is emitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import get_args

from stcompile.base.deferred import deferred
from stcompile.base.options import Form
from stcompile.base.timings import timed
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.inline_calls import inline_calls
from stcompile.passes.general.push_slices import push_slices
from stcompile.passes.general.reassociate_sums import reassociate_sums
from stcompile.passes.general.share_equations import share_equations
from stcompile.passes.layout.choose_layouts import choose_layouts
from stcompile.passes.layout.share_windows import share_windows
from stcompile.passes.loops.carry_values import carry_values
from stcompile.passes.loops.hoist_from_loops import hoist_from_loops
from stcompile.passes.loops.share_states import share_states
from stcompile.passes.loops.sum_after_loops import sum_after_loops
from stcompile.passes.loops.unstack_constants import unstack_constants
from stcompile.passes.memory.copy_parts import copy_parts
from stcompile.passes.memory.overlap_exchange import overlap_exchange
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.memory.place_stores import place_stores
from stcompile.passes.phases import before_adjoint, push_factors, simplify, suit_numpy
from stcompile.passes.products.merge_diagonals import merge_diagonals
from stcompile.passes.products.merge_parts import merge_parts
from stcompile.passes.products.merge_products import merge_products
from stcompile.passes.products.merge_sums import merge_sums
from stcompile.passes.products.push_sums import push_sums
from stcompile.passes.products.transpose_once import transpose_once
from stcompile.wengert.ir import Program, every_equation
from stcompile.wengert.naming import renumber
from stcompile.wengert.staged import Staged

Pass = Callable[[Program], Program]
Check = Callable[[str, Program], None]  # of a program after the stage of that name
FAST: tuple[Form, ...] = ("fast", "compiled")
NUMPY: tuple[Form, ...] = ("readable", "fast")
KERNELS: tuple[Form, ...] = ("compiled", "inner", "whole")
PLANNED: tuple[Form, ...] = ("compiled",)
INNER: tuple[Form, ...] = ("inner",)
WHOLE: tuple[Form, ...] = ("whole",)
FOLDER = "stcompile.passes.kernels"  # loaded by those that need it
LOOPS = "stcompile.passes.loops"
CHECK_INDICES = deferred(f"{FOLDER}.check_indices", "check_indices")


@dataclass(frozen=True)
class Stage:
    """A pass of the pipeline; it is shown by the name of its function, or as it is ``called``
    where it runs again.

    ``levels`` are the levels that it runs at; a ``parallel`` stage runs if threads are asked for.
    An ``exact`` stage leaves every result bitwise equal; other stages leave those of the primal so
    at the readable level, and may round the rest differently.
    """

    run: Pass
    levels: tuple[Form, ...] = get_args(Form)
    exact: bool = True
    parallel: bool = False
    called: str = ""

    @property
    def name(self) -> str:
        return self.called or self.run.__name__


PIPELINE: tuple[Stage, ...] = (
    Stage(inline_calls),
    Stage(unstack_constants),
    Stage(simplify, exact=False),
    Stage(carry_values, levels=FAST),
    Stage(deferred(f"{FOLDER}.share_factors", "share_factors"), levels=KERNELS, exact=False),
    Stage(deferred(f"{LOOPS}.merge_steps", "merge_steps"), levels=KERNELS, exact=False),
    Stage(deferred(f"{LOOPS}.compute_again", "compute_again"), levels=KERNELS),
    Stage(deferred(f"{LOOPS}.merge_triangles", "merge_triangles"), levels=PLANNED, exact=False),
    Stage(deferred(f"{FOLDER}.enclose", "enclose_loops"), levels=PLANNED),
    Stage(push_slices, levels=FAST, exact=False),
    Stage(merge_diagonals, levels=FAST, exact=False),
    Stage(push_sums, levels=FAST, exact=False),
    Stage(share_equations),
    Stage(choose_layouts, levels=FAST, exact=False),
    Stage(share_windows, levels=FAST),
    Stage(merge_parts, levels=FAST, exact=False),
    Stage(push_factors, levels=FAST, exact=False),
    Stage(transpose_once, levels=FAST, exact=False),
    Stage(hoist_from_loops, levels=FAST, exact=False),
    Stage(sum_after_loops, levels=FAST, exact=False),
    Stage(reassociate_sums, levels=FAST, exact=False),
    Stage(merge_products, levels=FAST, exact=False),
    Stage(merge_sums, levels=FAST, exact=False),
    Stage(share_states, levels=FAST),
    Stage(suit_numpy, levels=FAST, exact=False),
    Stage(deferred(f"{FOLDER}.enclose", "disclose_loops"), levels=PLANNED),
    Stage(share_equations, levels=FAST, called="share_again"),  # merging makes equal ones
    Stage(place_stores, levels=NUMPY),
    Stage(eliminate_dead_code),
    Stage(copy_parts, exact=False),
    Stage(overlap_exchange),
    Stage(CHECK_INDICES, levels=KERNELS),
    Stage(deferred(f"{FOLDER}.gather_parts", "gather_parts"), levels=KERNELS, exact=False),
    Stage(deferred(f"{FOLDER}.loop_over_parts", "loop_over_parts"), levels=KERNELS),
    Stage(deferred(f"{FOLDER}.scalarise", "scalarise"), levels=INNER, exact=False),
    Stage(deferred(f"{FOLDER}.scalarise", "scalarise_whole"), levels=WHOLE, exact=False),
    Stage(deferred(f"{FOLDER}.scalarise", "scalarise_where_it_pays"), levels=PLANNED, exact=False),
    Stage(deferred(f"{FOLDER}.join_loops", "join_loops"), levels=KERNELS),
    Stage(before_adjoint, levels=KERNELS, called="share_scalars"),  # of which loops compute more
    Stage(CHECK_INDICES, levels=KERNELS, called="check_again"),  # indices that loops introduced
    Stage(deferred(f"{FOLDER}.turn_arrays", "turn_arrays"), levels=KERNELS),
    Stage(deferred(f"{FOLDER}.outline", "outline"), levels=KERNELS),
    Stage(deferred(f"{FOLDER}.check_indices", "leave_checks"), levels=KERNELS),
    Stage(place_stores, levels=KERNELS),  # kernels read what others would have read before
    Stage(deferred(f"{FOLDER}.threads", "share_out"), levels=KERNELS, parallel=True),
    Stage(deferred(f"{FOLDER}.hoist_memory", "hoist_memory"), levels=KERNELS),
    Stage(renumber),
)
REWRITTEN = "place_stores"  # the stage before which a program may be rewritten to need less memory
# The stages that do the work of many steps at once, for which the values of all are kept.
MERGING = frozenset(
    stage.__name__
    for stage in (hoist_from_loops, sum_after_loops, merge_products, merge_sums, share_states)
)
OWN = own_outputs.__name__  # the last stage, which depends on the call


def stages_at(level: Form, parallel: bool = False) -> tuple[Stage, ...]:
    """The stages that run at a level, in order."""
    return tuple(s for s in PIPELINE if level in s.levels and (parallel or not s.parallel))


def after_each(
    program: Program, level: Form = "readable", parallel: bool = False
) -> Iterator[tuple[Stage, Program]]:
    """Yield each stage, with the program after it."""
    for stage in stages_at(level, parallel):
        program = stage.run(program)
        yield stage, program


@dataclass(frozen=True)
class MemorySaving:
    """A way to make a program need less memory: by rewriting it, and ``without`` some stages."""

    rewrite: Pass
    without: frozenset[str] = frozenset()


def optimise(
    program: Program,
    level: Form = "readable",
    saving: MemorySaving | None = None,
    parallel: bool = False,
    check: Check | None = None,
) -> Program:
    """The program after all stages. If there is a ``check``, it gets the program before them,
    without equations that are not read, and after each stage that changed it. A program with
    checkpoints is not merged: they are there so that fewer values are kept."""
    without = frozenset() if saving is None else saving.without
    without |= MERGING if computes_again(program) else frozenset()
    if check is not None:
        check("staging", eliminate_dead_code(program))
    for stage in stages_at(level, parallel):
        before = program
        if saving is not None and stage.name == REWRITTEN:
            program = saving.rewrite(program)
        if stage.name not in without:
            with timed(stage.name):
                program = stage.run(program)
        if check is not None and program is not before:
            check(stage.name, eliminate_dead_code(program))
    return program


def computes_again(program: Program) -> bool:
    """True if some values are computed once more on purpose."""
    return any(equation.location.again for equation in every_equation(program.equations))


def prepare(
    staged: Staged,
    results: int | None = 0,
    level: Form = "readable",
    saving: MemorySaving | None = None,
    parallel: bool = False,
    check: Check | None = None,
) -> Staged:
    """A staged call, optimised; arrays among its outputs from position ``results`` on get storage
    of their own (None: no output does)."""
    program = optimise(staged.program, level, saving, parallel, check)
    kept = staged.changed_outputs
    if results is not None or kept:
        first = len(program.outputs) if results is None else results
        program = own_outputs(program, first, kept, staged.cells)
    return staged.with_program(program)
