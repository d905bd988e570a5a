"""Staging a call: from a function and its arguments to a Wengert list."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from stcompile.analysis.cautions import Caution, distinct
from stcompile.base import trees
from stcompile.base.timings import timed
from stcompile.base.wording import an
from stcompile.frontend.calls import RECURSION_LIMIT, call
from stcompile.frontend.operations.nested import array_of
from stcompile.frontend.state.capture import Guard, Hidden, Leaf, has_attributes, is_input
from stcompile.frontend.state.places import Place
from stcompile.frontend.state.run import Language, Run
from stcompile.frontend.state.values import Array, Masked, Scalar, described
from stcompile.frontend.syntax.expressions import EXPRESSIONS
from stcompile.frontend.syntax.statements import STATEMENTS
from stcompile.wengert.ir import Atom, Program, Variable
from stcompile.wengert.naming import name_variables
from stcompile.wengert.types import is_number

LANGUAGE = Language(EXPRESSIONS, STATEMENTS, call, array_of)

# Held while a call is staged: the recursion limit, which is raised meanwhile, is the process's own.
STAGING = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child is made when the lock is free and the limit restored
    os.register_at_fork(
        before=STAGING.acquire, after_in_parent=STAGING.release, after_in_child=STAGING.release
    )


@dataclass(frozen=True)
class Item:
    """A leaf of a result: an atom of the program, or (``atom`` None) a static value; one that has
    no literal is part of an argument, an expression such as ``params["activation"]``."""

    atom: Atom | None
    value: Any = None
    like: str = ""


@dataclass(frozen=True)
class Group:
    """A structure in a result. A namedtuple or dataclass is made ``like`` an argument's, an
    expression such as ``params["rnn"]``."""

    kind: str
    keys: tuple[Any, ...]
    parts: tuple[Result, ...]
    like: str = ""


Result: TypeAlias = "Item | Group"


@dataclass(frozen=True)
class Staged:
    """A staged call.

    ``program`` computes the leaves of ``result``, the structure that the call returns;
    its inputs are the arguments' ``leaves``, then the ``hidden`` ones. ``guards`` are what else it
    depends on, ``cautions`` what the user is to be warned of; ``beside`` are the attributes of
    arguments that it reads and that are none of their parts: the argument, and the path.
    """

    program: Program
    leaves: tuple[Leaf, ...]
    hidden: tuple[Hidden, ...]
    guards: tuple[Guard, ...]
    result: Result
    cautions: tuple[Caution, ...] = ()
    beside: tuple[tuple[str, trees.Path], ...] = ()


@timed("frontend")
def stage(
    function: Any,
    arguments: Mapping[str, Any],
    call_with: Sequence[str],
    *,
    name: str,
    writeable: Sequence[str] = (),
    keywords: Sequence[str] = (),
) -> Staged:
    """Stage ``function(*call_with, **keywords)``, the names being those of ``arguments``.

    The contents of ``arguments`` are only looked at for their types. Arguments named in
    ``writeable`` may be written to: their new contents are stored into them at the end.
    """
    run = Run(LANGUAGE)
    mirrors: dict[str, Any] = {}
    for key, value in arguments.items():
        mirrors[key] = run.captures.argument(key, value, writeable=key in writeable)
        for path, leaf in trees.leaves(value):
            if has_attributes(leaf) and not is_input(leaf):
                run.captures.track(leaf, Place.constant(leaf, trees.show_path(key, path)))
    for key, mirror in mirrors.items():
        run.origins.update(_origins(mirror, key))
    originals = _cells(mirrors)
    with _deep_recursion():
        value = run.call(
            function, [mirrors[key] for key in call_with], {key: mirrors[key] for key in keywords}
        )
    for cell, variable in originals:
        if cell.variable is not variable:
            run.record_atoms("store", (variable, cell.variable), {})
    return _finish(run, value, name)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Room for the interpreter, which recurses about fifteen times for each call it inlines."""
    with STAGING:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 15 * RECURSION_LIMIT + 1000))
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


def _finish(run: Run, value: Any, name: str) -> Staged:
    result = run.about_result(lambda: _result(run, value))
    outputs = tuple(_atoms(result))
    used = _used(run, outputs)
    hidden = [h for h in run.captures.hidden if h.variable in used]
    for one in run.captures.hidden:
        if one.variable not in used:  # nothing is computed of it, but Python reads it
            run.captures.guard(one.place.fact("presence", _is_there))
    inputs = (*(leaf.variable for leaf in run.captures.leaves), *(h.variable for h in hidden))
    raw = Program(name, inputs, tuple(run.recorder.equations), outputs)
    program = name_variables(raw, run.recorder.hints)
    renamed = dict(zip(raw.inputs, program.inputs, strict=True))
    return Staged(
        program,
        tuple(replace(leaf, variable=renamed[leaf.variable]) for leaf in run.captures.leaves),
        tuple(replace(h, variable=renamed[h.variable]) for h in hidden),
        tuple(run.captures.guards.values()),
        with_atoms(result, program.outputs),
        distinct(run.cautions),
        tuple(run.captures.beside),
    )


def _is_there(value: Any) -> bool:
    """True: reading what is not there raises an error."""
    return True


def _result(run: Run, value: Any) -> Result:
    run.checked(value)
    if isinstance(value, Array | Scalar) or is_number(value):
        return Item(run.atom(value))
    if isinstance(value, Masked):
        run.refuse_masked()
    children = trees.children(value)
    if children is None:
        if trees.is_plain_key(value):
            return Item(None, value)
        if id(value) not in run.origins:
            run.refuse(f"the function returns {described(value)}", "return numbers or arrays")
        return Item(None, value, run.origins[id(value)][1])
    keys = tuple(key for (_, key), _ in children)
    parts = tuple(_result(run, part) for _, part in children)
    if type(value) in (dict, list, tuple):
        return Group(type(value).__name__, keys, parts)
    if id(value) not in run.origins:
        run.refuse(
            f"the function returns {an(type(value).__name__)} that it made itself",
            "return a dict or a tuple",
        )
    kind = "namedtuple" if trees.is_namedtuple(value) else "dataclass"
    return Group(kind, keys, parts, run.origins[id(value)][1])


def _atoms(result: Result) -> Iterator[Atom]:
    if isinstance(result, Group):
        for part in result.parts:
            yield from _atoms(part)
    elif result.atom is not None:
        yield result.atom


def with_atoms(result: Result, atoms: Sequence[Atom]) -> Result:
    """The result with other atoms, in order: those of a program's outputs after a pass."""
    rest = iter(atoms)

    def walk(part: Result) -> Result:
        if isinstance(part, Group):
            return replace(part, parts=tuple(map(walk, part.parts)))
        return part if part.atom is None else Item(next(rest))

    return walk(result)


def _used(run: Run, outputs: Sequence[Atom]) -> set[Variable]:
    used = {atom for atom in outputs if isinstance(atom, Variable)}
    for equation in run.recorder.equations:
        used.update(equation.variables)
    return used
