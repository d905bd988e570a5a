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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeAlias

from stcompile.base import trees
from stcompile.base.boundary import public, shows_all_frames, without_frames
from stcompile.base.errors import (
    ArgumentsError,
    NanError,
    SourceError,
    StcompileError,
    StcompileWarning,
    excerpt,
)
from stcompile.base.guards import UNREADABLE
from stcompile.base.location import Location
from stcompile.base.options import Options
from stcompile.base.places import Place
from stcompile.base.timings import compilation, timed
from stcompile.base.trees import Path, follow
from stcompile.calls.arguments import Arguments, Parameters, bind
from stcompile.calls.entry import MISS, Call, entry_of
from stcompile.calls.internal import internal_errors
from stcompile.calls.link import link, source_filename
from stcompile.calls.overlap import Known
from stcompile.calls.signature import key_of
from stcompile.calls.travel import Travels
from stcompile.calls.workspaces import Workspaces
from stcompile.emit.function import READABLE, Emitted, emit
from stcompile.frontend.stage import STAGING, stage
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Bound, Closure, Partial, described
from stcompile.parse.source import function_source
from stcompile.passes.pipeline import Thrift, prepare
from stcompile.wengert.primitives.external import externals_of
from stcompile.wengert.staged import Staged

if TYPE_CHECKING:  # loaded when they are asked for
    from stcompile.export.file import Unit
    from stcompile.reports.graph.model import Graph
    from stcompile.reports.memory import Memory
    from stcompile.reports.snapshots import Snapshots

KEPT = 8  # specialisations of one signature that differ in captured values
ENTRIES = 4  # entries that are tried before the long way
MANY = 16  # specialisations that differ in a static argument, before the user is told


@dataclass(frozen=True)
class Specialisation:
    """A compiled function for one signature: ``arguments`` are the names with their keys, those
    with a place not the user's; ``written`` are those whose arrays a call changes; ``attributes``
    of arguments are read that are none of their parts: the argument, the path, and the key;
    ``beside`` is what a dispatcher compiles besides."""

    staged: Staged
    emitted: Emitted
    function: Callable[..., Any]  # the generated function, or a pool of its workspaces
    arguments: tuple[tuple[str, Any], ...]
    written: tuple[str, ...]
    places: Mapping[str, Place]
    attributes: tuple[tuple[str, Path, Any], ...] = ()
    known: Known = field(default_factory=Known)
    beside: Any = None

    def is_current(self, arguments: Arguments) -> bool:
        """True if everything captured is as it was when this was compiled."""
        guards, hidden = self.staged.guards, self.staged.hidden
        if not all(_fits(arguments, *attribute) for attribute in self.attributes):
            return False
        return all(guard.holds() for guard in guards) and all(h.fits() for h in hidden)

    def call(self, values: Sequence[Any]) -> Any:
        names, hidden_inputs = self.emitted.hidden, self.staged.hidden
        hidden = {name: h.read() for name, h in zip(names, hidden_inputs, strict=True)}
        try:
            return self.function(*values, **hidden)
        except Exception as error:
            _tell_where(self.emitted, error)
            raise

    @functools.cached_property
    def stored(self) -> frozenset[int]:
        """The hidden inputs that a call changes, by position."""
        targets = {e.inputs[0] for e in self.staged.program.equations if e.primitive == "store"}
        return frozenset(at for at, h in enumerate(self.staged.hidden) if h.variable in targets)

    @property
    def entry_call(self) -> Call:
        """What `entry` is made of."""
        return Call(
            self.emitted.name,
            self.function,
            functools.partial(_tell_where, self.emitted),
            self.arguments,
            self.places,
            self.staged.guards,
            self.staged.hidden,
            self.emitted.hidden,
            self.written,
            self.stored,
            self.known,
            self.attributes,
        )

    @functools.cached_property
    def entry(self) -> Callable[[tuple[Any, ...]], Any]:
        """Code that checks a call and makes it, or says `MISS`."""
        return entry_of(self.entry_call)


def _fits(arguments: Arguments, name: str, path: Path, key: Any) -> bool:
    """True if an attribute of an argument has the key that the program was made for."""
    try:
        return bool(key_of(follow(arguments.values[name], path)) == key)
    except (*UNREADABLE, ArgumentsError):
        return False


def _tell_where(emitted: Emitted, error: Exception) -> None:
    """Add the user's line to an error that NumPy raised in the generated function."""
    filename = source_filename(emitted.source, emitted.name)
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename != filename:
        step = step.tb_next
    location = emitted.lines.get(step.tb_lineno) if step is not None else None
    shown = location.shown if location is not None else None
    if shown is None:
        return
    note = "raised by the code for\n" + excerpt(shown)
    if hasattr(error, "add_note"):
        error.add_note(note)
    elif len(error.args) == 1 and isinstance(error.args[0], str):  # Python 3.10
        error.args = (f"{error.args[0]}\n{note}",)


_SignatureKey: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[Any, ...]]


