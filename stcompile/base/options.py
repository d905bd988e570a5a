"""Options that a function is compiled with, as the public functions take them in keywords."""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, Literal, get_args

from stcompile.base.generics import P, R

Level = Literal["fast", "readable", "compiled"]
Form = Literal["fast", "readable", "compiled", "inner", "whole"]
LEVELS: tuple[Level, ...] = get_args(Level)
OnError = Literal["raise", "capsule"]
Copied = bool | str | tuple[str, ...]
Threads = int | Literal["auto"] | None
LoopCompiler = Literal["numba", "c"]

DEFAULT_LEVEL: Level = "fast"


def _default_level() -> Level:
    return DEFAULT_LEVEL


DEFAULT_DYNAMIC: bool | None = None


def _default_dynamic() -> bool | None:
    return DEFAULT_DYNAMIC


def _default_verify() -> bool:
    return os.environ.get("STCOMPILE_VERIFY", "0") not in ("", "0")


NUMBA_LIMIT = "STCOMPILE_NUMBA_LIMIT"


def _default_numba_limit() -> float:
    """The limit that the environment names, or 20 s."""
    text = os.environ.get(NUMBA_LIMIT, "") or "20"
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not limit >= 0:
        raise ValueError(f"{NUMBA_LIMIT} is a number of seconds, or 'inf', not {text!r}")
    return limit


@dataclass(frozen=True)
class Options:
    """The options that a function is compiled and called with."""

    # "readable": textbook code, whose primal is bitwise equal to the function. "fast": planned
    # buffers and fused products. "compiled": loops over numbers, which Numba compiles.
    level: Level = field(default_factory=_default_level)

    # Look for NaNs in the results of each call.
    debug_nans: bool = False

    # Let code of the fast level call SciPy's BLAS. None: if SciPy is installed.
    blas: bool | None = None

    # The largest number of bytes that a call of the fast level may hold. None: no bound.
    memory: int | None = None

    # With debug_nans: look for infinities as well.
    debug_infinities: bool = False

    # "capsule": write a file that repeats an error of the generated code. "raise": write nothing.
    on_error: OnError = "raise"

    # Names of the arguments that the function gets copies of. True: all arguments.
    copy: Copied = False

    # Lengths of arguments that become symbolic dimensions, so that one program serves all lengths.
    # None: lengths that have changed between calls. True: all. False: none.
    dynamic: bool | None = field(default_factory=_default_dynamic)

    # Name of the module whose arrays the generated code is for. "": NumPy.
    xp: str = ""

    # Generate code without buffers, for other functions that Numba compiles to call.
    inner: bool = False

    # Generate code of loops over numbers alone, without a call of NumPy where that is possible.
    whole: bool = False

    # Let loops of the compiled level run in several threads.
    parallel: bool = False

    # Let the compiler of the compiled level reorder sums, and assume finite numbers.
    fastmath: bool = False

    # Check the list after every stage, and that the code reads each value before its memory is
    # written again.
    verify: bool = field(default_factory=_default_verify)

    # Compiler of the loops of the compiled level: Numba, or a compiler of C. None: Numba if it is
    # installed, else a compiler of C.
    compiler: LoopCompiler | None = None

    # Number of threads that the libraries of linear algebra take during a call. "auto": a number
    # that is chosen by measuring. None: as many as the libraries are set to.
    threads: Threads = None

    # Largest number of seconds that Numba may take for a function of the compiled level, by an
    # estimate. A function that would take longer runs at the fast level.
    numba_limit: float = field(default_factory=_default_numba_limit)

    def __post_init__(self) -> None:
        names = (self.copy,) if isinstance(self.copy, str) else self.copy
        if not isinstance(names, bool):
            names = names if isinstance(names, tuple) else (names,)
            if not all(isinstance(name, str) for name in names):
                raise ValueError(
                    f"copy is the name of an argument, a tuple of names, or True: {self.copy!r}"
                )
            object.__setattr__(self, "copy", names)
        if self.on_error not in ("raise", "capsule"):
            raise ValueError(f"on_error is 'raise' or 'capsule', not {self.on_error!r}")
        if self.level not in LEVELS:
            shown = ", ".join(map(repr, LEVELS[:-1]))
            raise ValueError(f"level is {shown} or {LEVELS[-1]!r}, not {self.level!r}")
        if self.dynamic not in (None, True, False):
            raise ValueError(f"dynamic is None, True or False, not {self.dynamic!r}")
        if self.xp and self.level != "readable":
            raise ValueError("arrays of another namespace, xp, need level='readable'")
        _check_threads(self.threads)
        if self.xp and self.threads is not None:
            raise ValueError(
                "threads is for NumPy's arrays, not for those of another namespace, xp"
            )
        for name in ("parallel", "fastmath"):
            if getattr(self, name) and self.level != "compiled":
                raise ValueError(f"{name}=True needs level='compiled'")
        if self.compiler not in (None, *get_args(LoopCompiler)):
            raise ValueError(f"compiler is 'numba', 'c' or None, not {self.compiler!r}")
        if self.compiler is not None and self.level != "compiled":
            raise ValueError(f"compiler={self.compiler!r} needs level='compiled'")
        if self.memory is not None and self.level != "fast":
            raise ValueError("a memory budget needs level='fast'")

    def at_fast_level(self) -> Options:
        """The same at the fast level, without what only the compiled level has."""
        return replace(self, level="fast", parallel=False, fastmath=False, compiler=None)

    @property
    def is_watched(self) -> bool:
        """True if calls are prepared for errors, with a capsule or a search for NaNs, which takes
        time."""
        return self.debug_nans or self.on_error == "capsule"

    @property
    def form(self) -> Form:
        """The level, or ``"inner"`` for code that other functions compiled by Numba call, and
        ``"whole"`` for code that is a single kernel."""
        if self.whole:
            return "whole"
        return "inner" if self.inner else self.level

    @property
    def is_planned(self) -> bool:
        """True if arrays of the code between kernels are computed in buffers."""
        return self.form in ("fast", "compiled")

    @property
    def is_by_c(self) -> bool:
        """True if loops are for a compiler of C."""
        by_c = self.compiler == "c" if self.compiler else not has_numba()
        return by_c and self.form == "compiled"

    @property
    def has_blas(self) -> bool:
        """True if code may call SciPy's BLAS."""
        return _has_scipy() if self.blas is None else self.blas


