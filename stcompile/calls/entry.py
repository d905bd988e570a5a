"""Entries of a compiled function: generated code that checks a call and makes it.

`stcompile.calls.dispatch` finds out by keys, guards and checks of memory whether a compiled
function may be called. For a signature that comes again, this module generates straight-line Python
code that does the same for that function alone. An entry returns `MISS` for anything that it does
not expect; the dispatcher then takes its general way, which stays the reference.
"""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import has_slots_beside, is_record, other_names, slot_of
from stcompile.base.containers import ITEMIZED, MAPPINGS, SETTINGS
from stcompile.base.guards import Guard, IdentityGuard, NamesGuard, StructureGuard, same
from stcompile.base.opening import WITHOUT_PARTS, lack_parts
from stcompile.base.places import Place, attribute_expression, part_expression
from stcompile.base.strides import layout_of, memory_order
from stcompile.calls.lengths import parts_of
from stcompile.calls.link import link
from stcompile.calls.overlap import Known, overlaps
from stcompile.calls.signature import Identity, keys_of, same_key
from stcompile.calls.workspaces import SizedWorkspaces, Workspaces
from stcompile.wengert.dims import Sizes, Symbol, is_named, named_by
from stcompile.wengert.staged import Hidden
from stcompile.wengert.types import COMMUNICATOR, OUTER, Type


class _Miss:
    """The result of an entry if the call does not fit it."""


MISS: Final = _Miss()


@dataclass(frozen=True)
class Call:
    """The facts that the code of an entry is generated from.

    ``arguments`` are names with the keys of `stcompile.calls.signature`; arguments with a place are
    read there, the others come from the caller by position. ``written`` are the arguments whose
    arrays the call changes, and ``stored`` the hidden inputs that it changes (by position).
    ``keywords`` are the function's names for the hidden inputs. ``tell_where`` adds the user's line
    to an error that the function raises. ``attributes`` are those of arguments that the function
    reads although they are not fields: the argument, the path, and the key.
    """

    name: str
    called: Callable[..., Any]
    tell_where: Callable[[Exception], None]
    arguments: Sequence[tuple[str, Any]]
    places: Mapping[str, Place]
    guards: Sequence[Guard]
    hidden: Sequence[Hidden]
    keywords: Sequence[str]
    written: Sequence[str] = ()
    stored: frozenset[int] = frozenset()
    known: Known = dataclasses.field(default_factory=Known)
    attributes: Sequence[tuple[str, trees.Path, Any]] = ()


def entry_of(call: Call) -> Callable[[tuple[Any, ...]], Any]:
    """Make a function of the tuple of all arguments by position; it returns the result of the call,
    or `MISS`."""
    writer = _Writer(call)
    return link(writer.source(), "entry", names=writer.names)


@dataclass(frozen=True)
class _Leaf:
    """An array of a call: the local variable that holds it, and its layout."""

    variable: str
    layout: Any


