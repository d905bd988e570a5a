"""A training step: forward, adjoint and update as one function that works in place."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np

import stcompile.trees as trees
from stcompile.arguments import Arguments, Wrt, bind, chosen, is_several
from stcompile.dispatch import Dispatcher
from stcompile.errors import ArgumentsError, DerivativeError
from stcompile.frontend.binding import signature_of
from stcompile.frontend.places import Place
from stcompile.frontend.run import Run
from stcompile.frontend.values import Array, Bound, Scalar
from stcompile.gradient import Gradient
from stcompile.options import Options


class Optimizer(Protocol):
    """What a training step needs of an optimiser."""

    def describe(self) -> str: ...

    def update(self, params: Any, grads: Any) -> None: ...


class TrainStep(Dispatcher):
    """One step of gradient descent on ``loss``: returns the loss at the old parameters and
    changes the arrays of the ``wrt`` arguments in place."""

    def __init__(
        self, loss: Any, optimizer: Optimizer, wrt: Wrt, options: Options | None = None
    ) -> None:
        super().__init__(loss, options)
        self.optimizer = optimizer
        self.gradient = Gradient(loss, wrt, with_value=True)
        self.name = f"{self.function_name}_step"
        self.update = optimizer.describe()
        self.title = f"One training step on `{self.function_name}`, in place; returns the loss."
        self.results = 1
        self._checked: Sequence[Any] = []

    def written(self, arguments: Arguments) -> Sequence[str]:
        names = map(arguments.name_of, chosen(self.gradient.wrt))
        return [name for name in names if name is not None]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        bound = self.bind(arguments, keywords)
        specialisation = self.specialise(bound)
        names = self.written(bound)
        written = [a for name in names for a in _arrays(bound.values[name])]
        read = [a for name, v in bound.values.items() if name not in names for a in _arrays(v)]
        read += [a for hidden in specialisation.staged.hidden for a in _arrays(hidden.read())]
        self._check_written(written, read)
        if self.options.debug_nans:
            return self.call_without_nans(specialisation, bound)
        return specialisation.call(tuple(bound.values.values()))

    def _check_written(self, written: Sequence[Any], read: Sequence[Any]) -> None:
        """Refuse arrays that cannot be written, or whose writes would be seen elsewhere, before
        anything is changed. The parameters are looked at among themselves once."""
        for one in written:
            for other in read:
                if np.may_share_memory(one, other) and np.shares_memory(one, other):
                    self._refuse("a parameter shares memory with an array that the loss reads")
        if not all(array.flags.writeable for array in written):
            self._refuse("a parameter is a read-only array")
        known = self._checked
        if len(known) == len(written) and all(map(operator.is_, known, written)):
            return
        for one, other in itertools.combinations(written, 2):
            if np.may_share_memory(one, other) and np.shares_memory(one, other):
                self._refuse("two parameters share memory")
        self._checked = written

    def _refuse(self, reason: str) -> NoReturn:
        hint = "a training step changes every parameter in place: pass copies"
        raise ArgumentsError(reason, location=self.definition, hint=hint)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        value, gradients = self.gradient.stage_call(run, arguments, keywords)
        if not is_several(self.gradient.wrt):
            gradients = (gradients,)
        bound = bind(signature_of(self.function), arguments, keywords)
        params = [bound.values[name] for name in self.written(bound)]
        targets = [leaf for part in params for _, leaf in trees.leaves(part)]
        grads = [leaf for part in gradients for _, leaf in trees.leaves(part)]
        pairs = [(p, g) for p, g in zip(targets, grads, strict=True) if isinstance(p, Array)]
        if any(isinstance(target, Scalar) for target in targets):
            raise DerivativeError(
                "a training step changes arrays in place, but a number cannot be changed",
                location=self.definition,
                hint="pass every parameter as an array: np.array(0.5)",
            )
        run.captures.track(self.optimizer, Place.constant(self.optimizer, "optimizer"))
        run.section = "update"
        update = Bound(type(self.optimizer).update, self.optimizer)
        run.call(update, [run.own([p for p, _ in pairs]), run.own([g for _, g in pairs])], {})
        return value


def _arrays(value: Any) -> list[Any]:
    return [leaf for _, leaf in trees.leaves(value) if isinstance(leaf, np.ndarray)]
