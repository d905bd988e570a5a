"""The functions of a file of C, and what they share."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stcompile.native.bindings import Part, Raised
from stcompile.native.functions import called_by, short_function
from stcompile.native.kinds import INT, Array, Kind, Number, Parameter
from stcompile.native.names import c_name
from stcompile.native.values import UNKNOWN, Value
from stcompile.wengert.bounds import bounded
from stcompile.wengert.dims import Dim, Size, Symbol, size_of


@dataclass
class Made:
    """A translated function: its name in C, its parameters besides the workspace, its results, its
    text, what it needs (the lengths that have names, the workspace, and arrays there), if it may
    find an error, and the errors whose codes its callers give it."""

    name: str
    parameters: list[Parameter]
    results: list[Kind]
    lines: list[str]
    needs_workspace: bool
    members: frozenset[str] = frozenset()
    lengths: Sequence[str] = ()
    title: str = ""
    may_fail: bool = False
    raised: Sequence[tuple[str, Sequence[Part]]] = ()

    @property
    def returned(self) -> str:
        """The type of what it returns: a single number, or nothing."""
        numbers = [kind for kind in self.results if isinstance(kind, Number)]
        return numbers[0].c if len(numbers) == len(self.results) == 1 else "void"

    @property
    def words(self) -> set[str]:
        """The words in its statements."""
        lines = [line for line in self.lines if not line.lstrip().startswith("/*")]
        return set(re.findall(r"\w+", " ".join(lines)))


@dataclass
class Unit:
    """The functions of a file: their definitions by name, the comments by line, the functions that
    were translated, the members of the workspace, short functions, errors, and the lengths
    that have names, by their names in C. ``translate`` makes a function for the types of its
    arguments."""

    name: str
    definitions: dict[str, ast.FunctionDef]
    comments: dict[int, str]
    locate: Callable[[int], str]
    translate: Callable[[Unit, ast.FunctionDef, Sequence[Value], str], Made]
    made: dict[Any, Made] = field(default_factory=dict)
    order: list[Made] = field(default_factory=list)
    members: dict[str, Array] = field(default_factory=dict)
    inlines: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)  # by the names of their codes
    taken: Counter[str] = field(default_factory=Counter)
    lengths: Mapping[str, Symbol] = field(default_factory=dict)
    chosen: dict[str, Symbol] = field(default_factory=dict)  # numbers that data decide
    limit: str = ""  # the length of lists, where there may be some
    says_numbers: bool = False  # that messages of errors have
    lapack: bool = False  # True if its functions may be called
    has_sums: bool = False  # that may be added several terms at a time
    stack: int | None = None  # bytes of arrays that a step of a loop in threads has; None: no loop
    clause: str = ""  # of the pragma of such loops
    unrolled: int = 0  # the most steps of an innermost loop that is unrolled
    last: str = ""  # the user's line that was translated last

    @property
    def workspace(self) -> str:
        return f"struct {self.name}_workspace"

    def called(self, name: str) -> str:
        """The name in C of a name in a function."""
        own = c_name(name)
        return f"{own}_" if own in self.lengths else own

    def unique(self, wish: str) -> str:
        """A name that no function or member of the workspace has yet."""
        self.taken[wish] += 1
        return wish if self.taken[wish] == 1 else self.unique(f"{wish}_{self.taken[wish]}")

    def code(self, raised: Raised) -> str:
        """The code of an error, at the user's line that its line is for, or that the last one was
        for."""
        place = self.place(raised.line)
        line = f" line {place.rpartition(':')[2]}" if place else ""
        return self.named_code(
            f"{raised.error}{line}", f"{place}: {raised.text}" if place else raised.text
        )

    def named_code(self, wish: str, text: str) -> str:
        """The name of the code of an error, made of words."""
        for own, said in self.errors.items():
            if said == text:
                return own
        words = re.sub(r"(?<=[a-z])(?=[A-Z])|\W", "_", f"{self.name} {wish}")
        own = self.unique(words.upper())
        self.errors[own] = text
        return own

    def too_small(self, length: str) -> str:
        """The name of the code for a length that is too small: one that the caller chooses may be
        less than a call takes steps."""
        low = self.lengths[length].low
        least = "the number of steps" if length == self.limit else low
        return self.named_code(f"{length} too small", f"ValueError: {length} is less than {least}")

    def is_checked(self, node: ast.FunctionDef) -> bool:
        """True if indices in a function may be out of range."""
        return True

    def is_of_callers(self, node: ast.FunctionDef) -> bool:
        """True for a function that no line of the user's stands for: errors have those of calls."""
        return not any(map(self.locate, range(node.lineno, (node.end_lineno or 0) + 1)))

    def looped(self, w: Any, node: ast.For, at: int) -> None:
        """Change the lines of a loop, those from ``at`` on."""

    def place(self, line: int) -> str:
        """The user's line."""
        self.last = self.locate(line) or self.last
        return self.last

    def count(self, name: str, bound: Size) -> Dim:
        """A number that data decide, up to a bound, as a length."""
        self.chosen[name] = Symbol(name, 0, bound)
        number: Dim = size_of(self.chosen[name])
        return number

    def longest(self, kind: Array) -> Array:
        """The array that is never shorter than one of lengths that data decide."""
        dims = kind.dims
        for symbol in reversed(self.chosen.values()):  # a bound is made of earlier ones
            dims = tuple(bounded(dim, symbol) for dim in dims)
        return Array(kind.of, dims)

    def inline(self, name: str, kind: Number) -> str:
        """The name of a short function for numbers of a kind."""
        suffix = {"float64": "", "int64": "_int", "float32": "f"}.get(kind.dtype.name)
        suffix = f"_{kind.dtype.name}" if suffix is None else suffix
        suffix = "" if name.startswith("int_") and kind == INT else suffix
        suffix = kind.suffix if name.startswith("complex_") else suffix
        full = name + suffix
        for other in called_by(name):
            self.inline(other, kind)
        self.inlines.setdefault(full, short_function(name, kind, suffix))
        return full

    def function(self, name: str, arguments: Sequence[Value]) -> Made:
        """A function, translated for the kinds of these arguments."""
        arrays = Counter(_array(a) for a in arguments if isinstance(a.kind, Array))
        given = [
            replace(
                a,
                is_alone=a.is_alone and arrays[_array(a)] < 2,
                static=a.static if isinstance(a.static, int | str | tuple) else UNKNOWN,
            )
            for a in arguments
        ]
        facts = ((a.kind, a.is_const, a.is_alone, a.length, _hashable(a.static)) for a in given)
        key = name, *facts
        if key not in self.made:
            made = self.translate(self, self.definitions[name], given, self.unique(name))
            self.made[key] = made
            self.order.append(made)
        return self.made[key]


def _array(value: Value) -> str:
    """The name of the array that a value is, perhaps with another shape: the last name in it."""
    return "".join(re.findall(r"[A-Za-z_]\w*", re.sub(r"\[.*?\]|\.numbers\b", "", value.code))[-1:])


def _hashable(static: Any) -> Any:
    """A value as a part of a key: unlike in Python, True and 1 are different."""
    return (type(static), static) if static is not UNKNOWN else None
