"""Paths that are staged aside, and the `cond` equation where two of them meet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeVar

from stcompile.base.errors import StcompileError
from stcompile.frontend.control.merge import Merger
from stcompile.frontend.control.merged import UNDEFINED, Shape, Spoiled
from stcompile.frontend.state.frames import Block, Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import (
    Fallible,
    GeneratorLeft,
    Outcome,
    PathRaised,
    Raised,
    Returned,
    Signal,
)
from stcompile.frontend.state.sizes import is_plain
from stcompile.frontend.state.state import Journal, Key, Site
from stcompile.frontend.state.values import Scalar, is_traced
from stcompile.wengert.dims import UnknownSizeError, size_of, symbols_in
from stcompile.wengert.ir import Atom, Constant, Equation, Variable, free_variables

T = TypeVar("T")
_DIVISIONS = ("divide", "floor_divide", "remainder", "power")


@dataclass(frozen=True)
class Path:
    """The equations of a path, the contents of the sites that it changed, and its result."""

    equations: list[Equation]
    after: dict[Key, tuple[Site, Any]]
    result: Any
    made: dict[Hashable, Any]
    age: int

    @property
    def is_pure(self) -> bool:
        """True if the path changes nothing that existed before it, and has no effect."""
        changes = any(site.born <= self.age for site, _ in self.after.values())
        return not changes and not any(equation.effects for equation in self.equations)


def stage_path(
    run: Run,
    action: Callable[[], Any],
    is_trial: bool = False,
    heads: Collection[Variable] = (),
) -> Path:
    """Run ``action``, and take back all its changes to the state and all its equations.
    ``is_trial``: the action will be run in any case, and is staged first to see its outcome.

    Lengths that the path names after values from before it are named before it, so that they are
    the same on other paths, in other steps, and after it. The ``heads`` are from within it.
    """
    while True:
        path = _staged(run, action, is_trial)
        if not _name_before(run, path, heads):
            return path


def _name_before(run: Run, path: Path, heads: Collection[Variable]) -> bool:
    """Move the names of lengths that a path binds to values from before the path in front of it;
    True if there are any."""
    makers = {v: equation for equation in path.equations for v in equation.outputs}
    within = {*heads, *makers}
    bound = {equation.binds for equation in path.equations}
    found = False
    for equation in path.equations:
        symbol = equation.binds
        if symbol is None or not bound.isdisjoint(symbols_in((symbol.low, symbol.high))):
            continue
        number = next(equation.variables, None)
        maker = None if number is None else makers.get(number)
        known = len(run.lengths)
        if maker is not None and _moves(maker) and within.isdisjoint(maker.variables):
            run.measured(maker.primitive, maker.inputs, maker.params, symbol)
        elif number is not None and number not in within:
            run.named(number, symbol)
        found = found or len(run.lengths) > known
    return found


def _moves(maker: Equation) -> bool:
    """True if the equation that makes an integer may be computed where the path is not taken: it
    raises for no values, as Python's division, `math` and ``int`` of a float do."""
    python = [atom for atom in maker.inputs if atom.type.kind == "python"]
    if maker.primitive in _DIVISIONS and python:
        divisor = maker.inputs[1]
        return isinstance(divisor, Constant) and bool(divisor.value)
    is_cut = maker.primitive == "to_python" and maker.inputs[0].type.dtype.kind == "f"
    return is_plain(maker) and not is_cut and not maker.primitive.startswith("math.")


def _staged(run: Run, action: Callable[[], Any], is_trial: bool) -> Path:
    age = run.age()
    outer, made = run.journal, run.made
    run.journal, run.made = Journal(age), dict(made)
    notes = list(run.frame.notes)
    frame, frames, split = run.frame, len(run.frames), len(run.splits)
    run.paths += not is_trial
    with run.recorder.aside() as equations:
        try:
            try:
                result = action()
            except PathRaised:
                result = Raised()
            except StcompileError as error:
                error.is_conditional = error.raised is not None and not is_trial
                if error.raised is None or not is_trial:
                    raise
                result = Raised()
            except GeneratorLeft:
                if not is_trial:
                    raise
                result = Raised()
            run.journal.settle()
            return Path(equations, run.journal.after(), result, run.made, age)
        finally:
            run.rejoin(split)
            run.paths -= not is_trial
            run.journal.undo()
            run.journal, run.made = outer, made
            frame.notes[:] = notes
            del run.frames[frames:]


@contextmanager
def inside(run: Run, path: Path) -> Iterator[None]:
    """Within the block, set the state to that at the end of a path, so that its values can be
    read."""
    present = [(site, site.read()) for site, _ in path.after.values()]
    made, equations = run.made, run.recorder.equations
    for site, value in path.after.values():
        site.write(value)
    run.made, run.recorder.equations = path.made, path.equations
    try:
        yield
    finally:
        run.made, run.recorder.equations = made, equations
        for site, value in present:
            site.write(value)


