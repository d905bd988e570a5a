"""The programs of the net: those of tables, of the loop suite, and random ones.

A case is made where it is needed, from its name: ``loops mvt`` is a program of the loop suite,
``random aliases 12`` the one that `tests.fuzz` draws from this seed.
"""

from __future__ import annotations

import copy
import functools
import importlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.benchmarks.loops import PROGRAMS
from examples.benchmarks.loops.candidates import compiled_derivative
from stcompile.base.options import Options
from stcompile.calls.dispatch import Dispatcher
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.jacobian import Jacobian
from stcompile.transforms.linearize import Linearize
from stcompile.transforms.primal import Primal
from stcompile.transforms.pullback import Vjp
from tests.fuzz.generate import function_of
from tests.fuzz.helpers import HELPERS
from tests.fuzz.judge_arrays import as_number
from tests.fuzz.sorts import SORTS
from tests.fuzz.structures import flat, is_real
from tests.golden.test_golden import GENERATED, arguments_of
from tests.kernels.programs import CASES
from tests.passes.programs import EXAMPLES
from tests.programs import Example, totalled

Args = tuple[Any, ...]
Made = Dispatcher[..., Any]
FOLDERS = ("control", "frontend", "science")  # of tests, whose modules have tables of examples
SORTS_DRAWN = tuple(name for name in SORTS if name not in ("objects", "lists"))
MODULES = {"algebra": "tests.passes.test_random_algebra", "parts": "tests.plan.test_random_parts"}


@dataclass(frozen=True)
class Case:
    """A transformed function, made for given options, and the arguments that it is compiled for."""

    make: Callable[[Options], Made]
    args: Args


def names_of(programs: int, every: int = 1) -> Sequence[str]:
    """The names of all cases: with so many random programs, and every so many of the examples of
    tests."""
    names = [f"golden {name}" for name in GENERATED]
    names += [f"passes {name}" for name in EXAMPLES]
    names += [f"kernels {name}" for name in CASES]
    names += [f"loops {name}" for name in PROGRAMS]
    names += [f"table {name}" for name in [*_examples()][::every]]
    count = len(SORTS_DRAWN)
    names += [f"random {SORTS_DRAWN[n % count]} {n // count}" for n in range(programs)]
    return names


def case_of(name: str) -> Case:
    """The case of a name."""
    group, _, own = name.partition(" ")
    return GROUPS[group](own)


def _golden(name: str) -> Case:
    made: Callable[[], Made] = GENERATED[name]
    return _with_options(made(), arguments_of(name))


def _passes(name: str) -> Case:
    return _with_options(EXAMPLES[name].transformed, EXAMPLES[name].args)


def _with_options(transformed: Made, args: Args) -> Case:
    def make(options: Options) -> Made:
        compiled = copy.copy(transformed)
        compiled.options = options
        return compiled

    return Case(make, copy.deepcopy(args))


def _kernels(name: str) -> Case:
    return _transformed(*CASES[name], zlib.crc32(name.encode()))


def _loops(name: str) -> Case:
    program = PROGRAMS[name]
    arguments = program.arguments(program.middle)
    return Case(
        lambda options: compiled_derivative(program, arguments, options.level),
        tuple(arguments.values()),
    )


@functools.cache
def _examples() -> dict[str, Example]:
    """The examples of the tables of tests, one for each function, by module and function."""
    found: dict[str, Example] = {}
    for folder in FOLDERS:
        for path in sorted(Path(__file__).parents[1].joinpath(folder).glob("test_*.py")):
            module = importlib.import_module(f"tests.{folder}.{path.stem}")
            for example in getattr(getattr(module, "examples", None), "noted", ()):
                name = f"{folder}.{path.stem} {example.function.__name__}"
                found.setdefault(name, example)
    return found


def _table(name: str) -> Case:
    example = _examples()[name]
    expected = example.function(*copy.deepcopy(example.args))
    total = totalled(example.function, expected)
    return Case(
        lambda options: Gradient(total, example.wrt, True, options), copy.deepcopy(example.args)
    )


def _random(name: str) -> Case:
    sort, _, number = name.partition(" ")
    source, calls = SORTS[sort].draw(int(number), True)
    drawn = importlib.import_module(MODULES.get(sort, f"tests.fuzz.{sort}"))
    if sort in MODULES:
        function, args = drawn.function_of(drawn.random_program(*calls)), drawn.arguments(*calls)
    else:
        names = HELPERS if sort == "control" else getattr(drawn, "HELPERS", HELPERS)
        function, args = function_of(source, names), calls[0]
    return _transformed(function, args, int(number))


def _transformed(function: Callable[..., Any], args: Args, number: int) -> Case:
    """Of four programs three with value and gradient, the other with another transform in turn, by
    all that may be differentiated by. If there is none, the function itself."""
    moving = tuple(at for at, arg in enumerate(args) if all(map(is_real, flat(arg))))

    def total(*given: Any) -> Any:
        return as_number(function(*given))

    def of_moving(*given: Any) -> Any:
        places = {**dict(enumerate(args)), **dict(zip(moving, given, strict=True))}
        return total(*(places[at] for at in range(len(args))))

    if not moving:
        return Case(lambda options: Primal(function, options), args)
    if number % 4:
        return Case(lambda options: Gradient(total, moving, True, options), args)
    other = OTHERS[number // 4 % len(OTHERS)]
    return Case(
        lambda options: other(of_moving, len(moving), options), tuple(args[at] for at in moving)
    )


# Transforms beside the value and gradient, of a function and the number of its arguments.
OTHERS: tuple[Callable[[Any, int, Options], Made], ...] = (
    lambda function, count, options: Vjp(function, count, options=options),
    lambda function, count, options: Linearize(function, count, options=options),
    lambda function, count, options: Jacobian(function, 0, "forward", options=options),
    lambda function, count, options: Jacobian(function, 0, "reverse", options=options),
)
GROUPS: dict[str, Callable[[str], Case]] = {
    "golden": _golden,
    "passes": _passes,
    "kernels": _kernels,
    "loops": _loops,
    "table": _table,
    "random": _random,
}
