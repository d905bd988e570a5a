"""The gradient checker finds small errors and says where they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import stcompile as st
from stcompile.transforms.check import check_gradients
from stcompile.transforms.custom_rule import CustomRule


def _cube(x):
    return x**3, x


def _right(x, d_y):
    return 3 * x * x * d_y


def _slightly_wrong(x, d_y):
    return 3.0015 * x * x * d_y


def _wrong_in_one_entry(x, d_y):
    d_x = 3 * x * x * d_y
    d_x[1, 0] *= 1.0005
    return d_x


def _wrong_sign(x, d_y):
    return -3 * x * x * d_y


def _not_a_number(x, d_y):
    return x * d_y * np.nan


cube = CustomRule(_cube, _right)
X = np.array([[0.5, 1.0], [1.5, 2.0], [0.25, -1.0]])


def checked(rule: Any) -> Any:
    @st.differentiable(wrt=("params", "x"))
    def loss(params, x):
        return np.sum(rule(params["w"]) * x) + np.sum(np.sin(x))

    return loss


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_right(dtype: Any) -> None:
    checked(cube).check_grads({"w": X.astype(dtype)}, X.astype(dtype))


@pytest.mark.parametrize(
    ("adjoint", "entry"),
    [
        (_slightly_wrong, r'params\["w"\]\[\d, \d\]'),
        (_wrong_in_one_entry, r'params\["w"\]\[1, 0\]'),
        (_wrong_sign, r'params\["w"\]\[\d, \d\]'),
        (_not_a_number, r'params\["w"\]\[\d, \d\]'),
    ],
)
def test_wrong(adjoint: Any, entry: str) -> None:
    """A twentieth of a per cent is enough, in one entry too; the entry is named."""
    loss = checked(CustomRule(_cube, adjoint))
    with pytest.raises(st.GradientCheckError, match=rf"with respect to {entry} is .* give"):
        loss.check_grads({"w": X}, X)


def test_the_message_has_both_numbers() -> None:
    rule = CustomRule(_cube, _wrong_sign)

    @st.differentiable
    def loss(x):
        return rule(x) * 1.0

    with pytest.raises(st.GradientCheckError, match=r"to x is -12\.0, but .* give (12\.0|11\.99)"):
        loss.check_grads(2.0)


def test_a_rule_that_gives_nothing() -> None:
    """A missing cotangent is a silent zero, which differences do not agree with."""
    rule = CustomRule(lambda x, y: (x * y, (x, y)), lambda kept, d: (kept[1] * d, None))

    @st.differentiable(wrt=("x", "y"))
    def loss(x, y):
        return np.sum(rule(x, y))

    with pytest.raises(st.GradientCheckError, match=r"with respect to y\[0\]"):
        loss.check_grads(np.ones(2), np.ones(2))


def test_tolerance() -> None:
    gradient = checked(CustomRule(_cube, _slightly_wrong)).value_and_grad
    check_gradients(gradient, ({"w": X}, X), {}, tolerance=1e-3)
    with pytest.raises(st.GradientCheckError):
        check_gradients(gradient, ({"w": X}, X), {}, tolerance=4e-4)


def test_large_arrays_are_sampled_and_seen_as_a_whole() -> None:
    """An error in any one entry of many shows in a random direction."""

    def _one_wrong(x, d_y):
        d_x = 3 * x * x * d_y
        d_x[997] *= 1.5
        return d_x

    x = np.linspace(0.5, 1.5, 1000)

    @st.differentiable
    def loss(x):
        return np.sum(rule(x))

    rule = cube
    loss.check_grads(x)
    rule = CustomRule(_cube, _one_wrong)
    with pytest.raises(st.GradientCheckError, match=r"with respect to x(\[997\]|, along a random)"):
        loss.check_grads(x)


def test_one_zero_among_large_entries() -> None:
    @st.differentiable
    def loss(x):
        return np.sum(x**2 * np.array([0.0, 1e3, 1.0]))

    loss.check_grads(np.array([1.0, 2.0, 0.0]))


def test_arguments_of_every_kind() -> None:
    @st.differentiable(wrt=("a", "b", "c"))
    def loss(a, b, c, n=2, *, scale=1.0):
        return np.sum(a) * b**n * scale + c[0] * 2 + np.sum(c[1]) * b

    loss.check_grads(np.ones((2, 0)), 1.5, (np.float32(2.0), np.array(3.0)), scale=2.0)
    loss.check_grads(np.ones((2, 2)), np.float64(1.5), [0.0, np.zeros(2)], n=3)


def test_integers_and_arguments_left_out_are_not_moved() -> None:
    @st.differentiable
    def loss(w, labels, big):
        return st.nn.softmax_cross_entropy(w * np.floor(big), labels)

    loss.check_grads(X, np.array([0, 1, 1]), np.float64(2.0))


def test_arguments_are_left_alone() -> None:
    w, x = X.copy(), X.copy()
    checked(cube).check_grads({"w": w}, x)
    np.testing.assert_array_equal(w, X)
    np.testing.assert_array_equal(x, X)


def test_a_decorated_method() -> None:
    class Model:
        w = np.array([1.0, 2.0])

        @st.differentiable
        def loss(self, x):
            return np.sum(self.w * cube(x))

    Model().loss.check_grads(np.array([0.5, -1.5]))


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e-9, 1.0, 1e20, 1e300])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_values_of_any_size(scale: float, shift: float) -> None:
    """What counts is the rounding of the values, not their size."""
    wrong = CustomRule(_cube, lambda x, d_y: 3.03 * x * x * d_y)

    def loss(rule: Any) -> Any:
        return st.differentiable(lambda x: scale * (np.sum(rule(x)) + shift))

    loss(cube).check_grads(X)
    with pytest.raises(st.GradientCheckError, match=r"with respect to x\["):
        loss(wrong).check_grads(X)


def test_what_rounding_hides_is_right() -> None:
    """The differences of entries that are zero, and of some that are too small to be seen."""

    @st.differentiable
    def loss(x):
        return np.sum(np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x)))) + 1e-13 * x[0]

    loss.check_grads(X[0])
    loss.check_grads(X.ravel())


def test_parameters_with_any_name() -> None:
    """The names of the user's parameters are not those of the check's own functions."""

    class Net(NamedTuple):
        w: Any

        def loss(self, at, function, changed=1.0):
            return np.sum(np.tanh(self.w * at)) * function * changed

    net = Net(np.array([0.3, -0.5]))
    st.differentiable(Net.loss).check_grads(net, np.array([1.0, 2.0]), 0.5)
    found = st.differentiable(lambda self, more: np.sum(self * self) * more)
    found.check_grads(np.array([0.3, -0.5]), 2.0)
