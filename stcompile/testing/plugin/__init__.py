"""The pytest plugin: locked gradients as tests, and gradients compared with finite differences.

It is installed as a package of its own, `pytest_stcompile`, so that pytest can load it without the
compiler: that is imported when a test needs it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

LIST = "locked.txt"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("stcompile").addoption(
        "--gradient-locks",
        action="store_true",
        help="test that gradients are as `stcompile lock` wrote them (folder: ini option "
        "gradient_locks, or gradients)",
    )
    parser.addini(
        "gradient_locks",
        "folder of locked gradients, which are tested whenever folders are (not single files)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    folder = str(config.getini("gradient_locks") or "")
    asked = config.getoption("--gradient-locks")
    whole = bool(folder) and all(Path(argument).is_dir() for argument in config.args)
    if not (asked or whole):
        return
    path = config.rootpath / (folder or "gradients") / LIST
    if not path.is_file():
        raise pytest.UsageError(f"{path} does not exist: stcompile lock FILE.py:FUNCTION makes it")
    items.extend(LockedList.from_parent(session, path=path).collect())


@pytest.fixture
def assert_gradients() -> Callable[..., None]:
    """Asserts that a gradient is that of finite differences:
    ``assert_gradients(loss, w, x)``, as `stcompile.testing.assert_gradients` says."""
    from stcompile.testing import assert_gradients

    return assert_gradients


class LockedList(pytest.File):
    """The list of locked gradients: a test for each line."""

    def collect(self) -> Iterator[pytest.Item]:
        for line in self.path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                yield Locked.from_parent(self, name=shlex.split(line)[0], line=line)


class Locked(pytest.Item):
    """A locked gradient."""

    def __init__(self, *, line: str, **more: Any) -> None:
        super().__init__(**more)
        self.line = line

    def runtest(self) -> None:
        from stcompile.cli.locks import Entry, Locks

        Locks(self.path.parent).check(Entry.parse(self.line))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from stcompile.base.errors import StcompileError

        if isinstance(excinfo.value, StcompileError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"gradient of {self.name}"
