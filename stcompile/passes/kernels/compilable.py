"""Programs that Numba compiles: equations of numbers and of elements of arrays, in loops and
branches.

Compiled, they compute the same as with NumPy and Python, to the rounding of the elementary
functions. Operations that Numba would compute differently are not taken: arithmetic of small
integers and of booleans, Python's integers where they could grow beyond 64 bits, most functions of
complex numbers, and everything with effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from stcompile.base.thresholds import LARGE_MATRIX
from stcompile.codegen_templates.loops import MATRICES, PLAIN, WRITTEN
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.parts import READS, WRITES
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.control import Ports
from stcompile.wengert.primitives.creation import FRESH
from stcompile.wengert.types import Type

DTYPES = frozenset(
    map(np.dtype, ("float64", "float32", "int64", "bool", "complex128", "complex64"))
)
INDICES = frozenset(map(np.dtype, ("int32", "int16", "int8", "uint8", "uint16", "uint32")))
PARTS = READS | WRITES
BOOLEAN = frozenset(
    {"logical_not", "logical_and", "logical_or", "logical_xor", "equal", "not_equal"}
    | {"select", "where", "not", "and", "or", "cast", "to_python", "to_scalar"}
    | {"bitwise_and", "bitwise_or", "bitwise_xor", "invert"}
)
COMPLEX = frozenset(
    {"negative", "add", "subtract", "multiply", "divide", "power", "square", "reciprocal", "sqrt"}
    | {"absolute", "conjugate", "exp", "log", "log1p", "sin", "cos", "sinh", "strong_product"}
    | {"strong_quotient", "cosh", "tanh", "equal", "not_equal"}
    | {"isnan", "isinf", "isfinite", "real", "imag"}
    | {"select", "where", "cast", "to_python", "to_scalar", "undef"}
)
OF_PYTHON = frozenset({"absolute", "power"})  # they raise where NumPy's go on
POINTWISE = frozenset({"cast", "real", "imag"})  # besides the elementwise ones
MOST = 100  # an integer up to which NumPy multiplies complex numbers for their powers
LARGEST = 2**63
REAL, ANY = frozenset({np.dtype(float)}), frozenset({np.dtype(float), np.dtype(complex)})
ALGEBRA = {"solve": ANY, "inv": ANY, "det": ANY, "slogdet": REAL, "cholesky": REAL}
ALGEBRA |= {f"lu_{name}": dtypes for name, dtypes in ALGEBRA.items()} | {"lu_factor": ANY}


def is_compilable(program: Program) -> bool:
    """True if Numba compiles all of a program's equations."""
    return all(map(is_taken, program.equations)) and all(map(_is_known, program.outputs))


def is_taken(equation: Equation) -> bool:
    """True if Numba compiles an equation, and the programs inside it."""
    if set(equation.effects) - {"bind"} or equation.location.errstate:
        return False
    if not all(map(_is_known, (*equation.inputs, *equation.outputs))):
        return False
    primitive = equation.primitive
    if primitive == "named":
        return True
    if primitive == "loop":
        ports = Ports.of(equation)
        tested = ports.condition is None or is_compilable(ports.condition)
        return tested and is_compilable(ports.body)
    if primitive == "cond":
        return all(is_compilable(equation.params[arm]) for arm in ("then", "otherwise"))
    if primitive in FRESH:
        return not (primitive == "full" and equation.inputs[0].type.dims)
    if primitive in PARTS:
        return _is_element(equation)
    if primitive in MATRICES:
        return _is_small_algebra(equation)
    return _is_number(equation)


def _is_small_algebra(equation: Equation) -> bool:
    """True for linear algebra on matrices that are too small for LAPACK to be much quicker."""
    matrix, *right = (atom.type for atom in equation.inputs)
    dtypes = {matrix.dtype, *(t.dtype for t in right)}
    if matrix.ndim != 2 or len(dtypes) > 1 or any(t.ndim > 2 for t in right):
        return False
    if not dtypes <= ALGEBRA[equation.primitive] or any(t.varies or t.is_named for t in right):
        return False
    if matrix.is_named or not matrix.size:
        return False
    rows = int(matrix.dims[1])
    columns = rows if equation.primitive in ("inv", "lu_inv") else 1
    columns = right[0].size // rows if right else columns
    return rows**3 / 3 + rows**2 * columns <= LARGE_MATRIX


