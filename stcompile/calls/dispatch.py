"""Dispatch a call to the compiled function for its argument types.

A specialisation is reused as long as its guards hold: the captured values that it was compiled
with.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic

from stcompile.base import logs
from stcompile.base.boundary import at_generated, shows_all_frames, without_frames
from stcompile.base.errors import (
    ArgumentsError,
    NanError,
    RecompilationWarning,
    StcompileError,
    StcompileWarning,
)
from stcompile.base.generics import P, R
from stcompile.base.opening import objects_in
from stcompile.base.options import Options
from stcompile.base.timings import Compilation, compilation, report
from stcompile.calls.arguments import Arguments
from stcompile.calls.breakpoints import BREAKPOINTS, with_stops
from stcompile.calls.cache_folder import cache_folder
from stcompile.calls.callee import SignatureKey
from stcompile.calls.entry import MISS
from stcompile.calls.inspected import Inspected
from stcompile.calls.internal import internal_errors
from stcompile.calls.lengths import (
    Family,
    Lengths,
    lengths_of,
    only_these,
    outline_of,
    with_sizes,
)
from stcompile.calls.reasons import reason_for
from stcompile.calls.specialisation import Specialisation
from stcompile.calls.written import Refusals, trouble
from stcompile.frontend.stage import STAGING
from stcompile.wengert.staged import Staged

KEPT = 8  # specialisations of one signature that differ in captured values
ENTRIES = 4  # entries that are tried before the long way
KEEPS_CHANGING = (
    "an int or a shape among its arguments keeps changing. What is compiled is for one int; "
    "pass it as a float, or as np.asarray(n), to compile for all of them"
)
CHANGED = "what it reads from outside has changed"
READ_AS_CONSTANT = (
    "What a call reads of it is a constant of the program, as the length of a list whose items are "
    "read; keep what changes in arrays, numbers or arguments, or in a list that is only appended to"
)
MANY = 16  # specialisations for values of a static argument; from then on the user is warned


class Dispatcher(Inspected[P], Generic[P, R]):
    """A transformed function: it compiles itself for each signature that it is called with."""

    def __init__(self, function: Any, options: Options | None = None) -> None:
        super().__init__(function, options)
        self._specialisations: dict[SignatureKey, tuple[Specialisation, ...]] = {}
        self._entries: tuple[Callable[[tuple[Any, ...]], Any], ...] = ()  # the latest one first
        self._families: dict[SignatureKey, Family] = {}  # calls that differ in lengths alone
        self._compilations = 0
        self._warned = False
        self._renewed, self._reason = 0, ""  # compilations for other captured values; of the last
        self._capsules: dict[Any, Any] = {}  # by specialisation, class of error, and line

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            if self.options.xp:
                return self._call_elsewhere(arguments, keywords)
            if BREAKPOINTS.get():
                return self._call_with_stops(arguments, keywords)
            if not keywords:
                for entry in self._entries:
                    result: R = entry(arguments)
                    if result is not MISS:
                        return result
            filled = self.parameters.fill(arguments, keywords)
            if filled is not None and len(arguments) != len(filled):
                for entry in self._entries:
                    result = entry(tuple(filled.values()))
                    if result is not MISS:
                        return result
            bound = self.bind(arguments, keywords)
            key = self.key(bound)
            specialisation = self._current(key, bound)
            if specialisation is None:
                specialisation = self._make(key, bound)
                self._warn_of_many(stacklevel=3)
            elif filled is not None and self.has_entry(bound):  # it comes again
                others = [entry for entry in self._entries if entry is not specialisation.entry]
                self._entries = (specialisation.entry, *others[: ENTRIES - 1])
            return self.run(specialisation, bound)
        except StcompileError as error:  # as `public` does, but without a cost for each call
            __tracebackhide__ = True
            if self.learns(error):
                return self(*arguments, **keywords)
            if shows_all_frames(error):
                raise
            raise without_frames(error) from None
        except Exception as error:
            __tracebackhide__ = True
            raise at_generated(error)  # noqa: B904 - it is the same error

    def learns(self, error: StcompileError) -> bool:
        """True if an error tells how the arguments are to be bound, so that the call is made
        again."""
        return False

    def has_entry(self, arguments: Arguments) -> bool:
        """True if a call that comes again may be made by generated code."""
        return not self.options.is_watched and not any(
            facts.put_together for _, facts in objects_in(dict(arguments.values))
        )

    @property
    def is_dynamic(self) -> bool:
        """True if lengths that change from call to call get names."""
        if self.options.level == "compiled":  # loops of known lengths are faster
            return self.names_lengths and self.options.dynamic is True
        return self.names_lengths and self.options.dynamic is not False

    @property
    def lengths(self) -> Lengths:
        """The number of compilations, and the axes of arguments that may have any length."""
        return lengths_of(self._families.values(), self._compilations)

    @property
    def compiled_forms(self) -> Sequence[Specialisation]:
        return [one for group in [*self._specialisations.values()] for one in reversed(group)]

    def specialise(self, arguments: Arguments, with_program: bool = True) -> Specialisation:
        """The compiled function for the given arguments. A function that was linked from the cache
        has no program: it is compiled if the program is asked for."""
        key = self.key(arguments)
        found = self._current(key, arguments)
        if found is None:
            found = self._make(key, arguments)
            self._warn_of_many(stacklevel=5)
        if found.made is None and with_program:
            with STAGING:
                linked, wanted = found, replace(arguments, sizes=found.sizes)
                found = self._built(wanted, "its program is asked for")
                key = with_sizes(key, [*arguments.values], found.sizes)
                others = [s for s in self._specialisations.get(key, ()) if s is not linked]
                self._specialisations[key] = (found, *others)
        return found

    def with_lengths(self, arguments: Arguments) -> Arguments:
        """The arguments, with names for the lengths that have changed from call to call, or for all
        lengths if they have names from the first call on; a warning names those that have none."""
        key = self.key(arguments)
        if self.is_dynamic and self.options.dynamic:
            self.specialise(arguments, False)
            self._warn_of_numbers(self.lengths_without_names(arguments))
        family = self._families.get(outline_of(key, (*arguments.values,)))
        form = family and family.known(key)
        return replace(arguments, sizes=form.sizes) if form else arguments

    def lengths_without_names(self, arguments: Arguments) -> Sequence[str]:
        """The lines that say of which axes of arguments the program needs the length itself,
        although all lengths are to have names, and why."""
        family = self._families.get(outline_of(self.key(arguments), (*arguments.values,)))
        if family is None or not self.options.dynamic:
            return []
        return [*only_these(lengths_of([family], 0).numbers)]

    def _current(self, key: SignatureKey, arguments: Arguments) -> Specialisation | None:
        """The specialisation of a signature whose captured values are unchanged: one for its
        lengths, or one for all lengths."""
        for specialisation in self._specialisations.get(key, ()):
            if specialisation.is_current(arguments):
                return specialisation
        if self._families and not arguments.sizes:
            family = self._families.get(outline_of(key, [*arguments.values]))
            form = None if family is None else family.known(key)
            if form is not None:
                return self._current(form.key, replace(arguments, sizes=form.sizes))
        return None

    def _make(self, key: SignatureKey, arguments: Arguments) -> Specialisation:
        """Make a specialisation, unless another thread has made it in the meantime."""
        with STAGING:
            found = self._current(key, arguments)
            if found is None and self.is_dynamic:
                found = self._made_for_lengths(key, arguments)
            return found or self._compiled(key, arguments)

    def _compiled(self, key: SignatureKey, arguments: Arguments) -> Specialisation:
        """Make a specialisation, and keep it by its key."""
        found = self._cached(key, arguments)
        others = self._specialisations.get(key, ())[: KEPT - 1]
        self._renewed += bool(others)
        self._specialisations[key] = (found, *others)
        return found

    def _made_for_lengths(self, key: SignatureKey, arguments: Arguments) -> Specialisation:
        """Make a specialisation, with names for the lengths of axes that change from call to call,
        unless it cannot be compiled without their numbers."""
        names = (*arguments.values,)
        new = Family(names, self.options.dynamic is True)
        family = self._families.setdefault(outline_of(key, names), new)
        found: Specialisation | None = None
        while found is None:
            form = family.wanted(key)
            try:
                if form is None:
                    found = self._compiled(key, arguments)
                else:
                    found = self._compiled(form.key, replace(arguments, sizes=form.sizes))
            except Exception as error:
                if form is None:
                    raise
                family.fix(form, error)
                logs.debug("%s needs numbers: %s", self.name, error)
        family.note(key, form)
        return found

    def _cached(self, key: SignatureKey, arguments: Arguments) -> Specialisation:
        """Take a specialisation from the cache; if there is none, compile it and cache it."""
        numbers = self.key(arguments) if arguments.sizes else key
        reason = self._reason = reason_for(numbers, self._specialisations, arguments)
        if cache_folder() is None:
            return self._built(arguments, reason)
        from stcompile.calls import cache

        start = time.perf_counter()
        found = cache.load(self, key, arguments)
        if found is None:
            found = self._built(arguments, reason)
            cache.keep(self, key, arguments, found)
        else:
            spent = {"cache": time.perf_counter() - start}
            report(Compilation(self.name, spent, reason, cached=True))
        return found

    def _built(self, arguments: Arguments, reason: str) -> Specialisation:
        """Compile a specialisation."""
        with compilation(self.name, reason), internal_errors(self.definition):
            found = self.build(arguments)
        self._compilations += 1
        return found

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Arguments:
        if self.options.xp:
            from stcompile.calls.elsewhere import stand_in

            arguments = [stand_in(value) for value in arguments]
            keywords = {name: stand_in(value) for name, value in keywords.items()}
        return super().bind(arguments, keywords)

    def _call_elsewhere(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> R:
        """Make a call with arrays of another namespace."""
        from stcompile.calls.elsewhere import refuse_writes, there

        found = self.specialise(self.bind(arguments, keywords), False)
        changes = found.made is not None and found.made.staged.effects
        refuse_writes((*found.written, *["an object"] * bool(changes)), self.definition)
        given = super().bind(arguments, keywords).values.values()
        hidden = zip(found.keywords, (h.read() for h in found.hidden), strict=True)
        values, captured = there(self.options.xp, [*given]), there(self.options.xp, dict(hidden))
        try:
            result: R = found.function(*values, **captured)
        except Exception as error:
            found.tell_where(error)
            raise
        return result

    def _call_with_stops(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> R:
        """Make a call that stops in the debugger (`break_in_adjoint`)."""
        bound = self.bind(arguments, keywords)
        return self.run(with_stops(self.specialise(bound)), bound)

    def run(self, specialisation: Specialisation, arguments: Arguments) -> R:
        """Make a call. It is refused before it starts if an array that it writes must not be
        written."""
        if specialisation.written or specialisation.stored:
            reason = trouble(specialisation, arguments, self.refusals)
            if reason is not None:
                raise ArgumentsError(reason, location=self.definition, hint=self.refusals.hint)
        if self.options.debug_nans:
            return self.call_without_nans(specialisation, arguments)
        if self.options.on_error == "capsule":
            return self.call_with_capsule(specialisation, arguments)
        result: R = specialisation.call(arguments.passed)
        return result

    @property
    def refusals(self) -> Refusals:
        """The wording of refusals for arrays that cannot be written."""
        name = self.function_name
        return Refusals(
            f"an array that `{name}` writes into",
            f"two arrays that `{name}` writes into",
            "another argument, or a captured array",
            "pass arrays of their own, or compile it with copy=True, which leaves all as they are",
        )

    def call_with_capsule(self, specialisation: Specialisation, arguments: Arguments) -> R:
        """Make a call whose error names a file that raises it again. The file is written once for
        each line of the generated code and each class of errors."""
        from stcompile.export.capsule import Inputs, write_capsule

        hidden = zip(specialisation.keywords, specialisation.hidden, strict=True)
        captured = {name: place.read() for name, place in hidden}
        inputs = Inputs(arguments.values, captured, specialisation.written)
        try:
            result: R = specialisation.call(arguments.passed)
        except Exception as error:
            where = id(specialisation), type(error), specialisation.line_of(error)
            try:
                if where not in self._capsules:
                    made = self.specialise(arguments).staged
                    self._capsules[where] = write_capsule(
                        made, self.title, self.update, self.options, inputs, error
                    )
                note = f"to raise it again: python {self._capsules[where]}"
            except Exception as failure:
                note = f"there is no capsule: {type(failure).__name__}: {failure}"
            error.add_note(note)
            raise
        return result

    def call_without_nans(self, specialisation: Specialisation, arguments: Arguments) -> R:
        """Make a call that raises `NanError` if there is a NaN among the results. Then it restores
        the arguments and random generators."""
        from stcompile.reports.nans import arrays_of, has_infinity_or_nan, has_nan, nan_error
        from stcompile.wengert.generators import States

        hidden = (h.read() for h in specialisation.hidden)
        states = States([*arguments.values.values(), *hidden])
        written = [arguments.values[name] for name in specialisation.written]
        before = [leaf.copy() for leaf in arrays_of(written)]
        infinities = self.options.debug_infinities
        is_wanted = has_infinity_or_nan if infinities else has_nan
        result: R = specialisation.call(arguments.passed)
        if not (is_wanted(result) or is_wanted(written)):
            return result
        for leaf, old in zip(arrays_of(written), before, strict=True):
            leaf[...] = old
        for staged in self.suspects(specialisation, arguments):
            states.restore()
            error = nan_error(staged, arguments.values, infinities)
            states.restore()
            if error is not None:
                raise error
        raise NanError(self.unfound)

    @property
    def unfound(self) -> str:
        """The message for a NaN whose origin is not found."""
        return "a result has a NaN, but there is none when the call is repeated"

    def suspects(self, specialisation: Specialisation, arguments: Arguments) -> Iterator[Staged]:
        """The programs in which the origin of a NaN is looked for, in order."""
        yield self.stage(arguments)
        yield specialisation.staged

    def _warn_of_many(self, stacklevel: int) -> None:
        if self._warned:
            return
        if len(self._specialisations) > MANY:
            count, why = len(self._specialisations), KEEPS_CHANGING
        elif self._renewed > MANY:
            count, why = self._renewed + 1, f"{self._reason or CHANGED} again. {READ_AS_CONSTANT}"
        else:
            return
        self._warned = True
        warnings.warn(
            f"`{self.function_name}` was compiled {count} times: {why}",
            RecompilationWarning,
            stacklevel=stacklevel,
        )

    def _warn_of_numbers(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        where = self.definition
        said = f"`{self.function_name}` is exported with numbers in place of lengths."
        file, line = ("<stcompile>", 1) if where is None else (where.file, where.line)
        warnings.warn_explicit("\n".join([said, *lines]), StcompileWarning, file, line)
