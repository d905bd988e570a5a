"""Objects of SciPy that the frontend puts objects of `stcompile.library` in the place of.

A class that is called in the function is a function of the table of its module. An object from
outside is taken apart here, when it is called or a method of it is: its arrays are captured, so
that they are read at each call, and what decides on the program is guarded.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.base.places import Place
from stcompile.frontend.state.run import Run
from stcompile.library import interpolation, piecewise, rotations, splines
from stcompile.library.sparse import from_entries
from stcompile.library.statistics_of_samples import kernels


@dataclass(frozen=True)
class StandIn:
    """The way to make an object of SciPy anew: ``make`` takes its arrays, in this order, and then
    the facts."""

    make: Callable[..., Any]
    arrays: Mapping[str, Callable[[Any], Any]]
    facts: Callable[[Any], tuple[Any, ...]] = lambda owner: ()


def _read(*names: str) -> Mapping[str, Callable[[Any], Any]]:
    """The attributes that have these names."""
    return MappingProxyType({name: operator.attrgetter(name) for name in names})


def _item(owner: Any, name: str, index: int) -> Any:
    """An item of a tuple that is an attribute."""
    return getattr(owner, name)[index]


def _fitted_facts(owner: Any) -> tuple[Any, ...]:
    return owner._eval_args[2], owner.ext


def _surface_facts(owner: Any) -> tuple[Any, ...]:
    return tuple(owner.degrees)


def _of_spline(owner: Any, name: str) -> Any:
    """The knots or coefficients of an `interp1d` that is a spline."""
    return getattr(owner._spline, name) if owner._kind == "spline" else np.zeros(0)


def _line_facts(owner: Any) -> tuple[Any, ...]:
    degree = owner._spline.k if owner._kind == "spline" else None
    fill = owner.fill_value
    fill = tuple(map(_shown, fill)) if isinstance(fill, tuple) else _shown(fill)
    return degree, owner._kind, owner.axis, owner.bounds_error, fill


def _grid_facts(owner: Any) -> tuple[Any, ...]:
    return owner.method, owner.bounds_error, _shown(owner.fill_value)


def _shown(fill: Any) -> Any:
    """A number to fill with as a value that is equal to itself."""
    if fill is None or isinstance(fill, str):
        return fill
    if np.size(fill) != 1:
        return "several"
    number = float(np.reshape(fill, ()))
    return "nan" if math.isnan(number) else number


_POLYNOMIAL = operator.attrgetter("extrapolate", "axis")
_SPLINE = operator.attrgetter("k", "extrapolate", "axis")
INTERPOLATE: Mapping[str, StandIn] = MappingProxyType(
    {
        "PPoly": StandIn(piecewise.PiecewisePolynomial, _read("c", "x"), _POLYNOMIAL),
        "BSpline": StandIn(splines.Spline, _read("t", "c"), _SPLINE),
        "UnivariateSpline": StandIn(
            splines.fitted,
            MappingProxyType(
                {
                    name: functools.partial(_item, name="_eval_args", index=i)
                    for i, name in enumerate(("knots", "coefficients"))
                }
            ),
            _fitted_facts,
        ),
        "RectBivariateSpline": StandIn(
            splines.fitted_surface,
            MappingProxyType(
                {f"tck[{i}]": functools.partial(_item, name="tck", index=i) for i in range(3)}
            ),
            _surface_facts,
        ),
        "interp1d": StandIn(
            interpolation.interpolated,
            MappingProxyType(
                {
                    **_read("x", "y"),
                    "knots": functools.partial(_of_spline, name="t"),
                    "coefficients": functools.partial(_of_spline, name="c"),
                }
            ),
            _line_facts,
        ),
        "RegularGridInterpolator": StandIn(
            interpolation.on_grid, _read("grid", "values"), _grid_facts
        ),
    }
)


def _entries(owner: Any, name: str) -> Any:
    return getattr(owner.tocoo(), name)


def _sparse_facts(owner: Any) -> tuple[Any, ...]:
    return tuple(map(int, owner.shape)), type(owner).__name__.endswith("matrix")


_SPARSE = StandIn(
    from_entries,
    MappingProxyType(
        {name: functools.partial(_entries, name=name) for name in ("data", "row", "col")}
    ),
    _sparse_facts,
)
_FORMATS = tuple(
    f"{format}_{kind}"
    for format in ("csr", "csc", "coo", "dia", "bsr", "lil", "dok")
    for kind in ("matrix", "array")
)
_KERNELS = StandIn(kernels, _read("dataset", "weights"), lambda owner: (float(owner.factor),))
OBJECTS: Mapping[str, Mapping[str, StandIn]] = MappingProxyType(
    {
        "scipy.interpolate": INTERPOLATE,
        "scipy.stats": MappingProxyType({"gaussian_kde": _KERNELS}),
        "scipy.spatial.transform": MappingProxyType(
            {
                "Rotation": StandIn(
                    rotations.Rotation, MappingProxyType({"quat": operator.methodcaller("as_quat")})
                )
            }
        ),
        "scipy.sparse": MappingProxyType(dict.fromkeys(_FORMATS, _SPARSE)),
    }
)


def stand_in(run: Run, owner: Any) -> Any:
    """The object of the library that stands for an object of SciPy from outside; None if there is
    none for its class."""
    if not str(type(owner).__module__).startswith("scipy."):
        return None
    known = _known(type(owner))
    if known is None:
        return None
    place = run.relied.place_of(owner) or Place.constant(owner, type(owner).__name__)
    arrays = [
        run.captures.captured(read(owner), place.fact(name, read))
        for name, read in known.arrays.items()
    ]
    facts = run.relied.guard(place.fact("options", known.facts))
    return run.call(known.make, [*arrays, *facts], {})


def _known(kind: type) -> StandIn | None:
    for module, objects in OBJECTS.items():
        loaded = sys.modules.get(module)
        for cls in kind.__mro__ if loaded is not None else ():
            found = objects.get(cls.__name__)
            if found is not None and getattr(loaded, cls.__name__, None) is cls:
                return found
    return None
