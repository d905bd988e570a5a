"""Decide the schedule of a program: inlining, products, names and buffers, in turn."""

from __future__ import annotations

import itertools
from collections.abc import Container, Mapping
from dataclasses import replace

from stcompile.analysis.liveness import Liveness, Moments
from stcompile.analysis.regions import Tree
from stcompile.analysis.storage import Writes, plan_writes
from stcompile.base.options import Options
from stcompile.plan.buffers import NOTHING, Plan, plan_buffers
from stcompile.plan.collected import collected_rows, with_rows
from stcompile.plan.inlining import inlined, text_places
from stcompile.plan.libraries import suits_scipy
from stcompile.plan.operators import with_operators
from stcompile.plan.overlaps import overlapping_writes
from stcompile.plan.products import Product, contiguous_variables, find_products
from stcompile.plan.schedule import Schedule
from stcompile.plan.sharing import Sharing
from stcompile.plan.stored import make_stored_in_place, store_products
from stcompile.plan.verify import verify_schedule
from stcompile.plan.ways import way_of
from stcompile.plan.writable import augmenting, computed_by, fixed_places, writable_steps
from stcompile.wengert.ir import Variable


def make_schedule(tree: Tree, given: Container[Variable], options: Options) -> Schedule:
    """The schedule of a tree. The ``given`` arguments are contiguous."""
    is_fast = options.is_planned
    tree, moments, writes, writable, without_name = _expressions(tree, is_fast)
    contiguous = contiguous_variables(tree, given, computed_by(tree, writable))
    has_blas = is_fast and options.has_blas and suits_scipy(tree, contiguous)
    products = find_products(tree, writes, contiguous) if has_blas else {}
    without_name |= fused_by(products)
    writes = store_products(tree, writes, products)
    places = text_places(tree, without_name)
    liveness = Liveness(moments, places)
    rows = collected_rows(tree, writes, writable, without_name)
    apart = writes.storage.views if is_fast else set()  # views have no buffer
    sharing = Sharing(tree, liveness, writes, without_name | apart, places, rows)
    plan = NOTHING
    if is_fast:
        plan = plan_buffers(
            tree, liveness, writes, sharing.classes, writable, places, products, rows
        )
        _unite(plan, sharing)
    writes = replace(writes, storage=with_rows(writes.storage, plan.rows))
    schedule = Schedule(
        tree,
        writes,
        without_name,
        places.keys(),
        sharing,
        plan,
        writable,
        products,
        contiguous,
        given,
        has_blas,
        is_fast,
        {},
        overlapping_writes(tree, writes),
        augmenting(tree) if is_fast else (),
    )
    schedule = replace(schedule, ways={step.at: way_of(schedule, step) for step in tree.steps})
    if options.verify:
        verify_schedule(schedule)
    return schedule


def _expressions(
    tree: Tree, is_fast: bool
) -> tuple[Tree, Moments, Writes, Mapping[int, tuple[int, ...]], set[Variable]]:
    """The tree, its writes and the values that are inlined, which depend on each other. A branch
    becomes an operator if all that its right operand needs can be inlined there."""
    branches = frozenset[Variable]()
    while True:
        found = with_operators(tree, branches)
        moments = Moments(found.tree)
        writes = make_stored_in_place(found.tree, plan_writes(found.tree, moments))
        writable = writable_steps(found.tree, writes) if is_fast else {}
        fixed = fixed_places(found.tree, writable)
        without_name = inlined(found.tree, moments, writes, fixed)
        eager = {v for v, needed in found.guarded.items() if not without_name.issuperset(needed)}
        if not eager:
            return found.tree, moments, writes, writable, without_name
        branches |= eager


def fused_by(products: Mapping[int, Product]) -> set[Variable]:
    """The values that are not computed on their own."""
    return {variable for product in products.values() for variable in product.fused}


def _unite(plan: Plan, sharing: Sharing) -> None:
    """Let variables that live in the same buffer, in turn, share a name, unless the user named
    them."""
    allocation = plan.allocation
    for other, one in allocation.inplace.items():
        sharing.unite(one, other)
    for block in allocation.blocks:
        for one, other in itertools.pairwise(block.heads):
            same = (one.type, plan.orders.get(one)) == (other.type, plan.orders.get(other))
            if same and not sharing.is_named(one, other):
                sharing.unite(one, other)
