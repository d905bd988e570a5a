"""Random programs about lists of lists whose rows have other names as well.

Loops, of which some are kept, fill tables as dynamic programming does, and do all that makes rows
the same list, or another one than before: rows that are in a table twice or in two tables, rows
with names, rows that are exchanged, copied, replaced, sliced or appended to, functions that read
and write them, branches that choose a table. All is read again, through all names.
"""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.generate import function_of
from tests.fuzz.structures import flat, is_finite, locked

HELPERS: dict[str, Any] = {"np": np}
SIZES = ((18, 3), (18, 3), (17, 4), (3, 17), (4, 3))
LIMIT = 1e3  # no value is larger

TABLES = [
    "[[0.0] * {m} for _ in range({n})]", "[[0.0] * {m} for _ in range({n})]",
    "[[s * i + 0.1 * j for j in range({m})] for i in range({n})]",
    "[[0] * {m} for _ in range({n})]", "[[s] * {m} for _ in range({n})]",
    "[[x[i % 5, 0] * {c}] * {m} for i in range({n})]",
    "[[np.sin(x[i % 5, j % 3]) for j in range({m})] for i in range({n})]",
    "[list(x[i % 5]) + [0.0] * ({m} - 3) for i in range({n})]",
]  # fmt: skip
ALIASED = [
    "[[{c}] * {m}] * {n}", "[w[:{m}] if i % 2 else w for i in range({n})]", "t[::-1]", "t",
    "[row for row in t]", "[row[:] for row in t]", "[t[0]] + [[{c}] * {m} for _ in range({n} - 1)]",
    "[t[i // 2] for i in range({n})]", "[[{c}] * (i % 3 + {m}) for i in range({n})]",
    "t[:-1] + [[{c}] * {m}]", "list(t)", "t.copy()",
]  # fmt: skip
ROWS = [
    "[0.0] * {k}",
    "t[0]",
    "t[-1]",
    "u[1]",
    "t[1]",
    "[s * {c}] * {k}",
    "[0] * {k}",
    "list(x[0])",
]
EXPRESSIONS = [
    "t[i][j]", "t[i - 1][j]", "t[i - 1][j - 1]", "t[i][j - 1]", "u[i][j]", "u[i - 1][0]", "u[0][j]",
    "w[j]", "w[0]", "r[j]", "r[-1]", "x[i % 5, j % 3]", "s", "{c}", "get(i, j)", "t[0][0]",
    "t[places[j % 4]][j]", "u[-1][j]", "t[{n} - 1 - i][j]", "t[-1][-1]",
]  # fmt: skip
WRITES = [
    "t[i][j] = {e}", "t[i][j] = {e}", "t[i][j] = {e}", "t[i][j] += {e}", "t[i][j] *= {c}",
    "u[i][j] = {e}", "u[i][j] = {e}", "t[i - 1][j] = {e}", "t[i][j - 1] -= {e}", "w[j] = {e}",
    "r[j] = {e}", "r[0] += {e}", "t[0][j] = {e}", "t[places[i % 4]][j] = {e}",
    "if {e} > {c}:\n    t[i][j] = {e}",
    "if {e} > {c}:\n    t[i][j] = {e}\nelse:\n    u[i][j] = {e}",
    "t[i][j] = max({e}, {e})", "t[i][j] = min(t[i - 1][j], {e}, t[i][j - 1])", "t[i][j] = 1",
    "s = s * 0.5 + {e}", "t[i][j], u[i][j] = u[i][j], t[i][j]", "t[i][j] = 0.5 if i == 3 else {e}",
]  # fmt: skip
ALIASING = [
    "p = t[i]\np[j] = {e}", "t[i] = t[i - 1]", "t[i], t[0] = t[0], t[i]", "t[i] = u[i]",
    "t[i] = [{e}] * {m}", "t[i] = [{e} for b in range({m})]", "t[i] = list(u[i])", "t[i] = t[0][:]",
    "p = [{e}] * {m}\nt[i] = p\np[0] = {e}", "t[i] = p = [{e}] * {m}\np[j] = {e}", "put(i, j, {e})",
    "p = [0.1] * {m}\np[j] = {e}\nt[i] = p", "for row in t:\n    row[0] = {e}", "t[i] = r",
    "if {e} > {c}:\n    t[i] = [{e}] * {m}", "q = t if s > {c} else u\nq[i][j] = {e}", "r = t[i]",
    "p = t[i] if s > {c} else u[i]\np[j] = {e}", "t[i].reverse()", "t.reverse()",
    "t[i].append({e})",
    "t, u = u, t", "u = t", "u[i] = t[i]", "u = [row[:] for row in t]", "t[i][:2] = [{e}, {e}]",
    "r = p = t[i]\np[0] += {e}", "s = s * 0.5 + sum(t[i]) * 0.1", "s = s + (t[i] is t[0]) * 0.3",
    "s = s * 0.5 + 0.1 * len(t[i])", "if t[i] is r:\n    t[i][j] = {e}", "t += [[{e}] * {m}]",
    "p = t[i] = [{e}] * {m}", "w = t[i]", "p, t[i] = t[i], [{e}] * {m}\ns = s + p[j]",
    "if s > {c}:\n    break", "if i == 2:\n    r = t[i]", "if i == 2:\n    t[i] = r",
    "held.append(t[i])",
    "held[-1][j] = {e}", "p = t\np[i][j] = {e}", "t[i][j] = t[i].pop() * 0.5",
    "t.insert(0, t.pop())",
    "t[i] = [v * {c} for v in t[i]]", "t[i - 1] += [{e}]", "if s > {c}:\n    t[i] = u[i - 1]",
    "s = s + (t[i] == t[i - 1]) * 0.2", "for v in t[i]:\n    s = s * 0.5 + v * 0.1",
    "t[i] = [{e}] * {m} if s > {c} else t[i - 1]", "t[i], t[i - 1] = [{e}] * {m}, t[i]",
]  # fmt: skip
READS = [
    "sum(t[0])", "t[-1][-1]", "sum(sum(row) for row in t)", "sum(r)", "sum(w)", "sum(u[1])",
    "get(1, 1)",
    "sum(map(sum, u))", "np.sum(np.array(t[1]))", "np.sum(np.array(t) ** 2)", "held[-1][0]", "p[0]",
    "(t[0] is t[1]) * 0.5", "(t[1] is r) * s", "len(t) * s", "t[1][0] * u[0][1]", "r[0]", "p[-1]",
    "sum(t[i][0] * u[i][1] for i in range(3))", "t[2][1]", "u[2][-1]", "sum(held[0])",
]  # fmt: skip
FURTHER = 2**40  # from one trial's seed to the next


