"""Arrays in all memory layouts, and what the compiler takes for the layout of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from random import Random
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.frontend.operations.layout import strides_of
from stcompile.frontend.stage import LANGUAGE
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Program
from stcompile.wengert.types import is_input

KINDS = ("C", "F", "permuted", "every other", "backwards", "part", "broadcast")


def relaid(array: Any, kind: str, choices: Random) -> Any:
    """The elements of an array in another memory layout; a broadcast repeats its first row."""
    if not isinstance(array, np.ndarray) or not array.ndim:
        return array
    if kind in "CF":
        return np.array(array, order=kind)  # type: ignore[call-overload]
    axes = list(range(array.ndim))
    choices.shuffle(axes)
    inverse = [axes.index(axis) for axis in range(array.ndim)]
    moved = array.transpose(axes).copy()
    if kind == "permuted":
        return moved.transpose(inverse)
    if kind == "broadcast":
        return np.broadcast_to(moved[:1], moved.shape).transpose(inverse)
    shape = tuple(2 * dim + 1 for dim in moved.shape)
    at = {
        "every other": slice(1, None, 2),
        "backwards": slice(-2, None, -2),
        "part": slice(1, None),
    }[kind]
    wide = np.zeros([d + 1 for d in moved.shape] if kind == "part" else shape, array.dtype)
    view = wide[(at,) * moved.ndim]
    view[...] = moved
    return view.transpose(inverse)


def permuted(array: Any) -> Iterator[Any]:
    """An array in all orders of its axes."""
    for axes in permutations(range(array.ndim)):
        yield array.transpose(axes).copy().transpose(np.argsort(axes))


@dataclass(frozen=True)
class Found:
    """An array of a result: NumPy's own, that of the recorded program, the strides that the
    compiler takes it to have, the arguments that it takes it to share storage with, and True if it
    may be written."""

    array: Any
    computed: Any
    strides: Any
    shares: tuple[bool, ...]
    writeable: bool


def arrays_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Iterator[Found]:
    """The arrays that a function returns."""
    run = Run(LANGUAGE)
    mirrors = [run.captures.argument(f"x{i}", value) for i, value in enumerate(arguments)]
    ours = run.call(function, mirrors, {})
    with np.errstate(all="ignore"):
        theirs = function(*arguments)
    leaves = zip(trees.leaves(ours), trees.leaves(theirs), strict=True)
    pairs = [
        (mine, array)
        for (_, mine), (_, array) in leaves
        if isinstance(mine, Array) and isinstance(array, np.ndarray) and array.ndim
    ]
    outputs = tuple(run.read(mine) for mine, _ in pairs)
    inputs = tuple(run.captures.inputs())
    program = Program("program", inputs, tuple(run.recorder.equations), outputs)
    given = [leaf for value in arguments for _, leaf in trees.leaves(value) if is_input(leaf)]
    with np.errstate(all="ignore"):
        computed = evaluate(program, *given, *(hidden.read() for hidden in run.captures.hidden))
    for (mine, array), own in zip(pairs, computed, strict=True):
        shares = tuple(isinstance(m, Array) and m.cell is mine.cell for m in mirrors)
        yield Found(array, own, strides_of(run, mine), shares, not mine.cell.frozen)
