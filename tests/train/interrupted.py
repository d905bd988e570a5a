"""A program that trains a small network in child processes and stops them at random moments.

``python interrupted.py FOLDER SIGNAL SEED`` trains once to the end (``whole.npz``), and then once
with interruptions: a child goes on from ``parts.npz`` until the signal ends it, and the next one
goes on from there. Prints, as JSON, the exit status of each child (negative: killed).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import stcompile as st
from stcompile import nn
from stcompile_programs import train

rng = np.random.default_rng(0)
X = rng.normal(size=(203, 6)).astype(np.float32)
Y = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
DATA = train.DataSet("toy", X, Y, X[:50], Y[:50], (2, 3), classes=2)


def scores(params, x):
    return np.tanh(x @ params["W1"] + params["b1"]) @ params["layers"][0]


def loss(params, x, y, generator):
    kept = generator.random(x.shape) < 0.9
    return st.nn.softmax_cross_entropy(scores(params, np.where(kept, x, 0)), y)


@dataclass
class Options(train.TrainingOptions):
    epochs: int = 3
    batch_size: int | None = 2
    optimizer: str = "adam"
    checkpoint_every: int = 9


@train.program(Options)
def main(options):
    initial, _ = options.generators()
    params = {
        "W1": nn.glorot_uniform(initial, (6, 8)),
        "b1": np.zeros(8, np.float32),
        "layers": [nn.glorot_uniform(initial, (8, 2))],
    }
    step = st.train_step(loss, options.make_optimizer(), wrt="params")
    return train.run(options, DATA, step, params, scores, (np.random.default_rng(5),))


def child(path: Path) -> int:
    """Starts a child process that trains; returns its number."""
    sys.stdout.flush()
    number = os.fork()
    if number:
        return number
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        os._exit(main(["--checkpoint", str(path), *(["--resume"] if path.exists() else [])]))
    except BaseException:
        os._exit(99)


def status_of(number: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def interrupted(path: Path, kind: int, seed: int, longest: float) -> list[int]:
    found: list[int] = []
    moments = np.random.default_rng(seed)
    while not found or found[-1] != 0:
        number = child(path)
        if len(found) < 4:
            time.sleep(moments.uniform(0, longest))
            os.kill(number, kind)
        found.append(status_of(number))
    return found


if __name__ == "__main__":
    folder, kind = Path(sys.argv[1]), signal.Signals[sys.argv[2]]
    began = time.perf_counter()
    statuses = [status_of(child(folder / "whole.npz"))]
    duration = time.perf_counter() - began
    statuses += interrupted(folder / "parts.npz", kind, int(sys.argv[3]), duration / 2)
    print(json.dumps(statuses))
