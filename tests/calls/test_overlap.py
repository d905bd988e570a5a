"""Who owns memory, and what follows from it, against NumPy's comparison of addresses."""

from __future__ import annotations

import itertools
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile.calls.overlap import Known, overlap, overlaps, owner

pytestmark = pytest.mark.filterwarnings(
    "ignore:the matrix subclass:PendingDeprecationWarning",
    "ignore:Setting the:DeprecationWarning",  # which programs may still do
)


@pytest.fixture
def zoo(tmp_path: Path) -> list[np.ndarray[Any, Any]]:
    """Arrays over all kinds of memory, many of them over the same."""
    plain, raw = np.arange(24.0), bytes(range(192))
    path = tmp_path / "data.bin"
    path.write_bytes(raw)
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    memmap = np.memmap(path, dtype=np.float64, mode="r+")

    class Wrapped:
        __array_interface__ = plain.__array_interface__

    class Exported:
        def __init__(self) -> None:
            self.__array_interface__ = {**plain[4:8].__array_interface__, "shape": (4,)}

    def views(array: Any) -> Iterator[Any]:
        yield array
        yield from (array[:8], array[4:12], array[16:], array[::-2], array[:0], array[5:][2:4])
        yield from (array.reshape(4, 6).T, array.reshape(2, 3, 4)[1, :, ::2], array.view(np.int64))
        yield np.lib.stride_tricks.as_strided(array, (3, 3), (8, 8))
        yield np.broadcast_to(array[:3], (2, 3))

    return [
        *views(plain),
        *views(plain.copy()),
        *views(np.frombuffer(raw)),
        *views(np.frombuffer(bytearray(raw))),
        *views(np.frombuffer(mapped)),
        *views(memmap),
        *views(np.asarray(memmap)),
        *views(np.asarray(memoryview(plain))),
        *views(np.ndarray(24, buffer=plain)),
        *views(np.asarray(np.asmatrix(plain))[0]),
        *views(np.from_dlpack(plain)),
        np.asarray(Wrapped()),
        np.asarray(Exported()),
        plain.view(np.recarray),
    ]


def test_owners_decide_as_addresses_do(zoo: list[np.ndarray[Any, Any]]) -> None:
    """`overlaps` is right for every pair, both ways; the owner alone decides most."""
    decided = shared = 0
    for one, other in itertools.product(zoo, zoo):
        known, mine = owner(other), owner(one)
        owners = set() if known is None else {id(known)}
        if known is not None:
            assert overlaps(one, [other], owners) == overlap(one, other)
            decided += mine is not None and mine is not known
            shared += mine is known and overlap(one, other)
    assert decided > 3000
    assert shared > 200


@pytest.mark.parametrize("kind", ["interface", "memoryview", "dlpack", "matrix"])
def test_memory_of_unknown_owners(kind: str) -> None:
    """What came by another object has no owner, and is compared by address."""
    plain = np.arange(4.0)
    holder = type("Holder", (), {"__array_interface__": plain.__array_interface__})
    other: Any = {
        "interface": lambda: np.asarray(holder()),
        "memoryview": lambda: np.asarray(memoryview(plain)),
        "dlpack": lambda: np.from_dlpack(plain),
        "matrix": lambda: np.asarray(np.asmatrix(plain)),
    }[kind]()
    assert owner(plain) is plain
    assert owner(other) is (plain if kind == "matrix" else None)
    assert overlaps(other, [plain], {id(plain)})
    known = Known()
    known.note([other], [])
    *_, owners = known.facts
    assert overlaps(plain, [other], owners), "what has no owner may be anywhere"
    assert not overlaps(plain.copy(), [other], owners)


def test_what_is_known_is_of_the_same_arrays() -> None:
    memory = np.arange(12.0)
    one, two, read = memory[:6:2], np.ones(2), np.ones(3)
    known = Known()
    assert not known.has([one, two], [read])
    assert not known.has([], [])
    known.note([one, two], [read])
    assert known.has([one, two], [read])
    assert not known.has([two, one], [read])
    assert not known.has([one, two], [])
    assert not known.has([one, two, read], [read])
    assert not known.has([memory[:6:2], two], [read])
    one.strides = (24,)
    assert not known.has([one, two], [read]), "it reaches further now"
    one.strides = (16,)
    assert known.has([one, two], [read])
