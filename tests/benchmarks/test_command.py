"""Whole runs of the benchmark, on tiny sizes: what is written, what is refused."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path

import pytest

from examples.benchmarks.command import main
from examples.benchmarks.results import Row
from examples.benchmarks.works import WORKS
from tests.benchmarks.running import benchmark, rows_in

ENGINES = ("autograd", "stcompile")
TRAINING = tuple(name for name, work in WORKS.items() if work.kind == "training")
RUN = ("rnn", "worked_example", "gaussian_mixture")  # both kinds of works, whole and in processes

# Engines of a user's own: one that multiplies the gradient by 1.005, one that turns around the
# order of its entries (which leaves the norm), one that breaks down, one that lacks its tool.
OWN_ENGINES = {
    "own_scaled.py": """
import dataclasses
from examples.benchmarks.engines.autograd import Autograd
from examples.benchmarks.engines.base import Evaluator

class Scaled(Autograd):
    def trainer(self, work, inputs):
        faster = dataclasses.replace(inputs, learning_rate=1.005 * inputs.learning_rate)
        return super().trainer(work, faster)

    def evaluator(self, work, inputs):
        right = super().evaluator(work, inputs)

        def read(result):
            value, gradients = right.read(result)
            return value, [1.005 * gradient for gradient in gradients]

        return Evaluator(right.call, read)

def engine(variant, threads):
    return Scaled()
""",
    "own_reversed.py": """
from examples.benchmarks.engines.autograd import Autograd
from examples.benchmarks.engines.base import Evaluator

class Reversed(Autograd):
    def evaluator(self, work, inputs):
        right = super().evaluator(work, inputs)

        def read(result):
            value, gradients = right.read(result)
            return value, gradients[::-1]

        return Evaluator(right.call, read)

def engine(variant, threads):
    return Reversed()
""",
    "own_broken.py": """
from examples.benchmarks.engines.autograd import Autograd

class Broken(Autograd):
    def evaluator(self, work, inputs):
        raise ZeroDivisionError("no such luck")

def engine(variant, threads):
    return Broken()
""",
    "own_dead.py": """
import os
import sys

def engine(variant, threads):
    print("out of memory", file=sys.stderr, flush=True)
    os._exit(9)
