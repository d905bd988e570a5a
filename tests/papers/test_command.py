"""The command keeps what is finished, and writes tables of it."""

from __future__ import annotations

import html.parser
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from examples.papers import command
from examples.papers.pages import Figure, Heading, Paragraph, Table, as_html, as_markdown
from examples.papers.runs import Epoch, Plan, Record, find, save
from tests.papers.images import small_images

# --- what is kept -------------------------------------------------------------------------------

PLAN = Plan("rnn-4", "stcompile", seed=3, limit=200)
RECORD = Record("0.1", 6, (Epoch(2.0, 0.5, 1.0), Epoch(1.0, 0.75, 1.0)), 0.5, 0, None, (2.5, 1.5))


def test_results_are_found_again(tmp_path: Path) -> None:
    save(tmp_path, PLAN, RECORD)
    assert find(tmp_path, PLAN) == RECORD
    assert find(tmp_path, Plan("rnn-4", "stcompile", seed=3, limit=100)) is None
    assert find(tmp_path, Plan("rnn-4", "stcompile", seed=4, limit=200)) is None


@pytest.mark.parametrize("content", ["", "{", '{"plan": 1}', "[]", '{"plan": {}, "record": {}}'])
def test_damaged_results_are_not_found(tmp_path: Path, content: str) -> None:
    save(tmp_path, PLAN, RECORD)
    PLAN.file(tmp_path).write_text(content)
    assert find(tmp_path, PLAN) is None


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, small: None) -> list[Plan]:
    """Runs are made in this process, as fast as can be: the metric is the seed. What was made."""
    plans: list[Plan] = []

    def make(plan: Plan, folder: Path, data_dir: Path | None) -> str | None:
        plans.append(plan)
        if plan.network == "worked-example":
            record = Record("0.1", value=11.5, gradient=(5.5, 1.75), seconds_a_call=1e-6)
        else:
            metric = plan.seed / 100
            growth = 2**20 if plan.tool == "torch" else None
            record = Record("0.1", 6, (Epoch(2.0, metric, 3.0),), 0.5, 1024, growth, (2.5,))
        save(folder, plan, record)
        return None

    monkeypatch.setattr(command, "make", make)
    monkeypatch.setattr(command, "is_installed", lambda tool: tool in ("stcompile", "torch"))
    monkeypatch.setattr(command, "load", small_images)
    monkeypatch.setattr(command.signal, "signal", lambda *arguments: None)
    return plans


def flags(folder: Path, *more: str) -> list[str]:
    return ["--out", str(folder), "--seeds", "3", "--steps", "4", *more]


