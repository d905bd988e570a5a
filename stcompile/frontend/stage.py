"""Staging a call: from a function and its arguments to a Wengert list."""

from __future__ import annotations

import builtins
import functools
import itertools
import os
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from stcompile.analysis.cautions import distinct
from stcompile.base import trees
from stcompile.base.classes import is_plain_value
from stcompile.base.containers import ITEMIZED
from stcompile.base.errors import LanguageError, TypingError
from stcompile.base.location import Location
from stcompile.base.opening import objects_in
from stcompile.base.places import Place
from stcompile.base.timings import timed
from stcompile.base.wording import an
from stcompile.frontend.calls import call
from stcompile.frontend.control.failing import may_fail
from stcompile.frontend.effects import effects_of
from stcompile.frontend.inlining import RECURSION_LIMIT
from stcompile.frontend.lists.item_layouts import Layout, Rows, leaves_of
from stcompile.frontend.lists.leaving import with_rows
from stcompile.frontend.operations.nested import array_of
from stcompile.frontend.state.attempts import Attempts
from stcompile.frontend.state.outside import StagedAgain
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, described, is_traced
from stcompile.frontend.state.walking import Language
from stcompile.frontend.syntax.expressions import EXPRESSIONS
from stcompile.frontend.syntax.raising import fail
from stcompile.frontend.syntax.statements import STATEMENTS
from stcompile.wengert.dims import Sizes, Symbol, UnknownSizeError, symbols_in
from stcompile.wengert.ir import Atom, Program, Variable
from stcompile.wengert.naming import name_variables
from stcompile.wengert.staged import (
    Effect,
    Group,
    Item,
    Listed,
    Reference,
    Result,
    Staged,
    setting_of,
)
from stcompile.wengert.types import Type, is_input, is_number

LANGUAGE = Language(EXPRESSIONS, STATEMENTS, call, array_of, fail, may_fail)

# Held while a call is staged, because the recursion limit, which is raised meanwhile, is global.
STAGING = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child is made when the lock is free and the limit restored
    os.register_at_fork(
        before=STAGING.acquire, after_in_parent=STAGING.release, after_in_child=STAGING.release
    )


@timed("frontend")
def stage(
    function: Any,
    arguments: Mapping[str, Any],
    call_with: Sequence[str],
    *,
    name: str,
    writeable: Sequence[str] = (),
    changed: Sequence[str] = (),
    keywords: Sequence[str] = (),
    sizes: Mapping[tuple[str, trees.Path], Sizes] = MappingProxyType({}),
) -> Staged:
    """Stage ``function(*call_with, **keywords)``, the names being those of ``arguments``.

    The contents of ``arguments`` are only looked at for their types. Arguments named in
    ``writeable`` may be written to: their new contents are stored into them at the end. Arguments
    named in ``changed`` will be written to in all their arrays. ``sizes`` are the dims of arrays
    some of whose lengths have names.
    """

    def staged(run: Run) -> Staged:
        value = _called(run, function, arguments, call_with, writeable, changed, keywords)
        return _finish(run, value, name)

    attempts = Attempts()
    while True:
        run = Run(LANGUAGE, attempts)
        run.captures.sizes = sizes
        run.captures.varying, run.captures.is_fixed = {*attempts.varying}, attempts.is_fixed
        run.names = itertools.count(1 + len(set(symbols_in(tuple(sizes.values())))))
        try:
            return staged(run)
        except UnknownSizeError as error:
            error.location = error.location or _maker_of(run, error.symbols)
            raise
        except (StagedAgain, LanguageError, TypingError) as error:
            attempts.after(error, run.captures.varying)


def _maker_of(run: Run, symbols: Collection[Symbol]) -> Location | None:
    """The user's line that makes the lengths with these names."""
    for equation in run.recorder.producers.values():
        if equation.binds in symbols:
            return equation.location.shown
    return None


