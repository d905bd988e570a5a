"""Measure the cost of a call of a compiled function beside its arithmetic.

Before the generated function runs, stcompile makes sure that it is the right one: the structure,
types, shapes and memory orders of the arguments, the captured values, and for a training step that
nothing which is written overlaps. Each row times a call and the checks alone. Times are the least
of many, to which other processes only ever add; of the call there are the median and the mean, too.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.options import Level
from stcompile.calls.dispatch import Dispatcher
from stcompile.calls.entry import entry_of
from stcompile.calls.workspaces import Workspaces

Array = np.ndarray[Any, np.dtype[Any]]


@st.differentiable(wrt=("x1", "x2"))
def worked_example(x1: float, x2: float) -> Any:
    """The example of most papers on automatic differentiation."""
    return np.log(x1) + x1 * x2 - np.sin(x2)


def rnn(params: dict[str, Array], x: Array, y: Array) -> Any:
    """Four time steps of 196 pixels, 64 hidden units, ten classes."""
    h = np.zeros((x.shape[0], 64), x.dtype)
    for t in range(4):
        x_t = x[:, 196 * t : 196 * (t + 1)]
        h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])
    return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)


def rnn_arguments(batch: int) -> tuple[dict[str, Array], Array, Array]:
    rng = np.random.default_rng(0)
    shapes = {"Wx": (196, 64), "Wh": (64, 64), "bh": (64,), "Wo": (64, 10), "bo": (10,)}
    params = {name: rng.standard_normal(shape, np.float32) / 10 for name, shape in shapes.items()}
    images, labels = rng.standard_normal((1000, 784), np.float32), rng.integers(0, 10, 1000)
    return params, images[:batch], labels[:batch]


@dataclass(frozen=True)
class Row:
    """Microseconds: a whole call, least, median and mean, and the checks in it."""

    name: str
    call: float
    median: float
    mean: float
    checks: float


def times(function: Callable[[], Any], repeats: int, number: int) -> list[float]:
    """The times of a call in some repeats, in µs."""
    return [1e6 * t / number for t in timeit.repeat(function, number=number, repeat=repeats)]


def nothing(*arguments: Any, **keywords: Any) -> None:
    """Stands for the generated function where only the checks are timed."""


def row(
    name: str, function: Dispatcher[..., Any], arguments: Sequence[Any], repeats: int, number: int
) -> Row:
    given = tuple(arguments)
    for _ in range(3):  # compile it; find that it comes again; use its entry
        function(*given)
    specialisation = function.specialise(function.bind(given, {}))
    pooled = isinstance(specialisation.function, Workspaces)
    stub = Workspaces(lambda: nothing) if pooled else nothing
    checks = entry_of(dataclasses.replace(specialisation.entry_call, called=stub))
    if checks(given) is not None:
        raise RuntimeError(f"the entry of {name} does not accept its own arguments")
    calls = times(lambda: function(*given), repeats, number)
    own = min(times(lambda: checks(given), repeats, 10 * number))
    own -= min(times(nothing, repeats, 10 * number))
    return Row(name, min(calls), statistics.median(calls), statistics.fmean(calls), own)


def rows(level: Level, repeats: int) -> Iterator[Row]:
    scalar = st.value_and_grad(worked_example, wrt=(0, 1), level=level)
    yield row("ln x1 + x1 x2 - sin x2, value and gradient", scalar, (2.0, 5.0), repeats, 100)
    arguments = rnn_arguments(100)
    sgd = st.train_step(rnn, st.optim.SGD(1e-6), level=level)
    yield row("RNN step, batch 100, SGD", sgd, arguments, repeats, 10)
    adam = st.train_step(rnn, st.optim.Adam(1e-6), level=level)
    yield row("RNN step, batch 100, Adam", adam, arguments, repeats, 10)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=300, help="repeats of each measurement")
    parser.add_argument("--level", choices=("readable", "fast"), default="fast")
    options = parser.parse_args(argv)
    heads = "".join(f"{head:>9}" for head in ("least", "median", "mean", "checks"))
    print(f"{'µs a call':<44}{heads}")
    for found in rows(options.level, options.repeats):
        values = found.call, found.median, found.mean, found.checks
        print(f"{found.name:<44}" + "".join(f"{value:>9.2f}" for value in values))


if __name__ == "__main__":
    main()
