"""Allocate buffers to classes of variables with known lifetimes."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from stcompile.analysis.orders import Order
from stcompile.analysis.regions import Repeat, Step, Tree
from stcompile.analysis.storage import Storage
from stcompile.plan.lifetimes import Lifetime, shown_by
from stcompile.plan.parts import Rows
from stcompile.plan.products import Product
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Size, number_of_elements
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.types import Type

Layout: TypeAlias = tuple[Type, Order | None]  # None: C order


@dataclass(eq=False)
class Block:
    """Memory for ``size`` elements of a dtype, and the classes that live in it, in turn. If lengths
    of arguments have names, ``size`` is their usual number, and ``length`` the exact one (None: it
    has no simple form). A block may be the ``rows`` of a class, inside the block ``around`` it."""

    dtype: np.dtype[np.generic]
    size: int
    length: Size | None
    heads: list[Variable] = field(default_factory=list)
    free_from: int = -1  # the last position at which it is read
    around: Block | None = None
    rows: Rows | None = None

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def add(self, head: Variable, until: int) -> None:
        """Note that a class lives in the block until a position."""
        self.heads.append(head)
        block: Block | None = self
        while block is not None:
            block.free_from = max(block.free_from, until)
            block = block.around


@dataclass
class Allocation:
    """The result of the allocation. ``blocks`` do not overlap; ``inner`` are the rows inside of
    blocks that classes live in. ``inplace`` maps a class to the class whose array it takes over, at
    the last read of that array."""

    blocks: list[Block] = field(default_factory=list)
    inner: list[Block] = field(default_factory=list)
    block_of: dict[Variable, Block] = field(default_factory=dict)
    inplace: dict[Variable, Variable] = field(default_factory=dict)


@dataclass(frozen=True)
class Requests:
    """The inputs of the allocation. ``head_of`` gives the class of each member; ``writable`` the
    positions of the steps that can write into a given array, with the operands that the array may
    be; ``split`` the classes that are rows of others; ``products`` the products that some steps
    compute instead of their equations; ``orders`` the storage orders that are not C order."""

    tree: Tree
    storage: Storage
    head_of: Mapping[Variable, Variable]
    writable: Mapping[int, tuple[int, ...]]
    split: Mapping[Variable, Rows]
    products: Mapping[int, Product]
    orders: Mapping[Variable, Order]

    def layout(self, head: Variable) -> Layout:
        return head.type, self.orders.get(head)


def allocate(
    requests: Requests,
    lives: Mapping[Variable, Lifetime],
    placed: Mapping[Variable, Rows],
    adjacent: Mapping[Variable, Sequence[Rows]],
) -> Allocation:
    """Give each class its memory, in the order of their first values. ``placed`` classes are rows
    of classes that live long enough. The classes in ``adjacent`` are made of parts that should be
    next to each other; `is_adjacent` says afterwards whether they are."""
    return _Allocator(requests, lives, placed, adjacent).run()


def is_adjacent(
    allocation: Allocation, head_of: Mapping[Variable, Variable], rows: Sequence[Rows]
) -> bool:
    """True if parts of a concatenation live next to each other, in its order."""
    if any(part.is_shaped for part in rows):
        return False
    if sum(part.stop - part.start for part in rows) != rows[0].whole.type.dims[0]:
        return False
    found = [allocation.block_of[head_of[part.variable]].rows for part in rows]
    places = [place for place in found if place is not None]
    if len(places) < len(rows):
        return False
    first = places[0]
    return all(
        place.whole == first.whole and place.start - first.start == part.start
        for place, part in zip(places, rows, strict=True)
    )


class _Allocator:
    def __init__(
        self,
        requests: Requests,
        lives: Mapping[Variable, Lifetime],
        placed: Mapping[Variable, Rows],
        adjacent: Mapping[Variable, Sequence[Rows]],
    ) -> None:
        self.requests = requests
        self.head_of = requests.head_of
        self.lives = lives
        self.rows = {**requests.split, **placed}
        self.adjacent = adjacent
        self.makers = _makers(requests.tree, requests.head_of)
        self.found = Allocation()
        # Blocks by their places in `found`: those that are read, by the last position where they
        # are; those that are free, with the layout they had last; those that were taken just now.
        # (A free block stays free until it is taken: classes in rows of it live no longer than it.)
        self.busy: list[tuple[int, int]] = []
        self.free: dict[Layout, list[int]] = {}
        self.layout_of: dict[int, Layout] = {}
        self.taken: list[int] = []
        self.known = 0

    def run(self) -> Allocation:
        found = self.found
        order = sorted(self.lives, key=lambda head: (self.lives[head].start, self._depth(head)))
        for head in order:
            block = self._inside(head) or self._inplace(head) or self._reused(head)
            if block is None:
                block = _block(head)
                found.blocks.append(block)
            block.add(head, self.lives[head].end)
            found.block_of[head] = block
        return found

    def _depth(self, head: Variable) -> int:
        """The number of nested arrays that a class lives in."""
        depth = 0
        while head in self.rows:
            depth, head = depth + 1, self.rows[head].whole
        return depth

    def _inside(self, head: Variable) -> Block | None:
        """The block of a class that lives in rows of another class; None for other classes."""
        rows = self.rows.get(head)
        if head in self.adjacent:
            first = self.adjacent[head][0]
            beside = self.found.block_of[self.head_of[first.variable]].rows
            rows = None if beside is None else Rows(head, beside.whole, beside.start)
        if rows is None:
            return None
        around = self.found.block_of[rows.whole]
        block = replace(_block(head), around=around, rows=rows)
        self.found.inner.append(block)
        return block

    def _inplace(self, head: Variable) -> Block | None:
        """The block of an operand that is read for the last time where the class begins."""
        maker, found = self.makers.get(head), self.found
        if isinstance(maker, Step):
            operands = list(maker.equation.inputs)
            candidates = [operands[at] for at in self.requests.writable.get(maker.at, ())]
            product = self.requests.products.get(maker.at)
            if product is not None:
                operands, candidates = list(product.reads), [product.acc]
        elif maker is not None:
            carried = [c.initial for c in maker.carry if self.head_of.get(c.variable) == head]
            operands = candidates = carried
        else:
            return None
        for atom in candidates:
            source = self.head_of.get(atom) if isinstance(atom, Variable) else None
            if source is None or self.requests.layout(source) != self.requests.layout(head):
                continue
            if self.lives[source].end != self.lives[head].start:
                continue
            block = found.block_of[source]
            is_read = any(self._shows(other, source) for other in operands if other != atom)
            if block.heads[-1] == source and not is_read:
                found.inplace[head] = source
                return block
        return None

    def _shows(self, atom: Atom, source: Variable) -> bool:
        """True if an operand is the array of a class, or a view of it."""
        return source in shown_by(self.requests.storage, self.head_of, atom)

    def _reused(self, head: Variable) -> Block | None:
        """A block that is no longer read, or a part of it: the first with the same layout, or else
        the smallest that is large enough."""
        self._release(self.lives[head].start)
        wanted, layout = head.type, self.requests.layout(head)
        exact, blocks = self.free.get(layout, []), self.found.blocks
        while exact:
            place = heapq.heappop(exact)
            if self.layout_of.get(place) == layout:  # it was not taken for another layout meanwhile
                return self._taken(place)
        length = number_of_elements(wanted.dims)
        fitting = [
            place
            for place in self.layout_of
            if blocks[place].dtype == wanted.dtype and _fits(length, blocks[place].length)
        ]
        best = min(fitting, key=lambda place: (blocks[place].size, place), default=None)
        return None if best is None else self._taken(best)

    def _taken(self, place: int) -> Block:
        del self.layout_of[place]
        block = self.found.blocks[place]
        self.taken.append(place)
        return block

    def _release(self, start: int) -> None:
        """Note the blocks that are free from a position on. The classes come in the order of their
        first values."""
        blocks = self.found.blocks
        for place in (*self.taken, *range(self.known, len(blocks))):
            heapq.heappush(self.busy, (blocks[place].free_from, place))
        self.taken, self.known = [], len(blocks)
        while self.busy and self.busy[0][0] < start:
            _, place = heapq.heappop(self.busy)
            block = blocks[place]
            if block.free_from >= start:  # it was taken over, or a part of it was
                heapq.heappush(self.busy, (block.free_from, place))
                continue
            self.layout_of[place] = layout = self.requests.layout(block.heads[-1])
            heapq.heappush(self.free.setdefault(layout, []), place)


def _block(head: Variable) -> Block:
    """New memory for a class."""
    type = head.type
    return Block(type.dtype, type.size, number_of_elements(type.dims))


def _fits(wanted: Size | None, given: Size | None) -> bool:
    """True if ``given`` elements are known to be enough for ``wanted`` elements."""
    return wanted is not None and given is not None and least(given - wanted) >= 0


def _makers(tree: Tree, head_of: Mapping[Variable, Variable]) -> dict[Variable, Step | Repeat]:
    """The step that gives each class its first value, if it may write into the array of an
    operand."""
    found: dict[Variable, Step | Repeat] = {}
    for _, item in tree.items():
        if isinstance(item, Step):
            for output in item.equation.outputs:
                if output in head_of:
                    found.setdefault(head_of[output], item)
        elif isinstance(item, Repeat):
            for carry in item.carry:
                if carry.variable in head_of:
                    found.setdefault(head_of[carry.variable], item)
    return found
