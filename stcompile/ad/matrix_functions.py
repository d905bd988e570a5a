"""Functions of symmetric matrices, found before a program is differentiated.

With ``w, v = np.linalg.eigh(x)`` a product such as ``(v * f(w)) @ v.T`` is a function of ``x`` that
may be smooth where eigenvalues coincide, though ``v`` is not. The search is for sums over
eigenvectors: over ``j`` of ``left[:, j] * f(w[j]) * right[:, j]``, where ``left`` and ``right`` are
any linear functions of ``v``, and ``f`` is the same function for each eigenvalue. The sum is
computed from ``v`` and ``w`` that are ``held``, and ``spectral`` gives the matrix its share of
the sum's cotangent. Sums of ``f(w[j])`` alone read ``levels``. Any other reader of ``v`` gets the
derivative for distinct eigenvalues, and NaN at equal ones. So the derivative is that of a function
that does not depend on the basis which LAPACK has chosen for equal eigenvalues, or it is NaN.

A value that is on the way has a degree: 0 for ``f(w[j])``, 1 for ``left[:, j] * f(w[j])``, and 2
for ``left[:, j] * f(w[j]) * right[:, j]``. Any operation that is not in this module ends the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from stcompile.ad.rules import is_differentiable, kind_of, rule_for, rule_function
from stcompile.ad.spectra import has_factors
from stcompile.base.location import Location
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Scope
from stcompile.wengert.bounds import minimum
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Program,
    Variable,
    substituted,
)
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.axis_rules import axis_map
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.primitives.spectra import FACTORISATIONS

Axes: TypeAlias = tuple[str, ...]
_ONE = Constant(1.0)
_VALUES = ("eigenvalues", "S")
_CHOICES = ("max", "min")
_ALIKE = ("sum", "mean", "prod", "var", "std", *_CHOICES)  # these treat all eigenvalues alike
EIGEN = "n"  # the axis of the eigenvalues; "b0", "b1", ... are those of a stack, "" is any other


@dataclass(frozen=True)
class Pair:
    """The eigenvalues and eigenvectors of a matrix, or its singular values and vectors: what their
    equations read, and how many there are."""

    primitive: str
    x: Atom
    lower: bool
    n: Size


@dataclass(frozen=True)
class Cut:
    """The eigenvalues that were selected: ``length`` from ``start`` on, in steps of 1 or -1."""

    start: int
    length: Size
    step: int = 1

    def of(self, start: int, length: int, step: int) -> Cut:
        return Cut(self.start + self.step * start, length, self.step * step)


@dataclass(frozen=True)
class Label:
    """The role of a value. ``is_conjugate`` says of degree 1 that it is linear in ``v.conj()``;
    ``is_diagonal`` of degree 0 that it is a matrix with the values on its diagonal."""

    pair: Pair
    degree: int
    axes: Axes
    cut: Cut
    is_conjugate: bool = False
    is_diagonal: bool = False


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


def with_functions(program: Program) -> Program:
    """The program with functions of matrices as equations of their own, to be differentiated."""
    plain = _without_calls(program)
    return _with_columns(eliminate_dead_code(_Search(plain).run()))


def _without_calls(program: Program) -> Program:
    """The program with the equations of calls that have a factorisation, but no rule of their
    own."""
    if not any(map(has_factors, program.equations)):
        return program
    scope, mapping = Scope(program), dict[Variable, Atom]()

    def add(equation: Equation, mapping: dict[Variable, Atom], is_fresh: bool) -> None:
        moved = equation.substitute(mapping)
        if has_factors(equation):
            body: Program = equation.params["program"]
            inner: dict[Variable, Atom] = dict(zip(body.inputs, moved.inputs, strict=True))
            for step in body.equations:
                add(step, inner, True)
            mapping.update(zip(equation.outputs, substituted(body.outputs, inner), strict=True))
            return
        if is_fresh:
            outputs = tuple(scope.variable(o.type, o.name) for o in equation.outputs)
            mapping.update(zip(equation.outputs, outputs, strict=True))
            moved = replace(moved, outputs=outputs)
        scope.add(moved)

    for equation in program.equations:
        add(equation, mapping, False)
    return program.with_equations(scope.equations, mapping)


class _Search:
    """The walk over a program that finds sums over eigenvectors, and records it anew."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.scope = Scope(program)
        self.makers = {o: e for e in program.equations for o in e.outputs}
        self.labels: dict[Variable, Label] = {}
        self.factors: dict[Pair, dict[str, Variable]] = {}
        self.mapping: dict[Variable, Atom] = {}
        self.held: dict[tuple[str, Variable], Atom] = {}
        self.parts: dict[Variable, Parts] = {}
        self.location: Location

    def run(self) -> Program:
        for equation in self.program.equations:
            moved = equation.substitute(self.mapping)
            self.location = equation.location
            found = self._sum(equation)
            if found is not None:
                self.mapping[equation.output] = found
                continue
            self.scope.add(moved)
            label = self._label(equation)
            if label is not None:
                self.labels[equation.output] = label
        return self.program.with_equations(self.scope.equations, self.mapping)

    def _record(self, primitive: str, *inputs: Atom, **params: Any) -> Variable:
        return self.scope.record(primitive, inputs, self.location, **params)

    def _label_of(self, atom: Atom) -> Label | None:
        return self.labels.get(atom) if isinstance(atom, Variable) else None

    # --- roles ---------------------------------------------------------------------------------

    def _label(self, equation: Equation) -> Label | None:
        if equation.primitive in FACTORISATIONS:
            return self._factor(equation)
        if len(equation.outputs) != 1 or equation.effects:
            return None
        labels = [self._label_of(atom) for atom in equation.inputs]
        known = [label for label in labels if label is not None]
        if not known or any(label.pair != known[0].pair for label in known):
            return None
        if equation.primitive == "where" and self._is_diagonal(equation):
            return replace(known[0], axes=(EIGEN, EIGEN), is_diagonal=True)
        if any(label.is_diagonal for label in known):
            return _with_diagonal(equation, labels) if equation.primitive == "contract" else None
        rule = _ROLES.get(equation.primitive)
        if rule is None and PRIMITIVES[equation.primitive].elementwise:
            rule = _elementwise
        return None if rule is None else rule(equation, labels)

    def _is_diagonal(self, equation: Equation) -> bool:
        """True for ``np.diag(f(w))``: ``np.where(np.eye(n, dtype=bool), f(w)[:, None], 0)``."""
        condition, values, others = equation.inputs
        made = self.makers.get(condition)  # type: ignore[arg-type]
        label = self._label_of(values)
        if made is None or made.primitive != "eye" or made.params["k"] or label is None:
            return False
        dims, n = equation.output.type.dims, label.cut.length
        is_zero = isinstance(others, Constant) and others.value == 0
        is_row = len([name for name in label.axes if name]) == 1 and label.degree == 0
        return is_zero and is_row and dims == (n, n) and not label.is_diagonal

    def _factor(self, equation: Equation) -> Label | None:
        primitive, params = equation.primitive, equation.params
        (x,), dims = equation.inputs, equation.inputs[0].type.dims
        if x.type.varies or 0 in dims[-2:]:
            return None
        pair = Pair(primitive, x, params.get("lower", True), minimum(*dims[-2:]))
        part = params.get("part", "S" if primitive == "svdvals" else "eigenvalues")
        self.factors.setdefault(pair, {})[part] = equation.output
        stack = tuple(f"b{axis}" for axis in range(len(dims) - 2))
        own = (EIGEN,) if part in _VALUES else (EIGEN, "") if part == "Vh" else ("", EIGEN)
        degree = int(part not in _VALUES)
        return Label(pair, degree, (*stack, *own), Cut(0, pair.n), is_conjugate=part == "Vh")

    # --- sums ----------------------------------------------------------------------------------

    def _sum(self, equation: Equation) -> Atom | None:
        """The result of a sum over eigenvectors, with its adjoint; None for other equations."""
        labels = [self._label_of(atom) for atom in equation.inputs]
        if not any(labels) or equation.primitive not in ("contract", "einsum", *_ALIKE):
            return None
        known = [label for label in labels if label is not None]
        if any(label.is_diagonal for label in known):
            return None
        if len(known) < len(labels) or any(
            (label.pair, label.cut) != (known[0].pair, known[0].cut) for label in known
        ):
            return None
        if equation.primitive in _ALIKE:
            return self._reduced(equation, known[0])
        terms = _terms(equation)
        if terms is None or not _is_sum(terms, known):
            return None
        places = [at for at, label in enumerate(known) if label.degree == 1]
        places.sort(key=lambda at: known[at].is_conjugate)
        first = known[places[0]]
        parts = [self._parts(atom) for atom in equation.inputs]
        names, result = terms
        letter = names[places[0]][first.axes.index(EIGEN)]
        stack = [names[places[0]][first.axes.index(b)] for b in _stack(first)]
        rows = [[c for c in names[at] if c not in (*stack, letter)] for at in places]
        linear = [self._as_matrices(parts[at].linear[0], known[at], joined=True) for at in places]
        sides = tuple(parts[at].sides[0] for at in places)
        axes = tuple(result.index(c) for c in (*stack, *rows[0], *rows[1]))
        weighted = [self._vectors(part, label) for part, label in zip(parts, known, strict=True)]
        return self._spectral(equation, first, linear, weighted, axes, None, sides)

    def _reduced(self, equation: Equation, label: Label) -> Atom | None:
        """A sum of values of degree 2, or of degree 0 over all eigenvalues."""
        (operand,), axis = equation.inputs, equation.params["axis"]
        if axis is None or label.axes.index(EIGEN) not in axis:
            return None
        if label.degree == 0 and label.cut == Cut(0, label.pair.n):
            is_choice = equation.primitive in _CHOICES
            if is_choice and label.pair.primitive not in ("eigh", "eigvalsh"):
                return None
            return self._again(equation, "evenly" if is_choice else "levels")
        if label.degree != 2 or equation.primitive != "sum":
            return None
        parts, at = self._parts(operand), label.axes.index(EIGEN)
        dims = operand.type.dims
        shape = (*dims[:at], label.pair.n, *dims[at + 1 :])
        spread_out = [
            atom if atom.type.dims == shape else self._record("broadcast_to", atom, shape=shape)
            for atom in parts.linear
        ]
        linear = [self._as_matrices(atom, label, joined=False) for atom in spread_out]
        spread = () if equation.params["keepdims"] else tuple(sorted(axis))
        vectors, axes = [self._vectors(parts, label)], _order(label)
        return self._spectral(equation, label, linear, vectors, axes, spread, parts.sides)

    def _spectral(
        self,
        equation: Equation,
        label: Label,
        linear: Sequence[Atom],
        parts: Sequence[Parts],
        axes: tuple[int, ...],
        spread: tuple[int, ...] | None,
        sides: tuple[str, ...],
    ) -> Atom | None:
        w = self._part(label.pair, "S" if label.pair.primitive == "svd" else "eigenvalues")
        together = parts[0]
        for part in parts[1:]:
            together = self._product("multiply", together, part)
        weights, slopes = (
            self._whole_of(self._filled(atom, default, label, w), label.cut, w)
            for atom, default in ((together.weights, 1), (together.slopes, 0))
        )
        value = self._again(equation, "held")
        x = substituted((label.pair.x,), self.mapping)[0]
        operands = (*linear, weights, slopes)
        if label.pair.primitive == "svd":
            u, vh = (self._part(label.pair, part) for part in ("U", "Vh"))
            inputs = (value, x, w, u, vh, *operands)
            return self._record("singular", *inputs, axes=axes, spread=spread, sides=sides)
        inputs = (value, x, w, self._part(label.pair, "eigenvectors"), *operands)
        return self._record("spectral", *inputs, axes=axes, spread=spread, lower=label.pair.lower)

    def _filled(self, atom: Atom | None, default: int, label: Label, w: Variable) -> Atom:
        """Weights or slopes as vectors, where they are the same for all eigenvalues, too."""
        shape = (*w.type.dims[:-1], label.cut.length)
        if isinstance(atom, Variable):
            atom = self._inexact(atom, w.type.dtype)
            same = atom.type.dims == shape
            return atom if same else self._record("broadcast_to", atom, shape=shape)
        number = Constant(default) if atom is None else atom
        return self._record("full", number, shape=shape, dtype=w.type.dtype)

    def _inexact(self, atom: Atom, dtype: Any) -> Atom:
        """Numbers to compute with: what is a comparison's would be added as booleans are."""
        is_number = isinstance(atom, Constant) or atom.type.inexact
        return atom if is_number else self._record("cast", atom, dtype=dtype)

    def _part(self, pair: Pair, part: str) -> Variable:
        """A part of the factors of a matrix, recorded unless the program has it."""
        found = self.factors[pair]
        if part not in found:
            x = substituted((pair.x,), self.mapping)[0]
            params = {"lower": pair.lower} if pair.primitive == "eigh" else {}
            found[part] = self._record(pair.primitive, x, part=part, **params)
        return found[part]

    def _whole_of(self, vectors: Atom, cut: Cut, w: Variable) -> Atom:
        """Values for all eigenvalues from those of the selected ones: 0 for the others."""
        n = w.type.dims[-1]
        if cut == Cut(0, n):
            return vectors
        rest = len(w.type.dims) - 1
        start = cut.start
        if cut.step < 0:
            dims = vectors.type.dims
            vectors = self._record(
                "slice",
                vectors,
                start=(*((0,),) * rest, (cut.length - 1,)),
                length=dims,
                step=(*(1,) * rest, -1),
                drop=(),
            )
            start = cut.start - cut.length + 1
        width = (start, n - start - cut.length)
        return self._record(
            "pad", vectors, pad_width=(*((0, 0),) * rest, width), mode="constant", value=0
        )

    def _as_matrices(self, atom: Atom, label: Label, joined: bool) -> Atom:
        """A linear function of the eigenvectors with the stack first and these last; the axes in
        between are ``joined``."""
        order = _order(label)
        if order != tuple(range(len(order))):
            atom = self._record("transpose", atom, axes=order)
        if not joined:
            return atom
        dims, stack = atom.type.dims, len(_stack(label))
        size: Any = 1
        for dim in dims[stack:-1]:
            size = size * dim
        shape = (*dims[:stack], size, dims[-1])
        return atom if shape == dims else self._record("reshape", atom, shape=shape)

    def _as_vectors(self, atom: Atom, label: Label) -> Atom:
        """Weights as a stack of vectors."""
        if isinstance(atom, Constant):
            return atom
        order = _order(label)
        if order != tuple(range(len(order))):
            atom = self._record("transpose", atom, axes=order)
        dims, stack = atom.type.dims, len(_stack(label))
        shape = (*dims[:stack], dims[-1])
        return atom if shape == dims else self._record("reshape", atom, shape=shape)

    def _vectors(self, part: Parts, label: Label) -> Parts:
        """The weights and slopes of a value alone, as stacks of vectors."""
        return replace(part.moved((), lambda atom: self._as_vectors(atom, label)), sides=())

    # --- values that are held ------------------------------------------------------------------

    def _again(self, equation: Equation, how: str) -> Variable:
        """An equation on operands that were computed from eigenvalues and eigenvectors that are
        ``held``, or from ``levels``, which may be read ``evenly``."""
        inputs = tuple(self._from(atom, how) for atom in equation.inputs)
        return self.scope.record(equation.primitive, inputs, equation.location, **equation.params)

    def _from(self, atom: Atom, how: str) -> Atom:
        label = self._label_of(atom)
        if label is None:
            return substituted((atom,), self.mapping)[0]
        assert isinstance(atom, Variable)
        if (how, atom) not in self.held:
            equation = self.makers[atom]
            if equation.primitive not in FACTORISATIONS:
                made: Atom = self._again(equation, how)
            elif how == "held":
                made = self._held(atom, equation, label.pair)
            else:
                x = substituted((label.pair.x,), self.mapping)[0]
                own: dict[str, Any] = {}
                if label.pair.primitive[0] == "e":
                    own = {"lower": label.pair.lower, "evenly": how == "evenly"}
                made = self._record("levels" if own else "singular_levels", atom, x, **own)
            self.held[how, atom] = made
        return self.held[how, atom]

    def _held(self, atom: Variable, equation: Equation, pair: Pair) -> Variable:
        """A factor whose cotangent is left to the sum: all of it, but for singular vectors the part
        outside of the space that they span."""
        part = equation.params.get("part", "")
        dims = pair.x.type.dims
        if (part == "U" and dims[-2] == pair.n) or (part == "Vh" and dims[-1] == pair.n):
            part = ""
        if part not in ("U", "Vh"):
            return self._record("held", atom)
        x = substituted((pair.x,), self.mapping)[0]
        s, other = self._part(pair, "S"), self._part(pair, "Vh" if part == "U" else "U")
        return self._record("outside", atom, x, s, other, part=part)

    # --- factors of values ---------------------------------------------------------------------

    def _parts(self, atom: Atom) -> Parts:
        assert isinstance(atom, Variable)
        if atom not in self.parts:
            equation, label = self.makers[atom], self.labels[atom]
            self.parts[atom] = self._made(equation, label)
        return self.parts[atom]

    def _made(self, equation: Equation, label: Label) -> Parts:
        if equation.primitive in FACTORISATIONS:
            if label.degree:
                return Parts((equation.output,), None, None, (equation.params["part"],))
            return Parts((), equation.output, _ONE)
        if label.is_diagonal:
            values, own = self._parts(equation.inputs[1]), self._label_of(equation.inputs[1])
            assert own is not None
            return self._vectors(values, own)
        if label.degree == 0:
            return Parts((), equation.output, self._slopes(equation))
        if equation.primitive in ("contract", "einsum", "solve"):
            return self._linear_product(equation)
        parts = [self._parts(atom) if self._label_of(atom) else None for atom in equation.inputs]
        if equation.primitive in ("power", "square"):
            assert parts[0] is not None
            return self._product("multiply", parts[0], parts[0])
        if equation.primitive in ("multiply", "divide"):
            x, y = (
                Parts((), substituted((atom,), self.mapping)[0], None) if part is None else part
                for atom, part in zip(equation.inputs, parts, strict=True)
            )
            uniform = [p is None for p in parts]
            if any(uniform):  # a factor that is the same for all eigenvalues
                return self._scaled(equation, x, y, uniform.index(True))
            first = self._label_of(equation.inputs[0])
            made = self._product(equation.primitive, x, y)
            is_turned = first is not None and first.is_conjugate and len(made.linear) == 2
            if not is_turned:
                return made
            return replace(made, linear=made.linear[::-1], sides=made.sides[::-1])
        (part, *_) = parts
        assert part is not None
        return self._arranged(equation, part)

    def _linear_product(self, equation: Equation) -> Parts:
        """A product of a value of degree 1 and others that are the same for all eigenvalues."""
        sides = [i for i, atom in enumerate(equation.inputs) if self._label_of(atom)]
        if len(sides) == 2:
            return self._times_weights(equation)
        (side,) = sides
        part, label = self._parts(equation.inputs[side]), self._label_of(equation.inputs[side])
        assert label is not None
        operands = [substituted((atom,), self.mapping)[0] for atom in equation.inputs]
        operands[side] = part.linear[0]
        made = self._record(equation.primitive, *operands, **equation.params)
        after = self.labels[equation.output]
        return part.moved((made,), lambda atom: self._respread(atom, label, after))

    def _times_weights(self, equation: Equation) -> Parts:
        """A product of a value of degree 1 and one of degree 0, which may be a diagonal matrix."""
        labels, after = [self.labels[v] for v in equation.variables], self.labels[equation.output]
        side = int(labels[0].degree == 0)
        weights = labels[1 - side]
        part, factor = (self._parts(equation.inputs[i]) for i in (side, 1 - side))
        x, y, result = Contraction.of(equation).names
        own, other = ((x, y), (y, x))[side]
        at = own[labels[side].axes.index(EIGEN)]
        letters = [at if weights.is_diagonal and c in other else c for c in result]
        order = tuple(own.index(letter) for letter in letters)
        linear = part.linear[0]
        if order != tuple(range(len(order))):
            linear = self._record("transpose", linear, axes=order)
        first = part.moved((), lambda atom: self._respread(atom, labels[side], after))
        row = replace(after, axes=(EIGEN,)) if weights.is_diagonal else weights
        second = factor.moved((), lambda atom: self._respread(atom, row, after))
        scaled = self._product("multiply", first, second)
        return replace(scaled, linear=(linear,), sides=part.sides)

    def _respread(self, atom: Atom, label: Label, after: Label) -> Atom:
        """Weights with the axes of another value."""
        if isinstance(atom, Constant):
            return atom
        vectors = self._as_vectors(atom, label)
        names = (*_stack(label), EIGEN)
        order = tuple(names.index(name) for name in (n for n in after.axes if n))
        if order != tuple(range(len(order))):
            vectors = self._record("transpose", vectors, axes=order)
        sizes = iter(vectors.type.dims)
        shape = tuple(next(sizes) if name else 1 for name in after.axes)
        return (
            vectors if shape == vectors.type.dims else self._record("reshape", vectors, shape=shape)
        )

    def _scaled(self, equation: Equation, x: Parts, y: Parts, uniform: int) -> Parts:
        own, other = (y, x) if uniform == 0 else (x, y)
        (factor,) = (other.weights,)
        assert factor is not None
        first, *rest = own.linear
        inputs = (factor, first) if uniform == 0 else (first, factor)
        scaled = self._record(equation.primitive, *inputs)
        dims = equation.output.type.ndim
        others = (self._padded(atom, dims) for atom in rest)
        return own.moved((scaled, *others), lambda atom: self._padded(atom, dims))

    def _padded(self, atom: Atom, ndim: int) -> Atom:
        """An array with axes of length 1 in front."""
        missing = ndim - atom.type.ndim
        if missing <= 0 or isinstance(atom, Constant):
            return atom
        return self._record("reshape", atom, shape=(*(1,) * missing, *atom.type.dims))

    def _product(self, primitive: str, x: Parts, y: Parts) -> Parts:
        """The product or quotient of two values; the slopes by the product rule."""
        dims = (
            max(
                atom.type.ndim
                for p in (x, y)
                for atom in (*p.linear, p.weights)
                if atom is not None
            )
            if any((*x.linear, x.weights, *y.linear, y.weights))
            else 0
        )
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
        weights = self._record(primitive, one, g)
        terms: list[Atom] = []
        if df is not None:
            terms.append(self._record(primitive, df, g))
        if dg is not None:
            factor = one if primitive == "multiply" else self._record("divide", weights, g)
            term = self._record("multiply", factor, dg)
            terms.append(term if primitive == "multiply" else self._record("negative", term))
        slopes = terms[0] if terms else None
        if len(terms) == 2:
            slopes = self._record("add", *terms)
        return Parts(linear, weights, slopes, sides)

    def _arranged(self, equation: Equation, part: Parts) -> Parts:
        """A rearrangement of a value of degree 1 or 2, of which no eigenvalue is left out here."""
        label = self._label_of(equation.inputs[0])
        assert label is not None
        primitive, params = equation.primitive, dict(equation.params)
        after = self.labels[equation.output]
        linear: Sequence[Atom]

        def applied(atom: Atom) -> Atom:
            return atom if isinstance(atom, Constant) else self._record(primitive, atom, **params)

        def selected(atom: Atom, is_weight: bool) -> Atom:
            """Keep all eigenvectors of linear functions, and those of the slice of weights."""
            if isinstance(atom, Constant):
                return atom
            own = {"start": (0,), "step": 1}
            chosen = {
                key: tuple(
                    item if (name == EIGEN) == is_weight else own.get(key, dim)
                    for name, item, dim in zip(label.axes, params[key], atom.type.dims, strict=True)
                )
                for key in ("start", "length", "step")
            }
            others = () if is_weight else substituted(equation.inputs[1:], self.mapping)
            return self._record(primitive, atom, *others, **{**params, **chosen})

        if primitive == "slice":
            linear = [selected(atom, False) for atom in part.linear]
            return part.moved(linear, lambda atom: selected(atom, True))
        if primitive == "conjugate":
            linear = [applied(atom) for atom in part.linear]
            return part.moved(linear, applied)
        if primitive == "negative":
            first, *rest = part.linear
            return replace(part, linear=(applied(first), *rest))
        if primitive in ("cast", "copy", "asarray"):
            return replace(part, linear=tuple(applied(atom) for atom in part.linear))
        if primitive == "reshape":
            linear = tuple(
                self._record(
                    "reshape",
                    atom,
                    shape=tuple(
                        atom.type.dims[label.axes.index(EIGEN)] if name == EIGEN else dim
                        for name, dim in zip(after.axes, equation.output.type.dims, strict=True)
                    ),
                )
                for atom in part.linear
            )
        else:
            linear = tuple(applied(atom) for atom in part.linear)
        return part.moved(linear, lambda atom: self._respread(atom, label, after))

    def _slopes(self, equation: Equation) -> Atom | None:
        """The derivative of a function of each eigenvalue, with what is the same for all held."""
        if not (is_differentiable(equation.primitive) and equation.output.type.inexact):
            return None
        slopes = [
            self._parts(atom).slopes if self._label_of(atom) else None for atom in equation.inputs
        ]
        active = tuple(slope is not None for slope in slopes)
        if not any(active):
            return None
        operands = [substituted((atom,), self.mapping)[0] for atom in equation.inputs]
        if equation.primitive == "where":
            chosen = (s or Constant(0.0) for s in slopes[1:])
            total: Atom = self._record("where", operands[0], *chosen)
            if total.type.dtype != equation.output.type.dtype:  # that of Python's numbers
                total = self._record("cast", total, dtype=equation.output.type.dtype)
        elif equation.primitive not in _ROLES:
            rule = rule_for(equation, active)
            known = [equation.output, *(a for a in operands if isinstance(a, Variable))]
            partials = self._inlined(rule.program, known)
            terms: list[Atom] = []
            for index, partial in zip(rule.targets, partials, strict=True):
                slope = slopes[index]
                assert slope is not None
                partial = self._inexact(partial, equation.output.type.dtype)
                terms.append(partial if slope is _ONE else self._record("multiply", partial, slope))
            total = terms[0]
            for term in terms[1:]:
                total = self._record("add", total, term)
        else:
            (slope,) = (s for s in slopes if s is not None)
            if isinstance(slope, Constant):
                return slope
            total = self._record(equation.primitive, slope, **equation.params)
        dims = equation.output.type.dims
        if isinstance(total, Variable) and total.type.dims != dims:
            total = self._record("broadcast_to", total, shape=dims)
        return total

    def _inlined(self, program: Program, inputs: Sequence[Atom]) -> list[Atom]:
        mapping: dict[Variable, Atom] = dict(zip(program.inputs, inputs, strict=True))
        for equation in program.equations:
            moved = equation.substitute(mapping)
            mapping[equation.output] = self._record(
                equation.primitive, *moved.inputs, **equation.params
            )
        return list(substituted(program.outputs, mapping))


