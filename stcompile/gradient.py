"""``grad`` and ``value_and_grad``: reverse mode as a transformed function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from stcompile import trees
from stcompile.ad.reverse import reverse
from stcompile.dispatch import Dispatcher
from stcompile.errors import DerivativeError
from stcompile.frontend.binding import signature_of
from stcompile.frontend.run import Run
from stcompile.frontend.substage import Output, SubStage, substage
from stcompile.ir import Atom, Constant, Program, Variable
from stcompile.location import Location
from stcompile.types import is_number

Wrt = int | str | Sequence[int | str]


class Gradient(Dispatcher):
    """The gradient of a function of one real number, with its value or without.

    Called with the function's arguments, it returns ``gradient``, or ``(value, gradient)`` with
    ``with_value``. One ``wrt`` gives one gradient, a tuple of them a tuple; each has the
    structure, the shapes and the dtypes of its argument.
    """

    def __init__(self, function: Any, wrt: Wrt, with_value: bool) -> None:
        super().__init__(function)
        self.wrt = wrt
        self.with_value = with_value
        suffix = "value_and_grad" if with_value else "grad"
        self.name = f"{self.function_name}_{suffix}"
        what = "The value of `{}` and its gradient" if with_value else "The gradient of `{}`"
        shown = ", ".join(map(str, wrt)) if isinstance(wrt, tuple | list) else str(wrt)
        self.title = f"{what.format(self.function_name)} with respect to {self._shown(shown)}."
        self.results = 1 if with_value else 0

    def _shown(self, wrt: str) -> str:
        names = self.parameter_names()
        parts = [part.strip() for part in wrt.split(",")]
        known = [names[int(p)] if p.lstrip("-").isdigit() and -len(names) <= int(p) < len(names)
                 else p for p in parts]  # fmt: skip
        return " and ".join(f"`{part}`" for part in known)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        sub = substage(run, self.function, arguments, keywords)
        output = self._output(run, sub)
        single = not isinstance(self.wrt, tuple | list)
        chosen: Sequence[int | str] = (self.wrt,) if single else self.wrt  # type: ignore[assignment]
        staged = [self._argument(run, which, sub.arguments, sub.keywords) for which in chosen]
        given = [self._argument(run, which, arguments, keywords) for which in chosen]
        variables: list[Variable] = []
        for which, structure in zip(chosen, staged, strict=True):
            for path, leaf in trees.leaves(structure):
                self._check_leaf(run, which, path, leaf)
                if isinstance(leaf, Variable):
                    variables.append(leaf)
        if not variables:
            self._refuse(
                run,
                f"`wrt={self.wrt!r}` has no array or float in it to differentiate by",
                "name an argument that holds arrays or floats",
            )
        program = _with_output(sub.program, output)
        joint = reverse(program, variables)
        value, *gradients = run.recorder.inline(joint.program, sub.inputs)
        rest = iter(gradients)
        made = [self._structured(run, s, g, rest) for s, g in zip(staged, given, strict=True)]
        result_value = run.value(value)
        run.hint(result_value, "value")
        result = made[0] if single else tuple(made)
        return (result_value, result) if self.with_value else result

    def _structured(self, run: Run, staged: Any, given: Any, gradients: Any) -> Any:
        """Gradients in the structure of an argument."""
        if isinstance(staged, Variable):
            return run.value(next(gradients))
        parts = trees.children(staged)
        if parts is None:
            return staged
        inner = trees.children(given) or []
        made = [
            self._structured(run, part, other, gradients)
            for (_, part), (_, other) in zip(parts, inner, strict=True)
        ]
        result = trees.with_children(staged, made)
        if id(given) in run.origins:
            run.origins[id(result)] = (result, run.origins[id(given)][1])
        return run.own(result) if isinstance(result, list | dict) else result

    def _argument(
        self, run: Run, which: int | str, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """The argument that ``wrt`` names."""
        signature = signature_of(self.function)
        try:
            bound = signature.bind(*arguments, **keywords)
        except TypeError as error:
            self._refuse(run, f"{self.function_name}{signature}: {error}", "")
        bound.apply_defaults()
        names = list(signature.parameters)
        if isinstance(which, int) and not isinstance(which, bool):
            if -len(arguments) <= which < len(arguments):
                return arguments[which]
        elif which in names:
            return bound.arguments[which]
        self._refuse(
            run,
            f"`wrt={which!r}` is no argument of `{self.function_name}{signature}`",
            f"name one of {', '.join(names)}, or give its position",
        )

    def _check_leaf(self, run: Run, which: int | str, path: trees.Path, leaf: Any) -> None:
        shown = trees.show_path(str(which) if isinstance(which, str) else f"argument {which}", path)
        if isinstance(leaf, Variable):
            if leaf.type.dtype.kind == "c":
                self._refuse(run, f"{shown} is complex", "differentiate by its real parts")
            if not leaf.type.inexact:
                self._refuse(
                    run,
                    f"{shown} has the integer type {leaf.type}, which has no gradient",
                    "convert it to floating point, or leave it out of `wrt`",
                )
        elif is_number(leaf):
            self._refuse(
                run,
                f"{shown} is the {type(leaf).__name__} {leaf!r}, which has no gradient: Python "
                "integers are static",
                f"pass it as a float ({float(leaf)!r})",
            )

    def _output(self, run: Run, sub: SubStage) -> Atom:
        """The output to differentiate: one real number."""
        value = sub.result
        if is_number(value) and isinstance(value, float | int):
            return Constant(value)
        if not isinstance(value, Output):
            kind = type(value).__name__
            self._refuse(
                run,
                f"`{self.function_name}` returns a {kind}, but a gradient is that of one number",
                "return a single number, such as np.sum(...)",
            )
        atom = sub.program.outputs[value.index]
        location = _maker(sub.program, atom)
        if atom.type.dims != ():
            self._refuse(
                run,
                f"`{self.function_name}` returns an array of shape {atom.type.dims}, but a "
                "gradient is that of one number",
                "sum or average it: np.sum(...), np.mean(...)",
                location,
            )
        if atom.type.dtype.kind != "f":
            self._refuse(
                run,
                f"`{self.function_name}` returns {atom.type}, which has no gradient",
                "return a real floating-point number",
                location,
            )
        return atom

    def _refuse(
        self, run: Run, reason: str, hint: str, location: Location | None = None
    ) -> NoReturn:
        raise DerivativeError(reason, location=location or run.caller or self.definition, hint=hint)


def _with_output(program: Program, output: Atom) -> Program:
    return Program(program.name, program.inputs, program.equations, (output,))


def _maker(program: Program, atom: Atom) -> Location | None:
    """Where an output was computed."""
    for equation in program.equations:
        if atom in equation.outputs:
            return equation.location
    return None
