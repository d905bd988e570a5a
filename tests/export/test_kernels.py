"""Exported files of the compiled level: kernels that Numba compiles, or that are plain Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st

X = np.linspace(0.5, 1.5, 40)
RUN = """
import runpy, sys
{before}
file = runpy.run_path({path!r}, run_name="file")
value, gradient = file["relax_value_and_grad"](file["np"].linspace(0.5, 1.5, 40))
print(value.hex(), gradient.tobytes().hex(), type(file["kernel_1"]).__name__)
runpy.run_path({path!r}, run_name="__main__")
"""


def relax(u: Any) -> Any:
    u = u.copy()
    for _ in range(3):
        for i in range(1, 39):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) + 1.0 / float(u[i])
    return np.sum(u * u)


def run(path: Path, before: str) -> list[str]:
    command = [sys.executable, "-c", RUN.format(before=before, path=str(path))]
    return subprocess.check_output(command, text=True).split()


@pytest.mark.slow
def test_with_numba_and_without(tmp_path: Path) -> None:
    path = tmp_path / "exported.py"
    compiled = st.value_and_grad(relax, level="compiled")
    compiled.export(path, X)
    value, gradient = compiled(X)  # as plain Python
    for before, kind in (("", "CPUDispatcher"), ("sys.modules['numba'] = None", "function")):
        found, d_found, shown, *tested = run(path, before)
        assert shown == kind
        np.testing.assert_allclose(float.fromhex(found), value, rtol=1e-13)
        d_u = np.frombuffer(bytes.fromhex(d_found))
        np.testing.assert_allclose(d_u, gradient, rtol=1e-12)
        assert tested[:3] == ["ok:", "largest", "error"]


def test_says_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "exported.py"
    st.grad(relax, level="compiled").export(path, X)
    head = " ".join(path.read_text().split('"""')[1].split())
    assert "where it is missing they are plain Python" in head
    st.grad(relax, level="fast").export(path, X)
    assert "Numba" not in path.read_text()
