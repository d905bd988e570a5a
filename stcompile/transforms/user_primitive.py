"""Primitives and derivative rules of users, checked when they are made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, overload

import numpy as np

from stcompile.base import trees
from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError, DerivativeError, GradientCheckError
from stcompile.base.generics import P, R
from stcompile.base.shown import Shown
from stcompile.base.wording import an
from stcompile.calls.described import call_of
from stcompile.calls.travel import Travels
from stcompile.frontend.state.run import Run
from stcompile.transforms.check import check_gradients
from stcompile.transforms.custom_rule import CustomRule
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.pullback import Vjp
from stcompile.transforms.pushforward import plain_signature
from stcompile.wengert.primitives.base import OperandError
from stcompile.wengert.types import Type, is_input, is_number, type_of


@dataclass(frozen=True)
class Operand:
    """The shape and the dtype of an operand, for the type rule of a primitive."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class UserPrimitive(Travels, Shown, Generic[P, R]):
    """A Python function with an adjoint that the compiler calls unchanged."""

    linear = False  # as far as the compiler knows

    def __init__(
        self,
        function: Callable[P, R],
        adjoint: Callable[..., Any] | None,
        result: Callable[..., Any] | None,
    ) -> None:
        functools.update_wrapper(self, function)
        if not self.__name__.isidentifier():
            raise ArgumentsError("a primitive is a function with a name", hint="use def")
        self.shown = f"`{self.__name__}`"
        self.function = function
        self.adjoint = adjoint or self._no_adjoint
        self.result = result

    __name__: str

    @public
    def __call__(self, *operands: P.args, **keywords: P.kwargs) -> R:
        """The function's result, in the type that the type rule says."""
        if keywords:
            raise ArgumentsError(
                f"the primitive `{self.__name__}` takes arrays and numbers by position"
            )
        wanted = self.result_type(tuple(map(_type_of, operands)))
        found: Any = np.asarray(self.function(*operands, **keywords))
        if found.shape != wanted.dims or found.dtype != wanted.dtype:
            raise ArgumentsError(
                f"`{self.__name__}` returns {found.dtype} of shape {found.shape}, but its type "
                f"rule says {wanted.dtype} of shape {wanted.dims}",
                hint="correct `result`, or convert what the function returns",
            )
        shared = any(isinstance(x, np.ndarray) and np.may_share_memory(found, x) for x in operands)
        if shared:
            found = found.copy()  # the compiler may write into the result
        result: R = found if found.shape else found[()]
        return result

    def __str__(self) -> str:
        return f"{call_of(self, self.__name__)}, a primitive"

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        if keywords:
            run.refuse(f"the primitive `{self.__name__}` takes arrays and numbers by position", "")
        return run.record("external", *arguments, function=self, spelling=self.__name__)

    def result_type(self, types: tuple[Type, ...]) -> Type:
        """The type of the result for operands of these types."""
        operands = [Operand(t.dims, t.dtype) for t in types]
        given = self.result(*operands) if self.result is not None else _like_all(operands)
        if isinstance(given, Operand):
            shape, dtype = given.shape, given.dtype
        elif isinstance(given, tuple) and len(given) == 2:
            shape, dtype = tuple(given[0]), np.dtype(given[1])
        else:
            raise OperandError(
                f"{self.__name__}: its type rule returns {an(type(given).__name__)} instead of "
                "(shape, dtype)"
            )
        return Type.array(dtype, shape) if shape else Type.scalar(dtype)

    def _no_adjoint(self, *operands: Any) -> Any:
        raise DerivativeError(f"the primitive `{self.__name__}` has no adjoint")


def _type_of(value: Any) -> Type:
    return type_of(value) if is_number(value) or is_input(value) else type_of(np.asarray(value))


def _like_all(operands: Sequence[Operand]) -> Operand:
    """The type rule of an elementwise function: the operands' common shape and dtype, floating
    point at least."""
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    dtypes = [operand.dtype for operand in operands]
    floating = [dtype for dtype in dtypes if dtype.kind in "fc"]
    return Operand(shape, np.result_type(*floating) if floating else np.dtype(np.float64))


