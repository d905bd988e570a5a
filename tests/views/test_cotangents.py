"""Cotangents of named values are derivatives by these values; parts of a gradient add up to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stcompile as st

RNG = np.random.default_rng(0)
P = {"W": RNG.normal(size=(3, 2)), "U": RNG.normal(size=(2, 2)), "b": RNG.normal(size=2)}
FEW, MANY = RNG.normal(size=(4, 5, 3)), RNG.normal(size=(30, 5, 3)) * 0.3


@st.differentiable(wrt="params")
def rnn(params: Any, x: Any, bump: Any = 0.0, at: int = -1) -> Any:
    h = np.zeros((x.shape[1], 2))
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ params["W"] + h @ params["U"] + params["b"])
        if t == at:
            h = h + bump
    scores = h @ params["W"].T
    return np.mean(scores**2)


def derivative(function: Any, size: tuple[int, ...], eps: float = 1e-6) -> Any:
    """Central differences by a value that a bump is added to."""
    found = np.zeros(size)
    for index in np.ndindex(size):
        bump = np.zeros(size)
        bump[index] = eps
        found[index] = (function(bump) - function(-bump)) / (2 * eps)
    return found


@pytest.mark.parametrize("x", [FEW, MANY], ids=["unrolled", "kept"])
def test_each_step_of_a_loop(x: Any) -> None:
    found = rnn.cotangents(P, x)
    assert found["h"].shape == (len(x), 5, 2)
    for step in (0, 1, len(x) - 1):
        expected = derivative(lambda bump, at=step: rnn(P, x, bump, at), (5, 2))
        np.testing.assert_allclose(found["h"][step], expected, rtol=1e-6, atol=1e-9)
    assert found["scores"].shape == (5, 3)
    gradient = rnn.grad(P, x)
    for name, expected in gradient.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-12)
    arguments = ['params["W"]', 'params["U"]', 'params["b"]', "x"]
    assert [*found] == [*arguments, "h", "scores"] and len(found) == 6
    np.testing.assert_array_equal(found['params["W"]'], found["W"])
    text = str(found).splitlines()
    assert text[0].split() == ["name", "line", "cotangent", "norm"]
    assert len([line for line in text if line.startswith("h ")]) == len(x)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r'called nothing: .*params\["b"\], x, h, scores'):
        rnn.cotangents(P, FEW)["nothing"]
    with pytest.raises(st.DerivativeError, match=r"`of='nothing'`"):
        rnn.contributions(P, FEW, of="nothing")
    with pytest.raises(st.DerivativeError):
        rnn.contributions(P, FEW, of="at")


def test_arguments_are_called_as_in_contributions() -> None:
    def loss(p: Any, q: Any) -> Any:
        s = p["s"] * q["s"]
        return np.sum(s * s)

    p, q = {"s": np.array([1.0, 2.0])}, {"s": np.array([3.0, 0.5])}
    found = st.differentiable(loss).cotangents(p, q)
    assert [*found] == ['p["s"]', 'q["s"]', "s"]
    np.testing.assert_allclose(found["s"], 2 * p["s"] * q["s"])
    by_p = st.differentiable(loss).contributions(p, q, of='p["s"]')
    np.testing.assert_allclose(found['p["s"]'], by_p.total)


def several(x: Any, c: Any) -> Any:
    y = x * 2
    z = y[:2] * 3
    y = y + 1
    if c > 0:
        y = y * y
    z = np.sum(y) * z
    total = np.sum(z**2)
    return total


def test_names_that_are_assigned_on_several_lines() -> None:
    x = np.array([0.5, -1.0, 2.0])
    first = several.__code__.co_firstlineno
    found = st.differentiable(several).cotangents(x, 1.0)
    assert isinstance(found["y"], np.ndarray) and found["y"].shape == (3, 3)
    assert [part.shape for part in found["z"]] == [(2,), (2,)]
    np.testing.assert_array_equal(found["total"], 1.0)

    def rest(y: Any, z: Any) -> Any:
        return np.sum((np.sum(y * y) * z) ** 2)

    y, z = x * 2 + 1, (x * 2)[:2] * 3
    np.testing.assert_allclose(
        found[f"y:{first + 3}"], derivative(lambda b: rest(y + b, z), (3,)), rtol=1e-6
    )
    np.testing.assert_allclose(
        found[f"z:{first + 2}"], derivative(lambda b: rest(y, z + b), (2,)), rtol=1e-6
    )
    with pytest.raises(KeyError):
        found["y:1"]


def helper(x: Any, w: Any) -> Any:
    inner = np.tanh(x @ w)
    return inner


def test_names_of_helpers_and_of_no_library() -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        h = helper(x, w)
        p = st.nn.log_softmax(h)
        return -np.mean(p[np.arange(4), y])

    w, x = RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3))
    found = st.differentiable(loss).cotangents(w, x, np.array([0, 2, 1, 0]))
    assert "inner" in found and not {"shifted", "exps"} & {*found}
    expected = derivative(lambda b: loss_of(np.tanh(x @ w) + b), (4, 3))
    np.testing.assert_allclose(found["inner"], expected, rtol=1e-6, atol=1e-9)


def loss_of(h: Any) -> Any:
    p = h - np.log(np.sum(np.exp(h), axis=1, keepdims=True))
    return -np.mean(p[np.arange(4), [0, 2, 1, 0]])


# --- contributions -------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [FEW, MANY], ids=["unrolled", "kept"])
@pytest.mark.parametrize("name", ["W", "U", "b"])
def test_parts_add_up_to_the_gradient(x: Any, name: str) -> None:
    found = rnn.contributions(P, x, of=name)
    expected = rnn.grad(P, x)[name]
    np.testing.assert_allclose(found.total, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.by_step.sum(axis=0), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(sum(found.by_line.values()), expected, rtol=1e-12, atol=1e-14)
    assert found.by_step.shape == (len(x), *P[name].shape)
    first = rnn.__wrapped__.__code__.co_firstlineno  # type: ignore[attr-defined]
    lines = {"W": [first + 4, first + 7], "U": [first + 4], "b": [first + 4]}
    assert [*found.by_line] == lines[name]
    assert 'params["W"]' in str(found)
    by_path = rnn.contributions(P, x, of=f'params["{name}"]')
    np.testing.assert_array_equal(by_path.total, found.total)


def test_the_part_of_a_step_is_that_of_the_weights_of_this_step() -> None:
    def with_own(ws: Any, x: Any) -> Any:
        h = np.zeros((x.shape[1], 2))
        for t in range(4):
            h = np.tanh(x[t] @ ws[t] + h @ P["U"])
        return np.mean(h**2)

    def shared(w: Any, x: Any) -> Any:
        h = np.zeros((x.shape[1], 2))
        for t in range(4):
            h = np.tanh(x[t] @ w + h @ P["U"])
        return np.mean(h**2)

    found = st.differentiable(shared).contributions(P["W"], FEW, of="w")
    expected = st.grad(with_own)(np.stack([P["W"]] * 4), FEW)
    np.testing.assert_allclose(found.by_step, expected, rtol=1e-12)
    assert [part.step for part in found.parts] == [0, 1, 2, 3]


def test_rules_that_add_by_themselves() -> None:
    """Subscripts add to the cotangent in place; branches, custom rules and scalars."""

    def loss(w: Any, s: Any, y: Any) -> Any:
        total = 0.0
        for t in range(3):
            total = total + np.sum(w[t] * w[t + 1]) * s
        if s > 0:
            total = total + np.sum(w**3)
        return total * s + st.nn.softmax_cross_entropy(w, y) + np.sum(w[y])

    w, y = RNG.normal(size=(4, 4)), np.array([0, 1, 1, 3])
    d = st.differentiable(loss, wrt=("w", "s"))
    expected = d.grad(w, 0.5, y)
    for name, gradient in zip(("w", "s"), expected, strict=True):
        found = d.contributions(w, 0.5, y, of=name)
        np.testing.assert_allclose(found.total, gradient, rtol=1e-12)
        np.testing.assert_allclose(d.cotangents(w, 0.5, y)[name], gradient, rtol=1e-12)


def test_random_numbers_are_left_as_they_were() -> None:
    def loss(w: Any, rng: Any) -> Any:
        noise = rng.normal(size=3)
        h = w * noise
        return np.sum(h**2)

    rng = np.random.default_rng(1)
    state = rng.bit_generator.state
    d = st.differentiable(loss)
    found = d.cotangents(np.ones(3), rng)["h"]
    assert rng.bit_generator.state == state
    np.testing.assert_allclose(found, 2 * np.random.default_rng(1).normal(size=3))
