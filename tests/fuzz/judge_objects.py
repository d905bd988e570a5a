"""Whether a program of `tests.fuzz.objects` does what plain Python does, change by change."""

from __future__ import annotations

import linecache
import warnings
from collections import Counter
from typing import Any

import numpy as np

import stcompile as st
from stcompile.base.classes import MISSING, own_attributes, set_own
from stcompile.base.options import Options
from tests.fuzz.identity import Tangents
from tests.fuzz.objects import ERRORS, Program, argument, executed, namespace
from tests.fuzz.verdicts import Mismatch
from tests.programs import bits

X, S = np.array([0.83, -0.41]), 0.57


class State:
    """What the objects of a program hold: kept before a call, and put back before the next one."""

    def __init__(self, names: dict[str, Any], arg: Any) -> None:
        net = names["net"]
        self.owners = [
            names["held"],
            arg,
            net,
            *(o for o in names["pool"] if not isinstance(o, list | tuple)),
        ]
        self.held = [_own(owner) for owner in self.owners]
        lists = [value for held in self.held for value in held.values()]
        lists += net.lists.values() if isinstance(getattr(net, "lists", 0), dict) else []
        self.contents = [(v, v.copy()) for v in lists if isinstance(v, list | dict | np.ndarray)]

    def put_back(self) -> None:
        for owner, held in zip(self.owners, self.held, strict=True):
            for name in {*_own(owner), *held}:
                set_own(owner, name, held.get(name, MISSING))
        for container, contents in self.contents:
            if isinstance(container, dict):
                container.clear()
                container.update(contents)
            else:
                container[:] = contents

    @property
    def shown(self) -> list[Any]:
        """The state, to be compared."""
        held = [sorted(h.items()) for h in self.held]
        return [_plain(part) for part in (held, [c for _, c in self.contents])]


def _own(owner: Any) -> dict[str, Any]:
    return {name: value for name, value in own_attributes(owner) if name != "__dict__"}


def _plain(value: Any) -> Any:
    """A value by its contents; an object by its identity."""
    if isinstance(value, np.ndarray):
        return [_plain(float(item)) for item in value.ravel()]
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.9g}")
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    if isinstance(value, dict):
        return [(key, _plain(part)) for key, part in value.items()]
    return value if isinstance(value, int | str | None) else _shape(value)


def _shape(value: Any) -> Any:
    """An object that a call may have made, by its class and what it holds."""
    kinds = (int, float, str)
    held = sorted((n, _plain(v)) for n, v in own_attributes(value) if isinstance(v, kinds))
    return type(value).__name__, held


class Wrong(AssertionError):
    """What is wrong with a program."""


def plainly(function: Any, *args: Any) -> Any:
    """What plain Python gives, or the error that it raises."""
    try:
        return function(*args)
    except ERRORS as error:
        return error


def compiled(function: Any, *args: Any) -> Any:
    """What the compiled function gives, or its refusal, which points into the program."""
    try:
        return function(*args)
    except st.StcompileError as error:
        if error.location is None:
            raise Wrong(f"a refusal without a line: {error}") from error
        return error
    except ERRORS as error:
        return error


def slope(function: Any, arg: Any, h: float = 1e-6) -> Any:
    """Differences by the first argument and the second."""

    def moved(at: int, h: float) -> float:
        x = X.copy()
        x[at % 2] += h if at < 2 else 0.0
        return float(function(x, S + (h if at == 2 else 0.0), arg))

    return np.array([(moved(k, h) - moved(k, -h)) / (2 * h) for k in range(3)])


def judged(made: Program, light: bool = False) -> Counter[str]:
    """How the calls went, one after each change; lightly, those before and after the first change
    at the fast level only. Raises `Wrong`."""
    names = namespace(made.source)
    arg, function = argument(names), names["program"]
    names["arg"] = arg

    def number(x: Any, s: Any, arg: Any) -> Any:
        return function(x, s, arg) * 1.0

    levels = {"fast": st.compile(function)}
    if not light:
        levels["readable"] = st.compile(function, level="readable")
    gradient = st.grad(number, wrt=(0, 1))
    tangents = Tangents(number, (0, 1), 3, Options())
    counts: Counter[str] = Counter()
    for at, change in enumerate(("", *made.changes)[: 2 if light else None]):
        text = f"{made.source}\nafter {made.changes[:at]}"
        try:
            executed(change, names)
        except ERRORS:
            continue
        before = State(names, arg)
        expected = plainly(function, X, S, arg)
        after = State(names, arg).shown
        before.put_back()
        for name, one in levels.items():
            for _ in range(3):
                result = compiled(one, X, S, arg)
                check(name, result, expected, text, counts)
                found = State(names, arg).shown
                wanted = before.shown if isinstance(result, st.StcompileError) else after
                if found != wanted and not isinstance(expected, Exception):
                    raise Wrong(f"{name} leaves\n{found}\nnot\n{wanted}\n{text}")
                before.put_back()
        if not isinstance(expected, Exception):
            found_slope = compiled(gradient, X, S, arg)
            found = State(names, arg).shown
            if found != (before.shown if isinstance(found_slope, Exception) else after):
                raise Wrong(f"the gradient leaves\n{found}\nnot\n{after}\n{text}")
            before.put_back()
            if isinstance(found_slope, Exception):
                check("gradient", found_slope, expected, text, counts)
                continue
            d_x, d_s = found_slope
            if after != before.shown:
                counts["changes objects"] += 1
            try:
                if after == before.shown:  # otherwise each call would start from another state
                    tangents.check((X, S, arg), found_slope, "fast", as_they_are=True)
            except Mismatch as mismatch:
                raise Wrong("\n".join((*mismatch.args, text))) from mismatch

            def again(*args: Any, before: State = before) -> Any:
                before.put_back()
                return number(*args)

            differences = slope(again, arg)
            if not np.allclose(differences, slope(again, arg, 1e-5), rtol=1e-4, atol=1e-6):
                counts["at a kink or a jump"] += 1
            elif not np.allclose([*d_x, d_s], differences, rtol=1e-4, atol=1e-6):
                raise Wrong(f"the gradient {d_x} {d_s}, differences {differences}\n{text}")
            else:
                counts["gradient"] += 1
            before.put_back()
    return counts


def check(name: str, found: Any, expected: Any, text: str, counts: Counter[str]) -> None:
    if isinstance(found, st.StcompileError):
        counts[f"refused: {found.reason}"] += 1
    elif isinstance(expected, Exception):
        if type(found) is not type(expected):
            raise Wrong(f"{name}: {found!r} where Python raises {expected!r}\n{text}")
    elif isinstance(found, Exception):
        raise Wrong(f"{name} crashes: {found!r}\n{text}") from found
    elif (
        name == "readable" and not np.array_equal(bits(found), bits(expected))
    ) or not np.allclose(found, expected, rtol=1e-12):
        raise Wrong(f"{name}: {found!r}, not {expected!r}\n{text}")
    else:
        counts["right"] += 1


def run(made: Program, light: bool = False) -> Counter[str]:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return judged(made, light)
    finally:
        for file in [file for file in linecache.cache if file.startswith("<objects ")]:
            del linecache.cache[file]
