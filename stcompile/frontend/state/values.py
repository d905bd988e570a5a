"""The values that a name of the user's program can hold while the program is staged.

A *static* value is an ordinary Python object and is not wrapped. A *traced* value is of a class of
this module. An ndarray of the user's program is a `Cell` that holds its current variable; every
array the user can name is an `Array`: a cell and the path of views that leads into it. Two arrays
share storage exactly if they share a cell, so that a write through either is seen by both.
"""

from __future__ import annotations

import ast
import copy
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, ClassVar, TypeAlias, TypeGuard

import numpy as np

from stcompile.base.containers import is_derived, parts_of
from stcompile.base.wording import an, noun_of
from stcompile.wengert.dims import symbols_in
from stcompile.wengert.ir import Atom, Params, Variable
from stcompile.wengert.types import Type, is_number

UNBOUNDED = 2**62
LISTED = (list, tuple, range, deque)  # NumPy makes an array of them where it needs one


@dataclass(frozen=True)
class ViewStep:
    """A view: the primitive that takes it, its params, and the loop counters it depends on.
    ``read_only`` says why it must not be written through ("" if it may)."""

    primitive: str
    params: Params
    counters: tuple[Variable, ...] = ()
    read_only: str = ""

    def __hash__(self) -> int:
        return hash((self.primitive, tuple(self.params.items()), self.counters))

    @property
    def is_named(self) -> bool:
        """True if the view has a length that is known only at run time."""
        return any(any(symbols_in(value)) for value in self.params.values())


class Value:
    """A value of the user's program that is no ordinary Python object. ``noun`` is the user's word
    for it; it ``is_static`` if it counts as known at compile time. It may be ``made_of`` values in
    some of its fields."""

    tree_leaf: ClassVar[bool] = True
    noun: ClassVar[str] = ""
    is_static: ClassVar[bool] = False
    made_of: ClassVar[tuple[str, ...]] = ()

    def parts(self) -> list[tuple[Any, Any]] | None:
        """The values that it is made of, each with the step that leads to it; None if it cannot be
        made from parts."""
        fixed = [own for name, own in vars(self).items() if name not in self.made_of]
        return [((name, *fixed), getattr(self, name)) for name in self.made_of] or None

    def with_parts(self, parts: list[Any]) -> Any:
        """A value like it of other parts."""
        return replace(self, **dict(zip(self.made_of, parts, strict=True)))  # type: ignore[type-var]

    def held(self) -> Iterable[Any]:
        """The values that it refers to."""
        return [part for _, part in self.parts() or ()]

    def is_same(self, other: Any) -> bool:
        """True for a value that is made of the identical parts, in the same way."""
        ours, theirs = self.parts(), other.parts() if type(other) is type(self) else None
        if ours is None or theirs is None or len(ours) != len(theirs):
            return False
        return all(a is b and at == to for (at, a), (to, b) in zip(ours, theirs, strict=True))

    def description(self) -> str:
        """A description for messages."""
        return self.noun or noun_of(self)


@dataclass(eq=False)
class Cell:
    """The storage of an ndarray. ``frozen`` says why it must not be written ("" if it may);
    ``made`` is the variable that it was made with: its strides stay the cell's, whatever is written
    to it. ``depth`` is the nesting depth of the staging that it belongs to, ``born`` its age.
    ``lent`` says that it is an argument's: the caller has it as well, and sees what is written to
    it. A cell that ``stands_for_others`` has the values of one of several arrays, depending on the
    path that was taken or on the step of a loop."""

    tree_leaf: ClassVar[bool] = True
    variable: Variable
    frozen: str = ""
    depth: int = 0
    born: int = 0
    lent: bool = False
    stands_for_others: bool = False
    made: Variable = field(init=False)

    def __post_init__(self) -> None:
        self.made = self.variable


@dataclass(eq=False)
class Array(Value):
    """An ndarray: a cell, the views that lead into it, and its type."""

    cell: Cell
    type: Type
    path: tuple[ViewStep, ...] = ()

    def description(self) -> str:
        return repr(self.type)


@dataclass(eq=False)
class Scalar(Value):
    """A traced number: immutable, of kind ``python`` or ``scalar``."""

    atom: Variable

    @property
    def type(self) -> Type:
        return self.atom.type

    @property
    def identity(self) -> tuple[Any, ...]:
        """A key that tells numbers apart: two numbers with the same key are equal. The `atom` is
        not enough: items of an array share it, and so do sums with the same counter."""
        return (self.atom,)

    def description(self) -> str:
        return repr(self.type)


def class_of_number(value: Any) -> type:
    """The class of a number, traced or not."""
    if not isinstance(value, Scalar):
        return type(value)
    kind = value.type
    return kind.python_type if kind.kind == "python" else kind.dtype.type


def same_number(value: Any) -> Any:
    """An equal number that is another object, as the operations of Python and NumPy make it."""
    return copy.copy(value)