# --- roles of results -------------------------------------------------------------------------

Roles: TypeAlias = "list[Label | None]"


def _elementwise(equation: Equation, labels: Roles) -> Label | None:
    """A function of each eigenvalue; products and quotients of higher degree."""
    label = _combined(equation, labels)
    degrees = [0 if one is None else one.degree for one in labels]
    if label is None or not _fits(equation, label, degrees, labels):
        return None
    degree = 2 if equation.primitive in ("power", "square") and any(degrees) else sum(degrees)
    if degree == 0 and not _is_of_each(equation, label):
        return None
    own = [one for one in labels if one is not None and one.degree]
    return replace(label, degree=degree, is_conjugate=len(own) == 1 and own[0].is_conjugate)


def _fits(equation: Equation, label: Label, degrees: list[int], labels: Roles) -> bool:
    """True if the degree of a result is known for operands of these degrees."""
    primitive, is_complex = equation.primitive, label.pair.x.type.dtype.kind == "c"
    if not any(degrees) or primitive == "negative":
        return True
    if primitive == "multiply":
        both = [one.is_conjugate for one in labels if one is not None and one.degree == 1]
        return sum(degrees) <= 2 and not (is_complex and len(both) == 2 and both[0] == both[1])
    if primitive == "divide":
        return degrees[1] == 0
    if primitive == "power":
        exponent = equation.inputs[1]
        is_square = isinstance(exponent, Constant) and exponent.value == 2
        return degrees == [1, 0] and is_square and not is_complex
    return primitive == "square" and degrees == [1] and not is_complex


