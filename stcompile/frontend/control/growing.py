"""Lists that every step of a loop appends to.

At the start of a step the list has the items from before the loop, then the items of the earlier
steps, of which only the number is known (`Grown`), then its last items, which the loop carries: as
many as the step reads. After a loop of known length the list is put together of the items that the
steps collected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stcompile.base.errors import StcompileError
from stcompile.frontend.control.merge import Merger
from stcompile.frontend.control.merged import Shape, Spoiled, Window
from stcompile.frontend.state.rests import APPENDED, APPENDED_HINT, name_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import ContentsSite
from stcompile.frontend.state.values import Affine, Grown, Rest

WIDEST = 16  # the most items that are carried


@dataclass(frozen=True)
class Growth:
    """A list that gets items in each step, and the shapes of the items. A list that gets items only
    on some paths through the step has ``unknown`` items. ``last`` are the shapes of the items that
    it ends with after the loop."""

    site: ContentsSite
    before: list[Any]
    shapes: list[Shape]
    last: tuple[Shape, ...] = ()
    unknown: Rest | None = None


@dataclass(eq=False)
class Growing:
    """A list that gets ``rate`` items in each step; None if the number varies. ``before`` are its
    items before the loop, ``width`` is the number of last items that are carried."""

    site: ContentsSite
    before: list[Any]
    rate: int | None
    width: int = 0
    head: list[Any] = field(default_factory=list)

    def shape(self, run: Run, merger: Merger, after: list[Any], counter: Affine | None) -> Window:
        """The shape of the list at the start of a step, if a step leaves the items ``after``."""
        merger.keep(after)
        is_counted = counter is not None and self.rate
        count = counter.scaled(self.rate, -self.width) if is_counted else None  # type: ignore[arg-type, union-attr]
        rest = Grown(APPENDED, APPENDED_HINT, count)
        places = range(-self.width, 0)
        return Window(self.before, rest, tuple(self._item(run, merger, after, d) for d in places))

    def _item(self, run: Run, merger: Merger, after: list[Any], place: int) -> Shape:
        if -place > min(len(self.before), len(after)):
            run.refuse(
                "this list has no such item in the first step of the loop",
                "give it its first items before the loop",
            )
        first, second = self.before[place], after[place]
        for item in (first, second):
            if isinstance(item, Grown):
                item.asked.append(1)
        run.checked(first)
        shape = merger.merge(first, run.checked(second), self._hint(run))
        if isinstance(shape, Spoiled):
            run.refuse(f"an item of this list {shape.reason}", "append items of one type")
        return shape

    def _hint(self, run: Run) -> str:
        """A name for its last item."""
        name = name_of(run, self.site.container)
        return f"{name}_last" if name else ""

    def widen(self, error: StcompileError) -> bool:
        """Carry as many items as the step asked for when it failed. False if it asked for none."""
        rest = self.head[len(self.before)] if self.head else None
        if error.reason != APPENDED or not isinstance(rest, Grown) or not rest.asked:
            return False
        self.width += max(rest.asked)
        return self.width <= WIDEST

    def settles(self, run: Run, after: list[Any]) -> bool:
        """Check the items ``after`` that a step from ``head`` leaves. False if the step does not
        append at the assumed rate."""
        new = self.new_items(after)
        if new is None:
            unknown = bool(after) and isinstance(after[0], Rest)
            if not unknown or self.width:
                run.refuse("items of this list are removed in the loop", "append only")
        rate = None if new is None else len(new)
        if rate == self.rate or self.rate is None:
            return True
        self.rate = None
        return False

    def new_items(self, after: list[Any]) -> list[Any] | None:
        """The items that a step from ``head`` appends; None if paths through it append different
        items."""
        same = [a is b for a, b in zip(self.head, after, strict=False)]
        return after[len(same) :] if len(same) == len(self.head) and all(same) else None

    def growth(self, rows: Merger, window: Window) -> Growth:
        """The items that a step appends. It is called inside the step, when the list has them."""
        contents = self.site.read()
        items = self.new_items(contents)
        if items is None:  # paths through the step left different items
            return Growth(self.site, self.before, [], unknown=contents[0])
        shapes = [rows.defined(item, True, "") for item in items]
        return Growth(self.site, self.before, shapes, window.parts)