def rest_of(run: Run, frame: Frame, error: StcompileError | None = None) -> Signal:
    """Run the statements after the present statement, up to the end of the loop's or the function's
    body, where a function returns None and a loop goes on. If the present statement has raised an
    ``error``, run the statements after the handler around it."""
    saved, errstate, guards = frame.blocks, frame.errstate, run.guards
    blocks = list(saved)
    try:
        while blocks and (block := blocks.pop()) is not None:
            frame.blocks, frame.errstate, run.guards = list(blocks), block.errstate, block.guards
            signal: Signal = None
            try:
                if error is None:
                    signal = _after(run, frame, block)
                elif block.guard is not None:
                    is_over, signal = block.guard.handle(error)
                    error = None if is_over else error
            except StcompileError as other:
                if not other.is_certain:
                    raise
                error = other
            if signal is not None:
                return signal
            if not blocks and error is None:
                return Returned(None)
    finally:
        frame.blocks, frame.errstate, run.guards = saved, errstate, guards
    if error is not None:
        raise error
    return "continue"


def _after(run: Run, frame: Frame, block: Block) -> Signal:
    """Run the rest of a block after its present statement, and the exit of its guard."""
    signal: Signal = None
    if block.guard is not None and block.guard.leave is not None:
        signal = block.guard.leave()
    if signal is None:
        signal = run.execute(block.body[block.at + 1 :], frame)
    return signal


def attempted(run: Run, action: Callable[[], T]) -> T:
    """Run ``action`` on a path that may not be taken. An error that is already known, and that no
    handler catches, is raised when the program takes the path."""
    return _unless_certain(action, partial(run.language.fail, run))


def _unless_certain(action: Callable[[], T], otherwise: Callable[[StcompileError], T]) -> T:
    try:
        return action()
    except StcompileError as error:
        if not error.is_certain:
            raise
        failed = error
    return otherwise(failed)


def handled(run: Run, frame: Frame, action: Callable[[], Signal]) -> Signal:
    """Run ``action``. If it raises an error that a handler in the function catches, it goes on in
    the handler, and the path ends with the function or the step of the loop."""
    return _unless_certain(
        action, lambda failed: attempted(run, lambda: rest_of(run, frame, failed))
    )


def past_error(run: Run, predicate: Atom, paths: Sequence[Path]) -> int | None:
    """Record the error that one of two paths ends in: the other path, whose number is returned,
    needs no branch. None if no path ends so."""
    for number, path in enumerate(paths):
        if isinstance(path.result, Raised):
            empty = Path([], {}, None, path.made, path.age)
            first, second = (empty, path) if number else (path, empty)
            _record(run, predicate, first, second, [], [])
            return 1 - number
    return None


def meet(
    run: Run,
    predicate: Atom,
    paths: list[Path],
    to_end: Callable[[int], Path],
    alone: Callable[[int, bool], Signal],
) -> Signal:
    """Join two paths. If one ends early, both go ``to_end``, by their numbers: to the end of the
    function's or the loop's body. If one ends in an error, only the other is taken, by ``alone``,
    which is told whether it goes to the end."""
    for is_at_end in (False, True):
        number = past_error(run, predicate, paths)
        if number is not None:
            return alone(number, is_at_end)
        first, second = paths
        if not is_at_end and first.result is None and second.result is None:
            join(run, predicate, first, second)
            return None
        if not is_at_end:
            paths[:] = [to_end(n) if p.result is None else p for n, p in enumerate(paths)]
    return ending(run, predicate, *paths)


def ending(run: Run, predicate: Atom, first: Path, second: Path) -> Signal:
    """Merge two paths that end early into one signal."""
    if isinstance(first.result, Returned) and isinstance(second.result, Returned):
        values = (first.result.value, second.result.value)
        return Returned(join_values(run, predicate, first, second, values))
    if first.result == second.result and isinstance(first.result, str):
        join(run, predicate, first, second)
        return first.result  # type: ignore[return-value]
    ours, theirs = outcome_of(first.result), outcome_of(second.result)
    mine, other = paired(ours.value, theirs.value)
    pair = (ours.broke, ours.returned, mine), (theirs.broke, theirs.returned, other)
    broke, returned, value = join(run, predicate, first, second, pair)
    note_codes(run, value, mine, other)
    return Outcome(broke, returned, value)


def join_values(
    run: Run, predicate: Atom, first: Path, second: Path, values: tuple[Any, Any]
) -> Any:
    """Join two paths with their values, of which either may be `Fallible`."""
    pair = paired(*values)
    value = join(run, predicate, first, second, pair)
    note_codes(run, value, *pair)
    return value


