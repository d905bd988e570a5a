"""Copies between parts of one array that overlap: what NumPy gives, whatever layout is chosen;
where NumPy itself overwrites what it has yet to read, a refusal."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.fuzz.generate import function_of
from tests.programs import assert_like, check_gradient

M = np.linspace(0.2, 1.7, 9).reshape(3, 3)
VIEWS = [
    "a[1]", "a[2]", "a[0]", "a[:, 0]", "a[:, 2]", "a.T[1]", "a[::-1][0]", "a[:, ::-1][1]",
    "a.T[::-1, 2]", "a[1, ::-1]", "a.reshape(-1)[1:4]", "a.reshape(-1)[::2][:3]",
    "a.reshape(-1)[8:2:-2]", "a.reshape(-1)[2:5]",
]  # fmt: skip


def program_of(*statements: str) -> Any:
    lines = ["def program(m):", "    a = m * 1.0", *(f"    {line}" for line in statements)]
    return function_of("\n".join([*lines, "    return np.sum(a ** 2 * m)", ""]))


def is_garbled(target: str, source: str) -> bool:
    plain, buffered = (program_of(f"{target}[...] = {source}{end}") for end in ("", ".copy()"))
    return not np.array_equal(plain(M), buffered(M))


PAIRS = list(itertools.permutations(VIEWS, 2))
GARBLED = [pair for pair in PAIRS if is_garbled(*pair)]


@pytest.mark.parametrize("start", range(7))
def test_copies_between_views(start: int) -> None:
    """As NumPy copies; refused exactly where NumPy gives something else than with a copy."""
    for target, source in PAIRS[start::7]:
        function = program_of(f"{target}[...] = {source}")
        if (target, source) in GARBLED:
            with pytest.raises(st.LanguageError, match="overlapping part of itself"):
                st.compile(function)(M)
            continue
        for level in ("readable", "fast"):
            assert_like(st.compile(function, level=level)(M), function(M), f"{target} = {source}")


def test_numpy_gives_something_else_for_some() -> None:
    assert 0 < len(GARBLED) < len(PAIRS) / 2


TURNED = [  # the adjoint keeps what is written, in an order of its own
    ("a.T[0] += a[0] ** 2", "a[:, 1] = a[2]"),
    ("a.T[0] *= a[1]", "a[1] = a[:, 1]"),
    ("a.T[1:] += a[1:] ** 2", "a[0] = a[:, 0]"),
    ("a[0], a[:, 0] = a[:, 0], a[0]",),
    ("a[0, 1:] = a[1:, 0] * 1.0", "a[1:, 2] = a[0, :2]"),
    ("for k in range(17):", "    a.T[0] += a[0] ** 2 * 0.01", "    a[:, 1] = a[2]"),
]


@pytest.mark.parametrize("statements", TURNED, ids=lambda s: s[-1].strip())
@pytest.mark.parametrize("level", ["readable", "fast"])
def test_layouts_do_not_matter(statements: tuple[str, ...], level: Any) -> None:
    function = program_of(*statements)
    value, gradient = st.value_and_grad(function, level=level)(M)
    assert_like(value, function(M), "the value")
    check_gradient(function, (M,), 0, gradient)


def test_only_copies_that_need_it_are_explicit() -> None:
    function = program_of("a[0] = a[1]", "a[1:, 0] = a[:-1, 0]", "a[:, 1] = a[2]")
    source = st.compile(function, level="readable").source(M)
    assert "a[0] = a[1]" in source
    assert "a[1:, 0] = a[0:2, 0]" in source
    assert "a[:, 1] = np.copy(a[2])" in source


def test_parts_that_move_with_a_loop() -> None:
    """Where they are is known step by step: such a loop is not kept."""
    square = np.sin(np.arange(324.0)).reshape(18, 18)
    for statement in ("a[k] = a[:, 1]", "a[k] = a[:, k]", "a[k] = a[17 - k]"):
        function = program_of("for k in range(18):", f"    {statement}")
        assert_like(st.compile(function)(square), function(square), statement)
    number = program_of("k = int(m[0, 0] * 3)", "a[k] = a[:, 1]")
    with pytest.raises(st.LanguageError, match="in some steps at least"):
        st.compile(number)(M)


def test_parts_of_an_array_whose_layout_is_not_known() -> None:
    """What has no element in common, or goes along one axis, is copied in any layout."""

    def function(m: Any) -> Any:
        a = m * 1.0
        a[0] = a[1]
        a[::-1, 2] = a[:, 0]
        return np.sum(a**2 * m)

    for x in (M[::-1, ::-1], np.repeat(M, 2, axis=1)[:, ::2], np.asfortranarray(M)):
        assert_like(st.compile(function)(x), function(x), "the value")


def test_what_shares_no_memory_is_not_copied() -> None:
    def moved(a, b):
        c = a * 1.0
        c[1] = b
        c[2] = c[0]
        return c

    for level in ("readable", "fast"):
        compiled = st.compile(moved, level=level)
        assert "np.copy(" not in compiled.source(M, M[0])
        assert_like(compiled(M, M[0]), moved(M, M[0]), level)
