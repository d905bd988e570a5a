"""Test the tester: a rule that is slightly wrong is caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.codegen_templates.marks import adjoint, partials
from tests.derivatives.numeric import check_rule

X = np.linspace(0.3, 1.2, 6).reshape(2, 3)


@partials
def tanh(out: Any, x: Any) -> Any:
    return (1 - out * out) * 1.0005


@partials
def multiply(out: Any, x: Any, y: Any) -> Any:
    return y, x * 1.0005


@adjoint
def cumsum(out: Any, x: Any, d_out: Any, *, axis: int) -> Any:
    d_x = np.cumsum(d_out[::-1], axis=axis)[::-1].copy()
    d_x[-1, -1] *= 1.0005
    return d_x


@partials
def exp(out: Any, x: Any) -> Any:
    return None


@pytest.mark.parametrize(
    ("rule", "inputs", "params"),
    [(tanh, (X,), {}), (multiply, (X, X[0]), {}), (cumsum, (X,), {"axis": 0}), (exp, (X,), {})],
)
def test_wrong_rules_fail(rule: Any, inputs: Any, params: Any) -> None:
    check_rule(rule.__name__, inputs, params)
    with pytest.raises(AssertionError):
        check_rule(rule.__name__, inputs, params, rule=rule)
