"""Random programs in which it shows how arrays lie in memory."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import stcompile as st
from stcompile.errors import StcompileError
from tests.fuzz.layouts import HELPERS, SHAPE, arguments, source

PROGRAMS, STEP = 12, 1e-5


def function_of(text: str, seed: int) -> Callable[..., Any]:
    file = f"<layouts {seed}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names: dict[str, Any] = {"__name__": "tests.fuzz.program", **HELPERS}
    exec(compile(text, file, "exec"), names)
    function: Callable[..., Any] = names["program"]
    return function


def holds(seed: int) -> bool:
    """False if a program is refused; else it computes what NumPy does, at both levels."""
    choices = Random(seed)
    text, args = source(choices), arguments(choices)
    function = function_of(text, seed)
    try:
        expected = function(*args)
    except (IndexError, TypeError, ValueError):  # shapes that do not fit
        return True
    shown = text, [array.strides for array in args]
    try:
        readable = st.compile(function, level="readable")(*args)
    except StcompileError:  # a view or a copy: depends on what is known at run time
        return False
    assert readable == expected, shown
    np.testing.assert_allclose(st.compile(function)(*args), expected, rtol=1e-12, err_msg=text)
    if seed % 3 == 0:
        gradient = st.grad(function)(*args)
        place = tuple(map(choices.randrange, SHAPE))
        slope = difference(function, args, place)
        np.testing.assert_allclose(gradient[place], slope, rtol=1e-5, atol=1e-6, err_msg=text)
    return True


def difference(function: Callable[..., Any], args: tuple[Any, ...], place: Any) -> Any:
    """The central difference in an element of the first argument, which keeps its layout."""
    moved = args[0]
    value = moved[place]
    found = []
    for step in (STEP, -STEP):
        moved[place] = value + step
        found.append(function(*args))
    moved[place] = value
    return (found[0] - found[1]) / (2 * STEP)


@pytest.mark.parametrize("part", range(10))
def test_layouts(part: int) -> None:
    taken = [holds(part * PROGRAMS + i) for i in range(PROGRAMS)]
    assert sum(taken) > PROGRAMS // 2
