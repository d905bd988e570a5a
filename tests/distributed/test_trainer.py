"""The training programs under mpiexec: what they print and write, and how all ranks end."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from stcompile_programs.train.checkpoint import read_checkpoint
from stcompile_programs.train.team import ALONE, Team
from tests.distributed import faulty
from tests.distributed.mpi import ROOT, needs_mpi, run, start
from tests.distributed.ranks import on_ranks

PROGRAM = Path(__file__).with_name("faulty.py")
LONGEST = 25.0  # seconds for all: to start, to compile, and at most 10 until all ranks have ended


@needs_mpi
@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        ("killed", 9, "BAD TERMINATION"),
        ("raises", 1, "error on rank 1: RuntimeError: this rank is broken"),
        ("nan", 1, "the NaN comes from outside, and this line reads it: x"),
        ("params", 1, 'ranks 0 and 1 differ in params["W2"]'),
        ("drifts", 1, 'ranks 0 and 1 differ in params["b1"]'),
    ],
)
def test_a_fault_on_one_rank_ends_all(fault: str, code: int, said: str, tmp_path: Path) -> None:
    checkpoint = tmp_path / "run.npz"
    command = [PROGRAM, "--distributed", "--checkpoint", checkpoint, "--checkpoint-every", "5"]
    found, output = run(3, *command, seconds=LONGEST, environment={"FAULT": fault})
    assert found == code, output
    assert said in output
    if fault in ("nan", "params", "drifts"):  # all ranks know
        assert all(f"error on rank {rank}: " in output for rank in range(3)), output
    assert fault == "params" or read_checkpoint(checkpoint).position[0] == 1


@pytest.mark.slow
@needs_mpi
def test_other_ranks_go_on_where_some_were_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, own = tmp_path / "shared.npz", tmp_path / "own.npz"
    report = tmp_path / "report"
    command = [PROGRAM, "--distributed", "--checkpoint", shared]
    started = start(3, *command, environment={"FAULT": "slow equal"})
    assert started.stdout is not None and started.stdout.readline() == "ready\n"
    limit = time.monotonic() + LONGEST
    while not shared.exists() and time.monotonic() < limit:  # the first one, before the first step
        time.sleep(0.01)
    time.sleep(0.7)
    began = time.monotonic()
    started.send_signal(signal.SIGINT)
    output, _ = started.communicate(timeout=LONGEST)
    assert time.monotonic() - began < 10
    assert started.returncode == 130, output
    assert output.count("to go on: the same command with --resume") == 1

    more = ["--resume", "--json", tmp_path / "out.json", "--report", report]
    code, output = run(2, *command, *more, environment={"FAULT": "equal"})
    assert code == 0, output
    assert len(json.loads((tmp_path / "out.json").read_text())["epochs"]) == 4
    assert (report / "report.md").exists()

    monkeypatch.setattr(faulty, "FAULT", "equal")
    assert faulty.main(["--checkpoint", str(own)]) == 0
    parts, whole = read_checkpoint(shared), read_checkpoint(own)
    assert parts.position == whole.position
    for name, array in whole.arrays.items():
        if name.startswith(("params", "optimizer", "losses")):
            np.testing.assert_allclose(parts.arrays[name], array, rtol=1e-7, atol=1e-10)
    metrics = [[epoch["test_metric"] for epoch in c.record["epochs"]] for c in (parts, whole)]
    assert metrics[0] == metrics[1]


@pytest.mark.slow
@needs_mpi
def test_an_example() -> None:
    command = (ROOT / "examples" / "mnist_cnn.py", "--distributed", "--data", "digits")
    code, output = run(2, *command, "--epochs", "1", "--batch-size", "100")
    assert code == 0, output
    assert output.count("data: scikit-learn's digits") == 1
    assert output.count("test accuracy") == 2  # in the table, and below it


# --- shares and streams --------------------------------------------------------------------------


def test_shares_are_the_whole() -> None:
    rows = np.arange(10)
    for size in (1, 3, 4, 12):
        found = on_ranks(size, lambda comm: Team(comm).share(rows))
        np.testing.assert_array_equal(np.concatenate(found), rows)
        assert max(map(len, found)) - min(map(len, found)) <= 1
    assert ALONE.leads and ALONE.share([1, 2]) == [1, 2]


def test_each_rank_draws_numbers_of_its_own() -> None:
    def drawn(comm: object) -> tuple[float, ...]:
        generators = [np.random.default_rng(3), np.random.RandomState(3)]
        Team(comm).spread([*generators, "not a generator"])
        return tuple(float(generator.random()) for generator in generators)

    found = on_ranks(3, drawn)
    assert len({first for first, _ in found}) == len({second for _, second in found}) == 3
    assert found[0][0] == np.random.default_rng(3).random()


OWN = """
import sys
import numpy as np
from mpi4py import MPI
import stcompile as st
from stcompile_programs import train

team = train.Team(MPI.COMM_WORLD)

def loss(params, x):
    return np.mean((x @ params["w"]) ** 2)

class Step:
    def __init__(self, step):
        self.step = step

    def __getattr__(self, name):
        return getattr(self.step, name)

    def allocated_bytes(self, *arguments):
        if team.rank == 1 and sys.argv[2] == "compile":
            raise KeyboardInterrupt
        return self.step.allocated_bytes(*arguments)

    def __call__(self, *arguments):
        if team.rank == 1 and sys.argv[2] == "step":
            raise RuntimeError("this rank is broken")
        return self.step(*arguments)

step = st.train_step(loss, st.optim.SGD(0.1), wrt="params", comm=team.comm)
data = np.random.default_rng(0).normal(size=(40, 3))
train.train(Step(step), {"w": np.ones(3)}, (data,), epochs=2, batch_size=4,
            rng=np.random.default_rng(0), checkpoints=train.Checkpoints(sys.argv[1]), team=team)
"""


@needs_mpi
@pytest.mark.parametrize(
    ("where", "code", "said"),
    [("compile", 130, "interrupted"), ("step", 1, "RuntimeError: this rank is broken")],
)
def test_an_error_in_a_program_of_ones_own_ends_all(
    where: str, code: int, said: str, tmp_path: Path
) -> None:
    program = tmp_path / "own.py"
    program.write_text(OWN)
    found, output = run(2, program, str(tmp_path / "run.npz"), where, seconds=LONGEST)
    assert found == code, output
    assert output.count(f"error on rank 1: {said}") == 1, output