def _check_threads(threads: Any) -> None:
    is_number = isinstance(threads, int) and not isinstance(threads, bool) and threads >= 1
    if not (threads is None or threads == "auto" or is_number):
        raise ValueError(f"threads is a number from 1, 'auto' or None, not {threads!r}")


def has_numba() -> bool:
    """True if Numba is installed."""
    return find_spec("numba") is not None


@functools.cache
def _has_scipy() -> bool:
    return find_spec("scipy") is not None


_UNITS = {
    prefix + ("iB" if base == 1024 else "B"): base**power
    for base, prefixes in ((1000, ("k", "M", "G", "T")), (1024, ("K", "M", "G", "T")))
    for power, prefix in enumerate(prefixes, 1)
} | {"B": 1, "KB": 1000}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*")


def bytes_of(size: int | str) -> int:
    """Convert a size to a number of bytes; ``size`` is a number, or text with a unit.

    >>> bytes_of("64MB"), bytes_of("1.5 GB"), bytes_of("2KiB"), bytes_of(1000)
    (64000000, 1500000000, 2048, 1000)
    """
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match and (match[2] or "B") in _UNITS:
        size = int(float(match[1]) * _UNITS[match[2] or "B"])
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise ValueError(f"memory is a number of bytes, or text such as '64MB', not {size!r}")
    return size


def options(
    level: Level | None = None,
    debug_nans: bool = False,
    memory: int | str | None = None,
    on_error: OnError = "raise",
    copy: Copied = False,
    dynamic: bool | None = None,
    xp: Any = None,
    parallel: bool = False,
    fastmath: bool = False,
    threads: Threads = None,
    compiler: LoopCompiler | None = None,
) -> Options:
    """Make options from keywords, of which None stands for the default; the default level is
    ``"fast"`` if there is a memory budget."""
    held = None if memory is None else bytes_of(memory)
    if xp is not None:
        if not hasattr(xp, "asarray") or not hasattr(xp, "__name__"):
            raise ValueError(f"xp is a module of arrays, such as cupy, not {xp!r:.80}")
        level, dynamic = level or "readable", False
    return Options(
        level or (_default_level() if memory is None else "fast"),
        debug_nans,
        memory=held,
        on_error=on_error,
        copy=copy,
        dynamic=_default_dynamic() if dynamic is None else dynamic,
        xp="" if xp is None else xp.__name__,
        parallel=parallel,
        fastmath=fastmath,
        threads=threads,
        compiler=compiler,
    )


def takes_options(*without: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a public function that collects options in keywords: its signature spells out those
    of `options` but for ``without``, and another keyword is a `TypeError`, as for any function."""
    known = inspect.signature(options).parameters.items()
    spelled = [p.replace(kind=p.KEYWORD_ONLY) for name, p in known if name not in without]

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own = inspect.signature(function)
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        signature = own.replace(parameters=[*named, *spelled])

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in signature.parameters:
                    said = f"{function.__name__}() got an unexpected keyword argument {name!r}"
                    raise TypeError(said)
            return function(*args, **kwargs)

        vars(checked)["__signature__"] = signature
        return checked

    return decorate
