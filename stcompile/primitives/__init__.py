"""The primitives: every operator that a Wengert list can hold, and its type rule."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from stcompile.primitives.base import OperandError, Primitive
from stcompile.primitives.complex_numbers import COMPLEX
from stcompile.primitives.control import CONTROL
from stcompile.primitives.creation import CREATION
from stcompile.primitives.effects import EFFECTS
from stcompile.primitives.elementwise import ELEMENTWISE
from stcompile.primitives.external import EXTERNAL
from stcompile.primitives.fourier import FOURIER
from stcompile.primitives.indexing import INDEXING
from stcompile.primitives.linalg import LINALG
from stcompile.primitives.linear import LINEAR
from stcompile.primitives.logic import LOGIC
from stcompile.primitives.masks import MASKS
from stcompile.primitives.random import RANDOM
from stcompile.primitives.reductions import REDUCTIONS
from stcompile.primitives.shapes import SHAPES
from stcompile.primitives.sorting import SORTING
from stcompile.primitives.special import SPECIAL
from stcompile.types import Type

__all__ = ["PRIMITIVES", "OperandError", "Primitive", "infer"]

PRIMITIVES: Mapping[str, Primitive] = MappingProxyType(
    {
        primitive.name: primitive
        for primitives in (
            *(ELEMENTWISE, COMPLEX, REDUCTIONS, SHAPES, CREATION, INDEXING, MASKS),
            *(LINEAR, LINALG, FOURIER, SORTING, LOGIC, CONTROL, EFFECTS, RANDOM, EXTERNAL),
            SPECIAL,
        )
        for primitive in primitives
    }
)


def infer(name: str, types: tuple[Type, ...], params: Mapping[str, Any]) -> tuple[Type, ...]:
    """The output types of a primitive on inputs of these types, or `OperandError`."""
    return PRIMITIVES[name].infer(types, params)
