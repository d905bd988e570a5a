"""The evaluation trace, and the Wengert list as text."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify


@st.differentiable(wrt=("x1", "x2"))
def worked(x1, x2):
    return np.log(x1) + x1 * x2 - np.sin(x2)


TABLE = """\
primal trace ↓                              │ adjoint trace ↑   (d_v = dy/dv)
────────────────────────────────────────────┼────────────────────────────────────────────────
x1 = 2                                      │ d_x1 = 5.5
x2 = 5                                      │ d_x2 = 1.7163
v1 = log(x1) = log(2) = 0.69315             │ d_x1 += d_v1 * ∂v1/∂x1 = 0.5 → 5.5
v2 = x1 * x2 = 2 * 5 = 10                   │ d_x2 += d_v2 * ∂v2/∂x2 = 2 → 1.7163
                                            │ d_x1 = d_v2 * ∂v2/∂x1 = 5
v3 = v1 + v2 = 0.69315 + 10 = 10.693        │ d_v2 = d_v3 * ∂v3/∂v2 = 1
                                            │ d_v1 = d_v3 * ∂v3/∂v1 = 1
v4 = sin(x2) = sin(5) = -0.95892            │ d_x2 = d_v4 * ∂v4/∂x2 = -0.28366
v5 = v3 - v4 = 10.693 - (-0.95892) = 11.652 │ d_v4 = d_v5 * ∂v5/∂v4 = -1
                                            │ d_v3 = d_v5 * ∂v5/∂v3 = 1
y = v5 = 11.652                             │ d_v5 = d_y = 1"""


def test_the_table_of_the_textbooks() -> None:
    """y = ln(x1) + x1 x2 − sin(x2) at (2, 5): Baydin et al. 2018, tables 2 and 3."""
    assert str(worked.trace(2.0, 5.0)) == TABLE


def test_its_numbers() -> None:
    trace = worked.trace(2.0, 5.0)
    assert trace.value == pytest.approx(11.652, abs=5e-4)
    assert trace.gradient == pytest.approx((5.5, 1.716), abs=5e-4)
    value, gradient = worked.value_and_grad(2.0, 5.0)
    assert trace.value == value
    assert trace.gradient == pytest.approx(gradient, rel=1e-15)


def test_rows_can_be_read_one_by_one() -> None:
    rows = worked.trace(2.0, 5.0).rows
    assert rows[0].primal == "x1 = 2"
    assert rows[-1].adjoint == ("d_v5 = d_y = 1",)
    assert [row.primal.split(" = ")[0] for row in rows] == [
        *["x1", "x2", "v1", "v2", "v3", "v4", "v5", "y"]
    ]


def layer(params, x, scale=2.0):
    h = np.tanh(x @ params["w"])
    return np.mean(h * h) * scale


W, X = np.ones((3, 2)), np.ones((4, 3), np.float32)


def test_arrays_are_shown_by_shape() -> None:
    trace = st.differentiable(layer).trace({"w": W}, X)
    text = str(trace)
    assert "float64[3, 2] |·|=2.449" in text
    assert "float32[4, 3] |·|=3.464" in text
    assert "h = tanh(v1) = float64[4, 2]" in text, "names of the user are kept"
    assert all(
        line.count("│") + line.count("┼") == 1 for line in text.replace("|·|", "").splitlines()
    )
    np.testing.assert_allclose(trace.gradient[0], st.grad(layer)({"w": W}, X)["w"])


def test_only_what_wrt_names_has_adjoints() -> None:
    text = str(st.differentiable(wrt="x2")(worked.function).trace(2.0, 5.0))
    assert "d_x2 = 1.7163" in text
    assert "d_x1" not in text


def test_functions_in_functions_and_custom_rules() -> None:
    def f(x, y):
        return st.nn.softmax_cross_entropy(layer({"w": x}, X) * x, y)

    x, y = np.ones((3, 2)), np.array([0, 1, 1])
    trace = st.differentiable(f).trace(x, y)
    np.testing.assert_allclose(trace.gradient[0], st.grad(f)(x, y))
    assert trace.value == f(x, y)


# --- the Wengert list ----------------------------------------------------------------------------


def test_the_list_prints_and_parses() -> None:
    for program in (
        worked.wengert(2.0, 5.0),
        st.differentiable(layer).wengert({"w": W}, X),
        worked.value_and_grad.program(2.0, 5.0),
        st.grad(layer).program({"w": W.astype(np.float32)}, X),
    ):
        verify(program)
        assert parse_program(str(program)) == program


def test_the_list_of_the_worked_example() -> None:
    assert (
        str(worked.wengert(2.0, 5.0))
        == """\
program worked(x1: float, x2: float) {
  v1: f64 = log(x1)
  v2: float = multiply(x1, x2)
  v3: f64 = add(v1, v2)
  v4: f64 = sin(x2)
  v5: f64 = subtract(v3, v4)
  return v5
}"""
    )
