"""The user's file: it is loaded as Python would, and its functions are looked up.

A file is executed. Its output goes to the standard error, so that a command's output can be piped;
an error that it raises becomes a message with the user's line.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from stcompile.base.command import UsageError
from stcompile.base.errors import StcompileError
from stcompile.base.foreign import written_as
from stcompile.base.location import Location
from stcompile.base.options import Level, options
from stcompile.base.wording import an, noun_of
from stcompile.calls.arguments import Wrt
from stcompile.calls.dispatch import Dispatcher
from stcompile.differentiable import Differentiable

TARGET = re.compile(r"(?P<file>.+?\.py)(?::(?P<name>[^:/\\]*))?")


class FileError(StcompileError):
    """A user's file, or a function in it, that raises."""


@dataclass(frozen=True)
class Target:
    """A file, and the function in it that was named."""

    path: Path
    name: str | None

    @classmethod
    def parse(cls, text: str) -> Target:
        """Parse ``FILE.py:FUNCTION``; `UsageError` for anything else.

        >>> Target.parse("models/rnn.py:loss").name
        'loss'
        """
        found = TARGET.fullmatch(text)
        if found is None:
            raise UsageError(f"{text!r} names no Python file", hint="write it as FILE.py:FUNCTION")
        return cls(Path(found["file"]), found["name"] or None)

    def load(self) -> Found:
        """The function; the only one of the file if none was named."""
        module = load(self.path)
        name = self.name or _only(self.path, module)
        return Found(self.path, module, name, _named(self.path, module, name))


@dataclass(frozen=True)
class Found:
    """A function of a file that was loaded."""

    path: Path
    module: ModuleType
    name: str
    function: Any

    def __str__(self) -> str:
        return f"{self.path}:{self.name}"

    def shown(
        self, wrt: Wrt | None, level: Level | None = None
    ) -> Differentiable[..., Any, Any] | Dispatcher[..., Any]:
        """The function with its derivatives; or itself, if it is a gradient, a training step and
        the like."""
        if isinstance(self.function, Dispatcher) and wrt is level is None:
            return self.function
        return self.differentiable(wrt, level)

    def differentiable(
        self, wrt: Wrt | None, level: Level | None = None
    ) -> Differentiable[..., Any, Any]:
        """The function with its derivatives, by other arguments or at another level if that is
        asked for."""
        own = self.function
        if isinstance(own, Dispatcher):
            raise UsageError(
                f"`{self.name}` is no plain function, but one that is compiled",
                hint="name the function that it was made of",
            )
        if not isinstance(own, Differentiable):
            own = Differentiable(own)
        how = own.options or options(None)
        if level is not None:  # a budget of memory is of the fast level
            how = replace(how, level=level, memory=how.memory if level == "fast" else None)
        made: Differentiable[..., Any, Any] = Differentiable(
            own.function,
            own.wrt if wrt is None else wrt,
            how,
        )
        return made

    @property
    def reading_level(self) -> Level | None:
        """The level of code that is printed or written into a file, where none is asked for: the
        readable one, unless the function has another than the default. None for what is
        compiled already."""
        if isinstance(self.function, Dispatcher):
            return None
        own = getattr(self.function, "options", None) or options(None)
        is_chosen = own.level != options(None).level or own.memory is not None
        return own.level if is_chosen else "readable"

    @property
    def plain(self) -> Any:
        """The function as the user wrote it."""
        return getattr(self.function, "function", self.function)


