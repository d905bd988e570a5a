"""Which way a call takes: by an entry, the long way, from many threads; the bare function."""

from __future__ import annotations

import collections
import runpy
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.calls.dispatch import ENTRIES
from stcompile.transforms.primal import Primal
from tests.calls.arguments import scaled, squares
from tests.calls.outside import loss, params
from tests.calls.telling import same
from tests.calls.test_workspaces import together

# --- which way a call takes ----------------------------------------------------------------------


def test_a_signature_that_comes_again_has_an_entry(counts: collections.Counter[str]) -> None:
    step = st.train_step(loss, st.optim.SGD(0.01))
    p, x = params(), np.ones((16, 3))
    for turn in range(6):
        step(p, x[turn : turn + 4])
        assert counts == {"build": 1, "bind": min(turn + 1, 2)}
    step(params(), x[:4])
    assert counts == {"build": 1, "bind": 3}, "other arrays: what they share is looked at again"
    step(p, x[:4])
    step(p, x[:4])
    assert counts == {"build": 1, "bind": 4}


def test_signatures_in_turn(counts: collections.Counter[str]) -> None:
    f = st.value_and_grad(squares, dynamic=False)
    sizes = range(1, ENTRIES + 1)
    for size in (*sizes, *sizes):
        f(np.ones(size))
    assert counts["bind"] == 2 * ENTRIES
    for size in (*sizes, *reversed(sizes)):
        f(np.ones(size))
    assert counts["bind"] == 2 * ENTRIES
    assert counts["build"] == ENTRIES


def test_keywords_and_defaults_use_entries(counts: collections.Counter[str]) -> None:
    def f(x, n=2, m=1.0):
        return x**n * m

    g = st.value_and_grad(f)
    for _ in range(2):
        g(3.0)
    before = counts["bind"]
    for found in (g(3.0), g(x=3.0), g(3.0, m=1.0), g(n=2, x=3.0), g(3.0, 2, 1.0)):
        assert found == (9.0, 6.0)
    assert counts["bind"] == before
    with pytest.raises(st.ArgumentsError, match="unexpected keyword"):
        g(3.0, k=1)
    with pytest.raises(st.ArgumentsError, match="multiple values"):
        g(3.0, x=1.0)


def test_any_number_of_arguments_uses_entries(counts: collections.Counter[str]) -> None:
    def f(x, *factors):
        for factor in factors:
            x = x * factor
        return x

    g = st.value_and_grad(f)
    cases = {(3.0,): (3.0, 1.0), (3.0, 2.0): (6.0, 2.0), (3.0, 2.0, 5.0): (30.0, 10.0)}
    for arguments in (*cases, *cases):
        g(*arguments)
    before = counts["bind"]
    for arguments, expected in cases.items():
        assert g(*arguments) == expected
    assert counts["bind"] == before
    assert g(x=3.0) == (3.0, 1.0)
    with pytest.raises(st.ArgumentsError, match="multiple values"):
        g(3.0, 2.0, x=1.0)
    with pytest.raises(st.ArgumentsError, match="unexpected keyword"):
        g(3.0, 2.0, k=1.0)


def test_the_defaults_of_a_method_are_arguments_as_those_of_a_function() -> None:
    class Model:
        def loss(self, x, scale=1.5):
            return np.sum(x * scale)

    by_both = st.grad(Model().loss, wrt=("x", "scale"))
    for found in (by_both(np.ones(2)), by_both(np.ones(2), 1.5)):
        assert found[0].tolist() == [1.5, 1.5] and found[1] == 2.0


def test_signatures_that_are_not_plain(counts: collections.Counter[str]) -> None:
    def named(*, a, b):
        return a / b

    def any_number(*xs):
        return xs[0] - xs[-1]

    f, g = Primal(named), Primal(any_number)
    for _ in range(4):
        assert f(a=1.0, b=2.0) == 0.5
        assert f(b=1.0, a=2.0) == 2.0
        assert g(1.0, 2.0) == -1
        assert g(1.0, 2.0, 5.0) == -4
    with pytest.raises(st.ArgumentsError):
        f(1.0, 2.0)


def test_an_error_in_an_entry_names_the_line() -> None:
    f = st.value_and_grad(lambda x, i: x[i])
    for index in (0, 1, 2):
        f(np.ones(3), np.array(index))
    with pytest.raises(IndexError) as caught:
        f(np.ones(3), np.array(7))
    assert "x[i]" in "".join(getattr(caught.value, "__notes__", caught.value.args))


def test_nans_are_looked_for_at_every_call() -> None:
    f = st.value_and_grad(lambda x: np.log(x), debug_nans=True)
    for _ in range(3):
        f(1.0)
    with np.errstate(all="ignore"), pytest.raises(st.NanError):
        f(-1.0)


