"""Bounds on what values may be: finite, finite where the inputs are, or infinite and NaN as well;
and whether they are positive.

A gradient multiplies cotangents by such values. Where a cotangent is zero because something was
not chosen, the product is zero only if the factor is finite (`stcompile.ad.unchosen`).

>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''program f(x: f64[3]) {
...   v1: f64[3] = multiply(x, x)
...   v2: f64[3] = add(v1, 1.0)
...   v3: f64[3] = divide(x, v2)
...   v4: f64[3] = divide(x, v1)
...   return v3, v4
... }''')
>>> reach = Reaches.of(program)
>>> [(v.name, reach[v].limit.name, reach[v].sign.name) for v in program.outputs]
[('v3', 'PLAIN', 'ANY'), ('v4', 'WILD', 'ANY')]
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.control import Ports


class Limit(enum.IntEnum):
    """Limits of values."""

    BOUNDED = 0
    """Finite, whatever the inputs are."""
    PLAIN = 1
    """Finite if the inputs of the program are."""
    LARGE = 2
    """Infinite if it overflows, as exponentials do."""
    WILD = 3
    """Infinite or NaN, it may be, although the inputs are finite and no number is large."""


class Sign(enum.IntEnum):
    ANY = 0
    NOT_NEGATIVE = 1
    EXPONENTIAL = 2
    """Positive, if it does not underflow."""
    POSITIVE = 3


@dataclass(frozen=True)
class Reach:
    limit: Limit
    sign: Sign = Sign.ANY

    def or_of(self, other: Reach) -> Reach:
        """The reach of a value that is one of two."""
        return Reach(max(self.limit, other.limit), min(self.sign, other.sign))


INPUT = Reach(Limit.PLAIN)
WILD = Reach(Limit.WILD)

# Finite for finite operands: what is added, multiplied, chosen, moved, and functions without poles
# that do not grow beyond all numbers.
_FINITE = frozenset(
    {
        *("add", "subtract", "multiply", "negative", "conjugate", "square", "absolute", "sign"),
        *("maximum", "minimum", "first_maximum", "fmax", "fmin", "clip", "where", "select"),
        *("sin", "cos", "tanh", "arctan", "arctan2", "arcsinh", "sinc", "hypot", "logaddexp"),
        *("math.sin", "math.cos", "math.tanh", "math.atan", "math.atan2", "math.fabs"),
        *("math.erf", "math.erfc", "math.hypot", "floor", "ceil", "rint", "trunc", "copysign"),
        *("special.expit", "special.log_expit", "special.erf", "special.erfc", "special.ndtr"),
        *("sum", "mean", "max", "min", "var", "cumsum", "add_up"),
        *("concatenate", "stack", "roll", "pad", "full", "eye", "constant", "array", "update_part"),
        *("index", "index_update", "update", "accumulate", "copy", "asarray", "cast", "real"),
        *("imag", "to_python", "to_scalar", "sort", "undef", "fft", "ifft", "rfft", "irfft"),
        *(name for name, primitive in PRIMITIVES.items() if primitive.view),
    }
)
_GROWING = frozenset({"exp", "exp2", "expm1", "sinh", "cosh", "math.exp", "math.expm1"})
_GROWING |= {"math.sinh", "math.cosh", "prod", "cumprod"}
# They keep the sign of what they move, choose from or add.
_KEEP_SIGN = frozenset(
    {
        *("copy", "asarray", "cast", "to_python", "to_scalar", "index", "concatenate", "stack"),
        *("roll", "sum", "mean", "max", "min", "add_up", "sort", "array", "sqrt", "math.sqrt"),
        *("math.fabs", "absolute", "full", "minimum", "fmin"),
        *(name for name, primitive in PRIMITIVES.items() if primitive.view),
    }
)
_SIGNS = {
    **dict.fromkeys(("exp", "exp2", "math.exp", "special.expit"), Sign.EXPONENTIAL),
    **dict.fromkeys(("cosh", "math.cosh"), Sign.POSITIVE),
    **dict.fromkeys(("var", "std", "hypot", "absolute", "math.fabs"), Sign.NOT_NEGATIVE),
    **dict.fromkeys(("sqrt", "math.sqrt"), Sign.NOT_NEGATIVE),
}


class Reaches:
    """The reach of variables, given ``known`` ones. ``equations`` may grow: they are read when
    something is asked."""

    def __init__(self, equations: Sequence[Equation], known: Mapping[Variable, Reach]) -> None:
        self.equations = equations
        self.known = dict(known)
        self._read = 0
        self._makers: dict[Variable, Equation] = {}
        self._tops: dict[Variable, tuple[int, ...]] = {}

    @staticmethod
    def of(program: Program, operands: Sequence[Reach] = ()) -> Reaches:
        return Reaches(program.equations, dict(zip(program.inputs, operands, strict=False)))

    def __getitem__(self, atom: Atom) -> Reach:
        while self._read < len(self.equations):
            equation = self.equations[self._read]
            self._read += 1
            self._makers.update(dict.fromkeys(equation.outputs, equation))
            self.known.update(zip(equation.outputs, self._outputs(equation), strict=True))
        return self._of_atom(atom)

    def _of_atom(self, atom: Atom) -> Reach:
        if isinstance(atom, Constant):
            return _of_number(atom)
        if not atom.type.inexact:
            return Reach(Limit.BOUNDED)
        return self.known.get(atom, INPUT)

    def _outputs(self, equation: Equation) -> Iterable[Reach]:
        if equation.primitive == "cond":
            arms = (equation.params["then"], equation.params["otherwise"])
            operands = [self._of_atom(atom) for atom in equation.inputs[1:]]
            pairs = zip(*(through(arm, operands) for arm in arms), strict=True)
            return [one.or_of(other) for one, other in pairs]
        if equation.primitive == "loop":
            return self._loop(Ports.of(equation))
        if equation.primitive == "call":
            return through(equation.params["program"], [self._of_atom(a) for a in equation.inputs])
        return [self._of(equation)] * len(equation.outputs) if equation.outputs else []

    def _loop(self, ports: Ports) -> list[Reach]:
        found = [self._of_atom(atom) for atom in ports.carry]
        while True:
            results = through(ports.body, self.of_body(ports, found))
            joined = [a.or_of(b) for a, b in zip(found, results, strict=False)]
            if joined == found:
                return [*found, *results[len(found) :]]
            found = joined

    def of_body(self, ports: Ports, carry: Sequence[Reach]) -> list[Reach]:
        """The reach of what a step takes, given that of its carry."""
        counter = [] if ports.is_while else [Reach(Limit.BOUNDED)]
        return [
            *(self._of_atom(atom) for atom in ports.constants),
            *counter,
            *carry,
            *(self._of_atom(atom) for atom in ports.xs),
        ]

    def _of(self, equation: Equation) -> Reach:
        name, operands = equation.primitive, [self._of_atom(atom) for atom in equation.inputs]
        limit = max((o.limit for o in operands), default=Limit.BOUNDED)
        sign = self._sign(equation, operands)
        if name in _FINITE:
            return Reach(limit, self._with_tops(equation, sign))
        if name == "exp" and self._holds_top(equation.inputs[0], equation):
            return Reach(limit, sign)
        if name in ("contract", "convolve"):  # what is infinite there is so in whole rows
            most = Limit.PLAIN if equation.location.is_derived else Limit.LARGE
            return Reach(min(limit, most), sign)
        if name in _GROWING:
            return Reach(max(limit, Limit.LARGE), sign)
        if name == "divide":
            return Reach(max(limit, self.by(equation.inputs[1], operands[1])), sign)
        if name in ("sqrt", "math.sqrt") and operands[0].sign >= Sign.NOT_NEGATIVE:
            return Reach(limit, sign)
        if name in ("log", "math.log") and operands[0].sign >= Sign.EXPONENTIAL:
            return Reach(limit, sign)
        if name in ("log1p", "math.log1p") and operands[0].sign >= Sign.NOT_NEGATIVE:
            return Reach(limit, sign)
        if name == "power" and _whole_exponent(equation) is not None:
            return Reach(limit, sign)
        return Reach(Limit.WILD, sign)

    def _with_tops(self, equation: Equation, sign: Sign) -> Sign:
        """The sign of a result: of a sum that has a 1 among its terms as well.

        The exponential of what the greatest is subtracted from has it, ``exp(x - max(x))``, and so
        do the elements that are the greatest, as rules of maxima count them.
        """
        name, inputs = equation.primitive, equation.inputs
        if name == "subtract":
            top = self._made(inputs[1])
            if top is not None and top.primitive == "max" and top.inputs[0] == inputs[0]:
                self._tops[equation.output] = top.params["axis"]
        elif name == "cast" and equation.location.section == "adjoint":
            made = self._made(inputs[0])
            if made is not None and made.primitive == "equal":
                self._tops[equation.output] = ()
        elif name == "sum" and isinstance(inputs[0], Variable):
            axes = self._tops.get(inputs[0])
            if axes is not None and set(axes) <= set(equation.params["axis"]):
                return Sign.POSITIVE
        return sign

    def _holds_top(self, x: Atom, exponential: Equation) -> bool:
        """True for the exponential of numbers that are not positive; it is 1 for the greatest."""
        axes = self._tops.get(x) if isinstance(x, Variable) else None
        if axes is not None:
            self._tops[exponential.output] = axes
        return axes is not None

    def _made(self, atom: Atom) -> Equation | None:
        """The equation of a value, behind broadcasts of it."""
        made = self._makers.get(atom) if isinstance(atom, Variable) else None
        while made is not None and made.primitive in ("expand_dims", "reshape", "broadcast_to"):
            inner = next(iter(made.variables), None)  # None for a constant
            made = None if inner is None else self._makers.get(inner)
        return made

    def by(self, divisor: Atom, reach: Reach) -> Limit:
        """The limit of what is divided by a value."""
        if reach.sign == Sign.POSITIVE or (isinstance(divisor, Constant) and divisor.value != 0):
            return Limit.BOUNDED
        return Limit.LARGE if reach.sign == Sign.EXPONENTIAL else Limit.WILD

    def _sign(self, equation: Equation, operands: Sequence[Reach]) -> Sign:
        name, signs = equation.primitive, [o.sign for o in operands]
        if equation.outputs[0].type.dtype.kind == "c":
            return Sign.ANY
        if name == "add" and min(signs) >= Sign.NOT_NEGATIVE:
            return max(signs)
        if name in ("maximum", "first_maximum", "fmax"):
            return max(signs)
        if name in ("multiply", "divide"):
            return self._of_product(equation, signs)
        if name == "square" or (name == "power" and (_whole_exponent(equation) or 1) % 2 == 0):
            return Sign.NOT_NEGATIVE
        if name in ("where", "select"):
            return self._of_choice(equation, signs)
        if name == "clip":
            return min(max(signs[:2]), signs[2])
        if name in _KEEP_SIGN and signs and min(signs[: _data(equation)]) > Sign.ANY:
            sign = min(signs[: _data(equation)])
            is_sum = name in ("sum", "mean", "add_up")  # of nothing but exp(-inf), it may be
            return Sign.NOT_NEGATIVE if is_sum and sign == Sign.EXPONENTIAL else sign
        return _SIGNS.get(name, Sign.ANY)

    def _of_choice(self, equation: Equation, signs: Sequence[Sign]) -> Sign:
        """The sign of one of two values; positive in ``where(x == 0, 1.0, x)``."""
        condition, _, y = equation.inputs
        made = self._made(condition)
        if made is not None and made.primitive == "equal" and made.inputs[0] == y:
            is_filled = made.inputs[1] == Constant(0) or made.inputs[1] == Constant(0.0)
            if is_filled and signs[1] == Sign.POSITIVE and signs[2] > Sign.ANY:
                return Sign.POSITIVE
        return min(signs[1:])

    def _of_product(self, equation: Equation, signs: Sequence[Sign]) -> Sign:
        x, y = equation.inputs
        if x == y and equation.primitive == "multiply":
            return Sign.NOT_NEGATIVE
        if min(signs) == Sign.ANY:
            return Sign.ANY
        by_number = isinstance(x, Constant) or isinstance(y, Constant)
        return min(signs) if by_number else min(*signs, Sign.EXPONENTIAL)  # it may underflow


def through(program: Program, operands: Sequence[Reach]) -> list[Reach]:
    """The reach of a program's outputs, given that of its inputs."""
    inner = Reaches.of(program, operands)
    return [inner[atom] for atom in program.outputs]


def _of_number(atom: Constant) -> Reach:
    value = atom.value
    if atom.type.dtype.kind not in "biuf":
        return Reach(Limit.BOUNDED)
    sign = Sign.POSITIVE if value > 0 else Sign.NOT_NEGATIVE if value == 0 else Sign.ANY
    return Reach(Limit.BOUNDED if math.isfinite(value) else Limit.WILD, sign)


def _whole_exponent(equation: Equation) -> int | None:
    """The exponent of a power, if it is a number that is whole and not negative."""
    exponent = equation.inputs[1]
    if not isinstance(exponent, Constant) or isinstance(exponent.value, complex):
        return None
    value = float(exponent.value)
    return int(value) if value >= 0 and value.is_integer() else None


def _data(equation: Equation) -> int:
    """Count the operands that are data. Those behind them are counters and indices."""
    several = ("concatenate", "stack", "array", "minimum", "fmin", "add_up")
    return len(equation.inputs) if equation.primitive in several else 1
