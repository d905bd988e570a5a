"""Rules that name the axes of each primitive, and that write its params for other operands."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from stcompile.codegen_templates.numpy.subscripts import has_masks
from stcompile.wengert.bounds import least
from stcompile.wengert.dims import Size, UnknownSizeError
from stcompile.wengert.ir import Equation
from stcompile.wengert.primitives import PRIMITIVES
from stcompile.wengert.primitives.axes import Asked, AxisMap, Name, Named, Names, Rule, Written
from stcompile.wengert.primitives.contraction import Contraction
from stcompile.wengert.primitives.indexing import axes_taken, is_mask


def axis_map(equation: Equation) -> AxisMap | None:
    """The map of an equation's axes; None if nothing is known of them."""
    rule = RULES.get(equation.primitive)
    types = [atom.type for atom in (*equation.inputs, *equation.outputs)]
    if rule is None or any(t.kind in ("stack", "object") for t in types):
        return None
    return AxisMap.of(equation, rule)


# --- elementwise, and what keeps its axes ---------------------------------------------------------


def _spread(equation: Equation) -> Named | None:
    """Each operand has the last axes of the result."""
    ndim = equation.output.type.ndim
    if any(atom.type.ndim > ndim for atom in equation.inputs):
        return None
    operands = [range(ndim - atom.type.ndim, ndim) for atom in equation.inputs]
    return Named(operands, range(ndim), spread=[range(ndim)] * len(operands))


def _filled(equation: Equation) -> Named | None:
    names = range(equation.output.type.ndim)
    return None if equation.inputs[0].type.dims else Named([()], names)


def _shape(asked: Asked) -> Written:
    return {**asked.axes.equation.params, "shape": asked.shape()}


def _axes_of(equation: Equation) -> tuple[int, ...]:
    axis = equation.params["axis"]
    return axis if isinstance(axis, tuple) else (axis,)


def _along(equation: Equation) -> Named:
    """All operands have the axes of the result; some axes are taken as a whole."""
    names = range(equation.output.type.ndim)
    return Named([names] * len(equation.inputs), names, _axes_of(equation))


def _rolled(asked: Asked) -> Written | None:
    axes, (now,) = _axes_of(asked.axes.equation), asked.operands
    if not set(axes) <= set(now):
        return None
    return {**asked.axes.equation.params, "axis": tuple(now.index(axis) for axis in axes)}


def _padded(equation: Equation) -> Named:
    names = range(equation.output.type.ndim)
    widths = equation.params["pad_width"]
    return Named([names], names, [axis for axis in names if any(widths[axis])])


def _reduced(equation: Equation) -> Named | None:
    if equation.params["axis"] is None:
        return None  # of the flattened array
    names, gone = range(equation.inputs[0].type.ndim), _axes_of(equation)
    kept = names if equation.params["keepdims"] else [n for n in names if n not in gone]
    return Named([names], kept, gone)


# --- arrangement ----------------------------------------------------------------------------------


def _transposed(equation: Equation) -> Named:
    axes = equation.params["axes"]
    return Named([range(len(axes))], axes)


def _turned(asked: Asked) -> Written:
    return {"axes": tuple(asked.operands[0].index(name) for name in asked.result)}


def _expanded(equation: Equation) -> Named:
    names, new = range(equation.output.type.ndim), _axes_of(equation)
    return Named([[n for n in names if n not in new]], names)


def _squeezed(equation: Equation) -> Named:
    names, gone = range(equation.inputs[0].type.ndim), _axes_of(equation)
    return Named([names], [n for n in names if n not in gone])


def _stacked(equation: Equation) -> Named:
    names, (new,) = range(equation.output.type.ndim), _axes_of(equation)
    own = [n for n in names if n != new]
    return Named([own] * len(equation.inputs), names, [new])


def _diagonal(equation: Equation) -> Named:
    names, p = range(equation.inputs[0].type.ndim), equation.params
    gone = (p["axis1"], p["axis2"])
    rest = [n for n in names if n not in gone]
    return Named([names], [*rest, len(names)], [*gone, len(names)])


def _last(asked: Asked) -> Written | None:
    return RULES["diagonal"].params(asked) if asked.result[-1:] == asked.axes.result[-1:] else None


