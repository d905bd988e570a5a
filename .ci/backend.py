"""How the project is built: by setuptools. An editable installation gets plain paths besides.

Of the folders that make the packages, setuptools makes an import hook there. Python finds the
packages by it, but type checkers and editors do not run it: they follow the paths in ``.pth``
files.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  # what else a build asks for is as it was

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (ROOT, ROOT / "examples" / "installed")  # the folders of packages


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """The wheel of setuptools, with the paths of the sources."""
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    paths = "".join(f"{folder}\n" for folder in SOURCES)
    add_file(Path(wheel_directory, name), "stcompile_sources.pth", paths.encode())
    return name


def add_file(wheel: Path, name: str, data: bytes) -> None:
    """Add a file to a wheel, and to the record of its files."""
    with zipfile.ZipFile(wheel) as archive:
        files = {info: archive.read(info) for info in archive.infolist()}
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
        for info, content in files.items():
            if info.filename.endswith(".dist-info/RECORD"):
                content += f"{name},sha256={digest},{len(data)}\n".encode()
            archive.writestr(info, content)
