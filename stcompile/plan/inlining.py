"""Inlining: the values that are written where they are used, instead of on a line of their own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from stcompile.analysis.liveness import Liveness, Moments
from stcompile.analysis.regions import Branch, Collected, Region, Repeat, Step, Tree, Use
from stcompile.analysis.storage import Roots, Writes, shared_input, tree_storage, written
from stcompile.base.location import Location
from stcompile.base.thresholds import INLINED_WEIGHT
from stcompile.code.literals import LONG_NUMBER
from stcompile.code.templates import is_call, repeated
from stcompile.wengert.dims import named_by
from stcompile.wengert.ir import Atom, Constant, Equation, Variable
from stcompile.wengert.naming import base_name, is_numbered
from stcompile.wengert.templates import inplace_operand, mark_of

# Uses in which an expression may stand instead of a name.
_OPEN = frozenset({"operand", "predicate", "count", "test", "collected"})


def is_unnamed(name: str) -> bool:
    """True for a name that a person would not choose: a numbered name, or a placeholder's."""
    return is_numbered(base_name(name)) or name.startswith("%")


def inlined(
    tree: Tree, moments: Moments, writes: Writes, fixed: Container[Variable]
) -> set[Variable]:
    """The variables whose value may be written where it is used.

    That holds for a value without a name that is used once, by an equation of the same line and in
    the same region, with nothing written or printed in between; also for a predicate, a condition,
    and a value that a loop hands on to its next step while its variable is still read. It always
    holds for a view of an array that is never written, which costs nothing, and for the item of a
    step. The integers of such a view, which may be read anywhere, get names if they depend on an
    array that is written. Values in ``fixed`` have memory of their own, and an expression that is
    long to read gets a line and a name.
    """
    return _Inlining(tree, moments, writes, fixed).found


class _Inlining:
    def __init__(
        self, tree: Tree, moments: Moments, writes: Writes, fixed: Container[Variable]
    ) -> None:
        self.tree = tree
        self.fixed = fixed
        self.uses = tree.uses
        self.storage = tree_storage(tree, writes.copied)
        self.written: Roots = self.storage.reach(
            frozenset[Variable]().union(*map(self.storage.roots_of, written(tree, writes)))
        )
        self.barriers = [
            step.at
            for step in tree.steps
            if set(step.equation.effects) - {"bind"}
            or writes.kernels.get(step.at)
            or mark_of(step.equation.primitive) == "write"
            or not writes.made_in.keys().isdisjoint(step.equation.outputs)
        ]
        self.filled = {
            step.equation.inputs[place]
            for step in tree.steps
            for place in writes.kernels.get(step.at, ())
        }
        raw = {v: [use.at for use in uses] for v, uses in self.uses.items()}
        self.liveness = Liveness(moments, raw)
        self.found: set[Variable] = set()
        self.weights: dict[Atom, int] = {}  # the length of each expression in the text
        self.named = set(tree.inputs)  # variables with a name, and views of them
        for region, item in tree.items():
            if isinstance(item, Step):
                self._step(region, item)
            elif isinstance(item, Repeat):
                self.named.update(c.variable for c in item.carry)
                self.named.update(c.output for c in item.carry)
                self.named.update(c.output for c in item.collected)
                self._feeds(item)
            else:
                self.named.update(item.outputs)

    def _step(self, region: Region, step: Step) -> None:
        equation = step.equation
        self.named.update(equation.outputs)
        if len(equation.outputs) != 1 or mark_of(equation.primitive) not in ("fresh", "view"):
            return
        output = equation.output
        if output in self.fixed or output in self.filled:  # outputs of kernels have names
            return
        uses = self.uses.get(output, [])
        is_apart = equation.primitive in ("undef", "kernel", "attempted")
        if is_apart or not uses or self._is_heavy(equation):
            return
        is_length = equation.primitive == "size" and named_by(equation.params["of"]) is not None
        if is_length or equation.primitive == "global_rng":  # a name that is there
            self.found.add(output)
            return
        kinds = {use.kind for use in uses}
        if kinds == {"final"} and len(uses) == 1:
            if self._is_handed_on(output, uses[0], step):
                self._write_once(output)
            return
        if not kinds <= _OPEN or any(_is_target(use) for use in uses):
            return
        is_stored = len(uses) == 1 and _equation(uses[0]).primitive == "store"
        if not is_unnamed(self.tree.hints[output]) and not is_stored:
            return
        source = shared_input(equation)
        if source is not None and source in self.named and self._is_never_written(source):
            self.found.add(output)
            for integer in equation.inputs[1:]:
                if not self._is_lasting(integer):
                    self._name(integer)
        elif (
            len(uses) == 1
            and uses[0].region is region
            and self._is_line(uses[0], equation)
            and self._is_free(step.at, uses[0].at)
        ):
            self._write_once(output)

    def _is_heavy(self, equation: Equation) -> bool:
        """True for an expression of many operations and operands, unless it is a view, which costs
        nothing. A call counts as two operations, a sign between two terms as none, and a number of
        many digits as four operands."""
        primitive = equation.primitive
        own = 0 if primitive in ("add", "subtract") else 1 + is_call(primitive)
        weight = own + sum(map(self._weight, equation.inputs))
        self.weights[equation.output] = weight
        return weight > INLINED_WEIGHT and mark_of(equation.primitive) != "view"

    def _weight(self, atom: Atom) -> int:
        if isinstance(atom, Constant):
            return 4 if len(repr(atom.value)) > LONG_NUMBER else 1
        return self.weights.get(atom, 1) if atom in self.found else 1

    def _write_once(self, output: Variable) -> None:
        self.found.add(output)
        self.named.discard(output)

    def _name(self, atom: Atom) -> None:
        """Give an expression that was inlined a line and a name."""
        assert isinstance(atom, Variable)
        self.found.discard(atom)
        self.named.add(atom)

    def _is_lasting(self, atom: Atom) -> bool:
        """True if the text of a number has the same value at every position: it is a name, or no
        array that it depends on is ever written."""
        step = self.tree.makers.get(atom)
        if atom not in self.found or step is None:
            return True
        arrays = (a for a in step.equation.inputs if a.type.kind not in ("python", "scalar"))
        return all(map(self._is_never_written, arrays)) and all(
            map(self._is_lasting, step.equation.inputs)
        )

    def _is_line(self, use: Use, equation: Equation) -> bool:
        """True if an expression is read on its own line, as a condition is."""
        if use.kind == "operand":
            user_ = _equation(use)
            if any(user_.inputs[at] == use.variable for at in repeated(user_.primitive)):
                return False
            is_named = user_.binds is not None  # a number, whatever line it comes from
            return is_named or block_key(user_.location) == block_key(equation.location)
        user = use.user
        assert isinstance(user, Branch | Repeat)
        if use.kind == "collected":
            return True
        if isinstance(user, Repeat) and use.kind == "count" and user.reverse and user.collected:
            return False  # it is read twice
        return user.location.errstate == equation.location.errstate

    def _is_handed_on(self, output: Variable, use: Use, step: Step) -> bool:
        """True for a value that can be assigned only at the end of a step, when its variable is no
        longer read: ``a, b = b, a + b``."""
        loop = use.user
        assert isinstance(loop, Repeat)
        (carry,) = (c for c in loop.carry if c.final == output)
        hint, own = self.tree.hints[output], self.tree.hints[carry.variable]
        if not is_unnamed(hint) and base_name(hint) != base_name(own):
            return False
        is_read = self.liveness.live_after(carry.variable, step.at)
        return is_read and self._is_free(step.at, use.at)

    def _feeds(self, loop: Repeat) -> None:
        """Inline the items that a loop reads in each step: parts of arrays, or arrays in a list."""
        for feed in loop.feeds:
            self.named.add(feed.variable)
            uses = self.uses.get(feed.variable, [])
            is_once = len(uses) == 1 and uses[0].region is loop.body
            is_array = feed.variable.type.kind == "array"
            if (uses and is_array and self._is_never_written(feed.source)) or (
                is_once and self._is_free(loop.body.start, uses[0].at)
            ):
                self.found.add(feed.variable)

    def _is_never_written(self, source: Any) -> bool:
        return self.storage.roots_of(source).isdisjoint(self.written)

    def _is_free(self, start: int, stop: int) -> bool:
        """True if nothing is written or printed between two positions."""
        return bisect_right(self.barriers, start) >= bisect_left(self.barriers, stop)


