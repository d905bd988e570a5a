"""Staged calls: a program, the values that it reads and the structure that it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from stcompile.base import trees
from stcompile.base.containers import settings_of
from stcompile.base.errors import Caution
from stcompile.base.guards import UNREADABLE, Guard
from stcompile.base.places import Place
from stcompile.base.strides import layout_of
from stcompile.wengert.ir import Atom, Program, Variable
from stcompile.wengert.types import OUTER, is_communicator, is_counter, is_input, type_of


@dataclass(frozen=True)
class Leaf:
    """An argument's array or number: the argument, the path inside it, its variable, and whether it
    is an array that is contiguous in C order."""

    argument: str
    path: trees.Path
    variable: Variable
    contiguous: bool = False


@dataclass(frozen=True)
class Hidden:
    """A captured array or number: its variable, and the place where it is read at each call;
    ``layout`` is the layout of an array in memory (see `layout_of`)."""

    variable: Variable
    place: Place
    layout: Any = None

    def read(self) -> Any:
        return self.place.read()

    def fits(self) -> bool:
        """True if the present value is of the type that the program was made for."""
        try:
            value = self.read()
        except UNREADABLE:
            return False
        if self.variable.type.name == OUTER:
            return True
        if not (is_input(value) or is_communicator(value) or is_counter(value)):
            return False
        if type_of(value) != self.variable.type:
            return False
        return not isinstance(value, np.ndarray) or layout_of(value) == self.layout


@dataclass(frozen=True)
class Item:
    """A leaf of a result: an atom of the program, or (``atom`` None) a static value; a static value
    without a literal is part of an argument, an expression such as ``params["activation"]``.
    ``cell`` is the number of an array's storage; 0 is the caller's."""

    atom: Atom | None
    value: Any = None
    like: str = ""
    cell: int = 0


@dataclass(frozen=True)
class Group:
    """A structure in a result. A namedtuple or dataclass is made ``like`` an argument's, an
    expression such as ``params["rnn"]``. ``setting`` is the greatest length of a deque, the factory
    of a `collections.defaultdict`."""

    kind: str
    keys: tuple[Any, ...]
    parts: tuple[Result, ...]
    like: str = ""
    setting: Result | None = None


@dataclass(frozen=True)
class Listed:
    """A list whose number of items the data decide. ``item`` is the structure of its items: each
    atom in it is an array with a row for each item. Those at the positions ``numbers`` are of
    Python numbers."""

    item: Result
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Reference:
    """An object of the caller: the code of an argument or a part of it, or (with a ``root``) of a
    hidden input or a part of it. ``is_made``: it is one that earlier effects have made."""

    root: Variable | None
    text: str
    is_made: bool = False

    @property
    def depth(self) -> int:
        """The number of parts that lead to it."""
        return self.text.count(".") + self.text.count("[")


Result: TypeAlias = "Item | Group | Listed | Reference"


@dataclass(frozen=True)
class Effect:
    """A change of an object of the caller at the end of a call. ``kind`` is ``set``, ``store``
    (without the methods of its class) or ``delete`` for the attribute ``key``, ``put`` or ``drop``
    for the item, ``extend``, ``extendleft``, ``update``, ``clear`` or ``renew`` for the contents of
    a container,
    ``make`` for a new container, ``new`` for a new object of the class ``value``. It is made only
    if ``when`` is true."""

    kind: str
    target: Reference
    key: Any = None
    value: Result | None = None
    when: Result | None = None

    @property
    def results(self) -> list[Result]:
        """The values that it needs."""
        return [part for part in (self.value, self.when) if part is not None]


@dataclass(frozen=True)
class Staged:
    """A staged call, before it is compiled.

    ``program`` computes the leaves of ``result``, the structure that the call returns; its inputs
    are the arguments' ``leaves``, then the ``hidden`` values. ``guards`` are the other facts that
    it depends on, ``cautions`` the user's lines to warn of; ``beside`` are the attributes of
    arguments that it reads although they are not fields: the argument, the path, and whether only
    the "class" counts, or the "keys" as well, because calls change what is in it. ``effects``
    are its changes of objects of the caller: the last outputs of the program are what these get.
    ``cells`` tell the outputs apart then: arrays of one number are one array, those of 0 may be the
    caller's. ``sets`` are the attributes of objects taken apart that it sets: the class and the
    name.
    """

    program: Program
    leaves: tuple[Leaf, ...]
    hidden: tuple[Hidden, ...]
    guards: tuple[Guard, ...]
    result: Result
    cautions: tuple[Caution, ...] = ()
    beside: tuple[tuple[str, trees.Path, str], ...] = ()
    effects: tuple[Effect, ...] = ()
    cells: tuple[int, ...] = ()
    sets: frozenset[tuple[type, str]] = frozenset()

    @property
    def written(self) -> tuple[str, ...]:
        """The arguments with an array that the program writes into."""
        stores = {e.inputs[0] for e in self.program.equations if e.primitive == "store"}
        return tuple(dict.fromkeys(x.argument for x in self.leaves if x.variable in stores))

    def without_stores(self) -> Staged:
        """The call without the stores into its arguments, for looking at it."""
        kept = tuple(e for e in self.program.equations if e.primitive != "store")
        return self.with_program(replace(self.program, equations=kept))

    def with_program(self, program: Program) -> Staged:
        """The call with another program that has as many inputs and outputs: after a pass, or with
        other names."""
        renamed = dict(zip(self.program.inputs, program.inputs, strict=True))
        atoms = iter(program.outputs)
        return replace(
            self,
            program=program,
            leaves=tuple(replace(leaf, variable=renamed[leaf.variable]) for leaf in self.leaves),
            hidden=tuple(replace(h, variable=renamed[h.variable]) for h in self.hidden),
            result=_with_atoms(self.result, atoms, renamed),
            effects=tuple(_with_effect(effect, atoms, renamed) for effect in self.effects),
        )

    @property
    def changed_outputs(self) -> int:
        """The number of outputs that the effects need."""
        return sum(_count(part) for effect in self.effects for part in effect.results)


Renamed: TypeAlias = dict[Variable, Variable]


def setting_of(container: Any, of_factory: Callable[[Any], Result]) -> Result | None:
    """The setting of a container in a result; ``of_factory`` gives that of a function."""
    for setting in settings_of(container):
        if setting is not None:
            return Item(None, setting) if isinstance(setting, int) else of_factory(setting)
    return None


def _with_effect(effect: Effect, atoms: Iterator[Atom], renamed: Renamed) -> Effect:
    """The effect with other atoms, in order."""
    target = replace(effect.target, root=_renamed(effect.target.root, renamed))
    value = None if effect.value is None else _with_atoms(effect.value, atoms, renamed)
    when = None if effect.when is None else _with_atoms(effect.when, atoms, renamed)
    return replace(effect, target=target, value=value, when=when)


def _renamed(root: Variable | None, renamed: Renamed) -> Variable | None:
    return None if root is None else renamed[root]


def _with_atoms(result: Result, atoms: Iterator[Atom], renamed: Renamed) -> Result:
    """The result with other atoms, in order."""
    if isinstance(result, Reference):
        return replace(result, root=_renamed(result.root, renamed))
    if isinstance(result, Listed):
        return replace(result, item=_with_atoms(result.item, atoms, renamed))
    if isinstance(result, Group):
        parts = tuple(_with_atoms(part, atoms, renamed) for part in result.parts)
        told = result.setting
        setting = None if told is None else _with_atoms(told, atoms, renamed)
        return replace(result, parts=parts, setting=setting)
    return result if result.atom is None else Item(next(atoms))


def _count(result: Result) -> int:
    """The number of atoms in a result."""
    if isinstance(result, Group):
        return sum(map(_count, result.parts))
    if isinstance(result, Listed):
        return _count(result.item)
    return isinstance(result, Item) and result.atom is not None
