"""The flags that all training examples share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest

from stcompile.base.command import Flag, positive
from stcompile.base.errors import ArgumentsError
from stcompile.optim import Nesterov
from stcompile_programs.train import Program, Results, TrainingOptions, pixels_per_step
from stcompile_programs.train.options import OPTIMIZERS


def never(options: TrainingOptions) -> Results:
    raise NotImplementedError


def options(*arguments: str) -> TrainingOptions:
    return Program(never, TrainingOptions, "a test").parse(arguments)


def test_defaults() -> None:
    assert options() == TrainingOptions(
        data="auto",
        data_dir=None,
        epochs=5,
        batch_size=None,
        optimizer="sgd",
        learning_rate=0.015,
        momentum=None,
        weight_decay=None,
        clip_value=None,
        clip_norm=None,
        seed=0,
        dtype="float32",
        checkpoint=None,
        checkpoint_every=1000,
        resume=False,
        json=None,
        report=None,
        show_source=False,
    )
    assert options().rows_in_batch(60_000) == 100


def test_threads() -> None:
    assert options().threads == "auto"
    assert options("--threads", "auto").threads == "auto"
    assert options("--threads", "3").threads == 3
    for wrong in ("0", "all"):
        with pytest.raises(SystemExit) as left:
            options("--threads", wrong)
        assert left.value.code == 2


def test_every_flag() -> None:
    given = "--data fashion-mnist --data-dir d --epochs 2 --batch-size 7 --learning-rate 1e-3 "
    given += "--optimizer nesterov --momentum 0.5 --weight-decay 1e-4 "
    given += "--clip-value 2 --clip-norm 0.5 --seed 3 --dtype float64 "
    given += "--checkpoint c.npz --checkpoint-every 50 --resume "
    given += "--json r.json --report r --show-source"
    assert options(*given.split()) == TrainingOptions(
        data="fashion-mnist",
        data_dir=Path("d"),
        epochs=2,
        batch_size=7,
        optimizer="nesterov",
        learning_rate=1e-3,
        momentum=0.5,
        weight_decay=1e-4,
        clip_value=2.0,
        clip_norm=0.5,
        seed=3,
        dtype="float64",
        checkpoint=Path("c.npz"),
        checkpoint_every=50,
        resume=True,
        json=Path("r.json"),
        report=Path("r"),
        show_source=True,
    )


BAD = {
    "--data cifar": "'cifar' is none of auto, mnist, fashion-mnist, digits",
    "--epochs -1": "-1 is less than 0",
    "--epochs many": "'many' is not an integer",
    "--batch-size 0": "0 is less than 1",
    "--optimizer lbfgs": "'lbfgs' is none of sgd,",
    "--momentum 1": "1 is not from 0 to below 1",
    "--momentum nan": "nan is not from 0 to below 1",
    "--weight-decay -1": "-1 is not a finite number above 0",
    "--learning-rate 0": "0 is not a finite number above 0",
    "--learning-rate nan": "nan is not a finite number above 0",
    "--learning-rate fast": "'fast' is not a number",
    "--dtype float16": "'float16' is none of float32, float64",
    "--checkpoint-every 0": "0 is less than 1",
    "--clip-norm 0": "0 is not a finite number above 0",
}


@pytest.mark.parametrize("given", BAD)
def test_refused(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        options(*given.split())
    assert stop.value.code == 2
    assert BAD[given] in capsys.readouterr().err


@dataclass
class Options(TrainingOptions):
    epochs: int = 4
    width: Annotated[float, Flag("of something", positive)] = 1.5


def test_examples_add_flags_and_change_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    example = Program(never, Options, "an example\n\n    of two   lines\n    as written")
    assert example.parse([]) == Options()
    assert example.parse(["--width", "2"]) == Options(epochs=4, width=2.0)
    assert example(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "[default: 4]" in shown and "of something" in shown
    assert "\n  of two   lines\n  as written\n" in shown


def test_steps_divide_the_pixels() -> None:
    assert pixels_per_step(784, 28) == 28
    with pytest.raises(ArgumentsError, match="784 pixels cannot be read in 5 equal") as caught:
        pixels_per_step(784, 5)
    assert "1, 2, 4, 7, 8, 14, 16, 28, 49, 56, 98, 112, 196, 392, 784" in caught.value.hint


def test_streams_of_random_numbers() -> None:
    initial, shuffling = options("--seed", "1").generators()
    again, _ = options("--seed", "1").generators()
    other, _ = options("--seed", "2").generators()
    value = initial.random()
    assert value == again.random()
    assert value not in (shuffling.random(), other.random())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name: str) -> None:
    """What no flag says is the optimiser's own default."""
    made = options(
        "--optimizer", name, "--learning-rate", "0.5", "--clip-norm", "2"
    ).make_optimizer()
    assert made.describe() == OPTIMIZERS[name](0.5, clip_norm=2.0).describe()
    decayed = options("--optimizer", name, "--weight-decay", "0.25").make_optimizer()
    assert decayed.weight_decay == 0.25
    assert decayed.clip_norm is None


def test_momentum() -> None:
    chosen = options("--optimizer", "nesterov", "--momentum", "0.5").make_optimizer()
    assert isinstance(chosen, Nesterov)
    assert chosen.momentum == 0.5
    with pytest.raises(ArgumentsError, match="--momentum is not for --optimizer adam"):
        options("--optimizer", "adam", "--momentum", "0.5").make_optimizer()
