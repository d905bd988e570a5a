"""From a call to the compiled function for its argument types.

A *specialisation* is a program compiled for one signature: the structure of the arguments, the
kind, dtype and dims of their arrays and floats, and the values of what is static. It is reused as
long as its guards hold: the captured values that it was compiled with.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np

import stcompile.trees as trees
from stcompile.arguments import Arguments, bind
from stcompile.emit.function import Emitted, emit
from stcompile.errors import ArgumentsError, NanError, SourceError, StcompileWarning, excerpt
from stcompile.frontend.binding import signature_of
from stcompile.frontend.capture import is_input, memory_order
from stcompile.frontend.run import Run
from stcompile.frontend.stage import STAGING, Staged, stage
from stcompile.frontend.values import Bound, Closure, Partial
from stcompile.generators import States
from stcompile.link import link, source_filename
from stcompile.location import Location
from stcompile.nans import arrays_of, has_nan, nan_error
from stcompile.options import Options
from stcompile.pipeline import prepare
from stcompile.snapshots import Snapshot, Snapshots, snapshots_of
from stcompile.source import function_source
from stcompile.types import type_of
from stcompile.workspaces import Workspaces

KEPT = 8  # specialisations of one signature that differ in captured values
MANY = 16  # specialisations that differ in a static argument, before the user is told


@dataclass(frozen=True)
class Specialisation:
    """A compiled function for one signature."""

    staged: Staged
    emitted: Emitted
    function: Callable[..., Any]  # the generated function, or a pool of its workspaces

    def is_current(self) -> bool:
        """True if everything captured is as it was when this was compiled."""
        if not all(guard.holds() for guard in self.staged.guards):
            return False
        try:
            return all(type_of(h.read()) == h.variable.type for h in self.staged.hidden)
        except (AttributeError, LookupError, TypeError, ValueError):
            return False

    def call(self, values: Sequence[Any]) -> Any:
        names, hidden_inputs = self.emitted.hidden, self.staged.hidden
        hidden = {name: h.read() for name, h in zip(names, hidden_inputs, strict=True)}
        try:
            return self.function(*values, **hidden)
        except Exception as error:
            self._tell_where(error)
            raise

    def _tell_where(self, error: Exception) -> None:
        """Add the user's line to an error that NumPy raised in the generated function."""
        filename = source_filename(self.emitted.source, self.emitted.name)
        step = error.__traceback__
        while step is not None and step.tb_frame.f_code.co_filename != filename:
            step = step.tb_next
        location = self.emitted.lines.get(step.tb_lineno) if step is not None else None
        shown = location.shown if location is not None else None
        if shown is None:
            return
        note = "raised by the code for\n" + excerpt(shown)
        if hasattr(error, "add_note"):
            error.add_note(note)
        elif len(error.args) == 1 and isinstance(error.args[0], str):  # Python 3.10
            error.args = (f"{error.args[0]}\n{note}",)


