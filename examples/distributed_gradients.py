"""Maximise a likelihood whose data lies in shards on the workers of a Dask cluster.

Each worker holds some shards, and the log-likelihood and its gradient are sums over all of them.
So a function travels to the data, by pickle, and numbers as many as the parameters travel back: the
data never moves. A worker compiles the function once, or links what another process has compiled
from the cache on disk. The cluster here is one of processes on this machine; the address of a
scheduler, --scheduler, takes one of many machines instead.

    python examples/distributed_gradients.py --workers 4 --shards 16 --rows 100000
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.extras import require

Array = np.ndarray[Any, np.dtype[Any]]


# --- the model: NumPy, and nothing else -------------------------------------------------------


@st.differentiable(wrt="theta")
def cost(theta: Array, x: Array, y: Array) -> Any:
    """The negative log-likelihood of a logistic regression: of y (N,), 0 or 1, given x (N, K)."""
    z = x @ theta[:-1] + theta[-1]
    return np.sum(np.logaddexp(0, z) - y * z)


def shard(seed: int, rows: int, truth: Array) -> tuple[Array, Array]:
    """Data drawn where it is needed. A program of your own would read a file here."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, len(truth) - 1))
    z = x @ truth[:-1] + truth[-1]
    return x, (rng.random(rows) < 1 / (1 + np.exp(-z))).astype(np.float64)


# --- what workers do --------------------------------------------------------------------------


Part = tuple[float, Array, list[bool]]
"""The cost, its gradient, and for each time that a worker had no program yet for this gradient,
whether the cache on disk had one."""


def on_shard(theta: Array, data: tuple[Array, Array]) -> Part:
    """The part of one shard, computed where that shard is."""
    made: list[bool] = []
    with st.on_compile(lambda compilation: made.append(compilation.cached)):
        value, gradient = cost.value_and_grad(theta, *data)
    return float(value), gradient, made


def added(parts: Sequence[Part]) -> Part:
    values, gradients, made = zip(*parts, strict=True)
    return sum(values), np.sum(gradients, axis=0), [one for some in made for one in some]


# --- the program ------------------------------------------------------------------------------


@contextlib.contextmanager
def cluster(arguments: argparse.Namespace) -> Iterator[Any]:
    """A client of the cluster that was asked for."""
    distributed = require("distributed", "dask", "the example")
    if arguments.scheduler:
        with distributed.Client(arguments.scheduler) as client:
            yield client
        return
    local = {"n_workers": arguments.workers, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**local) as made, distributed.Client(made) as client:
        yield client


def maximise(client: Any, shards: Sequence[Any], start: Array) -> tuple[Any, list[bool]]:
    """The parameters of the largest likelihood, by L-BFGS, and what workers compiled for it."""
    optimize = require("scipy.optimize", "scipy", "the example")
    bar = require("tqdm", "train", "the example").tqdm(unit=" evaluations", mininterval=0.2)
    compiled: list[bool] = []

    def summed(theta: Array) -> tuple[float, Array]:
        parts = client.map(on_shard, [theta] * len(shards), shards, pure=False)
        value, gradient, made = client.submit(added, parts, pure=False).result()
        compiled.extend(made)
        bar.set_postfix_str(f"log-likelihood {-value:.6g}")
        bar.update()
        return value, gradient

    with bar:
        return optimize.minimize(summed, start, jac=True, method="L-BFGS-B"), compiled


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--workers", type=int, default=2, help="processes of the cluster")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--rows", type=int, default=20_000, help="in each shard")
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--scheduler", help="the address of a Dask scheduler that is there already")
    arguments = parser.parse_args(given)
    for name in ("workers", "shards", "rows", "features"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} is a number from 1 on")
    truth = np.random.default_rng(0).normal(size=arguments.features + 1)
    with cluster(arguments) as client:
        seeds = range(1, arguments.shards + 1)
        shards = client.map(shard, seeds, rows=arguments.rows, truth=truth)
        found, compiled = maximise(client, shards, np.zeros_like(truth))
    rows = arguments.shards * arguments.rows
    error = float(np.sqrt(np.mean((found.x - truth) ** 2)))
    print(f"{rows} rows in {arguments.shards} shards: log-likelihood {-found.fun:.6g}")
    print(f"{found.nfev} evaluations, gradient {np.abs(found.jac).max():.1e}, error {error:.1e}")
    linked = sum(compiled)
    print(f"the gradient was compiled {len(compiled) - linked} times, and linked {linked} times")
    return 0 if found.success else 1


if __name__ == "__main__":
    raise SystemExit(main())