class _Writer:
    def __init__(self, call: Call) -> None:
        self.call = call
        self.names: dict[str, Any] = {"MISS": MISS}
        self._bound: dict[int, str] = {}
        self._count = 0
        self._lines: list[str] = []
        self._arrays: dict[str, list[_Leaf]] = {}  # by argument
        self._named: dict[Symbol, str] = {}  # the variables of named lengths
        self._numbered: list[str] = []  # the variables of objects and leaves (see `Same`)
        self._apart: list[str] = []  # those of objects that are taken apart

    # --- names ---------------------------------------------------------------------------------

    def bind(self, value: Any) -> str:
        """A name for an object that the code refers to."""
        if id(value) not in self._bound:
            self._bound[id(value)] = name = f"c{len(self._bound)}"
            self.names[name] = value  # keeps it alive, and its identity with it
        return self._bound[id(value)]

    def _variable(self) -> str:
        self._count += 1
        return f"v{self._count}"

    # --- text ----------------------------------------------------------------------------------

    def source(self) -> str:
        variables = [self._variable() for _ in self.call.arguments]
        places = [self.call.places.get(name) for name, _ in self.call.arguments]
        pairs = list(zip(variables, places, strict=True))
        given = [variable for variable, place in pairs if place is None]
        self._unless(f"len(arguments) == {len(given)}")
        if given:
            self._lines.append(f"{', '.join(given)}, = arguments")
        for variable, place in pairs:
            if place is not None:
                self._lines.append(f"{variable} = {place.expression(self.bind)}")
        for variable, (name, key) in zip(variables, self.call.arguments, strict=True):
            self._arrays[name] = []
            self._check(variable, key, name, name)
        self._tell_apart()
        roots = dict(zip((name for name, _ in self.call.arguments), variables, strict=True))
        for name, path, key in self.call.attributes:
            variable = self._variable()
            self._lines.append(f"{variable} = {part_expression(roots[name], path, self.bind)}")
            self._check(variable, key, trees.show_path(name, path), name)
        self._guards()
        hidden = [self._hidden(at, one) for at, one in enumerate(self.call.hidden)]
        if self.call.written or self.call.stored:
            self._memory(hidden)
        named = [f"{k}={leaf.variable}" for k, leaf in zip(self.call.keywords, hidden, strict=True)]
        checks = textwrap.indent("\n".join(self._lines), " " * 8)
        body = textwrap.indent(self._called(", ".join([*variables, *named])), " " * 4)
        return (
            f"def entry(arguments):\n"
            f'    """`{self.call.name}`, if it is what this call needs; else MISS."""\n'
            f"    try:\n{checks}\n"
            f"    except Exception:\n"
            f"        return MISS\n"
            f"{body}"
        )

    def _called(self, arguments: str) -> str:
        function, tell = self.call.called, self.bind(self.call.tell_where)
        failed = f"except Exception as error:\n    {tell}(error)\n    raise\n"
        if not isinstance(function, Workspaces):
            return f"try:\n    return {self.bind(function)}({arguments})\n{failed}"
        if isinstance(function, SizedWorkspaces):
            return (
                f"pool = {self.bind(function.of)}({', '.join(self._taken(function))})\n"
                f"workspace = pool.acquire()\n"
                f"try:\n    return workspace({arguments})\n{failed}"
                f"finally:\n    pool.free.append(workspace)\n"
            )
        acquire, free = self.bind(function.acquire), self.bind(function.free)
        return (
            f"workspace = {acquire}()\n"
            f"try:\n    return workspace({arguments})\n{failed}"
            f"finally:\n    {free}.append(workspace)\n"
        )

    def _taken(self, function: SizedWorkspaces) -> Iterator[str]:
        """The lengths that a factory takes."""
        for at, path, axis in function.lengths:
            name, key = self.call.arguments[at]
            dims = dict(parts_of(key, name))[name, path][2]
            symbol = named_by(dims[axis])
            assert symbol is not None
            yield self._named[symbol]

    def _comment(self, text: str) -> None:
        self._lines.append(" ".join(["#", *text.split()]))

    def _unless(self, *conditions: str) -> None:
        text = " and ".join(conditions)
        self._lines.append(f"if not ({text}): return MISS")

    # --- arguments -----------------------------------------------------------------------------

    def _check(self, variable: str, key: Any, shown: str, argument: str) -> None:
        """Check an argument, or a part of an argument, and give its parts names."""
        self._comment(shown)
        tag, *rest = key
        if tag != "structure" or len(key) > 5:
            self._numbered.append(variable)
        if tag == "array":
            dtype, shape, layout = rest
            self._arrays[argument].append(_Leaf(variable, layout))
            written = argument in self.call.written
            self._unless(*self._array(variable, dtype, shape, layout, written))
        elif tag in ("number", "kind"):
            self._unless(f"type({variable}) is {self.bind(rest[0])}")
        elif tag == "keys":
            self._unless(f"{self.bind(keys_of)}({variable}) == {self.bind(key)}")
        elif tag == "static":
            self._unless(*self._static(variable, *rest))
        elif tag == "object":
            self._unless(*self._object(variable, rest[0].value))
        elif tag == "same":
            self._unless(f"{variable} is {self._numbered[rest[0]]}")
        else:
            self._structure(variable, key, shown, argument)

    def _array(
        self, variable: str, dtype: Any, shape: Any, layout: Any, written: bool
    ) -> Iterator[str]:
        kind = self.bind(dtype)
        yield f"type({variable}) is {self.bind(np.ndarray)}"
        yield f"({variable}.dtype is {kind} or {variable}.dtype == {kind})"
        if is_named(shape):
            yield from self._lengths(variable, shape)
        else:
            yield f"{variable}.shape == {shape!r}"
        if layout is None:  # any that is
            if written:
                yield f"{variable}.flags.writeable"
            return
        if layout is True:
            # `carray` is C-contiguous, aligned and writeable in one
            yield f"{variable}.flags.{'carray' if written else 'c_contiguous'}"
            return
        of = memory_order if is_named(shape) else layout_of
        yield f"{self.bind(of)}({variable}) == {layout!r}"
        if written:
            yield f"{variable}.flags.writeable"

    def _lengths(self, variable: str, shape: Sizes) -> Iterator[str]:
        """Check a shape, and give names to the lengths in it that are named in the program."""
        yield f"{variable}.ndim == {len(shape)}"
        for axis, dim in enumerate(shape):
            symbol = named_by(dim)
            if symbol is not None and symbol not in self._named:
                self._named[symbol] = f"n{len(self._named)}"
                yield f"({self._named[symbol]} := {variable}.shape[{axis}]) >= {symbol.low}"
        texts = [self._named[s] if (s := named_by(dim)) else repr(dim) for dim in shape]
        yield f"{variable}.shape == ({', '.join(texts)},)"

    def _static(self, variable: str, kind: type, value: Any) -> Iterator[str]:
        expected = self.bind(value)
        if value is None or kind is bool:
            yield f"{variable} is {value!r}"
            return
        yield f"type({variable}) is {self.bind(kind)}"
        yield f"({variable} is {expected} or {variable} == {expected})"

    def _object(self, variable: str, value: Any) -> Iterator[str]:
        yield f"{variable} is {self.bind(value)}"
        if not isinstance(value, type) and is_record(type(value)):
            yield f"{variable}.tree_leaf"  # otherwise it has parts

    def _structure(self, variable: str, key: Any, shown: str, argument: str) -> None:
        _, kind, keys, others, parts, *watched = key
        names = [self._variable() for _ in parts]
        self._structure_type(variable, kind, keys, same_key, others)
        self._unpack(variable, kind, keys, names)
        if watched:
            self._apart.append(variable)
        for name in watched[0] if watched else ():
            kind_of = f"type({attribute_expression(variable, name)})"
            ask = f"{self.bind(lack_parts)}({variable}, ({name!r},))"
            self._unless(f"({kind_of} in {self.bind(WITHOUT_PARTS)} or {ask})")
        step = "item" if kind in ITEMIZED else "attribute"
        for name, one, part in zip(names, keys, parts, strict=True):
            self._check(name, part, trees.show_path(shown, ((step, one),)), argument)

    def _tell_apart(self) -> None:
        """Check that no array stands in two places if objects are taken apart: it would be taken
        apart once."""
        if self._apart:
            arrays = [leaf.variable for leaves in self._arrays.values() for leaf in leaves]
            several = [f"id({variable})" for variable in (*self._apart, *arrays)]
            self._unless(f"len({{{', '.join(several)}}}) == {len(several)}")

    def _structure_type(
        self,
        variable: str,
        kind: type,
        keys: Sequence[Any],
        alike: Callable[[Any, Any], bool],
        others: Sequence[str],
    ) -> None:
        """Check that a structure has the given type and keys."""
        tests = [f"type({variable}) is {self.bind(kind)}"]
        if kind in ITEMIZED:
            tests.append(f"len({variable}) == {len(keys)}")
            if kind in SETTINGS:
                tests.append(f"{variable}.{SETTINGS[kind]} {self._setting(others[0])}")
        elif issubclass(kind, tuple):
            tests.append(f"{self.bind(kind)}._fields == {self.bind(tuple(keys))}")
            tests += self._own_names(variable, kind, (), others)
        elif not is_record(kind):
            tests.append(f'not getattr({self.bind(kind)}, "tree_leaf", False)')
            tests += self._own_names(variable, kind, tuple(keys), others)
        else:
            fields = "__dataclass_fields__"
            tests.append(f"{self.bind(kind)}.{fields} is {self.bind(getattr(kind, fields))}")
            tests.append(f'not getattr({self.bind(kind)}, "tree_leaf", False)')
            tests += self._own_names(variable, kind, tuple(keys), others)
        self._unless(*tests)
        if kind in MAPPINGS and keys:
            found = [self._variable() for _ in keys]
            self._lines.append(f"{', '.join(found)}, = {variable}")
            ask, expected = self.bind(alike), map(self.bind, keys)
            pairs = zip(found, expected, strict=True)
            self._unless(*[f"({f} is {e} or {ask}({f}, {e}))" for f, e in pairs])

    def _setting(self, setting: Any) -> str:
        """The test of a setting of a container: an integer or None, or the very function."""
        value = setting.value if isinstance(setting, Identity) else setting
        return f"== {value}" if isinstance(value, int) else f"is {self.bind(value)}"

    def _own_names(
        self, variable: str, kind: type, fields: Sequence[str], others: Sequence[str]
    ) -> Iterator[str]:
        """Check which attributes an object has in addition to its fields."""
        slots = {name for name in (*fields, *others) if slot_of(kind, name) is not None}
        if slots - {*fields} or has_slots_beside(kind, fields):
            yield f"{self.bind(other_names)}({variable}, {self.bind(tuple(fields))}) == {others!r}"
        elif kind.__dictoffset__:
            names = {*fields, *others} - slots
            yield f"{variable}.__dict__.keys() == {self.bind(names)}"

    def _unpack(self, variable: str, kind: type, keys: Sequence[Any], names: Sequence[str]) -> None:
        """Give the parts of a structure names."""
        if not names:
            return
        if kind in ITEMIZED:
            parts = f"{variable}.values()" if kind in MAPPINGS else variable
            self._lines.append(f"{', '.join(names)}, = {parts}")
            return
        for name, key in zip(names, keys, strict=True):
            self._lines.append(f"{name} = {attribute_expression(variable, key)}")

    # --- captured values -----------------------------------------------------------------------

    def _guards(self) -> None:
        for guard in self.call.guards:
            self._comment(guard.place.description)
            read = guard.place.expression(self.bind)
            if isinstance(guard, StructureGuard):
                variable = self._variable()
                self._lines.append(f"{variable} = {read}")
                self._captured_structure(variable, guard.expected)
            elif guard.expected is None or isinstance(guard.expected, bool):
                self._unless(f"{read} is {guard.expected!r}")
            elif isinstance(guard, NamesGuard):  # tuples compare their items by `is` first
                self._unless(f"{read} == {self.bind(guard.expected)}")
            elif isinstance(guard, IdentityGuard):
                self._unless(f"{read} is {self.bind(guard.expected)}")
            else:
                variable, expected = self._variable(), self.bind(guard.expected)
                self._lines.append(f"{variable} = {read}")
                ask = f"{self.bind(same)}({variable}, {expected})"
                self._unless(f"({variable} is {expected} or {ask})")

    def _captured_structure(self, variable: str, structure: Any) -> None:
        """Check the types and keys of a structure against the result of `structure_of`."""
        kind, parts, others = structure
        keys = [key for (_, key), _ in parts]
        self._structure_type(variable, kind, keys, same, others)
        inner = [self._variable() if part is not None else "_" for _, part in parts]
        if any(part is not None for _, part in parts):
            self._unpack(variable, kind, keys, inner)
        for name, (_, part) in zip(inner, parts, strict=True):
            if part is not None:
                self._captured_structure(name, part)

    def _hidden(self, at: int, hidden: Hidden) -> _Leaf:
        """Read a captured array or number, and check its type."""
        variable, type_ = self._variable(), hidden.variable.type
        self._comment(hidden.place.description)
        self._lines.append(f"{variable} = {hidden.place.expression(self.bind)}")
        layout = hidden.layout
        if type_.kind == "array":
            written = at in self.call.stored
            self._unless(*self._array(variable, type_.dtype, type_.dims, layout, written))
        elif type_.name not in (COMMUNICATOR, OUTER):
            self._unless(f"type({variable}) is {self.bind(_class_of(type_))}")
        return _Leaf(variable, layout)

    # --- memory --------------------------------------------------------------------------------

    def _memory(self, hidden: Sequence[_Leaf]) -> None:
        """Check that no array that is written shares memory with another."""
        call = self.call
        arrays = [at for at, h in enumerate(call.hidden) if h.variable.type.kind == "array"]
        given = [self._arrays[name] for name in self._arrays if name in call.written]
        written = [leaf for leaves in given for leaf in leaves]
        written += [hidden[at] for at in arrays if at in call.stored]
        others = [hidden[at] for at in arrays if at not in call.stored]
        names, tests = [], []
        for leaf in (*written, *others):
            v, known, base = leaf.variable, self._variable(), self._variable()
            names += [known, base]
            tests += [f"{v} is {known}", f"{v}.base is {base}"]
            if leaf.layout is not True:
                names.append(self._variable())
                tests.append(f"{v}.strides == {names[-1]}")
        self._lines.append("# what is written is disjoint, and disjoint from what is read")
        self._lines.append(
            f"{', '.join([*names, 'held', 'owners'])}, = {self.bind(call.known)}.facts"
        )
        self._unless(*tests)
        these = "".join(f"{leaf.variable}, " for leaf in written)
        for name, leaves in self._arrays.items():
            for leaf in leaves if name not in call.written else ():
                v = leaf.variable
                self._lines.append(f"base = {v} if {v}.base is None else {v}.base")
                is_owner = f"type(base) is {self.bind(np.ndarray)} and base.flags.owndata"
                is_disjoint = f"id(base) not in owners and {is_owner}"
                ask = f"{self.bind(overlaps)}({v}, ({these}), owners)"
                self._unless(f"({is_disjoint} or not {ask})")


def _class_of(type_: Type) -> type:
    """The class of the numbers and generators of a type."""
    if type_.kind == "python":
        return type_.python_type
    if type_.kind == "scalar":
        return type_.dtype.type
    found: type = getattr(np.random, type_.name)
    return found
