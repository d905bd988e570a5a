"""The types of the results of public functions. Read by type checkers only, never imported.

``P`` are the parameters of the user's function, so that a transformed function is called like the
user's, with its names, defaults and keywords; ``R`` is the type of its result. A gradient has the
type of its argument. The type of the first argument, by which is differentiated by default, is
found by `OfFirst`. A type checker cannot know which argument ``wrt`` names: such a gradient is
``Any``, as is a Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypedDict, TypeVar, overload

from stcompile.base.generics import P, R
from stcompile.base.options import Copied, Level, LoopCompiler, OnError, Threads
from stcompile.differentiable import Differentiable
from stcompile.transforms.jacobian import Mode

Rest = ParamSpec("Rest")
A = TypeVar("A")
A_contra = TypeVar("A_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
X = TypeVar("X")  # the second result of a function


class OfFirst(Protocol[P, A_contra, Rest, R_co]):
    """A function by all its parameters, and by the type of the first parameter."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, first: A_contra, /, *args: Rest.args, **kwargs: Rest.kwargs) -> R_co: ...


class ByFirst(Protocol):
    """The decorator ``differentiable()``, by the first argument."""

    @overload
    def __call__(self, function: OfFirst[P, A, Rest, R], /) -> Differentiable[P, R, A]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Differentiable[P, R, Any]: ...


class ByOne(Protocol):
    """The decorator ``differentiable(wrt="w")``, by one argument."""

    def __call__(self, function: Callable[P, R], /) -> Differentiable[P, R, Any]: ...


class BySeveral(Protocol):
    """The decorator ``differentiable(wrt=("w", "b"))``, by several."""

    def __call__(self, function: Callable[P, R], /) -> Differentiable[P, R, tuple[Any, ...]]: ...


class ChosenForNumpy(TypedDict, total=False):
    """The options that a function of NumPy's arrays is compiled with."""

    debug_nans: bool
    level: Level | None
    memory: int | str | None
    on_error: OnError
    copy: Copied
    dynamic: bool | None
    parallel: bool
    fastmath: bool
    threads: Threads
    compiler: LoopCompiler | None


class Chosen(ChosenForNumpy, total=False):
    """The options that a function is compiled with."""

    xp: Any


class ChosenForMatrices(Chosen, total=False):
    """The options that a Jacobian is made and compiled with."""

    mode: Mode
    holomorphic: bool