def _is_of_each(equation: Equation, label: Label) -> bool:
    """True for a result that has one number for each eigenvalue, with a known slope."""
    dims = zip(label.axes, equation.output.type.dims, strict=True)
    if any(dim != 1 for name, dim in dims if not name):
        return False
    if not is_differentiable(equation.primitive) or equation.primitive == "where":
        return True
    function = rule_function(equation.primitive)
    return function is not None and kind_of(function) == "partials"


def _combined(equation: Equation, labels: Roles) -> Label | None:
    """The common axes of operands that are spread over each other."""
    ndim = equation.output.type.ndim
    axes: Axes | None = None
    cut: Cut | None = None
    for label in labels:
        if label is None:
            continue
        own = (*("",) * (ndim - len(label.axes)), *label.axes)
        if (axes is not None and axes != own) or (cut is not None and cut != label.cut):
            return None
        axes, cut = own, label.cut
    if axes is None or cut is None:
        return None
    at = axes.index(EIGEN) - ndim
    for atom, label in zip(equation.inputs, labels, strict=True):
        if label is None and atom.type.ndim >= -at and atom.type.dims[at] != 1:
            return None
    (first, *_) = (label for label in labels if label is not None)
    return replace(first, axes=axes, cut=cut, degree=0, is_conjugate=False)


