"""Random programs with control flow on values that are known only at run time, as source text.

A program is drawn from a seed as a tree of statements. Each name keeps its kind, so that whatever
path is taken the structure is the same; what is defined on one path only is not read afterwards.
Aliases, writes through views and lists of unequal lengths do occur, rarely: a program with one may
be refused. Whether a program runs, and stays within bounds, is found out by running it.

>>> source, args = program(seed=1)
>>> source.splitlines()[-1].strip().startswith("return")
True
"""

from __future__ import annotations

import copy
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np

from tests.fuzz import blocks, containers
from tests.fuzz.blocks import Blocks
from tests.fuzz.containers import Containers, Held, assignable
from tests.fuzz.generate import function_of

LIMIT = 1e3  # no value is larger
TRIPS = 120  # of nested loops, multiplied
LONG = 17  # the fewest steps of a loop that is kept as a loop

SCALARS = [
    "{a} * 0.7 + {b} * 0.2", "np.sin({a})", "np.tanh({a} + {b})", "{a} * {b} * 0.5", "{a} - {c}",
    "{a} / (1.0 + {b} * {b})", "np.sum({v}) * 0.3", "{v}[{i}]", "{v}[{i}] * {w}[{j}]", "-{a}",
    "{m}[{r}, {i}] + {a}", "np.cos({a}) * {c}", "{v} @ {w} * 0.2", "np.max({v})", "abs({a}) + 0.1",
    "{a} if {q} else {b}", "{a} * {c} if {q} else {v}[{i}]", "max({a}, {b})", "min({a}, {c})",
    "{v}.mean() + {c}", "{f}({v}, {a})[{i}]", "{g}({a}, {b})", "float({a}) * {c}",
    "(z0 := {a} * 0.7) * z0 + {b}", "z1 * 0.5 if (z1 := {a} + {c}) > {d} else {b} - z1",
    "sum([(z2 := y * {a}) * z2 for y in {v}]) * 0.1", "sorted([{a}, {b}, {c}])[{r}]",
    "sorted({v})[1]", "sorted([{a}, {b}], key=lambda z: z * {c})[0]", "np.sort({v})[{i}]",
    "np.median({v})", "min([{a}, {b}], key=lambda z: z * z)", "max({v}, key=abs)",
]  # fmt: skip
VECTORS = [
    "{v} * 0.8 + {w} * 0.1", "np.sin({v})", "np.tanh({v} * {a})", "{v} + {a} * 0.3", "{v} * {w}",
    "np.where({v} > {c}, {v}, {w} * 0.5)", "{m}[{r}] * 0.9", "{v}[::-1] + {w}", "{m}.T @ {v}[:3]",
    "np.sum({m}, axis=0) * 0.3", "{v} * {w} if {q} else {v} - {a}", "{f}({v}, {a})", "{v}.copy()",
    "np.roll({v}, 1) * {a}", "np.concatenate([{v}[2:], {w}[:2]])", "np.stack([{a}, {b}, {a}, {c}])",
    "np.array([{a}, {c}, {b}, 0.5])", "np.zeros(4) + {a}", "{f}({f}({v}, {b}), {a}) * {c}",
    "(u0 := np.sin({v})) * u0[::-1]", "np.sort({v})", "np.sort({v})[::-1] * {a}",
    "{v}[np.argsort({w})]", "np.array(sorted([{a}, {b}, {c}, {d}]))",
]  # fmt: skip
MATRICES = ["{m} * 0.9", "np.outer({v}[:3], {w})", "{m} + {v} * 0.1", "np.tanh({m} * {a})"]
ALIASES = ["{v}", "{v}[::-1]", "{m}[{r}]", "{v} if {q} else {w}", "{m}[{r}, ::-1]", "{v}[:]"]
WRITES = [
    "{o}[{i}] = {e}", "{o}[{i}] += {e} * 0.3", "{o}[1:] *= 0.8", "{o}[:2] = {w}[2:] * 0.9",
    "{o} += {w} * 0.1", "{o} *= 0.9", "{o} -= {e} * 0.2", "{o}[::2] += {e} * 0.5", "{o}[:] = {v}",
    "{o}[{i}], {o}[{j}] = {o}[{j}], {o}[{i}] * 0.9", "{o}[1:] += {o}[:-1] * 0.1",
    "put({o}, {e})", "{o}[::-1][{i}] = {e}", "{o}[[0, -1]] += {e} * 0.1",
    "np.copyto({o}, {w}, where={v} > {c})", "np.copyto({o}[1:], {e})", "{o}.sort()",
    "np.copyto({o}[::-1], {v} * {a}, where=[True, False, True, True])",
]  # fmt: skip
MATRIX_WRITES = [
    "{o}[{r}] = {v} * 0.9", "{o}[{r}, {i}] = {e}", "{o}[:, {i}] += {e} * 0.2", "{o} *= 0.9",
    "{o}[{r}] += {o}[{r} - 1] * 0.1", "{o}[1:, ::2] -= {e} * 0.1", "{o}.T[{i}] = {v}[:3]",
    "put({o}[{r}], {e})",
]  # fmt: skip
TESTS = [
    "{a} > {c}", "{a} * {b} < {c}", "{a} < {b}", "{v}[{i}] > {c}", "np.sum({v}) > {c}",
    "{c} < {a} < {d}", "np.any({v} > {c})", "({v} < {d}).all()", "abs({a}) > 0.4", "{i} > 1",
    "{i} % 2 == 0", "{m}[{r}, {i}] < {c}", "np.argmax({v}) != 2", "{a} != 0.5",
    "(z3 := {a} * 0.9) > {c} and z3 < {d}", "sorted([{a}, {b}])[0] > {c}",
]  # fmt: skip
COUNTS = ["int(abs({a}) * 4) % 4", "n", "int(abs({v}[0]) * 3) % 5", "n % 3 + 1"]

