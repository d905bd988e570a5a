"""A training step that all ranks of a communicator make together."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stcompile.base.errors import ArgumentsError, ExportError
from stcompile.base.generics import P, R
from stcompile.base.options import Options
from stcompile.calls.arguments import Arguments, Wrt, bind
from stcompile.calls.specialisation import Specialisation
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array
from stcompile.transforms.agreement import Facts, agree, facts_of
from stcompile.transforms.exchange import TimesRows, exchange_for
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.train_step import Optimizer, TrainStep
from stcompile.wengert.staged import Staged


class SharedStep(TrainStep[P, R]):
    """A training step of the ranks of ``comm``, each with rows of its own: that of the mean over
    the rows of all of them.

    Before the first step the ranks compare their losses, optimisers and parameters.
    """

    def __init__(
        self,
        loss: Any,
        optimizer: Optimizer,
        wrt: Wrt | None,
        options: Options,
        comm: Any,
        rows: str | None = None,
        overlap: bool | int | str = False,
    ) -> None:
        super().__init__(loss, optimizer, wrt, options)
        self.keywords = rows, overlap
        self.exchange = exchange_for(comm, rows, overlap)
        self.has_agreed = False  # with the other ranks

    def watched(self, infinities: bool = False) -> SharedStep[P, R]:
        options = replace(self.options, debug_nans=True, debug_infinities=infinities)
        given = self.as_given, self.optimizer, self.wrt
        return SharedStep(*given, options, self.exchange.comm, *self.keywords)

    @functools.cached_property
    def alone(self) -> TrainStep[P, R]:
        """The same step of one process."""
        return TrainStep(self.as_given, self.optimizer, self.wrt, self.options)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        if not self.has_agreed:
            agree(self.exchange.comm, lambda: self._facts(arguments, keywords))
            self.has_agreed = True
        try:
            return super().__call__(*arguments, **keywords)
        except ZeroDivisionError as error:
            made = self.specialise(self.bind(arguments, keywords), with_program=False)
            location = made.locate(made.line_of(error))
            if location is None or location.section != "exchange":
                raise
            raise ArgumentsError(  # the sums are divided by the rows of all ranks
                "no rank has rows in this step, so that there is no mean over them",
                hint="leave out the steps of batches that are empty on all ranks",
            ) from None

    def _facts(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Facts:
        """The facts that have to be the same on the other ranks."""
        bound = self.bind(arguments, keywords)
        made = self.specialise(bound, with_program=False)
        arrays = {name: bound.values[name] for name in self.writeable(bound)}
        found = facts_of(self.function, self.optimizer, made, arrays)
        return {**found, "`overlap`": f"buckets of {self.exchange.bucket} bytes"}

    def stage_gradient(
        self,
        run: Run,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
        params: Sequence[Any],
        gradient: Gradient[P, Any] | None = None,
    ) -> tuple[Any, list[Any]]:
        bound = bind(signature_of(self.function), arguments, keywords)
        rows = self.exchange.count(run, bound, self.gradient.names(bound))
        arrays = [param for param in params if isinstance(param, Array)]
        value, grads = None, [_zeros_like(run, param) for param in arrays]
        if not (isinstance(rows, int) and rows == 0):  # of none there is no loss
            loss = TimesRows(self.function, rows)
            gradient = Gradient(loss, self.gradient.wrt, True, self.options)
            value, grads = super().stage_gradient(run, arguments, keywords, params, gradient)
        return self.exchange.mean(run, value, arrays, grads, rows)

    # --- NaNs ----------------------------------------------------------------------------------

    def suspects(self, specialisation: Specialisation, arguments: Arguments) -> Iterator[Staged]:
        """The share of this rank alone: nothing is exchanged while one looks."""
        yield self.gradient.stage(self.without_state(arguments))

    @property
    def unfound(self) -> str:
        return "a NaN came from another rank"

    def check_export(self) -> None:
        raise ExportError(
            "a training step that exchanges gradients is not exported: the self-test of its file "
            "runs in one process",
            hint="export the same step without comm",
        )


def _zeros_like(run: Run, param: Array) -> Any:
    """The gradient of a rank that has no rows."""
    return run.record("full", 0.0, shape=param.type.dims, dtype=param.type.dtype)
