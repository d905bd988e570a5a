"""The site is built from the pages, without a warning, and has every public name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stcompile as st
from tests.docs.pages import ROOT

pytest.importorskip("sphinx", reason="the site needs the extra `docs`")


@pytest.mark.slow
def test_the_site_has_every_page_and_every_public_name(tmp_path: Path) -> None:
    """One test, for one build; Sphinx ends with an error at the first warning."""
    command = ["-m", "sphinx", "-W", "-q", "-b", "html", "docs", str(tmp_path)]
    ran = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]

    index = (tmp_path / "searchindex.js").read_text(encoding="utf-8")
    searched = json.loads(index[index.index("{") : index.rindex("}") + 1])["filenames"]
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")}
    assert pages == set(searched)
    assert all((tmp_path / name).with_suffix(".html").exists() for name in pages)

    reference = "".join(p.read_text(encoding="utf-8") for p in (tmp_path / "api").glob("*.html"))
    entries = set(re.findall(r'id="stcompile\.([\w.]+)"', reference))
    spaces = ("interop", "nn", "optim", "optimize", "testing")
    names = {name for name in st.__all__ if name not in spaces}
    names |= {f"{s}.{name}" for s in ("interop", "optimize") for name in getattr(st, s).__all__}
    names |= {f"optim.{name}" for name in st.optim.__all__}
    names |= {f"nn.{name}" for name in st.nn.__all__}
    names |= {f"testing.{name}" for name in st.testing.__all__}
    assert names <= entries, sorted(names - entries)

    assert "Reading time: about" in (tmp_path / "tutorial.html").read_text(encoding="utf-8")
