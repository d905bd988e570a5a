"""Functions that write into their arguments: the caller's arrays change as under plain Python, and
gradients are with respect to what the arrays held on entry."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import stcompile as st

LEVELS = ("fast", "readable")
Arrays = Sequence[np.ndarray[Any, Any]]


def add_into(out, x):
    out += x * 2
    out[0] = x[1]


# --- programs ------------------------------------------------------------------------------------


def normalise(x, y):
    x /= np.sum(x)
    return np.sum(x * x * y)


def fill(x, y):
    y[:] = np.sin(x)
    return np.sum(y * y) + np.sum(x)


def by_a_helper(x, y):
    add_into(y, x)
    add_into(x[1:], y[1:])
    return np.sum(x * y)


def swap(x, y):
    t = x.copy()
    x[:] = y
    y[:] = t
    return np.sum(x * x) + 2 * np.sum(y)


def reverse(x, y):
    x[:] = x[::-1].copy()
    y[1:] = y[:-1].copy()
    return np.sum(x * np.arange(4.0)) * np.sum(y * y)


def by_views(x, y):
    front, back = x[:2], x[2:]
    front *= back
    back += front * y[1]
    return np.sum(x * y)


def one_after_the_other(x, y):
    for i in range(1, 4):
        x[i] = 0.5 * x[i - 1] + y[i] * x[i]
    return np.sum(x)


def in_a_long_loop(x, y):
    for _ in range(40):
        x += 0.01 * y * np.cos(x)
        y *= 0.99
    return np.sum(x * y)


def in_a_branch(x, y):
    if np.sum(x) > 0:
        x *= y
    else:
        y[0] = 0.0
    return np.sum(x * x * y)


def by_out(x, y):
    np.multiply(x, y, out=y)
    np.exp(y, out=x)
    return np.sum(x * y)


def by_a_mask(x, y):
    x[x > 0.7] = 0.25
    return np.sum(x * x * y)


def twice_over(x, y):
    x *= 2
    x, y = y, x
    x -= y
    return np.sum(x * x * x)


PROGRAMS: list[Callable[..., Any]] = [
    normalise, fill, by_a_helper, swap, reverse, by_views, one_after_the_other, in_a_long_loop,
    in_a_branch, by_out, by_a_mask, twice_over,
]  # fmt: skip


def given() -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    return [rng.uniform(0.3, 1.3, 4), rng.uniform(0.3, 1.3, 4)]


def slope(function: Callable[..., Any], at: Arrays, directions: Arrays) -> float:
    """The derivative of a plain function along a direction, each value on fresh copies."""

    def value(h: float) -> float:
        return float(function(*[a + h * d for a, d in zip(at, directions, strict=True)]))

    return (8 * (value(1e-4) - value(-1e-4)) - (value(2e-4) - value(-2e-4))) / 12e-4


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_contents_are_those_of_python(program, level):
    compiled = st.compile(program, level=level)
    for _ in range(3):  # the first call compiles, the third one goes by the entry
        plain, ours = given(), given()
        assert compiled(*ours) == pytest.approx(
            program(*plain), rel=0 if level != "fast" else 1e-14
        )
        for one, other in zip(plain, ours, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_by_the_contents_on_entry(program, level):
    gradient = st.value_and_grad(program, wrt=(0, 1), level=level)
    rng = np.random.default_rng(4)
    directions = [rng.standard_normal(4), rng.standard_normal(4)]
    plain, ours = given(), given()
    value, found = gradient(*ours)
    assert value == pytest.approx(program(*plain), rel=1e-14)
    for one, other in zip(plain, ours, strict=True):
        np.testing.assert_array_equal(one, other)
    for d in found:
        assert not any(np.shares_memory(d, array) for array in ours)
    along = sum(np.sum(d * v) for d, v in zip(found, directions, strict=True))
    assert along == pytest.approx(slope(program, given(), directions), rel=1e-8)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_copy_leaves_the_arrays_as_they_are(program):
    ours = given()
    copied = st.value_and_grad(program, wrt=(0, 1), copy=True)(*ours)
    for one, other in zip(given(), ours, strict=True):
        np.testing.assert_array_equal(one, other)
    value, gradients = st.value_and_grad(program, wrt=(0, 1))(*ours)
    assert copied[0] == value
    for one, other in zip(copied[1], gradients, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_kernel_that_returns_nothing_is_compiled():
    out, x = np.ones(4), np.arange(4.0)
    assert st.compile(add_into)(out, x) is None
    np.testing.assert_array_equal(out, [1.0, 3.0, 5.0, 7.0])


def test_arrays_in_structures_are_written():
    def step(params, x):
        params["w"][:] = params["w"] * x
        params["layers"][0][1] = 5.0
        return np.sum(params["w"]) * np.sum(params["layers"][0])

    params = {"w": np.arange(1.0, 4.0), "layers": [np.ones(3)]}
    x = np.array([2.0, 3.0, 4.0])
    gradient = st.grad(step)(params, x)
    np.testing.assert_array_equal(params["w"], [2.0, 6.0, 12.0])
    np.testing.assert_array_equal(params["layers"][0], [1.0, 5.0, 1.0])
    np.testing.assert_array_equal(gradient["w"], x * 7)
    np.testing.assert_array_equal(gradient["layers"][0], [20.0, 0.0, 20.0])


def test_what_is_handed_on_is_not_changed_by_the_write():
    def f(x):
        before = x.copy()
        x *= 2
        return np.sum(x * x), before

    for level in LEVELS:
        x = np.array([1.0, 2.0])
        (_, before), d = st.value_and_grad(f, has_aux=True, level=level)(x)
        np.testing.assert_array_equal(before, [1.0, 2.0])
        np.testing.assert_array_equal(x, [2.0, 4.0])
        np.testing.assert_array_equal(d, [8.0, 16.0])
        compiled = st.compile(f, level=level)
        np.testing.assert_array_equal(compiled(np.array([1.0, 2.0]))[1], [1.0, 2.0])


def test_integers_are_written_as_numpy_does():
    def count(x, counts):
        counts[0] += 3
        counts[1:] = 2.7
        return np.sum(x) * 2

    counts = np.zeros(3, np.int64)
    st.grad(count)(np.ones(2), counts)
    np.testing.assert_array_equal(counts, [3, 2, 2])


def test_an_order_other_than_c_is_kept():
    def f(a):
        a[0] = a[:, 1] * 2
        a *= 1.5
        return np.sum(a[0] * a[1])

    for like in (
        np.asfortranarray(np.arange(9.0).reshape(3, 3)),
        np.arange(18.0)[::-2].reshape(3, 3),
    ):
        plain, ours = like.copy("K"), like.copy("K")
        wide = np.zeros((3, 6))[:, ::2]
        wide[:] = like
        f(plain)
        st.grad(f)(ours)
        st.grad(f)(wide)
        np.testing.assert_array_equal(plain, ours)
        np.testing.assert_array_equal(plain, wide)


# --- arrays that overlap, or cannot be written ---------------------------------------------------


def both(x, y):
    x += y
    return np.sum(x)


BASE = np.arange(8.0)


@pytest.mark.parametrize(
    "arguments",
    [
        lambda a: (a[:4], a[2:6]),
        lambda a: (a[:4], a[:4]),
        lambda a: (a[::2], a[:4]),
        lambda a: (a[:4], a[3::-1]),
    ],
)
@pytest.mark.parametrize("make", [st.compile, st.grad])
def test_views_that_overlap_are_refused_and_stay(make, arguments):
    compiled = make(both)
    compiled(np.ones(4), np.ones(4))
    array = BASE.copy()
    x, y = arguments(array)
    for _ in range(2):
        with pytest.raises(st.ArgumentsError, match="shares memory|passed twice"):
            compiled(x, y)
    np.testing.assert_array_equal(array, BASE)
    expected = np.sum(x + y)
    if make is st.compile:
        assert make(both, copy=True)(x, y) == expected
        np.testing.assert_array_equal(array, BASE)


def test_the_same_array_twice_is_refused_before_and_after_compiling():
    x = np.ones(4)
    with pytest.raises(st.LanguageError, match="the same array is passed twice"):
        st.compile(both)(x, x)
    compiled = st.compile(both)
    compiled(np.ones(4), np.ones(4))
    with pytest.raises(st.ArgumentsError, match="shares memory"):
        compiled(x, x)
    np.testing.assert_array_equal(x, np.ones(4))


def test_two_written_arrays_that_overlap_are_refused():
    def f(x, y):
        x[0] = 1.0
        y[0] = 2.0

    array = BASE.copy()
    with pytest.raises(st.ArgumentsError, match="two arrays that `f` writes into share memory"):
        st.compile(f)(array[:4], array[3:])
    np.testing.assert_array_equal(array, BASE)
    st.compile(f)(array[:4], array[4:])  # side by side
    assert (array[0], array[4]) == (1.0, 2.0)


def test_read_only_arrays_and_those_that_repeat_elements_are_refused():
    frozen = np.ones(4)
    frozen.flags.writeable = False
    repeated = np.lib.stride_tricks.as_strided(np.ones(1), (4,), (0,))
    compiled = st.compile(both)
    compiled(np.ones(4), np.ones(4))
    for wrong in (frozen, np.broadcast_to(np.ones(1), (4,))):
        with pytest.raises(st.ArgumentsError, match="read-only"):
            compiled(wrong, np.ones(4))
    with pytest.raises(st.ArgumentsError, match="several elements in one place"):
        compiled(repeated, np.ones(4))
    assert compiled(np.ones(4), frozen) == 8.0  # what is only read may be read-only


GLOBAL = np.arange(4.0)


def with_a_global(x):
    x[0] = 5.0
    return np.sum(x * GLOBAL)


def test_a_captured_array_that_is_passed_as_well_is_refused():
    with pytest.raises(st.StcompileError, match="captured"):
        st.grad(with_a_global)(GLOBAL)
    gradient = st.grad(with_a_global)
    gradient(np.ones(4))
    with pytest.raises(st.ArgumentsError, match="captured"):
        gradient(GLOBAL[:])
    np.testing.assert_array_equal(GLOBAL, np.arange(4.0))


def test_either_of_two_arrays_is_not_written():
    def f(x, s):
        if s > 0:
            x = x * 2
        x[0] = 1.0
        return np.sum(x)

    def g(x, s):
        while np.sum(x) < 1000 * s:
            x[0] = s
            x = x * 2
        return np.sum(x)

    for function in (f, g):
        x = np.ones(3)
        with pytest.raises(st.LanguageError, match="either of two arrays|does not own"):
            st.grad(function)(x, 1.0)
        np.testing.assert_array_equal(x, np.ones(3))


# --- inside other functions ----------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_an_inner_gradient_writes_into_the_array_that_it_is_passed(level):
    inner = st.value_and_grad(normalise)

    def outer(x, y):
        z = x * 2
        value, d = inner(z[1:], y[1:])
        return value + np.sum(d * d) + np.sum(z * z)

    def plain(x, y):
        z = x * 2
        value, d = st.value_and_grad(normalise)(z[1:], y[1:])
        return value + np.sum(d * d) + np.sum(z * z)

    x, y = given()
    assert st.compile(outer, level=level)(x, y) == pytest.approx(plain(*given()), rel=1e-13)
    directions = [np.array([0.3, -1.0, 0.5, 2.0]), np.array([1.0, 0.2, -0.4, 0.6])]
    found = st.grad(outer, wrt=(0, 1), level=level)(*given())
    along = sum(np.sum(d * v) for d, v in zip(found, directions, strict=True))
    assert along == pytest.approx(slope(plain, given(), directions), rel=1e-7)


def test_an_inner_write_that_another_name_would_see_is_refused():
    def shared(x):
        z = x * 2

        def f(w):
            w[0] = 1.0
            return np.sum(w * z)

        return np.sum(st.grad(f)(z))

    def twice(x):
        z = x * 2
        return np.sum(st.grad(both)(z, z))

    with pytest.raises(st.LanguageError, match="reads it by another name"):
        st.compile(shared)(np.ones(3))
    with pytest.raises(st.LanguageError, match="the same array is passed twice"):
        st.compile(twice)(np.ones(3))


@pytest.mark.parametrize(
    "make",
    [
        lambda f: st.jacobian(f),
        lambda f: st.hessian(f),
        lambda f: st.vmap(f),
        lambda f: st.sparse_hessian(f),
        lambda f: lambda x, y: st.jvp(f, (x, y), (x, y)),
        lambda f: lambda x, y: st.vjp(f, x, y),
        lambda f: lambda x, y: st.hvp(f, (x, y), (x, y)),
        lambda f: st.grad(st.checkpoint(f)),
    ],
)
def test_other_transformations_refuse_by_name_and_change_nothing(make):
    x, y = np.ones((2, 4)), np.ones((2, 4))
    with pytest.raises(st.LanguageError, match="x belongs to the caller"):
        make(normalise)(x, y)
    np.testing.assert_array_equal(x, np.ones((2, 4)))


def test_other_transformations_take_copies():
    def pure(x, y):
        x = x / np.sum(x)
        return np.sum(x * x * y)

    for make in (st.jacobian, st.hessian):
        x, y = given()
        np.testing.assert_allclose(make(normalise, copy="x")(x, y), make(pure)(x, y), rtol=1e-12)
        np.testing.assert_array_equal(x, given()[0])
    xs, ys = np.stack(given()), np.stack(given())
    np.testing.assert_allclose(st.vmap(normalise, copy=True)(xs, ys), st.vmap(pure)(xs, ys))
    np.testing.assert_array_equal(xs, np.stack(given()))


# --- options, checks, files ----------------------------------------------------------------------


def test_a_name_that_copy_does_not_know_is_refused():
    with pytest.raises(
        st.ArgumentsError, match=r"copy='z'.* is no argument of `normalise\(x, y\)`"
    ):
        st.grad(normalise, copy="z")(*given())
    with pytest.raises(ValueError, match="copy is the name of an argument"):
        st.grad(normalise, copy=3)  # type: ignore[arg-type]


def test_only_the_named_argument_is_copied():
    x, y = given()
    st.compile(swap, copy="x")(x, y)
    np.testing.assert_array_equal(x, given()[0])
    np.testing.assert_array_equal(y, given()[0])
    decorated = st.differentiable(copy=("x", "y"))(swap)
    x, y = given()
    decorated.grad(x, y)
    np.testing.assert_array_equal(y, given()[1])


def test_a_gradient_of_a_kernel_that_returns_nothing_says_what_to_return():
    with pytest.raises(
        st.DerivativeError, match="returns nothing and writes into `out`, but"
    ) as caught:
        st.value_and_grad(add_into)(np.ones(4), np.ones(4))
    assert "np.sum" in str(caught.value)


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("program", [normalise, fill, in_a_branch])
def test_check_grads_evaluates_on_copies(program, copy):
    x, y = given()
    st.differentiable(program, wrt=(0, 1), copy=copy).check_grads(x, y)
    np.testing.assert_array_equal(x, given()[0])
    np.testing.assert_array_equal(y, given()[1])


def test_a_buffer_that_is_not_differentiated_is_copied_by_check_grads():
    def f(x, buffer):
        buffer += x
        return np.sum(buffer * buffer)

    x, buffer = given()
    st.differentiable(f).check_grads(x, buffer)
    np.testing.assert_array_equal(buffer, given()[1])


def test_a_file_is_refused_and_written_of_copies(tmp_path):
    path = tmp_path / "normalise.py"
    with pytest.raises(st.ExportError, match="writes into x"):
        st.value_and_grad(normalise).export(path, *given())
    st.value_and_grad(normalise, copy=True).export(path, *given())
    assert path.exists()


def test_a_pickled_function_writes():
    made = pickle.loads(pickle.dumps(st.value_and_grad(normalise)))
    x, y = given()
    made(x, y)
    assert np.sum(x) == pytest.approx(1.0)
    assert pickle.loads(pickle.dumps(st.compile(swap, copy="x"))).options.copy == ("x",)


def test_debug_nans_puts_the_arrays_back():
    def f(x, y):
        y += 1
        x[:] = np.log(x)
        return np.sum(x)

    x, y = np.array([-1.0, 2.0]), np.ones(2)
    with np.errstate(all="ignore"), pytest.raises(st.NanError):
        st.grad(f, debug_nans=True)(x, y)
    np.testing.assert_array_equal(x, [-1.0, 2.0])
    np.testing.assert_array_equal(y, np.ones(2))


def test_a_training_step_does_what_its_loss_writes():
    def loss(w, x):
        w *= 0.5
        return np.sum(w * x * w)

    w, x = np.ones(3), np.arange(1.0, 4.0)
    st.train_step(loss, st.optim.SGD(0.1))(w, x)
    plain = np.ones(3)
    _, gradient = st.value_and_grad(loss)(plain, x)
    np.testing.assert_allclose(w, plain - 0.1 * gradient)


@pytest.mark.parametrize("view", ["trace", "explain", "cotangents", "explore"])
def test_looking_at_a_function_changes_nothing(view, tmp_path):
    x, y = given()
    keywords = {"path": tmp_path / "page.html"} if view == "explore" else {}
    getattr(st.differentiable(normalise), view)(x, y, **keywords)
    np.testing.assert_array_equal(x, given()[0])
    np.testing.assert_array_equal(
        st.differentiable(normalise).cotangents(x, y)["x"][-1],
        st.grad(lambda x, y: np.sum(x * x * y))(x / np.sum(x), y),
    )


def test_an_error_in_the_middle_leaves_old_or_new_contents():
    def f(x, y):
        x *= 2
        assert np.sum(y) > 0
        y *= 2
        return np.sum(x * y)

    for level in LEVELS:
        x, y = np.ones(2), -np.ones(2)
        with pytest.raises(AssertionError):
            st.grad(f, level=level)(x, y)
        assert x.tolist() in ([1.0, 1.0], [2.0, 2.0])
        np.testing.assert_array_equal(y, -np.ones(2))


def test_the_cache_knows_what_is_written(tmp_path):
    program = """
import numpy as np, stcompile as st

def f(x, y):
    x += y
    return np.sum(x)

def tell(compilation):
    print("cached" if compilation.cached else "compiled")

gradient, a = st.grad(f), np.ones(4)
with st.on_compile(tell):
    gradient(a[:2], a[2:])
assert a.tolist() == [2, 2, 1, 1], a
try:
    gradient(a[:2], a[1:3])
except st.ArgumentsError:
    print("refused")
"""
    file = tmp_path / "program.py"
    file.write_text(program)
    for how in ("compiled", "cached"):
        done = subprocess.run(
            [sys.executable, str(file)],
            env={**os.environ, "STCOMPILE_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
        )
        assert done.stdout == f"{how}\nrefused\n", done.stderr


def test_a_generator_shuffles_an_argument():
    def f(x, rng):
        rng.shuffle(x)
        return np.sum(x * np.arange(5.0))

    plain, ours = np.arange(5.0), np.arange(5.0)
    f(plain, np.random.default_rng(1))
    d = st.grad(f)(ours, np.random.default_rng(1))
    np.testing.assert_array_equal(ours, plain)
    np.testing.assert_array_equal(d, np.argsort(plain))
