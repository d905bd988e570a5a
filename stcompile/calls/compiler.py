"""Compile the function for the arguments of a call."""

from __future__ import annotations

import functools
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from stcompile.base.classes import MISSING
from stcompile.base.deferred import deferred
from stcompile.base.errors import ExportError, LevelWarning, excerpt
from stcompile.base.extras import require
from stcompile.base.options import NUMBA_LIMIT, Options, has_numba
from stcompile.base.places import Place
from stcompile.base.timings import timed
from stcompile.calls.arguments import Arguments
from stcompile.calls.callee import Callee
from stcompile.calls.lengths import with_sizes
from stcompile.calls.link import link
from stcompile.calls.numba_time import seconds_for
from stcompile.calls.specialisation import Made, Specialisation, attributes_in
from stcompile.calls.workspaces import workspaces_of
from stcompile.emit.function import READABLE, Emitted, emit
from stcompile.frontend.stage import stage
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import Copying
from stcompile.passes.pipeline import MemorySaving, prepare
from stcompile.wengert.primitives.external import externals_of
from stcompile.wengert.staged import Staged
from stcompile.wengert.verify import Verifier

if TYPE_CHECKING:  # imported where it is used
    from stcompile.export.file import Unit
    from stcompile.native.bindings import KernelsInC

linked_in_c = deferred("stcompile.calls.c_kernels", "linked_in_c")
NUMBA = "numba"


# A staged call, optimised; its source, its function or factory, and its kernels as C.
Linked: TypeAlias = "tuple[Staged, Emitted, Callable[..., Any], KernelsInC | None]"


