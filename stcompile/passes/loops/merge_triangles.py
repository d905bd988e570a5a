"""Merge the steps of a loop over a triangle into products of whole matrices.

A loop that reads and writes parts whose lengths change, ``c[i, : i + 1] += a[i] @ a[: i + 1].T``,
does half of a product of matrices. BLAS computes the whole product quicker, so all steps are
computed at once if they are independent (`stcompile.passes.loops.triangles`).

A sum with zeros for the elements that a step does not use multiplies them by elements that the step
does not read: infinity and NaN would give NaN. If the results of such sums are not finite, the loop
runs as it was written.

>>> from stcompile.wengert.text import parse_program
>>> print(merge_triangles(parse_program('''
... program f(c: f64[20,20], a: f64[20,30]) {
...   y: f64[20,20] = loop(a, c; carry=1, constants=1, length=20, binds=[i.1: 0 to 19],
...     body=program body(a: f64[20,30], i: int, c: f64[20,20]) {
...       v1: f64[30] = slice(a, i; drop=(0,), length=(1, 30), start=((0, 1), (0, 0)), step=(1, 1))
...       v2: f64[i.1+1,30] = slice(a; drop=(), length=([i.1+1], 30), start=((0,), (0,)),
...         step=(1, 1))
...       v3: f64[i.1+1] = contract(v1, v2; batch=(), contracted=((0, 1),), order=(), spelling='')
...       c.1: f64[20,20] = update(c, v3, i; drop=(0,), length=(1, [i.1+1]), start=((0, 1), (0,)),
...         step=(1, 1))
...       return c.1
...     })
...   return y
... }''')))
program f(c: f64[20,20], a: f64[20,30]) {
  v1: f64[20,20] = contract(a, a; batch=(), contracted=((1, 1),), order=(), spelling='')
  v2: i64[20] = arange(; dtype=i64, start=0, step=1, stop=20)
  v3: i64[20] = arange(; dtype=i64, start=1, step=1, stop=21)
  v4: i64[20,1] = reshape(v3; shape=(20, 1))
  v5: b8[20,20] = less(v2, v4)
  v6: f64[20,20] = where(v5, v1, c)
  return v6
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stcompile.base.thresholds import ALL_STEPS_BYTES, LARGE_PRODUCT, TRIANGLE_GROWTH
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Scope, is_zeros
from stcompile.passes.loops.lazy_products import UnsuitableError
from stcompile.passes.loops.loop_ports import change_equations
from stcompile.passes.loops.triangles import Triangle
from stcompile.wengert.ir import (
    Atom,
    Equation,
    Program,
    Variable,
    every_equation,
    free_variables,
    freeze,
)
from stcompile.wengert.loops import loop_of
from stcompile.wengert.primitives import OperandError
from stcompile.wengert.primitives.contraction import summed_size


def merge_triangles(program: Program) -> Program:
    """The program with loops through triangles as products of whole matrices."""
    if not any(map(_is_triangle, every_equation(program.equations))):
        return program
    program = eliminate_dead_code(program)  # values that nobody reads have no form
    return change_equations(program, _merged)


def _is_triangle(equation: Equation) -> bool:
    """True for a loop of straight-line code whose steps have parts of different lengths."""
    if equation.primitive != "loop" or equation.effects or equation.params.get("binds") is None:
        return False
    body: Program = equation.params["body"]
    is_straight = not any(inner.programs for inner in body.equations)
    return isinstance(equation.params["length"], int) and is_straight


def _merged(scope: Scope, equation: Equation) -> Mapping[Variable, Atom] | None:
    """Record the merged equations of a loop; return the atoms that replace its results, or None if
    the loop stays."""
    if not _is_triangle(equation):
        return None
    aside, loop = scope.aside(), loop_of(equation)
    try:
        triangle = Triangle(aside, loop, {v for v, e in scope.makers.items() if is_zeros(e)})
        results = triangle.run()
    except (UnsuitableError, OperandError):
        return None
    if not _pays(aside.equations, equation):
        return None
    uncertain = triangle.products.uncertain
    for one in aside.equations:
        if not uncertain.isdisjoint(one.inputs):
            uncertain.update(one.outputs)
    doubtful = [a for a in dict.fromkeys(results.values()) if a in uncertain]
    if doubtful:
        makers = [scope.makers[v] for v in equation.variables if v in scope.makers]
        made = [maker for maker in makers if not any(True for _ in maker.variables)]
        results = _if_finite(aside, doubtful, results, (*made, equation))
    for one in aside.equations:
        scope.add(one)
    return results


def _pays(equations: Sequence[Equation], loop: Equation) -> bool:
    """True if there is a product for BLAS, and no array that is much larger than the arrays of the
    loop."""
    types = [equation.output.type for equation in equations]
    most = max(atom.type.size for atom in (*loop.inputs, *loop.outputs))
    products = (e.output.type.size * summed_size(e) for e in equations if e.primitive == "contract")
    return (
        max(products, default=0) > LARGE_PRODUCT
        and max(t.size for t in types) <= TRIANGLE_GROWTH * most
        and max(t.nbytes for t in types) <= ALL_STEPS_BYTES
    )


def _if_finite(
    scope: Scope,
    doubtful: Sequence[Atom],
    results: Mapping[Variable, Atom],
    loop: Sequence[Equation],
) -> Mapping[Variable, Atom]:
    """The results if the doubtful results are finite, else those of the loop, the last of the
    equations ``loop``."""
    where = loop[-1].location
    test: Variable | None = None
    for one in doubtful:
        finite = scope.record("isfinite", (one,), where)
        axes = tuple(range(one.type.ndim))
        own = scope.record("all", (finite,), where, axis=axes, keepdims=False) if axes else finite
        test = own if test is None else scope.record("logical_and", (test, own), where)
    assert test is not None
    outputs = tuple(scope.variable(atom.type, port.name) for port, atom in results.items())
    atoms = tuple(dict.fromkeys(a for a in results.values() if isinstance(a, Variable)))
    operands = tuple(dict.fromkeys((*atoms, *free_variables(loop, (), ()))))
    then = Program("then", operands, (), tuple(results.values()))
    otherwise = Program("otherwise", operands, tuple(loop), tuple(results))
    params = freeze({"then": then, "otherwise": otherwise})
    scope.add(Equation(outputs, "cond", (test, *operands), params, (), where))
    return dict(zip(results, outputs, strict=True))
