"""The ways to a program's value and to its derivative, each as a call that can be timed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np

import stcompile as st
from stcompile.base import trees
from stcompile.base.options import Level
from stcompile.calls.dispatch import Dispatcher

from ..engines.base import Evaluator
from ..inputs import Array
from ..touched import count_touched
from .program import Arguments, LoopProgram, Sides, scalarised


def plain(program: LoopProgram, arguments: Arguments) -> Evaluator:
    """The function as it is."""
    return Evaluator(functools.partial(program.loss, *arguments.values()), read_value)


def compiled_value(program: LoopProgram, level: str) -> Dispatcher[..., Any]:
    """The function alone, compiled."""
    return cast(Dispatcher[..., Any], st.compile(program.loss, level=cast(Level, level)))


def compiled_derivative(
    program: LoopProgram, arguments: Arguments, level: str
) -> Dispatcher[..., Any]:
    """Value and gradient, or the Jacobian."""
    wrt, at = program.argnums(arguments), cast(Level, level)
    if program.jacobian:
        return cast(Dispatcher[..., Any], st.jacobian(program.loss, wrt=wrt, level=at))
    return cast(Dispatcher[..., Any], st.value_and_grad(program.loss, wrt=wrt, level=at))


def value_of(compiled: Callable[..., Any], arguments: Arguments) -> Evaluator:
    return Evaluator(functools.partial(compiled, *arguments.values()), read_value)


def derivative_of(
    program: LoopProgram, compiled: Callable[..., Any], arguments: Arguments
) -> Evaluator:
    return Evaluator(functools.partial(compiled, *arguments.values()), reader(program))


def jax_derivative(program: LoopProgram, arguments: Arguments) -> Evaluator | None:
    """The same by ``jax.jit``; None if there is no form for JAX."""
    import jax

    from .with_jax import form_of

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    form = form_of(program)
    if form is None:
        return None
    wrt, loss = program.argnums(arguments), scalarised(form, program.scalar)
    values = list(arguments.values())
    static = tuple(at for at, value in enumerate(values) if isinstance(value, int))
    derivative = jax.jacfwd(loss, wrt) if program.jacobian else jax.value_and_grad(loss, wrt)
    made = jax.jit(derivative, static_argnums=static)
    given = [v if at in static else jax.device_put(v) for at, v in enumerate(values)]
    return Evaluator(lambda: jax.block_until_ready(made(*given)), reader(program))


def numba_value(program: LoopProgram, arguments: Arguments) -> Evaluator:
    """The function as Numba compiles it, without a derivative."""
    from .with_numba import value_of

    return Evaluator(functools.partial(value_of(program), *arguments.values()), read_value)


def written_by_hand(program: LoopProgram, arguments: Arguments) -> Evaluator | None:
    """Loops for Numba that somebody wrote; None if nobody has."""
    from .with_numba import gradient_of

    form = gradient_of(program)
    if form is None:
        return None
    return Evaluator(functools.partial(form, *arguments.values()), reader(program))


def read_value(value: Any) -> tuple[float, list[Array]]:
    return float(np.sum(value)), []


def reader(program: LoopProgram) -> Callable[[Any], tuple[float, list[Array]]]:
    """A function that reads a derivative: its value (that of a Jacobian is left out) and its
    arrays."""

    def read(result: Any) -> tuple[float, list[Array]]:
        value, parts = (0.0, result) if program.jacobian else result
        return float(value), [np.asarray(part, np.float64) for part in parts]

    return read


# --- lines and counts ---------------------------------------------------------------------------


def lines(program: LoopProgram, sides: Sides, level: str) -> int:
    """The lines of the derivative's generated code."""
    arguments = program.arguments(sides)
    derivative = compiled_derivative(program, arguments, level)
    return len(str(derivative.source(*arguments.values())).splitlines())


def counts(program: LoopProgram, sides: Sides, level: str) -> tuple[int, int]:
    """The elements that the value touches, and those of value and derivative."""
    arguments = program.arguments(sides)
    value = compiled_value(program, level)
    derivative = compiled_derivative(program, arguments, level)
    return _count(value, arguments), _count(derivative, arguments)


def _count(compiled: Dispatcher[..., Any], arguments: Arguments) -> int:
    bound = compiled.bind(tuple(arguments.values()), {})
    staged = compiled.specialise(bound).staged
    leaves = [trees.follow(bound.values[leaf.argument], leaf.path) for leaf in staged.leaves]
    hidden = [hidden.read() for hidden in staged.hidden]
    return count_touched(staged.program, *leaves, *hidden)