def _arranged_label(equation: Equation, labels: Roles) -> Label | None:
    (label, *others), axes = labels, axis_map(equation)
    if label is None or others or axes is None:
        return None
    names = [""] * equation.output.type.ndim
    for name, place in zip(label.axes, axes.places(0), strict=True):
        if place is not None:
            names[place] = name
        elif name:
            return None
    return replace(label, axes=tuple(names))


def _cast(equation: Equation, labels: Roles) -> Label | None:
    (label,), types = labels, (equation.inputs[0].type, equation.output.type)
    if label is None or (label.degree and not all(t.inexact for t in types)):
        return None
    if equation.inputs[0].type.dtype.kind == "c" and equation.output.type.dtype.kind != "c":
        return None
    return _arranged_label(equation, labels)


def _conjugated(equation: Equation, labels: Roles) -> Label | None:
    (label,) = labels
    if label is None or label.degree == 2:
        return None
    return replace(label, is_conjugate=not label.is_conjugate) if label.degree else label


def _sliced(equation: Equation, labels: Roles) -> Label | None:
    """A selection of eigenvalues, from a start that is known, and of rows of a value that is linear
    in eigenvectors."""
    (label, *others), p = labels, equation.params
    if label is None or any(others):
        return None
    dims = equation.inputs[0].type.dims
    for axis, name in enumerate(label.axes):
        start, length, step = p["start"][axis], p["length"][axis], p["step"][axis]
        is_whole = (tuple(start), length, step) == ((0,), dims[axis], 1)
        if name == EIGEN:
            known = len(start) == 1 and isinstance(start[0], int) and isinstance(length, int)
            is_static = known and isinstance(dims[axis], int) and abs(step) == 1 and length >= 1
            if axis in p["drop"] or not (is_static or is_whole):
                return None
            if not is_whole:
                label = replace(label, cut=label.cut.of(start[0], length, step))
        elif (name or label.degree != 1) and (axis in p["drop"] or not is_whole):
            return None
    kept = (name for axis, name in enumerate(label.axes) if axis not in p["drop"])
    return replace(label, axes=tuple(kept))


