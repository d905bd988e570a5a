"""Functions that Numba compiles: each once for a process, and once for all of a user's processes.

Two kernels of equal code are one object of Numba's, whichever programs they belong to. What Numba
has made of one for the types of a call is kept beside compiled programs, in the same private folder
(`stcompile.base.private`): it holds machine code. Numba's own cache needs a file for each module,
believes what stands beside it, and raises where that is damaged.

What Numba has cached names a module that it imports to load it: this one.
"""

from __future__ import annotations

import functools
import pickle
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from stcompile.base import logs
from stcompile.base.foreign import written_as
from stcompile.base.private import PrivateFolder
from stcompile.calls.cache_files import guarded, read_entry, write_entry
from stcompile.calls.cache_folder import cache_folder
from stcompile.calls.fingerprint import digest_of
from stcompile.calls.waiting import shown_if_long

_SHARED: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def share(namespace: dict[str, Any], program: str) -> None:
    """Put kernels of equal code that were made before in place of those of a program's module,
    which was just executed, and give the others their cache."""
    made = {name: value for name, value in namespace.items() if written_as(value) is not value}
    if not made:
        return
    try:
        for name, kernel in made.items():
            digest = _digest(kernel, made)
            known = _SHARED.setdefault(digest, kernel)
            if known is kernel:
                _prepare(kernel, digest, program)
            namespace[name] = known
    except (AttributeError, ImportError) as error:  # another Numba
        logs.debug("the kernels of %s are compiled in every process: %s", program, error)
    namespace["__name__"] = __name__  # what Numba imports


def _prepare(kernel: Any, digest: str, program: str) -> None:
    function, compiler = kernel.py_func, kernel._compiler
    function.__module__ = __name__
    function.__qualname__ = f"{digest}.{function.__name__}"  # names in machine code are made of it
    kernel._cache = KernelCache(function.__name__, digest)
    title = f"Numba compiles {function.__name__} of {program}"
    compiler.compile = functools.partial(_compiled, title, compiler.compile)


def _compiled(title: str, compile: Callable[..., Any], *types: Any) -> Any:
    """What Numba makes of a kernel for the types of a call."""
    with shown_if_long(title):
        return compile(*types)


# --- what tells kernels apart --------------------------------------------------------------------


def _digest(kernel: Any, others: Mapping[str, Any]) -> str:
    """What the machine code of a kernel depends on, but for types and the processor."""
    functions = [kernel, *_called(kernel, others).values()]
    told = [(_code(f.py_func.__code__), sorted(f.targetoptions.items())) for f in functions]
    return digest_of((told, _installed()))


def _called(kernel: Any, others: Mapping[str, Any]) -> dict[str, Any]:
    """The functions for Numba that a kernel calls, and those that they call."""
    found: dict[str, Any] = {}
    waiting = [kernel]
    while waiting:
        names = waiting.pop().py_func.__code__.co_names
        new = {name: others[name] for name in names if name in others and name not in found}
        found |= new
        waiting += new.values()
    return found


def _code(code: types.CodeType) -> tuple[Any, ...]:
    """What code does, wherever it stands and whatever its function is called."""
    constants = tuple(
        _code(value) if isinstance(value, types.CodeType) else (type(value).__name__, repr(value))
        for value in code.co_consts
    )
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_argcount, code.co_flags, code.co_code.hex(), *names, constants


def _installed() -> tuple[Any, ...]:
    """The versions and settings that decide what machine code Numba makes."""
    config = import_module("numba").config
    settings = config.OPT, config.BOUNDSCHECK, config.USING_SVML, config.DEBUGINFO_DEFAULT
    versions = (import_module(name).__version__ for name in ("numpy", "numba", "llvmlite"))
    return sys.version, *versions, *map(str, settings)


# --- on disk -------------------------------------------------------------------------------------


class KernelCache:
    """What Numba asks for the machine code of a kernel."""

    cache_path = None

    def __init__(self, kernel: str, digest: str) -> None:
        self.kernel = kernel
        self.digest = digest

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled kernel for the types of a call; None if there is none."""
        target.refresh()
        folder = self._folder()
        if folder is None:
            return None

        def found() -> Any:
            name = self._entry(signature, target.codegen())
            content = read_entry(folder, name, f"{self.kernel} compiled")
            if content is None:
                return None
            compiler = import_module("numba.core.compiler")
            made = compiler.CompileResult._rebuild(target, *pickle.loads(content))
            folder.touch(name)
            return made

        return guarded(found, f"{self.kernel} is compiled", folder)

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep a compiled kernel, unless its machine code has addresses of this process."""
        folder = self._folder()
        if folder is None or made.lifted or made.library.has_dynamic_globals:
            return

        def keep() -> None:
            content = import_module("numba.core.serialize").dumps(made._reduce())
            write_entry(folder, self._entry(signature, made.codegen), content)

        guarded(keep, f"{self.kernel} is not cached", folder)

    def enable(self) -> None:
        """The environment decides whether there is a cache, for kernels as for programs."""

    disable = flush = enable

    def _folder(self) -> PrivateFolder | None:
        folder = cache_folder()
        return None if folder is None else PrivateFolder(folder)

    def _entry(self, signature: Any, codegen: Any) -> str:
        return f"kernel-{digest_of((self.digest, str(signature), codegen.magic_tuple()))}"
