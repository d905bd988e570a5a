"""Random programs about one array, list or dict that is there under several names.

The arguments of a call share what they are made of: an array passed twice, views of one array, a
list in another list, in a dict, or given as two arguments. What they share is another thing from
call to call. The program asks what is the same object, makes containers and arrays of its own that
share parts in turn, gives them to functions under two names, and writes to them.

>>> source, calls = program(seed=1)
>>> source.startswith(HEAD), len(calls) > 0
(True, True)
"""

from __future__ import annotations

import random
import textwrap
from typing import Any

import numpy as np

from tests.fuzz import helpers
from tests.fuzz.generate import ELEMENTWISE, VIEWS, WRITES, Writer, function_of
from tests.fuzz.structures import is_finite, locked

STATEMENTS, CALLS, TRIALS = 9, 3, 60
NAMES = ("x", "y", "l", "m", "d")
HEAD = f"def program({', '.join(NAMES)}):\n"
GIVEN = ["x", "y", "l[0]", "l[1]", "m[0]", "m[1]", "d['p']", "d['q'][0]", "d['r']['s']"]
LIMIT = 1e3

WAYS = ["{0}", "{0}", "{0}[::-1]", "{0}.T", "{0}[:]", "{1}", "{1}", "{0}.copy()", "{0}[:, ::-1].T"]
# Whether two arguments are one is refused, and so rarely asked.
OBJECTS = [
    "l", "d", "n", "n", "e", "t", "t", "w", "w", "e['r']", "e['p']", "t[0]", "t[1]", "t[-1]",
    "w.T", "n[-1]", "n[:]",
]  # fmt: skip
TESTS = [
    "{v} = np.sum({a}) * ({o} is {p})",
    "{v} = {a} * 0.5 if {o} is {p} else {b}",
    "{v} = np.sum({a}) * ({o} is not {p} or {p} is {o})",
    "{v} = {a}\nif {o} is {p} and {p} is not {q}:\n    {v} = {a} + 1.0",
    "{v} = np.sum([np.sum(z) * k for k, z in enumerate(t) if z is not {w}])",
    "{v} = np.sum({a}) * any(z is {p} for z in (n, e, t, w))",
    "{v} = np.sum({a}) * ({o} is {p}) * len([z for z in (l, t, n, d) if z is n])",
    "{v} = np.sum(d['r']['s']) * ({o} is {p}) + np.sum({a})",
]
OWN = [
    "n = list({s})", "n = {s} + {s}", "n = [*{s}, {a}]", "n = {s}[:2]", "n.append({a})", "n *= 2",
    "n[0] = {a}", "n[0], n[-1] = n[-1], n[0]", "n.insert(1, {a} * 0.5)", "n.reverse()", "n = n[:3]",
    "e = dict(d)", "e = {{**d, 'p': {a}}}", "e['p'] = {a}", "e['q'] = n", "e = d.copy()",
    "e['r'] = {{'s': {a}}}", "n = [{a}, {b}, {a}]", "e.update(p={a}, q={s})", "n = e['q']",
    "n += [{a}]", "n.extend({s}[:1])", "t = [{a} * 1.0] * 2", "t = ({w}, {w}.T)", "t = [{w}, {w}]",
    "t = {w}, {w}[::-1]",
]  # fmt: skip
SHARED = [
    "t[0][{k}] = t[1][0] * 0.5", "t[1][...] = {a}", "t[0][0] += {e}", "t[1].T[{k}] = t[0][1]",
    "for z in t:\n    z *= 0.9", "{v} = both({w}, {w})", "{v} = both({w}, {w}.T)",
    "{v} = both({w}, {a}.copy())", "{v} = both({w}[::-1], {w})", "{v} = both(t[0], t[1])",
    "{v} = both(q={w}, p={w})", "{v} = told({w}, {w}) * {a}", "{v} = told(n, n) * {a}",
    "{v} = told(n, list(n)) * {a}", "{v} = told({o}, {p}) * {a}", "{v} = grown(n, n) + {a}",
    "z = {w}\nfor i in range(17):\n    {w}[i % 3] += z[i % 2] * 0.1\n{v} = z * 1.0",
    "z, u = {w}, {w}.T\nz *= 0.5\nu[0] = z[1]\n{v} = u + z",
    "{v} = {w}\nfor i in range(17):\n    {v}, {w} = {w}, {v} * 0.9",
    "{v} = {w}\n{w} = {a} * 1.0\n{v}[0] = {w}[0]",
    "if np.sum({a}) > 0.1:\n    {w}[0] = 0.5\n{v} = t[0] + t[1]",
    "z = np.concatenate([{w}, {a}])\n{w}.reshape(-1)[{k}:] *= 0.5\n{v} = z[1:4] + {w}",
    "u = {a} * 2.0\nz = np.vstack([{w}, u, {b}])\nz.reshape(9, 3)[3:5] *= 0.5\n{v} = u + z[2:5]",
    "u = {a} * 2\nz = np.vstack([np.vstack([u, {w}]), {b}])\nu.T[{k}] *= 0.5\n{v} = u + z[:3]",
    "u = {a} * 2.0\nz = np.append(u, {e})\nu.reshape(3, 3)[1] = {b}[0]\n{v} = u + np.std(z)",
    "u = {a} + {b}\nz = np.stack([u, {w}])\nu.T.reshape(-1)[:] *= 0.5\nu[1:][0] *= 2\n{v} = z[0]",
]  # fmt: skip


