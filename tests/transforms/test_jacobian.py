"""``jacobian`` and ``hessian``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms import jacobian
from tests.transforms.checks import assert_close, difference
from tests.transforms.functions import EXAMPLES, PARAMS, Example, structured

MODES = ("forward", "reverse")
every_mode = pytest.mark.parametrize("mode", MODES)
every_level = pytest.mark.parametrize("level", ("readable", "fast"))
X = np.array([0.5, -1.5, 2.0])


def columns(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The Jacobian by the first argument, an array or a number, from differences."""
    x = arguments[0]
    if not isinstance(x, np.ndarray):
        return difference(lambda y: function(y, *arguments[1:]), (x,), (1.0,))
    units = np.eye(x.size).reshape(x.size, *x.shape)
    made = [difference(lambda y: function(y, *arguments[1:]), (x,), (unit,)) for unit in units]
    return np.stack(made, -1).reshape(*np.shape(made[0]), *x.shape)


@every_level
@every_mode
@pytest.mark.parametrize("example", EXAMPLES[:-1], ids=[e.name for e in EXAMPLES[:-1]])
def test_it_is_that_of_differences(example: Example, mode: Any, level: Any) -> None:
    found = st.jacobian(example.function, mode=mode, level=level)(*example.arguments)
    assert_close(found, columns(example.function, example.arguments))


@every_mode
def test_structures(mode: Any) -> None:
    x = np.array([[0.1, -0.4, 0.3]])
    found = st.jacobian(structured, wrt=("params", "x"), mode=mode)(PARAMS, x)
    assert found["h"][0]["W"].shape == (1, 2, 3, 2)
    assert found["norms"][1][1].shape == (1, 3)
    np.testing.assert_allclose(found["h"][1][0, :, 0], PARAMS["W"].T)
    np.testing.assert_allclose(found["h"][0]["b"][0], np.eye(2))
    norm = st.grad(lambda p: structured(p, x)["norms"][0])(PARAMS)
    assert_close(found["norms"][0][0], norm)


@every_mode
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_short_and_long_ones(rows: int, mode: Any) -> None:
    """Few rows are written out, many are looped over."""
    w = np.random.default_rng(0).normal(size=(rows, 3))
    found = st.jacobian(lambda x, w: np.tanh(w @ x), mode=mode)(X, w)
    np.testing.assert_allclose(found, (1 - np.tanh(w @ X) ** 2)[:, None] * w, rtol=1e-12)


def test_what_does_not_move_is_computed_once() -> None:
    """What all columns have in common stands before them."""
    w = np.ones((3, 30))
    text = st.jacobian(lambda x, w: np.tanh(w @ x), mode="forward", level="readable").source(
        np.ones(30), w
    )
    assert "= np.tanh(w @ x)" in text
    assert text.count("= np.tanh(") == 1


@every_mode
def test_large_ones_are_computed_one_by_one(mode: Any, monkeypatch: Any) -> None:
    """A loop over the unit vectors gives the same."""
    w = np.random.default_rng(1).normal(size=(20, 18))

    def f(x: Any, w: Any) -> Any:
        return np.sin(w @ x) * (1 + 1j)

    x = np.ones(18)
    at_once = st.jacobian(f, mode=mode, level="readable")
    assert "for " not in at_once.source(x, w)
    monkeypatch.setattr(jacobian, "BATCHED_ELEMENTS", 20)
    one_by_one = st.jacobian(f, mode=mode, level="readable")
    assert "for " in one_by_one.source(x, w)
    np.testing.assert_allclose(one_by_one(x, w), at_once(x, w), rtol=1e-13)


@every_level
@every_mode
@pytest.mark.parametrize("size", [24, 23])
def test_large_ones_are_computed_in_blocks(
    size: int, mode: Any, level: Any, monkeypatch: Any
) -> None:
    """So many directions at once as stay below the limit; 23 are a block of 12 and one of 11."""
    w = np.random.default_rng(1).normal(size=(size, size))

    def f(x: Any, w: Any) -> Any:
        for _ in range(20):
            x = np.sin(w @ x) + x
        return x * (1 + 1j)

    x = np.linspace(-1.0, 1.0, size)
    at_once = st.jacobian(f, mode=mode, level=level)(x, w)
    monkeypatch.setattr(jacobian, "BATCHED_ELEMENTS", 12 * size)
    blocks = st.jacobian(f, mode=mode, level=level)
    assert ", 12, " in str(blocks.source(x, w)) or "(12, " in str(blocks.source(x, w))
    np.testing.assert_allclose(blocks(x, w), at_once, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("directions", "least", "count"), [(26, 2, 2), (26, 3, 3), (27, 2, 3), (29, 2, 2), (4, 4, 4)]
)
def test_blocks_are_as_long_as_each_other(directions: int, least: int, count: int) -> None:
    assert jacobian.number_of_blocks(directions, least) == count


