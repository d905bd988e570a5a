"""The names of variables in the text."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Set

from stcompile.analysis.regions import Step
from stcompile.code.literals import name
from stcompile.plan.inlining import is_unnamed
from stcompile.plan.schedule import Schedule
from stcompile.wengert.ir import Variable
from stcompile.wengert.naming import Names, base_name

NAMESPACE, DEVICE = "xp", "device"  # in code for other arrays than NumPy's


class Naming:
    """Gives each class of variables its wanted name: the first that the user or the adjoint gave to
    one of them."""

    def __init__(self, schedule: Schedule, taken: Iterable[str]) -> None:
        self.tree = tree = schedule.tree
        self.sharing = schedule.sharing
        self.names = Names(taken)
        self.given: dict[Variable, str] = {}
        self.is_flat = all(isinstance(item, Step) for item in tree.region.items)
        self._counters: dict[str, list[str]] = {}  # free names of counters: their loops are over
        self.by_hint: dict[str, Variable] = {}
        for variable, hint in tree.hints.items():
            if variable.name == hint or hint not in self.by_hint:  # the program's own first
                self.by_hint[hint] = variable
        self.bases = self._bases({*schedule.read}.difference(schedule.inlined))

    def _bases(self, named: Set[Variable]) -> Counter[str]:
        """The number of classes that ask for each name: `h.1` is called `h` if no other `h` is
        left."""
        hints = self.tree.hints
        if self.is_flat:
            return Counter(map(base_name, hints.values()))
        bases: Counter[str] = Counter()
        counted: set[Variable] = set()
        for variable in hints:
            members = self.sharing.members(variable)
            if variable not in counted and not named.isdisjoint(members):
                counted.update(members)
                bases.update({base_name(hints[member]) for member in members})
        return bases

    def called(self, variable: Variable) -> ast.Name:
        """The variable as code: it gets its name when this is first called."""
        if variable not in self.given:
            self.give(variable, self._wished(variable))
        return name(self.given[variable])

    def give(self, variable: Variable, own: str) -> None:
        """Give the name to a variable, and to the variables that share a name with it."""
        self.given.update(dict.fromkeys(self.sharing.members(variable), own))

    def counter(self, variable: Variable) -> ast.Name:
        """The counter of a loop: it takes the name of the counter of a finished loop, if there is
        one."""
        if variable not in self.given:
            hint = self.tree.hints[variable]
            wish = "i" if is_unnamed(hint) or hint.startswith("_") else base_name(hint)
            free = self._counters.get(wish, [])
            self.give(variable, free.pop() if free else self.names.like(wish))
        return name(self.given[variable])

    def release(self, counter: Variable) -> None:
        """Note that a loop is over, so that the counter of another loop may take its counter's
        name."""
        if counter in self.given:
            hint = self.tree.hints[counter]
            wish = "i" if is_unnamed(hint) or hint.startswith("_") else base_name(hint)
            self._counters.setdefault(wish, []).append(self.given[counter])

    def _wished(self, variable: Variable) -> str:
        hints = [self.tree.hints[member] for member in self.sharing.members(variable)]
        wish = next((hint for hint in hints if not is_unnamed(hint)), None)
        if wish is None:
            return self.names.unnamed()
        wish = self._adjoint_name(wish)
        base = base_name(wish)
        alone = self.bases[base] == 1 or (not self.is_flat and base not in self.by_hint)
        return self.names.like(base_name(wish) if alone else wish)

    def _adjoint_name(self, wish: str) -> str:
        """``d_h_2`` for the adjoint of the variable that became ``h_2``."""
        primal = self.by_hint.get(wish[2:]) if wish.startswith("d_") else None
        own = self.given.get(primal) if primal is not None else None
        return wish if own is None else f"d_{own}"
