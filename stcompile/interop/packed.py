"""Structures as vectors, for solvers that know of vectors alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError, DerivativeError
from stcompile.base.opening import WHOLE, Opening, outline, restored
from stcompile.calls.arguments import is_apart
from stcompile.calls.travel import Travels
from stcompile.frontend.opening import StagedOpening, assembled
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar, described
from stcompile.frontend.substage import function_name
from stcompile.interop.staged import owned
from stcompile.transforms.pushforward import Staged, plain_signature, primal_names
from stcompile.wengert.parts import Part


class Structure:
    """The structure of a first guess: numbers and arrays of floats, and objects that hold some;
    the order of its numbers in a vector is that of `trees.leaves`, and C order in arrays."""

    def __init__(self, start: Any) -> None:
        self.start = start
        self._opened = Opening().opened("x0", start, WHOLE)
        moving = [moves for _, moves in trees.leaves(outline(self._opened))]
        leaves = list(trees.leaves(self._opened))
        self._leaves = [pair for pair, is_one in zip(leaves, moving, strict=True) if is_one is True]
        for path, leaf in self._leaves:
            if not Opening().is_moving(leaf) or np.asarray(leaf).dtype.kind != "f":
                shown = trees.show_path("x0", path)
                raise ArgumentsError(
                    f"{shown} is {described(leaf)}: solvers change floating-point numbers",
                    hint=f"make it one, np.asarray({shown}, float), or give it by args",
                )
        self._places = {path: at for at, (path, _) in enumerate(self._leaves)}

    @property
    def is_array(self) -> bool:
        """True for a first guess that is an array."""
        return isinstance(self.start, np.ndarray)

    def vector(self, of: Any = None) -> Any:
        """The numbers of the first guess, or of arrays or numbers for each of its leaves."""
        arrays = [leaf for _, leaf in self._leaves] if of is None else of
        pairs = zip(arrays, self._leaves, strict=True)
        parts = [np.broadcast_to(x, np.shape(leaf)).ravel() for x, (_, leaf) in pairs]
        return np.concatenate([np.empty(0), *parts])

    def structured(self, vector: Any) -> Any:
        """The structure with the numbers of a vector."""
        sizes = [np.size(leaf) for _, leaf in self._leaves]
        parts = np.split(np.asarray(vector), np.cumsum(sizes)[:-1])

        def leaf(path: trees.Path, value: Any) -> Any:
            if path not in self._places:
                return value
            array = parts[self._places[path]].reshape(np.shape(value))
            if isinstance(value, np.ndarray):
                return array.astype(value.dtype)
            return type(value)(array[()])

        made = trees.map_leaves(leaf, self._opened)
        return restored((made,))[0] if is_apart(made) else made

    def bounds(self, given: Any) -> tuple[Any, Any]:
        """The lower and the upper bounds as vectors. They are given in the same structure, with a
        pair for each leaf; what is left out, or None, has none."""
        lower, upper = [], []
        for path, _ in self._leaves:
            try:
                low, high = trees.follow(given, path) or (None, None)
            except (KeyError, AttributeError):
                low, high = None, None
            except (TypeError, ValueError, IndexError):
                raise ArgumentsError(
                    f"there is no pair of bounds for {trees.show_path('x0', path)}",
                    hint="give bounds in the structure of x0, with (low, high) for each array",
                ) from None
            lower.append(-np.inf if low is None else low)
            upper.append(np.inf if high is None else high)
        return self.vector(lower), self.vector(upper)


class Packed(Travels, Staged):
    """A function of a structure, as a function of a vector, of a structure like that, and of the
    other arguments; with ``whole`` its result is packed into a vector, too."""

    def __init__(self, function: Any, count: int, whole: bool) -> None:
        self.function, self.whole = function, whole
        self.__name__ = function_name(function)
        self.__signature__ = plain_signature(["numbers", *primal_names(function, count)])

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        numbers, like, *others = arguments
        start = 0

        def leaf(path: trees.Path, value: Any) -> Any:
            nonlocal start
            if not isinstance(value, Array | Scalar) or not value.type.inexact:
                return value
            type, first = value.type, start
            start += type.size
            at = Part.block((first,), (type.size,), drop=() if type.dims else (0,))
            part = run.record("slice", numbers, **at.params)
            if not type.dims:
                return run.cast(part, type.dtype)
            return run.cast(run.record("reshape", part, shape=type.dims), type.dtype)

        opened = trees.map_leaves(leaf, StagedOpening(run).opened("x0", like, WHOLE))
        (structure,) = assembled(run, (owned(run, opened),))
        result = run.call(self.function, [structure, *others], {})
        if not self.whole:
            return result
        leaves = [value for _, value in trees.leaves(result)]
        for value in leaves:
            if not isinstance(value, Array | Scalar | float):
                run.refuse(
                    f"`{self.__name__}` returns {described(value)}, which is no residual",
                    "return arrays and numbers of floats",
                    DerivativeError,
                )
        flat = [run.call(np.ravel, (value,), {}) for value in leaves]
        return run.call(np.concatenate, (flat,), {}) if len(flat) != 1 else flat[0]


class Weighted(Packed):
    """The sum of the numbers of a result, each times one of a last argument, the weights."""

    def __init__(self, function: Any, count: int) -> None:
        super().__init__(function, count, True)
        self.__signature__ = plain_signature([*self.__signature__.parameters, "weights"])

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        *given, weights = arguments
        found = super().stage_call(run, given, keywords)
        return run.call(np.sum, (run.record("multiply", found, weights),), {})
