"""Limits on threads, with libraries that only remember what they were told."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stcompile.base import limits as module
from stcompile.base.extras import MissingExtraError
from stcompile.base.limits import Limits, candidates


class Library:
    """As threadpoolctl describes one; ``asked`` and ``told`` count calls."""

    def __init__(self, name: str, number: int = 2, layer: str = "pthreads") -> None:
        self.filepath, self.threading_layer = name, layer
        self._of_process = number
        self._own = threading.local()
        self.asked = self.told = self.freed = 0

    def get_num_threads(self) -> int:
        self.asked += 1
        return getattr(self._own, "number", self._of_process)

    def set_num_threads(self, number: int) -> None:
        self.told += 1
        if self.threading_layer == "openmp":
            self._own.number = number
        else:
            self._of_process = number

    def clear_controlling_thread(self) -> None:
        self.freed += 1

    @property
    def number(self) -> int:
        return getattr(self._own, "number", self._of_process)


def test_a_limit_holds_and_is_put_back() -> None:
    one, other = Library("numpy", 2), Library("scipy", 4)
    limits = Limits(lambda: [one, other])
    assert limits.decided is None and limits.number == 4
    with limits.held(1):
        assert (one.number, other.number, limits.decided, limits.number) == (1, 1, 1, 1)
    assert (one.number, other.number, limits.decided) == (2, 4, None)


def test_an_error_ends_a_limit() -> None:
    library = Library("numpy")
    limits = Limits(lambda: [library])
    with pytest.raises(ZeroDivisionError), limits.held(1):
        1 / 0
    assert library.number == 2


def test_nothing_is_set_that_is_so_already() -> None:
    library = Library("numpy")
    limits = Limits(lambda: [library])
    with limits.held(2), limits.held(2):
        pass
    assert (library.told, library.freed, library.asked) == (0, 0, 1)
    with limits.held(1):
        for _ in range(5):
            limits.end(limits.begin(1))
    assert library.told == 2 and library.asked == 2


def test_other_threads_may_set_numbers_afterwards() -> None:
    library = Library("numpy")
    limits = Limits(lambda: [library])
    with limits.held(1):
        assert library.freed == 1
    assert library.freed == 2


def test_limits_nest() -> None:
    library = Library("numpy", 4)
    limits = Limits(lambda: [library])
    with limits.held(1):
        with limits.held(3) as inner:
            assert library.number == 3
            limits.change(inner, 2)
            assert library.number == 2
        assert library.number == 1
    assert library.number == 4


@pytest.mark.parametrize("order", ["first", "last"])
def test_limits_of_two_threads_leave_the_number_of_before(order: str) -> None:
    """They begin in one order and end in any: nothing that they set stays."""
    library = Library("numpy", 2)
    limits = Limits(lambda: [library])
    begun, end = threading.Event(), threading.Event()

    def other() -> None:
        with limits.held(3):
            begun.set()
            end.wait(10)

    limit = limits.begin(1)
    thread = threading.Thread(target=other)
    thread.start()
    assert begun.wait(10)
    assert library.number == 3
    if order == "first":
        limits.end(limit)
        assert library.number == 3
        end.set()
        thread.join()
    else:
        end.set()
        thread.join()
        assert library.number == 1
        limits.end(limit)
    assert library.number == 2


def test_a_library_with_a_number_for_each_thread() -> None:
    library = Library("openblas", 2, "openmp")
    limits = Limits(lambda: [library])
    seen: list[int] = []

    def other() -> None:
        seen.append(library.number)
        with limits.held(3):
            seen.append(library.number)
        seen.append(library.number)

    with limits.held(1):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert library.number == 1
    assert seen == [2, 3, 2]
    assert library.number == 2


def test_a_library_that_is_loaded_later_takes_part() -> None:
    first, later = Library("numpy"), Library("scipy", 4)
    found = [first]
    limits = Limits(lambda: found)
    with limits.held(1):
        found.append(later)
        limits.renew()
        assert later.number == 1
        limits.renew()
    assert (first.number, later.number) == (2, 4)


def test_threads_at_once_leave_nothing_behind() -> None:
    library = Library("numpy", 2)
    limits = Limits(lambda: [library])

    def work(number: int) -> None:
        for _ in range(200):
            with limits.held(number), limits.held(3 - number):
                pass

    threads = [threading.Thread(target=work, args=(1 + at % 2,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert library.number == 2 and limits.decided is None


def test_numbers_worth_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [candidates(n) for n in (1, 2, 3, 8)] == [(1,), (1, 2), (1, 2, 3), (1, 2, 4, 8)]
    library = Library("numpy", 8)
    monkeypatch.setattr(module, "limits", lambda: Limits(lambda: [library]))
    monkeypatch.setattr(module, "processors_of_process", lambda: 4)
    assert candidates() == (1, 2, 4)
    monkeypatch.setattr(module, "processors_of_process", lambda: 16)
    assert candidates() == (1, 2, 4, 8)


def test_without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> Any:
        raise ModuleNotFoundError(name="threadpoolctl")

    module.limits.cache_clear()
    monkeypatch.setattr("stcompile.base.extras.importlib.import_module", missing)
    with pytest.raises(MissingExtraError, match="a number of threads needs threadpoolctl"):
        module.limits()
    assert module.held_number() is None
