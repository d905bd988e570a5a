"""Random draws: each happens once, in its position, since it changes the generator.

The first operand is the generator. NumPy is asked for the type of the result, with a generator of
the same class that nobody else uses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stcompile.wengert import dims as sizes
from stcompile.wengert.dims import Sizes
from stcompile.wengert.primitives.base import (
    Infer,
    OperandError,
    Primitive,
    Types,
    broadcast,
    require_count,
)
from stcompile.wengert.types import Type, type_of

Size = tuple[int, ...] | None
Ask = Callable[[Any, Size, Mapping[str, Any]], Any]


@functools.cache
def _asked(owner: str) -> Any:
    """A generator for asking NumPy: its numbers are thrown away."""
    return np.random.default_rng(0) if owner == "Generator" else np.random.RandomState(0)


def _given(params: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The params that are not None, as keywords."""
    return {name: params[name] for name in names if params.get(name) is not None}


def _draw(name: str, count: int, ask: Ask, kinds: str = "biuf") -> Infer:
    """The type rule of a draw with ``count`` operands after the generator, of dtypes ``kinds``."""

    def infer(types: Types, params: Mapping[str, Any]) -> Types:
        require_count(name, types, count + 1)
        rng, *operands = types
        for t in operands:
            if t.kind in ("object", "stack") or t.dtype.kind not in kinds:
                raise OperandError(f"{name}: does not take {t}")
        dims: Any = broadcast(name, tuple(operands)) if operands else ()
        size: Size = params.get("size")
        if size is None and not dims:
            return (_number(name, rng, None, ask, params),)
        if size is not None and not _fits(dims, size):
            raise OperandError(f"{name}: operands of shape {dims} do not fit into size {size}")
        size = dims if size is None else size
        return (_number(name, rng, size, ask, params),)

    return infer


def _fits(dims: Sizes, size: Sizes) -> bool:
    try:
        return sizes.broadcast(dims, size) == size
    except ValueError:
        return False


def _number(name: str, rng: Type, size: Size, ask: Ask, params: Mapping[str, Any]) -> Type:
    """The type of a draw of that size."""
    if rng.kind != "object":
        raise OperandError(f"{name}: draws from a generator, not from {rng}")
    small: Size = None if size is None else (1,) * len(size)
    try:
        found = type_of(ask(_asked(rng.name), small, params))
    except (AttributeError, TypeError, ValueError) as error:
        raise OperandError(f"{name}: {error}") from None
    return found if size is None else Type.array(found.dtype, size)


def _shaped(name: str) -> Infer:
    """The type rule of ``rand`` and ``randn``, which take their dimensions as separate
    arguments."""

    def infer(types: Types, params: Mapping[str, Any]) -> Types:
        require_count(name, types, 1)
        size = params["size"] or None
        return (_number(name, types[0], size, lambda g, s, p: g.random_sample(s), params),)

    return infer


def _permutation(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("permutation", types, 1)
    size = (params["n"],)
    return (_number("permutation", types[0], size, lambda g, s, p: g.permutation(1), params),)


def _choice(types: Types, params: Mapping[str, Any]) -> Types:
    rng, *weights = types
    n, size = params["n"], params.get("size")
    if n < 1:
        raise OperandError("choice: there is nothing to choose from")
    if len(weights) > 1 or any(w.dims != (n,) or w.dtype.kind != "f" for w in weights):
        raise OperandError(f"choice: p has one probability for each of {n}, not {weights}")
    count = 1 if size is None else int(np.prod(size))
    if not params.get("replace", True) and count > n:
        raise OperandError(f"choice: takes {count} of {n} without replacement")
    return (_number("choice", rng, size, lambda g, s, p: g.choice(1, s), params),)


def _seed(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("seed", types, 1)
    return ()


def _source(name: str) -> Infer:
    """The type rule of a new generator, or of the global generator."""

    def infer(types: Types, params: Mapping[str, Any]) -> Types:
        require_count(name, types, 0)
        return (Type.object(name),)

    return infer


def _random(name: str, infer: Infer) -> Primitive:
    return Primitive(name, infer, effects=("random",))


def _method(name: str, *facts: str) -> Ask:
    """Asks a method of the generator with its default parameters."""
    return lambda g, size, params: getattr(g, name)(size=size, **_given(params, *facts))


def _range(name: str, *facts: str) -> Ask:
    return lambda g, size, params: getattr(g, name)(0, 1, size=size, **_given(params, *facts))


RANDOM: tuple[Primitive, ...] = (
    _random("random", _draw("random", 0, _method("random", "dtype"))),
    _random("standard_normal", _draw("standard_normal", 0, _method("standard_normal", "dtype"))),
    _random(
        "standard_exponential",
        _draw("standard_exponential", 0, _method("standard_exponential", "dtype")),
    ),
    _random("rand", _shaped("rand")),
    _random("randn", _shaped("randn")),
    _random("normal", _draw("normal", 2, _method("normal"))),
    _random("uniform", _draw("uniform", 2, _method("uniform"))),
    _random("exponential", _draw("exponential", 1, _method("exponential"))),
    _random("integers", _draw("integers", 2, _range("integers", "dtype"), "biu")),
    _random("randint", _draw("randint", 2, _range("randint", "dtype"), "biu")),
    _random("permutation", _permutation),
    _random("choice", _choice),
    _random("seed", _seed),
    _random("default_rng", _source("Generator")),
    _random("random_state", _source("RandomState")),
    Primitive("global_rng", _source("np.random")),
)