@dataclass(eq=False)
class Affine(Scalar):
    """An integer that depends on the counters of rolled loops: ``offset + coefficient * counter +
    ...``, with ``low`` and ``high`` its least and greatest value. ``atom`` is one of the counters:
    an equation computes the number where its value is needed (`Run.atom`)."""

    offset: int
    terms: tuple[tuple[Variable, int], ...]
    low: int
    high: int

    @property
    def identity(self) -> tuple[Any, ...]:
        return Affine, self.offset, frozenset(self.terms)

    @staticmethod
    def counter(variable: Variable, length: int) -> Affine:
        """The counter itself: 0 up to ``length - 1``."""
        return Affine(variable, 0, ((variable, 1),), 0, length - 1)

    @staticmethod
    def unbounded(variable: Variable) -> Affine:
        """An integer without known bounds."""
        return Affine(variable, 0, ((variable, 1),), -UNBOUNDED, UNBOUNDED)

    def scaled(self, factor: int, shift: int) -> Affine:
        """``factor * self + shift``, for a factor that is not 0."""
        bounds = sorted((factor * self.low + shift, factor * self.high + shift))
        terms = tuple((variable, factor * coefficient) for variable, coefficient in self.terms)
        return Affine(self.atom, factor * self.offset + shift, terms, *bounds)

    def plus(self, other: Affine) -> Affine | int:
        """The sum; an int where the counters cancel."""
        terms = dict(self.terms)
        for variable, coefficient in other.terms:
            terms[variable] = terms.get(variable, 0) + coefficient
        left = tuple((variable, c) for variable, c in terms.items() if c)
        offset = self.offset + other.offset
        if not left:
            return offset
        return Affine(left[0][0], offset, left, self.low + other.low, self.high + other.high)


@dataclass(eq=False)
class Row(Scalar):
    """A number that a rolled loop appended to a list: the item at ``index`` of the array ``atom``
    of all these numbers, of type ``kept``. The index has the step of each loop, the outermost
    first."""

    index: tuple[int, ...]
    kept: Type

    @property
    def type(self) -> Type:
        return self.kept

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.atom, self.index, self.kept


Traced: TypeAlias = Array | Scalar


@dataclass(frozen=True)
class Field:
    """A traced value in a text, with its conversion (``s``, ``r``, ``a`` or none) and format."""

    atom: Atom
    conversion: str
    spec: str


