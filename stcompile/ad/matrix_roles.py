"""Roles of values in functions of matrices: what an equation makes of functions of eigenvalues.

A value that is on the way to a sum over eigenvectors has a degree: 0 for ``f(w[j])``, 1 for
``left[:, j] * f(w[j])``, and 2 for ``left[:, j] * f(w[j]) * right[:, j]``
(`stcompile.ad.matrix_functions`). The role of a result follows from those of the operands; any
operation that is not in this module ends the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from stcompile.ad.rules import is_differentiable, kind_of, rule_function
from stcompile.wengert.dims import Size
from stcompile.wengert.ir import Atom, Constant, Equation
from stcompile.wengert.primitives.axis_rules import axis_map
from stcompile.wengert.primitives.contraction import Contraction

Axes: TypeAlias = tuple[str, ...]
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


Roles: TypeAlias = "list[Label | None]"


def elementwise_role(equation: Equation, labels: Roles) -> Label | None:
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
    terms = terms_of(equation)
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


def with_diagonal(equation: Equation, labels: Roles) -> Label | None:
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


ROLES: Mapping[str, Callable[[Equation, Roles], Label | None]] = {
    **dict.fromkeys(("transpose", "expand_dims", "squeeze", "reshape"), _arranged_label),
    **dict.fromkeys(("copy", "asarray"), _arranged_label),
    "cast": _cast,
    "conjugate": _conjugated,
    "slice": _sliced,
    "contract": _product_label,
    "einsum": _product_label,
    "solve": _solved,
}


def terms_of(equation: Equation) -> tuple[list[tuple[str, ...]], tuple[str, ...]] | None:
    """The names of the axes of a product's operands and of its result."""
    if equation.primitive == "contract":
        x, y, out = Contraction.of(equation).names
        return [x, y], out
    left, _, right = equation.params["subscripts"].partition("->")
    terms = [tuple(term) for term in left.split(",")]
    if any(len(set(term)) < len(term) for term in terms):
        return None
    return terms, tuple(right)


def is_sum(terms: tuple[list[tuple[str, ...]], tuple[str, ...]], labels: list[Label]) -> bool:
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


def stack_of(label: Label) -> list[str]:
    return sorted((name for name in label.axes if name and name != EIGEN), key=lambda b: int(b[1:]))


def order_of(label: Label) -> tuple[int, ...]:
    """The axes in the order stack, others, eigenvalues."""
    stack = [label.axes.index(name) for name in stack_of(label)]
    others = [axis for axis, name in enumerate(label.axes) if not name]
    return (*stack, *others, label.axes.index(EIGEN))
