"""``match``: structure, keys and classes are known at compile time, numbers may be traced.

A pattern is matched as a whole: the values that it captures are bound if all of it fits. If it
compares numbers that are known only at run time, its answer is a condition, and the case is an
``if``.
"""

from __future__ import annotations

import ast
import collections.abc
import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from stcompile.base.classes import MISSING
from stcompile.base.numpys import ARRAYS_ARE_SEQUENCES
from stcompile.frontend.control import comparisons, conditions
from stcompile.frontend.control.branches import branch, choose, predicate_of
from stcompile.frontend.control.paths import either
from stcompile.frontend.operations.attributes import attribute
from stcompile.frontend.operations.iteration import items_of, sequence_of
from stcompile.frontend.state.frames import Frame
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.signals import Signal
from stcompile.frontend.state.values import Array, Scalar, described, is_static, is_traced
from stcompile.frontend.syntax.targets import bind
from stcompile.wengert.ir import Equation

T = TypeVar("T")
Captures = dict[str, Any]

# Classes whose only positional sub-pattern is the value itself.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def visit_Match(run: Run, node: ast.Match, frame: Frame) -> Signal:
    return _cases(run, node.cases, run.evaluate(node.subject, frame), frame)


def _cases(run: Run, cases: Sequence[ast.match_case], subject: Any, frame: Frame) -> Signal:
    """Run the first case that fits."""
    if not cases:
        return None
    first, *rest = cases
    captures: Captures = {}
    fits = _on_line(run, first.pattern, frame, lambda: _fits(run, first, subject, frame, captures))

    def others() -> Signal:
        flag = first.pattern.value if isinstance(first.pattern, ast.MatchSingleton) else None
        is_other = is_traced(fits) and flag is not None and first.guard is None
        return _cases(run, rest, not flag if is_other else subject, frame)

    if is_traced(fits):
        taken = functools.partial(_taken, run, first, captures, frame, others)
        return _on_line(run, first.pattern, frame, lambda: branch(run, fits, taken, others))
    return _taken(run, first, captures, frame, others) if fits else others()


def _taken(
    run: Run, case: ast.match_case, captures: Captures, frame: Frame, others: Callable[[], Signal]
) -> Signal:
    """Bind the names that the pattern captured, and run the case if its guard holds."""

    def bind_all() -> None:
        for name, value in captures.items():
            target = ast.copy_location(ast.Name(name, ast.Store()), case.pattern)
            bind(run, target, value, frame)

    body = functools.partial(run.execute, case.body, frame)
    _on_line(run, case.pattern, frame, bind_all)
    guard = case.guard
    if guard is None:
        return body()
    holds = _on_line(run, guard, frame, lambda: conditions.evaluate_test(run, guard, frame))
    if is_traced(holds):
        run.at(guard, frame, lambda: predicate_of(run, holds))
        return _on_line(run, guard, frame, lambda: branch(run, holds, body, others))
    return body() if run.truth(holds) else others()


def _on_line(run: Run, node: ast.AST, frame: Frame, action: Callable[[], T]) -> T:
    """Run ``action`` for a part of a ``case`` line, at which errors point."""
    outer, frame.statement = frame.statement, node
    try:
        return run.at(node, frame, action)
    finally:
        frame.statement = outer


def _fits(run: Run, case: ast.match_case, subject: Any, frame: Frame, captures: Captures) -> Any:
    """True if the pattern of a case fits; a traced condition that cannot fail if the data
    decide."""
    before = len(run.recorder.equations)
    fits = _match(run, case.pattern, subject, frame, captures)
    recorded: list[Equation] = run.recorder.equations[before:]
    if is_traced(fits) and not conditions.never_fail(run, recorded):
        run.refuse(
            "this pattern compares values known only at run time, and computes others that may "
            "fail",
            "match the structure, and compare in the case with `if`",
        )
    return fits


def _match(run: Run, pattern: ast.pattern, value: Any, frame: Frame, captures: Captures) -> Any:
    """True if a value fits a pattern, or a traced condition; the pattern's captures go into
    ``captures``."""
    matcher = _PATTERNS[type(pattern)]
    return run.at(pattern, frame, lambda: matcher(run, pattern, value, frame, captures))


def _all(
    run: Run, pairs: Sequence[tuple[ast.pattern, Any]], frame: Frame, captures: Captures
) -> Any:
    """True if every value fits its pattern, or a traced condition."""
    total: Any = True
    for pattern, value in pairs:
        fits = _match(run, pattern, value, frame, captures)
        if fits is False:
            return False
        if fits is not True:
            total = fits if total is True else run.record("and", total, fits)
    return total


def _value(run: Run, pattern: ast.MatchValue, value: Any, frame: Frame, captures: Captures) -> Any:
    wanted = run.evaluate(pattern.value, frame)
    run.checked(value)
    if value is wanted and is_static(value):
        return True
    if isinstance(value, enum.Enum) or isinstance(wanted, enum.Enum):
        if not (is_static(value) and is_static(wanted)):
            return False
        return bool(value == wanted)
    equal = comparisons.compare(run, ast.Eq(), value, wanted)
    if is_traced(equal):
        return conditions.truth_of(run, equal)
    return run.truth(equal)


def _singleton(
    run: Run, pattern: ast.MatchSingleton, value: Any, frame: Frame, captures: Captures
) -> Any:
    run.checked(value)
    wanted = pattern.value
    is_bool = isinstance(value, Scalar) and value.type.kind == "python"
    if is_bool and wanted is not None and value.type.dtype.kind == "b":
        return value if wanted else run.record("not", value)
    return value is wanted


