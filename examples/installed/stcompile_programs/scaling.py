"""Predict the duration of a training step of many ranks: replay the schedule of its Wengert list.

A schedule is read from the list: compute for some time, start to exchange a bucket of gradients,
compute on, until all buckets are waited for and the update is made. The replay gives each rank's
processor and the network a clock. The network takes one bucket at a time; a bucket begins when the
adjoint has computed it and the network is free.

A message of n bytes takes ``latency + n / bandwidth`` (R. W. Hockney, "The communication challenge
for MPP", Parallel Computing 20, 1994). An exchange takes the cheapest of the ways that MPI
libraries choose from (R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective
communication operations in MPICH", Int. J. High Performance Computing Applications 19, 2005).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stcompile.base.errors import ArgumentsError
from stcompile.wengert.bounds import usual
from stcompile.wengert.ir import Equation, Program
from stcompile.wengert.primitives.contraction import summed_size
from stcompile.wengert.templates import mark_of

# --- the work of a rank --------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """The speed of a rank: floating-point operations of matrix products in a second, bytes that
    everything else reads and writes in a second, and seconds that any NumPy call takes."""

    operations: float = 50e9
    bandwidth: float = 10e9
    call: float = 1e-6

    def seconds(self, equation: Equation) -> float:
        """The time of an equation, by its operations and its bytes: views take no time, a loop as
        much as its steps, a branch as much as the longer side. A loop whose number of steps depends
        on the data counts as one step."""
        inner = [value for value in equation.params.values() if isinstance(value, Program)]
        if equation.primitive == "loop":
            length = equation.params.get("length")
            return (usual(length) if length is not None else 1) * sum(map(self.of_program, inner))
        if inner:
            return max(map(self.of_program, inner))
        if mark_of(equation.primitive) == "view":
            return 0.0
        if equation.primitive == "contract":
            size = max(equation.output.type.size, 1) * summed_size(equation)
            return self.call + 2 * size / self.operations
        moved = sum(atom.type.nbytes for atom in (*equation.inputs, *equation.outputs))
        return self.call + moved / self.bandwidth

    def of_program(self, program: Program) -> float:
        return sum(map(self.seconds, program.equations))


@dataclass(frozen=True)
class Compute:
    """A rank computes for some seconds."""

    seconds: float


@dataclass(frozen=True)
class Begin:
    """A bucket of gradients begins to be exchanged."""

    nbytes: int


@dataclass(frozen=True)
class Wait:
    """All buckets that have begun are waited for."""


Event = Compute | Begin | Wait


@dataclass(frozen=True)
class Schedule:
    """The events of one rank in a step, in order."""

    events: tuple[Event, ...]

    @property
    def seconds(self) -> float:
        """The time for computing, without any exchange."""
        return sum(event.seconds for event in self.events if isinstance(event, Compute))

    @property
    def buckets(self) -> tuple[int, ...]:
        """The bytes of each bucket, in the order in which they begin."""
        return tuple(event.nbytes for event in self.events if isinstance(event, Begin))

    def scaled(self, seconds: float) -> Schedule:
        """The same schedule where all of its computing takes that long: as it was measured."""
        if not 0 <= seconds < math.inf:
            raise ArgumentsError(f"a step takes 0 seconds or more, not {seconds!r}")
        factor = seconds / self.seconds
        return Schedule(
            tuple(
                Compute(event.seconds * factor) if isinstance(event, Compute) else event
                for event in self.events
            )
        )


def schedule_of(program: Program, machine: Machine | None = None) -> Schedule:
    """The schedule of a training step's program: ``step.program(...)`` of a step with ``comm``.
    `ArgumentsError` if nothing is exchanged in it."""
    events = tuple(_events(program, machine or Machine()))
    if not any(isinstance(event, Begin) for event in events):
        raise ArgumentsError(
            f"the program of `{program.name}` exchanges nothing",
            hint="take the program of a training step that was made with comm=MPI.COMM_WORLD",
        )
    return Schedule(events)


def _events(program: Program, machine: Machine) -> Iterator[Event]:
    """The equations between exchanges are computed together."""
    seconds = 0.0
    for equation in program.equations:
        found: tuple[Event, ...] = ()
        if equation.primitive in ("exchange", "exchange_start"):
            found = (Begin(equation.inputs[0].type.nbytes),)
        if equation.primitive in ("exchange", "exchange_wait"):
            found += (Wait(),)
        if not found:
            seconds += machine.seconds(equation)
            continue
        if seconds:
            yield Compute(seconds)
            seconds = 0.0
        yield from found
    if seconds:
        yield Compute(seconds)


# --- the work of the network ---------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """Seconds that a message takes however short it is, bytes a second between two ranks, and
    bytes a second that a rank adds up. ``in_background``: exchanges go on while ranks compute; MPI
    libraries without a thread of their own for that go on only in calls of MPI, as in the wait."""

    latency: float = 2e-6
    bandwidth: float = 12.5e9
    adding: float = 10e9
    in_background: bool = True

    def __post_init__(self) -> None:
        if not self.latency >= 0 or not self.bandwidth > 0 or not self.adding > 0:
            raise ArgumentsError(
                f"no network has these numbers: {self}",
                hint="give a latency of 0 or more seconds, and more than 0 bytes a second",
            )

    def ways(self, ranks: int, nbytes: float) -> Mapping[str, float]:
        """Seconds that ``ranks`` take to add up ``nbytes`` on each of them, by the algorithm."""
        if ranks == 1:
            return {"alone": 0.0}
        steps, part = math.ceil(math.log2(ranks)), (ranks - 1) / ranks
        halves, latency = int(math.log2(ranks)), self.latency
        sent, added = nbytes / self.bandwidth, nbytes / self.adding
        # Ranks beyond a power of two hand theirs on before, and get the sum afterwards.
        beyond = 2 * (latency + sent) + added if 2**halves < ranks else 0.0
        most = 1 - 1 / 2**halves
        return {
            "tree": 2 * steps * (latency + sent) + steps * added,
            "doubling": halves * (latency + sent + added) + beyond,
            "halving": 2 * halves * latency + most * (2 * sent + added) + beyond,
            "ring": 2 * (ranks - 1) * latency + part * (2 * sent + added),
        }

    def seconds(self, ranks: int, nbytes: float) -> float:
        """An exchange in the cheapest way."""
        return min(self.ways(ranks, nbytes).values())


# --- the replay ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Transfer:
    """The exchange of a bucket through the network, in seconds from the start of the step."""

    nbytes: int
    ready: float
    begin: float
    end: float


@dataclass(frozen=True)
class Replay:
    """A step that was replayed: all of it and its computing, in seconds, and the transfers."""

    seconds: float
    computing: float
    transfers: tuple[Transfer, ...]

    @property
    def exposed(self) -> float:
        """Seconds in which a rank only waits for the network."""
        return self.seconds - self.computing

    @property
    def efficiency(self) -> float:
        """The share of the step in which a rank computes."""
        return self.computing / self.seconds if self.seconds else 1.0


def replay(
    schedule: Schedule, network: Network, ranks: int, processors: int | None = None
) -> Replay:
    """The step of ``ranks`` equal ranks. ``processors`` is the number of processors that all of
    them share (None: each has its own); ranks take turns where there are more of them."""
    for what, number in (("ranks", ranks), ("processors", processors)):
        if number is not None and not (number >= 1 and number % 1 == 0):
            raise ArgumentsError(f"`{what}` is a number of {what} from 1 on, not {number!r}")
    share = 1.0 if processors is None else max(1.0, ranks / processors)
    now = free = 0.0  # the clocks of the rank, and of the network
    ready: list[tuple[float, int]] = []  # when buckets were computed that have not begun
    made: list[Transfer] = []
    for event in schedule.events:
        match event:
            case Compute(seconds):
                now += seconds * share
            case Begin(nbytes):
                ready.append((now, nbytes))
        if network.in_background or isinstance(event, Wait):
            for moment, nbytes in ready:
                begin = max(now, free)
                free = begin + network.seconds(ranks, nbytes)
                made.append(Transfer(nbytes, moment, begin, free))
            ready = []
        if isinstance(event, Wait):
            now = max(now, free)
    return Replay(now, schedule.seconds * share, tuple(made))


# --- measured times ------------------------------------------------------------------------------


def fitted(ranks: int, short: tuple[int, float], long: tuple[int, float]) -> Network:
    """The network in which exchanges take as long as two that were measured: (bytes, seconds) of
    a short one, which is all latency, and of a long one. Adding up is counted with sending, and
    nothing goes on in the background."""
    latency = short[1] / math.log2(ranks)
    nbytes, seconds = long
    part = (ranks - 1) / ranks
    doubled = (seconds - math.log2(ranks) * latency) / (math.log2(ranks) * nbytes)
    halved = (seconds - 2 * math.log2(ranks) * latency) / (2 * part * nbytes)
    slowest = max(doubled, halved)
    bandwidth = 1 / slowest if slowest > 0 else math.inf
    return Network(latency, bandwidth, adding=math.inf, in_background=False)
