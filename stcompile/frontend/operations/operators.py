"""Operators on values: operations of static operands are computed, the others recorded."""

from __future__ import annotations

import ast
import operator
from collections import deque
from collections.abc import Callable
from enum import Enum
from types import ModuleType, UnionType
from typing import Any

import numpy as np

from stcompile.base.classes import is_changeable
from stcompile.base.containers import CONTAINERS, contents, is_derived, refill
from stcompile.base.errors import TypingError
from stcompile.base.wording import an
from stcompile.frontend.operations import affine, overloads, powers, sparse
from stcompile.frontend.operations.known_arrays import is_known_array, taken_in
from stcompile.frontend.operations.overloads import has_comparisons
from stcompile.frontend.operations.refusals import judged
from stcompile.frontend.state.rests import filled_in
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    LISTED,
    Affine,
    Array,
    Text,
    Traced,
    class_of_number,
    describe,
    described,
    is_static,
    is_traced,
    same_number,
)
from stcompile.wengert.dims import Sizes, broadcast
from stcompile.wengert.ir import Variable
from stcompile.wengert.primitives.contraction import contracting
from stcompile.wengert.types import is_number

Operation = tuple[str, Callable[[Any, Any], Any]]  # the primitive, and Python's own operator

BINARY: dict[type[ast.operator], Operation] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("subtract", operator.sub),
    ast.Mult: ("multiply", operator.mul),
    ast.Div: ("divide", operator.truediv),
    ast.FloorDiv: ("floor_divide", operator.floordiv),
    ast.Mod: ("remainder", operator.mod),
    ast.Pow: ("power", operator.pow),
    ast.MatMult: ("matmul", operator.matmul),
    ast.BitAnd: ("bitwise_and", operator.and_),
    ast.BitOr: ("bitwise_or", operator.or_),
    ast.BitXor: ("bitwise_xor", operator.xor),
    ast.LShift: ("left_shift", operator.lshift),
    ast.RShift: ("right_shift", operator.rshift),
}
COMPARISONS: dict[type[ast.cmpop], Operation] = {
    ast.Eq: ("equal", operator.eq),
    ast.NotEq: ("not_equal", operator.ne),
    ast.Lt: ("less", operator.lt),
    ast.LtE: ("less_equal", operator.le),
    ast.Gt: ("greater", operator.gt),
    ast.GtE: ("greater_equal", operator.ge),
}
UNARY: dict[type[ast.unaryop], tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("negative", operator.neg),
    ast.UAdd: ("positive", operator.pos),
    ast.Invert: ("invert", operator.invert),
}

_SIGNS: dict[Callable[..., Any], str] = {  # Python's signs of its operators
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.neg: "-",
    operator.pos: "+",
    operator.invert: "~",
}


def in_place(operation: Operation) -> Callable[[Any, Any], Any]:
    """Python's operator that changes its first operand, if the operand is mutable."""
    found: Callable[[Any, Any], Any] = getattr(operator, f"i{operation[1].__name__.rstrip('_')}")
    return found


@judged(lambda operation, left, right: operation[1](left, right))
def binary(run: Run, operation: Operation, left: Any, right: Any) -> Any:
    """``left op right``."""
    primitive, python = operation
    if sparse.is_sparse(left) or sparse.is_sparse(right):
        return sparse.binary(run, primitive, _SIGNS[python], left, right)
    overloaded = overloads.binary(run, python.__name__.rstrip("_"), left, right)
    if overloaded is not NotImplemented:
        return overloaded
    left, right = plain_number(left), plain_number(right)
    left, right = _float_beside(right, left), _float_beside(left, right)
    if isinstance(left, str) and python is operator.mod and not is_static(right):
        run.refuse(
            "`%` of a string and values known only at run time is not supported", "use an f-string"
        )
    if not (is_traced(left) or is_traced(right)):
        makes_array = any(isinstance(operand, np.generic) for operand in (left, right))
        if not makes_array or primitive == "multiply" or is_static((left, right)):
            return static(run, python, left, right)
    if isinstance(left, Affine) or isinstance(right, Affine):
        found = affine.combined_sizes(run, primitive, left, right)
        if found is not None:
            return found
    if primitive == "matmul":
        return matmul(run, left, right)
    for operand, other in ((left, right), (right, left)):
        if not isinstance(operand, (*LISTED, str)) or isinstance(other, Array):
            continue
        is_repeated = primitive == "multiply" and not isinstance(operand, range)  # by Python
        if _is_numpys(other) and not is_repeated and not isinstance(operand, str):
            continue
        said = f"{describe(left)} {symbol(primitive)} {describe(right)}"
        if primitive == "multiply":
            run.refuse(
                f"{said} needs a number that is known only at run time",
                "use integers that are known at compile time for lists, and arrays for arithmetic",
            )
        run.refuse(
            f"{said} is not supported",
            "use a number" if isinstance(operand, str) else "make an array first: np.array(items)",
        )
    if python is operator.pow and powers.is_python_power(left, right):
        return powers.power(run, left, right)
    return _record_binary(run, operation, left, right)