def _product_label(equation: Equation, labels: Roles) -> Label | None:
    """A linear function of the eigenvectors: a product with what does not depend on them."""
    terms = _terms(equation)
    known = [(at, label) for at, label in enumerate(labels) if label is not None]
    if equation.primitive == "contract" and len(known) == 2:
        return _weighted(equation, [label for _, label in known])
    if terms is None or len(known) != 1 or known[0][1].degree != 1:
        return None
    (at, label), (names, result) = known[0], terms
    own = dict(zip(names[at], label.axes, strict=True))
    others = [c for i, one in enumerate(names) if i != at for c in one]
    for letter, name in own.items():
        if name and letter not in result:
            return None
        if name == EIGEN and letter in others:
            return None
    return replace(label, axes=tuple(own.get(letter, "") for letter in result))


def _weighted(equation: Equation, labels: Sequence[Label]) -> Label | None:
    """A product, without a sum, of a value of degree 1 and one of degree 0."""
    x, y, result = Contraction.of(equation).names
    (own, label), (other, weights) = sorted(
        zip((x, y), labels, strict=True), key=lambda one: -one[1].degree
    )
    names, of_weights = (
        dict(zip(letters, one.axes, strict=True))
        for letters, one in ((own, label), (other, weights))
    )
    if (label.degree, weights.degree) != (1, 0) or label.cut != weights.cut:
        return None
    if any(not name or names.get(c) != name for c, name in of_weights.items()):
        return None
    if sorted(own) != sorted(result):
        return None
    return replace(label, axes=tuple(names[c] for c in result))


