"""`scipy.fft`: values, and derivatives to second order."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.library.scipy_fourier import FUNCTIONS

fft = pytest.importorskip("scipy.fft")

from tests.scipy.checks import Case, check, check_float32  # noqa: E402
from tests.scipy.functions import transformed  # noqa: E402

X = np.array([[0.9, 0.3, -0.4, 1.2, 0.1], [0.2, 1.4, 0.5, -0.7, 0.6], [-0.3, 0.1, 1.9, 0.8, -1.1]])
RTOL = 1e-13


def squared(y: Any) -> Any:
    """The squares of the absolute values, which are real and have a curvature."""
    return np.real(y) ** 2 + np.imag(y) ** 2


CASES = (
    Case("fft", lambda x: squared(fft.fft(x, 7, workers=1)), (X,), RTOL),
    Case("ifft", lambda x: squared(fft.ifft(x, axis=0, norm="ortho")), (X,), RTOL),
    Case("rfft", lambda x: squared(fft.rfft(x, n=4)), (X,), RTOL),
    Case("irfft", lambda x: fft.irfft(x * (1 + 0.5j), 6) ** 2, (X,), RTOL),
    Case("hfft", lambda x: fft.hfft(x * (1 + 0.5j)) ** 2, (X,), RTOL),
    Case("ihfft", lambda x: squared(fft.ihfft(x)), (X,), RTOL),
    Case("fft2", lambda x: squared(fft.fft2(x)), (X,), RTOL),
    Case("ifft2", lambda x: squared(fft.ifft2(x, norm="forward")), (X,), RTOL),
    Case("rfft2", lambda x: squared(fft.rfft2(x)), (X,), RTOL),
    Case("irfft2", lambda x: fft.irfft2(fft.rfft2(x) * 2j), (X,), RTOL),
    Case("fftn", lambda x: squared(fft.fftn(x, s=(4, 4))), (X,), RTOL),
    Case("ifftn", lambda x: squared(fft.ifftn(x, axes=(0,))), (X,), RTOL),
    Case("rfftn", lambda x: squared(fft.rfftn(x)), (X,), RTOL),
    Case("irfftn", lambda x: fft.irfftn(fft.rfftn(x) ** 2, s=X.shape), (X,), RTOL),
    Case("fftshift", lambda x: fft.fftshift(x) * fft.ifftshift(x, axes=1), (X,)),
    Case("frequencies", lambda x: x * fft.fftfreq(5, d=0.1) * fft.rfftfreq(8), (X,)),
    Case("next_fast_len", lambda x: squared(fft.rfft(x, fft.next_fast_len(7, real=True))), (X,)),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_to_second_order(case: Case) -> None:
    check(Case(case.name, case.function, case.args, RTOL))


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosine_and_sine(name: str, kind: int, norm: Any) -> None:
    transform: Callable[..., Any] = getattr(fft, name)
    for shape in ((3, 5), (4, 2)):
        x = np.cos(np.arange(np.prod(shape)) ** 2).reshape(shape)
        for keywords in ({}, {"n": 4}, {"n": 7, "axis": 0}, {"orthogonalize": norm is None}):
            function = transformed(transform, type=kind, norm=norm, **keywords)
            check(Case(name, function, (x,), RTOL), second=not keywords)


@pytest.mark.parametrize("name", ["dctn", "idctn", "dstn", "idstn"])
def test_along_several_axes(name: str) -> None:
    transform = getattr(fft, name)
    for keywords in ({}, {"type": 3, "axes": (0,)}, {"s": (4, 3), "norm": "ortho"}):
        check(Case(name, transformed(transform, **keywords), (X,), RTOL))


@pytest.mark.parametrize("name", ["dct", "idst"])
def test_float32(name: str) -> None:
    check_float32(Case(name, transformed(getattr(fft, name)), (X,), 1e-5))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: fft.fft(x, plan=1), "the argument `plan`"),
        (lambda x: fft.dct(x * 1j), "complex numbers"),
        (lambda x: fft.dct(x, type=5), "type=5"),
        (lambda x: fft.dct(x, norm="none"), "Invalid norm"),
        (lambda x: fft.dct(x[:, :1], type=1), "size < 2"),
        (lambda x: x * fft.next_fast_len(x[0, 0]), "next_fast_len"),
    ],
)
def test_refused(f: Any, message: str) -> None:
    with pytest.raises(st.StcompileError, match=message):
        st.grad(lambda x: np.sum(np.real(f(x))))(X)


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn"])
def test_signatures_are_those_of_scipy(name: str) -> None:
    """Also of which arguments SciPy takes by their name alone."""
    own, others = (
        [(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()]
        for f in (FUNCTIONS[name], getattr(fft, name))
    )
    assert own == others
