"""The rules that are said to hold for complex operands, alone, against finite differences.

The points are in all quadrants, so that a rule that is right on one branch only is found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.codegen_templates.derivatives import (
    DERIVATIVES,
    HOLDS_FOR_COMPLEX,
    NOT_HOLOMORPHIC,
)
from stcompile.wengert.primitives.fourier import NORMS
from tests.derivatives.numeric import check_rule, cotangents, differences, primal
from tests.derivatives.test_indexing import INDICES, PARTS, WINDOWS, counters

RNG = np.random.default_rng(0)
QUADRANTS = np.array([0.7 + 0.4j, -0.8 + 0.5j, -0.6 - 0.9j, 0.5 - 0.3j, 1.3 + 0.2j, -1.7 - 0.1j])
ALL: dict[str, Any] = {"axis": (0,), "keepdims": False}
SLICE, COUNTED = PARTS[1], PARTS[3]


def drawn(*shape: int) -> Any:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


Z, GRID, REAL = QUADRANTS, drawn(4, 5), RNG.normal(size=(4, 5))
SQUARE = drawn(2, 3, 3) + 3 * np.eye(3)
UNARY = (
    *("negative", "conjugate", "absolute", "complex_sign", "real", "imag", "square", "reciprocal"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan"),
    *("arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
)
BINARY = ("add", "subtract", "multiply", "divide", "power", "float_power")
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((name, (Z,), {}) for name in UNARY),
    *((name, (Z, np.roll(Z, 1)), {}) for name in BINARY),
    *((name, (Z, np.roll(Z, 1).real), {}) for name in BINARY),
    *((name, (Z.real, np.roll(Z, 1)), {}) for name in BINARY),
    *(("power", (Z, y), {"static": (False, True)}) for y in (0, 1, 2, 3, 0.5, -1, 1j, 2.5 - 1j)),
    *(("power", (x, Z), {"static": (True, False)}) for x in (2.0, -2.0, 1j, 1 - 2j)),
    ("where", (Z.real > 0, Z, 2 * Z), {}),
    ("where", (Z.real > 0, Z, Z.real), {}),
    ("cast", (Z.real,), {"dtype": np.dtype(np.complex128)}),
    ("to_python", (np.complex128(Z[0]),), {"dtype": np.dtype(np.complex128)}),
    *((name, (np.complex128(Z[0]),), {}) for name in ("to_scalar", "asarray")),
    ("copy", (Z,), {}),
    ("update_part", (Z, Z.imag), {"part": "real"}),
    ("update_part", (Z, Z.imag), {"part": "imag"}),
    *((name, (GRID,), ALL) for name in ("sum", "prod", "mean")),
    *((name, (GRID,), {**ALL, "ddof": 1}) for name in ("var", "std")),
    *((name, (GRID,), {"axis": 1}) for name in ("cumsum", "cumprod")),
    ("reshape", (GRID,), {"shape": (20,)}),
    ("transpose", (GRID,), {"axes": (1, 0)}),
    ("expand_dims", (GRID,), {"axis": (0,)}),
    ("squeeze", (GRID[:1],), {"axis": (0,)}),
    ("broadcast_to", (GRID,), {"shape": (2, 4, 5)}),
    *((name, (GRID, REAL), {"axis": 1}) for name in ("concatenate", "stack")),
    ("roll", (GRID,), {"shift": (1,), "axis": (0,)}),
    ("pad", (GRID,), {"pad_width": ((1, 1), (0, 0)), "mode": "constant", "value": 0}),
    ("diagonal", (GRID,), {"offset": 1, "axis1": 0, "axis2": 1}),
    ("full", (Z[0],), {"shape": (3,), "dtype": Z.dtype}),
    ("full", (np.float64(2),), {"shape": (3,), "dtype": Z.dtype}),
    ("array", (Z[0], np.float64(2)), {"shape": (2,), "dtype": Z.dtype}),
    ("slice", (GRID,), SLICE),
    ("slice", (GRID, *counters(COUNTED)), COUNTED),
    ("windows", (GRID,), WINDOWS[0]),
    ("update", (GRID, Z[0]), SLICE),
    ("update", (GRID, np.float64(2)), SLICE),
    ("index", (GRID, *INDICES[0][0]), {"at": INDICES[0][1]}),
    ("index_update", (GRID, REAL, *INDICES[0][0]), {"at": INDICES[0][1]}),
    ("index_update", (GRID, Z[0], REAL > 0), {"at": (("mask", None, REAL.ndim),)}),
    ("accumulate", (GRID, REAL), {"op": "add"}),
    ("accumulate", (GRID, GRID[0, :2]), {"op": "slice", **SLICE}),
    *(
        ("contract", (GRID, y), {"batch": (), "contracted": ((0, 0),), "order": (), "spelling": ""})
        for y in (GRID + 1j, REAL)
    ),
    ("einsum", (GRID, REAL, GRID[0]), {"subscripts": "ij,kj,l->il"}),
    ("einsum", (GRID[:, :4],), {"subscripts": "ii->i"}),
    *((name, (Z, np.roll(Z, 1)), {}) for name in ("strong_product", "strong_quotient")),
    ("undefined", (SQUARE, np.zeros(SQUARE.shape, bool)), {"message": "it is NaN"}),
    *(("convolve", (Z, GRID[0]), {"mode": mode}) for mode in ("full", "same", "valid")),
    *(("convolve", (REAL[0], Z), {"mode": mode}) for mode in ("full", "same", "valid")),
    *((name, (SQUARE,), {}) for name in ("inv", "det", "eigvals", "svdvals")),
    ("cholesky", (SQUARE + 4 * np.eye(3),), {}),
    *(("slogdet", (x,), {"part": p}) for x in (SQUARE, SQUARE[0]) for p in ("sign", "logabsdet")),
    *(("pinv", (x,), {}) for x in (SQUARE, SQUARE[..., :2], SQUARE[:, :2])),
    *(("lstsq", (SQUARE[0, :, :2], y), {}) for y in (drawn(3), drawn(3, 2), REAL[:3, 0])),
    ("lstsq", (SQUARE[0, :2], drawn(2)), {}),
    ("lstsq", (SQUARE[0, :, :2].real, drawn(3)), {}),
    *(("eigvalsh", (SQUARE,), {"lower": lower}) for lower in (True, False)),
    *(("eigh", (SQUARE,), {"part": "eigenvalues", "lower": lower}) for lower in (True, False)),
    ("eig", (SQUARE,), {"part": "eigenvalues"}),
    *(("svd", (x,), {"part": "S"}) for x in (SQUARE, SQUARE[..., :2], SQUARE[:, :2])),
    *(("solve", (SQUARE, y), {}) for y in (drawn(3), drawn(2, 3, 2), REAL[:3, 0])),
    *(("solve", (SQUARE.real, y), {}) for y in (drawn(3), drawn(2, 3, 2))),
    *((f"special.{name}", (Z,), {}) for name in ("erf", "erfc", "loggamma")),
    *(("special.wofz", (z,), {}) for z in (Z, 40 * Z[np.imag(Z) > 0], 4 * np.conjugate(Z))),
    *(("special.lambertw", (Z, k), {}) for k in (0, -1, 2)),
    *((f"linalg.{name}", (SQUARE[0],), {}) for name in ("expm", "sqrtm", "logm")),
    ("linalg.solve_sylvester", (SQUARE[0], SQUARE[1, :2, :2], SQUARE[1, :, :2]), {}),
    *(("linalg.solve_banded", (GRID[:3], y), {"lower": 1, "upper": 1}) for y in (drawn(5), GRID.T)),
    *(
        (name, (x,), {"n": n, "axis": 1, "norm": norm})
        for name in ("fft", "ifft", "rfft", "irfft")
        for x in (GRID, REAL)
        if name != "rfft" or x is REAL
        for n in (1, 2, 3, 4, 5, 6, 7)
        for norm in NORMS
    ),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(HOLDS_FOR_COMPLEX))
def test_rule(name: str) -> None:
    tried = [case for case in CASES if case[0] == name]
    if "." in name:
        pytest.importorskip("scipy")
    assert tried, f"{name} is said to hold for complex operands, and is not tried"
    for _, inputs, params in tried:
        facts = {key: params[key] for key in params if key == "static"}
        check_rule(name, inputs, {k: v for k, v in params.items() if k != "static"}, **facts)


VECTORS: list[tuple[str, Any, dict[str, Any], int]] = [
    ("eigh", SQUARE, {"part": "eigenvectors", "lower": True}, -2),
    ("eigh", SQUARE, {"part": "eigenvectors", "lower": False}, -2),
    ("eig", SQUARE, {"part": "eigenvectors"}, -2),
    *(("svd", x, {"part": "U"}, -2) for x in (SQUARE, SQUARE[..., :2], SQUARE[:, :2])),
    *(("svd", x, {"part": "Vh"}, -1) for x in (SQUARE, SQUARE[..., :2], SQUARE[:, :2])),
]


@pytest.mark.parametrize(("name", "x", "params", "axis"), VECTORS)
def test_vectors(name: str, x: Any, params: dict[str, Any], axis: int) -> None:
    """Eigenvectors and singular vectors v are determined up to a phase: of the sum of quadratic
    forms v* W v, with a Hermitian W for each, which do not depend on it."""
    out = np.moveaxis(primal(name, (x,), params), axis, -1)
    forms = np.random.default_rng(2).normal(size=(*out.shape, out.shape[-1], 2)) @ [1, 1j]
    forms = forms + np.conjugate(np.swapaxes(forms, -1, -2))

    def total(x: Any) -> Any:
        v = np.moveaxis(primal(name, (x,), params), axis, -1)
        return np.real(np.sum(v.conj() * np.einsum("...ij,...j->...i", forms, v)))

    d_out = 2 * np.conjugate(np.einsum("...ij,...j->...i", forms, out))
    (d_x,) = cotangents(name, (x,), np.moveaxis(d_out, -1, axis), params)
    np.testing.assert_allclose(d_x, differences(total, x), rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(HOLDS_FOR_COMPLEX))
def test_which_are_holomorphic(name: str) -> None:
    """A change of a complex operand by ``1j * h`` changes the result by ``1j`` times what ``h``
    does, in each case of those that are, and not in all of the others."""
    if "." in name:
        pytest.importorskip("scipy")
    cases = [(i, p) for n, i, p in CASES if n == name]
    cases += [((x,), p) for n, x, p, _ in VECTORS if n == name]
    found = [
        _turns(name, inputs, params, at)
        for inputs, params in cases
        for at, operand in enumerate(inputs)
        if np.iscomplexobj(operand)
    ]
    assert all(found) if name not in NOT_HOLOMORPHIC else not all(found)


def _turns(name: str, inputs: tuple[Any, ...], params: dict[str, Any], at: int) -> bool:
    rng, step = np.random.default_rng(1), 1e-6
    h = step * rng.normal(size=(*np.shape(inputs[at]), 2)) @ [1, 1j]
    facts = {key: value for key, value in params.items() if key != "static"}

    def moved(by: Any) -> Any:
        dtype = np.asarray(inputs[at]).dtype
        other = (inputs[at] + by).astype(dtype)
        return primal(name, (*inputs[:at], other, *inputs[at + 1 :]), facts)

    one, turned = (moved(by) - moved(-by) for by in (h, 1j * h))
    return bool(np.allclose(turned / step, 1j * one / step, rtol=1e-5, atol=1e-6))


def test_hermitian_matrices_have_a_real_diagonal() -> None:
    """LAPACK does not read its imaginary part, nor the other triangle."""
    for lower in (True, False):
        (d_x,) = cotangents("eigvalsh", (SQUARE,), np.ones((2, 3)) + [0, 1, 2], {"lower": lower})
        np.testing.assert_array_equal(np.diagonal(d_x, 0, 1, 2).imag, 0)
        np.testing.assert_array_equal((np.triu if lower else np.tril)(d_x, 1 if lower else -1), 0)


def test_eigenvalues_in_any_order() -> None:
    """Each takes its own cotangent, whatever order `eig` has them in."""
    out, d_out, order = np.linalg.eigvals(SQUARE), drawn(2, 3), [2, 0, 1]
    expected = DERIVATIVES["eigvals"](out, SQUARE, d_out)
    found = DERIVATIVES["eigvals"](out[:, order], SQUARE, d_out[:, order])
    np.testing.assert_array_equal(found, expected)
    same = DERIVATIVES["eigvals"](np.ones(3, complex), np.eye(3, dtype=complex), np.ones(3) * 1j)
    np.testing.assert_array_equal(same, 1j * np.eye(3))


def test_they_are_rules() -> None:
    assert set(DERIVATIVES) >= HOLDS_FOR_COMPLEX


def test_at_zero() -> None:
    """`absolute` and `complex_sign` have no derivative at 0: it is taken for 0."""
    zero = np.zeros(2, complex)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(DERIVATIVES["absolute"](np.abs(zero), zero), zero)
        found = DERIVATIVES["complex_sign"](zero, zero, np.ones(2))
        np.testing.assert_array_equal(found, zero)
        for y in (np.array([2.0, 2 + 1j]), np.array([0.0, 0.0])):  # its logarithm is not taken
            for partial in DERIVATIVES["power"](zero**y, zero, y):
                assert np.all(np.isfinite(partial))


def test_a_rule_of_real_numbers_is_found() -> None:
    """`np.sign(x)`, the derivative of `np.abs(x)`, is the conjugate of that of complex numbers."""

    def absolute(out: Any, x: Any) -> Any:
        return np.sign(x)

    absolute.__dict__["mark"] = "partials"
    with pytest.raises(AssertionError, match="absolute"):
        check_rule("absolute", (Z,), rule=absolute)
