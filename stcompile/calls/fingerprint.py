"""Fingerprints: keys that tell whether a value of another process is the same as a value of this
process.

Within a process an object is known by its identity. Across processes it is known by its parts: a
function by its code, the text of its lines and its location, a class by its bases and its methods,
a transformed function by the arguments that it was made with. Of an object of the user's class only
the class is looked at: the attributes that a program reads have guards of their own. Values that
have no fingerprint are `Untold`.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import importlib.machinery
import linecache
import operator
import os
import struct
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

import stcompile.codegen_templates as templates
from stcompile.base.classes import MISSING, find, is_changeable
from stcompile.base.guards import has_own_hash
from stcompile.base.location import HERE, PYTHON
from stcompile.base.made_of import Made, codes, looked_up, parts
from stcompile.base.options import Options
from stcompile.base.static import StaticArray
from stcompile.base.trees import Step
from stcompile.calls.signature import Identity
from stcompile.wengert.dims import Dim, Symbol
from stcompile.wengert.types import is_communicator

Fingerprint: TypeAlias = Any  # nested tuples of text and numbers

_OWN = ("stcompile", "numpy", "scipy")
_FOLDERS = tuple(
    folder + os.sep
    for folder in (HERE, os.path.dirname(str(templates.__file__)), os.path.dirname(np.__file__))
)
_SITE = (os.path.join(PYTHON, "site-packages"), os.path.join(PYTHON, "dist-packages"))
_NUMBERS = (int, bool, float, complex, str, bytes, type(None), type(Ellipsis))


class Untold(Exception):
    """Raised for a value that another process cannot compare with its own."""


def digest_of(fingerprint: Fingerprint) -> str:
    """A fingerprint as a short text."""
    return hashlib.sha256(repr(fingerprint).encode()).hexdigest()[:40]


def fingerprint(value: Any) -> Fingerprint:
    """A key that is equal for the same value in any process; `Untold` if there is none."""
    return _Teller().tell(value)


class _Teller:
    def __init__(self) -> None:
        self._around: list[Any] = []  # the containers around the value at hand
        self._classes: dict[type, Fingerprint] = {}
        self._instances: dict[int, int] = {}  # by identity, numbered in the order of their places

    def tell(self, value: Any) -> Fingerprint:
        if type(value) in _NUMBERS:
            return type(value).__name__, repr(value)
        for at, other in enumerate(self._around):
            if other is value:
                return "again", at
        self._around.append(value)
        try:
            for kinds, told in self._table():
                if isinstance(value, kinds):
                    return told(value)
            held = parts(value)
            return self._object(value) if held is None else self._made_of(value, held)
        finally:
            self._around.pop()

    def _table(self) -> Iterator[tuple[Any, Callable[[Any], Fingerprint]]]:
        yield type, self._class
        yield types.FunctionType, self._function
        yield types.CodeType, self._code
        yield types.ModuleType, self._module
        yield np.ufunc, self._ufunc
        yield Dim, lambda v: ("size", repr(v), *map(self.tell, sorted(v.symbols, key=str)))
        yield Symbol, lambda v: ("symbol", v.name, self.tell(v.low), self.tell(v.high))
        yield StaticArray, lambda v: ("array", v.dtype.str, v.shape, v.tobytes().hex())
        yield np.dtype, lambda v: ("dtype", repr(v), v.str)
        yield enum.Enum, lambda v: ("enum", self._class(type(v)), v.name, self._held(v.value))
        yield Identity, lambda v: self.tell(v.value)
        yield operator.itemgetter | operator.attrgetter, lambda v: self.tell(v.__reduce__())
        yield slice, lambda v: ("slice", self.tell((v.start, v.stop, v.step)))
        yield range, lambda v: ("range", repr(v))
        yield types.GenericAlias | types.UnionType, lambda v: ("annotation", repr(v))

    def _made_of(self, value: Any, held: Iterator[tuple[Step, Any]]) -> Fingerprint:
        """The fingerprint of a value that is nothing but its parts."""
        cls = type(value)
        if isinstance(value, Made):
            if hasattr(value, "result_type"):
                raise Untold("it calls a function that stcompile does not read")
            if not str(cls.__module__).startswith("stcompile."):
                raise Untold(f"{_shown(value)} transforms functions")
        told = ((kind, self.tell(key), self.tell(part)) for (kind, key), part in held)
        return *self._name(cls), *told

    # --- objects -------------------------------------------------------------------------------

    def _object(self, value: Any) -> Fingerprint:
        kind = type(value)
        if kind in (set, frozenset):
            return kind.__name__, *sorted(repr(self.tell(part)) for part in value)
        if isinstance(value, np.generic) and not is_changeable(kind):
            return "number", value.dtype.str, value.tobytes().hex()
        if value is MISSING:
            return ("missing",)
        if kind is Options:
            return "options", repr(dataclasses.replace(value, threads=None)), value.has_blas
        if _is_importable(value):
            return "library", value.__module__, value.__qualname__
        if isinstance(value, types.GetSetDescriptorType | types.MemberDescriptorType):
            return "slot", self._class(value.__objclass__), value.__name__
        if isinstance(value, types.WrapperDescriptorType | types.MethodDescriptorType):
            return "method", self._class(value.__objclass__), value.__name__
        if is_communicator(value):  # read at every call: a program depends on its interface alone
            return "communicator", self._name(kind)
        return self._instance(value)

    def _instance(self, value: Any) -> Fingerprint:
        """The fingerprint of an object of a class that is written in Python alone, with its number
        among the objects that were met so far; guards check its attributes."""
        kind = type(value)
        if str(kind.__module__).split(".")[0] == "stcompile":
            if find(kind, "stage_call") is not MISSING:
                raise Untold(f"nothing says what {_shown(value)} is made of")
            return "instance", self._name(kind)
        if not is_changeable(kind) or not _has_attributes_alone(kind):
            raise Untold(f"nothing says what {_shown(value)} is made of")
        if find(kind, "stage_call") is not MISSING:
            raise Untold(f"{_shown(value)} transforms functions")
        number = self._instances.setdefault(id(value), len(self._instances))
        return "instance", number, self._class(kind)

    # --- functions and classes -----------------------------------------------------------------

    def _function(self, function: types.FunctionType) -> Fingerprint:
        if "stage_call" in vars(function) and not _is_library(function.__code__.co_filename):
            raise Untold(f"{_shown(function)} transforms functions")
        return "function", function.__module__, function.__qualname__, self._code(function.__code__)

    def _code(self, code: types.CodeType) -> Fingerprint:
        name = code.co_qualname
        place = code.co_filename, name, code.co_firstlineno
        if _is_library(code.co_filename):
            return "code", *place
        generated = code.co_filename == "<string>"  # as a dataclass writes its methods
        text = () if generated else _text_of(code)
        return "code", *place, _code_parts(code), text

    def _class(self, cls: type) -> Fingerprint:
        if not is_changeable(cls) or _is_of_library(str(cls.__module__)):
            return self._name(cls)
        if cls not in self._classes:
            held = sorted((name, self._held(v)) for name, v in vars(cls).items() if v is not cls)
            meta = self._class(type(cls)) if type(cls) is not type else ()
            bases = tuple(map(self._class, cls.__bases__))
            self._classes[cls] = "class", *self._name(cls), bases, meta, *held
        return self._classes[cls]

    def _held(self, value: Any) -> Fingerprint:
        """The fingerprint of the object that a class has under a name: functions and plain values.
        A program that reads more of it has a guard for that."""
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if isinstance(value, property):
            return "property", *map(self._held, (value.fget, value.fset, value.fdel))
        if isinstance(value, dataclasses.Field):
            parts = value.default, value.default_factory, value.init, value.kw_only
            return "field", value.name, *map(self._held, parts)
        if isinstance(value, types.MappingProxyType | dict) and value:
            return "dict", *((repr(key), self._held(part)) for key, part in value.items())
        if isinstance(value, tuple):
            return "tuple", *map(self._held, value)
        if type(value) in _NUMBERS:
            return type(value).__name__, repr(value)
        if isinstance(value, types.FunctionType):
            code = value.__code__
            return "function", code.co_filename, code.co_firstlineno, digest_of(_code_parts(code))
        return ("other", type(value).__name__)

    def _name(self, cls: type) -> Fingerprint:
        return "name", cls.__module__, cls.__qualname__

    def _module(self, module: types.ModuleType) -> Fingerprint:
        is_scipy = module.__name__.split(".")[0] == "scipy"
        if _is_of_library(module.__name__) and not is_scipy:
            return "module", module.__name__
        return "module", module.__name__, str(getattr(module, "__version__", ""))

    def _ufunc(self, function: np.ufunc) -> Fingerprint:
        module = "numpy" if getattr(np, function.__name__, None) is function else "scipy.special"
        if getattr(sys.modules.get(module), function.__name__, None) is not function:
            raise Untold(f"{function.__name__} is no function of NumPy or SciPy")
        return "ufunc", module, function.__name__


def _has_attributes_alone(cls: type) -> bool:
    """True if instances have only a dict, slots and weak references: no items, and no data of
    compiled code."""
    held = (part for owner in cls.__mro__ for part in vars(owner).values())
    slots = sum(isinstance(part, types.MemberDescriptorType) for part in held)
    most = object.__basicsize__ + (slots + 2) * struct.calcsize("P")
    return cls.__itemsize__ == 0 and cls.__basicsize__ <= most


def _shown(value: Any) -> str:
    return str(getattr(value, "__qualname__", None) or f"an object of {type(value).__qualname__}")


def _is_library(file: str) -> bool:
    """True for files of stcompile, NumPy and Python's own library, which the versions identify."""
    if file.startswith(_FOLDERS):
        return True
    if file.startswith(PYTHON + os.sep):
        return not file.startswith(_SITE)
    return file.startswith("<frozen ")


