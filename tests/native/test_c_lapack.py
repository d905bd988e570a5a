"""Exported C that calls LAPACK, linked with the library that SciPy brings."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

import stcompile as st
from tests.native.test_c import built, needs_gcc, run_self_test

FOUND = [*Path(scipy.__file__).parents[1].glob("scipy.libs/libscipy_openblas-*.so")]
LIBRARY = (
    f"-Wl,--no-as-needed {FOUND[0]} -Wl,-rpath,{FOUND[0].parent} -DLAPACK(name)=scipy_##name##_"
    if FOUND
    else ""
)
needs_lapack = pytest.mark.skipif(not FOUND, reason="SciPy brings no OpenBLAS of its own")
RNG = np.random.default_rng(5)
TALL = RNG.normal(size=(5, 3))
SQUARE = RNG.normal(size=(4, 4))
SYMMETRIC = SQUARE + SQUARE.T
LARGE = RNG.normal(size=(50, 50)) + 10 * np.eye(50)
STACK = np.stack([SYMMETRIC, SYMMETRIC @ SYMMETRIC])


def lowest(a: Any) -> Any:
    values, vectors = np.linalg.eigh(a)
    return np.sum(values**3) + np.sum(vectors[:, 0] ** 4)


def hermitian(a: Any) -> Any:
    h = a + a.T + 1j * (a - a.T)
    values, vectors = np.linalg.eigh(h)
    return np.sum(values**3) + np.sum(np.abs(vectors[0]) ** 4)


def decomposed(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(s**3) + np.sum(u[:, 0] ** 4) + np.sum(vh[0] ** 4)


def complex_decomposed(a: Any) -> Any:
    u, s, _ = np.linalg.svd(a + 1j * a**2, full_matrices=False)
    return np.sum(s**3) + np.sum(np.abs(u[:, 0]) ** 4)


def factored(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    return np.sum(q**3) + np.sum(r**2 * np.arange(r.size).reshape(r.shape))


def changed_between(a: Any) -> Any:
    b = a.copy()
    before = np.linalg.eigh(b)[0]
    for i in range(4):
        b[i, i] += np.sin(before[i])
    return np.sum(before**2) + np.sum(np.linalg.eigh(b)[1][0] ** 4)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "eigh": (lowest, (SYMMETRIC,)),
    "eigh of float32": (lowest, (SYMMETRIC.astype(np.float32),)),
    "eigh of complex numbers": (hermitian, (SQUARE,)),
    "eigh, upper": (lambda a: np.sum(np.linalg.eigh(a, "U")[0] ** 3), (SQUARE,)),
    "eigh of a stack": (lambda a: np.sum(np.linalg.eigh(a)[1][:, 0] ** 4), (STACK,)),
    "eigh of equal eigenvalues": (lambda a: np.sum(np.linalg.eigh(a)[0] ** 2), (np.eye(3),)),
    "eigh twice": (changed_between, (SYMMETRIC,)),
    "eigvalsh": (lambda a: np.sum(np.linalg.eigvalsh(a) ** 3), (SYMMETRIC,)),
    "svd": (decomposed, (TALL,)),
    "svd of a wide matrix": (decomposed, (TALL.T.copy(),)),
    "svd of float32": (decomposed, (TALL.astype(np.float32),)),
    "svd of complex numbers": (complex_decomposed, (TALL,)),
    "singular values": (lambda a: np.sum(np.linalg.svdvals(a) ** 3), (TALL,)),
    "singular values of a stack": (lambda a: np.sum(np.linalg.svdvals(a) ** 3), (STACK,)),
    "condition": (lambda a: np.linalg.cond(a) + np.linalg.norm(a, 2), (SQUARE,)),
    "qr": (factored, (TALL,)),
    "qr of a square matrix": (factored, (SQUARE,)),
    "qr of float32": (factored, (TALL.astype(np.float32),)),
    "pinv": (lambda a: np.sum(np.linalg.pinv(a) ** 3), (TALL,)),
    "pinv of complex numbers": (
        lambda a: np.sum(np.abs(np.linalg.pinv(a + 1j * a**2)) ** 3),
        (TALL.T.copy(),),
    ),
    "lstsq": (lambda a, b: np.sum(np.linalg.lstsq(a, b)[0] ** 3), (TALL, TALL[:, 0] ** 2)),
    "lstsq of columns": (lambda a, b: np.sum(np.linalg.lstsq(a, b)[0] ** 3), (TALL, TALL**2)),
    "solve": (lambda a, b: np.sum(np.linalg.solve(a, b) ** 3), (LARGE, LARGE[:, :2])),
    "solve for a vector": (lambda a, b: np.sum(np.linalg.solve(a, b) ** 3), (LARGE, LARGE[0])),
    "solve for complex numbers": (
        lambda a, b: np.sum(np.abs(np.linalg.solve(a + 1j * np.sin(a), b * (1 + 2j))) ** 3),
        (LARGE, LARGE[0]),
    ),
    "inv": (lambda a: np.sum(np.linalg.inv(a) ** 3), (LARGE,)),
    "inv of a stack": (lambda a: np.sum(np.linalg.inv(a) ** 3), (np.stack([LARGE, LARGE.T]),)),
    "inv of float32": (lambda a: np.sum(np.linalg.inv(a) ** 2), (LARGE.astype(np.float32),)),
    "det": (lambda a: np.linalg.det(a / 10), (LARGE,)),
    "cholesky": (lambda a: np.sum(np.linalg.cholesky(a) ** 3), (LARGE @ LARGE.T,)),
}
DYNAMIC = ("eigh", "svd", "svd of a wide matrix", "qr", "lstsq", "pinv", "solve", "inv", "det")


def exported(function: Callable[..., Any], args: tuple[Any, ...], source: Path, **more: Any) -> str:
    gradient = st.value_and_grad(function, wrt=tuple(range(len(args))), **more)
    gradient.export(source, *args, name="made", lapack=True)
    return source.read_text()


@needs_gcc
@needs_lapack
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_self_test_passes(name: str, tmp_path: Path) -> None:
    function, args = CASES[name]
    assert "LAPACK(" in exported(function, args, tmp_path / "made.c")
    run_self_test(tmp_path / "made.c", LIBRARY)


@needs_gcc
@needs_lapack
@pytest.mark.parametrize("name", DYNAMIC)
def test_lengths_may_have_names(name: str, tmp_path: Path) -> None:
    function, args = CASES[name]
    assert "made_workspace_size" in exported(function, args, tmp_path / "made.c", dynamic=True)
    run_self_test(tmp_path / "made.c", LIBRARY)


@needs_gcc
@needs_lapack
@pytest.mark.parametrize("a", [SYMMETRIC, SYMMETRIC + 1j * (SQUARE - SQUARE.T)])
def test_eigenvectors_are_those_of_numpy(a: Any, tmp_path: Path) -> None:
    """Signs and phases are, too: the self-test compares with NumPy's."""
    compiled = st.compile(lambda a: (*np.linalg.eigh(a), *np.linalg.svd(a)))
    compiled.export(tmp_path / "made.c", a, lapack=True)
    run_self_test(tmp_path / "made.c", LIBRARY)


