"""Ranks as threads of one process: a communicator with what a training step needs of mpi4py's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

PATIENCE = 20.0  # seconds that a rank waits for the others


class Comm:
    """One rank's side of a communicator."""

    def __init__(self, rank: int, slots: list[Any], barrier: threading.Barrier) -> None:
        self.rank, self.slots, self.barrier = rank, slots, barrier
        self.exchanged: list[tuple[str, int]] = []  # dtype and length of each array

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return len(self.slots)

    def allgather(self, value: Any) -> list[Any]:
        self.slots[self.rank] = value
        self.barrier.wait()
        found = list(self.slots)
        self.barrier.wait()
        return found

    def Allreduce(self, _: Any, array: np.ndarray[Any, Any]) -> None:
        self.exchanged.append((array.dtype.str, array.size))
        assert array.flags.c_contiguous
        array[...] = sum(self.allgather(array.copy()))

    def Iallreduce(self, here: Any, array: np.ndarray[Any, Any]) -> Any:
        from mpi4py import MPI

        self.Allreduce(here, array)
        return MPI.REQUEST_NULL


class Alone:
    """One rank alone, which has nothing to add up."""

    Get_rank = staticmethod(lambda: 0)
    Get_size = staticmethod(lambda: 1)
    allgather = staticmethod(lambda value: [value])
    Allreduce = staticmethod(lambda here, array: None)

    def Iallreduce(self, here: Any, array: Any) -> Any:
        from mpi4py import MPI

        return MPI.REQUEST_NULL


def on_ranks(count: int, program: Callable[[Comm], Any]) -> list[Any]:
    """What a program gives on each of so many ranks."""
    slots: list[Any] = [None] * count
    barrier = threading.Barrier(count, timeout=PATIENCE)
    comms = [Comm(rank, slots, barrier) for rank in range(count)]
    with ThreadPoolExecutor(count) as executor:
        return list(executor.map(program, comms))


def shares(rows: int, sizes: list[int]) -> list[slice]:
    """Consecutive rows for each rank."""
    assert sum(sizes) == rows
    stops = np.cumsum(sizes).tolist()
    return [slice(stop - size, stop) for stop, size in zip(stops, sizes, strict=True)]
