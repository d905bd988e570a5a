"""Equations in computation graphs, as mathematics writes them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from stcompile.reports.graph.notation import (
    PATTERNS,
    right_side,
    symbol,
)
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.primitives import PRIMITIVES
from tests.reports.graphs import program_of


@pytest.mark.parametrize(
    ("equation", "written"),
    [
        ("v: float = subtract(x, -0.5)", "− in x − (-0.5)"),
        ("v: float = power(x, 2)", "^ in x^2"),
        ("v: float = negative(x)", "− in −x"),
        ("v: float = absolute(x)", "|| in |x|"),
        ("v: float = math.log(x)", "ln in ln(x)"),
        ("v: float = math.atan2(x, y)", "arctan2 in arctan2(x, y)"),
        ("v: f64 = sqrt(x)", "√ in √x"),
        ("v: f64 = floor(x)", "⌊⌋ in ⌊x⌋"),
        ("v: bool = greater_equal(x, y)", "≥ in x ≥ y"),
        ("v: bool = equal(x, y)", "== in x == y"),
        ("v: f64 = maximum(x, 0)", "max in max(x, 0)"),
        ("v: f32 = cast(x; dtype=f32)", "f32 in f32(x)"),
        ("v: float = to_python(x; dtype=f64)", "float in float(x)"),
        ("v: f64 = sum(a; axis=(0, 1), keepdims=False)", "Σ in Σ(a)"),
        ("v: f64[3] = sum(a; axis=(0,), keepdims=False)", "Σ in Σ(a, axis=0)"),
        ("v: i64 = argmax(a; axis=None, keepdims=False)", "argmax in argmax(a)"),
        ("v: f64[3,2] = transpose(a; axes=(1, 0))", "ᵀ in aᵀ"),
        ("v: f64[3] = slice(a; drop=(0,), length=(1, 3), start=((1,), (0,)), step=(1, 1))",
         "[] in a[1]"),
        ("v: f64[2,2] = slice(a; drop=(), length=(2, 2), start=((0,), (1,)), step=(1, 1))",
         "[] in a[:, 1:3]"),
        ("v: f64[2,2] = slice(a; drop=(), length=(2, 2), start=((0,), (0,)), step=(1, 2))",
         "[] in a[:, 0:3:2]"),
        ("v: f64[3] = slice(a, k; drop=(0,), length=(1, 3), start=((1, 2), (0, 0)), step=(1, 1))",
         "[] in a[2 k + 1]"),
        ("v: f64[2,3] = update(a, x; drop=(0,), length=(1, 3), start=((1,), (0,)), step=(1, 1))",
         "[] ← in a[1] ← x"),
        ("v: f64[3] = index(a, k; at=('index',))", "[] in a[k]"),
        ("v: f64[2,3] = accumulate(a, b; op='add')", "+ in a + b"),
        ("v: f64[2,3] = accumulate(a, x, k; at=('index',), op='index')", "[] + in a[k] + x"),
        ("v: f64[2,3] = full(0.0; dtype=f64, shape=(2, 3))", "full in full(0)"),
        ("v: b8 = or(p, p)", "∨ in p ∨ p"),
    ],
)  # fmt: skip
def test_notation(equation: str, written: str) -> None:
    inputs = "x: float, y: float, a: f64[2,3], b: f64[2,3], k: int, p: b8"
    (found,) = program_of(equation, inputs=inputs, returned="v").equations
    assert f"{symbol(found)} in {right_side(found)}" == written


MATRICES = {"a": "f64[3,3]", "b": "f64[3,3]", "c": "f64[3]", "d": "f64[3]"}


@pytest.mark.parametrize(("x", "y"), list(itertools.product(MATRICES, repeat=2)))
def test_contractions_are_written_as_what_they_are(x: str, y: str) -> None:
    """What is written, with ᵀ read as a transpose, is what the equation gives."""
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((3,) * (2 - (name > "b"))) for name in MATRICES]
    names = dict(zip(MATRICES, values, strict=True))
    ndims = names[x].ndim, names[y].ndim
    for pairs in [(), *(((i, j),) for i in range(ndims[0]) for j in range(ndims[1]))]:
        left = sum(ndims) - 2 * len(pairs)
        for order in {(), tuple(range(left))[::-1]} if left == 2 else {()}:
            dims = f"[{','.join(['3'] * left)}]" if left else ""
            program = program_of(
                f"v: f64{dims} = contract({x}, {y}; batch=(), contracted={pairs}, order={order}, "
                "spelling='')",
                inputs=", ".join(f"{name}: {type}" for name, type in MATRICES.items()),
                returned="v",
            )
            written = right_side(program.equations[0])
            (expected,) = evaluate(program, *values)
            if written.startswith(("@(", "⊗(")) or (not pairs and max(ndims) > 1):
                continue
            code = written.replace("ᵀ", ".T")
            if "⊗" in code:
                code = f"({code.strip('().T')})".replace(" ⊗ ", ",")
                found = np.outer(*eval(code, names))
                found = found.T if order == (1, 0) else found
            else:
                found = eval(code, names)
            np.testing.assert_allclose(found, expected, err_msg=written)


def test_every_primitive_in_the_tables_exists() -> None:
    assert set(PATTERNS) <= set(PRIMITIVES)