@overload
def primitive(
    function: Callable[P, R],
    *,
    adjoint: Callable[..., Any] | None = None,
    result: Callable[..., Any] | None = None,
    example: Sequence[Any],
) -> UserPrimitive[P, R]: ...
@overload
def primitive(
    function: None = None,
    *,
    adjoint: Callable[..., Any] | None = None,
    result: Callable[..., Any] | None = None,
    example: Sequence[Any],
) -> Callable[[Callable[P, R]], UserPrimitive[P, R]]: ...
@public
def primitive(
    function: Callable[..., Any] | None = None,
    *,
    adjoint: Callable[..., Any] | None = None,
    result: Callable[..., Any] | None = None,
    example: Sequence[Any],
) -> Any:
    """Make a primitive of a Python function that stcompile cannot read, for example a function of a
    library in C.

    The function takes arrays and numbers by position and returns an array or a number; it has no
    effects, and the generated code calls it unchanged. ``adjoint(value, *arguments, cotangent)`` is
    written in the language of all differentiated functions (it may call this and other primitives)
    and returns a cotangent for each argument, None for an argument without one; tangents follow
    from it. ``result(*operands)`` gives the ``(shape, dtype)`` of the result from operands with a
    ``shape`` and a ``dtype``; without it the function is taken to be elementwise.

    ``example`` are arguments at which the primitive is checked now: its result against the type
    rule, its adjoint against finite differences, and the linearity of the adjoint in the cotangent.
    `GradientCheckError` or `ArgumentsError` says what is wrong.

    >>> import math, stcompile as st, numpy as np
    >>> def adjoint(y, x, d_y):
    ...     return d_y * 2 / np.sqrt(np.pi) * np.exp(-x * x)
    >>> @st.primitive(adjoint=adjoint, example=(np.array([-0.5, 1.5]),))
    ... def error_function(x):
    ...     return np.vectorize(math.erf, otypes=[x.dtype])(x)
    >>> st.grad(lambda x: np.sum(error_function(x)))(np.zeros(2)).round(4)
    array([1.1284, 1.1284])
    """
    if function is None:
        return functools.partial(primitive, adjoint=adjoint, result=result, example=example)
    made = UserPrimitive(function, adjoint, result)
    _require_tuple(made.__name__, example)
    try:
        made(*example)
    except OperandError as error:
        raise ArgumentsError(str(error)) from None
    if adjoint is not None:
        check_rule(made, example)
    return made


@overload
def custom_rule(
    forward: Callable[P, tuple[R, Any]],
    *,
    backward: Callable[..., Any],
    example: Sequence[Any],
) -> CustomRule[P, R]: ...
@overload
def custom_rule(
    forward: None = None,
    *,
    backward: Callable[..., Any],
    example: Sequence[Any],
) -> Callable[[Callable[P, tuple[R, Any]]], CustomRule[P, R]]: ...
@public
def custom_rule(
    forward: Callable[..., Any] | None = None,
    *,
    backward: Callable[..., Any],
    example: Sequence[Any],
) -> Any:
    """Give a function a derivative rule of its own, which is cheaper or more stable.

    ``forward(*arguments)`` returns ``(value, residuals)``; ``backward(residuals, cotangent)``
    returns a cotangent for each argument, None for arguments without derivative. Both are written
    in the language of all differentiated functions. Called plainly, the rule returns the value of
    ``forward``. Tangents follow from ``backward``, which is linear in the cotangent.

    ``example`` are arguments at which the rule is checked now, against finite differences of the
    value: `GradientCheckError` names the worst entry.

    >>> import stcompile as st, numpy as np
    >>> @st.custom_rule(
    ...     backward=lambda x, d: d / (1 + np.exp(-x)), example=(np.array([-1.0, 0.5]),)
    ... )
    ... def log1pexp(x):
    ...     return np.logaddexp(0, x), x
    >>> float(st.grad(lambda x: log1pexp(x))(0.0))
    0.5
    """
    if forward is None:
        return functools.partial(custom_rule, backward=backward, example=example)
    made = CustomRule(forward, backward)
    check_rule(made, example)
    return made