def _equation(use: Use) -> Equation:
    """The equation that a use belongs to; an equation without effects stands in for control
    flow."""
    return use.user.equation if isinstance(use.user, Step) else Equation((), "", ())


def _is_target(use: Use) -> bool:
    """True where the operand's code would be the target of a write."""
    user = _equation(use)
    if user.primitive == "store":
        return user.inputs[0] == use.variable
    if mark_of(user.primitive) != "write":
        return False
    return user.inputs[inplace_operand(user.primitive)] == use.variable


def block_key(location: Location) -> tuple[Any, ...]:
    """A key that is equal for statements in the same block: the same line of the user's, iteration,
    and section."""
    shown = location.shown
    if shown is None:
        return (location.part, location.errstate)
    place = (shown.part, shown.file, shown.statement, shown.note, shown.function)
    return (*place, location.errstate)


def text_places(tree: Tree, without_name: set[Variable]) -> Mapping[Variable, Sequence[int]]:
    """The positions where each variable is read in the text: an expression that is written where it
    is used reads its operands there."""
    read = {v: [use.at for use in uses if use.kind != "source"] for v, uses in tree.uses.items()}
    places = {variable: positions for variable, positions in read.items() if positions}
    for _, item in reversed(list(tree.items())):
        if isinstance(item, Step):
            for output in item.equation.outputs:
                if output in without_name:
                    _read_at(places, item.equation.inputs, places[output])
        elif isinstance(item, Repeat):
            counter = () if item.counter is None else (item.counter,)
            for feed in item.feeds:
                if feed.variable in places:
                    is_named = feed.variable not in without_name
                    where = [item.body.start] if is_named else places[feed.variable]
                    _read_at(places, (feed.source, *counter), where)
            for collected in item.collected:
                if collected.output in places:
                    needed = (collected.output, *(counter if is_indexed(item, collected) else ()))
                    _read_at(places, needed, [collected.at])
    return places


def _read_at(
    places: dict[Variable, list[int]], atoms: Iterable[Atom], where: Iterable[int]
) -> None:
    for atom in atoms:
        if isinstance(atom, Variable):
            places.setdefault(atom, []).extend(where)


def is_indexed(loop: Repeat, collected: Collected) -> bool:
    """True if a loop assigns the values that it collects by index, instead of appending them."""
    return loop.reverse or not collected.is_stack
