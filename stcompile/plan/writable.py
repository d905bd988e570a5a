"""Steps that can write their value into an array that exists already."""

from __future__ import annotations

from collections.abc import Container

from stcompile.analysis.regions import Tree
from stcompile.analysis.storage import Writes
from stcompile.code.literals import name
from stcompile.code.templates import Operand, substitute_into
from stcompile.plan.parts import split_rows
from stcompile.wengert.bounds import renamed
from stcompile.wengert.dims import UnknownSizeError, replaced, symbols_in
from stcompile.wengert.ir import Equation, Variable
from stcompile.wengert.primitives import infer
from stcompile.wengert.sums import is_addition
from stcompile.wengert.templates import inplace_operand, inplace_operands, mark_of

# Primitives that put a value into a place, with those that read that place.
_PUTTING = {"store": "", "update": "slice", "index_update": "index"}
_AUGMENTED = {"add", "subtract", "multiply", "divide"}


def writable_steps(tree: Tree, writes: Writes) -> dict[int, tuple[int, ...]]:
    """The positions of the steps that can write into a given array, each with the positions of the
    operands that the array may be. For a kernel, the array may be any operand that it writes to."""
    found: dict[int, tuple[int, ...]] = {}
    put_back = augmenting(tree)
    for step in tree.steps:
        equation = step.equation
        if writes.kernels.get(step.at):
            found[step.at] = tuple(writes.kernels[step.at])
        if len(equation.outputs) != 1 or equation.output in put_back:
            continue
        if equation.output.type.kind != "array" or equation.output.type.varies:
            continue
        if mark_of(equation.primitive) == "write":
            whole = range(len(equation.inputs)) if may_be_added(equation) else ()
            found[step.at] = tuple(whole) or (inplace_operand(equation.primitive),)
        elif equation.primitive == "empty":
            found[step.at] = ()
        elif not equation.effects and not equation.varies and _into(equation):
            found[step.at] = inplace_operands(equation.primitive, len(equation.inputs))
    return found


def fixed_places(tree: Tree, writable: Container[int]) -> set[Variable]:
    """Values that have memory of their own if they have a buffer: the values of writable steps, and
    rows of them."""
    if not writable:
        return set()
    outputs = computed_by(tree, writable)
    return outputs | {v for v, rows in split_rows(tree).items() if rows.whole in outputs}


def computed_by(tree: Tree, positions: Container[int]) -> set[Variable]:
    """The variables that the steps at these positions compute."""
    steps = (step for step in tree.steps if step.at in positions)
    return {output for step in steps for output in step.equation.outputs}


def augmenting(tree: Tree) -> set[Variable]:
    """Values that are computed from a part of an array, and only put back there: ``p -= d``."""
    found = set()
    for step in tree.steps:
        wanted = _PUTTING.get(step.equation.primitive)
        if wanted is None:
            continue
        target, value, *indices = step.equation.inputs
        if value not in tree.makers:
            continue
        maker = tree.makers[value].equation
        if maker.primitive not in _AUGMENTED or len(tree.uses[maker.output]) > 1:
            continue
        read = maker.inputs[0]
        if read != target and isinstance(read, Variable):
            look = tree.makers[read].equation if read in tree.makers else None
            if look is None or (look.primitive, look.inputs) != (wanted, (target, *indices)):
                continue
        found.add(maker.output)
    return found


def _into(equation: Equation) -> bool:
    """True if there is code that writes the value of an equation into a given array."""
    statics = (
        *(a.type.dims for a in (*equation.inputs, *equation.outputs)),
        *equation.params.values(),
    )
    called = {symbol: f"n{at}" for at, symbol in enumerate(symbols_in(statics))}
    operands = [Operand(name("x"), atom, called) for atom in equation.inputs]
    out = Operand(name("out"), equation.output, called)
    params = {k: replaced(v, lambda dim: renamed(dim, called)) for k, v in equation.params.items()}
    try:
        return bool(substitute_into(equation.primitive, out, operands, params))
    except UnknownSizeError:
        return False


def may_be_added(equation: Equation) -> bool:
    """True for an accumulation that a plain sum can replace: the sum has the same dtype, and is not
    a number where the result is an array without axes."""
    if not is_addition(equation):
        return False
    (summed,) = infer("add", tuple(atom.type for atom in equation.inputs), {})
    made = equation.output.type
    return made.kind != "array" or (summed.kind, summed.dtype) == (made.kind, made.dtype)
