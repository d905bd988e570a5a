"""Two independent NumPy operations: one after the other, or side by side on two threads.

NumPy lets other threads run while it computes in large arrays, so that two operations of one level
of a computation graph could overlap. Handing one to another thread has its price. Each row
times a pair of equal operations, written into arrays that are there already: one after the other;
both in a pool of two threads; one in a pool of one thread and the other here. The three take turns
in short bursts, one a round, and each time is the least of all. The last column says how many
processors other processes kept busy in the quietest of the bursts: where that is much, there was no
second one to be had, and the row says little.

The second table is of training steps of a recurrent network: the time of all equations, each timed
alone and in a new array; the least that two processors could take, level by level, if handing work
to a thread cost nothing; and the same if it costs what the first row says it does, where a level is
split only if that pays.

BLAS has threads of its own. Their number is read when NumPy is imported:

    OPENBLAS_NUM_THREADS=1 python -m examples.benchmarks.side_by_side
    OPENBLAS_NUM_THREADS=2 python -m examples.benchmarks.side_by_side
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import stcompile as st
from stcompile.reports.graph.model import graph_of
from stcompile.wengert.evaluate import apply, environment
from stcompile.wengert.ir import Constant, Program

from .machine import Usage, wait_for_quiet

Operation = Callable[[], Any]
ELEMENTS = (100, 1_000, 10_000, 100_000, 1_000_000)
SIDES = (64, 256, 512)
LONGEST = 0.1  # seconds for timing one equation, about
NETWORKS = ((100, 64), (1_000, 512))  # rows of a batch, hidden units


@dataclass(frozen=True)
class Row:
    """Microseconds for two equal operations, in three ways, and the processors that others kept
    busy (None: not known)."""

    name: str
    in_turn: float
    pool_of_two: float
    one_here: float
    others: float | None

    @property
    def gain(self) -> float:
        """The speed-up by the better of the two ways with threads."""
        return self.in_turn / min(self.pool_of_two, self.one_here)


def operations(dtype: str) -> Iterator[tuple[str, Operation, Operation]]:
    """Pairs of operations that share no array."""
    rng = np.random.default_rng(0)

    def array(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(dtype)

    for name, function in (("x + y", np.add), ("x * y", np.multiply)):
        for n in ELEMENTS:
            one, other = (
                functools.partial(function, array(n), array(n), array(n)) for _ in range(2)
            )
            yield f"{name}, {n:,} elements", one, other
    for n in ELEMENTS:
        one, other = (functools.partial(np.tanh, array(n), array(n)) for _ in range(2))
        yield f"tanh(x), {n:,} elements", one, other
    for n in SIDES:
        one, other = (
            functools.partial(np.matmul, array(n, n), array(n, n), array(n, n)) for _ in range(2)
        )
        yield f"x @ y, {n} x {n}", one, other


class Pair:
    """Two operations, and the least times of them so far, in seconds."""

    def __init__(self, name: str, one: Operation, other: Operation) -> None:
        self.name, self.one, self.other = name, one, other
        self.least = [float("inf")] * 3
        self.others: float | None = None

    def measure(self, seconds: float) -> None:
        """A burst, in which the three ways take turns."""
        with ThreadPoolExecutor(2) as two, ThreadPoolExecutor(1) as single:

            def in_turn() -> None:
                self.one()
                self.other()

            def pool_of_two() -> None:
                futures: list[Future[Any]] = [two.submit(self.one), two.submit(self.other)]
                for future in futures:
                    future.result()

            def one_here() -> None:
                future = single.submit(self.other)
                self.one()
                future.result()

            before = Usage.now()
            while time.perf_counter() < before.wall + seconds:
                for at, way in enumerate((in_turn, pool_of_two, one_here)):
                    start = time.perf_counter()
                    way()
                    self.least[at] = min(self.least[at], time.perf_counter() - start)
            others = Usage.now().others_since(before)
        if others is not None:
            self.others = others if self.others is None else min(self.others, others)

    @property
    def row(self) -> Row:
        in_turn, pool_of_two, one_here = (1e6 * time for time in self.least)
        return Row(self.name, in_turn, pool_of_two, one_here, self.others)


# --- a training step, level by level ------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """Microseconds for the equations of a program: in turn, and on two processors."""

    name: str
    equations: int
    levels: int
    in_turn: float
    free: float
    paid: float


def rnn(params: dict[str, Any], x: Any, y: Any) -> Any:
    """Four time steps of 196 pixels, ten classes."""
    h = np.zeros((x.shape[0], params["Wh"].shape[0]), x.dtype)
    for t in range(4):
        x_t = x[:, 196 * t : 196 * (t + 1)]
        h = np.tanh(x_t @ params["Wx"] + h @ params["Wh"] + params["bh"])
    return st.nn.softmax_cross_entropy(h @ params["Wo"] + params["bo"], y)


def estimates(dtype: str, handing_over: float) -> Iterator[Estimate]:
    rng = np.random.default_rng(0)
    for batch, hidden in NETWORKS:
        shapes = {"Wx": (196, hidden), "Wh": (hidden, hidden), "bh": (hidden,)}
        shapes |= {"Wo": (hidden, 10), "bo": (10,)}
        params = {name: (rng.standard_normal(s) / 20).astype(dtype) for name, s in shapes.items()}
        x, y = rng.standard_normal((batch, 784)).astype(dtype), rng.integers(0, 10, batch)
        rate = 1e-6
        program = st.train_step(rnn, st.optim.SGD(rate)).program(params, x, y)
        times = _times(program, [*params.values(), x, y, rate])
        graph, first = graph_of(program), len(program.inputs)
        free = paid = 0.0
        for level in graph.levels:
            found = [times[n.index - first] for n in level if n.kind == "equation"]
            one = other = 0.0
            for spent in sorted(found, reverse=True):  # the longest first, to who is less busy
                one, other = min(one, other) + spent, max(one, other)
            free += max(one, other)
            paid += min(sum(found), max(one, other) + handing_over)
        name = f"RNN step, batch {batch:,}, {hidden} units"
        yield Estimate(name, len(graph.equations), graph.depth, sum(times), free, paid)


def _times(program: Program, arguments: Sequence[Any]) -> list[float]:
    """The least time of each equation in µs; those with effects only count as nothing."""
    values = environment(program, *arguments)
    times = []
    for equation in program.equations:
        if not equation.outputs:
            times.append(0.0)
            continue
        inputs = tuple(a.value if isinstance(a, Constant) else values[a] for a in equation.inputs)
        call = functools.partial(apply, equation.primitive, inputs, equation.params)
        repeats = int(LONGEST / max(min(timeit.repeat(call, number=1, repeat=3)), 1e-6))
        times.append(1e6 * min(timeit.repeat(call, number=1, repeat=max(3, min(200, repeats)))))
    return times


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10, help="bursts of each pair (default: 10)")
    parser.add_argument("--seconds", type=float, default=0.3, help="of a burst (default: 0.3)")
    parser.add_argument(
        "--wait", type=float, default=2.0, help="seconds, at most, for a quiet machine (default: 2)"
    )
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the times to FILE")
    options = parser.parse_args(argv)
    pairs = [Pair(*three) for three in operations(options.dtype)]
    for _ in range(options.rounds):
        for pair in pairs:
            wait_for_quiet(options.wait)
            pair.measure(options.seconds)
    rows = [pair.row for pair in pairs]
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "not limited")
    print(f"{options.dtype}, threads of BLAS: {threads}; µs for two operations")
    print(f"{'':<28}{'in turn':>10}{'pool of 2':>11}{'one here':>10}{'gain':>7}{'others':>8}")
    for row in rows:
        times = f"{row.in_turn:>10.1f}{row.pool_of_two:>11.1f}{row.one_here:>10.1f}"
        others = "" if row.others is None else f"{row.others:.2f}"
        print(f"{row.name:<28}{times}{row.gain:>7.2f}{others:>8}")
    handing_over = max(0.0, rows[0].one_here - rows[0].in_turn)  # of the smallest pair
    print(f"\nµs for all equations, {handing_over:.1f} µs for handing over")
    print(f"{'':<36}{'equations':>10}{'levels':>8}{'in turn':>10}{'free':>10}{'paid':>10}")
    for found in estimates(options.dtype, handing_over):
        counts = f"{found.equations:>10}{found.levels:>8}"
        print(
            f"{found.name:<36}{counts}{found.in_turn:>10.1f}{found.free:>10.1f}{found.paid:>10.1f}"
        )
    if options.json is not None:
        measured = [asdict(row) | {"gain": row.gain} for row in rows]
        options.json.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
