"""Uses that type checkers accept, and the types that they find; all of them run."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import stcompile as st
from stcompile.base.shown import Source

Array = NDArray[np.float64]
Params = dict[str, Array]


def model(w: Array, x: float, scale: float = 1.0, *, shift: float = 0.0) -> float:
    return float(np.sum(w * x * scale + shift))


def with_aux(w: Array, x: float) -> tuple[float, Params]:
    return x, {"w": w}


def square(x: float) -> float:
    return x * x


def vector(x: Array) -> Array:
    return x * x


def keywords_only(*, x: float) -> float:
    return x


w: Array = np.ones(3)
params: Params = {"w": w}

# --- the decorator: bare, called, by one argument, by several -------------------------------------


@st.differentiable
def bare(w: Array, x: float, scale: float = 1.0, *, shift: float = 0.0) -> float:
    return model(w, x, scale, shift=shift)


@st.differentiable()
def called(w: Array, x: float) -> float:
    return model(w, x)


@st.differentiable(wrt="w", level="readable")
def by_one(w: Array, x: float) -> float:
    return model(w, x)


@st.differentiable(wrt=("w", "x"), memory="64MB")
def by_several(w: Array, x: float) -> float:
    return model(w, x)


@st.differentiable(wrt=["w"])
def by_a_list(w: Array, x: float) -> float:
    return model(w, x)


assert_type(bare(w, 2.0), float)
assert_type(bare(w, 2.0, 3.0, shift=1.0), float)
assert_type(bare(x=2.0, w=w), float)
assert_type(bare.grad(w, 2.0), Array)
assert_type(bare.grad(w=w, x=2.0), Array)
assert_type(bare.value_and_grad(w, 2.0, shift=1.0), tuple[float, Array])
assert_type(bare.primal(w, 2.0), float)
assert_type(called.value_and_grad(w, 2.0), tuple[float, Array])
assert_type(by_one.value_and_grad(w, 2.0)[0], float)
assert_type(by_several.grad(w, 2.0), tuple[Any, ...])
assert_type(by_a_list.value_and_grad(w, 2.0), tuple[float, tuple[Any, ...]])
assert_type(bare.source(w, 2.0), Source)
assert_type(bare.value_and_grad.source(w, x=2.0), Source)
bare.memory(w, 2.0).nbytes.bit_length()
bare.trace(w, x=2.0).rows[0].primal.upper()
bare.explain(w, 2.0).rows[0].verdict.upper()
bare.graph(w, 2.0, adjoint=True).depth.bit_length()
bare.wengert(w, 2.0).name.upper()
bare.check_grads(w, 2.0, shift=3.0)
bare.export("file.py", w, 2.0)

# --- methods, static methods, instances -----------------------------------------------------------


@dataclass
class Model:
    w: Array

    @st.differentiable
    def loss(self, x: Array, scale: float = 1.0) -> float:
        return float(np.sum(self.w * x * scale))

    @st.differentiable(wrt=("x", "scale"))
    def by_several(self, x: Array, scale: float = 1.0) -> float:
        return float(np.sum(self.w * x * scale))

    @staticmethod
    @st.differentiable
    def penalty(w: Array) -> float:
        return float(np.sum(w * w))

    @classmethod
    def made(cls) -> Model:
        return cls(np.ones(3))


one = Model.made()
assert_type(one.loss(w), float)
assert_type(one.loss(x=w, scale=2.0), float)
assert_type(one.loss.value_and_grad(w, 2.0)[0], float)
assert_type(one.by_several.value_and_grad(w)[0], float)
assert_type(Model.loss(one, w), float)
assert_type(Model.loss.grad(one, w), Model)
assert_type(Model.penalty.grad(w), Array)
assert_type(st.grad(one.loss)(w), Array)

# --- functions of functions -----------------------------------------------------------------------

assert_type(st.grad(model)(w, 2.0), Array)
assert_type(st.grad(model)(w, 2.0, 1.0, shift=2.0), Array)
assert_type(st.grad(model, "w")(w, 2.0), Any)
assert_type(st.grad(model, wrt=("w", "x"))(w, 2.0), tuple[Any, ...])
assert_type(st.grad(with_aux, has_aux=True)(w, 2.0), tuple[Array, Params])
assert_type(st.grad(with_aux, "w", has_aux=True)(w, 2.0), tuple[Any, Params])
assert_type(st.grad(with_aux, (0, 1), has_aux=True)(w, 2.0), tuple[tuple[Any, ...], Params])
assert_type(st.value_and_grad(model)(w, 2.0), tuple[float, Array])
assert_type(st.value_and_grad(model, wrt=-1, debug_nans=True)(w, 2.0)[0], float)
assert_type(st.value_and_grad(with_aux, has_aux=True)(w, 2.0), tuple[tuple[float, Params], Array])
assert_type(st.value_and_grad(model, wrt=["w", 1])(w, 2.0), tuple[float, tuple[Any, ...]])
assert_type(st.grad(st.grad(square))(2.0), float)
assert_type(st.grad(bare)(w, 2.0), Array)
assert_type(st.jacobian(bare.grad, wrt="x")(w, 2.0), Any)
assert_type(st.grad(keywords_only, wrt="x")(x=2.0), Any)
st.grad(functools.partial(model, x=2.0))(w)
st.grad(lambda x: x * x)(3.0)

assert_type(st.jacobian(vector)(w), Any)
assert_type(st.jacobian(vector, mode="reverse", level="fast")(w), Any)
assert_type(st.jacobian(model, wrt=("w", "x"))(w, 2.0), Any)
assert_type(st.jacobian(with_aux, has_aux=True)(w, 2.0), tuple[Any, Params])
assert_type(st.hessian(model)(w, 2.0), Any)
assert_type(st.hessian(square, holomorphic=False)(2.0), Any)

assert_type(st.vmap(square)(w), Any)
assert_type(st.compile(model)(w, 2.0, shift=1.0), float)
assert_type(st.checkpoint(model)(w, 2.0, shift=1.0), float)

step = st.train_step(by_one, st.optim.SGD(0.1), wrt="w")
assert_type(step(w, 2.0), float)
assert_type(step.source(w, x=2.0), Source)

# --- products, rules, hooks -----------------------------------------------------------------------

assert_type(st.jvp(model, (w, 2.0), (w, 1.0)), tuple[float, float])
assert_type(st.jvp(with_aux, [w, 2.0], [w, 1.0], has_aux=True), tuple[float, float, Params])
value, pullback = st.vjp(vector, w)
value, linear = st.linearize(vector, w)
assert_type(linear(w), Array)
assert_type(st.linearize(by_one, w, 2.0)[1](w, 1.0), float)
assert_type(st.linearize(model, w, 2.0)[0], float)
assert_type(st.linearize(lambda x: w * x, 2.0)[0], Array)
assert_type(st.vjp(lambda x: w * x, 2.0)[0], Array)
assert_type(value, Array)
assert_type(pullback(value), tuple[Array])
assert_type(st.vjp(by_one, w, 2.0)[0], float)
assert_type(st.vjp(by_one, w, 2.0)[1](1.0)[1], float)
assert_type(st.vjp(model, w, 2.0)[0], float)
assert_type(st.vjp(with_aux, w, 2.0, has_aux=True)[2], Params)
assert_type(st.stop_gradient(2.0), float)
assert_type(st.on_cotangent(2.0, lambda d: d), float)
assert_type(st.complex_step(vector, (w,), (w,)), Array)


@st.custom_rule(backward=lambda x, d: d, example=(w,))
def ruled(x: Array) -> tuple[Array, Array]:
    return x, x


@st.primitive(adjoint=lambda y, x, d_y: d_y, example=(w,))
def foreign(x: Array) -> Array:
    return x


assert_type(ruled(w), Array)
assert_type(foreign(w), Array)
assert_type(st.jacobian(foreign)(w), Any)