def test_tables(made: list[Plan], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(flags(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "JAX is not installed: it is skipped\nKeras is not installed" in said
    assert len(made) == 4 * 3 * 2 + 2
    assert made[:3] == [
        Plan("rnn-4", "stcompile", 0, trials=True),
        Plan("rnn-4", "torch", 0, trials=True),
        Plan("rnn-4", "stcompile", 1, trials=True),
    ]
    page = (tmp_path / "report.md").read_text()
    assert "JAX is not installed: it was skipped." in page
    rnn = "| stcompile | 3 | 1.00 ± 1.00 | 3.00 ± 0.00 s | 3.00 s | 0 µs, 0 µs | 0.50 s "
    rnn += "| 6.0 KiB | – | – |"
    assert rnn in page
    peer = rnn.replace("stcompile", "PyTorch").replace("– | – |", "1.0 MiB | 0.0e+00 |")
    assert peer in page
    quoted = (
        "| *RNN I, the paper's own tool (quoted)* | *–* | *92.47%* | *15.7 s* | *–* | *–* | *–* "
    )
    assert f"{quoted}| *23.0 GiB* " in page
    assert (
        "| *CNN, the paper's own tool (quoted)* | *–* | *96.20%* | *–* | *35 s an epoch* " in page
    )
    assert "| stcompile | 11.5 | 5.5 | 1.75 | 1.0 µs |" in page
    assert "| *the papers (quoted)* | *11.652* | *5.5* | *1.716* | *–* |" in page
    for name in ("rnn-4", "cnn", "cnn-fashion", "autoencoder"):
        assert f"({name}.svg)" in page
        assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    found = Tags()
    found.feed((tmp_path / "report.html").read_text())
    assert found.open == []
    assert found.count["tr"] > 20
    assert found.count["img"] == 4


class Tags(html.parser.HTMLParser):
    """Counts elements, and keeps those that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.count: dict[str, int] = {}

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_second_time_nothing_is_made(
    made: list[Plan], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(flags(tmp_path, "--networks", "rnn,worked-example")) == 0
    first = list(made)
    assert command.main(flags(tmp_path, "--networks", "worked-example,rnn")) == 0
    assert made == first
    assert capsys.readouterr().out.count(": kept\n") == len(first)
    assert command.main(flags(tmp_path, "--networks", "rnn", "--epochs", "2")) == 0
    assert len(made) == len(first) + 6  # other runs


def test_an_interruption_keeps_what_is_finished(
    made: list[Plan],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = command.make

    def interrupted(plan: Plan, folder: Path, data_dir: Path | None) -> str | None:
        if len(made) == 2:
            raise KeyboardInterrupt
        return whole(plan, folder, data_dir)

    monkeypatch.setattr(command, "make", interrupted)
    assert command.main(flags(tmp_path, "--networks", "rnn")) == 130
    assert "| stcompile | 1 | 0.00 |" in (tmp_path / "report.md").read_text()
    monkeypatch.setattr(command, "make", whole)
    assert command.main(flags(tmp_path, "--networks", "rnn")) == 0
    assert len(made) == len(set(made)) == 6
    assert "| stcompile | 3 | 1.00 ± 1.00 |" in (tmp_path / "report.md").read_text()


def test_a_failed_run_is_named(
    made: list[Plan],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = command.make

    def failing(plan: Plan, folder: Path, data_dir: Path | None) -> str | None:
        return (
            "it broke" if plan.tool == "torch" and plan.seed == 1 else whole(plan, folder, data_dir)
        )

    monkeypatch.setattr(command, "make", failing)
    assert command.main(flags(tmp_path, "--networks", "cnn")) == 1
    page = (tmp_path / "report.md").read_text()
    assert "cnn, PyTorch, seed 1 failed: it broke" in page
    assert "| PyTorch | 2 | 1.00 ± 1.41 |" in page


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--networks", "mlp"], "no network is called 'mlp'"),
        (["--tools", "flux"], "no tool is called 'flux'"),
        (["--tools", ","], "no tool is named"),
        (["--steps", "4,x"], "'x' is not an integer"),
        (["--seeds", "0"], "0 is less than 1"),
    ],
)
def test_wrong_flags(
    wrong: list[str], said: str, made: list[Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(wrong)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_steps_that_do_not_divide_are_refused(
    made: list[Plan], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--out", str(tmp_path), "--steps", "4,7"]) == 1
    assert "144 pixels cannot be read in 7 equal parts" in capsys.readouterr().err
    assert made == []


def test_no_tool(made: list[Plan], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--out", str(tmp_path), "--tools", "jax"]) == 1
    assert "none of these tools is installed" in capsys.readouterr().err


@pytest.mark.slow
def test_whole_runs_on_digits(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Real processes: one that goes well, and one that cannot."""
    pytest.importorskip("sklearn", reason="sklearn is not installed")
    few = ["--digits", "--epochs", "1", "--limit", "200", "--seeds", "1", "--threads", "1"]
    few += ["--tools", "stcompile", "--steps", "4", "--out", str(tmp_path)]
    assert command.main([*few, "--networks", "rnn,autoencoder,worked-example"]) == 0
    kept = json.loads((tmp_path / "runs" / "rnn-4" / "stcompile-seed-0.json").read_text())
    assert kept["record"]["steps_an_epoch"] == 2
    assert kept["record"]["allocated_bytes"] == 0
    assert (tmp_path / "autoencoder-stcompile-images.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "report.md").read_text()
    assert "data: digits" in page
    assert "(autoencoder-stcompile-images.png)" in page
    assert "| stcompile | 11.6520714552 | 5.5 | 1.71633781454 |" in page
    failed = command.make(Plan("cnn", "stcompile", data="no-such", threads=1), tmp_path, None)
    assert failed is not None
    assert "no data set is called 'no-such'" in failed


def test_the_script_is_the_same_command(tmp_path: Path) -> None:
    """From any folder."""
    script = Path(__file__).resolve().parents[2] / "examples" / "reproduce_papers.py"
    done = subprocess.run(
        [sys.executable, script, "--tools", "jax,no-such"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "no-such" in done.stderr
    assert not list(tmp_path.iterdir())


# --- pages ----------------------------------------------------------------------------------------


def test_text_is_escaped() -> None:
    table = Table(("a", "b"), [["1 < 2", "x|y"], ["<b>", "&"]], frozenset([1]))
    blocks = [Heading("A & B"), Paragraph("<script>"), table, Figure('a".svg', "c")]
    shown = as_html("<title>", blocks)
    found = Tags()
    found.feed(shown)
    assert found.open == []
    assert "script" not in found.count
    assert '<tr class="quoted"><td>&lt;b&gt;</td><td>&amp;</td></tr>' in shown
    assert 'src="a&quot;.svg"' in shown
    markdown = as_markdown("T", blocks)
    assert "| 1 < 2 | x\\|y |\n| *<b>* | *&* |" in markdown
