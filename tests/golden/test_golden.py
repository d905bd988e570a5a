"""Generated code, kept as files: what a user reads changes only on purpose.

A missing golden file fails; ``pytest --update-golden`` writes them anew.
"""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stcompile as st
from stcompile.train_step import TrainStep
from tests.golden import models

HERE = Path(__file__).parent
GENERATED = {
    "worked_example": lambda: st.value_and_grad(models.worked_example, wrt=("x1", "x2")),
    "mlp": lambda: st.value_and_grad(models.mlp, wrt="layers"),
    "rnn": lambda: st.value_and_grad(models.rnn, wrt="params"),
    "rnn_step": lambda: st.train_step(models.rnn, st.optim.SGD(0.015), wrt="params"),
    "rnn_clipped_step": lambda: st.train_step(
        models.rnn, st.optim.SGD(0.015, clip_value=1.0, clip_norm=5.0), wrt="params"
    ),
    "rnn_adam_step": lambda: st.train_step(models.rnn, st.optim.Adam(), wrt="params"),
    "wave": lambda: st.value_and_grad(models.wave),
    "directional": lambda: st.value_and_grad(models.directional),
    "pixel_rnn_step": lambda: st.train_step(models.pixel_rnn, st.optim.SGD(0.015), wrt="params"),
    "square_root": lambda: st.value_and_grad(models.square_root),
    "huber": lambda: st.value_and_grad(models.huber, wrt=("residuals", "delta")),
    "recursion": lambda: st.value_and_grad(models.recursion, wrt=("x", "decay")),
    "autoencoder_step": lambda: st.train_step(models.autoencoder, st.optim.SGD(0.02)),
}


def arguments_of(name: str) -> tuple:
    model = name.removesuffix("_step").removesuffix("_clipped").removesuffix("_adam")
    return copy.deepcopy(models.arguments()[model])


@pytest.mark.parametrize("name", GENERATED)
def test_generated_code(name: str, update_golden: bool) -> None:
    source = GENERATED[name]().source(*arguments_of(name))
    path = HERE / "generated" / f"{name}.py"
    if update_golden:
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
    assert path.exists(), "no golden file: run pytest --update-golden and read what it writes"
    assert source == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GENERATED)
def test_two_compilations_give_equal_bytes(name: str) -> None:
    first, second = (GENERATED[name]().source(*arguments_of(name)) for _ in range(2))
    assert first.encode() == second.encode()


@pytest.mark.parametrize("name", GENERATED)
def test_a_golden_file_runs_alone(name: str) -> None:
    """The kept code needs NumPy only, and gives what the compiled function gives."""
    compiled = GENERATED[name]()
    namespace: dict = {}
    exec((HERE / "generated" / f"{name}.py").read_text(encoding="utf-8"), namespace)
    alone = namespace[compiled.name]
    mine, theirs = arguments_of(name), arguments_of(name)
    state = {}
    if isinstance(compiled, TrainStep) and compiled.optimizer.slots:
        state = compiled.optimizer.state_for(theirs[0])
    results = compiled(*mine), alone(*theirs, **state)
    for one, other in zip(*map(_arrays, ((results[0], mine), (results[1], theirs))), strict=True):
        np.testing.assert_array_equal(one, other)


def _arrays(value: object) -> list:
    if isinstance(value, dict):
        return [array for part in value.values() for array in _arrays(part)]
    if isinstance(value, tuple | list):
        return [array for part in value for array in _arrays(part)]
    return [value]


def test_another_process_generates_the_same_code() -> None:
    """No hash order, address or random name leaks into generated code."""
    script = (
        "from tests.golden.test_golden import GENERATED, arguments_of\n"
        "for name in GENERATED: print(GENERATED[name]().source(*arguments_of(name)))\n"
    )
    root = HERE.parents[1]
    texts = [
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
