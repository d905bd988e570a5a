"""Loops of C in several threads: ``parallel=True`` with ``compiler="c"``, and in exported files."""

from __future__ import annotations

import copy
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.calls import c_compiler, c_kernels
from stcompile.calls.threads import in_threads_of_c
from stcompile.native import threads as in_c
from stcompile.passes.kernels import threads
from tests.fuzz.judge_native import COMPILER
from tests.kernels.programs import CASES
from tests.kernels.test_threads import SHARED, assert_equal_bits
from tests.native.test_c import built, run_self_test

needs_gcc = pytest.mark.skipif(COMPILER is None, reason="there is no gcc")
RNG = np.random.default_rng(2)
TEAM = Path(__file__).with_name("team.c")


@pytest.fixture(autouse=True)
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops of little work are shared out as well, among three threads."""
    monkeypatch.setattr(threads, "SHARED_OPERATIONS", 0)
    monkeypatch.setattr("stcompile.calls.threads.numpy_threads", lambda: 3)
    monkeypatch.setenv("STCOMPILE_CACHE", "0")
    monkeypatch.delenv("CC", raising=False)


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    return st.value_and_grad(function, level="compiled", compiler="c", **options)


def text_of(function: Any, *args: Any) -> str:
    return str(function.specialise(function.bind(args, {})).in_c.text)


def of_rows(w: Any, x: Any) -> Any:
    """Arrays of each step, and names that loops of one and of several threads have in common."""
    total, scale = 0.0, np.sum(w)
    for i in range(len(x)):
        row = np.tanh(x[i] * w)
        for k in range(3):
            row = row + np.exp(-row) * w * k
        total += np.sum(row**2) * scale
    v = x[0] * 0
    for i in range(len(x)):
        v = np.sin(v) + x[i] * w
    return total + np.sum(v)


ROWS = RNG.normal(size=40), RNG.normal(size=(30, 40))


def grown(r: Any, x: Any) -> Any:
    """Loops within steps that leave values for the adjoint."""
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        for _ in range(5):
            y = y + 0.1 * r * y * (1 - y)
        total += np.sum(y)
    return total


OWN = {"of_rows": (of_rows, ROWS), "grown": (grown, ROWS)}
NAMES = [*SHARED, *OWN]


@needs_gcc
@pytest.mark.parametrize("name", NAMES)
def test_bits_are_those_of_one_thread(name: str) -> None:
    function, args = {**CASES, **OWN}[name]
    expected = compiled(function)(*copy.deepcopy(args))
    shared = compiled(function, parallel=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            assert_equal_bits(shared(*copy.deepcopy(args)), expected)
    assert "    IN_THREADS\n" in text_of(shared, *args)


def recurrence(w: Any, x: Any) -> Any:
    v = x[0]
    for i in range(1, len(x)):
        v = np.sin(v) * w + x[i]
    return np.sum(v)


@needs_gcc
def test_steps_that_need_each_other_stay_in_order() -> None:
    text = text_of(compiled(recurrence, parallel=True), *ROWS)
    assert "    for (int64_t i = 0; i < 29" in text
    assert "IN_THREADS\n    for (int64_t i = 0; i < 29" not in text


@needs_gcc
def test_large_arrays_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would not fit on the stacks of threads: they lie in the workspace, for one thread."""
    expected = compiled(of_rows)(*ROWS)
    before = text_of(compiled(of_rows, parallel=True), *ROWS)
    monkeypatch.setattr(in_c, "STACK", 300)
    monkeypatch.setattr("stcompile.native.writer.STACK", 300)
    monkeypatch.setattr("stcompile.native.control.STACK", 300)
    shared = compiled(of_rows, parallel=True)
    assert text_of(shared, *ROWS).count("    IN_THREADS\n") < before.count("    IN_THREADS\n")
    assert_equal_bits(shared(*ROWS), expected)


