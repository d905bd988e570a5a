"""Files for any lengths, written by functions whose program has names for them."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st


def loss(params: Any, x: Any) -> Any:
    h = np.tanh(x @ params["w"] + params["b"])
    return np.mean(h[::2] ** 2) + np.sum(np.outer(h[:, 0], x[:, 1]).ravel()[::3]) / len(x)


def arguments(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    return {"w": rng.normal(size=(3, 2)), "b": rng.normal(size=2)}, rng.normal(size=(n, 3))


@pytest.mark.parametrize("level", ["readable", "fast"])
@pytest.mark.parametrize("dynamic", [None, True])
def test_an_exported_gradient_takes_any_length(tmp_path: Path, level: Any, dynamic: Any) -> None:
    gradient = st.value_and_grad(loss, level=level, dynamic=dynamic)
    if not dynamic:
        for n in (4, 5):
            gradient(*arguments(n))
    path = tmp_path / "loss_gradient.py"
    gradient.export(path, *arguments(6))
    subprocess.run([sys.executable, path], check=True, cwd=tmp_path)
    assert "Any lengths will do: n" in path.read_text()
    exported = runpy.run_path(str(path))["loss_value_and_grad"]
    for n in (7, 11, 2, 6, 30):
        value, found = exported(*arguments(n))
        expected, wanted = gradient(*arguments(n))
        assert value == pytest.approx(expected, rel=1e-12)
        for name in ("w", "b"):
            np.testing.assert_allclose(found[name], wanted[name], rtol=1e-10)


def test_an_exported_step_takes_any_length(tmp_path: Path) -> None:
    step = st.train_step(loss, st.optim.SGD(0.1), dynamic=True)
    path = tmp_path / "loss_step.py"
    step.export(path, *arguments(6))
    subprocess.run([sys.executable, path], check=True, cwd=tmp_path)
    exported = runpy.run_path(str(path))["loss_step"]
    for n in (5, 9):
        (ours, x), (theirs, _) = arguments(n), arguments(n)
        assert exported(ours, x) == pytest.approx(step(theirs, x), rel=1e-12)
        np.testing.assert_allclose(ours["w"], theirs["w"], rtol=1e-12)


def halves(w: Any, x: Any) -> Any:
    first, second = np.split(x, len(x) // 2)
    return np.sum(np.sin(w * first) * second)


@pytest.mark.parametrize("form", ["gradient.py", "step.py", "gradient.c"])
def test_lengths_without_the_names_that_were_asked_for_are_told(tmp_path: Path, form: str) -> None:
    path = tmp_path / form
    level: Any = "compiled" if path.suffix == ".c" else "fast"
    if path.stem == "step":
        function: Any = st.train_step(halves, st.optim.SGD(0.1), dynamic=True)
    else:
        function = st.value_and_grad(halves, dynamic=True, level=level)
    told = (
        r"`halves` is exported with numbers in place of lengths\.\nNo other length will do of x\."
    )
    with pytest.warns(st.StcompileWarning, match=told):
        function.export(path, np.ones(2), np.ones(4))
    if path.suffix == ".py":
        head = path.read_text().partition("import")[0]
        assert "No other length will do of x.shape[0], because\n    test_lengths.py" in head
        assert "np.split(x, len(x) // 2)" in head
        assert "Any lengths will do" in head  # of w


def test_a_file_of_numbers_is_for_these(tmp_path: Path) -> None:
    path = tmp_path / "loss_gradient.py"
    st.grad(loss).export(path, *arguments(6))
    assert "Any lengths" not in path.read_text()


def test_a_capsule_raises_the_error_of_its_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STCOMPILE_CAPSULES", str(tmp_path))

    def checked(x: Any) -> Any:
        y = np.tanh(x)
        assert np.sum(y) < 3, "too much"
        return np.sum(y * y)

    gradient = st.grad(checked, on_error="capsule", dynamic=True)
    gradient(np.ones(3))
    with pytest.raises(AssertionError, match="too much"):
        gradient(np.ones(6))
    (path,) = tmp_path.glob("*.py")
    ran = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert "AssertionError: too much" in ran.stderr