def test_parts_of_one_call_are_computed_once(tmp_path: Path) -> None:
    text = exported(decomposed, (TALL,), tmp_path / "made.c")
    assert text.count("lapack_svd(") == 2  # the function, and one call


def test_small_systems_are_solved_by_loops(tmp_path: Path) -> None:
    function, _ = CASES["solve"]
    assert "LAPACK(" not in exported(function, (SQUARE, SQUARE[0]), tmp_path / "made.c")


@needs_gcc
@needs_lapack
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda a: np.sum(np.linalg.inv(a)), "Singular matrix"),
        (lambda a: np.sum(np.linalg.solve(a, a)), "Singular matrix"),
        (lambda a: np.sum(np.linalg.cholesky(a)), "Matrix is not positive definite"),
        (lambda a: np.sum(np.linalg.svdvals(a)), "SVD did not converge"),
    ],
)
def test_errors_are_codes(function: Callable[..., Any], said: str, tmp_path: Path) -> None:
    given = np.ones((50, 50)) if "not converge" not in said else np.full((50, 50), np.nan)
    with pytest.raises(np.linalg.LinAlgError, match=said):
        function(given)
    source = tmp_path / "made.c"
    st.compile(function).export(source, LARGE @ LARGE.T, name="made", lapack=True)
    library = ctypes.CDLL(str(built(source, f"-shared -fPIC {LIBRARY}", ".so")))
    pointers = (one.ctypes.data_as(ctypes.c_void_p) for one in (given, np.zeros(1)))
    code = library.made(*pointers, ctypes.create_string_buffer(1 << 20))
    header = source.with_suffix(".h").read_text()
    pattern = (
        rf"/\* test_c_lapack.py:\d+: LinAlgError: {said} \*/\n *MADE_LIN_ALG_ERROR\w+ = {code}\b"
    )
    assert re.search(pattern, header)
