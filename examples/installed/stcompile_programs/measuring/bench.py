"""``stcompile bench``: time a function, and its gradient by several ways."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any

import numpy as np
import typer

from stcompile.api import differentiable
from stcompile.base import trees
from stcompile.base.command import DONE, FAILED, parser_of, positive
from stcompile.base.command import threads as threads_of
from stcompile.base.limits import NAME, limits
from stcompile.base.options import Level
from stcompile.base.wording import table
from stcompile.calls.arguments import Arguments, chosen
from stcompile.cli.arguments import arguments_of
from stcompile.cli.files import Target, parse_wrt, raised_in
from stcompile.cli.flags import ARGS, FUNCTION, NPZ, WRT
from stcompile.differentiable import Differentiable
from stcompile_programs.measuring.measures import Times, best_threads, times, without_cache
from stcompile_programs.measuring.peers import PEERS

AGREES = 1e-4  # relative, also for float32


@dataclass(frozen=True)
class Row:
    """A way to compute the gradient, and its times."""

    name: str
    first: float | None = None  # seconds
    call: Times | None = None
    difference: float | None = None
    said: str = ""

    def cells(self, value: Times) -> tuple[str, ...]:
        if self.call is None:
            return self.name, "", "", "", "", self.said
        first = "" if self.first is None else f"{1e3 * self.first:.1f} ms"
        agrees = "" if self.difference is None else f"{self.difference:.0e}"
        ratio = f"{self.call.median / value.median:.2f}"
        times = shown(self.call.median), shown(self.call.mean)
        return self.name, first, *times, ratio, agrees or self.said


def bench(
    function: FUNCTION,
    args: ARGS = None,
    npz: NPZ = None,
    wrt: WRT = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", metavar="X", parser=parser_of(positive), help="for each measurement"
        ),
    ] = 0.5,
    threads: Annotated[
        Any,
        typer.Option(
            "--threads",
            metavar="[auto|N]",
            parser=parser_of(threads_of),
            help="of BLAS; auto is found by trials of the gradient",
        ),
    ] = "auto",
) -> int:
    """Time a gradient against other ways to it.

    Timed are the function itself, its value and gradient at both levels, by central
    differences, and by autograd and JAX where they are installed: on them the function
    is run with their module for np. Medians and means are shown, and the median as a
    multiple of the function's. BLAS has as many threads as make the gradient fastest, or
    as --threads says; JAX has its own. The exit code is 1 if gradients differ.

    Examples:
      stcompile bench model.py:loss --seconds 0.1
      stcompile bench model.py:loss --args "ones((64, 10)), ones((100, 64))" --seconds 0.1
    """
    target = Target.parse(function)
    found = target.load()
    shown_function = found.differentiable(parse_wrt(wrt))
    given = arguments_of(found, args, npz)
    bound = shown_function.value_and_grad.bind(given.positional, given.keywords)
    raises = raised_in(target.path, f"raises in `{found.name}`")
    with raises, _threads(threads, shown_function, bound):
        value = times(lambda: bound.call(shown_function.function), seconds)
        rows = list(_rows(shown_function, bound, value, seconds))
    head = "value and gradient", "first call", "median", "mean", "of the function", "difference"
    plain = ("the function alone", "", shown(value.median), shown(value.mean), "1.00", "")
    print(table([head, plain, *(row.cells(value) for row in rows)]))
    wrong = [row for row in rows if row.difference is not None and not row.difference <= AGREES]
    for row in wrong:
        print(f"\n{row.name} gives another gradient: it differs by {row.difference:.1e} of it")
    return FAILED if wrong else DONE


@contextlib.contextmanager
def _threads(threads: Any, of: Differentiable[..., Any, Any], bound: Arguments) -> Iterator[None]:
    """BLAS with a number of threads, or with one for which the gradient is called meanwhile."""
    made = differentiable(of.function, wrt=of.wrt).value_and_grad
    bound.call(made)  # loads the libraries
    limits().renew()
    number, why = threads, "as --threads says"
    if threads == "auto":
        choice = best_threads(lambda: bound.call(made))
        number = 1 if choice is None else choice.number
        why = "there are no more" if choice is None else choice.told("a gradient", "thread")
    print(f"{NAME}: {number} ({why})\n")
    with limits().held(number):
        yield


def _rows(
    of: Differentiable[..., Any, Any], bound: Arguments, value: Times, seconds: float
) -> Iterator[Row]:
    """Time each way; the first is the reference for the others."""
    reference: Any = None
    levels: tuple[Level, ...] = ("fast", "readable")
    for level in levels:
        made = differentiable(of.function, wrt=of.wrt, level=level).value_and_grad
        call = functools.partial(bound.call, made)
        row, gradient = _timed(f"stcompile, {level}", call, reference, seconds)
        reference = gradient if reference is None else reference
        yield row
    names = [bound.name_of(which) for which in chosen(of.wrt)]
    moved = {name: bound.values[name] for name in names if name is not None}
    count = sum(np.size(leaf) for _, leaf in trees.leaves(moved) if _is_real(leaf))
    yield Row(
        "central differences",
        call=Times(2 * count * value.median, 2 * count * value.mean),
        said=f"computed: {2 * count} calls of the function",
    )
    for name, make in PEERS.items():
        if importlib.util.find_spec(name) is None:
            yield Row(name, said="not installed")
            continue
        plain = of.function
        if not isinstance(plain, FunctionType) or bound.keywords:
            yield Row(name, said="only of plain functions of positional arguments")
            continue
        argnums = tuple(bound.positional.index(str(n)) for n in names)
        try:
            theirs = make(plain, list(bound.values.values()), argnums)
            yield _timed(name, theirs, reference, seconds, several=True)[0]
        except Exception as error:
            said = str(error).strip().splitlines() or [""]
            yield Row(name, said=f"cannot: {type(error).__name__}: {said[0][:50]}")


def _timed(
    name: str,
    call: Callable[[], Any],
    reference: Any,
    seconds: float,
    several: bool = False,
) -> tuple[Row, Any]:
    with without_cache():
        start = time.perf_counter()
        _, gradient = call()
        first = time.perf_counter() - start
    if several and isinstance(gradient, tuple) and len(gradient) == 1:
        gradient = gradient[0]
    flat = _flat(gradient)
    difference = None if reference is None else _difference(flat, reference)
    return Row(name, first, times(call, seconds), difference), flat


def _flat(gradient: Any) -> np.ndarray[Any, Any]:
    """All numbers of a gradient; items of dicts are ordered by name."""
    if isinstance(gradient, dict):
        parts: list[Any] = [gradient[key] for key in sorted(gradient, key=str)]
    elif isinstance(gradient, list | tuple):
        parts = list(gradient)
    else:
        return np.ravel(np.asarray(gradient, dtype=np.float64))
    return np.concatenate([np.zeros(0), *map(_flat, parts)])


def _difference(found: np.ndarray[Any, Any], reference: np.ndarray[Any, Any]) -> float:
    if found.shape != reference.shape:
        return float("inf")
    largest = float(np.max(np.abs(reference), initial=0.0)) or 1.0
    return float(np.max(np.abs(found - reference), initial=0.0)) / largest


def _is_real(leaf: Any) -> bool:
    return isinstance(leaf, float | np.floating) or (
        isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"
    )


def shown(seconds: float) -> str:
    """A time with its unit.

    >>> shown(3.2e-6), shown(0.045), shown(12.0)
    ('3.20 µs', '45.0 ms', '12.0 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            number = seconds / size
            return f"{number:.{2 if number < 10 and unit == 'µs' else 1}f} {unit}"
    return f"{1e9 * seconds:.0f} ns"
