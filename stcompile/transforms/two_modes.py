"""The slope of a function along a direction, by reverse mode and by forward mode.

For a value that is a number, the inner product of its gradient with a direction is its tangent in
that direction. Both are exact, whatever the function is: if they differ by more than rounding, one
of the modes is wrong. No finite differences are needed, and the function may have a kink there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from stcompile.ad.forward import forward
from stcompile.base import trees
from stcompile.base.options import Options
from stcompile.calls.arguments import Arguments
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import function_name, substage
from stcompile.transforms.primal import Primal
from stcompile.transforms.pushforward import Staged, pairs_of, plain_signature, tangents_of
from stcompile.wengert.ir import Atom, Variable

At: TypeAlias = "tuple[str, trees.Path]"  # an argument, and a path in it


class Tangent(Staged):
    """The function of the arguments of a call, then of tangents for the parts of arguments at
    ``places``, which returns the tangent of the value. Other arguments have no tangent."""

    takes_apart = True  # objects among its arguments

    def __init__(self, function: Any, arguments: Arguments, places: Sequence[At]) -> None:
        self.function = function
        self.arguments = arguments
        self.places = tuple(places)
        self.__name__ = f"{function_name(function)}_tangent"
        dots = (f"{trees.path_name(name, path)}_dot" for name, path in places)
        self.__signature__ = plain_signature([*arguments.values, *dots])

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        given = dict(zip(self.arguments.values, arguments, strict=False))
        dots = zip(self.places, arguments[len(given) :], strict=True)
        positional = [given[name] for name in self.arguments.positional]
        named = {name: given[name] for name in self.arguments.keywords}
        sub = substage(run, self.function, positional, named, writes=True)
        staged = dict(zip(self.arguments.positional, sub.arguments, strict=True)) | dict(
            sub.keywords
        )
        variables: list[Variable] = []
        tangents: list[Atom] = []
        for (name, path), tangent in dots:
            part, shown = trees.follow(staged[name], path), trees.show_path(name, path)
            for variable, atom in pairs_of(run, shown, part, tangent):
                variables.append(variable)
                tangents.append(atom)
        joint = forward(sub.program, variables)
        results = run.recorder.inline(joint, (*sub.inputs, *tangents))
        return tangents_of(run, sub, results[len(sub.program.outputs) :])


def tangent_of(
    function: Any, arguments: Arguments, places: Sequence[At], options: Options
) -> Primal[..., Any]:
    """The compiled `Tangent`, for calls with arguments of the same types."""
    return Primal(Tangent(function, arguments, places), options, results=0)


@dataclass(frozen=True)
class Slope:
    """The slope along a direction by both modes; ``size`` is the sum of the magnitudes of the terms
    of the inner product, which rounding is relative to."""

    reverse: float
    forward: float
    size: float

    @property
    def error(self) -> float:
        """The distance of the two slopes, relative to ``size``; 0 if neither is a number."""
        if not np.isfinite(self.reverse) and not np.isfinite(self.forward):
            return 0.0
        apart = abs(self.reverse - self.forward)
        return apart / max(self.size, abs(self.forward), np.finfo(float).tiny) if apart else 0.0


def slope(gradients: Sequence[Any], directions: Sequence[Any], tangent: Any) -> Slope:
    """The slope by gradients, and by the tangent in the same directions.

    >>> slope([np.array([2.0, 1.0])], [np.array([1.0, -1.0])], 1.0)
    Slope(reverse=1.0, forward=1.0, size=3.0)
    """
    total = size = 0.0
    for gradient, direction in zip(gradients, directions, strict=True):
        for path, d in trees.leaves(direction):
            if is_moved(d):  # the gradient by complex numbers is that by each part, conjugate
                g = trees.follow(gradient, path)
                terms = np.real(np.multiply(g, d, dtype=np.result_type(g, d, np.float64)))
                total += float(np.sum(terms))
                size += float(np.sum(np.abs(terms)))
    return Slope(total, float(np.sum(np.real(tangent))), size)


def is_moved(leaf: Any) -> bool:
    """True for a leaf of an argument that has a tangent."""
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.kind in "fc"
    return isinstance(leaf, float | complex)


def direction(value: Any, rng: np.random.Generator) -> Any:
    """A random direction to move an argument in; leaves without a tangent stay unchanged."""

    def leaf(path: trees.Path, item: Any) -> Any:
        if not is_moved(item):
            return item
        drawn = np.asarray(rng.uniform(-1, 1, np.shape(item)))
        if np.iscomplexobj(item):
            drawn = drawn + 1j * rng.uniform(-1, 1, np.shape(item))
        if not isinstance(item, np.ndarray):
            return type(item)(drawn[()])
        laid = np.empty_like(item)  # as the argument lies in memory
        laid[...] = drawn
        return laid

    return trees.map_leaves(leaf, value)
