"""How the compiled level is judged."""

from __future__ import annotations

from typing import Any

import pytest

from stcompile.transforms.gradient import Gradient
from tests.fuzz.judge_kernels import FORMS, judge_source
from tests.fuzz.smooth import ARGS, SMOOTH

pytest.importorskip("numba")


def test_a_program_that_is_right() -> None:
    verdict = judge_source(SMOOTH, (ARGS,), second_order=True, light=False)
    assert (verdict.kind, verdict.differences) == ("right", len(FORMS) + 1)


@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_gradient_is_noticed(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    call = Gradient.__call__

    def wrong(self: Any, *args: Any) -> Any:
        value, gradients = call(self, *args)
        if self.options != FORMS[form]:
            return value, gradients
        return value, tuple(gradient * 1.0001 for gradient in gradients)

    monkeypatch.setattr(Gradient, "__call__", wrong)
    verdict = judge_source(SMOOTH, (ARGS,), second_order=False, light=False)
    assert (verdict.kind, verdict.about) == ("wrong", f"the gradient, {form}")
