"""Files of C on other machines: an Arm core without an operating system, Fortran, WebAssembly."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import stcompile as st
from tests.native.test_c import PROGRAMS

SHOWN = ("network", "filter")
CORE = "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft"
NODE = """
import { WASI } from "node:wasi";
import { readFile } from "node:fs/promises";
const wasi = new WASI({ version: "preview1", args: [], returnOnExit: true });
const module = await WebAssembly.compile(await readFile(process.argv[2]));
process.exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
"""
FORTRAN = """
program main
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function fit_value_and_grad(w, x, y, value, d_w, work) bind(c)
      import
      real(c_double), intent(in) :: w(3), x(3, 4), y(4)
      real(c_double), intent(out) :: value, d_w(3)
      real(c_double), intent(inout) :: work(*)
    end function
  end interface
  real(c_double) :: w(3) = [0.1d0, 0.2d0, 0.3d0], x(3, 4), y(4) = [1, 2, 3, 4], value, d_w(3)
  real(c_double) :: work(512)
  integer :: i
  x = reshape([(0.1d0 * i, i = 1, 12)], [3, 4])
  if (fit_value_and_grad(w, x, y, value, d_w, work) /= 0) stop 1
  print "(4es24.16)", value, d_w
end program
"""


def needs(*tools: str) -> pytest.MarkDecorator:
    """A mark for a test that is skipped where a program is missing."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def run(command: str, folder: Path) -> str:
    """What a command writes; it must succeed."""
    found = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def exported(name: str, folder: Path) -> None:
    function, args = PROGRAMS[name]
    function.export(folder / "made.c", *args)


@needs("arm-none-eabi-gcc", "arm-none-eabi-size", "qemu-arm")
@pytest.mark.parametrize("name", SHOWN)
def test_a_core_without_an_operating_system(name: str, tmp_path: Path) -> None:
    exported(name, tmp_path)
    strict = "-std=c99 -Os -Wall -Wextra -Werror"
    run(f"arm-none-eabi-gcc {strict} {CORE} -c made.c -o made.o", tmp_path)
    text, data, bss = run("arm-none-eabi-size made.o", tmp_path).splitlines()[1].split()[:3]
    assert int(text) < 16_384
    assert data == bss == "0"  # no state
    run(f"arm-none-eabi-gcc {strict} --specs=rdimon.specs -DSELF_TEST made.c -o made -lm", tmp_path)
    assert "largest error" in run("qemu-arm made", tmp_path)


@needs("gcc", "gfortran")
def test_a_program_in_fortran(tmp_path: Path) -> None:
    @st.differentiable(wrt="w")
    def fit(w, x, y):
        return np.mean((np.tanh(x @ w) - y) ** 2)

    x = 0.1 * np.arange(1.0, 13.0).reshape(4, 3)  # Fortran's x(3, 4)
    args = np.array([0.1, 0.2, 0.3]), x, np.arange(1.0, 5.0)
    fit.export(tmp_path / "fit.c", *args)
    (tmp_path / "main.f90").write_text(FORTRAN)
    run("gcc -std=c99 -O2 -c fit.c -o fit.o", tmp_path)
    run("gfortran -O2 main.f90 fit.o -o main -lm", tmp_path)
    found = [float(number) for number in run("./main", tmp_path).split()]
    value, gradient = fit.value_and_grad(*args)
    np.testing.assert_allclose(found, [value, *gradient], rtol=1e-14)


@needs("node")
@pytest.mark.skipif(find_spec("ziglang") is None, reason="not installed: ziglang")
@pytest.mark.parametrize("name", SHOWN)
def test_webassembly(name: str, tmp_path: Path) -> None:
    exported(name, tmp_path)
    compiler = f"{sys.executable} -m ziglang cc -target wasm32-wasi -std=c99 -Os -DSELF_TEST"
    run(f"{compiler} made.c -o made.wasm -lm", tmp_path)
    (tmp_path / "run.mjs").write_text(NODE)
    assert "largest error" in run("node --no-warnings run.mjs made.wasm", tmp_path)
