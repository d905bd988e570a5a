"""Compilers of loops side by side: ``python -m examples.benchmarks.loops.compilers [PROGRAM ...]``.

For value and gradient of each program at size S, by the fast level, by Numba and by a compiler of
C: the seconds of processors that the first call takes, with an empty cache in a process of its own
that has imported stcompile; the bytes that it adds to the cache; and the time of a processor that a
later call takes, the least of several blocks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import stcompile as st

from ..report import markdown_table
from . import PROGRAMS

WAYS: dict[str, dict[str, Any]] = {
    "fast": {"level": "fast"},
    "Numba": {"level": "compiled", "compiler": "numba"},
    "C": {"level": "compiled", "compiler": "c"},
}
BLOCKS, SECONDS = 7, 0.03


def spent() -> float:
    """The seconds of processors that this process and those that it started have taken."""
    taken = os.times()
    return taken.user + taken.system + taken.children_user + taken.children_system


def measured(name: str, way: str) -> dict[str, Any]:
    """The facts of a program, in a process that has not called anything."""
    program = PROGRAMS[name]
    arguments = program.arguments(program.sides("S"))
    values = tuple(arguments.values())
    wrt = tuple([*arguments].index(own) for own in program.wrt)
    make = st.jacobian if program.jacobian else st.value_and_grad
    derivative: Any = make(program.loss, wrt=wrt, **WAYS[way])
    start = spent()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        derivative(*values)
    first = spent() - start
    calls = 1
    blocks: list[float] = []
    while len(blocks) < BLOCKS:
        start = time.process_time()
        for _ in range(calls):
            derivative(*values)
        took = time.process_time() - start
        if took < SECONDS and not blocks:
            calls *= 2
        else:
            blocks.append(took / calls)
    is_whole = not any(issubclass(one.category, st.LevelWarning) for one in said)
    cache = sum(file.stat().st_size for file in Path(os.environ["STCOMPILE_CACHE"]).iterdir())
    return {"first": first, "later": min(blocks), "cache": cache, "whole": is_whole}


def apart(name: str, way: str) -> dict[str, Any]:
    """The facts of a program, from a process of its own with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"STCOMPILE_CACHE": folder, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", __spec__.name, "--one", name, way]
        found = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        facts: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
        return facts


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m examples.benchmarks.loops.compilers",
        description="Measure loops that the fast level, Numba and a compiler of C run.",
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="of the suite; else all")
    parser.add_argument("--one", action="store_true", help="one program one way, as JSON")
    chosen = parser.parse_args(arguments)
    if chosen.one:
        print(json.dumps(measured(*chosen.programs)))
        return
    unknown = [name for name in chosen.programs if name not in PROGRAMS]
    if unknown:
        parser.error(f"there is no program {unknown[0]}; there are {', '.join(PROGRAMS)}")
    rows: list[list[str]] = [
        ["", *(f"first, {w}, s" for w in WAYS), *(f"later, {w}, µs" for w in WAYS)]
    ]
    facts = []
    for name in chosen.programs or PROGRAMS:
        print(name, file=sys.stderr, flush=True)
        found = {way: apart(name, way) for way in WAYS}
        facts.append(found)
        own = name if found["C"]["whole"] else f"{name} *"
        first = [f"{found[way]['first']:.2f}" for way in WAYS]
        rows.append([own, *first, *(f"{1e6 * found[way]['later']:.0f}" for way in WAYS)])
    for key in ("first", "later", "cache"):
        means = (np.exp(np.mean([np.log(f[way][key]) for f in facts])) for way in WAYS)
        print(
            f"{key}, geometric means:", *(f"{w} {m:.4g}" for w, m in zip(WAYS, means, strict=True))
        )
    print("\n".join(markdown_table(rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