@dataclass(frozen=True, eq=False)
class Text(Value):
    """A string with traced values in it, which is made when the generated function runs."""

    noun = "text of values known only at run time"

    pieces: tuple[str | Field, ...]

    def __add__(self, other: Any) -> Text:
        if isinstance(other, Text):
            return Text(self.pieces + other.pieces)
        return Text((*self.pieces, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Text:
        return Text((other, *self.pieces)) if isinstance(other, str) else NotImplemented


@dataclass(eq=False)
class Closure(Value):
    """A function that the staged program itself defined. ``frame`` is where it was defined."""

    noun = "function"
    is_static = True

    node: ast.FunctionDef | ast.Lambda
    frame: Any
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")

    def parts(self) -> list[tuple[Any, Any]]:
        """Its frame, which has the values that its code reads from around it, and its defaults."""
        return [((self.node, "frame"), self.frame), *self.defaults.items()]

    def with_parts(self, parts: list[Any]) -> Closure:
        frame, *defaults = parts
        return Closure(self.node, frame, dict(zip(self.defaults, defaults, strict=True)))


@dataclass(eq=False)
class Bound(Value):
    """A method: a function (real or staged) and the object it is bound to."""

    noun = "method"
    is_static = True
    made_of = ("function", "receiver")

    function: FunctionType | Closure | Callable[..., Any]
    receiver: Any


@dataclass(eq=False)
class ArrayMethod(Value):
    """A method of a traced array or number, before it is called."""

    noun = "method"
    made_of = ("receiver",)

    receiver: Traced
    name: str


@dataclass(eq=False)
class Flat(Value):
    """``x.flat``. It can be iterated over once, as NumPy's, which is an iterator."""

    made_of = ("array",)

    array: Array
    is_iterated: bool = False

    def description(self) -> str:
        return f"`.flat` of {self.array.type}"


@dataclass(eq=False)
class GeneratorValue(Value):
    """A source of random numbers: the variable that holds it, and its age."""

    atom: Variable
    born: int = 0

    @property
    def type(self) -> Type:
        return self.atom.type

    @property
    def example(self) -> Any:
        """A generator of the same class."""
        if self.type.name == "Generator":
            return np.random.default_rng(0)
        return np.random.RandomState(0)

    def description(self) -> str:
        return repr(self.type)


@dataclass(eq=False)
class GeneratorMethod(Value):
    """A method of a random generator, before it is called."""

    noun = "method"

    receiver: GeneratorValue
    name: str


_EMPTY: dict[Any, Any] = {}
_ORDERED: dict[Any, Any] = OrderedDict()
DICT_VIEWS = tuple(type(d.values()) for d in (_EMPTY, _ORDERED)) + tuple(
    type(d.items()) for d in (_EMPTY, _ORDERED)
)


@dataclass(frozen=True, eq=False)
class Poison(Value):
    """The value of a name in which control flow paths left values that cannot be merged: it must
    not be read. ``reason`` says why, ``hint`` what to do instead."""

    reason: str
    hint: str = "give it one kind of value, of one type, on all paths before"


@dataclass(frozen=True, eq=False)
class Maybe(Poison):
    """The value of a name, an attribute or an item that some paths alone give it: ``flag`` says at
    run time whether they did. A look-up of a name takes it apart (see
    `stcompile.frontend.control.unbound`); an attribute or an item must not be read."""

    flag: Any = False
    value: Any = None

    def parts(self) -> list[tuple[Any, Any]]:
        return [("flag", self.flag), ("value", self.value)]

    def with_parts(self, parts: list[Any]) -> Any:
        flag, value = parts
        return value if flag is True else replace(self, flag=flag, value=value)


class Rest(Poison):
    """Items of a list that are not known one by one: see `stcompile.frontend.state.rests`. The list
    ``is_lent`` if another object keeps its items meanwhile."""

    is_lent: ClassVar[bool] = False

    def truth(self, run: Any, items: list[Any]) -> Any:
        """The value that decides whether the list is true."""
        return items


def is_lent(container: Any) -> bool:
    """True for a list whose items another object keeps."""
    return type(container) is list and any(
        isinstance(item, Rest) and item.is_lent for item in container[:1]
    )


@dataclass(frozen=True, eq=False)
class Grown(Rest):
    """Items that the earlier steps of a loop appended to a list: ``count`` of them, a static or
    affine integer, or None if that is not known. The last of them may follow in the list. ``asked``
    notes how many more would have to follow for all reads to succeed."""

    count: Any = None
    asked: list[int] = field(default_factory=list)


@dataclass(eq=False)
class Partial(Value):
    """``functools.partial`` of a real or a staged function."""

    noun = "partial function"

    function: Any
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def parts(self) -> list[tuple[Any, Any]]:
        given = [*enumerate(self.arguments), *self.keywords.items()]
        return [("function", self.function), *given]

    def with_parts(self, parts: list[Any]) -> Partial:
        function, *given = parts
        count = len(self.arguments)
        keywords = dict(zip(self.keywords, given[count:], strict=True))
        return Partial(function, tuple(given[:count]), keywords)


@dataclass(frozen=True, eq=False)
class Unread(Value):
    """An attribute of an object in an argument or a captured structure that is not a field of it:
    ``read`` gives its mirror."""

    read: Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Super(Value):
    """``super(start, receiver)``: ``cls`` is the class whose order is followed after ``start``."""

    is_static = True

    start: type
    receiver: Any
    cls: type


@dataclass(frozen=True, eq=False)
class Factored(Value):
    """A result of ``linalg.lu_factor``: it keeps the matrix for ``lu_solve``."""

    matrix: Array


@dataclass(eq=False)
class Frozen(Value):
    """A distribution of `scipy.stats` with its parameters."""

    distribution: Any
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


def is_traced(value: Any) -> TypeGuard[Traced]:
    return isinstance(value, Array | Scalar)


def is_numeric(value: Any) -> bool:
    """True for a number, traced or not; an array without dimensions is none."""
    return isinstance(value, Scalar) or is_number(value)


def is_whole(value: Any) -> bool:
    """True for an integer that is known."""
    return isinstance(value, int | np.integer)


def has_axes(value: Any) -> bool:
    """True for an array that is not read as a number."""
    return isinstance(value, Array) and value.type.ndim > 0


def as_entries(value: Any) -> Any:
    """The entries of a tuple or a list, such as a shape; anything else is the only entry."""
    return value if isinstance(value, tuple | list) else (value,)


def scaled(index: Affine | int, factor: int, shift: int) -> Affine | int:
    """``factor * index + shift``, of an integer that may depend on counters."""
    return index.scaled(factor, shift) if isinstance(index, Affine) else index * factor + shift


def is_static(value: Any) -> bool:
    """True if nothing in the value depends on traced values."""
    if isinstance(value, Value):
        return value.is_static
    if is_derived(value):
        return all(is_static(part) for _, part in parts_of(value))
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(is_static, value))
    if isinstance(value, dict):
        return all(map(is_static, value.values()))
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject or all(map(is_static, value.flat))
    if type(value) in DICT_VIEWS:
        return all(map(is_static, value))
    if isinstance(value, BaseException):
        return all(map(is_static, value.args))
    if isinstance(value, slice):
        return all(map(is_static, (value.start, value.stop, value.step)))
    return True


def describe(value: Any) -> str:
    """A traced value's type, or the users' noun for a static value, for messages."""
    if isinstance(value, Value):
        return value.description()
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype}"
    return noun_of(value)


def described(value: Any) -> str:
    """Describe a value with an article: "an array f64[3]", "a list"."""
    if isinstance(value, Array):
        return f"an array {value.type}"
    if isinstance(value, Scalar):
        return f"a number {value.type}"
    return an(describe(value))
