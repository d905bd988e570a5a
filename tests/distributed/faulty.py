"""Run by mpiexec: all ranks train a small network, and on one of them something goes wrong.

``FAULT`` in the environment says what; the flags are those of all training programs.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import stcompile as st
from stcompile import nn
from stcompile_programs import train

FAULT = os.environ.get("FAULT", "")

rng = np.random.default_rng(0)
X = rng.normal(size=(203, 6)).astype(np.float64)
Y = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
DATA = train.DataSet("toy", X, Y, X[:50], Y[:50], (2, 3), classes=2)


def scores(params, x):
    return np.tanh(x @ params["W1"] + params["b1"]) @ params["W2"]


def loss(params, x, y, generator):
    kept = generator.random(x.shape) < (1.0 if "equal" in FAULT else 0.9)
    return st.nn.softmax_cross_entropy(scores(params, np.where(kept, x, 0)), y)


def other(params, x, y, generator):
    return 2 * loss(params, x, y, generator)


class Step:
    """A step that fails after some steps."""

    def __init__(self, step: Any, is_faulty: bool) -> None:
        self.step, self.is_faulty, self.made = step, is_faulty, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.step, name)

    def __call__(self, params: Any, x: Any, *rest: Any) -> Any:
        self.made += 1
        if "slow" in FAULT:
            time.sleep(0.02)
        if self.made > 20 and self.is_faulty:
            if FAULT == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if FAULT == "raises":
                raise RuntimeError("this rank is broken")
            if FAULT == "drifts":
                params["b1"][0] += 1e-3
        return self.step(params, x, *rest)


@dataclass
class Options(train.TrainingOptions):
    epochs: int = 4
    batch_size: int | None = 8
    optimizer: str = "adam"
    learning_rate: float = 0.01


@train.program(Options)
def main(options):
    team = options.team
    is_faulty = team.rank == 1
    print("ready", flush=True)
    if is_faulty and FAULT == "refused":
        raise train.CheckpointError("this rank finds no data")
    if is_faulty and FAULT == "nan":
        X[100:, 0] = np.nan
    initial, _ = options.generators()
    params = {
        "W1": nn.glorot_uniform(initial, (6, 8), np.float64),
        "b1": np.zeros(8),
        "W2": nn.glorot_uniform(initial, (8, 2), np.float64),
    }
    if is_faulty and FAULT == "params":
        params["W2"][1, 1] += 1e-9
    own = other if is_faulty and FAULT == "code" else loss
    step = st.train_step(own, options.make_optimizer(), wrt="params", comm=team.comm)
    draws = (np.random.default_rng(5),)
    return train.run(options, DATA, Step(step, is_faulty), params, scores, draws)


if __name__ == "__main__":
    raise SystemExit(main())
