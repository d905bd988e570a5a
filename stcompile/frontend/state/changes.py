"""The objects that a staged program may change, and the journal of its changes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from stcompile.base.containers import CONTAINERS
from stcompile.base.errors import Caution, StcompileError
from stcompile.frontend.state.outside import Outside
from stcompile.frontend.state.set_orders import SetOrders
from stcompile.frontend.state.state import ContentsSite, Journal, Site
from stcompile.frontend.state.values import Cell
from stcompile.wengert.ir import Equation
from stcompile.wengert.recorder import Recorder

OUTSIDE = -1  # the depth of objects from outside


@dataclass(frozen=True)
class Owned:
    """A container or an object that the program made, with its depth and age."""

    container: Any
    depth: int
    born: int


@dataclass(eq=False)
class Split:
    """A place from which on everything is staged for the case that an error was not raised there.
    ``guard`` catches the error if ``predicate`` holds, ``failed`` is the path that is taken then;
    the rest is what there was before the place."""

    guard: Any
    predicate: Any
    failed: Any
    age: int
    nesting: int
    equations: list[Equation]
    outer: Journal | None
    journal: Journal
    made: dict[Hashable, Any]


class Changes:
    """The containers that the program owns, the arrays it may write, and the journal of the path
    that is being staged."""

    recorder: Recorder
    made: dict[Hashable, Any]
    cautions: list[Caution]  # the user is warned of these

    def __init__(self) -> None:
        self.depth = 0  # nesting depth of sub-programs
        self.owned: dict[int, Owned] = {}  # containers made by the program: they may be mutated
        self.orders = SetOrders()
        self.journal: Journal | None = None
        self.outside = Outside()
        self.leaves_alone = ""  # why objects from outside must not be changed; "" if they may
        self.paths = 0  # nested paths that are being staged and may not be taken
        self.splits: list[Split] = []  # the innermost last
        self.errors: dict[Hashable, StcompileError] = {}  # errors that leave blocks, in order
        self.codes: dict[Hashable, set[int]] = {}  # the errors that a number may stand for
        self.arm: tuple[int, Any] | None = None  # the nesting and the frame of a block on a path
        self._age = 0
        self._watches: list[tuple[int, list[Site]]] = []
        self._ties: list[Cell | Owned] = []  # frozen cells and disowned objects, in order

    def own(self, container: Any) -> Any:
        """Note a container that the program made, so that it may be mutated."""
        self.owned[id(container)] = Owned(container, self.depth, self.age())
        return container

    def lend(self, container: Any) -> Any:
        """Note an object that stands for one from outside, so that it may not be mutated."""
        self.owned[id(container)] = Owned(container, OUTSIDE, self.age())
        return container

    def owns(self, container: Any) -> bool:
        """True for a container that the program made, in the function being staged: a container of
        an enclosing function that is differentiated from inside must not be changed."""
        found = self.owned.get(id(container))
        return found is not None and found.depth == self.depth

    def freeze(self, cell: Cell, reason: str) -> None:
        """Forbid writing an array from now on."""
        if not cell.frozen:
            cell.frozen = reason
            self._ties.append(cell)

    def disown(self, container: Any) -> None:
        """Forbid changing a container from now on, since it may alias another container, depending
        on the path taken."""
        found = self.owned.pop(id(container), None)
        if found is not None:
            self._ties.append(found)

    def is_disowned(self, container: Any) -> bool:
        """True if the container may alias another container, depending on the path taken."""
        return self._disowned(container) is not None

    def _disowned(self, container: Any) -> Owned | None:
        owned = (tie for tie in self._ties if isinstance(tie, Owned))
        return next((found for found in owned if found.container is container), None)

    def made_at(self, container: Any) -> int | None:
        """The age at which the program made a container; None if it did not."""
        found = self.owned.get(id(container)) or self._disowned(container)
        return None if found is None else found.born

    def owner(self, container: Any, outside: str = "of the caller") -> str:
        """The reason why a container must not be changed, for messages."""
        if self.is_disowned(container):
            return "that may be either of two, depending on a value known only at run time"
        return outside

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Try to stage the block: if it is refused, all changes are undone."""
        mark, recorded = len(self._ties), len(self.recorder.equations)
        warned, split = len(self.cautions), len(self.splits)
        outer, made = self.journal, dict(self.made)
        self.journal = journal = Journal(self.age(), self.is_certain)
        try:
            yield
            if outer is not None:
                for key, entry in journal.before.items():
                    outer.before.setdefault(key, entry)
            self._hand_over(journal, outer)
        except StcompileError:
            self.rejoin(split)
            journal.undo()
            self.made = made
            del self.recorder.equations[recorded:]
            del self.cautions[warned:]
            for tie in self._ties[mark:]:
                if isinstance(tie, Cell):
                    tie.frozen = ""
                else:
                    self.owned[id(tie.container)] = tie
            del self._ties[mark:]
            self.journal = outer
            raise
        except BaseException:
            self._hand_over(journal, outer)
            raise

    def _hand_over(self, journal: Journal, to: Journal | None) -> None:
        """End a journal: the changes that follow are noted in another."""
        for split in self.splits:
            if split.outer is journal:
                split.outer = to
                return
        self.journal = to

    # --- errors that are raised or not ---------------------------------------------------------

    def split(self, guard: Any, predicate: Any, failed: Any) -> None:
        """Go on where an error was not raised, until `rejoin`."""
        age, equations, made = self.age(), self.recorder.equations, self.made
        outer, self.journal = self.journal, Journal(age)
        self.splits.append(
            Split(
                guard,
                predicate,
                failed,
                age,
                self.recorder.nesting,
                equations,
                outer,
                self.journal,
                made,
            )
        )
        self.recorder.equations, self.made = [], dict(made)
        self.paths += 1

    def rejoin(self, at: int) -> None:
        """Take back everything that was done since the splits after the first ``at``."""
        while len(self.splits) > at:
            split = self.splits.pop()
            split.journal.undo()
            self.journal, self.made = split.outer, split.made
            self.recorder.equations = split.equations
            self.paths -= 1

    # --- changes -------------------------------------------------------------------------------

    @property
    def is_certain(self) -> bool:
        """True if the present code runs whatever the data are."""
        return self.journal is None or self.journal.is_certain

    def age(self) -> int:
        """A number greater than all before: objects that are made later are younger."""
        self._age += 1
        return self._age

    def set(self, site: Site, value: Any) -> None:
        """Change a site; every change goes through this method or is noted."""
        self.note(site)
        site.write(value)

    def is_sure_to_change(self, site: Site) -> bool:
        """True if a change of a site is made once, whatever the data are, or if only the path or
        the step that is being staged can see the change."""
        if any(site.born <= age for age, _ in self._watches):
            return False
        return self.is_certain or (self.journal is not None and site.born > self.journal.age)

    def note(self, site: Site) -> None:
        """Note that a site is about to be changed."""
        self.outside.version += site.key in self.outside.changes
        for age, changes in self._watches:
            if site.born <= age:
                changes.append(site)
        if self.journal is not None:
            self.journal.note(site)

    @contextmanager
    def watched(self, age: int) -> Iterator[list[Site]]:
        """The sites of that ``age`` or older that are changed within the block."""
        changes: list[Site] = []
        self._watches.append((age, changes))
        try:
            yield changes
        finally:
            self._watches.pop()

    def note_contents(self, container: Any) -> None:
        """Note that a container is about to be changed, if the program made it."""
        found = self.owned.get(id(container))
        if found is not None and isinstance(container, (*CONTAINERS, set)):
            self.note(ContentsSite(container, found.born, self.orders))
