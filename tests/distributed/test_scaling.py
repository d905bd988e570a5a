"""A training step's schedule, replayed with a network: against cases computed by hand, against the
formulas in the limits, and against what the generated code does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.errors import ArgumentsError
from stcompile_programs.scaling import (
    Begin,
    Compute,
    Machine,
    Network,
    Schedule,
    Wait,
    fitted,
    replay,
    schedule_of,
)
from tests.distributed.mpi import ROOT, needs_library
from tests.distributed.ranks import Alone

# Two ranks need 1 s and as many seconds as a message has bytes.
SIMPLE = Network(latency=1.0, bandwidth=1.0, adding=math.inf)
TWO = Schedule((Compute(4), Begin(2), Compute(1), Begin(3), Compute(10), Wait(), Compute(5)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: replay(TWO, SIMPLE, 0),
        lambda: replay(TWO, SIMPLE, 2.5),  # type: ignore[arg-type]
        lambda: replay(TWO, SIMPLE, 2, processors=0),
        lambda: Network(latency=-1e-6),
        lambda: Network(latency=math.nan),
        lambda: Network(bandwidth=0.0),
        lambda: TWO.scaled(-1.0),
        lambda: TWO.scaled(math.nan),
    ],
)
def test_numbers_that_no_machine_has_are_refused(wrong: Any) -> None:
    with pytest.raises(ArgumentsError):
        wrong()


def test_buckets_wait_for_the_network_and_the_update_for_them() -> None:
    found = replay(TWO, SIMPLE, 2)
    assert [(t.ready, t.begin, t.end) for t in found.transfers] == [(4, 4, 7), (5, 7, 11)]
    assert (found.seconds, found.computing, found.exposed) == (20, 20, 0)  # all of it overlaps
    slow = replay(TWO, replace(SIMPLE, bandwidth=0.25), 2)  # 9 and 13 s
    assert [(t.begin, t.end) for t in slow.transfers] == [(4, 13), (13, 26)]
    assert (slow.seconds, slow.exposed, slow.efficiency) == (31, 11, 20 / 31)


def test_without_a_thread_of_its_own_the_network_works_in_the_wait() -> None:
    found = replay(TWO, replace(SIMPLE, in_background=False), 2)
    assert [(t.ready, t.begin, t.end) for t in found.transfers] == [(4, 15, 18), (5, 18, 22)]
    assert found.seconds == 20 + 3 + 4


def test_ranks_share_processors() -> None:
    assert replay(TWO, SIMPLE, 4, processors=2).computing == 40
    assert replay(TWO, SIMPLE, 2, processors=2).computing == 20
    alone = replay(TWO, SIMPLE, 1)
    assert (alone.seconds, alone.efficiency) == (20, 1)


def test_the_formulas_of_the_algorithms() -> None:
    network = Network(latency=3.0, bandwidth=0.5, adding=0.25)  # 2 s and 4 s a byte
    assert network.ways(4, 100) == {
        "tree": 2 * 2 * (3 + 200) + 2 * 400,
        "doubling": 2 * (3 + 200 + 400),
        "halving": 2 * 2 * 3 + 3 / 4 * (2 * 200 + 400),
        "ring": 2 * 3 * 3 + 3 / 4 * (2 * 200 + 400),
    }
    beyond = 2 * (3 + 200) + 400  # of the fifth rank
    ways = network.ways(5, 100)
    assert ways["doubling"] == 2 * (3 + 200 + 400) + beyond
    assert ways["halving"] == 2 * 2 * 3 + 3 / 4 * (2 * 200 + 400) + beyond
    assert ways["ring"] == 2 * 4 * 3 + 4 / 5 * (2 * 200 + 400)
    assert ways["tree"] == 2 * 3 * (3 + 200) + 3 * 400
    assert network.seconds(4, 100) == min(network.ways(4, 100).values())


@pytest.mark.parametrize("ranks", [2, 7, 64, 10_000])
def test_limits(ranks: int) -> None:
    together = Schedule((Compute(2.0), Begin(1000), Wait(), Compute(1.0)))
    network = Network(1e-3, 1e6, 1e7)
    found = replay(together, network, ranks)  # without overlap all of the exchange is added
    assert found.seconds == pytest.approx(3.0 + network.seconds(ranks, 1000), rel=1e-12)
    quick = Network(0.0, math.inf, math.inf)
    assert replay(TWO, quick, ranks).seconds == TWO.seconds
    # Without latency the bytes decide: 2 n (p - 1) / p of them, as each rank has to send at least.
    free = Network(0.0, 1e6, math.inf)
    least = 2 * 1000 / 1e6 * (ranks - 1) / ranks
    assert free.seconds(ranks, 1000) == pytest.approx(least)
    # Without bytes the number of steps does.
    assert network.seconds(ranks, 0) <= 2 * 1e-3 * math.ceil(math.log2(ranks))


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_network_is_found_again_from_two_exchanges(ranks: int) -> None:
    network = Network(2e-5, 3e9, math.inf, in_background=False)
    pairs = [(n, network.seconds(ranks, n)) for n in (0, 1 << 24)]
    assert fitted(ranks, *pairs).latency == pytest.approx(2e-5)
    assert fitted(ranks, *pairs).bandwidth == pytest.approx(3e9, rel=1e-6)


# --- schedules of programs -----------------------------------------------------------------------


def deep(params: Any, x: Any) -> Any:
    h = np.tanh(x @ params["a"])
    h = np.tanh(h @ params["b"])
    return np.mean(np.tanh(h @ params["c"]))


PARAMS = {name: np.full((64, 64), 0.01) for name in "abc"}
X = np.ones((32, 64))


def step_with(comm: Any, overlap: Any, **options: Any) -> Any:
    return st.train_step(
        deep, st.optim.SGD(0.1), wrt="params", comm=comm, overlap=overlap, **options
    )


@needs_library
def test_a_schedule_is_that_of_the_program() -> None:
    at_once = schedule_of(step_with(Alone(), False).program(PARAMS, X))
    kinds = [type(event).__name__ for event in at_once.events]
    assert kinds == ["Compute", "Begin", "Wait", "Compute"]
    assert at_once.buckets == (3 * 64 * 64 * 8 + 2 * 8,)
    program = step_with(Alone(), 1000).program(PARAMS, X)
    parts = schedule_of(program)
    assert sum(parts.buckets) == sum(at_once.buckets) and len(parts.buckets) == 3
    assert parts == schedule_of(program)  # and the same each time
    assert isinstance(parts.events[-2], Wait)
    assert parts.scaled(3.0).seconds == pytest.approx(3.0)
    assert parts.scaled(3.0).buckets == parts.buckets
    # Products: 3 forward and 5 in the adjoint. All other equations are quick on this machine.
    machine = Machine(operations=1.0, bandwidth=math.inf, call=0.0)
    products = sum(e.primitive == "contract" for e in program.equations)
    assert schedule_of(program, machine).seconds == products * 2 * 32 * 64 * 64
    with pytest.raises(ArgumentsError, match="exchanges nothing"):
        schedule_of(st.train_step(deep, st.optim.SGD(0.1), wrt="params").program(PARAMS, X))


@needs_library
def test_loops_and_branches_count_as_their_steps() -> None:
    def looped(w: Any, x: Any) -> Any:
        h = x
        for _ in range(100):
            h = np.tanh(h @ w)
            if np.sum(h) > 0:
                h = h * 0.5
        return np.mean(h)

    step = st.train_step(looped, st.optim.SGD(0.1), comm=Alone())
    machine = Machine(operations=1.0, bandwidth=math.inf, call=0.0)
    found = schedule_of(step.program(np.eye(8), np.ones((4, 8))), machine).seconds
    assert 2 * 100 * 2 * 4 * 8 * 8 <= found <= 3 * 100 * 2 * 4 * 8 * 8


class Noting(Alone):
    """One rank alone, which notes the bytes of each bucket."""

    def __init__(self) -> None:
        self.begun: list[int] = []

    def Iallreduce(self, here: Any, array: Any) -> Any:
        self.begun.append(array.nbytes)
        return super().Iallreduce(here, array)


@needs_library
def test_the_generated_code_exchanges_what_the_schedule_says() -> None:
    comm = Noting()
    step = step_with(comm, 1000)
    params = {name: array.copy() for name, array in PARAMS.items()}
    step(params, X)
    assert tuple(comm.begun) == schedule_of(step.program(params, X)).buckets


@needs_library
def test_the_example_shows_what_the_page_says() -> None:
    from examples.scaling import NETWORKS, ms
    from examples.scaling import models as replayed

    cnn, _ = replayed()
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    for name, network in NETWORKS.items():
        weak = cnn.weak(network, 64)
        assert f"| CNN | {name} | 64 | {ms(weak)} | {weak.efficiency:.0%} |" in page
    assert (ROOT / "docs" / "images" / "scaling.svg").exists()
