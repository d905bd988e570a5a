"""The adjoint of contractions over random pairings of axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.derivatives.numeric import check_rule

DIMS = {"b": 2, "c": 3, "k": 2, "l": 3, "i": 2, "j": 3, "m": 2, "n": 1}


def contraction(left: str, right: str, order: Any, batch: str = "bc") -> tuple[Any, Any, Any]:
    """Operands whose axes are letters; shared letters are batch or contracted."""
    rng = np.random.default_rng(len(left) + 7 * len(right))
    x, y = (rng.normal(size=[DIMS[n] for n in names]) for names in (left, right))
    shared = [n for n in left if n in right]
    pairs = {n: (left.index(n), right.index(n)) for n in shared}
    params = {
        "batch": tuple(pairs[n] for n in shared if n in batch),
        "contracted": tuple(pairs[n] for n in shared if n not in batch),
        "order": order,
        "spelling": "",
    }
    return x, y, params


@st.composite
def contractions(draw: Callable[..., Any]) -> Any:
    shared = draw(st.sets(st.sampled_from("bckl"), max_size=3).map(sorted))
    left = draw(st.permutations([*shared, *draw(st.sampled_from(("", "i", "ij")))]))
    right = draw(st.permutations([*shared, *draw(st.sampled_from(("", "m", "mn")))]))
    ndim = len(left) + len(right) - len(shared) - sum(n in "kl" for n in shared)
    order = draw(st.sampled_from(((), tuple(draw(st.permutations(range(ndim)))))))
    return "".join(left), "".join(right), order


@given(contractions())
def test_random_contractions(case: Any) -> None:
    if case[0] and case[1]:
        x, y, params = contraction(*case)
        check_rule("contract", (x, y), params)


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        ("ik", "km", ()),
        ("ik", "km", (1, 0)),
        ("ki", "mk", ()),
        ("k", "km", ()),
        ("ik", "k", ()),
        ("k", "k", ()),
        ("i", "m", ()),
        ("kl", "lk", ()),
        ("bik", "bkm", ()),
        ("bki", "bmk", (0, 2, 1)),
        ("ijk", "km", ()),
        ("b", "b", ()),
        ("bi", "b", (1, 0)),
    ],
)
def test_common_contractions(left: str, right: str, order: Any) -> None:
    x, y, params = contraction(left, right, order)
    check_rule("contract", (x, y), params)


@pytest.mark.parametrize(
    "subscripts",
    [
        *("ii->", "ii->i", "iij->j", "iii->i", "ij->", "ij->j", "ij->ji", "iji->j"),
        *("ij,jk,kl->il", "i,i,i->", "i,j,k->kji", "ii,jk->k", "ij,kl->il", "iij,ji,j->i"),
    ],
)
def test_einsum(subscripts: str) -> None:
    rng = np.random.default_rng(len(subscripts))
    sizes = {"i": 2, "j": 3, "k": 2, "l": 3}
    terms = subscripts.partition("->")[0].split(",")
    xs = tuple(rng.normal(size=[sizes[name] for name in term]) for term in terms)
    check_rule("einsum", xs, {"subscripts": subscripts})


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(6, 3), (3, 6), (5, 4), (4, 4), (3, 1)])
def test_convolutions(sizes: tuple[int, int], mode: str) -> None:
    x, y = (np.linspace(-1, 2, size) ** 2 - 0.3 for size in sizes)
    check_rule("convolve", (x, y), {"mode": mode})
