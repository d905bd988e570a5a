"""Gradients of random draws are pathwise; what looks at a call draws nothing; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.emit import function as emission
from stcompile.transforms.primal import Primal
from stcompile.wengert.generators import undrawn
from tests.frontend.draws import CAPTURED, OTHER, X, check, rng, state

# --- derivatives ---------------------------------------------------------------------------------


def cubed(x, rng):
    return np.sum(rng.normal(x, x * x) ** 3) + np.sum(rng.uniform(0, x) ** 3 * rng.random(3))


def slope(x, rng):
    return np.sum(st.grad(cubed)(x, rng) * x)


def test_second_order():
    check(slope, X, rng(), rtol=1e-5)


def test_second_order_in_a_loop():
    def inner(x, rng):
        for _ in range(30):
            x = x + 0.1 * rng.normal(x, 0.3 * x)
        return np.sum(x * x)

    def outer(x, rng):
        return np.sum(st.grad(inner)(x, rng) ** 2)

    check(outer, X, rng(), rtol=1e-5)


def test_the_derivative_is_pathwise():
    def sample(loc, scale, rng):
        return rng.normal(loc, scale)

    z = rng().standard_normal()
    assert st.grad(sample, wrt=("loc", "scale"))(2.0, 4.0, rng()) == pytest.approx((1.0, z))


def test_integers_have_no_derivative():
    def loss(x, rng):
        return np.sum(x) * rng.integers(1, 5) * rng.choice(4)

    drawn = rng()
    factor = drawn.integers(1, 5) * drawn.choice(4)
    np.testing.assert_array_equal(st.grad(loss)(X, rng()), np.full(3, float(factor)))


def test_a_training_step_draws_once():
    def loss(w, x, rng):
        keep = rng.random(w.shape) < 0.5
        return np.sum((w * keep - x) ** 2)

    step = st.train_step(loss, st.optim.SGD(0.1))
    one, other = rng(), rng()
    w = np.ones(3)
    for _ in range(3):
        before = w.copy()
        assert step(w, X, one) == loss(before, X, other)
    assert state(one) == state(other)


# --- what looks at a call ------------------------------------------------------------------------


def test_looking_at_a_call_draws_nothing():
    @st.differentiable
    def loss(x, rng):
        if x[0] > 0:
            rng.random()
        np.random.seed(4)
        for _ in range(20):
            x = x + 0.1 * rng.normal(x, x) * np.random.rand(3) * OTHER.random()
        return np.sum(x * x)

    given = rng()
    before = state(given), state(OTHER), state(np.random.mtrand._rand)
    loss.check_grads(X, given)
    row, *_ = loss.explain(X, given).rows
    assert not row.zero
    trace = loss.trace(X, given)
    with undrawn([given, OTHER]):
        assert trace.value == loss(X, given)
    assert "rng = Generator" in str(trace)
    assert (state(given), state(OTHER), state(np.random.mtrand._rand)) == before


def test_a_nan_is_found_in_the_same_draws():
    @st.differentiable(debug_nans=True)
    def loss(x, rng):
        np.random.seed(2)
        if x[0] > 0:
            np.random.seed(3)
        y = rng.normal(x, 1.0) + np.random.rand(3)
        return np.sum(np.sqrt(-(y**2)))

    given = rng()
    before = state(given), state(np.random.mtrand._rand)
    with pytest.raises(st.NanError, match=r"np.sqrt"), np.errstate(all="ignore"):
        loss.value_and_grad(X, given)
    assert (state(given), state(np.random.mtrand._rand)) == before


# --- source --------------------------------------------------------------------------------------


def test_the_source_reads_as_the_users():
    def loss(x, rng):
        noise = rng.normal(0.0, 1.0, size=(3,))
        z = rng.standard_normal((2, 3))
        i = rng.integers(5, size=2)
        u = np.random.rand(2, 3)
        s = np.random.default_rng(0).random(3)
        return np.sum(x * noise * z * u * s) * np.sum(i)

    source = st.value_and_grad(loss).source(X, rng())
    for line in (
        "noise = rng.normal(0.0, 1.0, size=3)",
        "z = rng.standard_normal((2, 3))",
        "i = rng.integers(5, size=2)",
        "u = np.random.rand(2, 3)",
        "s = np.random.default_rng(0).random(3)",
    ):
        assert f"    {line}\n" in source


# --- refusals ------------------------------------------------------------------------------------

REFUSED = {
    "gamma": (lambda x, rng: rng.gamma(x), "draw outside"),
    "lognormal": (lambda x, rng: rng.lognormal(), r"np\.exp\(rng\.normal"),
    "beta": (lambda x, rng: np.random.beta(1.0, 2.0), "draw outside"),
    "size": (lambda x, rng: rng.normal(size=rng.integers(3)), "shape depends on values known"),
    "seed": (lambda x, rng: np.random.default_rng(x), "seed is known only at run time"),
    "sum": (lambda x, rng: x + rng, "Generator cannot be an operand"),
    "state": (lambda x, rng: rng.bit_generator, "bit_generator"),
    "misfit": (lambda x, rng: rng.normal(x, 1.0, size=2), "do not fit"),
    "broadcast": (lambda x, rng: rng.normal(x, np.ones(2)), "broadcast"),
    "shuffle": (lambda x, rng: rng.shuffle([x[0], x[1]]), "shuffle"),
    "shuffle captured": (lambda x, rng: rng.shuffle(CAPTURED), "is not a local array"),
    "too many": (lambda x, rng: rng.choice(3, 5, replace=False), "without replacement"),
    "complex": (lambda x, rng: rng.normal(1j), "complex"),
    "legacy": (lambda x, rng: rng.randn(3), r"rng\.standard_normal"),
    "returned": (lambda x, rng: np.random.default_rng(1), "returns a Generator"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, message = REFUSED[name]
    with pytest.raises(st.StcompileError, match=message) as caught:
        Primal(function)(X, rng())
    assert "test_random_derivatives.py" in str(caught.value) or name == "returned"


def test_the_tests_can_fail(monkeypatch):
    """A draw that is forgotten, and one that is written twice, are noticed."""

    def loss(x, rng):
        return np.sum(rng.normal(x, 1.0) ** 2) * rng.random()

    emitted = emission.emit

    def edited(old, new):
        def emit(*args, **keywords):
            found = emitted(*args, **keywords)
            changed = found.source.replace(old, new)
            assert changed != found.source
            return type(found)(**{**vars(found), "source": changed})

        return emit

    for new in ("0.5", "(rng.random(), rng.random())[1]"):
        monkeypatch.setattr("stcompile.calls.compiler.emit", edited("rng.random()", new))
        with pytest.raises(AssertionError):
            check(loss, X, rng())
