"""Syntax and functions that are not differentiated are refused, at the expression."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np

from stcompile import DerivativeError, TypingError
from tests.diagnostics.refusals import Refusals, refusal

refused = Refusals()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
count = 0

# --- functions -----------------------------------------------------------------------------------


@refused(X, at="np.frompyfunc(len, 1, 1)", reason=r"np\.frompyfunc.*not supported")
def an_unknown_numpy_function(x):
    return np.sum(x) * len(np.frompyfunc(len, 1, 1))


@refused(X, at="math.gamma(x[0, 0])", reason=r"`math\.gamma` needs values")
def an_unknown_function_of_math(x):
    return math.gamma(x[0, 0])


@refused(X, at="np.random.gamma(2.0, size=3)", reason=r"gamma.*not supported")
def a_random_draw(x):
    return np.sum(x * np.random.gamma(2.0, size=3))


@refused(X, at="x.tobytes()", reason=r"\.tobytes.*not supported")
def an_unknown_array_method(x):
    return len(x.tobytes()) * x[0, 0]


@refused(X, at="x.data", reason=r"\.data.*not supported")
def an_unknown_array_attribute(x):
    return x.data[0] * x[0, 0]


@refused(X, at="open('file')", reason="open` (is not supported|has no)")
def a_function_with_side_effects(x):
    return np.sum(x) * len(open('file').read())  # fmt: skip


@refused(X, at="exec('1')", reason="`exec` is not supported")
def executed_code(x):
    return np.sum(x) * (exec('1') or 1)  # fmt: skip


@refused(X, at="np.sort(x, order='a')", reason=r"`order` of `np\.sort` is not supported")
def an_unsupported_keyword(x):
    return np.sum(np.sort(x, order='a'))  # fmt: skip


@refused(X, at="np.exp(x, out=y)", reason=r"but `out` has \(2, 2, 3\)", error=TypingError)
def an_output_argument(x):
    y = np.zeros((2, 2, 3))
    np.exp(x, out=y)
    return np.sum(y)


@refused(X, at="itertools.cycle(x[0])", reason="whose items are made on the way")
def a_cycle_of_an_array(x):
    for _, n in enumerate(itertools.cycle(x[0])):
        x = x * n
    return np.sum(x)


@refused(X, at="enumerate(itertools.count())", reason="never end", hint="zip them")
def an_endless_iterator(x):
    for _, n in enumerate(itertools.count()):
        x = x * n
    return np.sum(x)


# --- syntax --------------------------------------------------------------------------------------


@refused(X, at="global count", reason="`global count`", hint="argument")
def a_global_statement(x):
    global count
    count = 1
    return np.sum(x)


@refused(X, at="def a_generator(x):", reason="generator", error=DerivativeError)
def a_generator(x):
    yield np.sum(x)


@refused(X, at="zip(values(x), x)", reason="generator", hint="list")
def a_zipped_generator(x):
    def values(y):
        yield y

    return np.sum([a * b for a, b in zip(values(x), x)])


@refused(X, at="yield y", reason="`yield` within `try`")
def a_generator_with_a_final_block(x):
    def values(y):
        try:
            yield y
        finally:
            print("done")

    return np.sum(list(values(x)))


@refused(X, at="async def a_coroutine(x):", reason="async def|coroutine")
async def a_coroutine(x):
    return np.sum(x)


@refused(X, at="async def inner(y):", reason="`async def` is not supported")
def a_nested_coroutine(x):
    async def inner(y):
        return y

    return np.sum(x)


@refused(X, at="warnings.catch_warnings(record=True)", reason="is not kept", hint="write")
def a_with_statement(x):
    with warnings.catch_warnings(record=True):
        return np.sum(x)


@refused(X, at="class Local:", reason="class definition")
def a_class_definition(x):
    class Local:
        pass

    return np.sum(x)


@refused(X, at="import no_such_module", reason="No module named 'no_such_module'")
def an_import(x):
    import no_such_module

    return np.sum(x) * no_such_module.value


@refused(X, at="del items[0:1]", reason="`del` of a slice")
def a_deletion_in_a_container(x):
    items = [x, x]
    del items[0:1]
    return np.sum(items[0])


@refused(X, at='raise ValueError("no")', reason=r"raises ValueError\('no'\)", hint="")
def a_raise(x):
    raise ValueError("no")


@refused(X, at="undefined", reason="`?undefined`? is not defined", hint="")
def an_undefined_name(x):
    return np.sum(x) * undefined  # noqa: F821


@refused(X, at="y", reason="`?y`?.*(before|not defined|no value)", hint="")
def a_name_without_a_value(x):
    if x.ndim == 3:
        y = x
    return np.sum(y)


@refused(X, at="np.summ", reason="summ", hint="")
def an_unknown_name_in_numpy(x):
    return np.summ(x)


@refused(X, at="x.summ", reason="no attribute `summ`", error=TypingError)
def an_unknown_attribute(x):
    return x.summ()


@refused(X, at="n(x)", reason="cannot be called", hint="")
def a_call_of_a_number(x):
    n = 3
    return n(x)


@refused(X, at="a, b, c = x", reason="2 values.*3 names", hint="", error=TypingError)
def an_unpacking_that_does_not_fit(x):
    a, b, c = x
    return np.sum(a + b + c)


test_refusal = refused.tests()


def forever(x):
    return forever(x * 2)


def test_endless_recursion():
    error = refusal(forever, X)
    assert "calls itself" in error.reason
    assert "base case" in error.hint
    assert len(str(error).splitlines()) < 40


def test_an_endless_loop(monkeypatch):
    monkeypatch.setattr("stcompile.frontend.state.walking.STEP_BUDGET", 10_000)

    def loss(x):
        n = 0
        while n >= 0:
            n += 1
        return np.sum(x)

    error = refusal(loss, X)
    assert "too long at compile time" in error.reason
    assert "loop" in error.hint
