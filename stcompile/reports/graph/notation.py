"""Equations as mathematics writes them: ``x · y`` for ``multiply(x, y)``, ``xᵀ @ y`` for a
contraction.

>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: f64[3,2], y: f64[3]) {
...   v1: f64[2] = contract(x, y; batch=(), contracted=((0, 0),), order=(), spelling='')
...   v2: f64[2] = absolute(v1)
...   v3: f64 = sum(v2; axis=(0,), keepdims=False)
...   v4: f64 = multiply(v3, -0.5)
...   return v4
... }''')
>>> for equation in program.equations:
...     print(symbol(equation), "in", right_side(equation))
@ in xᵀ @ y
|| in |v1|
Σ in Σ(v2)
· in v3 · (-0.5)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from stcompile.wengert.ir import Atom, Constant, Equation, Params
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.types import PYTHON_TYPES, short_dtype

# Text around the operands. A primitive in neither table is written as a function call.
PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "add": "{} + {}",
        "subtract": "{} − {}",
        "multiply": "{} · {}",
        "divide": "{} / {}",
        "floor_divide": "⌊{} / {}⌋",
        "remainder": "{} mod {}",
        "power": "{}^{}",
        "math.pow": "{}^{}",
        "negative": "−{}",
        "absolute": "|{}|",
        "sqrt": "√{}",
        "cbrt": "∛{}",
        "square": "{}²",
        "reciprocal": "1 / {}",
        "floor": "⌊{}⌋",
        "ceil": "⌈{}⌉",
        "equal": "{} == {}",
        "not_equal": "{} ≠ {}",
        "less": "{} < {}",
        "less_equal": "{} ≤ {}",
        "greater": "{} > {}",
        "greater_equal": "{} ≥ {}",
        "logical_and": "{} ∧ {}",
        "logical_or": "{} ∨ {}",
        "logical_xor": "{} ⊻ {}",
        "logical_not": "¬{}",
        "not": "¬{}",
        "bitwise_and": "{} & {}",
        "bitwise_or": "{} | {}",
        "bitwise_xor": "{} ⊻ {}",
        "invert": "~{}",
        "store": "{} ← {}",
    }
)
FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "log": "ln",
        "log2": "log₂",
        "log10": "log₁₀",
        "maximum": "max",
        "minimum": "min",
        "sign": "sgn",
        "sum": "Σ",
        "prod": "Π",
        "broadcast_to": "broadcast",
        "cond": "if",
    }
)
JOINED: Mapping[str, str] = MappingProxyType({"and": "∧", "or": "∨"})  # of any number of operands
TIMES, OUTER, TRANSPOSED, PART, WRITE = "@", "⊗", "ᵀ", "[]", "[] ←"


def symbol(equation: Equation) -> str:
    """The sign or the name of an equation's operation, without its operands."""
    name = PRIMITIVES[equation.primitive].rule
    params = equation.params
    if name in PATTERNS:
        return " ".join(PATTERNS[name].replace("{}", "").split())
    if name in JOINED:
        return JOINED[name]
    match name:
        case "contract":
            return TIMES if params["contracted"] else OUTER
        case "transpose":
            return TRANSPOSED
        case "slice" | "index":
            return PART
        case "update" | "index_update":
            return WRITE
        case "accumulate":
            return "[] +" if params["op"] in ("slice", "index", "distinct") else "+"
        case "loop":
            return "while" if params.get("condition") is not None else "for"
        case "cast" | "to_python":
            return _conversion(name, params)
        case "call":
            return str(params["name"] or "call")
    return FUNCTIONS.get(name, name)


def right_side(equation: Equation) -> str:
    """The right side of an equation in mathematical notation, with its operands."""
    name = PRIMITIVES[equation.primitive].rule
    operands = [operand(atom) for atom in equation.inputs]
    if name in PATTERNS and PATTERNS[name].count("{}") == len(operands):
        return PATTERNS[name].format(*map(_grouped, operands))
    if name in JOINED:
        return f" {JOINED[name]} ".join(operands)
    special = _SPECIAL.get(name)
    written = special(equation, operands) if special is not None else None
    return written or f"{symbol(equation)}({', '.join(operands)})"


