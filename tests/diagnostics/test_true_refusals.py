"""A refusal that says that NumPy refuses as well is true: the plain function raises an error."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.frontend.operations.trials import NOT_SUPPORTED
from stcompile.frontend.state.walking import REFUSED_AS_WELL, WOULD_REFUSE

FLOATS = (
    np.float64(1.5), np.array(0.5), np.arange(3.0) + 0.5, np.ones((3, 4)), np.ones((4, 3)),
    np.eye(3), np.ones((3, 1)), np.zeros(0), np.zeros((0, 3)),
)  # fmt: skip
OTHERS = (np.array([1, 0, 2]), np.array([True, False, True]), np.ones((3, 4), np.uint8))
PLACES = (np.array([2, 0, 1]), np.array([True, False, True]), np.zeros(0, int), np.eye(3) > 0)


def _stored(x: Any, y: Any, i: Any) -> Any:
    w = y.copy()
    w[i] = x
    return w


def _added(x: Any, y: Any, i: Any) -> Any:
    w = y.copy()
    w[i] += x
    return w


def _added_at(x: Any, y: Any, i: Any) -> Any:
    w = y.copy()
    np.add.at(w, i, x)
    return w


def _by_data(x: Any, y: Any, i: Any) -> Any:
    w = y.copy()
    w[y > 0.7] = x
    return w


def _masked(x: Any, y: Any, i: Any) -> Any:
    w = y.copy()
    np.putmask(w, i, x)
    return w


def _filled(x: Any, y: Any, i: Any) -> Any:
    w = y.copy()
    w.flat[i] = x
    return w


OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda x, y, i: x + y,
    "matmul": lambda x, y, i: x @ y,
    "dot": lambda x, y, i: np.dot(x, y),
    "concatenate": lambda x, y, i: np.concatenate([x, y], axis=1),
    "hstack": lambda x, y, i: np.hstack([x, y]),
    "stack": lambda x, y, i: np.stack([x, y]),
    "index": lambda x, y, i: x[i],
    "places": lambda x, y, i: x[:, i],
    "mask": lambda x, y, i: x[x > 0.7],
    "masked sum": lambda x, y, i: x[x > 0.7] + y,
    "where": lambda x, y, i: np.where(i, x, y),
    "outer": lambda x, y, i: np.outer(x[x > 0.7], y),
    "reshape": lambda x, y, i: x.reshape(y.shape),
    "axis": lambda x, y, i: np.sum(x, axis=1),
    "maximum": lambda x, y, i: np.max(x, axis=0),
    "take": lambda x, y, i: np.take(x, i, axis=1),
    "repeat": lambda x, y, i: np.repeat(x, i),
    "split": lambda x, y, i: np.split(x, 3)[0],
    "broadcast": lambda x, y, i: np.broadcast_to(x, y.shape),
    "inverse": lambda x, y, i: np.linalg.inv(x),
    "solution": lambda x, y, i: np.linalg.solve(x, y),
    "factor": lambda x, y, i: np.linalg.cholesky(x),
    "norm": lambda x, y, i: np.linalg.norm(x, 2),
    "interp": lambda x, y, i: np.interp(x, y, y),
    "clip": lambda x, y, i: np.clip(x, y, i),
    "invert": lambda x, y, i: ~x,
    "minus": lambda x, y, i: -i,
    "and": lambda x, y, i: x & i,
    "bincount": lambda x, y, i: np.bincount(i, x, 4),
    "piecewise": lambda x, y, i: np.piecewise(x, [x > 1], [lambda q: q * 2, 1]),
    "compress": lambda x, y, i: np.compress(i, x),
    "grid": lambda x, y, i: np.outer(x, x)[np.ix_(i, i)],
    "int": lambda x, y, i: int(x) * y,
    "len": lambda x, y, i: len(x) * y,
    "stored": _stored,
    "added": _added,
    "added at": _added_at,
    "by data": _by_data,
    "masked": _masked,
    "filled": _filled,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATIONS)
def test_claims(name: str) -> None:
    function = OPERATIONS[name]
    compiled = st.compile(function)
    for k, (x, y) in enumerate(itertools.product(FLOATS, (*FLOATS, *OTHERS))):
        arguments = (x, y, PLACES[k % len(PLACES)])
        try:
            compiled(*copy.deepcopy(arguments))
        except st.StcompileError as error:
            assert not isinstance(error, st.InternalError), arguments
            if error.hint in (WOULD_REFUSE, REFUSED_AS_WELL):
                with pytest.raises(Exception):
                    print(function(*copy.deepcopy(arguments)), "of", arguments)
        except Exception as raised:
            with pytest.raises(type(raised)):
                function(*copy.deepcopy(arguments))


def test_what_numpy_takes() -> None:
    """It is said that this is not supported, not that NumPy refuses it."""

    def masked(x: Any) -> Any:
        return x[x > 0.2]

    assert masked(np.array(0.5)).shape == (1,)
    with pytest.raises(st.LanguageError) as caught:
        st.compile(masked)(np.array(0.5))
    assert caught.value.hint == NOT_SUPPORTED


X = np.eye(2)
CLASSES: dict[str, Callable[[Any], Any]] = {
    "a power of no square matrix": lambda x: np.linalg.matrix_power(x * np.ones((2, 3)), 2),
    "a power that is no integer": lambda x: np.linalg.matrix_power(x * np.eye(2), 0.5),
    "a product of no matrix": lambda x: np.linalg.multi_dot([X, x * np.ones(2), X]),
    "a product of a cube": lambda x: np.linalg.multi_dot(
        [x * np.ones((2, 2, 2))] + [np.eye(2)] * 2
    ),
    "a place to delete": lambda x: np.delete(x * np.ones(3), 7),
    "a place to insert": lambda x: np.insert(x * np.ones(3), 7, 1.0),
    "an average without an axis": lambda x: np.average(x * np.ones((2, 3)), weights=np.ones(3)),
    "spacings": lambda x: np.gradient(x * np.ones(3), 1.0, 2.0),
    "a cast": lambda x: np.copyto(np.zeros(3, int), x * np.ones(3)),
    "an order of norms": lambda x: np.linalg.norm(x * np.ones(3), "abc"),
    "a division": lambda x: np.average(x * np.ones(3), weights=np.zeros(3)),
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_refusal_names_the_class_of_the_error_that_numpy_raises(name: str) -> None:
    function = CLASSES[name]
    with pytest.raises(Exception) as plain:
        function(1.0)
    error = plain.type
    with pytest.raises(st.StcompileError, match=rf"\b{error.__name__}\(") as caught:
        st.compile(function)(1.0)
    assert caught.value.hint == REFUSED_AS_WELL

    def handled(x: Any) -> Any:
        try:
            function(x)
        except error:
            return 2 * x
        return x

    assert st.grad(handled)(3.0) == 2.0


def test_an_error_of_the_library_that_data_decide_is_raised() -> None:
    averaged = st.compile(lambda x, w: np.average(x, weights=w))
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
        averaged(np.ones(3), np.zeros(3))
