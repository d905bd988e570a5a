"""Products of transposes, and of matrices with one row or column."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import verify
from tests.passes.rules import products_of_transposed, thin_product

RNG = np.random.default_rng(11)


def check(text: str, change, *args):
    before = parse_program(text)
    after = change(before)
    verify(after)
    (found,), (wanted,) = evaluate(after, *args), evaluate(before, *args)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    return [e.primitive for e in after.equations]


@pytest.mark.parametrize("order", ["()", "(1, 0)"])
@pytest.mark.parametrize("a", [0, 1])
@pytest.mark.parametrize("b", [0, 1])
def test_transposes_on_all_sides(a: int, b: int, order: str) -> None:
    x, y = RNG.normal(size=(2, 3, 3))
    made = check(
        f"""program f(x: f64[3,3], y: f64[3,3]) {{
          v1: f64[3,3] = transpose(x; axes=(1, 0))
          v2: f64[3,3] = transpose(y; axes=(1, 0))
          v3: f64[3,3] = contract(v1, v2; batch=(), contracted=(({a}, {b}),), order={order}, spelling='')
          v4: f64[3,3] = transpose(v3; axes=(1, 0))
          return v4
        }}""",  # noqa: E501
        products_of_transposed,
        x,
        y,
    )
    assert made == ["contract"]


def test_a_product_that_is_read_elsewhere_is_computed_once() -> None:
    made = check(
        """program f(x: f64[3,3], y: f64[3,3]) {
          v1: f64[3,3] = contract(x, y; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
          v2: f64[3,3] = transpose(v1; axes=(1, 0))
          v3: f64[3,3] = add(v1, v2)
          return v3
        }""",
        products_of_transposed,
        *RNG.normal(size=(2, 3, 3)),
    )
    assert made == ["contract", "transpose", "add"]


SHAPES = [((1, 3), (3, 4)), ((4, 3), (3, 1)), ((4, 1), (1, 3))]
OTHERS = [((3,), (3, 1)), ((1, 3), (3,)), ((1, 3), (3, 1)), ((1, 1), (1, 4)), ((2, 3), (3, 2))]


@pytest.mark.parametrize("order", ["()", "(1, 0)"])
@pytest.mark.parametrize(
    ("x", "y"), [*SHAPES, ((1, 3), (3, 1)), ((1, 1), (1, 4)), ((2, 3), (3, 2))]
)
def test_thin_products(x: tuple[int, ...], y: tuple[int, ...], order: str) -> None:
    dims = [*x[:-1], *y[1:]]
    if order != "()":
        if len(dims) < 2:
            return
        dims.reverse()

    def shown(shape) -> str:
        return ",".join(map(str, shape))

    made = check(
        f"""program f(x: f64[{shown(x)}], y: f64[{shown(y)}]) {{
          v1: f64[{shown(dims)}] = contract(x, y; batch=(), contracted=(({len(x) - 1}, 0),), order={order}, spelling='')
          return v1
        }}""",  # noqa: E501
        thin_product,
        RNG.normal(size=x),
        RNG.normal(size=y),
    )
    assert (len(made) > 1) == ((x, y) in SHAPES)


@pytest.mark.parametrize("rows", [(), (1,)])
def test_a_batch_of_one_has_gradients_of_rank_one(rows: tuple[int, ...]) -> None:
    """However the layer is written, its gradient goes into the weights without being stored."""
    pytest.importorskip("scipy")

    def loss(p, x):
        return np.sum(np.tanh(np.tanh(x @ p["W"].T) @ p["V"]) ** 2)

    p = {"W": RNG.normal(size=(30, 40)), "V": RNG.normal(size=(30, 20))}
    x = RNG.normal(size=(*rows, 40))
    expected = {name: w - 0.1 * st.grad(loss)(p, x)[name] for name, w in p.items()}
    step = st.train_step(loss, st.optim.SGD(0.1), wrt=0, level="fast")
    source = step.source(p, x)
    assert source.count("dger(") == 2 and source.count("dgemv(") == 3 and "dgemm" not in source
    step(p, x)
    for name, w in p.items():
        np.testing.assert_allclose(w, expected[name], rtol=1e-12)
