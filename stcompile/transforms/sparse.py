"""``sparse_jacobian`` and ``sparse_hessian``: only entries that may differ from zero are computed.

Columns that share no row are computed together, as the tangent of the sum of their unit vectors
(Curtis, Powell and Reid 1974); each number of the result is then an entry of the only column of its
group that has an entry in that row. Where fewer groups of rows are needed, they are computed as
adjoints. The groups are found for each length of the arguments, from the pattern that follows
from the list of tangents (`stcompile.analysis.sparsity`), but the compiled code takes the sums of
unit vectors as an argument, and may be for any length.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stcompile.ad.forward import forward
from stcompile.ad.reverse import split
from stcompile.analysis.colouring import coloured, count
from stcompile.analysis.sparsity import Matrix, pattern
from stcompile.base.boundary import public
from stcompile.base.extras import require
from stcompile.base.options import Options
from stcompile.batch.walk import batched
from stcompile.calls.arguments import Arguments, Wrt, is_several
from stcompile.calls.callee import SignatureKey
from stcompile.calls.internal import internal_errors
from stcompile.calls.specialisation import Specialisation, unlinked
from stcompile.frontend.protocol import Staging
from stcompile.frontend.stage import stage
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import Output, SubStage, substage
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.jacobian import apart
from stcompile.transforms.pushforward import zero
from stcompile.transforms.with_respect_to import DifferentiatedBy
from stcompile.wengert.ir import Variable
from stcompile.wengert.naming import Names
from stcompile.wengert.staged import Staged
from stcompile.wengert.types import Type

# --- groups of columns or rows, and the reading of their entries ---------------------------------


@dataclass(frozen=True)
class Groups:
    """The pattern of a Jacobian, and how its entries are read from the computed numbers: the entry
    at ``(row, column)`` is in the group of its column, or of its row if the groups are
    ``by_rows``."""

    pattern: Matrix
    colours: Any
    by_rows: bool
    units: Any  # the sum of the unit vectors of each group

    @staticmethod
    def of(found: Matrix, argument: Type, result: Type) -> Groups:
        found.sort_indices()
        by_columns, by_rows = coloured(found), coloured(found.T.tocsr())
        fewer = count(by_rows) < count(by_columns)
        colours, seed = (by_rows, result) if fewer else (by_columns, argument)
        is_in = colours == np.arange(count(colours))[:, None]
        units = is_in.astype(seed.dtype).reshape(-1 if is_in.size else 0, *seed.dims)
        return Groups(found, colours, fewer, units)

    @property
    def size(self) -> int:
        """The number of groups."""
        return count(self.colours)

    def expanded(self, computed: Any) -> Any:
        """The Jacobian, from one row of numbers for each group."""
        sparse = require("scipy.sparse", "scipy", "a sparse Jacobian")
        rows = np.repeat(np.arange(self.pattern.shape[0]), np.diff(self.pattern.indptr))
        columns = self.pattern.indices
        places = (rows, columns) if self.by_rows else (columns, rows)
        width = self.pattern.shape[1 if self.by_rows else 0]
        numbers = np.reshape(computed, (self.size, width))[self.colours[places[0]], places[1]]
        indices, starts = columns.copy(), self.pattern.indptr.copy()
        return sparse.csr_array((numbers, indices, starts), shape=self.pattern.shape)


class OfOneArray(DifferentiatedBy[..., Any]):
    """Base of transformations that differentiate an array by an array, outside of functions that
    are compiled."""

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        self.refuse(
            run,
            "a sparse Jacobian is no value of a function that is compiled",
            "compute it outside; inside, use st.jacobian or products with vectors",
        )

    def one_by_one(self, run: Run, sub: SubStage) -> tuple[int, Sequence[Variable]]:
        """The output, and the variable to differentiate by."""
        _, variables = self.chosen_leaves(run, sub)
        result = sub.result
        if not isinstance(result, Output) or not result.type.inexact:
            self.refuse_result(
                run,
                f"`{self.function_name}` does not return one array of floating-point numbers",
                "return one array, as by np.concatenate; of structures there is st.jacobian",
            )
        if len(variables) > 1 or is_several(self.wrt):
            self.refuse(
                run,
                f"`wrt={self.wrt!r}` has more than one array in it",
                "differentiate by one array, and take the others out of it",
            )
        if result.type.dtype.kind == "c":
            self.refuse_result(
                run, f"`{self.function_name}` returns complex numbers", "return real ones"
            )
        return result.index, variables


class Grouping(OfOneArray):
    """The groups of sparse Jacobians, found for the lengths of a call. Nothing is compiled: the
    result of `specialise` has the groups beside it, and no function."""

    names_lengths = False

    def build(self, arguments: Arguments) -> Specialisation:
        found: list[Groups] = []

        def recorded(run: Run, positional: Sequence[Any], keywords: Mapping[str, Any]) -> None:
            found.append(self.groups(run, positional, keywords))

        staged = stage(
            Staging(recorded),
            arguments.values,
            arguments.positional,
            name=self.name,
            keywords=arguments.keywords,
        )
        return unlinked(staged, arguments, *found)

    def _cached(self, key: SignatureKey, arguments: Arguments) -> Specialisation:
        """The groups: no other process can take them over."""
        with internal_errors(self.definition):
            return self.build(arguments)

    def _warn_of_many(self, stacklevel: int) -> None:
        """Do nothing: many different lengths are expected here."""

    def groups(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Groups:
        sub = substage(run, self.copying, arguments, keywords)
        output, variables = self.one_by_one(run, sub)
        joint, outputs = forward(sub.program, variables), sub.program.outputs
        inexact = [i for i, atom in enumerate(outputs) if atom.type.inexact]
        dots = joint.inputs[len(sub.program.inputs) :]
        (found,) = pattern(joint, dots, [len(outputs) + inexact.index(output)])
        return Groups.of(found, variables[0].type, outputs[output].type)


# --- the matrices --------------------------------------------------------------------------------


class SparseJacobian(OfOneArray):
    """The Jacobian of a function from an array to an array, as a `scipy.sparse.csr_array`.

    It has a row for each element of the result and a column for each element of the argument, in C
    order, and an entry, which may be zero, wherever the program lets the element of the result
    depend on that of the argument.

    The compiled code takes two more arguments: the sums of the unit vectors of each group, and a
    flag that is true for groups of rows.
    """

    def __init__(self, function: Any, wrt: Wrt = 0, options: Options | None = None) -> None:
        super().__init__(function, wrt, options)
        self.name = f"{self.function_name}_sparse_jacobian"
        self.title = f"Groups of the Jacobian of `{self.function_name}` by {self.all_shown}."
        self._grouping = Grouping(function, wrt, options)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        groups = self._groups(arguments, keywords)
        bound = self._with_groups(super().bind(arguments, keywords), groups)
        return groups.expanded(self.run(self.specialise(bound, False), bound))

    @public
    def pattern(self, *arguments: Any, **keywords: Any) -> Any:
        """The pattern of entries that may differ from zero: a sparse array of booleans."""
        return self._groups(arguments, keywords).pattern.copy()

    @public
    def colours(self, *arguments: Any, **keywords: Any) -> int:
        """The number of tangents or adjoints that a call computes."""
        return self._groups(arguments, keywords).size

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Arguments:
        """The arguments of a call, followed by the inputs of the groups."""
        bound = super().bind(arguments, keywords)
        return self._with_groups(bound, self._groups(arguments, keywords))

    def _groups(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Groups:
        bound = self._grouping.bind(arguments, keywords)
        groups: Groups = self._grouping.specialise(bound, False).beside
        return groups

    @functools.cached_property
    def _own(self) -> tuple[str, str]:
        """The names of the two arguments."""
        names = Names(self.parameter_names())
        return names.like("units"), names.like("by_rows")

    def _with_groups(self, bound: Arguments, groups: Groups) -> Arguments:
        own = dict(zip(self._own, (groups.units, groups.by_rows), strict=True))
        return replace(bound, values={**bound.values, **own}, keywords=(*bound.keywords, *own))

    def stage(self, arguments: Arguments) -> Staged:
        return stage(
            Staging(self.compressed),
            arguments.values,
            arguments.positional,
            name=self.name,
            keywords=arguments.keywords,
            sizes=arguments.sizes,
        )

    def compressed(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Record the numbers of each group."""
        units, by_rows = (keywords[name] for name in self._own)
        given = {name: value for name, value in keywords.items() if name not in self._own}
        sub = substage(run, self.copying, arguments, given)
        output, variables = self.one_by_one(run, sub)
        outputs = sub.program.outputs
        if by_rows:
            parts = split(sub.program, variables, [output])
            linear = parts.adjoint
            kept = run.recorder.inline(parts.primal, sub.inputs)[len(outputs) :]
        else:
            joint = forward(sub.program, variables)
            fixed, linear = apart(joint, len(sub.inputs), len(outputs), [output])
            kept = run.recorder.inline(fixed, sub.inputs)
        size = units.type.dims[0]
        if size == 0:
            result = linear.outputs[0].type
            return zero(run, Type.array(units.type.dtype, (0, *result.dims)))
        flags = [*(False for _ in kept), True]
        program, _ = batched(linear, flags, size, [True])
        (made,) = run.recorder.inline(program, (*kept, run.atom(units)))
        return run.value(made)


class SparseHessian(SparseJacobian):
    """The Hessian of a function of one real number, as a `scipy.sparse.csr_array`."""

    def __init__(self, function: Callable[..., Any], wrt: Wrt, options: Options) -> None:
        super().__init__(Gradient(function, wrt, False, options), wrt, options)