def _called(
    run: Run,
    function: Any,
    arguments: Mapping[str, Any],
    call_with: Sequence[str],
    writeable: Sequence[str],
    changed: Sequence[str],
    keywords: Sequence[str],
) -> Any:
    mirrors: dict[str, Any] = {}
    for key, value in arguments.items():
        mirrors[key] = run.captures.argument(key, value, key in writeable, key in changed)
        for path, leaf in trees.leaves(value):
            if not is_plain_value(leaf) and not is_input(leaf):
                shown = trees.show_path(key, path)
                run.relied.track(leaf, Place.constant(leaf, shown))
                run.mirrors.given.setdefault(id(leaf), shown)
    for key, mirror in mirrors.items():
        run.origins.update(_origins(mirror, key))
        for at, path, shown in _parts(mirror, key):
            run.mirrors.given[at] = shown
            if any(kind == "attribute" for kind, _ in path):
                run.mirrors.of_objects.add(at)
        for _, facts in objects_in(mirror):
            for name, part in facts.parts.items():
                for at, path, _ in _parts(part, name):
                    if not any(kind == "attribute" for kind, _ in path):
                        run.mirrors.of_parts[at] = facts.kind, name
    originals = _cells(mirrors)
    with _deep_recursion():
        value = run.call(
            function, [mirrors[key] for key in call_with], {key: mirrors[key] for key in keywords}
        )
    kept = [(site.owner, site.owner.made) for site in run.outside.cells]
    for cell, variable in (*originals, *kept):
        if cell.variable is not variable:
            run.record_atoms("store", (variable, cell.variable), {})
    return value


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Raise the recursion limit, since the interpreter recurses about fifteen times for each call
    that it inlines."""
    with STAGING:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 25 * RECURSION_LIMIT + 1000))
        try:
            yield
        finally:
            sys.setrecursionlimit(limit)


def _cells(mirrors: Mapping[str, Any]) -> list[tuple[Any, Variable]]:
    arrays = [leaf for mirror in mirrors.values() for _, leaf in trees.leaves(mirror)]
    return [(leaf.cell, leaf.cell.variable) for leaf in arrays if isinstance(leaf, Array)]


def _origins(value: Any, root: str) -> dict[int, tuple[Any, str]]:
    """The namedtuples, dataclasses and static leaves of an argument, by identity, each with its
    expression."""
    found = {}
    parts = trees.children(value)
    if trees.is_namedtuple(value) or trees.is_dataclass(value) or parts is None:
        found[id(value)] = (value, root)
    for step, part in parts or ():
        found.update(_origins(part, trees.show_path(root, (step,))))
    return found


def _parts(value: Any, root: str, path: trees.Path = ()) -> Iterator[tuple[int, trees.Path, str]]:
    """The structures in an argument, by identity, each with its path and its expression."""
    parts = trees.children(value)
    if parts is not None:
        yield id(value), path, trees.show_path(root, path)
    for step, part in parts or ():
        yield from _parts(part, root, (*path, step))


def _finish(run: Run, value: Any, name: str) -> Staged:
    result = run.about_result(lambda: _result(run, value))
    effects = effects_of(run, lambda part: _result(run, part))
    kept = [part for effect in effects for part in effect.results]
    items = [item for part in (result, *kept) for item in _items(part)]
    outputs = tuple(item.atom for item in items if item.atom is not None)
    used = _used(run, outputs) | {*_roots(effects)}
    hidden = [h for h in run.captures.hidden if h.variable in used]
    for one in run.captures.hidden:
        if one.variable not in used:  # nothing is computed from it, but Python would read it
            run.relied.guard(one.place.fact("kind", _kind))
    inputs = (*(leaf.variable for leaf in run.captures.leaves), *(h.variable for h in hidden))
    raw = Program(name, inputs, tuple(run.recorder.equations), outputs)
    staged = Staged(
        raw,
        tuple(run.captures.leaves),
        tuple(hidden),
        run.relied.all_guards(),
        result,
        distinct(run.cautions),
        tuple(run.captures.beside),
        effects,
        tuple(item.cell for item in items) if effects else (),
        run.outside.set_apart,
    )
    return staged.with_program(name_variables(raw, run.recorder.hints))


def _kind(value: Any) -> Any:
    """The facts about a captured value that a program may read without the value."""
    return (value.dtype, value.shape) if isinstance(value, np.ndarray) else type(value)


def _result(run: Run, value: Any) -> Result:
    if filled_in(value) is not None:
        return _listed(run, with_rows(run, value))
    run.checked(value)
    if is_traced(value) or is_number(value):
        return Item(run.atom(value), cell=value.cell.born if isinstance(value, Array) else 0)
    children = trees.children(value)
    if children is None:
        if trees.is_plain_key(value):
            return Item(None, value)
        if id(value) not in run.origins:
            run.refuse(f"the function returns {described(value)}", "return numbers or arrays")
        return Item(None, value, run.origins[id(value)][1])
    keys = tuple(key for (_, key), _ in children)
    parts = tuple(_result(run, part) for _, part in children)
    if type(value) in (*ITEMIZED, SimpleNamespace):
        setting = setting_of(value, functools.partial(_factory, run))
        return Group(type(value).__name__, keys, parts, setting=setting)
    if id(value) not in run.origins:
        run.refuse(
            f"the function returns {an(type(value).__name__)} that it made itself",
            "return a dict or a tuple",
        )
    kind = "namedtuple" if trees.is_namedtuple(value) else "dataclass"
    return Group(kind, keys, parts, run.origins[id(value)][1])


def _factory(run: Run, function: Any) -> Result:
    """The factory of a `collections.defaultdict` that is returned."""
    name = str(getattr(function, "__name__", ""))
    if vars(builtins).get(name) is not function:
        run.refuse(
            "the function returns a defaultdict whose factory is a function of the program",
            "return a plain dict: dict(table)",
        )
    return Reference(None, name)


def _listed(run: Run, rows: Rows) -> Result:
    """The result for a list whose length the data decide."""
    if not rows.columns:
        return Group("list", (), ())
    columns = iter(rows.columns.values())

    def item(layout: Layout) -> Result:
        if isinstance(layout, Type):
            return Item(run.atom(next(columns)))
        keys, parts = tuple(range(len(layout))), tuple(map(item, layout))
        return Group(type(layout).__name__, keys, parts)

    kinds = [type_.kind for type_ in leaves_of(rows.layout)]
    return Listed(item(rows.layout), tuple(i for i, k in enumerate(kinds) if k == "python"))


def _items(result: Result) -> Iterator[Item]:
    """The leaves of a result that are computed."""
    if isinstance(result, Listed):
        yield from _items(result.item)
    elif isinstance(result, Group):
        for part in result.parts:
            yield from _items(part)
    elif isinstance(result, Item) and result.atom is not None:
        yield result


def _roots(effects: Sequence[Effect]) -> Iterator[Variable]:
    """The hidden inputs that are changed, or kept."""
    values = [effect.value for effect in effects]
    stack: list[Any] = [*(effect.target for effect in effects), *values]
    while stack:
        part = stack.pop()
        if isinstance(part, Group):
            stack += [*part.parts, part.setting]
        elif isinstance(part, Reference) and part.root is not None:
            yield part.root


def _used(run: Run, outputs: Sequence[Atom]) -> set[Variable]:
    used = {atom for atom in outputs if isinstance(atom, Variable)}
    for equation in run.recorder.equations:
        used.update(equation.variables)
    return used
