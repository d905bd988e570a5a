"""What is exported, and capsules, run in an environment with NumPy alone."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st

X, Y = np.linspace(-1.0, 1.0, 12).reshape(4, 3), np.array([0, 1, 1, 0])


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment, into which this one's NumPy is linked."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False, symlinks=os.name != "nt")
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    place = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run(python, "-c", place).stdout.strip())
    numpy = Path(np.__file__).parent
    for folder in (numpy, numpy.with_name("numpy.libs")):
        if folder.is_dir():
            (packages / folder.name).symlink_to(folder, target_is_directory=True)
    for name in ("stcompile", "astor", "scipy"):
        assert f"No module named '{name}'" in run(python, "-c", f"import {name}").stderr
    return python


def run(python: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [python, "-I", "-W", "error", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)


def network(params: Any, x: Any, y: Any) -> Any:
    h = np.zeros((x.shape[0], 2))
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t : t + 1] @ params["w"] + h @ params["u"])
    return st.nn.softmax_cross_entropy(h, y)


def parameters() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"w": rng.normal(size=(1, 2)), "u": rng.normal(size=(2, 2))}


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_gradients_and_training_steps(level: Any, python: Path, tmp_path: Path) -> None:
    loss = st.differentiable(level=level)(network)
    loss.export(tmp_path / "gradient.py", parameters(), X, Y)
    step = st.train_step(network, st.optim.Adam(0.1), wrt="params", level=level)
    step.export(tmp_path / "step.py", parameters(), X, Y)
    for name in ("gradient.py", "step.py"):
        path = tmp_path / name
        ran = run(python, path)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.startswith("ok: largest error")

    wrong = tmp_path / "wrong.py"
    text = (tmp_path / "gradient.py").read_text(encoding="utf-8")
    assert "np.tanh(" in text
    wrong.write_text(text.replace("np.tanh(", "np.sin("), encoding="utf-8")
    assert run(python, wrong).returncode != 0, "the file's own test can fail"


def test_a_capsule(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STCOMPILE_CAPSULES", str(tmp_path))

    def energy(a: Any, b: Any) -> Any:
        return np.sum(np.linalg.solve(a, b) ** 2)

    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        st.grad(energy, on_error="capsule")(np.zeros((2, 2)), np.ones(2))
    (capsule,) = tmp_path.glob("*.py")
    ran = run(python, capsule)
    assert ran.returncode == 1
    assert ran.stderr.strip().splitlines()[-1].endswith("LinAlgError: Singular matrix")
