"""``sparse_jacobian`` and ``sparse_hessian``: only what may differ from zero is computed.

The pattern follows from the list of tangents (`stcompile.analysis.sparsity`). Columns that share no
row are computed together, as the tangent of the sum of their unit vectors (Curtis, Powell and Reid
1974); each number of the result is then read from the one column of its group that it can come
from. Where fewer groups of rows are needed, they are computed as adjoints.
"""

from __future__ import annotations

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
from stcompile.calls.specialisation import Specialisation
from stcompile.frontend.stage import stage
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import Output, SubStage, substage
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.jacobian import apart
from stcompile.transforms.pushforward import zero
from stcompile.transforms.with_respect_to import DifferentiatedBy
from stcompile.wengert.ir import Atom, Program, Variable
from stcompile.wengert.staged import Staged
from stcompile.wengert.types import Type


@dataclass(frozen=True)
class Groups:
    """Where a Jacobian may differ from zero, and how it is read from what is computed: the number
    at ``(row, column)`` is in the group of its column, or of its row if these are ``by_rows``."""

    pattern: Matrix
    colours: Any
    by_rows: bool

    @staticmethod
    def of(found: Matrix) -> Groups:
        found.sort_indices()
        by_columns, by_rows = coloured(found), coloured(found.T.tocsr())
        fewer = count(by_rows) < count(by_columns)
        return Groups(found, by_rows if fewer else by_columns, fewer)

    @property
    def size(self) -> int:
        """How many groups there are."""
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


class SparseJacobian(DifferentiatedBy[..., Any]):
    """The Jacobian of a function from an array to an array, as a `scipy.sparse.csr_array`.

    It has a row for each element of the result and a column for each element of the argument, in C
    order, and an entry, which may be zero, wherever the program lets one depend on the other.
    """

    names_lengths = False  # where entries are is found for numbers

    def __init__(self, function: Any, wrt: Wrt = 0, options: Options | None = None) -> None:
        super().__init__(function, wrt, options)
        self.name = f"{self.function_name}_sparse_jacobian"
        self.title = f"Groups of the Jacobian of `{self.function_name}` by {self.all_shown}."

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        bound = self.bind(arguments, keywords)
        made = self.specialise(bound)
        groups: Groups = made.beside
        return groups.expanded(self.run(made, bound))

    @public
    def pattern(self, *arguments: Any, **keywords: Any) -> Any:
        """Where the Jacobian may differ from zero: a sparse array of booleans."""
        return self._groups(arguments, keywords).pattern.copy()

    @public
    def colours(self, *arguments: Any, **keywords: Any) -> int:
        """How many tangents or adjoints a call computes."""
        return self._groups(arguments, keywords).size

    def _groups(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Groups:
        groups: Groups = self.specialise(self.bind(arguments, keywords)).beside
        return groups

    def build(self, arguments: Arguments) -> Specialisation:
        recording = _Recording(self)
        staged = self._staged(recording, arguments)
        (groups,) = recording.found
        return replace(self.specialised(staged, arguments), beside=groups)

    def stage(self, arguments: Arguments) -> Staged:
        return self._staged(_Recording(self), arguments)

    def _staged(self, recording: _Recording, arguments: Arguments) -> Staged:
        return stage(
            recording,
            arguments.values,
            arguments.positional,
            name=self.name,
            keywords=arguments.keywords,
        )

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        self.refuse(
            run,
            "a sparse Jacobian is no value of a function that is compiled",
            "compute it outside; inside, use st.jacobian or products with vectors",
        )

    # --- what is compiled ----------------------------------------------------------------------

    def grouped(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[Any, Groups]:
        """Record the numbers of each group; and how they are read."""
        sub = substage(run, self.copying, arguments, keywords)
        _, variables = self.chosen_leaves(run, sub)
        output = self._output(run, sub, variables)
        joint = forward(sub.program, variables)
        outputs = sub.program.outputs
        inexact = [i for i, atom in enumerate(outputs) if atom.type.inexact]
        at = len(outputs) + inexact.index(output)
        dots = joint.inputs[len(sub.program.inputs) :]
        (found,) = pattern(joint, dots, [at])
        groups = Groups.of(found)
        if groups.by_rows:
            seed = outputs[output].type
            parts = split(sub.program, variables, [output])
            linear = parts.adjoint
            kept = run.recorder.inline(parts.primal, sub.inputs)[len(outputs) :]
        else:
            seed = variables[0].type
            fixed, linear = apart(joint, len(sub.inputs), len(outputs), [output])
            kept = run.recorder.inline(fixed, sub.inputs)
        return _of_groups(run, linear, kept, seed, groups), groups

    def _output(self, run: Run, sub: SubStage, variables: Sequence[Variable]) -> int:
        """The output, of one array by one array."""
        result = sub.result
        if not isinstance(result, Output) or not result.type.inexact:
            self.refuse(
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
            self.refuse(run, f"`{self.function_name}` returns complex numbers", "return real ones")
        return result.index


class _Recording:
    """The staged function whose result are the groups; it keeps how they are read."""

    def __init__(self, jacobian: SparseJacobian) -> None:
        self.jacobian = jacobian
        self.found: list[Groups] = []

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        made, groups = self.jacobian.grouped(run, arguments, keywords)
        self.found.append(groups)
        return made


def _of_groups(run: Run, linear: Program, kept: Sequence[Atom], seed: Type, groups: Groups) -> Any:
    """A linear program of the sum of the unit vectors of each group."""
    size = groups.size
    if not size:
        return zero(run, Type.array(seed.dtype, (0, linear.outputs[0].type.count)))
    colours = tuple(groups.colours.tolist())
    dtype = np.dtype(np.int64)
    own = run.record("constant", values=colours, shape=(1, len(colours)), dtype=dtype)
    each = run.record("arange", start=0, stop=size, step=1, dtype=dtype)
    column = run.record("reshape", each, shape=(size, 1))
    sums = run.record("cast", run.record("equal", own, column), dtype=seed.dtype)
    units = run.record("reshape", sums, shape=(size, *seed.dims))
    flags = [*(False for _ in kept), True]
    program, _ = batched(linear, flags, size, [True])
    (made,) = run.recorder.inline(program, (*kept, run.atom(units)))
    return run.value(made)


class SparseHessian(SparseJacobian):
    """The Hessian of a function of one real number, as a `scipy.sparse.csr_array`."""

    def __init__(self, function: Callable[..., Any], wrt: Wrt, options: Options) -> None:
        super().__init__(Gradient(function, wrt, False, options), wrt, options)
