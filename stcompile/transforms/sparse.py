"""``sparse_jacobian`` and ``sparse_hessian``: only entries that may differ from zero are computed.

Columns that share no row are computed together, as the tangent of the sum of their unit vectors
(Curtis, Powell and Reid 1974); each number of the result is then an entry of the only column of its
group that has an entry in that row. Where fewer groups of rows are needed, they are computed as
adjoints. The groups are found for each length of the arguments (`stcompile.transforms.groups`), but
the compiled code takes the sums of unit vectors as an argument, and may be for any length.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stcompile.ad.forward import forward
from stcompile.ad.reverse import split
from stcompile.base.boundary import public
from stcompile.base.options import Options
from stcompile.batch.walk import batched
from stcompile.calls.arguments import Arguments, Wrt
from stcompile.frontend.stage import stage
from stcompile.frontend.state.run import Run
from stcompile.frontend.substage import substage
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.groups import Grouping, Groups, OfOneArray
from stcompile.transforms.jacobian import apart
from stcompile.transforms.pushforward import zero
from stcompile.wengert.naming import Names
from stcompile.wengert.staged import Staged
from stcompile.wengert.types import Type


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
            _Compressed(self, self._own),
            arguments.values,
            arguments.positional,
            name=self.name,
            keywords=arguments.keywords,
            sizes=arguments.sizes,
        )

    def compressed(
        self,
        run: Run,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
        units: Any,
        by_rows: bool,
    ) -> Any:
        """Record the numbers of each group."""
        sub = substage(run, self.copying, arguments, keywords)
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


@dataclass(frozen=True)
class _Compressed:
    """The staged function whose results are the numbers of the groups. It takes the two arguments
    by the names ``own``."""

    jacobian: SparseJacobian
    own: tuple[str, str]

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        units, by_rows = (keywords[name] for name in self.own)
        given = {name: value for name, value in keywords.items() if name not in self.own}
        return self.jacobian.compressed(run, arguments, given, units, by_rows)


class SparseHessian(SparseJacobian):
    """The Hessian of a function of one real number, as a `scipy.sparse.csr_array`."""

    def __init__(self, function: Callable[..., Any], wrt: Wrt, options: Options) -> None:
        super().__init__(Gradient(function, wrt, False, options), wrt, options)
