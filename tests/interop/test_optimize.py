"""Solvers of SciPy with exact derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import ArgumentsError, DerivativeError, LanguageError

optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
minimize, least_squares, root = st.optimize.minimize, st.optimize.least_squares, st.optimize.root

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = X @ np.array([1.0, -2.0, 0.5]) + 3.0


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def loss(params: Any, x: Any, y: Any) -> Any:
    return np.mean((x @ params["slope"] + params["offset"] - y) ** 2)


class Line:
    """A model with an attribute that is not fitted, and an array in two places."""

    def __init__(self) -> None:
        self.slope, self.offset = np.zeros(3), 0.0
        self.kept, self.mask = self.slope, np.array([1, 1, 1])

    def __call__(self, x: Any) -> Any:
        return x @ (self.slope * self.mask) + self.offset + 0 * np.sum(self.kept)


START = {"slope": np.zeros(3), "offset": 0.0}
METHODS = ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG", "trust-ncg", "trust-krylov")
METHODS += ("trust-constr", "trust-exact", "dogleg")
WITHOUT = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")


@pytest.mark.parametrize("method", [*METHODS, *WITHOUT])
def test_every_method(method: str) -> None:
    if method in METHODS:
        found = minimize(rosenbrock, np.array([1.1, 1.2, 1.4]), method=method, tol=1e-8)
        assert np.allclose(found.x, 1.0, atol=1e-4)
    fitted = minimize(loss, START, (X, Y), method=method, tol=1e-10)
    assert np.allclose(fitted.x["slope"], [1.0, -2.0, 0.5], atol=1e-2)
    assert type(fitted.x["offset"]) is float and abs(fitted.x["offset"] - 3.0) < 1e-2


def spy(monkeypatch: pytest.MonkeyPatch, name: str) -> dict[str, Any]:
    """What a solver of SciPy is called with."""
    seen: dict[str, Any] = {}
    solver = getattr(optimize, name)

    def called(fun: Any, x0: Any, **keywords: Any) -> Any:
        seen.update(keywords, fun=fun, x0=x0)
        return solver(fun, x0, **keywords)

    monkeypatch.setattr(optimize, name, called)
    return seen


def test_what_scipy_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = spy(monkeypatch, "minimize")
    minimize(loss, START, (X, Y), method="trust-ncg")
    at, along = RNG.normal(size=4), RNG.normal(size=4)
    value, slope = seen["fun"](at)
    plain = lambda v: loss({"slope": v[:3], "offset": v[3]}, X, Y)  # noqa: E731
    assert np.isclose(value, plain(at))
    difference = lambda f, v: (f(at + 1e-6 * v) - f(at - 1e-6 * v)) / 2e-6  # noqa: E731
    for v in np.eye(4):
        assert np.isclose(slope @ v, difference(lambda x: seen["fun"](x)[0], v), atol=1e-6)
    expected = difference(lambda x: seen["fun"](x)[1], along)
    assert np.allclose(seen["hessp"](at, along), expected, atol=1e-6)
    minimize(loss, START, (X, Y), method="trust-exact")
    assert np.allclose(seen["hess"](at) @ along, expected, atol=1e-6)
    minimize(lambda x: rosenbrock(x), np.ones(5), method="trust-constr", sparse=True)
    dense = st.hessian(rosenbrock)(np.arange(5.0))
    assert np.allclose(seen["hess"](np.arange(5.0)).toarray(), dense)


def test_objects_are_returned_with_their_other_attributes() -> None:
    model = Line()
    for method in ("BFGS", "trust-krylov"):
        found = minimize(lambda m, x, y: np.mean((m(x) - y) ** 2), model, (X, Y), method=method).x
        assert type(found) is Line and found.kept is found.slope and found.mask is model.mask
        assert np.allclose(found.slope, [1.0, -2.0, 0.5], atol=1e-4)
    assert not model.slope.any()
    model.mask = np.array([1, 1, 0])
    found = minimize(lambda m, x, y: np.mean((m(x) - y) ** 2), model, (X, Y)).x
    assert found.slope[2] == 0.0, "the new mask is seen"


def test_dtypes_stay() -> None:
    start = {"slope": np.zeros(3, np.float32), "offset": np.float64(0.0)}
    found = minimize(loss, start, (X, Y)).x
    assert found["slope"].dtype == np.float32 and type(found["offset"]) is np.float64
    assert np.allclose(found["slope"], [1.0, -2.0, 0.5], atol=1e-3)
    matrix = minimize(lambda m: np.sum((m - 2.0) ** 2), np.zeros((2, 3))).x
    assert matrix.shape == (2, 3) and np.allclose(matrix, 2.0)


def test_bounds_in_the_structure() -> None:
    bounds = {"slope": (0.0, np.array([0.5, 1.0, 1.0]))}
    found = minimize(loss, START, (X, Y), bounds=bounds).x
    assert np.isclose(found["slope"][0], 0.5) and np.isclose(found["slope"][1], 0.0)
    assert np.allclose(minimize(rosenbrock, np.zeros(2), bounds=[(0, 0.5)] * 2).x, [0.5, 0.25])
    with pytest.raises(ArgumentsError, match='no pair of bounds for x0\\["slope"\\]'):
        minimize(loss, START, (X, Y), bounds={"slope": 3})


CONSTRAINTS = {
    "a dict": {"type": "eq", "fun": lambda x: np.sum(x**2) - 1.0},
    "arguments": {"type": "eq", "fun": lambda x, r: np.sum(x**2) - r, "args": (1.0,)},
    "nonlinear": optimize.NonlinearConstraint(
        lambda x: np.array([np.sum(x**2), x[0] * x[1]]), [1.0, -9.0], [1.0, 9.0]
    ),
}


@pytest.mark.filterwarnings("ignore:Constraint options", "ignore:Equality and inequality")
@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "sparse trust-constr"])
@pytest.mark.parametrize("case", CONSTRAINTS)
def test_constraints(method: str, case: str) -> None:
    sparse, method = method.startswith("sparse"), method.removeprefix("sparse ")
    found = minimize(
        rosenbrock,
        np.array([0.5, 0.5]),
        method=method,
        constraints=CONSTRAINTS[case],
        sparse=sparse,
    )
    assert np.allclose(found.x, [0.7864, 0.6177], atol=1e-3)


def test_the_hessian_of_constraints() -> None:
    from stcompile.interop.optimize import _Problem

    of = CONSTRAINTS["nonlinear"]
    made = _Problem(rosenbrock, np.zeros(2), (), None).constraint(of, False)
    x, v = np.array([0.3, -0.7]), np.array([2.0, 5.0])
    assert np.allclose(made.jac(x), [[0.6, -1.4], [-0.7, 0.3]])
    assert np.allclose(made.hess(x, v), [[4.0, 5.0], [5.0, 4.0]])


def residuals(p: Any, t: Any, seen: Any) -> Any:
    return p["height"] * np.exp(-p["rate"] * t) + p["level"] - seen


T = np.linspace(0.0, 4.0, 30)
SEEN = 2.5 * np.exp(-1.3 * T) + 0.5


@pytest.mark.parametrize(
    "keywords",
    [{}, {"method": "lm"}, {"method": "dogbox"}, {"sparse": True}, {"bounds": {"rate": (0, 2)}}],
)
def test_least_squares(keywords: Any) -> None:
    start = {"height": 1.0, "rate": 1.0, "level": 1.0}
    found = least_squares(residuals, start, (T, SEEN), **keywords).x
    assert np.allclose([found["height"], found["rate"], found["level"]], [2.5, 1.3, 0.5])


def test_residuals_may_be_a_structure() -> None:
    found = least_squares(lambda p: (p[0] - 1.0, {"b": np.ones((2, 2)) * p[1] - 2}), (0.5, 0.5))
    assert found.fun.shape == (5,) and np.allclose(found.x, (1.0, 2.0))
    with pytest.raises(DerivativeError, match="which is no residual"):
        least_squares(lambda p: (p, "text"), 1.0)


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov"])
def test_root(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = spy(monkeypatch, "root")
    equations = lambda p: {"u": p["u"] ** 2 + p["v"] ** 2 - 4.0, "v": np.exp(p["u"]) + p["v"] - 1}  # noqa: E731
    found = root(equations, {"u": 1.0, "v": -1.5}, method=method)
    assert found.success and abs(equations(found.x)["u"]) < 1e-5
    assert ("jac" in seen) == (method != "krylov")


def test_callbacks_get_the_structure() -> None:
    seen: list[Any] = []
    minimize(loss, START, (X, Y), callback=seen.append)
    assert [*seen[-1]] == [*START] and np.allclose(seen[-1]["slope"], [1, -2, 0.5], atol=1e-3)


def test_a_second_call_compiles_nothing() -> None:
    def bowl(x: Any, centre: float) -> Any:
        return np.sum((x - centre) ** 2)

    minimize(bowl, np.zeros(3), (1.0,))
    with st.timings() as spent:
        assert np.allclose(minimize(bowl, np.zeros(3), (2.0,)).x, 2.0)
    assert not spent.compilations


REFUSED = {
    "integers": (lambda: minimize(rosenbrock, np.array([1, 2])), "x0 is an array of int64"),
    "an integer inside": (lambda: minimize(loss, {"n": 3}, ()), 'x0\\["n"\\] is an int'),
    "complex": (lambda: minimize(rosenbrock, np.ones(2) * 1j), "an array of complex128"),
    "a derivative": (lambda: minimize(rosenbrock, np.ones(2), jac=rosenbrock), "jac is given"),
    "one of a constraint": (
        lambda: minimize(
            rosenbrock, np.ones(2), constraints={**CONSTRAINTS["a dict"], "jac": rosenbrock}
        ),
        "jac is given",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(ArgumentsError, match=message):
        call()


def test_inside_a_compiled_function_it_is_refused() -> None:
    with pytest.raises(LanguageError, match="outside of functions(.|\n)*scipy.optimize itself"):
        st.grad(lambda a: minimize(lambda x: (x - a) ** 2, 1.0).x)(2.0)
