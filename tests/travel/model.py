"""What a user's module has: functions, what is made of them, and objects. Copied to be imported."""

import numpy as np

import stcompile as st


def helper(x):
    return np.tanh(x)


@st.differentiable(wrt="w")
def loss(w, x):
    return np.sum(helper(w * x) ** 2)


def plain(x):
    return np.sum(helper(x) ** 3)


@st.grad
def decorated(x):
    return np.sum(x * x)


@st.checkpoint
def layer(x):
    return np.tanh(x)


@st.custom_rule(backward=lambda x, d: d / (1 + np.exp(-x)), example=(np.array([-1.0, 0.5]),))
def log1pexp(x):
    return np.logaddexp(0, x), x


@st.primitive(adjoint=lambda y, x, d: 2 * d * x, example=(np.array([1.0, 2.0]),))
def squared(x):
    return x * x


@st.differentiable
def power(x, n=3):
    return 1.0 if n == 0 else x * power(x, n - 1)


class Model:
    def __init__(self):
        self.scale = 2.0
        self.gradient = st.grad(self.energy)

    @st.differentiable
    def loss(self, w):
        return np.sum(w * w) * self.scale

    def energy(self, w):
        return np.sum(w**3) * self.scale


plain_grad = st.grad(plain)
slope = st.value_and_grad(plain)
curvature = st.hessian(plain)
rows = st.jacobian(helper)