@needs_gcc
def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as NumPy has, and no more than the limit of a call."""
    seen = []

    def noted(kernel: Any, number: Any) -> Any:
        seen.append(number)
        return in_threads_of_c(kernel, number)

    monkeypatch.setattr(c_kernels, "in_threads_of_c", noted)
    shared = compiled(of_rows, parallel=True)
    shared(*ROWS)
    assert {number.value for number in seen} == {3}
    limited = compiled(of_rows, parallel=True, threads=2)
    limited(*ROWS)
    assert {number.value for number in seen} == {2}


@needs_gcc
def test_the_child_of_a_fork_has_one_thread() -> None:
    """It would wait forever for those of its parent."""
    shared = compiled(of_rows, parallel=True)
    expected = shared(*ROWS)
    child = os.fork()
    if child == 0:
        os._exit(0 if shared(*ROWS)[0] == expected[0] else 1)
    assert os.waitpid(child, 0)[1] == 0


@needs_gcc
def test_a_compiler_without_openmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "plain-cc"
    refused = 'case " $* " in *" -fopenmp "*) echo "error: no OpenMP" >&2; exit 1;; esac'
    script.write_text(f'#!/bin/sh\n{refused}\nexec {shutil.which("gcc")} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(c_compiler, "_LIBRARIES", {})
    monkeypatch.setattr(c_compiler, "_SAID", set())
    monkeypatch.setenv("CC", str(script))
    expected = compiled(of_rows)(*ROWS)
    with pytest.warns(st.LevelWarning, match="has no OpenMP: loops run in one thread") as warned:
        assert_equal_bits(compiled(of_rows, parallel=True)(*ROWS), expected)
        compiled(CASES["shared_out"][0], parallel=True)(*CASES["shared_out"][1])
    assert len(warned) == 1


# --- files ---------------------------------------------------------------------------------------


def exported(folder: Path, name: str, **options: Any) -> Path:
    function, args = {**CASES, **OWN}[name]
    made = st.value_and_grad(function, level="compiled", **options)
    made.export(folder / f"{name}.c", *copy.deepcopy(args))
    return folder / f"{name}.c"


@needs_gcc
@pytest.mark.parametrize("name", NAMES)
def test_files_with_and_without_threads(name: str, tmp_path: Path) -> None:
    assert "omp parallel" not in exported(tmp_path, name).read_text()
    source = exported(tmp_path, name, parallel=True)
    assert "    IN_THREADS\n" in source.read_text()
    run_self_test(source)
    program = built(source, "-O2 -DSELF_TEST -fopenmp", ".out")
    subprocess.run([str(program)], check=True, capture_output=True)
    assert "With -fopenmp loops run in several threads" in source.with_suffix(".h").read_text()


@needs_gcc
@pytest.mark.parametrize("name", NAMES)
def test_no_two_threads_race(name: str, tmp_path: Path) -> None:
    """The thread sanitizer sees each access. It does not know GCC's library of OpenMP, whose place
    a team of POSIX threads takes."""
    found = raced(exported(tmp_path, name, parallel=True))
    assert found.returncode == 0, found.stderr


@needs_gcc
def test_a_race_would_be_found(tmp_path: Path) -> None:
    source = exported(tmp_path, "of_rows", parallel=True)
    lines = source.read_text().split("\n")
    own = next(line for line in lines if re.fullmatch(r" {8}double \w+\[40\];", line))
    at = lines.index(own)
    lines[at] = own.replace("double", "static double")
    source.write_text("\n".join(lines))
    assert "data race" in raced(source).stderr


def raced(source: Path) -> subprocess.CompletedProcess[str]:
    options = "-O1 -g -std=c99 -fopenmp -fsanitize=thread"
    compiler, test, team = str(COMPILER), source.with_suffix(".o"), source.with_name("team.o")
    for one, made, more in ((source, test, "-DSELF_TEST"), (TEAM, team, "")):
        command = [compiler, *options.split(), *more.split(), "-c", str(one), "-o", str(made)]
        subprocess.run(command, check=True)
    program = str(source.with_suffix(".out"))
    libraries = ["-fsanitize=thread", "-lm", "-lpthread"]
    subprocess.run([compiler, str(test), str(team), *libraries, "-o", program], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=False)
