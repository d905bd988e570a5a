"""The example that splits a gradient by time steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from examples import vanishing_gradients


def test_gradients_vanish_with_small_weights_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    vanishing_gradients.main([str(tmp_path / "picture.png")])
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    assert len(capsys.readouterr().out.splitlines()) == 3
    for scale, (least, most) in {0.5: (1e-18, 1e-9), 1.2: (1e-2, 1.0)}.items():
        parts, cotangents = vanishing_gradients.norms(scale)
        assert parts[0] == 0, "the first step reads a state of zeros"
        assert least < parts[1] / parts[-1] < most
        assert np.all(np.diff(cotangents[5:]) > 0)