def _solved(equation: Equation, labels: Roles) -> Label | None:
    """Systems whose right sides are linear in eigenvectors, a system for each."""
    matrix, label = labels
    fits = equation.output.type.ndim == equation.inputs[1].type.ndim > 1
    if matrix is not None or label is None or not fits or label.degree != 1:
        return None
    return label if label.axes[-2:] == ("", EIGEN) else None


def _with_diagonal(equation: Equation, labels: Roles) -> Label | None:
    """A product of a value of degree 1 and a diagonal matrix of values of degree 0."""
    sides = [i for i, one in enumerate(labels) if one is not None and not one.is_diagonal]
    if len(sides) != 1:
        return None
    (side,) = sides
    label, diagonal = labels[side], labels[1 - side]
    if label is None or diagonal is None or label.degree != 1:
        return None
    x, y, result = Contraction.of(equation).names
    own, other = ((x, y), (y, x))[side]
    at = own[label.axes.index(EIGEN)]
    if label.cut != diagonal.cut or [c for c in own if c in other] != [at] or at in result:
        return None
    names = dict(zip(own, label.axes, strict=True))
    return replace(label, axes=tuple(EIGEN if c in other else names[c] for c in result))


_ROLES: Mapping[str, Callable[[Equation, Roles], Label | None]] = {
    **dict.fromkeys(("transpose", "expand_dims", "squeeze", "reshape"), _arranged_label),
    **dict.fromkeys(("copy", "asarray"), _arranged_label),
    "cast": _cast,
    "conjugate": _conjugated,
    "slice": _sliced,
    "contract": _product_label,
    "einsum": _product_label,
    "solve": _solved,
}


