"""What the library looks like in generated code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st

nn = st.nn
X = np.linspace(-2, 2, 12).reshape(3, 4)


def readable(function: Any, *args: Any) -> str:
    return st.value_and_grad(function, level="readable").source(*args)


def test_constants_of_formulas_are_literals() -> None:
    """Neither defaults nor coefficients are arguments of the generated function."""

    def total(x: Any) -> Any:
        y = nn.layer_norm(nn.elu(nn.leaky_relu(x)), np.ones(4), np.zeros(4))
        return np.sum(nn.gelu(y))

    source = readable(total, X)
    assert "def total_value_and_grad(x):" in source
    assert "1e-05" in source and "0.01" in source and "1.2375126308378275" in source


def test_a_default_of_the_user_is_still_an_argument() -> None:
    def slope(x: Any, by: float = 0.3) -> Any:
        return nn.leaky_relu(x, by)

    def total(x: Any) -> Any:
        return np.sum(slope(x))

    assert "by_of_slope=0.3" in readable(total, X)


def test_comments_show_the_user_s_lines() -> None:
    def total(x: Any) -> Any:
        return np.sum(nn.silu(x))

    comments = [
        line.partition("py:")[2].partition("  ")[2]
        for line in readable(total, X).splitlines()
        if "py:" in line
    ]
    assert set(comments) == {"return np.sum(nn.silu(x))"}


def test_reports_name_functions_as_users_call_them() -> None:
    def flat(x: Any) -> Any:
        return np.sum(nn.softmax(x))

    text = str(st.explain(flat, np.zeros((2, 4))))
    assert "`softmax` at" in text


def test_a_gradient_goes_through_what_a_formula_needs_only() -> None:
    """Of sigmoid its result; of huber the clipped residual; of layer_norm two sums."""

    def of_sigmoid(x: Any) -> Any:
        return np.sum(nn.sigmoid(x))

    def of_huber(x: Any) -> Any:
        return nn.huber(x, np.zeros((3, 4)))

    def of_layer_norm(x: Any) -> Any:
        return np.sum(nn.layer_norm(x, np.ones(4), np.zeros(4)) ** 2)

    assert "d_x = y * (1 - y)" in readable(of_sigmoid, X)
    assert "d_x = 1 / 12 * clipped" in readable(of_huber, X)
    adjoint = readable(of_layer_norm, X).split("# --- adjoint")[1]
    assert adjoint.count("= np.sum(") == 2
    assert "centred" not in adjoint and "variance" not in adjoint


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_exported_files_need_no_stcompile(level: str, tmp_path: Path) -> None:
    @st.differentiable(level=level)
    def total(x: Any, ids: Any) -> Any:
        y = nn.layer_norm(nn.gelu(nn.embedding(x, ids)), np.ones(4), np.zeros(4))
        return np.sum(nn.softmax(nn.sigmoid(y)) * np.arange(4))

    path = tmp_path / "exported.py"
    total.export(path, X, np.array([0, 2, 2]))
    assert "import stcompile" not in path.read_text(encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-I", "-W", "error", str(path)], capture_output=True, text=True, cwd="/"
    )
    assert ran.returncode == 0, ran.stderr
