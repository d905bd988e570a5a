"""How Sphinx builds the site: ``python -m sphinx -W -b html docs build/site``."""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).resolve().parent

project = "stcompile"
author = "the authors of stcompile"
copyright = author  # the name that Sphinx gives the setting
release = version_of("stcompile")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# Docstrings say `grad` where they mean code.
default_role = "literal"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"

html_theme = "pydata_sphinx_theme"
html_title = "stcompile"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = True
html_theme_options = {
    "logo": {"text": "stcompile"},
    "navbar_align": "left",
    "navbar_end": ["version-switcher", "theme-switcher"],
    "switcher": {"json_url": "_static/versions.json", "version_match": release},
    "check_switcher": False,
    "show_version_warning_banner": False,
    "show_prev_next": True,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "secondary_sidebar_items": ["page-toc", "reading-time", "sourcelink"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "github-dark",
}
templates_path = ["_templates"]

WORDS_A_MINUTE = 200  # of reading matter; code is read more slowly, and counted like words


def reading_time(app: object, page: str, template: str, context: dict, doctree: object) -> None:
    """Gives each page's template the minutes that it takes to read."""
    source = HERE / f"{page}.md"
    words = len(re.findall(r"\S+", source.read_text(encoding="utf-8"))) if source.exists() else 0
    context["reading_minutes"] = max(1, round(words / WORDS_A_MINUTE)) if words else 0


def setup(app: object) -> None:
    app.connect("html-page-context", reading_time)  # type: ignore[attr-defined]
