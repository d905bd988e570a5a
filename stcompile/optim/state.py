"""The state of an optimiser from step to step: arrays like the parameters, and a count of steps.

The state belongs to the arrays that were trained with it. It is made at their first step, written
in place by the compiled step, and can be taken out and put back as plain dicts.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn, TypeAlias

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError
from stcompile.base.opening import namespaces

COUNT = "t"  # the slot that counts the steps

Keys: TypeAlias = "tuple[str, ...]"  # a slot, then the keys that lead to an array of it

_EMPTY: Mapping[str, Any] = MappingProxyType({})


class Stateful:
    """An optimiser with state.

    ``slots`` names the kept values. Each is a structure like that of the parameters (if several
    arguments are trained: a dict of them by name), whose arrays have the parameters' shapes and
    dtypes and are zero before the first step. A slot ``t`` is the number of steps made, an int64
    array of shape (). The compiled ``update`` gets every slot as a keyword, a list of arrays (or
    the single array ``t``), and writes to them in place.

    ``state`` has the present values, by slot: empty before the first step.
    """

    slots: ClassVar[tuple[str, ...]] = ()
    state: Mapping[str, Any] = _EMPTY
    _params: Sequence[Any] = ()  # the arrays that the state belongs to
    _loaded: Mapping[Keys, Any] = MappingProxyType({})  # the state for the next step to start from

    def state_for(self, params: Any) -> Mapping[str, Any]:
        """The state for a structure of parameters: ``state`` itself if it belongs to these very
        arrays, else a new one, of zeros or of the arrays that were loaded.

        Raises `ArgumentsError` if a loaded state does not fit the parameters.
        """
        if self.state and _are(_arrays(params), self._params):
            return self.state
        state = {slot: _zeros(slot, params) for slot in self.slots}
        if self._loaded:
            arrays = _by_keys(state)
            _check_fit(self._loaded, arrays)
            for keys, array in arrays.items():
                array[...] = self._loaded[keys]
        return state

    def keep(self, params: Any, state: Mapping[str, Any]) -> None:
        """Keep a state of `state_for`, after a step was made with it."""
        self.state, self._params, self._loaded = state, _arrays(params), {}

    def __getstate__(self) -> dict[str, Any]:
        """A copy, pickled or not, has arrays of its own: it goes on from a copy of the state, with
        whatever parameters its next step is given."""
        arrays = self._loaded or _by_keys(self.state)
        own = ("state", "_params", "_loaded")
        kept = {name: value for name, value in self.__dict__.items() if name not in own}
        return {**kept, "_loaded": {keys: array.copy() for keys, array in arrays.items()}}

    def reset(self) -> None:
        """Forget the state: the next step is a first one, with whatever parameters."""
        self.state, self._params, self._loaded = _EMPTY, (), {}

    def state_dict(self) -> dict[str, Any]:
        """A copy of the state as nested dicts of NumPy arrays, with strings as keys: names, and
        ``"0"``, ``"1"``, … for the items of a list. The number of steps is an int. Empty before the
        first step.
        """
        return _nested(self._loaded or _by_keys(self.state))

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Go on, in the next step and with its parameters, from a copy of the result of
        `state_dict`.

        Hyper-parameters are no part of it. An entry that is missing or unknown, or of another shape
        or dtype, raises `ArgumentsError` with its name: here if there is a state to compare with,
        else at the next step, before anything is changed.
        """
        loaded = {keys: np.array(value) for keys, value in _entries(saved)}
        slots = dict.fromkeys(keys[0] for keys in loaded)
        if loaded and set(slots) != set(self.slots):
            raise ArgumentsError(
                f"the saved state has {_listed(slots)}; {type(self).__name__} keeps "
                f"{_listed(self.slots)}",
                hint="load what an optimiser of the same class saved",
            )
        if loaded and self.state:
            _check_fit(loaded, _by_keys(self.state))
        self.reset()
        self._loaded = loaded


def refuse_other_parameters(optimizer: Stateful) -> NoReturn:
    """Refuse a step with arrays that the state of an optimiser does not belong to."""
    name = type(optimizer).__name__
    raise ArgumentsError(
        f"the state of this {name} belongs to other parameters",
        hint=f"make one {name} for each set of parameters. To go on with copies of its own: "
        "optimizer.load_state_dict(optimizer.state_dict()); to start anew: optimizer.reset()",
    )


def _zeros(slot: str, params: Any) -> Any:
    """The first state of a slot; None stands where a parameter is no array."""
    if slot == COUNT:
        return np.zeros((), np.int64)
    return namespaces(
        trees.map_leaves(lambda _, leaf: np.zeros_like(leaf) if _is_trained(leaf) else None, params)
    )


def _arrays(params: Any) -> list[Any]:
    return [leaf for _, leaf in trees.leaves(params) if _is_trained(leaf)]


def _is_trained(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc"


def _are(arrays: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(arrays) == len(others) and all(map(operator.is_, arrays, others))


# --- as plain dicts ------------------------------------------------------------------------------


def _by_keys(state: Mapping[str, Any]) -> dict[Keys, Any]:
    """The arrays of a state."""
    found: dict[Keys, Any] = {}
    for slot, kept in state.items():
        for path, leaf in trees.leaves(kept):
            keys = (slot, *(str(key) for _, key in path))
            if keys in found:
                raise ArgumentsError(
                    f"two parameters are saved as {_shown(keys)}", hint="rename one of them"
                )
            if leaf is not None:
                found[keys] = leaf
    return found


def _entries(saved: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """The values in nested dicts."""
    if isinstance(saved, Mapping):
        for key, part in saved.items():
            yield from _entries(part, (*keys, str(key)))
    else:
        yield keys, saved


def _nested(arrays: Mapping[Keys, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for (*outer, last), array in arrays.items():
        inner = found
        for key in outer:
            inner = inner.setdefault(key, {})
        inner[last] = array.copy() if outer or last != COUNT else int(array)
    return found


def _check_fit(saved: Mapping[Keys, Any], arrays: Mapping[Keys, Any]) -> None:
    """Refuse saved arrays that do not fit the parameters one by one."""
    hint = "load what was saved with parameters of these names, shapes and dtypes"
    for keys, array in arrays.items():
        if keys not in saved:
            raise ArgumentsError(f"the saved state has no {_shown(keys)}", hint=hint)
        given = saved[keys]
        if (given.dtype, given.shape) != (array.dtype, array.shape):
            raise ArgumentsError(
                f"{_shown(keys)} of the saved state is {given.dtype} {given.shape}, "
                f"not {array.dtype} {array.shape}",
                hint=hint,
            )
    for keys in saved:
        if keys not in arrays:
            raise ArgumentsError(f"{_shown(keys)} of the saved state is of no parameter", hint=hint)


def _shown(keys: Keys) -> str:
    slot, *rest = keys
    return trees.show_path(slot, tuple(("item", key) for key in rest))


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"
