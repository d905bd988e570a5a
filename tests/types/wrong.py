"""Uses that type checkers refuse: each marked line, for the reason that it names, and no other.

It is read by them, never run. A mark has the code of mypy, then that of pyright.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import stcompile as st

Array = NDArray[np.float64]
w: Array = np.ones(3)


@st.differentiable
def loss(w: Array, x: float, *, shift: float = 0.0) -> float:
    return float(np.sum(w * x + shift))


@st.differentiable(wrt="w")
def by_name(w: Array, x: float) -> float:
    return float(np.sum(w * x))


class Model:
    @st.differentiable(wrt="x")
    def loss(self, x: Array) -> float:
        return float(np.sum(x))


def plain(w: Array, x: float) -> float:
    return float(np.sum(w * x))


def vector(x: Array) -> Array:
    return x


step = st.train_step(loss, st.optim.SGD(0.1))

# --- arguments ------------------------------------------------------------------------------------

loss(w, 2.0, 3.0)  # refused: call-arg, reportCallIssue
loss(w)  # refused: call-arg, reportCallIssue
loss("w", 2.0)  # refused: arg-type, reportArgumentType
loss(w, y=2.0)  # refused: call-arg, reportCallIssue
loss(w, 2.0, shift="much")  # refused: arg-type, reportArgumentType
loss.grad(w, 2.0, 3.0)  # refused: call-arg, reportCallIssue
loss.value_and_grad("w", 2.0)  # refused: arg-type, reportArgumentType
loss.source(w)  # refused: call-arg, reportCallIssue
loss.memory(w, "x")  # refused: arg-type, reportArgumentType
loss.trace()  # refused: call-arg, reportCallIssue
loss.grad.source(w)  # refused: call-arg, reportCallIssue
by_name(w, 2.0, 3.0)  # refused: call-arg, reportCallIssue
by_name.value_and_grad(w)  # refused: call-arg, reportCallIssue
Model().loss()  # refused: call-arg, reportCallIssue
Model().loss(w, w)  # refused: call-arg, reportCallIssue
Model().loss.grad("x")  # refused: arg-type, reportArgumentType
Model.loss(w)  # refused: call-arg, reportCallIssue
st.grad(plain)(w)  # refused: call-arg, reportCallIssue
st.grad(plain, "x")(w, 2.0, 3.0)  # refused: call-arg, reportCallIssue
st.value_and_grad(plain, ("w", "x"))(w, "x")  # refused: arg-type, reportArgumentType
st.jacobian(vector)(w, w)  # refused: call-arg, reportCallIssue
st.jacobian(by_name)(w)  # refused: call-arg, reportCallIssue
st.hessian(plain)(w)  # refused: call-arg, reportCallIssue
st.compile(plain)(w, "x")  # refused: arg-type, reportArgumentType
st.checkpoint(plain)(w)  # refused: call-arg, reportCallIssue
step(w)  # refused: call-arg, reportCallIssue

# --- results --------------------------------------------------------------------------------------

text: str = loss(w, 2.0)  # refused: assignment, reportAssignmentType
number: float = loss.grad(w, 2.0)  # refused: assignment, reportAssignmentType
one, two, three = loss.value_and_grad(w, 2.0)  # refused: misc, reportAssignmentType
loss(w, 2.0).shape  # refused: attr-defined, reportAttributeAccessIssue
loss.gradient(w, 2.0)  # refused: attr-defined, reportAttributeAccessIssue
st.vjp(plain, w, 2.0)[2]  # refused: misc, reportGeneralTypeIssues
step(w, 2.0).shape  # refused: attr-defined, reportAttributeAccessIssue

# --- options --------------------------------------------------------------------------------------

st.grad(plain, level="slow")  # refused: call-overload, reportCallIssue
st.differentiable(plain, memory=1.5)  # refused: call-overload, reportCallIssue
st.value_and_grad(plain, wrt=1.5)  # refused: call-overload, reportCallIssue
st.jacobian(vector, mode="sideways")  # refused: call-overload, reportArgumentType
st.grad(3)  # refused: call-overload, reportCallIssue
st.grad(plain, has_aux=True)  # refused: call-overload, reportCallIssue
st.vjp(plain, 1.0)  # refused: arg-type, reportArgumentType
st.vjp(plain, "a", 1.0)  # refused: arg-type, reportArgumentType
st.linearize(plain, "a", 1.0)  # refused: arg-type, reportArgumentType
st.linearize(plain, w)  # refused: arg-type, reportArgumentType
st.linearize(plain, w, 1.0)[1](w)  # refused: call-arg, reportCallIssue
st.train_step(loss, 0.1)  # refused: arg-type, reportArgumentType
