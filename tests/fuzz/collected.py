"""Random programs about names and places: what kept loops collect, and which of it is chosen; by
what name it is called, and in which order it is evaluated.

A loop of more steps than are unrolled appends numbers, views, tuples, dicts or functions to lists.
Then the program chooses among their items, by branches, conditional expressions, `min`, `max` and
static indices, and writes to arrays that several names share. Names are drawn from those that
generated code uses itself.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from tests.fuzz.generate import function_of
from tests.fuzz.structures import locked

# The program may have names of its own for `range` and `float`.
HELPERS: dict[str, Any] = {"np": np, "functools": functools, "span": range, "number": float}
STEPS = (3, 17, 20)  # unrolled, and kept
NAMES = ["h", "range", "reversed", "float", "value", "memory", "workspace", "v1", "d_x", "math"]

# What a step appends, and what an item gives as a number.
ITEMS = {
    "x[t, 0] * {c}": "{i}",
    "number(x[t, 1]) + {c}": "{i}",
    "state": "{i}",
    "x[t]": "{i}[1]",
    "x[{n} - 1 - t]": "{i}[0]",
    "own[t]": "{i}[1]",
    "own[t, ::-1]": "{i}[0]",
    "x[t] * {c}": "{i}[2]",
    "(x[t, 0], t)": "({i}[0] * {i}[1])",
    "(own[t], np.sin(x[t]))": "({i}[0] @ {i}[1])",
    "{{'at': t, 'row': x[t]}}": "({i}['row'][0] * {i}['at'])",
    "lambda z, t=t: z * x[t, 1]": "{i}({c})",
    "lambda z, row=x[t], k=t: (z * row).sum() * k": "{i}({c})",
    "made(x[t, 0], t)": "{i}({c})",
    "functools.partial(np.multiply, x[t, 2])": "{i}({c})",
}
CHOICES = [
    "{p} if {test} else {q}",
    "{p} if {test} and {test} else {q}",
    "min({p}, {q})",
    "max({p}, {q}, {r})",
    "({p} or {q})",
    "sorted([1, 0, 2])[0] * {p} + {q}",
    "[{p}, {q}][k := 1] + k * {r}",
    "{{(k := 1): {p}, (k := k + 1): {q}}}[k]",
    "(lambda a, b={p}: a * b)({q})",
    "sum(v for v in [{p}, {q}, {r}] if k < 9)",
]
OF_LISTS = [
    "{u} = {l}[{one}] if {test} else {l}[{other}]",
    "if {test}:\n        {u} = {l}[{one}]\n    else:\n        {u} = {l}[{other}]",
    "{u} = min({l}, key=lambda i: {number})",
    "{u} = max({l}, key=lambda i: {number})",
    "{u} = {l}[-1]\n    for e in {l}[1:]:\n        if {of_e} > {of_u}:\n            {u} = e",
]
WRITES = [
    "own[{at}, 1] = {a}",
    "own[{at}] *= {a}",
    "own.T[1] += x[0, 0]",
    "state_first[0] = {a}",
    "",
]
FURTHER = 2**40  # from one trial's seed to the next


def source_of(seed: int) -> str:
    """The source text of one program."""
    choices = random.Random(seed)
    steps, item = choices.choice(STEPS), choices.choice([*ITEMS])
    name, other = choices.sample(NAMES, 2)
    given = choices.choice([*NAMES, "x"])
    at = [choices.randrange(-2, 3) for _ in range(5)]

    def fill(template: str, **parts: Any) -> str:
        c = round(choices.uniform(-1.5, 1.5), 2)
        return template.format(c=c, n=steps, **parts)

    def number(index: Any) -> str:
        return fill(ITEMS[item], i=index)

    def test() -> str:
        tests = ["x[0, 1] > {c}", "s < {c}", "np.sum(x[1]) > {c}", "state > {c}"]
        return fill(choices.choice(tests))

    p, q, r = (number(f"{name}[{k}]") for k in at[:3])
    chosen = fill(choices.choice(CHOICES), p=p, q=q, r=r, test=test())
    which = fill(
        choices.choice(OF_LISTS),
        u=other, l=name, one=at[3], other=at[4], test=test(), number=number("i"),
        of_e=number("e"), of_u=number(other),
    )  # fmt: skip
    write = fill(choices.choice(WRITES), at=abs(at[0]), a=choices.choice(["s", "0.5", "x[0, 0]"]))
    body = [
        "def made(a, t):",
        "    weight = np.sin(a) * t",
        "    return lambda z: z * weight + a",
        "",
        f"def program({given}, s):",
        f"    x, k = {given}, 0",
        "    own = x * 1.0",
        "    state_first = own[0]",
        f"    state, {name} = s, []",
        f"    for t in span({steps}):",
        "        state = state * 0.5 + x[t, 0]",
        f"        {name}.append({fill(item)})",
        f"    {write or 'pass'}",
        f"    total = {chosen}",
        f"    {which}",
        f"    return total + {number(other)} * 0.7, own[0] * total",
    ]
    return "\n".join([*body, ""])


def arguments(seed: int) -> tuple[Any, ...]:
    """A matrix and a float to call it with. The numbers are not rounded: none of them tie."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1.2, (20, 3)), float(rng.uniform(-1, 1.5))


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program that plain Python runs, and the arguments of two calls."""
    calls = arguments(seed), arguments(seed + 1)
    while True:
        source = source_of(seed)
        if runs(source, calls):
            return source, calls
        seed += FURTHER


def runs(source: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program and returns a number and an array."""
    try:
        results = [function_of(source, HELPERS)(*locked(args)) for args in calls]
    except (TypeError, ValueError, LookupError):
        return False
    return all(type(made) is tuple and [*map(np.ndim, made)] == [0, 1] for made in results)
