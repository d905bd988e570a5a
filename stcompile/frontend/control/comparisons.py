"""Comparisons: of numbers, of containers item by item, of objects; ``is``, ``in``, `list.index`.

A comparison of containers is that of their items, in Python's order: with numbers that are known
only at run time it is a condition of the program, and methods of the user's classes are staged.
"""

from __future__ import annotations

import ast
import functools
import operator
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, KeysView, Mapping, Sequence, ValuesView
from typing import Any

import numpy as np

from stcompile.base.classes import find, is_changeable
from stcompile.frontend.control.conditions import combined, negated, truth_of
from stcompile.frontend.operations import overloads
from stcompile.frontend.operations.contents import contents_of
from stcompile.frontend.operations.generated import fields_compared
from stcompile.frontend.operations.iteration import items_of
from stcompile.frontend.operations.operators import (
    COMPARISONS,
    binary,
    comparable,
    is_plain,
    static,
)
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    LISTED,
    Array,
    GeneratorValue,
    Scalar,
    class_of_number,
    described,
    is_static,
    is_traced,
)
from stcompile.wengert.types import is_number

# Tuples ask `is` of their items before `==`. The fields of dataclasses were compared as tuples.
_FIELDS_ARE_A_TUPLE = sys.version_info < (3, 13)


def compare(run: Run, comparison: ast.cmpop, left: Any, right: Any) -> Any:
    """Stage a comparison of two operands."""
    if isinstance(comparison, ast.Is | ast.IsNot):
        same = identical(run, left, right)
        return same if isinstance(comparison, ast.Is) else negated(run, same)
    if isinstance(comparison, ast.In | ast.NotIn):
        found = contained(run, left, right)
        return found if isinstance(comparison, ast.In) else negated(run, found)
    operation = COMPARISONS[type(comparison)]
    overloaded = overloads.comparison(run, operation[1].__name__, left, right)
    if overloaded is not NotImplemented:
        return overloaded
    is_equality = isinstance(comparison, ast.Eq | ast.NotEq)
    if is_traced(left) or is_traced(right):
        if is_equality and (
            not (comparable(left) and comparable(right)) or _are_unlike(left, right)
        ):
            return operation[0] == "not_equal"  # Python: objects of unlike kinds are not equal
        return binary(run, operation, left, right)
    fields = fields_compared(type(left), f"__{operation[1].__name__}__")
    if operation[0] == "not_equal":
        fields = fields_compared(type(left), "__eq__")
    if fields is not None and type(left) is type(right):
        return of_fields(run, comparison, left, right, fields)
    if is_equality and any(v is np._NoValue for v in (left, right)):
        return compare(run, ast.Is() if operation[0] == "equal" else ast.IsNot(), left, right)
    if is_equality and (_is_equal_to_itself(left) or _is_equal_to_itself(right)):
        return compare(run, ast.Is() if operation[0] == "equal" else ast.IsNot(), left, right)
    if not all(is_static(v) and is_plain(v) for v in (left, right)):
        if is_equality and isinstance(left, dict) and isinstance(right, dict):
            return _of_dicts(run, operation[0] == "equal", left, right)
        kinds = _kind(left), _kind(right)
        if None not in kinds and kinds[0] is not kinds[1] and is_equality:
            return operation[0] == "not_equal"
        if is_equality and any(kinds) and (type(left) in _PLAIN or type(right) in _PLAIN):
            return operation[0] == "not_equal"
        if kinds[0] in (list, tuple, deque) and kinds[0] is kinds[1]:
            return of_sequences(run, comparison, left, right)
    return static(run, operation[1], left, right)


_PLAIN = (int, float, complex, bool, str, bytes, type(None))  # none of these equals a container
_SHARED = (int, float, complex, str, bytes, tuple, frozenset)  # equal ones may be one object


def _are_unlike(left: Any, right: Any) -> bool:
    """True for a Python number beside a list, a tuple or a range; NumPy's numbers compare the
    items."""
    pairs = (left, right), (right, left)
    return any(
        isinstance(one, Scalar) and one.type.kind == "python" and isinstance(other, LISTED)
        for one, other in pairs
    )