def groups(
    before: Sequence[Size], after: Sequence[Size]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]] | None:
    """The groups of axes that a reshape turns into each other. Axes of length 1 belong to the group
    before them. None if there are no such groups.

    >>> groups((100, 16, 5, 1, 5), (100, 400))
    [((0,), (0,)), ((1, 2, 3, 4), (1,))]
    """
    try:
        return _groups(before, after)
    except UnknownSizeError:
        return None


def _groups(
    before: Sequence[Size], after: Sequence[Size]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]] | None:
    found = []
    left, right = list(range(len(before))), list(range(len(after)))
    while left or right:
        old, new = left[:1], right[:1]
        del left[:1], right[:1]
        while (a := math.prod(before[i] for i in old)) != (b := math.prod(after[i] for i in new)):
            if least(b - a) > 0 and left:
                old.append(left.pop(0))
            elif least(a - b) > 0 and right:
                new.append(right.pop(0))
            else:
                return None
        while left and before[left[0]] == 1:
            old.append(left.pop(0))
        while right and after[right[0]] == 1:
            new.append(right.pop(0))
        found.append((tuple(old), tuple(new)))
    return found


def _reshaped(equation: Equation) -> Named | None:
    """An axis that is neither split nor joined keeps its name."""
    before, after = equation.inputs[0].type.dims, equation.output.type.dims
    found = groups(before, after)
    if found is None:
        return None
    own: list[Name] = [("old", axis) for axis in range(len(before))]
    names: list[Name] = [("new", axis) for axis in range(len(after))]
    for old, new in found:
        longer = [a for a in old if before[a] != 1], [a for a in new if after[a] != 1]
        if len(longer[0]) == len(longer[1]) == 1:
            own[longer[0][0]] = names[longer[1][0]] = longer[0][0]
    whole = [name for name in (*own, *names) if isinstance(name, tuple)]
    return Named([own], names, whole)


def regrouped(axes: AxisMap, operand: Names) -> Names | None:
    """The axes of the result of a reshape for an operand whose axes are in another order: axes that
    are joined must be adjacent, else None."""
    (own,), dims = axes.operands, axes.equation.inputs[0].type.dims
    found = groups(dims, axes.equation.output.type.dims) or []
    if not set(own) <= set(operand):
        return None
    joined: list[tuple[list[Name], list[Name]]] = [
        ([own[a] for a in old if dims[a] != 1], [axes.result[a] for a in new]) for old, new in found
    ]
    joined += [([name], [name]) for name in operand if name not in own]
    rest = [name for name in operand if axes.lengths.get(name) != 1]
    result: list[Name] = []
    for old, new in sorted(joined, key=lambda one: min(map(rest.index, one[0]), default=-1)):
        if rest[: len(old)] != old:
            return None
        del rest[: len(old)]
        result += new
    return tuple(result)


def _regrouped(asked: Asked) -> Written | None:
    return _shape(asked) if regrouped(asked.axes, asked.operands[0]) == asked.result else None


# --- parts ----------------------------------------------------------------------------------------

PART: tuple[tuple[str, Callable[[int], Any]], ...] = (
    ("start", lambda length: (0,)),
    ("length", lambda length: length),
    ("step", lambda length: 1),
)


def _part(equation: Equation) -> Named | None:
    """The axes of a slice, an update, or an accumulation of a slice: the part has the axes that are
    kept."""
    p, (source, *others) = equation.params, equation.inputs
    if p.get("op") == "add":
        return _spread(equation)
    if p.get("op", "slice") != "slice":
        return None
    names = range(source.type.ndim)
    bounds = zip(names, source.type.dims, p["start"], p["length"], p["step"], strict=True)
    whole = [
        axis
        for axis, dim, start, length, step in bounds
        if axis in p["drop"] or any(part != 0 for part in start) or (length, step) != (dim, 1)
    ]
    kept = [axis for axis in names if axis not in p["drop"]]
    if equation.primitive == "slice":
        return Named([names, *[()] * len(others)], kept, whole)
    value, *counters = others
    if value.type.ndim > len(kept):
        return None
    own = kept[len(kept) - value.type.ndim :]
    over = [None, kept, *[None] * len(counters)]
    return Named([names, own, *[()] * len(counters)], names, whole, over)


