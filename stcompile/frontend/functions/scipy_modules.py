"""Tables of modules of SciPy whose functions are written in `stcompile.library`, and of functions
that are computed when a function is compiled, such as those that design filters."""

from __future__ import annotations

import functools
import importlib
import inspect
import numbers
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.deferred import deferred
from stcompile.frontend.functions.library import all_of, inlined
from stcompile.frontend.operations.sparse import is_sparse
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static
from stcompile.library import (
    distances,
    filter_design,
    images,
    integrals,
    interpolation,
    measured_images,
    piecewise,
    quadrature,
    resampling,
    rotations,
    scattered,
    several_integrals,
    signals,
    sparse,
    spectra_of_signals,
    splines,
    statistics_of_samples,
    warping,
)

Lowering = Callable[..., Any]
sparse_stand_in = deferred("stcompile.frontend.functions.scipy_objects", "stand_in")


def _of_sparse(lowering: Lowering) -> Lowering:
    """The lowering of a function of sparse matrices, for those that are made outside as well."""

    def of_outside(run: Run, *arguments: Any, **keywords: Any) -> Any:
        def own(value: Any) -> Any:
            if type(value) in (list, tuple):
                return type(value)([own(part) for part in value])
            return sparse_stand_in(run, value) if is_sparse(value) else value

        return lowering(run, *map(own, arguments), **keywords)

    of_outside.__dict__["__signature__"] = inspect.signature(lowering)
    return of_outside


def at_compile_time(module: str, name: str, /, run: Run, *arguments: Any, **keywords: Any) -> Any:
    """The lowering of a function that is called when a function is compiled, with arguments that
    are known then; the arrays that it returns are constants."""
    if not is_static([*arguments, *keywords.values()]):
        shown = _SHOWN.get(name, f"{module.removeprefix('scipy.')}.{name}")
        run.refuse(
            f"`{shown}` takes values that are known at compile time",
            "give Python numbers, strings and lists of them, or call it outside and pass the "
            "result in",
        )
    function = getattr(importlib.import_module(module), name)
    return constant_of(run, run.computed(function, *arguments, **keywords))


_SHOWN = {"smoothing_matrix": "signal.savgol_filter", "legendre": "integrate.fixed_quad"}
"""The functions that call others of the library."""


def constant_of(run: Run, value: Any) -> Any:
    """A result that is known when a function is compiled, as a value of the program."""
    if isinstance(value, tuple):
        return tuple([constant_of(run, part) for part in value])
    if isinstance(value, np.ndarray):
        return run.language.array_of(run, value.tolist(), value.dtype)
    return value


def _designs(module: str, names: Sequence[str]) -> dict[str, Lowering]:
    return {name: functools.partial(at_compile_time, module, name) for name in names}


INTERPOLATE: dict[str, Lowering] = {
    "CubicSpline": inlined(piecewise.cubic_spline),
    "CubicHermiteSpline": inlined(piecewise.cubic_hermite_spline),
    "PchipInterpolator": inlined(piecewise.pchip_interpolator),
    "Akima1DInterpolator": inlined(piecewise.akima_interpolator),
    "PPoly": inlined(piecewise.ppoly),
    "BSpline": inlined(splines.b_spline),
    "make_interp_spline": inlined(splines.make_interp_spline),
    "splrep": inlined(splines.splrep),
    "splev": inlined(splines.splev),
    "splint": inlined(splines.splint),
    "UnivariateSpline": inlined(splines.univariate_spline),
    "InterpolatedUnivariateSpline": inlined(splines.interpolated_univariate_spline),
    "RectBivariateSpline": inlined(splines.rect_bivariate_spline),
    "interp1d": inlined(interpolation.interp1d),
    "RegularGridInterpolator": inlined(interpolation.regular_grid_interpolator),
    "interpn": inlined(interpolation.interpn),
    "RBFInterpolator": inlined(scattered.rbf_interpolator),
    "LinearNDInterpolator": inlined(scattered.linear_nd_interpolator),
    "NearestNDInterpolator": inlined(scattered.nearest_nd_interpolator),
    "griddata": inlined(scattered.griddata),
}

