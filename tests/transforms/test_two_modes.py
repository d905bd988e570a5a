"""The slope along a direction by both modes: equal where the gradient is right, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms import gradient as gradients
from stcompile.transforms.check import FORWARD, compared
from stcompile.transforms.custom_rule import CustomRule
from stcompile.transforms.gradient import Gradient

X = np.array([0.5, 1.5, -0.25, 2.0])


def at_a_kink(x):
    return np.sum(np.abs(x - 1.5)) + np.max(x * np.array([1.0, 0.0, 0.0, 0.25]))


def written(x):
    x[1:] *= x[0]
    return np.sum(np.sin(x))


def structured(params, i, *, scale=2.0):
    return np.sum(params["w"][i] * params["b"]) * scale


def of_complex_numbers(z):
    return np.sum(np.abs(z) ** 2) + np.sum(np.real(z * z))


def drawn(x, rng):
    return np.sum(x * rng.standard_normal(4))


CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (at_a_kink, (X,), {}),
    (written, (X,), {}),
    (structured, ({"w": X, "b": 0.5}, np.array([0, -1, 0])), {"scale": 3.0}),
    (of_complex_numbers, (X[:2] + 1j * X[2:],), {}),
    (drawn, (X, np.random.default_rng(0)), {}),
]


def beside_forward(gradient: Any, arguments: Any, keywords: Any = {}) -> Any:
    found = compared(gradient, arguments, keywords)
    assert not found.without_forward
    return [m for m in found.entries if m.beside == FORWARD]


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: str(call[0].__name__))
def test_both_modes_agree(call: Any, level: Any) -> None:
    function, arguments, keywords = call
    gradient: Any = st.value_and_grad(function, level=level)
    found = beside_forward(gradient, arguments, keywords)
    assert found and all(m.is_within(1e-9) for m in found), found
    assert found[0].gradient != 0.0


def test_an_adjoint_that_is_a_little_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where differences show nothing, because the function has a kink there."""
    call = Gradient.__call__

    def wrong(self: Any, *arguments: Any, **keywords: Any) -> Any:
        value, gradient = call(self, *arguments, **keywords)
        return value, gradient * (1 + 1e-6)

    monkeypatch.setattr(gradients.Gradient, "__call__", wrong)
    (found,) = beside_forward(st.value_and_grad(at_a_kink), (X,))
    assert not found.is_within(1e-5)
    assert "along a random direction is" in str(found.refusal())
    with pytest.raises(AssertionError, match="but forward mode gives"):
        st.testing.assert_gradients(lambda x: np.sum(np.sin(x)), X)


def _positive(x, d_y):
    if d_y[0] > 0.0:
        return 2.0 * d_y
    return np.zeros_like(x)


doubled = CustomRule(lambda x: (x * 2.0, x), _positive)


def test_what_forward_mode_refuses_is_said() -> None:
    """An adjoint that takes a branch by the cotangent has no transpose."""
    gradient: Any = st.value_and_grad(lambda x: np.sum(doubled(x)))
    found = compared(gradient, (X,), {})
    assert "linear" in found.without_forward
    assert found.entries and all(m.beside != FORWARD for m in found.entries)