def source_of(seed: int) -> str:
    """The source text of one program."""
    choices = Random(seed)
    n, m = choices.choice(SIZES)

    def fill(template: str) -> str:
        text = template
        while "{e}" in text:
            text = text.replace("{e}", expression(), 1)
        c = round(choices.uniform(-0.9, 0.9), 2)
        return text.replace("{c}", str(c)).format(n=n, m=m, k=max(n, m))

    def expression() -> str:
        terms = choices.sample(EXPRESSIONS, choices.choice((1, 2, 2, 3)))
        joined = choices.choice((" + ", " - ", " * ")).join(terms)
        return choices.choice(("np.tanh({})", "0.5 * ({})", "({})")).format(joined)

    def block(lines: list[str], indent: int) -> list[str]:
        return [" " * indent + line for text in lines for line in text.split("\n")]

    how_many = choices.choice((0, 0, 1, 1, 2))
    statements = [fill(choices.choice(WRITES)) for _ in range(choices.choice((1, 2, 2, 3)))]
    rare = [fill(choices.choice(ALIASING)) for _ in range(how_many)]
    inner, outer = [*statements], []
    for text in rare:
        choices.choice((inner, outer, outer)).insert(0, text)
    choices.shuffle(inner)
    after = outer if choices.random() < 0.5 else []
    before = [] if after else outer
    tables = TABLES if choices.random() < 0.75 else ALIASED
    first, second = choices.choice(TABLES), choices.choice(tables)
    if choices.random() < 0.05:
        first = "[[{c}] * {m}] * {n}"
    start = choices.choice((0, 1, 1))
    early = choices.choice(
        ("t[0][0] = s", "t[0][1] = x[0, 0]", "pass", "t[1] = t[0]", "t[0] = w[:{m}]")
    )
    counted = choices.random() < 0.85
    head = f"for i in range({start}, {n}):" if counted else "while i < {n} - 1:\n    i += 1"
    j_start = choices.choice((0, 1))
    body = [
        "def program(x, s):",
        "    places, held, i, j = np.array([1, 0, 2, 1]), [], 0, 0",
        *block([f"w = [0.0] * {max(n, m)}", f"t = {fill(first)}", f"u = {fill(second)}"], 4),
        *block([f"w = {fill(choices.choice(ROWS))}", f"r = {fill(choices.choice(ROWS))}"], 4),
        "    p = [0.3] * 3",
        "    held.append(t[0])" if choices.random() < 0.3 else "    held.append([0.2, 0.1])",
        *block([fill(early)], 4),
        "    def get(i, j):",
        f"        return {choices.choice(('t[i][j]', 't[i][j] * 0.5', 'r[j]', 'u[i - 1][j]'))}",
        "    def put(i, j, v):",
        f"        {choices.choice(('t[i][j] = v', 'r[j] = v', 'u[i][j] += v', 'w[j] = v'))}",
        *block([fill(head)], 4),
        *block(before, 8),
        f"        for j in range({j_start}, {m}):",
        *block(inner, 12),
        *block(after, 8),
    ]
    if choices.random() < 0.3:
        body += [f"    for i in range({n}):", *block([fill(choices.choice(WRITES))], 8)]
    reads = [f"total = total * 0.7 + {fill(read)}" for read in choices.sample(READS, 4)]
    body += ["    total = s", *block(reads, 4)]
    body += ["    return total, np.array([t[0][0], t[1][1], u[-1][0], w[0], r[1]])", ""]
    return "\n".join(body)


def arguments(seed: int) -> tuple[Any, ...]:
    """A matrix and a float to call it with."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1.2, (5, 3)), float(rng.uniform(-1, 1.2))


def program(seed: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The source of a program that plain Python runs, and the arguments of two calls."""
    calls = arguments(seed), arguments(seed + 1)
    while True:
        source = source_of(seed)
        if runs(source, calls):
            return source, calls
        seed += FURTHER


def runs(source: str, calls: tuple[tuple[Any, ...], ...]) -> bool:
    """True if plain Python runs the program, and its numbers are not too large."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = [function_of(source, HELPERS)(*locked(args)) for args in calls]
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, NameError):
        return False
    leaves = [leaf for made in results for leaf in flat(made)]
    is_bounded = is_finite(leaves) and all(np.all(np.abs(leaf) < LIMIT) for leaf in leaves)
    return is_bounded and all(np.ndim(total) == 0 for total, _ in results)
