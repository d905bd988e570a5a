"""Mutants judged inside one pytest session: tests are collected once, each trial runs in a fork.

First the tests run in forks, a few in each, to see which of the mutated functions each test uses:
those that it calls, and the rules and templates that the compiler reads for it. Then each mutant
gets a fork in which its function has other code, and in which the tests that use this function run
until one fails. Tests that failed for the neighbours of a mutant come first.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import json
import linecache
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import IO, Any

import pytest
from hypothesis import Phase, settings

from tests.mutation.mutants import Mutant

READERS = {"_parsed": "template", "function_source": "function"}  # who reads rules and templates
KILLED, SURVIVED, BROKEN = 1, 0, 3
TOGETHER = 16  # tests that are watched in one fork
Place = tuple[str, str]  # a file, and a function of it
Caches = Sequence["functools._lru_cache_wrapper[Any]"]


@dataclass
class Verdict:
    """What the tests said of one mutant."""

    mutant: Mutant
    outcome: str  # killed, survived, not used
    by: str = ""  # the test that failed, or what went wrong
    tests: int = 0  # how many use the function
    seconds: float = 0.0


@dataclass
class Usage:
    """How long a test takes, and the mutated functions it uses."""

    seconds: float
    places: frozenset[Place]


@dataclass
class Judge:
    """A pytest plugin that runs mutants instead of tests."""

    mutants: Sequence[Mutant]
    files: frozenset[str]  # whose functions are watched: also those that no mutant is of
    jobs: int
    seconds: float  # of tests, for one mutant
    report: Callable[[Verdict], None]
    watched: Callable[[int, int], None]  # how many tests were watched, of how many
    cache: Path | None = None
    own: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the tests for each file
    baseline: list[str] = field(default_factory=list)  # tests that fail as things are

    def pytest_configure(self) -> None:
        """What fails need not be made small."""
        settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        reporter = session.config.pluginmanager.getplugin("terminalreporter")
        session.config.pluginmanager.unregister(reporter)  # tests fail here on purpose
        for mutant in self.mutants:
            importlib.import_module(module_name(mutant.file))
        caches = _caches()
        gc.freeze()  # what is here by now is neither walked nor copied in the forks
        usage = self._usage(session, items, caches)
        order = _Order(usage, self.own)
        trials = _trials(self.mutants, order, self.seconds)
        for mutant, names, status, output, seconds in forked(
            trials,
            lambda trial: _try(
                session, [items[name] for name in trial[1]], trial[0], self.seconds, caches
            ),
            self.jobs,
        ):
            killed = status != SURVIVED
            by = output or ("no answer" if killed else "")
            if killed and by in items:
                order.remember(mutant, by)
            outcome = "killed" if killed else "survived" if names else "not used"
            self.report(Verdict(mutant, outcome, by, order.count(mutant), seconds))
        return True

    def _usage(
        self, session: pytest.Session, items: Mapping[str, pytest.Item], caches: Caches
    ) -> dict[str, Usage]:
        found: dict[str, Usage] = {}
        if self.cache is not None and self.cache.exists():
            for name, (seconds, places) in json.loads(self.cache.read_text()).items():
                found[name] = Usage(seconds, frozenset((file, place) for file, place in places))
        missing = [name for name in items if name not in found]
        groups = [missing[at : at + TOGETHER] for at in range(0, len(missing), TOGETHER)]
        done = 0
        for _, group, _, output, _ in forked(
            ((None, group) for group in groups),
            lambda trial: _watch(session, [items[name] for name in trial[1]], self.files, caches),
            self.jobs,
        ):
            seen = json.loads(output) if output.startswith("{") else {}
            for name in group:
                if name in seen:
                    seconds, places = seen[name]
                    found[name] = Usage(seconds, frozenset((file, f) for file, f in places))
                else:
                    self.baseline.append(name)
            done += len(group)
            self.watched(done, len(missing))
            if self.cache is not None and (done == len(missing) or done % (40 * TOGETHER) == 0):
                written = {name: (u.seconds, sorted(u.places)) for name, u in found.items()}
                self.cache.write_text(json.dumps(written))
        return {name: found[name] for name in items if name in found}


class _Order:
    """Which tests are tried for a mutant, the most promising ones first: those for its file, then
    those that noticed its neighbours, and the quick ones, of which most use little else."""

    def __init__(self, usage: Mapping[str, Usage], own: Mapping[str, Sequence[str]]) -> None:
        self.usage = usage
        self.own = own
        self.users: dict[Place, list[str]] = {}
        for name, use in sorted(usage.items(), key=lambda item: item[1].seconds):
            for place in use.places:
                self.users.setdefault(place, []).append(name)
        self.killers: dict[str, dict[str, int]] = {}

    def count(self, mutant: Mutant) -> int:
        return len(self.users.get(_place(mutant), ()))

    def remember(self, mutant: Mutant, test: str) -> None:
        for key in (str(mutant.file), f"{mutant.file}:{mutant.function}"):
            counts = self.killers.setdefault(key, {})
            counts[test] = counts.get(test, 0) + 1

    def tests(self, mutant: Mutant, seconds: float) -> list[str]:
        users = self.users.get(_place(mutant), [])
        same = self.killers.get(f"{mutant.file}:{mutant.function}", {})
        near = self.killers.get(str(mutant.file), {})
        first = tuple(self.own.get(str(mutant.file), ()))

        def rank(name: str) -> tuple[bool, float]:
            noticed = 4 * same.get(name, 0) + near.get(name, 0)
            return not name.startswith(first), self.usage[name].seconds / (1 + noticed)

        ordered = sorted(users, key=rank)
        chosen, total = [], 0.0
        for name in ordered:
            needed = self.usage[name].seconds
            if not chosen or total + needed <= seconds:
                total += needed
                chosen.append(name)
        return chosen


def _place(mutant: Mutant) -> Place:
    return str(mutant.file), mutant.function


def _trials(
    mutants: Iterable[Mutant], order: _Order, seconds: float
) -> Iterator[tuple[Mutant, list[str]]]:
    for mutant in mutants:  # late: what has failed by then is known
        yield mutant, order.tests(mutant, seconds)


# --- forks ---------------------------------------------------------------------------------------


def forked(
    trials: Iterator[tuple[Any, Any]],
    run: Callable[[tuple[Any, Any]], tuple[int, str]],
    jobs: int,
) -> Iterator[tuple[Any, Any, int, str, float]]:
    """Each trial in a child process, some at a time: the trial, its status, its output, seconds."""
    running: dict[int, tuple[Any, Any, IO[bytes], float]] = {}
    waiting = True
    while waiting or running:
        while waiting and len(running) < jobs:
            trial = next(trials, None)
            if trial is None:
                waiting = False
                break
            written = tempfile.TemporaryFile()  # noqa: SIM115
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                _child(trial, run, written)
            running[pid] = (*trial, written, time.perf_counter())
        if running:
            pid, raw = os.wait()
            first, second, written, start = running.pop(pid)
            with written:
                written.seek(0)
                output = written.read().decode()
            code = os.waitstatus_to_exitcode(raw)
            yield first, second, code, output, time.perf_counter() - start


def _child(
    trial: tuple[Any, Any], run: Callable[[tuple[Any, Any]], tuple[int, str]], written: IO[bytes]
) -> None:
    status, output = BROKEN, ""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        status, output = run(trial)
    except BaseException as error:
        output = type(error).__name__
    written.write(output.encode())
    written.flush()
    os._exit(status)


def _try(
    session: pytest.Session,
    items: Sequence[pytest.Item],
    mutant: Mutant,
    seconds: float,
    caches: Caches,
) -> tuple[int, str]:
    """In a child process: the tests with a mutant in place; the name of the one that fails."""
    signal.alarm(int(3 * seconds) + 60)  # a mutant that never ends is noticed, too
    try:
        install(mutant)
    except (SyntaxError, ValueError) as error:
        return KILLED, type(error).__name__
    for item in items:
        _run(item, caches)
        if session.testsfailed:
            return KILLED, item.nodeid
    return SURVIVED, ""


def _run(item: pytest.Item, caches: Caches) -> None:
    """One test, set up and torn down for itself; the caches of the compiler are empty before."""
    for cache in (*caches, *_caches()):
        cache.cache_clear()
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


def _caches() -> Caches:
    """The caches of the compiler that were made since the objects of this process were frozen."""
    return [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, functools._lru_cache_wrapper)
        and (getattr(thing, "__module__", None) or "").startswith("stcompile")
    ]


def _watch(
    session: pytest.Session,
    items: Sequence[pytest.Item],
    files: frozenset[str],
    caches: Caches,
) -> tuple[int, str]:
    """In a child process: of each test that passes, the seconds, and the functions it uses."""
    seen: set[CodeType] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        seen.add(code)
        if code.co_name in READERS:
            read = frame.f_locals.get(READERS[code.co_name])
            if callable(read):
                function = inspect.unwrap(read)
                seen.add(getattr(function, "__code__", code))

    here = {os.path.abspath(file): file for file in files}
    found = {}
    for item in items:
        signal.alarm(300)
        seen.clear()
        failed, start = session.testsfailed, time.process_time()
        sys.setprofile(profile)
        try:
            _run(item, caches)
        finally:
            sys.setprofile(None)
        if session.testsfailed == failed:
            places = {
                (here[code.co_filename], _outermost(code))
                for code in seen
                if code.co_filename in here
            }
            found[item.nodeid] = (time.process_time() - start, sorted(places))
    return SURVIVED, json.dumps(found)


def _outermost(code: CodeType) -> str:
    """The name of the outermost function, or of the row of a table."""
    line = linecache.getline(code.co_filename, code.co_firstlineno)
    row = re.match(r' {4}"([\w.]+)": lambda\b', line)
    return row[1] if row else code.co_qualname.split(".<locals>")[0]


# --- a mutant in place ---------------------------------------------------------------------------


def install(mutant: Mutant) -> None:
    """Give the mutant's function its other code, and its file the other text."""
    file = os.path.abspath(mutant.file)
    module = importlib.import_module(module_name(mutant.file))
    flags = next((f.__code__.co_flags for f in vars(module).values() if inspect.isfunction(f)), 0)
    code = compile(mutant.text, file, "exec", flags=flags & FUTURE, dont_inherit=True)
    function = _function(module, mutant.function)
    own = function.__code__
    found = [
        c
        for c in _codes(code)
        if c.co_qualname == own.co_qualname and c.co_firstlineno == own.co_firstlineno
    ]
    (function.__code__,) = found
    lines = mutant.text.splitlines(keepends=True)
    linecache.cache[file] = (len(mutant.text), None, lines, file)


FUTURE = 0x1000000  # annotations


def module_name(file: Path) -> str:
    """The module that a file of the project is."""
    parts = file.with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(("stcompile", *parts) if parts[0] == "codegen_templates" else parts)


def _function(module: Any, name: str) -> Any:
    owner: Any = module
    for table in vars(module).values():
        if isinstance(table, dict) and inspect.isfunction(table.get(name)):
            return table[name]
    *classes, last = name.split(".")
    for part in classes:
        owner = getattr(owner, part)
    found = vars(owner)[last]
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, functools.cached_property):
        found = found.func
    elif isinstance(found, staticmethod | classmethod):
        found = found.__func__
    return inspect.unwrap(found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
