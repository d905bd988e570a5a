"""Values with eigenvectors in them as products of linear functions and weights.

`stcompile.ad.matrix_functions` looks for sums of such values. A value of degree 1 or 2 is taken
apart into linear functions of the eigenvectors, and one weight for each eigenvalue, whose slope is
its derivative with what is the same for all eigenvalues held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

from stcompile.ad.matrix_roles import EIGEN, ROLES, Label, order_of, stack_of
from stcompile.ad.rules import is_differentiable, rule_for
from stcompile.base.location import Location
from stcompile.passes.general.rebuild import Scope
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, substituted
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.primitives.spectra import FACTORISATIONS

_ONE = Constant(1.0)


@dataclass(frozen=True)
class Parts:
    """A value of degree 0, 1 or 2 in its factors: ``linear`` are functions of all eigenvectors,
    ``weights`` are functions of the eigenvalues that were selected (None: 1), and ``slopes`` are
    their derivatives (None: 0). All have the axes of the value. The ``sides`` of
    linear functions are the parts that they are functions of."""

    linear: tuple[Atom, ...]
    weights: Atom | None
    slopes: Atom | None
    sides: tuple[str, ...] = ()

    def moved(self, linear: Sequence[Atom], change: Callable[[Atom], Atom]) -> Parts:
        """Other linear functions, and the weights and slopes after a rearrangement."""
        weights, slopes = (None if a is None else change(a) for a in (self.weights, self.slopes))
        return Parts(tuple(linear), weights, slopes, self.sides)


class Found:
    """The program that is recorded anew, at a ``location``: the ``labels`` of its values, and the
    values of the program before by those that stand for them."""

    def __init__(self, program: Program) -> None:
        self.scope = Scope(program)
        self.makers = {o: e for e in program.equations for o in e.outputs}
        self.labels: dict[Variable, Label] = {}
        self.mapping: dict[Variable, Atom] = {}
        self.location: Location

    def record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        return self.scope.record(primitive, inputs, self.location, **params)

    def label_of(self, atom: Atom) -> Label | None:
        return self.labels.get(atom) if isinstance(atom, Variable) else None

    def now(self, atom: Atom) -> Atom:
        return substituted((atom,), self.mapping)[0]


class Values:
    """The values of a program, taken apart where a sum reads them."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.record, self.label_of, self.now = found.record, found.label_of, found.now
        self.parts: dict[Variable, Parts] = {}

    def of(self, atom: Atom) -> Parts:
        assert isinstance(atom, Variable)
        if atom not in self.parts:
            equation, label = self.found.makers[atom], self.found.labels[atom]
            self.parts[atom] = self._made(equation, label)
        return self.parts[atom]

    def _made(self, equation: Equation, label: Label) -> Parts:
        if equation.primitive in FACTORISATIONS:
            if label.degree:
                return Parts((equation.output,), None, None, (equation.params["part"],))
            return Parts((), equation.output, _ONE)
        if label.is_diagonal:
            values, own = self.of(equation.inputs[1]), self.label_of(equation.inputs[1])
            assert own is not None
            return self.vectors(values, own)
        if label.degree == 0:
            return Parts((), equation.output, self._slopes(equation))
        if equation.primitive in ("contract", "einsum", "solve"):
            return self._linear_product(equation)
        parts = [self.of(atom) if self.label_of(atom) else None for atom in equation.inputs]
        if equation.primitive in ("power", "square"):
            assert parts[0] is not None
            return self.product("multiply", parts[0], parts[0])
        if equation.primitive in ("multiply", "divide"):
            x, y = (
                Parts((), self.now(atom), None) if part is None else part
                for atom, part in zip(equation.inputs, parts, strict=True)
            )
            uniform = [p is None for p in parts]
            if any(uniform):  # a factor that is the same for all eigenvalues
                return self._scaled(equation, x, y, uniform.index(True))
            first = self.label_of(equation.inputs[0])
            made = self.product(equation.primitive, x, y)
            is_turned = first is not None and first.is_conjugate and len(made.linear) == 2
            if not is_turned:
                return made
            return replace(made, linear=made.linear[::-1], sides=made.sides[::-1])
        (part, *_) = parts
        assert part is not None
        return self._arranged(equation, part)

    def _linear_product(self, equation: Equation) -> Parts:
        """A product of a value of degree 1 and others that are the same for all eigenvalues."""
        sides = [i for i, atom in enumerate(equation.inputs) if self.label_of(atom)]
        if len(sides) == 2:
            return self._times_weights(equation)
        (side,) = sides
        part, label = self.of(equation.inputs[side]), self.label_of(equation.inputs[side])
        assert label is not None
        operands = [self.now(atom) for atom in equation.inputs]
        operands[side] = part.linear[0]
        made = self.record(equation.primitive, *operands, **equation.params)
        after = self.found.labels[equation.output]
        return part.moved((made,), lambda atom: self._respread(atom, label, after))

    def _times_weights(self, equation: Equation) -> Parts:
        """A product of a value of degree 1 and one of degree 0, which may be a diagonal matrix."""
        labels, after = (
            [self.found.labels[v] for v in equation.variables],
            self.found.labels[equation.output],
        )
        side = int(labels[0].degree == 0)
        weights = labels[1 - side]
        part, factor = (self.of(equation.inputs[i]) for i in (side, 1 - side))
        x, y, result = Contraction.of(equation).names
        own, other = ((x, y), (y, x))[side]
        at = own[labels[side].axes.index(EIGEN)]
        letters = [at if weights.is_diagonal and c in other else c for c in result]
        order = tuple(own.index(letter) for letter in letters)
        linear = self.transposed(part.linear[0], order)
        first = part.moved((), lambda atom: self._respread(atom, labels[side], after))
        row = replace(after, axes=(EIGEN,)) if weights.is_diagonal else weights
        second = factor.moved((), lambda atom: self._respread(atom, row, after))
        scaled = self.product("multiply", first, second)
        return replace(scaled, linear=(linear,), sides=part.sides)

    def _respread(self, atom: Atom, label: Label, after: Label) -> Atom:
        """Weights with the axes of another value."""
        if isinstance(atom, Constant):
            return atom
        vectors = self._as_vectors(atom, label)
        names = (*stack_of(label), EIGEN)
        order = tuple(names.index(name) for name in (n for n in after.axes if n))
        vectors = self.transposed(vectors, order)
        sizes = iter(vectors.type.dims)
        return self.reshaped(vectors, tuple(next(sizes) if name else 1 for name in after.axes))

    def _scaled(self, equation: Equation, x: Parts, y: Parts, uniform: int) -> Parts:
        own, other = (y, x) if uniform == 0 else (x, y)
        (factor,) = (other.weights,)
        assert factor is not None
        first, *rest = own.linear
        inputs = (factor, first) if uniform == 0 else (first, factor)
        scaled = self.record(equation.primitive, *inputs)
        dims = equation.output.type.ndim
        others = (self._padded(atom, dims) for atom in rest)
        return own.moved((scaled, *others), lambda atom: self._padded(atom, dims))

    def _padded(self, atom: Atom, ndim: int) -> Atom:
        """An array with axes of length 1 in front."""
        missing = ndim - atom.type.ndim
        if missing <= 0 or isinstance(atom, Constant):
            return atom
        return self.reshaped(atom, (*(1,) * missing, *atom.type.dims))

    def product(self, primitive: str, x: Parts, y: Parts) -> Parts:
        """The product or quotient of two values; the slopes by the product rule."""
        own = (*x.linear, x.weights, *y.linear, y.weights)
        dims = max((atom.type.ndim for atom in own if atom is not None), default=0)
        f, df, g, dg = (
            None if a is None else self._padded(a, dims)
            for a in (x.weights, x.slopes, y.weights, y.slopes)
        )
        linear = tuple(self._padded(atom, dims) for atom in (*x.linear, *y.linear))
        sides = (*x.sides, *y.sides)
        if g is None:
            return Parts(linear, f, df, sides)
        if f is None and primitive == "multiply":
            return Parts(linear, g, dg, sides)
        one: Atom = Constant(1.0) if f is None else f
        weights = self.record(primitive, one, g)
        terms: list[Atom] = []
        if df is not None:
            terms.append(self.record(primitive, df, g))
        if dg is not None:
            factor = one if primitive == "multiply" else self.record("divide", weights, g)
            term = self.record("multiply", factor, dg)
            terms.append(term if primitive == "multiply" else self.record("negative", term))
        slopes = terms[0] if terms else None
        if len(terms) == 2:
            slopes = self.record("add", *terms)
        return Parts(linear, weights, slopes, sides)

    def _arranged(self, equation: Equation, part: Parts) -> Parts:
        """A rearrangement of a value of degree 1 or 2, of which no eigenvalue is left out here."""
        primitive, label = equation.primitive, self.label_of(equation.inputs[0])
        assert label is not None
        after, dims = self.found.labels[equation.output], equation.output.type.dims

        def applied(atom: Atom) -> Atom:
            is_same = isinstance(atom, Constant)
            return atom if is_same else self.record(primitive, atom, **equation.params)

        if primitive == "slice":
            linear = [self._sliced(equation, atom, label, False) for atom in part.linear]
            return part.moved(linear, lambda atom: self._sliced(equation, atom, label, True))
        if primitive == "negative":
            first, *rest = part.linear
            return replace(part, linear=(applied(first), *rest))
        if primitive != "reshape":
            linear = [applied(atom) for atom in part.linear]
        else:
            at, own = label.axes.index(EIGEN), after.axes.index(EIGEN)
            linear = [
                self.record("reshape", a, shape=(*dims[:own], a.type.dims[at], *dims[own + 1 :]))
                for a in part.linear
            ]
        if primitive in ("cast", "copy", "asarray"):
            return replace(part, linear=tuple(linear))
        if primitive == "conjugate":
            return part.moved(linear, applied)
        return part.moved(linear, lambda atom: self._respread(atom, label, after))

    def _sliced(self, equation: Equation, atom: Atom, label: Label, is_weight: bool) -> Atom:
        """A slice of weights, or of linear functions with all eigenvectors."""
        if isinstance(atom, Constant):
            return atom
        params, own = equation.params, {"start": (0,), "step": 1}
        chosen = {
            key: tuple(
                item if (name == EIGEN) == is_weight else own.get(key, dim)
                for name, item, dim in zip(label.axes, params[key], atom.type.dims, strict=True)
            )
            for key in ("start", "length", "step")
        }
        others = () if is_weight else substituted(equation.inputs[1:], self.found.mapping)
        return self.record("slice", atom, *others, **{**params, **chosen})

    # --- slopes --------------------------------------------------------------------------------

    def _slopes(self, equation: Equation) -> Atom | None:
        """The derivative of a function of each eigenvalue, with what is the same for all held."""
        if not (is_differentiable(equation.primitive) and equation.output.type.inexact):
            return None
        slopes = [self.of(atom).slopes if self.label_of(atom) else None for atom in equation.inputs]
        active = tuple(slope is not None for slope in slopes)
        if not any(active):
            return None
        operands = [self.now(atom) for atom in equation.inputs]
        if equation.primitive == "where":
            chosen = (s or Constant(0.0) for s in slopes[1:])
            total: Atom = self.record("where", operands[0], *chosen)
            if total.type.dtype != equation.output.type.dtype:  # that of Python's numbers
                total = self.record("cast", total, dtype=equation.output.type.dtype)
        elif equation.primitive not in ROLES:
            rule = rule_for(equation, active)
            known = [equation.output, *(a for a in operands if isinstance(a, Variable))]
            partials = self._inlined(rule.program, known)
            terms: list[Atom] = []
            for index, factor in zip(rule.targets, partials, strict=True):
                slope = slopes[index]
                assert slope is not None
                factor = self.inexact(factor, equation.output.type.dtype)
                terms.append(factor if slope is _ONE else self.record("multiply", factor, slope))
            total = reduce(partial(self.record, "add"), terms)
        else:
            (slope,) = (s for s in slopes if s is not None)
            if isinstance(slope, Constant):
                return slope
            total = self.record(equation.primitive, slope, **equation.params)
        dims = equation.output.type.dims
        if isinstance(total, Variable) and total.type.dims != dims:
            total = self.record("broadcast_to", total, shape=dims)
        return total

    def _inlined(self, program: Program, inputs: Sequence[Atom]) -> list[Atom]:
        mapping: dict[Variable, Atom] = dict(zip(program.inputs, inputs, strict=True))
        for equation in program.equations:
            atoms = substituted(equation.inputs, mapping)
            mapping[equation.output] = self.record(equation.primitive, *atoms, **equation.params)
        return list(substituted(program.outputs, mapping))

    # --- axes ----------------------------------------------------------------------------------

    def vectors(self, part: Parts, label: Label) -> Parts:
        """The weights and slopes of a value alone, as stacks of vectors."""
        return replace(part.moved((), lambda atom: self._as_vectors(atom, label)), sides=())

    def _as_vectors(self, atom: Atom, label: Label) -> Atom:
        """Weights as a stack of vectors."""
        if isinstance(atom, Constant):
            return atom
        atom = self.transposed(atom, order_of(label))
        dims = atom.type.dims
        return self.reshaped(atom, (*dims[: len(stack_of(label))], dims[-1]))

    def transposed(self, atom: Atom, order: tuple[int, ...]) -> Atom:
        is_same = order == tuple(range(len(order)))
        return atom if is_same else self.record("transpose", atom, axes=order)

    def reshaped(self, atom: Atom, shape: tuple[Size, ...]) -> Atom:
        return atom if shape == atom.type.dims else self.record("reshape", atom, shape=shape)

    def inexact(self, atom: Atom, dtype: Any) -> Atom:
        """Numbers to compute with: what is a comparison's would be added as booleans are."""
        is_number = isinstance(atom, Constant) or atom.type.inexact
        return atom if is_number else self.record("cast", atom, dtype=dtype)
