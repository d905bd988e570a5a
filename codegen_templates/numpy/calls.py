"""How most primitives are written: as the call of the function that they are named after.

>>> called(call, "math.sqrt")(2.25)
1.5
>>> Function.of("special.erf")
Function(module='special', name='erf')
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..lazy import linalg, special
from ..marks import fresh, into

MODULES = MappingProxyType({"np": np, "math": math, "special": special, "linalg": linalg})
"""Where such functions are, by the names that generated code has for these modules."""


@dataclass(frozen=True)
class Function:
    """A function by its name. It is looked up when it is called: SciPy is imported then."""

    module: str
    name: str

    @classmethod
    def of(cls, primitive: str) -> Function:
        """The function that a primitive is named after: NumPy's, where no other module is named."""
        module, _, name = primitive.rpartition(".")
        return cls(module or "np", name)

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        return getattr(MODULES[self.module], self.name)(*inputs, **keywords)


@fresh
def call(*inputs: Any, function: Any) -> Any:
    return function(*inputs)


@into(inplace=("inputs",))
def call_into(out: Any, *inputs: Any, function: Any) -> None:
    function(*inputs, out=out)


def called(template: Callable[..., Any], primitive: str) -> Callable[..., Any]:
    """A template of any function as that of the function that a primitive is named after."""
    made = functools.partial(template, function=Function.of(primitive))
    return functools.update_wrapper(made, template)
