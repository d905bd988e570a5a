"""The checks find a rule that is wrong by a twentieth of a per cent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from stcompile.ad import rules
from stcompile.codegen_templates.derivatives import DERIVATIVES
from stcompile.codegen_templates.marks import accumulates, adjoint, partials
from tests.gradients.cases import CASES
from tests.gradients.checks import check_case, check_float32, check_second

RIGHT = dict(DERIVATIVES)


@partials
def tanh(out, x):
    return 1.0005 * RIGHT["tanh"](out, x)


@partials
def multiply(out, x, y):
    d_x, d_y = RIGHT["multiply"](out, x, y)
    return d_x, 1.0005 * d_y


@adjoint
def mean(out, x, d_out, *, axis, keepdims):
    return 1.0005 * RIGHT["mean"](out, x, d_out, axis=axis, keepdims=keepdims)


@adjoint
def contract(out, x, y, d_out, *, batch, contracted, order, spelling):
    d_x, d_y = RIGHT["contract"](
        out, x, y, d_out, batch=batch, contracted=contracted, order=order, spelling=spelling
    )
    return 1.0005 * d_x, d_y


@accumulates
def index(d_x, d_out, indices, *, at):
    return RIGHT["index"](d_x, 1.0005 * d_out, indices, at=at)


ARGUMENTS = {
    "tanh": (np.array([0.3, -0.8]),),
    "multiply": (np.array([0.3, -0.8]), np.array([1.5])),
    "mean": (np.array([[0.3, -0.8]]), 1, False),
    "x @ y": (np.array([[0.3, -0.8]]), np.array([[1.0], [2.0]])),
    "x[i]": (np.array([0.3, -0.8]), np.array([1, 1])),
}
NAMES = {"x @ y": "contract", "x[i]": "index"}
BY_NAME = {case.name: case for case in CASES}


@pytest.fixture(autouse=True)
def fresh_rules() -> Iterator[None]:
    """Rules are lowered once and kept."""
    rules._rule.cache_clear()
    yield
    rules._rule.cache_clear()


@pytest.mark.parametrize("name", ARGUMENTS)
def test_right(name: str) -> None:
    for check in (check_case, check_second, check_float32):
        check(BY_NAME[name], ARGUMENTS[name])


@pytest.mark.parametrize("name", ARGUMENTS)
def test_wrong(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    primitive = NAMES.get(name, name)
    monkeypatch.setitem(DERIVATIVES, primitive, globals()[primitive])
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_case(BY_NAME[name], ARGUMENTS[name])


def test_wrong_type_of_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient of another dtype or shape is found, however right its numbers are."""
    from tests.gradients import checks

    x = np.ones((2, 1))
    checks.assert_fits(x, x)
    for other in (x.astype(np.float32), x[0], 1.0, np.float64(1)):
        with pytest.raises(AssertionError):
            checks.assert_fits(other, x)


def test_wrong_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """One unit in the last place is not the same value."""
    from tests.programs import assert_same

    with pytest.raises(AssertionError):
        assert_same(np.nextafter(1.0, 2.0), np.float64(1.0), "the value")


def test_wrong_second_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong rule that only second derivatives meet: that of the cosine, in the rule of sin."""

    @partials
    def cos(out, x):
        return 1.0005 * RIGHT["cos"](out, x)

    monkeypatch.setitem(DERIVATIVES, "cos", cos)
    args: Any = (np.array([0.3, -0.8]),)
    check_case(BY_NAME["sin"], args)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_second(BY_NAME["sin"], args)
