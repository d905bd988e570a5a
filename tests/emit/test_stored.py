"""Updates of arguments: in place where nothing sees it, and always what Python computes."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.random.default_rng(0).standard_normal((3, 3))


class Update(st.optim.Optimizer):
    """The state ``a`` and ``b`` of one parameter."""

    slots = ("a", "b")

    def update(self, params, grads, *, a, b):
        self.change(params[0], grads[0], a[0], b[0])


def chain(self, p, g, a, b):
    a *= 0.5
    a += g
    p -= a


def two_chains(self, p, g, a, b):
    a += g
    a *= a
    b -= a
    b *= 0.5
    p -= a / (np.abs(b) + 1)


def from_anew(self, p, g, a, b):
    """What is made in `a` does not read it."""
    a[...] = np.sin(g)
    p -= a * a


def old_contents_later(self, p, g, a, b):
    old = a * 2.0
    kept = a.copy()
    a *= 0.5
    a += g
    p -= old + kept + a


def old_view_later(self, p, g, a, b):
    before = a.T + 1.0
    c = p.T
    a *= 0.5
    a += g
    p -= before * a
    b += c


def read_in_between(self, p, g, a, b):
    """The old contents of `a` are read when the new ones are under way."""
    c = np.sin(g)
    c[0] = 0.5
    c[1] = a[0] + g[1]
    a[...] = c
    p -= g


def stored_twice(self, p, g, a, b):
    a *= 0.5
    a += g
    b[...] = a
    p -= a


def exchanged(self, p, g, a, b):
    kept = a.copy()
    a[...] = b + g
    b[...] = kept
    p -= a * b


def changed_after(self, p, g, a, b):
    a *= 0.5
    a += g
    c = a.copy()
    c += 1.0
    c *= a
    p -= c


def handed_over(self, p, g, a, b):
    """What was in `a` becomes `b`, and goes on."""
    a *= 0.5
    a += g
    b[...] = a
    b += 1.0
    b *= a
    p -= b


def parts(self, p, g, a, b):
    a *= 0.5
    a[0] += g[1]
    a[:, 1] = p[0]
    p -= a


def transposed(self, p, g, a, b):
    a[...] = a.T * 2.0 + g
    a *= 0.5
    p -= a @ a.T


def branch(self, p, g, a, b):
    a *= 0.5
    a += g
    if np.sum(a) > 0:
        a *= 2.0
    else:
        b += a
    p -= a + b


def branch_after(self, p, g, a, b):
    a *= 0.5
    a += g
    if np.sum(a) > 0:
        c = a
    else:
        c = b * 1.0
    p -= c


def loop(self, p, g, a, b):
    a *= 0.5
    for _ in range(40):
        a += 0.01 * g
        b *= 1.01
    p -= a + b


def loop_reads(self, p, g, a, b):
    a *= 0.5
    a += g
    s = np.zeros_like(g)
    for _ in range(40):
        s += a
        s *= 0.5
    p -= s


def loop_starts_there(self, p, g, a, b):
    a *= 0.5
    a += g
    s = a
    for _ in range(40):
        s = s * 0.5 + g
    p -= s + a


def raises(self, p, g, a, b):
    a *= 0.5
    assert np.sum(a) < 1e6, "too large"
    a += g
    p -= a


# True: without arrays beside those of the state; None: not looked at.
INPLACE: dict[Any, bool | None] = {
    chain: True,
    two_chains: None,
    from_anew: None,
    old_contents_later: True,
    old_view_later: None,
    read_in_between: None,
    stored_twice: None,
    exchanged: None,
    changed_after: True,
    handed_over: None,
    parts: None,
    transposed: None,
    branch: None,
    branch_after: None,
    loop: None,
    loop_reads: True,
    loop_starts_there: None,
    raises: False,
}


def loss(w):
    return np.sum(np.tanh(w @ X) ** 2) + np.sum(w * X)


@pytest.mark.parametrize("change", INPLACE, ids=lambda change: change.__name__)
def test_an_update_is_what_python_computes(change: Any) -> None:
    """To the bit, and in the same arrays."""
    optimizer = type("Own", (Update,), {"change": change})(0.1)
    w = np.random.default_rng(1).standard_normal((3, 3))
    step, gradient = (
        st.train_step(loss, optimizer, level="readable"),
        st.value_and_grad(loss, level="readable"),
    )
    reference = [w.copy(), np.zeros((3, 3)), np.zeros((3, 3))]
    for _ in range(3):
        p, a, b = reference
        value, g = gradient(p)
        change(optimizer, p, g, a, b)
        assert step(w) == value
        for found, expected in zip([w, *optimizer.state.values()], reference, strict=True):
            np.testing.assert_array_equal(found, expected)
    source = step.source(w)
    if INPLACE[change] is not None:
        others = [line for line in source.splitlines() if line.strip().startswith(("a_1", "b_1"))]
        assert (len(others) == 0) is INPLACE[change], source


def test_an_update_that_raises_has_changed_nothing() -> None:
    optimizer = type("Own", (Update,), {"change": raises})(0.1)
    w = np.ones((3, 3))
    step = st.train_step(loss, optimizer, level="readable")
    step(w)
    optimizer.state["a"][...] = 1e9
    before, kept = w.copy(), copy.deepcopy(dict(optimizer.state))
    with pytest.raises(AssertionError, match="too large"):
        step(w)
    np.testing.assert_array_equal(w, before)
    np.testing.assert_equal(dict(optimizer.state), kept)


def test_what_is_made_in_place_allocates_nothing() -> None:
    """``a *= 0.5`` and ``a += g`` do not."""
    w = np.ones((3, 3))
    optimizers = [type("Own", (Update,), {"change": c})(0.1) for c in (without_state, chain)]
    without, with_chain = (st.train_step(loss, o).allocated_bytes(w) for o in optimizers)
    assert with_chain == without


def without_state(self, p, g, a, b):
    p -= g
