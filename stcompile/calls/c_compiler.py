"""The compiler of C on this system: which it is, and its libraries, in the cache.

A library is kept under a digest of its text, of the compiler and of its flags, in the user's
private folder (`stcompile.base.private`): bytes that the folder does not vouch for are not loaded.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from stcompile.base.private import PrivateFolder
from stcompile.calls.cache_files import guarded, read_entry, write_entry
from stcompile.calls.cache_folder import cache_folder
from stcompile.calls.fingerprint import digest_of
from stcompile.calls.threads import patiently
from stcompile.calls.waiting import shown_if_long
from stcompile.native.bindings import CompilerError

CC = "CC"
ZIG = "ziglang"
NAMES = ("cc", "gcc", "clang")
FLAGS = (
    *("-std=gnu11", "-shared", "-fPIC", "-w", "-fopenmp-simd", "-DREORDER_SUMS"),
    # -O3 would take several times as long, for copies of loops that are not quicker.
    # Numbers of a step as vectors (SLP) wait for each other in recurrences.
    *("-O2", "-ftree-vectorize", "-fno-tree-slp-vectorize"),
    # Arithmetic is IEEE's, and integers have 64 bits, as for NumPy. Nothing reads errno or traps.
    *("-ffp-contract=off", "-fwrapv", "-fno-math-errno", "-fno-trapping-math"),
)
# Clang makes vectors at -O2 by itself, and asks before a loop which arrays overlap, however many.
OF_GCC = ("-fvect-cost-model=dynamic", "--param=vect-max-version-for-alias-checks=100")
# GCC fuses a difference and a sum of products, as a complex product has them, whatever it is told.
UNFUSED = ("-mno-fma", "-mno-avx512f")
OPENMP = "-fopenmp"
TWICE = """\
void twice(double *x)
{
    #pragma omp parallel for
    for (int i = 0; i < 100; i++)
        x[i] *= 2;
}
"""
FAST = (
    *("-fassociative-math", "-freciprocal-math", "-fno-signed-zeros", "-ffinite-math-only"),
    "-ffp-contract=fast",
)


@dataclass(frozen=True)
class CCompiler:
    """A compiler: its command, and a key of the program behind it."""

    command: tuple[str, ...]
    key: tuple[object, ...]

    def library(self, text: str, fastmath: bool = False, in_threads: bool = False) -> ctypes.CDLL:
        """The library of a text, from the cache if it is there; with threads if there are any."""
        flags = (*_flags(), *(FAST if fastmath else ()))
        flags += (OPENMP,) if in_threads and has_openmp(self) else ()
        own = (*OF_GCC, *UNFUSED)
        name = f"c-{digest_of((text, self.command, self.key, flags, own, _processor()))}"
        return _loaded(self, name, text, flags)

    @property
    def shown(self) -> str:
        """The command as text."""
        return shlex.join(self.command)

    @property
    def version(self) -> str:
        """The first line that it says about itself; "" if it says nothing."""
        said = self._run("--version").stdout.decode(errors="replace").strip()
        return said.partition("\n")[0]

    def check(self) -> None:
        """Compile a function; `CompilerError` if that fails."""
        self.compiled("int one(void) { return 1; }\n", _flags())

    def own_flags(self, fastmath: bool) -> tuple[str, ...]:
        """The flags that GCC alone needs, for GCC."""
        if b"Free Software Foundation" not in self._run("--version").stdout:
            return ()
        has_fused = platform.machine().lower() in ("x86_64", "amd64") and not fastmath
        return (*OF_GCC, *(UNFUSED if has_fused else ()))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run([*self.command, *arguments], capture_output=True, check=False)
        except OSError as error:
            raise CompilerError(f"{self.shown} does not start: {error}") from None

    def compiled(self, text: str, flags: tuple[str, ...]) -> bytes:
        """The bytes of the library of a text."""
        with tempfile.TemporaryDirectory(prefix="stcompile-") as folder:
            source, target = Path(folder, "kernels.c"), Path(folder, "kernels.so")
            source.write_text(text, encoding="utf-8")
            own = self.own_flags(FAST[0] in flags)
            more = (*flags, *own, str(source), "-o", str(target), "-lm")
            made = self._run(*more)
            if made.returncode or not target.exists():
                said = made.stderr.decode(errors="replace").strip().splitlines()
                nothing = f"it ends with {made.returncode}, and names no error: is it a compiler?"
                reason = next((line for line in said if "error" in line), nothing)
                raise CompilerError(f"{self.shown} compiles no C: {reason}")
            return target.read_bytes()


@functools.cache
def has_openmp(found: CCompiler) -> bool:
    """True if a compiler, and the system, have OpenMP, whose library is loaded."""
    try:
        with patiently():
            _loaded(
                found, f"c-{digest_of((TWICE, found, _processor()))}", TWICE, (*_flags(), OPENMP)
            )
    except CompilerError:
        return False
    return True


def compiler() -> CCompiler:
    """The compiler that ``CC`` names in the environment, or else the system's, or else that of the
    package ziglang; `CompilerError` if there is none."""
    if sys.platform == "win32" or sys.implementation.name != "cpython":
        raise CompilerError("kernels are compiled as C for CPython, and not on Windows")
    named = os.environ.get(CC, "").strip()
    for words in [_words(named)] if named else [[name] for name in NAMES]:
        path = shutil.which(words[0])
        if path is not None:
            return CCompiler((path, *words[1:]), _state(path))
    if named:
        raise CompilerError(f"{CC} names {named}, which is not there")
    spec = find_spec(ZIG)
    if spec is None or spec.origin is None:
        raise CompilerError(
            f"there is no compiler of C: none of {', '.join(NAMES)} is installed; "
            'python -m pip install "stcompile[c]" brings one'
        )
    return CCompiler((sys.executable, "-m", ZIG, "cc"), _state(spec.origin))


def _words(named: str) -> list[str]:
    """The words of a command; a path may have spaces."""
    return [named] if shutil.which(named) else shlex.split(named)


_SAID: set[str] = set()  # troubles that this process was told of


def is_new(trouble: str) -> bool:
    """True for a trouble that was not said before, and is to be said now."""
    known = trouble in _SAID
    _SAID.add(trouble)
    return not known


def compiler_key() -> tuple[object, ...]:
    """A key of the compiler; () if there is none."""
    try:
        found = compiler()
    except CompilerError:
        return ()
    return found.command, found.key


def _state(path: str) -> tuple[object, ...]:
    """A key of a program: asking it for its version would take longer."""
    real = os.path.realpath(path)
    state = os.stat(real)
    return real, state.st_size, state.st_mtime_ns


def _flags() -> tuple[str, ...]:
    native = ("-march=native",) if _processor() else ()
    python = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
    return (*FLAGS, *native, *python)


@functools.cache
def _processor() -> str:
    """The processor and what it can do; "" if that is not known."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.read(16384).split("\n\n")[0].splitlines()
    except OSError:
        return ""
    told = ("model", "cpu family", "flags", "Features", "CPU")
    return platform.machine() + "".join(line for line in lines if line.startswith(told))


