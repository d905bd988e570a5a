"""The primitives: every operator that a Wengert list can hold, and its type rule."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from stcompile.wengert.dims import UnknownSizeError
from stcompile.wengert.primitives.attempts import attempts
from stcompile.wengert.primitives.base import OperandError, Primitive
from stcompile.wengert.primitives.complex_numbers import COMPLEX
from stcompile.wengert.primitives.control import CONTROL
from stcompile.wengert.primitives.creation import CREATION
from stcompile.wengert.primitives.effects import EFFECTS
from stcompile.wengert.primitives.elementwise import ELEMENTWISE
from stcompile.wengert.primitives.exchange import EXCHANGE
from stcompile.wengert.primitives.external import EXTERNAL
from stcompile.wengert.primitives.fourier import FOURIER
from stcompile.wengert.primitives.indexing import INDEXING
from stcompile.wengert.primitives.linalg import LINALG
from stcompile.wengert.primitives.linear import LINEAR
from stcompile.wengert.primitives.logic import LOGIC
from stcompile.wengert.primitives.random import RANDOM
from stcompile.wengert.primitives.reductions import REDUCTIONS
from stcompile.wengert.primitives.shapes import SHAPES
from stcompile.wengert.primitives.signals import SIGNALS
from stcompile.wengert.primitives.sizes import SIZES
from stcompile.wengert.primitives.sorting import SORTING
from stcompile.wengert.primitives.special import SPECIAL
from stcompile.wengert.primitives.spectra import HANDED_ON, SPECTRA
from stcompile.wengert.types import Type

__all__ = ["PRIMITIVES", "OperandError", "Primitive", "infer"]


def infer(name: str, types: tuple[Type, ...], params: Mapping[str, Any]) -> tuple[Type, ...]:
    """The output types of a primitive on inputs of the given types; raises `OperandError`."""
    for type in types:
        if name not in TAKES_SIZES and type.varies:
            raise UnknownSizeError(f"`{name}` of an array of shape {type.dims}", type.dims)
    return PRIMITIVES[name].infer(types, params)


PRIMITIVES: Mapping[str, Primitive] = MappingProxyType(
    {
        primitive.name: primitive
        for primitives in (
            *(ELEMENTWISE, COMPLEX, REDUCTIONS, SHAPES, CREATION, INDEXING),
            *(LINEAR, LINALG, FOURIER, SORTING, LOGIC, CONTROL, EFFECTS, RANDOM, EXTERNAL),
            *(SIZES, SPECIAL, SIGNALS, EXCHANGE, SPECTRA, attempts(infer)),
        )
        for primitive in primitives
    }
)


TAKES_SIZES = frozenset(
    {name for name, primitive in PRIMITIVES.items() if primitive.elementwise or primitive.control}
    | {"cast", "to_python", "to_scalar", "asarray", "copy", "real", "imag", "update_part"}
    | {"sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin", "cumprod", "cumsum"}
    | {"reshape", "expand_dims", "squeeze", "transpose", "broadcast_to", "concatenate", "stack"}
    | {"slice", "update", "index", "index_update", "accumulate", "contract", "einsum"}
    | {"full", "empty", "arange", "size", "count_nonzero", "nonzero", "as_shape", "undef"}
    | {"assert", "raise", "store", "sort", "argsort", "searchsorted", "var", "std"}
    | {"solve", "inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "diagonal"}
    | {"roll", "pad", "interp", "histogram", "digitize", "linalg.solve_triangular", "undefined"}
    | HANDED_ON
)
"""The primitives that take arrays of lengths that may change within a call."""
