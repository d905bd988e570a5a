"""Functions of JAX's arrays: a primitive of JAX, whose computation is a callback.

Its rules for tangents, transposes and batches bind the primitive again, for the pushforward, the
pullback or the batch of the function, so that JAX's transforms can be nested in any order.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.boundary import public
from stcompile.base.options import Level
from stcompile.interop.leaves import Known, Structured, is_array
from stcompile.interop.staged import is_inexact


class JaxFunction(Structured):
    """A function of JAX's arrays, and of structures of them."""

    def __init__(self, function: Any, level: Level | None) -> None:
        super().__init__(function, level)
        self._jax = _jax()

    @public
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        array = self._jax.jax.Array, np.ndarray, np.generic
        known, leaves = self.known(arguments, keywords, lambda leaf: isinstance(leaf, array))
        given = [x if isinstance(x, array[0]) else self._jax.jnp.asarray(x) for x in leaves]
        found = iter(self._jax.primitive.bind(*given, known=known))
        outline = known.outline(given)
        return trees.map_leaves(lambda path, x: next(found) if is_array(x) else x, outline)


def _specs(known: Known, arrays: Sequence[Any]) -> list[Any]:
    """The shapes and dtypes of the arrays of a result."""
    jax = _jax().jax
    found = [x for _, x in trees.leaves(known.outline(arrays)) if is_array(x)]
    dtypes = [jax.dtypes.canonicalize_dtype(one.dtype) for one in found]
    return [jax.ShapeDtypeStruct(x.shape, dtype) for x, dtype in zip(found, dtypes, strict=True)]


def _computed(known: Known, specs: Sequence[Any], *arrays: Any) -> list[Any]:
    """The arrays of a result, by NumPy."""
    found = known.call(map(np.asarray, arrays))
    return [np.asarray(x, spec.dtype) for x, spec in zip(found, specs, strict=True)]


@functools.cache
def _jax() -> SimpleNamespace:
    """The primitive, and the modules of JAX that calls of it need."""
    jax: Any = importlib.import_module("jax")
    jnp: Any = importlib.import_module("jax.numpy")
    core: Any = importlib.import_module("jax.extend.core")
    ad: Any = importlib.import_module("jax.interpreters.ad")
    batching: Any = importlib.import_module("jax.interpreters.batching")
    mlir: Any = importlib.import_module("jax.interpreters.mlir")
    primitive = core.Primitive("stcompile")
    primitive.multiple_results = True

    def call(*operands: Any, known: Known) -> Any:
        return list(map(jnp.asarray, _computed(known, _specs(known, operands), *operands)))

    def callback(*operands: Any, known: Known) -> Any:
        specs = _specs(known, operands)
        return jax.pure_callback(functools.partial(_computed, known, specs), specs, *operands)

    def types(*operands: Any, known: Known) -> Any:
        return [jax.core.ShapedArray(one.shape, one.dtype) for one in _specs(known, operands)]

    def jvp(primals: Any, tangents: Any, known: Known) -> Any:
        values = primitive.bind(*primals, known=known)
        wrt = tuple(at for at, one in enumerate(tangents) if type(one) is not ad.Zero)
        moving = [tangents[at] for at in wrt]
        moved = iter(primitive.bind(*primals, *moving, known=known.pushforward(wrt)))
        return values, [
            next(moved) if is_inexact(one) else ad.Zero(untyped(one.shape)) for one in values
        ]

    def untyped(shape: Any) -> Any:
        """The type of tangents of integers."""
        return jax.core.ShapedArray(shape, jax.dtypes.float0)

    def transpose(cotangents: Any, *operands: Any, known: Known) -> Any:
        unknown = tuple(at for at, one in enumerate(operands) if ad.is_undefined_primal(one))
        vectors = list(map(ad.instantiate_zeros, cotangents))
        if known.pushed is None:
            given = [
                jnp.zeros(one.aval.shape, one.aval.dtype) if at in unknown else one
                for at, one in enumerate(operands)
            ]
            pullback = known.pullback(unknown, len(vectors))
        else:  # of tangents: the pullback of the function, by the operands that have them
            pushed, wrt = known.pushed
            given = list(operands[: len(operands) - len(wrt)])
            wanted = tuple(wrt[at - len(given)] for at in unknown)
            pullback = pushed.pullback(wanted, len(vectors))
        found = iter(primitive.bind(*given, *vectors, known=pullback))
        return [next(found) if at in unknown else None for at in range(len(operands))]

    def batch(operands: Any, axes: Any, known: Known) -> Any:
        dims = [axis if type(axis) is int else None for axis in axes]
        found = primitive.bind(*operands, known=known.batched(dims))
        return found, [0 for _ in found]

    primitive.def_impl(call)
    primitive.def_abstract_eval(types)
    mlir.register_lowering(primitive, mlir.lower_fun(callback, multiple_results=True))
    ad.primitive_jvps[primitive] = jvp
    ad.primitive_transposes[primitive] = transpose
    batching.primitive_batchers[primitive] = batch
    return SimpleNamespace(jax=jax, jnp=jnp, primitive=primitive)
