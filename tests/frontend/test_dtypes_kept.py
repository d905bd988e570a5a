"""Functions whose results have the dtype that the arguments decide: they are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.options import Options
from stcompile.transforms.primal import Primal
from tests.programs import READABLE, assert_same

Z = np.array([1 + 2j, 3j, 2.0])
W = np.array([2j, 1.0 + 1j])
INTEGERS = np.array([0, 5, 11, 3])

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "correlate": lambda a, v: np.correlate(a, v),
    "correlate, full": lambda a, v: np.correlate(a, v, "full"),
    "correlate, same": lambda a, v: np.correlate(a, v, "same"),
    "linspace": lambda start, stop: np.linspace(start, stop, 4),
    "linspace with a dtype": lambda x: np.linspace(0, x[0], 3, dtype=np.float32),
    "linspace of an item": lambda x: np.linspace(0, x[0], 3),
    "unwrap": lambda x: np.unwrap(x),
    "round": lambda x: np.round(x),
    "round to a decimal": lambda x: np.round(x, 1),
    "angle": lambda x: np.angle(x),
    "edges": lambda x: np.histogram(x, bins=3, range=(-2, 2))[1],
    "nanmedian": lambda x: np.nanmedian(x, axis=0),
}
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    *((f"correlate{mode}", pair) for mode in ("", ", full", ", same")
      for pair in ((Z, W), (W, Z), (Z.real.copy(), W), (Z, W.real.copy()))),
    ("linspace", (np.array([2.0, 1.0], np.float32), np.array([1, 2]))),
    ("linspace", (1.0, np.float32(3))),
    ("linspace", (1, np.float16(3))),
    ("linspace", (0.0, np.array([2j, 1.0]))),
    ("linspace with a dtype", (np.array([2.5]),)),
    *(("linspace of an item", (np.array([2], kind),)) for kind in ("f4", "f8", "i8", "c16")),
    *(("unwrap", (INTEGERS.astype(kind),)) for kind in ("i8", "u1", "f4", "f8", "?")),
    *(("round", (INTEGERS.astype(kind),)) for kind in ("i8", "i1", "u1", "f4", "?")),
    ("round", (np.int64(3),)),
    *(("round to a decimal", (INTEGERS.astype(kind),)) for kind in ("i8", "i1", "f8")),
    *(("angle", ((INTEGERS - 5).astype(kind),)) for kind in ("i2", "f4", "c16")),
    ("angle", (INTEGERS.astype("u1"),)),
    *(("edges", (np.ones(3, kind),)) for kind in ("f2", "f4", "f8", "i4")),
    ("nanmedian", (np.zeros((0, 3)),)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize(
    ("name", "arguments"), CALLS, ids=[f"{name}-{n}" for n, (name, _) in enumerate(CALLS)]
)
def test_values_and_dtypes(name: str, arguments: tuple[Any, ...]) -> None:
    function = FUNCTIONS[name]
    for options in (READABLE, Options()):
        assert_same(Primal(function, options)(*arguments), function(*arguments), name)


def test_what_numpy_refuses() -> None:
    with pytest.raises(st.LanguageError, match="a must be an array of real numbers"):
        st.compile(lambda z: np.quantile(z, 0.3))(Z)
    with pytest.raises(st.TypingError, match="axis -1 is out of bounds"):
        st.compile(lambda x: np.mean(x.ndim - 1, axis=-1) * x[0])(np.ones(2))


def test_a_sum_of_cotangents_of_an_array_without_axes_is_an_array() -> None:
    def f(x):
        y = np.array(x)
        y[()] = y * 2
        return y, y * 2

    _, pullback = st.vjp(f, np.array(1.5))
    (found,) = pullback((np.array(1.0), np.float64(1.0)))
    assert float(found) == 6.0
