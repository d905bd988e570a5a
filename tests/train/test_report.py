"""Results as JSON, as a table, and as a folder with figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stcompile_programs.train import RECONSTRUCTION_ERROR, Epoch, Results
from stcompile_programs.train.report import headings, print_table, rows, summary, write_report

RESULTS = Results(
    "mnist",
    [
        Epoch(0.905, 0.9125, 0.51, 1.25, 3 * 2**30, 2048),
        Epoch(0.925, 0.9275, 0.25, 1.5, 3 * 2**30, 2048),
    ],
    microseconds_per_step=250.5,
    allocated_bytes_per_step=1536,
    mean_microseconds_per_step=900.4,
)


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    RESULTS.write_json(path)
    found = json.loads(path.read_text())
    assert set(found) == {
        "dataset",
        "epochs",
        "test_accuracy",
        "microseconds_per_step",
        "mean_microseconds_per_step",
        "allocated_bytes_per_step",
    }
    assert found["dataset"] == "mnist"
    assert found["test_accuracy"] == 0.9275
    assert found["microseconds_per_step"] == 250.5
    assert found["mean_microseconds_per_step"] == 900.4
    assert found["allocated_bytes_per_step"] == 1536
    assert found["epochs"][0] == {
        "train_accuracy": 0.905,
        "test_accuracy": 0.9125,
        "loss": 0.51,
        "seconds": 1.25,
        "allocated_bytes": 3 * 2**30,
        "peak_bytes": 2048,
    }


def test_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_table(RESULTS)
    printed = capsys.readouterr().out
    for text in ("0.51", "90.50%", "91.25%", "1.25", "3.0 GiB", "2.0 KiB"):
        assert text in printed
    assert "…" not in printed
    assert printed.endswith(
        "test accuracy 92.75%, 2.75 s of training, 250 µs a step (median; mean 900 µs), "
        "1.5 KiB allocated a step\n"
    )


def test_models_that_classify_nothing_have_no_accuracy() -> None:
    results = Results("mnist", [Epoch(None, None, 0.5, 1.0, 0, 0)])
    assert rows(results) == [("1", "0.5", "–", "–", "1.00", "0 B", "0 B")]
    assert summary(results) == "1.00 s of training"
    assert summary(Results("mnist")) == "nothing was trained"
    assert summary(Results("mnist", stopped_by=2)) == "interrupted after 0 finished epochs"


def test_any_metric_has_its_name_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    epoch = Epoch(12.5, 4.00009, 0.5, 1.0, 0, 0)
    results = Results("mnist", [epoch], metric=RECONSTRUCTION_ERROR)
    assert rows(results) == [("1", "0.5", "12.50", "4.000", "1.00", "0 B", "0 B")]
    assert summary(results) == "test reconstruction error 4.000, 1.00 s of training"
    assert headings(results.metric)[2:4] == ("training error", "test error")
    found = results.as_dict()
    assert found["test_reconstruction_error"] == 4.00009
    assert list(found["epochs"][0])[:2] == [
        "train_reconstruction_error",
        "test_reconstruction_error",
    ]
    names = {path.name for path in write_report(tmp_path, results, {})}
    assert "reconstruction_error.svg" in names
    monkeypatch.setenv("COLUMNS", "80")
    print_table(results)
    assert "…" not in capsys.readouterr().out


def test_report(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    written = write_report(folder, RESULTS, {"seed": 0})
    names = {"report.md", "loss.png", "loss.svg", "accuracy.png", "accuracy.svg"}
    assert {path.name for path in written} == {path.name for path in folder.iterdir()} == names
    assert (folder / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (folder / "accuracy.svg").read_bytes()
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "| 2 | 0.25 | 92.50% | 92.75% | 1.50 | 3.0 GiB | 2.0 KiB |" in text
    assert "![accuracy](accuracy.svg)" in text
    assert "| seed | `0` |" in text

    first = {path.name: path.read_bytes() for path in written}
    again = write_report(folder, RESULTS, {"seed": 0})
    assert {path.name: path.read_bytes() for path in again} == first


def test_report_of_nothing(tmp_path: Path) -> None:
    (written,) = write_report(tmp_path, Results("mnist"), {})
    assert "nothing was trained" in written.read_text(encoding="utf-8")
