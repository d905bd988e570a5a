"""The folder of the cache of compiled functions, if it is used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SWITCH = "STCOMPILE_CACHE"
_OFF = ("0", "off", "no", "false")


def cache_folder() -> Path | None:
    """The folder of the cache: the folder that ``STCOMPILE_CACHE`` names, or else the user's folder
    for caches on this system; None if it is switched off."""
    chosen = os.environ.get(SWITCH, "").strip()
    if chosen.lower() in _OFF:
        return None
    return Path(chosen).expanduser().absolute() if chosen else _default_folder()


def _default_folder() -> Path | None:
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home
        return None
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else home / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        named = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(named) if os.path.isabs(named) else home / ".cache"
    return base / "stcompile" / "compiled"