""",
    "own_absent.py": "import a_tool_that_nobody_has\n",
}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder to be put on the path, with a package ``own`` of those engines."""
    package = tmp_path / "modules" / "own"
    package.mkdir(parents=True)
    for name, text in OWN_ENGINES.items():
        (package / name.removeprefix("own_")).write_text(text, encoding="utf-8")
    return package.parent


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a run over some works wrote."""
    folder = tmp_path_factory.mktemp("written") / "results"
    chosen = ("--works", ",".join(RUN), "--engines", ",".join(ENGINES))
    status, output = benchmark(*chosen, "--out", folder)
    assert status == 0, output
    return folder


@pytest.mark.slow
def test_every_engine_measures_works_of_both_kinds(written: Path) -> None:
    rows = rows_in(written / "results.json")
    expected = {(work, engine) for work in RUN for engine in ENGINES}
    expected |= {(work, "value-alone") for work in RUN if WORKS[work].kind == "gradient"}
    assert rows.keys() == expected
    names = {field.name for field in dataclasses.fields(Row)}
    for key, row in rows.items():
        assert row.keys() == names
        assert row["status"] == "measured", row
        assert 0 < row["minimum_us"] <= row["median_us"], key
        assert len(row["block_medians_us"]) == len(row["losses"]) == 2, key
        assert row["first_call_ms"] > 0
        assert row["allocated_bytes"] > 0
        assert row["version"]


@pytest.mark.slow
def test_losses_and_gradients_are_equal(written: Path) -> None:
    rows = rows_in(written / "results.json")
    for work in RUN:
        for engine in ENGINES:
            row, reference = rows[work, engine], rows[work, "autograd"]
            assert row["mismatch"] is None
            assert row["losses"] == pytest.approx(reference["losses"], rel=1e-4)
            assert row["gradient_norm"] == pytest.approx(reference["gradient_norm"], rel=1e-3)
    assert rows["worked_example", "stcompile"]["loss"] == pytest.approx(11.652071455223084)
    assert rows["worked_example", "stcompile"]["gradient_norm"] == pytest.approx(
        (5.5**2 + 1.7163378145367738**2) ** 0.5
    )


@pytest.mark.slow
def test_ratios(written: Path) -> None:
    rows = rows_in(written / "results.json")
    for (work, engine), row in rows.items():
        peer = rows[work, "autograd"]["median_us"]
        ratio = None if engine == "value-alone" else pytest.approx(row["median_us"] / peer)
        assert row["ratio"] == ratio
        alone = rows.get((work, "value-alone"))
        cost = alone and pytest.approx(row["median_us"] / alone["median_us"])
        assert row["gradient_cost"] == cost


@pytest.mark.slow
def test_files(written: Path) -> None:
    assert {path.name for path in written.iterdir()} == {
        "results.json",
        "results.md",
        "medians.png",
        "medians.svg",
    }
    about = json.loads((written / "results.json").read_text(encoding="utf-8"))
    assert about["threads"] == 2
    assert about["rounds"] == 2
    assert about["data"]["rnn"] == "random images of 20 pixels"
    page = (written / "results.md").read_text(encoding="utf-8")
    for work in RUN:
        assert f"## {work}, tiny" in page
    assert page.count("| stcompile |") == len(RUN)
    assert (written / "medians.png").read_bytes().startswith(b"\x89PNG")
    assert "median µs a step" in (written / "medians.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_engines_that_are_wrong_or_break_down(own: Path, tmp_path: Path) -> None:
    """Wrong gradients are mismatches; what is not installed, or breaks down, is said."""
    file = tmp_path / "results.json"
    engines = "autograd,own.scaled,own.reversed,own.absent,own.broken,own.dead"
    arguments = ("--works", "worked_example", "--engines", engines, "--json", file)
    status, output = benchmark(*arguments, modules=own)
    assert status == 1, output
    rows = {engine: row for (_, engine), row in rows_in(file).items()}
    reasons = {
        "own.absent": ("skipped", "a_tool_that_nobody_has is not installed"),
        "own.broken": ("failed", "ZeroDivisionError: no such luck"),
        "own.dead": ("failed", "out of memory"),
        "own.scaled": ("measured", None),
        "own.reversed": ("measured", None),
        "autograd": ("measured", None),
    }
    found = {engine: (row["status"], row["reason"]) for engine, row in rows.items()}
    assert {engine: found[engine] for engine in reasons} == reasons
    for engine, (state, reason) in reasons.items():
        assert reason is None or f"{engine} {state}: {reason}" in output
    wrong = {engine for engine, row in rows.items() if row["mismatch"] is not None}
    assert wrong == {"own.scaled", "own.reversed"}
    for engine in wrong:
        assert f"MISMATCH: {engine}: {rows[engine]['mismatch']}" in output
        assert "of the gradient" in rows[engine]["mismatch"]


@pytest.mark.slow
def test_an_engine_that_is_not_installed_is_no_error(own: Path) -> None:
    arguments = ("--works", "worked_example", "--engines", "own.absent,autograd")
    status, output = benchmark(*arguments, modules=own)
    assert status == 0, output
    assert "own.absent skipped: " in output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "module"),
    [
        ("torch", "torch"),
        ("torch-compile", "torch"),
        ("jax", "jax"),
        ("advect", "advect"),
        ("tangent", "tangent"),
    ],
)
def test_other_tools_agree(engine: str, module: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    file = tmp_path / "results.json"
    status, output = benchmark("--engines", f"autograd,{engine}", "--json", file)
    assert status == 0, output
    rows = rows_in(file)
    without = {"tangent": ("cnn", "convnet"), "advect": TRAINING}.get(engine, ())
    done = [work for work in WORKS if work not in without]
    assert {rows[work, engine]["status"] for work in done} == {"measured"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--works", "rnn,cnm"], "no work is called 'cnm'; there are rnn, "),
        (["--engines", "tensorflow"], "no engine is called 'tensorflow'; there are torch, "),
        (["--engines", ","], "no engine is named"),
        (["--rounds", "0"], "0 is less than 1"),
        (["--python", "tangent=/no/such/python"], "is not ENGINE=PATH with the path of a Python"),
    ],
)
def test_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
