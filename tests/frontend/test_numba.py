"""Functions of Numba's users: taken as the Python functions that they were made of."""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st

numba = pytest.importorskip("numba")

X = np.array([0.5, -1.5, 2.0])
BOTH = numba.typed.List([2.0, 3.0])


@numba.njit
def square(x: Any, scale: Any = 2.0) -> Any:
    return scale * x * x


@numba.jit(nopython=True, parallel=True)
def total(x: Any) -> Any:
    found = 0.0
    for i in numba.prange(len(x)):
        found += square(x[i]) * numba.float64(3)
    return found


@numba.njit
def factorial(n: Any) -> Any:
    return 1.0 if n <= 1 else n * factorial(n - 1)


@numba.njit
def applied(function: Any, x: Any) -> Any:
    return function(x, 1.0)


@numba.vectorize
def doubled(x: Any) -> Any:
    return 2 * x


class Model:
    rate = 3.0

    @staticmethod
    @numba.njit
    def cube(x: Any) -> Any:
        return x**3

    @numba.njit
    def scaled(self, x: Any) -> Any:
        return self.rate * x


MODEL = Model()


def calls(x: Any) -> Any:
    return np.sum(square(x)) + total(x)


def hands_over(x: Any) -> Any:
    return np.sum(applied(square, x) + functools.partial(square, scale=5.0)(x))


def methods(x: Any) -> Any:
    return np.sum(MODEL.cube(x) + MODEL.scaled(x))


def recursive(x: Any) -> Any:
    return factorial(5) * x[0] * x[1]


def defines(x: Any) -> Any:
    inner = numba.njit(lambda y: y * y)
    outer = numba.njit("float64(float64)")(lambda y: inner(y) * y)
    again = numba.njit(parallel=True)(square)
    return np.sum(outer(x) + again(x))


def read_function(x: Any) -> Any:
    return np.sum(square.py_func(x))


def plain_words(x: Any) -> Any:
    with numba.objmode(y="float64"):
        y = x[numba.literally(1)] * x[0]
    for k in numba.literal_unroll((1.0, 2.0)):
        y = y * k
    return y


PAIR = np.array([X[1], X[0], 0.0])
EXPECTED: dict[Callable[..., Any], tuple[Any, Any]] = {
    calls: (8 * np.sum(X**2), 16 * X),
    hands_over: (6 * np.sum(X**2), 12 * X),
    methods: (np.sum(X**3 + 3 * X), 3 * X**2 + 3.0),
    recursive: (120 * X[0] * X[1], 120 * PAIR),
    defines: (np.sum(X**3 + 2 * X**2), 3 * X**2 + 4 * X),
    read_function: (2 * np.sum(X**2), 4 * X),
    plain_words: (2 * X[0] * X[1], 2 * PAIR),
    total: (6 * np.sum(X**2), 12 * X),
}


@pytest.mark.parametrize("function", EXPECTED, ids=lambda f: f.__name__)
def test_gradient(function: Callable[..., Any]) -> None:
    expected = EXPECTED[function]
    found = st.value_and_grad(function, level="readable")(X)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_numba_gives_the_same() -> None:
    assert total(X) == pytest.approx(st.value_and_grad(total)(X)[0])


@pytest.mark.parametrize("level", ["fast", "compiled"])
def test_levels(level: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)  # of what is generated
    np.testing.assert_allclose(st.grad(calls, level=level)(X), 16 * X, rtol=1e-12)


def test_other_transformations() -> None:
    assert st.compile(square)(3.0) == 18.0
    assert st.grad(square)(3.0, scale=1.0) == 6.0
    assert st.jvp(square, (3.0,), (2.0,)) == (18.0, 24.0)
    loss = st.differentiable(square)
    assert loss.grad(3.0) == 12.0 and loss.function is square


def test_pickle() -> None:
    assert pickle.loads(pickle.dumps(st.grad(square)))(3.0) == 12.0


# --- refusals ------------------------------------------------------------------------------------


def calls_vectorized(x: Any) -> Any:
    return np.sum(doubled(x))


def makes_list(x: Any) -> Any:
    items = numba.typed.List()
    items.append(x[0])
    return items[0]


def reads_list(x: Any) -> Any:
    return np.sum(x) * BOTH[0]


def given_list(x: Any, items: Any) -> Any:
    return np.sum(x) * items[0]


@pytest.mark.parametrize(
    ("function", "arguments", "reason", "hint"),
    [
        (calls_vectorized, (), "the function `doubled` of numba.np.ufunc", "under @njit"),
        (makes_list, (), "the class `List` of numba.typed", "a plain list"),
        (reads_list, (), "a List of numba.typed", "a plain list"),
        (given_list, (BOTH,), "a List of numba.typed", "a plain list"),
    ],
)
def test_refusals(
    function: Callable[..., Any], arguments: tuple[Any, ...], reason: str, hint: str
) -> None:
    with pytest.raises(st.StcompileError) as raised:
        st.grad(function)(X, *arguments)
    assert f"{reason} is not compiled" in str(raised.value)
    assert function.__name__ in str(raised.value) and "^^^" in str(raised.value)
    assert hint in str(raised.value)


def test_vectorized_itself() -> None:
    with pytest.raises(st.StcompileError, match="the function `doubled` of numba"):
        st.grad(doubled)


# --- other processes -----------------------------------------------------------------------------

MODULE = """
import numba
import numpy as np
import stcompile as st

@numba.njit
def inner(x):
    return x * x

def loss(x):
    return np.sum(inner(x))

if __name__ == "__main__":
    made = []
    with st.on_compile(lambda one: made.append(one.cached)):
        assert st.grad(loss)(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
        assert st.grad(inner)(3.0) == 6.0
    print(*made)
"""


def run(file: Path, folder: Path) -> str:
    environment = {**os.environ, "STCOMPILE_CACHE": str(folder)}
    return subprocess.run(
        [sys.executable, str(file)], check=True, capture_output=True, text=True, env=environment
    ).stdout.strip()


def test_cached(tmp_path: Path) -> None:
    """A function under njit is told by the Python function that it was made of."""
    file = tmp_path / "model.py"
    file.write_text(MODULE)
    assert run(file, tmp_path / "cache") == "False False"
    assert run(file, tmp_path / "cache") == "True True"
    file.write_text(MODULE.replace("return x * x", "return x + x").replace("6.0", "2.0"))
    assert run(file, tmp_path / "cache") == "False False"


def test_not_imported() -> None:
    code = "import sys; import stcompile as st; st.grad(lambda x: x); print('numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
