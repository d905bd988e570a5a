"""Lists whose length the data decide, as results: what the caller gets, and its derivatives."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import stcompile as st
from stcompile.base import trees

X = np.array([0.9, 0.8])
NUMBERS = np.array([1.0, -1.0, 2.0, 0.5])


def history(x, s):
    xs = []
    for _ in range(20):
        x = x * x
        xs.append(x)
        if x.sum() < s:
            break
    return xs


def of_numbers(x, s):
    found = []
    for _ in range(30):
        if x < s:
            break
        x = x * 0.5
        found.append((x, [len(found), x * x]))
    return {"found": found, "count": len(found)}


def of_pairs(x, s):
    found = []
    for _ in range(20):
        x = x * x
        if x.sum() < s:
            break
        found.append((x, x.sum()))
    return found, x


def selected(x):
    return [v * v for v in x if v > 0]


def same(one, other):
    """Checks that two structures have the same leaves, of the same classes."""
    pairs = list(trees.leaves(one)), list(trees.leaves(other))
    assert [path for path, _ in pairs[0]] == [path for path, _ in pairs[1]]
    for (_, a), (_, b) in zip(*pairs, strict=True):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_as_python(level: str) -> None:
    for function, *arguments in (
        (history, X, 0.3),
        (history, X, 5.0),
        (of_numbers, 3.0, 0.1),
        (of_numbers, 3.0, 9.0),
        (of_pairs, X, 0.2),
        (of_pairs, X, 9.0),
        (selected, NUMBERS),
        (selected, -np.ones(4)),
    ):
        compiled = st.compile(function, level=level)
        found = compiled(*arguments)
        same(found, function(*arguments))
        compiled(*arguments)  # what was returned is the caller's
        same(found, function(*arguments))


def test_text() -> None:
    for function, arguments, code in (
        (history, (X, 0.3), "return [*v1]"),
        (of_pairs, (X, 0.2), "return [*zip(v2, v3)], x"),
        (of_numbers, (3.0, 0.1), "(item, [item_1, item_2])"),
    ):
        assert code in str(st.compile(function, level="readable").source(*arguments))
    assert str(st.compile(lambda x: [w for w in [x, x * x] if w > 1]).source(2.0)).count(
        ".tolist()"
    )


def cotangents(value, seed=0):
    """A structure of random numbers like a value's."""
    rng = np.random.default_rng(seed)
    return trees.map_leaves(lambda _, leaf: rng.normal(size=np.shape(leaf))[()], value)


def inner(one, other):
    pairs = zip(trees.leaves(one), trees.leaves(other), strict=True)
    return sum(np.sum(a * b) for (_, a), (_, b) in pairs)


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: history(x, 0.3), X),
        (lambda x: history(x, 5.0), X),
        (lambda x: of_numbers(x, 0.1), 3.0),
        (lambda x: of_pairs(x, 0.2), X),
        (lambda x: of_pairs(x, 9.0), X),
        (selected, NUMBERS),
        (selected, -NUMBERS),
        (lambda x: x[x > 0] ** 3, NUMBERS),
        (lambda x: np.concatenate([x[x > 0], x[x > 0.7] ** 2, x]), NUMBERS),
    ],
)
def test_derivatives(function, x) -> None:
    value, pullback = st.vjp(function, x)
    same(value, function(x))
    v = cotangents(value)
    found = pullback(v)[0]
    step = np.eye(np.size(x)).reshape(-1, *np.shape(x)) * 1e-6
    ends = [(function(x + h), function(x - h)) for h in step]
    expected = [(inner(v, up) - inner(v, down)) / 2e-6 for up, down in ends]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-7, atol=1e-7)

    direction = cotangents(x, seed=1)
    direction = float(direction) if isinstance(x, float) else direction
    value, tangent = st.jvp(function, (x,), (direction,))
    same(value, function(x))
    assert inner(v, tangent) == pytest.approx(inner(found, direction), rel=1e-12, abs=1e-14)
    value, linear = st.linearize(function, x)
    same(value, function(x))
    moved = linear(direction)
    assert inner(v, moved) == pytest.approx(inner(found, direction), rel=1e-12, abs=1e-14)


