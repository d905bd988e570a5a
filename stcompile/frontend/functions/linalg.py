"""The functions of `numpy.linalg`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.base.numpys import eigenvalues_are_complex
from stcompile.frontend.functions.library import all_of, named_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Poison, is_static
from stcompile.library import linalg, matrices


def _in_parts(run: Run, function: Any, x: Any, names: Sequence[str], **params: Any) -> Any:
    """The namedtuple that a function of NumPy returns, of parts that are recorded singly."""
    parts = [run.record(function.__name__, x, part=part, **params) for part in names]
    return run.own(type(function(np.eye(1)))(*parts))


def of_one(primitive: str, run: Run, a: Any) -> Any:
    """The lowering of a function of matrices with a single result."""
    return run.record(primitive, run.as_array(a))


def solve(run: Run, a: Any, b: Any) -> Any:
    return run.record("solve", run.as_array(a), run.as_array(b))


def slogdet(run: Run, a: Any) -> Any:
    return _in_parts(run, np.linalg.slogdet, run.as_array(a), ("sign", "logabsdet"))


def cholesky(run: Run, a: Any, /, *, upper: bool = False) -> Any:
    if not upper:
        return run.record("cholesky", run.as_array(a))
    turned = run.call(np.conjugate, [run.call(np.swapaxes, [a, -1, -2], {})], {})
    lower = run.record("cholesky", turned)
    return run.call(np.conjugate, [run.call(np.swapaxes, [lower, -1, -2], {})], {})


def _lower(run: Run, UPLO: Any) -> bool:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        run.refuse("UPLO argument must be 'L' or 'U'", "", TypingError)
    return UPLO.upper() == "L"


def eigh(run: Run, a: Any, UPLO: str = "L") -> Any:
    x, lower = run.as_array(a), _lower(run, UPLO)
    return _in_parts(run, np.linalg.eigh, x, ("eigenvalues", "eigenvectors"), lower=lower)


def eigvalsh(run: Run, a: Any, UPLO: str = "L") -> Any:
    return run.record("eigvalsh", run.as_array(a), lower=_lower(run, UPLO))


def _with_complex_eigenvalues(run: Run, name: str, a: Any) -> Any:
    x = run.as_array(a)
    if x.type.dtype.kind != "c" and not eigenvalues_are_complex():
        run.refuse(
            f"np.linalg.{name} of a real matrix is real or complex, which depends on its values",
            "make the matrix complex: a.astype(complex); NumPy 2.5 does so itself",
        )
    return x


def eig(run: Run, a: Any) -> Any:
    x = _with_complex_eigenvalues(run, "eig", a)
    return _in_parts(run, np.linalg.eig, x, ("eigenvalues", "eigenvectors"))


def eigvals(run: Run, a: Any) -> Any:
    return run.record("eigvals", _with_complex_eigenvalues(run, "eigvals", a))


def svd(run: Run, a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    x = run.as_array(a)
    if not compute_uv:
        return run.record("svdvals", x)
    if full_matrices and x.type.ndim > 1 and x.type.dims[-1] != x.type.dims[-2]:
        run.refuse(
            "np.linalg.svd(full_matrices=True) of matrices that are not square has no derivative: "
            "what completes the bases is not unique",
            "write full_matrices=False",
        )
    return _in_parts(run, np.linalg.svd, x, ("U", "S", "Vh"))


def qr(run: Run, a: Any, mode: str = "reduced") -> Any:
    x = run.as_array(a)
    if mode == "r":
        return run.record("qr", x, part="R")
    if mode != "reduced":
        run.refuse(f"np.linalg.qr in mode {mode!r} is not supported", "write mode='reduced'")
    return _in_parts(run, np.linalg.qr, x, ("Q", "R"))


def pinv(run: Run, a: Any, rcond: Any = None, *, rtol: Any = None) -> Any:
    if rtol is not None and rcond is not None:
        run.fails(ValueError("`rtol` and `rcond` can't be both set."))
    rcond = rtol if rcond is None else rcond
    x = run.as_array(a)
    if rcond is None:
        return run.record("pinv", x)
    if not isinstance(rcond, int | float | np.floating):
        run.refuse(
            "np.linalg.pinv takes an `rcond` that is known at compile time", "give it as a number"
        )
    return run.record("pinv", x, rcond=float(rcond))


def lstsq(run: Run, a: Any, b: Any, rcond: Any = None) -> Any:
    """np.linalg.lstsq: only the first of its results, the solution, may be read."""
    x, y = run.as_array(a), run.as_array(b)
    if rcond is None:
        solution = run.record("lstsq", x, y)
    elif is_static(rcond) and isinstance(rcond, int | float | np.floating):
        cut = float(rcond)
        if cut < 0:  # NumPy takes the precision of the dtype
            cut = float(np.finfo(np.result_type(x.type.dtype, y.type.dtype, np.float32)).eps)
        solution = run.record("lstsq", x, y, rcond=cut)
    else:
        run.refuse(
            "np.linalg.lstsq takes an `rcond` that is known at compile time",
            "give it as a number",
        )
    other = Poison(
        "only the solution, the first result of np.linalg.lstsq, is supported",
        "take it alone: np.linalg.lstsq(a, b)[0]",
    )
    return solution, other, other, other


LINALG: dict[Any, Any] = {
    **named_in(np.linalg, linalg),
    np.linalg.inv: functools.partial(of_one, "inv"),
    np.linalg.solve: solve,
    np.linalg.det: functools.partial(of_one, "det"),
    np.linalg.slogdet: slogdet,
    np.linalg.cholesky: cholesky,
    np.linalg.eigh: eigh,
    np.linalg.eigvalsh: eigvalsh,
    np.linalg.eig: eig,
    np.linalg.eigvals: eigvals,
    np.linalg.svd: svd,
    np.linalg.svdvals: functools.partial(of_one, "svdvals"),
    np.linalg.qr: qr,
    np.linalg.pinv: pinv,
    np.linalg.lstsq: lstsq,
    **{
        getattr(np.linalg, name.removeprefix("linalg_")): lowering
        for name, lowering in all_of(linalg, matrices).items()
        if name.startswith("linalg_")
    },
}