def _windows(equation: Equation) -> Named:
    p, names = equation.params, range(equation.inputs[0].type.ndim)
    natural = range(len(names) + len(p["axis"]))
    result = p["order"] or natural
    return Named([names], result, [*p["axis"], *natural[len(names) :]])


def _windowed(asked: Asked) -> Written | None:
    p, own, (now,) = asked.axes.equation.params, asked.axes.operands[0], asked.operands
    if not {own[axis] for axis in p["axis"]} <= set(now):
        return None
    natural = (*now, *range(len(own), len(own) + len(p["axis"])))
    order = tuple(natural.index(name) for name in asked.result)
    axis = tuple(now.index(own[axis]) for axis in p["axis"])
    return {**p, "axis": axis, "order": order if order != tuple(range(len(order))) else ()}


def _indexed(equation: Equation) -> Named | None:
    """The common axes of the indices, and the axes of the array that are not indexed. A mask takes
    several axes, and makes an axis of another length."""
    if has_masks(equation.params["at"]):
        return None
    source, *indices = equation.inputs
    at, dims = equation.params["at"], source.type.dims
    own = range(len(dims))
    ndim = max((index.type.ndim for index in indices), default=0)
    common: Names = tuple(("common", axis) for axis in range(ndim))
    taken = zip(own, [entry for entry in at if entry != "new"], dims, strict=False)
    whole: list[Name] = [axis for axis, entry, dim in taken if entry != (0, dim, 1)]
    result = picked(at, own, common)
    operands = [own, *(common[ndim - index.type.ndim :] for index in indices)]
    whole += [name for name in result if name not in own and name not in common]
    return Named(operands, result, whole, [None, *[common] * len(indices)])


def picked(at: Sequence[Any], own: Sequence[Name], common: Names) -> Names:
    """The axes of ``x[...]`` by NumPy's rules of advanced indexing."""
    rest, names, new = list(own), list[Name](), itertools.count()
    where: list[tuple[int, int]] = []
    for position, entry in enumerate(at):
        if entry == "new":
            names.append(("created", next(new)))
        elif entry == "index" or is_mask(entry):
            where.append((position, len(names)))
            del rest[: axes_taken(entry)]
        else:
            names.append(rest.pop(0))
    adjacent = all(b[0] - a[0] == 1 for a, b in itertools.pairwise(where))
    place = where[0][1] if where and adjacent else 0
    return (*names[:place], *common, *names[place:], *rest)


def _indexed_again(asked: Asked) -> Written | None:
    """The params with additional axes, in front of the array's own or of the indices'."""
    (now, *indices), (own, *_) = asked.operands, asked.axes.operands
    new = now[: len(now) - len(own)]
    if now[len(new) :] != own:
        return None
    common = tuple(n for n in asked.result if any(n in names for names in indices))
    at = (*((0, asked.lengths[name], 1) for name in new), *asked.axes.equation.params["at"])
    fits = picked(at, now, common) == asked.result and not set(new) & set(common)
    return {"at": at} if fits else None


# --- products, matrices ---------------------------------------------------------------------------


def _contracted(equation: Equation) -> Named:
    x, y, result = Contraction.of(equation).names
    return Named((x, y), result, [name for name in x if name in y and name not in result])


def _contracted_again(asked: Asked) -> Written:
    x, y = asked.operands
    return {**Contraction.of(asked.axes.equation).renamed(x, y, asked.result).params}


def _summed(equation: Equation) -> Named | None:
    terms, result = _terms(equation)
    if any(len(set(term)) < len(term) for term in terms):
        return None  # a diagonal
    return Named(terms, result, [n for term in terms for n in term if n not in result])


def _terms(equation: Equation) -> tuple[list[str], str]:
    terms, _, result = equation.params["subscripts"].partition("->")
    return terms.split(","), result


def _summed_again(asked: Asked) -> Written:
    letters = iter(c for c in string.ascii_letters if c not in asked.axes.lengths)
    own = asked.axes.lengths
    called = {name: str(name) if name in own else next(letters) for name in asked.lengths}
    *terms, result = [
        "".join(called[n] for n in names) for names in (*asked.operands, asked.result)
    ]
    return {"subscripts": f"{','.join(terms)}->{result}"}


