"""Kernels that Numba compiles: each once for a process, and once for all of a user's processes.

Two kernels of equal code are a single object of Numba's, whichever programs they belong to. The
machine code of a kernel for the types of a call is kept beside compiled programs, in the same
private folder (`stcompile.base.private`). Numba's own cache needs a file for each module, trusts
the files that it finds, and raises if they are damaged.

Cached machine code names a module that Numba imports to load it: this module.
"""

from __future__ import annotations

import functools
import pickle
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from stcompile.base import logs
from stcompile.base.errors import InternalError
from stcompile.base.foreign import written_as
from stcompile.base.private import PrivateFolder
from stcompile.base.timings import kernel_compilation
from stcompile.calls.cache_files import guarded, read_entry, write_entry
from stcompile.calls.cache_folder import cache_folder
from stcompile.calls.fingerprint import Untold, digest_of
from stcompile.calls.threads import in_threads
from stcompile.calls.waiting import shown_if_long

_SHARED: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def share(namespace: dict[str, Any], program: str) -> None:
    """Replace the kernels of a program's module, which was just executed, by kernels of equal code
    that were made before, and give the others their cache."""
    made = {name: value for name, value in namespace.items() if written_as(value) is not value}
    for name, kernel in made.items():
        digest = give_cache(kernel, program)
        if digest:
            compiler = kernel._compiler
            compiler.compile = functools.partial(_without_fail, compiler.compile)
            namespace[name] = kernel = _SHARED.setdefault(digest, kernel)
        if kernel.targetoptions.get("parallel"):
            namespace[name] = in_threads(kernel)


def give_cache(kernel: Any, program: str) -> str:
    """Have Numba look for a kernel of a program in the cache, and report long compilations. Return
    the digest of the kernel; "" if it has none."""
    try:
        digest, function, compiler = _digest(kernel), kernel.py_func, kernel._compiler
        name = f"{function.__name__} of {program}"
        compiler.compile = functools.partial(_compiled, name, compiler.compile)
        kernel._cache = KernelCache(function.__name__, digest)
    except (Untold, AttributeError, ImportError) as error:  # another Numba
        logs.debug("the kernels of %s are compiled in every process: %s", program, error)
        return ""
    function.__qualname__ = f"{digest}.{function.__name__}"  # names in machine code are made of it
    function.__module__ = __name__
    for one in _with_called(kernel):
        one.py_func.__globals__["__name__"] = __name__  # Numba imports this module
    return digest


def _compiled(name: str, compile: Callable[..., Any], *types: Any) -> Any:
    """Let Numba compile a kernel for the types of a call."""
    with shown_if_long(f"Numba compiles {name}"), kernel_compilation(name):
        return compile(*types)


def _without_fail(compile: Callable[..., Any], *types: Any) -> Any:
    """Compile code that was written for Numba; a failure is an error of stcompile."""
    try:
        return compile(*types)
    except import_module("numba.core.errors").NumbaError as error:
        said = next((line for line in str(error).splitlines()[1:] if line.strip()), "")
        raise InternalError(
            f"Numba does not compile a loop of this ({type(error).__name__}: {said.strip()})",
            hint="this is an error of stcompile: please report it, with the function and the "
            "traceback; level='fast' works without Numba",
        ) from error


# --- digests of kernels --------------------------------------------------------------------------


def _digest(kernel: Any) -> str:
    """A digest of everything that the machine code of a kernel depends on, except for types and the
    processor; `Untold` if that is more than code and modules."""
    told = [
        (_code(own.__code__, own.__doc__), sorted(called.targetoptions.items()), _read(own))
        for called in _with_called(kernel)
        for own in (called.py_func,)
    ]
    return digest_of((told, _installed()))


def _with_called(kernel: Any) -> list[Any]:
    """A kernel, and all functions for Numba that it calls, directly or indirectly."""
    found = [kernel]
    for one in found:
        called = (value for _, value in _globals(one.py_func) if written_as(value) is not value)
        found += [value for value in called if not any(value is other for other in found)]
    return found


def _globals(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The globals that a function may read, each with its name."""
    space = function.__globals__
    return ((name, space[name]) for name in function.__code__.co_names if name in space)


def _read(function: types.FunctionType) -> list[tuple[str, str]]:
    """The modules that a function reads from."""
    if function.__defaults__ or function.__kwdefaults__:
        raise Untold(f"{function.__name__} has defaults")
    found = []
    for name, value in _globals(function):
        if isinstance(value, types.ModuleType):
            found.append((name, value.__name__))
        elif written_as(value) is value:
            raise Untold(f"{function.__name__} reads {name}")
    return found


def _code(code: types.CodeType, doc: str | None = None) -> tuple[Any, ...]:
    """A key of code, independent of its location, of the name of its function, and of its
    docstring, which names the user's lines."""
    values = (None if value is doc else value for value in code.co_consts)
    constants = tuple(
        _code(value) if isinstance(value, types.CodeType) else (type(value).__name__, repr(value))
        for value in values
    )
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_argcount, code.co_flags, code.co_code.hex(), *names, constants


def _installed() -> tuple[Any, ...]:
    """The versions and settings that the machine code made by Numba depends on."""
    config = import_module("numba").config
    settings = config.OPT, config.BOUNDSCHECK, config.USING_SVML, config.DEBUGINFO_DEFAULT
    versions = (import_module(name).__version__ for name in ("numpy", "numba", "llvmlite"))
    return sys.version, *versions, *map(str, settings)


# --- on disk -------------------------------------------------------------------------------------


class KernelCache:
    """The cache object that Numba asks for the machine code of a kernel."""

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
        """Do nothing: the environment decides whether there is a cache, for kernels as for
        programs."""

    disable = flush = enable

    def _folder(self) -> PrivateFolder | None:
        folder = cache_folder()
        return None if folder is None else PrivateFolder(folder)

    def _entry(self, signature: Any, codegen: Any) -> str:
        return f"kernel-{digest_of((self.digest, str(signature), codegen.magic_tuple()))}"
