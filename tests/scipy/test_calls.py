"""The program that counts which functions of SciPy packages call."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("scipy.stats")

from examples.scipy_calls import count, main, state_of

MODULE = """
import scipy
import scipy.special as sc
from scipy import stats
from scipy.sparse import csr_matrix as made
from .other import psi

def f(x, local):
    from scipy.linalg import inv
    y = sc.psi(x) + stats.norm.pdf(x) + scipy.special.digamma(x) + local.psi(x) + psi(x)
    return inv(made(y)) @ stats.norm(0, 1).cdf(x)
"""


def test_calls_are_counted_by_public_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "package"
    (package / "tests").mkdir(parents=True)
    for path in (package / "module.py", package / "tests" / "test_module.py"):
        path.write_text(MODULE, encoding="utf-8")
    found = count(tmp_path, ("package",))
    expected = {"special.psi": 2, "stats.norm.pdf": 1, "stats.norm": 1}
    assert found == {**expected, "linalg.inv": 1, "sparse.csr_matrix": 1}
    main([str(tmp_path), "--packages", "package", "--first", "1"])
    assert "| `special.psi` | 2 | yes |" in capsys.readouterr().out


def test_states() -> None:
    states = {"special.psi": "yes", "stats.norm": "yes", "special.roots_legendre": "known"}
    states["sparse.linalg.eigsh"] = ""
    assert {name: state_of(name) for name in states} == states
