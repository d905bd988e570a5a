"""Generated code that calls SciPy: what it imports, as text and as an exported file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stcompile as st
from tests.plan.compiled import peak

scipy = pytest.importorskip("scipy")

from scipy import special  # noqa: E402

X = np.linspace(0.1, 2.0, 5)
ROOT = Path(__file__).resolve().parents[2]


def likelihood(x: Any, w: Any) -> Any:
    """Probit regression."""
    return -np.sum(special.log_ndtr(x * w))


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_compiler_does_not_import_scipy() -> None:
    """Not even where another function is compiled."""
    script = (
        "import sys, stcompile as st\n"
        "from tests.golden.models import square_root\n"
        "st.grad(square_root, level='readable')(2.0)\n"
        "print([m for m in sys.modules if m.startswith('scipy')])\n"
    )
    assert run("-c", script) == "[]\n"


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_the_source_imports_what_it_calls(level: Any) -> None:
    source = st.grad(likelihood, wrt=1, level=level).source(X, X)
    assert source.startswith("import numpy as np\nfrom scipy import special\n")
    assert "special.erfcx(" in source
    plain = st.grad(lambda x: np.sum(x * x), level=level).source(X)
    assert "scipy" not in plain


def test_a_name_that_is_taken() -> None:
    """A variable called like the module gets another name."""

    def named(x: Any) -> Any:
        linalg = special.erf(x)
        return np.sum(linalg * linalg)

    np.testing.assert_allclose(
        st.grad(named)(X), 4 * special.erf(X) * np.exp(-X * X) / np.sqrt(np.pi)
    )


def test_an_argument_of_that_name() -> None:
    def named(linalg: Any, special: Any) -> Any:
        return np.sum(probabilities(linalg) * special)

    probabilities = special.ndtr
    for level in ("readable", "fast"):
        value, slope = st.value_and_grad(named, level=level)(X, X)
        assert value == pytest.approx(named(X, X))
        density = np.exp(-X * X / 2) / np.sqrt(2 * np.pi)
        np.testing.assert_allclose(slope, density * X)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_calls_allocate_no_more_for_more_data(dtype: Any) -> None:
    """All values of functions of SciPy have a buffer."""
    found = []
    for size in (10_000, 40_000):
        x, w = np.ones(size, dtype), dtype(0.5)
        compiled = st.value_and_grad(likelihood, wrt=1, level="fast")
        found.append(peak(lambda: compiled(x, w)))
    assert max(found) < 64 * 1024
    assert abs(found[0] - found[1]) <= 4096


@pytest.mark.parametrize("level", ["readable", "fast"])
def test_an_exported_file(level: Any, tmp_path: Path) -> None:
    file = tmp_path / "likelihood_grad.py"
    st.value_and_grad(likelihood, wrt=1, level=level).export(file, X, X)
    text = file.read_text(encoding="utf-8")
    assert "import numpy as np\nfrom scipy import special\n" in text
    assert "needs NumPy and SciPy and nothing else" in " ".join(text.split())
    absent = "import sys; sys.modules['stcompile'] = sys.modules['astor'] = None\n"
    run("-c", f"{absent}import runpy; runpy.run_path({str(file)!r})")
    run(str(file))
