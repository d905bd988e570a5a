"""``grad`` and ``value_and_grad``: reverse mode as a transformed function."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stcompile.ad.reverse import reverse
from stcompile.analysis.cautions import truncations, upcasts
from stcompile.base import trees
from stcompile.base.errors import ExportError
from stcompile.base.generics import P, R
from stcompile.base.location import Location
from stcompile.base.options import Options
from stcompile.calls.apart import check_example
from stcompile.calls.arguments import Arguments, Wrt, is_several
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import described
from stcompile.frontend.substage import (
    Output,
    SubStage,
    output_and_aux,
    rebuild,
    substage,
    with_outputs,
)
from stcompile.passes.phases import before_adjoint
from stcompile.transforms.primal import Primal
from stcompile.transforms.with_respect_to import DifferentiatedBy, Results, only_set
from stcompile.wengert.ir import Atom, Constant, Program, Variable
from stcompile.wengert.types import is_number

if TYPE_CHECKING:
    from stcompile.export.file import Unit


class Gradient(DifferentiatedBy[P, R]):
    """The gradient of a function with a single real number as its value, with that value or
    without.

    Called with the function's arguments, it returns ``gradient``, or ``(value, gradient)`` with
    ``with_value``. A single ``wrt`` gives a single gradient, a tuple gives a tuple; each gradient
    has the structure, the shapes and the dtypes of its argument. With ``has_aux`` the function
    returns a pair, of which the second is handed on: ``(gradient, aux)``, or ``((value, aux),
    gradient)``.
    """

    takes_complex = True

    def __init__(
        self,
        function: Any,
        wrt: Wrt,
        with_value: bool,
        options: Options | None = None,
        has_aux: bool = False,
    ) -> None:
        super().__init__(function, wrt, options)
        self.with_value = with_value
        self.has_aux = has_aux
        suffix = "value_and_grad" if with_value else "grad"
        self.name = f"{self.function_name}_{suffix}"
        what = "The value of `{}` and its gradient" if with_value else "The gradient of `{}`"
        self.title = f"{what.format(self.function_name)} with respect to {self.all_shown}."
        self.results = 1 if with_value else 0

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        arguments, keywords = self.opened(run, arguments, keywords)
        sub = substage(run, self.copying, arguments, keywords, writes=True)
        value, aux = sub.result, ()
        if self.has_aux:
            value, aux = output_and_aux(run, self.function, sub.result)
        staged, variables = self.chosen_leaves(run, sub)
        left_out = only_set(sub, staged)
        variables = [variable for variable in variables if variable not in left_out]
        output = self._output(run, sub, value)
        others = [leaf.index for _, leaf in trees.leaves(aux) if isinstance(leaf, Output)]
        given = self.chosen_parts(run, arguments, keywords)
        kept = [*others, *sub.kept]
        whole = with_outputs(sub.program, (output, *(sub.program.outputs[i] for i in kept)))
        program = before_adjoint(whole, self.options.is_planned)
        renamed = dict(zip(whole.inputs, program.inputs, strict=True))
        inner = [renamed[variable] for variable in variables]
        self._caution(run, program, inner)
        joint = reverse(program, inner)
        value, *results = run.recorder.inline(joint.program, sub.inputs)
        sub.write_back(run, dict(zip(kept, results, strict=False)))
        found = Results(run, dict(zip(variables, results[len(kept) :], strict=True)))
        made = [found.of(s, g) for s, g in zip(staged, given, strict=True)]
        result_value = run.value(value)
        run.hint(result_value, "value")
        result = tuple(made) if is_several(self.wrt) else made[0]
        if self.has_aux:
            beside = rebuild(run, aux, results[: len(others)])
            return ((result_value, beside), result) if self.with_value else (result, beside)
        return (result_value, result) if self.with_value else result

    def check_export(self) -> None:
        if self.has_aux:
            raise ExportError("the gradient of a function with has_aux=True is not exported")

    def write_python(self, path: str | os.PathLike[str], bound: Arguments) -> None:
        from stcompile.export.file import Export, file_text
        from stcompile.export.quoted import quotes
        from stcompile.export.write import write_named

        staged = self.stage(self.with_lengths(bound))
        if staged.written:
            raise ExportError(
                f"`{self.function_name}` writes into {', '.join(staged.written)}, which the "
                "self-test of the file would change",
                hint="let it write into copies: copy=True",
            )
        check_example(bound, self.wrt, staged)
        value = None if self.with_value else self._value_unit(bound)
        export = Export(
            main=self.unit(staged, bound.values, self.options),
            values=bound.values,
            quotes=quotes(staged.program, self.definition),
            test="check_gradient",
            references=[value],
            wrt=self.names(bound),
            several=is_several(self.wrt),
            lengths=self.lengths_without_names(bound),
        )
        write_named(path, file_text(export))

    def _value_unit(self, arguments: Arguments) -> Unit:
        """The function itself, for the self-test of its gradient."""
        primal: Primal[P, Any] = Primal(self.function)
        primal.name = "value_of_example"
        return primal.unit(primal.stage(arguments), arguments.values)

    def _caution(self, run: Run, program: Program, variables: Sequence[Variable]) -> None:
        """Note code of the function that its author probably did not intend."""
        run.cautions += truncations(program, variables)
        if not run.depth:  # an inner function's lines are among those of the outer one
            run.cautions += upcasts(program)

    def _output(self, run: Run, sub: SubStage, value: Any) -> Atom:
        """The output to differentiate: one real number, or an array of one."""
        if is_number(value) and isinstance(value, float | int):
            return Constant(value)
        if not isinstance(value, Output):
            if value is None and sub.written:
                hints = [run.recorder.hints.get(array.cell.made, "") for array, _ in sub.written]
                names = " and ".join(f"`{hint or 'an argument'}`" for hint in hints)
                self.refuse_result(
                    run,
                    f"`{self.function_name}` returns nothing and writes into {names}, but a "
                    "gradient is that of one number that is returned",
                    "return a number made of what it writes: np.sum(...), or wrap it in a "
                    "function that calls it and does",
                )
            self.refuse_result(
                run,
                f"`{self.function_name}` returns {described(value)}, but a gradient is that of "
                "one number",
                "return a single number, such as np.sum(...)",
            )
        atom = sub.program.outputs[value.index]
        refuse = functools.partial(self.refuse_result, run, location=_maker(sub.program, atom))
        if atom.type.size != 1:
            refuse(
                f"`{self.function_name}` returns an array of shape {atom.type.dims}, but a "
                "gradient is that of one number",
                "sum or average it: np.sum(...), np.mean(...)",
            )
        if atom.type.dtype.kind == "c":
            refuse(
                f"`{self.function_name}` returns the complex number {atom.type}, but a gradient is "
                "that of one real number",
                "return a real part of it: np.real(...), np.abs(...)",
            )
        if atom.type.dtype.kind != "f":
            refuse(
                f"`{self.function_name}` returns {atom.type}, which has no gradient",
                "return a real floating-point number",
            )
        return atom


def _maker(program: Program, atom: Atom) -> Location | None:
    """The location where an output was computed."""
    for equation in program.equations:
        if atom in equation.outputs:
            return equation.location
    return None