# --- is ------------------------------------------------------------------------------------------


def identical(run: Run, left: Any, right: Any) -> Any:
    """``left is right``. For objects the answer is known; numbers are made anew by every
    operation."""
    if left is right:
        return True
    if isinstance(left, Scalar) or isinstance(right, Scalar):
        return _is_one_number(run, left, right)
    if type(left) is type(right) and type(left) in _SHARED and left == right:
        run.refuse(
            f"whether two equal values ({type(left).__name__}) are one object is up to Python",
            "compare their values with `==`",
        )
    if not run.captures.tell_apart(left, right, run.owns):
        names = {Array: "array", GeneratorValue: "random generator"}
        kind = names.get(type(left), type(left).__name__)
        run.refuse(
            f"whether two arguments are one {kind} is not known at compile time",
            "compare the values of arrays: `np.array_equal(a, b)`",
        )
    if any(map(run.is_disowned, (left, right))) or _may_be_one_array(left, right):
        run.refuse(
            "which object this is depends on a value known only at run time",
            "compare what the objects hold",
        )
    return False


def _may_be_one_array(left: Any, right: Any) -> bool:
    """True if two arrays may be the same object, since one of them stands for several arrays."""
    if not isinstance(left, Array) or not isinstance(right, Array) or left.type != right.type:
        return False
    return left.cell.stands_for_others or right.cell.stands_for_others


def _is_one_number(run: Run, left: Any, right: Any) -> Any:
    """Stage ``is`` with a traced number on at least one side."""
    cls = class_of_number(left)
    if cls is not class_of_number(right):
        return False
    if cls is bool:  # there are only two bools
        return compare(run, ast.Eq(), left, right)
    return run.refuse(
        f"whether two numbers ({cls.__name__}) are one object is not known",
        "compare their values with `==`",
    )


# --- in ------------------------------------------------------------------------------------------


def contained(run: Run, item: Any, container: Any) -> Any:
    """``item in container``."""
    method = overloads.special_method(run, container, "__contains__")
    if method is not None:
        return truth_of(run, run.call(method, [item], {}))
    contents = contents_of(run, container)
    container = container if contents is None else contents
    if isinstance(container, Array) and (is_traced(item) or is_number(item)):
        return run.call(np.any, [compare(run, ast.Eq(), container, item)], {})
    if isinstance(container, dict | KeysView | set | frozenset):
        overloads.refuse_hash(run, item)
    if isinstance(container, dict | KeysView | ValuesView | set | frozenset):
        return among(run, item, list(container))
    if isinstance(container, list | tuple | deque):
        return among(run, item, [run.checked(each) for each in container])
    if is_changeable(type(container)):
        return among(run, item, items_of(run, container))
    if not (is_static(item) and is_static(container)):
        run.refuse(
            "`in` on values known only at run time is not supported",
            "compare with np.any(values == value)",
        )
    return run.computed(operator.contains, container, item)


def among(run: Run, value: Any, items: Sequence[Any]) -> Any:
    """True if ``value`` is identical or equal to one of the items."""
    found: Any = False
    for item in items:
        equal = functools.partial(_equal, run, value, item)
        found = combined(run, False, found, equal)
        if found is True:
            break
    return found


def looked_up(run: Run, method: Any, value: Any, *bounds: int) -> Any:
    """``items.index(value)``, ``count`` or ``remove`` of a list or a tuple, by comparing items."""
    items, name = method.__self__, method.__name__
    places = range(len(items))[slice(*bounds)] if bounds else range(len(items))
    found = []
    for place in places:
        equal = _equal(run, value, run.checked(items[place]))
        if is_traced(equal):
            run.refuse(
                f"`{type(items).__name__}.{name}` would look at values known only at run time",
                "use values known at compile time, or arrays and NumPy functions",
            )
        found += [place] if equal else []
        if found and name != "count":
            break
    if name == "count":
        return len(found)
    if not found:
        run.fails(ValueError(f"{described(value)} is not in the {type(items).__name__}"))
    return found[0] if name == "index" else _dropped(run, items, found[0])


