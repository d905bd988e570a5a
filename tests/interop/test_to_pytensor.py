"""Functions of PyTensor's variables: PyTensor's checks of gradients, without a compiler of C."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import ArgumentsError
from tests.interop import models

pytensor = pytest.importorskip("pytensor", reason="pytensor is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:Numba will use object mode")
pytensor.config.cxx = ""
pt = pytest.importorskip("pytensor.tensor")
gradient = pytest.importorskip("pytensor.gradient")
to_pytensor = st.interop.to_pytensor

MODE = "FAST_COMPILE"
LAYER = to_pytensor(models.layer)
POINT = [models.W, models.B, models.X]


def variables(*rows: int | None) -> list[Any]:
    shapes = [(2, 3), (3,), (*(rows or (4,)), 2)]
    return [pt.tensor(n, shape=s, dtype="float64") for n, s in zip("Wbx", shapes, strict=True)]


def outputs(weights: Any, bias: Any, x: Any) -> Any:
    return LAYER({"W": weights, "b": bias}, x, 1)


def total(weights: Any, bias: Any, x: Any) -> Any:
    made, number = outputs(weights, bias, x)
    return (made["y"] ** 2).sum() + number


def evaluate(inputs: Any, result: Any, *values: Any) -> Any:
    return pytensor.function(inputs, result, mode=MODE)(*values)


FUNCTIONS = {
    "a number": total,
    "an array": lambda *given: outputs(*given)[0]["k"],
    "a gradient": lambda w, b, x: pt.grad(total(w, b, x), w),
    "a gradient of one output": lambda w, b, x: pt.grad(outputs(w, b, x)[1], x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str) -> None:
    rng = np.random.default_rng(3)
    gradient.verify_grad(FUNCTIONS[name], POINT, n_tests=1, rng=rng, mode=MODE)


def test_hessian() -> None:
    inputs = variables()
    found = evaluate(inputs, gradient.hessian(total(*inputs), inputs[1]), *POINT)

    def plain(b: Any) -> Any:
        made, number = models.layer({"W": models.W, "b": b}, models.X, 1)
        return np.sum(made["y"] ** 2) + number

    assert np.allclose(found, st.hessian(plain)(models.B))


@pytest.mark.parametrize("direct", [True, False])
def test_pushforward(direct: bool) -> None:
    inputs = variables()
    moved = gradient.pushforward(
        outputs(*inputs)[0]["k"], inputs[1], inputs[1] * 2, use_op_pushforward=direct
    )
    _, expected = st.jvp(
        lambda b: models.layer({"W": models.W, "b": b}, models.X, 1)[0]["k"],
        (models.B,),
        (2 * models.B,),
    )
    assert np.allclose(evaluate(inputs, moved, *POINT), expected)


def test_types_and_shapes() -> None:
    inputs = variables(None)
    made, number = outputs(*inputs)
    assert made["steps"] == 1 and number.type.shape == ()
    assert made["y"].type.shape == (None, 3) and made["best"].type.dtype == "int64"
    rows, columns = made["y"].shape
    assert evaluate(inputs, [rows, columns, made["best"]], *POINT)[:2] == [4, 3]
    narrow = {"W": models.W.astype("float32"), "b": pt.fvector("b", shape=(3,))}
    single = LAYER(narrow, pt.fmatrix("x"), 1)
    assert single[1].type.dtype == "float32"


def test_shapes_that_are_known_need_no_call() -> None:
    inputs = variables()
    shape = outputs(*inputs)[0]["y"].shape
    function = pytensor.function(inputs, shape, mode="FAST_RUN", on_unused_input="ignore")
    assert "Stcompile" not in str(function.maker.fgraph)
    assert list(function(*POINT)) == [4, 3]


def test_constants_and_integers_get_no_cotangents() -> None:
    weights = pt.constant(models.W)
    bias, count = pt.vector("b", shape=(3,)), pt.lscalar("count")
    power = to_pytensor(lambda w, b, n: np.sum(w * b) * n)
    by_bias = pt.grad(power(weights, bias, count), bias)
    assert np.allclose(evaluate([bias, count], by_bias, models.B, 3), 3 * models.W.sum(axis=0))
    assert power(weights, bias, count).owner.op.connection_pattern(
        power(weights, bias, count).owner
    ) == [[False], [True], [False]]


def test_equal_calls_are_merged() -> None:
    inputs = variables()
    pair = [outputs(*inputs)[1], outputs(*inputs)[1]]
    function = pytensor.function(inputs, pair, mode="FAST_RUN")
    calls = [node for node in function.maker.fgraph.toposort() if "Stcompile" in str(node.op)]
    assert len(calls) == 1


def test_a_compiled_function_travels() -> None:
    inputs = variables()
    function = pytensor.function(inputs, pt.grad(total(*inputs), inputs[1]), mode=MODE)
    again = pickle.loads(pickle.dumps(function))
    assert np.array_equal(again(*POINT), function(*POINT))


REFUSED = {
    "lengths that do not fit": (
        lambda: LAYER({"W": pt.matrix(), "b": models.B[:2]}, pt.matrix(shape=(2, 7)), 1),
        "lengths are not known.*\n.*shape=",
    ),
    "complex numbers": (lambda: to_pytensor(lambda z: z * z)(pt.zvector()), "complex numbers"),
    "a type that depends on a length": (
        lambda: to_pytensor(lambda x: x if len(x) == 2 else x.sum())(pt.vector()),
        "depends on lengths",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    make, message = REFUSED[case]
    with pytest.raises(ArgumentsError, match=message):
        make()


def test_a_result_that_is_not_of_the_type_that_was_told_is_refused() -> None:
    x = pt.vector("x")
    two = to_pytensor(lambda x: x[:2] * 1.0)(x)
    assert two.type.shape == (2,)
    with pytest.raises(ArgumentsError, match="is of shape \\(1,\\)"):
        evaluate([x], two, np.ones(1))
