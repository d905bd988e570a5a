"""Random programs in which features meet in pairs, as source text with the arguments of calls.

A seed chooses a row of a covering design (`tests.fuzz.covering`): for each place of a program one
of the features of `tests.fuzz.features`. The statements for them are put in random order, before,
in and behind a loop and a branch, mostly about the array or view that was made last. Each is run
by NumPy as it is drawn; one that NumPy refuses is drawn again, and left out in the end.

Two features meet if one is written about what the other made, in a block that the other opened, or
in one statement. The program knows which did.

>>> made = drawn(3)
>>> made.source.startswith("def program(x, a, y, k, b, c, s):"), len(made.met) > 20
(True, True)
"""

from __future__ import annotations

import functools
import itertools
import random
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.covering import Row, covering
from tests.fuzz.features import NOTHING, SLOTS, kinds, reason
from tests.fuzz.generate import function_of
from tests.fuzz.helpers import HELPERS
from tests.fuzz.structures import flat, is_finite, locked, same

NAMES = ("x", "a", "y", "k", "b", "c", "s")
LIMIT = 1e3  # no value is larger
LARGEST = 400  # elements of one array
TRIALS = 6  # ways to write one feature
CALLS = 6
NUMBERS = ("0.25", "s", "t * 0.1", "y[1]", "x[0]", "np.sin(s)", "k[0] * 0.1", "0.5", "0.0", "x[-1]")
WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Outside:
    """What is known where a block begins, and still behind it: what is made in the block has a
    value on one path only."""

    names: frozenset[str]
    focus: str
    base: str
    integers: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A block that is being written: how far its header is indented and its body, its counter in
    a subscript, and what a step of it ends with."""

    header: int
    body: int
    counter: str
    step: str
    outside: Outside


@dataclass(frozen=True)
class Program:
    """A program with the arguments of its calls, its features, and the pairs of them that met."""

    source: str
    calls: tuple[tuple[Any, ...], ...]
    features: frozenset[str]
    met: frozenset[frozenset[str]]
    how: tuple[str, str, str]  # transform, level, option
    has_empty: bool  # an array of it has no element


@functools.lru_cache(maxsize=4)
def design(number: int) -> tuple[Row, ...]:
    """One of the designs: rows in which each pair of features occurs that can."""
    columns = {slot: [f"{kind}: {name}" for name in kinds()[kind]] for slot, kind in SLOTS.items()}
    return covering(columns, lambda one, other: not reason(one, other), number)


def row_of(seed: int) -> Row:
    """The row of a seed: seeds that follow each other go through one design, then the next."""
    number, at = divmod(seed, ROWS)
    rows = design(number)
    return rows[at % len(rows)]


ROWS = 650  # of seeds for one design, which has about as many rows


class Writer:
    """A program being written."""

    def __init__(self, row: Row, choices: random.Random) -> None:
        self.row, self.choices = row, choices
        self.pick = choices.choice
        self.calls = [*arguments(row, choices)]
        self.lines: list[str] = []
        self.indent = 1
        self.made = 0
        self.local: dict[str, Any] = {}
        self.lineage: dict[str, frozenset[str]] = {}
        self.around: list[frozenset[str]] = []  # the features of the blocks that are open
        self.used: set[str] = set()
        self.met: set[frozenset[str]] = set()
        self.focus, self.base = "x", "x"
        self.inner: set[str] = set()  # names that blocks made which are closed
        self.has_empty = False
        self.origin = ""  # the array that the last integer was made of
        self.returned = ""  # the array that is returned in a loop
        self.integers = ["k[0]"]
        self.open_blocks: list[Block] = []

    @property
    def counter(self) -> str:
        """The counter of the innermost loop, as a small integer; "" outside of loops."""
        return next((block.counter for block in reversed(self.open_blocks) if block.counter), "")

    @property
    def step(self) -> str:
        """What the innermost `while` loop counts by."""
        loops = (block for block in reversed(self.open_blocks) if block.counter)
        return next((block.step for block in loops), "")

    # --- statements ------------------------------------------------------------------------------

    def write(self) -> None:
        is_complex = self.row.get("dtype") == "dtype: complex"
        start = "np.complex128(s * (0.5 + 0.1j))" if is_complex else "np.float64(s) * 0.5"
        self.add(f"t = {start}", frozenset())
        self.source()
        for slot in ("part", "integer"):
            self.statement(slot)
        slots = ["part of it", "read", "write", "second write", "function", "list"]
        self.choices.shuffle(slots)
        cuts = sorted(self.choices.randrange(len(slots)) for _ in range(2))
        before, inside, after = slots[: cuts[0]], slots[cuts[0] : cuts[1] + 1], slots[cuts[1] + 1 :]
        for slot in before:
            self.statement(slot)
        self.blocks(inside)
        for slot in after:
            self.statement(slot)
        if self.pick((0, 1)):
            self.statement("read")

    def blocks(self, slots: list[str]) -> None:
        """The statements in a loop and a branch, or in one after the other."""
        opened = 0
        order = ["loop", "branch"]
        self.choices.shuffle(order)
        for slot in order:
            opened += self.open(slot)
            if self.pick((0, 0, 1)) and slots:
                self.statement(slots.pop())
        if self.counter and self.pick((0, 1)):
            self.statement("exit")
        for slot in slots:
            self.statement(slot)
        if self.counter and "exit: " + self.row.get("exit", "")[6:] not in self.used:
            self.statement("exit")
        for _ in range(opened):
            self.close()

    def statement(self, slot: str) -> None:
        """The feature of a place, in a way that NumPy runs."""
        feature = self.row.get(slot)
        if feature is None or feature in NOTHING:
            return
        kind, _, name = feature.partition(": ")
        ways = kinds()[kind][name]
        index = self.row.get({"read": "index", "write": "second index"}.get(slot, ""))
        for trial in range(TRIALS):
            features, text = {feature}, self.pick(ways)
            if kind in ("read", "write") and "{d}" in text:
                if index is not None:
                    features.add(index)
                    text = text.replace("{d}", self.pick(kinds()["index"][index[7:]]))
                text = text.replace("{d}", "0")
            if self.attempted(trial, kind, text, frozenset(features)):
                break
        if index is not None and index not in self.used:
            self.index(index, slot)

    def index(self, index: str, slot: str) -> None:
        """A subscript for the statement of a place that has none."""
        read, write = "t = t + np.sum({u}[{d}] * {e})", "{u}[{d}] += {e}"
        for trial in range(TRIALS):
            text = read if slot == "read" or trial >= TRIALS // 2 else write
            text = text.replace("{d}", self.pick(kinds()["index"][index[7:]]))
            if self.attempted(trial, "read", text, frozenset({index})):
                return

    def attempted(self, trial: int, kind: str, text: str, features: frozenset[str]) -> bool:
        """A statement about the array at hand; in later trials about another one."""
        if trial < TRIALS // 2:
            return self.attempt(kind, text, features)
        before = self.focus
        arrays = [(name, value) for name, value in self.arrays() if value.ndim]
        if kind == "write":
            arrays = [(name, value) for name, value in arrays if value.flags.writeable]
        self.focus = self.pick([name for name, _ in arrays] or ["x"])
        if self.attempt(kind, text, features):
            return True
        self.focus = before
        return False

    def attempt(self, kind: str, text: str, features: frozenset[str]) -> bool:
        name = f"{'i' if kind == 'integer' else 'v'}{self.made}"
        if kind == "write" or "+= {e}" in text:
            hole = re.search(r"\{([uvzo])\}", text)
            target = {"u": self.focus, "v": self.base, "o": self.origin}
            if hole and not self.is_own(target.get(hole[1], self.focus)):
                return False
        if kind in ("source", "part", "integer"):
            text = "{n} = " + text
        elif kind == "function":
            text = self.pick(("{n} = " + text, "t = t + np.sum(" + text + ") * 0.1"))
        if kind == "exit" and "return" in text:
            self.returned = self.open_blocks[0].outside.focus
            text = text.replace("{u} * 1.0", f"{self.returned} * 0.5")
        text = self.filled(text, name)
        if kind == "exit" and self.step and text.endswith("continue"):
            text = text.removesuffix("continue") + f"{self.step}\n    continue"
        if "{q}" in text:
            if not self.counter:
                text = f"for q in range(3):\n{textwrap.indent(text, '    ')}"
            text = text.replace("{q}", self.counter or "q")
        makes = name if re.search(rf"\b{name}\b", text) else ""
        before = self.base
        if not self.add(text, features, makes):
            return False
        self.made += 1
        made = self.local.get(makes)
        if kind == "integer":
            self.integers.append(name)
            own = [word for word in WORD.findall(text) if self.is_own(word)]
            self.origin = own[0] if own else self.origin
        elif isinstance(made, np.ndarray) and made.ndim and made.size:
            if kind == "source":
                self.base = name
            elif kind == "part":
                self.base = self.focus if self.pick((0, 1)) else before
            self.focus = name if kind in ("source", "part") or self.pick((0, 1)) else self.focus
        return True

    def source(self) -> None:
        """The array at the beginning, in its order and dtype."""
        order, dtype = self.row.get("order", "order: C"), self.row.get("dtype", "dtype: float64")
        for _ in range(TRIALS):
            text = self.pick(kinds()["source"][self.row["source"][8:]])
            if self.add(self.filled("{n} = " + text, "v"), frozenset({self.row["source"]}), "v"):
                break
        else:
            self.add("v = x * 1.0", frozenset(), "v")
        self.focus = self.base = "v"
        for feature in (dtype, order):
            kind, _, name = feature.partition(": ")
            way = self.pick(kinds()[kind][name])
            text = {
                "broadcast": "v = np.broadcast_to(v, (3, *v.shape))",
                "axes": "v = np.stack([v, v * 0.5], axis=-1).swapaxes(0, -1)",
                "arguments": "v = v[...]",
                "": "v = v[...]" if self.row["source"] == "source: argument" else "v = v * 1.0",
            }.get(way, f"v = (v{way})" if way.startswith(".") else f"v = v{way}")
            if way in ("", "arguments"):
                self.note(text, frozenset({feature}), "v")
                continue
            self.add(text.replace("{v}", "v"), frozenset({feature}), "v")

    def open(self, slot: str) -> bool:
        """Open a block, if the row has one."""
        feature = self.row.get(slot)
        if feature is None or feature in NOTHING:
            return False
        kind, _, name = feature.partition(": ")
        for _ in range(TRIALS):
            text = self.filled(self.pick(kinds()[kind][name]), f"v{self.made}")
            if kind == "loop":
                text = text.replace("{q}", "q")
            if not text.endswith(":"):  # an expression
                if self.attempt(kind, text, frozenset({feature})):
                    return False
                continue
            last = text.splitlines()[-1]
            inner = self.indent + 1 + (len(last) - len(last.lstrip())) // 4
            counter = step = ""
            if kind == "loop":
                is_long = any(many in text for many in ("17", "18", "20")) and "in k" not in text
                counter = "(q % 3)" if is_long else "q"
                if text.startswith("q = "):
                    step = "q -= 1" if text.startswith("q = 2") else "q += 1"
            before, lines, indent = dict(self.local), len(self.lines), self.indent
            self.put(text)
            outside = Outside(frozenset(before), self.focus, self.base, tuple(self.integers))
            self.open_blocks.append(Block(indent, inner, counter, step, outside))
            self.indent = inner
            if self.runs():
                self.note(text, frozenset({feature}))
                self.around.append(frozenset({feature}))
                return True
            del self.lines[lines:]
            self.indent, self.local = indent, before
            self.open_blocks.pop()
        return False

    def close(self) -> None:
        """Close the block that was opened last."""
        block = self.open_blocks.pop()
        self.indent = block.body
        self.put(block.step or "pass")
        self.indent = block.header
        self.around.pop()
        outside = block.outside
        self.focus, self.base, self.integers = outside.focus, outside.base, [*outside.integers]
        inner = self.local.keys() - outside.names
        self.inner |= inner
        self.local = {name: self.local[name] for name in outside.names}

    # --- text ------------------------------------------------------------------------------------

    def filled(self, text: str, name: str) -> str:
        """A way with its holes filled, all but that of the counter."""
        for _ in range(4):
            if not re.search(r"\{[a-z]\}", text.replace("{q}", "")):
                break
            text = re.sub(r"\{([a-pr-z])\}", lambda hole: self.hole(hole[1], name), text)
        return text.replace("{{", "{").replace("}}", "}")

    def hole(self, which: str, name: str) -> str:
        u = self.focus
        match which:
            case "u":
                return u
            case "v":
                return self.base
            case "w":
                return self.vector()
            case "o":
                return self.origin
            case "z":
                same = [n for n, value in self.arrays() if np.shape(value) == self.shape(u)]
                return str(self.pick(same or [u]))
            case "i":
                return str(self.pick(self.integers[-2:]))
            case "f":
                w = self.vector()
                return str(self.pick((f"{w}[0]", f"{w}[1]", f"{w}[-1]", f"{w}[{{i}}]", "x[1]")))
            case "e":
                return str(self.pick((*NUMBERS, "{f}")))
            case "m":
                masks = (f"{u} > 0.2", f"{u} < 0.5", f"~({u} > 0.2)")
                return str(self.pick(("b", "b", *masks) if self.shape(u) == (7,) else masks))
            case "g":
                return str(self.pick((3, 3, 18)))
            case "l":
                return f"l{self.made}"
            case "n":
                return name
        raise ValueError(which)

    def arrays(self) -> Iterator[tuple[str, Any]]:
        for name, value in self.local.items():
            if isinstance(value, np.ndarray) and value.dtype.kind in "fc" and value.size:
                yield name, value

    def is_own(self, name: str) -> bool:
        """True for an array that the program may write to."""
        value = self.local.get(name)
        return isinstance(value, np.ndarray) and value.flags.writeable

    def shape(self, name: str) -> tuple[int, ...]:
        return np.shape(self.local.get(name))

    def vector(self) -> str:
        """A vector of real numbers, the one at hand if it is one."""
        found = [n for n, v in self.arrays() if v.ndim == 1 and v.size > 2 and v.dtype.kind == "f"]
        near = [name for name in (self.focus, self.base) if name in found]
        own = [name for name in found if self.is_own(name)]
        return str(self.pick(near or own or found or ["x"]))

    # --- what is kept ----------------------------------------------------------------------------

    def add(self, text: str, features: frozenset[str], makes: str = "") -> bool:
        """Put statements that NumPy runs."""
        lines = len(self.lines)
        self.put(text)
        before = dict(self.local)
        if not self.runs():
            del self.lines[lines:]
            self.local = before
            return False
        self.note(text, features, makes)
        return True

    def put(self, text: str) -> None:
        self.lines += textwrap.indent(text, "    " * self.indent).splitlines()

    def note(self, text: str, features: frozenset[str], makes: str = "") -> None:
        """Note which features meet, and what the arrays of a statement are made by."""
        names = {*WORD.findall(text)} & {*self.lineage, *self.local, makes, "t"}
        known = frozenset().union(*self.around, *(self.lineage.get(n, ()) for n in names))
        self.used |= features
        for one in features:
            self.met |= {frozenset((one, other)) for other in (known | features) - {one}}
            if one in known:
                self.met.add(frozenset((one,)))
        changed = {"t", makes} if makes else names
        for name in changed:
            self.lineage[name] = self.lineage.get(name, frozenset()) | known | features
        for name, value in self.arrays():
            if any(
                isinstance(self.local.get(one), np.ndarray)
                and np.may_share_memory(value, self.local[one])
                for one in changed
            ):
                self.lineage[name] = self.lineage.get(name, frozenset()) | features

    def runs(self) -> bool:
        """True if NumPy runs the program as far as it is written, to bounded values."""
        seen: dict[str, Any] = {}
        lines = [*self.lines, "    " * self.indent + "note_(locals())"]
        lines += ["    " * block.body + (block.step or "pass") for block in self.open_blocks[::-1]]
        text = "\n".join([f"def program({', '.join(NAMES)}):", *lines, "    return locals()"])

        def note(local: dict[str, Any]) -> None:
            if not seen:
                seen.update(local)

        names = {**HELPERS, "note_": note}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                exec(compile(text, "<drawn>", "exec"), names)
                given = locked(self.calls[0])
                end = names["program"](*given)
            except Exception:
                return False
        if not same(given, self.calls[0]):  # some functions of NumPy write to read-only arrays
            return False
        if not seen or not (isinstance(end, tuple) or all(map(fits, end.values()))):
            return False
        if not all(map(fits, seen.values())):
            return False
        self.local = {name: value for name, value in seen.items() if name not in self.inner}
        self.has_empty |= any(getattr(value, "size", 1) == 0 for value in seen.values())
        return True

    def text(self, how: str) -> str:
        shown = self.focus
        kept = self.returned or (self.base if self.pick((0, 0, 1)) else shown)
        body = "\n".join([f'    """{how}"""', *self.lines, f"    return t, {kept} * 1.0"])
        return without_idle(f"def program({', '.join(NAMES)}):\n{body}\n")


def without_idle(text: str) -> str:
    """The text without `pass` where something else stands beside it."""
    lines = text.splitlines()
    kept = []
    for line, before in zip(lines, ["", *lines]):
        if line.strip() == "pass" and not before.rstrip().endswith(":"):
            continue
        kept.append(line)
    return "\n".join(kept) + "\n"


def fits(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(fits, value))
    if isinstance(value, np.ndarray | np.generic | float | complex):
        small = np.size(value) <= LARGEST
        return small and bool(np.all(np.abs(value) < LIMIT))
    return True


# --- arguments -----------------------------------------------------------------------------------

INDICES = (  # in every array of three elements, also through the ways to write an index
    (-1, 0, 2), (1, 0, 2), (-2, -1, -2), (-1, -1, -1), (0, 0, 0), (2, -3, 2), (-3, 1, 0), (2, 2, 2),
)  # fmt: skip


def arguments(row: Row, choices: random.Random) -> Iterator[tuple[Any, ...]]:
    """The arguments of calls, which lie in memory alike."""
    rng = np.random.default_rng(choices.getrandbits(32))
    order, dtype = row.get("order", ""), row.get("dtype", "")
    chosen = [choices.choice(INDICES), *choices.sample(INDICES, len(INDICES))]
    for number, indices in enumerate(chosen[:CALLS]):
        x, a, y = (rng.uniform(-0.4, 1.3, shape).round(3) for shape in ((7,), (5, 6), (5,)))
        if number == 2:
            x[2], y[3], a[1] = x[5], y[0], a[3]  # equal numbers
        elif number == 3:
            x[1], y[-1], a[0, 0], a[-1] = 0.0, 0.0, 0.0, 0.0
        if number:
            x, a, y = (np.where(rng.random(v.shape) < 0.2, -v, v) for v in (x, a, y))
        if dtype == "dtype: float32":
            x, a, y = (v.astype(np.float32) for v in (x, a, y))
        if order == "order: Fortran":
            a = np.asfortranarray(a)
        elif order == "order: gaps":
            x, a = np.repeat(x, 2)[::2], np.repeat(a, 2, axis=1)[:, ::2]
        elif order == "order: negative strides":
            x, a = x[::-1], a[::-1, ::-1]
        b = {1: np.zeros(7, bool), 4: np.ones(7, bool)}.get(number, rng.random(7) < 0.5)
        s = round(float(rng.uniform(0.2, 0.9)), 3)
        yield x, a, y, np.array(indices), b, rng.integers(-4, 9, 5), s


def values_of(args: tuple[Any, ...]) -> frozenset[str]:
    """The kinds of values among the arguments of a call.

    >>> example = np.ones(7), np.ones((5, 6)), np.ones(5), np.array([-1, 0, -1]), np.zeros(7, bool)
    >>> sorted(values_of((*example, np.arange(5), 0.5)))
    ['equal', 'first', 'last', 'negative', 'none', 'repeated', 'zero']
    """
    x, _, _, k, b, *_ = args
    found = {
        "negative": np.any(k < 0),
        "zero": np.any(k == 0) or np.any(x == 0),
        "repeated": np.unique(k).size < k.size,
        "equal": np.all(k == k[0]) or np.unique(x).size < x.size,
        "first": np.any(k == 0) or np.any(k == -3),
        "last": np.any(k == -1) or np.any(k == 2),
        "none": not b.any(),
        "all": b.all(),
    }
    return frozenset(kind for kind, holds in found.items() if holds)


VALUES = ("negative", "zero", "repeated", "equal", "empty", "first", "last", "none", "all")


# --- programs ------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def drawn(seed: int) -> Program:
    """The program of a seed, which plain Python runs with all arguments of its calls."""
    row = row_of(seed)
    how = tuple(row.get(slot, default) for slot, default in HOW.items())
    for number in itertools.count():
        writer = Writer(row, random.Random(f"{seed} {number}"))
        writer.write()
        source = writer.text("; ".join(feature.partition(": ")[2] for feature in how))
        calls = tuple(args for args in writer.calls if runs(source, (args,)))
        if calls and runs(source, (writer.calls[0],)):
            break
    used = frozenset(writer.used)
    met = writer.met | {frozenset((one, other)) for one in used for other in how}
    met |= {frozenset(pair) for pair in itertools.combinations(how, 2)}
    has_empty = writer.has_empty or "index: empty" in used
    return Program(source, calls, used | {*how}, frozenset(met), how, has_empty)


HOW = {
    "transform": "transform: value_and_grad", "level": "level: fast", "option": "option: none",
}  # fmt: skip


def how_of(source: str) -> tuple[str, str, str]:
    """The transform, level and option that a program is judged with: they stand in its text."""
    found = re.search(r'"""(.*)"""', source)
    assert found is not None
    transform, level, option = found[1].split("; ")
    return transform, level, option


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program, and the arguments of its calls."""
    made = drawn(seed)
    return made.source, made.calls


def runs(source: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program, and returns a number and an array."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            results = [function_of(source)(*locked(args)) for args in calls]
        except Exception:
            return False
    return all(
        type(made) is tuple
        and len(made) == 2
        and np.ndim(made[0]) == 0
        and is_finite(made)
        and all(np.all(np.abs(part) < LIMIT) for part in flat(made))
        for made in results
    )
