"""The kernels of a program as functions of C, each with a function around it that Python calls.

That function is a built-in of Python's. It checks its arguments, reads where their elements lie,
makes the arrays of the results, and lets go of Python's lock while the kernel runs. The text
declares what it calls of Python's stable interface, and the beginning of NumPy's arrays, so that
no headers are needed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stcompile.native.bindings import NUMBER, Binding, KernelsInC, Raised
from stcompile.native.control import UNROLLED
from stcompile.native.entries import PRELUDE, Entry, entry_lines
from stcompile.native.errors import SAID
from stcompile.native.file import joined, shared_lines, unit_of
from stcompile.native.kinds import INT, Array, Kind
from stcompile.native.lines import STEP
from stcompile.native.names import c_name, names_in, nodes
from stcompile.native.threads import IN_THREADS
from stcompile.native.unit import Unit
from stcompile.native.values import NotInC, Value, static_value
from stcompile.native.workspace import struct_lines
from stcompile.native.writer import Writer
from stcompile.wengert.dims import Dim, Symbol, UnknownSizeError


@dataclass(frozen=True)
class Operands:
    """The operands of a kernel: their kinds, the positions of those that it writes to, and, by
    their positions, those that are lengths that have names."""

    kinds: Sequence[Kind]
    written: frozenset[int]
    lengths: Mapping[int, Dim]


@dataclass
class _Kernels(Unit):
    """The functions of a file of kernels, and the errors that they raise."""

    raised: list[Raised] = field(default_factory=list)
    unrolled: int = 4
    clause: str = f" num_threads({NUMBER})"
    says_numbers: bool = True

    def code(self, raised: Raised) -> str:
        if raised not in self.raised:
            self.raised.append(raised)
        return str(self.raised.index(raised) + 1)

    def is_checked(self, node: ast.FunctionDef) -> bool:
        """True if an index may be out of range, as Numba is told."""
        return any("boundscheck=True" in ast.unparse(one) for one in node.decorator_list)

    def is_of_callers(self, node: ast.FunctionDef) -> bool:
        """False: errors name the lines of the text, as Numba's do."""
        return False

    def looped(self, w: Writer, node: ast.For, at: int) -> None:
        within = {type(one) for one in nodes(node.body, ast.stmt)}
        if w.places and not within & {ast.For, ast.While}:
            w.text.lines[at:] = _versions(
                w, w.text.lines[at:], set(map(c_name, names_in(node.body, ast.Store)))
            )


_PRAGMA = re.compile(rf"IN_ANY_ORDER\(|{UNROLLED}$|{IN_THREADS}")
_HEAD = re.compile(r"^ *for \(int64_t (\w+) = (.*?); \1 < (.*); \1\+\+\) \{$")


def _versions(w: Writer, lines: Sequence[str], assigned: set[str]) -> list[str]:
    """An innermost loop twice: without the checks of indices that are a number and the counter,
    where the first and the last are in range, and with them. Sums are in order with checks:
    the compiler would keep parts of them in memory."""
    checked = [line for line in lines if not _PRAGMA.search(line)]
    head = _HEAD.search(checked[0])
    if head is None:
        return checked
    counter, first, last = head.groups()
    kept = {value.code for value in w.env.values() if value.kind == INT} - assigned
    if assigned & set(re.findall(r"\w+", f"{first} {last}")):
        return checked
    free, tests = "\n".join(lines), dict[str, None]()
    for text, (index, length) in w.places.items():
        base, _, moved = index.rpartition(" + ")
        if moved == counter and base in kept and base.isidentifier():
            free = free.replace(text, index)
            least = "0" if first == "0" else f"-({first})"
            tests[f"{base} >= {least} && {base} <= {length} - ({last})"] = None
    if not tests:
        return checked
    margin = lines[0][: -len(lines[0].lstrip())]
    more = [[" " * STEP + line for line in part] for part in (free.split("\n"), checked)]
    middle = [f"{margin}}} else {{"]
    return [f"{margin}if ({' && '.join(tests)}) {{", *more[0], *middle, *more[1], f"{margin}}}"]


def kernels_in_c(
    source: str,
    name: str,
    kernels: Mapping[str, Operands],
    locate: Callable[[int], str],
    lengths: Mapping[str, Symbol],
    fastmath: bool = False,
) -> tuple[KernelsInC, dict[str, str]]:
    """Translate kernels of a module, the ``source`` of a program ``name``; and the reasons why some
    are not translated, by name. The ``lengths`` are those that have names, by their names in C."""
    unit = unit_of(source, name, locate, _Kernels)
    unit.lengths = lengths
    entries, reasons = [], {}
    for own, operands in kernels.items():
        state = len(unit.order), dict(unit.made), dict(unit.members), list(unit.raised)
        try:
            entries.append(_entry(unit, own, operands))
        except (NotInC, UnknownSizeError) as error:
            reasons[own] = str(error)
            del unit.order[state[0] :]
            unit.made, unit.members, unit.raised = state[1:]
    bound, text = tuple(map(_binding, entries)), _text(unit, entries)
    return KernelsInC(text, bound, tuple(unit.raised), fastmath, not reasons), reasons


def _entry(unit: _Kernels, name: str, operands: Operands) -> Entry:
    node = unit.definitions[name]
    given = []
    for at, kind in enumerate(operands.kinds):
        if isinstance(kind, Array) and 0 in kind.dims:
            raise NotInC("an array without elements has no translation", node.lineno)
        is_const, is_alone = at not in operands.written, not operands.written
        own = Value(kind, f"operand_{at}", is_const=is_const, is_alone=is_alone)
        given.append(static_value(operands.lengths[at]) if at in operands.lengths else own)
    made = unit.function(name, given)
    return Entry(name, made, tuple(operands.kinds), operands.written, operands.lengths)


def _binding(entry: Entry) -> Binding:
    arrays = [(at, kind.of.dtype.str, at in entry.written) for at, kind in entry.arrays.items()]
    made = [kind.of.dtype.str for kind in entry.made.values()]
    has_threads = IN_THREADS in entry.function.words
    return Binding(entry.name, len(entry.kinds), tuple(arrays), tuple(made), has_threads)


def _text(unit: _Kernels, entries: Sequence[Entry]) -> str:
    lines = [
        *PRELUDE.splitlines(),
        "",
        *struct_lines(unit, f"int64_t said[{SAID}]"),
        "",
        *([f"int {NUMBER} = 1;", ""] if unit.stack is not None else []),
        *shared_lines(unit, has_complex=False),
        *(line for one in entries for line in entry_lines(one, unit)),
    ]
    return joined(lines)
