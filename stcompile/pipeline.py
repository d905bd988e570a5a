"""The passes, in order, and what becomes of a staged call before it is emitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stcompile.frontend.stage import Staged, with_atoms
from stcompile.ir import Program
from stcompile.naming import renumber
from stcompile.passes.drop_idle_ports import drop_idle_ports
from stcompile.passes.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.inline_calls import inline_calls
from stcompile.passes.own_outputs import own_outputs
from stcompile.passes.place_stores import place_stores
from stcompile.passes.share_common_subexpressions import share_common_subexpressions
from stcompile.passes.simplify_adjoint import simplify_adjoint

Pass = Callable[[Program], Program]

PIPELINE: tuple[Pass, ...] = (
    inline_calls,
    simplify_adjoint,
    drop_idle_ports,
    simplify_adjoint,
    share_common_subexpressions,
    place_stores,
    eliminate_dead_code,
    renumber,
)


def optimise(program: Program) -> Program:
    """The program after all passes."""
    for improve in PIPELINE:
        program = improve(program)
    return program


def prepare(staged: Staged, results: int | None = 0) -> Staged:
    """A staged call, optimised; arrays among its outputs from position ``results`` on get storage
    of their own (None: no output does)."""
    program = optimise(staged.program)
    if results is not None:
        program = own_outputs(program, results)
    renamed = dict(zip(staged.program.inputs, program.inputs, strict=True))
    return replace(
        staged,
        program=program,
        leaves=tuple(replace(leaf, variable=renamed[leaf.variable]) for leaf in staged.leaves),
        hidden=tuple(replace(h, variable=renamed[h.variable]) for h in staged.hidden),
        result=with_atoms(staged.result, program.outputs),
    )
