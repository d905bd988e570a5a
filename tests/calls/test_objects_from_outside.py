"""Calls that change objects from outside: compilations, errors, threads, caches, other
transformations."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.array([0.5, 0.6, 0.7])


class Problem:
    def __init__(self):
        self.nfev, self.seen, self.total, self.items = 0, None, np.zeros(3), []

    def f(self, x):
        self.nfev += 1
        return np.sum(x**2)

    def sin(self, x):
        self.nfev += 1
        return np.sin(x)

    def checked(self, x):
        self.nfev += 1
        self.total += x
        self.items.append(x)
        if x[0] < 0:
            raise ValueError(f"negative: {x[0]}")
        self.seen = x * 2
        return np.sum(x)

    def step(self, w, x):
        self.nfev += 1
        self.seen = w * x
        return np.sum((w - x) ** 2)

    def read(self, x):
        self.nfev += 1
        return np.sum(np.array(self.items)) * np.sum(x)


def test_a_counter_is_compiled_once():
    problem = Problem()
    gradient = st.grad(problem.f)
    for _ in range(20):
        gradient(X)
    problem.nfev = 1000
    gradient(X)
    assert problem.nfev == 1001
    assert gradient._compilations == 1


def test_a_list_that_grows_is_compiled_once_unless_it_is_read():
    problem = Problem()
    function = st.compile(problem.checked)
    for _ in range(5):
        function(X)
    assert len(problem.items) == 5
    assert function._compilations == 1
    reader = st.compile(problem.read)
    assert np.isclose(reader(X), 5 * 1.8 * 1.8)
    problem.items.append(X)
    assert np.isclose(reader(X), 6 * 1.8 * 1.8)


@pytest.mark.parametrize("transform", [st.compile, st.value_and_grad])
def test_an_error_leaves_objects_alone(transform):
    problem = Problem()
    function = transform(problem.checked)
    with pytest.raises(ValueError, match="negative"):
        function(-X)
    assert (problem.nfev, problem.seen, problem.items) == (0, None, [])
    assert not problem.total.any()
    function(X)
    assert (problem.nfev, len(problem.items)) == (1, 1)
    assert np.array_equal(problem.seen, 2 * X)


def test_a_training_step_counts_once():
    problem = Problem()
    train = st.train_step(problem.step, st.optim.SGD(0.1), wrt="w")
    w = np.ones(3)
    for count in (1, 2, 3):
        before = w.copy()
        train(w, X)
        assert problem.nfev == count
        assert np.allclose(problem.seen, before * X)


ONCE: dict[str, Any] = {
    "jacobian": lambda f: st.jacobian(f.sin)(X),
    "columns": lambda f: st.jacobian(f.sin, mode="forward")(X),
    "jvp": lambda f: np.diag(st.jvp(f.sin, (X,), (np.ones(3),))[1]),
    "vjp": lambda f: np.diag(st.vjp(f.sin, X)[1](np.ones(3))[0]),
    "linearize": lambda f: np.diag(st.linearize(f.sin, X)[1](np.ones(3))),
    "hessian": lambda f: st.hessian(f.f)(X) / 2 * np.cos(X),
}


@pytest.mark.parametrize("name", ONCE)
def test_derivatives_count_once(name):
    problem = Problem()
    assert np.allclose(ONCE[name](problem), np.diag(np.cos(X)))
    assert problem.nfev == 1


def test_a_pullback_has_what_the_object_held():
    """The object's array is changed after it was read, and by the user before the pullback."""
    problem = Problem()
    problem.total += 2

    def scaled(x):
        y = np.sin(x) * problem.total
        problem.total += 1
        problem.items.append(y)
        return y

    value, pullback = st.vjp(scaled, X)
    assert np.array_equal(problem.total, [3.0, 3.0, 3.0])
    problem.total += 5
    problem.items[0][:] = 7
    assert np.allclose(value, 2 * np.sin(X))
    assert np.allclose(pullback(np.ones(3))[0], 2 * np.cos(X))


MANY: dict[str, Any] = {
    "vmap": lambda f: st.vmap(f.f)(np.ones((2, 3))),
    "checkpoint": lambda f: st.grad(st.checkpoint(f.f))(X),
}


@pytest.mark.parametrize("name", MANY)
def test_what_may_run_often_is_refused(name):
    problem = Problem()
    with pytest.raises(st.StcompileError, match="sets the attribute `nfev` of a Problem") as caught:
        MANY[name](problem)
    assert "self.nfev += 1" in str(caught.value)
    assert problem.nfev == 0


def test_threads():
    problems = [Problem() for _ in range(4)]
    shared = Problem()

    def work(problem: Problem) -> None:
        own, common = st.grad(problem.f), st.compile(shared.f)
        for _ in range(50):
            own(X)
            common(X)

    threads = [threading.Thread(target=work, args=(problem,)) for problem in problems]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [problem.nfev for problem in problems] == [50] * 4
    assert 50 <= shared.nfev <= 200  # as in Python, a count may be lost


def test_pickles_have_an_object_of_their_own():
    problem = Problem()
    function = pickle.loads(pickle.dumps(st.compile(problem.f)))
    function(X)
    assert problem.nfev == 0
    assert function.function.__self__.nfev == 1


def test_it_is_not_cached_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("STCOMPILE_CACHE", str(tmp_path))
    for _ in range(2):
        problem = Problem()
        st.grad(problem.f)(X)
        assert problem.nfev == 1


def test_a_file_has_no_object():
    with pytest.raises(st.StcompileError, match="changes an object from outside"):
        st.grad(Problem().f).export("nowhere.py", X)


def test_the_text_says_what_it_sets():
    problem = Problem()
    text = st.grad(problem.checked, level="readable").source(X)
    end = text[text.index("# --- attributes") :]
    assert [line.strip() for line in end.splitlines()[1:-1]] == [
        "self.items.append(x)",
        "self.nfev = nfev_1",
        "self.seen = seen",
    ]
