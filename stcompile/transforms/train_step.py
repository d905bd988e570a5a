"""Training steps: forward, adjoint and update as a single function that works in place."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Protocol

import numpy as np

from stcompile.base import trees
from stcompile.base.classes import MISSING
from stcompile.base.errors import ArgumentsError, DerivativeError, ExportError
from stcompile.base.generics import P, R
from stcompile.base.opening import again_apart, objects_in, parts_of, resolved
from stcompile.base.options import Options
from stcompile.base.places import Place
from stcompile.base.wording import an
from stcompile.calls.apart import apart, check_example
from stcompile.calls.arguments import (
    Arguments,
    Number,
    Wrt,
    bind,
    chosen,
    is_apart,
    is_several,
    split,
)
from stcompile.calls.callee import SignatureKey, method_of
from stcompile.calls.dispatch import Dispatcher
from stcompile.calls.specialisation import Specialisation
from stcompile.calls.written import Refusals
from stcompile.export.file import Export, Unit, file_text
from stcompile.export.quoted import quotes
from stcompile.export.write import write_named
from stcompile.frontend.operations.binding import signature_of
from stcompile.frontend.protocol import Staging
from stcompile.frontend.stage import stage
from stcompile.frontend.state.outside import ChangedPart
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import Array, Bound, Scalar, class_of_number
from stcompile.optim.state import COUNT, Stateful, refuse_other_parameters
from stcompile.passes.pipeline import prepare
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.numbers import Numbers, put, with_arrays, with_numbers
from stcompile.transforms.with_respect_to import Received, moving
from stcompile.wengert.naming import Names
from stcompile.wengert.staged import Staged
from stcompile.wengert.types import is_number

PARAMETERS = ("param", "theta", "weights")  # the beginnings of names of what is trained


class Optimizer(Protocol):
    """The interface of optimisers for a training step. An optimiser that keeps arrays from step to
    step is a `Stateful` as well."""

    def describe(self) -> str:
        """The text about it in the comment above the update."""
        ...

    @property
    def update(self) -> Callable[..., None]:
        """A method: ``update(params, grads, **state)`` changes lists of arrays in place."""
        ...


class TrainStep(Dispatcher[P, R]):
    """A step of gradient descent on ``loss``: returns the loss at the old parameters and changes
    the arrays of the ``wrt`` arguments in place, and the optimiser's state with them.

    The state is passed to the generated function as further arguments, one for each slot.
    """

    def __init__(
        self, loss: Any, optimizer: Optimizer, wrt: Wrt | None, options: Options | None = None
    ) -> None:
        super().__init__(loss, options)
        _check_optimizer(optimizer)
        if wrt is None:
            wrt = self._wrt_of_loss()
        self._optimizer = optimizer
        self.take_receiver(wrt)
        self.gradient: Gradient[P, tuple[R, Any]] = Gradient(
            loss, wrt, with_value=True, options=options
        )
        self._numbers: list[Number] = []  # of the last call
        self._state: set[tuple[type, str]] = set()  # attributes that the loss sets, by class
        self._looked_at: set[Hashable] = set()  # structures of which the state is known
        self.name = f"{self.function_name}_step"
        self.update = optimizer.describe()
        self.title = f"One training step on `{self.function_name}`, in place; returns the loss."
        self.results = 1

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser. It cannot be replaced, but its attributes may be changed."""
        return self._optimizer

    def watched(self, infinities: bool = False) -> TrainStep[P, R]:
        """The same step on the same optimiser with ``debug_nans``: a step that makes a NaN (with
        ``infinities``: an infinity as well) raises `NanError` and changes nothing."""
        options = replace(self.options, debug_nans=True, debug_infinities=infinities)
        made: TrainStep[P, R] = TrainStep(self.as_given, self.optimizer, self.wrt, options)
        made._numbers = self._numbers
        return made

    def _wrt_of_loss(self) -> Wrt:
        """The ``wrt`` of a step that is given none: that of a decorated loss, or the first
        argument. A method may be trained by its object as well, so that it has to be said."""
        decorated: Wrt = getattr(self.function, "wrt", 0)
        method = method_of(self.function)
        if decorated != 0 or method is None:
            return decorated
        first = next(iter(self.parameter_names()), "")
        held = parts_of(method.receiver)
        if not held or first.startswith(PARAMETERS):
            return decorated
        shown = f"{type(method.receiver).__name__}.{self.function_name}"
        own = " and ".join([f"{method.called}.{name}" for name in held][:3])
        more = f", or wrt={first!r}" if first else ""
        raise ArgumentsError(
            f"`{shown}` is a method, whose object has arrays or floats: it is not said what is "
            "trained",
            location=self.definition,
            hint=f'say wrt="{method.called}", which trains {own}{more}',
        )

    @property
    def wrt(self) -> Wrt:
        """The arguments that are trained."""
        return self.gradient.wrt

    # --- the arguments, the parameters among them, and the state -------------------------------

    @functools.cached_property
    def _slots(self) -> dict[str, str]:
        """The slots of the optimiser's state, by the names of their arguments."""
        optimizer = self.optimizer
        if not isinstance(optimizer, Stateful) or not optimizer.slots:
            return {}
        names = Names(self.parameter_names())
        return {names.like(slot): slot for slot in optimizer.slots}

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Arguments:
        """The arguments of a call, and after them the state of the optimiser for its parameters."""
        given = super().bind(arguments, keywords)
        opened = self._opened(given)
        self._check_own(opened)
        bound = with_arrays(opened, given, self.wrt, self._numbers)
        self._numbers[:] = bound.numbers.values()
        if not self._slots:
            return bound
        for name in self._slots:
            if name in bound.values:
                self._refuse_keyword(name)
        assert isinstance(self.optimizer, Stateful)
        state = self.optimizer.state_for(self._params(bound))
        values = {name: state[slot] for name, slot in self._slots.items()}
        more = {**bound.values, **values}
        return replace(bound, values=more, keywords=(*bound.keywords, *self._slots))

    def _opened(self, given: Arguments) -> Arguments:
        """The arguments, with the objects in them taken apart. Attributes that the loss itself
        sets, such as the mean of the batches so far, are no parameters: it is staged to find
        them."""
        opened = apart(given, self.wrt, self._state)
        objects = objects_in(dict(opened.values))
        structure = tuple((path, f.kind, (*f.parts,), (*f.rest,)) for path, f in objects)
        if not structure or structure in self._looked_at:
            return opened
        try:
            found = self.gradient.stage(opened).sets - self._state
        except ChangedPart as error:
            found = frozenset({error.attribute})
        self._looked_at.add(structure)
        self._state |= found
        return self._opened(given) if found else opened

    def _check_own(self, arguments: Arguments) -> None:
        """Refuse objects whose parts are made anew each time: a step would change what nobody
        has."""
        for path, facts in objects_in(dict(arguments.values)):
            again = again_apart(facts)
            if any(facts.parts[key] is not again.get(key) for key in facts.parts if again):
                shown = trees.show_path("", path[1:]) if path else ""
                raise ArgumentsError(
                    f"{path[0][1]}{shown} is taken apart into arrays that are not its own, so that "
                    "a step would not change it",
                    location=self.definition,
                    hint="let the function that takes it apart return the arrays that it holds",
                )

    def _params(self, arguments: Arguments) -> Any:
        """The parameters as the optimiser's state mirrors them; each array of an object once."""
        values = arguments.values
        if is_apart(values):
            values = trees.map_leaves(_Once().leaf, resolved(dict(values)))
        found: dict[str, Any] = {}
        for which in chosen(self.wrt):
            name, path = arguments.name_of(which), split(which)[1]
            if name is not None:
                try:
                    found[str(which) if path else name] = trees.follow(values[name], path)
                except (AttributeError, LookupError, TypeError):  # told of while staging
                    continue
        return found if is_several(self.wrt) else next(iter(found.values()), ())

    def key(self, arguments: Arguments) -> SignatureKey:
        positional, keywords, keys = super().key(arguments)
        numbers = (
            f"{trees.show_path(name, path)} as {an(number.kind.__name__)}"
            for (name, path), number in arguments.numbers.items()
        )
        return (*positional, *numbers), keywords, keys

    def writeable(self, arguments: Arguments) -> Sequence[str]:
        return [*self.gradient.names(arguments), *self._slots]

    def changed(self, arguments: Arguments) -> Sequence[str]:
        return self.writeable(arguments)

    # --- a call --------------------------------------------------------------------------------

    def without_state(self, arguments: Arguments) -> Arguments:
        """The arguments that the user gave."""
        values = {name: x for name, x in arguments.values.items() if name not in self._slots}
        keywords = tuple(name for name in arguments.keywords if name in values)
        return replace(arguments, values=values, keywords=keywords)

    def run(self, specialisation: Specialisation, arguments: Arguments) -> R:
        state = {slot: arguments.values[name] for name, slot in self._slots.items()}
        is_first = self._is_first(state)
        value = super().run(specialisation, arguments)
        if is_first:
            assert isinstance(self.optimizer, Stateful)
            self.optimizer.keep(self._params(arguments), state)
        for number in arguments.numbers.values():
            put(number)
        return value

    def has_entry(self, arguments: Arguments) -> bool:
        return not arguments.numbers and super().has_entry(arguments)

    def places(self) -> Mapping[str, Place]:
        """The places of the state, which an entry reads from the optimiser. The entry has checked
        that the parameters are those of the last call, so the state belongs to them."""
        state = Place.constant(self.optimizer, "optimizer").attribute("state")
        own = {name: state.part((("item", slot),)) for name, slot in self._slots.items()}
        return {**super().places(), **own}

    def _is_first(self, state: Mapping[str, Any]) -> bool:
        """True if the optimiser has no state yet."""
        if not isinstance(self.optimizer, Stateful) or not state:
            return False
        present = self.optimizer.state
        if present and any(kept is not present[slot] for slot, kept in state.items()):
            refuse_other_parameters(self.optimizer)
        return not present

    @property
    def refusals(self) -> Refusals:
        has_state = bool(self._slots)
        return Refusals(
            "a parameter, or the optimiser's state," if has_state else "a parameter",
            "two of the parameters and the arrays of the optimiser's state"
            if has_state
            else "two parameters",
            "an array that the loss reads",
            "a training step changes every parameter in place: pass copies",
        )

    def _refuse_keyword(self, name: str) -> NoReturn:
        raise ArgumentsError(
            f"`{name}` is passed as a keyword, but names the state of the optimiser",
            location=self.definition,
            hint=f"make `{name}` a parameter of `{self.function_name}`, or rename it",
        )

    # --- staging -------------------------------------------------------------------------------

    def stage(self, arguments: Arguments) -> Staged:
        def step(run: Run, given: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
            if self.receiver is not MISSING:
                given = [Received(given[0]), *given[1:]]
            return self.stage_step(run, given, keywords, arguments.numbers)

        return self.staged(Staging(step), arguments)

    def stage_call(self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return self.stage_step(run, arguments, keywords, {})

    def stage_step(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any], numbers: Numbers
    ) -> Any:
        """Record a step. Among the arguments ``numbers`` have arrays in their places."""
        own = {name: value for name, value in keywords.items() if name not in self._slots}
        arguments, own_keywords = self.gradient.opened(run, arguments, own)
        targets = {}
        for shown, target in self._trained(run, arguments, own_keywords):
            self._check_parameter(shown, target)
            targets[_identity(target)] = target
        params = [target for target in targets.values() if isinstance(target, Array)]
        bound = bind(signature_of(self.function), arguments, own_keywords)
        values = with_numbers(run, bound.values, numbers)
        positional = [values[name] for name in bound.positional]
        named = {name: values[name] for name in bound.keywords}
        value, grads = self.stage_gradient(run, positional, named, params)
        self._check_state(run, bound.values, targets)
        self.stage_update(run, params, grads, keywords)
        return value

    def _trained(
        self, run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        """The leaves of the arguments that are trained, as they are written."""
        parts = self.gradient.chosen_parts(run, arguments, keywords)
        for which, part in zip(chosen(self.wrt), parts, strict=True):
            for path, leaf in moving(part):
                yield trees.show_path(self.gradient.shown(which), path), leaf

    def _check_state(self, run: Run, values: Mapping[str, Any], trained: Container[int]) -> None:
        """Refuse a parameter that is an attribute which the loss sets: the step would change an
        array that nobody has."""
        for path, facts in objects_in(dict(values)):
            for name, part in facts.parts.items():
                leaves = (leaf for _, leaf in moving(part))
                is_set = (facts.kind, name) in run.outside.set_apart
                if is_set and any(_identity(leaf) in trained for leaf in leaves):
                    shown = trees.show_path(path[0][1], (*path[1:], ("attribute", name)))
                    raise DerivativeError(
                        f"a step on `{self.function_name}` trains {shown}, which the loss sets",
                        location=self.definition,
                        hint="leave it out of `wrt`: what a loss sets is state, not a parameter",
                    )

    def _check_parameter(self, shown: str, target: Any) -> None:
        """Refuse a parameter that an update cannot change, or should not."""
        if isinstance(target, Scalar):
            raise DerivativeError(
                f"{shown} is {an(class_of_number(target).__name__)}, and a training step changes "
                "arrays in place: a number cannot be changed",
                location=self.definition,
                hint=f"pass it as an array: np.array({shown})",
            )
        if isinstance(target, Array) and target.type.dtype.kind == "c":
            raise DerivativeError(
                f"{shown} is complex, and a training step changes real parameters: the gradient "
                "dL/da - i dL/db is the conjugate of the direction in which the loss grows",
                location=self.definition,
                hint="pass the real and the imaginary part as two parameters, or update by hand: "
                "z -= rate * np.conj(gradient)",
            )

    def stage_gradient(
        self,
        run: Run,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
        params: Sequence[Any],
        gradient: Gradient[P, Any] | None = None,
    ) -> tuple[Any, list[Any]]:
        """Record the loss, and its gradients by the arrays among the leaves of the parameters; or
        another ``gradient``, of a function of the same arguments."""
        gradient = gradient or self.gradient
        trained = self._trained(run, arguments, keywords)
        targets = [target for _, target in trained if target is not None]
        if gradient.receiver is not MISSING:
            arguments = [Received(arguments[0]), *arguments[1:]]
        value, found = gradient.stage_call(run, arguments, keywords)
        parts = found if is_several(gradient.wrt) else (found,)
        leaves = [leaf for part in parts for _, leaf in moving(part) if leaf is not None]
        pairs = zip(map(_identity, targets), leaves, strict=True)
        grads = [g for g in dict(pairs).values() if isinstance(g, Array | Scalar) or is_number(g)]
        assert len(grads) == len(params)
        return value, [run.as_array(g) for g in grads]

    def stage_update(
        self, run: Run, params: list[Any], grads: list[Any], keywords: Mapping[str, Any]
    ) -> None:
        """Record the optimiser's update of arrays by their gradients; its state is among the
        keywords."""
        state = self._staged_state(run, keywords)
        run.relied.track(self.optimizer, Place.constant(self.optimizer, "optimizer"))
        run.section = "update"
        update = Bound(type(self.optimizer).update, self.optimizer)
        run.call(update, [run.own(params), run.own(grads)], state)

    # --- a file of its own ---------------------------------------------------------------------

    def write_python(self, path: str | os.PathLike[str], bound: Arguments) -> None:
        staged = self.stage(self.with_lengths(bound))
        check_example(bound, self.wrt, staged)
        if bound.numbers:
            raise ExportError(
                "a step that trains numbers is not exported: a file's function changes arrays",
                hint="make them arrays: np.array(0.5)",
            )
        wrt = self.gradient.names(bound)
        inputs = self.without_state(bound)
        values = inputs.values
        gradient: Gradient[P, Any] = Gradient(self.function, self.gradient.wrt, with_value=True)
        gradient.name = "gradient_of_example"
        export = Export(
            main=self.unit(staged, bound.values, self.options),
            values=bound.values,
            quotes=quotes(staged.program, self.definition),
            test="check_step",
            references=[
                gradient.unit(gradient.stage(inputs), values),
                self._update_unit({name: values[name] for name in wrt}, bound),
            ],
            wrt=wrt,
            several=is_several(self.gradient.wrt),
            state=tuple(self._slots),
            lengths=self.lengths_without_names(bound),
        )
        write_named(path, file_text(export))

    def _update_unit(self, params: Mapping[str, Any], bound: Arguments) -> Unit:
        """The optimiser's update alone, by gradients that are arguments."""
        gradients = {
            f"gradient_of_{name}": trees.map_leaves(
                lambda _, leaf: np.zeros_like(leaf) if isinstance(leaf, np.ndarray) else leaf, value
            )
            for name, value in params.items()
        }
        values = {**params, **gradients, **{name: bound.values[name] for name in self._slots}}
        positional = [*params, *gradients]

        def update(run: Run, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
            found = [leaf for argument in arguments for _, leaf in trees.leaves(argument)]
            arrays = [leaf for leaf in found if isinstance(leaf, Array)]
            half = len(arrays) // 2
            self.stage_update(run, arrays[:half], arrays[half:], keywords)

        staged = stage(
            Staging(update),
            values,
            positional,
            name="update_of_example",
            writeable=[*params, *self._slots],
            changed=[*params, *self._slots],
            keywords=list(self._slots),
        )
        title = "What the optimiser makes of a gradient, in place."
        return Unit(prepare(staged, 0), list(values), title, self.update)

    def _staged_state(self, run: Run, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The state for the optimiser's method ``update``: a list of arrays for each slot."""
        state: dict[str, Any] = {}
        for name, slot in self._slots.items():
            if name not in keywords:
                run.refuse(
                    f"a training step with {type(self.optimizer).__name__}, which keeps a state, "
                    "cannot be a part of a compiled function",
                    "call it from plain Python, or use an optimiser without state: SGD",
                )
            leaves = [(path, x) for path, x in trees.leaves(keywords[name]) if isinstance(x, Array)]
            for path, leaf in leaves:
                shown = f"{slot}_{trees.path_name('', path).strip('_')}" if path else slot
                run.recorder.hints[leaf.cell.variable] = shown
            arrays = [leaf for _, leaf in leaves]
            state[slot] = arrays[0] if slot == COUNT else run.own(arrays)
        return state


class _Once:
    """Leaves of structures, each array once; None where one was before."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}

    def leaf(self, path: trees.Path, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return value if self._seen.setdefault(id(value), path) is path else None


def _identity(target: Any) -> Any:
    """A key that is the same for the same array or number."""
    if isinstance(target, Array):
        return id(target.cell)
    return target.identity if isinstance(target, Scalar) else id(target)


def _check_optimizer(optimizer: Any) -> None:
    methods = ("describe", "update")
    if all(inspect.isfunction(getattr(type(optimizer), name, None)) for name in methods):
        return
    shown = optimizer.__name__ if isinstance(optimizer, type) else type(optimizer).__name__
    what = f"the class {shown}" if isinstance(optimizer, type) else an(shown)
    raise ArgumentsError(
        f"{what} is no optimiser: an object with the methods `describe` and `update`",
        hint="make one: st.optim.SGD(0.1)",
    )
