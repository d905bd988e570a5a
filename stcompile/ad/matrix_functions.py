"""Functions of symmetric matrices, found before a program is differentiated.

With ``w, v = np.linalg.eigh(x)`` a product such as ``(v * f(w)) @ v.T`` is a function of ``x`` that
may be smooth where eigenvalues coincide, though ``v`` is not. The search is for sums over
eigenvectors: over ``j`` of ``left[:, j] * f(w[j]) * right[:, j]``, where ``left`` and ``right`` are
any linear functions of ``v``, and ``f`` is the same function for each eigenvalue. The sum is
computed from ``v`` and ``w`` that are ``held``, and ``spectral`` gives the matrix its share of
the sum's cotangent. Sums of ``f(w[j])`` alone read ``levels``. Any other reader of ``v`` gets the
derivative for distinct eigenvalues, and NaN at equal ones. So the derivative is that of a function
that does not depend on the basis which LAPACK has chosen for equal eigenvalues, or it is NaN.

Which values are on the way, and in what role, `stcompile.ad.matrix_roles` says;
`stcompile.ad.matrix_parts` takes them apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stcompile.ad.matrix_parts import Found, Parts, Values
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
from stcompile.passes.general.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.general.rebuild import Scope
from stcompile.wengert.bounds import minimum
from stcompile.wengert.ir import Atom, Constant, Equation, Program, Variable, substituted
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.spectra import FACTORISATIONS, has_factors

_VALUES = ("eigenvalues", "S")
_CHOICES = ("max", "min")
_ALIKE = ("sum", "mean", "prod", "var", "std", *_CHOICES)  # these treat all eigenvalues alike


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
        self.found = found = Found(program)
        self.record, self.label_of, self.now = found.record, found.label_of, found.now
        self.values = Values(found)
        self.factors: dict[Pair, dict[str, Variable]] = {}
        self.held: dict[tuple[str, Variable], Atom] = {}

    def run(self) -> Program:
        for equation in self.program.equations:
            moved = equation.substitute(self.found.mapping)
            self.found.location = equation.location
            found = self._sum(equation)
            if found is not None:
                self.found.mapping[equation.output] = found
                continue
            self.found.scope.add(moved)
            label = self._label(equation)
            if label is not None:
                self.found.labels[equation.output] = label
        return self.program.with_equations(self.found.scope.equations, self.found.mapping)

    # --- roles ---------------------------------------------------------------------------------

    def _label(self, equation: Equation) -> Label | None:
        if equation.primitive in FACTORISATIONS:
            return self._factor(equation)
        if len(equation.outputs) != 1 or equation.effects:
            return None
        labels = [self.label_of(atom) for atom in equation.inputs]
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
        made = self.found.makers.get(condition)  # type: ignore[arg-type]
        label = self.label_of(values)
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
        labels = [self.label_of(atom) for atom in equation.inputs]
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
        parts = [self.values.of(atom) for atom in equation.inputs]
        names, result = terms
        letter = names[places[0]][first.axes.index(EIGEN)]
        stack = [names[places[0]][first.axes.index(b)] for b in stack_of(first)]
        rows = [[c for c in names[at] if c not in (*stack, letter)] for at in places]
        linear = [self._as_matrices(parts[at].linear[0], known[at], joined=True) for at in places]
        sides = tuple(parts[at].sides[0] for at in places)
        axes = tuple(result.index(c) for c in (*stack, *rows[0], *rows[1]))
        weighted = [
            self.values.vectors(part, label) for part, label in zip(parts, known, strict=True)
        ]
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
        parts, at = self.values.of(operand), label.axes.index(EIGEN)
        dims = operand.type.dims
        shape = (*dims[:at], label.pair.n, *dims[at + 1 :])
        spread_out = [
            atom if atom.type.dims == shape else self.record("broadcast_to", atom, shape=shape)
            for atom in parts.linear
        ]
        linear = [self._as_matrices(atom, label, joined=False) for atom in spread_out]
        spread = () if equation.params["keepdims"] else tuple(sorted(axis))
        vectors, axes = [self.values.vectors(parts, label)], order_of(label)
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
            together = self.values.product("multiply", together, part)
        weights, slopes = (
            self._whole_of(self._filled(atom, default, label, w), label.cut, w)
            for atom, default in ((together.weights, 1), (together.slopes, 0))
        )
        value = self._again(equation, "held")
        x = substituted((label.pair.x,), self.found.mapping)[0]
        operands = (*linear, weights, slopes)
        if label.pair.primitive == "svd":
            u, vh = (self._part(label.pair, part) for part in ("U", "Vh"))
            inputs = (value, x, w, u, vh, *operands)
            return self.record("singular", *inputs, axes=axes, spread=spread, sides=sides)
        inputs = (value, x, w, self._part(label.pair, "eigenvectors"), *operands)
        return self.record("spectral", *inputs, axes=axes, spread=spread, lower=label.pair.lower)

    def _filled(self, atom: Atom | None, default: int, label: Label, w: Variable) -> Atom:
        """Weights or slopes as vectors, where they are the same for all eigenvalues, too."""
        shape = (*w.type.dims[:-1], label.cut.length)
        if isinstance(atom, Variable):
            atom = self.values.inexact(atom, w.type.dtype)
            same = atom.type.dims == shape
            return atom if same else self.record("broadcast_to", atom, shape=shape)
        number = Constant(default) if atom is None else atom
        return self.record("full", number, shape=shape, dtype=w.type.dtype)

    def _part(self, pair: Pair, part: str) -> Variable:
        """A part of the factors of a matrix, recorded unless the program has it."""
        found = self.factors[pair]
        if part not in found:
            x = self.now(pair.x)
            params = {"lower": pair.lower} if pair.primitive == "eigh" else {}
            found[part] = self.record(pair.primitive, x, part=part, **params)
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
            vectors = self.record(
                "slice",
                vectors,
                start=(*((0,),) * rest, (cut.length - 1,)),
                length=dims,
                step=(*(1,) * rest, -1),
                drop=(),
            )
            start = cut.start - cut.length + 1
        width = (start, n - start - cut.length)
        return self.record(
            "pad", vectors, pad_width=(*((0, 0),) * rest, width), mode="constant", value=0
        )

    def _as_matrices(self, atom: Atom, label: Label, joined: bool) -> Atom:
        """A linear function of the eigenvectors with the stack first and these last; the axes in
        between are ``joined``."""
        atom = self.values.transposed(atom, order_of(label))
        if not joined:
            return atom
        dims, stack = atom.type.dims, len(stack_of(label))
        return self.values.reshaped(atom, (*dims[:stack], math.prod(dims[stack:-1]), dims[-1]))

    # --- values that are held ------------------------------------------------------------------

    def _again(self, equation: Equation, how: str) -> Variable:
        """An equation on operands that were computed from eigenvalues and eigenvectors that are
        ``held``, or from ``levels``, which may be read ``evenly``."""
        inputs = tuple(self._from(atom, how) for atom in equation.inputs)
        return self.found.scope.record(
            equation.primitive, inputs, equation.location, **equation.params
        )

    def _from(self, atom: Atom, how: str) -> Atom:
        label = self.label_of(atom)
        if label is None:
            return self.now(atom)
        assert isinstance(atom, Variable)
        if (how, atom) not in self.held:
            equation = self.found.makers[atom]
            if equation.primitive not in FACTORISATIONS:
                made: Atom = self._again(equation, how)
            elif how == "held":
                made = self._held(atom, equation, label.pair)
            else:
                x = substituted((label.pair.x,), self.found.mapping)[0]
                own: dict[str, Any] = {}
                if label.pair.primitive[0] == "e":
                    own = {"lower": label.pair.lower, "evenly": how == "evenly"}
                made = self.record("levels" if own else "singular_levels", atom, x, **own)
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
            return self.record("held", atom)
        x = self.now(pair.x)
        s, other = self._part(pair, "S"), self._part(pair, "Vh" if part == "U" else "U")
        return self.record("outside", atom, x, s, other, part=part)


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
