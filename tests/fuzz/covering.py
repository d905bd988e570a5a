"""Covering designs: few rows in which every pair of values of different columns occurs.

A row starts with a pair that no row has yet; each further column, in random order, gets the value
that makes the most new pairs with those chosen before (Cohen, Dalal, Fredman & Patton, "The AETG
system", 1997).

>>> rows = covering({"a": (0, 1), "b": (0, 1), "c": (0, 1)}, lambda one, other: True, seed=0)
>>> len(rows) < 8, len({(row["a"], row["b"]) for row in rows})
(True, 4)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]


def covering(
    columns: Mapping[str, Sequence[Hashable]], fit: Callable[[Any, Any], bool], seed: int
) -> tuple[Row, ...]:
    """The rows of a design. Two values that do not ``fit`` are in no row together."""
    choices = random.Random(seed)
    values = [(column, value) for column, found in columns.items() for value in found]
    number = {value: at for at, value in enumerate(values)}
    of = {column: [number[column, value] for value in found] for column, found in columns.items()}
    fitting, new = [0] * len(values), [0] * len(values)
    for at, (column, value) in enumerate(values):
        for other, (its, another) in enumerate(values):
            if column != its and fit(value, another):
                fitting[at] |= 1 << other
    new = list(fitting)
    rows = []
    while True:
        starts = [at for at, partners in enumerate(new) if partners]
        if not starts:
            return tuple(rows)
        first = choices.choice(starts)
        second = choices.choice([at for at in range(len(values)) if new[first] >> at & 1])
        row = {values[at][0]: at for at in (first, second)}
        chosen, allowed = 1 << first | 1 << second, fitting[first] & fitting[second]
        rest = [column for column in columns if column not in row]
        choices.shuffle(rest)
        for column in rest:
            free = [at for at in of[column] if allowed >> at & 1]
            if not free:
                continue  # the row has nothing there
            most = max((new[at] & chosen).bit_count() for at in free)
            best = [at for at in free if (new[at] & chosen).bit_count() == most]
            row[column] = choices.choice(best)
            chosen |= 1 << row[column]
            allowed &= fitting[row[column]]
        for at in row.values():
            new[at] &= ~chosen
        rows.append({column: values[at][1] for column, at in row.items()})
