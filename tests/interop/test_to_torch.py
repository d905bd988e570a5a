"""Functions of PyTorch's tensors: PyTorch's own checks of gradients, and PyTorch's transforms."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import ArgumentsError
from tests.interop import models

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
func = torch.func
to_torch = st.interop.to_torch


def tensor(values: Any, moves: bool = True) -> Any:
    return torch.tensor(values, requires_grad=moves)


LAYER = to_torch(models.layer)


def outputs(weights: Any, bias: Any, x: Any) -> Any:
    """The floating-point outputs of the layer."""
    made, total = LAYER({"W": weights, "b": bias}, x, 1)
    return made["y"], made["k"], total


def total(weights: Any, bias: Any, x: Any) -> Any:
    return outputs(weights, bias, x)[2]


def own(weights: Any, bias: Any, x: Any) -> Any:
    """The same in PyTorch."""
    h = torch.tanh(x @ weights + bias)
    return torch.sum(torch.sin(h))


def three() -> tuple[Any, Any, Any]:
    return tensor(models.W), tensor(models.B), tensor(models.X)


Z = np.array([0.5 + 1j, -1.0 + 0.3j])
COMPLEX = {
    "a real number": lambda z: np.sum(np.abs(z) ** 2 * np.real(z)),
    "complex numbers": lambda z: z * z * np.exp(z) + np.conj(z),
}


@pytest.mark.parametrize("moving", [(0, 1, 2), (0,), (1, 2)])
def test_both_orders_and_forward_mode(moving: tuple[int, ...]) -> None:
    inputs = [one.requires_grad_(at in moving) for at, one in enumerate(three())]
    assert torch.autograd.gradcheck(outputs, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(outputs, inputs)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_have_the_gradients_of_pytorch(name: str) -> None:
    """They are the conjugates of stcompile's."""
    function = to_torch(COMPLEX[name])
    assert torch.autograd.gradcheck(function, (tensor(Z),), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (tensor(Z),))


def test_control_flow_and_writes() -> None:
    x, y = tensor([0.5, -0.3, 1.2]).double().detach().requires_grad_(), tensor(0.7).double()
    function = to_torch(models.branches)
    assert torch.autograd.gradcheck(lambda x: function(x, y.detach())[0], (x,))
    value, constant = function(x, y)
    (value + constant).backward()
    assert x[0] == 0.5 and constant == 2.0
    assert np.allclose(
        x.grad, st.grad(lambda x: models.branches(x, 0.7)[0])(x.detach().numpy().copy())
    )


