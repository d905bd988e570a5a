"""Whether files of C are right.

Value and gradient of a program are exported for the arguments of its calls, of the first one only
if it is judged lightly; ``dynamic`` files have names for lengths. The file compiles without a
warning, runs under sanitizers, and passes its self-test, which compares with the numbers of the
readable level.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from stcompile.base.options import Options
from stcompile.transforms.gradient import Gradient
from tests.fuzz.generate import function_of
from tests.fuzz.helpers import HELPERS
from tests.fuzz.judge_arrays import Calls, alike, as_number
from tests.fuzz.structures import flat, is_finite, is_real
from tests.fuzz.verdicts import Mismatch, Verdict, general, verdict_of

COMPILER = shutil.which("gcc")
STRICT = "-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror"
SANITIZERS = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined"


def judge_source(
    source: str,
    calls: Calls,
    second_order: bool,
    light: bool,
    names: Mapping[str, Any] = HELPERS,
    dynamic: bool = False,
) -> Verdict:
    """The verdict on a program in text."""
    return judge_function(function_of(source, names), calls, light, dynamic)


def judge_function(
    function: Callable[..., Any], calls: Calls, light: bool, dynamic: bool = False
) -> Verdict:
    """The verdict on a function."""
    if COMPILER is None:
        return Verdict("not judged", "there is no gcc")
    wrt = tuple(at for at, arg in enumerate(calls[0]) if all(map(is_real, flat(arg))))
    gradient: Gradient[..., Any] = Gradient(
        lambda *args: as_number(function(*args)), wrt, True, Options("readable", dynamic=dynamic)
    )

    def examine() -> tuple[int, int]:
        for args in alike(calls)[: 1 if light else 2]:
            if is_finite(gradient(*deepcopy(args))):
                _check(gradient, args)
        return 0, 0

    return verdict_of(function, examine, as_number)


def _check(gradient: Gradient[..., Any], args: tuple[Any, ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "made.c", Path(folder) / "made"
        gradient.export(source, *args)
        text = source.read_text()
        files = ["-DSELF_TEST", str(source), "-o", str(program), "-lm"]
        built = _run([str(COMPILER), *STRICT.split(), *SANITIZERS.split(), *files])
        if built.returncode:
            first = re.search(r"(?:error|warning): (.*)", built.stderr)
            about = re.sub("‘[^’]*’", "…", general(first[1])) if first else "no program"
            raise Mismatch(f"C: {about}", f"{built.stderr}\n{text}")
        tested = _run([str(program)])
        if tested.returncode or tested.stderr:
            shown = f"{tested.stdout}{tested.stderr}\n{args}\n{text}"
            raise Mismatch("the self-test", shown)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)
