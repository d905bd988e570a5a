"""Lists of what masks and slices of the data select, which loops of many steps make."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.control.checks import assert_at_the_users_line
from tests.programs import Examples, check_gradient

examples = Examples()
LEVELS = ("readable", "fast", "compiled")
X = np.cos(np.arange(20.0))
OBS = np.sin(np.arange(120.0))
EVEN = np.repeat(np.arange(20), 6)
RAGGED = np.repeat(np.arange(20), [6] * 10 + [3, 9, 0, 12, 6, 6, 0, 12, 6, 6])


@examples(X, EVEN, OBS)
@examples(X, RAGGED, OBS)
def groups(x, group, obs):
    residuals = []
    for c in range(20):
        residuals.append(x[c] - obs[group == c])
    return np.sum(np.concatenate(residuals) ** 2)


@examples(X, EVEN, OBS)
@examples(X, RAGGED, OBS)
def the_last_group(x, group, obs):
    for c in range(20):
        last = x[c] - obs[group == c]
    return np.sum(last**2)


@examples(X, RAGGED, OBS)
def groups_with_sums(x, group, obs):
    found = []
    for c in range(20):
        chosen = x[c] * obs[group == c]
        found.append((chosen, np.sum(chosen), len(chosen)))
    total = 0.0
    for chosen, sums, count in found:
        total = total + np.sum(chosen * sums) * count
    return total


@examples(X, RAGGED, OBS)
def parts_of_the_data(x, group, obs):
    parts = [x[: group[c * 5]] * x[c] for c in range(20)]
    return np.sum(np.concatenate(parts) ** 2)


@examples(X, RAGGED, OBS)
def different_elements(x, group, obs):
    found = [np.unique(x[group[c * 6 : c * 6 + 4]]) for c in range(20)]
    return np.concatenate(found)


test_program = examples.tests()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("group", [EVEN, RAGGED], ids=["even", "ragged"])
def test_groups(level, group):
    value, gradient = st.value_and_grad(groups, level=level)(X, group, OBS)
    np.testing.assert_allclose(value, groups(X, group, OBS), rtol=1e-12)
    check_gradient(groups, (X, group, OBS), 0, gradient)


def test_a_loop_that_is_too_long_to_be_written_out():
    """Only the loop knows how long each item is; the refusal says so, where the list is read."""

    def many(x, group, obs):
        found = []
        for c in range(600):
            found.append(x[c % 20] * obs[group == c % 20])
        return np.sum(np.concatenate(found))  # here

    with pytest.raises(st.LanguageError, match="known only inside") as caught:
        st.grad(many)(X, EVEN, OBS)
    assert_at_the_users_line(caught.value, many)
