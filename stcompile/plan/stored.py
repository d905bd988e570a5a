"""Values that are made directly in the array that they are stored to.

m.1 = multiply(m, beta)                  m *= beta
m.2 = accumulate(m.1, g; op='add')   →   m += g
store(m, m.2)

In an update the old contents of the array are no longer read after the first equation, so the new
contents need no storage of their own. This is done only in updates, so that a step that fails
before its update leaves every array unchanged.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stcompile.analysis.regions import Step, Tree, Use
from stcompile.analysis.storage import Storage, Writes, tree_storage
from stcompile.plan.products import Product
from stcompile.wengert.ir import Variable, as_variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.templates import inplace_operand, mark_of


def make_stored_in_place(tree: Tree, writes: Writes) -> Writes:
    """The writes, with the values that are made in the array that they are stored to."""
    finder = _Finder(tree, writes, tree_storage(tree, writes.copied))
    made_in: dict[Variable, Variable] = {}
    done: set[int] = set()
    for store in _stores(tree):
        chain = finder.chain(store)
        if chain is not None and chain.first not in made_in:  # a second store copies from there
            made_in[chain.first] = chain.target
            done.add(chain.store)
    return replace(writes, made_in=made_in, done=frozenset(done))


def store_products(tree: Tree, writes: Writes, products: Mapping[int, Product]) -> Writes:
    """The writes, with the products that are added to the array that the sum is stored to."""
    finder = _Finder(tree, writes, writes.storage)
    made_in, done = dict(writes.made_in), set(writes.done)
    for store in _stores(tree):
        target, value = store.equation.inputs
        maker = tree.makers.get(value)
        product = products.get(maker.at) if maker is not None else None
        if maker is None or product is None or product.acc != target:
            continue
        assert isinstance(target, Variable) and isinstance(value, Variable)
        if finder.is_seen(target, value, maker, store):
            continue
        made_in[value] = target
        done.add(store.at)
    return replace(writes, made_in=made_in, done=frozenset(done))


def _stores(tree: Tree) -> Iterator[Step]:
    """The stores that are outside of branches and loops."""
    items = (item for item in tree.region.items if isinstance(item, Step))
    return (step for step in items if step.equation.primitive == "store")


@dataclass(frozen=True)
class _Chain:
    """``first`` is the value that may be made in the ``target`` of the store at position
    ``store``."""

    target: Variable
    first: Variable
    store: int


class _Finder:
    def __init__(self, tree: Tree, writes: Writes, storage: Storage) -> None:
        self.writes = writes
        self.storage = storage
        self.makers = tree.makers
        self.uses = tree.uses
        self.raising = [s.at for s in tree.steps if set(s.equation.effects) - {"write"}]

    @functools.cached_property
    def in_storage(self) -> Mapping[Variable, Sequence[Use]]:
        """By root, the uses of variables that may be in its storage."""
        found: dict[Variable, list[Use]] = {}
        for variable, uses in self.uses.items():
            for root in self.storage.roots_of(variable):
                found.setdefault(root, []).extend(uses)
        return found

    def is_seen(self, target: Variable, value: Variable, maker: Step, store: Step) -> bool:
        """True if something reads the value or its target between the making of the value and its
        store, or reads the value after the store."""
        return (
            self._readers([value]) != [store.at]
            or any(maker.at < at < store.at for at in self.raising)
            or self._is_read_otherwise(target, maker, store)
        )

    def chain(self, store: Step) -> _Chain | None:
        """The chain of writes that can be made in the target of a store; None if a read would see
        the difference."""
        target, value = store.equation.inputs
        assert isinstance(target, Variable)
        if not isinstance(value, Variable) or value not in self.makers:
            return None
        members = self._members(value)
        first = self.makers[members[-1]]
        if not self._may_be_first(first, target) or len(self._readers(members)) < 2:
            return None
        if any(first.at < at < store.at for at in self.raising):
            return None
        if self._is_read_otherwise(target, first, store) or self._leaves(members):
            return None
        return _Chain(target, members[-1], store.at)

    def _members(self, value: Variable) -> list[Variable]:
        """A value and the values that it overwrote, back to the value that made the storage."""
        members = [value]
        while (step := self.makers.get(members[-1])) is not None and self._is_inplace(step):
            operand = as_variable(step.equation.inputs[inplace_operand(step.equation.primitive)])
            members.append(operand)
        return members if members[-1] in self.makers else [value]

    def _is_inplace(self, step: Step) -> bool:
        return self.writes.inplace.get(step.at, False)

    def _may_be_first(self, step: Step, target: Variable) -> bool:
        equation = step.equation
        return (
            equation.location.section == "update"
            and mark_of(equation.primitive) == "fresh"
            and PRIMITIVES[equation.primitive].elementwise
            and equation.output.type == target.type
            and target.type.ndim > 0
        )

    def _readers(self, members: list[Variable]) -> list[int]:
        return [use.at for member in members for use in self.uses.get(member, ())]

    def _sharing(self, variables: Iterable[Variable]) -> Iterator[Use]:
        """The uses of variables that may share storage with any of the given variables."""
        reached = map(self.storage.reach, map(self.storage.roots_of, variables))
        for root in frozenset[Variable]().union(*reached):
            yield from self.in_storage.get(root, ())

    def _is_read_otherwise(self, target: Variable, first: Step, store: Step) -> bool:
        """True if the old contents of the target are read later, or it is stored to twice."""
        return any(use.at > first.at and use.at != store.at for use in self._sharing([target]))

    def _leaves(self, members: list[Variable]) -> bool:
        """True if the storage of the values is handed on, or written by other steps than their
        makers."""
        for use in self._sharing(members):
            if use.kind != "operand" or not isinstance(use.user, Step):
                return True
            equation = use.user.equation
            if self._is_inplace(use.user) and equation.output not in members:
                written = equation.inputs[inplace_operand(equation.primitive)]
                if written == use.variable:
                    return True
        return False