# --- libraries -----------------------------------------------------------------------------------

_LIBRARIES: dict[str, ctypes.CDLL] = {}  # those that this process has loaded, by their names


def _loaded(by: CCompiler, name: str, text: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    found = _LIBRARIES.get(name)
    if found is not None:
        return found
    where = cache_folder()
    folder = None if where is None else PrivateFolder(where)
    content = None
    if folder is not None:
        told = "the kernels are compiled"
        content = guarded(lambda: read_entry(folder, name, told), told, folder)
    if content is None:
        with shown_if_long("compiling C"):
            content = by.compiled(text, flags)
        if folder is not None:
            made = content
            guarded(lambda: write_entry(folder, name, made), "C is not cached", folder)
    elif folder is not None:
        guarded(lambda: folder.touch(name), "C is not touched", folder)
    return _LIBRARIES.setdefault(name, _opened(content))


def _opened(content: bytes) -> ctypes.CDLL:
    """Load a library. Its file is a new one of this process alone, which is removed at once."""
    with tempfile.TemporaryDirectory(prefix="stcompile-") as folder:
        file = Path(folder, "kernels.so")
        file.write_bytes(content)
        try:
            return ctypes.CDLL(str(file))
        except OSError as error:
            raise CompilerError(f"what the compiler made is not loaded: {error}") from None
