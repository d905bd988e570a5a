"""Functions by position, and what is made of them, against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base import trees
from stcompile.base.errors import ArgumentsError, LanguageError
from stcompile.interop.leaves import Known, Structured, is_array
from tests.interop import models


def numbers(result: Any) -> list[Any]:
    """The floating-point leaves of a result."""
    leaves = (np.asarray(x) for _, x in trees.leaves(result) if is_array(x))
    return [x for x in leaves if x.dtype.kind == "f"]


def moved(of: Any, leaves: Any, tangents: Any, h: float = 1e-6) -> list[Any]:
    """The tangents of the floating-point leaves, by central differences."""

    def at(step: float) -> list[Any]:
        every = enumerate(leaves)
        return numbers(of(*(x + step * tangents[i] if i in tangents else x for i, x in every)))

    ahead, behind = at(h), at(-h)
    return [(one - other) / (2 * h) for one, other in zip(ahead, behind, strict=True)]


CASES = {
    "layer": (models.layer, (models.PARAMS, models.X, 2), (0, 2)),
    "one of them": (models.layer, (models.PARAMS, models.X, 2), (1,)),
    "branches": (models.branches, (np.array([0.5, -0.3, 1.2]), 0.7), (0, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_pullbacks_and_pushforwards(case: str) -> None:
    function, arguments, wrt = CASES[case]
    of, leaves = Structured(function, None).apart(arguments, {})
    rng = np.random.default_rng(1)
    tangents = {at: rng.normal(size=np.shape(leaves[at])) for at in wrt}
    vectors = [rng.normal(size=x.shape) for x in numbers(of(*leaves))]
    expected = moved(of, leaves, tangents)
    found = of.pushforward(wrt)(*leaves, *tangents.values())
    assert all(np.allclose(x, y, atol=1e-7) for x, y in zip(found, expected, strict=True))
    pullback = of.pullback(wrt, len(vectors))
    pulled = pullback(*leaves, *vectors)
    assert len(pulled) == len(wrt)
    inner = sum(np.sum(x * v) for x, v in zip(expected, vectors, strict=True))
    assert np.isclose(inner, sum(np.sum(x * t) for x, t in zip(pulled, tangents.values())))
    value, kept = of.with_residuals(wrt)(*leaves)
    assert all(map(np.array_equal, numbers(value), numbers(of(*leaves))))
    assert all(np.allclose(x, y) for x, y in zip(kept(*vectors), pulled, strict=True))
    # The pullback is a function like any other.
    second = moved(lambda *x: pullback(*x), [*leaves, *vectors], tangents)
    again = pullback.pushforward(wrt)(*leaves, *vectors, *tangents.values())
    assert all(np.allclose(x, y, atol=1e-6) for x, y in zip(again, second, strict=True))


def test_what_is_not_wanted_is_not_computed() -> None:
    of, leaves = Structured(models.layer, None).apart((models.PARAMS, models.X, 0), {})
    vectors = numbers(of(*leaves))
    source = str(of.pullback((1,), 3).compiled.source(*leaves, *vectors))
    assert "d_b" in source
    assert not {"d_W", "d_x"} & set(source.replace("(", " ").split())


def test_batches_have_the_items_in_front() -> None:
    of, leaves = Structured(models.layer, None).apart((models.PARAMS, models.X, 2), {})
    xs = np.stack([models.X, 2 * models.X, -models.X], axis=1)
    outputs, total = of.batched((None, None, 1, None))(models.W, models.B, xs, 2)
    one = models.layer(models.PARAMS, -models.X, 2)
    assert np.allclose(outputs["y"][2], one[0]["y"]) and np.allclose(total[2], one[1])
    assert outputs["steps"] == 2 and outputs["best"].shape == (3, 4)
    assert leaves[3] == 2


def test_arguments_are_left_as_they_are() -> None:
    x, items, table = np.array([0.5, -0.3, 1.2]), [np.ones(2)], {"a": 1.0}

    def changes(items: Any, table: Any) -> Any:
        items.append(items[0] * 2)
        table["a"] = 3.0
        items[0][0] = 5.0
        return items[0] + items[1] * table["a"]

    of, leaves = Structured(models.branches, None).apart((x, 0.7), {})
    assert of(*leaves)[1] == 2.0 and x[0] == 0.5
    of, leaves = Structured(changes, None).apart((items, table), {})
    assert np.array_equal(of(*leaves), [11.0, 7.0])
    assert len(items) == 1 and items[0][0] == 1.0 and table == {"a": 1.0}


def test_results_share_no_memory_with_arguments() -> None:
    of, leaves = Structured(lambda x: (x, x.T, x[0]), None).apart((np.ones((2, 2)),), {})
    assert not any(np.shares_memory(one, leaves[0]) for one in of(*leaves))


def test_structures_are_told_apart() -> None:
    length = Structured(lambda x, y: np.asarray(float(len(x) - len(y))), None)
    for arguments in (([1.0], [1.0, 2.0]), ([1.0, 2.0], [1.0]), ([], [1.0, 2.0]), ({}, (1.0,))):
        of, leaves = length.apart(arguments, {})
        assert of(*leaves) == len(arguments[0]) - len(arguments[1])


def test_outlines_are_found_without_a_call() -> None:
    of, leaves = Structured(models.layer, None).apart((models.PARAMS, models.X, 2), {})
    known = Known(of, {3: 2})
    like = [np.broadcast_to(np.float32(0), x.shape) for x in leaves[:3]]
    outputs, total = known.outline(like)
    assert outputs["y"].shape == (4, 3) and outputs["y"].dtype == np.float32
    assert outputs["steps"] == 2 and total.shape == ()
    singular, _ = Structured(lambda x: np.linalg.inv(x), None).apart((np.ones((2, 2)),), {})
    assert singular.outline(np.zeros((2, 2))).shape == (2, 2)


def test_only_so_many_known_numbers_are_kept() -> None:
    scaled = Structured(lambda x, s: x * s, None)
    operand = lambda leaf: isinstance(leaf, np.ndarray)  # noqa: E731
    for scale in np.linspace(0.0, 1.0, 100).tolist():
        known, leaves = scaled.known((models.B, scale), {}, operand)
        assert np.array_equal(known.call(leaves)[0], models.B * scale)
    assert len(scaled._known) == 64
    assert scaled.known((models.B, 1.0), {}, operand)[0] is known


def test_a_shape_that_data_decide_has_no_outline() -> None:
    of, _ = Structured(lambda x: x[x > 0], None).apart((models.B,), {})
    with pytest.raises(LanguageError, match="depends on the data"):
        of.outline(models.B)


def test_functions_for_other_arrays_are_refused() -> None:
    made = st.differentiable(xp=np)(lambda x: x * x)
    with pytest.raises(ArgumentsError, match="arrays of numpy"):
        Structured(made, None)


def test_code_of_the_cache_is_for_the_very_derivative(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STCOMPILE_CACHE", str(tmp_path / "cache"))
    for _ in range(2):
        of, leaves = Structured(models.layer, None).apart((models.PARAMS, models.X, 0), {})
        vectors = numbers(of(*leaves))
        for wrt in ((0,), (1,), (0, 1)):
            found = of.pullback(wrt, 3)(*leaves, *vectors)
            assert [x.shape for x in found] == [leaves[at].shape for at in wrt]
    assert st.cache_state().entries == 4