class _Weighted:
    """The sum of all numbers that a function returns, each with a weight of its own."""

    def __init__(self, function: Any, example: Sequence[Any]) -> None:
        self.function = function
        self.__name__ = str(function.__name__)
        self.__signature__ = plain_signature([f"x{i}" for i in range(len(example))])
        value = function(*example)
        self.weights = trees.map_leaves(
            lambda path, leaf: 1.5 + np.cos(np.arange(np.size(leaf))).reshape(np.shape(leaf)), value
        )

    def __call__(self, *arguments: Any) -> Any:
        value = self.function(*arguments)
        pairs = zip(trees.leaves(self.weights), trees.leaves(value), strict=True)
        return sum(np.sum(weight * leaf) for (_, weight), (_, leaf) in pairs)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        value = run.call(self.function, arguments, keywords)
        total: Any = 0.0
        pairs = zip(trees.leaves(self.weights), trees.leaves(value), strict=True)
        for (_, weight), (_, leaf) in pairs:
            constant = run.record(
                "constant", values=tuple(weight.ravel()), shape=weight.shape, dtype=weight.dtype
            )
            part = run.call(np.sum, (run.record("multiply", constant, leaf),), {})
            total = run.record("add", total, part)
        return total


def check_rule(function: Any, example: Sequence[Any]) -> None:
    """Check the adjoint of a primitive or of a custom rule at a point."""
    name = function.__name__
    _require_tuple(name, example)
    wrt = tuple(i for i, argument in enumerate(example) if _is_floating(argument))
    if not wrt:
        raise ArgumentsError(
            f"the example of `{name}` has no floating-point argument to check its adjoint with"
        )
    weighted = _Weighted(function, example)
    try:
        check_gradients(Gradient(weighted, wrt, True), example, {})
    except GradientCheckError as error:
        raise GradientCheckError(f"the adjoint of `{name}` is wrong: {error.reason}") from None
    _check_linear(function, name, example, wrt)


def _require_tuple(name: str, example: Any) -> None:
    if not isinstance(example, tuple | list):
        raise ArgumentsError(
            f"the example of `{name}` is {an(type(example).__name__)}",
            hint="give a tuple with one item for each argument: example=(x,)",
        )


def _is_floating(argument: Any) -> bool:
    leaves = [leaf for _, leaf in trees.leaves(argument)]
    return bool(leaves) and all(
        is_input(leaf) and np.asarray(leaf).dtype.kind == "f" for leaf in leaves
    )


def _check_linear(function: Any, name: str, example: Sequence[Any], wrt: Sequence[int]) -> None:
    """Check that the cotangents for twice a cotangent are twice as large."""
    value, pullback = Vjp(_By(function, example, wrt), len(wrt))(*(example[i] for i in wrt))

    def cotangents(size: float) -> Any:
        return pullback(trees.map_leaves(lambda path, leaf: size * np.ones_like(leaf), value))

    once, twice = cotangents(1.0), cotangents(2.0)
    pairs = zip(trees.leaves(once), trees.leaves(twice), strict=True)
    for (_, one), (_, two) in pairs:
        if not np.allclose(2 * np.asarray(one), two, rtol=1e-4, atol=1e-12, equal_nan=True):
            raise GradientCheckError(
                f"the adjoint of `{name}` is not linear in the cotangent",
                hint="to change cotangents on their way, use st.on_cotangent",
            )


class _By:
    """A function of some of its arguments; the other arguments are those of an example."""

    def __init__(self, function: Any, example: Sequence[Any], wrt: Sequence[int]) -> None:
        self.function = function
        self.example = example
        self.wrt = wrt
        self.__name__ = str(function.__name__)
        self.__signature__ = plain_signature([f"x{i}" for i in wrt])

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*self._whole(arguments))

    def _whole(self, arguments: Sequence[Any]) -> list[Any]:
        whole = list(self.example)
        for index, argument in zip(self.wrt, arguments, strict=True):
            whole[index] = argument
        return whole

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        whole = [
            run.as_array(item.tolist(), item.dtype) if isinstance(item, np.ndarray) else item
            for item in self._whole(arguments)
        ]
        return run.call(self.function, whole, keywords)
