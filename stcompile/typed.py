"""How the results of public functions are typed. Read by type checkers only, never imported.

``P`` are the parameters of the user's function, so that what is made of it is called as it is, with
its names, defaults and keywords; ``R`` is what it returns. A gradient has the type of its argument.
That of the first one, by which is differentiated if nothing else is said, is found by `OfFirst`.
Which one ``wrt`` names a type checker cannot know: such a gradient is ``Any``, as is a Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypedDict, TypeVar, overload

from stcompile.base.generics import P, R
from stcompile.base.options import Copied, Level, OnError, Threads
from stcompile.differentiable import Differentiable
from stcompile.transforms.jacobian import Mode

Rest = ParamSpec("Rest")
A = TypeVar("A")
A_contra = TypeVar("A_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
X = TypeVar("X")  # what a function returns besides


class OfFirst(Protocol[P, A_contra, Rest, R_co]):
    """A function by all its parameters, and by the type of the first one."""

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


class Chosen(TypedDict, total=False):
    """How a function is compiled."""

    debug_nans: bool
    level: Level | None
    memory: int | str | None
    on_error: OnError
    copy: Copied
    dynamic: bool | None
    xp: Any
    parallel: bool
    fastmath: bool
    threads: Threads


class ChosenForMatrices(Chosen, total=False):
    """How a Jacobian is made and compiled."""

    mode: Mode
    holomorphic: bool
