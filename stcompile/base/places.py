"""Places: where a captured value is read from, now and at every call."""

from __future__ import annotations

import builtins
import keyword
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stcompile.base import trees
from stcompile.base.classes import MISSING, find, names_of, owner_of

Bind: TypeAlias = Callable[[Any], str]  # gives an object a name in the generated code


@dataclass(frozen=True)
class Place:
    """A global, a closure cell, an attribute, or a part of the object that another place holds.

    ``key`` tells places apart; ``read`` gets the present value; ``expression`` is Python code that
    does the same, for code in which every object has the name that ``bind`` gives it. A part of the
    object in another place is ``within`` that place: the code that follows the object's is beside
    it, such as ``.weights[0]``.
    """

    key: tuple[Any, ...]
    read: Callable[[], Any] = field(compare=False)
    expression: Callable[[Bind], str] = field(compare=False, repr=False)
    description: str = field(compare=False)
    within: tuple[Place, str] | None = field(default=None, compare=False, repr=False)

    @property
    def is_of_object(self) -> bool:
        """True for what an attribute of an object holds, or a part of that."""
        if self.within is None:
            return False
        outer, text = self.within
        if text.startswith(".") and not text.startswith(".__"):
            return not isinstance(outer.read(), types.ModuleType | types.FunctionType)
        return outer.is_of_object

    @staticmethod
    def constant(value: Any, description: str) -> Place:
        """A place that always holds ``value``, for example the function that is compiled."""
        return Place(("constant", id(value)), lambda: value, lambda bind: bind(value), description)

    @staticmethod
    def of_global(names: dict[str, Any], name: str) -> Place:
        return Place(
            ("global", id(names), name),
            lambda: names[name],
            lambda bind: f"{bind(names)}[{name!r}]",
            name,
        )

    @staticmethod
    def of_builtin(names: dict[str, Any], name: str) -> Place:
        """A builtin, unless a global of the same name hides it."""

        def read() -> Any:
            return names[name] if name in names else getattr(builtins, name)

        def expression(bind: Bind) -> str:
            here = bind(names)
            return f"({here}[{name!r}] if {name!r} in {here} else {bind(builtins)}.{name})"

        return Place(("builtin", id(names), name), read, expression, name)

    @staticmethod
    def has_name(names: dict[str, Any], name: str) -> Place:
        """A place that holds True if there is a global or a builtin called ``name``."""
        return Place(
            ("has name", id(names), name),
            lambda: name in names or hasattr(builtins, name),
            lambda bind: f"({name!r} in {bind(names)} or hasattr({bind(builtins)}, {name!r}))",
            f"whether there is a name {name}",
        )

    @staticmethod
    def has_value(cell: types.CellType, name: str) -> Place:
        """A place that holds True if the variable of an enclosing function has a value."""
        return Place(
            ("has value", id(cell)),
            lambda: is_filled(cell),
            lambda bind: f"{bind(is_filled)}({bind(cell)})",
            f"whether {name} has a value",
        )

    @staticmethod
    def of_cell(cell: types.CellType, name: str) -> Place:
        return Place(
            ("cell", id(cell)),
            lambda: cell.cell_contents,
            lambda bind: f"{bind(cell)}.cell_contents",
            name,
        )

    @staticmethod
    def of_class(cls: type, name: str, after: type | None = None) -> Place:
        """A place with the result of `find` for a class and a name, unbound, or `MISSING`. With
        ``after`` only later classes of the method resolution order count. The look-up is quick if
        ``cls`` itself has the name now."""
        owner = owner_of(cls, name, after)

        def expression(bind: Bind) -> str:
            if after is None and owner is cls:
                return f"{bind(cls)}.__dict__[{name!r}]"
            if after is None and owner is None and getattr(cls, name, MISSING) is MISSING:
                return f"getattr({bind(cls)}, {name!r}, {bind(MISSING)})"
            return f"{bind(find)}({bind(cls)}, {name!r}, {bind(after)})"

        shown = cls.__name__ if owner is None else owner.__name__
        return Place(
            ("class", id(cls), name, id(after)),
            lambda: find(cls, name, after),
            expression,
            f"{shown}.{name}",
        )

    @staticmethod
    def of_names(module: types.ModuleType, names: tuple[str, ...]) -> Place:
        """The objects under some names of a module, as a tuple."""
        held = vars(module)
        several = names if len(names) > 1 else names * 2  # one name alone would not give a tuple
        fetch = operator.itemgetter(*several)
        return Place(
            ("names", id(held), names),
            lambda: fetch(held),
            lambda bind: f"{bind(fetch)}({bind(held)})",
            f"{', '.join(names)} of {module.__name__}",
        )

    @staticmethod
    def of_registration(cls: type, base: type) -> Place:
        """A place that holds True if a class counts as a subclass of an abstract base class, by
        inheritance or by registration."""
        return Place(
            ("registration", id(cls), id(base)),
            lambda: issubclass(cls, base),
            lambda bind: f"issubclass({bind(cls)}, {bind(base)})",
            f"{cls.__name__} as {base.__name__}",
        )

    def kind(self) -> Place:
        """A place that holds the class of the object in this place."""
        read, written = self.read, self.expression
        return Place(
            ("type", self.key),
            lambda: type(read()),
            lambda bind: f"type({written(bind)})",
            f"type of {self.description}",
        )

    def has_own(self, name: str) -> Place:
        """A place that holds True if the object in this place has the attribute in its own dict."""
        read, written = self.read, self.expression
        return Place(
            ("own", self.key, name),
            lambda: name in (names_of(read()) or ()),
            lambda bind: f"({name!r} in {written(bind)}.__dict__)",
            f"own {name} of {self.description}",
        )

    def attribute(self, name: str) -> Place:
        read, written, shown = self.read, self.expression, f"{self.description}.{name}"
        return Place(
            ("attribute", self.key, name),
            lambda: getattr(read(), name),
            lambda bind: attribute_expression(written(bind), name),
            shown,
            (self, f".{name}"),
        )

    def part(self, path: trees.Path) -> Place:
        if self.key[0] == "part" and self.within is not None:
            return self.within[0].part((*self.key[2], *path))
        read, written = self.read, self.expression
        return Place(
            ("part", self.key, path),
            lambda: trees.follow(read(), path),
            lambda bind: part_expression(written(bind), path, bind),
            trees.show_path(self.description, path),
            (self, trees.show_path("", path)),
        )

    def holds(self, other: Place) -> bool:
        """True if the other place is a part of the structure in this place."""
        if other.key[0] != "part":
            return False
        _, root, path = other.key
        own = self.key[2] if self.key[0] == "part" else ()
        is_one_root = root == (self.key[1] if own else self.key)
        return is_one_root and len(own) < len(path) and path[: len(own)] == own

    def fact(self, name: str, ask: Callable[[Any], Any]) -> Place:
        """A place that holds ``ask(value)`` of the value in this place, for example whether it has
        an attribute."""
        read, written = self.read, self.expression
        return Place(
            ("fact", self.key, name),
            lambda: ask(read()),
            lambda bind: f"{bind(ask)}({written(bind)})",
            f"{name} of {self.description}",
        )

    def same_as(self, other: Place) -> Place:
        """A place that holds True if this place and ``other`` hold the identical object."""
        one, two = self, other
        return Place(
            ("same", self.key, other.key),
            lambda: one.read() is two.read(),
            lambda bind: f"({one.expression(bind)} is {two.expression(bind)})",
            f"{self.description} is {other.description}",
        )


def is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # an empty one raises
    except ValueError:
        return False
    return True


def attribute_expression(owner: str, name: str) -> str:
    """``owner.name``, or an equal expression if the name is not an identifier that Python reads
    back."""
    if name.isascii() and name.isidentifier() and not keyword.iskeyword(name):
        return f"{owner}.{name}"
    return f"getattr({owner}, {name!r})"


def part_expression(root: str, path: trees.Path, bind: Bind) -> str:
    """`trees.follow` as code."""
    for kind, key in path:
        if kind == "attribute":
            root = attribute_expression(root, key)
        else:
            root += f"[{key!r}]" if type(key) in (str, int) else f"[{bind(key)}]"
    return root
