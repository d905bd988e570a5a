"""Functions of SciPy, which is not imported: they are looked up by the names in these tables when
the user's program has imported their module.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from stcompile.frontend.functions.elementwise import of_items, static_call, ufunc
from stcompile.frontend.functions.library import inlined
from stcompile.frontend.run import Run
from stcompile.frontend.values import is_static
from stcompile.library import special
from stcompile.primitives.special import NAMES

Lowering = Callable[..., Any]


def _special(name: str) -> Lowering:
    """The lowering of a ufunc of `scipy.special` to the primitive of its name."""

    def lowering(run: Run, *operands: Any) -> Any:
        function = getattr(importlib.import_module("scipy.special"), name)
        return ufunc(f"special.{name}", function, f"special.{name}")(run, *operands)

    return of_items(f"special.{name}", lowering)


def _sici(run: Run, x: Any) -> Any:
    return tuple(run.record("special.sici", x, part=part) for part in ("Si", "Ci"))


def _zeta(run: Run, x: Any, q: Any = None) -> Any:
    if q is None:
        run.refuse(
            "`special.zeta` of one operand has no derivative rule", "give q, as in zeta(x, 1.0)"
        )
    return run.record("special.zeta", x, q)


def _static(name: str, hint: str) -> Lowering:
    """The lowering of a function of `scipy.special` that is computed at compile time."""

    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        if not is_static([*arguments, *keywords.values()]):
            run.refuse(f"`special.{name}` takes values that are known at compile time", hint)
        function = getattr(importlib.import_module("scipy.special"), name)
        return static_call(run, functools.partial(function, **keywords), *arguments)

    return lowering


_combinations = inlined(special.comb)


def _comb(run: Run, N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    if is_static([N, k]) or exact or repetition:
        static = _static("comb", "leave `exact` and `repetition` out")
        return static(run, N, k, exact=exact, repetition=repetition)
    return _combinations(run, N, k)


SPECIAL: dict[str, Lowering] = {
    **{name: _special(name) for name in NAMES},
    "sici": _sici,
    "zeta": _zeta,
    "polygamma": inlined(special.polygamma),
    "multigammaln": inlined(special.multigammaln),
    "softplus": inlined(special.softplus),
    "comb": _comb,
    "factorial": _static("factorial", "write special.gamma(n + 1)"),
    "perm": _static("perm", "write special.poch(N - k + 1, k)"),
    "logsumexp": inlined(special.logsumexp),
    "softmax": inlined(special.softmax),
    "log_softmax": inlined(special.log_softmax),
}

SCIPY: Mapping[str, Mapping[str, Lowering]] = MappingProxyType({"scipy.special": SPECIAL})


def scipy_lowering(function: Any) -> Lowering | None:
    """The lowering of a function of SciPy; None if it is none of these, or is not imported."""
    for module in SCIPY:
        if module in sys.modules:
            found = _functions(module).get(function)
            if found is not None:
                return found
    return None


@functools.cache
def _functions(module: str) -> Mapping[Any, Lowering]:
    """The functions of a module that this version of SciPy has, with their lowerings."""
    names = SCIPY[module]
    found = importlib.import_module(module)
    return {getattr(found, name): names[name] for name in names if hasattr(found, name)}
