"""What type checkers make of the public functions: right uses pass, wrong ones are refused."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

RIGHT, WRONG = (Path(__file__).with_name(name) for name in ("right.py", "wrong.py"))
Found = dict[str, dict[int, set[str]]]  # file -> line -> codes of the errors

MARK = re.compile(r"# refused: ([\w-]+), (\w+)$")
MYPY = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+): error: .*\[(?P<code>[\w-]+)\]$", re.MULTILINE)


def marks(position: int) -> dict[int, str]:
    """Line -> the code of its mark for mypy (0) or pyright (1)."""
    lines = enumerate(WRONG.read_text(encoding="utf-8").splitlines(), 1)
    found = ((number, MARK.search(line)) for number, line in lines)
    return {number: match[position + 1] for number, match in found if match}


def noted(errors: list[tuple[str, int, str]]) -> Found:
    found: Found = {}
    for file, line, code in errors:
        found.setdefault(Path(file).name, {}).setdefault(line, set()).add(code)
    return found


def run(module: str, *arguments: str | Path) -> str:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode in (0, 1) and done.stdout, done.stderr
    return done.stdout


def by_mypy(folder: Path) -> Found:
    text = run("mypy", "--strict", "--no-pretty", "--cache-dir", folder / "cache", RIGHT, WRONG)
    return noted([(m["file"], int(m["line"]), m["code"]) for m in MYPY.finditer(text)])


def by_pyright(folder: Path) -> Found:
    settings = {
        "include": [str(RIGHT), str(WRONG)],
        "extraPaths": [str(ROOT)],
        "pythonVersion": "3.11",
        "typeCheckingMode": "standard",
    }
    config = folder / "pyrightconfig.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    text = run("basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", config)
    errors = [e for e in json.loads(text)["generalDiagnostics"] if e["severity"] == "error"]
    assert json.loads(text)["summary"]["filesAnalyzed"] == 2
    return noted([(e["file"], e["range"]["start"]["line"] + 1, e["rule"]) for e in errors])


@pytest.mark.slow
@pytest.mark.parametrize(("module", "check"), [("mypy", by_mypy), ("basedpyright", by_pyright)])
def test_right_uses_pass_and_wrong_ones_are_refused(
    module: str, check: object, tmp_path: Path
) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    assert callable(check)
    found: Found = check(tmp_path)
    assert found.get(RIGHT.name, {}) == {}
    wanted = marks(0 if module == "mypy" else 1)
    assert len(wanted) > 30
    assert {
        line: code for line, code in wanted.items() if code not in found[WRONG.name].get(line, ())
    } == {}
    assert set(found[WRONG.name]) == set(wanted), "a line is refused that has no mark"


def test_right_uses_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(RIGHT))
    assert (tmp_path / "file.py").exists()
