"""The axes of a ``contract``: which are paired, which are free, and their order in the result.

Passes read and rewrite products of matrices through this view; the params are written only in this
module.

>>> product = Contraction((3, 3), batch=((0, 0),), contracted=((2, 1),))
>>> product.names
(('b0', 'x1', 's0'), ('b0', 's0', 'y2'), ('b0', 'x1', 'y2'))
>>> Contraction.of_names("ij", "kj", "ki").params["order"]
(1, 0)
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Atom, Equation, Params, freeze

Axes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def contracting(
    *contracted: tuple[int, int], batch: Pairs = (), order: Axes = (), spelling: str = ""
) -> dict[str, Any]:
    """The params of a product of two arrays: ``contracting((1, 0))`` is ``x @ y`` of matrices."""
    return {"batch": batch, "contracted": contracted, "order": order, "spelling": spelling}


def summed_size(contract: Equation) -> int:
    """The number of products that each element of a contraction sums, at most."""
    dims = contract.inputs[-2].type.dims
    return math.prod(usual(dims[axis]) for axis, _ in contract.params["contracted"])


class Side(NamedTuple):
    """A matrix in a product, and its summed axis."""

    atom: Atom
    summed: int


def sides_of(contract: Equation) -> tuple[Side, Side] | None:
    """The matrices that the rows and the columns of a product of matrices come from; None for other
    contractions."""
    product = Contraction.of(contract)
    if not product.is_of_matrices:
        return None
    x, y = map(Side, contract.inputs[-2:], product.contracted[0])
    return (y, x) if product.order == (1, 0) else (x, y)


@dataclass(frozen=True)
class Contraction:
    """The params of a ``contract`` of operands with ``ndims`` axes."""

    ndims: tuple[int, int]
    batch: Pairs = ()
    contracted: Pairs = ()
    order: Axes = ()
    spelling: str = ""

    @staticmethod
    def of(equation: Equation) -> Contraction:
        """The contraction of the last two operands of an equation."""
        x, y = equation.inputs[-2:]
        p = equation.params
        ndims = x.type.ndim, y.type.ndim
        return Contraction(ndims, p["batch"], p["contracted"], p["order"], p["spelling"])

    @staticmethod
    def of_names(
        x: Sequence[Hashable],
        y: Sequence[Hashable],
        result: Sequence[Hashable],
        paired: Iterable[Hashable] | None = None,
    ) -> Contraction:
        """The product of operands whose axes have names. Common names are summed, or, if the result
        has them, paired; ``paired`` has the order of the pairs."""
        shared = [name for name in (x if paired is None else paired) if name in x and name in y]
        pairs = [(name, (x.index(name), y.index(name))) for name in shared]
        batch = [name for name in shared if name in result]
        free = [name for name in (*x, *y) if name not in shared]
        natural = [*batch, *free]
        order = tuple(natural.index(name) for name in result)
        return Contraction(
            (len(x), len(y)),
            tuple(pair for name, pair in pairs if name in batch),
            tuple(pair for name, pair in pairs if name not in batch),
            order if order != tuple(range(len(order))) else (),
        )

    @property
    def params(self) -> Params:
        return freeze(
            contracting(
                *self.contracted, batch=self.batch, order=self.order, spelling=self.spelling
            )
        )

    # --- axes ----------------------------------------------------------------------------------

    def batched(self, side: int) -> Axes:
        """The axes of an operand that are paired with an axis of the other operand."""
        return tuple(pair[side] for pair in self.batch)

    def summed(self, side: int) -> Axes:
        """The axes of an operand that are summed."""
        return tuple(pair[side] for pair in self.contracted)

    def free(self, side: int) -> Axes:
        """The axes of an operand that are in the result alone."""
        paired = (*self.batched(side), *self.summed(side))
        return tuple(axis for axis in range(self.ndims[side]) if axis not in paired)

    @property
    def is_plain(self) -> bool:
        """True if no pairs are left in the result, and its axes are in their natural order."""
        return not (self.batch or self.order)

    @property
    def is_of_matrices(self) -> bool:
        """True for a product of two matrices that sums over one axis of each."""
        return self.ndims == (2, 2) and not self.batch and len(self.contracted) == 1

    def is_like(self, other: Contraction) -> bool:
        """True for the same product, however it is spelled."""
        return dataclasses.replace(self, spelling=other.spelling) == other

    @cached_property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Names of the axes of both operands and of the result, equal for axes that go together."""
        own: list[dict[int, str]] = []
        for side, letter in enumerate("xy"):
            found = {axis: f"{letter}{axis}" for axis in range(self.ndims[side])}
            found.update({axis: f"b{at}" for at, axis in enumerate(self.batched(side))})
            found.update({axis: f"s{at}" for at, axis in enumerate(self.summed(side))})
            own.append(found)
        x, y = own
        free = itertools.chain.from_iterable(
            (own[side][axis] for axis in self.free(side)) for side in (0, 1)
        )
        natural = (*(f"b{at}" for at in range(len(self.batch))), *free)
        result = tuple(natural[at] for at in self.order) if self.order else natural
        return tuple(x.values()), tuple(y.values()), result

    # --- other operands ------------------------------------------------------------------------

    def turned(self, side: int, axes: Sequence[int]) -> Contraction:
        """The product with an operand replaced by the array that it is the transpose of, by
        ``axes``."""

        def moved(pairs: Pairs) -> Pairs:
            return tuple((axes[a], b) if side == 0 else (a, axes[b]) for a, b in pairs)

        return dataclasses.replace(
            self, batch=moved(self.batch), contracted=moved(self.contracted), spelling=""
        )

    def transposed(self) -> Contraction:
        """The transpose of a product of two axes."""
        order = () if self.order == (1, 0) else (1, 0)
        return dataclasses.replace(self, order=order, spelling="")

    def renamed(
        self, x: Sequence[Hashable], y: Sequence[Hashable], result: Sequence[Hashable] | None = None
    ) -> Contraction:
        """The product of operands that lack some of the named axes, have new axes, or have them in
        another order; without a ``result``, the remaining axes keep their order."""
        own = dict.fromkeys(itertools.chain(*self.names))
        pairs = [*(name for name in x if name not in own), *sorted(own)]
        left = [name for name in self.names[2] if name in {*x, *y}]
        return Contraction.of_names(x, y, left if result is None else result, pairs)
