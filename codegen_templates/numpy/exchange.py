"""Spellings of the exchange of gradients between processes, through a communicator of mpi4py."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lazy import MPI
from ..marks import effect, fresh, write


@fresh
def pack(xs: Any) -> Any:
    return np.concatenate(xs, axis=None)


@write(inplace=("x",))
def exchange(x: Any, comm: Any, *, bucket: int = 0) -> Any:
    comm.Allreduce(MPI.IN_PLACE, x)
    return x


@fresh
def requests() -> Any:
    return []


@write(inplace=("x",))
def exchange_start(x: Any, comm: Any, requests: Any) -> Any:
    requests.append(comm.Iallreduce(MPI.IN_PLACE, x))
    return x


@effect
def exchange_wait(requests: Any) -> None:
    MPI.Request.Waitall(requests)