def _sequence(
    run: Run, pattern: ast.MatchSequence, value: Any, frame: Frame, captures: Captures
) -> Any:
    run.checked(value)
    if not _is_sequence(value):
        return False
    parts: list[ast.pattern] = pattern.patterns
    stars = [index for index, part in enumerate(parts) if isinstance(part, ast.MatchStar)]
    if isinstance(value, Array) and not stars and sequence_of(run, value).length != len(parts):
        return False  # before its items are taken, which may be many
    items = items_of(run, value)
    if not stars:
        if len(items) != len(parts):
            return False
        return _all(run, list(zip(parts, items, strict=True)), frame, captures)
    at = stars[0]
    after = len(items) - (len(parts) - at - 1)
    if after < at:
        return False
    star = parts[at]
    before = zip(parts[:at], items[:at], strict=True)
    pairs = [*before, *zip(parts[at + 1 :], items[after:], strict=True)]
    fits = _all(run, pairs, frame, captures)
    if isinstance(star, ast.MatchStar) and star.name is not None and fits is not False:
        captures[star.name] = run.own(items[at:after])
    return fits


def _is_sequence(value: Any) -> bool:
    """True for values that a sequence pattern may fit, by their class. For arrays it depends on the
    version of NumPy."""
    if isinstance(value, Array):
        return ARRAYS_ARE_SEQUENCES
    is_text = isinstance(value, str | bytes | bytearray)
    return isinstance(value, collections.abc.Sequence) and not is_text


def _mapping(
    run: Run, pattern: ast.MatchMapping, value: Any, frame: Frame, captures: Captures
) -> Any:
    run.checked(value)
    if not isinstance(value, collections.abc.Mapping):
        return False
    if not isinstance(value, dict):
        run.refuse(f"matching {described(value)} as a mapping is not supported", "use a dict")
    keys = [run.evaluate(key, frame) for key in pattern.keys]
    for key in keys:
        if not is_static(key):
            run.refuse("a key of this pattern is known only at run time", "use strings or ints")
    if not all(key in value for key in keys):
        return False
    pairs = [(part, value[key]) for part, key in zip(pattern.patterns, keys, strict=True)]
    fits = _all(run, pairs, frame, captures)
    if pattern.rest is not None and fits is not False:
        rest = {key: item for key, item in value.items() if key not in keys}
        captures[pattern.rest] = run.own(rest)
    return fits


def _class(run: Run, pattern: ast.MatchClass, value: Any, frame: Frame, captures: Captures) -> Any:
    cls = run.evaluate(pattern.cls, frame)
    if not isinstance(cls, type):
        run.at(pattern.cls, frame, lambda: run.refuse(f"{described(cls)} is not a class", ""))
    run.checked(value)
    if not run.call(isinstance, (value, cls), {}):
        return False
    positional = pattern.patterns
    pairs: list[tuple[ast.pattern, Any]] = []
    names: list[str] = []
    named = run.relied.lookup(cls, "__match_args__")
    if positional and named is MISSING and issubclass(cls, _WHOLE):
        if len(positional) > 1:
            run.refuse(f"`{cls.__name__}` takes one positional sub-pattern", "name the attributes")
        pairs.append((positional[0], value))
    elif positional:
        given = named if isinstance(named, tuple) else ()
        if len(positional) > len(given):
            run.refuse(
                f"`{cls.__name__}` has {len(given)} positional sub-patterns, not {len(positional)}",
                "name the attributes, or give the class __match_args__",
            )
        names += given[: len(positional)]
    names += pattern.kwd_attrs
    parts = [*positional[len(pairs) :], *pattern.kwd_patterns]
    for name, part in zip(names, parts, strict=True):
        found = attribute(run, value, name, MISSING)
        if found is MISSING:
            return False
        pairs.append((part, found))
    return _all(run, pairs, frame, captures)


def _as(run: Run, pattern: ast.MatchAs, value: Any, frame: Frame, captures: Captures) -> Any:
    inner = pattern.pattern
    fits = True if inner is None else _match(run, inner, value, frame, captures)
    if pattern.name is not None and fits is not False:
        captures[pattern.name] = run.checked(value)
    return fits


def _or(run: Run, pattern: ast.MatchOr, value: Any, frame: Frame, captures: Captures) -> Any:
    total: Any = False
    ways: list[tuple[Any, Captures]] = []
    for part in pattern.patterns:
        found: Captures = {}
        fits = _match(run, part, value, frame, found)
        if fits is False:
            continue
        ways.append((fits, found))
        total = fits if total is False else either(run, total, fits)
        if total is True:
            break
    captures.update(_captured(run, ways))
    return total


def _captured(run: Run, ways: Sequence[tuple[Any, Captures]]) -> Captures:
    """The captures of the first alternative that fits, out of those that may fit."""
    if not ways:
        return {}
    (fits, found), *others = ways
    if not others or not found:
        return found
    rest = _captured(run, others)
    return {
        name: choose(
            run, fits, functools.partial(_same, item), functools.partial(_same, rest[name])
        )
        for name, item in found.items()
    }


def _same(value: Any) -> Any:
    return value


_PATTERNS: dict[type[ast.pattern], Callable[..., Any]] = {
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
    ast.MatchAs: _as,
    ast.MatchOr: _or,
}
