"""The threads of a training run: by a library that remembers what it is told, and a clock that is
made up."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stcompile.base.extras import MissingExtraError
from stcompile.base.limits import Limits
from stcompile.base.options import Options, Threads
from stcompile_programs.train import Team, train
from stcompile_programs.train import threads as module
from tests.base.test_limits import Library
from tests.train.test_loop import LeastSquares, X, Y, start


class Timed(LeastSquares):
    """Its steps take what ``takes`` says for a number of threads."""

    def __init__(self, library: Library, takes: Callable[[int, int], float]) -> None:
        super().__init__()
        self.library, self.takes = library, takes
        self.now = 0.0
        self.numbers: list[int] = []

    def __call__(self, params: Any, *batch: Any) -> Any:
        self.numbers.append(self.library.number)
        self.now += self.takes(self.library.number, len(self.numbers))
        return super().__call__(params, *batch)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library("numpy", 2)
    limits = Limits(lambda: [found])
    monkeypatch.setattr(module, "limits", lambda: limits)
    monkeypatch.setattr(module, "candidates", lambda: (1, 2))
    return found


def run(
    monkeypatch: pytest.MonkeyPatch, step: Timed, threads: Threads, epochs: int = 1000, **how: Any
) -> list[str]:
    """The lines that a run says."""
    clock = SimpleNamespace(perf_counter=lambda: step.now)
    monkeypatch.setattr("stcompile_programs.train.loop.time", clock)
    lines: list[str] = []
    given: dict[str, Any] = {"rng": np.random.default_rng(0), "say": lines.append, **how}
    results = train(step, start(), (X, Y), epochs=epochs, batch_size=6, threads=threads, **given)
    timed = [epoch.seconds for epoch in results.epochs]
    assert sum(timed) <= step.now + 1e-9
    return lines


def test_the_fastest_number_is_found_and_told(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Timed(library, lambda number, _: {1: 0.38e-3, 2: 11.2e-3}[number])
    lines = run(monkeypatch, step, "auto")
    assert lines == ["threads of BLAS: 1 (a step takes 0.38 ms, with 2 threads 11.2 ms)"]
    assert set(step.numbers[-1000:]) == {1} and 2 in step.numbers
    assert library.number == 2  # as before


def test_a_change_is_told_with_its_reason(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def takes(number: int, count: int) -> float:
        return 1e-3 if number == 1 else 0.5e-3 if count < 2000 else 20e-3

    step = Timed(library, takes)
    lines = run(monkeypatch, step, "auto")
    assert lines[0] == "threads of BLAS: 2 (a step takes 0.5 ms, with 1 thread 1 ms)"
    assert lines[1].startswith("threads of BLAS: 1 from now on, since steps had come to take ")
    assert lines[1].endswith("(a step takes 1 ms, with 2 threads 20 ms)")
    assert len(lines) == 2
    assert step.numbers[-1] == 1 and library.number == 2


def test_a_run_of_few_steps_says_that_nothing_was_chosen(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Timed(library, lambda number, _: 1e-3)
    lines = run(monkeypatch, step, "auto", epochs=2)
    assert lines == ["threads of BLAS: from 1 to 2 in turn, in too few steps to choose"]
    assert library.number == 2


def test_a_fixed_number(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Timed(library, lambda number, _: 1e-3)
    assert run(monkeypatch, step, 3, epochs=2) == []
    assert set(step.numbers) == {3}
    assert library.number == 2


def test_nothing_is_touched_where_nothing_is_asked_for(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Timed(library, lambda number, _: 1e-3)
    assert run(monkeypatch, step, None, epochs=2) == []
    step.options = Options(threads=2)  # type: ignore[attr-defined]
    assert run(monkeypatch, step, "auto", epochs=2) == []
    assert library.told == 0


def test_an_error_puts_the_number_back(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Timed(library, lambda number, _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(monkeypatch, step, 1)
    assert library.number == 2


def test_one_thread_is_no_choice(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "candidates", lambda: (1,))
    step = Timed(library, lambda number, _: 1e-3)
    lines = run(monkeypatch, step, "auto", epochs=2)
    assert lines == ["threads of BLAS: 1, as there are no more"]


def test_without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Limits:
        raise MissingExtraError("it is missing", hint="pip install it")

    monkeypatch.setattr(module, "limits", missing)
    step = Timed(Library("numpy"), lambda number, _: 1e-3)
    (line,) = run(monkeypatch, step, "auto", epochs=1)
    assert line == ("threads of BLAS: as many as there are; to have them chosen: pip install it")
    with pytest.raises(MissingExtraError):
        run(monkeypatch, step, 2, epochs=1)


class Ranks:
    """A communicator, as far as it is asked who else there is."""

    def __init__(self, machines: list[tuple[str, int]]) -> None:
        self.machines = machines

    def Get_size(self) -> int:
        return len(self.machines)

    def allgather(self, value: Any) -> Any:
        return self.machines


@pytest.mark.parametrize(
    ("machines", "expected"),
    [
        ([("a", 8), ("a", 8)], 4),
        ([("a", 2), ("a", 2), ("a", 2)], 1),
        ([("a", 8), ("b", 3)], 3),
    ],
)
def test_ranks_share_the_processors(machines: list[tuple[str, int]], expected: int) -> None:
    assert module.share(Team(Ranks(machines))) == expected


def test_ranks_do_not_choose(library: Library) -> None:
    """All have the same number, or they might come to other bits."""
    lines: list[str] = []
    team = Team(Ranks([("a", 4), ("a", 4)]))
    with module.step_threads("auto", None, team, lines.append) as threads:
        assert threads is module.FIXED
        assert library.number == 2
    assert lines == ["threads of BLAS: 2, since 2 processes train together"]
