"""Move signs outwards, where they meet a sum or each other; remaining signs go into a number
(`stcompile.passes.rewriting.factors`).

Exact, except that ``sum(-x)`` becomes ``-sum(x)``, which may be a zero of the other sign. Signs of
integers stay, since integers wrap around.
"""

from __future__ import annotations

from stcompile.passes.rewriting.arithmetic import is_number
from stcompile.passes.rewriting.rewrite import Result, UnderWay, rule
from stcompile.wengert.ir import Atom, Equation


def negated(under_way: UnderWay, atom: Atom) -> Atom | None:
    """The atom ``x``, if ``atom`` is ``-x``."""
    equation = under_way.made_by(atom, "negative") if atom.type.inexact else None
    return equation.inputs[0] if equation else None


@rule("multiply")
def by_minus_one(under_way: UnderWay, equation: Equation) -> Result:
    """Replace a product with -1 by a change of sign."""
    for x, y in (equation.inputs, equation.inputs[::-1]):
        if is_number(y, -1) and x.type == equation.output.type:
            return under_way.record("negative", x)
    return None


@rule("multiply", "divide")
def signs_of_factors(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``-x * y`` by ``-(x * y)``."""
    x, y = equation.inputs
    inner = negated(under_way, x)
    if inner is not None:
        product = under_way.record(equation.primitive, inner, y)
    elif equation.primitive == "multiply" and (inner := negated(under_way, y)) is not None:
        product = under_way.record("multiply", x, inner)
    else:
        return None
    return under_way.record("negative", product)


@rule("add", "subtract")
def signs_of_terms(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``x + -y`` by ``x - y``, and ``x - -y`` by ``x + y``."""
    x, y = equation.inputs
    for first, second in ((x, y), (y, x)):
        inner = negated(under_way, second)
        if inner is not None and (equation.primitive == "add" or first is x):
            other = "subtract" if equation.primitive == "add" else "add"
            return under_way.record(other, first, inner)
    return None


@rule("negative")
def double_sign(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``-(-x)`` by ``x``."""
    return negated(under_way, equation.inputs[0])


@rule("sum", "reshape", "expand_dims", "squeeze", "transpose")
def sign_comes_last(under_way: UnderWay, equation: Equation) -> Result:
    """Negate after a rearrangement or a sum instead of before it."""
    inner = negated(under_way, equation.inputs[0])
    if inner is None:
        return None
    made = under_way.record(equation.primitive, inner, **equation.params)
    return under_way.record("negative", made)


@rule("contract")
def sign_of_smaller_result(under_way: UnderWay, equation: Equation) -> Result:
    """Replace ``x @ -d`` by ``-(x @ d)`` if that negates fewer numbers: exact, as a sum of negated
    terms rounds alike. The sign may then go into a sum, as a difference."""
    for side, factor in enumerate(equation.inputs):
        made = under_way.made_by(factor, "negative")
        if made is None or not under_way.is_read_once(factor) or not factor.type.inexact:
            continue
        if made.location.is_derived and equation.output.type.size <= factor.type.size:
            inputs = [made.inputs[0] if s == side else a for s, a in enumerate(equation.inputs)]
            product = under_way.record("contract", *inputs, **equation.params)
            return under_way.record("negative", product)
    return None


RULES = (by_minus_one, signs_of_factors, signs_of_terms, double_sign, sign_comes_last)