def _is_known(atom: Atom) -> bool:
    """True for a number or an array of a dtype that Numba takes."""
    if isinstance(atom, Constant) and isinstance(atom.value, int):
        return -LARGEST <= atom.value < LARGEST
    t = atom.type
    is_index = t.dtype in INDICES and t.kind == "array"
    return t.kind in ("python", "scalar", "array") and (t.dtype in DTYPES or is_index)


def _is_element(equation: Equation) -> bool:
    """True if an equation reads, writes or adds to a single element of an array."""
    primitive, params = equation.primitive, equation.params
    reads = primitive in READS
    array, *rest = equation.inputs
    numbers = [*rest, *(equation.outputs if reads else ())]
    if array.type.kind != "array" or any(atom.type.kind == "array" for atom in numbers):
        return False
    op = {"update": "slice", "index_update": "index"}.get(primitive, primitive)
    op = params["op"] if primitive == "accumulate" else op
    if op == "slice":
        return len(params["drop"]) == array.type.ndim
    at = params.get("at", ())
    return op in ("index", "distinct") and at == ("index",) * array.type.ndim


def _is_number(equation: Equation) -> bool:
    """True for a function of numbers that Numba computes as NumPy and Python do."""
    primitive, inputs = equation.primitive, equation.inputs
    if primitive not in PLAIN and primitive not in WRITTEN and primitive != "where":
        return False
    atoms: Iterable[Atom] = (*inputs, *equation.outputs)
    if any(atom.type.kind == "array" for atom in atoms):
        return False
    dtypes = {atom.type.dtype for atom in inputs}
    if any(atom.type.dtype.kind == "c" for atom in atoms):
        return _is_complex(equation)
    if primitive == "power" and not _is_power(inputs):
        return False
    if primitive == "math.hypot" and len(inputs) != 2:
        return False
    if primitive == "math.round" and equation.params["ndigits"] is not None:
        return False  # Python rounds the decimal digits of a number
    if primitive == "fmod" and all(dtype.kind != "f" for dtype in dtypes):
        return False
    is_boolean = bool(dtypes) and dtypes <= {np.dtype(bool)}
    return primitive in BOOLEAN or not is_boolean


def _is_complex(equation: Equation) -> bool:
    """True for a function of complex numbers that Numba computes as NumPy and Python do."""
    primitive, inputs = equation.primitive, equation.inputs
    if primitive in ("select", "where", "cast", "to_python", "to_scalar", "undef"):
        return True
    if primitive not in COMPLEX or any(atom.type.dtype.kind not in "cfi" for atom in inputs):
        return False
    if primitive in OF_PYTHON and any(
        atom.type.kind == "python" and atom.type.dtype.kind == "c" for atom in inputs
    ):
        return False
    if primitive == "power":
        base, exponent = inputs
        if not isinstance(exponent, Constant) or not isinstance(exponent.value, int):
            return False
        if base.type.dtype == np.complex64:  # NumPy's overflow on the way
            return exponent.value == 2
        return abs(exponent.value) < MOST and base.type.dtype.kind == "c"
    return True


def _is_power(inputs: Sequence[Atom]) -> bool:
    """True for powers of floats, and for powers of integers that are integers."""
    if any(atom.type.dtype.kind == "f" for atom in inputs):
        return True
    return isinstance(inputs[1], Constant) and bool(inputs[1].value >= 0)


def is_elementwise_taken(equation: Equation) -> bool:
    """True for an equation of arrays that Numba compiles element by element."""
    if equation.effects or equation.location.errstate:
        return False
    if not all(map(_is_known, (*equation.inputs, *equation.outputs))):
        return False
    primitive = equation.primitive
    if PRIMITIVES[primitive].elementwise or primitive in POINTWISE:
        return _is_number(replace(equation, inputs=_numbers(equation.inputs), outputs=()))
    return True


def _numbers(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    return tuple(
        Variable("", Type.scalar(atom.type.dtype)) if atom.type.kind == "array" else atom
        for atom in atoms
    )