SAMPLES = all_of(statistics_of_samples)
MSTATS = {"mquantiles": SAMPLES.pop("mquantiles")}
del SAMPLES["kernels"]
SAMPLES = {name: lowering for name, lowering in SAMPLES.items() if not name.endswith("_fit")}
_SPARSE = {name: _of_sparse(lowering) for name, lowering in all_of(sparse).items()}
SPARSE_LINALG = {
    name: _SPARSE.pop(name)
    for name in ("spsolve", "splu", "factorized", "norm", "cg", "gmres", "bicgstab")
}
SPARSE = {
    name: lowering
    for name, lowering in _SPARSE.items()
    if name not in ("from_entries", "solved", "solved_adjoint")
}
_ROTATIONS = ("quat", "rotvec", "euler", "matrix")
TRANSFORM: dict[str, Lowering] = {
    "Rotation": inlined(rotations.Rotation),
    **{
        f"Rotation.{name}": inlined(vars(rotations)[name])
        for name in (*(f"from_{part}" for part in _ROTATIONS), "identity", "concatenate")
    },
    "Slerp": inlined(rotations.Slerp),
}
DISTANCE = all_of(distances)
SPATIAL = {"distance_matrix": DISTANCE.pop("distance_matrix")}
INTEGRATE = all_of(integrals, several_integrals)
del INTEGRATE["legendre"], INTEGRATE["each_of"], INTEGRATE["initial_values"]
INTEGRATE["quad"] = inlined(quadrature.quad)
NDIMAGE = all_of(images, measured_images, warping)
del NDIMAGE["padded"], NDIMAGE["windows_of"]
SIGNAL: dict[str, Lowering] = {
    **all_of(signals, resampling, spectra_of_signals),
    **_designs(
        "scipy.signal",
        ("butter", "cheby1", "cheby2", "ellip", "bessel", "firwin", "get_window", "savgol_coeffs"),
    ),
}
_WINDOWS = (
    *("barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "chebwin"),
    *("cosine", "exponential", "flattop", "gaussian", "general_cosine", "general_gaussian"),
    *("general_hamming", "hamming", "hann", "kaiser", "nuttall", "parzen", "triang", "tukey"),
)
SIGNAL_WINDOWS = _designs("scipy.signal.windows", _WINDOWS)


def _filtered(run: Run, b: Any, a: Any, x: Any) -> Any:
    return run.record("signal.lfilter", *(run.as_array(part) for part in (b, a, x)))


def _jacobian(run: Run, function: Any, x: Any) -> Any:
    return run.call(importlib.import_module("stcompile").jacobian(function), (x,), {})


def _infinite(run: Run, bound: Any, sign: int) -> bool:
    return is_static(bound) and bool(bound == sign * np.inf)


def _each(run: Run, func: Any, points: Any, args: Any) -> Any:
    over = importlib.import_module("stcompile").vmap(func, in_axes=(0, *[None] * len(args)))
    return run.call(over, (points, *args), {})


def _each_of(run: Run, func: Any, points: Any, args: Any) -> Any:
    axes = (*[0] * len(points), *[None] * len(args))
    over = importlib.import_module("stcompile").vmap(func, in_axes=axes)
    return run.call(over, (*points, *args), {})


def _initial_values(
    run: Run, fun: Any, t_span: Any, y0: Any, t_eval: Any, args: Any, rtol: Any, atol: Any
) -> Any:
    solve = importlib.import_module("stcompile").solve_ivp
    options = {"t_eval": t_eval, "args": args, "rtol": rtol, "atol": atol}
    return run.call(solve, (fun, t_span, y0), options)


def _intervals(
    run: Run, func: Any, a: Any, b: Any, args: Any, epsabs: Any, epsrel: Any, limit: Any
) -> Any:
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit}
    return intervals_of(run, func, args, (a, b), options)


intervals_of = deferred("stcompile.transforms.scipy_intervals", "stage")


_sparse_solved = deferred("stcompile.transforms.sparse_systems", "stage")
_flat = deferred("stcompile.transforms.scipy_flat", "stage")
_fixed = deferred("stcompile.frontend.functions.scipy_optimize", "fixed")


def _is_known(run: Run, value: Any) -> bool:
    return is_static(value)


HELPERS: Mapping[str, Mapping[str, Lowering]] = MappingProxyType(
    {
        "stcompile.library.optimize": {"jacobian": _jacobian, "fixed": _fixed},
        "stcompile.library.quadrature": {
            "infinite": _infinite,
            "intervals": _intervals,
            "each": _each,
        },
        "stcompile.library.several_integrals": {
            "each_of": _each_of,
            "initial_values": _initial_values,
        },
        "stcompile.library.conditions": {"is_known": _is_known},
        "stcompile.library.flat": {"flat": _flat},
        "stcompile.library.sparse": {"solved": _sparse_solved},
        "stcompile.library.filter_design": {
            "filtered": _filtered,
            "smoothing_matrix": functools.partial(
                at_compile_time, filter_design.__name__, "smoothing_matrix"
            ),
        },
        "stcompile.library.integrals": {
            "legendre": functools.partial(at_compile_time, integrals.__name__, "legendre")
        },
    }
)
"""Functions of the library that the frontend does in its own way."""


# --- functions that no table has, of known values: called at compile time ------------------------


_MODULES = ("constants", "fft", "interpolate", "linalg", "ndimage", "signal", "special", "stats")
_DRAWS = frozenset({"rng", "random_state", "seed"})
"""Parameters of functions that draw random numbers."""


def known_call(
    run: Run, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """The result, or None if it is not one of numbers, arrays and texts of plain values."""
    if not is_pure(function) or not _is_plain([*arguments, *keywords.values()]):
        return None
    found = run.computed(function, *arguments, **keywords)
    return constant_of(run, found) if _is_result(found) else None


def is_pure(function: Any) -> bool:
    """True for a function that gives the same result for the same arguments, and draws nothing."""
    if isinstance(function, np.ufunc):
        special = sys.modules.get("scipy.special")
        return getattr(special, function.__name__, None) is function
    owner = getattr(function, "__self__", None)
    home = function if owner is None or inspect.ismodule(owner) else type(owner)
    parts = str(getattr(home, "__module__", "")).split(".")
    if parts[0] != "scipy" or len(parts) < 2 or parts[1] not in _MODULES:
        return False
    name = getattr(function, "__name__", "rvs")
    if isinstance(function, type) or (home is not function and parts[1] != "stats"):
        return False
    try:
        taken = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return _DRAWS.isdisjoint(taken) and name != "rvs"


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | bool | numbers.Number)


def _is_result(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_result, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, str | bool | numbers.Number)
