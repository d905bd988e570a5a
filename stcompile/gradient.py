"""``grad`` and ``value_and_grad``: reverse mode as a transformed function."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import stcompile.trees as trees
from stcompile.ad.reverse import reverse
from stcompile.arguments import Arguments, Wrt, bind, chosen, is_several
from stcompile.cautions import truncations, upcasts
from stcompile.dispatch import Dispatcher
from stcompile.errors import DerivativeError
from stcompile.export.file import Export, Unit, file_text
from stcompile.export.quoted import quotes
from stcompile.export.write import write_whole
from stcompile.frontend.binding import signature_of
from stcompile.frontend.run import Run
from stcompile.frontend.substage import Output, SubStage, substage
from stcompile.ir import Atom, Constant, Program, Variable
from stcompile.location import Location
from stcompile.options import Options
from stcompile.passes.drop_idle_ports import drop_idle_ports
from stcompile.passes.eliminate_dead_code import eliminate_dead_code
from stcompile.passes.push_maxima import push_maxima
from stcompile.passes.push_slices import push_slices
from stcompile.primal import Primal
from stcompile.types import is_number


class Gradient(Dispatcher):
    """The gradient of a function of one real number, with its value or without.

    Called with the function's arguments, it returns ``gradient``, or ``(value, gradient)`` with
    ``with_value``. One ``wrt`` gives one gradient, a tuple of them a tuple; each has the
    structure, the shapes and the dtypes of its argument.
    """

    def __init__(
        self, function: Any, wrt: Wrt, with_value: bool, options: Options | None = None
    ) -> None:
        super().__init__(function, options)
        self.wrt = wrt
        self.with_value = with_value
        suffix = "value_and_grad" if with_value else "grad"
        self.name = f"{self.function_name}_{suffix}"
        what = "The value of `{}` and its gradient" if with_value else "The gradient of `{}`"
        names = " and ".join(f"`{self._shown(which)}`" for which in chosen(wrt))
        self.title = f"{what.format(self.function_name)} with respect to {names}."
        self.results = 1 if with_value else 0

    def _shown(self, which: int | str) -> str:
        """The parameter that one item of ``wrt`` names, as far as that is known without a call."""
        names = self.parameter_names()
        is_position = isinstance(which, int) and -len(names) <= which < len(names)
        return names[which] if isinstance(which, int) and is_position else str(which)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        sub = substage(run, self.function, arguments, keywords)
        output = self._output(run, sub)
        which = chosen(self.wrt)
        staged = self._arguments(run, sub.arguments, sub.keywords)
        given = self._arguments(run, arguments, keywords)
        variables: list[Variable] = []
        for one, structure in zip(which, staged, strict=True):
            for path, leaf in trees.leaves(structure):
                self._check_leaf(run, trees.show_path(self._shown(one), path), leaf)
                if isinstance(leaf, Variable):
                    variables.append(leaf)
        if not variables:
            self._refuse(
                run,
                f"`wrt={self.wrt!r}` has no array or float in it to differentiate by",
                "name an argument that holds arrays or floats",
            )
        program = eliminate_dead_code(drop_idle_ports(_with_output(sub.program, output)))
        if self.options.level == "fast":  # now: the adjoint follows, and has no rows to fill either
            narrow = push_maxima(eliminate_dead_code(push_slices(program)))
            renamed = dict(zip(program.inputs, narrow.inputs, strict=True))
            program, variables = narrow, [renamed[variable] for variable in variables]
        self._caution(run, program, variables)
        joint = reverse(program, variables)
        value, *gradients = run.recorder.inline(joint.program, sub.inputs)
        rest = iter(gradients)
        made = [self._structured(run, s, g, rest) for s, g in zip(staged, given, strict=True)]
        result_value = run.value(value)
        run.hint(result_value, "value")
        result = tuple(made) if is_several(self.wrt) else made[0]
        return (result_value, result) if self.with_value else result

    def export(self, path: str | os.PathLike[str], *arguments: Any, **keywords: Any) -> None:
        """Write the generated function for these arguments into a Python file of its own.

        The file needs NumPy and nothing else, and is the same to the byte for the same function and
        types. Run as a program it compares the gradient with finite differences. `ExportError` if
        the file cannot be written, or a captured array is too large to be saved in it.
        """
        bound = self.bind(arguments, keywords)
        staged = self.stage(bound)
        value = None if self.with_value else self._value_unit(bound)
        export = Export(
            main=self.unit(staged, bound.values, self.options),
            values=bound.values,
            quotes=quotes(staged.program, self.definition),
            test="check_gradient",
            references=[value],
            wrt=self.names(bound),
            several=is_several(self.wrt),
        )
        write_whole(path, file_text(export))

    def _value_unit(self, arguments: Arguments) -> Unit:
        """The function itself, for the self-test of its gradient."""
        primal = Primal(self.function)
        primal.name = "value_of_example"
        return primal.unit(primal.stage(arguments), arguments.values)

    def names(self, arguments: Arguments) -> list[str]:
        """The names of the arguments that ``wrt`` chooses."""
        names = map(arguments.name_of, chosen(self.wrt))
        return [name for name in names if name is not None]

    def _caution(self, run: Run, program: Program, variables: Sequence[Variable]) -> None:
        """Note what the function does and its author hardly meant."""
        run.cautions += truncations(program, variables)
        if not run.depth:  # an inner function's lines are among those of the outer one
            run.cautions += upcasts(program)

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

    def _arguments(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> list[Any]:
        """The arguments that ``wrt`` names."""
        signature = signature_of(self.function)
        try:
            bound = bind(signature, arguments, keywords)
        except TypeError as error:
            self._refuse(run, f"{self.function_name}{signature}: {error}", "check the arguments")
        found = []
        for which in chosen(self.wrt):
            name = bound.name_of(which)
            if name is None:
                self._refuse(
                    run,
                    f"`wrt={which!r}` is no argument of `{self.function_name}{signature}`",
                    f"name one of {', '.join(signature.parameters)}, or give its position",
                )
            found.append(bound.values[name])
        return found

    def _check_leaf(self, run: Run, shown: str, leaf: Any) -> None:
        if isinstance(leaf, Variable):
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
        if atom.type.dtype.kind == "c":
            self._refuse(
                run,
                f"`{self.function_name}` returns the complex number {atom.type}, but a gradient is "
                "that of one real number",
                "return a real part of it: np.real(...), np.abs(...)",
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
