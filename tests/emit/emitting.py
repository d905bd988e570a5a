"""Emits programs alone, without a function that they were staged from, and runs the result."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stcompile.base.location import Location
from stcompile.base.options import Options
from stcompile.calls.link import link
from stcompile.emit.function import READABLE, Emitted, emit
from stcompile.wengert.evaluate import evaluate
from stcompile.wengert.ir import Equation, Program, freeze
from stcompile.wengert.staged import Group, Item, Leaf, Staged
from tests.programs import bits
from tests.uninitialised import spoilt_memory


def staged(program: Program) -> Staged:
    """A program as a call that returns its outputs in a tuple."""
    leaves = tuple(Leaf(variable.name, (), variable) for variable in program.inputs)
    items = tuple(map(Item, program.outputs))
    return Staged(program, leaves, (), (), Group("tuple", tuple(range(len(items))), items))


def emitted(program: Program, options: Options = READABLE) -> Emitted:
    arguments = [variable.name for variable in program.inputs]
    return emit(staged(program), arguments, "A test.", options=options)


def text_of(program: Program) -> str:
    """The function's body."""
    body = emitted(program).source.partition('"""A test."""\n')[2]
    return "\n".join(line.removeprefix("    ") for line in body.splitlines())


@dataclass
class Outcome:
    """What a call returned or raised, its arguments afterwards, and what it printed."""

    results: tuple[Any, ...]
    arguments: list[Any]
    printed: str


def run(function: Any, arguments: tuple[Any, ...]) -> Outcome:
    given = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
    with contextlib.redirect_stdout(io.StringIO()) as printed, np.errstate(all="ignore"):
        results = function(*given)
    return Outcome(tuple(results), given, printed.getvalue())


def check(program: Program, *calls: tuple[Any, ...], options: Options = READABLE) -> Emitted:
    """Assert for each call that the emitted function returns, changes and prints what the
    evaluation of the program does, and that later calls leave what it returned as it is. New
    memory holds NaN."""
    made = emitted(program, options)
    linked = link(made.source, made.name, made.workspace)
    with spoilt_memory():
        function = linked() if made.workspace else linked
        outcomes = [run(function, arguments) for arguments in calls]
    for arguments, found in zip(calls, outcomes, strict=True):
        expected = run(lambda *given: evaluate(program, *given), arguments)
        for what in ("results", "arguments"):
            pairs = zip(getattr(found, what), getattr(expected, what), strict=True)
            for place, (one, other) in enumerate(pairs):
                assert is_same(one, other), (
                    f"{what} {place} is {one}, not {other}\n{made.source}\n{program}"
                )
        assert found.printed == expected.printed, f"{made.source}\n{program}"
    return made


def is_same(one: Any, other: Any) -> bool:
    if isinstance(other, list):
        return isinstance(one, list) and len(one) == len(other) and all(map(is_same, one, other))
    if type(one) is not type(other) or np.shape(one) != np.shape(other):
        return False
    same_dtype = np.asarray(one).dtype == np.asarray(other).dtype
    return same_dtype and bool(np.array_equal(bits(one), bits(other)))


def placed(program: Program, where: Callable[[Equation], Location]) -> Program:
    """The program with locations for its equations and those of its sub-programs."""
    equations = []
    for equation in program.equations:
        params = {
            name: placed(value, where) if isinstance(value, Program) else value
            for name, value in equation.params.items()
        }
        equations.append(replace(equation, params=freeze(params), location=where(equation)))
    return replace(program, equations=tuple(equations))
