"""A user's module, imported from a folder of its own."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

NAME = "module_that_travels"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("travel")
    shutil.copy(Path(__file__).with_name("model.py"), folder / f"{NAME}.py")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield importlib.import_module(NAME)
    sys.path.remove(str(folder))
    sys.modules.pop(NAME)
