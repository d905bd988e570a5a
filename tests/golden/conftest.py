"""The kept files are read, and run by a test; they are no tests themselves."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = ["generated/*"]

collect_ignore = [] if find_spec("scipy") else ["scipy_models.py"]
