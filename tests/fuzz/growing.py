"""Random programs about loops and lists: what loops append, read from the end or by a counter,
change on the way, and go through afterwards.

Loops are `for` over ranges, `while` that count, and loops in loops, of more steps than are written
out or fewer. Items are vectors and numbers, new or views, the same one twice, under other names.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.generate import function_of
from tests.fuzz.structures import locked

STEPS = (3, 17, 21, 21)
FURTHER = 2**40  # from one trial's seed to the next
LIMIT = 1e4  # no value is larger

VECTORS = [
    "zs[-1] * 0.9", "np.sin(zs[-1]) + 0.1 * zs[-2]", "zs[{at}] * {c} + x[1]", "x[k % 3] * {c}",
    "z * {c} + ns[-1] * 0.1", "np.tanh(z + zs[-1])", "zs[len(zs) - 1] * {c}", "own[k] * 0.8",
    "zs[0] * 0.3 + z", "z[::-1] * {c}", "ws[-1] * 0.7 + z * 0.1", "np.cos(ws[-2]) * s",
]  # fmt: skip
SHARED = ["z", "zs[-1]", "own[k]", "x[k % 3]", "zs[-2]", "own[k, ::-1]", "ws[-1]", "state"]
NUMBERS = [
    "ns[-1] * 0.5 + s", "np.sum(zs[-1]) * 0.2", "ns[-1] * {c} - ns[-2]", "ns[{at}] + 0.1",
    "z[1] * {c}", "len(ns) * 0.01 + s", "float(zs[-1][0])", "k * 0.05 - s", "s * {c}",
]  # fmt: skip
CHANGES = [
    "zs[-1][0] = {a}", "z[1] = {a}", "z *= 0.9", "own[k] = {v}", "own[{one}] *= 0.8", "zs[0] = {v}",
    "zs[-1] = {v}", "ns[-1] = {a}", "last = zs.pop()\n{i}zs.append(last * 0.9)", "ws.pop(0)",
    "zs.insert(0, {v})", "ns.extend([{a}, {a}])", "zs += [{v}]", "ws, zs = zs, ws", "us = zs",
    "us.append({v})", "push(zs, {v})", "push(ws, {s})", "state[{one}] = {a}", "k2 += 2",
    "del ns[0]", "z = zs[-1]", "z = ws[-1]", "state = state * 0.9 + {v}", "z = z * 1.0",
]  # fmt: skip
LEAVES = ["break", "continue", "zs.append({v})", "ns.append({a})", "z = {v}", "s = s * 0.9"]
TESTS = ["ns[-1] > {c}", "k % 3 == 1", "len(zs) > {n}", "s < {c}", "np.sum(z) > {c}", "k > 5"]
AFTERWARDS = [
    "for e in zs:\n        total = total * 0.9 + e",
    "for e, f in zip(zs, ws):\n        total = total + e * f * 0.1",
    "for i, e in enumerate(zs):\n        total = total * 0.8 + e * i * 0.1",
    "for e in reversed(zs):\n        total = np.sin(total) + e",
    "for i in range(1, len(zs)):\n        total = total * 0.9 + zs[i] - zs[i - 1]",
    "for i in range(min(len(zs), len(ns))):\n        total = total * 0.9 + zs[i] * ns[i]",
    "for e in zs:\n        e *= 0.5",
    "for e in zs:\n        z = e",
    "zs[0][1] = s",
    "zs[-1][0] = s",
    "own[2, 1] = s",
    "state[0] = s",
    "total = total + sum(zs) * 0.1",
    "total = total + sum(e * 0.3 for e in ns)",
    "total = total + sum([np.sum(e) for e in zs]) * 0.1",
    "ws = [np.sin(e) * s for e in zs]",
    "ns = [e * 0.5 for e in ns]",
    "ws = [e for e in zs]",
    "total = total + np.stack([e * f for e, f in zip(zs, reversed(ws))]).mean(axis=0)",
    "i = 0\n    while i < len(zs):\n        total = total * 0.9 + zs[i]\n        i += 1",
    "zs[0] is zs[-1] and total.sort()",
    "ws[0] = zs[-1]",
]
HELPERS: dict[str, Any] = {"np": np}


class Writer:
    """A program being written."""

    def __init__(self, seed: int) -> None:
        self.choices = random.Random(seed)
        self.steps = self.choices.choice(STEPS)

    def fill(self, template: str, indent: str = "") -> str:
        choices = self.choices
        inner = dict.fromkeys(("v", "a", "s"), "")
        if "{v}" in template:
            inner["v"] = self.fill(choices.choice(VECTORS))
        if "{a}" in template:
            inner["a"] = self.fill(choices.choice(NUMBERS))
        if "{s}" in template:
            inner["s"] = choices.choice(SHARED)
        return template.format(
            **inner,
            c=round(choices.uniform(-0.9, 0.9), 2),
            at=choices.choice(["k", "k + 1", "k - 1", "-1", "-3", "1"]),
            one=choices.randrange(3),
            n=choices.randrange(2, 9),
            i=indent,
        )

    def body(self, indent: str, depth: int) -> list[str]:
        """The statements of a loop."""
        lines = []
        for _ in range(self.choices.randint(1, 3)):
            kind = self.choices.random()
            if kind < 0.35:
                new = ["zs.append({v})", "zs.append({s})", "ns.append({a})", "ws.append({v})"]
                lines.append(self.fill(self.choices.choice(new)))
            elif kind < 0.7:
                lines.append(self.fill(self.choices.choice(CHANGES), indent))
            elif kind < 0.85:
                test, leave = self.choices.choice(TESTS), self.choices.choice(LEAVES)
                lines += [self.fill(f"if {test}:"), "    " + self.fill(leave)]
            elif depth < 1:
                lines.append(f"for j in range({self.choices.choice([2, 4, 18])}):")
                lines += [line.removeprefix(indent) for line in self.body(indent + "    ", 1)]
        always = self.fill(self.choices.choice(["zs.append({v})", "zs.append({s})", "z = {v}"]))
        return [indent + line for line in [*lines, always]]

    def source(self) -> str:
        by_while = self.choices.random() < 0.3
        head = f"while k < {self.steps}:" if by_while else f"for k in range({self.steps}):"
        body = self.body("        ", 0)
        if by_while:  # after a `continue` as well
            body = [
                line.replace("continue", "k += 1; continue") if line.startswith(" " * 12) else line
                for line in [*body, "        k += 1"]
            ]
        after = [
            f"    {self.choices.choice(AFTERWARDS)}" for _ in range(self.choices.randint(1, 3))
        ]
        lines = [
            "def push(items, item):",
            "    items.append(item)",
            "",
            "def program(x, s):",
            "    own, state, k, k2 = x * 1.0, x[0] * 0.5, 0, 0",
            f"    z = {self.choices.choice(['x[1] * 0.8', 'state', 'x[2]', 'own[1]'])}",
            f"    zs = [{self.choice_of_items()}]",
            f"    ws = [{self.choice_of_items()}]",
            "    ns, us = [s, s * 0.5], zs",
            f"    {head}",
            *body,
            "    total = x[0] * 0.1",
            *after,
            "    total = total + np.array(zs).sum(axis=0) * 0.1 + ws[-1] * k2",
            "    return np.sum(total) + sum(ns) + len(zs), total + z + own[2] + state + zs[1]",
        ]
        return "\n".join([*lines, ""])

    def choice_of_items(self) -> str:
        items = ["x[0] * 0.7", "z", "state", "x[1]", "z * 1.0"]
        return ", ".join(self.choices.choice(items) for _ in range(self.choices.randint(2, 3)))


def arguments(seed: int) -> tuple[Any, ...]:
    """A matrix and a float to call it with."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1.2, (max(STEPS), 3)), float(rng.uniform(-1, 1.0))


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program that plain Python runs, and the arguments of two calls."""
    calls = arguments(seed), arguments(seed + 1)
    while True:
        source = Writer(seed).source()
        if runs(source, calls):
            return source, calls
        seed += FURTHER


def runs(source: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program and returns a number and a vector that are bounded."""
    try:
        results = [function_of(source, HELPERS)(*locked(args)) for args in calls]
    except (TypeError, ValueError, LookupError, AttributeError):
        return False
    return all(
        type(made) is tuple
        and [*map(np.shape, made)] == [(), (3,)]
        and all(np.all(np.abs(part) < LIMIT) for part in made)
        for made in results
    )