def paired(first: Any, second: Any) -> tuple[Any, Any]:
    """Two values, both `Fallible` if one of them is."""
    if not (isinstance(first, Fallible) or isinstance(second, Fallible)):
        return first, second
    pair = (
        value if isinstance(value, Fallible) or value is UNDEFINED else Fallible(0, value)
        for value in (first, second)
    )
    return tuple(pair)  # type: ignore[return-value]


def note_codes(run: Run, value: Any, *parts: Any) -> None:
    """Note which errors the number of a joined value may stand for."""
    if isinstance(value, Fallible) and isinstance(value.code, Scalar):
        found = set[int]().union(*(codes_of(run, p) for p in parts if isinstance(p, Fallible)))
        run.codes[value.code.atom] = found


def codes_of(run: Run, value: Fallible) -> set[int]:
    """The numbers of the errors in which the block may have ended that a value is from."""
    if not isinstance(value.code, Scalar):
        return {value.code} - {0}
    return run.codes.get(value.code.atom, set(range(1, len(run.errors) + 1)))


def outcome_of(signal: Signal) -> Outcome:
    """A signal at the end of a loop's body as flags."""
    if isinstance(signal, Outcome):
        return signal
    if isinstance(signal, Returned):
        return Outcome(False, True, signal.value)
    return Outcome(signal == "break", False, UNDEFINED)


def join(
    run: Run, predicate: Atom, first: Path, second: Path, results: tuple[Any, Any] = (None, None)
) -> Any:
    """Record a `cond` of two paths and go on from where they meet; return the merged result."""
    age = min(first.age, second.age)
    worlds = (partial(inside, run, first), partial(inside, run, second))
    merger = Merger(run, f"line {run.location.line}", age, worlds, has_flags=True, may_be_set=True)
    sites: list[Site] = []
    shapes: list[Shape] = []
    for key in {**first.after, **second.after}:
        site = (first.after.get(key) or second.after[key])[0]
        if site.born > age:
            continue
        before, after = (
            p.after[key][1] if key in p.after else site.read() for p in (first, second)
        )
        sites.append(site)
        shapes.append(merger.site(site, before, after))
    result = merger.merge(*results)
    if isinstance(result, Spoiled):
        _refuse_paths(run, predicate, result.reason)
    merger.settle({site.key for site in sites})
    with inside(run, first):
        ours = merger.atoms("first")
    with inside(run, second):
        theirs = merger.atoms("second")
    outputs = _record(run, predicate, first, second, ours, theirs)
    run.widened.update(outputs[index] for index in merger.widened)
    for info, output in zip(merger.slots, outputs, strict=True):
        if info.hint:
            run.recorder.hints.setdefault(output, info.hint)
    *values, merged = merger.build([*shapes, result], outputs)
    for site, value in zip(sites, values, strict=True):
        run.set(site, value)
    return merged


def _refuse_paths(run: Run, predicate: Atom, reason: str) -> NoReturn:
    """Refuse what two paths give. If lengths decide between them, their numbers are asked for."""
    sizes: list[Any] = []
    waiting, seen = [predicate], set[Atom]()
    while waiting:
        asked = waiting.pop()
        if asked in seen or not isinstance(asked, Variable):
            continue
        seen.add(asked)
        if asked in run.terms:
            sizes.append(size_of(run.terms[asked]))
        elif asked in run.recorder.producers:
            waiting += run.recorder.producers[asked].inputs
    try:
        run.refuse(f"what this gives {reason}", "give the same kind of value on both paths")
    except StcompileError as error:
        if not sizes:
            raise
        length = UnknownSizeError(f"which path the length {sizes[0]} takes", tuple(sizes))
        raise error from length


def _record(
    run: Run,
    predicate: Atom,
    first: Path,
    second: Path,
    ours: Sequence[Atom],
    theirs: Sequence[Atom],
) -> tuple[Variable, ...]:
    if not ours and not any(e.effects for p in (first, second) for e in p.equations):
        return ()
    operands = dict.fromkeys(
        (
            *free_variables(first.equations, ours, ()),
            *free_variables(second.equations, theirs, ()),
        )
    )
    programs = {
        name: run.recorder.program(name, operands, outputs, path.equations)
        for name, path, outputs in (("then", first, ours), ("otherwise", second, theirs))
    }
    return run.record_atoms("cond", (predicate, *operands), programs)


def either(run: Run, first: Any, second: Any) -> Any:
    """``first or second`` of two flags."""
    return flags_joined(run, "or", first, second)


def flags_joined(run: Run, operator: str, first: Any, second: Any) -> Any:
    """Two flags, either of which may be known, joined by ``and`` or ``or``."""
    for one, other in ((first, second), (second, first)):
        if not is_traced(one):
            return other if bool(one) == (operator == "and") else operator == "or"
    return run.record(operator, first, second)
