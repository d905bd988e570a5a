"""Why gradients are zero: every reason, on structures, in second order, through control flow."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies

import stcompile as st
from stcompile.transforms.custom_rule import CustomRule
from stcompile.views.explain import Explanation, explain_tape
from stcompile.views.tape import unfold
from stcompile.wengert.text import parse_program
from tests.gradients.cases import CASES
from tests.gradients.checks import positions, totalled
from tests.gradients.functions.case import Case
from tests.views.test_tape import COND, COUNTED, FIXED, WHILE

X = np.array([1.0, -2.0, 3.0])


def reasons(function: Callable[..., Any], *args: Any, **options: Any) -> dict[str, Any]:
    """By path: the verdict, then the reasons with ``+2`` for two lines below the ``def``."""
    first = inspect.getsourcelines(function)[1]

    def below(text: str) -> str:
        for line in range(first + 30, first - 1, -1):
            text = text.replace(f"test_explain.py:{line}", f"+{line - first}")
        return text

    found = st.explain(function, *args, **options)
    return {r.path: (r.verdict, *(below(c.text) for c in r.causes)) for r in found.rows}


def reason(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    (only,) = reasons(function, *args, **options).values()
    return only


# --- one reason each -----------------------------------------------------------------------------


def test_it_reaches_the_output() -> None:
    def f(x):
        return np.sum(x * x)

    assert reason(f, X) == ("nonzero",)
    assert str(st.explain(f, X)) == (
        "input │ gradient │ why\n"
        "──────┼──────────┼───────────────────\n"
        "x     │ nonzero  │ reaches the output"
    )


def test_not_used() -> None:
    def f(x, y):
        rows = y.shape[0]
        return np.sum(x) * rows

    assert reason(f, X, X, wrt="y") == ("always zero", "not used")


def test_not_used_for_the_result() -> None:
    def f(x, y):
        h = np.sin(y)
        k = h * 2
        assert np.all(k < 10)
        return np.sum(x)

    assert reason(f, X, X, wrt="y") == ("always zero", "not used for the result, only at +1")


def test_a_constant() -> None:
    assert reason(lambda x: 3.0, X) == ("always zero", "not used")


def test_lengths_that_need_numbers() -> None:
    def parts(x: Any, y: Any) -> Any:
        return np.sum(np.prod([np.sum(part) for part in np.split(x, len(x) // 2)])) + np.sum(y**2)

    found = st.explain(parts, np.ones(4), np.ones(6))
    assert list(found.numbers) == ["x.shape[0]"]
    assert "x.shape[0] is compiled for each length, because" in str(found)
    assert "np.split(x, len(x) // 2)" in found.numbers["x.shape[0]"]
    assert not st.explain(lambda x: np.sum(x[::2] ** 2), np.ones(4)).numbers


def test_no_elements() -> None:
    assert reason(lambda x: np.sum(x), np.zeros((0, 2))) == ("always zero", "has no elements")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: np.sum((x > 0) * 1.0), "booleans: `greater`"),
        (lambda x: np.sum(np.where(x, 1.0, 2.0)), "booleans: `not_equal`"),
        (lambda x: np.sum(np.isnan(x) + 1.0), "booleans: `isnan`"),
        (lambda x: np.arange(3.0)[np.argmax(x)], "integers: `argmax`"),
        (lambda x: np.sum(x.astype(int)) * 1.0, "integers: `cast`"),
        (lambda x: int(x[0]) * 1.0, "integers: `to_python`"),
        (lambda x: math.floor(x[0]) * 1.0, "integers: `math.floor`"),
        (lambda x: np.sum(x // 2), "integers: `floor_divide`"),
    ],
)
def test_integers_and_booleans(function: Any, why: str) -> None:
    assert reason(function, X) == ("always zero", f"passes through {why} at +0")


@pytest.mark.parametrize("name", ["sign", "floor", "ceil", "rint", "trunc"])
def test_flat_everywhere(name: str) -> None:
    function = getattr(np, name)

    def f(x):
        return np.sum(function(x) * 2)

    assert reason(f, X) == ("always zero", f"flat: `{name}` at +1")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: np.sum(np.maximum(x, 5)), "flat at this point: `maximum`"),
        (lambda x: np.maximum(x[0], 1.0), "flat at this point: `maximum`"),
        (lambda x: np.sum(np.clip(x, 4, 5)), "flat at this point: `clip`"),
        (lambda x: np.sum(np.where(x > 9, x, 0.0)), "flat at this point: `where`"),
        (lambda x: np.sum(x) * 0.0, "flat at this point: `multiply`"),
        (lambda x: (x[0] - 1) ** 2, "flat at this point: `power`"),
        (lambda x: np.sum(x @ np.zeros((3, 2))), "flat at this point: `matmul`"),
    ],
)
def test_flat_here(function: Any, why: str) -> None:
    assert "passes" not in reason(function, X)[-1]
    assert reason(function, X)[0] == "zero here"
    assert f"{why} at +0" in reason(function, X)


def test_what_is_flat_everywhere_is_named_even_where_nothing_reaches_it() -> None:
    def f(x):
        y = np.floor(x)
        return np.sum(y) * 0.0

    assert reason(f, X) == ("always zero", "flat: `floor` at +1")


def test_where_has_two_reasons() -> None:
    def f(x):
        return np.sum(np.where(x > 9, x * 2, 0.0))

    assert reason(f, X) == (
        "zero here",
        "passes through booleans: `greater` at +1",
        "flat at this point: `where` at +1",
    )


def test_a_tie_is_not_flat_where_both_operands_are_differentiated() -> None:
    def f(x, y):
        return np.sum(np.maximum(x, y))

    assert reasons(f, X, X, wrt=(0, 1)) == {"x": ("nonzero",), "y": ("nonzero",)}
    assert reason(f, X, X)[0] == "zero here"


def test_overwritten() -> None:
    def f(x):
        y = np.zeros(3)
        y[0] = x[0]
        y[:] = 1.0
        return np.sum(y)

    assert reason(f, X) == ("zero here", "overwritten at +3")


def test_contributions_that_cancel() -> None:
    def f(x):
        y = x * 2
        return np.sum(y) - np.sum(y)

    assert reason(f, X) == ("zero here", "what flows back from +2 adds up to zero here")


def test_the_reason_is_far_from_the_input() -> None:
    def layer(x):
        return np.maximum(x, 0)

    def f(w, x):
        h = np.tanh(x * w)
        h = layer(-np.abs(h)) + 1
        return np.log(h[0]) * np.exp(h[1])

    at = inspect.getsourcelines(layer)[1] + 1
    assert reason(f, 2.0, X) == (
        "zero here",
        f"flat at this point: `maximum` at test_explain.py:{at}",
    )


def test_library_functions_are_shown_by_the_users_line() -> None:
    def f(x):
        return st.nn.logsumexp(x * 0.0)

    assert reason(f, X) == ("zero here", "flat at this point: `multiply` at +1")


# --- stopped -------------------------------------------------------------------------------------


def stopped_forward(x, y):
    return np.sum(x * y), (x, y)


def stopped_backward(residuals, d_value):
    _, y = residuals
    return d_value * y, None


stopped = CustomRule(stopped_forward, stopped_backward)


def test_a_rule_without_derivative_stops() -> None:
    def f(x, y):
        return stopped(x, y)

    assert reasons(f, X, X, wrt=(0, 1)) == {
        "x": ("nonzero",),
        "y": ("always zero", "stopped at +1"),
    }


@pytest.mark.skipif(not hasattr(st, "stop_gradient"), reason="there is no stop_gradient")
def test_stop_gradient() -> None:
    def f(x):
        return np.sum(st.stop_gradient(x) * 2)

    assert reason(f, X) == ("always zero", "stopped at +1")


# --- inputs --------------------------------------------------------------------------------------


def test_structures_and_several_arguments() -> None:
    def f(params, x, scale=1.0):
        h = np.maximum(x @ params["layers"][0] + params["b"], 0.0)
        return np.sum(h) * scale

    params = {"layers": [-np.ones((3, 2)), np.ones(2)], "b": np.ones(2), "name": "relu"}
    found = reasons(f, params, np.ones((4, 3)), wrt=("x", "params", "scale"))
    relu = ("zero here", "flat at this point: `maximum` at +1")
    assert found == {
        "x": relu,
        'params["layers"][0]': relu,
        'params["layers"][1]': ("always zero", "not used"),
        'params["b"]': relu,
        "scale": ("zero here", "flat at this point: `multiply` at +2"),
    }
    assert next(iter(found)) == "x", "in the order of wrt"


@pytest.mark.parametrize("x", [2.0, np.float32(2.0), np.array(2.0), np.array(2.0, np.float32)])
def test_numbers_of_every_kind(x: Any) -> None:
    def f(x):
        y = x * 3
        return y - y + np.maximum(x, 7.0) + np.sign(y)

    assert reason(f, x) == (
        "zero here",
        "flat at this point: `maximum` at +2",
        "what flows back from +2 adds up to zero here",
        "flat: `sign` at +2",
    )


def test_captured_values_and_keyword_arguments() -> None:
    scale = np.zeros(3)

    def f(x, *, y):
        return np.sum(x * scale + y)

    assert reasons(f, X, y=X, wrt=("x", "y")) == {
        "x": ("zero here", "flat at this point: `multiply` at +1"),
        "y": ("nonzero",),
    }


def test_it_refuses_what_a_gradient_refuses() -> None:
    with pytest.raises(st.DerivativeError, match="gradient is that of one number"):
        st.explain(lambda x: x, X)
    with pytest.raises(st.DerivativeError, match="integer type"):
        st.explain(lambda x: np.sum(x) * 1.0, np.arange(3))
    with pytest.raises(st.DerivativeError, match="no argument"):
        st.explain(lambda x: np.sum(x), X, wrt="y")


def test_decorated_functions_explain_themselves() -> None:
    @st.differentiable(wrt="y")
    def f(x, y):
        return np.sum(x) + 0.0 * y

    assert [(row.path, row.verdict) for row in f.explain(X, 1.0).rows] == [("y", "zero here")]
    assert isinstance(f.explain(X, y=1.0), Explanation)
    (row,) = st.explain(f, X, 1.0).rows
    assert (row.path, row.verdict) == ("x", "nonzero")


def test_nothing_is_printed_or_changed(capsys: Any) -> None:
    def f(x):
        print(x)
        y = x.copy()
        y[0] = 0.0
        return np.sum(y) * 0.0

    x = X.copy()
    st.explain(f, x)
    np.testing.assert_array_equal(x, X)
    assert not capsys.readouterr().out


def test_warnings_are_listed() -> None:
    def f(x):
        counts = np.zeros(3, int)
        counts[0] = x[0]
        return np.sum(counts) * 1.0

    found = st.explain(f, X)
    assert [row.verdict for row in found.rows] == ["always zero"]
    (warning,) = found.warnings
    assert "counts[0] = x[0]" in warning and "truncated" in warning
    assert str(found).endswith(f"\n\n{warning}")


# --- second order --------------------------------------------------------------------------------


def test_second_order() -> None:
    def bent(x):
        return x**3

    def straight(x):
        return 3 * x + np.abs(x)

    assert reason(st.grad(bent).function, 1.0) == ("nonzero",)
    (row,) = st.explain(st.grad(bent), 1.0).rows
    assert row.verdict == "nonzero"
    (row,) = st.explain(st.grad(bent), 0.0).rows
    assert row.verdict == "zero here"
    (row,) = st.explain(st.grad(straight), 1.0).rows
    assert (row.verdict, [cause.kind for cause in row.causes]) == ("always zero", ["flat"])
    (row,) = st.explain(st.grad(lambda x: 3 * x), 1.0).rows
    assert row.causes[0].kind == "unused"


def test_a_gradient_inside_a_function() -> None:
    def f(x):
        slope = st.grad(lambda z: np.maximum(z, 0.0) * 2)(x)
        return slope * 5.0

    assert reason(f, 1.0) == ("always zero", "passes through booleans: `greater` at +1")


# --- control flow --------------------------------------------------------------------------------


def causes(text: str, *inputs: Any, wrt: str) -> Any:
    program = parse_program(text)
    tape = unfold(program, inputs)
    variables = [v for v in tape.program.inputs if v.name in wrt.split()]
    found = explain_tape(tape, variables)
    return [None if c is None else sorted({one.kind for one in c}) for c in found]


def test_branches() -> None:
    assert causes(COND, 3.0, 4.0, 1.0, wrt="x y s") == [None, None, ["integers"]]
    assert causes(COND, 3.0, 4.0, -1.0, wrt="x") == [["elsewhere"]]
    assert causes(COND, 3.0, 4.0, -1.0, wrt="x y") == [["elsewhere"], ["cancels"]]


def test_loops() -> None:
    text = FIXED.format(n=2, reverse="").replace("return last, ys, ts, ss", "return s0")
    text = text.replace(
        "  return s0", "  s0: f64 = sum(last; axis=(0,), keepdims=False)\n  return s0"
    )
    w, c, xs = np.ones(2), np.ones(2), np.ones((2, 2))
    # d = t * b: what step 0 gets is multiplied by 0
    assert causes(text, w, c, xs, wrt="c") == [["flat"]]
    assert causes(text, w, c, xs, wrt="w xs") == [None, None]
    assert causes(COUNTED, 1.5, 2, wrt="x") == [None]
    assert causes(WHILE, 1.0, 20.0, wrt="x limit") == [None, ["integers"]]
    assert causes(WHILE, 30.0, 20.0, wrt="x limit") == [None, ["integers"]]


def test_user_written_branches() -> None:
    def f(x, y):
        if x > 0:
            z = x * 2
        else:
            z = y * 3
        return z

    try:
        found = reasons(f, 1.0, 2.0, wrt=("x", "y"))
    except st.LanguageError:
        pytest.skip("branches on traced values are not understood")
    assert found["x"] == ("nonzero",)
    assert found["y"][0] == "zero here"
    assert "not run here" in found["y"][1]


# --- against the gradient ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", CASES[::4], ids=[case.name for case in CASES[::4]])
@settings(max_examples=2)
@given(data=strategies.data())
def test_the_verdict_is_that_of_the_gradient(case: Case, data: Any) -> None:
    """For every function: nonzero where the gradient is, and with a floor on top a reason for each
    zero."""
    args = data.draw(case.arguments)
    total, wrt = totalled(case.function, case.function(*args)), positions(args)

    def floored(*args: Any) -> Any:
        return np.floor(total(*args))

    gradients = st.grad(total, wrt)(*args)
    rows = st.explain(total, *args, wrt=wrt).rows
    assert [row.zero for row in rows] == [not np.any(g) for g in gradients]
    for row in st.explain(floored, *args, wrt=wrt).rows:
        assert row.zero and row.causes
        kinds = {cause.kind for cause in row.causes}
        assert kinds <= {"flat", "integers", "unused"}, row
