"""Random programs about lists that are as long as the data decide.

Loops append numbers, rows, pairs and integers where a condition holds, take items out again, put
others in their place, join lists, turn them round, clear them and give them other names; loops and
comprehensions go through what they left. All is read again: one by one, as arrays, by reductions.
The calls of a program take other paths, so that the lists have other lengths; some stay empty.
"""

from __future__ import annotations

import warnings
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.fuzz.generate import function_of
from tests.fuzz.structures import flat, is_finite, locked

STEPS = (5, 20)  # unrolled, and kept
LIMIT = 1e3  # no value is larger
NUMBERS, ROWS, PAIRS, PLACES = ("p", "q", "o"), ("r", "g"), ("t",), ("k",)

EXPRESSIONS = [
    "v", "z", "v * z", "np.sin(v + z)", "v * {c}", "v * v", "x[i] * {c} + z", "x[i // 2] * v", "s",
    "({p}[-1] if {p} else z) * 0.5", "len({p}) * 0.1", "z * {c} + 0.1 * sum({p})", "abs(v)",
    "({p}[0] if len({p}) > 1 else v)", "0.1 * len({k})", "y[1] * v", "a[i, 1]", "-v", "{c}",
    "({t}[-1][0] if {t} else s)", "({r}[-1][2] if {r} else v)", "float(v) * {c}",
    "max({p}, default=0.3)", "({p}[{n}] if len({p}) > {n} else v)", "np.sum(y) * 0.2",
]  # fmt: skip
ROW_EXPRESSIONS = [
    "a[i] * {c}", "a[i]", "y * 0.5", "y + a[i] * v", "np.sin(a[i] + z)", "a[i] * {e}",
    "({r}[-1] * {c} if {r} else y)", "np.array([v, z, {e}])", "a[i][::-1]", "y.copy()",
]  # fmt: skip
CHANGES = [
    "{p}.append({e})", "{p}.append({e})", "{p}.append({e})", "{r}.append({w})", "{r}.append({w})",
    "{t}.append(({e}, {e}))", "{k}.append(i)", "{p} += [{e}]", "{p}.extend([{e}, {e}])",
    "{p}.insert({m}, {e})", "{p} = {p} + [{e}]", "{p} = [{e}] + {p}", "{p}.reverse()",
    "if {p}:\n    z = z * 0.5 + {p}.pop()", "if len({p}) > 1:\n    z = 0.5 * {p}.pop(0) - z * 0.4",
    "if len({p}) > {n}:\n    z = z * 0.5 + {p}.pop({n})", "if len({p}) > 2:\n    del {p}[{m}]",
    "if {p}:\n    {p}[-1] = {e}", "if len({p}) > {n}:\n    {p}[{n}] = {p}[{n}] * {c}",
    "if {p}:\n    {p}[len({p}) // 2] += {e}", "if len({p}) > 4:\n    {p}.clear()",
    "if {r}:\n    y = y * 0.5 + {r}.pop()", "if {t}:\n    v, z = {t}.pop()",
    "if {r}:\n    {r}[0] = {w}", "{p} = {p}[{m}:]", "{p} = {p}[:{n} + 2]", "{p} = {p}[:-1]",
    "{p}, {q} = {q}, {p}", "{p} = list({q})", "{p} = {q}.copy()", "{p} = [*{q}, {e}]",
    "keep({p}, {e})", "{p} = keep({p}, {e})", "y = y * 0.8 + {w}", "y[{n} % 3] += 0.1 * {e}",
    "{p}.extend({q}[:2])", "{t} = {t}[1:]", "{k}.append(len({p}))", "{p} = {q}",
    "while len({p}) > 6:\n    z = z * 0.5 + {p}.pop()", "{p} = []", "{r}.append(y)",
    "{p}.append({p}.pop() * 0.5 if {p} else {e})", "{t}.insert(0, ({e}, v))", "{p}.append(1)",
    "if {r}:\n    {r}[0][1] = {e}", "if {r}:\n    {r}[-1][:2] *= {c}", "{r}.append({w} * 1.0)",
    "{p}.append({q}.pop(0) if {q} else {e})", "v = {e}", "{p}.append(float({e}))",
]  # fmt: skip
READS = [
    "sum({p})", "np.sum(np.array({p}))", "max({p} + [z])", "min({p}, default=z)", "len({p}) * s",
    "({p}[-1] if {p} else s)", "({p}[len({p}) // 2] if {p} else s)", "np.mean(np.array([s] + {p}))",
    "sorted({p} + [z])[0]", "sum(u * w for u, w in zip({p}, {q}))",
    "sum(u for u in {p} if u > {c})", "sum(u * w for u, w in {t})",
    "np.sum(np.stack({r} + [y]) ** 2)", "np.sum(x[np.array([0] + {k}) % n])",
    "sum(np.sum(u * y) for u in {r})", "sum(u * j for j, u in enumerate({p}))", "{e}",
    "np.max(np.array([z] + {p}))", "np.array([y] + {r})[-1, 1]",
    "(0.5 if any(u > {c} for u in {p}) else z)",
    "np.sum(np.array([s] + {p})[::-1] * np.arange(len({p}) + 1))",
    "sum([u * u for u in {p} if u < z])", "np.concatenate([y] + {r})[-1]",
    "np.sum(np.cumsum(np.array({p})))", "sum({p}[1:])", "sum({p}[::-1])",
    "np.array([(z, s)] + {t})[:, 0].sum()", "sum(u[0] for u in {t})",
    "x[{k}[-1] % n if {k} else 0]", "len([u for u in {p} if u > {c}]) * z",
    "sum(x[j % n] for j in {k})", "np.dot(np.array({p}), np.array({p}))",
]  # fmt: skip
COMPREHENSIONS = [
    "{p} = [u * {c} for u in {q} if u > {c}]", "{p} = [u for u in x if u > {c}]",
    "{p} = [u * w for u in x if u > {c} for w in x[:3] if w < u]", "{p} = [np.sin(u) for u in {q}]",
    "{k} = [j for j in range(n) if x[j] > {c}]", "{t} = [(u, u * z) for u in x if u < {c}]",
    "{r} = [a[j] * x[j] for j in range(n) if x[j] > {c}]",
    "{p} = [u + w for u, w in zip({p}, {q})]", "{p} = [u * w for u, w in {t} if w > {c}]",
    "{p} = [np.sum(u) for u in {r}]", "{p} = [x[j % n] for j in {k}]",
    "{p} = [j * u for j, u in enumerate({q}) if u > {c} if j > 1]",
    "{r} = [u * s for u in {r} if u[0] > {c}]", "{p} = sorted({q})",
    "{p} = [u for u in {q} if u][:4]",
]  # fmt: skip
WALKS = [
    "for u in {p}:\n    z = z * 0.5 + u", "for j, u in enumerate({p}):\n    z = np.sin(z + u * j)",
    "for u in reversed({p}):\n    z = z * 0.7 + u * z * 0.1",
    "for u, w in {t}:\n    z = z * 0.5 + u * w", "for u in {r}:\n    y = y * 0.5 + u",
    "for j in range(len({p})):\n    {p}[j] = {p}[j] * {c} + z * 0.1",
    "for j in {k}:\n    z = z * 0.5 + x[j % n]", "while {p}:\n    z = z * 0.6 + {p}.pop()",
    "for u, w in zip({p}, {r}):\n    y = y * 0.5 + w * u",
    "for u in {p}:\n    if u > {c}:\n        {q}.append(u * z)",
    "for j in range(1, len({p})):\n    z = z * 0.5 + {p}[j] * {p}[j - 1]",
    "for u in {p}:\n    if u > {c}:\n        break\n    z = z * 0.9 + u",
    "for _ in range(12):\n    if not {p}:\n        break\n    u = {p}.pop()\n    z = z * 0.8 + u\n"
    "    if u > {c}:\n        {p}.append(u * 0.5 - 0.1)",
]  # fmt: skip
TESTS = [
    "v > {c}", "v > {c}", "v < {c}", "z > {c}", "len({p}) > {n}", "not {p}", "{p}", "i % 3 == 1",
    "{p} and {p}[-1] > {c}", "v > z", "len({p}) > len({q})", "x[i] > {c} and v < 0.9", "{e} > {c}",
    "{k} and {k}[-1] < i - 2",
]  # fmt: skip
HEADS = [
    "for i, v in enumerate(x):", "for i in range(n):\n    v = x[i]",
    "for i in range(n):\n    v = x[i]", "for i in range(n - 1):\n    v = x[i + 1] - x[i]",
    "for i in range(n - 1, -1, -1):\n    v = x[i]",
    "i = -1\nwhile i < n - 1:\n    i += 1\n    v = x[i] * s",
]  # fmt: skip


