"""A training step by the number of ranks, with and without its exchange.

    mpiexec -n 2 python -m examples.benchmarks.ranks --rows 200

Every rank trains the convolutional network of the examples on its part of the rows. In each round
the first rank makes a step while the others sleep, with all rows and with its own; all ranks make
the step of their own rows at the same time, without an exchange, which is the upper bound on this
machine; the same with an exchange, and with an overlapping exchange; and exchanges of a few bytes
and of many, for the latency and the bandwidth of the model in docs/scaling.md. The printed numbers
are medians of the rounds (--least: the least, for a machine that others use as well), in
milliseconds, and the means behind them.

One thread a rank is asked for by OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.extras import require
from stcompile_programs.networks import mnist_cnn
from stcompile_programs.scaling import fitted, replay, schedule_of

SIDE = 28
SHORT, LONG = 1, 1 << 20  # numbers of an exchange
Work = Callable[[], Any]


def network(rows: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """The arguments of a step: the same parameters on all ranks, and as many images."""
    flat = mnist_cnn.CHANNELS[-1] * mnist_cnn.size_after(SIDE, "valid") ** 2
    he = mnist_cnn.INITIALISERS["he"]
    params = mnist_cnn.initial_params(np.random.default_rng(0), flat, 10, np.float32, he)
    x = rng.standard_normal((rows, SIDE * SIDE), np.float32)
    return params, x, rng.integers(0, 10, rows), (SIDE, SIDE), "valid"


class Bench:
    """Times of works on the ranks of a communicator, in rounds."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()

    def meet(self) -> None:
        """Wait for all ranks without keeping a processor busy."""
        met = self.comm.Ibarrier()
        while not met.Test():
            time.sleep(1e-4)

    def alone(self, work: Work) -> float:
        """Seconds of a work on the first rank, while the others sleep."""
        self.meet()
        seconds = _seconds(work) if self.rank == 0 else 0.0
        self.meet()
        return seconds

    def together(self, work: Work) -> float:
        """Seconds of a work that all ranks of a machine do at the same time: from the first one's
        start to the last one's end."""
        self.meet()
        self.comm.Barrier()
        start = time.perf_counter()
        work()
        starts, ends = zip(*self.comm.allgather((start, time.perf_counter())), strict=True)
        return float(max(ends) - min(starts))


def _seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(
    comm: Any, rows: int, rounds: int, least: bool
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of each work, and their means."""
    mpi: Any = require("mpi4py.MPI", "mpi", "the benchmark")
    bench = Bench(comm)
    rng = np.random.default_rng([1, bench.rank])
    whole, part = network(rows, rng), network(rows // bench.size, rng)
    alone = st.train_step(mnist_cnn.loss, st.optim.SGD(1e-9))
    shared, over = (
        st.train_step(mnist_cnn.loss, st.optim.SGD(1e-9), comm=comm, overlap=overlap)
        for overlap in (False, True)
    )
    own = network(rows // bench.size, rng)  # parameters that the ranks change alike
    short, long = np.zeros(SHORT, np.float32), np.zeros(LONG, np.float32)
    works: dict[str, tuple[Callable[[Work], float], Work]] = {
        "one rank, all rows": (bench.alone, lambda: alone(*whole)),
        "one rank, its rows": (bench.alone, lambda: alone(*part)),
        "together, no exchange": (bench.together, lambda: alone(*part)),
        "together, exchange": (bench.together, lambda: shared(*own)),
        "together, overlap": (bench.together, lambda: over(*own)),
        "exchange, short": (bench.together, lambda: comm.Allreduce(mpi.IN_PLACE, short)),
        "exchange, long": (bench.together, lambda: comm.Allreduce(mpi.IN_PLACE, long)),
    }
    for _, work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, (how, work) in works.items():
            times[name].append(how(work))
    pick = np.min if least else np.median
    taken = {name: float(pick(found)) for name, found in times.items()}
    return taken, {name: float(np.mean(found)) for name, found in times.items()}


def table(found: dict[str, float], rows: int, size: int, comm: Any) -> dict[str, float]:
    """The measured times in milliseconds, and the ratios that follow from them."""
    shown = {name: 1e3 * seconds for name, seconds in found.items()}
    ideal, step = found["together, no exchange"], found["together, exchange"]
    shown["efficiency, of the machine's ideal"] = ideal / step
    shown["efficiency, of a rank alone"] = found["one rank, all rows"] / size / step
    if size > 1:
        processors = os.cpu_count()
        numbers = ((4 * SHORT, found["exchange, short"]), (4 * LONG, found["exchange, long"]))
        network_here = fitted(size, *numbers)
        stepping = st.train_step(mnist_cnn.loss, st.optim.SGD(1e-9), comm=comm)
        program = stepping.program(*network(rows // size, np.random.default_rng(0)))
        schedule = schedule_of(program).scaled(found["one rank, its rows"])
        shown["latency, µs"] = 1e6 * network_here.latency
        shown["bandwidth, GB/s"] = network_here.bandwidth / 1e9
        shown["the model's step"] = 1e3 * replay(schedule, network_here, size, processors).seconds
    return shown


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200, help="of all ranks (default: 200)")
    parser.add_argument("--rounds", type=int, default=200, help="default: 200")
    parser.add_argument("--least", action="store_true", help="the least times, not medians")
    parser.add_argument("--json", type=Path, help="write the table to this file")
    arguments = parser.parse_args(argv)
    mpi: Any = require("mpi4py.MPI", "mpi", "the benchmark")
    comm = mpi.COMM_WORLD
    found, means = measured(comm, arguments.rows, arguments.rounds, arguments.least)
    if comm.Get_rank() == 0:
        shown = table(found, arguments.rows, comm.Get_size(), comm)
        print(f"{arguments.rows} rows, {comm.Get_size()} ranks, {os.cpu_count()} processors")
        for name, value in shown.items():
            mean = f"{1e3 * means[name]:10.3f}" if name in means else ""
            print(f"  {name:36}{value:10.3f}{mean}")
        if arguments.json:
            arguments.json.write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
