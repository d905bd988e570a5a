"""What NumPy does to booleans where other numbers stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.programs import assert_same

X = np.array([0.3, -0.2, 0.0])
FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: np.conj(x > 0.1),
    lambda x: np.conjugate(x[0] > 0.1),
    lambda x: (x > 0.1).conj(),
    lambda x: (x > 0.1) + (x > 0.2),
    lambda x: (x > 0.1) * np.int8(2),
]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_like_numpy(function: Callable[[Any], Any], level: Any) -> None:
    assert_same(st.compile(function, level=level)(X), function(X), "the result")


@pytest.mark.parametrize("function", [lambda x: +(x > 0.1), lambda x: np.positive(x > 0.1)])
def test_what_numpy_refuses_is_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        function(X)
    with pytest.raises(st.TypingError, match="NumPy has no"):
        st.compile(function)(X)
