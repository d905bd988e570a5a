"""Functions that generated code calls as they are, and that have no derivative; see
`stcompile.library.flat`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from stcompile.frontend.functions.creation import dtype_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import is_static
from stcompile.wengert.types import Type


def stage(run: Run, function: Any, options: Any, shape: Any, dtype: Any, *arrays: Any) -> Any:
    """Record a call of a function of arrays."""
    dims = tuple(shape)
    name = function.__name__.lstrip("_")
    if not is_static(options):
        run.refuse(f"an option of `{name}` is known only at run time", "give a Python value")
    if not all(isinstance(n, int) for n in dims):
        run.refuse(f"`{name}` takes arrays of a size that is known at compile time", "")
    called = _Called(run, function, tuple(options), Type.array(dtype_of(run, dtype), dims))
    found = called.stage_call(run, [run.as_array(x) for x in arrays], {})
    return found if dims else run.record("to_scalar", found)


class NoCotangents:
    """The adjoint of a function without a derivative: none."""

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return tuple(None for _ in arguments[1:-1])


class CallOfScipy:
    """An external function of arrays, with a name that no other function of the program has, and
    the type of its result. It calls a function that is ``shown`` by its name."""

    linear = False
    adjoint: Any = NoCotangents()

    def __init__(self, run: Run, plain: str, shown: str, result: Type) -> None:
        taken = {each.__name__ for each in run.captures.products.values()}
        names = (plain if number == 1 else f"{plain}_{number}" for number in range(1, 1 << 30))
        self.__name__ = next(name for name in names if name not in taken)
        self.shown = f"the call of `{shown}`"
        self.result = result
        run.captures.products[id(self)] = self

    def __repr__(self) -> str:
        return self.__name__

    def result_type(self, types: tuple[Type, ...]) -> Type:
        return self.result

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return run.record("external", *arguments, function=self, spelling=self.__name__)


class _Called(CallOfScipy):
    """A function with its options."""

    def __init__(
        self, run: Run, function: Callable[..., Any], options: tuple[Any, ...], result: Type
    ) -> None:
        plain = function.__name__.lstrip("_")
        super().__init__(run, plain, plain, result)
        self.function = function
        self.options = options

    def __call__(self, *arrays: Any) -> Any:
        found = np.asarray(self.function(*self.options, *arrays), self.result.dtype)
        if found.shape != self.result.dims:
            raise ValueError(f"{self.shown} gives shape {found.shape}, not {self.result.dims}")
        return found