def test_beside_a_gradient() -> None:
    def loss(x):
        xs = history(x, 0.3)
        return np.sum(xs[-1]), {"xs": xs}

    (value, beside), gradient = st.value_and_grad(loss, has_aux=True)(X)
    expected, like = loss(X)
    assert value == expected
    same(beside, like)
    np.testing.assert_allclose(gradient, st.grad(lambda x: loss(x)[0])(X))

    def of_gradient(x):
        (_, beside), gradient = st.value_and_grad(loss, has_aux=True)(x)
        beside["xs"].append(x)
        return np.sum(gradient * x) + np.sum(beside["xs"][-1] * beside["xs"][0])

    def pulled_back(x):
        value, pullback = st.vjp(lambda x: history(x, 0.3), x)
        return np.sum(pullback(value)[0])

    for function in (of_gradient, pulled_back):
        compiled = st.value_and_grad(function)
        value, gradient = compiled(X)
        ends = [(compiled(X + h)[0], compiled(X - h)[0]) for h in np.eye(2) * 1e-6]
        expected = [(up - down) / 2e-6 for up, down in ends]
        np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_cotangents_that_do_not_fit() -> None:
    value, pullback = st.vjp(lambda x: history(x, 0.3), X)
    with pytest.raises(st.StcompileError, match="another structure"):
        pullback(value[1:])
    with pytest.raises(st.StcompileError, match=r"cotangent\[1\] has shape"):
        pullback([value[0], np.ones(3), *value[2:]])
    with pytest.raises(st.StcompileError, match=r"cotangent\[0\] is object"):
        pullback([None, *value[1:]])
    _, pullback = st.vjp(lambda x: x[x > 0], NUMBERS)
    with pytest.raises(st.StcompileError, match=r"has shape \(1,\) instead of \(3,\)"):
        pullback(np.ones(1))


def test_refusals() -> None:
    for function in (st.jacobian(lambda x: history(x, 0.3)), st.vmap(lambda x: history(x, 0.3))):
        with pytest.raises(st.StcompileError) as found:
            function(np.ones((2, 2)))
        assert found.value.location is not None
        assert found.value.hint

    def weighted(x, c):
        return [v * x for v in c if v > 1.5]

    with pytest.raises(st.StcompileError, match="a list whose length the data decide"):
        st.vmap(weighted, in_axes=(0, None))(np.ones((3, 2)), NUMBERS)


# --- parts of them -------------------------------------------------------------------------------


def put_together(x):
    p = [v for v in x if v > 0]
    q = [0.5, *p, 3.0 * x[0], *p, *x]
    return sum(q) * len(q) + q[1] * q[-1]


def first_and_rest(x):
    first, *rest = [v for v in x if v > 0]
    return first * sum(rest) * len(rest)


def rest_and_last(x):
    *rest, before, last = [v * v for v in x if v > 0]
    rest.append(last)
    return sum(rest) * before


def exactly(x):
    (a, b), (_, c) = [(v, v * v) for v in x if v > 0][:2]
    return a * b - c


def two_at_once(x):
    one, other = [v for v in x if v > 0], [v * 2 for v in x if v > 0.6]
    return sum(v * w for v, w in zip(one, other)) + len([*one, *other])


PARTS = (put_together, first_and_rest, rest_and_last, exactly, two_at_once)


@pytest.mark.parametrize("function", PARTS)
def test_parts(function) -> None:
    for x in (NUMBERS, np.array([0.3, -1.0, 0.7, 0.9]), np.array([1.0, 2.0, -3.0, -0.1])):
        value, gradient = st.value_and_grad(function)(x)
        assert value == pytest.approx(function(x), rel=1e-14)
        expected = [(function(x + h) - function(x - h)) / 2e-6 for h in np.eye(4) * 1e-6]
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-7)


def test_errors_of_unpacking() -> None:
    failed = collections.Counter[str]()
    for function in (first_and_rest, rest_and_last, lambda x: exactly(np.where(x > 1, x, -x))):
        for x in (-np.ones(4), np.array([1.0, -1.0, -1.0, -1.0]), np.array([2.0, 3.0, 4.0, -5.0])):
            try:
                expected = function(x)
            except ValueError as error:
                failed[str(error)] += 1
                with pytest.raises(ValueError, match=str(error).split("(")[0]):
                    st.compile(function)(x)
            else:
                assert st.compile(function)(x) == pytest.approx(expected)
    assert len(failed) > 2

    def in_a_tuple(x):
        return max(*[v for v in x if v > 0])

    with pytest.raises(st.LanguageError, match="how many items this list has") as found:
        st.compile(in_a_tuple)(NUMBERS)
    assert "np.array(items)" in found.value.hint
