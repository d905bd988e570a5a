"""Run by mpiexec: ranks that train together are as one process that trains on all rows.

Each case trains a network with an optimiser for a few steps on batches that are shared out
unequally, then all on its own on whole batches, and compares losses, parameters and the
optimiser's state. Over two to four ranks every network meets every optimiser.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import stcompile as st
from stcompile_programs.networks import mnist_cnn, mnist_lstm, mnist_rnn

ROWS, STEPS = 12, 3


def rnn(rng: np.random.Generator) -> Any:
    params = mnist_rnn.initial_params(rng, 16, 8, 10, np.float64)
    return mnist_rnn.loss, params, (4,)


def lstm(rng: np.random.Generator) -> Any:
    return mnist_lstm.loss, mnist_lstm.initial_params(rng, 8, 6, 10, np.float64), (8,)


def cnn(rng: np.random.Generator) -> Any:
    he = mnist_cnn.INITIALISERS["he"]
    params = mnist_cnn.initial_params(rng, 16 * 2 * 2, 10, np.float64, he)
    return mnist_cnn.loss, params, ((8, 8), "same")


NETWORKS = (rnn, lstm, cnn)
OPTIMIZERS = (
    lambda: st.optim.SGD(0.1, clip_norm=0.5),
    lambda: st.optim.Momentum(0.05),
    lambda: st.optim.Adam(0.01, weight_decay=0.001),
)


def share(rank: int, size: int) -> slice:
    """Unequal shares: the first rank has what the others leave."""
    own = ROWS // (size + 1)
    start = ROWS - own * (size - rank)
    return slice(0, ROWS - own * (size - 1)) if rank == 0 else slice(start, start + own)


def trained(network: Any, optimizer: Any, rows: slice, **options: Any) -> Any:
    rng = np.random.default_rng(0)
    loss, params, rest = network(rng)
    step = st.train_step(loss.function, optimizer, wrt="params", **options)
    losses = []
    for _ in range(STEPS):
        x, y = rng.standard_normal((ROWS, 64)), rng.integers(0, 10, ROWS)
        losses.append(float(step(params, x[rows], y[rows], *rest)))
    return losses, params, optimizer.state_dict()


def compare(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-9)
    for name, array in wanted[1].items():
        np.testing.assert_allclose(got[1][name], array, rtol=1e-7, atol=1e-9, err_msg=name)
    for slot, kept in wanted[2].items():
        for name in kept if isinstance(kept, dict) else ():
            np.testing.assert_allclose(got[2][slot][name], kept[name], rtol=1e-6, atol=1e-9)


def square(w: Any, x: Any) -> Any:
    return np.mean((x @ w["a"] - np.sum(w["b"])) ** 2)


def ragged(comm: Any) -> None:
    """Many steps with shares that change, and may be empty, among all ranks and among some."""
    rng, x = np.random.default_rng(1), np.random.default_rng(0).standard_normal((ROWS, 3))
    for some in (comm, comm.Split(comm.Get_rank() % 2)):
        params = {"a": np.ones(3), "b": np.ones(2, np.float32)}
        alone = {name: array.copy() for name, array in params.items()}
        step, whole = (
            st.train_step(square, st.optim.AdamW(0.05), **options)
            for options in ({"comm": some}, {})
        )
        for _ in range(40):
            ends = np.sort(rng.integers(0, ROWS + 1, comm.Get_size()))[: some.Get_size() - 1]
            cuts = [0, *ends.tolist(), ROWS]
            rank = some.Get_rank()
            np.testing.assert_allclose(
                step(params, x[cuts[rank] : cuts[rank + 1]]), whole(alone, x), rtol=1e-4
            )
        drifted = len({array.tobytes() for array in some.allgather(params["a"])})
        assert drifted == 1, "ranks drift apart"
    if comm.Get_size() == 2:
        from mpi4py import MPI

        two = MPI.COMM_SELF.Create_intercomm(0, comm, 1 - comm.Get_rank())
        try:
            st.train_step(square, st.optim.SGD(0.1), comm=two)
        except st.ArgumentsError as error:
            assert "intercommunicator" in str(error)
        else:
            raise AssertionError("an intercommunicator is taken")


def main() -> None:
    from mpi4py.MPI import COMM_WORLD as comm

    rank, size = comm.Get_rank(), comm.Get_size()
    for at, network in enumerate(NETWORKS):
        optimizer = OPTIMIZERS[(at + size) % len(OPTIMIZERS)]
        overlap = 2000 if network is cnn or size == 3 else False
        options = {"comm": comm, "overlap": overlap}
        got = trained(network, optimizer(), share(rank, size), **options)
        compare(got, trained(network, optimizer(), slice(None)))
        everywhere = comm.allgather([got[0], *(array.tobytes() for array in got[1].values())])
        assert all(other == everywhere[0] for other in everywhere), "ranks differ"
        if rank == 0:
            print(f"{network.__name__} on {size} ranks is as on one")
    ragged(comm)


if __name__ == "__main__":
    sys.exit(main())
