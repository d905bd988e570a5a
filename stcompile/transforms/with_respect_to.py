"""Functions of the same arguments as the user's that differentiate by some of them."""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from stcompile.base import trees
from stcompile.base.classes import MISSING
from stcompile.base.errors import ArgumentsError, DerivativeError, StcompileError
from stcompile.base.fields import Fields, facts_of
from stcompile.base.foreign import LIBRARIES, foreign_kind, library_of
from stcompile.base.generics import P, R
from stcompile.base.location import Location
from stcompile.base.opening import objects_in, parts_of, resolved
from stcompile.base.options import Options
from stcompile.base.places import Place
from stcompile.base.wording import an, noun_of
from stcompile.calls.apart import apart, paths_of
from stcompile.calls.arguments import Arguments, Wrt, bind, chosen, split
from stcompile.calls.callee import method_of
from stcompile.calls.dispatch import Dispatcher
from stcompile.frontend.opening import StagedOpening
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.protocol import Staging
from stcompile.frontend.state.outside import ChangedPart
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.state import AttributeSite
from stcompile.frontend.state.values import Array, Scalar
from stcompile.frontend.substage import SubStage
from stcompile.wengert.ir import Atom, Variable
from stcompile.wengert.types import is_number


class Received:
    """The object of a method, as the first argument of a call."""

    def __init__(self, value: Any) -> None:
        self.value = value


