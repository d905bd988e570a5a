"""What is written in compiled loops as for NumPy does there what NumPy does, on special values."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import numpy as np
import pytest

from stcompile.code.templates import Operand, substitute_in_loop
from stcompile.codegen_templates.loops import HELPERS, PLAIN, WRITTEN
from stcompile.wengert.ir import Variable
from stcompile.wengert.primitives.elementwise import UFUNCS
from stcompile.wengert.types import Type

numba = pytest.importorskip("numba")
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.75, -2.5, 3.0, 1e300, 1e-300, np.inf, -np.inf, np.nan]
INTEGERS = [0, 1, -1, 2, -7, 2**62, -(2**63), 2**63 - 1]
SIGNLESS = {"maximum", "minimum", "power"}  # NumPy gives either zero, as its loops are made
NAMES = sorted((PLAIN | WRITTEN.keys()) & UFUNCS.keys() - {"floor_divide", "remainder"})
TAKEN = {"f": NAMES, "i": ["add", "subtract", "multiply", "negative", "absolute", "sign", "square"]}


def _code(name: str, dtype: Any) -> str:
    names = "xy"[: UFUNCS[name].nin]
    operands = [Operand(ast.Name(n, ast.Load()), Variable(n, Type.scalar(dtype))) for n in names]
    value = substitute_in_loop(name, operands, {}).value
    assert value is not None
    return ast.unparse(value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_special_values(dtype: str) -> None:
    kind = np.dtype(dtype)
    chosen = TAKEN[kind.kind]
    values = np.array(FLOATS if kind.kind == "f" else INTEGERS, object)
    with np.errstate(all="ignore"):
        values = values.astype(kind)
    pairs = np.array(list(itertools.product(values, values)), kind)
    lines = [f"    out[{at}] = {_code(name, kind)}" for at, name in enumerate(chosen)]
    text = "\n".join(["def f(x, y, out):", *lines])
    space: dict[str, Any] = {"np": np, **HELPERS}
    exec(text, space)
    compiled = numba.njit(error_model="numpy")(space["f"])
    out = np.empty(len(chosen), kind)
    with np.errstate(all="ignore"):
        for x, y in pairs:
            compiled(x, y, out)
            for name, found in zip(chosen, out, strict=True):
                wanted = UFUNCS[name](*(x, y)[: UFUNCS[name].nin]).astype(kind)
                label = f"{name}({x}, {y})"
                np.testing.assert_array_max_ulp(found, wanted, 4) if np.isfinite(
                    wanted
                ) and kind.kind == "f" else np.testing.assert_equal(found, wanted, label)
                if wanted == 0 and name not in SIGNLESS and kind.kind == "f":
                    assert np.signbit(found) == np.signbit(wanted), label
