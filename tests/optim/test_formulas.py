"""The optimisers compute what their papers say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.optim import problems, reference
from tests.optim.problems import LOSSES, STRUCTURES, gradients, leaves

STEPS = 25
X = np.random.default_rng(0).standard_normal((5, 3))

# Far from the defaults, so that no constant can be left out unseen.
CASES: dict[str, tuple[Callable[..., Any], reference.Rule]] = {
    "sgd": (lambda **k: st.optim.SGD(0.003, **k), reference.sgd(0.003)),
    "momentum": (lambda **k: st.optim.Momentum(0.002, 0.7, **k), reference.momentum(0.002, 0.7)),
    "nesterov": (lambda **k: st.optim.Nesterov(0.002, 0.7, **k), reference.nesterov(0.002, 0.7)),
    "rmsprop": (
        lambda **k: st.optim.RMSprop(0.01, 0.8, 1e-3, **k),
        reference.rmsprop(0.01, 0.8, 1e-3),
    ),
    "adam": (
        lambda **k: st.optim.Adam(0.02, 0.8, 0.95, 1e-3, **k),
        reference.adam(0.02, 0.8, 0.95, 1e-3),
    ),
    "adamw": (
        lambda **k: st.optim.AdamW(0.02, 0.8, 0.95, 1e-3, weight_decay=0.3, **k),
        reference.adamw(0.02, 0.8, 0.95, 1e-3, 0.3),
    ),
}
OPTIONS: dict[str, dict[str, float]] = {
    "plain": {},
    "clip_value": {"clip_value": 0.4},
    "clip_norm": {"clip_norm": 2.0},
    "both": {"clip_value": 5.0, "clip_norm": 2.0},
}


def follow(
    rule: reference.Rule, params: list[Any], x: Any, options: dict[str, float], steps: int = STEPS
) -> list[Any]:
    """The parameters after some steps in float64."""
    limits = options.get("clip_value"), options.get("clip_norm")
    decay = options.get("weight_decay")
    rule = reference.with_decay(rule, decay) if decay else rule
    params = [p.astype(np.float64) for p in params]
    states: list[dict[str, Any]] = [{} for _ in params]
    for _ in range(steps):
        grads = reference.clipped(gradients(params, x), *limits)
        params = [rule(p, g, s) for p, g, s in zip(params, grads, states, strict=True)]
    return params


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("structure", "options"),
    [*(("dict", o) for o in OPTIONS), ("list", "plain"), ("nested", "both")],
)
def test_in_float64(structure: str, name: str, options: str) -> None:
    make, rule = CASES[name]
    params = STRUCTURES[structure](np.float64)
    expected = follow(rule, leaves(params), X, OPTIONS[options])
    step = st.train_step(LOSSES[structure], make(**OPTIONS[options]))
    for _ in range(STEPS):
        step(params, X)
    for start, found, wanted in zip(
        problems.arrays(np.float64), leaves(params), expected, strict=True
    ):
        assert not np.allclose(found, start, rtol=1e-3)
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_in_float32(name: str) -> None:
    make, rule = CASES[name]
    params = problems.as_dict(np.float32)
    expected = follow(rule, leaves(params), X, OPTIONS["clip_norm"])
    optimizer = make(**OPTIONS["clip_norm"])
    step = st.train_step(problems.of_dict, optimizer)
    x = X.astype(np.float32)
    for _ in range(STEPS):
        step(params, x)
    for found, wanted in zip(leaves(params), expected, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)
    for slot, kept in optimizer.state.items():
        assert slot == "t" or {array.dtype for array in kept.values()} == {np.dtype(np.float32)}
    assert "float64" not in step.source(params, x)


@pytest.mark.parametrize("name", ["sgd", "momentum", "nesterov", "rmsprop", "adam"])
def test_weight_decay_is_a_part_of_the_gradient(name: str) -> None:
    """It is not clipped."""
    make, rule = CASES[name]
    options = {"weight_decay": 0.6, "clip_value": 0.4}
    params = problems.as_list(np.float64)
    expected = follow(rule, params, X, options)
    without = follow(rule, params, X, {"clip_value": 0.4})
    step = st.train_step(problems.of_list, make(**options))
    for _ in range(STEPS):
        step(params, X)
    for found, wanted, other in zip(params, expected, without, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)
        assert not np.allclose(found, other, rtol=1e-4)


def test_adamw_without_decay_is_adam() -> None:
    one, other = problems.as_dict(np.float64), problems.as_dict(np.float64)
    adamw = st.train_step(problems.of_dict, st.optim.AdamW(weight_decay=None))
    adam = st.train_step(problems.of_dict, st.optim.Adam())
    for _ in range(3):
        assert adamw(one, X) == adam(other, X)
    for key in one:
        np.testing.assert_array_equal(one[key], other[key])


def test_the_first_step_of_adam_is_lr() -> None:
    """Whatever the size of the gradient: Kingma & Ba, section 2.1."""
    w = np.array([1.0, 1.0, 1.0])
    st.train_step(lambda w: np.sum(w * np.array([1e-3, -1.0, 1e3])), st.optim.Adam(0.01))(w)
    np.testing.assert_allclose(w, [0.99, 1.01, 0.99], rtol=1e-6)


# --- PyTorch -------------------------------------------------------------------------------------

TORCH: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "sgd": (
        lambda: st.optim.SGD(0.003, weight_decay=0.2),
        lambda optim, ps: optim.SGD(ps, 0.003, weight_decay=0.2),
    ),
    "momentum": (
        lambda: st.optim.Momentum(0.002, 0.7, weight_decay=0.2),
        lambda optim, ps: optim.SGD(ps, 0.002, momentum=0.7, weight_decay=0.2),
    ),
    "nesterov": (
        lambda: st.optim.Nesterov(0.002, 0.7, weight_decay=0.2),
        lambda optim, ps: optim.SGD(ps, 0.002, momentum=0.7, weight_decay=0.2, nesterov=True),
    ),
    "rmsprop": (lambda: st.optim.RMSprop(), lambda optim, ps: optim.RMSprop(ps)),
    "adam": (lambda: st.optim.Adam(), lambda optim, ps: optim.Adam(ps)),
    "adamw": (lambda: st.optim.AdamW(), lambda optim, ps: optim.AdamW(ps)),
}


@pytest.mark.parametrize("name", TORCH)
def test_as_pytorch(name: str) -> None:
    """With its defaults, and a learning rate that changes half-way."""
    torch = pytest.importorskip("torch")
    make, make_theirs = TORCH[name]
    params = problems.as_list(np.float64)
    theirs = [torch.tensor(p, requires_grad=True) for p in params]
    optimizer, descent = make(), make_theirs(torch.optim, theirs)
    step = st.train_step(problems.of_list, optimizer)
    for number in range(STEPS):
        if number == STEPS // 2:
            optimizer.lr *= 0.5
            descent.param_groups[0]["lr"] *= 0.5
        W, b, V, c = theirs
        descent.zero_grad()
        (torch.sum((torch.tanh(torch.tensor(X) @ W + b) @ V) ** 2) * 3 + c**2).backward()
        descent.step()
        step(params, X)
    for mine, other in zip(params, theirs, strict=True):
        np.testing.assert_allclose(mine, other.detach().numpy(), rtol=1e-11, atol=1e-13)