def both(p, q):
    """Writes to both, and reads what was written under the other name."""
    p[0] = q[1] * 0.5
    q *= 0.9
    return p + q


def told(p, q):
    """A number that tells whether two names are of one object."""
    return 2.0 if p is q else 0.5


def grown(items, same):
    """Changes a list under one name, and sums it up under the other."""
    items.append(items[0] * 0.5)
    items[0] = items[-1] + 1.0
    return np.sum(np.array([np.sum(z) for z in same]))


HELPERS: dict[str, Any] = {**helpers.HELPERS, "both": both, "told": told, "grown": grown}


class AliasWriter(Writer):
    """A program being written."""

    def __init__(self, choices: random.Random, arguments: dict[str, Any]) -> None:
        super().__init__(choices, arguments)
        self.names = [*GIVEN]
        self.given = len(self.names)
        self.own = ["w"]
        for line in ("n = [x, y]", "e = dict(d)", "w = x * 1.0", "t = [w, w]"):
            self.lines.append(line)
        self.names.append("w")
        self.rerun()

    def write_statement(self) -> None:
        templates = self.choose(
            (TESTS, TESTS, OWN, OWN, SHARED, SHARED, ELEMENTWISE, VIEWS, WRITES)
        )
        name = f"v{len(self.lines)}"
        if templates in (ELEMENTWISE, VIEWS):
            text = f"{name} = {self.fill(templates)}"
        elif templates is WRITES:
            text = self.fill(templates)
        else:
            o, p, q = (self.choose(OBJECTS) for _ in range(3))
            a, b = self.choose(self.names), self.choose(self.names)
            text = self.choose(templates).format(
                a=a, b=b, o=o, p=p, q=q, v=name, w=self.choose(self.own),
                s=self.choose(("l", "m", "n", "d['q']")), k=self.choose(range(-2, 3)),
                e=self.choose((f"{b}[0]", "0.25")),
            )  # fmt: skip
        made = name if f"{name} = " in text or f"{name}, " in text else ""
        before = len(self.lines)
        self.try_to_add(text, made)
        if made and len(self.lines) > before and np.shape(self.values[name]) == (3, 3):
            self.own.append(name)

    def fits(self, made: Any) -> bool:
        return isinstance(made, np.ndarray | np.generic) and super().fits(made)

    def is_bounded(self) -> bool:
        values = [eval(name, self.values) for name in self.names]
        return all(bool(np.all(np.abs(value) < LIMIT)) for value in values)

    def rerun(self) -> None:
        given = locked(tuple(self.arguments.values()))
        self.values = {**HELPERS, **dict(zip(self.arguments, given, strict=True))}
        for line in self.lines:
            exec(line, self.values)

    def source(self) -> str:
        results = ", ".join([*self.names[self.given :], *self.numbers[3:]])
        body = "\n".join([*self.lines, f"return ({results},)"])
        return f"{HEAD}{textwrap.indent(body, '    ')}\n"


def arguments(choices: random.Random) -> dict[str, Any]:
    """Arguments that share what they are made of."""
    rng = np.random.default_rng(choices.getrandbits(32))
    arrays = [rng.uniform(-1, 1.2, (3, 3)).round(3) for _ in range(2)]

    def one() -> Any:
        """One of the arrays, or a view of one."""
        choices.shuffle(arrays)
        return eval(choices.choice(WAYS).format("first", "second"), dict(zip(PAIR, arrays)))

    x = one()
    y = choices.choice((x, one()))
    items = [choices.choice((x, y, one())) for _ in range(2)]
    others = choices.choice((items, items, [*items], [one(), one()]))
    table = {
        "p": choices.choice((x, y, one())),
        "q": choices.choice((items, others, [one(), one()])),
        "r": {"s": choices.choice((x, items[0], one()))},
    }
    return dict(zip(NAMES, (x, y, items, others, table), strict=True))


PAIR = ("first", "second")


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program, and the arguments of some calls, that share in other ways."""
    choices = random.Random(seed)
    first = arguments(choices)
    writer = AliasWriter(choices, first)
    for _ in range(TRIALS):
        if len(writer.lines) > STATEMENTS + 4:
            break
        writer.write_statement()
    source = writer.source()
    calls = [tuple(first.values())]
    for _ in range(CALLS - 1):
        other = tuple(arguments(choices).values())
        if runs(source, (other,)):
            calls.append(other)
    return source, tuple(calls)


def runs(source: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program, and returns arrays of bounded values."""
    try:
        results = [function_of(source, HELPERS)(*locked(args)) for args in calls]
    except (ValueError, TypeError, LookupError, NameError, ArithmeticError, AttributeError):
        return False
    return all(
        type(made) is tuple
        and is_finite(made)
        and all(np.all(np.abs(part) < LIMIT) for part in made)
        for made in results
    )
