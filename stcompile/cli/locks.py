"""Gradients under version control: the text of a gradient's program, written and compared.

A folder, ``gradients``, has a list of functions, ``locked.txt``, and a file for each of them: the
generated code at the readable level, without anything that depends on the machine or on where in
its file the function stands. A lock holds as long as the code is the same but for comments, at
arguments of the same types.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import stcompile
from stcompile.base import trees
from stcompile.base.command import UsageError
from stcompile.base.errors import StcompileError
from stcompile.base.files import write_whole
from stcompile.cli.arguments import Given, arguments_of
from stcompile.cli.files import Target, parse_wrt

LIST = "locked.txt"
HEAD = (
    "# Gradients under version control: written by `stcompile lock`, compared by "
    "`stcompile lock --check`.\n"
)
PLACE = re.compile(r"^(?P<margin> *# )(?P<place>[^\s:]+:\d+)  (?P<text>.*)$")
FLAGS = ("args", "npz", "wrt")


class LockError(StcompileError):
    """A gradient that is not as it was locked."""


@dataclass(frozen=True)
class Entry:
    """A line of the list: a function, by the path from the folder's parent, and the other flags
    given when it was locked."""

    target: str
    args: str | None = None
    npz: str | None = None
    wrt: str | None = None

    @classmethod
    def parse(cls, line: str) -> Entry:
        """Parse a line: ``model.py:loss --args "ones(3)" --wrt x``."""
        target, *more = shlex.split(line)
        names = [word.removeprefix("--") for word in more[::2]]
        if len(more) % 2 or not set(names) <= set(FLAGS):
            raise UsageError(f"{LIST} has the line {line!r}", hint=f"write {cls._form()}")
        return cls(target, **dict(zip(names, more[1::2], strict=True)))

    @staticmethod
    def _form() -> str:
        return "FILE.py:FUNCTION, and then " + ", ".join(f"--{flag} VALUE" for flag in FLAGS)

    def __str__(self) -> str:
        words = [self.target]
        for flag in FLAGS:
            if getattr(self, flag) is not None:
                words += [f"--{flag}", getattr(self, flag)]
        return shlex.join(words)

    @property
    def file(self) -> str:
        """The name of its lock file.

        >>> Entry("models/rnn.py:loss").file
        'models.rnn.loss.txt'
        """
        path, _, name = self.target.rpartition(":")
        return f"{path.removesuffix('.py').replace('/', '.')}.{name}.txt"


@dataclass(frozen=True)
class Lock:
    """The text of a gradient's program, and the places of the user's that its lines are of."""

    text: str
    places: Sequence[str] = ()

    @property
    def parts(self) -> tuple[list[str], str]:
        """The dependences of a lock, and its code as Python reads it, to compare them."""
        lines = self.text.splitlines()
        depends = [line for line in lines if line.startswith("#   ")]
        return depends, ast.dump(ast.parse(self.text))

    @property
    def versions(self) -> str:
        return next((x[2:] for x in self.text.splitlines() if x.startswith("# stcompile")), "")


@dataclass(frozen=True)
class Locks:
    """A folder of locks."""

    folder: Path

    @property
    def root(self) -> Path:
        """The folder that the paths of the list are relative to."""
        return self.folder.resolve().parent

    def entries(self) -> list[Entry]:
        """The entries of the list; `UsageError` if there is no list."""
        path = self.folder / LIST
        if not path.is_file():
            raise UsageError(
                f"{path} does not exist: no gradient is locked",
                hint="lock one: stcompile lock model.py:loss",
            )
        lines = path.read_text(encoding="utf-8").splitlines()
        return [Entry.parse(line) for line in lines if line.strip() and not line.startswith("#")]

    def entry(self, target: Target, name: str, **said: str | None) -> Entry:
        """The entry of a function in a file."""
        if said.get("npz") is not None:
            said["npz"] = self._from_root(Path(said["npz"] or ""))
        return Entry(f"{self._from_root(target.path)}:{name}", **said)

    def _from_root(self, path: Path) -> str:
        try:
            return path.resolve().relative_to(self.root).as_posix()
        except ValueError:
            raise UsageError(
                f"{path} is not below {self.root}, where {self.folder} is",
                hint="say where the locks are to be: --folder FOLDER",
            ) from None

    def made(self, entry: Entry) -> Lock:
        """The present lock of an entry."""
        found = Target.parse(str(self.root / entry.target)).load()
        npz = self.root / entry.npz if entry.npz is not None else None
        given = arguments_of(found, entry.args, npz)
        shown = found.differentiable(parse_wrt(entry.wrt), "readable")
        return lock_of(entry.target, shown.value_and_grad, given)

    def write(self, entries: Sequence[Entry]) -> list[Path]:
        """Lock the given functions, in addition to those that are locked; return the files."""
        locks = {entry: self.made(entry) for entry in entries}
        known = {entry.target: entry for entry in self._known()}
        known |= {entry.target: entry for entry in entries}
        written = []
        try:
            for entry, lock in locks.items():
                write_whole(self.folder / entry.file, lock.text)
                written.append(self.folder / entry.file)
            lines = [f"{entry}\n" for _, entry in sorted(known.items())]
            write_whole(self.folder / LIST, HEAD + "".join(lines))
        except OSError as error:
            raise LockError(f"{self.folder} cannot be written to: {error.strerror}") from None
        return written

    def _known(self) -> list[Entry]:
        return self.entries() if (self.folder / LIST).is_file() else []

    def check(self, entry: Entry) -> None:
        """`LockError` if a gradient is not as it was locked."""
        path = self.folder / entry.file
        again = f"if that is meant: stcompile lock {entry}"
        if not path.is_file():
            raise LockError(f"{path} does not exist", hint=again)
        locked, now = Lock(path.read_text(encoding="utf-8")), self.made(entry)
        try:
            if locked.parts == now.parts:
                return
        except SyntaxError:
            raise LockError(f"{path} is not what `stcompile lock` wrote", hint=again) from None
        raise LockError("\n".join(_said(entry, path, locked, now)), hint=again)

    def stray(self) -> list[Path]:
        """Lock files that are of no entry."""
        known = {entry.file for entry in self.entries()} | {LIST}
        return [path for path in sorted(self.folder.glob("*.txt")) if path.name not in known]


def lock_of(target: str, gradient: Any, given: Given) -> Lock:
    """The lock of a gradient at the given arguments."""
    bound = gradient.bind(given.positional, given.keywords)
    emitted = gradient.specialise(bound).emitted
    head = [
        f"# The gradient of {target}, locked by `stcompile lock`.",
        f"# stcompile {stcompile.__version__}, NumPy {np.__version__}",
        "# It depends on",
        f"#   wrt: {', '.join(map(str, np.atleast_1d(np.array(gradient.wrt, object))))}",
    ]
    for name, value in bound.values.items():
        for path, leaf in trees.leaves(value):
            head.append(f"#   {trees.show_path(name, path)}: {_described(leaf)}")
    for name, array in emitted.saved.items():
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
        head.append(f"#   constant {name}: {_described(array)}, sha256 {digest}")
    lines, places, place = [], [], ""
    for line in emitted.source.splitlines():
        found = PLACE.match(line)
        if found:
            place = f"{found['place']}  {found['text']}"
            line = f"{found['margin']}{found['text']}"
        lines.append(line)
        places.append(place)
    text = "\n".join([*head, "", *lines]).rstrip() + "\n"
    return Lock(text, ["" for _ in head] + [""] + places)


def _described(leaf: Any) -> str:
    """The type of a leaf; the value itself if it is static."""
    if isinstance(leaf, np.ndarray):
        order = "" if leaf.flags.c_contiguous else ", not in C order"
        return f"{leaf.dtype} {leaf.shape}{order}"
    if isinstance(leaf, float | complex | np.generic) and not isinstance(leaf, np.bool_):
        return type(leaf).__name__
    text = repr(leaf)
    if re.search("0x[0-9a-fA-F]{4}", text) and not trees.is_plain_key(leaf):  # an address
        return f"{type(leaf).__name__} {getattr(leaf, '__qualname__', '')}".rstrip()
    return text


def _said(entry: Entry, path: Path, locked: Lock, now: Lock) -> Iterator[str]:
    """Describe a change: the user's lines first, then the text."""
    old, new = locked.text.splitlines(), now.text.splitlines()
    yield f"{entry.target}: the gradient is not the program that {path.name} locks"
    places = dict.fromkeys(place for place in _changed_places(old, new, now.places) if place)
    known = {line.strip().removeprefix("# ") for line in old}
    changed = [place for place in places if place.partition("  ")[2] not in known]
    for place in changed or places:  # none changed: it is stcompile, NumPy or a type that did
        yield f"  {'changed' if changed else 'other code'}: {place}"
    names = (f"{path.as_posix()} ({locked.versions})", f"now ({now.versions})")
    yield from difflib.unified_diff(old[3:], new[3:], *names, lineterm="")


def _changed_places(old: Sequence[str], new: Sequence[str], places: Sequence[str]) -> Iterator[str]:
    for kind, _, _, start, end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "equal":
            yield from places[start : max(end, start + 1)]
