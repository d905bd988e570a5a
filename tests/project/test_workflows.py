"""The workflows of the host run what is there, on what the project says that it supports."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def jobs(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return found


def commands(path: Path) -> str:
    """What the steps of a workflow run."""
    steps = [step for job in jobs(path).values() for step in job["steps"]]
    return "\n".join(step["run"] for step in steps if "run" in step)


def supported() -> list[str]:
    names = [name.rpartition(" :: ")[2] for name in PROJECT["project"]["classifiers"]]
    return [name for name in names if re.fullmatch(r"3\.\d+", name)]


def test_there_are_four() -> None:
    names = [path.stem for path in WORKFLOWS]
    assert names == ["ci", "nightly", "release", "weekly"]


def test_every_python_that_is_supported_is_tested() -> None:
    tests = jobs(FOLDER / "ci.yml")["tests"]["strategy"]["matrix"]
    assert tests["python"] == supported()
    assert {entry["system"] for entry in tests["include"]} == {"windows-latest", "macos-latest"}
    assert {entry["python"] for entry in tests["include"]} <= set(supported())
    (listed,) = re.findall(r"^versions=\((.+)\)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert listed.split() == supported()
    assert PROJECT["project"]["requires-python"] == f">={supported()[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_they_run_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for file in re.findall(r"(?<![\w./])(?:tests|docs|\.ci)/[\w./]+", text):
        assert (ROOT / file).exists(), file
    own = [n for n in re.findall(r"-m ([\w.]+)", commands(path)) if n[:5] in ("tests", "examp")]
    for module in own:
        assert importlib.util.find_spec(module) is not None, module
    extras = PROJECT["project"]["optional-dependencies"]
    for names in re.findall(r'"\.\[(.+?)\]"', commands(path)):
        assert set(names.split(",")) <= set(extras)
    for group in re.findall(r"--group (\w+)", commands(path)):
        assert group in PROJECT["dependency-groups"]


def test_the_weekly_programs_are_drawn_as_the_command_understands() -> None:
    from tests.fuzz import run

    matrix = jobs(FOLDER / "weekly.yml")["fuzz"]["strategy"]["matrix"]["include"]
    assert len(matrix) == 2
    source = Path(run.__file__).read_text(encoding="utf-8")
    for entry in matrix:
        for flag in re.findall(r"--[\w-]+", entry["options"]):
            assert f'"{flag}"' in source, flag


def test_nothing_but_the_last_job_of_a_release_may_publish() -> None:
    for path in WORKFLOWS:
        whole = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert whole["permissions"] == {"contents": "read"}, path
        for name, job in whole["jobs"].items():
            may = job.get("permissions", {}).get("id-token") == "write"
            assert may == (path.stem == "release" and name == "publish"), (path, name)
    publish = jobs(FOLDER / "release.yml")["publish"]
    assert publish["needs"] == "try" and publish["environment"] == "release"


def test_groups_and_extras_ask_for_the_same_versions() -> None:
    extras, groups = PROJECT["project"]["optional-dependencies"], PROJECT["dependency-groups"]
    assert groups["docs"] == extras["docs"]
    for group in ("test", "style"):
        assert set(groups[group]) <= set(extras["dev"])
    assert groups["dev"] == [{"include-group": name} for name in ("test", "docs", "style")]
