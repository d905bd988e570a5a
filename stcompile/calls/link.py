"""Link source text as a function that tracebacks, `inspect.getsource` and pdb can show."""

from __future__ import annotations

import hashlib
import linecache
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from stcompile.base.deferred import deferred
from stcompile.base.locks import Lock
from stcompile.calls.blas import without_blas

share = deferred("stcompile.calls.kernels", "share")


def link(
    source: str,
    name: str,
    workspace: str | None = None,
    names: Mapping[str, Any] | None = None,
    code: types.CodeType | None = None,
) -> Callable[..., Any]:
    """Execute ``source`` as a module and return its function ``name``, or its factory
    ``workspace``. ``names`` are further globals of the module, and ``code`` is the text as
    `compiled` gives it.

    The text is kept in `linecache` for as long as that object lives (a function that a factory made
    keeps it alive), under a file name made of ``name`` and a hash of the text: the same source has
    the same file name.
    """
    filename = source_filename(source, name)
    _, imported = without_blas(source)
    namespace: dict[str, Any] = {"__name__": f"stcompile.generated.{name}", **imported}
    namespace.update(names or {})
    entry = _register(source, filename)
    try:
        exec(code or compiled(source, name), namespace)
        if "njit" in namespace:
            share(namespace, name)
        linked: Callable[..., Any] = namespace[workspace or name]
    except BaseException:
        _release(filename, entry)
        raise
    weakref.finalize(linked, _release, filename, entry).atexit = False
    return linked


def compiled(source: str, name: str) -> types.CodeType:
    """The text of a module, compiled by Python."""
    return compile(
        without_blas(source)[0], source_filename(source, name), "exec", dont_inherit=True
    )


def source_filename(source: str, name: str) -> str:
    """The file name of a text, ``<stcompile loss_value_and_grad 3f2a9c01d2e4>``."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    return f"<stcompile {name} {digest}>"


class _Entry(tuple[int, None, list[str], str]):
    """An entry of `linecache` with a token for each function that it is for."""

    users: list[None]


# Functions are linked and collected in any thread. A collection may also happen in the thread that
# has the lock, between any two steps: tokens are added and taken by atomic operations.
_LOCK = Lock()


def _register(source: str, filename: str) -> _Entry:
    with _LOCK.held():
        entry = linecache.cache.get(filename)
        if not isinstance(entry, _Entry):
            # No modification time: `linecache.checkcache` leaves such entries alone.
            entry = _Entry((len(source), None, source.splitlines(keepends=True), filename))
            entry.users = []
        entry.users.append(None)
        linecache.cache[filename] = entry
        return entry


def _release(filename: str, entry: _Entry) -> None:
    with _LOCK.held():
        entry.users.pop()
        if not entry.users and linecache.cache.get(filename) is entry:
            del linecache.cache[filename]
