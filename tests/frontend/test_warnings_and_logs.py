"""Warnings, logs and clocks: once, in order, at their lines, and not again for a derivative."""

from __future__ import annotations

import logging
import time
import warnings

import numpy as np
import pytest

import stcompile as st

LOG = logging.getLogger("tests.effects")
V = np.array([1.0, 2.0, 3.0])
LEVELS = ["readable", "fast"]


def conditional(x):
    if x[0] > 5:
        warnings.warn("large", stacklevel=1)
    LOG.debug("called")
    return np.sum(x * x)


def several(x):
    warnings.warn(f"sum is {np.sum(x):.2f}", RuntimeWarning, stacklevel=1)
    LOG.info("x0 = %s of %d", x[0], 3)
    logging.getLogger("tests.effects").warning("a text %s", [1, 2])
    logging.log(logging.ERROR, "root %s", x)
    logging.getLogger().critical(f"root {x[1]}")
    warnings.warn(FutureWarning(f"later {x[0]}"), stacklevel=1)
    return np.sum(x * x)


def in_a_loop(x):
    s = 0.0
    for k in range(30):
        if k % 10 == 3:
            LOG.warning("step %d: %s", k, s)
        s = s + x[k % 3] ** 2
    return s


def helped(x):
    warnings.warn("helped", stacklevel=2)
    return x * 2


def by_a_helper(x):
    y = helped(x)
    return np.sum(y)


PROGRAMS = [conditional, several, in_a_loop, by_a_helper]


def noted(caplog, call, *args):
    """What a call warns of and logs, in order, with the lines of the warnings."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        call(*args)
    shown = [(str(w.message), w.category, w.filename, w.lineno) for w in caught]
    logs = [record for record in caplog.records if not record.name.startswith("stcompile")]
    logs = [record for record in logs if not record.name.startswith("numba")]
    return shown, [(r.name, r.levelname, r.getMessage()) for r in logs]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("x", [V, 6 * V])
def test_they_are_those_of_the_function(function, x, level, caplog):
    compiled = st.value_and_grad(function, level=level)
    for _ in range(2):
        assert noted(caplog, compiled, x) == noted(caplog, function, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(compiled(x)[0], function(x))


def test_the_compiled_level(caplog):
    pytest.importorskip("numba")
    for function in (conditional, in_a_loop):
        compiled = st.value_and_grad(function, level="compiled")
        compiled(6 * V)
        assert noted(caplog, compiled, 6 * V) == noted(caplog, function, 6 * V)


def test_derivatives_do_not_repeat_them(caplog):
    expected = noted(caplog, several, V)
    for call in (st.hessian(several), st.grad(st.checkpoint(several))):
        assert noted(caplog, call, V) == expected
    assert noted(caplog, lambda x: st.jvp(several, (x,), (x,)), V) == expected


def test_a_warning_that_is_an_error_is_raised():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="large"):
            st.grad(conditional)(6 * V)


def test_clocks():
    def timed(x):
        start = time.perf_counter()
        y = np.sum(x * x)
        elapsed = time.perf_counter() - start
        LOG.info("took %.1f", elapsed)
        return y * (1.0 if elapsed >= 0 and time.time() > 0 else np.nan), elapsed

    value, gradient = st.value_and_grad(timed, has_aux=True)(V)
    assert value[0] == 14 and 0 <= value[1] < 10
    np.testing.assert_allclose(gradient, 2 * V)


def test_a_clock_has_no_derivative():
    before = time.time()
    gradient = st.grad(lambda x: np.sum(x * time.time()))(V)
    assert np.all(gradient >= before) and np.all(gradient <= time.time())


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: st.vmap(conditional)(np.ones((2, 3))), "not printed, logged or timed"),
        (
            lambda: st.grad(st.checkpoint(lambda x: np.sum(x * x) * time.time()))(V),
            "must be done once",
        ),
        (
            lambda: st.grad(lambda x: warnings.warn("own", OwnWarning, stacklevel=1) or x[0])(V),
            "as the category",
        ),
        (lambda: st.grad(lambda x: LOG.info("a", exc_info=True) or x[0])(V), "`exc_info`"),
    ],
)
def test_refusals(call, reason):
    with pytest.raises(st.StcompileError, match=reason):
        call()


class OwnWarning(UserWarning):
    """A category that generated code has no name for."""
