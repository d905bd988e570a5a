"""The intervals that `scipy.integrate.quad` ends with, found by SciPy's own call when the generated
code runs. They have no derivative: see `stcompile.library.quadrature`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import DerivativeError
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import described, is_static
from stcompile.frontend.substage import Output, function_name, substage
from stcompile.transforms.primal import Primal
from stcompile.transforms.scipy_flat import CallOfScipy
from stcompile.transforms.scipy_solvers import Values
from stcompile.wengert.types import Type


def stage(
    run: Run, function: Any, args: Sequence[Any], bounds: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Record a call of ``quad`` for its intervals."""
    if not is_static([*options.values()]):
        run.refuse(
            "a tolerance of `quad` is known only at run time",
            "give a number that is known at compile time",
        )
    ends = [run.cast(run.as_array(bound), np.dtype(float)) for bound in bounds]
    if any(end.type.dims for end in ends):
        run.refuse("the bounds of `quad` are numbers", "integrate in a loop, or use st.vmap")
    at = run.record("to_scalar", ends[0])
    sub = substage(run, function, (at, *args), {})
    result = sub.result
    if not isinstance(result, Output) or result.type.dims or result.type.dtype.kind != "f":
        shown = result.type if isinstance(result, Output) else described(result)
        run.refuse(
            f"`{function_name(function)}` returns {shown} to `quad`",
            "return a real number",
            DerivativeError,
        )
    called = _Intervals(run, function_name(function), Values(sub.program, ()), dict(options))
    return called.stage_call(run, [*ends, *map(run.value, sub.inputs[1:])], {})


class _Intervals(CallOfScipy):
    """A call of SciPy's `quad`, as an external function of the bounds and of what the function
    reads."""

    def __init__(self, run: Run, name: str, values: Values, options: Mapping[str, Any]) -> None:
        result = Type.array(np.dtype(float), (options["limit"] + 2, 3))
        super().__init__(run, f"intervals_of_{name}".replace("<lambda>", "f"), "quad", result)
        self.values: Primal[..., Any] = Primal(values)
        self.options = options

    def __call__(self, a: Any, b: Any, *given: Any) -> Any:
        low, high = float(a), float(b)

        def value(x: float) -> float:
            return float(self.values(np.array([x]), *given)[0])

        quad = importlib.import_module("scipy.integrate").quad
        result, error, found, *rest = quad(value, low, high, full_output=1, **self.options)
        if rest:
            raise RuntimeError(f"quad has not converged: {rest[0]}")
        count = found["last"]
        parts = np.zeros((self.options["limit"] + 2, 3))
        parts[0] = result, error, 0.0
        parts[1] = low, high, 0.0
        left, right = found["alist"][:count], found["blist"][:count]
        if np.isfinite(low) and np.isfinite(high) and low != high:
            first, last = min(low, high), max(low, high)  # SciPy integrates from the lower bound
            left, right = (left - first) / (last - first), (right - first) / (last - first)
            if low > high:
                left, right = 1 - right, 1 - left
        parts[2:, 0], parts[2:, 1] = left[0], right[0]  # those that do not count are finite
        parts[2 : count + 2] = np.stack([left, right, np.ones(count)], axis=1)
        return parts
