"""A folder of files that this user alone has written.

Files that are read will be executed, so nothing is taken on trust: the folder and each file must
belong to the user, and nobody else may be able to write them; each file begins with a keyed digest
(HMAC) of its name and its content, made with a secret that only the user can read. A file that is
cut short, damaged, renamed or made by somebody else has another digest.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
import tempfile
from pathlib import Path

from stcompile.base.files import write_whole

KEY = "secret.key"
SUFFIX = ".entry"
_MAGIC = b"stcompile cache 1\n"
_DIGEST = 32
_ABANDONED = 3600.0  # seconds after which a file under another name is nobody's any more


class PrivacyError(Exception):
    """A folder or a file that somebody else has written, or could have."""


class DamageError(Exception):
    """A file whose content differs from what was written."""


class PrivateFolder:
    """Files by name, in a folder that is made when the first file is written."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._key: bytes | None = None

    def check(self) -> None:
        """Raise `PrivacyError` or `DamageError` if the folder or its secret cannot be trusted,
        `OSError` if no file can be written there. Writing is tried; a folder that is made for the
        trial is removed.
        """
        is_there = os.path.lexists(self.path)
        if is_there:
            _check_own(os.lstat(self.path), self.path)
            if not self.path.is_dir():
                raise NotADirectoryError(f"{self.path} is a file: name a folder")
        if (self.path / KEY).exists():
            self._secret(make=False)
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryFile(dir=self.path):
                pass
        finally:
            if not is_there:
                with contextlib.suppress(OSError):  # others write to it by now
                    self.path.rmdir()

    # --- files ---------------------------------------------------------------------------------

    def names(self, prefix: str) -> list[str]:
        """The names that begin with ``prefix``, the most recently used first."""
        return [name for _, _, name in reversed(self.sizes(prefix))]

    def read(self, name: str) -> bytes:
        """The content of a file. `DamageError` if it is not what was written, `PrivacyError` if
        somebody else could have written it, `OSError` if it cannot be read."""
        key = self._secret(make=False)
        content = _read_own(self._file(name))
        head, digest, body = _parts(content)
        if head != _MAGIC or not hmac.compare_digest(digest, _digest(key, name, body)):
            raise DamageError(f"{self._file(name)} is damaged")
        return body

    def write(self, name: str, content: bytes) -> None:
        """Write a file; a concurrent reader finds it complete or not at all."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = self._secret(make=True)
        digest = _digest(key, name, content)
        write_whole(self._file(name), _MAGIC + digest + content, private=True, make_folder=False)

    def touch(self, name: str) -> None:
        """Note that a file was used."""
        os.utime(self._file(name))

    def remove(self, name: str) -> None:
        self._file(name).unlink(missing_ok=True)

    def sizes(self, prefix: str = "") -> list[tuple[float, int, str]]:
        """The time of last use, the number of bytes and the name of each file, the oldest first."""
        states = _scan(self.path, prefix, SUFFIX)
        return sorted((s.st_mtime, s.st_size, name.removesuffix(SUFFIX)) for s, name in states)

    def trim(self, most: int, now: float) -> int:
        """Remove the files that were used longest ago until all have no more than ``most`` bytes,
        and the temporary files of writers that were killed. Return how many files were removed."""
        for state, name in _scan(self.path, ".", ".tmp"):
            if now - state.st_mtime > _ABANDONED:
                (self.path / name).unlink(missing_ok=True)
        held = self.sizes()
        total, removed = sum(size for _, size, _ in held), 0
        for _, size, name in held:
            if total <= most:
                break
            self.remove(name)
            total, removed = total - size, removed + 1
        return removed

    def _file(self, name: str) -> Path:
        return self.path / f"{name}{SUFFIX}"

    # --- the secret ----------------------------------------------------------------------------

    def _secret(self, make: bool) -> bytes:
        """The secret of the folder, which has to be the user's own."""
        if self._key is None:
            _check_own(os.lstat(self.path), self.path)
            file = self.path / KEY
            if make and not file.exists():
                _write_once(file, secrets.token_bytes(_DIGEST))
            key = _read_own(file, readable=False)
            if make and len(key) != _DIGEST:  # files signed with the old key count as damaged
                file.unlink()
                _write_once(file, secrets.token_bytes(_DIGEST))
                key = _read_own(file, readable=False)
            if len(key) != _DIGEST:
                raise DamageError(f"{file} is damaged")
            self._key = key
        return self._key


def _write_once(path: Path, content: bytes) -> None:
    """Write a file unless it exists. Of several writers at once exactly one succeeds,
    completely."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        write_whole(beside, content, private=True, make_folder=False)
        os.link(beside, path)
    except FileExistsError:
        pass
    finally:
        beside.unlink(missing_ok=True)


def _scan(folder: Path, prefix: str, suffix: str) -> list[tuple[os.stat_result, str]]:
    """The state and the name of each file of a folder whose name has the prefix and the suffix.
    Files that another process removes meanwhile are left out; the list is empty if there is no
    folder."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(prefix) and entry.name.endswith(suffix):
                    with contextlib.suppress(FileNotFoundError):
                        found.append((entry.stat(follow_symlinks=False), entry.name))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return found


def _parts(content: bytes) -> tuple[bytes, bytes, bytes]:
    start = len(_MAGIC)
    return content[:start], content[start : start + _DIGEST], content[start + _DIGEST :]


def _digest(key: bytes, name: str, content: bytes) -> bytes:
    return hmac.digest(key, name.encode() + b"\n" + content, "sha256")


def _read_own(path: Path, readable: bool = True) -> bytes:
    """Read a file of the user's. The file that is checked is the open file, so it cannot be
    exchanged."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with open(number, "rb") as file:
        _check_own(os.fstat(number), path, readable)
        return file.read()


def _check_own(state: os.stat_result, path: Path, readable: bool = True) -> None:
    """Refuse a file that does not belong to the user, that others may write, or (unless
    ``readable``) that others may read. On Windows folders of the user's profile are private; there
    the secret has to do."""
    if not hasattr(os, "getuid"):
        return
    if stat.S_ISLNK(state.st_mode):
        raise PrivacyError(f"{path} is a link: name the folder itself")
    if state.st_uid != os.getuid():
        raise PrivacyError(f"{path} belongs to another user")
    others = stat.S_IWGRP | stat.S_IWOTH
    if state.st_mode & (others if readable else stat.S_IRWXG | stat.S_IRWXO):
        what = "written" if readable else "read"
        raise PrivacyError(f"{path} may be {what} by other users: chmod go-rwx {path}")