def _dropped(run: Run, items: Any, place: int) -> None:
    run.note_contents(items)
    del items[place]


def _equal(run: Run, left: Any, right: Any) -> Any:
    """Compare two items as containers do: True if they are identical or equal."""
    return True if left is right else truth_of(run, compare(run, ast.Eq(), left, right))


# --- objects and containers ----------------------------------------------------------------------


def _is_equal_to_itself(value: Any) -> bool:
    """True for objects that never equal an object of another class: their class has no ``__eq__``
    of its own, or is a dataclass."""
    cls = type(value)
    if not is_changeable(cls):
        return False
    return find(cls, "__eq__") is object.__eq__ or fields_compared(cls, "__eq__") is not None


def _kind(value: Any) -> type | None:
    """The kind of a container, list, tuple, dict or deque: only containers of the same kind are
    compared item by item."""
    return next((kind for kind in (list, tuple, dict, deque) if isinstance(value, kind)), None)


def of_sequences(run: Run, comparison: ast.cmpop, left: Sequence[Any], right: Sequence[Any]) -> Any:
    """Lists or tuples: the first items that differ decide, else the lengths."""
    is_equality = isinstance(comparison, ast.Eq | ast.NotEq)
    for one, other in ((left, right), (right, left)):
        filled = filled_in(one)
        if filled is not None and is_equality and not other:
            return compare(run, comparison, filled.count, 0)
        for item in one:
            run.checked(item)
    if is_equality and len(left) != len(right):
        return isinstance(comparison, ast.NotEq)
    pairs = [*zip(left, right, strict=False)]
    return _in_order(run, comparison, pairs, (len(left), len(right)), _equal)


def of_fields(run: Run, comparison: ast.cmpop, left: Any, right: Any, names: Sequence[str]) -> Any:
    """Two instances of a dataclass: the first fields that differ decide."""
    values = [[run.call(getattr, [one, name], {}) for name in names] for one in (left, right)]
    pairs, lengths = [*zip(*values, strict=True)], (len(names), len(names))
    is_equality = isinstance(comparison, ast.Eq | ast.NotEq)
    equal = _equal if _FIELDS_ARE_A_TUPLE or not is_equality else _equal_by_value
    return _in_order(run, comparison, pairs, lengths, equal)


def _equal_by_value(run: Run, left: Any, right: Any) -> Any:
    return truth_of(run, compare(run, ast.Eq(), left, right))


def _in_order(
    run: Run,
    comparison: ast.cmpop,
    pairs: Sequence[tuple[Any, Any]],
    lengths: tuple[int, int],
    equal: Callable[[Run, Any, Any], Any],
) -> Any:
    """A comparison of sequences, of which ``pairs`` are the items side by side."""
    if isinstance(comparison, ast.NotEq):
        return negated(run, _in_order(run, ast.Eq(), pairs, lengths, equal))
    if not pairs:
        return COMPARISONS[type(comparison)][1](*lengths)
    (left, right), *rest = pairs
    others = functools.partial(_in_order, run, comparison, rest, lengths, equal)
    same = equal(run, left, right)
    if isinstance(comparison, ast.Eq):
        return combined(run, True, same, others)
    if not is_traced(same):
        return others() if same else truth_of(run, compare(run, comparison, left, right))
    strict = ast.Lt() if isinstance(comparison, ast.Lt | ast.LtE) else ast.Gt()
    decided = truth_of(run, compare(run, strict, left, right))
    return combined(run, False, decided, lambda: combined(run, True, same, others))


def _of_dicts(run: Run, wanted: bool, left: Mapping[Any, Any], right: Mapping[Any, Any]) -> Any:
    """``==`` of dicts: the same keys, whatever their order, with equal values. Two that are ordered
    have the same order, too."""
    same: Any = left.keys() == right.keys()
    if isinstance(left, OrderedDict) and isinstance(right, OrderedDict):
        same = [*left] == [*right]
    for key in left if same else ():
        one, other = run.checked(left[key]), run.checked(right[key])
        same = combined(run, True, same, functools.partial(_equal, run, one, other))
    return same if wanted else negated(run, same)
