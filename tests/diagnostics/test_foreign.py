"""Objects of other libraries are named at the user's line, with what to write instead."""

from __future__ import annotations

import logging
import sys
import types
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.foreign import LIBRARIES, library_of
from tests.diagnostics.refusals import excerpts

plt = pytest.importorskip("matplotlib.pyplot")
linalg = pytest.importorskip("scipy.linalg")
sparse = pytest.importorskip("scipy.sparse")

X = np.array([1.0, 2.0, 3.0])


class DataFrame:
    """Stands for a class of a library that is not installed: it is known by its module's name."""

    def __init__(self, values: Any) -> None:
        self.held = values

    def __matmul__(self, other: Any) -> Any:
        return self.held @ other

    def __getitem__(self, name: str) -> Any:
        return self.held

    @property
    def values(self) -> Any:
        return self.held

    def mean(self) -> Any:
        return np.mean(self.held)


FRAME = type("DataFrame", (DataFrame,), {"__module__": "pandas.core.frame"})(X)
TENSOR = type("Tensor", (), {"__module__": "torch"})()
MASKED = np.ma.masked_array(X, [True, False, False])
SPARSE = sparse.csr_matrix(np.eye(3))
LOG = logging.getLogger("tests")


def by_item(x: Any) -> Any:
    return np.sum(FRAME["a"] * x)


def by_operator(x: Any) -> Any:
    return np.sum(FRAME @ x)


def by_operand(x: Any) -> Any:
    return np.sum(x * TENSOR)


def by_function(x: Any) -> Any:
    return np.sum(np.exp(TENSOR) * x)


def by_sparse(x: Any) -> Any:
    return np.sum(SPARSE[0] @ x)


def by_logger(x: Any) -> Any:
    return np.sum(x) if LOG.isEnabledFor(10) else x[0]


def by_logging(x: Any) -> Any:
    logging.captureWarnings(True)
    return np.sum(x)


def by_plot(x: Any) -> Any:
    plt.plot(x)
    return np.sum(x)


def by_argument(x: Any, frame: Any) -> Any:
    return np.sum(x * frame)


CASES: dict[str, tuple[Any, tuple[Any, ...], str, str]] = {
    "item": (by_item, (X,), "a DataFrame of pandas", "to_numpy()"),
    "operator": (by_operator, (X,), "a DataFrame of pandas", "to_numpy()"),
    "operand": (by_operand, (X,), "a Tensor of torch", "x.detach().numpy()"),
    "function": (by_function, (X,), "a Tensor of torch", "x.detach().numpy()"),
    "sparse": (by_sparse, (X,), "a csr_matrix of scipy.sparse", "A.toarray()"),
    "logger": (by_logger, (X,), "the function `isEnabledFor` of logging", "print(...)"),
    "logging": (by_logging, (X,), "the function `captureWarnings` of logging", "print(...)"),
    "plot": (by_plot, (X,), "the function `plot` of matplotlib", "has_aux=True"),
    "argument": (by_argument, (X, FRAME), "a DataFrame of pandas", "to_numpy()"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_foreign_is_named_at_the_users_line(name: str) -> None:
    function, arguments, what, instead = CASES[name]
    with pytest.raises(st.LanguageError) as caught:
        st.grad(function)(*arguments)
    message = str(caught.value)
    assert f"{what} is not compiled" in message and instead in message
    (place,) = excerpts(message)
    assert place.file == "test_foreign.py" and place.function == function.__name__


def test_what_is_foreign_may_be_held() -> None:
    def f(x: Any, frame: Any) -> Any:
        return np.sum(x * x) if frame is not None else 0.0

    np.testing.assert_array_equal(st.grad(f)(X, FRAME), 2 * X)


def test_wrt_says_what_is_looked_into() -> None:
    class Model:
        tree_leaf = True

        def __init__(self, w: Any) -> None:
            self.w = w

    def f(model: Any, x: Any) -> Any:
        return np.sum(model.w * x)

    with pytest.raises(st.DerivativeError, match="`model` is a Model: derivatives are by arrays"):
        st.grad(f, wrt="model")(Model(X), X)
    with pytest.raises(st.DerivativeError, match="`x` is a DataFrame of pandas") as caught:
        st.grad(lambda x: 1.0, wrt="x")(FRAME)
    assert "to_numpy()" in str(caught.value)


def test_an_integer_argument_is_blamed_and_not_the_result() -> None:
    with pytest.raises(st.DerivativeError, match=r"x has the integer type i64\[3\]"):
        st.grad(lambda x: np.sum(x))(np.arange(3))


def test_libraries_are_known_by_their_names() -> None:
    assert library_of(MASKED) == "numpy.ma" and library_of(SPARSE) == "scipy.sparse"
    assert library_of(X) is None and library_of(np.sum) is None and library_of(linalg) is None
    assert library_of(types) is None and library_of(3) is None and library_of(len) is None
    assert not {name for name in LIBRARIES if name in ("pandas", "torch")} & set(sys.modules)
