"""Results whose type is a number are numbers: never arrays of shape (), in which a later write
would change them for all who hold them."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from stcompile.codegen_templates import loops
from stcompile.codegen_templates.buffered import SCALARS
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.templates import TEMPLATES
from stcompile.wengert.types import type_of

pytestmark = pytest.mark.filterwarnings("ignore")  # of NumPy, about overflow and lost parts
NUMBERS = (0.7, np.float64(0.7), np.float32(0.7), 3, np.int64(3), True, np.True_)
NUMBERS += (0.7 + 0.1j, np.complex128(0.7 + 0.1j))
WITHOUT_AXES = tuple(map(np.array, (0.7, 3, True, 0.7 + 0.1j)))
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "part": (
        *("sn", "cn", "dn", "ph", "S", "C", "Si", "Ci", "Shi", "Chi"),
        *("Ai", "Aip", "Bi", "Bip", "mantissa", "exponent"),
    ),
    "ndigits": (None, 1),
    "axis": ((), (0,)),
    "keepdims": (False,),
    "ddof": (0,),
}
ELEMENTWISE = [name for name, primitive in PRIMITIVES.items() if primitive.elementwise]
NO_NUMBERS = {"where", "i0", "math.fsum"}  # NumPy's give arrays of shape (), `fsum` takes a tuple
REDUCTIONS = ["sum", "prod", "max", "min", "mean", "any", "all", "var", "std"]


def operands(kinds: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """One to five operands; of more than two, the last ones are alike."""
    yield from ((x,) for x in kinds)
    for first, last in itertools.product(kinds, kinds):
        yield from ((first, *[last] * rest) for rest in (1, 2, 3, 4))


def choices(template: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """The values of the parameters of a template."""
    parameters = inspect.signature(template).parameters.values()
    names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in CHOICES]
    for values in itertools.product(*(CHOICES[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def tried(name: str, template: Callable[..., Any], kinds: tuple[Any, ...]) -> int:
    """The number of examples that a template takes and whose results are numbers by their types;
    fails if one of the results is an array."""
    count = 0
    for inputs, params in itertools.product(operands(kinds), [*choices(template)]):
        try:
            types = PRIMITIVES[name].infer(tuple(map(type_of, inputs)), params)
            found = template(*inputs, **params)
        except Exception:  # the primitive takes no such operands
            continue
        results = found if isinstance(found, tuple) else (found,)
        for type_, result in zip(types, results, strict=False):
            if type_.kind != "array":
                assert not isinstance(result, np.ndarray), (inputs, params)
                count += 1
    return count


@pytest.mark.parametrize("name", sorted(set(ELEMENTWISE) - NO_NUMBERS))
def test_elementwise(name: str) -> None:
    assert tried(name, TEMPLATES[name], (*NUMBERS, *WITHOUT_AXES)) > 0


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    arrays = (np.ones(3), np.ones(3, np.float32), np.ones(3, bool), np.arange(3))
    assert tried(name, TEMPLATES[name], (*arrays, *WITHOUT_AXES)) >= 8
    if name in SCALARS:
        assert tried(name, SCALARS[name], arrays) >= 3


def test_in_loops() -> None:
    counts = {name: tried(name, loops.WRITTEN[name], NUMBERS) for name in loops.WRITTEN}
    assert sum(count > 0 for count in counts.values()) > 30, counts