BATCH = np.random.default_rng(0).normal(size=(5, 4, 2))
TRANSFORMS = {
    "grad": lambda f, w, b, x, xs: func.grad(f, (0, 1, 2))(w, b, x),
    "vjp": lambda f, w, b, x, xs: func.vjp(f, w, b, x)[1](torch.tensor(2.0).double()),
    "jvp": lambda f, w, b, x, xs: func.jvp(lambda x: f(w, b, x), (x,), (x,)),
    "hessian": lambda f, w, b, x, xs: func.hessian(f, 1)(w, b, x),
    "jacrev of jacrev": lambda f, w, b, x, xs: func.jacrev(func.jacrev(f, 1), 1)(w, b, x),
    "vmap": lambda f, w, b, x, xs: func.vmap(f, (None, None, 0))(w, b, xs),
    "vmap of grad": lambda f, w, b, x, xs: func.vmap(func.grad(f), (None, None, 0))(w, b, xs),
    "vmap of hessian": lambda f, w, b, x, xs: func.vmap(func.hessian(f, 1), (None, None, 0))(
        w, b, xs
    ),
    "grad of vmap": lambda f, w, b, x, xs: func.grad(
        lambda w: func.vmap(f, (None, None, 0))(w, b, xs).sum()
    )(w),
    "other axes": lambda f, w, b, x, xs: func.vmap(lambda x: f(w, b, x.T), in_dims=2)(
        xs.permute(2, 1, 0)
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str) -> None:
    given = [*(one.detach() for one in three()), tensor(BATCH, False)]
    found, expected = (TRANSFORMS[name](f, *given) for f in (total, own))
    torch.testing.assert_close(found, expected)


def test_vectors_in_a_batch_after_a_plain_call() -> None:
    weights, bias, x = three()
    total_of = outputs(weights, bias, x)[1]
    by = functools.partial(torch.autograd.grad, total_of, weights, retain_graph=True)
    (found,) = func.vmap(lambda v: by(grad_outputs=v))(torch.eye(3).double())
    expected = torch.autograd.functional.jacobian(lambda w: outputs(w, bias, x)[1], weights)
    torch.testing.assert_close(found, expected)


def test_no_cotangents_but_those_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from stcompile.interop.leaves import Positional

    asked = []
    made = Positional.with_residuals
    monkeypatch.setattr(
        Positional, "with_residuals", lambda self, wrt: (asked.append(wrt), made(self, wrt))[1]
    )
    weights, bias, x = three()
    total(weights.detach(), bias, x.detach()).backward()
    with torch.no_grad():
        assert total(weights, bias, x).grad_fn is None
    assert not total(weights.detach(), bias.detach(), x.detach()).requires_grad
    assert asked == [(1,)]


def test_dtypes_and_layouts() -> None:
    weights, bias, x = (one.detach().float() for one in three())
    x = x.T.contiguous().T.requires_grad_()
    assert not x.is_contiguous()
    made, number = LAYER({"W": weights, "b": bias}, x, 1)
    assert {made["y"].dtype, number.dtype} == {torch.float32} and number.shape == ()
    assert made["steps"] == 1 and made["best"].dtype == torch.int64
    assert not made["best"].requires_grad
    number.backward()
    expected = torch.autograd.grad(own(weights, bias, x), x)[0]
    assert x.grad.dtype == torch.float32 and torch.allclose(x.grad, expected, atol=1e-5)


def test_results_are_no_views_of_arguments() -> None:
    x = torch.ones(2, 2)
    whole, turned = to_torch(lambda x: (x, x.T[::-1]))(x)
    whole[0, 0] = 5.0
    turned[0, 0] = 5.0
    assert bool((x == 1).all())


def test_in_place_changes_after_a_call_are_seen() -> None:
    x = tensor(models.B)
    y = x * 1
    value = to_torch(lambda x: np.sum(x * x))(y)
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.backward()


def test_a_layer_in_a_model_is_trained() -> None:
    torch.manual_seed(0)
    first = torch.nn.Linear(2, 3).double()
    bias = torch.nn.Parameter(torch.zeros(3).double())
    function = to_torch(lambda h, bias: np.tanh(h) + bias)
    x = tensor(models.X, False)
    seen = torch.ones(4, 3).double()
    optimiser = torch.optim.LBFGS([*first.parameters(), bias], max_iter=50)

    def loss() -> Any:
        optimiser.zero_grad()
        value = torch.mean((function(first(x), bias) - seen) ** 2)
        value.backward()
        return value

    assert optimiser.step(loss) > 0.1 and loss() < 1e-6


REFUSED = {
    "another device": (lambda: torch.ones(2, device="meta"), "the device 'meta'.*\n.*x.cpu()"),
    "a type that NumPy lacks": (lambda: torch.ones(2, dtype=torch.bfloat16), "torch.bfloat16"),
    "a sparse tensor": (lambda: torch.ones(2).to_sparse(), "x.to_dense()"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    make, message = REFUSED[case]
    with pytest.raises(ArgumentsError, match=message):
        to_torch(lambda x: x + 1)(make())


def test_it_travels() -> None:
    function = pickle.loads(pickle.dumps(LAYER))
    assert torch.equal(
        function({"W": tensor(models.W), "b": 0.5}, tensor(models.X), 1)[1],
        LAYER({"W": tensor(models.W), "b": 0.5}, tensor(models.X), 1)[1],
    )


def test_the_name_and_the_level_are_the_function_s() -> None:
    function = to_torch(models.branches)
    assert function.__name__ == "branches"
    assert function.options.level == "readable"
    assert to_torch(models.branches, level="fast").options.level == "fast"
