"""Other tools on a function that was written for NumPy: its `np` becomes theirs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

Call = Callable[[], tuple[Any, Any]]
Make = Callable[[FunctionType, Sequence[Any], tuple[int, ...]], Call]


def autograd(function: FunctionType, arguments: Sequence[Any], argnums: tuple[int, ...]) -> Call:
    """HIPS autograd: NumPy traced at every call."""
    tool = importlib.import_module("autograd")
    traced = rebound(function, importlib.import_module("autograd.numpy"))
    made = tool.value_and_grad(traced, argnums)
    return lambda: made(*arguments)


def jax(function: FunctionType, arguments: Sequence[Any], argnums: tuple[int, ...]) -> Call:
    """JAX, compiled by XLA; arguments that are not numbers are static."""
    tool = importlib.import_module("jax")
    tool.config.update("jax_enable_x64", True)
    traced = rebound(function, importlib.import_module("jax.numpy"))
    static = tuple(n for n, a in enumerate(arguments) if isinstance(a, int | str | None))
    made = tool.jit(tool.value_and_grad(traced, argnums), static_argnums=static)
    given = [a if n in static else tool.device_put(a) for n, a in enumerate(arguments)]
    return lambda: tool.block_until_ready(made(*given))


PEERS: dict[str, Make] = {"autograd": autograd, "jax": jax}


def rebound(function: FunctionType, module: ModuleType, done: Any = None) -> FunctionType:
    """A copy of a function, and of the functions it calls, for which NumPy is another module."""
    done = {} if done is None else done
    if function in done:
        return done[function]  # type: ignore[no-any-return]
    names: dict[str, Any] = dict(function.__globals__)
    cells = tuple(CellType() for _ in function.__closure__ or ())
    made = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, cells or None
    )
    made.__kwdefaults__ = function.__kwdefaults__
    done[function] = made

    def replaced(value: Any) -> Any:
        value = getattr(value, "function", value)  # a decorated one
        if value is np:
            return module
        if isinstance(value, FunctionType):
            is_numpys = getattr(np, value.__name__, None) is value
            if not is_numpys and value.__globals__.get("np") is np:
                return rebound(value, module, done)
        name = getattr(value, "__name__", None)
        if isinstance(name, str) and callable(value) and getattr(np, name, None) is value:
            return getattr(module, name, value)
        return value

    for name in function.__code__.co_names:
        if name in names:
            names[name] = replaced(names[name])
    for new, old in zip(cells, function.__closure__ or (), strict=True):
        new.cell_contents = replaced(old.cell_contents)
    return made