def _terms(equation: Equation) -> tuple[list[tuple[str, ...]], tuple[str, ...]] | None:
    """The names of the axes of a product's operands and of its result."""
    if equation.primitive == "contract":
        x, y, out = Contraction.of(equation).names
        return [x, y], out
    left, _, right = equation.params["subscripts"].partition("->")
    terms = [tuple(term) for term in left.split(",")]
    if any(len(set(term)) < len(term) for term in terms):
        return None
    return terms, tuple(right)


def _is_sum(terms: tuple[list[tuple[str, ...]], tuple[str, ...]], labels: list[Label]) -> bool:
    """True for a sum over eigenvectors of two values of degree 1 and any number of degree 0. Axes
    of a stack go together and are kept, all other axes are those of one operand, and are kept."""
    names, result = terms
    if sorted(label.degree for label in labels)[-2:] != [1, 1]:
        return False
    if sum(label.degree for label in labels) != 2:
        return False
    first, second = (label for label in labels if label.degree)
    is_complex = first.pair.x.type.dtype.kind == "c"
    if is_complex and first.is_conjugate == second.is_conjugate:
        return False
    letters: dict[str, str] = {}
    free: list[str] = []
    for own, label in zip(names, labels, strict=True):
        for letter, name in zip(own, label.axes, strict=True):
            if name:
                if letters.setdefault(name, letter) != letter:
                    return False
            elif label.degree == 0:
                return False
            else:
                free.append(letter)
    kept = [*(letter for name, letter in letters.items() if name != EIGEN), *free]
    return len(set(kept)) == len(kept) and sorted(kept) == sorted(result)


