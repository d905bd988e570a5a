"""Functions of NumPy's in exported C: which of them are translated, and which are refused."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import LanguageError
from tests.native.test_c import built, needs_gcc, run_self_test

RNG = np.random.default_rng(4)
X, Y, TABLE = RNG.normal(size=14), RNG.normal(size=5), RNG.normal(size=(12, 11))
SQUARE = RNG.normal(size=(3, 3))
POSITIVE = SQUARE @ SQUARE.T + 3 * np.eye(3)
STACK = RNG.normal(size=(2, 2, 3, 3))
POSITIVES = STACK @ np.swapaxes(STACK, 2, 3) + 3 * np.eye(3)
WIDE = RNG.normal(size=(2, 2, 3, 4))
STEPS = np.arange(14.0)


KEYS = np.array([2, 1, 3, 1, 2, 2, 0, 3, 3, 1, 0, 2, 1, 3])
EDGES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
ROUNDED = np.append(np.round(2 * X[:-1]) / 2, np.nan)


def known(x: Any) -> Any:
    return np.where(np.isnan(x), 1.0, x) ** 2


def power_of(z: Any) -> Any:
    return np.sum(np.abs(z) ** 3 * np.arange(z.shape[-1]) + z.real)


def counted_on(x: Any) -> Any:
    return np.sum(x**2 * np.arange(x.size))


def written(x: Any) -> Any:
    y, mask = np.zeros(14), x > 0.1
    y[mask] = np.sin(x[mask])
    y[~mask] += x[~mask] ** 2
    return np.sum(y**3)


def uniquely(x: Any) -> Any:
    values, counts = np.unique(x, return_counts=True)
    return np.sum(values**2 * counts)


def without(x: Any) -> Any:
    y = x.copy()
    y[x > 0] = 0.5
    return np.sum(y**3)


def added_at(x: Any) -> Any:
    y = np.zeros(3)
    np.add.at(y, np.arange(14) % 3, x)
    return np.sum(y**2)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "clip": (lambda x: np.sum(np.clip(x, -0.5, 0.7) ** 2), (X,)),
    "clip from below": (lambda x: np.sum(np.clip(x, 0.1, None) ** 2), (X,)),
    "std": (lambda x: np.std(x) * np.std(x[:7], ddof=1), (X,)),
    "std of columns": (lambda x: np.sum(np.std(x, axis=0) ** 3), (TABLE,)),
    "std of float32": (lambda x: np.std(x), (X.astype(np.float32),)),
    "var": (lambda x: np.sum(np.var(x, axis=1, ddof=1, keepdims=True) ** 2), (TABLE,)),
    "where": (lambda x: np.sum(np.where(x > 0, x**2, -x)), (X,)),
    "writes by a mask": (without, (X,)),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1] * np.linalg.slogdet(a)[0], (SQUARE,)),
    "slogdet of a stack": (lambda a: np.sum(np.linalg.slogdet(a)[1] ** 2), (POSITIVES,)),
    "det of a stack": (lambda a: np.sum(np.linalg.det(a) ** 2), (STACK,)),
    "inv of a stack": (lambda a: np.sum(np.linalg.inv(a) ** 2), (POSITIVES,)),
    "solve of a stack": (lambda a, b: np.sum(np.linalg.solve(a, b) ** 2), (POSITIVES, WIDE)),
    "cholesky of a stack": (lambda a: np.sum(np.linalg.cholesky(a) ** 3), (POSITIVES,)),
    "matmul of stacks": (lambda a, b: np.sum((a @ b) ** 2), (STACK, WIDE)),
    "cumprod": (lambda x: np.sum(np.cumprod(x) ** 2), (X,)),
    "cumprod of columns": (lambda x: np.sum(np.cumprod(x, axis=0) ** 2), (TABLE,)),
    "cumsum": (lambda x: np.sum(np.cumsum(x, axis=0) ** 2), (TABLE,)),
    "nanmean": (lambda x: np.nanmean(np.where(x > 1, np.nan, x) ** 2), (X,)),
    "count_nonzero": (lambda x: np.sum(x) * np.count_nonzero(x > 0.2), (X,)),
    "prod": (lambda x: np.sum(np.prod(x, axis=0)), (TABLE,)),
    "convolve": (lambda x, y: np.sum(np.convolve(x, y) ** 2), (X, Y)),
    "convolve, same": (lambda x, y: np.sum(np.convolve(x, y[:4], "same") ** 2), (X, Y)),
    "correlate": (lambda x, y: np.sum(np.correlate(x, y, "valid") ** 2), (X, Y)),
    "einsum": (lambda a, b: np.sum(np.einsum("abij,abjk->abki", a, b) ** 2), (STACK, WIDE)),
    "einsum of a diagonal": (lambda a: np.sum(np.einsum("abii->a", a) ** 2), (STACK,)),
    "partition": (lambda x: np.sum(np.partition(x, 4)[:5] ** 2), (X,)),
    "argpartition": (lambda x: np.sum(x[np.argpartition(x, 4)[:5]] ** 2), (X,)),
    "sort of bool": (lambda x: np.sum(np.sort(x > 0) * x), (X,)),
    "argsort of bool": (lambda x: np.sum(np.argsort(x > 0, kind="stable") * x), (X,)),
    "sort": (lambda x: np.sum(np.sort(x) * STEPS[:11]), (TABLE,)),
    "median": (lambda x: np.median(x) ** 2, (X,)),
    "percentile": (lambda x: np.percentile(x, 30) ** 2, (X,)),
    "max": (lambda x: np.sum(np.max(x, axis=1) ** 2), (TABLE,)),
    "argmax": (lambda x: x[0, np.argmax(x[1])] ** 2, (TABLE,)),
    "norm": (lambda x: np.linalg.norm(x) * np.linalg.norm(x, axis=0)[0], (TABLE,)),
    "trace": (lambda a: np.trace(a @ a), (SQUARE,)),
    "tril": (lambda a: np.sum(np.tril(a) ** 2), (SQUARE,)),
    "outer": (lambda x: np.sum(np.outer(x, x) ** 3), (X,)),
    "kron": (lambda a: np.sum(np.kron(a, a) ** 2), (SQUARE,)),
    "cross": (lambda a: np.sum(np.cross(a[0], a[1]) ** 2), (SQUARE,)),
    "diff": (lambda x: np.sum(np.diff(x) ** 2), (X,)),
    "gradient": (lambda x: np.sum(np.gradient(x) ** 2), (X,)),
    "interp": (lambda x: np.sum(np.interp(x, STEPS - 7, STEPS**2)), (X,)),
    "pad": (lambda x: np.sum(np.pad(x, 2, mode="edge") ** 2), (X,)),
    "roll": (lambda x: np.sum(np.roll(x, 2) * x), (X,)),
    "add.at": (added_at, (X,)),
    "take": (lambda x: np.sum(np.take(x, [0, 0, 2]) ** 2), (X,)),
    "logaddexp": (lambda x: np.sum(np.logaddexp(x, 0)), (X,)),
    "select": (lambda x: np.sum(np.select([x < 0, x > 1], [x**2, x**3], 0.0)), (X,)),
    "maximum.accumulate": (lambda x: np.sum(np.maximum.accumulate(x) ** 2), (X,)),
    "cov": (lambda x: np.sum(np.cov(x[:3]) ** 2), (TABLE,)),
    "fft": (lambda x: power_of(np.fft.fft(x)), (X,)),
    "fft of a prime length": (lambda x: power_of(np.fft.fft(x[:13])), (X,)),
    "fft of one element": (lambda x: power_of(np.fft.fft(x[:1])), (X,)),
    "fft of complex numbers": (lambda x, y: power_of(np.fft.fft(x[:5] + 1j * y)), (X, Y)),
    "fft of float32": (lambda x: power_of(np.fft.fft(x)), (X.astype(np.float32),)),
    "fft, longer": (lambda x: power_of(np.fft.fft(x, 30, axis=0, norm="ortho")), (TABLE,)),
    "fft, shorter": (lambda x: power_of(np.fft.fft(x, n=9, norm="forward")), (TABLE,)),
    "ifft": (lambda x: power_of(np.fft.ifft(x * (1 + 2j), axis=0)), (TABLE,)),
    "fft2": (lambda x: power_of(np.fft.ifft2(np.fft.fft2(x) ** 2)), (TABLE,)),
    "rfft": (lambda x: power_of(np.fft.rfft(x)), (TABLE,)),
    "rfft of columns": (lambda x: power_of(np.fft.rfft(x, axis=0)), (TABLE,)),
    "irfft": (lambda x: np.sum(np.fft.irfft(np.fft.rfft(x) ** 2) ** 3), (X,)),
    "irfft of odd length": (lambda x: np.sum(np.fft.irfft(x * (1 + 1j), 11) ** 3), (X,)),
    "irfft, longer": (lambda x: np.sum(np.fft.irfft(x * (1 + 1j), 40) ** 3), (X,)),
    "fftshift": (lambda x: power_of(np.fft.fftshift(np.fft.fft(x))) * np.sum(x), (X,)),
    "lexsort": (lambda x: np.sum(x[np.lexsort((x, KEYS, KEYS > 2))] ** 2 * STEPS), (X,)),
    "lexsort of columns": (
        lambda x: np.sum(np.lexsort((x, np.round(x)), axis=0) * x),
        (TABLE,),
    ),
    "sinc": (lambda x: np.sum(np.sinc(x) * x) + np.sinc(0.0) + np.sinc(x[0]), (X,)),
    "selection": (lambda x: np.sum(x[x > 0] ** 2) * np.mean(x[x <= 0]), (X,)),
    "selection of nothing": (lambda x: np.sum(x) + np.sum(x[x > 9] ** 2), (X,)),
    "selection of rows": (lambda x: np.sum(x[x[:, 0] > 0] ** 3), (TABLE,)),
    "selection of all axes": (lambda x: np.sum(x[x > 0] ** 3), (TABLE,)),
    "selection with places": (lambda x: counted_on(x[x > 0]), (X,)),
    "writes of a selection": (written, (X,)),
    "nonzero": (lambda x: np.sum(x[np.nonzero(x > 0)] ** 2), (TABLE,)),
    "flatnonzero": (lambda x: np.sum(x[np.flatnonzero(x > 0)] ** 2), (X,)),
    "unique": (lambda x: np.sum(np.unique(x) ** 2), (ROUNDED,)),
    "unique with counts": (uniquely, (ROUNDED[:-1],)),
    "digitize": (lambda x: np.sum(known(x) * np.digitize(x, EDGES)), (ROUNDED,)),
    "digitize, right": (lambda x: np.sum(known(x) * np.digitize(x, EDGES, right=True)), (ROUNDED,)),
    "digitize, falling": (lambda x: np.sum(known(x) * np.digitize(x, EDGES[::-1])), (ROUNDED,)),
    "digitize, falling and right": (
        lambda x: np.sum(known(x) * np.digitize(x, EDGES[::-1], right=True)),
        (ROUNDED,),
    ),
    "matrix_power": (lambda a: np.sum(np.linalg.matrix_power(a, 3)), (SQUARE,)),
}
REFUSED: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "a selection in a branch": (
        lambda x: np.sum(x[x > 0] ** 2) if x[0] > 0 else np.sum(x),
        (X,),
        "a selection by a mask",
    ),
    "eigh": (lambda a: np.sum(np.linalg.eigh(a)[0] ** 3), (POSITIVE,), "linalg.eigh"),
    "svd": (lambda a: np.sum(np.linalg.svd(a)[1] ** 3), (SQUARE,), "linalg.svd"),
    "qr": (lambda a: np.sum(np.linalg.qr(a)[1] ** 2), (SQUARE,), "linalg.qr"),
    "pinv": (lambda a: np.sum(np.linalg.pinv(a) ** 2), (SQUARE,), "linalg.pinv"),
}


def gradient_of(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    return st.value_and_grad(function, wrt=tuple(range(len(args))))


@needs_gcc
@pytest.mark.parametrize("name", CASES)
def test_the_self_test_passes(name: str, tmp_path: Path) -> None:
    function, args = CASES[name]
    source = tmp_path / "f.c"
    gradient_of(function, args).export(source, *args)
    run_self_test(source)


@needs_gcc
def test_bins_in_no_order_are_an_error(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    gradient = st.value_and_grad(lambda x, bins: np.sum(x * np.digitize(x, bins)))
    gradient.export(source, X, EDGES, name="binned")
    library = ctypes.CDLL(str(built(source, "-shared -fPIC", ".so")))
    pointer = np.ctypeslib.ndpointer(np.float64, flags="C")
    for bins in (EDGES, EDGES[::-1].copy(), EDGES * EDGES):
        given = [pointer.from_param(one) for one in (X, bins, np.zeros(1), np.zeros(14))]
        code = library.binned(*given, ctypes.create_string_buffer(4096))
        assert (code != 0) == (bins[0] == bins[-1])
    assert "ValueError: bins must be" in source.with_suffix(".h").read_text()


@needs_gcc
def test_data_decide_how_much_is_selected(tmp_path: Path) -> None:
    gradient = st.value_and_grad(written)
    gradient.export(tmp_path / "f.c", X, name="selecting")
    library = ctypes.CDLL(str(built(tmp_path / "f.c", "-shared -fPIC", ".so")))
    pointer = np.ctypeslib.ndpointer(np.float64, flags="C")
    for x in (X, -X, abs(X) + 1, -abs(X)):
        value, slope = np.zeros(1), np.zeros(14)
        given = [pointer.from_param(one) for one in (x, value, slope)]
        assert library.selecting(*given, ctypes.create_string_buffer(4096)) == 0
        expected = gradient(x)
        np.testing.assert_allclose(value[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(slope, expected[1], rtol=1e-12)


@pytest.mark.parametrize("function", [lambda x: x[x > 0], lambda x: np.unique(x)])
def test_results_of_unknown_length_are_refused(function: Any, tmp_path: Path) -> None:
    with pytest.raises(LanguageError, match="a result whose length data decide"):
        st.compile(function).export(tmp_path / "f.c", X)


@needs_gcc
def test_a_training_step_with_bounds(tmp_path: Path) -> None:
    step = st.train_step(lambda w: np.sum(w**4), st.optim.SGD(0.1, clip_value=0.3))
    step.export(tmp_path / "step.c", X.copy())
    run_self_test(tmp_path / "step.c")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_said_at_the_line(name: str, tmp_path: Path) -> None:
    function, args, said = REFUSED[name]
    with pytest.raises(LanguageError, match=re.escape(said)) as caught:
        gradient_of(function, args).export(tmp_path / "f.c", *args)
    assert "test_c_numpy.py" in str(caught.value) and "hint: " in str(caught.value)
    assert ("lapack=True" in str(caught.value)) == ("linalg" in said)


@needs_gcc
@pytest.mark.parametrize("name", ["std", "solve of a stack", "einsum", "cumprod", "convolve"])
def test_numbers_of_a_self_test_can_be_wrong(name: str, tmp_path: Path) -> None:
    """The self-test compares: another number in the place of an expected one is found."""
    function, args = CASES[name]
    source = tmp_path / "f.c"
    gradient_of(function, args).export(source, *args)
    text = source.read_text()
    at = text.index("static const double expected_")
    changed = re.sub(r"\{\{*(-?\d)", r"{9\1", text[at:], count=1)
    source.write_text(text[:at] + changed.replace("{9-", "{-9"))
    with pytest.raises(AssertionError):
        run_self_test(source)


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0, -0.0])
def test_bounds_of_clip(value: float) -> None:
    """By the kernels of ``compiler="c"``, which have the same text."""

    def cut(x: Any, low: Any, high: Any) -> Any:
        total = 0.0
        for k in range(len(x)):
            total += np.clip(x[k], low, high)
        return total

    compiled = st.compile(cut, level="compiled", compiler="c")
    for low, high in ((0.0, 1.0), (1.0, 0.0), (-np.inf, np.inf)):
        x = np.array([value, 0.5])
        np.testing.assert_equal(compiled(x, low, high), cut(x, low, high))
