"""The cache of compiled functions on disk: functions that a process has compiled are linked by the
next.

The *name* of an entry is a digest of everything that is known before a function is compiled: its
parts, the signature of the call, the options, the versions. Dependences that only compiling shows
are its guards; an entry has fingerprints of them, and is taken if they are the same in this
process. A function that depends on values without fingerprints is not cached. (docs/decisions has
the reasons.)

No error of the cache stops a program: it is logged, and the function is compiled.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from stcompile.base import logs
from stcompile.base.boundary import public
from stcompile.base.deferred import deferred
from stcompile.base.private import DamageError, PrivacyError, PrivateFolder
from stcompile.calls.arguments import Arguments
from stcompile.calls.cache_files import guarded, most_bytes, read_entry, write_entry
from stcompile.calls.cache_folder import SWITCH, cache_folder
from stcompile.calls.callee import SignatureKey
from stcompile.calls.compiler import Compiler
from stcompile.calls.fingerprint import Untold, digest_of, fingerprint
from stcompile.calls.installed import versions
from stcompile.calls.kept import packed, unpacked
from stcompile.calls.portable import Stale
from stcompile.calls.specialisation import Specialisation

compiler_key = deferred("stcompile.calls.c_compiler", "compiler_key")
TRIED = 16  # entries of a name, which differ in their captured values


@dataclass(frozen=True)
class CacheState:
    """The present state of the cache: its folder (None if it is switched off), the number and the
    bytes of its entries, the most bytes it may have, and its fault ("" if there is none)."""

    folder: Path | None
    entries: int = 0
    bytes: int = 0
    most: int = 0
    trouble: str = ""

    def __str__(self) -> str:
        if self.folder is None:
            return f"the cache is switched off ({SWITCH}={os.environ.get(SWITCH)})"
        mb = 1e-6 * self.bytes
        text = f"{self.folder}: {self.entries} entries, {mb:.1f} of {1e-6 * self.most:.0f} MB"
        return f"{text}; not used: {self.trouble}" if self.trouble else text


@public
def cache_state() -> CacheState:
    """The state of the cache, for people and for ``stcompile doctor``."""
    folder = cache_folder()
    if folder is None:
        return CacheState(None)
    private = PrivateFolder(folder)
    sizes: list[tuple[float, int, str]] = []
    trouble = ""
    try:
        private.check()
        sizes = private.sizes()
    except (OSError, PrivacyError, DamageError) as error:
        trouble = str(error)
    return CacheState(folder, len(sizes), sum(size for _, size, _ in sizes), most_bytes(), trouble)


@public
def clear_cache() -> int:
    """Remove all entries of the cache; return how many there were."""
    folder = cache_folder()
    return 0 if folder is None else PrivateFolder(folder).trim(0, time.time())


# --- entries -------------------------------------------------------------------------------------


def load(compiler: Compiler, key: SignatureKey, arguments: Arguments) -> Specialisation | None:
    """The compiled function for a call, if the cache has an entry that may be used here."""
    folder = _folder_for(compiler)
    if folder is None:
        return None

    def found() -> Specialisation | None:
        prefix = _name(compiler, key)
        for name in folder.names(f"{prefix}-")[:TRIED]:
            made = _loaded(folder, name, compiler, key, arguments)
            if made is not None:
                return made
        return None

    return guarded(found, f"{compiler.name} is compiled", folder)


def _loaded(
    folder: PrivateFolder,
    name: str,
    compiler: Compiler,
    key: SignatureKey,
    arguments: Arguments,
) -> Specialisation | None:
    try:
        content = read_entry(folder, name, f"{compiler.name} compiled")
        made = None if content is None else unpacked(compiler, arguments, key, content)
    except (Stale, Untold) as error:
        logs.debug("the cached %s is not used: %s", compiler.name, error)
        return None
    if made is None:
        return None
    folder.touch(name)
    return made


def keep(compiler: Compiler, key: SignatureKey, arguments: Arguments, made: Specialisation) -> None:
    """Keep a compiled function for other processes, if they can verify its dependences."""
    folder = _folder_for(compiler)
    if folder is None:
        return

    def kept() -> None:
        try:
            content, captured = packed(compiler, arguments, made)
            name = _name(compiler, key)
        except Untold as error:
            logs.debug("%s is not cached: %s", compiler.name, error)
            return
        write_entry(folder, f"{name}-{captured}", content)

    guarded(kept, f"{compiler.name} is not cached", folder)


def _folder_for(compiler: Compiler) -> PrivateFolder | None:
    """The folder of entries; None if the options ask for more than the compiled function."""
    folder = None if compiler.options.debug_nans else cache_folder()
    return None if folder is None else PrivateFolder(folder)


def _name(compiler: Compiler, key: SignatureKey) -> str:
    """The name of the entry of a call."""
    named = compiler.name, compiler.title, compiler.update
    by = compiler_key() if compiler.options.is_by_c else ()
    return digest_of((versions(), named, by, fingerprint((compiler, key))))
