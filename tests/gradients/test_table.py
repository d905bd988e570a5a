"""The table of cases is complete: no function and no primitive is left out."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings

from stcompile.codegen_templates.derivatives import DERIVATIVES, NON_DIFFERENTIABLE
from stcompile.frontend.functions import FUNCTIONS, METHODS
from stcompile.frontend.functions.linalg import LINALG
from stcompile.transforms.primal import Primal
from stcompile.wengert.ir import every_equation
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.elementwise import UFUNCS
from stcompile.wengert.primitives.spectra import SPECTRA
from tests.gradients.cases import CASES
from tests.gradients.functions import arrays, calculus, elementwise, linear, reductions
from tests.gradients.functions.case import Case
from tests.programs import OF_SCIPY

SOURCE = "".join(map(inspect.getsource, (arrays, calculus, elementwise, linear, reductions)))

# Functions without a derivative: of static values, or with boolean or integer results.
WITHOUT = (NON_DIFFERENTIABLE & UFUNCS.keys()) | {
    *("bitwise_not", "any", "all", "argmax", "argmin"),
    *("isreal", "iscomplex", "isrealobj", "iscomplexobj"),
    *("shape", "ndim", "size", "result_type", "isscalar", "finfo"),
    *("nonzero", "flatnonzero", "argwhere", "broadcast_shapes", "min_scalar_type"),
    *(
        "row_stack",
        "common_type",
        "isdtype",
        "isfortran",
        "iterable",
        "histogram_bin_edges",
        "mask_indices",
    ),
    "i0",  # in tests/scipy
    *("may_share_memory", "shares_memory", "__array__"),  # in tests/frontend
    *("empty_like", "zeros_like", "zeros", "ones", "empty", "linspace", "identity"),
}


def test_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_every_numpy_function_has_a_case() -> None:
    functions = {f.__name__ for f in FUNCTIONS if vars(np).get(getattr(f, "__name__", "")) is f}
    functions = {name for name in functions if not isinstance(getattr(np, name), type)}
    used = set(re.findall(r"np\.(\w+)", SOURCE))
    aliases = {
        getattr(np, name).__name__ for name in used if hasattr(getattr(np, name), "__name__")
    }
    named = {case.name for case in CASES}
    assert functions - WITHOUT <= used | aliases | named


def test_every_function_of_linear_algebra_has_a_case() -> None:
    functions = {f.__name__ for f in LINALG}
    assert functions <= set(re.findall(r"np\.linalg\.(\w+)", SOURCE))


def test_every_function_of_math_has_a_case() -> None:
    functions = {f.__name__ for f in FUNCTIONS if getattr(f, "__module__", "") == "math"}
    assert functions <= set(re.findall(r"math\.(\w+)", SOURCE))


def test_every_method_has_a_case() -> None:
    used = set(re.findall(r"\.(\w+)\(", SOURCE))
    assert set(METHODS) - WITHOUT <= used


@pytest.mark.slow
def test_every_differentiable_primitive_is_reached() -> None:
    reached: set[str] = set()
    for case in CASES:
        reached |= reached_by(case)
    wanted = {name for name, primitive in PRIMITIVES.items() if primitive.rule in DERIVATIVES}
    wanted -= {"strong_product", "strong_quotient", *(p.name for p in SPECTRA)}  # of adjoints
    assert {name for name in wanted if not name.startswith(OF_SCIPY)} <= reached


def reached_by(case: Case) -> set[str]:
    found: set[str] = set()

    @settings(max_examples=1, phases=[Phase.generate], database=None)
    @given(case.arguments)
    def stage(args: Any) -> None:
        primal = Primal(case.function)
        program = primal.stage(primal.bind(args, {})).program
        found.update(equation.primitive for equation in every_equation(program.equations))

    stage()
    return found
