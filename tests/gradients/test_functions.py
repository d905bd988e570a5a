"""Every supported function, through the whole compiler: values and derivatives to second order, in
both modes and in single precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gradients.cases import CASES
from tests.gradients.checks import check_case, check_float32, check_forward, check_second
from tests.gradients.functions.case import Case

every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
FEW = max(settings().max_examples // 8, 2)  # each of them compiles several functions


@every_case
@settings(max_examples=FEW)
@given(data=st.data())
def test_value_and_gradient(case: Case, data: Any) -> None:
    check_case(case, data.draw(case.arguments))


def but_for_the_simplest(case: Case, check: Callable[[Case, Any], None]) -> None:
    """Check a case at all examples but the first, which is the simplest one there is, and which
    `test_value_and_gradient` tries."""
    seen: list[Any] = []

    @settings(max_examples=FEW)
    @given(case.arguments)
    def checked(args: Any) -> None:
        seen.append(args)
        if len(seen) > 1:
            check(case, args)

    checked()
    if len(seen) == 1:
        check(case, seen[0])


@every_case
def test_second_order(case: Case) -> None:
    but_for_the_simplest(case, check_second)


@pytest.mark.filterwarnings("ignore::stcompile.StcompileWarning")
@every_case
def test_float32(case: Case) -> None:
    but_for_the_simplest(case, check_float32)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_forward_mode(case: Case) -> None:
    level = "fast" if CASES.index(case) % 3 == 0 else "readable"
    but_for_the_simplest(case, lambda _, args: check_forward(case, args, level))
