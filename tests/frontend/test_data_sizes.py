"""Arrays that are as long as the data decide: masks, places, slices, distinct values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.passes.pipeline import PIPELINE
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.text import parse_program
from stcompile.wengert.verify import VerificationError, verify
from tests.programs import Examples

examples = Examples()

V = np.array([1.4, -2.0, 3.2, 0.7, -0.4, 2.2])
X = np.sin(np.arange(12.0) + 0.4).reshape(4, 3)
COUNTS = np.array([2, 0, 1, 3, 0, 1])
NONE = V - 9


# --- selections as values ------------------------------------------------------------------------


@examples(V)
@examples(NONE)
def functions_of_selections(x):
    v = x[x > 0]
    turned = np.cumsum(v)[::-1].reshape(-1, 1)
    return np.sum(turned * v[:, None]), v.shape, v.size, len(v), np.sort(v), v[:2], v[1:], v[:-1]


@examples(X)
def products_and_rows(x):
    rows, columns = x[:, 0] > 0, x[0] > -0.5
    part = x[rows]
    return (
        (
            part.T @ part,
            np.sum((part @ x.T) ** 2),
            np.linalg.norm(part, axis=1),
            np.sum(part, axis=1),
        ),
        (x[:, columns], x[rows, 1], np.sum(x[rows][:, columns] ** 2), np.mean(part, axis=0)),
        (np.var(x[x > 0]), np.std(part), np.sum(x[x > 0.5], keepdims=True)),
    )


@examples(V)
def joined_and_stacked(x):
    v = x[x > 0]
    pairs = np.stack([v, v * v])
    return (
        np.concatenate([v, x[x < 0], np.ones(2)]),
        pairs[1],
        np.hstack([v, v]),
        np.sum(np.outer(v, v) ** 2),
    )


@examples(V)
def changed_in_place(x):
    v = x[x > 0]
    v += 1.0
    v[0] *= 3
    v[1:] = v[:-1] * 2
    zeros = np.zeros_like(v)
    zeros += v * np.arange(len(v))
    return v, zeros, np.ones(len(v)) + v


@examples(V)
def stepped_through(x):
    total = x[0] * 0.0
    for item in x[x > 0]:
        total = total + item * item * total + item
    v = x[x < 0]
    for i in range(len(v)):
        total = total * 0.5 + v[i]
    return total


@examples(V)
def gradients_inside(x):
    return st.grad(lambda v: np.sum(v**3))(x[x > 0])


@examples(V, 2.5)
@examples(V, -2.5)
def in_branches_and_loops(x, t):
    y, total = x * 1.0, t * 0.0
    outside = x > 0.5
    for i in range(30):
        inside = y > 0.5 + 0.01 * i
        v = y[inside]
        total = total + np.sum(np.sin(v)) + np.sum(x[outside])
        y[inside] = v * 0.9
        if total > 40 + t:
            w = y[y < i]
            total = total + np.sum(w * w) * 0.01
    return total, y


@examples(V, 1.0)
@examples(V, -1.0)
def in_the_second_arm(x, s):
    y, z = x * 0.5, np.sum(x)
    for _ in range(17):
        if s > 0:
            y *= 0.5
        else:
            z = z + np.sum(np.unique(y)) * np.mean(y[y > 0.3])
    return z, y


@examples(V)
def counts_as_lengths(x):
    n = (x > 0).sum()
    k = int(np.sum(x < 0))
    z = np.zeros((k, 2)) + x[0]
    out = []
    for i in range(n):
        out.append(x[i] * i)
    return np.arange(n) * x[x > 0], z, np.ones(k), np.arange(k, n) * x[1], np.array(out)


@examples(V, 2)
@examples(V, -1)
def at_a_place_that_the_data_decide(x, n):
    i = np.argmax(x)
    m = np.outer(x, x)
    return (
        (np.delete(x, i) ** 2, np.delete(x, i - 3), np.delete(m, i, axis=1), np.delete(x, n)),
        (np.insert(x, i, x[0] * 2), np.insert(m, i, x, axis=0), np.insert(x, i + 1, 3.0)),
    )


# --- places --------------------------------------------------------------------------------------


@examples(V)
@examples(NONE)
def places(x):
    a, b = np.flatnonzero(x > 0), np.where(x < 0)[0]
    return x[a] * 2, x[b] ** 2, x[np.nonzero(x)], a, np.argwhere(x > 1), (x > 0).nonzero()[0]


@examples(X)
def places_of_two_axes(x):
    i, j = np.nonzero(x > 0)
    at = np.argwhere(x > 0.5)
    return x[i, j] * (i + 2 * j), x[at[:, 0], at[:, 1]]


@examples(V, COUNTS, wrt=0)
def chosen(x, c):
    return (
        np.compress(c > 0, x) ** 2,
        np.extract(x > 0, x),
        x.compress(x > 1),
        x[np.isin(c, [1, 2])],
    )


@examples(np.array([0.3, 2.1, 0.2, -1.1, 1.8, 0.4]))
def distinct_values(x):
    values, first, inverse, counts = np.unique(np.rint(x), True, True, True)
    return x[first] ** 2, inverse, counts, values[inverse] * x, np.union1d(x[:2], x * 2)


@examples(V, COUNTS, wrt=0)
def repeated(x, c):
    return np.repeat(x, c) ** 2, np.repeat(x, c)[1:]


@examples(V, COUNTS, wrt=0, rtol=1e-6)
def added_up(x, c):
    return np.bincount(c, weights=x), np.setdiff1d(c, [0, 3])


def test_a_histogram_between_the_extremes():
    """Without a range the edges go from the least element to the greatest, or around one number."""

    def weighed(x, w):
        counts, edges = np.histogram(x, 5)
        sums, _ = np.histogram(x, 5, weights=w)
        return sums / (counts + 1.0), edges, counts

    rng = np.random.default_rng(3)
    for dtype in (np.float64, np.float32):
        for x in (rng.normal(size=40), np.full(4, 2.0), np.arange(12.0) % 5):
            x, w = x.astype(dtype), rng.normal(size=x.size).astype(dtype)
            for got, expected in zip(st.compile(weighed)(x, w), weighed(x, w), strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-5, strict=True)

    def loss(x, w):
        sums, edges, _ = weighed(x, w)
        return np.sum(sums**2) + np.sum(edges**3)

    x, w = rng.normal(size=9), rng.normal(size=9)
    for at, gradient in zip((0, 1), st.grad(loss, wrt=(0, 1))(x, w), strict=True):
        for place in range(9):
            step = 1e-6 * np.eye(9)[place]
            up, down = [x, w], [x, w]
            up[at], down[at] = up[at] + step, down[at] - step
            np.testing.assert_allclose(
                gradient[place], (loss(*up) - loss(*down)) / 2e-6, rtol=1e-4, atol=1e-6
            )

    with pytest.raises(ValueError, match="not finite"):
        st.compile(weighed)(np.array([1.0, np.nan]), np.ones(2))


def test_a_histogram_with_weights():
    def program(x, w):
        even, _ = np.histogram(x, bins=4, range=(-3, 3), weights=w)
        given, _ = np.histogram(x, np.array([-3.0, 0.0, 1.0, 3.21]), weights=w * w)
        return np.sum(even**2) + np.sum(given**2)

    value, gradient = st.value_and_grad(program, wrt="w")(V, V + 1)
    assert np.isclose(value, program(V, V + 1))
    step = 1e-6 * np.eye(6)
    differences = [(program(V, V + 1 + s) - program(V, V + 1 - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(gradient, differences, atol=1e-6)


# --- slices --------------------------------------------------------------------------------------


@examples(V, np.array([2, 5, -2, 9, -9]), wrt=0)
@examples(V, np.array([0, 0, 6, -1, 3]), wrt=0)
def slices(x, at):
    parts = [x[: at[i]] for i in range(5)] + [x[at[i] :] for i in range(5)]
    return parts, x[at[0] : at[1]], x[at[2] : at[0]], x[1 : at[1]], x[at[0] : -1], x[at[3] : 4]


@examples(X, np.array([1, 3]), wrt=0)
def parts_of_matrices(x, at):
    y = x * 2
    y[at[0] : at[1]] = x[at[0] : at[1]] ** 2
    y[:, : at[0]] += 1.0
    y[at[1] :, at[0] :] *= 3
    return y, x[at[0] : at[1], : at[0]] @ x[: at[0], :]


@examples(V)
@examples(NONE)
def counts_that_only_one_path_can_compute(x):
    m, total = int(np.sum(x > 0)), x[0] * 0.5
    share = np.sum(x) / m if m > 0 else np.nan
    if m > 0:
        total = total + np.sum(np.ones(len(x) // m)) * x[1]
        total = total + np.sum(np.zeros(int(share * share)) + x[2])
    return total


@examples(V)
@examples(NONE)
def ends_that_a_counter_gives(x):
    v, total = x[x > 0], x[0] * 0.5
    for i in range(len(v) // 2):
        total = total * 0.5 + np.sum(v[i : len(v)]) + v[i:][0]
    return total


@examples(
    np.arange(1.0, 9.0) / 3,
    np.array([0.5, 1.5, -2.0, 0.3]),
    np.array([0, 2, 5, 5, 8] * 4),
    np.array([0, 2, 1, 2, 3, 0, 1, 3]),
    wrt=(0, 1),
)
def sparse_product(values, x, ends, columns):
    y = np.zeros(len(ends) - 1)
    for i in range(len(ends) - 1):
        y[i] = values[ends[i] : ends[i + 1]] @ x[columns[ends[i] : ends[i + 1]]]
    return np.sum(y**2), y


@examples.test
def test_program(example):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        example.check()


# --- lengths that have to be equal ---------------------------------------------------------------


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_lengths_are_compared_at_run_time(level):
    def product(x, w):
        return np.sum(x[x > 0] * w)

    compiled = st.value_and_grad(product, level=level)
    w = np.array([1.0, 2.0, 3.0])
    x = np.array([1.0, -1.0, 2.0, 3.0])
    value, gradient = compiled(x, w)
    assert value == product(x, w)
    np.testing.assert_array_equal(gradient, [1.0, 0.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"shapes \(2,\) \(3,\)"):
        compiled(np.array([1.0, -1.0, 2.0, -3.0]), w)
    with pytest.raises(ValueError, match=r"shapes \(1,\) \(3,\)"):  # which NumPy broadcasts
        compiled(np.array([1.0, -1.0, -2.0, -3.0]), w)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x[x > 0] + x[x < 1],
        lambda x: np.stack([x[x > 0], x[x < 1]]),
        lambda x: x[x > 0] @ x[x < 1],
        lambda x: np.copyto(np.zeros(2), x[x > 0]),
    ],
)
def test_operands_of_other_lengths(program):
    with pytest.raises(ValueError, match="shape|match"):
        st.compile(program)(V)


def test_an_axis_that_may_be_of_one_element_is_not_squeezed():
    with pytest.raises(st.LanguageError, match="the length of an axis"):
        st.compile(lambda x: np.sum(x) * np.squeeze(x[x > 0]).ndim)(V)


def test_lengths_that_are_equal_by_another_name():
    def program(x):
        y = np.zeros(4)
        y[:] = x[x > 0]
        return y * x[x > 0] + x[x > 0.5]

    np.testing.assert_array_equal(st.compile(program)(V), program(V))


# --- second order --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.sum(x[x > 0] ** 3 * np.sin(x[x > 0])),
        lambda x: np.sum(np.cumsum(x[x > 0]) ** 3) + np.prod(x[x > 0]),
        lambda x: np.var(x[x > 0]) * np.mean(x[x < 0] ** 2),
    ],
)
def test_second_order(program):
    hessian = st.hessian(program)(V)
    gradient, step = st.grad(program), 1e-5 * np.eye(6)
    differences = np.array([(gradient(V + s) - gradient(V - s)) / 2e-5 for s in step])
    np.testing.assert_allclose(hessian, differences, atol=1e-6)
    tangent = st.jvp(program, (V,), (np.arange(6.0),))[1]
    assert np.isclose(tangent, gradient(V) @ np.arange(6.0))


# --- transformations -----------------------------------------------------------------------------


def nested(x):
    v, total = x[x > 0], x[0] * 0.0
    for i in range(30):
        w = v[v > 0.1 * i + 0.037]
        total = total + np.sum(w * w) * np.mean(v)
    return total


@st.checkpoint
def block(x):
    return np.sum(np.sin(x[x > 0]) ** 2) * x


def twice(x):
    return np.sum(block(block(x)) ** 2)


@pytest.mark.parametrize("program", [nested, twice])
def test_lengths_are_named_once_in_each_program(program):
    gradient, step = st.grad(program)(V), 1e-6 * np.eye(6)
    differences = [(program(V + s) - program(V - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(st.vjp(program, V)[1](1.0)[0], gradient)
    forward, reverse = (st.hessian(program, mode=mode)(V) for mode in ("forward", "reverse"))
    np.testing.assert_allclose(forward, reverse, atol=1e-9)


def test_what_is_refused():
    def repeated(x):
        total = 0.0
        for i in range(30):
            total = total + np.sum(np.repeat(x, (x > 0.01 * i).astype(int)) ** 2)
        return total

    with pytest.raises(st.DerivativeError, match="no bound"):
        st.grad(repeated)(V)
    with pytest.raises(st.LanguageError, match="known only inside"):
        st.grad(lambda x: np.sum(st.checkpoint(lambda y: y[y > 0])(x)))(V)


def test_the_refusal_of_a_part_that_only_a_loop_knows_names_it():
    def part_of_a_step(x):
        n = 1
        while np.sum(x) < 10 * n and n < 3:
            n = n + 1
            part = x[:n]
        return np.sum(part**2)

    with pytest.raises(st.LanguageError) as caught:
        st.grad(part_of_a_step)(V)
    assert caught.value.reason.startswith("`part` has a length that is known only inside")


# --- the mechanism -------------------------------------------------------------------------------

TEXT = """program f(x: f64[5], k: int) {
  n: int = named(k; binds=[n.1: 0 to 5]) !bind
  v1: f64[n.1] = slice(x; drop=(), length=([n.1],), start=((0,),), step=(1,))
  v2: f64[n.1] = full(1.0; dtype=f64, shape=([n.1],))
  v3: f64[n.1] = multiply(v1, v2)
  v4: f64 = sum(v3; axis=(0,), keepdims=False)
  return v4, v1
}"""


def test_a_name_holds_to_the_end_of_its_program():
    program = parse_program(TEXT)
    verify(program)
    assert str(program) == TEXT and parse_program(str(program)) == program
    total, part = evaluate(program, np.arange(5.0), 3)
    assert total == 3 and part.tolist() == [0, 1, 2]
    for stage in PIPELINE:
        program = stage.run(program)
        verify(program)
        assert evaluate(program, np.arange(5.0), 2)[0] == 1
    with pytest.raises(VerificationError, match="n.1, which nothing around it binds"):
        _unbound()


def _unbound() -> None:
    program = parse_program(TEXT)
    first, second, *rest = program.equations
    verify(type(program)(program.name, program.inputs, (second, first, *rest), program.outputs))


def test_a_name_goes_with_the_last_mention():
    text = TEXT.replace("return v4, v1", "return k")
    (eliminate,) = (s for s in PIPELINE if s.name == "eliminate_dead_code")
    assert eliminate.run(parse_program(text)).equations == ()


def test_a_batch_has_one_length():
    with pytest.raises(st.StcompileError, match="another number of elements"):
        st.vmap(lambda x: np.sum(x[x > 0]))(X)
    rows = np.array([True, False, True])
    found = st.vmap(lambda x, m: np.sum(x[m] ** 2), (0, None))(X, rows)
    np.testing.assert_allclose(found, np.sum(X[:, rows] ** 2, axis=1))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("count", [1, 2])
def test_places_keep_the_order_of_the_array(order: str, count: int) -> None:
    """NumPy's `delete` and `insert` give arrays in Fortran order for those in it."""

    def changed(a: Any, t: Any) -> Any:
        k = int(np.sum(t > 0))
        return np.delete(a, k, axis=1), np.insert(a, k, 2.0, axis=0), np.insert(a, k, 1.0)

    args = np.asarray(np.arange(12.0).reshape(3, 4), order=order), np.ones(count)
    for expected, found in zip(changed(*args), st.compile(changed)(*args), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.strides == expected.strides


@pytest.mark.parametrize("equal_nan", [True, False])
def test_distinct_values_with_nan(equal_nan):
    def counted(x):
        return len(np.unique(x, equal_nan=equal_nan)) * x[0]

    x = np.array([2.0, np.nan, 1.0, np.nan, 2.0])
    assert st.grad(counted)(x)[0] == len(np.unique(x, equal_nan=equal_nan)) == 4 - equal_nan
