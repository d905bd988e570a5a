"""``stcompile doctor``: the installed versions, the speed of the machine, and advice."""

from __future__ import annotations

import importlib
import importlib.metadata
import json as encoder
import os
import platform
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import stcompile
from stcompile.base.extras import MissingExtraError
from stcompile.base.threads import blas_threads, processors_of_process
from stcompile.calls.cache_folder import SWITCH
from stcompile_programs.measuring import measures

LIBRARIES = ("numpy", "scipy", "astor", "typer", "threadpoolctl", "hypothesis", "autograd", "jax")
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
FEATURES = ("AVX2", "FMA3", "AVX512F", "AVX512_SKX", "NEON", "ASIMD", "SVE")
SLOW_TANH = 12.0  # nanoseconds an element, without vector instructions
BUSY = 0.5  # a share of the processors


@dataclass(frozen=True)
class Finding:
    """A line of the report; ``advice`` is a sentence if something should be done."""

    name: str
    value: str
    advice: str = ""


Section = Callable[[], Iterator[Finding]]


def doctor(
    json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
) -> None:
    """Say what is slow here, and why.

    Prints versions, the BLAS and its threads, where caches are, and what this machine
    does in a second: products, tanh, copies, calls. Below it says in words what could
    be better. Measuring takes some seconds; close other programs first.

    Examples:
      stcompile doctor
      stcompile doctor --json
    """
    report: dict[str, list[Finding]] = {}
    for title, section in SECTIONS.items():
        report[title] = list(_told(section))
        if not json:
            width = max(len(finding.name) for finding in report[title])
            print(title)
            for finding in report[title]:
                print(f"  {finding.name:<{width}}  {finding.value}", flush=True)
            print()
    advice = [finding.advice for found in report.values() for finding in found if finding.advice]
    if json:
        shown: dict[str, Any] = {t: {f.name: f.value for f in r} for t, r in report.items()}
        print(encoder.dumps({**shown, "advice": advice}, indent=2, ensure_ascii=False))
        return
    print("What to do" if advice else "Nothing is amiss.")
    for number, sentence in enumerate(advice, 1):
        print(f"  {number}. {sentence}")


def _told(section: Section) -> Iterator[Finding]:
    """The findings of a section, up to the first that cannot be found out: the other sections
    follow all the same."""
    try:
        yield from section()
    except Exception as error:
        said = str(error).replace("\n", "; ")
        yield Finding("not told", f"{type(error).__name__}: {said}")


def versions() -> Iterator[Finding]:
    """The versions of Python, of stcompile, and of libraries that it uses or is compared with."""
    yield Finding("Python", f"{platform.python_version()} ({sys.executable})")
    yield Finding("stcompile", f"{stcompile.__version__} ({Path(stcompile.__file__).parent})")
    for name in LIBRARIES:
        try:
            found, advice = importlib.metadata.version(name), ""
        except importlib.metadata.PackageNotFoundError:
            found, advice = "not installed", _ADVICE.get(name, "")
        yield Finding(name, found, advice)


_ADVICE = {
    "scipy": "Install SciPy (pip install scipy): generated code then adds products to arrays in "
    "one call of its BLAS.",
    "threadpoolctl": "Install threadpoolctl (pip install threadpoolctl), so that the threads of "
    "BLAS can be seen here.",
}


def machine() -> Iterator[Finding]:
    """The processors, other load on them, and the features that NumPy found in them."""
    processors = processors_of_process()
    yield Finding("system", f"{platform.system()} {platform.machine()}")
    yield Finding("processor", _model())
    yield Finding("processors", str(processors))
    if hasattr(os, "getloadavg"):
        load = os.getloadavg()[0]
        busy = load > BUSY * processors
        yield Finding(
            "load",
            f"{load:.1f}",
            f"Others keep {load:.1f} of {processors} processors busy: what is measured here is "
            "lower than it could be. Run this again when they rest."
            if busy
            else "",
        )
    yield Finding("instructions", ", ".join(_features()) or "none that NumPy knows")


def blas() -> Iterator[Finding]:
    """The library that multiplies matrices, and its threads."""
    processors, threads = processors_of_process(), blas_threads()
    about = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    yield Finding("library", f"{about.get('name', 'unknown')} {about.get('version', '')}".strip())
    too_many = threads is not None and threads > processors
    yield Finding(
        "threads",
        "unknown" if threads is None else str(threads),
        f"BLAS has {threads} threads on {processors} processors, which wait for each other: set "
        f"{_variable()}={processors}."
        if too_many
        else "",
    )
    for name in THREADS:
        if name in os.environ:
            yield Finding(name, os.environ[name])


def caches() -> Iterator[Finding]:
    """The folders where files are kept between runs."""
    from stcompile.calls.cache import cache_state
    from stcompile_programs.train import sources

    state = cache_state()
    advice = ""
    if state.folder is None:
        advice = "Compiled functions are not kept, so that every process compiles them anew: unset "
        advice += f"{SWITCH}, or name a folder by it."
    elif state.trouble:
        advice = f"Compiled functions cannot be kept: {state.trouble}. Name another folder by "
        advice += f"{SWITCH}."
    yield Finding("compiled functions", str(state), advice)
    named = os.environ.get(sources.ENVIRONMENT)
    try:
        yield Finding("data sets", named or str(sources.cache_folder("mnist").parent))
    except MissingExtraError:
        yield Finding("data sets", "none: the extra train is not installed")