def keep(items: Any, v: Any) -> Any:
    if v > 0.2:
        items.append(v)
    return items


HELPERS = vars(SimpleNamespace(np=np, keep=keep))


class Writer:
    """A program being written."""

    def __init__(self, choices: Random) -> None:
        self.choices = choices
        self.lines: list[str] = []

    def pick(self, *options: Any) -> Any:
        return self.choices.choice(options)

    def fill(self, template: str) -> str:
        """A template with lists, expressions and numbers in its holes."""
        p, q = self.choices.sample(NUMBERS, 2)
        holes = {
            "p": p, "q": q, "r": self.pick(*ROWS), "t": PAIRS[0], "k": PLACES[0],
            "c": round(self.choices.uniform(-0.7, 0.9), 2), "n": self.choices.randrange(4),
            "m": self.choices.randrange(-2, 3),
        }  # fmt: skip
        while "{e}" in template:
            template = template.replace("{e}", self.pick(*EXPRESSIONS), 1)
        while "{w}" in template:
            template = template.replace("{w}", self.pick(*ROW_EXPRESSIONS), 1)
            template = template.replace("{e}", self.pick("z", "v", "s"))
        return template.format(**holes)

    def add(self, text: str, depth: int) -> None:
        self.lines += ["    " * (depth + 1) + line for line in text.split("\n")]

    def source(self) -> str:
        self.add("n, z, y = len(x), s * 0.5, a[0] * 0.5", 0)
        self.add("i, v = 0, x[0]", 0)
        for name in (*NUMBERS, *ROWS, *PAIRS, *PLACES):
            self.add(f"{name} = [{self.start(name)}]", 0)
        for _ in range(self.pick(1, 1, 2)):
            self.loop(0)
            for _ in range(self.choices.randrange(3)):
                self.afterwards(0)
        reads = [self.fill(self.pick(*READS)) for _ in range(2)]
        p = self.pick(*NUMBERS)
        results = f"z + {reads[0]}, y, len({p}), np.array({p} + [z + {reads[1]}])"
        body = "\n".join(self.lines)
        return f"def program(x, a, s):\n{body}\n    return {results}\n"

    def start(self, name: str) -> str:
        if self.pick(0, 1):
            return ""
        items = {"r": "a[1] * 1.0", "g": "y * s, a[0] * s", "t": "(z, s)", "k": "1"}
        return items.get(name) or self.pick("x[0]", "z", "s, z", "x[1], x[2] * s, z")

    def loop(self, depth: int) -> None:
        head = self.pick(*HEADS) if not depth else "for j in range(3):\n    v = x[j] * v"
        self.add(head, depth)
        for _ in range(self.choices.randint(1, 4)):
            self.statement(depth + 1)

    def statement(self, depth: int) -> None:
        kind = self.choices.random()
        if kind < 0.45:
            self.add(f"if {self.fill(self.pick(*TESTS))}:", depth)
            for _ in range(self.pick(1, 1, 2)):
                self.simple(depth + 1)
            if self.pick(0, 1, 1):
                self.add("else:", depth)
                self.simple(depth + 1)
        elif kind < 0.5 and depth == 1:
            self.loop(depth)
        elif kind < 0.58:
            self.add(f"if {self.fill(self.pick(*TESTS))}:", depth)
            self.add(self.pick("break", "continue"), depth + 1)
        elif kind < 0.63:
            self.afterwards(depth)
        else:
            self.simple(depth)

    def simple(self, depth: int) -> None:
        if self.pick(0, 0, 0, 1):
            self.add(f"z = z * 0.5 + 0.1 * {self.fill(self.pick(*READS))}", depth)
        else:
            self.add(self.fill(self.pick(*CHANGES)), depth)

    def afterwards(self, depth: int) -> None:
        self.add(self.fill(self.pick(*self.pick(COMPREHENSIONS, WALKS, WALKS, CHANGES))), depth)


def arguments(choices: Random, n: int, shift: float) -> tuple[Any, ...]:
    rng = np.random.default_rng(choices.randrange(2**32))
    s = float(rng.uniform(-1, 1))
    return rng.uniform(-1, 1.2, n) + shift, rng.uniform(-1, 1, (n, 3)), s


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program that plain Python runs, and the arguments of two or more calls."""
    choices = Random(seed)
    while True:
        text, n = Writer(choices).source(), choices.choice(STEPS)
        calls = [arguments(choices, n, shift) for shift in (0.0, 0.0, -0.8, 0.8)]
        good = tuple(args for args in calls if runs(text, (args,)))
        if len(good) > 1:
            return text, good


def runs(text: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program within bounds and without writing to arguments."""
    try:
        function = function_of(text, HELPERS)
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")
            found = [function(*locked(args)) for args in calls]
        leaves = flat(found)
        dtypes = ["".join(np.asarray(leaf).dtype.kind for leaf in flat(one)) for one in found]
        is_bounded = is_finite(leaves) and all(np.all(np.abs(leaf) < LIMIT) for leaf in leaves)
        return is_bounded and all(kinds == "ffif" for kinds in dtypes)
    except Exception:
        return False
