"""Parameters of NumPy's functions: each is supported, or refused by its name."""

from __future__ import annotations

import inspect
import linecache
import operator
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.frontend.callables import name_of
from stcompile.frontend.functions import FUNCTIONS, STATIC
from stcompile.frontend.functions.refused import REFUSED
from tests.derivatives.numeric import differences
from tests.programs import Examples

examples = Examples()

X = np.sin(np.arange(12.0) + 0.1).reshape(3, 4)
X32 = X.astype(np.float32)
OTHER = object()  # a value that no parameter takes


@examples(X)
@examples(X32)
def reductions_in_another_dtype(x):
    return (
        (np.sum(x, dtype=np.float64), np.sum(x, 0, np.float64), x.sum(dtype=np.float64)),
        (np.prod(x, axis=1, dtype=np.float64), np.mean(x, dtype=np.float64), x.mean(1, "f8")),
        (np.cumsum(x, 0, dtype=np.float64), np.cumprod(x, axis=1, dtype=np.float64)),
        np.sum(x > 0, dtype=np.float64) * x,
    )


@examples(X)
def reductions_that_begin_with_a_number(x):
    return (
        np.sum(x, initial=2.0),
        (np.max(x, initial=0.3), np.min(x, axis=0, initial=0.1), np.max(x, keepdims=True)),
    )


@examples(X)
def parameters_that_have_their_defaults(x):
    return (
        (np.array(x, copy=True, subok=False), np.median(x, axis=0)),
        (np.zeros(3, order="C") + x[:, 0], np.concatenate([x, x], casting="same_kind")),
        (np.interp(0.5, [0.0, 1.0, 2.0, 3.0], x[1], period=None), np.sort(x, order=None)),
    )


test_program = examples.tests()


def test_sums_of_rows_that_begin_with_a_number():
    def total(x):
        return np.sum(np.sum(x, 0, initial=x[0, 1]) ** 2) + np.sum(np.prod(x, 1, initial=3))

    value, gradient = st.value_and_grad(total)(X)
    np.testing.assert_allclose(value, total(X), rtol=1e-14)
    for at in np.ndindex(X.shape):
        h = np.zeros_like(X)
        h[at] = 1e-6
        np.testing.assert_allclose(
            gradient[at], (total(X + h) - total(X - h)) / 2e-6, rtol=1e-6, atol=1e-8
        )


# --- every parameter -----------------------------------------------------------------------------