class Dispatcher(ABC):
    """A transformed function: compiles itself for each signature it is called with.

    Subclasses say what a call means by ``stage_call``; ``name`` and ``title`` are those of the
    generated function, ``results`` the number of leading outputs that may share storage with
    arguments (None: all). ``recorded`` is the name of its program before any pass.
    """

    name: str = "function"
    title: str = ""
    update: str = ""
    results: int | None = 0
    recorded: str = "reverse"

    def __init__(self, function: Any, options: Options | None = None) -> None:
        _check_function(function)
        self.function = function
        self.options = options or Options()
        self.function_name = _name(function)
        self._specialisations: dict[Any, tuple[Specialisation, ...]] = {}
        self._warned = False
        self._signature: tuple[Any, inspect.Signature] | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        bound = self.bind(arguments, keywords)
        specialisation = self.specialise(bound)
        if self.options.debug_nans:
            return self.call_without_nans(specialisation, bound)
        return specialisation.call(tuple(bound.values.values()))

    def call_without_nans(self, specialisation: Specialisation, arguments: Arguments) -> Any:
        """A call that raises `NanError` if there is a NaN among the results; arguments and random
        generators that it would have changed are then as they were."""
        hidden = (h.read() for h in specialisation.staged.hidden)
        states = States([*arguments.values.values(), *hidden])
        written = [arguments.values[name] for name in self.written(arguments)]
        before = [leaf.copy() for leaf in arrays_of(written)]
        result = specialisation.call(tuple(arguments.values.values()))
        if not (has_nan(result) or has_nan(written)):
            return result
        for leaf, old in zip(arrays_of(written), before, strict=True):
            leaf[...] = old
        for staged in (self.stage(arguments), specialisation.staged):
            states.restore()
            error = nan_error(staged, arguments.values)
            states.restore()
            if error is not None:
                raise error
        raise NanError("a result has a NaN, but there is none when the call is repeated")

    @abstractmethod
    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Record a call of this with staged values, and return its value."""

    # --- signatures ----------------------------------------------------------------------------

    @property
    def __signature__(self) -> inspect.Signature:
        """The user's parameters; read again when the defaults were replaced."""
        defaults = getattr(self.function, "__defaults__", None)
        if self._signature is None or self._signature[0] is not defaults:
            try:
                self._signature = defaults, signature_of(self.function)
            except (TypeError, ValueError) as error:
                raise ArgumentsError(
                    str(error), hint="write a function with Python source"
                ) from None
        return self._signature[1]

    @functools.cached_property
    def _plain_names(self) -> tuple[str, ...]:
        """The parameters' names, if each can be given by position; else none."""
        parameters = self.__signature__.parameters.values()
        plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        return tuple(p.name for p in parameters) if plain else ()

    @property
    def __name__(self) -> str:
        return self.name

    def parameter_names(self) -> list[str]:
        if isinstance(self.function, Closure | Bound):
            return []
        parameters = self.__signature__.parameters.values()
        return [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]

    @property
    def definition(self) -> Location | None:
        """Where the user's function is defined."""
        function = inspect.unwrap(getattr(self.function, "function", self.function))
        if not isinstance(function, FunctionType):
            return None
        try:
            source = function_source(function)
        except SourceError:
            return None
        return source.location(source.node)

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Arguments:
        """The arguments by name, defaults included."""
        names = self._plain_names
        if names and not keywords and len(arguments) == len(names):
            return Arguments(dict(zip(names, arguments, strict=True)), names, ())
        signature = self.__signature__
        has_source = isinstance(inspect.unwrap(self.function), FunctionType | Dispatcher)
        try:
            return bind(signature, arguments, keywords, defaults=has_source)
        except TypeError as error:
            raise ArgumentsError(
                f"{self.function_name}{signature}: {error}", location=self.definition
            ) from None

    def specialise(self, arguments: Arguments) -> Specialisation:
        """The compiled function for these arguments."""
        key = (arguments.positional, arguments.keywords, self._key(arguments.values))
        found = self._current(key)
        if found is not None:
            return found
        with STAGING:  # another thread may have compiled it while this one waited
            found = self._current(key)
            if found is not None:
                return found
            made = self.build(arguments)
            others = self._specialisations.get(key, ())[: KEPT - 1]
            self._specialisations[key] = (made, *others)
        self._warn_of_many()
        return made

    def _current(self, key: Any) -> Specialisation | None:
        """The specialisation of a signature whose captured values are as they were."""
        for specialisation in self._specialisations.get(key, ()):
            if specialisation.is_current():
                return specialisation
        return None

    def stage(self, arguments: Arguments) -> Staged:
        """This call as a program, before any pass."""
        return stage(
            self,
            arguments.values,
            arguments.positional,
            name=self.name,
            writeable=self.written(arguments),
            keywords=arguments.keywords,
        )

    def written(self, arguments: Arguments) -> Sequence[str]:
        """The arguments whose arrays a call changes."""
        return ()

    def build(self, arguments: Arguments) -> Specialisation:
        """Compile the function for these arguments."""
        staged = self.stage(arguments)
        for caution in staged.cautions:
            where = caution.location
            warnings.warn_explicit(str(caution), StcompileWarning, where.file, where.line)
        staged = prepare(staged, self.results, self.options.level)
        emitted = emit(staged, list(arguments.values), self.title, self.update, self.options)
        linked = link(emitted.source, emitted.name, emitted.workspace)
        function = Workspaces(linked) if emitted.workspace else linked
        return Specialisation(staged, emitted, function)

    def _key(self, values: Mapping[str, Any]) -> Any:
        return tuple([self._key_of(value, name, ()) for name, value in values.items()])

    def _key_of(self, value: Any, name: str, path: trees.Path) -> Any:
        """What of an argument, or of the part of it at a path, the program depends on."""
        if type(value) is np.ndarray and value.dtype.kind in "fiubc":
            return value.dtype, value.shape, value.flags.c_contiguous or memory_order(value)
        if is_input(value):
            return type(value)
        if isinstance(value, np.ndarray):
            self._refuse_argument(
                f"is a {type(value).__name__} of {value.dtype}, which is not compiled",
                "pass a plain numpy.ndarray of numbers",
                trees.show_path(name, path),
            )
        parts = trees.children(value)
        if parts is None:
            if isinstance(value, dict | list | tuple | set):
                self._refuse_argument(
                    f"is a {type(value).__name__}, whose contents cannot be traced",
                    "pass a plain dict, list or tuple, a namedtuple or a dataclass",
                    trees.show_path(name, path),
                )
            return _static_key(value)
        if type(value) is dict and not all(map(trees.is_plain_key, value)):
            self._refuse_argument(
                "has keys that cannot be written as literals",
                "use strings or numbers as keys",
                trees.show_path(name, path),
            )
        inner = [(step, self._key_of(part, name, (*path, step))) for step, part in parts]
        return type(value), tuple(inner)

    def _refuse_argument(self, reason: str, hint: str, shown: str) -> NoReturn:
        raise ArgumentsError(f"{shown} {reason}", location=self.definition, hint=hint)

    def _warn_of_many(self) -> None:
        if len(self._specialisations) > MANY and not self._warned:
            self._warned = True
            warnings.warn(
                f"`{self.function_name}` was compiled {len(self._specialisations)} times: an int "
                "or a shape among its arguments keeps changing. An int is static; pass it as a "
                "float, or as np.asarray(n), to have it traced",
                stacklevel=4,
            )

    # --- looking at what was generated ---------------------------------------------------------

    def source(self, *arguments: Any, **keywords: Any) -> str:
        """The source of the generated function for these arguments."""
        return self.specialise(self.bind(arguments, keywords)).emitted.source

    def program(self, *arguments: Any, **keywords: Any) -> Any:
        """The optimised Wengert list that the generated function was emitted from."""
        return self.specialise(self.bind(arguments, keywords)).staged.program

    def report(self, *arguments: Any, **keywords: Any) -> Snapshots:
        """What each stage of the compiler made of the Wengert list. Prints as a table."""
        staged = self.stage(self.bind(arguments, keywords))
        recorded = Snapshot(self.recorded, staged.program)
        return snapshots_of([recorded], self.results, self.options.level)

    def allocated_bytes(self, *arguments: Any, **keywords: Any) -> int:
        """Bytes of array data that one call allocates: the sum over its allocating statements."""
        return self.specialise(self.bind(arguments, keywords)).emitted.allocated_bytes


def _check_function(function: Any) -> None:
    """Refuse what is no function, or none with Python source."""
    if isinstance(function, Closure | Bound | Partial | FunctionType | MethodType):
        return
    if isinstance(function, functools.partial) or hasattr(function, "stage_call"):
        return
    if not callable(function):
        raise ArgumentsError(
            f"a {type(function).__name__} is not a function",
            hint="pass the function itself, not its result",
        )
    method = inspect.getattr_static(type(function), "__call__", None)
    if not isinstance(method, FunctionType):
        raise SourceError(
            f"`{getattr(function, '__name__', function)}` has no Python source",
            hint="write a function that calls it",
        )


def _static_key(value: Any) -> Any:
    """A static value as part of a key: plain ones by type and value, objects by identity."""
    if isinstance(value, int | str | bytes | type(None) | np.generic | np.dtype):
        return type(value), value
    return _Identity(value)


class _Identity:
    """Equal to another of the same object; keeps the object alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None) or getattr(function, "name", None)
    text = str(name or type(function).__name__)
    return text if text.isidentifier() else "function"
