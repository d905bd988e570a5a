"""What the text of a function does, and where: everything that is decided before it is printed."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace

from stcompile.analysis.liveness import Liveness, Moments
from stcompile.analysis.regions import Tree
from stcompile.analysis.storage import Writes, plan_writes
from stcompile.base.options import Options
from stcompile.plan.buffers import NOTHING, Plan, plan_buffers
from stcompile.plan.collected import collected_rows, names_of_rows, with_rows
from stcompile.plan.inlining import inlined, text_places
from stcompile.plan.products import Product, contiguous_variables, find_products, suits_numpy
from stcompile.plan.sharing import Sharing
from stcompile.plan.stored import make_stored_in_place, store_products
from stcompile.plan.writable import computed_by, fixed_places, writable_steps
from stcompile.wengert.ir import Variable


@dataclass(frozen=True)
class Schedule:
    """``writes`` are those in place, with the storage of all variables; the ``inlined`` variables
    are written where they are used, and the ``read`` ones are read in the text. ``sharing`` has the
    classes of variables with one name, ``plan`` the buffers. ``writable`` are the positions of the
    steps that can write into a given array, ``products`` what some of them compute by BLAS, if the
    function ``has_blas``; ``contiguous`` variables are what BLAS can read without a copy."""

    tree: Tree
    writes: Writes
    inlined: Collection[Variable]
    read: Collection[Variable]
    sharing: Sharing
    plan: Plan
    writable: Mapping[int, Sequence[int]]
    products: Mapping[int, Product]
    contiguous: Collection[Variable]
    given: Container[Variable]
    has_blas: bool

    @property
    def unmade(self) -> Collection[Variable]:
        """What is stored nowhere, or only in an argument."""
        fused = fused_by(self.products)
        return frozenset([*fused, *self.writes.made_in, *names_of_rows(self.plan.rows)])


def make_schedule(tree: Tree, given: Container[Variable], options: Options) -> Schedule:
    """The schedule of a tree. The ``given`` arguments are contiguous."""
    is_fast = options.level == "fast"
    moments = Moments(tree)
    writes = make_stored_in_place(tree, plan_writes(tree, moments))
    writable = writable_steps(tree) if is_fast else {}
    has_blas = is_fast and options.has_blas and not suits_numpy(tree)
    without_name = inlined(tree, moments, writes, fixed_places(tree, writable))
    contiguous = contiguous_variables(tree, given, computed_by(tree, writable))
    products = find_products(tree, writes, contiguous) if has_blas else {}
    without_name |= fused_by(products)
    writes = store_products(tree, writes, products)
    places = text_places(tree, without_name)
    liveness = Liveness(moments, places)
    rows = collected_rows(tree, writes, writable, without_name)
    apart = writes.storage.views if is_fast else set()  # they have no buffer
    sharing = Sharing(tree, liveness, writes, without_name | apart, places, rows)
    plan = NOTHING
    if is_fast:
        plan = plan_buffers(
            tree, liveness, writes, sharing.classes, writable, places, products, rows
        )
        _unite(plan, sharing)
    return Schedule(
        tree,
        replace(writes, storage=with_rows(writes.storage, plan.rows)),
        without_name,
        places.keys(),
        sharing,
        plan,
        writable,
        products,
        contiguous,
        given,
        has_blas,
    )


def fused_by(products: Mapping[int, Product]) -> set[Variable]:
    """The values that are not computed on their own."""
    return {variable for product in products.values() for variable in product.fused}


def _unite(plan: Plan, sharing: Sharing) -> None:
    """Let what lives in one buffer in turn have one name, unless the user named it."""
    allocation = plan.allocation
    for other, one in allocation.inplace.items():
        sharing.unite(one, other)
    for block in allocation.blocks:
        for one, other in itertools.pairwise(block.heads):
            same = (one.type, plan.orders.get(one)) == (other.type, plan.orders.get(other))
            if same and not sharing.is_named(one, other):
                sharing.unite(one, other)