def _matrices(equation: Equation) -> Named:
    """A stack of matrices: its last two axes are taken as a whole."""
    ndim = equation.inputs[0].type.ndim
    stack, matrix = range(ndim - 2), ["row", "column"]
    left = equation.output.type.ndim - len(stack)
    new = [f"axis{at}" for at in range(left)]
    return Named([[*stack, *matrix]], [*stack, *new], [*matrix, *new])


def _stack_of_matrices(asked: Asked) -> Written | None:
    """The new params, if the axes of the matrices keep their positions."""
    pairs = ((asked.operands[0], asked.axes.operands[0]), (asked.result, asked.axes.result))
    for now, own in pairs:
        last = tuple(name for name in own if isinstance(name, str))
        if now[len(now) - len(last) :] != last:
            return None
    return {**asked.axes.equation.params}


def _looked_up(place: int) -> Callable[[Equation], Named]:
    """The axes of a function of each element of the operand at ``place``; the other operands are
    vectors."""

    def names(equation: Equation) -> Named:
        operands: list[Names] = [("entry",)] * len(equation.inputs)
        operands[place] = tuple(range(equation.inputs[place].type.ndim))
        return Named(operands, operands[place], ["entry"])

    return names


def _vectors_stay(asked: Asked) -> Written | None:
    own = asked.axes.operands
    changed = [now for now, old in zip(asked.operands, own, strict=True) if now != old]
    fits = all("entry" not in names for names in changed)
    return {**asked.axes.equation.params} if fits else None


ELEMENTWISE = Rule(_spread)
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **{
            name: ELEMENTWISE
            for name, primitive in PRIMITIVES.items()
            if primitive.elementwise and not name.startswith("math.")  # `math` takes numbers alone
        },
        **dict.fromkeys(("cast", "copy", "asarray", "real", "imag", "complex_sign"), ELEMENTWISE),
        "update_part": Rule(_spread, stacks="first"),
        "undefined": Rule(_spread, stacks="all"),
        "full": Rule(_filled, write=_shape, of_numbers=True),
        "broadcast_to": Rule(_spread, write=_shape),
        **{name: Rule(_reduced, ("axis",)) for name, p in PRIMITIVES.items() if p.reduction},
        **dict.fromkeys(("argmax", "argmin"), Rule(_reduced, ("axis",))),
        **dict.fromkeys(("cumsum", "cumprod", "sort", "argsort"), Rule(_along, ("axis",))),
        **dict.fromkeys(("partition", "argpartition"), Rule(_along, ("axis",))),
        **dict.fromkeys(("fft", "ifft", "rfft", "irfft"), Rule(_along, ("axis",))),
        **dict.fromkeys(("concatenate", "lexsort"), Rule(_along, ("axis",), stacks="all")),
        "roll": Rule(_along, write=_rolled),
        "pad": Rule(_padded, entries=(("pad_width", lambda length: (0, 0)),)),
        "transpose": Rule(_transposed, is_free=True, write=_turned),
        "expand_dims": Rule(_expanded, ("axis",), of_result=True),
        "squeeze": Rule(_squeezed, ("axis",)),
        "stack": Rule(_stacked, ("axis",), of_result=True, stacks="all"),
        "diagonal": Rule(_diagonal, ("axis1", "axis2"), write=_last),
        "reshape": Rule(_reshaped, is_free=True, write=_regrouped),
        **dict.fromkeys(
            ("slice", "update", "accumulate"),
            Rule(_part, ("drop",), PART, stacks="first", of_numbers=True),
        ),
        "windows": Rule(_windows, is_free=True, write=_windowed),
        "index": Rule(_indexed, write=_indexed_again),
        "contract": Rule(_contracted, is_free=True, write=_contracted_again),
        "einsum": Rule(_summed, is_free=True, write=_summed_again),
        **dict.fromkeys(
            (
                *("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals"),
                *("svd", "svdvals", "qr", "pinv", "linalg.expm"),
            ),
            Rule(_matrices, write=_stack_of_matrices),
        ),
        "searchsorted": Rule(_looked_up(1), write=_vectors_stay),
        "digitize": Rule(_looked_up(0), write=_vectors_stay),
        "interp": Rule(_looked_up(0), write=_vectors_stay),
    }
)
"""The rules by primitives. Nothing is known of the axes of a primitive without a rule."""
