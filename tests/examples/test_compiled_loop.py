"""The example of the compiled level, which the README shows."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import stcompile as st
from examples import compiled_loop
from tests.docs import pages

README = (pages.ROOT / "README.md").read_text(encoding="utf-8")


def shape(text: str) -> list[str]:
    """The lines of a table without its numbers, and the blanks that they need."""
    return [" ".join(re.sub(r"[\d.]+(e[-+]\d+)?", "#", line).split()) for line in text.splitlines()]


def test_it_prints_what_the_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("numba")
    compiled_loop.main(["--bodies", "10"])
    printed = capsys.readouterr().out
    (shown,) = (b.text for b in pages.blocks(README) if "value and gradient, compiled" in b.text)
    assert shape(printed) == shape(shown)
    error = re.search(r"against a difference: (\S+)$", printed.strip())
    assert error is not None and float(error[1]) < 1e-5


def test_the_readme_has_its_function() -> None:
    def statements(text: str) -> list[str]:
        body = text[text.index("total = 0.0") : text.index("return total")]
        return [line.strip() for line in body.splitlines()]

    assert statements(README) == statements(inspect.getsource(compiled_loop.potential))


def test_its_gradient_is_right_at_every_level() -> None:
    x = np.random.default_rng(0).normal(size=(6, 3))
    for level in ("readable", "fast"):
        st.differentiable(compiled_loop.potential, level=level).check_grads(x)
