"""Every supported function, through the whole compiler: values and derivatives to second order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gradients.cases import CASES, Case
from tests.gradients.checks import check_case, check_float32, check_second

every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def some(part: int) -> settings:
    """A part of the profile's examples: each of them compiles several functions."""
    return settings(max_examples=max(settings().max_examples // part, 2))


@every_case
@some(8)
@given(data=st.data())
def test_value_and_gradient(case: Case, data: Any) -> None:
    check_case(case, data.draw(case.arguments))


@every_case
@some(12)
@given(data=st.data())
def test_second_order(case: Case, data: Any) -> None:
    check_second(case, data.draw(case.arguments))


@pytest.mark.filterwarnings("ignore::stcompile.StcompileWarning")
@every_case
@some(12)
@given(data=st.data())
def test_float32(case: Case, data: Any) -> None:
    check_float32(case, data.draw(case.arguments))