@every_mode
def test_numbers_and_empty_arrays(mode: Any) -> None:
    assert st.jacobian(lambda x: x * x, mode=mode)(3.0) == 6.0
    np.testing.assert_array_equal(st.jacobian(lambda x, v: x * v, mode=mode)(3.0, X), X)
    assert st.jacobian(lambda x: x * 2, mode=mode)(np.zeros(0)).shape == (0, 0)
    assert st.jacobian(lambda x: np.sum(x), mode=mode)(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_mode
def test_types_stay(mode: Any, dtype: Any) -> None:
    assert st.jacobian(lambda x: x * x, mode=mode)(X.astype(dtype)).dtype == dtype


def test_with_more() -> None:
    def f(x):
        h = np.tanh(x)
        return h * x, {"h": h, "n": 3}

    found, aux = st.jacobian(f, has_aux=True)(X)
    np.testing.assert_allclose(found, st.jacobian(lambda x: np.tanh(x) * x)(X))
    np.testing.assert_allclose(aux["h"], np.tanh(X))
    assert aux["n"] == 3


def test_effects_are_had_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("here")
        return np.array([x[0] * x[1], x[2], x[0], x[1]])

    for mode in ("auto", *MODES):
        assert st.jacobian(f, mode=mode)(X).shape == (4, 3)
    assert capsys.readouterr().out == "here\n" * 3


@every_level
@pytest.mark.parametrize("mode", ("auto", *MODES))
def test_with_more_the_function_runs_once_too(
    mode: Any, level: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def f(x, rng):
        print("here")
        drawn = rng.normal(size=3)
        return drawn * x, (drawn, x * 2)

    rng = np.random.default_rng(0)
    found, (drawn, twice) = st.jacobian(f, has_aux=True, mode=mode, level=level)(X, rng)
    np.testing.assert_array_equal(found, np.diag(drawn))
    np.testing.assert_array_equal(twice, 2 * X)
    assert capsys.readouterr().out == "here\n"
    np.testing.assert_array_equal(rng.normal(size=3), np.random.default_rng(0).normal(size=6)[3:])


@every_mode
def test_more_from_a_loop_that_tangents_go_through(mode: Any) -> None:
    def f(x):
        for _ in range(30):
            x = np.sin(x)
        return x, x * 2

    found, twice = st.jacobian(f, has_aux=True, mode=mode)(X)
    np.testing.assert_allclose(twice, 2 * f(X)[0])
    np.testing.assert_allclose(found, st.jacobian(lambda x: f(x)[0])(X))


def test_more_that_would_take_a_second_run_is_refused() -> None:
    def f(x):
        print("here")
        for _ in range(30):
            x = np.sin(x)
        return x, x * 2

    assert st.jacobian(f, has_aux=True)(X)[0].shape == (3, 3)
    with pytest.raises(st.DerivativeError, match="mode='reverse'"):
        st.jacobian(f, has_aux=True, mode="forward")(X)


@every_level
@every_mode
def test_hessians(mode: Any, level: Any) -> None:
    def rosenbrock(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    found = st.hessian(rosenbrock, mode=mode, level=level)(X)
    assert_close(found, columns(st.grad(rosenbrock), (X,)), 1e-5)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)


def test_hessians_of_several_arguments() -> None:
    found = st.hessian(lambda x, y: np.sum(x * x) * y, wrt=("x", "y"))(X, 3.0)
    np.testing.assert_allclose(found[0][0], 6 * np.eye(3))
    np.testing.assert_allclose(found[0][1], 2 * X)
    np.testing.assert_allclose(found[1][0], 2 * X)
    assert found[1][1] == 0


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_hessians_with_slopes_that_are_constant(mode: Any) -> None:
    cube = st.hessian(lambda x, y: x**3, wrt=("x", "y"), mode=mode)
    assert cube(2.0, 3.0) == ((12.0, 0.0), (0.0, 0.0))
    plane = st.hessian(lambda x, y: 2.0 * np.sum(x) + y, wrt=("x", "y"), mode=mode)
    (xx, xy), (yx, yy) = plane(X, 3.0)
    assert xx.shape == X.shape + X.shape
    assert xy.shape == yx.shape == X.shape
    assert not np.any(xx) and not np.any(xy) and not np.any(yx) and yy == 0.0
    of_arrays = st.hessian(lambda x, y: np.sum(x**2), wrt=("x", "y"), mode=mode)
    (_, xy), (yx, yy) = of_arrays(X, np.float32(3.0))
    assert (xy.shape, yx.shape, yy.dtype) == (X.shape, X.shape, np.float32)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: st.jacobian(lambda x: np.argmax(x))(X), "which has no Jacobian"),
        (lambda: st.jacobian(lambda x: 3.0)(X), "does not depend on the arguments"),
        (lambda: st.jacobian(lambda x: x, wrt="y")(X), "no argument"),
        (lambda: st.hessian(lambda x: x)(X), "gradient is that of one number"),
    ],
)
def test_refusals(call: Any, reason: str) -> None:
    with pytest.raises(st.StcompileError, match=reason):
        call()


def test_modes_are_named() -> None:
    with pytest.raises(ValueError, match="auto, forward, reverse"):
        st.jacobian(lambda x: x, mode="backward")  # type: ignore[arg-type]