def c_compiler() -> Iterator[Finding]:
    """The compiler of C for loops: which it is, and whether it works."""
    from stcompile.calls.c_compiler import compiler
    from stcompile.native.bindings import CompilerError

    try:
        found = compiler()
        yield Finding("command", shlex.join(found.command))
        yield Finding("version", found.version or "it says none")
        found.check()
    except CompilerError as error:
        advice = f'Loops are not compiled as C (compiler="c"): {error}.'
        yield Finding("works", "no", advice if os.environ.get("CC") else "")
        return
    yield Finding("works", "yes")


def speed() -> Iterator[Finding]:
    """The speed of the operations that generated code consists of."""
    threads, processors = blas_threads() or 1, processors_of_process()
    rates = {}
    for dtype in ("float64", "float32"):
        for count in dict.fromkeys((1, threads)):
            rate = rates[dtype, count] = measures.products(measures.LARGE, dtype, count)
            name = f"products of {measures.LARGE} x {measures.LARGE}, {dtype}, "
            yield Finding(name + _threads(count), f"{rate:.1f} GFLOP/s")
    ratio = rates["float32", threads] / rates["float64", threads]
    yield Finding(
        "float32 against float64",
        f"{ratio:.1f} times as fast",
        f"Products of float32 are {ratio:.1f} times as fast as those of float64: use float32 where "
        "seven digits are enough."
        if ratio > 1.5
        else "",
    )
    if threads > 1:
        gain = rates["float64", threads] / rates["float64", 1]
        advice = f"{threads} threads make large products only {gain:.1f} times as fast as one: "
        advice += f"the processors are shared, or busy. Try {_variable()}=1."
        yield Finding("gain by threads", f"{gain:.1f} times as fast", advice if gain < 1.2 else "")
        yield from small_products(threads)
    elif processors > 1:
        yield Finding(
            "threads that rest",
            str(processors - 1),
            f"BLAS has one thread on {processors} processors: models with large products may be "
            f"faster with {_variable()}={processors}, or without the variable.",
        )
    for ufunc in (np.tanh, np.exp, np.sqrt):
        for dtype in ("float64", "float32"):
            time = measures.elements(ufunc, dtype)
            slow = ufunc is np.tanh and dtype == "float64" and time > SLOW_TANH
            yield Finding(
                f"{ufunc.__name__}, {dtype}",
                f"{time:.2f} ns an element",
                f"NumPy takes {time:.0f} ns for a tanh: it has no vector instructions for it here. "
                "A newer NumPy, or one from PyPI, may have."
                if slow
                else "",
            )
    rate = measures.bandwidth()
    yield Finding("copies in memory", f"{rate:.1f} GB/s")
    yield Finding(
        "one pass over 10 million float64 numbers",
        f"{160 / rate:.0f} ms",
    )


def small_products(threads: int) -> Iterator[Finding]:
    """The number of threads to set for programs of small products."""
    choice = measures.small_products()
    if choice is None:
        return
    shown = (
        " x ".join(map(str, measures.SMALL[:2])) + " by " + " x ".join(map(str, measures.SMALL[1:]))
    )
    advice = f"Set {_variable()}={choice.number} for models of small products, or let calls choose "
    advice += f'(threads="auto"): with {_threads(choice.number)} '
    advice += choice.told(f"a product of {shown}", "thread") + " on the average."
    yield Finding(
        f"threads that suit a product of {shown}",
        f"{choice.number} ({choice.told('it', 'thread')}, on the average)",
        advice if choice.number != threads else "",
    )


def calls() -> Iterator[Finding]:
    """The cost of a call beside its arithmetic."""
    one = measures.numpy_call()
    first, whole, alone = measures.compiled_call()
    yield Finding("a call of NumPy", f"{one:.0f} ns")
    yield Finding("compiling a small gradient", f"{first:.0f} ms")
    yield Finding("calling it", f"{whole:.1f} µs, of which {whole - alone:.1f} µs are checks")
    if 1e3 * (whole - alone) > 6 * one:
        yield Finding(
            "checks",
            "slow",
            "Calls are checked slowly here; in a loop of small calls use "
            "`loss.compile(*arguments)`, which checks nothing.",
        )


SECTIONS: dict[str, Section] = {
    "Versions": versions,
    "Machine": machine,
    "BLAS": blas,
    "Caches": caches,
    "Compiler of C": c_compiler,
    "Speed": speed,
    "Calls": calls,
}


def _threads(count: int) -> str:
    return "one thread" if count == 1 else f"{count} threads"


def _variable() -> str:
    """The variable that says how many threads this BLAS has."""
    about = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    name = str(about.get("name", ""))
    if "mkl" in name:
        return "MKL_NUM_THREADS"
    return "VECLIB_MAXIMUM_THREADS" if "accelerate" in name else "OPENBLAS_NUM_THREADS"


def _model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor() or "unknown"


def _features() -> list[str]:
    """The vector instructions of the processor that NumPy uses."""
    try:
        module = importlib.import_module("numpy._core._multiarray_umath")
    except ImportError:
        return []
    found = getattr(module, "__cpu_features__", {})
    return [name for name in FEATURES if found.get(name)]
