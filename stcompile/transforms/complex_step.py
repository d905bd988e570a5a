"""Derivatives by the complex step: exact to rounding, of functions that take complex numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError
from stcompile.base.generics import R

STEP = 1e-30  # no difference is taken, so that nothing cancels however small the step is


@public
def complex_step(function: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> R:
    """The derivative of a plain function in a direction, ``Im f(x + i h t) / h``.

    Nothing is compiled or differentiated: this is a second opinion, in float64, for functions
    that are analytic where they are evaluated and pass complex numbers on (`abs`, ``max`` and
    comparisons do not). ``primals`` are all arguments, ``tangents`` have their structure.

    Source: W. Squire, G. Trapp, "Using complex variables to estimate derivatives of real
    functions", SIAM Review 40 (1998), equation 6.

    >>> import numpy as np
    >>> float(complex_step(lambda x: np.sin(x) * np.exp(x), (1.0,), (1.0,)))
    3.7560492270947274
    """
    moved = [_moved(primal, tangent) for primal, tangent in zip(primals, tangents, strict=True)]
    value = function(*moved)
    derivative: R = trees.map_leaves(lambda path, leaf: np.imag(leaf) / STEP, value)
    return derivative


def _moved(primal: Any, tangent: Any) -> Any:
    directions = dict(trees.leaves(tangent))
    if [path for path, _ in trees.leaves(primal)] != [*directions]:
        raise ArgumentsError(
            "a tangent has another structure than its primal",
            hint="give a tangent for each array and number, in the same structure",
        )

    def leaf(path: trees.Path, item: Any) -> Any:
        kind = np.asarray(item).dtype.kind
        if kind == "c":
            raise ArgumentsError("a primal is complex: the complex step is for real functions")
        if np.shape(item) != np.shape(directions[path]):
            raise ArgumentsError(
                f"a tangent has shape {np.shape(directions[path])} instead of {np.shape(item)}"
            )
        return item if kind != "f" else item + 1j * (STEP * directions[path])

    return trees.map_leaves(leaf, primal)