def _float_beside(other: Any, value: Any) -> Any:
    """A float of a class of the user's as it acts beside another operand: NumPy takes it as a
    float64 that is as strong as an array, Python as a float. Any other value itself."""
    if not isinstance(value, float) or not is_changeable(type(value)):
        return value
    is_numpys = isinstance(other, Array) or _is_numpys(other)
    return np.float64(value) if is_numpys else float(value)


def _is_numpys(number: Any) -> bool:
    """True for a number of NumPy, whose operators make an array of the items of a list."""
    return issubclass(class_of_number(number), np.generic)


def plain_number(value: Any) -> Any:
    """The number of a member of an `IntEnum` or an `IntFlag` whose class does not overload the
    operator; any other value itself."""
    return int(value) if isinstance(value, int) and isinstance(value, Enum) else value


def _record_binary(run: Run, operation: Operation, left: Any, right: Any) -> Any:
    primitive = operation[0]
    if primitive == "power" and is_power_of_bools(left, right):
        return power_of_bools(run, left, right)
    for operand in (left, right):
        if not (comparable(operand) or isinstance(operand, Variable)):
            run.refuse(
                f"{describe(left)} {symbol(primitive)} {describe(right)} has no meaning for arrays",
                "use arrays and numbers as operands",
                TypingError,
            )
    return run.record(primitive, left, right)


def is_power_of_bools(base: Any, exponent: Any) -> bool:
    """True for booleans of NumPy to an integer power, whose dtype depends on the exponent."""
    is_bool = is_traced(base) and base.type.kind != "python" and base.type.dtype.kind == "b"
    return is_bool and type(exponent) in (int, bool)


def power_of_bools(run: Run, base: Any, exponent: int, power: Any = operator.pow) -> Any:
    """Booleans to an integer power, in the dtype that NumPy chooses for this exponent."""
    example = np.ones((1,) * base.type.ndim, bool) if isinstance(base, Array) else np.True_
    dtype = run.computed(power, example, exponent).dtype
    given = base if base.type.ndim else run.record("to_scalar", base)
    return run.record("power", run.record("cast", given, dtype=dtype), exponent)


def static(run: Run, python: Callable[..., Any], *operands: Any) -> Any:
    """Python's own operator at compile time, on plain values or on containers whose items it only
    moves."""
    moves = python in (operator.add, operator.mul, operator.or_) and all(
        isinstance(operand, list | tuple | dict | deque | int | str | Text) for operand in operands
    )
    if any(isinstance(operand, Text) for operand in operands) and python is not operator.add:
        run.refuse(
            f"`{_SIGNS[python]}` of text of values known only at run time is not supported",
            "compute with the values themselves",
        )
    if not moves and not all(map(is_plain, operands)):
        if not all(map(is_static, operands)):
            run.refuse(
                f"`{_SIGNS[python]}` of containers would look at a value known only at run time",
                "compare the items one by one",
            )
        run.refuse(
            f"`{_SIGNS[python]}` of {' and '.join(map(described, operands))} is not supported",
            "use numbers and NumPy arrays",
        )
    for operand in operands:
        filled = filled_in(operand)
        if filled is not None:
            return filled.operate(run, python, *operands)
    try:
        result = python(*operands)
    except (TypeError, ValueError, ArithmeticError) as error:
        run.fails(error)
    if isinstance(result, np.ndarray):
        return taken_in(run, result)
    run.orders.derive(result, operands)
    return run.own(result) if isinstance(result, (*CONTAINERS, set)) else result


