"""Functions of symmetric matrices, found before a program is differentiated.

With ``w, v = np.linalg.eigh(x)`` a product such as ``(v * f(w)) @ v.T`` is a function of ``x`` that
may be smooth where eigenvalues coincide, though ``v`` is not. The search is for sums over
eigenvectors: over ``j`` of ``left[:, j] * f(w[j]) * right[:, j]``, where ``left`` and ``right`` are
any linear functions of ``v``, and ``f`` is the same function for each eigenvalue. The sum is
computed from ``v`` and ``w`` that are ``held``, and ``spectral`` gives the matrix its share of
the sum's cotangent. Sums of ``f(w[j])`` alone read ``levels``. Any other reader of ``v`` gets the
derivative for distinct eigenvalues, and NaN at equal ones. So the derivative is that of a function
that does not depend on the basis which LAPACK has chosen for equal eigenvalues, or it is NaN.

Which values are on the way, and in what role, `stcompile.ad.matrix_roles` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stcompile.ad.matrix_roles import (
    EIGEN,
    ROLES,
    Cut,
    Label,
    Pair,
    elementwise_role,
    is_sum,
    order_of,
    stack_of,
    terms_of,
    with_diagonal,
)
from stcompile.ad.rules import is_differentiable, rule_for
from stcompile.base.location import Location
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Scope
from stcompile.wengert.bounds import minimum
from stcompile.wengert.ir import (
    Atom,
    Constant,
    Equation,
    Program,
    Variable,
    substituted,
)
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.primitives.spectra import FACTORISATIONS, has_factors

_ONE = Constant(1.0)
_VALUES = ("eigenvalues", "S")
_CHOICES = ("max", "min")
_ALIKE = ("sum", "mean", "prod", "var", "std", *_CHOICES)  # these treat all eigenvalues alike


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
            return with_diagonal(equation, labels) if equation.primitive == "contract" else None
        rule = ROLES.get(equation.primitive)
        if rule is None and PRIMITIVES[equation.primitive].elementwise:
            rule = elementwise_role
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
        terms = terms_of(equation)
        if terms is None or not is_sum(terms, known):
            return None
        places = [at for at, label in enumerate(known) if label.degree == 1]
        places.sort(key=lambda at: known[at].is_conjugate)
        first = known[places[0]]
        parts = [self._parts(atom) for atom in equation.inputs]
        names, result = terms
        letter = names[places[0]][first.axes.index(EIGEN)]
        stack = [names[places[0]][first.axes.index(b)] for b in stack_of(first)]
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
        vectors, axes = [self._vectors(parts, label)], order_of(label)
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
        order = order_of(label)
        if order != tuple(range(len(order))):
            atom = self._record("transpose", atom, axes=order)
        if not joined:
            return atom
        dims, stack = atom.type.dims, len(stack_of(label))
        size: Any = 1
        for dim in dims[stack:-1]:
            size = size * dim
        shape = (*dims[:stack], size, dims[-1])
        return atom if shape == dims else self._record("reshape", atom, shape=shape)

    def _as_vectors(self, atom: Atom, label: Label) -> Atom:
        """Weights as a stack of vectors."""
        if isinstance(atom, Constant):
            return atom
        order = order_of(label)
        if order != tuple(range(len(order))):
            atom = self._record("transpose", atom, axes=order)
        dims, stack = atom.type.dims, len(stack_of(label))
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
        names = (*stack_of(label), EIGEN)
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
        elif equation.primitive not in ROLES:
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
