"""Runs that are stopped at random moments, and go on to the same result to the bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile_programs.train import Checkpoints, train
from stcompile_programs.train.checkpoint import Checkpoint, read_checkpoint
from stcompile_programs.train.interrupts import Interrupts

ROOT = Path(__file__).resolve().parents[2]
TIMES = (
    *("seconds", "microseconds", "microseconds_per_step", "mean_microseconds_per_step"),
    "peak_bytes",
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX signals")


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def assert_same(found: Checkpoint, wanted: Checkpoint) -> None:
    """Equal to the bit, but for what was measured in seconds."""
    assert found.arrays.keys() == wanted.arrays.keys()
    for name in found.arrays:
        if name not in TIMES:
            assert found.arrays[name].dtype == wanted.arrays[name].dtype
            assert found.arrays[name].tobytes() == wanted.arrays[name].tobytes(), name
    records = [without_times(checkpoint.record) for checkpoint in (found, wanted)]
    for record in records:
        record["generators"].pop()  # NumPy's global one starts anywhere
    assert records[0] == records[1]


def heed_interrupts() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so would its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def python(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    before = signal.getsignal(signal.SIGINT)
    heed_interrupts()  # else the child would inherit that they are ignored
    try:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=cwd,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def check_interruptions(folder: Path, kind: str, seed: int) -> None:
    driver = python(str(Path(__file__).parent / "interrupted.py"), ".", kind, str(seed), cwd=folder)
    out, errors = driver.communicate(timeout=300)
    assert driver.returncode == 0, errors
    whole, *parts = json.loads(out)
    assert whole == parts[-1] == 0
    ended = {"SIGINT": {130, 0}, "SIGTERM": {143, -15, 0}, "SIGKILL": {-9, 0}}[kind]
    assert set(parts) <= ended
    assert len(parts) > 1, "no child was interrupted"
    assert_same(read_checkpoint(folder / "parts.npz"), read_checkpoint(folder / "whole.npz"))
    assert sorted(path.name for path in folder.iterdir()) == ["parts.npz", "whole.npz"]


@pytest.mark.parametrize("kind", [pytest.param("SIGINT", marks=pytest.mark.slow), "SIGKILL"])
def test_random_moments(kind: str, tmp_path: Path) -> None:
    check_interruptions(tmp_path, kind, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), [("SIGTERM", 2), ("SIGKILL", 3)])
def test_more_random_moments(kind: str, seed: int, tmp_path: Path) -> None:
    check_interruptions(tmp_path, kind, seed)


@pytest.mark.slow
def test_an_example_goes_on_in_another_process(tmp_path: Path) -> None:
    """Ctrl-C as a user sees it."""
    flags = ("--data", "digits", "--epochs", "8", "--optimizer", "momentum")
    example = str(ROOT / "examples" / "mnist_rnn.py")
    whole = python(example, *flags, "--checkpoint", "whole.npz", cwd=tmp_path)
    part = python(example, *flags, "--checkpoint", "part.npz", cwd=tmp_path)
    while not (tmp_path / "part.npz").exists() and part.poll() is None:
        time.sleep(0.01)
    time.sleep(0.1)
    part.send_signal(signal.SIGINT)
    out, errors = part.communicate(timeout=300)
    assert part.returncode == 130, errors
    assert errors == ""
    assert "interrupted after" in out
    assert out.splitlines()[-2].startswith("checkpoint: part.npz (epoch ")
    assert out.endswith("to go on: the same command with --resume\n")

    again = python(example, *flags, "--checkpoint", "part.npz", "--resume", cwd=tmp_path)
    _, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors
    _, errors = whole.communicate(timeout=300)
    assert whole.returncode == 0, errors
    assert_same(read_checkpoint(tmp_path / "part.npz"), read_checkpoint(tmp_path / "whole.npz"))


# --- signals -----------------------------------------------------------------------------------


@pytest.fixture
def heeded() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    heed_interrupts()
    yield
    signal.signal(signal.SIGINT, before)


class HalfWay:
    """A step that is interrupted between the updates of two parameters, in call ``at``."""

    def __init__(self, at: int, times: int) -> None:
        self.at, self.times, self.calls = at, times, 0

    def __call__(self, params: Any, *batch: Any) -> float:
        self.calls += 1
        params["a"] += 1
        if self.calls == self.at:
            for _ in range(self.times):
                signal.raise_signal(signal.SIGINT)
        params["b"] += 1
        return 0.0

    def allocated_bytes(self, params: Any, *batch: Any) -> int:
        return 0

    def source(self, params: Any, *batch: Any) -> str:
        return ""


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("at", [3, 7, 8])
def test_no_checkpoint_has_half_a_step(times: int, at: int, tmp_path: Path) -> None:
    """One Ctrl-C waits for the step; the second one ends it, and the last checkpoint stays."""
    path = tmp_path / "c.npz"
    params = {"a": np.zeros(()), "b": np.zeros(())}
    results = train(
        HalfWay(at, times),
        params,
        (np.zeros((20, 1)),),
        epochs=2,
        batch_size=5,
        rng=np.random.default_rng(0),
        checkpoints=Checkpoints(path, every=1),
    )
    assert results.stopped_by == signal.SIGINT
    saved = read_checkpoint(path)
    wanted = at if times == 1 else at - 1
    assert saved.arrays['params["a"]'] == saved.arrays['params["b"]'] == wanted
    assert results.resumable_at == saved.position


@pytest.mark.usefixtures("heeded")
def test_signals_wait() -> None:
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert interrupts.received == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_signals_that_are_handled_otherwise_are_left_alone() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
        assert seen == [signal.SIGTERM]
        assert interrupts.received is None
    finally:
        signal.signal(signal.SIGTERM, before)


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    handlers = []

    def run() -> None:
        with Interrupts():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [before]