def is_plain(value: Any) -> bool:
    """True for static values whose operators depend on nothing but the values."""
    if isinstance(value, list | tuple | set | frozenset):
        is_known = type(value).__module__ == "builtins" or isinstance(value, tuple)
        return is_known and all(map(is_plain, value))
    if isinstance(value, dict):
        return type(value) is dict and all(map(is_plain, value.values()))
    if is_known_array(value):
        return all(map(is_plain, value.flat))
    if has_comparisons(type(value)):
        return False
    plain = int | float | complex | str | bytes | range | slice | np.generic | np.dtype | type
    plain |= UnionType | ModuleType
    is_function = callable(value) and not is_changeable(type(value))
    return value is None or value is Ellipsis or isinstance(value, plain) or is_function


@judged(lambda operation, operand: operation[1](operand))
def unary(run: Run, operation: tuple[str, Callable[[Any], Any]], operand: Any) -> Any:
    primitive, python = operation
    overloaded = overloads.unary(run, f"__{python.__name__}__", operand)
    if overloaded is not NotImplemented:
        return overloaded
    if not is_traced(operand):
        return static(run, python, operand)
    if isinstance(operand, Affine) and primitive == "negative":
        return operand.scaled(-1, 0)
    if primitive == "positive":
        if operand.type.dtype.kind == "b":
            run.refuse(
                "NumPy has no `+` of one boolean", "write `x.astype(int)`, or x", TypingError
            )
        if isinstance(operand, Array):
            return copied_as_ufunc(run, operand)
        return operand if operand.type.kind == "python" else same_number(operand)
    return run.record(primitive, operand)


def copied_as_ufunc(run: Run, x: Array) -> Any:
    """A copy with the strides of ``+x``: np.copy lays out broadcasts differently."""
    if not x.type.ndim:
        return run.record("to_scalar", x)
    strides = run.layouts.of(run.read(x))
    order = "K" if strides is not None and 0 not in strides else "+"
    return run.record("copy", x) if order == "K" else run.record("copy", x, order=order)


def comparable(value: Any) -> bool:
    return is_traced(value) or is_number(value) or isinstance(value, LISTED)


@judged(lambda operation, target, value: in_place(operation)(target, value))
def augmented(run: Run, operation: Operation, target: Any, value: Any) -> Any:
    """``target op= value``: arrays and containers change in place, numbers are rebound."""
    if is_derived(target):
        changed = overloads.in_place(run, operation[1].__name__.rstrip("_"), target, value)
        if changed is not NotImplemented:
            return changed
    if isinstance(target, (*CONTAINERS, set)):
        taken = _taken(run, operation, target, value) if isinstance(target, list) else None
        if taken is None:
            _change_container(run, operation, target, value)
        return target if taken is None else taken
    if not isinstance(target, Array):
        changed = overloads.in_place(run, operation[1].__name__.rstrip("_"), target, value)
        return changed if changed is not NotImplemented else binary(run, operation, target, value)
    if operation[0] == "matmul":
        _multiply_in_place(run, target, value)
        return target
    *outer, last = target.path or (None,)
    if (
        last is not None
        and last.primitive == "slice"
        and _accumulates(run, operation, value, target)
    ):
        base = Array(target.cell, target.type, tuple(outer))
        run.write(base, lambda present: run.record(
            "accumulate", present, value, *last.counters, op="slice", **last.params))  # fmt: skip
        return target
    run.write(target, lambda present: _updated(run, operation, target, present, value))
    return target


def _taken(run: Run, operation: Operation, target: list[Any], value: Any) -> Any:
    """``items op= value`` if ``value`` has an operator that takes lists: Python calls it first, and
    the list stays unchanged. None if there is no such operator."""
    if is_traced(value) or isinstance(value, np.generic):
        return binary(run, operation, target, value)
    found = overloads.binary(run, operation[1].__name__.rstrip("_"), target, value)
    return None if found is NotImplemented else found


def _change_container(run: Run, operation: Operation, target: Any, value: Any) -> None:
    kind = type(target).__name__
    if not run.may_change(target):
        hint = f"make a copy: `items = {kind}(items)`"
        run.refuse(f"this changes {an(kind)} {run.owner(target)}", hint)
    held = contents(target) if is_derived(target) else target
    if (isinstance(target, list | deque), operation[0]) == (True, "add"):
        value = run.call(list, [value], {})  # this operator takes any iterable
    if (isinstance(target, dict), operation[0]) == (True, "bitwise_or"):
        value = run.call(dict, [value], {})
    changed = binary(run, operation, held, value)
    run.note_contents(target)
    if kind == "set":  # by Python's own operator, for the order of the items
        in_place(operation)(target, value)
        run.orders.derive(target, [value])
        if operation[0] != "bitwise_or":
            run.orders.note_loss(target)
        return
    refill(target, changed)


