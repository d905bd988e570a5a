"""The passes, in order, and what becomes of a staged call before it is emitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stcompile.base.options import Level
from stcompile.base.timings import timed
from stcompile.passes.general.cast_operands import cast_operands
from stcompile.passes.general.compose_views import compose_views
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.inline_calls import inline_calls
from stcompile.passes.general.push_maxima import push_maxima
from stcompile.passes.general.push_slices import push_slices
from stcompile.passes.general.reassociate_sums import reassociate_sums
from stcompile.passes.general.share_common_subexpressions import share_common_subexpressions
from stcompile.passes.general.simplify_adjoint import simplify_adjoint
from stcompile.passes.general.spread_numbers import spread_numbers
from stcompile.passes.layout.choose_layouts import choose_layouts
from stcompile.passes.layout.copy_small_operands import copy_small_operands
from stcompile.passes.loops.drop_idle_ports import drop_idle_ports
from stcompile.passes.loops.hoist_from_loops import hoist_from_loops
from stcompile.passes.loops.push_sums_out_of_loops import push_sums_out_of_loops
from stcompile.passes.loops.share_states import share_states
from stcompile.passes.loops.unstack_constants import unstack_constants
from stcompile.passes.memory.own_outputs import own_outputs
from stcompile.passes.memory.place_stores import place_stores
from stcompile.passes.products.absorb_transposes import absorb_transposes
from stcompile.passes.products.merge_diagonals import merge_diagonals
from stcompile.passes.products.merge_products import merge_products
from stcompile.passes.products.merge_sums import merge_sums
from stcompile.passes.products.outer_products import outer_products
from stcompile.passes.products.push_sums import push_sums
from stcompile.passes.products.scale_small_operands import scale_small_operands
from stcompile.passes.products.squeeze_products import squeeze_products
from stcompile.passes.products.subtract_negatives import subtract_negatives
from stcompile.passes.products.sum_rows import sum_rows
from stcompile.passes.products.tidy_products import tidy_products
from stcompile.wengert.ir import Program
from stcompile.wengert.naming import renumber
from stcompile.wengert.staged import Staged

Pass = Callable[[Program], Program]


@dataclass(frozen=True)
class Stage:
    """A pass of the pipeline, under the name that it is shown by.

    ``level`` is the lowest level that it runs at: one of ``"readable"`` runs at ``"fast"`` as well.
    An ``exact`` one leaves every result bitwise equal; others leave those of the primal so at the
    readable level, and may round the rest differently.
    """

    name: str
    run: Pass
    level: Level = "readable"
    exact: bool = True


PIPELINE: tuple[Stage, ...] = (
    Stage("inline", inline_calls),
    Stage("simplify", simplify_adjoint, exact=False),
    Stage("ports", drop_idle_ports),
    Stage("unstack", unstack_constants),
    Stage("views", compose_views),
    Stage("slices", push_slices, level="fast", exact=False),
    Stage("maxima", push_maxima, level="fast", exact=False),
    Stage("tidy", tidy_products, exact=False),
    Stage("resimplify", simplify_adjoint, exact=False),
    Stage("prune", eliminate_dead_code, level="fast"),
    Stage("transposes", absorb_transposes, level="fast", exact=False),
    Stage("thin", squeeze_products, level="fast", exact=False),
    Stage("diagonals", merge_diagonals, level="fast", exact=False),
    Stage("scales", scale_small_operands, level="fast", exact=False),
    Stage("reductions", push_sums, level="fast", exact=False),
    Stage("cse", share_common_subexpressions),
    Stage("layouts", choose_layouts, level="fast", exact=False),
    Stage("relayout", compose_views, level="fast"),
    Stage("hoist", hoist_from_loops, level="fast", exact=False),
    Stage("push", push_sums_out_of_loops, level="fast", exact=False),
    Stage("sums", reassociate_sums, level="fast", exact=False),
    Stage("products", merge_products, level="fast", exact=False),
    Stage("merge", merge_sums, level="fast", exact=False),
    Stage("rethin", squeeze_products, level="fast", exact=False),
    Stage("outer", outer_products, level="fast", exact=False),
    Stage("states", share_states, level="fast"),
    Stage("rows", sum_rows, level="fast", exact=False),
    Stage("recse", share_common_subexpressions, level="fast"),
    Stage("signs", subtract_negatives, level="fast"),
    Stage("casts", cast_operands, level="fast"),
    Stage("copies", copy_small_operands, level="fast"),
    Stage("numbers", spread_numbers, level="fast"),
    Stage("stores", place_stores),
    Stage("dce", eliminate_dead_code),
    Stage("number", renumber),
)
REWRITTEN = "stores"  # the stage before which a program may be rewritten to need less memory
# The stages that do the work of many steps at once, for which the values of all are kept.
MERGING = frozenset({"hoist", "push", "products", "merge", "states"})
OWN = "own"  # the last stage: `own_outputs`, which depends on the call


def stages_at(level: Level) -> tuple[Stage, ...]:
    """The stages that run at a level, in order."""
    return tuple(stage for stage in PIPELINE if level == "fast" or stage.level == level)


def after_each(program: Program, level: Level = "readable") -> Iterator[tuple[Stage, Program]]:
    """Each stage, with the program after it."""
    for stage in stages_at(level):
        program = stage.run(program)
        yield stage, program


@dataclass(frozen=True)
class MemorySaving:
    """How a program is made to need less memory: by rewriting it, and ``without`` some stages."""

    rewrite: Pass
    without: frozenset[str] = frozenset()


def optimise(
    program: Program, level: Level = "readable", saving: MemorySaving | None = None
) -> Program:
    """The program after all stages. One with checkpoints is not merged: they are there so that
    fewer values are kept."""
    without = frozenset() if saving is None else saving.without
    without |= MERGING if computes_again(program) else frozenset()
    for stage in stages_at(level):
        if saving is not None and stage.name == REWRITTEN:
            program = saving.rewrite(program)
        if stage.name not in without:
            with timed(stage.name):
                program = stage.run(program)
    return program


def computes_again(program: Program) -> bool:
    """True if something is computed once more on purpose."""
    inner = (value for e in program.equations for value in e.params.values())
    return any(equation.location.again for equation in program.equations) or any(
        computes_again(value) for value in inner if isinstance(value, Program)
    )


def prepare(
    staged: Staged,
    results: int | None = 0,
    level: Level = "readable",
    saving: MemorySaving | None = None,
) -> Staged:
    """A staged call, optimised; arrays among its outputs from position ``results`` on get storage
    of their own (None: no output does)."""
    program = optimise(staged.program, level, saving)
    if results is not None:
        program = own_outputs(program, results)
    return staged.with_program(program)
