"""Functions of SciPy, which is not imported: tables by the names of its modules."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.elementwise import ufunc
from stcompile.frontend.functions.fourier import SCIPY_FFT
from stcompile.frontend.functions.library import all_of, inlined
from stcompile.frontend.functions.scipy_modules import (
    DISTANCE,
    INTEGRATE,
    INTERPOLATE,
    MSTATS,
    NDIMAGE,
    SAMPLES,
    SIGNAL,
    SIGNAL_WINDOWS,
    SPARSE,
    SPARSE_LINALG,
    SPATIAL,
    TRANSFORM,
)
from stcompile.frontend.functions.scipy_optimize import OPTIMIZE
from stcompile.frontend.functions.shapes import transpose
from stcompile.frontend.functions.stats import STATS
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Factored, is_static, is_whole
from stcompile.library import (
    matrices,
    matrix_equations,
    scipy_linalg,
    special,
    special_bessel,
    special_distributions,
    special_harmonics,
)
from stcompile.wengert.primitives.special import NAMES

Lowering = Callable[..., Any]


def _special(name: str, run: Run, *operands: Any) -> Any:
    """The lowering of a ufunc of `scipy.special` to the primitive of its name."""
    function = getattr(importlib.import_module("scipy.special"), name)
    return ufunc(f"special.{name}", function, f"special.{name}")(run, *operands)


PARTS = {
    "sici": ("Si", "Ci"),
    "shichi": ("Shi", "Chi"),
    "fresnel": ("S", "C"),
    "airy": ("Ai", "Aip", "Bi", "Bip"),
    "ellipj": ("sn", "cn", "dn", "ph"),
}
"""The results of functions that have several, by names of their own."""


def _in_parts(name: str, run: Run, *operands: Any) -> Any:
    """The lowering of a function with several results: to a primitive for each."""
    return tuple(run.record(f"special.{name}", *operands, part=part) for part in PARTS[name])


def _lambertw(run: Run, z: Any, k: Any = 0, tol: Any = 1e-8) -> Any:
    if tol != 1e-8:
        run.refuse("the argument `tol` of `special.lambertw` is not supported", "leave it out")
    return run.record("special.lambertw", _complex(run, z, np.complex128), k)


def _complex(run: Run, z: Any, least: Any) -> Any:
    """A number or an array in a complex dtype, of this precision at least."""
    array = run.as_array(z)
    made = run.cast(array, np.result_type(array.type.dtype, least))
    return made if isinstance(z, Array) else run.record("to_scalar", made)


def _spherical(name: str, sign: float) -> Lowering:
    """The lowering of a spherical Bessel function of an integer order; its derivative has the
    recurrence with this sign, DLMF 10.51.2."""
    own = functools.partial(_special, name)
    slope = inlined(special.spherical_slope)

    def lowering(run: Run, n: Any, z: Any, derivative: bool = False) -> Any:
        if not derivative:
            return own(run, n, z)
        function = getattr(importlib.import_module("scipy.special"), name)
        return slope(run, function, sign, n, z)

    return lowering


def _static(name: str, hint: str, /, run: Run, *arguments: Any, **keywords: Any) -> Any:
    """The lowering of a function of `scipy.special` that is computed at compile time."""
    if not is_static([*arguments, *keywords.values()]):
        run.refuse(f"`special.{name}` takes values that are known at compile time", hint)
    function = getattr(importlib.import_module("scipy.special"), name)
    return run.computed(function, *arguments, **keywords)


_combinations = inlined(special.comb)


def _comb(run: Run, N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    if is_static([N, k]) or exact or repetition:
        static = functools.partial(_static, "comb", "leave `exact` and `repetition` out")
        return static(run, N, k, exact=exact, repetition=repetition)
    return _combinations(run, N, k)


_OF_LIBRARY = all_of(special, special_bessel, special_distributions, special_harmonics)
del _OF_LIBRARY["spherical_slope"]
SPECIAL: dict[str, Lowering] = {
    **{name: functools.partial(_special, name) for name in NAMES},
    **{name: functools.partial(_in_parts, name) for name in PARTS},
    "spherical_jn": _spherical("spherical_jn", -1.0),
    "spherical_yn": _spherical("spherical_yn", -1.0),
    "spherical_in": _spherical("spherical_in", 1.0),
    "spherical_kn": _spherical("spherical_kn", -1.0),
    "zeta": lambda run, x, q=None: run.record("special.zeta", x, 1.0 if q is None else q),
    "wofz": lambda run, z: run.record("special.wofz", _complex(run, z, np.complex64)),
    "lambertw": _lambertw,
    **_OF_LIBRARY,
    "jve": lambda run, v, z: _special("jv", run, v, z),  # for real numbers
    "yve": lambda run, v, z: _special("yv", run, v, z),
    "comb": _comb,
    "factorial": functools.partial(_static, "factorial", "write special.gamma(n + 1)"),
    "perm": functools.partial(_static, "perm", "write special.poch(N - k + 1, k)"),
}


_TRANS = {"N": 0, "T": 1, "C": 1, 2: 1}


def _solve_triangular(
    run: Run,
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    params = {"lower": bool(lower), "unit_diagonal": bool(unit_diagonal)}
    trans = _TRANS.get(trans, trans)
    return run.record(
        "linalg.solve_triangular", run.as_array(a), run.as_array(b), trans=trans, **params
    )


def _solve_banded(
    run: Run,
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    counts = tuple(l_and_u) if isinstance(l_and_u, tuple | list) else ()
    if len(counts) != 2 or not all(is_whole(count) for count in counts):
        run.refuse(
            "the numbers of diagonals of `linalg.solve_banded` are two integers that are known at "
            "compile time",
            "give them as a tuple, as in (1, 1)",
        )
    lower, upper = map(int, counts)
    x, y = run.as_array(ab), run.as_array(b)
    return run.record("linalg.solve_banded", x, y, lower=lower, upper=upper)


def _solve_sylvester(run: Run, a: Any, b: Any, q: Any) -> Any:
    return run.record("linalg.solve_sylvester", *(run.as_array(x) for x in (a, b, q)))


def _logm(run: Run, A: Any) -> Any:
    made = _of_complex(run, "linalg.logm", A)
    if made.type.dtype != np.dtype(np.complex128):
        run.refuse(
            f"linalg.logm of {made.type.dtype} has the dtype that SciPy's version gives it",
            "make the matrix complex128: a.astype(complex)",
        )
    return made


def _of_complex(run: Run, primitive: str, A: Any) -> Any:
    x = run.as_array(A)
    if x.type.dtype.kind != "c":
        run.refuse(
            f"{primitive} of a real matrix is real or complex, which depends on its values",
            "make the matrix complex: a.astype(complex)",
        )
    return run.record(primitive, x)


def _lu_factor(
    run: Run, a: Any, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Factored, Factored]:
    """The factors are not computed: `lu_solve` solves with a copy of the matrix as it is now."""
    matrix = run.record("copy", run.as_array(a))
    dims = matrix.type.dims
    if len(dims) != 2 or dims[0] != dims[1]:
        run.refuse(f"lu_factor takes one square matrix, not shape {dims}", "", TypingError)
    return Factored(matrix), Factored(matrix)


def _lu_solve(
    run: Run,
    lu_and_piv: Any,
    b: Any,
    trans: Any = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    parts = [*lu_and_piv] if isinstance(lu_and_piv, tuple | list) else []
    matrices = {id(part.matrix): part.matrix for part in parts if isinstance(part, Factored)}
    if len(parts) != 2 or len(matrices) != 1 or not all(isinstance(p, Factored) for p in parts):
        run.refuse(
            "lu_solve takes what lu_factor gave in the same function", "write linalg.solve(a, b)"
        )
    if trans not in (0, 1, 2):
        run.refuse(f"trans is 0, 1 or 2, not {trans!r}", "", TypingError)
    (matrix,) = matrices.values()
    if trans:
        matrix = transpose(run, matrix)
    if trans == 2 and matrix.type.dtype.kind == "c":
        matrix = run.record("conjugate", matrix)
    return run.record("solve", matrix, run.as_array(b))


LINALG: dict[str, Lowering] = {
    "lu_factor": _lu_factor,
    "lu_solve": _lu_solve,
    "solve_triangular": _solve_triangular,
    "solve_banded": _solve_banded,
    "solve_sylvester": _solve_sylvester,
    "sqrtm": lambda run, A: _of_complex(run, "linalg.sqrtm", A),
    "logm": _logm,
    "expm": lambda run, A: run.record("linalg.expm", run.as_array(A)),
    **all_of(scipy_linalg, matrix_equations),
    "kron": inlined(matrices.kron),  # SciPy 1.14 and earlier
}

SCIPY: Mapping[str, Mapping[str, Lowering]] = MappingProxyType(
    {
        "scipy.special": SPECIAL,
        "scipy.linalg": LINALG,
        "scipy.stats": {**STATS, **SAMPLES},
        "scipy.stats.mstats": MSTATS,
        "scipy.sparse": SPARSE,
        "scipy.spatial.transform": TRANSFORM,
        "scipy.sparse.linalg": SPARSE_LINALG,
        "scipy.fft": SCIPY_FFT,
        "scipy.interpolate": INTERPOLATE,
        "scipy.integrate": INTEGRATE,
        "scipy.ndimage": NDIMAGE,
        "scipy.optimize": OPTIMIZE,
        "scipy.spatial.distance": DISTANCE,
        "scipy.spatial": SPATIAL,
        "scipy.signal": SIGNAL,
        "scipy.signal.windows": SIGNAL_WINDOWS,
    }
)