def _updated(
    run: Run, operation: Operation, target: Array, present: Variable, value: Any
) -> Traced:
    """The new contents of an array after ``op=``: its own shape and dtype."""
    if _accumulates(run, operation, value, target):
        result: Traced = run.record("accumulate", present, value, op="add")
        return result
    return _fitted(run, target, _record_binary(run, operation, present, value))


def _fitted(run: Run, target: Array, changed: Traced) -> Traced:
    """The new contents of an array, in its dtype; refused if they do not have its shape."""
    if changed.type.dims != target.type.dims:
        run.refuse(
            f"the result has shape {changed.type.dims}, which does not fit into the array of shape "
            f"{target.type.dims}",
            "",
            TypingError,
        )
    if changed.type.dtype == target.type.dtype:
        return changed
    if not np.can_cast(changed.type.dtype, target.type.dtype, "same_kind"):
        run.refuse(
            f"{changed.type.dtype} does not fit into an array of {target.type.dtype}",
            "convert first (`x = x.astype(...)`)",
            TypingError,
        )
    cast: Traced = run.record("cast", changed, dtype=target.type.dtype)
    return cast


def _multiply_in_place(run: Run, target: Array, value: Any) -> None:
    """``target @= value``: the product, in the array's own shape and dtype."""
    if not target.type.ndim or run.as_array(value).type.ndim < 2:
        run.refuse(
            "`@=` takes an array of one dimension or more and one of two or more", "", TypingError
        )
    product = matmul(run, target, value)
    run.write(target, lambda present: _fitted(run, target, product))


def _accumulates(run: Run, operation: Operation, value: Any, target: Array) -> bool:
    """True for ``+=`` of a value that leaves the target's dtype and shape."""
    if operation[0] != "add":
        return False
    atom = run.atom(value)
    if atom.type.kind == "python":
        return target.type.inexact and atom.type.dtype.kind != "c"
    fits = len(atom.type.dims) <= len(target.type.dims)
    return fits and atom.type.dtype == target.type.dtype and target.type.inexact


def matmul(run: Run, left: Any, right: Any, spelling: str = "matmul") -> Any:
    """``left @ right`` as a single contraction; broadcast batch dims are made equal first."""
    x, y = run.as_array(left), run.as_array(right)
    if spelling == "matmul" and not (_is_array(left) and _is_array(right)):
        run.refuse("a number has no matrix product", "use `*`", TypingError)
    if 0 in (x.type.ndim, y.type.ndim):
        run.refuse("a 0-d array has no matrix product", "use `*`", TypingError)
    inner_x, inner_y = x.type.ndim - 1, max(y.type.ndim - 2, 0)
    summed = x.type.dims[inner_x], y.type.dims[inner_y]
    if summed[0] != summed[1] and not run.may_be_equal(*summed):
        run.refuse(
            f"matmul: shapes {x.type.dims} and {y.type.dims} do not fit: "
            f"{x.type.dims[inner_x]} != {y.type.dims[inner_y]}",
            "",
            TypingError,
        )
    batch_x, batch_y = x.type.dims[:-2], y.type.dims[:-2]
    if spelling == "matmul" and batch_y and (batch_x or x.type.ndim == 2):
        try:
            batch = broadcast(batch_x, batch_y)
        except ValueError:
            run.refuse(
                f"matmul: shapes {x.type.dims} and {y.type.dims} do not broadcast", "", TypingError
            )
        x = _with_batch(run, x, batch)
        y = _with_batch(run, y, batch)
        count = len(batch)
        pairs = tuple((axis, axis) for axis in range(count))
        params = contracting((count + 1, count), batch=pairs, spelling=spelling)
        return run.record("contract", x, y, **params)
    return run.record("contract", x, y, **contracting((inner_x, inner_y), spelling=spelling))


def _is_array(value: Any) -> bool:
    return isinstance(value, (Array, *LISTED))


def _with_batch(run: Run, array: Array, batch: Sizes) -> Array:
    if array.type.dims[:-2] == batch:
        return array
    shape = (*batch, *array.type.dims[-2:])
    result: Array = run.record("broadcast_to", array, shape=shape)
    return result


def symbol(primitive: str) -> str:
    """The sign of a primitive for messages, such as ``+`` for add."""
    symbols = {
        "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//",
        "remainder": "%", "power": "**", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
        "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">",
        "greater_equal": ">=",
    }  # fmt: skip
    return symbols.get(primitive, primitive)
