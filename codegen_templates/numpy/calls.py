"""The spelling of most primitives: a call of the function that they are named after.

>>> with_function(call, "math.sqrt")(2.25)
1.5
"""

from __future__ import annotations

import functools
import inspect
import logging
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..lazy import linalg, signal, special
from ..marks import fresh, into

MODULES = MappingProxyType({"np": np, "math": math, "special": special, "linalg": linalg,
     "signal": signal, "logging": logging})  # fmt: skip
"""The modules of such functions, by the names that generated code has for them."""


@dataclass(frozen=True)
class Function:
    """A function by its name. It is looked up only when it is called: SciPy is imported then."""

    module: str
    name: str

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        return operator.attrgetter(self.name)(MODULES[self.module])(*inputs, **keywords)


def with_function(template: Callable[..., Any], name: str, **fixed: Any) -> Callable[..., Any]:
    """The template for one function, such as ``"np.fft.ifft"``, of those that it is written for."""
    fixed["function"] = Function(*name.split(".", 1))
    made = functools.update_wrapper(functools.partial(template, **fixed), template)
    own = inspect.signature(template).parameters.values()
    made.__dict__["__signature__"] = inspect.Signature([p for p in own if p.name not in fixed])
    return made


@fresh
def call(*inputs: Any, function: Any) -> Any:
    return function(*inputs)


@fresh
def part_of(*inputs: Any, part: str, names: tuple[str, ...], function: Any) -> Any:
    """Take one of several results, which have names."""
    return function(*inputs)[names.index(part)]


@into(inplace=("inputs",))
def call_into(out: Any, *inputs: Any, function: Any) -> None:
    function(*inputs, out=out)
