"""Functions of the same arguments as the user's that differentiate by some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from stcompile.base import trees
from stcompile.base.errors import DerivativeError
from stcompile.base.foreign import LIBRARIES, foreign_kind, library_of
from stcompile.base.generics import P, R
from stcompile.base.location import Location
from stcompile.base.options import Options
from stcompile.base.wording import an, noun_of
from stcompile.calls.arguments import Arguments, Wrt, bind, chosen
from stcompile.calls.dispatch import Dispatcher
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import SubStage
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import is_number


class DifferentiatedBy(Dispatcher[P, R]):
    """A function that is differentiated by the arguments that ``wrt`` names; ``takes_complex`` says
    whether they may be complex."""

    takes_complex = False

    def __init__(self, function: Any, wrt: Wrt, options: Options | None = None) -> None:
        super().__init__(function, options)
        self.wrt = wrt

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
        return [name for name in names if name is not None]

    def chosen_leaves(self, run: Run, sub: SubStage) -> tuple[list[Any], list[Variable]]:
        """The staged arguments that ``wrt`` names, and the variables to differentiate by."""
        staged = self.chosen_arguments(run, sub.arguments, sub.keywords)
        variables: list[Variable] = []
        for one, structure in zip(chosen(self.wrt), staged, strict=True):
            self._check_structure(run, one, structure)
            for path, leaf in trees.leaves(structure):
                self._check_leaf(run, trees.show_path(self.shown(one), path), leaf)
                if isinstance(leaf, Variable):
                    variables.append(leaf)
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
            "dicts, lists, tuples, namedtuples and dataclasses, but in no other objects",
            LIBRARIES[library] if library else "make it a dataclass, or pass its arrays in a dict",
        )

    def structured(self, run: Run, staged: Any, given: Any, gradients: Any) -> Any:
        """Gradients in the structure of an argument."""
        if isinstance(staged, Variable):
            return run.value(next(gradients))
        parts = trees.children(staged)
        if parts is None:
            return staged
        inner = trees.children(given) or []
        made = [
            self.structured(run, part, other, gradients)
            for (_, part), (_, other) in zip(parts, inner, strict=True)
        ]
        result = trees.with_children(staged, made)
        if id(given) in run.origins:
            run.origins[id(result)] = (result, run.origins[id(given)][1])
        return run.own(result) if isinstance(result, list | dict) else result

    def chosen_arguments(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> list[Any]:
        """The arguments that ``wrt`` names."""
        signature = signature_of(self.function)
        try:
            bound = bind(signature, arguments, keywords)
        except TypeError as error:
            self.refuse(run, f"{self.function_name}{signature}: {error}", "check the arguments")
        found = []
        for which in chosen(self.wrt):
            name = bound.name_of(which)
            if name is None:
                self.refuse(
                    run,
                    f"`wrt={which!r}` is no argument of `{self.function_name}{signature}`",
                    f"name one of {', '.join(signature.parameters)}, or give its position"
                    if signature.parameters
                    else "give it an argument",
                )
            found.append(bound.values[name])
        return found

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
