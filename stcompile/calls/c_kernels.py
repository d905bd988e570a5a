"""Kernels that a compiler of C compiles: built-in functions in place of Numba's.

All kernels of a program are one library. A call whose arrays lie otherwise than the kernel was
translated for, as transposed ones do, is made with copies of them; what it writes is copied back.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import itertools
import os
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from stcompile.base.errors import InternalError
from stcompile.base.options import has_numba
from stcompile.base.timings import timed
from stcompile.base.wording import an
from stcompile.calls.c_compiler import compiler, has_openmp, is_new
from stcompile.calls.threads import in_threads_of_c
from stcompile.emit.function import Emitted
from stcompile.native.bindings import NUMBER, Binding, CompilerError, KernelsInC, Raised
from stcompile.native.entries import OWN_NAMES
from stcompile.native.file import kind_of
from stcompile.native.kernels import Operands, kernels_in_c
from stcompile.native.kinds import INT
from stcompile.native.names import c_name
from stcompile.wengert.dims import Symbol, size_of

Call = Callable[..., Any]


def linked_in_c(
    link: Callable[[KernelsInC], Call],
    emitted: Emitted,
    fastmath: bool,
    name: str,
    warn: Callable[[str], None],
) -> tuple[Call, KernelsInC] | None:
    """The function of a program whose kernels are compiled as C, and by Numba what is no C; None,
    with a warning, if there is no compiler that works, or no Numba for the rest."""
    others = "Numba compiles" if has_numba() else "level='fast' has"
    try:
        with timed("C"):
            made, reasons = translated(emitted, fastmath)
            is_enough = not reasons or (made.bindings and has_numba())
            found = (link(made), made) if is_enough else None
    except CompilerError as error:
        if is_new(str(error)):
            warn(f"{error}: {others} the loops")
        return None
    if found is not None and made.has_threads and not has_openmp(by := compiler()):
        said = f"{by.shown} has no OpenMP: loops run in one thread"
        if is_new(said):
            warn(said)
    for reason in dict.fromkeys(reasons.values()):
        warn(f"{others} a loop of `{name}`: as C, {reason}")
    return found


def translated(emitted: Emitted, fastmath: bool) -> tuple[KernelsInC, dict[str, str]]:
    """The kernels of a program as C, and the reasons why some are none, by their names."""
    operands, reasons = {}, {}
    names = _names_of_lengths(emitted)
    for kernel in emitted.kernels.values():
        types_ = [variable.type for variable in kernel.statements.schedule.tree.inputs]
        others = [one for one in types_ if one.kind not in ("array", "python", "scalar")]
        if others:
            reasons[kernel.name] = f"an operand is {an(str(others[0]))}"
            continue
        kinds = [kind_of(one, names) for one in types_]
        lengths = {
            at: size_of(replace(symbol, name=names[symbol]))
            for at, symbol in enumerate(kernel.lengths, len(kinds))
        }
        kinds += [INT] * (len(lengths) + len(kernel.steps))
        operands[kernel.name] = Operands(kinds, frozenset(kernel.written), lengths)

    def locate(line: int) -> str:
        place = emitted.lines.get(line)
        shown = None if place is None else place.shown
        return "" if shown is None else f"{os.path.basename(shown.file)}:{shown.line}"

    named = {own: symbol for symbol, own in names.items()}
    made, more = kernels_in_c(emitted.source, emitted.name, operands, locate, named, fastmath)
    reasons |= more
    return replace(made, is_all=not reasons), reasons


def _names_of_lengths(emitted: Emitted) -> dict[Symbol, str]:
    """The names in C of the lengths that have names: of arguments, and of operands of kernels."""
    found: dict[Symbol, str] = {}
    wishes = [emitted.symbols, *(kernel.lengths for kernel in emitted.kernels.values())]
    for symbol, wish in (pair for one in wishes for pair in one.items()):
        tries = (c_name(wish) if at == 1 else f"{wish}_{at}" for at in itertools.count(1))
        if symbol not in found:
            found[symbol] = next(own for own in tries if own not in {*found.values(), *OWN_NAMES})
    return found


def functions_in_c(made: KernelsInC, filename: str) -> dict[str, Call]:
    """The kernels by their names, for a module with a file name; `CompilerError` if they are not
    compiled."""
    if not made.bindings:
        return {}
    library = compiler().library(made.text, made.fastmath, made.has_threads)
    return {one.name: _function(library, one, made, filename) for one in made.bindings}


def _function(library: ctypes.CDLL, binding: Binding, made: KernelsInC, filename: str) -> Call:
    """A built-in function. It has the objects with it that the text reads by position
    (`stcompile.native.entries`)."""

    def fail(code: int, *said: int) -> NoReturn:
        _fail(made.raised[code - 1], filename, said)

    def calls(others: Call) -> Call:
        dtypes = [*(dtype for _, dtype, _ in binding.arrays), *binding.made]
        objects = (np.ndarray, others, fail, np.empty, *map(np.dtype, dtypes))
        return new(ctypes.addressof(method), objects, filename)  # type: ignore[no-any-return]

    new = ctypes.pythonapi["PyCFunction_NewEx"]
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, *[ctypes.py_object] * 2]
    method = ctypes.c_char.in_dll(library, f"method_{binding.name}")
    exact = calls(functools.partial(_refuse, binding.name))
    kernel = calls(functools.partial(_with_copies, binding, exact))
    if not binding.has_threads:
        return kernel
    return in_threads_of_c(kernel, ctypes.c_int.in_dll(library, NUMBER))


def _refuse(name: str, *operands: Any) -> NoReturn:
    shown = ", ".join(f"{one.dtype}{one.shape}" for one in operands if isinstance(one, np.ndarray))
    raise InternalError(f"{name} is for arrays of other lengths than {shown}")


def _with_copies(binding: Binding, kernel: Call, *operands: Any) -> Any:
    """Call a kernel with copies of the arrays that lie otherwise than it takes them."""
    given = list(operands)
    if len(given) != binding.count:
        raise InternalError(f"{binding.name} takes {binding.count} operands, not {len(given)}")
    for at, dtype, is_written in binding.arrays:
        array = np.asarray(given[at])
        if is_written and array.dtype != dtype:
            raise InternalError(f"operand {at} of {binding.name} is {array.dtype}, not {dtype}")
        given[at] = np.array(array, np.dtype(dtype), order="C", subok=False)
    result = kernel(*given)
    for at, _, is_written in binding.arrays:
        if is_written:
            operands[at][...] = given[at]
    return result


def _fail(raised: Raised, filename: str, said: tuple[int, ...]) -> NoReturn:
    """Raise an error of a kernel, with the line and the function of its text in the traceback."""
    parts = (said[part[0]] if isinstance(part, tuple) else part for part in raised.parts)
    kind: Any = getattr(builtins, raised.error, None) or getattr(np.linalg, raised.error)
    code = compile("\n" * (raised.line - 1) + "raise error", filename, "exec")
    exec(code.replace(co_name=raised.function), {"error": kind(*parts)})
    raise AssertionError


def without_numba(source: str) -> tuple[str, Mapping[str, Any]]:
    """Replace the import of Numba in a text by an empty line; return the text and what would be
    imported, which leaves functions as they are."""
    lines = source.split("\n")
    taken = [line for line in lines if line.startswith("from numba import ")]
    kept = ["" if line in taken else line for line in lines]
    return "\n".join(kept), {"njit": _plain, "prange": range} if taken else {}


def _plain(**_: Any) -> Callable[[types.FunctionType], types.FunctionType]:
    return lambda function: function
