"""The kept files are read, and run by a test; they are no tests themselves."""

from __future__ import annotations

collect_ignore_glob = ["generated/*"]
