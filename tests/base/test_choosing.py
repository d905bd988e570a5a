"""A number chosen by what steps take, where what they take is made up."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from stcompile.base import choosing
from stcompile.base.choosing import Choice, Chooser


def run(chooser: Chooser, step: Callable[[int], float], seconds: float) -> list[Choice]:
    """The choices within that time of steps, each of which takes what ``step(number)`` says."""
    found: list[Choice] = []
    end = chooser.seconds + seconds
    while chooser.seconds < end:
        choice = chooser.tell(step(chooser.number))
        if choice is not None:
            assert choice.number == chooser.number
            found.append(choice)
    return found


def by_number(**seconds: float) -> Callable[[int], float]:
    return lambda number: seconds[f"n{number}"]


def test_the_fastest_is_chosen() -> None:
    assert run(Chooser((1, 2)), by_number(n1=1e-3, n2=0.7e-3), 1)[0].number == 2
    assert run(Chooser((1, 2)), by_number(n1=0.7e-3, n2=1e-3), 1)[0].number == 1
    (choice,) = run(Chooser((1, 2, 4)), by_number(n1=4e-3, n2=2e-3, n4=3e-3), 1)
    assert choice.number == 2 and choice.before is None
    assert choice.means == pytest.approx({1: 4e-3, 2: 2e-3, 4: 3e-3})


def test_of_equals_the_lowest_is_chosen() -> None:
    assert run(Chooser((1, 2)), by_number(n1=1.04e-3, n2=1e-3), 1)[0].number == 1
    assert run(Chooser((1, 2)), by_number(n1=1.06e-3, n2=1e-3), 1)[0].number == 2


def test_means_decide_and_not_medians() -> None:
    """With two threads most steps are quicker, and every tenth waits for a processor."""
    count = itertools.count()

    def step(number: int) -> float:
        if number == 1:
            return 0.5e-3
        return 16e-3 if next(count) % 10 == 9 else 0.35e-3

    (choice,) = run(Chooser((1, 2)), step, 1)
    assert choice.number == 1
    assert choice.means[2] > 3 * choice.means[1]


@pytest.mark.parametrize("seed", range(20))
def test_single_interruptions_do_not_decide(seed: int) -> None:
    """Now and then a step of either number takes longer."""
    rng = random.Random(seed)

    def step(number: int) -> float:
        return {1: 1.5e-3, 2: 0.5e-3}[number] + (4e-3 if rng.random() < 0.02 else 0.0)

    assert run(Chooser((1, 2)), step, 1)[0].number == 2


def test_trials_are_short() -> None:
    """What is far behind is tried twice, for some tens of milliseconds."""
    spent = {1: 0.0, 2: 0.0}

    def step(number: int) -> float:
        seconds = {1: 0.5e-3, 2: 10e-3}[number]
        spent[number] += seconds
        return seconds

    run(Chooser((1, 2)), step, 2)
    assert spent[2] < 0.15
    assert sum(spent.values()) == pytest.approx(2, abs=0.01)


def test_long_steps_count_at_once() -> None:
    chooser = Chooser((1, 2))
    (choice,) = run(chooser, by_number(n1=1.5, n2=1.0), 8)
    assert choice.steps == 6
    assert choice.number == 2
    (choice,) = run(Chooser((1, 2)), by_number(n1=3.0, n2=1.0), 8.5)
    assert choice.steps == 4  # far behind


def test_steps_after_a_change_do_not_count() -> None:
    """Threads of before take a processor from them."""
    since = {"number": 0, "seconds": 0.0}

    def step(number: int) -> float:
        if number != since["number"]:
            since.update(number=number, seconds=0.0)
        disturbed = number == 1 and since["seconds"] < choosing.SETTLED - 1e-3
        seconds = 1e-3 * (4 if disturbed else 1 if number == 1 else 1.5)
        since["seconds"] += seconds
        return seconds

    (choice,) = run(Chooser((1, 2)), step, 1)
    assert choice.number == 1
    assert choice.means[1] == pytest.approx(1e-3)


def test_a_slowdown_is_seen_and_the_number_changes() -> None:
    chooser = Chooser((1, 2))
    assert [c.number for c in run(chooser, by_number(n1=1e-3, n2=0.6e-3), 3)] == [2]
    made = chooser.steps
    (choice,) = run(chooser, by_number(n1=1e-3, n2=9e-3), 2)
    assert choice.number == 1
    assert choice.before == pytest.approx(9e-3)
    assert choice.steps - made < 200  # of 9 ms and 1 ms: within a second


def test_a_slowdown_of_everything_is_tried_once() -> None:
    chooser = Chooser((1, 2))
    run(chooser, by_number(n1=1e-3, n2=2e-3), 3)
    assert len(run(chooser, by_number(n1=5e-3, n2=9e-3), 5)) == 1
    assert chooser.number == 1 and chooser.expected == pytest.approx(5e-3)


def test_numbers_are_tried_again_as_time_goes_by() -> None:
    chooser = Chooser((1, 2))
    assert run(chooser, by_number(n1=1e-3, n2=5e-3), 9)[0].number == 1
    quiet = by_number(n1=1e-3, n2=0.6e-3)
    choices = run(chooser, quiet, 100)
    assert {choice.number for choice in choices} == {2}
    assert len(choices) == 4  # after about 10, 20, 40 and 80 seconds


def test_what_was_measured_in_a_bad_moment_is_mended() -> None:
    chooser = Chooser((1, 2))
    run(chooser, by_number(n1=8e-3, n2=8e-3), 0.4)
    assert not chooser.is_trying
    run(chooser, by_number(n1=1e-3, n2=8e-3), 2)
    assert chooser.expected == pytest.approx(1e-3)


def test_of_one_number_there_is_no_choice() -> None:
    chooser = Chooser((1,))
    assert not chooser.is_trying
    assert run(chooser, by_number(n1=1.0), 50) == []
