"""How most primitives are written: as the call of the function that they are named after.

>>> call(2.25, function=Function("math", "sqrt"))
1.5
"""

from __future__ import annotations

import math
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

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        return getattr(MODULES[self.module], self.name)(*inputs, **keywords)


@fresh
def call(*inputs: Any, function: Any) -> Any:
    return function(*inputs)


@into(inplace=("inputs",))
def call_into(out: Any, *inputs: Any, function: Any) -> None:
    function(*inputs, out=out)
