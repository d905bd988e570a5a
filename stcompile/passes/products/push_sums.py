"""Sum before a product instead of after it, if fewer numbers are multiplied then.

``sum(a @ b)`` over the rows of ``a`` is ``sum(a) @ b``; a factor that is the same along the summed
axes is taken out of a sum, and a sum of sums is summed part by part if that helps any of them.
Rounds differently: it runs at the fast level alone.

>>> from stcompile.wengert.text import parse_program
>>> print(push_sums(parse_program('''
... program f(x: f64[100,3], W: f64[3,4]) {
...   v1: f64[100,4] = contract(x, W; batch=(), contracted=((1, 0),), order=(), spelling='matmul')
...   v2: f64[4] = sum(v1; axis=(0,), keepdims=False)
...   return v2
... }''')))
program f(x: f64[100,3], W: f64[3,4]) {
  v3: f64[3] = sum(x; axis=(0,), keepdims=False)
  v4: f64[4] = contract(v3, W; batch=(), contracted=((0, 0),), order=(), spelling='')
  return v4
}
"""

from __future__ import annotations

from stcompile.passes.general.rebuild import Rebuild, with_inner
from stcompile.wengert.ir import Atom, Equation, Program, Variable
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.sums import is_sum

Axes = tuple[int, ...]


def push_sums(program: Program) -> Program:
    """The program with its sums made before products, where nothing else needs the products."""
    program = with_inner(program, push_sums)
    rebuild = Rebuild(program)
    for at, equation in enumerate(program.equations):
        if equation.primitive == "sum" and not equation.params["keepdims"]:
            pusher = _Pusher(rebuild, at, equation)
            if pusher.helps(equation.inputs[0], equation.params["axis"]):
                rebuild.mapping[equation.output] = pusher.pushed(
                    equation.inputs[0], equation.params["axis"]
                )
                rebuild.drop(at)
    return rebuild.done()


class _Pusher:
    """The rewriting of a sum at a position."""

    def __init__(self, rebuild: Rebuild, at: int, root: Equation) -> None:
        self.rebuild = rebuild
        self.at = at
        self.root = root
        self.is_plain = root.output.type.kind == "array" and root.output.type.inexact

    def maker(self, atom: Atom) -> Equation | None:
        """The equation whose result only the sum reads."""
        if not self.is_plain or not isinstance(atom, Variable):
            return None
        where = self.rebuild.defined_at(atom)
        if where < 0 or not self.rebuild.is_used_once(atom) or where in self.rebuild.dropped:
            return None
        equation = self.rebuild.equations[where]
        same = all(a.type.dtype == atom.type.dtype for a in equation.inputs)
        settings = equation.location.errstate == self.root.location.errstate
        return equation if same and settings and atom.type.kind == "array" else None

    def helps(self, atom: Atom, axes: Axes) -> bool:
        """True if a sum over some axes of an atom can be made before a product."""
        equation = self.maker(atom)
        if equation is None:
            return False
        if _is_sum(equation):
            return any(self.helps(term, axes) for term in equation.inputs)
        if equation.primitive == "contract":
            return _split_axes(equation, axes) is not None
        if equation.primitive == "multiply":
            return self._factor(equation, axes) is not None
        return False

    def pushed(self, atom: Atom, axes: Axes) -> Atom:
        """The sum over some axes of an atom, as early as possible."""
        equation = self.maker(atom) if self.helps(atom, axes) else None
        if equation is None:
            return self._sum(atom, axes)
        self.rebuild.drop(self.rebuild.defined_at(atom))
        if _is_sum(equation):
            primitive = "subtract" if equation.primitive == "subtract" else "add"
            first, second = (self.pushed(term, axes) for term in equation.inputs)
            return self._insert(primitive, first, second)
        if equation.primitive == "contract":
            return self._contract(equation, axes)
        place = self._factor(equation, axes)
        assert place is not None
        factor, summed = equation.inputs[place], equation.inputs[1 - place]
        total = self.pushed(summed, axes)
        return self._insert("multiply", total, self._without(factor, axes, summed.type.ndim))

    # --- products ------------------------------------------------------------------------------

    def _factor(self, equation: Equation, axes: Axes) -> int | None:
        """The position of the operand that is the same along the axes, while the other has the
        result's shape."""
        dims = equation.output.type.dims
        for place, (factor, summed) in enumerate(
            zip(equation.inputs, equation.inputs[::-1], strict=True)
        ):
            if summed.type.dims != dims:
                continue
            lead = len(dims) - factor.type.ndim
            if factor.type.ndim and all(
                axis < lead or factor.type.dims[axis - lead] == 1 for axis in axes
            ):
                return place
        return None

    def _without(self, factor: Atom, axes: Axes, ndim: int) -> Atom:
        """A factor without the axes, all of them of length 1."""
        lead = ndim - factor.type.ndim
        own = [axis - lead for axis in axes if axis >= lead]
        if not own or len(own) == factor.type.ndim:
            return self._sum(factor, tuple(own)) if own else factor
        dims = tuple(dim for axis, dim in enumerate(factor.type.dims) if axis not in own)
        return self.rebuild.insert(self.at, "reshape", (factor,), self.root.location, shape=dims)

    def _contract(self, equation: Equation, axes: Axes) -> Atom:
        split, product = _split_axes(equation, axes), Contraction.of(equation)
        assert split is not None
        operands, left = list(equation.inputs), []
        for side, own in enumerate(split):
            left.append([n for axis, n in enumerate(product.names[side]) if axis not in own])
            if own:
                operands[side] = self.pushed(operands[side], own)
        if any(not operand.type.dims for operand in operands):
            return self._insert("multiply", *operands)
        params = product.renamed(*left).params
        return self.rebuild.insert(
            self.at, "contract", tuple(operands), self.root.location, **params
        )

    def _sum(self, atom: Atom, axes: Axes) -> Atom:
        return self.rebuild.insert(
            self.at, "sum", (atom,), self.root.location, axis=axes, keepdims=False
        )

    def _insert(self, primitive: str, *inputs: Atom) -> Atom:
        return self.rebuild.insert(self.at, primitive, inputs, self.root.location)


def _is_sum(equation: Equation) -> bool:
    if not is_sum(equation):  # it may be a loop, which has several outputs
        return False
    return all(a.type.dims == equation.output.type.dims for a in equation.inputs)


def _split_axes(equation: Equation, axes: Axes) -> tuple[Axes, Axes] | None:
    """The axes of the two operands of a contraction that some axes of its result are; None if some
    axes belong to both, or the result's axes are permuted."""
    product = Contraction.of(equation)
    x, y, result = product.names
    names = [result[axis] for axis in axes]
    if product.order or not names or any(name in x and name in y for name in names):
        return None
    left = tuple(x.index(name) for name in names if name in x)
    return left, tuple(y.index(name) for name in names if name in y)
