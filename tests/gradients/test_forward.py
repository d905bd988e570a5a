"""Every supported function in forward mode, and its gradient in forward mode."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gradients.cases import CASES, Case
from tests.gradients.checks import check_forward

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@settings(max_examples=max(settings().max_examples // 16, 2))
@given(data=st.data())
def test_forward_mode(case: Case, data: Any) -> None:
    level = data.draw(st.sampled_from(("readable", "readable", "fast")))
    check_forward(case, data.draw(case.arguments), level)