def load(path: Path) -> ModuleType:
    """The file as a module; modules are imported from its folder, as in ``python FILE``."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{path} {what}", hint=_similar(path))
    path = path.resolve()
    root, names = path.parent, [path.stem]
    while (root / "__init__.py").is_file():  # a module of a package
        root, names = root.parent, [root.name, *names]
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    name = ".".join(names)
    imported = sys.modules.get(name)
    if imported is not None and _is_of(imported, path):
        return imported
    with raised_in(path, "cannot be imported"), contextlib.redirect_stdout(sys.stderr):
        if len(names) > 1:
            module = importlib.import_module(name)
            if _is_of(module, path):
                return module
        if name in sys.modules or name in sys.stdlib_module_names:
            name = f"_file_{path.stem}"  # another module is called like the file
        specification = importlib.util.spec_from_file_location(name, path)
        assert specification is not None and specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        specification.loader.exec_module(module)
    return module


def _is_of(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == path


@contextlib.contextmanager
def raised_in(path: Path, what: str) -> Iterator[None]:
    """Turn an error of the user's code within the block into a `FileError` at the user's line."""
    try:
        yield
    except (StcompileError, KeyboardInterrupt, BrokenPipeError):
        raise
    except SyntaxError as error:
        column = max((error.offset or 1) - 1, 0)
        end = max((error.end_offset or 0) - 1, column + 1)
        where = Location(error.filename or str(path), error.lineno or 0, column, end)
        raise FileError(f"{type(error).__name__}: {error.msg}", location=where) from error
    except SystemExit as error:
        raise FileError(
            f"{path.name} ends the program when it is imported",
            hint='keep what is a program below `if __name__ == "__main__":`',
        ) from error
    except Exception as error:
        said = "".join(traceback.format_exception_only(error)).strip()
        reason = f"{path.name} {what}: {said}"
        raise FileError(reason, location=_last_line(error, path)) from error


def _last_line(error: BaseException, path: Path) -> Location | None:
    """The deepest line of the user's own files that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).parent == path.resolve().parent]
    if not own:
        return None
    frame = own[-1]
    start, end = getattr(frame, "colno", None) or 0, getattr(frame, "end_colno", None) or 0
    return Location(frame.filename, frame.lineno or 0, start, end, frame.name.strip("<>"))


def functions_of(module: ModuleType) -> dict[str, Any]:
    """The functions that a file defines and that can be differentiated, in its order: decorated
    functions, or the others if none is decorated."""
    own = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    }
    decorated = {name: value for name, value in own.items() if isinstance(value, Differentiable)}
    plain = {
        name: value for name, value in own.items() if isinstance(written_as(value), FunctionType)
    }
    return decorated or {n: value for n, value in plain.items() if n != "example_args"}


def _only(path: Path, module: ModuleType) -> str:
    names = list(functions_of(module))
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(f"{path} defines no function")
    listed = ", ".join(f"{path}:{name}" for name in names)
    raise UsageError(f"{path} has {len(names)} functions", hint=f"name one: {listed}")


def _named(path: Path, module: ModuleType, name: str) -> Any:
    value: Any = module
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise UsageError(
                f"{path} has no `{name}`", hint=_close(name, functions_of(module))
            ) from None
    if not (isinstance(value, Differentiable | Dispatcher) or callable(value)):
        raise UsageError(f"`{name}` of {path} is {an(noun_of(value))}, not a function")
    if isinstance(value, type):
        raise UsageError(f"`{name}` of {path} is a class, not a function")
    return value


def _close(name: str, names: Sequence[str] | dict[str, Any]) -> str:
    near = difflib.get_close_matches(name, list(names), n=1)
    if near:
        return f"is it `{near[0]}`?"
    return f"it has {', '.join(f'`{n}`' for n in names)}" if names else "it defines no function"


def _similar(path: Path) -> str:
    try:
        names = [file.name for file in path.parent.glob("*.py")]
    except OSError:
        names = []
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"is it {path.with_name(near[0])}?" if near else ""


def parse_wrt(text: str | None) -> Wrt | None:
    """Parse ``--wrt``: a name or an index, or several between commas.

    >>> parse_wrt("params"), parse_wrt("0,x2"), parse_wrt(None)
    ('params', (0, 'x2'), None)
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UsageError("--wrt names no argument")
    found = tuple(int(p) if p.lstrip("-").isdigit() else p for p in parts)
    return found if "," in text else found[0]