RAISES = [
    '{{}}["key"]', "[][0]", 'int("x")', 'raise KeyError("key")', "1 // 0", "x.missing",
    "import no_such_module", "one, two = [1]", "assert n is None", "raise ValueError",
]  # fmt: skip
HANDLED = [
    "KeyError", "LookupError", "(ValueError, AttributeError)", "ArithmeticError", "Exception",
    "ImportError", "AssertionError", "IndexError",
]  # fmt: skip

HELPERS = {
    "f": [
        "def f0(u, a):\n    if a > {c}:\n        return u * a\n    u = np.sin(u)\n    return u + a",
        "def f1(u, a):\n    for k in range({short}):\n        if u[k % 4] > {c}:\n"
        "            return u * 0.5 + k\n        u = u * 0.9 + a * 0.1\n    return u",
        "def f2(u, a, scale=0.7):\n    t = u.copy()\n    for k in range({long}):\n"
        "        t[k % 4] = t[k % 4] * 0.8 + a * scale * 0.1\n    return t",
        "def f3(u, a):\n    t = np.zeros(4)\n    k = 0\n    while k < 3 and a < 1.5:\n"
        "        t[k] = u[k] * a\n        a = a + 0.35\n        k += 1\n    return t",
    ],
    "g": [
        "def g0(a, b):\n    return a * b if a > {c} else b - a * 0.5",
        "def g1(a, b):\n    n = 0\n    while a > {c} and n < 5:\n        a = a * 0.6 - 0.1\n"
        "        n += 1\n        if b > a:\n            break\n    else:\n        b = b * 0.5\n"
        "    return a + b",
        "def g2(a, b):\n    if a < {c}:\n        if b > 0.2:\n            return b * a\n"
        "        b = b + 1.0\n    else:\n        a = a * b\n    return a - 0.5 * b",
    ],
    "held": [
        "class held0:\n    def __init__(self, a):\n        self.a = a\n\n"
        "    def __enter__(self):\n        return self.a * 0.5\n\n"
        "    def __exit__(self, kind, error, trace):\n        self.a = {c}\n"
        "        return kind is not None and issubclass(kind, LookupError)",
    ],
    "put": [
        "def put(t, a):\n    if a > {c}:\n        t[0] = a\n    else:\n        t *= 0.9",
        "def put(t, a):\n    for k in range(len(t)):\n        if a < t[k]:\n            t[k] = a\n"
        "            return\n        t[k] += 0.1",
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Scope:
    """What may be read at a place of the program, and how to leave from there."""

    scalars: tuple[str, ...]
    vectors: tuple[str, ...]
    owned: tuple[str, ...]  # arrays made by the program: they may be written to
    matrices: tuple[str, ...]
    held: tuple[Held, ...] = ()
    counters: tuple[str, ...] = ()
    in_loop: bool = False
    trips: int = 1
    depth: int = 0


class Writer:
    """A program being written."""

    def __init__(self, choices: random.Random) -> None:
        self.choices = choices
        self.lines: list[str] = []
        self.indent = 1
        self.made = 0
        self.left = choices.randint(4, 22)  # statements
        texts = HELPERS | containers.HELPERS | blocks.HELPERS
        self.helpers = {kind: choices.choice(texts[kind]) for kind in texts}
        self.containers, self.has_containers = Containers(self), self.chance(0.8)
        self.blocks, self.has_blocks = Blocks(self), self.chance(0.3)

    def source(self) -> str:
        scope = Scope(("s",), ("x",), (), ("y",))
        for _ in range(2):
            scope = self.new_scalar(scope)
            scope = self.new_vector(scope)
        self.add(f"m0 = {self.pick('y * 1.0', 'np.zeros((3, 4))', 'y[::-1] * 0.5')}")
        scope = replace(scope, matrices=("y", "m0"), owned=(*scope.owned, "m0"))
        while self.left > 0:
            scope = self.statement(scope)
        self.leave(scope)
        body = "\n".join(self.lines)
        called = [text for kind, text in self.helpers.items() if self.helper(kind) + "(" in body]
        helpers = [self.constants(text) for text in called]
        return "\n\n\n".join([*helpers, f"def program(x, y, s, n):\n{body}\n"])

    # --- pieces of text --------------------------------------------------------------------------

    def pick(self, *options: Any) -> Any:
        return self.choices.choice(options)

    def chance(self, probability: float) -> bool:
        return self.choices.random() < probability

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def constants(self, text: str) -> str:
        """A helper's text with numbers in its holes."""
        c = repr(round(self.choices.uniform(-0.4, 0.6), 2))
        short, long = self.choices.randint(0, 4), self.choices.randint(LONG, LONG + 4)
        return text.format(c=c, short=short, long=long)

    def fill(self, template: str, scope: Scope, owned: str = "", **more: str) -> str:
        """A template with names, constants and subscripts in its holes."""
        low, high = sorted(round(self.choices.uniform(-0.9, 1.2), 2) for _ in range(2))
        holes: dict[str, Any] = {
            "a": self.pick(*scope.scalars) if self.chance(0.93) else high,
            "b": self.pick(*scope.scalars),
            "c": low,
            "d": high,
            "v": self.pick(*scope.vectors),
            "w": self.pick(*scope.vectors),
            "m": self.pick(*scope.matrices),
            "i": self.subscript(scope, 4),
            "j": self.subscript(scope, 4),
            "r": self.subscript(scope, 3),
            "o": owned,
            "f": self.helper("f"),
            "g": self.helper("g"),
            **more,
        }
        if "{e}" in template:
            holes["e"] = self.pick(
                holes["a"], f"{holes['b']} * {low}", f"np.sin({holes['a']})", low
            )
        if "{q}" in template:
            holes["q"] = self.test(scope)
        return template.format(**holes)

    def helper(self, kind: str) -> str:
        """The name of a helper, or of a class."""
        found = re.search(r"^(?:def|class) (\w+)", self.helpers[kind], re.MULTILINE)
        assert found is not None
        return found[1]

    def subscript(self, scope: Scope, size: int) -> str:
        if scope.counters and self.chance(0.7):
            return f"{self.pick(*scope.counters)} % {size}"
        return str(self.choices.randint(-size + 1, size - 1))

    def vector(self, scope: Scope) -> str:
        """A new array."""
        return self.fill(self.pick(*VECTORS), scope)

    def test(self, scope: Scope) -> str:
        """A condition."""
        made = self.fill(self.pick(*TESTS), scope)
        if self.chance(0.25):
            other = self.fill(self.pick(*TESTS), scope)
            made = f"{made} {self.pick('and', 'or')} {other}"
            return f"not ({made})" if self.chance(0.15) else made
        return f"not {made}" if self.chance(0.1) else made

    # --- statements ------------------------------------------------------------------------------

    def statement(self, scope: Scope) -> Scope:
        """Write one statement, and say what may be read after it."""
        self.left -= 1
        kinds: dict[Callable[[Scope], Scope], int] = {
            self.new_scalar: 3, self.new_vector: 3, self.changed: 5, self.write: 5, self.alias: 1,
            self.exchange: 1, self.matrix: 1, self.exit: 3 if scope.depth else 1,
        }  # fmt: skip
        if scope.depth < 3:
            kinds |= {self.branch: 6, self.short_loop: 3, self.while_loop: 3, self.counted_loop: 2}
            kinds |= {self.long_loop: 3, self.nested_function: 1, self.list_loop: 2}
            kinds |= {self.guarded: 2, self.managed: 1}
        if self.has_blocks and scope.depth < 3:
            kinds |= {self.blocks.attempt: 5, self.blocks.managed: 5}
        if self.has_containers:
            held = self.containers
            kinds |= {held.new: 3, held.change: 7, held.read: 3, held.rebind: 3, held.grow: 2}
            kinds |= {held.loop: 2} if scope.depth < 3 else {}
        (write,) = self.choices.choices(list(kinds), list(kinds.values()))
        return write(scope)

    @contextmanager
    def block(self) -> Iterator[None]:
        """An indented block; `pass` if nothing is written."""
        start = len(self.lines)
        self.indent += 1
        yield
        if len(self.lines) == start:
            self.add("pass")
        self.indent -= 1

    def body(self, scope: Scope, longest: int = 4) -> Scope:
        for _ in range(self.choices.randint(1, longest)):
            if self.left > 0:
                scope = self.statement(scope)
        return scope

    def new_scalar(self, scope: Scope) -> Scope:
        name, start = self.name("a"), self.pick("0.0", "0.5")
        text = start if self.chance(0.1) else self.fill(self.pick(*SCALARS), scope)
        self.add(f"{name} = {text}")
        return replace(scope, scalars=(*scope.scalars, name))

    def new_vector(self, scope: Scope) -> Scope:
        name = self.name("v")
        self.add(f"{name} = {self.vector(scope)}")
        owned = scope.owned if scope.depth and self.chance(0.5) else (*scope.owned, name)
        return replace(scope, vectors=(*scope.vectors, name), owned=owned)

    def matrix(self, scope: Scope) -> Scope:
        name = self.name("m")
        self.add(f"{name} = {self.fill(self.pick(*MATRICES), scope)}")
        return replace(scope, matrices=(*scope.matrices, name), owned=(*scope.owned, name))

    def changed(self, scope: Scope) -> Scope:
        """A name that was there gets another value."""
        names = [n for n in assignable(scope.scalars) if n != "s" or self.chance(0.2)]
        vectors = [n for n in assignable(scope.vectors) if n not in scope.owned and n != "x"]
        if vectors and self.chance(0.4):
            self.add(f"{self.pick(*vectors)} = {self.vector(scope)}")
        elif names:
            text = self.fill(self.pick(*SCALARS), scope)
            self.add(f"{self.pick(*names)} {self.pick('=', '=', '+=', '-=')} {text}")
        return scope

    def write(self, scope: Scope) -> Scope:
        """A write in place; rarely into what may be another name's array, or nobody's own."""
        names = [*scope.owned] if not self.chance(0.04) else [*scope.vectors]
        if names:
            name = self.pick(*names)
            templates = MATRIX_WRITES if name.startswith("m") else WRITES
            self.add(self.fill(self.pick(*templates), scope, name))
        return scope

    def alias(self, scope: Scope) -> Scope:
        """A view or a second name of an array. It may be written to, if that is only ever one."""
        name = self.name("v")
        template = self.pick(*ALIASES)
        self.add(f"{name} = {self.fill(template, scope)}")
        writeable = "{q}" not in template and self.chance(0.4)
        owned = (*scope.owned, name) if writeable else scope.owned
        return replace(scope, vectors=(*scope.vectors, name), owned=owned)

    def exchange(self, scope: Scope) -> Scope:
        kind = assignable(scope.scalars if self.chance(0.7) else scope.vectors)
        first, second = self.pick(*kind), self.pick(*kind)
        if first != second and "x" not in (first, second):
            self.add(f"{first}, {second} = {second}, {first}")
        return scope

    def branch(self, scope: Scope) -> Scope:
        """`if`, `elif` and `else`; a name that all of them define may be read afterwards."""
        inner = replace(scope, depth=scope.depth + 1)
        ways = self.pick(1, 2, 2, 2, 3)
        name = self.name("a") if ways > 1 and self.chance(0.5) else ""
        for way in range(ways):
            word = (
                "else" if 0 < way == ways - 1 else f"{'elif' if way else 'if'} {self.test(scope)}"
            )
            self.add(f"{word}:")
            with self.block():
                end = self.body(inner, 3)
                if name:
                    self.add(f"{name} = {self.fill(self.pick(*SCALARS), end)}")
        return replace(scope, scalars=(*scope.scalars, name)) if name else scope

    def raising(self, scope: Scope) -> None:
        """A few statements, of which one may raise what is known beforehand."""
        self.body(scope, 2)
        if self.chance(0.6):
            self.add(self.pick(*RAISES).format())
            self.body(scope, 1)

    def guarded(self, scope: Scope) -> Scope:
        """`try` with handlers, `else` and `finally`. It is around another one that takes all."""
        inner = replace(scope, depth=scope.depth + 1)
        self.add("try:")
        with self.block():
            self.add("try:")
            with self.block():
                self.raising(inner)
            for _ in range(self.pick(0, 1, 1, 2)):
                self.add(f"except {self.pick(*HANDLED)}{self.pick('', ' as error')}:")
                with self.block():
                    self.body(inner, 2)
                    if self.chance(0.2):
                        self.add("raise")
            if self.lines[-1].strip() != "try:" and self.chance(0.3) and self.has_handler():
                self.add("else:")
                with self.block():
                    self.raising(inner)
            if not self.has_handler() or self.chance(0.4):
                self.add("finally:")
                with self.block():
                    self.changed(inner)
        self.add("except (LookupError, ValueError, ArithmeticError, AttributeError):")
        with self.block():
            self.changed(inner)
        self.add("except (ImportError, AssertionError):")
        with self.block():
            self.changed(inner)
        return scope

    def has_handler(self) -> bool:
        """True if the `try` that is being written has an `except`."""
        here = "    " * self.indent
        own = [line for line in self.lines if line.startswith(here) and line[len(here)] != " "]
        return own[-1].strip().startswith("except")

    def managed(self, scope: Scope) -> Scope:
        """`with` of a manager that stops some errors."""
        name = self.name("a")
        inner = replace(scope, depth=scope.depth + 1, scalars=(*scope.scalars, name))
        self.add(self.fill(f"with {self.helper('held')}({{a}}) as {name}:", scope))
        with self.block():
            self.body(inner, 2)
            if self.chance(0.5):
                self.add(self.pick('{}["key"]', "[][0]", 'raise IndexError("it")'))
        return scope

    # --- loops -----------------------------------------------------------------------------------

    def loop(
        self,
        scope: Scope,
        head: str,
        trips: int,
        counters: tuple[str, ...] = (),
        scalars: tuple[str, ...] = (),
        first: str = "",
        append: str = "",
    ) -> Scope:
        """A loop that starts with the lines ``first`` and appends to the list ``append`` once."""
        inner = replace(
            scope,
            counters=(*scope.counters, *counters),
            scalars=(*scope.scalars, *scalars),
            in_loop=True,
            trips=scope.trips * max(trips, 1),
            depth=scope.depth + 1,
        )
        self.add(head)
        with self.block():
            if first:
                self.add(first)
            if append and self.chance(0.9):
                self.add(f"{append}.append({self.fill(self.pick(*SCALARS), inner)})")
                append = ""
            inner = self.body(inner)
            if append:
                self.add(f"{append}.append({self.fill(self.pick(*SCALARS), inner)})")
        if self.chance(0.15):
            self.add("else:")
            with self.block():
                self.changed(scope)
        return scope

    def short_loop(self, scope: Scope) -> Scope:
        k, n = self.name("k"), self.choices.randint(0, 5)
        if scope.trips * n > TRIPS:
            return scope
        heads = [
            (f"for {k} in range({n}):", (k,), ()),
            (f"for {k} in range({n + 2}, 1, -2):", (k,), ()),
            (f"for {k}, e{k} in enumerate(x):", (k,), (f"e{k}",)),
            (f"for e{k} in {self.pick(*scope.vectors)}:", (), (f"e{k}",)),
            (f"for e{k}, d{k} in zip(x, {self.pick(*scope.vectors)}):", (), (f"e{k}", f"d{k}")),
        ]
        head, counters, scalars = self.pick(*heads)
        return self.loop(scope, head, n, counters, scalars)

    def long_loop(self, scope: Scope) -> Scope:
        k, n = self.name("k"), self.choices.randint(LONG, LONG + 8)
        if scope.trips * n > TRIPS:
            return scope
        head = self.pick(
            f"range({n})", f"range({n})", f"range({n + 3}, 2, -1)", f"range(1, {2 * n}, 2)"
        )
        return self.loop(scope, f"for {k} in {head}:", n, (k,))

    def counted_loop(self, scope: Scope) -> Scope:
        k = self.name("k")
        if scope.trips * 4 > TRIPS:
            return scope
        return self.loop(
            scope, f"for {k} in range({self.fill(self.pick(*COUNTS), scope)}):", 4, (k,)
        )

    def while_loop(self, scope: Scope) -> Scope:
        """At most some trips: a counter is part of the condition, and grows first."""
        k, n = self.name("k"), self.choices.randint(1, 6)
        if scope.trips * n > TRIPS:
            return scope
        self.add(f"{k} = 0")
        test = self.test(replace(scope, counters=(*scope.counters, k)))
        condition = self.pick(f"{k} < {n} and ({test})", f"({test}) and {k} < {n}", f"{k} < {n}")
        first = f"{k} += 1"
        if self.chance(0.2):
            condition, first = "True", f"{k} += 1\n{'    ' * (self.indent + 1)}if {k} > {n}:\n"
            first += f"{'    ' * (self.indent + 2)}break"
        self.loop(scope, f"while {condition}:", n, (k,), first=first)
        return replace(scope, counters=(*scope.counters, k))

    def list_loop(self, scope: Scope) -> Scope:
        """A list that gets one item in each step, and is read afterwards."""
        items, k = self.name("items"), self.name("k")
        n = self.pick(self.choices.randint(1, 5), self.choices.randint(LONG, LONG + 3))
        if scope.trips * n > TRIPS:
            return scope
        self.add(f"{items} = []")
        self.loop(scope, f"for {k} in range({n}):", n, (k,), append=items)
        name = self.name("a")
        reads = [f"sum({items}) * 0.1", f"{items}[0] * {items}[-1]", f"np.mean(np.stack({items}))"]
        self.add(f"{name} = {self.pick(*reads)}")
        return replace(scope, scalars=(*scope.scalars, name))

    # --- ways out, nested functions --------------------------------------------------------------

    def exit(self, scope: Scope) -> Scope:
        """A conditional `break`, `continue` or `return`."""
        options = ["return"] if not scope.in_loop else ["return", "break", "break", "continue"]
        way = self.pick(*options)
        self.add(f"if {self.test(scope)}:")
        with self.block():
            if self.chance(0.4):
                self.changed(scope)
            if way == "return":
                self.leave(scope)
            else:
                self.add(way)
        return scope

    def leave(self, scope: Scope) -> None:
        """The results: a NumPy scalar and a new array, of most names, whatever is returned."""
        scalars, vectors, matrices = (
            self.choices.sample(names, min(6, len(names)))
            for names in (scope.scalars, scope.vectors, scope.matrices)
        )
        total = " + ".join([*scalars, "x[0]"])
        vector = " + ".join([*vectors, *(f"np.sum({m}, axis=0)" for m in matrices)])
        self.add(f"return {total}, ({vector}) * 1.0")

    def nested_function(self, scope: Scope) -> Scope:
        """A closure that changes a name of the program, called under a condition or in a loop."""
        own = [n for n in scope.scalars if n[0] == "a"]  # names, not places
        if not own or self.indent > 1:
            return scope
        function, name, k = self.name("step"), self.pick(*own), self.name("k")
        self.add(f"def {function}(z):")
        with self.block():
            self.add(f"nonlocal {name}")
            self.add(f"{name} = z * 0.5 + {self.fill(self.pick(*SCALARS), scope)}")
            self.add(f"return {name} * 0.5")
        result = self.name("a")
        self.add(f"{result} = {function}(s)")
        self.add(self.pick(f"if {self.test(scope)}:", f"for {k} in range({self.pick(2, LONG)}):"))
        with self.block():
            self.add(f"{result} = {function}({result})")
        return replace(scope, scalars=(*scope.scalars, result))


def source_of(seed: int) -> str:
    """The source text of one program, which may not run."""
    return Writer(random.Random(seed)).source()


def arguments(seed: int) -> tuple[Any, ...]:
    """A vector, a matrix, a float and an integer array to call it with."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1.2, 4).round(3)
    y = rng.uniform(-1, 1, (3, 4)).round(3)
    return x, y, round(float(rng.uniform(-1, 1.5)), 3), np.asarray(int(rng.integers(0, 4)))


def program(seed: int) -> tuple[str, tuple[Any, ...]]:
    """The first program from this seed on that runs, with its arguments."""
    choices = random.Random(seed)
    while True:
        inner = choices.getrandbits(48)
        source, args = source_of(inner), arguments(inner)
        if runs(source, args):
            return source, args


def runs(source: str, args: tuple[Any, ...]) -> bool:
    """True if plain Python runs the program, within bounds and without writing to arguments."""
    given = copy.deepcopy(args)
    for value in given:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    try:
        with np.errstate(all="raise", under="ignore"):
            results = function_of(source)(*given)
    except Exception:
        return False
    return all(np.all(np.abs(value) < LIMIT) for value in results)


def path(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, list[tuple[str, int]]]:
    """The result of a call, and every instruction of the program's file that it ran, in order.

    Two calls with equal paths took the same branches: there is no kink between them, but those
    of functions such as ``max`` and ``np.where``.
    """
    file, steps = function.__code__.co_filename, []

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            steps.append((frame.f_code.co_name, frame.f_lasti))
        return local

    def enter(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return local

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        return function(*args), steps
    finally:
        sys.settrace(before)
