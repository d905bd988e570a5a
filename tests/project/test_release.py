"""What a release says of itself in several places is the same in all of them."""

from __future__ import annotations

import json
import re
from importlib.metadata import metadata, version

from tests.docs.pages import ROOT


def test_one_version_is_told_everywhere() -> None:
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    sites = json.loads((ROOT / "docs/_static/versions.json").read_text(encoding="utf-8"))
    assert cited is not None
    assert cited[1] == sites[0]["version"] == version("stcompile")


def test_the_metadata_is_what_an_index_needs() -> None:
    told = metadata("stcompile")
    assert told["License-Expression"] == "MIT"
    # Without an upper bound: pip would take an older release for a newer Python.
    assert told["Requires-Python"] == ">=3.11"
    assert "Typing :: Typed" in (told.get_all("Classifier") or [])
    core = [need for need in told.get_all("Requires-Dist") or [] if "extra ==" not in need]
    assert sorted(re.split(r"[^\w-]", need)[0] for need in core) == ["astor", "numpy"]


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1:2] in ([], [version("stcompile")])


def test_what_is_new_is_not_added_to_a_release() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = text[text.index(f"## [{version('stcompile')}]") :]
    first = released.partition("### Added\n")[2].lstrip().partition("\n")[0]
    assert first.endswith(":"), "a release begins with a group: new entries go under Unreleased"