class Dispatcher(Travels, ABC):
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
        self._specialisations: dict[_SignatureKey, tuple[Specialisation, ...]] = {}
        self._entries: tuple[Callable[[tuple[Any, ...]], Any], ...] = ()  # the latest one first
        self._warned = False
        self._parameters: Parameters | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        try:
            if not keywords:
                for entry in self._entries:
                    result = entry(arguments)
                    if result is not MISS:
                        return result
            filled = self.parameters.fill(arguments, keywords)
            if filled is not None and len(arguments) != len(filled):
                for entry in self._entries:
                    result = entry(tuple(filled.values()))
                    if result is not MISS:
                        return result
            bound = self.bind(arguments, keywords)
            key = self._key(bound)
            specialisation = self._current(key, bound)
            if specialisation is None:
                specialisation = self._make(key, bound)
                self._warn_of_many(stacklevel=3)
            elif filled is not None and not self.options.debug_nans:  # it comes again: make it fast
                others = [entry for entry in self._entries if entry is not specialisation.entry]
                self._entries = (specialisation.entry, *others[: ENTRIES - 1])
            return self.run(specialisation, bound)
        except StcompileError as error:  # as `public` does it, at no cost for calls
            __tracebackhide__ = True
            if shows_all_frames(error):
                raise
            raise without_frames(error) from None

    def run(self, specialisation: Specialisation, arguments: Arguments) -> Any:
        """Make a call."""
        if self.options.debug_nans:
            return self.call_without_nans(specialisation, arguments)
        return specialisation.call(tuple(arguments.values.values()))

    def places(self) -> Mapping[str, Place]:
        """The arguments that `bind` adds to those of the user, and where they are read."""
        return {}

    def call_without_nans(self, specialisation: Specialisation, arguments: Arguments) -> Any:
        """A call that raises `NanError` if there is a NaN among the results; arguments and random
        generators that it would have changed are then as they were."""
        from stcompile.calls.generators import States
        from stcompile.reports.nans import arrays_of, has_infinity_or_nan, has_nan, nan_error

        hidden = (h.read() for h in specialisation.staged.hidden)
        states = States([*arguments.values.values(), *hidden])
        written = [arguments.values[name] for name in self.written(arguments)]
        before = [leaf.copy() for leaf in arrays_of(written)]
        infinities = self.options.debug_infinities
        is_wanted = has_infinity_or_nan if infinities else has_nan
        result = specialisation.call(tuple(arguments.values.values()))
        if not (is_wanted(result) or is_wanted(written)):
            return result
        for leaf, old in zip(arrays_of(written), before, strict=True):
            leaf[...] = old
        for staged in (self.stage(arguments), specialisation.staged):
            states.restore()
            error = nan_error(staged, arguments.values, infinities)
            states.restore()
            if error is not None:
                raise error
        raise NanError("a result has a NaN, but there is none when the call is repeated")

    @abstractmethod
    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Record a call of this with staged values, and return its value."""

    # --- signatures ----------------------------------------------------------------------------

    @property
    def parameters(self) -> Parameters:
        """The user's parameters; read again when the code or the defaults were replaced."""
        found = self._parameters
        if found is None or not found.are_current():
            try:
                has_source = isinstance(inspect.unwrap(self.function), FunctionType | Dispatcher)
                found = self._parameters = Parameters(self.function, has_source)
            except (TypeError, ValueError) as error:
                raise ArgumentsError(
                    str(error), hint="write a function with Python source"
                ) from None
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        return self.parameters.signature

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
        parameters = self.parameters
        values = parameters.fill(arguments, keywords)
        if values is not None:
            return Arguments(values, tuple(values), ())
        signature = parameters.signature
        try:
            return bind(signature, arguments, keywords, defaults=parameters.has_source)
        except TypeError as error:
            raise ArgumentsError(
                f"{self.function_name}{signature}: {error}", location=self.definition
            ) from None

    def specialise(self, arguments: Arguments) -> Specialisation:
        """The compiled function for these arguments."""
        key = self._key(arguments)
        found = self._current(key, arguments)
        if found is None:
            found = self._make(key, arguments)
            self._warn_of_many(stacklevel=5)
        return found

    def _current(self, key: _SignatureKey, arguments: Arguments) -> Specialisation | None:
        """The specialisation of a signature whose captured values are as they were."""
        for specialisation in self._specialisations.get(key, ()):
            if specialisation.is_current(arguments):
                return specialisation
        return None

    def _make(self, key: _SignatureKey, arguments: Arguments) -> Specialisation:
        """A new specialisation, unless another thread has made it in the meantime."""
        with STAGING, compilation(self.name):
            found = self._current(key, arguments)
            if found is None:
                with internal_errors(self.definition):
                    found = self.build(arguments)
                others = self._specialisations.get(key, ())[: KEPT - 1]
                self._specialisations[key] = (found, *others)
        return found

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
        return self.compiled(self.stage(arguments), arguments)

    def compiled(self, staged: Staged, arguments: Arguments) -> Specialisation:
        """A staged call, compiled."""
        for caution in staged.cautions:
            where = caution.location
            warnings.warn_explicit(str(caution), StcompileWarning, where.file, where.line)
        names = list(arguments.values)
        staged = self._prepared(staged, names, self.options)
        with timed("source"):
            emitted = emit(staged, names, self.title, self.update, self.options)
        beside = {**externals_of(staged.program), **emitted.saved}
        with timed("link"):
            linked = link(emitted.source, emitted.name, emitted.workspace, beside)
        function = Workspaces(linked) if emitted.workspace else linked
        keys = zip(arguments.values, self._key(arguments)[2], strict=True)
        written = tuple(self.written(arguments))
        read = [(name, path, follow(arguments.values[name], path)) for name, path in staged.beside]
        attributes = tuple((name, path, key_of(value, name, path)) for name, path, value in read)
        places = self.places()
        return Specialisation(staged, emitted, function, tuple(keys), written, places, attributes)

    def _prepared(self, staged: Staged, names: Sequence[str], options: Options) -> Staged:
        """A staged call, optimised, and within the memory budget if there is one."""
        if options.memory is None:
            return prepare(staged, self.results, options.level)
        from stcompile.passes.budget import within
        from stcompile.reports.memory import held_by

        def build(thrift: Thrift | None) -> Staged:
            return prepare(staged, self.results, options.level, thrift)

        def measure(made: Staged) -> int:
            return held_by(emit(made, names, self.title, self.update, options))

        return within(options.memory, build, measure, self.definition)

    def _key(self, arguments: Arguments) -> _SignatureKey:
        try:
            keys = [key_of(value, name) for name, value in arguments.values.items()]
        except ArgumentsError as error:
            where = self.definition
            raise ArgumentsError(error.reason, location=where, hint=error.hint) from None
        except RecursionError:
            found = [name for name, value in arguments.values.items() if trees.is_endless(value)]
            reason = f"{', '.join(found) or 'an argument'} contains itself, or is nested too deeply"
            hint = "pass the parts that the function needs"
            raise ArgumentsError(reason, location=self.definition, hint=hint) from None
        return arguments.positional, arguments.keywords, tuple(keys)

    def _warn_of_many(self, stacklevel: int) -> None:
        if len(self._specialisations) > MANY and not self._warned:
            self._warned = True
            warnings.warn(
                f"`{self.function_name}` was compiled {len(self._specialisations)} times: an int "
                "or a shape among its arguments keeps changing. An int is static; pass it as a "
                "float, or as np.asarray(n), to have it traced",
                stacklevel=stacklevel,
            )

    # --- what was generated --------------------------------------------------------------------

    @public
    def compile(self, *arguments: Any, **keywords: Any) -> Callable[..., Any]:
        """The generated function for these arguments, alone.

        It takes arguments as its `source` shows (captured arrays by keyword) and checks nothing:
        with arguments of other types, shapes or memory orders, or after a captured value has
        changed, its results are wrong; a training step may be given parameters that overlap. A
        function that works in buffers of its own is for one call at a time: compile one for each
        thread.
        """
        function = self.specialise(self.bind(arguments, keywords)).function
        return function.factory() if isinstance(function, Workspaces) else function

    @public
    def source(self, *arguments: Any, **keywords: Any) -> str:
        """The source of the generated function for these arguments."""
        return self.specialise(self.bind(arguments, keywords)).emitted.source

    @public
    def program(self, *arguments: Any, **keywords: Any) -> Any:
        """The optimised Wengert list that the generated function was emitted from."""
        return self.specialise(self.bind(arguments, keywords)).staged.program

    @public
    def graph(self, *arguments: Any, **keywords: Any) -> Graph:
        """The computation graph of that list. Prints as a table of its levels; a notebook draws
        it."""
        from stcompile.reports.graph.model import graph_of

        return graph_of(self.program(*arguments, **keywords))

    @public
    def report(self, *arguments: Any, **keywords: Any) -> Snapshots:
        """What each stage of the compiler made of the Wengert list. Prints as a table."""
        from stcompile.reports.snapshots import Snapshot, snapshots_of

        staged = self.stage(self.bind(arguments, keywords))
        recorded = Snapshot(self.recorded, staged.program)
        return snapshots_of([recorded], self.results, self.options.level)

    def unit(self, staged: Staged, names: Iterable[str], options: Options = READABLE) -> Unit:
        """A staged call, made ready to be emitted in a file."""
        from stcompile.export.file import Unit

        arguments = list(names)
        prepared = self._prepared(staged, arguments, options)
        return Unit(prepared, arguments, self.title, self.update, options)

    @public
    def memory(self, *arguments: Any, **keywords: Any) -> Memory:
        """The buffers of the generated function for these arguments, and what is alive when;
        prints as a table."""
        from stcompile.reports.memory import memory_of

        bound = self.bind(arguments, keywords)
        emitted = self.specialise(bound).emitted
        return memory_of(self.stage(bound).program, emitted)

    @public
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
            f"{described(function)} is not a function",
            hint="pass the function itself, not its result",
        )
    method = inspect.getattr_static(type(function), "__call__", None)
    if not isinstance(method, FunctionType):
        raise SourceError(
            f"`{getattr(function, '__name__', function)}` has no Python source",
            hint="write a function that calls it",
        )


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None) or getattr(function, "name", None)
    text = str(name or type(function).__name__)
    return text if text.isidentifier() else "function"