def test_the_optimiser_of_a_step_stays() -> None:
    step = st.train_step(loss, st.optim.SGD(0.01))
    with pytest.raises(AttributeError):
        step.optimizer = st.optim.SGD(1.0)  # type: ignore[misc]


# --- many threads --------------------------------------------------------------------------------


def test_first_calls_in_many_threads(counts: collections.Counter[str]) -> None:
    """One compilation for each signature, and only right results."""

    def f(x):
        total = 0.0
        for k in range(8):
            total = total + np.sum(x**k)
        return total

    functions = [st.value_and_grad(f, dynamic=False) for _ in range(4)]

    def work(index: int) -> None:
        for turn in range(40):
            size = (index + turn) % 3 + 1
            x = np.arange(size) + 1.0 + index
            value, d_x = functions[turn % 4](x)
            assert value == f(x)
            np.testing.assert_allclose(d_x, sum(k * x ** (k - 1) for k in range(8)))

    together(8, work)
    assert counts["build"] == 4 * 3


def test_training_in_many_threads() -> None:
    """One step function, parameters of each thread's own."""
    step = st.train_step(loss, st.optim.SGD(0.001))
    x = np.ones((4, 3))
    expected = params()
    for _ in range(50):
        st_value = step(expected, x)
    found = [params() for _ in range(8)]

    def work(index: int) -> None:
        for _ in range(50):
            value = step(found[index], x)
        assert value == st_value

    together(8, work)
    for one in found:
        assert same(one, expected)


def test_globals_that_change_between_threads() -> None:
    """Each call is that of one of the values, never a mixture."""
    scale = 2

    def f(x):
        return x * scale + x * x * scale

    g = st.value_and_grad(f)
    allowed = {(3.0 * s + 9.0 * s, 7.0 * s) for s in (1, 2, 3)}
    done = threading.Event()

    def work(index: int) -> None:
        nonlocal scale
        if index == 0:
            for turn in range(300):
                scale = turn % 3 + 1
            done.set()
        while not done.is_set():
            assert g(3.0) in allowed

    together(4, work)


# --- the benchmark -------------------------------------------------------------------------------


def test_the_benchmark_prints_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).parents[2] / "examples" / "benchmarks" / "overhead.py"
    runpy.run_path(str(path))["main"](["--repeats", "1"])
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[-4:] == ["least", "median", "mean", "checks"]
    assert len(rows) == 3
    for row in rows:
        least, median, mean, checks = map(float, row.split()[-4:])
        assert median >= least > 0 and mean >= least and checks > 0


# --- the bare function ---------------------------------------------------------------------------


def test_compile_gives_the_generated_function() -> None:
    f = st.differentiable(scaled)
    value_and_grad = f.compile(3.0, 2)
    assert isinstance(value_and_grad, types.FunctionType)
    assert value_and_grad(3.0, 2) == (12.0, 4.0)
    assert value_and_grad(3.0, "anything: it checks nothing") == (12.0, 4.0)
    assert f.value_and_grad.compile(3.0, 2) is value_and_grad
    assert f.grad.compile(3.0, n=2)(3.0, 2) == 4.0
    assert f.primal.compile(3.0, 2)(3.0, 2) == 12.0


def test_compile_of_a_step_takes_captured_values_by_keyword() -> None:
    step = st.train_step(loss, st.optim.SGD(0.01))
    p, reference, x = params(), params(), np.ones((4, 3))
    bare = step.compile(p, x)
    assert same(p, reference), "compiling changes nothing"
    assert bare(p, x, lr=0.5) == loss(reference, x)
    slow = st.train_step(loss, st.optim.SGD(0.5))
    slow(reference, x)
    assert same(p, reference)


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i4", ">c16"])
def test_numbers_with_other_bytes_are_refused(dtype: str) -> None:
    """A copy would keep the order of bytes, and arithmetic would not."""
    swapped = np.ones(3).astype(np.dtype(dtype).newbyteorder("S"))
    native = swapped.astype(swapped.dtype.newbyteorder("="))
    swapped = native.astype(native.dtype.newbyteorder("S"))

    def total(x: Any, k: Any) -> Any:
        return np.sum(np.abs(x * k))

    for function, arguments in (
        (st.grad(total), (swapped, np.ones(3))),
        (st.grad(total), (np.ones(3), swapped)),
        (st.grad(lambda x: np.sum(np.abs(x * swapped))), (np.ones(3),)),
        (st.grad(lambda x: np.sum(x.astype(swapped.dtype).real)), (np.ones(3),)),
    ):
        with pytest.raises(st.StcompileError, match="whose bytes are in another order"):
            function(*arguments)
    assert st.grad(total, wrt="k")(native, np.ones(3)).shape == (3,)
