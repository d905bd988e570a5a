"""Sets have their items in Python's own order, which depends on how each set came to be."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import textwrap
from collections import OrderedDict

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples, assert_follows

examples = Examples()

X = np.linspace(0.5, 1.5, 3)
KEYS = (8, 16, 24, 1, 33)  # they collide, so that their order is that of their coming
TABLE = {k: 1 for k in KEYS}  # noqa: C420
ORDERED = OrderedDict(TABLE)
HELD = {64, 0, 32}
HELD.update(range(8, 100, 8))
HELD -= {0, 16, 48}


def order(*collections):
    """A number that tells the order of the items."""
    told = 0
    for items in collections:
        for item in items:
            told = (told * 31 + int(4 * item) + 7) % 1000003
    return told


@examples(X)
def constant_displays(x):
    kept = {8, 16, 24, 1, 33}
    folded = {-8, 16, 2**3, 24, 1, 33}
    mixed = {0.5, 8, True, 24, 1.0, 33, 16}
    same_again = {33, 1, 24, 16, 8}
    first, *others = folded
    return x * order(kept, list(kept), folded, others, mixed, same_again) + first


@examples(X)
def gone_through_at_once(x):
    told = 0
    for item in {8, 16, 24, 1, 33}:
        told = 31 * told + item
    listed = [i for i in {33, 24, 16, 8, 1, 9}]  # noqa: C416
    chosen = [i for i in (9, 16) for j in {40, 32, 24, 16, 8, 0} if j - i in {0, 8, 16, 24, 32}]
    table = {i: -i for i in {64, 56, 8, 0, 16}}
    generated = tuple(2 * i for i in {64, 56, 8, 0, 16})
    return x * told % 1000003 + order(listed, chosen, table, generated)


@examples(X)
def displays_with_values(x):
    n, two = 24, {32, 0}
    return x * order(
        {8, 16, n, 1, 33},
        {*HELD},
        {1, *HELD, 9},
        {*two, 8, 16, 24, 1},
        {*{8, 16, 24, 1, 33}, 40},
        {i for i in HELD},  # noqa: C416
        {*[i % 40 for i in HELD]},
        {8, 1},
        {n, 16, 0},
    )


@examples(X)
def displays_in_inner_functions(x):
    def inner(items={8, 16, 24, 1, 33, 7}):
        return items

    given = lambda: {33, 1, 24, 16, 8, 7}  # noqa: E731
    return x * order(inner(), given(), [*given()])


@examples(X)
def made_from_dicts(x):
    table = {k: 1 for k in KEYS}  # noqa: C420
    filled = {0}
    filled.update(table)
    return x * order(
        *(
            set(table),
            {*table},
            frozenset(table),
            set(table.keys()),
            {*ORDERED},
            set(ORDERED),
            {*TABLE},
            set(TABLE),
        ),
        *(filled, filled.union(table), {2, *table}, set(iter(table)), {*table.values()}),
    )


@examples(X)
def copies(x):
    literal = {8, 16, 24, 1, 33}
    fixed = frozenset(KEYS)
    return x * order(
        *(copy.copy(literal), copy.deepcopy(literal), literal.copy(), set(literal)),
        *(copy.copy(HELD), copy.deepcopy(HELD), HELD.copy(), set(HELD), frozenset(HELD)),
        *(copy.deepcopy(fixed), copy.copy(fixed), fixed.copy(), set(fixed)),
    )


@examples(X)
def changed_in_place(x):
    held = set(HELD)
    held ^= {8, 1000}
    held |= {3, 35, 67}
    other = {40, 72, 8}
    other |= held
    other -= {35}
    other &= held | {1}
    other.update({104, 8}, [112, 0])
    held.symmetric_difference_update({3, 11})
    held.difference_update([24])
    taken = held.pop()
    return x * order(held, other, held - other, other | held, held & other) + taken


@examples(X)
def changed_where_data_decide(x):
    seen = {64, 0}
    if x[0] > 0:
        x = x + 1
        seen.add(32)
    else:
        seen.add(32)
    seen.update([8, 16])
    return x * order(seen)


@examples(X)
def changed_in_loops(x):
    seen, sorted_out = set(), set()
    for k in (97, 33, 1, 65, 129):
        seen |= {k, k + 1}
    for k in range(60):
        sorted_out.add(8 * k % 104)
        x = x * 1.01
    return x * order(seen, sorted(sorted_out))


test_program = examples.tests()


def test_an_order_that_is_lost_is_refused():
    """Staging takes back what a loop was tried with; Python cannot put a set back as it was."""

    def loss(x):
        left = {97, 1, 33, 65, 9, 40}
        while len(left) > 2:
            left.remove(min(sorted(left)))
        return np.sum(x) * order(left)

    with pytest.raises(st.LanguageError, match=r"(?s)order of this set is not known.*sorted"):
        st.compile(loss)(X)

    def derived(x):
        left = {97, 1, 33, 65, 9, 40}
        while len(left) > 2:
            left.pop()
        return np.sum(x) * len(left)

    with pytest.raises(st.LanguageError, match="order of this set is not known"):
        st.compile(derived)(X)


def test_what_needs_no_order_of_a_set_that_lost_it():
    def loss(x):
        left = {97, 1, 33, 65, 9, 40}
        while len(left) > 3:
            left.remove(min(sorted(left)))
        more = left | {4}
        return np.sum(x) * len(more) * (40 in more) + order(sorted(left), sorted(more))

    assert st.compile(loss)(X) == loss(X)


@pytest.mark.parametrize(
    "make",
    [
        lambda held: held | {5, 13},
        lambda held: held - {33},
        lambda held: held.copy(),
        lambda held: {5}.union(held),
        lambda held: copy.deepcopy(held),
        lambda held: {*held, 13},
    ],
)
def test_the_order_of_a_set_made_from_a_captured_one(make):
    held = {1, 33, 65, 97, 8}

    def loss(x):
        return np.sum(x) * order(make(held))

    def rebuilt():
        nonlocal held
        held = {*[97, 65, 33, 1, 8]}

    before = make(held)
    rebuilt()
    assert [*before] != [*make(held)], "else there is nothing to see"
    held = {1, 33, 65, 97, 8}
    assert_follows(loss, rebuilt)


def test_displays_of_a_module_that_is_read_from_its_compiled_file(tmp_path):
    """Constant sets are stored in another order than they are compiled to."""
    (tmp_path / "displays.py").write_text(
        textwrap.dedent(
            """
            import numpy as np, stcompile as st

            def loss(x):
                told = 0
                for item in {97, 65, 33, 1, 8, 40, 72}:
                    told = (told * 31 + item) % 1000003
                kept = {40, 8, 72, 104, 136, 7}
                for item in kept:
                    told = (told * 31 + item) % 1000003
                return np.sum(x) * told

            if __name__ != "__main__":
                X = np.ones(2)
                assert st.compile(loss)(X) == loss(X), "another order"
                print(loss(X))
            """
        )
    )
    environment = {**os.environ, "STCOMPILE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", "import displays"]
    for _ in range(2):
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
