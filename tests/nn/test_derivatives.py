"""Every function of `st.nn` against finite differences, and in float32."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.custom_rule import CustomRule
from tests.nn.cases import CASES, Case
from tests.nn.checks import LEVELS, check_float32, check_gradient, check_second

WITHOUT_DERIVATIVE = {
    *("dropout_mask", "glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "orthogonal")
}
MODULES = [
    importlib.import_module(f"stcompile.nn.{module.name}")
    for module in pkgutil.iter_modules(st.nn.__path__)
]


def named(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", CASES, ids=named)
def test_gradient(case: Case, level: str) -> None:
    check_gradient(case, level)


@pytest.mark.parametrize("case", [c for c in CASES if not c.kinks], ids=named)
def test_second_derivative(case: Case) -> None:
    if "long" not in case.name:  # of the same formula as the short ones
        check_second(case)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_float32_stays_float32(case: Case) -> None:
    check_float32(case)


def test_every_function_is_checked() -> None:
    here = {
        name
        for name in st.nn.__all__
        if getattr(st.nn, name) in [v for m in MODULES for v in vars(m).values() if callable(v)]
    }
    source = inspect.getsource(inspect.getmodule(Case))  # type: ignore[arg-type]
    used = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
    assert here - WITHOUT_DERIVATIVE <= used


# --- the checks themselves -----------------------------------------------------------------------

RULES = {
    name: rule
    for module in MODULES
    for name, rule in vars(module).items()
    if isinstance(rule, CustomRule) and rule.forward.__module__ == module.__name__
}
COVERED_BY = {
    "_gelu_tanh": "gelu, tanh",
    "_normalise": "layer_norm",
    "_huber_elements": "huber",
}


def slightly_wrong(right: Any) -> Any:
    """A rule whose first cotangent is off by a thousandth in places."""

    def wrong(residuals: Any, *cotangents: Any) -> Any:
        found = right(residuals, *cotangents)
        if isinstance(found, tuple):
            return (found[0] * (1 + 1e-3 * (found[0] > 0)), *found[1:])
        return found * (1 + 1e-3 * (found > 0))

    return wrong


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_slightly_wrong_rule_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (case,) = [c for c in CASES if c.name == COVERED_BY.get(name, name)]
    check_gradient(case, "readable")
    monkeypatch.setattr(RULES[name], "backward", slightly_wrong(RULES[name].backward))
    with pytest.raises(AssertionError, match="Mismatched elements"):
        check_gradient(case, "readable")


def test_a_wrong_further_cotangent_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    (case,) = [c for c in CASES if c.name == "learned leaky_relu"]

    def wrong(residuals: Any, d_y: Any) -> Any:
        x, slope = residuals
        return np.where(x > 0, d_y, slope * d_y), 1.001 * d_y * np.minimum(x, 0)

    monkeypatch.setattr(st.nn.leaky_relu, "backward", wrong)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        check_gradient(case, "readable")
