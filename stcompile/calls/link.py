"""Link source text as a function that tracebacks, `inspect.getsource` and pdb can show."""

from __future__ import annotations

import hashlib
import linecache
import types
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from stcompile.base.deferred import deferred
from stcompile.base.locks import Lock
from stcompile.calls.blas import without_blas

if TYPE_CHECKING:  # imported where it is used
    from stcompile.native.bindings import KernelsInC

share = deferred("stcompile.calls.kernels", "share")
functions_in_c = deferred("stcompile.calls.c_kernels", "functions_in_c")
without_numba = deferred("stcompile.calls.c_kernels", "without_numba")


def link(
    source: str,
    name: str,
    workspace: str | None = None,
    names: Mapping[str, Any] | None = None,
    code: types.CodeType | None = None,
    in_c: KernelsInC | None = None,
) -> Callable[..., Any]:
    """Execute ``source`` as a module and return its function ``name``, or its factory
    ``workspace``. ``names`` are further globals of the module, ``code`` is the text as `compiled`
    gives it, and ``in_c`` are its kernels for a compiler of C; `CompilerError` if that fails.

    The text is kept in `linecache` for as long as that object lives (a function that a factory made
    keeps it alive), under a file name made of ``name`` and a hash of the text: the same source has
    the same file name.
    """
    filename = source_filename(source, name)
    _, imported = _without_imports(source, in_c)
    namespace: dict[str, Any] = {"__name__": f"stcompile.generated.{name}", **imported}
    namespace.update(names or {})
    kernels = {} if in_c is None else functions_in_c(in_c, filename)
    entry = _register(source, filename)
    try:
        exec(code or compiled(source, name, in_c), namespace)
        namespace.update(kernels)
        if "njit" in namespace and "njit" not in imported:
            share(namespace, name)
        linked: Callable[..., Any] = namespace[workspace or name]
    except BaseException:
        _release(filename, entry)
        raise
    weakref.finalize(linked, _release, filename, entry).atexit = False
    return linked


def compiled(source: str, name: str, in_c: KernelsInC | None = None) -> types.CodeType:
    """The text of a module, compiled by Python."""
    text, _ = _without_imports(source, in_c)
    return compile(text, source_filename(source, name), "exec", dont_inherit=True)


def _without_imports(source: str, in_c: KernelsInC | None) -> tuple[str, Mapping[str, Any]]:
    """The text of a module without imports that may be replaced, and what replaces them."""
    source, imported = without_blas(source)
    if in_c is None or not in_c.is_all:
        return source, imported
    source, more = without_numba(source)
    return source, {**imported, **more}


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
