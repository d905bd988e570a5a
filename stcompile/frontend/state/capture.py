"""Values that a function reads from outside: arguments, globals, closures, attributes.

Each object is mirrored once, by its identity, so that an array that is reached in two ways is a
single cell. An array, a float or a random generator becomes an input of the program (a *hidden*
input if it is not an argument); anything else is a static value and a *guard*, which the dispatcher
checks at every call, so that a changed global never meets a stale program. Real objects of the user
are never mutated.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from stcompile.analysis.layouts import Layouts
from stcompile.base import trees
from stcompile.base.classes import is_plain_value, own_attributes, set_own
from stcompile.base.containers import CHANGEABLE, GROWING, ITEMIZED, filled_like
from stcompile.base.errors import LanguageError
from stcompile.base.fields import Fields, facts_of
from stcompile.base.guards import StructureGuard, structure_of
from stcompile.base.location import NOWHERE
from stcompile.base.opening import objects_in
from stcompile.base.places import Place
from stcompile.base.static import StaticArray
from stcompile.base.strides import Strides, dense_like, layout_of, strides_in
from stcompile.frontend.state.mirrors import Mirrors
from stcompile.frontend.state.outside import StagedAgain
from stcompile.frontend.state.relied import Relied
from stcompile.frontend.state.values import Array, Cell, GeneratorValue, Grown, Scalar, Unread
from stcompile.wengert.bounds import generic
from stcompile.wengert.dims import Sizes
from stcompile.wengert.ir import Variable
from stcompile.wengert.recorder import Recorder
from stcompile.wengert.staged import Hidden, Leaf
from stcompile.wengert.types import (
    NATIVE_BYTES,
    OTHER_BYTES,
    OUTER,
    Type,
    is_counter,
    is_generator,
    is_input,
    type_of,
)

UNSEEN = "the items of this list of an object differ from call to call"
UNSEEN_HINT = "read them outside of the function"


def items_known(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """The form of an array of objects or of texts, and the texts."""
    texts = () if array.dtype.hasobject else tuple(array.ravel().tolist())
    return type(array), array.dtype.str, array.shape, texts


class Captures:
    """The mirrors of everything read so far."""

    def __init__(self, recorder: Recorder, layouts: Layouts) -> None:
        self._recorder = recorder
        self._layouts = layouts
        self.relied = Relied()
        self.mirrors = Mirrors(self.relied)
        self._arguments: dict[int, Array] = {}  # the arguments' arrays, by identity
        self._apart: dict[int, tuple[Any, str]] = {}  # objects taken apart, and arrays in them
        self.leaves: list[Leaf] = []
        self.sizes: Mapping[tuple[str, trees.Path], Sizes] = {}  # of arguments with named lengths
        self.beside: list[tuple[str, trees.Path, str]] = []  # attributes that are no fields
        self._cells_beside: dict[int, Cell] = {}  # of arrays there, by identity
        self._seen_beside: set[Place] = set()  # those of objects that were taken apart
        self.hidden: list[Hidden] = []
        self.contents: dict[int, dict[Any, Any]] = {}  # the items of dicts of other classes
        self.varying: set[Place] = set()  # integers and lists that the program changes
        self.is_fixed = False  # all integers and lengths of lists are static nevertheless
        self._roots: dict[Place, Variable] = {}  # objects whose attributes the program sets
        self.products: dict[int, Any] = {}  # with sparse matrices, by the identity of the matrix

    # --- arguments -----------------------------------------------------------------------------

    def argument(
        self, name: str, value: Any, writeable: bool = False, changed: bool = False
    ) -> Any:
        """The mirror of an argument: every array or float in it becomes an input. ``changed`` says
        that all its arrays will be written to; attributes that are not fields would not follow."""
        for path, facts in objects_in(value):
            shown = trees.show_path(name, path)
            parts = (part for part in facts.parts.values() if type(part) is np.ndarray)
            for one in (facts.original, *parts):
                self._apart[id(one)] = one, shown
            if facts.put_together is None:
                self.relied.track(facts.original, Place.constant(facts.original, shown))
                self.mirrors.given[id(facts.original)] = shown
        mirror = self._mirrored(value, self._argument_leaf(name, writeable), name, (), changed)
        self.mirrors.note_given(mirror)
        return mirror

    def _argument_leaf(self, name: str, writeable: bool) -> Callable[[trees.Path, Any], Any]:
        def leaf(path: trees.Path, item: Any) -> Any:
            if isinstance(item, StaticArray):
                return self._constant(item)
            if not is_input(item):
                return item
            type_ = type_of(item)
            if (name, path) in self.sizes:
                type_ = Type.array(type_.dtype, self.sizes[name, path])
            variable = self._recorder.variable(type_, trees.path_name(name, path))
            contiguous = isinstance(item, np.ndarray) and item.flags.c_contiguous
            self.leaves.append(Leaf(name, path, variable, contiguous))
            if is_generator(item):
                return GeneratorValue(variable)
            if not isinstance(item, np.ndarray):
                return Scalar(variable)
            shown = trees.show_path(name, path)
            frozen = "" if writeable else f"{shown} belongs to the caller"
            if id(item) in self._arguments:
                frozen = "the same array is passed twice"
                self._arguments[id(item)].cell.frozen = frozen
            self._arguments[id(item)] = mirror = self._cell(variable, item, frozen, lent=True)
            return mirror

        return leaf

    def _mirrored(
        self,
        value: Any,
        leaf: Callable[[trees.Path, Any], Any],
        root: str | Place,
        path: trees.Path,
        changed: bool = False,
    ) -> Any:
        """A structure with mirrors of its leaves. Attributes of its objects that are not fields are
        mirrored when they are read."""
        parts = trees.children(value)
        is_inner = bool(self.varying) and path and type(value) in GROWING
        if is_inner and isinstance(root, Place) and root.part(path) in self.varying:
            return self._unknown(value, root.part(path))
        is_captured = isinstance(root, Place) and not _is_constant(value)
        if parts is None or (is_captured and self._is_read(value)):
            return leaf(path, value)
        made = trees.with_children(
            value,
            [self._mirrored(part, leaf, root, (*path, step), changed) for step, part in parts],
        )
        if isinstance(made, Fields):
            assert isinstance(root, str)
            around = Place.constant(facts_of(value).original, trees.show_path(root, path))
            rest = {
                key: self._unread(
                    item, root, (*path, ("attribute", key)), place=around.attribute(key)
                )
                for key, item in facts_of(value).rest.items()
            }
            return Fields(replace(facts_of(made), rest=rest))
        if type(made) not in ITEMIZED:
            fields = {name for (kind, name), _ in parts if kind == "attribute"}
            for name, item in own_attributes(value):
                if name not in fields:
                    at = (*path, ("attribute", name))
                    set_own(made, name, self._unread(item, root, at, changed))
        if isinstance(root, Place) and is_captured:
            self.mirrors.keep(value, made, root.part(path))
        return made

    def _unread(
        self,
        value: Any,
        root: str | Place,
        path: trees.Path,
        changed: bool = False,
        place: Place | None = None,
    ) -> Unread:
        read = functools.partial(self._beside, value, root, path, changed, place)
        return Unread(functools.cache(read))

    def _is_read(self, value: Any) -> bool:
        """True for an object that was reached in another way before."""
        return id(value) in self.mirrors.known or id(value) in self.relied.places

    def _beside(
        self, value: Any, root: str | Place, path: trees.Path, changed: bool, place: Place | None
    ) -> Any:
        """The mirror of an attribute that is not a field of the structure; ``place`` is that of the
        attribute of an object that was taken apart."""
        if isinstance(root, Place):
            return self.captured(value, root.part(path))
        self._refuse_apart(value, trees.show_path(root, path))
        if changed and any(is_input(item) for _, item in trees.leaves(value)):
            shown = trees.show_path(root, path)
            raise LanguageError(
                f"`{shown}` is read, which is no field of the class: it does not follow the "
                "parameters that this step changes",
                hint="make it a field, a property or an argument of its own",
            )
        varies = place is not None and place in self.varying
        if place is not None and not varies and any(map(place.holds, self.varying)):
            self.beside.append((root, path, "keys"))
            parts = [
                self._beside(part, root, (*path, step), changed, place.part((step,)))
                for step, part in trees.children(value) or ()
            ]
            self._seen_beside.add(place)
            return self.mirrors.keep(value, trees.with_children(value, parts), place)
        self.beside.append((root, path, "class" if varies else ""))
        if varies and type(value) in GROWING:
            return self._note_mirror(value, _unseen(value), place)
        if varies:
            variable = self._recorder.variable(type_of(value), trees.path_name(root, path))
            self.leaves.append(Leaf(root, path, variable, False))
            return Scalar(variable)
        for at, item in trees.leaves(value, path):
            if not is_plain_value(item) and not is_input(item):
                self.relied.track(item, Place.constant(item, trees.show_path(root, at)))
        mirror = self._mirrored(value, self._argument_leaf(root, place is not None), root, path)
        if place is None:
            return mirror
        found = [item for _, item in trees.leaves(mirror) if isinstance(item, Array)]
        self._cells_beside |= {id(array.cell): array.cell for array in found}
        return self._note_mirror(value, mirror, place)

    def _note_mirror(self, value: Any, mirror: Any, place: Place | None) -> Any:
        """Note the lists and dicts in an attribute of an object that was taken apart, which may be
        changed."""
        assert place is not None
        self._seen_beside.add(place)
        if type(mirror) in CHANGEABLE:
            self.mirrors.keep(value, mirror, place)
        if type(mirror) not in GROWING or len(mirror) == len(value):
            parts = zip(trees.children(value) or (), trees.children(mirror) or (), strict=False)
            for (step, part), (_, inner) in parts:
                if type(inner) in CHANGEABLE:
                    self._note_mirror(part, inner, place.part((step,)))
        return mirror

    # --- captured values -----------------------------------------------------------------------

    def captured(self, value: Any, place: Place) -> Any:
        """The mirror of a value that the function reads from outside."""
        self._refuse_apart(value, place.description)
        if is_input(value) and not (isinstance(value, np.ndarray) or is_generator(value)):
            return self._number(value, place)
        if is_counter(value) and place in self.varying:
            return self._number(value, place)
        if id(value) in self.mirrors.known:
            _, mirror, first = self.mirrors.known[id(value)]
            if place != first:
                self.relied.guard(place.same_as(first))
            return mirror
        if is_generator(value):
            return self.mirrors.keep(value, GeneratorValue(self.hide(value, place)), place)
        if is_input(value):
            return self._array(value, place)
        if type(value) in ITEMIZED or trees.is_namedtuple(value):
            return self._structure(value, place)
        if isinstance(value, StaticArray):
            self.relied.guard(place)
            return self.mirrors.keep(value, self._constant(value), place)
        if type(value) in (set, frozenset):
            return self._set(value, place)
        if type(value) is np.ndarray and value.dtype.kind in "OSU":
            return self._items(value, place)
        self.relied.guard(place)
        if not is_plain_value(value):
            self.relied.track(value, place)
        return value

    def _refuse_apart(self, value: Any, shown: str) -> None:
        """Refuse to read an object in another way that the derivative is by: what is read there
        would count as constant."""
        if id(value) in self._apart:
            raise LanguageError(
                f"{shown} is an object or an array of `{self._apart[id(value)][1]}`, by which the "
                "function is differentiated, read in another way",
                hint="read it through the argument, or let `wrt` name the object that has both",
            )

    def vary(self, place: Place) -> None:
        """Take the integer in a place, or the length of the list, as one that changes from call to
        call."""
        if self.is_fixed or place in self.varying:
            return
        around = [] if place.within is None else [place.within[0]]
        facts = (one.fact("structure", structure_of) for one in (place, *around))
        seen = {place, *around} & self._seen_beside
        if place in self.relied.guards or seen or any(fact in self.relied.guards for fact in facts):
            raise StagedAgain(place)
        self.varying.add(place)

    def vary_item(self, mirror: Any, key: Any) -> None:
        """Take an integer that a list or dict holds as one that changes from call to call."""
        origin = self.mirrors.origin(mirror)
        if isinstance(origin, Place) and trees.is_plain_key(key):
            place = origin.part((("item", key),))
            found = self.relied.guards.get(place)
            held = found.expected if found is not None else self._item_beside(origin, mirror, key)
            if is_counter(held):
                self.vary(place)

    def _item_beside(self, place: Place, mirror: Any, key: Any) -> Any:
        """An item of a container beside the fields of an argument, as it is on entry."""
        pairs = ((value, held) for value, held, _ in self.mirrors.known.values())
        value = next((value for value, held in pairs if held is mirror), None)
        if value is None or place not in self._seen_beside:
            return None
        parts = dict(trees.children(value) or ())
        return parts.get(("item", key))

    def is_held(self, cell: Cell) -> bool:
        """True for an array that an object from outside holds, also beside the parts of one that
        was taken apart."""
        if id(cell) in self._cells_beside:
            return True
        return cell.lent and any(h.variable == cell.made for h in self.hidden)

    def root(self, place: Place) -> Variable:
        """The hidden input of an object that the program changes."""
        if place not in self._roots:
            variable = self._recorder.variable(Type.object(OUTER), _hint(place))
            self.hidden.append(Hidden(variable, place))
            self._roots[place] = variable
        return self._roots[place]

    def attribute(self, owner: Any, name: str, value: Any) -> Any:
        """The mirror of ``owner.name``, where ``owner`` is a real object."""
        place = self.relied.place_of(owner)
        if place is None:  # it was made while staging: nothing outside can change it
            return value
        return self.captured(value, place.attribute(name))

    def tell_apart(self, one: Any, other: Any, owns: Callable[[Any], bool]) -> bool:
        """False if two mirrors may be the same object at another call; guards that two captured
        objects stay two. ``owns`` tells whether the function itself has made an object."""
        mirrors = [(mirror, place) for _, mirror, place in self.mirrors.known.values()]
        mirrors += self.relied.places.values()
        found = ([p for mirror, p in mirrors if mirror is value] for value in (one, other))
        places = [several[0] for several in found if several]
        if len(places) == 2:
            self.relied.guard(places[0].same_as(places[1]))
            return True
        given = [id(value) in self.mirrors.structures for value in (one, other)]
        if any(given) and (all(given) or places or not (owns(one) or owns(other))):
            return bool(structure_of(one) != structure_of(other))
        if isinstance(one, GeneratorValue) and isinstance(other, GeneratorValue):
            return not {one.atom, other.atom} <= {*self.inputs()}
        arrays = [value for value in (one, other) if isinstance(value, Array)]
        if len(arrays) == 2 and _are_unlike(*arrays):
            return True
        return len({id(a.cell) for a in arrays if a.cell.frozen or a.cell.lent}) < 2

    def _structure(self, value: Any, place: Place) -> Any:
        if trees.is_endless(value):
            raise LanguageError(
                f"{place.description} contains itself",
                hint="what is captured is taken apart: leave out the part that refers to the whole",
            )
        if type(value) in GROWING and place in self.varying:
            return self._unknown(value, place)
        fact = place.fact("structure", structure_of)
        unseen = [*self._unseen(value, place)] if self.varying else []
        self.relied.guards.setdefault(fact, StructureGuard(place, structure_of(value, unseen)))
        for item in self._keys(value):
            self.relied.track(item, Place.constant(item, f"a key of {place.description}"))

        def leaf(path: trees.Path, item: Any) -> Any:
            return self.captured(item, place.part(path))

        return self.mirrors.keep(value, self._mirrored(value, leaf, place, ()), place)

    def _unseen(self, value: Any, place: Place, path: trees.Path = ()) -> Iterator[trees.Path]:
        """The paths of the lists and deques in a structure that change from call to call."""
        if path and type(value) in GROWING and place.part(path) in self.varying:
            yield path
            return
        for step, part in trees.children(value) or ():
            yield from self._unseen(part, place, (*path, step))

    def _unknown(self, value: Any, place: Place) -> Any:
        """A list or a deque that each call makes longer: its items are not looked at."""
        self.relied.identity(place.kind(), type(value))
        if isinstance(value, deque):
            self.relied.guard(place.attribute("maxlen"))
        return self.mirrors.keep(value, _unseen(value), place)

    def _set(self, value: Any, place: Place) -> Any:
        for item in itertools.filterfalse(is_plain_value, value):
            self.relied.track(item, Place.constant(item, f"an item of {place.description}"))
        self.relied.identity(place.kind(), type(value))  # a list may have the same items
        self.relied.guard(place.fact("items", frozenset))
        return self.mirrors.keep(value, value, place)  # a copy may have them in another order

    def _items(self, value: np.ndarray[Any, Any], place: Place) -> np.ndarray[Any, Any]:
        """The mirror of an array of objects or of texts: the items that it holds now."""
        self.relied.guard(place.fact("items", items_known))
        mirror: np.ndarray[Any, Any] = self.mirrors.keep(value, np.array(value, order="C"), place)
        if value.dtype.hasobject:
            items = mirror.reshape(-1)  # a view
            for position, at in enumerate(np.ndindex(value.shape)):
                key = at[0] if len(at) == 1 else at
                items[position] = self.captured(value[at], place.part((("item", key),)))
        return mirror

    def _keys(self, value: Any) -> Iterator[Any]:
        """The keys of the dicts in a structure that may have attributes."""
        for (_, key), part in trees.children(value) or ():
            if not is_plain_value(key):
                yield key
            yield from self._keys(part)

    def _number(self, value: Any, place: Place) -> Scalar:
        if place not in self.mirrors.numbers:
            self.mirrors.numbers[place] = Scalar(self.hide(value, place))
        return self.mirrors.numbers[place]

    def _array(self, value: np.ndarray[Any, Any], place: Place) -> Array:
        if not value.dtype.isnative:
            reason = f"{place.description} is an array of {value.dtype.str}: {OTHER_BYTES}"
            raise LanguageError(reason, hint=NATIVE_BYTES)
        variable = self.hide(value, place)
        is_held = place.is_of_object
        frozen = "" if is_held else f"{place.description} is not a local array"
        array = self._cell(variable, value, frozen, lent=is_held)
        self.mirrors.keep(value, array, place)
        if id(value) in self._arguments:  # an argument is captured as well: neither may be written
            self._arguments[id(value)].cell.frozen = "it is captured as well as passed"
        return array

    def _constant(self, value: StaticArray) -> Array:
        params = {"values": tuple(value.ravel().tolist()), "shape": value.shape}
        params["dtype"] = value.dtype
        (variable,) = self._recorder.record("constant", (), NOWHERE, params)
        return self._cell(variable, np.asarray(value, order="C"), "it is static")

    def hide(self, value: Any, place: Place) -> Variable:
        """The hidden input of a value, which is read from its place at every call."""
        variable = self._recorder.variable(type_of(value), _hint(place))
        layout = layout_of(value) if isinstance(value, np.ndarray) else None
        self.hidden.append(Hidden(variable, place, layout))
        return variable

    def _cell(
        self, variable: Variable, value: np.ndarray[Any, Any], frozen: str, lent: bool = False
    ) -> Array:
        lies: Strides = strides_in(value)
        if variable.type.is_named:
            lies = dense_like(value, generic(variable.type.dims), value.itemsize)
        self._layouts.note(variable, lies)
        return Array(Cell(variable, frozen, lent=lent), variable.type)

    def inputs(self) -> Iterator[Variable]:
        """All inputs: the arguments' leaves, then the hidden inputs."""
        yield from (leaf.variable for leaf in self.leaves)
        yield from (hidden.variable for hidden in self.hidden)


def _unseen(value: Any) -> Any:
    """The mirror of a list or a deque with items that are not looked at."""
    return filled_like(value, [Grown(UNSEEN, UNSEEN_HINT)])


def _hint(place: Place) -> str:
    """A name for what a place holds."""
    hint = place.description.rsplit(".", 1)[-1]
    hint = "".join(c if c.isalnum() or c == "_" else "_" for c in hint).strip("_")
    return hint or "captured"


def _is_constant(value: Any) -> bool:
    """True for a tuple of plain values: equal ones may be one object, as Python likes."""
    is_tuple = type(value) is tuple
    return is_tuple and all(is_plain_value(part) or _is_constant(part) for part in value)


def _are_unlike(one: Array, other: Array) -> bool:
    """True for arrays of two dtypes or of two shapes that are known: they are two objects."""
    if one.type.dtype != other.type.dtype or one.type.ndim != other.type.ndim:
        return True
    pairs = zip(one.type.dims, other.type.dims, strict=True)
    return any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs)
