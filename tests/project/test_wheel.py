"""The wheel, installed into an empty environment, works from another directory."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    ".ci/backend.py",
    "stcompile",
    "codegen_templates",
    "examples/installed",
)
NEEDED = ("setuptools>=77", "numpy>=2.0", "astor>=0.8.1")

WRONG = """
import stcompile as st
import stcompile_programs.train
def square(x: float) -> float:
    return x * x
st.grad(square)(1.0, 2.0)
stcompile_programs.train.count(1)
"""

USE = """
import importlib.metadata
import inspect
import sys
from pathlib import Path

import numpy as np
import stcompile as st
from stcompile.codegen_templates import derivatives, marks, numpy
import stcompile_programs.train

source = Path(sys.argv[1])
for module in (st, derivatives, marks, numpy, stcompile_programs.train):
    assert source not in Path(module.__file__).parents, module
assert "def _mark" in inspect.getsource(marks)
print("version", importlib.metadata.version("stcompile"))


def f(x1, x2):
    return np.log(x1) + x1 * x2 - np.sin(x2)


value, gradient = st.value_and_grad(f, wrt=(0, 1))(2.0, 5.0)
print(f"{value:.3f}", *(f"{g:.3f}" for g in gradient))
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Standard output of a command; fails the test with all output if the command fails."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a build and an installation need; the test is skipped without it."""
    folder = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:"]
    done = subprocess.run(
        [*command, "--retries", "1", "--dest", str(folder), *NEEDED],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        pytest.skip(f"pip cannot fetch {', '.join(NEEDED)}: {lines[-1]}")
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of what the project is built from."""
    folder = tmp_path / "source"
    folder.mkdir()
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=ignore)
        else:
            (folder / part).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / part, folder / part)
    return folder


def python_of(environment: Path) -> Path:
    """The interpreter of a new environment, without pip: that of this interpreter serves it."""
    venv.create(environment)
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@pytest.mark.install
@pytest.mark.slow
def test_wheel_works_from_another_directory(tmp_path: Path, source: Path, packages: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(packages)}
    pip = (sys.executable, "-m", "pip", "--quiet")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, source, cwd=elsewhere, **offline)
    (wheel,) = tmp_path.glob("stcompile-*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, cwd=elsewhere)

    inside = set(zipfile.ZipFile(wheel).namelist())
    expected = {str(p.relative_to(source)) for p in (source / "stcompile").rglob("*.py")}
    templates = source / "codegen_templates"
    expected |= {f"stcompile/{p.relative_to(source)}" for p in templates.rglob("*.py")}
    programs = source / "examples" / "installed"
    expected |= {str(p.relative_to(programs)) for p in programs.rglob("*.py")}
    assert expected | {"stcompile/py.typed", "stcompile_programs/py.typed"} <= inside
    known = ("stcompile/", "stcompile_programs/", "stcompile-")
    outside = {name for name in inside if not name.startswith(known)}
    assert outside == {"pytest_stcompile/__init__.py"}

    python = python_of(tmp_path / "venv")
    run(*pip, "--python", python, "install", wheel, cwd=elsewhere, **offline)
    listed = (sys.executable, "-m", "pip", "--python", python, "list", "--format=freeze")
    installed = run(*listed, cwd=elsewhere)
    names = {line.split("==")[0] for line in installed.split()}
    assert names == {"stcompile", "numpy", "astor"}

    (elsewhere / "use.py").write_text(USE)
    printed = run(python, "use.py", ROOT, cwd=elsewhere)
    assert printed.split("\n")[:2] == ["version 0.1.0", "11.652 5.500 1.716"]


@pytest.mark.install
@pytest.mark.slow
def test_editable_installation_is_found_by_python_and_type_checkers(
    tmp_path: Path, source: Path, packages: Path
) -> None:
    """NumPy is that of this interpreter, by a path, which saves its installation."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    python = python_of(tmp_path / "venv")
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(packages)}
    pip = (sys.executable, "-m", "pip", "--quiet", "--python", python)
    run(*pip, "install", "--no-deps", "--editable", source, cwd=elsewhere, **offline)
    place = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=elsewhere
    )
    libraries = Path(importlib.util.find_spec("numpy").origin).parents[1]  # type: ignore[union-attr,arg-type]
    Path(place.strip(), "libraries.pth").write_text(f"{libraries}\n")

    (elsewhere / "wrong.py").write_text(WRONG)
    places = """
import stcompile, stcompile.codegen_templates, stcompile_programs
for module in (stcompile, stcompile.codegen_templates, stcompile_programs): print(module.__file__)
"""
    files = run(python, "-c", places, cwd=elsewhere).split()
    folders = ("stcompile", "codegen_templates", "examples/installed/stcompile_programs")
    assert files == [str(source / folder / "__init__.py") for folder in folders]
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        str(python),
        "wrong.py",
    ]
    checked = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
    assert "wrong.py:6: error: Too many" in checked.stdout, checked
    assert "wrong.py:7: error: " in checked.stdout and "2 errors" in checked.stdout, checked

    record = Path(place.strip()).glob("stcompile-*.dist-info/RECORD")
    assert "stcompile_sources.pth" in next(record).read_text()
    run(*pip, "uninstall", "--yes", "stcompile", cwd=elsewhere)
    assert not [*Path(place.strip()).glob("*stcompile*")]
