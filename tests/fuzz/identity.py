"""Forward against reverse: ``<gradient, v>`` is the tangent along ``v``, up to rounding.

It needs no differences, so it holds at kinks and of float32, and it is compared at each level that
a gradient was computed at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stcompile.base.errors import StcompileError
from stcompile.base.options import Options
from stcompile.calls.arguments import Arguments
from stcompile.transforms.primal import Primal
from stcompile.transforms.two_modes import slope, tangent_of
from tests.fuzz.structures import directions, is_finite, locked
from tests.fuzz.verdicts import Mismatch

EXACT, NARROW = 1e-9, 2e-3


class Tangents:
    """The tangents of a function of one number, by the arguments at some positions."""

    def __init__(
        self, function: Callable[..., Any], wrt: Sequence[int], count: int, options: Options
    ) -> None:
        names = tuple(f"x{at}" for at in range(count))
        arguments = Arguments(dict.fromkeys(names), names, ())
        self.wrt = tuple(wrt)
        self.compiled: Primal[..., Any] = tangent_of(
            function, arguments, [(names[at], ()) for at in self.wrt], options
        )
        self.is_refused = False

    def along(self, args: Sequence[Any], as_they_are: bool = False) -> tuple[Any, Any]:
        """Directions for the arguments, and the tangent there; None if forward mode refuses. The
        arguments are copied, unless objects among them have to be those that they are."""
        found = directions(tuple(args[at] for at in self.wrt), seed=5)
        if self.is_refused:
            return found, None
        try:
            given = args if as_they_are else locked(tuple(args))
            return found, self.compiled(*given, *locked(found))
        except StcompileError:
            self.is_refused = True
            return found, None

    def check(
        self,
        args: Sequence[Any],
        gradients: Any,
        what: str,
        is_narrow: bool = False,
        as_they_are: bool = False,
    ) -> int:
        """Compare with gradients by the same arguments; 1 if that was possible."""
        along, tangent = self.along(args, as_they_are)
        return same_slope(gradients, along, tangent, what, is_narrow, args)


def same_slope(
    gradients: Any, along: Any, tangent: Any, what: str, is_narrow: bool, args: Any
) -> int:
    """Raise `Mismatch` if a tangent is not that of gradients; 1 if they could be compared."""
    if tangent is None or not is_finite((gradients, tangent)):
        return 0
    found = slope(gradients, along, tangent)
    if not found.error <= (NARROW if is_narrow else EXACT):
        scale = max(np.max(np.abs(g), initial=0.0) for g in gradients)
        text = f"{found}, the largest entry is {scale}\n{gradients}\n{args}"
        raise Mismatch(f"forward against reverse, {what}", text)
    return 1
