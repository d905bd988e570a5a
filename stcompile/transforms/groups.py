"""Groups of the columns, or of the rows, of sparse Jacobians, and the reading of their entries.

The pattern follows from the list of tangents (`stcompile.analysis.sparsity`), for the lengths of a
call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stcompile.ad.forward import forward
from stcompile.analysis.colouring import coloured, count
from stcompile.analysis.sparsity import Matrix, pattern
from stcompile.base.extras import require
from stcompile.calls.arguments import Arguments, is_several
from stcompile.calls.callee import SignatureKey
from stcompile.calls.internal import internal_errors
from stcompile.calls.specialisation import Specialisation, unlinked
from stcompile.frontend.stage import stage
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import Output, SubStage, substage
from stcompile.transforms.with_respect_to import DifferentiatedBy
from stcompile.wengert.ir import Variable
from stcompile.wengert.types import Type


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
        recording = _Recording(self)
        staged = stage(
            recording,
            arguments.values,
            arguments.positional,
            name=self.name,
            keywords=arguments.keywords,
        )
        (groups,) = recording.found
        return unlinked(staged, arguments, groups)

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


@dataclass(frozen=True)
class _Recording:
    """A staged function without a result, which keeps the groups."""

    grouping: Grouping
    found: list[Groups] = field(default_factory=list)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        self.found.append(self.grouping.groups(run, arguments, keywords))
