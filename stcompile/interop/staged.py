"""Functions of operands by position that are staged: of the leaves of structures, and what is made
of such functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.calls.travel import Travels
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar
from stcompile.frontend.substage import function_name
from stcompile.transforms.partial_pullback import Cotangents, Partial
from stcompile.transforms.pushforward import Pushforward, Staged, plain_signature
from stcompile.transforms.vmap import Vmap
from stcompile.wengert.types import is_number

Wanted = tuple[int, ...]  # positions of the operands to differentiate by


def is_inexact(value: Any) -> bool:
    """True for a leaf of a result that there are cotangents of: floating-point numbers."""
    dtype = getattr(value, "dtype", None)
    return isinstance(value, float | complex) if dtype is None else dtype.kind in "fc"


class OfLeaves(Travels, Staged):
    """A function of the leaves of its arguments, which have the structure of an outline."""

    def __init__(self, function: Any, outline: Any) -> None:
        self.function, self.outline = function, outline
        arguments, keywords = outline
        self.__name__ = function_name(function)
        try:
            roots = [*signature_of(function).bind(*arguments, **keywords).arguments]
        except (TypeError, ValueError):  # told of where it is called
            roots = []
        roots += [f"x{at}" for at in range(len(roots), len(arguments))]
        found = [
            trees.path_name(root, path)
            for root, part in (*zip(roots, arguments, strict=False), *keywords.items())
            for path, _ in trees.leaves(part)
        ]
        self.__signature__ = plain_signature(found)
        self.names = [*self.__signature__.parameters]

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        leaves = iter(arguments)
        structure = trees.map_leaves(lambda path, leaf: next(leaves), self.outline)
        given, named = owned(run, structure)
        return _computed(run, run.call(self.function, given, named))


def owned(run: Run, value: Any) -> Any:
    """A structure whose lists, dicts and arrays are the program's own: the function that it is
    given to may write into them, which the caller does not see."""
    parts = trees.children(value)
    if parts is None:
        return run.value(run.atom(value)) if isinstance(value, Array) else value
    made = trees.with_children(value, [owned(run, part) for _, part in parts])
    return made if isinstance(made, tuple) else run.own(made)


def _computed(run: Run, result: Any) -> Any:
    """A result whose floating-point numbers are all computed, also those that are known: a call of
    the compiled function does not tell which they are."""

    def leaf(path: trees.Path, value: Any) -> Any:
        if is_number(value) and is_inexact(value):
            return run.record("full", value, shape=(), dtype=np.asarray(value).dtype)
        return value

    return trees.map_leaves(leaf, result)


class Numbers(Staged):
    """A function, of whose result the leaves that are computed are returned, or the floating-point
    ones among them, in a tuple; the result itself is kept."""

    def __init__(self, function: Any, inexact: bool) -> None:
        self.function, self.inexact = function, inexact
        self.result: Any = None
        self.__name__ = function_name(function)
        self.__signature__ = signature_of(function)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        self.result = run.call(self.function, arguments, {})
        leaves = [x for _, x in trees.leaves(self.result) if isinstance(x, Array | Scalar)]
        return tuple(x for x in leaves if x.type.inexact or not self.inexact)


class Batched(Travels, Staged):
    def __init__(self, function: Any, axes: tuple[int | None, ...], names: Sequence[str]) -> None:
        self.function, self.axes = function, axes
        self.__name__ = f"{function_name(function)}_batched"
        self.__signature__ = plain_signature(names)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        numbers = Numbers(self.function, inexact=False)
        batches = iter(Vmap(numbers, self.axes, 0).stage_call(run, arguments, {}))
        return trees.map_leaves(
            lambda path, x: next(batches) if isinstance(x, Array | Scalar) else x, numbers.result
        )


class PulledBack(Travels, Staged):
    def __init__(self, function: Any, wrt: Wanted, names: Sequence[str]) -> None:
        self.function, self.wrt = function, wrt
        self.count = len(signature_of(function).parameters)
        self.__name__ = f"{function_name(function)}_pullback"
        self.__signature__ = plain_signature(names)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        given, cotangents = arguments[: self.count], tuple(arguments[self.count :])
        pullback = Cotangents(Numbers(self.function, inexact=True), self.wrt)
        found = pullback.stage_call(run, [cotangents, *given], {})
        return _computed(run, tuple(found[at] for at in self.wrt))


class Pushed(Travels, Staged):
    def __init__(self, function: Any, wrt: Wanted, names: Sequence[str]) -> None:
        self.function, self.wrt = function, wrt
        self.count = len(signature_of(function).parameters)
        self.__name__ = f"{function_name(function)}_jvp"
        self.__signature__ = plain_signature(names)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        given, tangents = arguments[: self.count], arguments[self.count :]
        partial = Partial(Numbers(self.function, inexact=True), self.wrt, given)
        primals = [given[at] for at in self.wrt]
        _, moved = Pushforward(partial, len(primals)).push(run, primals, tangents)
        return _computed(run, moved)


class Outlined(Staged):
    """A staged function without a result, which keeps the shapes and dtypes of its leaves."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.found: Any = None

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        def leaf(path: trees.Path, value: Any) -> Any:
            if not isinstance(value, Array | Scalar):
                return value
            dims = value.type.dims
            if not all(type(size) is int for size in dims):
                run.refuse(
                    f"the shape of {trees.show_path('the result', path)} depends on the data: "
                    f"{dims}",
                    "return an array whose shape follows from those of the arguments",
                )
            return np.broadcast_to(np.zeros((), value.type.dtype), dims)

        self.found = trees.map_leaves(leaf, run.call(self.function, arguments, {}))
