"""A training program: what it prints and writes, also when it is cut short."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stcompile.base.errors import ArgumentsError
from stcompile_programs.train import DataSet, DivergedError, Results, TrainingOptions, program, run
from stcompile_programs.train.extras import MissingExtraError, require

X = np.eye(8, dtype=np.float32)
Y = np.arange(8) % 4
DATA = DataSet("toy", X, Y, X[:4], Y[:4], (2, 4), classes=4)


class Remember:
    """Learns by heart: scores are the labels seen for a row. Acts up on its ``last`` call."""

    def __init__(self, last: int = 0, act: Any = None) -> None:
        self.last, self.act, self.calls = last, act, 0

    def __call__(self, params: Any, *batch: Any) -> Any:
        self.calls += 1
        if self.calls == self.last:
            return self.act()
        x, y = batch
        params["w"] += x.T @ np.eye(4, dtype=np.float32)[y]
        return 1 / self.calls

    def allocated_bytes(self, params: Any, *batch: Any) -> int:
        return 64

    def source(self, params: Any, *batch: Any) -> str:
        return f"def step(params, x, y):  # {len(batch[0])} rows\n    ..."


def scores(params: Any, x: Any) -> Any:
    return x @ params["w"]


def start() -> dict[str, Any]:
    return {"w": np.zeros((8, 4), np.float32)}


def test_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "results.json", tmp_path / "report"
    options = TrainingOptions(
        epochs=2, batch_size=2, json=file, report=folder, show_source=True, data="digits"
    )
    results = run(options, DATA, Remember(), start(), scores)
    assert results.test_metric == 1
    assert json.loads(file.read_text())["epochs"][1]["train_accuracy"] == 1
    assert (folder / "accuracy.png").exists()
    printed = capsys.readouterr().out
    assert printed.startswith("def step(params, x, y):  # 2 rows\n")
    assert "test accuracy 100.00%" in printed
    assert printed.endswith(f"report: {folder / 'report.md'}\n")


def interrupt() -> float:
    raise KeyboardInterrupt


def nan() -> float:
    return float("nan")


def test_interruption_writes_what_is_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = TrainingOptions(batch_size=2, json=tmp_path / "r.json", report=tmp_path / "r")

    @program(TrainingOptions)
    def main(given: TrainingOptions) -> Results:
        return run(options, DATA, Remember(6, interrupt), start(), scores)

    assert main([]) == 130
    assert len(json.loads((tmp_path / "r.json").read_text())["epochs"]) == 1
    assert (tmp_path / "r" / "report.md").exists()
    assert "interrupted after 1 finished epochs" in capsys.readouterr().out


def test_nan_writes_what_is_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = TrainingOptions(batch_size=2, json=tmp_path / "r.json")

    @program(TrainingOptions)
    def main(given: TrainingOptions) -> Results:
        return run(options, DATA, Remember(6, nan), start(), scores)

    assert main([]) == 1
    assert len(json.loads((tmp_path / "r.json").read_text())["epochs"]) == 1
    error = capsys.readouterr().err.splitlines()[-2:]
    assert error[0] == "error: the loss became nan in epoch 2, step 2"
    assert error[1].startswith("hint: choose a smaller --learning-rate")
    with pytest.raises(DivergedError):
        run(options, DATA, Remember(1, nan), start(), scores)


def test_interruption_before_training(capsys: pytest.CaptureFixture[str]) -> None:
    @program(TrainingOptions)
    def main(given: TrainingOptions) -> Results:
        raise KeyboardInterrupt

    assert main([]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_outputs_are_refused_before_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    step = Remember()
    for options, message in (
        (TrainingOptions(json=tmp_path), "--json names .*, which is a folder"),
        (TrainingOptions(json=tmp_path / "file" / "r.json"), "--json: .*file cannot be made"),
        (TrainingOptions(report=tmp_path / "file"), "--report: .*file cannot be made"),
    ):
        with pytest.raises(ArgumentsError, match=message):
            run(options, DATA, step, start(), scores)
    assert step.calls == 0


def test_too_large_a_batch_is_refused() -> None:
    with pytest.raises(ArgumentsError, match="batches of 9 rows cannot be taken from 8 rows"):
        run(TrainingOptions(batch_size=9), DATA, Remember(), start(), scores)


def test_missing_extras_give_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = "rich"
    install = importlib.import_module

    def not_installed(name: str) -> Any:
        if name.split(".")[0] != missing:
            return install(name)
        raise ModuleNotFoundError(f"No module named {name!r}", name=missing)

    monkeypatch.setattr(importlib, "import_module", not_installed)

    @program(TrainingOptions)
    def main(given: TrainingOptions) -> Results:
        require("rich.table")
        return Results("none")

    assert main([]) == 2
    assert capsys.readouterr().err == (
        "error: training needs rich, which is not installed\n"
        'hint: python -m pip install "stcompile[train]"\n'
    )
    missing = "typer"
    assert main([]) == 2
    assert capsys.readouterr().err == (
        "error: the command line needs typer, which is not installed\n"
        'hint: python -m pip install "stcompile[cli]"\n'
    )


def test_an_error_inside_an_extra_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> Any:
        raise ModuleNotFoundError("No module named 'inner'", name="inner")

    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="inner") as caught:
        require("rich.table")
    assert not isinstance(caught.value, MissingExtraError)


def test_the_trainer_imports_without_extras() -> None:
    """Importing it needs NumPy only, so that the hint above can be given."""
    names = ("rich", "tqdm", "pooch", "sklearn", "matplotlib")
    code = f"import sys\nfor n in {names!r}: sys.modules[n] = None\nimport stcompile_programs.train"
    subprocess.run([sys.executable, "-c", code], check=True)
