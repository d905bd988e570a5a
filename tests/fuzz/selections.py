"""Random programs of vectors that are as long as the data decide.

Masks and slices with traced ends select from vectors, and from what was selected before; the
selections are combined where they are as long as each other, reduced, sorted, joined and written
back, at the top, in branches and in loops that are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.fuzz.lengths import HELPERS, STEPS, arguments, runs

__all__ = ["HELPERS", "program", "runs"]

ELEMENTWISE = [
    "np.sin({u})", "{u} * {w}", "{u} + 0.5 * {w}", "{u} - {w}", "{u} * {s}", "np.tanh({u} + {s})",
    "{u} / (1.0 + {w} * {w})", "np.where({u} > {c}, {u}, {w})", "np.maximum({u}, {w})", "-{u}",
    "{u}[::-1]", "{u}.copy()", "np.cumsum({u})", "np.sort({u})", "{u} * np.arange(len({u})) * 0.1",
    "np.zeros_like({u}) + {s}", "np.ones(len({u})) * {w}", "helped({u}, {s})", "abs({u})",
    "{u}[:, None][:, 0]", "np.concatenate([{u}, {w}])[:len({u})]", "np.stack([{u}, {w}])[0]",
    "({u} if {t} else {w})", "{u}[np.argsort({w})]", "np.outer({u}, {w}) @ {u} * 0.1",
]  # fmt: skip
REDUCED = [
    "np.sum({u})", "{u} @ {w}", "np.sum({u} * {w})", "np.mean({u})", "{u}.max()", "np.min({u})",
    "{u}[0]", "{u}[-1]", "len({u}) * 0.1", "{u}.size * {s}", "np.sum({u} > {c}) * 0.1",
    "np.var({u})", "np.prod(1.0 + 0.1 * {u})", "np.linalg.norm(np.append({u}, 1.0))",
    "np.sum(np.unique({u}))", "np.sum({u}[{u} > {c}])", "np.max(np.append({u}, {s}))",
    "np.sum({u}[np.flatnonzero({u} > {c})] ** 2)", "np.sum(x[np.nonzero(x > {c})])",
    "np.sum(a[x > {c}]) * 0.1", "np.sum(a[:, x > {c}] @ x[x > {c}]) * 0.1", "np.std({u})",
    "np.sum(np.repeat(x, np.where(x > {c}, 2, 1)) ** 2) * 0.1", "np.median(np.append({u}, {s}))",
]  # fmt: skip
WRITES = ["=", "=", "+=", "-=", "*="]


@dataclass(frozen=True)
class Scope:
    """The names that are known: vectors with their lengths, masks with the lengths of what they
    select from, integers, and the lengths whose vectors may be written."""

    vectors: tuple[tuple[str, str], ...] = (("x", "n"), ("y", "n"))
    masks: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, ...] = ()
    owned: tuple[str, ...] = ("y",)
    counter: str = ""
    depth: int = 0


class Writer:
    """A program being written."""

    def __init__(self, choices: Random) -> None:
        self.choices = choices
        self.lines: list[str] = []
        self.indent = 1
        self.made = 0

    def pick(self, *options: Any) -> Any:
        return self.choices.choice(options)

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def source(self) -> str:
        self.add("y, z = x * 0.5, s * 0.5")
        scope = self.body(Scope(), self.choices.randint(4, 9))
        kept = [name for name, _ in scope.vectors if name != "x"]
        shown = self.pick(*kept)
        self.add(f"return y, z, np.sum({shown}), {self.pick(f'{shown} * 1.0', 'z')}")
        body = "\n".join(self.lines)
        return f"def program(x, a, s):\n{body}\n"

    def body(self, scope: Scope, statements: int) -> Scope:
        for _ in range(statements):
            kinds: dict[Any, int] = {self.mask: 3, self.end: 2, self.select: 5, self.combine: 4}
            kinds |= {self.write: 4, self.number: 4}
            if scope.depth < 2:
                kinds |= {self.loop: 2, self.branch: 2}
            (write,) = self.choices.choices(list(kinds), list(kinds.values()))
            scope = write(scope) or scope
        return scope

    def level(self, scope: Scope) -> str:
        c = round(self.choices.uniform(-0.6, 0.6), 3)
        return f"{c} + 0.0137 * {scope.counter}" if scope.counter and self.pick(0, 1) else f"{c}"

    def vector(self, scope: Scope, length: str = "") -> tuple[str, str]:
        found = [(v, size) for v, size in scope.vectors if size == length or not length]
        name, size = self.pick(*found)
        return str(name), str(size)

    def mask(self, scope: Scope) -> Scope:
        (v, length), m = self.vector(scope), self.name("m")
        self.add(f"{m} = {v} {self.pick('>', '<')} {self.level(scope)}")
        return replace(scope, masks=(*scope.masks, (m, length)))

    def end(self, scope: Scope) -> Scope:
        k = self.name("k")
        v, _ = self.vector(scope)
        self.add(f"{k} = int(np.sum({v} > {self.level(scope)})){self.pick('', ' - 2', ' // 2')}")
        return replace(scope, ends=(*scope.ends, k))

    def part(self, scope: Scope) -> tuple[str, str, str]:
        """A vector, a subscript of it, and the length of what that selects."""
        v, length = self.vector(scope)
        masks = [m for m, size in scope.masks if size == length]
        if masks and self.pick(0, 1, 1):
            m = self.pick(*masks)
            return v, m, m
        if scope.ends:
            k, j = self.pick(*scope.ends), self.pick(*scope.ends)
            at = self.pick(f":{k}", f"{k}:", f"{k}:{j}", f"1:{k}", f"{k}:-1")
            return v, at, f"{length}[{at}]"
        return v, ":-1", f"{length}[:-1]"

    def select(self, scope: Scope) -> Scope:
        (v, at, length), w = self.part(scope), self.name("v")
        self.add(f"{w} = {v}[{at}]{self.pick('', '', ' * 1.0')}")
        return replace(scope, vectors=(*scope.vectors, (w, length)))

    def fill(self, template: str, scope: Scope, length: str = "") -> tuple[str, str]:
        u, length = self.vector(scope, length)
        w, _ = self.vector(scope, length)
        test = f"z > {self.level(scope)}"
        holes = {"u": u, "w": w, "c": self.level(scope), "s": self.pick("s", "z"), "t": test}
        return template.format(**holes), length

    def combine(self, scope: Scope) -> Scope:
        (text, length), w = self.fill(self.pick(*ELEMENTWISE), scope), self.name("v")
        self.add(f"{w} = {text}")
        return replace(scope, vectors=(*scope.vectors, (w, length)), owned=scope.owned)

    def number(self, scope: Scope) -> None:
        self.add(f"z = z * 0.5 + 0.1 * {self.fill(self.pick(*REDUCED), scope)[0]}")

    def write(self, scope: Scope) -> None:
        how = self.pick(*WRITES)
        masks = [m for m, length in scope.masks if length == "n"]
        ends = [f":{k}" for k in scope.ends] + [f"{k}:" for k in scope.ends]
        at = self.pick(*masks, *ends, ":-1")
        length = at if at in masks else f"n[{at}]"
        fitting = [v for v, size in scope.vectors if size == length]
        value = self.pick(*fitting, f"x[{at}]") if self.pick(0, 1, 1) else "z"
        self.add(f"y[{at}] {how} 0.5 * {value}")

    def inner(self, scope: Scope) -> Scope:
        self.indent += 1
        scope = self.body(replace(scope, depth=scope.depth + 1), self.choices.randint(1, 4))
        self.number(scope)
        self.indent -= 1
        return scope

    def loop(self, scope: Scope) -> None:
        i = self.name("i")
        self.add(f"for {i} in range({self.pick(3, STEPS, STEPS + 3)}):")
        self.inner(replace(scope, counter=i))

    def branch(self, scope: Scope) -> None:
        self.add(f"if {self.pick('z', 's', 'np.sum(y)')} > {self.level(scope)}:")
        self.inner(scope)
        if self.pick(0, 1):
            self.add("else:")
            self.inner(scope)


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program that plain Python runs, and the arguments of two calls."""
    choices = Random(seed)
    while True:
        text = Writer(choices).source()
        n = choices.randint(5, 9)
        calls = arguments(choices, n), arguments(choices, n)
        if runs(text, calls):
            return text, calls
