"""Random programs of loops over parts whose length depends on the step.

Loops over triangles and windows, one in another; parts of vectors and matrices are read, written,
reduced, spread over each other, kept under names, in lists and after the loop. Two parts are added
only if they are as long as each other, which is known from their bounds; whether no reduction is of
an empty part, and all values are of moderate size, is found out by running the program.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.fuzz.generate import function_of
from tests.fuzz.structures import flat, is_finite, locked

LIMIT = 1e3  # no value is larger
STEPS = 17  # the fewest of a loop that is kept, whatever is in it

HEADS = [
    "range(n)", "range(n)", "range(1, n)", "range(n - 1)", "range(n - 1, -1, -1)",
    "range(n - 2, 0, -1)", "range(2, n - 1)", "range(0, n, 2)",
]  # fmt: skip
INNER = [
    "range({k})", "range({k} + 1)", "range({k}, n)", "range({k} + 1, n)", "range({k} - 1, -1, -1)",
    "range(n - 1, {k}, -1)", "range(max(0, {k} - 2), {k})", "range({k}, min({k} + 3, n))",
    "range(n - {k})", "range(2)", "range({k}, 0, -1)",
]  # fmt: skip
WINDOWS = {  # how long a part is: ways to cut such a part from an axis
    "{k}": [":{k}", "n - {k}:", "{k} - 1::-1", "1:{k} + 1", "0:{k}", ":-(n - {k})"],
    "{k} + 1": [":{k} + 1", "{k}::-1", ":1 + {k}"],
    "n - {k}": ["{k}:", ":n - {k}", "{k}:n", ":{k} - 1:-1", "{k}:n + 2"],
    "n - {k} - 1": ["{k} + 1:", ":n - {k} - 1", ":{k}:-1", "{k} + 1:len(x)"],
    "{k} - max(0, {k} - 3)": ["max(0, {k} - 3):{k}"],
    "min({k} + 3, n) - {k}": ["{k}:{k} + 3", "{k}:min({k} + 3, n)"],
    "min({k} + 2, n) - max({k} - 1, 0)": ["max({k} - 1, 0):min({k} + 2, n)"],
    "max({k} - 1, 0)": [":max({k} - 1, 0)", "1:{k}"],
    "len(x[:{k}:2])": [":{k}:2", "1:{k} + 1:2", "{k} - 1::-2", "n - {k}::2"],
    "len(x[{k}::3])": ["{k}::3", ":n - {k}:3", "n - 1:{k} - 1:-3"],
    "2": [":2", "-2:", "1:3"],
    "n": [":", "::-1", "0:n"],
}
BETWEEN = {  # the same of two counters; the second one is of the inner loop
    "{k} - {j}": ["{j}:{k}", ":{k} - {j}"],
    "{j} - {k}": ["{k}:{j}", ":{j} - {k}"],
    "{j} + 1 - {k}": ["{k}:{j} + 1"],
    "max({k}, {j})": [":max({k}, {j})"],
    "n - max({k}, {j})": ["max({k}, {j}):"],
    "min({k}, {j})": [":min({k}, {j})"],
}
ELEMENTWISE = [
    "np.sin({u})", "{u} * {w}", "{u} + 0.5 * {w}", "{u} - {w}", "{u} * {s}", "np.tanh({u} + {s})",
    "{u} / (1.0 + {w} * {w})", "np.where({u} > {c}, {u}, {w})", "np.maximum({u}, {w})", "-{u}",
    "({u})[::-1]", "({u}).copy()", "np.where({u} > {c}, 0.5, {u})", "abs({u})",
    "({u} if {t} else {w})",
    "np.cumsum({u})", "{u} * np.arange({l}) * 0.1", "np.full({l}, {s})", "np.zeros({l}) + {s}",
    "np.ones_like({u}) * {s}", "helped({u}, {s})", "np.cumsum(({u})[::-1])[::-1]", "np.flip({u})",
    "({u})[:, None][:, 0]", "np.clip({u}, -0.5, {c})", "({u}).T", "np.asarray({u})",
    "{u} * {c}", "np.roll({u}, 1)", "np.pad({u}, 1)[1:-1]", "np.cumprod(1.0 + 0.1 * {u})",
    "np.linspace(0.0, {s}, {l}) * {u}",
]  # fmt: skip
REDUCED = [
    "np.sum({u})", "{u} @ {w}", "np.dot({u}, {w})", "np.sum({u} * {w})", "np.mean({u})",
    "({u}).max()", "np.min({u})", "({u})[0]", "({u})[-1]", "np.linalg.norm(np.append({u}, 1.0))",
    "len({u}) * 0.1", "({u}).size * {s}", "np.sum({u}, keepdims=True)[0]",
    "np.sum({u} > {c}) * 0.1",
    "np.var({u})", "sum({u})", "np.einsum('i,i->', {u}, {w})",
    "np.sum(({m}).reshape(-1) ** 2)", "np.linalg.norm({m}) * 0.3", "np.trace({m})",
    "np.linalg.solve(np.outer({u}, {u}) + 2.0 * np.eye({l}), {u})[0]",
    "np.sum(np.diag({u}) ** 2)", "np.sum(({m}).ravel()[::2])",
    "np.sum(np.arange({l}, 0, -1) * {u})",
    "np.prod(1.0 + 0.1 * {u})", "np.median({u})", "np.sort({u})[0]", "np.inner({u}, {w})",
]  # fmt: skip
SCALARS = [
    "{s} * 0.7 + 0.1", "np.sin({s} + {z})", "{s} * {z}", "({s} if {t} else {z})", "x[{k}] * {s}",
]  # fmt: skip
FROM_MATRIX = [
    "{m} @ {w}", "{w} @ ({m}).T", "np.sum({m}, axis=1)", "({m}).mean(axis=1)", "({m} * {w}).sum(1)",
    "({m}).T.sum(0)", "({m}).max(axis=1)", "np.einsum('ij,j->i', {m}, {w})", "({m})[:, 0]",
    "np.sum({m}, axis=1, keepdims=True)[:, 0]", "np.dot({m}, {w})",
]  # fmt: skip
MATRICES = [
    "{m} * {s}", "{m} + {w}", "{m} * {u}[:, None]", "np.outer({u}, {w})", "({m}).copy()",
    "{u}[:, None] * {w}[None, :]", "np.sin({m})", "({u})[:, None] - {w}", "({m})[::-1]",
    "np.where({m} > {c}, {m}, {w})", "np.zeros(({l}, {l2})) + {w}",
    "np.broadcast_to({w}, ({l}, {l2}))",
    "({m}).T.T * 0.5", "np.tanh({m} - {s})", "helped({m}, {s})",
]  # fmt: skip
WRITES = ["=", "=", "+=", "-=", "*="]


@dataclass(frozen=True)
class Scope:
    counters: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ("s",)
    named: tuple[tuple[str, str], ...] = ()  # names of parts, with their lengths
    owned: tuple[tuple[str, str], ...] = ()  # those among them that may be written to
    depth: int = 0


class Writer:
    """A program being written."""

    def __init__(self, choices: Random) -> None:
        self.choices = choices
        self.lines: list[str] = []
        self.indent = 1
        self.made = 0
        self.left = choices.randint(3, 9)
        self.after: list[str] = []
        self.deepest = 0  # of loops in loops

    def pick(self, *options: Any) -> Any:
        return self.choices.choice(options)

    def chance(self, probability: float) -> bool:
        return self.choices.random() < probability

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def source(self) -> str:
        self.add("n = len(x)")
        self.add(f"y = {self.pick('x.copy()', 'np.zeros(n)', 'x * 0.5')}")
        self.add(f"b = {self.pick('a.copy()', 'np.zeros((n, n))', 'a * 0.5', 'a.T * 1.0')}")
        self.add("z = s * 0.5")
        for _ in range(self.pick(1, 1, 2)):
            self.loop(Scope(scalars=("s", "z")))
            self.left = self.left or 2
        self.add(f"return {', '.join(['y', 'b', 'z', *self.after])}")
        body = "\n".join(self.lines)
        return f"def program(x, a, s):\n{body}\n"

    # --- lengths and parts -----------------------------------------------------------------------

    def length(self, scope: Scope) -> str:
        """One of the lengths that parts have here."""
        if scope.named and self.chance(0.3):
            return str(self.pick(*scope.named)[1])
        if len(scope.counters) > 1 and self.chance(0.4):
            k, j = self.choices.sample(scope.counters, 2)
            return str(self.pick(*BETWEEN)).format(k=k, j=j)
        return str(self.pick(*WINDOWS)).format(k=self.pick(*scope.counters))

    def window(self, scope: Scope, length: str) -> str:
        """A slice of this length."""
        found = []
        for k in scope.counters:
            for j in scope.counters:
                for size, windows in (WINDOWS | BETWEEN).items():
                    if size.format(k=k, j=j) == length:
                        found += [window.format(k=k, j=j) for window in windows]
        return str(self.pick(*found)) if found else f":{length}"

    def fill(self, template: str, scope: Scope, length: str, deep: int) -> str:
        more = self.length(scope)
        holes: dict[str, Any] = {
            "c": round(self.choices.uniform(-0.3, 0.8), 2),
            "s": self.pick(*scope.scalars),
            "z": self.pick(*scope.scalars),
            "k": self.pick(*scope.counters),
            "l": length,
            "l2": more,
        }
        if "{u}" in template:
            holes["u"] = self.part(scope, length, deep)
        if "{m}" in template:
            holes["m"] = self.matrix(scope, length, more, deep)
            holes["w"] = self.part(scope, more, deep)
        elif "{l2}" in template or "outer" in template or "[:, None]" in template:
            holes["w"] = self.part(scope, more, deep)
        elif "{w}" in template:
            holes["w"] = self.part(scope, length, deep)
        if "{t}" in template:
            holes["t"] = self.test(scope, deep)
        return template.format(**holes)

    def part(self, scope: Scope, length: str, deep: int = 0) -> str:
        """A vector of a length."""
        names = [name for name, size in scope.named if size == length]
        if names and self.chance(0.4):
            return str(self.pick(*names))
        if deep < 2 and self.chance(0.45):
            templates = ELEMENTWISE if self.chance(0.75) else FROM_MATRIX
            return f"({self.fill(self.pick(*templates), scope, length, deep + 1)})"
        window, k = self.window(scope, length), self.pick(*scope.counters)
        return str(
            self.pick(
                f"x[{window}]", f"y[{window}]", f"a[{k}, {window}]", f"a[{window}, {k}]",
                f"b[{k}, {window}]", f"b[{window}, {k}]", f"b[{window}, 0]", f"a[-1][{window}]",
            )
        )  # fmt: skip

    def matrix(self, scope: Scope, rows: str, columns: str, deep: int = 0) -> str:
        if deep < 2 and self.chance(0.35):
            template = self.pick(*MATRICES)
            holes = {
                "c": 0.3, "l": rows, "l2": columns, "s": self.pick(*scope.scalars),
                "u": self.part(scope, rows, deep + 1), "w": self.part(scope, columns, deep + 1),
            }  # fmt: skip
            if "{m}" in template:
                holes["m"] = self.matrix(scope, rows, columns, deep + 1)
            return f"({template.format(**holes)})"
        one, other = self.window(scope, rows), self.window(scope, columns)
        array = self.pick("a", "b")
        return f"{array}.T[{other}, {one}].T" if self.chance(0.2) else f"{array}[{one}, {other}]"

    def scalar(self, scope: Scope, deep: int = 0) -> str:
        template = self.pick(*SCALARS) if self.chance(0.3) else self.pick(*REDUCED)
        return self.fill(template, scope, self.length(scope), deep)

    def test(self, scope: Scope, deep: int) -> str:
        c = round(self.choices.uniform(-0.5, 0.8), 2)
        if self.chance(0.25):
            return f"{self.pick(*scope.counters)} {self.pick('> 2', '% 2 == 0', '== 0', '< n - 2')}"
        return f"{self.scalar(scope, max(deep, 1))} > {c}"

    # --- statements ------------------------------------------------------------------------------

    def loop(self, scope: Scope) -> None:
        k = self.name("k")
        if scope.counters and self.chance(0.85):
            head = self.pick(*INNER).format(k=self.pick(*scope.counters))
        else:
            head = self.pick(*HEADS)
        self.add(f"for {k} in {head}:")
        items = self.name("items") if not scope.counters and self.chance(0.25) else ""
        if items:
            self.lines.insert(-1, "    " * self.indent + f"{items} = []")
        inner = replace(scope, counters=(*scope.counters, k), depth=scope.depth + 1)
        self.deepest = max(self.deepest, len(inner.counters))
        inner = self.body(inner)
        if items:
            self.indent += 1
            many = self.chance(0.4)
            appended = self.part(inner, self.length(inner)) if many else self.scalar(inner)
            self.add(f"{items}.append({appended})")
            self.indent -= 1
            self.after.append(
                self.pick(f"{items}[-1]", f"{items}[1] * 1.0", f"sum(np.sum(v) for v in {items})")
                if many
                else f"np.array({items})"
            )
        if not scope.counters:
            known = set(scope.named)
            fresh = [name for name, _ in inner.named if (name, _) not in known]
            if fresh and self.chance(0.3):
                self.after.append(f"np.sum({self.pick(*fresh)})")

    def body(self, scope: Scope, longest: int = 4) -> Scope:
        self.indent += 1
        start = len(self.lines)
        for _ in range(self.choices.randint(1, longest)):
            if self.left > 0:
                scope = self.statement(scope)
        if len(self.lines) == start:
            self.add(f"z = z * 0.5 + 0.1 * {self.scalar(scope)}")
        self.indent -= 1
        return scope

    def statement(self, scope: Scope) -> Scope:
        self.left -= 1
        kinds: dict[Any, int] = {self.number: 4, self.write: 7, self.named: 5, self.rebound: 2}
        if scope.depth < 3:
            kinds |= {self.nested: 4, self.branch: 2, self.repeated: 1, self.exit: 1}
        (write,) = self.choices.choices(list(kinds), list(kinds.values()))
        made = write(scope)
        return made if isinstance(made, Scope) else scope

    def nested(self, scope: Scope) -> None:
        if len(scope.counters) < 3:
            self.loop(scope)

    def number(self, scope: Scope) -> Scope:
        if self.chance(0.6):
            self.add(f"z = z * 0.5 + 0.1 * {self.scalar(scope)}")
            return scope
        name = self.name("c")
        self.add(f"{name} = {self.scalar(scope)}")
        return replace(scope, scalars=(*scope.scalars, name))

    def named(self, scope: Scope) -> Scope:
        name, length = self.name("v"), self.length(scope)
        text = self.part(scope, length)
        if self.chance(0.4):
            self.add(f"{name} = {text} * 1.0")
            return replace(
                scope, named=(*scope.named, (name, length)), owned=(*scope.owned, (name, length))
            )
        self.add(f"{name} = {text}")
        return replace(scope, named=(*scope.named, (name, length)))

    def rebound(self, scope: Scope) -> None:
        if scope.named:
            name, length = self.pick(*scope.named)
            if (name, length) not in scope.owned:
                self.add(f"{name} = {self.part(scope, length)}")

    def write(self, scope: Scope) -> None:
        length, k = self.length(scope), self.pick(*scope.counters)
        window, how = self.window(scope, length), self.pick(*WRITES)
        text = self.part(scope, length)
        by = "0.9" if how == "*=" else f"{text} * 0.5"
        if scope.owned and self.chance(0.3):
            name, length = self.pick(*scope.owned)
            self.add(f"{name}[:] {how} 0.5 * {self.part(scope, length)}")
        elif self.chance(0.35):
            self.add(f"{self.pick('y', f'b[{k}]', f'b[:, {k}]')}[{window}] {how} {by}")
        elif self.chance(0.4):
            other = self.length(scope)
            at = f"{window}, {self.window(scope, other)}"
            self.add(f"b[{at}] {how} 0.3 * {self.matrix(scope, length, other)}")
        elif self.chance(0.5):
            self.add(f"{self.pick(f'y[{k}]', f'b[{k}, {k}]')} {how} 0.5 * {self.scalar(scope)}")
        else:
            self.add(f"b[{self.pick(f'{k}, {window}', f'{window}, {k}')}] {how} {by}")

    def branch(self, scope: Scope) -> None:
        self.add(f"if {self.test(scope, 0)}:")
        self.body(replace(scope, depth=scope.depth + 1), 2)
        if self.chance(0.5):
            self.add("else:")
            self.body(replace(scope, depth=scope.depth + 1), 2)

    def repeated(self, scope: Scope) -> None:
        c = self.name("c")
        self.add(f"{c} = 0")
        self.add(f"while {c} < 3 and {self.test(scope, 0)}:")
        self.indent += 1
        self.add(f"{c} += 1")
        self.indent -= 1
        self.body(replace(scope, depth=scope.depth + 1), 2)

    def exit(self, scope: Scope) -> None:
        if self.chance(0.5):
            self.add(f"if {self.test(scope, 0)}:")
            self.indent += 1
            self.add(self.pick("break", "continue", "continue", "z = z * 0.5"))
            self.indent -= 1


def helped(u: Any, s: Any) -> Any:
    w = u * 0.5
    w += s
    return w


HELPERS = vars(SimpleNamespace(np=np, helped=helped))


def arguments(choices: Random, n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(choices.randrange(2**32))
    return rng.uniform(-0.8, 1, n), rng.uniform(-0.6, 0.6, (n, n)), float(rng.uniform(-1, 1))


def program(seed: int, fewest: int | None = None) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program that plain Python runs, and the arguments of two calls."""
    choices = Random(seed)
    while True:
        writer = Writer(choices)
        text = writer.source()
        # Loops in loops take too many equations to be written out, however few their steps are.
        n = (fewest or (STEPS if writer.deepest == 1 else 5)) + choices.randint(2, 5)
        calls = arguments(choices, n), arguments(choices, n)
        if runs(text, calls):
            return text, calls


def runs(text: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program within bounds and without writing to arguments."""
    try:
        function = function_of(text, HELPERS)
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")  # of an empty mean
            found = flat([function(*locked(args)) for args in calls])
        return is_finite(found) and all(np.all(np.abs(leaf) < LIMIT) for leaf in found)
    except (ArithmeticError, LookupError, TypeError, ValueError, NameError, Warning):
        return False
