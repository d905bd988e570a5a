"""Functions of structures as functions of their leaves by position, which other tools call.

The pullback, the pushforward and the batch of such a function are again functions of arrays by
position: a tool that differentiates the call of one differentiates a call of the other, to any
order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError
from stcompile.base.options import Level, Options
from stcompile.calls.arguments import Arguments
from stcompile.calls.callee import SignatureKey
from stcompile.calls.internal import internal_errors
from stcompile.calls.signature import key_of
from stcompile.calls.specialisation import Specialisation, unlinked
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.stage import stage
from stcompile.interop.staged import Batched, OfLeaves, Outlined, PulledBack, Pushed, Wanted
from stcompile.transforms.at_paths import AtPath
from stcompile.transforms.primal import Primal
from stcompile.transforms.pullback import Backward, Vjp

T = TypeVar("T")
KEPT = 64  # functions of arrays alone, of one function of structures


def options_of(function: Any, level: Level | None = None) -> Options:
    """The options that a function was decorated or compiled with, at another level if one is
    given."""
    made = getattr(function, "options", None)
    found = made if isinstance(made, Options) else Options()
    if found.xp:
        raise ArgumentsError(
            f"the function is compiled for arrays of {found.xp}, not of NumPy",
            hint="give it without xp",
        )
    return replace(found, copy=False, level=found.level if level is None else level)


def is_array(value: Any) -> bool:
    """True for a leaf of a result that other tools get as an array of theirs."""
    return isinstance(value, np.ndarray | np.generic | float | complex)


class Structured:
    """A function of structures, taken to functions of leaves by position (`Positional`): one for
    each structure of arguments."""

    def __init__(self, function: Any, level: Level | None) -> None:
        self.function, self.level = function, level
        self.options = options_of(function, level)
        self._made: dict[Any, Positional] = {}
        self._known: dict[Any, Known] = {}  # the oldest first
        wrapper: Any = self
        functools.update_wrapper(wrapper, function, updated=())
        self.__signature__ = signature_of(function)

    def __reduce__(self) -> Any:
        return type(self), (self.function, self.level)

    def apart(self, arguments: Any, keywords: Any) -> tuple[Positional, list[Any]]:
        """The function of the leaves of a call, and the leaves."""
        leaves = [leaf for _, leaf in trees.leaves((arguments, keywords))]
        outline: Any = tuple(None for _ in arguments), {}
        key: Any = len(arguments)
        if keywords or any(one is not leaf for one, leaf in zip(arguments, leaves, strict=False)):
            outline = trees.map_leaves(lambda path, leaf: None, (arguments, keywords))
            key = key_of(outline, "the arguments")
        found = self._made.get(key)
        if found is None:
            staged = OfLeaves(self.function, outline)
            found = self._made.setdefault(key, Positional(staged, staged.names, self.options))
        return found, leaves

    def known(
        self, arguments: Any, keywords: Any, is_operand: Callable[[Any], bool]
    ) -> tuple[Known, list[Any]]:
        """The function of the leaves of a call that are operands, and these leaves."""
        of, leaves = self.apart(arguments, keywords)
        fixed = {at: leaf for at, leaf in enumerate(leaves) if not is_operand(leaf)}
        key = of, tuple((at, key_of(leaf), _value_of(leaf)) for at, leaf in fixed.items())
        found = self._known.get(key)
        if found is None:
            for oldest in [*self._known][: 1 - KEPT]:
                self._known.pop(oldest, None)
            found = self._known.setdefault(key, Known(of, fixed))
        return found, [leaf for at, leaf in enumerate(leaves) if at not in fixed]


def _value_of(leaf: Any) -> Any:
    """The value of a number, which its key does not tell, in a form that tells -0.0 from 0.0."""
    return repr(leaf) if isinstance(leaf, float | complex) else None


class Positional:
    """A function of arrays and numbers by position, compiled for what it is called with."""

    def __init__(self, staged: Any, names: Sequence[str], options: Options) -> None:
        self.staged, self.names, self.options = staged, names, options
        self.compiled: Primal[..., Any] = Primal(staged, options, results=0)
        self._outlines = _Outlines(staged)
        self._made: dict[Any, Any] = {}

    def __call__(self, *operands: Any) -> Any:
        return self.compiled(*operands)

    def outline(self, *operands: Any) -> Any:
        """The result of a call in shapes and dtypes alone: arrays whose elements are all the same
        zero. Nothing is computed."""
        return self._outlines.specialise(self._outlines.bind(operands, {}), False).beside

    def pullback(self, wrt: Wanted, count: int) -> Positional:
        """The function of the operands, then of ``count`` cotangents, one of each floating-point
        leaf of the result, that returns the cotangents of the operands ``wrt``."""

        def make() -> Positional:
            names = [*self.names, *(f"d_value_{at}" for at in range(count))]
            return Positional(PulledBack(self.staged, wrt, names), names, self.options)

        return self._kept(("pullback", wrt, count), make)

    def pushforward(self, wrt: Wanted) -> Positional:
        """The function of the operands, then of the tangents of the operands ``wrt``, that returns
        the tangents of the floating-point leaves of the result."""

        def make() -> Positional:
            names = [*self.names, *(f"{self.names[at]}_dot" for at in wrt)]
            return Positional(Pushed(self.staged, wrt, names), names, self.options)

        return self._kept(("pushforward", wrt), make)

    def batched(self, axes: tuple[int | None, ...]) -> Positional:
        """The function of batches, with an axis of items for each operand or None; results have it
        in front."""

        def make() -> Positional:
            staged = Batched(self.staged, axes, self.names)
            return Positional(staged, self.names, self.options)

        return self._kept(("batched", axes), make)

    def with_residuals(self, wrt: Wanted) -> Residuals:
        """The function of the operands that returns its value, and the function from cotangents to
        those of the operands ``wrt``, with what it has kept."""
        return self._kept(("residuals", wrt), lambda: Residuals(self.staged, wrt, self.options))

    def _kept(self, key: Any, make: Callable[[], T]) -> T:
        found: T = self._made[key] if key in self._made else self._made.setdefault(key, make())
        return found


class Known:
    """A function of arrays alone: the ``fixed`` operands, by position, are known.

    Its pullbacks, pushforwards and batches are the same objects each time, so that tools can
    compare them by identity. A pushforward is ``pushed`` from a function, by some of its operands.
    """

    def __init__(
        self,
        of: Positional,
        fixed: Mapping[int, Any],
        pushed: tuple[Known, Wanted] | None = None,
    ) -> None:
        self.of, self.fixed, self.pushed = of, fixed, pushed
        self.places = [at for at in range(len(of.names)) if at not in fixed]
        self._made: dict[Positional, Known] = {}

    def __repr__(self) -> str:
        return self.of.compiled.name

    def operands(self, arrays: Iterable[Any]) -> list[Any]:
        """All operands of the function; an array of shape () is given as a number."""
        rest = (x if x.ndim else x[()] for x in arrays)
        return [
            self.fixed[at] if at in self.fixed else next(rest) for at in range(len(self.of.names))
        ]

    def call(self, arrays: Iterable[Any]) -> list[Any]:
        """The arrays and numbers of the result."""
        made = self.of(*self.operands(arrays))
        return [leaf for _, leaf in trees.leaves(made) if is_array(leaf)]

    def outline(self, like: Iterable[Any]) -> Any:
        """The result for arrays of these shapes and dtypes, in shapes and dtypes."""
        zeros = (np.broadcast_to(np.zeros((), x.dtype), x.shape) for x in like)
        return self.of.outline(*self.operands(zeros))

    def pullback(self, wrt: Wanted, count: int) -> Known:
        """As that of `Positional`; ``wrt`` are positions among the arrays."""
        return self._kept(self.of.pullback(tuple(self.places[at] for at in wrt), count))

    def pushforward(self, wrt: Wanted) -> Known:
        """As that of `Positional`; ``wrt`` are positions among the arrays."""
        of = self.of.pushforward(tuple(self.places[at] for at in wrt))
        return self._kept(of, (self, wrt))

    def batched(self, axes: Sequence[int | None]) -> Known:
        """As that of `Positional`, with an entry of ``axes`` for each array."""
        by_place = dict(zip(self.places, axes, strict=True))
        return self._kept(self.of.batched(tuple(map(by_place.get, range(len(self.of.names))))))

    def _kept(self, of: Positional, pushed: tuple[Known, Wanted] | None = None) -> Known:
        return self._made.get(of) or self._made.setdefault(of, Known(of, self.fixed, pushed))


class Residuals(Vjp):
    """A function whose call gives its value, and the pullback as a function from the cotangents of
    floating-point leaves to a tuple with those of some operands."""

    def __init__(self, function: Any, wrt: Wanted, options: Options) -> None:
        super().__init__(function, 0, False, options)
        self.wrt = wrt

    def __call__(self, *operands: Any) -> Any:
        arguments = self.bind(operands, {})
        compiled = self.specialise(arguments, False)
        backward: Backward = compiled.beside
        value, residuals = compiled.call(operands)

        def pullback(*cotangents: Any) -> Any:
            vectors = [
                AtPath((), one, None).vector("the cotangent", type, np.shape(one))
                for one, type in zip(cotangents, backward.types, strict=True)
            ]
            return backward.function(*residuals, *vectors)

        return value, pullback


class _Outlines(Primal[..., Any]):
    """Outlines of results, found for the arguments of a call. Nothing is compiled: the result of
    `specialise` has the outline beside it, and no function."""

    names_lengths = False

    def build(self, arguments: Arguments) -> Specialisation:
        recorded = Outlined(self.function)
        staged = stage(recorded, arguments.values, arguments.positional, name=self.name)
        return unlinked(staged, arguments, recorded.found)

    def _cached(self, key: SignatureKey, arguments: Arguments) -> Specialisation:
        """The outline: no other process can take it over."""
        with internal_errors(self.definition):
            return self.build(arguments)