class DifferentiatedBy(Dispatcher[P, R]):
    """A function that is differentiated by the arguments that ``wrt`` names; ``takes_complex`` says
    whether they may be complex."""

    takes_complex = False

    def __init__(self, function: Any, wrt: Wrt, options: Options | None = None) -> None:
        super().__init__(function, options)
        self.wrt = self.take_receiver(wrt)
        self._state: set[tuple[type, str]] = set()  # attributes that are no parameters, by class

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Arguments:
        """The arguments by name. Objects among those that ``wrt`` names are taken apart."""
        return apart(super().bind(arguments, keywords), self.wrt, self._state)

    def learns(self, error: StcompileError) -> bool:
        if not isinstance(error, ChangedPart):
            return False
        step = ("attribute", error.attribute[1])
        if any(step in split(which)[1] for which in chosen(self.wrt)):  # it stays a part
            return False
        self._state.add(error.attribute)  # another thread may have learnt it meanwhile
        return True

    def unbound(self) -> Any:
        (_, _, *more), keywords = self._made_with
        return type(self)(self.function, self.wrt, *more, **keywords)

    @property
    def staged_as(self) -> Any:
        return self if self.receiver is MISSING else Staging(self._stage_whole)

    def _stage_whole(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Record a call with all arguments, the object of a method among them."""
        return self.stage_call(run, [Received(arguments[0]), *arguments[1:]], keywords)

    def shown(self, which: int | str) -> str:
        """The parameter that an item of ``wrt`` names, as far as that is known without a call."""
        names = self.parameter_names()
        is_position = isinstance(which, int) and -len(names) <= which < len(names)
        return names[which] if isinstance(which, int) and is_position else str(which)

    @property
    def all_shown(self) -> str:
        """All of ``wrt``, for titles."""
        return " and ".join(f"`{self.shown(which)}`" for which in chosen(self.wrt))

    def names(self, arguments: Arguments) -> list[str]:
        """The names of the arguments that ``wrt`` chooses."""
        names = map(arguments.name_of, chosen(self.wrt))
        return [*dict.fromkeys(name for name in names if name is not None)]

    def chosen_leaves(self, run: Run, sub: SubStage) -> tuple[list[Any], list[Variable]]:
        """The staged arguments that ``wrt`` names, and the variables to differentiate by."""
        staged = self.chosen_parts(run, sub.arguments, sub.keywords)
        variables: list[Variable] = []
        for one, structure in zip(chosen(self.wrt), staged, strict=True):
            self._check_structure(run, one, structure)
            for path, leaf in moving(structure):
                self._check_leaf(run, trees.show_path(self.shown(one), path), leaf)
                if isinstance(leaf, Variable):
                    variables.append(leaf)
        variables = list(dict.fromkeys(variables))
        if not variables:
            self.refuse(
                run,
                f"`wrt={self.wrt!r}` has no array or float in it to differentiate by",
                "name an argument that holds arrays or floats",
            )
        return staged, variables

    def _check_structure(self, run: Run, which: int | str, value: Any) -> None:
        """Refuse an object that has no leaves to differentiate by."""
        if isinstance(value, Variable) or is_number(value) or trees.children(value) is not None:
            return
        library = library_of(value)
        kind = foreign_kind(value) if library else an(noun_of(value))
        self.refuse(
            run,
            f"`{self.shown(which)}` is {kind}: derivatives are by arrays and floats, also in "
            "dicts, lists, tuples, namedtuples, dataclasses and objects of ordinary classes",
            LIBRARIES[library] if library else "name an argument that holds arrays or floats",
        )

    def opened(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The arguments of a call inside a program, with the objects that ``wrt`` leads to taken
        apart."""
        opening = StagedOpening(run)
        if arguments and isinstance(arguments[0], Received):
            arguments = [arguments[0].value, *arguments[1:]]
        elif self.receiver is not MISSING:
            place = Place.constant(self.receiver, type(self.receiver).__name__)
            run.relied.track(self.receiver, place)
            arguments = [self.receiver, *arguments]
        try:
            bound = bind(signature_of(self.function), arguments, keywords, defaults=False)
            wanted = paths_of(bound, self.wrt)
            if not any(map(opening.has_objects, (bound.values[name] for name in wanted))):
                return arguments, keywords
            values = {
                name: opening.opened(name, bound.values[name], wanted.get(name, ()))
                for name in (*bound.positional, *bound.keywords)
            }
        except TypeError:  # told of by `chosen_arguments`
            return arguments, keywords
        except ArgumentsError as error:
            self.refuse(run, error.reason, error.hint)
        positional = [values[name] for name in bound.positional]
        return positional, {name: values[name] for name in bound.keywords}

    def chosen_parts(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> list[Any]:
        """The arguments that ``wrt`` names, or the parts of arguments; what stands in several
        places is the same object in all of them."""

        def note(old: Any, new: Any) -> None:
            if id(old) in run.origins:
                run.origins[id(new)] = (new, run.origins[id(old)][1])

        return self.chosen_arguments(run, *resolved((tuple(arguments), dict(keywords)), note))

    def chosen_arguments(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> list[Any]:
        """The arguments that ``wrt`` names, or the parts of arguments."""
        signature = signature_of(self.function)
        try:
            bound = bind(signature, arguments, keywords)
        except TypeError as error:
            self.refuse(run, f"{self.function_name}{signature}: {error}", "check the arguments")
        found = []
        for which in chosen(self.wrt):
            name = bound.name_of(which)
            if name is None:
                self._refuse_unknown(run, which, signature)
            found.append(self._part(run, which, bound.values[name]))
        return found

    def _refuse_unknown(self, run: Run, which: int | str, signature: inspect.Signature) -> NoReturn:
        """Refuse a name that no argument has, and say which names ``wrt`` may have."""
        method = method_of(self.function)
        title = f"{self.function_name}{signature}"
        if method is not None and split(which)[0] == "self":
            instead = f"{method.called}{str(which).removeprefix('self')}"
            self.refuse(
                run,
                f"`wrt={which!r}` is no argument of `{title}`",
                f"the method calls its object `{method.called}`: write wrt={instead!r}",
            )
        self.refuse(
            run,
            f"`wrt={which!r}` is no argument of `{title}`",
            f"name one of {', '.join(signature.parameters)}, or give its position"
            if signature.parameters
            else "give it an argument",
        )

    def _part(self, run: Run, which: int | str, value: Any) -> Any:
        """The part of an argument that an item of ``wrt`` names."""
        shown, path = split(which)
        for step in path:
            kind, key = step
            parts = dict(trees.children(value) or ())
            if step in parts:
                value = parts[step]
            elif isinstance(value, Fields) and kind == "attribute" and key in facts_of(value).rest:
                self.refuse(
                    run,
                    f"`{which}` holds no array of floats and no float to differentiate by",
                    "name attributes that do: "
                    + ", ".join(parts_of(facts_of(value).original) or ["none does"]),
                )
            else:
                steps: list[trees.Step] = [*parts]
                if isinstance(value, Fields):
                    steps = [("attribute", name) for name in parts_of(facts_of(value).original)]
                known = [trees.show_path(str(shown), (one,)) for one in steps]
                self.refuse(
                    run,
                    f"`wrt={which!r}` is nothing that can be differentiated by: there is no "
                    f"{trees.show_path(str(shown), (step,))}",
                    f"name one of {', '.join(known)}" if known else "name the argument alone",
                )
            shown = trees.show_path(str(shown), (step,))
        return value

    def _check_leaf(self, run: Run, shown: str, leaf: Any) -> None:
        if isinstance(leaf, Variable):
            if leaf.type.dtype.kind == "c" and not self.takes_complex:
                self.refuse(run, f"{shown} is complex", "differentiate by its real parts")
            if not leaf.type.inexact:
                self.refuse(
                    run,
                    f"{shown} has the integer type {leaf.type}, which has no gradient",
                    "convert it to floating point, or leave it out of `wrt`",
                )
        elif is_number(leaf):
            self.refuse(
                run,
                f"{shown} is the {type(leaf).__name__} {leaf!r}, which has no gradient: Python "
                "integers are static",
                f"pass it as a float ({float(leaf)!r})",
            )

    def refuse_result(
        self, run: Run, reason: str, hint: str, location: Location | None = None
    ) -> NoReturn:
        """Refuse what the function returns, at its ``return`` unless it is known where it was
        made."""
        self.refuse(run, reason, hint, location or run.place_of_result)

    def refuse(
        self, run: Run, reason: str, hint: str, location: Location | None = None
    ) -> NoReturn:
        raise DerivativeError(reason, location=location or run.caller or self.definition, hint=hint)


def moving(
    value: Any, path: trees.Path = (), inside: bool = False
) -> Iterator[tuple[trees.Path, Any]]:
    """The leaves of a staged argument that there have to be derivatives by: all of them; of those
    ``inside`` objects the floating-point ones."""
    parts = trees.children(value)
    if parts is None:
        if not inside or _is_moving(value):
            yield path, value
        return
    for step, part in parts:
        yield from moving(part, (*path, step), inside or isinstance(value, Fields))


def _is_moving(leaf: Any) -> bool:
    return isinstance(leaf, Variable | Array | Scalar) and leaf.type.inexact


def only_set(sub: SubStage, staged: Sequence[Any]) -> set[Variable]:
    """The variables that are no parameters: objects in staged arguments held them on entry, in
    attributes that the function sets and does not read before."""
    used = {v for equation in sub.program.equations for v in equation.variables}
    used.update(atom for atom in sub.program.outputs if isinstance(atom, Variable))
    sites = [one.site for one in sub.carried if isinstance(one.site, AttributeSite)]
    found: set[Variable] = set()
    for _, facts in objects_in(tuple(staged)):
        names = {site.name for site in sites if site.owner is facts.original}
        for name in names & {*facts.parts}:
            found.update(variables_in(facts.parts[name]))
    return found - used


def variables_in(staged: Any) -> list[Variable]:
    """The variables of staged arguments that there are derivatives by, each once."""
    leaves = (leaf for _, leaf in moving(staged))
    return list(dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, Variable)))


class Results:
    """Derivatives in the structures of arguments, from those by variables. For an object there is a
    namespace of its parts. An object or an array in several places of an argument has the same in
    all of them."""

    def __init__(self, run: Run, found: Mapping[Variable, Atom]) -> None:
        self.run = run
        self.found = found
        self._made: dict[int, Any] = {}  # by the identity of staged objects and variables

    def of(self, staged: Any, given: Any, inside: bool = False) -> Any:
        """The derivatives by an argument."""
        if id(staged) in self._made:
            return self._made[id(staged)]
        parts = trees.children(staged)
        if isinstance(staged, Variable):
            made = self.run.value(self.found[staged]) if staged in self.found else None
        elif parts is None:
            return staged if not inside or type(staged) in (str, bool) else None
        else:
            made = self._structure(staged, given, parts, inside)
        if isinstance(staged, Variable | Fields):
            self._made[id(staged)] = made
        return made

    def _structure(self, staged: Any, given: Any, parts: Any, inside: bool) -> Any:
        is_object = isinstance(staged, Fields)
        inner = trees.children(given) or []
        made = [
            self.of(part, other, inside or is_object)
            for (_, part), (_, other) in zip(parts, inner, strict=True)
        ]
        if is_object:
            names = (name for (_, name), _ in parts)
            kept = [not self._is_left_out(part) for _, part in parts]
            pairs = itertools.compress(zip(names, made, strict=True), kept)
            return self.run.own(types.SimpleNamespace(**dict(pairs)))
        result = trees.with_children(staged, made)
        if id(given) in self.run.origins:
            self.run.origins[id(result)] = (result, self.run.origins[id(given)][1])
        is_own = isinstance(result, list | dict | types.SimpleNamespace)
        return self.run.own(result) if is_own else result

    def _is_left_out(self, part: Any) -> bool:
        """True for a part of an object by which no derivative was asked for."""
        leaves = variables_in(part)
        return bool(leaves) and not any(leaf in self.found for leaf in leaves)