NAMES = {
    "np": np,
    "B": (np.arange(12).reshape(3, 4) % 3 != 1),
    "W": 1.0 + np.cos(np.arange(12.0)).reshape(3, 4) ** 2,
    "I": np.arange(12) * 5 % 7,
    "OTHER": OTHER,
    "N": np.where(np.eye(3, 4, dtype=bool), np.nan, 0.0),
}
LINES = [
    line
    for line in Path(__file__).with_name("numpy_parameters.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
OFFSETS = np.array([[3.0, 0.5, 0.2], [0.1, 2.5, 0.4], [0.3, -0.2, 2.0]])
NUMERIC = ("full=True", "np.float32")  # with single precision, or ranks, differences say nothing


def calls() -> Iterator[tuple[str, str]]:
    """The calls of the table: the function and the text of each call."""
    for line in LINES:
        (call, _, suffix) = line.rpartition(")")
        name, _, rest = call.partition("(")
        first, *options = rest.split("; ")
        for option in options or [""]:
            yield name, f"{name}({', '.join(part for part in (first, option) if part)}){suffix}"


def program(text: str) -> Callable[..., Any]:
    """A function of `x` that makes a call of the table."""
    lines = [
        "def called(x):",
        "    v, s = x[1] + 0.7, x[:, :3] + OFFSETS",
        f"    return {text}",
        "",
    ]
    file = f"<{text}>"
    linecache.cache[file] = (1, None, [f"{line}\n" for line in lines], file)
    names = {**NAMES, "OFFSETS": OFFSETS}
    exec(compile("\n".join(lines), file, "exec"), names)
    return names["called"]  # type: ignore[return-value]


def total_of(result: Any) -> Any:
    """A number that depends on all floats of a result."""
    if isinstance(result, tuple | list):
        parts = [total_of(part) for part in result]
        return sum((k + 1.0) * part for k, part in enumerate(parts))
    if result is None or np.asarray(result).dtype.kind not in "fc":
        return 0.0
    y = np.asarray(result)
    z = y.real + 2 * y.imag if np.iscomplexobj(y) else y
    return np.sum(z * np.cos(np.arange(z.size)).reshape(z.shape))


def parts_of(result: Any) -> list[Any]:
    if isinstance(result, tuple | list):
        return [leaf for part in result for leaf in parts_of(part)]
    return [result]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [text for _, text in calls()])
def test_parameter(text):
    called = program(text)
    expected = called(X)
    found = st.compile(called)(X)
    for one, other in zip(parts_of(found), parts_of(expected), strict=True):
        assert np.result_type(one) == np.result_type(other) if other is not None else one is None
        if other is not None:
            rtol = 1e-5 if np.asarray(other).dtype == np.float32 else 1e-9
            np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)

    def total(x):
        return total_of(called(x)) + 0.0 * np.sum(x)

    slope = st.grad(total)(X)
    if any(part in text for part in NUMERIC):
        return
    wanted = differences(total, X)
    np.testing.assert_allclose(slope, wanted, rtol=1e-5, atol=1e-7)
    if zlib.crc32(text.encode()) % 3:
        return
    direction = np.cos(X)
    _, moved = st.jvp(total, (X,), (direction,))
    np.testing.assert_allclose(moved, np.sum(wanted * direction), rtol=1e-5, atol=1e-7)


def parameters() -> Iterator[Any]:
    """Every optional parameter of NumPy's functions in the tables that no line of the table
    tries."""
    tried: dict[str, list[str]] = {}
    for name, text in calls():
        function = operator.attrgetter(name.removeprefix("np."))(np)
        tried.setdefault(name_of(function), []).append(text)
    for function in FUNCTIONS:
        if isinstance(function, type | np.ufunc) or not name_of(function).startswith("np."):
            continue
        if ".random." in name_of(function) or "stride" in name_of(function):
            continue
        if "." in name_of(function) and type(function).__name__ == "function":
            continue  # a method of a class
        try:
            own = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            continue
        texts = tried.get(name_of(function), [f"{name_of(function)}(x)"])
        for p in own:
            is_optional = p.default is not p.empty and p.kind is not p.POSITIONAL_ONLY
            if is_optional and f"{p.name}=" not in "".join(texts) and p.name != "out":
                call = f"{texts[0].rpartition(')')[0]}, {p.name}=OTHER)"
                yield pytest.param(name_of(function), p.name, call, id=call)


@pytest.mark.parametrize(("function", "name", "text"), [*parameters()])
def test_what_is_not_supported_is_refused_by_its_name(function, name, text):
    with pytest.raises(st.StcompileError) as caught:
        st.compile(program(text))(X)
    assert f"the argument `{name}` of `{function}` is not supported" in str(caught.value)


def public() -> Iterator[Any]:
    """The functions and classes of NumPy that have a name of their own."""
    for module in (np, np.linalg, np.fft):
        for name in dir(module):
            value = getattr(module, name)
            is_kind = isinstance(value, type) and issubclass(value, np.generic | Exception)
            if callable(value) and name != "test" and not name.startswith("_") and not is_kind:
                yield pytest.param(value, id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("function", [*public()])
def test_a_function_of_numpy_is_known_or_there_is_a_hint(function):
    if function in FUNCTIONS or function in STATIC:
        return
    assert REFUSED[function.__name__]
    with pytest.raises(st.StcompileError) as caught:
        st.compile(lambda x: function(x))(X)
    assert not isinstance(caught.value, st.InternalError)
    assert caught.value.hint == REFUSED[function.__name__]
