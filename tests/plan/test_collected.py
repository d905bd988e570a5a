"""Values of a loop's steps that are computed where they are collected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base import trees
from stcompile.plan.collected import collected_rows
from stcompile.plan.writable import writable_steps
from tests.plan.compiled import FAST, READABLE, gradient, random, step
from tests.plan.lists import Listed
from tests.programs import check_gradient

W = random(4, 4, seed=1) * 0.4
FEW = [(3, 4), (4, 4)]


def recurrent(x: Any, w: Any) -> Any:
    h = np.zeros((3, 4))
    for _ in range(20):
        h = np.tanh(x + h @ w)
    return np.sum(h * h)


def every_state(x: Any, w: Any) -> Any:
    h = x * 1.0
    total = 0.0
    for _ in range(20):
        h = np.tanh(h @ w)
        total = total + np.sum(h * h)
    return total + np.sum(h)


def from_an_argument(x: Any, w: Any) -> Any:
    h = x
    for _ in range(20):
        h = np.tanh(h @ w)
    return np.sum(h * x)


def one_after_another(x: Any, w: Any) -> Any:
    """The second loop starts from the last state of the first, whose states nothing else reads."""
    h = x * 1.0
    for _ in range(20):
        h = np.sin(h @ w)
    g = h
    for _ in range(20):
        g = np.cos(g @ w) * x
    return np.sum(g * h)


def last_state_later(x: Any, w: Any) -> Any:
    """Large values are computed after the loop, while its last state is still to be read."""
    h = x * 1.0
    for _ in range(20):
        h = np.sin(h @ w)
    a = np.exp(np.repeat(x, 20, axis=0) * 0.1)
    b = np.sin(a) + np.cos(a)
    return np.sum(h[0]) + np.sum(b * b)


def two_states(x: Any, w: Any) -> Any:
    a, b = x * 1.0, x * 0.5
    for _ in range(20):
        a, b = np.sin(b @ w), np.cos(a) * b
    return np.sum(a * b)


def handed_on_twice(x: Any, w: Any) -> Any:
    a, b = x * 1.0, x * 0.5
    for _ in range(20):
        c = np.sin(a @ w + b)
        a, b = c, c
    return np.sum(a * b)


def written(x: Any, w: Any) -> Any:
    h = x * 1.0
    for k in range(20):
        h = np.tanh(h @ w)
        h[k % 3] = h[k % 3] * 0.5
    return np.sum(h)


def nested(x: Any, w: Any) -> Any:
    h = x * 1.0
    for _ in range(18):
        for _ in range(18):
            h = np.sin(h @ w)
        h = h + x
    return np.sum(h * h)


def in_a_branch(x: Any, w: Any) -> Any:
    h = x * 1.0
    if np.sum(x) > 0:
        for _ in range(20):
            h = np.sin(h @ w)
    else:
        for _ in range(20):
            h = np.cos(h @ w)
    return np.sum(h * h)


def from_the_end(x: Any, w: Any) -> Any:
    h = np.zeros((3, 4))
    for k in reversed(range(20)):
        h = np.tanh(x * k + h @ w)
    return np.sum(h * h)


def a_view_of_the_state(x: Any, w: Any) -> Any:
    h = x * 1.0
    for _ in range(20):
        top = h[:1]
        h = np.sin(h @ w) + top
    return np.sum(h.T[0] * h[:, 1])


def an_outer_product(x: Any, w: Any) -> Any:
    h = np.zeros((3, 4))
    for k in range(20):
        h = np.tanh(x[:, k % 4 : k % 4 + 1] @ w[:1] + h @ w)
    return np.sum(h * h)


PROGRAMS = [
    recurrent, every_state, from_an_argument, one_after_another, last_state_later, two_states,
    handed_on_twice, written, nested, in_a_branch, from_the_end, a_view_of_the_state,
    an_outer_product,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_like_the_readable_level(function: Callable[..., Any]) -> None:
    fast, readable = gradient(function, (0, 1)), gradient(function, (0, 1), READABLE)
    for seed in range(3):  # buffers hold what the last call left there
        args = random(3, 4, seed=seed), W
        before = args[0].copy()
        (value, found), (wanted, expected) = fast(*args), readable(*args)
        for one, other in zip((value, *found), (wanted, *expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
        assert args[0].tobytes() == before.tobytes()
    for position, one in enumerate(fast(*args)[1]):
        check_gradient(function, args, position, one)


def last_and_total(x: Any, w: Any) -> Any:
    """The last of twenty states, and the sum of all."""
    h = x * 1.0
    hs = []
    for _ in range(20):
        h = np.sin(h @ w)
        hs.append(h)
    return h, np.sum(np.array(hs), axis=0)


def summed_and_gone(x: Any, w: Any) -> Any:
    """The states are dead after their sum, but for the last one."""
    h, total = last_and_total(x, w)
    large = np.exp(np.tile(x, (20, 1)))
    large = np.sin(large) * large
    return total, np.sum(large), h * 2.0


def gone_on_from(x: Any, w: Any) -> Any:
    """The second loop fills its states from the end, and starts from the last one of the first."""
    h, total = last_and_total(x, w)
    g = h
    gs = np.zeros((20, 3, 4))
    for k in reversed(range(20)):
        g = np.cos(g @ w)
        gs[k] = g
    return total, gs, g


def goes_round(x: Any, w: Any) -> Any:
    h = x * 1.0
    for _ in range(18):
        hs = []
        for _ in range(18):
            h = np.sin(h @ w)
            hs.append(h)
        h = h + np.sum(np.array(hs), axis=0) * 0.01
    return h


@pytest.mark.parametrize(
    "function", [summed_and_gone, gone_on_from, goes_round], ids=lambda f: f.__name__
)
def test_a_last_state_keeps_the_array_it_is_in(function: Callable[..., Any]) -> None:
    compiled = st.compile(function, level="fast")
    for seed in range(3):
        args = random(3, 4, seed=seed), W
        wanted = function(*args)
        for _ in range(2):
            found = compiled(*args)
            pairs = zip(trees.leaves(found), trees.leaves(wanted), strict=True)
            for (_, one), (_, other) in pairs:
                np.testing.assert_allclose(one, other, rtol=1e-12)


def source(function: Callable[..., Any]) -> str:
    return str(gradient(function, (0, 1)).source(random(3, 4), W))


def test_a_state_is_computed_in_its_row() -> None:
    text = source(recurrent)
    assert "np.tanh(v1, out=hs[t])" in re.sub(r"\[\w+\]", "[t]", text).replace("v2", "v1")
    assert not re.search(r"\w+\[\w+\] = ", text)  # nothing is copied to where it is collected
    assert text.count("np.empty((21, 3, 4)") == 1  # the states before and after the steps


def test_a_state_that_is_written_has_a_place_of_its_own() -> None:
    assert re.search(r"hs(_\d)?\[\w+\] = h", source(written))


def states(x: Any, w: Any) -> Any:
    h = np.zeros((3, 4))
    hs = []
    for _ in range(20):
        h = np.tanh(x + h @ w)
        hs.append(h)
    return h, hs


def test_the_caller_gets_copies() -> None:
    compiled = st.compile(states, level="fast")
    x, other = random(3, 4), random(3, 4, seed=5)
    last, every = compiled(x, W)
    kept = last.copy(), [h.copy() for h in every]
    compiled(other, W)
    assert last.tobytes() == kept[0].tobytes()
    assert all(h.tobytes() == k.tobytes() for h, k in zip(every, kept[1], strict=True))
    np.testing.assert_allclose(last, states(x, W)[0], rtol=1e-12)
    assert not np.shares_memory(last, compiled(x, W)[0])


def test_no_step_allocates() -> None:
    """What is handed on between steps is a name."""

    def loss(params: Any, x: Any) -> Any:
        return recurrent(x, params["w"])

    compiled = step(loss, st.optim.SGD(0.1), FAST)
    text = compiled.source({"w": W.copy()}, random(3, 4)).split("def loss_step")[1]
    assert "np.empty(" not in text
    assert "np.copy(" not in text


# --- which values they are, on programs in text form ---------------------------------------------


def rows(body: str, carry: int = 1, returned: str = "last, out", end: str = "") -> str:
    """The values that can be computed in rows, of a loop whose body returns ``next`` and more."""
    states = "last: f64[3], " if carry == 1 else "last: f64[3], other: f64[3], "
    initial, carried = (
        ("x", "state: f64[3]") if carry == 1 else ("x, y", "state: f64[3], more: f64[3]")
    )
    listed = Listed(
        f"""
        program f(x: f64[3], y: f64[3]) {{
          {states}out: f64[20,3] = loop(y, {initial}; carry={carry}, constants=1, length=20,
            body=program body(c: f64[3], t: int, {carried}) {{ {body} }})
          {end}
          return {returned}
        }}"""
    )
    writable = writable_steps(listed.tree, listed.writes)
    return listed.names(collected_rows(listed.tree, listed.writes, writable, ()))


NEXT = "next: f64[3] = sin(state) "


def test_what_is_computed_and_collected() -> None:
    assert rows(NEXT + "return next, next") == "next"
    assert rows(NEXT + "kept: f64[3] = cos(next) return next, kept") == "kept"


@pytest.mark.parametrize(
    "body",
    [
        NEXT + "return next, state",  # not computed in the step that collects it
        NEXT + "return next, c",
        NEXT + "kept: f64[3] = cumprod(next; axis=0) return next, kept",  # not into an array
        NEXT + "kept: f64[3] = accumulate(next, 1.0; op='add') return next, kept",  # changed
        "next: f64[3] = sin(state) kept: f64[3] = reshape(next; shape=(3,)) return next, kept",
    ],
)
def test_what_has_a_place_of_its_own(body: str) -> None:
    assert rows(body) == ""


def test_a_value_is_handed_on_once() -> None:
    made = NEXT + "then: f64[3] = cos(more) "
    assert rows(made + "return next, then, then", carry=2, returned="last, other, out") == "then"
    assert rows(made + "return next, next, next", carry=2, returned="last, other, out") == ""


def test_what_is_changed_later_is_no_row() -> None:
    end = "z: f64[20,3] = accumulate(out, 1.0; op='add')"
    assert rows(NEXT + "return next, next", returned="last, z", end=end) == ""


def test_numbers_and_lists_are_no_rows() -> None:
    listed = Listed(
        """
        program f(x: f64[3], n: int) {
          last: f64[3], items: stack[f64[3]] = loop(n, x; carry=1, constants=0, length=None,
            body=program body(t: int, state: f64[3]) {
              next: f64[3] = cos(state)
              return next, next
            })
          again: f64[3], sums: f64[20] = loop(x; carry=1, constants=0, length=20,
            body=program steps(u: int, now: f64[3]) {
              then: f64[3] = cos(now)
              s: f64 = sum(then; axis=(0,), keepdims=False)
              return then, s
            })
          return last, items, again, sums
        }"""
    )
    assert (
        collected_rows(listed.tree, listed.writes, writable_steps(listed.tree, listed.writes), ())
        == {}
    )


def test_arrays_without_axes_are_no_rows() -> None:
    """An item of what they are collected in is a number."""
    listed = Listed(
        """
        program f(x: f64[], y: f64[1]) {
          a: f64[20], b: f64[20,1] = loop(x, y; carry=0, constants=2, length=20,
            body=program body(c: f64[], d: f64[1], t: int) {
              made: f64[] = copy(c)
              one: f64[1] = copy(d)
              return made, one
            })
          return a, b
        }"""
    )
    found = collected_rows(
        listed.tree, listed.writes, writable_steps(listed.tree, listed.writes), ()
    )
    assert listed.names(found) == "one"


@pytest.mark.parametrize(("collected", "expected"), [("two", ""), ("three", "three")])
def test_states_of_inner_loops_have_places_of_their_own(collected: str, expected: str) -> None:
    listed = Listed(
        f"""
        program f(x: f64[3]) {{
          last: f64[3], sums: f64[20,3] = loop(x; carry=1, constants=0, length=20,
            body=program outer(t: int, state: f64[3]) {{
              done: f64[3], all_: f64[18,3] = loop(state; carry=1, constants=0, length=18,
                body=program inner(i: int, one: f64[3]) {{
                  two: f64[3] = sin(one)
                  three: f64[3] = cos(two)
                  return two, {collected}
                }})
              s: f64[3] = sum(all_; axis=(0,), keepdims=False)
              next: f64[3] = cumprod(s; axis=0)
              return next, next
            }})
          return last, sums
        }}"""
    )
    writable = writable_steps(listed.tree, listed.writes)
    found = collected_rows(listed.tree, listed.writes, writable, ())
    assert listed.names(found) == expected
    without = [listed[own] for own in expected.split()]
    assert collected_rows(listed.tree, listed.writes, writable, without) == {}


def test_a_value_is_computed_in_one_row() -> None:
    listed = Listed(
        """
        program f(x: f64[3]) {
          a: f64[20,3], b: f64[20,3] = loop(x; carry=0, constants=1, length=20,
            body=program body(c: f64[3], t: int) {
              made: f64[3] = multiply(c, t)
              return made, made
            })
          return a, b
        }"""
    )
    found = collected_rows(
        listed.tree, listed.writes, writable_steps(listed.tree, listed.writes), ()
    )
    assert {listed.names([value]): listed.names([row.whole]) for value, row in found.items()} == {
        "made": "a"
    }