def _is_of_library(module: str) -> bool:
    """True for modules of stcompile, NumPy, SciPy and Python's own library. A module of the user's
    may have the same name as a library's."""
    root = module.split(".")[0]
    if root not in _OWN and root not in sys.stdlib_module_names - {"__main__"}:
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return root == "scipy" or file is None or _is_library(file)


def _is_importable(value: Any) -> bool:
    """True for objects that a library has under their own names, such as its compiled functions."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return False
    if not _is_of_library(module):
        return False
    return looked_up(module, name) is value


# --- code ----------------------------------------------------------------------------------------


def _code_parts(code: types.CodeType) -> Fingerprint:
    """The instructions of a code object, and the characters of the text that each was compiled
    from."""
    names = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_names",
             "co_varnames", "co_freevars", "co_cellvars", "co_code", "co_linetable")  # fmt: skip
    held = (*(getattr(code, name) for name in names), getattr(code, "co_exceptiontable", b""))
    return *held, *map(_constant, code.co_consts)


def _constant(value: Any) -> Fingerprint:
    if isinstance(value, types.CodeType):
        return value.co_name, _code_parts(value)
    if isinstance(value, tuple):
        return "tuple", *map(_constant, value)
    if isinstance(value, frozenset):
        parts = [repr(_constant(part)) for part in value]  # in their order, if it always is theirs
        return "frozenset", *(parts if all(map(has_own_hash, value)) else sorted(parts))
    return type(value).__name__, repr(value)


def _text_of(code: types.CodeType) -> Fingerprint:
    """The lines that a function was written in: generated code cites them. They have to be lines of
    a file, which another process reads as well."""
    file = code.co_filename
    if not os.path.isfile(file) or not file.endswith(tuple(importlib.machinery.SOURCE_SUFFIXES)):
        raise Untold(f"the text of {code.co_name} is in no file")
    linecache.checkcache(file)
    last = max(line or 0 for own in codes(code) for _, _, line in own.co_lines())
    lines = linecache.getlines(file)[code.co_firstlineno - 1 : max(code.co_firstlineno, last)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
