"""The local rules, in two phases: algebra, and rules that only pay because of how NumPy is called.

>>> from stcompile.passes.general.rebuild import in_adjoint
>>> from stcompile.wengert.text import parse_program
>>> program = parse_program('''
... program f(x: f64[3], d: f64[3]) {
...   v1: f64[3] = multiply(d, -1)
...   v2: f64[3] = divide(1, x)
...   v3: f64[3] = multiply(v1, v2)
...   v4: f64[3] = multiply(v3, 1.0)
...   v5: f32 = maximum(f32(0.5), f32(0.25))
...   return v4
... }''')
>>> print(simplify(in_adjoint(program)))
program f(x: f64[3], d: f64[3]) {
  v1: f64[3] = divide(d, x)
  v2: f64[3] = negative(v1)
  return v2
}
"""

from __future__ import annotations

from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.push_slices import push_slices
from stcompile.passes.general.share_equations import share_equations
from stcompile.passes.loops.carry_values import carry_values
from stcompile.passes.rewriting import (
    arithmetic,
    calls,
    factors,
    parts,
    ports,
    products,
    row_factors,
    signs,
    smaller_work,
    views,
)
from stcompile.passes.rewriting.rewrite import RuleBook, derived, rewrite
from stcompile.wengert.ir import Program

ALGEBRA = RuleBook(
    (
        *ports.RULES,
        *derived(*arithmetic.RULES, *signs.RULES, *arithmetic.PRODUCTS, factors.two_factors),
        *derived(*views.RULES, *parts.RULES, *products.RULES, signs.sign_of_smaller_result),
    ),
    last=derived(factors.sign_in_factor),
)
CALLS = RuleBook((*products.ALL, *smaller_work.RULES, *calls.RULES))
ROW_FACTORS = RuleBook(derived(*row_factors.RULES, smaller_work.repeated_factor))
MAXIMA = RuleBook((smaller_work.maximum_first,))
PORTS = RuleBook(ports.RULES)


def simplify(program: Program) -> Program:
    """The program after the algebra that the chain rule leaves to do, and without ports of loops
    and branches that change nothing. The primal stays as the user wrote it."""
    return rewrite(program, ALGEBRA)


def suit_numpy(program: Program) -> Program:
    """The program rewritten so that NumPy and BLAS compute it fastest."""
    return rewrite(program, CALLS)


def push_factors(program: Program) -> Program:
    """The program with arrays that multiply products of matrices moved into their smaller factors,
    so that sums of such products over the steps of a loop can be taken after it."""
    return rewrite(program, ROW_FACTORS)


def push_maxima(program: Program) -> Program:
    """The program with its maxima before increasing functions."""
    return rewrite(program, MAXIMA)


def before_adjoint(program: Program, is_planned: bool = False) -> Program:
    """The program that an adjoint is made of: without idle ports, dead code and equal equations.
    If it ``is_planned``, slices come first as well, so that the adjoint scatters no unread rows."""
    plain = share_equations(eliminate_dead_code(drop_idle_ports(program)))
    if is_planned:
        plain = push_maxima(eliminate_dead_code(push_slices(carry_values(plain))))
    return plain


def drop_idle_ports(program: Program) -> Program:
    """The program without ports of loops and branches that change nothing."""
    return rewrite(program, PORTS)
