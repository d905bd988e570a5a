"""Judge derivatives of functions that others wrote, as they are installed.

`python -m tests.science.installed.judge [PACKAGE ...] [--every N] [--only WORD] [--json FILE]`
prints what is not right, and counts by package and kind."""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import os
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import stcompile as st
from stcompile.base.errors import InternalError, StcompileError

PACKAGES = ("scipy", "lmfit", "sklearn", "statsmodels")
LIMIT = 20
VERDICTS = ("right", "refused", "wrong", "NaN", "crashed", "slow", "no reference")


class Call(NamedTuple):
    """A call, and the position of the argument that it is differentiated by."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    wrt: int = 0
    keywords: Mapping[str, Any] = MappingProxyType({})


class Case(NamedTuple):
    """A function's name and what makes a call of it."""

    name: str
    make: Callable[[], Call]


class Verdict(NamedTuple):
    """The kind of a result, and the first line of the message."""

    kind: str
    message: str = ""
    seconds: float = 0.0


class Disagreement(Exception):
    """A value or a derivative that is not the one of the reference."""


def number(result: Any, weights: Any) -> Any:
    """The weighted sum of a result that is an array, or of the first one of several."""
    if isinstance(result, tuple):
        result = result[0]
    return np.sum(np.asarray(result) * weights)


def differences(function: Callable[[Any], float], x: Any, places: list[Any], h: float) -> Any:
    """Central differences of fourth order at some places of an array."""
    found = []
    for place in places:
        step = h * max(1.0, abs(x[place]))
        values = []
        for times in (-2, -1, 1, 2):
            moved = x.copy()
            moved[place] += times * step
            values.append(function(moved if moved.ndim else float(moved)))
        a, b, c, d = values
        found.append((a - 8 * b + 8 * c - d) / (12 * step))
    return np.array(found)


def close(found: Any, expected: Any, what: str, tolerance: float) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        raise Disagreement(f"{what}: shape {found.shape}, expected {expected.shape}")
    scale = max(float(np.max(np.abs(expected), initial=0.0)), 1e-3)
    if not np.all(np.abs(found - expected) <= tolerance * scale):
        raise Disagreement(f"{what}: {found.ravel()[:4]}, expected {expected.ravel()[:4]}")


class NoReference(Exception):
    """Plain Python raises, or gives what is not finite."""


def judge(call: Call) -> None:
    """Compare value, reverse mode, forward mode and differences; raise what is found."""
    function, arguments, wrt, keywords = call
    moving = arguments[wrt]
    try:
        plain = function(*arguments, **keywords)
        first = np.asarray(plain[0] if isinstance(plain, tuple) else plain)
        assert first.dtype.kind == "f", first.dtype
        assert np.all(np.isfinite(first))
    except Exception as error:
        raise NoReference(f"{type(error).__name__}: {error}") from error
    single = not isinstance(plain, tuple) and first.ndim == 0
    weights = 1.0 if single else 0.5 + np.random.default_rng(1).random(first.shape)

    def weighted(*taken: Any) -> Any:
        return number(function(*taken, **keywords), weights)

    def reference(x: Any) -> float:
        return float(weighted(*arguments[:wrt], x, *arguments[wrt + 1 :]))

    x = np.asarray(moving, float)
    places = list(np.ndindex(x.shape))
    if len(places) > 12:
        chosen = np.random.default_rng(2).permutation(len(places))[:12]
        places = [places[i] for i in chosen]
    try:
        expected = differences(reference, x, places, 2e-4)
    except Exception as error:
        raise NoReference(f"{type(error).__name__}: {error}") from error
    if not np.all(np.isfinite(expected)):
        raise NoReference("differences are not finite")
    differentiated = function if single else weighted
    given = keywords if single else {}
    value, gradient = st.value_and_grad(differentiated, wrt=wrt)(*arguments, **given)
    if not np.all(np.isfinite(gradient)) or not np.all(np.isfinite(value)):
        raise FloatingPointError(f"value {value}, gradient {np.ravel(gradient)[:4]}")
    close(value, reference(moving), "value", 1e-10)
    gradient = np.asarray(gradient)
    chosen = np.array([gradient[place] for place in places])
    try:
        close(chosen, expected, "gradient", 1e-5)
    except Disagreement:  # a kink may be near
        close(chosen, differences(reference, x, places, 2e-6), "gradient", 1e-5)
    direction = np.random.default_rng(3).normal(size=x.shape)
    _, tangent = st.jvp(
        lambda x: weighted(*arguments[:wrt], x, *arguments[wrt + 1 :]),
        (moving,),
        (direction if x.ndim else float(direction),),
    )
    close(tangent, np.sum(gradient * direction), "forward mode", 1e-9)


def verdict(case: Case) -> Verdict:
    """The verdict on a case, in this process."""
    begin = time.process_time()

    def spent() -> float:
        return round(time.process_time() - begin, 2)

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                call = case.make()
            except Exception as error:
                raise NoReference(f"cannot be made: {type(error).__name__}: {error}") from error
            judge(call)
    except NoReference as error:
        return Verdict("no reference", str(error).splitlines()[0], spent())
    except Disagreement as error:
        return Verdict("wrong", str(error).replace("\n", " "), spent())
    except FloatingPointError as error:
        return Verdict("NaN", str(error).replace("\n", " "), spent())
    except InternalError as error:
        return Verdict("crashed", str(error), spent())
    except StcompileError as error:
        return Verdict("refused", str(error), spent())
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return Verdict(
            "crashed", f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})", spent()
        )
    return Verdict("right", "", spent())


def apart(case: Case) -> Verdict:
    """The verdict of a process of its own, which is ended when the time is over."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        resource.setrlimit(resource.RLIMIT_CPU, (3 * LIMIT, 3 * LIMIT))
        found = verdict(case)
        with os.fdopen(writing, "w") as pipe:
            json.dump(found, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if not text:
        return Verdict("slow", f"ended after {3 * LIMIT} s")
    found = Verdict(*json.loads(text))
    if found.kind == "right" and found.seconds > LIMIT:
        return found._replace(kind="slow")
    return found


def cases(package: str) -> Iterator[Case]:
    """The cases of a package, if it is installed."""
    try:
        importlib.import_module(package)
    except ImportError:
        return
    yield from importlib.import_module(f"{__package__}.of_{package}").cases()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="judge each so many-th case")
    parser.add_argument("--json", default="")
    chosen = parser.parse_args()
    found: dict[str, dict[str, Verdict]] = {}
    for package in chosen.packages:
        found[package] = {}
        for index, case in enumerate(cases(package)):
            if chosen.only in case.name and not index % chosen.every:
                found[package][case.name] = result = apart(case)
                if result.kind != "right":
                    print(
                        f"{package} {case.name}: {result.kind} ({result.seconds} s)\n    "
                        + result.message.replace("\n", "\n    "),
                        flush=True,
                    )
    for package, results in found.items():
        counts = collections.Counter(result.kind for result in results.values())
        print(
            package,
            len(results),
            *(f"{kind} {counts[kind]}" for kind in VERDICTS if counts[kind]),
            sep=", ",
        )
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
