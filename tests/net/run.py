"""A net under refactorings: ``python -m tests.net.run before.json``, then, after a change,
``python -m tests.net.run after.json --against before.json``.

The file has, for each program and level, a digest of the Wengert list after every stage that
changed it, and of the code. Nothing is run. The comparison names each program that differs, and the
first stage in which it does. With ``--only NAME --texts FOLDER`` the texts of a program are written
as well, a file for each stage, to be compared with those that another version writes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from stcompile.base.options import LEVELS, Options
from tests.net.cases import case_of, names_of
from tests.net.record import Trail, differences, texts, trails

SETTINGS = {
    "NUMBA_DISABLE_JIT": "1",
    "PYTHONHASHSEED": "0",  # some random programs are drawn from sets
    "STCOMPILE_CACHE": "0",
    "STCOMPILE_NUMBA_LIMIT": "inf",  # else long kernels would not be made
}


def recorded(name: str, verify: bool) -> tuple[str, dict[str, Trail]]:
    return name, trails(partial(case_of, name), verify)


def record(names: Sequence[str], jobs: int, verify: bool) -> dict[str, dict[str, Trail]]:
    """The stages of all programs."""
    work = partial(recorded, verify=verify)
    if jobs == 1:
        return dict(map(work, names))
    with multiprocessing.Pool(jobs, maxtasksperchild=200) as pool:
        return dict(pool.imap(work, names, chunksize=4))


def write_texts(name: str, folder: Path) -> None:
    """Write the texts of a program, a file for each level and stage."""
    folder.mkdir(parents=True, exist_ok=True)
    for level in LEVELS:
        for at, (stage, text) in enumerate(texts(partial(case_of, name), Options(level))):
            path = folder / f"{level} {at:02} {stage}.txt"
            path.write_text(text + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.net.run", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="where the digests are written")
    parser.add_argument("--against", type=Path, help="a file to compare with")
    parser.add_argument("--programs", type=int, default=70, help="random programs (%(default)s)")
    parser.add_argument(
        "--every", type=int, default=8, metavar="N", help="every Nth example of tests (%(default)s)"
    )
    parser.add_argument("--only", default="", help="programs whose names begin so")
    parser.add_argument("--texts", type=Path, help="a folder for the texts of these programs")
    parser.add_argument("--jobs", type=int, default=1, help="processes (%(default)s)")
    parser.add_argument("--verify", action="store_true", help="verify the list after every stage")
    options = parser.parse_args(arguments)
    names = [n for n in names_of(options.programs, options.every) if n.startswith(options.only)]
    if options.texts is not None:
        for name in names:
            write_texts(name, options.texts / name)
    if options.file is None:
        return 0
    start = time.perf_counter()
    found = record(names, options.jobs, options.verify)
    options.file.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    failed = sum(trail[-1][0] == "error" for levels in found.values() for trail in levels.values())
    seconds = time.perf_counter() - start
    print(f"{len(found)} programs in {seconds:.0f} s; {failed} of {3 * len(found)} have an error")
    if options.against is None:
        return 0
    before = json.loads(options.against.read_text(encoding="utf-8"))
    before = {name: levels for name, levels in before.items() if name.startswith(options.only)}
    lines = differences(before, found)
    print("\n".join([*lines, f"{len(lines)} differences"]))
    return 1 if lines else 0


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in SETTINGS.items()):
        again = [sys.executable, "-m", "tests.net.run", *sys.argv[1:]]
        os.execve(sys.executable, again, os.environ | SETTINGS)
    sys.exit(main())
