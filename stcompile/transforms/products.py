"""``jvp``, ``vjp`` and ``hvp``: products of Jacobians and Hessians with vectors, at once.

Compiled functions are kept for the functions that were used last: a function that is made anew for
each call is compiled for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, TypeVarTuple, overload

import numpy as np

from stcompile.base import trees
from stcompile.base.boundary import public
from stcompile.base.deferred import deferred
from stcompile.base.errors import ArgumentsError
from stcompile.base.fields import Same
from stcompile.base.generics import R
from stcompile.base.opening import WHOLE, Opening, joined_places, namespaces
from stcompile.base.options import Level, Options, options
from stcompile.base.wording import an
from stcompile.calls.dispatch import Dispatcher
from stcompile.frontend.opening import StagedOpening
from stcompile.frontend.protocol import staged_by
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import function_name
from stcompile.transforms.hessian import HessianVectorProduct
from stcompile.transforms.primal import Primal, kept
from stcompile.transforms.pullback import Pullback, Vjp
from stcompile.transforms.pushforward import Pushforward

_linearize = deferred("stcompile.transforms.linearize", "Linearize")
Primals = TypeVarTuple("Primals")

X = TypeVar("X")  # the second result of a function


@overload
def jvp(
    function: Callable[..., R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[False] = False,
    level: Level | None = None,
) -> tuple[R, R]: ...
@overload
def jvp(
    function: Callable[..., tuple[R, X]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[True],
    level: Level | None = None,
) -> tuple[R, R, X]: ...
@staged_by(lambda run, arguments, keywords: _stage(run, _pushforward, *arguments, **keywords))
@public
def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    level: Level | None = None,
) -> Any:
    """``(value, tangent)``: the function at ``primals`` and its derivative in the direction of
    ``tangents``, in forward mode.

    ``primals`` are the positional arguments, all of them arrays, floats or structures of them;
    ``tangents`` have the same structure and shapes. The tangent has the structure of the value.
    With ``has_aux`` the function returns ``(output, aux)``, and ``jvp`` returns ``(value, tangent,
    aux)``.

    >>> import stcompile as st
    >>> st.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.5))
    (6.0, 4.0)
    """
    given = _given(function, primals, tangents)
    compiled = kept(_pushforward, function, len(primals), has_aux, options(level))
    return compiled(*given)


def _staged_vjp(run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    function, *primals = arguments
    has_aux = keywords.get("has_aux", False)
    return Vjp(function, len(primals), has_aux).stage_call(run, primals, {})


@overload
def vjp(
    function: Callable[[*Primals], R],
    *primals: *Primals,
    has_aux: Literal[False] = False,
    level: Level | None = None,
) -> tuple[R, Pullback[tuple[*Primals]]]: ...
@overload
def vjp(
    function: Callable[[*Primals], tuple[R, X]],
    *primals: *Primals,
    has_aux: Literal[True],
    level: Level | None = None,
) -> tuple[R, Pullback[tuple[*Primals]], X]: ...
@staged_by(_staged_vjp)  # type: ignore[misc]  # mypy takes `*Any` for less than `*Primals`
@public
def vjp(
    function: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    level: Level | None = None,
) -> Any:
    """``(value, pullback)``: the function at ``primals``, and the function from a cotangent of the
    value to a tuple with that of each primal, in reverse mode.

    The function runs once, now; the pullback owns the values that it reads and may be called many
    times. With ``has_aux`` the function returns ``(output, aux)``, and ``vjp`` returns ``(value,
    pullback, aux)``.

    >>> import stcompile as st
    >>> value, pullback = st.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> value, pullback(1.0)
    (6.0, (3.0, 2.0))
    """
    return kept(Vjp, function, len(primals), has_aux, options(level))(*primals)


def _staged_linearize(run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    function, *primals = arguments
    return _linearize(function, len(primals)).stage_call(run, primals, {})


@staged_by(_staged_linearize)
@public
def linearize(
    function: Callable[[*Primals], R],
    *primals: *Primals,
    level: Level | None = None,
) -> tuple[R, Callable[[*Primals], R]]:
    """``(value, linear)``: the function at ``primals``, and its derivative there, the function from
    a tangent for each primal to the tangent of the value.

    The function runs once, now; ``linear`` owns the values that it reads and may be called many
    times, where `jvp` would compute the function again for each direction.

    >>> import stcompile as st
    >>> value, linear = st.linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> value, linear(1.0, 0.0), linear(0.0, 1.0)
    (6.0, 3.0, 2.0)
    """
    linear = kept(_linearize, function, len(primals), False, options(level))
    made: tuple[R, Callable[[*Primals], R]] = linear(*primals)
    return made


@staged_by(lambda run, arguments, keywords: _stage(run, _product, *arguments, **keywords))
@public
def hvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    level: Level | None = None,
) -> Any:
    """The product of the Hessian of a function of one real number with a vector.

    ``primals`` are the positional arguments, ``tangents`` the vector, in the same structure. Of
    one primal the product has its structure; of several it is a tuple.

    >>> import stcompile as st, numpy as np
    >>> st.hvp(lambda x: x[0] ** 2 * x[1], (np.array([2.0, 3.0]),), (np.array([1.0, 0.0]),))
    array([6., 4.])
    """
    given = _given(function, primals, tangents)
    compiled = kept(_product, function, len(primals), False, options(level))
    return compiled(*given)


Maker = Callable[[Callable[..., Any], int, bool, Options], Dispatcher[..., Any]]


def _pushforward(
    function: Callable[..., Any], count: int, has_aux: bool, chosen: Options
) -> Dispatcher[..., Any]:
    made: Dispatcher[..., Any] = Primal(Pushforward(function, count, has_aux), chosen, results=0)
    made.title = f"The value of `{function_name(function)}` and its tangent."
    return made


def _product(
    function: Callable[..., Any], count: int, has_aux: bool, chosen: Options
) -> Dispatcher[..., Any]:
    made: Dispatcher[..., Any] = Primal(HessianVectorProduct(function, count), chosen, 0)
    made.title = f"The product of the Hessian of `{function_name(function)}` with a vector."
    return made


def _stage(
    run: Run,
    make: Maker,
    function: Any,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
    level: Level | None = None,
) -> Any:
    """Stage a transformation inside another function, with the level of that function."""
    if len(primals) != len(tangents):
        run.refuse(f"{len(primals)} primals, but {len(tangents)} tangents", "give one for each")
    made = make(function, len(primals), has_aux, options(level))
    return made.stage_call(run, _opened(StagedOpening(run), (*primals, *tangents)), {})


def _opened(opening: Opening, given: Sequence[Any]) -> Sequence[Any]:
    """Primals and tangents, with their objects taken apart."""
    if not any(map(opening.has_objects, given)):
        return given
    return [opening.opened(f"argument {at}", value, WHOLE) for at, value in enumerate(given)]


def _given(function: Any, primals: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
    """The primals, and the tangents with floats for Python integers, which would be static."""
    for given, what in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(given, tuple | list):
            raise ArgumentsError(
                f"the {what} of `{function_name(function)}` are {an(type(given).__name__)}",
                hint=f"give a tuple with one item for each argument: {what} = (x,)",
            )
    if len(primals) != len(tangents):
        raise ArgumentsError(
            f"`{function_name(function)}` is given {len(primals)} primals, but {len(tangents)} "
            "tangents",
            hint="give one for each",
        )

    def leaf(path: trees.Path, value: Any) -> Any:
        return float(value) if type(value) in (int, bool) else value

    floats = [trees.map_leaves(leaf, tangent) for tangent in tangents]
    given = _opened(Opening(), (*primals, *floats))
    count = len(primals)
    numbered = joined_places({str(at): value for at, value in enumerate(given[:count])})
    places = [(int(name), path) for name, path in numbered]
    pairs = zip(given[:count], given[count:], strict=True)
    return [
        *given[:count],
        *(_once(one, other, places, given[count:]) for one, other in pairs),
    ]


def _once(primal: Any, tangent: Any, places: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """A tangent, with None where an object or an array of the primal stands in another place as
    well, if both have the same tangent."""
    if isinstance(primal, Same):
        at, path = places[primal.number]
        first = trees.follow(tangents[at], path)
        ours, theirs = [*trees.leaves(namespaces(tangent))], [*trees.leaves(namespaces(first))]
        equal = [p for p, _ in ours] == [p for p, _ in theirs] and all(
            np.array_equal(one, other) for (_, one), (_, other) in zip(ours, theirs, strict=True)
        )
        return None if equal else tangent
    parts, others = trees.children(primal), trees.children(tangent)
    if not parts or [step for step, _ in parts] != [step for step, _ in others or ()]:
        return tangent
    pairs = zip(parts, others or (), strict=True)
    made = [_once(one, other, places, tangents) for (_, one), (_, other) in pairs]
    same = all(new is old for new, (_, old) in zip(made, others or (), strict=True))
    return tangent if same else trees.with_children(tangent, made)
