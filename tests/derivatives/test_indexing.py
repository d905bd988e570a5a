"""Rules of slices, indices, updates and accumulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.codegen_templates.derivatives import DERIVATIVES
from tests.derivatives.numeric import check_rule, cotangents

X = np.linspace(-1, 1, 20).reshape(4, 5)
PARTS = [
    # start, length, step, drop; counters 1 and 2
    {"start": ((1,), (0,)), "length": (2, 5), "step": (1, 1), "drop": ()},
    {"start": ((3,), (2,)), "length": (1, 2), "step": (1, 2), "drop": (0,)},
    {"start": ((3,), (4,)), "length": (4, 3), "step": (-1, -2), "drop": ()},
    {"start": ((0, 1, 0), (0, 0, 2)), "length": (1, 1), "step": (1, 1), "drop": (0, 1)},
    {"start": ((1, -1, 1), (0, 2, 0)), "length": (3, 3), "step": (-1, 1), "drop": ()},
    {"start": ((0,), (0,)), "length": (0, 5), "step": (1, 1), "drop": ()},
]
WINDOWS: list[dict[str, Any]] = [
    {"axis": axis, "start": start, "count": count, "step": step, "size": size, "dilation": gap,
     "order": order}
    for axis, start, count, step, size, gap, order in [
        ((0, 1), (0, 0), (3, 3), (1, 1), (2, 3), (1, 1), ()),
        ((1,), (1,), (2,), (2,), (2,), (1,), ()),
        ((1, 0), (0, 1), (2, 2), (1, 1), (2, 2), (3, 1), (3, 1, 0, 2)),
        ((0,), (0,), (0,), (1,), (2,), (1,), ()),
    ]
]  # fmt: skip
ROWS, COLUMNS = np.array([0, 2, 2, 0]), np.array([1, -1, 4, 3])
INDICES: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [
    ((ROWS,), ("index",)),
    ((2,), ("index",)),
    ((ROWS, COLUMNS), ("index", "index")),
    ((COLUMNS[:, None],), ((3, 2, -2), "index")),
    ((ROWS, np.int64(1)), ("index", "new", "index")),
    ((np.array(1), -2), ("index", "index")),
]


def counters(params: dict[str, Any]) -> tuple[int, ...]:
    return (1, 2) if max(map(len, params["start"])) > 1 else ()


def part_dims(params: dict[str, Any]) -> tuple[int, ...]:
    return tuple(n for i, n in enumerate(params["length"]) if i not in params["drop"])


@pytest.mark.parametrize("params", PARTS)
def test_slices(params: dict[str, Any]) -> None:
    inputs = counters(params)
    dims = part_dims(params)
    v = np.full(dims, 0.5) if dims else np.float64(0.5)
    check_rule("slice", (X, *inputs), params)
    check_rule("update", (X, v, *inputs), params)
    check_rule("update", (X, np.float64(2), *inputs), params)
    check_rule("accumulate", (X, v, *inputs), {"op": "slice", **params})


@pytest.mark.parametrize("params", WINDOWS)
def test_windows(params: dict[str, Any]) -> None:
    check_rule("windows", (X,), params)


def test_a_wrong_rule_of_windows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def once(d_x: Any, d_out: Any, **params: Any) -> Any:
        part = d_x[params["start"][0] :]
        part[: params["count"][0]] += d_out[..., 0]  # the first element of each window alone
        return d_x

    once.__dict__["mark"] = "accumulates"
    monkeypatch.setitem(DERIVATIVES, "windows", once)  # type: ignore[arg-type]
    params = {"axis": (0,), "start": (0,), "count": (3,), "step": (1,), "size": (2,),
              "dilation": (1,), "order": ()}  # fmt: skip
    with pytest.raises(AssertionError):
        check_rule("windows", (X[:, 0].copy(),), params)


@pytest.mark.parametrize(("indices", "at"), INDICES)
def test_indices(indices: tuple[Any, ...], at: tuple[Any, ...]) -> None:
    check_rule("index", (X, *indices), {"at": at})
    check_rule("index_update", (X, np.float64(2), *indices), {"at": at})
    check_rule("accumulate", (X, np.float64(2), *indices), {"op": "index", "at": at})


def test_what_was_written_has_a_cotangent_of_its_own() -> None:
    """The cotangents of an update may be changed in place: none is a view of another."""
    d_out = np.ones_like(X)
    d_x, d_v = DERIVATIVES["update"](X, X, X[1:3], (), d_out, **PARTS[0])
    assert not np.shares_memory(d_v, d_out) and not np.shares_memory(d_x, d_out)


def test_accumulates_onto_what_is_there() -> None:
    """The rule adds to the cotangent it is handed, twice for an element that is read twice."""
    d_x = DERIVATIVES["index"](np.ones(3), np.ones(4), (np.array([0, 2, 2, 0]),), at=("index",))
    np.testing.assert_array_equal(d_x, [3, 1, 3])


def test_the_last_write_wins() -> None:
    i = np.array([0, 2, 0, 1])
    check_rule("index_update", (X, np.arange(20.0).reshape(4, 5), i), {"at": ("index",)})
    _, d_v, _ = cotangents("index_update", (X[0], np.ones(4), i), np.ones(5), {"at": ("index",)})
    np.testing.assert_array_equal(d_v, [0, 1, 1, 1])


def test_the_cotangent_is_left_alone() -> None:
    d_out = np.ones((4, 5))
    DERIVATIVES["update"](None, X, 1.0, (), d_out, **PARTS[0])
    DERIVATIVES["index_update"](None, X, 1.0, (ROWS,), d_out, at=("index",))
    assert np.all(d_out == 1)


def test_accumulate() -> None:
    check_rule("accumulate", (X, X[0]), {"op": "add"})
    check_rule("accumulate", (np.float64(1), np.float64(2)), {"op": "add"})
    params = {"op": "contract", "batch": (), "contracted": ((0, 0),), "order": (), "spelling": ""}
    check_rule("accumulate", (X[:, :4], X[:, 1:], X[:, :4]), {**params, "order": (1, 0)})
    check_rule("accumulate", (X[:4, :4], X[:, 1:], X[:, :4]), params)
