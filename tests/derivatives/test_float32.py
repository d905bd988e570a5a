"""float32 in, float32 out: no rule widens its operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stcompile.codegen_templates.derivatives import DERIVATIVES
from stcompile.wengert.primitives.spectra import HANDED_ON
from tests.derivatives.numeric import cotangents, primal
from tests.derivatives.test_elementwise import BINARY, DOMAINS, UNARY
from tests.derivatives.test_indexing import INDICES, PARTS, WINDOWS, counters
from tests.gradients.functions.elementwise import weighted
from tests.programs import OF_SCIPY

F32 = np.float32
FLOAT64 = {"interp", "float_power"}  # these are float64 whatever they are given
X = np.linspace(-0.5, 0.5, 20, dtype=F32).reshape(4, 5)
FOUR = np.diag(np.array([2, 4, 7, 11], F32))
Z64 = X[:, :4] * np.complex64(1 + 1j) + FOUR
ALL: dict[str, Any] = {"axis": (0,), "keepdims": False}
FLOAT = np.dtype(F32)
SLICE, COUNTED = PARTS[1], PARTS[3]

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((name, (X - X + F32(sum(DOMAINS.get(name, (0.2, 1))) / 2),), {}) for name in UNARY),
    *((name, (X + 1, X[0] + 2), {}) for name in sorted({*BINARY} - FLOAT64)),
    *((name, (X + 1, X[0] + 2), {}) for name in ("floor_divide", "remainder")),
    *((name, (X, X[0]), {}) for name in ("maximum", "minimum", "fmax", "fmin")),
    *((name, (X, X[0]), {}) for name in ("copysign", "heaviside", "fmod", "nextafter")),
    ("first_maximum", (X, X[0]), {}),
    *((name, (X + 1, X[0] + 2), {}) for name in ("strong_product", "strong_quotient")),
    ("external", (X, X[0]), {"function": weighted, "spelling": "weigh"}),
    *((name, (X, 0.5), {}) for name in ("add", "multiply", "divide", "maximum", "hypot")),
    *(("power", (X + 1, y), {"static": (False, True)}) for y in (0, 1, 2, 3, 0.5, 2.5)),
    *(("power", (X + 1, y), {}) for y in (0, 2, 0.5)),
    ("power", (2.0, X), {"static": (True, False)}),
    ("clip", (X, -0.1, 0.2), {}),
    ("where", (X > 0, X, 0.0), {}),
    *((name, (X,), ALL) for name in ("sum", "prod", "max", "min", "mean")),
    *((name, (X,), {**ALL, "ddof": 1}) for name in ("var", "std")),
    ("cumsum", (X,), {"axis": 1}),
    ("cumprod", (X,), {"axis": 1}),
    ("sort", (X,), {"axis": 1}),
    ("einsum", (X, X, X[0]), {"subscripts": "ij,kj,l->il"}),
    ("einsum", (X[:, :4],), {"subscripts": "ii->i"}),
    *((name, (X[:, :4] + FOUR,), {}) for name in ("inv", "det", "cholesky", "pinv", "svdvals")),
    *((name, (X[:, :4] + FOUR, X[0, :4]), {}) for name in ("solve", "lstsq")),
    *(("slogdet", (X[:, :4] + FOUR,), {"part": part}) for part in ("sign", "logabsdet")),
    *(("svd", (X[:, :4] + FOUR,), {"part": part}) for part in ("U", "S", "Vh")),
    *(("svd", (Z64,), {"part": part}) for part in ("U", "S", "Vh")),
    *(("eig", (Z64,), {"part": part}) for part in ("eigenvalues", "eigenvectors")),
    *(("eigh", (Z64,), {"part": p, "lower": True}) for p in ("eigenvalues", "eigenvectors")),
    *((name, (Z64,), {}) for name in ("eigvals", "svdvals", "pinv", "cholesky")),
    *(("slogdet", (Z64,), {"part": part}) for part in ("sign", "logabsdet")),
    *(("qr", (X[:, :4] + FOUR,), {"part": part}) for part in ("Q", "R")),
    *(
        ("eigh", (X[:, :4] + FOUR,), {"part": part, "lower": True})
        for part in ("eigenvalues", "eigenvectors")
    ),
    *(("convolve", (X[0], X[1, :n]), {"mode": "same"}) for n in (2, 3)),
    ("frexp", (X + 1,), {"part": "mantissa"}),
    ("eigvalsh", (X[:, :4] + FOUR,), {"lower": False}),
    ("partition", (X,), {"axis": 0, "kth": 1}),
    ("diagonal", (X,), {"offset": 1, "axis1": 0, "axis2": 1}),
    ("ldexp", (X, 2), {}),
    ("cast", (X,), {"dtype": FLOAT}),
    *((name, (X[0, 0],), {}) for name in ("to_scalar", "asarray")),
    ("copy", (X,), {}),
    ("undefined", (X, X > 9), {"message": "it is NaN"}),
    ("reshape", (X,), {"shape": (20,)}),
    ("as_shape", (X,), {"shape": X.shape}),
    ("transpose", (X,), {"axes": (1, 0)}),
    ("expand_dims", (X,), {"axis": (0,)}),
    ("squeeze", (X[:1],), {"axis": (0,)}),
    ("broadcast_to", (X,), {"shape": (2, 4, 5)}),
    *((name, (X, X), {"axis": 1}) for name in ("concatenate", "stack")),
    ("roll", (X,), {"shift": (1,), "axis": (0,)}),
    ("pad", (X,), {"pad_width": ((1, 1), (0, 0)), "mode": "constant", "value": 0}),
    ("full", (F32(2),), {"shape": (3,), "dtype": FLOAT}),
    ("array", (F32(2), F32(3)), {"shape": (2,), "dtype": FLOAT}),
    ("slice", (X,), SLICE),
    ("slice", (X, *counters(COUNTED)), COUNTED),
    ("windows", (X,), WINDOWS[0]),
    ("update", (X, F32(2)), SLICE),
    ("index", (X, *INDICES[0][0]), {"at": INDICES[0][1]}),
    ("index_update", (X, X[:, :], *INDICES[0][0]), {"at": INDICES[0][1]}),
    ("index", (X, X > 0), {"at": (("mask", int((X > 0).sum()), X.ndim),)}),
    ("index_update", (X, F32(2), X > 0), {"at": (("mask", None, X.ndim),)}),
    ("accumulate", (X, X), {"op": "add"}),
    ("accumulate", (X, X[0, :2]), {"op": "slice", **SLICE}),
    *((name, (X + 1j * X,), {}) for name in ("real", "imag", "conjugate", "complex_sign")),
    ("update_part", (X + 1j * X, X), {"part": "imag"}),
    *(
        (name, (X[:2],), {"n": n, "axis": 1, "norm": "ortho"})
        for name in ("fft", "ifft", "rfft", "irfft")
        for n in (4, 7)
    ),
    (
        "contract",
        (X, X),
        {"batch": (), "contracted": ((0, 0),), "order": (), "spelling": ""},
    ),
]


@pytest.mark.parametrize(("name", "inputs", "params"), CASES)
def test_float32(name: str, inputs: Any, params: Any) -> None:
    facts = {key: params[key] for key in params if key == "static"}
    params = {key: params[key] for key in params if key != "static"}
    out = primal(name, inputs, params)
    d_out = np.ones_like(out) if isinstance(out, np.ndarray) else F32(1)
    for x, d_x in zip(inputs, cotangents(name, inputs, d_out, params, **facts), strict=True):
        if isinstance(x, np.ndarray | np.generic) and x.dtype == F32:
            assert d_x.dtype in (F32, np.complex64)
        if isinstance(x, np.ndarray | np.generic) and x.dtype == np.complex64:
            assert d_x.dtype in (F32, np.complex64)


def test_every_rule_is_tried() -> None:
    # A Python number has no float32, and these draws are float64 (tests/frontend/test_random.py).
    others = {"to_python", "normal", "uniform", "exponential", *HANDED_ON}
    others |= FLOAT64 | {"math.hypot", "math.fsum"}
    others |= {name for name in DERIVATIVES if name.startswith(OF_SCIPY)}
    assert {name for name, _, _ in CASES} == set(DERIVATIVES) - others