def operand(atom: Atom) -> str:
    """A variable by its name; a number with five significant digits."""
    if not isinstance(atom, Constant):
        return atom.name
    value = atom.value.item() if isinstance(atom.value, np.generic) else atom.value
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _grouped(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _conversion(name: str, params: Params) -> str:
    dtype = np.dtype(params["dtype"])
    return PYTHON_TYPES[dtype].__name__ if name == "to_python" else short_dtype(dtype)


# --- primitives with a notation of their own: None where it does not fit -------------------------


def _reduced(equation: Equation, operands: Sequence[str]) -> str | None:
    axis = equation.params["axis"]
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = equation.inputs[0].type.ndim
    if axis is None or len(axes) == ndim:
        return None
    shown = axes[0] if len(axes) == 1 else axes
    return f"{symbol(equation)}({operands[0]}, axis={shown})"


def _contracted(equation: Equation, operands: Sequence[str]) -> str | None:
    """``xᵀ @ y`` where a product of matrices and vectors can be written so."""
    x, y = operands[-2:]
    view = Contraction.of(equation)
    if view.spelling in ("matmul", "dot") and not view.order:
        return f"{x} {TIMES} {y}"
    if view.batch or max(view.ndims) > 2 or len(view.contracted) > 1:
        return f"{symbol(equation)}({x}, {y})"
    if not view.contracted:
        product = f"{x} {OUTER} {y}"
    else:
        left = x + TRANSPOSED * (view.ndims[0] == 2 and view.summed(0) == (0,))
        right = y + TRANSPOSED * (view.summed(1) == (1,))
        product = f"{left} {TIMES} {right}"
    if view.order not in ((), (0,), (0, 1)):
        return f"({product}){TRANSPOSED}"
    return product


def _transposed(equation: Equation, operands: Sequence[str]) -> str | None:
    axes = equation.params["axes"]
    if axes == tuple(reversed(range(len(axes)))):
        return operands[0] + TRANSPOSED
    return f"transpose({operands[0]}, {axes})"


def _slice(equation: Equation, operands: Sequence[str]) -> str:
    return operands[0] + _subscript(equation.params, equation.inputs[0], operands[1:])


def _update(equation: Equation, operands: Sequence[str]) -> str:
    part = _subscript(equation.params, equation.inputs[0], operands[2:])
    return f"{operands[0]}{part} ← {operands[1]}"


def _index(equation: Equation, operands: Sequence[str]) -> str:
    return f"{operands[0]}[{_positions(equation.params, operands[1:])}]"


def _index_update(equation: Equation, operands: Sequence[str]) -> str:
    return f"{operands[0]}[{_positions(equation.params, operands[2:])}] ← {operands[1]}"


def _accumulated(equation: Equation, operands: Sequence[str]) -> str | None:
    total, *rest = operands
    match equation.params["op"]:
        case "slice":
            part = _subscript(equation.params, equation.inputs[0], rest[1:])
            return f"{total}{part} + {rest[0]}"
        case "index":
            return f"{total}[{_positions(equation.params, rest[1:])}] + {rest[0]}"
        case "contract":
            return f"{total} + {_contracted(equation, operands)}"
    return f"{total} + {rest[0]}"


def _asserted(equation: Equation, operands: Sequence[str]) -> str:
    return f"assert {operands[0]}"


def _raised(equation: Equation, operands: Sequence[str]) -> str:
    return f"raise {equation.params['error']}"


def _subscript(params: Params, array: Atom, counters: Sequence[str]) -> str:
    """``[0, 2:4]`` for the axes of a slice."""
    shown = []
    for axis, dim in enumerate(array.type.dims):
        (first, *factors), length = params["start"][axis], params["length"][axis]
        step = params["step"][axis]
        terms = [f"{k} {c}" if k != 1 else c for k, c in zip(factors, counters, strict=False) if k]
        start = " + ".join([*terms, *([str(first)] if first != 0 or not terms else [])])
        if axis in params["drop"]:
            shown.append(start)
        elif length == dim and step == 1 and not terms:
            shown.append(":")
        elif terms or step < 0:
            shown.append(f"{start}: {length} by {step}" if step != 1 else f"{start}: {length}")
        else:
            by = f":{step}" if step != 1 else ""
            shown.append(f"{start}:{first + (length - 1) * step + 1}{by}")
    while len(shown) > 1 and shown[-1] == ":":
        shown.pop()
    return f"[{', '.join(shown)}]"


def _positions(params: Params, indices: Sequence[str]) -> str:
    """The positions of an index: operands by name, ``:`` for basic slices."""
    rest = iter(indices)
    shown = {"new": "None"}
    return ", ".join(
        next(rest)
        if at == "index" or at[0] == "mask"
        else shown.get(at, ":")
        if isinstance(at, str)
        else ":"
        for at in params["at"]
    )


_Special = Callable[[Equation, Sequence[str]], Any]
_SPECIAL: Mapping[str, _Special] = MappingProxyType(
    {
        **dict.fromkeys(
            ("sum", "prod", "max", "min", "mean", "any", "all", "var", "std"), _reduced
        ),
        **dict.fromkeys(("argmax", "argmin"), _reduced),
        "contract": _contracted,
        "transpose": _transposed,
        "slice": _slice,
        "update": _update,
        "index": _index,
        "index_update": _index_update,
        "accumulate": _accumulated,
        "assert": _asserted,
        "raise": _raised,
    }
)
