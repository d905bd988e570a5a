"""The example whose data lies on the workers of a Dask cluster."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from examples import distributed_gradients as example
from tests.examples.running import ROOT, run

pytest.importorskip("distributed", reason="needs the extra `dask`")


@pytest.mark.slow
def test_a_scheduler_and_worker_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STCOMPILE_CACHE", str(tmp_path / "cache"))
    command = ("--workers", "2", "--shards", "3", "--rows", "2000", "--features", "4")
    done = run(ROOT / "examples" / "distributed_gradients.py", tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert "evaluations" in done.stderr, "there is no progress bar"
    first, second, third = done.stdout.splitlines()
    assert first.startswith("6000 rows in 3 shards: log-likelihood -")
    counts = re.match(r"(\d+) evaluations, gradient (\S+), error (\S+)", second)
    assert counts is not None and int(counts[1]) > 5
    assert float(counts[2]) < 1.0 and float(counts[3]) < 0.2
    times = re.fullmatch(r"the gradient was compiled (\d) times, and linked (\d) times", third)
    assert times is not None and 1 <= int(times[1]) + int(times[2]) <= 2, "once for each worker"


@pytest.mark.parametrize("flag", ["--workers", "--shards", "--rows", "--features"])
def test_there_is_at_least_one_of_each(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        example.main([flag, "0"])
    assert f"{flag} is a number from 1 on" in capsys.readouterr().err


def test_parts_add_up_to_the_whole() -> None:
    truth = np.random.default_rng(0).normal(size=4)
    shards = [example.shard(seed, 50, truth) for seed in (1, 2, 3)]
    value, gradient, _ = example.added([example.on_shard(truth, data) for data in shards])
    whole = tuple(np.concatenate(parts) for parts in zip(*shards, strict=True))
    wanted_value, wanted = example.cost.value_and_grad(truth, *whole)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-10, atol=1e-10)
    example.cost.check_grads(truth, *shards[0])
