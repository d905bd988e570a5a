"""Kernels of equal code are compiled once: in a process, and for all processes of a user."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.base.private import SUFFIX
from stcompile.calls import kernels, waiting
from stcompile.calls.fingerprint import Untold

numba = pytest.importorskip("numba")

X = np.linspace(0.5, 1.5, 100)


def powers(x: Any) -> Any:
    total = 1.0
    for t in range(100):
        total = total * 0.5 + x[t]
    return total


def powers_too(x: Any) -> Any:
    # Other lines, and another name.
    total = 1.0
    for t in range(100):
        total = total * 0.5 + x[t]
    return total


def other_powers(x: Any) -> Any:
    total = 1.0
    for t in range(100):
        total = total * 0.25 + x[t]
    return total


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> collections.Counter[str]:
    """How often Numba compiles a kernel of a program."""
    found: collections.Counter[str] = collections.Counter()
    compiled = kernels._compiled

    def counted(title: str, *rest: Any) -> Any:
        found[title.split()[-1]] += 1
        return compiled(title, *rest)

    monkeypatch.setattr(kernels, "_compiled", counted)
    monkeypatch.setattr(kernels, "_SHARED", {})
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STCOMPILE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def assert_compiled(program: Any) -> None:
    """Compile a program as in a new process, and call it."""
    value = st.compile(program, level="compiled")(X)
    np.testing.assert_allclose(value, program(X), rtol=1e-14)


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"kernel-*{SUFFIX}"))


def test_timings(
    compilations: collections.Counter[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Numba takes is told; what is loaded takes nothing."""
    with st.timings() as spent:
        assert_compiled(powers)
    program, kernel = spent.compilations
    assert (program.name, kernel.name) == ("powers", "kernel_1 of powers")
    assert "Numba" not in program.stages
    assert kernel.stages["Numba"] > 0.01
    monkeypatch.setattr(kernels, "_SHARED", {})
    with st.timings() as spent:
        assert_compiled(powers)
    assert not any("Numba" in made.stages for made in spent.compilations)


def test_once_in_a_process(compilations: collections.Counter[str]) -> None:
    for program in (powers, powers_too, other_powers, powers):
        assert_compiled(program)
    assert compilations == {"powers": 1, "other_powers": 1}


def test_once_on_disk(
    folder: Path, compilations: collections.Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_compiled(powers)
    assert (sum(compilations.values()), len(entries(folder))) == (1, 1)
    monkeypatch.setattr(kernels, "_SHARED", {})  # another process
    assert_compiled(powers_too)
    assert sum(compilations.values()) == 1

    (file,) = entries(folder)
    for damage in (
        file.read_bytes()[:-1],
        b"",
        file.read_bytes().replace(b"\x00\x00", b"\x00\x01"),
    ):
        file.write_bytes(damage)
        monkeypatch.setattr(kernels, "_SHARED", {})
        before = sum(compilations.values())
        assert_compiled(powers)
        assert sum(compilations.values()) == before + 1 and entries(folder) == [file]


@pytest.mark.parametrize("module", ["numpy", "numba", "llvmlite"])
def test_other_versions(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = kernels._installed()
    monkeypatch.setattr(sys.modules[module], "__version__", "0.1")
    assert kernels._installed() != before


def test_other_processor_and_types() -> None:
    class Codegen:
        def __init__(self, *magic: str) -> None:
            self.magic_tuple = lambda: magic

    cache = kernels.KernelCache("kernel_1", "0")
    names = {
        cache._entry((numba.float64[::1],), Codegen("x86_64", "skylake")),
        cache._entry((numba.float64[::1],), Codegen("x86_64", "znver4")),
        cache._entry((numba.float32[::1],), Codegen("x86_64", "znver4")),
        cache._entry((numba.float64[:],), Codegen("x86_64", "znver4")),
        kernels.KernelCache("kernel_1", "1")._entry((), Codegen()),
    }
    assert len(names) == 5


def test_options_and_callees_tell_kernels_apart() -> None:
    def digest(inner: str, options: str = "") -> str:
        space: dict[str, Any] = {"njit": numba.njit, "np": np}
        exec(f"@njit\ndef f(x):\n    return np.sin(x) + {inner}", space)
        exec(f"@njit({options})\ndef g(x):\n    return f(x)", space)
        return kernels._digest(space["g"])

    digests = [digest("1"), digest("1.0"), digest("2"), digest("1", "fastmath=True")]
    assert len(set(digests)) == 4
    assert digest("1") == digests[0]
    with pytest.raises(Untold, match="f reads njit"):
        digest("njit")


STORY = """
import time
import numba
from numba.core.registry import cpu_target
import numpy as np
import stcompile as st
from stcompile.calls import kernels

cpu_target.target_context.refresh()  # what Numba loads when it is first used

def relax(u):
    u = u.copy()
    for i in range(1, 99):
        u[i] = 0.5 * u[i - 1] / float(u[i + 1])
    return np.sum(u * u)

if __name__ == "__main__":
    start = time.perf_counter()
    value, gradient = st.value_and_grad(relax, level="compiled")(np.ones(100))
    spent = time.perf_counter() - start
    at = np.ones(100)
    at[50] = 0.0
    try:
        st.value_and_grad(relax, level="compiled")(at)
    except ZeroDivisionError as error:
        print(repr(error))
    print(value, gradient.sum(), spent)
"""


@pytest.mark.slow
def test_second_process(tmp_path: Path) -> None:
    """It starts at once, and kernels that are loaded raise what those raise that are compiled."""
    file = tmp_path / "model.py"
    file.write_text(STORY)
    environment = {**os.environ, "STCOMPILE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, str(file)]

    def run() -> tuple[list[str], float]:
        told = subprocess.check_output(command, text=True, env=environment).split()
        return told[:-1], float(told[-1])

    first, compiling = run()
    second, loading = run()
    assert first == second
    assert loading < 0.3 * compiling


@pytest.mark.usefixtures("compilations")
def test_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setenv("STCOMPILE_CACHE", "0")
    assert_compiled(powers)
    assert not folder.exists()


# --- who waits -----------------------------------------------------------------------------------


def test_long_compilations_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    with waiting.shown_if_long("quick work"):
        pass
    assert capsys.readouterr().err == ""
    with waiting.shown_if_long("slow work"), waiting.shown_if_long("a part of it"):
        time.sleep(0.15)
    begun, done = capsys.readouterr().err.splitlines()
    assert begun == "stcompile: slow work …"
    assert done.startswith("stcompile: slow work: 0.") and done.endswith(" s")
    with pytest.raises(KeyError), waiting.shown_if_long("what fails"):
        raise KeyError
    assert capsys.readouterr().err == ""