class Compiler(Callee, ABC):
    """A function that is transformed and compiled.

    Subclasses define the meaning of a call by ``stage_call``; ``name`` and ``title`` are those of
    the generated function, ``results`` the number of leading outputs that may share storage with
    arguments (None: all).
    """

    title: str = ""
    update: str = ""
    results: int | None = 0
    names_lengths: bool = True  # whether the lengths of its arguments may have names

    def __init__(self, function: Any, options: Options | None = None) -> None:
        super().__init__(function)
        self.options = options or Options()

    @abstractmethod
    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Record a call of this function with staged values, and return its value."""

    def places(self) -> Mapping[str, Place]:
        """The arguments that `bind` adds to the user's, with the places that they are read from."""
        if self.receiver is MISSING:
            return {}
        return {self.receiver_name: Place.constant(self.receiver, self.receiver_name)}

    def writeable(self, arguments: Arguments) -> Sequence[str]:
        """The arguments whose arrays the function may write to."""
        return tuple(arguments.values)

    def changed(self, arguments: Arguments) -> Sequence[str]:
        """The writeable arguments whose arrays are all changed by a call."""
        return ()

    @property
    def copying(self) -> Any:
        """The function as it is staged: with copies of the arguments that the options name."""
        return Copying(self.function, self.options.copy) if self.options.copy else self.function

    @property
    def staged_as(self) -> Any:
        """The function of all arguments of a call that is staged."""
        return self

    def stage(self, arguments: Arguments) -> Staged:
        """The call as a program, before any pass."""
        return self.staged(self.staged_as, arguments)

    def staged(self, function: Any, arguments: Arguments) -> Staged:
        """A function of the arguments of a call as a program."""
        return stage(
            function,
            arguments.values,
            arguments.positional,
            name=self.name,
            writeable=self.writeable(arguments),
            changed=self.changed(arguments),
            keywords=arguments.keywords,
            sizes=arguments.sizes,
        )

    def build(self, arguments: Arguments) -> Specialisation:
        """Compile the function for the given arguments."""
        return self.specialised(self.stage(arguments), arguments)

    def specialised(
        self, staged: Staged, arguments: Arguments, options: Options | None = None
    ) -> Specialisation:
        """Compile a staged call."""
        options = options or self.options
        for caution in staged.cautions:
            where = caution.location
            warnings.warn_explicit(str(caution), caution.category, where.file, where.line)
        names = list(arguments.values)
        staged, emitted, linked, in_c = self._linked(staged, names, options)
        function = workspaces_of(linked, emitted.lengths) if emitted.workspace else linked
        key = with_sizes(self.key(arguments), [*arguments.values], arguments.sizes)
        keys = zip(arguments.values, key[2], strict=True)
        stores = {e.inputs[0] for e in staged.program.equations if e.primitive == "store"}
        return Specialisation(
            name=emitted.name,
            source=emitted.source,
            locate=emitted.lines.get,
            function=function,
            arguments=tuple(keys),
            written=staged.written,
            places=self.places(),
            guards=staged.guards,
            hidden=staged.hidden,
            keywords=emitted.hidden,
            stored=frozenset(at for at, h in enumerate(staged.hidden) if h.variable in stores),
            attributes=attributes_in(staged, arguments),
            sizes=arguments.sizes,
            threads=options.threads,
            in_c=in_c,
            made=Made(staged, emitted),
        )

    def _linked(self, staged: Staged, names: Sequence[str], options: Options) -> Linked:
        """A staged call, optimised, and its function, or its factory; at the fast level, with a
        warning, if its kernels cannot be compiled, or if Numba would take too long for them."""
        prepared = self._prepared(staged, names, options)
        with timed("source"):
            emitted = emit(prepared, names, self.title, self.update, options)
        has_loops = bool(emitted.kernels) and not options.inner
        if has_loops and options.is_by_c:
            link = functools.partial(self._link, prepared, emitted)
            warn = self._warn_of_level
            found = linked_in_c(link, emitted, options.fastmath, self.function_name, warn)
            if found is not None:
                return prepared, emitted, *found
            if not has_numba():
                return self._linked(staged, names, options.at_fast_level())
        seconds = seconds_for(emitted.source) if has_loops else 0.0
        if seconds <= options.numba_limit:
            return prepared, emitted, self._link(prepared, emitted), None
        self._warn_of_level(
            f"Numba would take about {seconds:.0f} s for the loops of `{self.function_name}`, so "
            f"it runs at level='fast'\nhint: {NUMBA_LIMIT}=inf in the environment lets Numba take "
            f"that long, once; the limit is {options.numba_limit:g} s"
        )
        return self._linked(staged, names, options.at_fast_level())

    def _warn_of_level(self, said: str) -> None:
        where = self.definition
        shown = said if where is None else f"{excerpt(where)}\n{said}"
        file, line = ("<stcompile>", 1) if where is None else (where.file, where.line)
        warnings.warn_explicit(shown, LevelWarning, file, line)

    def _link(
        self, staged: Staged, emitted: Emitted, in_c: KernelsInC | None = None
    ) -> Callable[..., Any]:
        """Link the function, or its factory. If Numba is missing, code that needs it can still be
        read."""
        beside = {**externals_of(staged.program), **emitted.saved}
        try:
            with timed("link"):
                return link(emitted.source, emitted.name, emitted.workspace, beside, in_c=in_c)
        except ModuleNotFoundError as error:
            if error.name != NUMBA:
                raise
            return _without_numba

    def _prepared(self, staged: Staged, names: Sequence[str], options: Options) -> Staged:
        """Optimise a staged call so that it keeps to the memory budget if there is one."""
        check = Verifier().verify_stage if options.verify else None
        if options.memory is None:
            return prepare(
                staged, self.results, options.form, parallel=options.parallel, check=check
            )
        from stcompile.passes.budget import within
        from stcompile.reports.memory import held_by

        def build(saving: MemorySaving | None) -> Staged:
            return prepare(staged, self.results, options.form, saving, check=check)

        def measure(made: Staged) -> int:
            return held_by(emit(made, names, self.title, self.update, options))

        return within(options.memory, build, measure, self.definition)

    def unit(self, staged: Staged, names: Iterable[str], options: Options = READABLE) -> Unit:
        """A staged call, made ready to be emitted in a file."""
        from stcompile.export.file import Unit

        if staged.effects:
            raise ExportError(
                f"`{self.function_name}` changes an object from outside, which a file has not",
                hint="return the values instead, or export a function that is given them",
            )
        arguments = list(names)
        prepared = self._prepared(staged, arguments, options)
        return Unit(prepared, arguments, self.title, self.update, options)


def _without_numba(*_: Any, **__: Any) -> Any:
    """Stand for a function that Numba would compile."""
    require(NUMBA, NUMBA, "level='compiled'")