def _stack(label: Label) -> list[str]:
    return sorted((name for name in label.axes if name and name != EIGEN), key=lambda b: int(b[1:]))


def _order(label: Label) -> tuple[int, ...]:
    """The axes in the order stack, others, eigenvalues."""
    stack = [label.axes.index(name) for name in _stack(label)]
    others = [axis for axis, name in enumerate(label.axes) if not name]
    return (*stack, *others, label.axes.index(EIGEN))


# --- eigenvectors by themselves ---------------------------------------------------------------


def _with_columns(program: Program) -> Program:
    """Say of slices which eigenvectors they read."""
    factors: dict[Variable, Equation] = {
        e.output: e
        for e in program.equations
        if e.primitive == "eigh" and e.params["part"] == "eigenvectors"
    }
    scope = Scope(program)
    for equation in program.equations:
        made = factors.get(equation.inputs[0]) if equation.primitive == "slice" else None  # type: ignore[arg-type]
        read = None if made is None else _read(equation)
        if made is not None and read is not None:
            (x,), lower = made.inputs, made.params["lower"]
            w = scope.record("eigh", (x,), made.location, part="eigenvalues", lower=lower)
            inputs = (made.output, x, w)
            start, stop = read
            own = scope.record(
                "columns", inputs, equation.location, lower=lower, start=start, stop=stop
            )
            equation = equation.with_inputs((own, *equation.inputs[1:]))
        scope.add(equation)
    return program.with_equations(scope.equations)


def _read(equation: Equation) -> tuple[int, int] | None:
    """The first and the last column that a slice reads."""
    p = equation.params
    start, length, step = p["start"][-1], p["length"][-1], p["step"][-1]
    if len(start) != 1 or not isinstance(start[0], int) or not isinstance(length, int):
        return None
    last = start[0] + step * (length - 1)
    return (min(start[0], last), max(start[0], last) + 1) if length else None
