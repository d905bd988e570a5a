"""A loop over all pairs of bodies: as it is, and its value and gradient at two levels.

The function is the first one that a person would write: a few calls of NumPy for each pair. At the
default level its value and gradient are calls of NumPy as well; at ``level="compiled"`` they are
loops over numbers, which Numba compiles (the extra `numba`). The gradient is compared with a
central difference along a random direction. Times are those of the processor, so that other
programs matter less; all of them take turns.

    python examples/compiled_loop.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import stcompile as st

ROUNDS, COMPILED_CALLS = 7, 200  # in each round one call of the function, and so many compiled ones
STEP = 1e-5

Array = np.ndarray[Any, np.dtype[Any]]


def potential(x: Array) -> Any:
    """The energy that holds bodies of mass 1 together, softened for bodies at one place."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            total -= 1.0 / np.sqrt(np.sum(d * d) + 1e-3)
    return total


def timed(call: Callable[[], Any]) -> float:
    """Milliseconds of the processor that a call takes."""
    start = time.process_time()
    call()
    return 1000 * (time.process_time() - start)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bodies", type=int, default=300, help="how many (%(default)s)")
    parser.add_argument("--source", action="store_true", help="print the generated code as well")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(options.bodies, 3))
    value_and_grad = st.value_and_grad(potential, level="compiled")
    if options.source:
        print(value_and_grad.source(x))

    start = time.perf_counter()
    _, gradient = value_and_grad(x)
    first = time.perf_counter() - start
    step = STEP * rng.normal(size=x.shape)
    difference = (potential(x + step) - potential(x - step)) / 2
    error = abs(np.sum(gradient * step) - difference) / abs(difference)

    by_calls = st.value_and_grad(potential)
    by_calls(x)
    plain: list[float] = []
    called: list[float] = []
    compiled: list[float] = []
    for _ in range(ROUNDS):
        plain.append(timed(lambda: potential(x)))
        called.append(timed(lambda: by_calls(x)))
        compiled += [timed(lambda: value_and_grad(x)) for _ in range(COMPILED_CALLS)]
    pairs = options.bodies * (options.bodies - 1) // 2
    best = statistics.median(compiled)
    print(
        f"{options.bodies} bodies, {pairs} pairs".ljust(34), " median ms    mean ms  times as long"
    )
    for name, times in (
        ("the function, in Python", plain),
        ("value and gradient, NumPy calls", called),
        ("value and gradient, compiled", compiled),
    ):
        median, mean = statistics.median(times), statistics.mean(times)
        print(f"{name:34} {median:10.3f} {mean:10.3f} {median / best:14.0f}")
    print(f"first call {first:.1f} s; gradient against a difference: {error:.0e}")


if __name__ == "__main__":
    main()
