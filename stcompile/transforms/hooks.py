"""Hooks between a value and its cotangent: `stop_gradient` and `on_cotangent`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from stcompile.base import trees
from stcompile.base.errors import DerivativeError
from stcompile.frontend.protocol import staged_by
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Scalar, described
from stcompile.transforms.custom_rule import CustomRule

V = TypeVar("V")


def _itself(x: Any) -> Any:
    return x, ()


def _nothing(residuals: Any, d_x: Any) -> Any:
    return None


_STOP = CustomRule(_itself, _nothing, name="stop_gradient")


def _staged_stop(run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    (value,) = arguments if not keywords else (*arguments, *keywords.values())
    return _each(run, _STOP, value)


@staged_by(_staged_stop)
def stop_gradient(value: V) -> V:
    """The value itself, an array, a number or a structure of them; derivatives by it are zero.

    >>> import stcompile as st
    >>> def f(x):
    ...     return x * st.stop_gradient(x)
    >>> st.grad(f)(3.0)
    3.0
    """
    return value


def _staged_hook(run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    value, function = _value_and_function(*arguments, **keywords)
    return _each(
        run, CustomRule(_itself, _Hook(function), name="on_cotangent", through=True), value
    )


def _value_and_function(value: Any, function: Any) -> tuple[Any, Any]:
    return value, function


@staged_by(_staged_hook)
def on_cotangent(value: V, function: Callable[[Any], Any]) -> V:
    """Return the value itself; in a backward pass ``function`` is called with its cotangent.

    The result of ``function`` replaces the cotangent, in the same shape; a function that returns
    None only looks at it. It is written in the language of all differentiated functions, and is
    part of the generated code. For a structure it is called with each array and number. Forward
    mode has no cotangents: there a tangent passes unchanged.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     h = st.on_cotangent(x * x, lambda d: np.clip(d, -0.1, 0.1))
    ...     return 5.0 * h
    >>> float(st.grad(f)(3.0).round(6))
    0.6
    """
    return value


def _each(run: Run, rule: CustomRule[..., Any], value: Any) -> Any:
    """Apply a rule to each floating-point array and number in a structure."""

    def leaf(path: trees.Path, part: Any) -> Any:
        is_inexact = isinstance(part, Array | Scalar) and part.type.inexact
        return rule.stage_call(run, (part,), {}) if is_inexact else part

    made = trees.map_leaves(leaf, value)
    return run.own(made) if isinstance(made, list | dict) else made


class _Hook:
    """The adjoint of an identity with a function on its cotangent."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = "on_cotangent"

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        _, cotangent = arguments
        made = run.call(self.function, (cotangent,), {})
        if made is None:
            return cotangent
        before, after = run.atom(cotangent).type.dims, run.atom(made).type.dims
        if before != after:
            run.refuse(
                f"a function on a cotangent of shape {before} returns {described(made)}",
                "return a cotangent of the same shape, or None",
                DerivativeError,
            )
        return made
