"""Compare, once, the facts that have to be the same on all ranks that make a training step
together.

Ranks with another loss, or with other parameters, would go on from step to step and be wrong
without a sign. A rank that cannot compile the step would leave the others waiting.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ArgumentsError, SourceError, StcompileError
from stcompile.calls.specialisation import Specialisation
from stcompile.parse.source import function_source

Facts = Mapping[str, str]  # facts that all ranks have to share, by name

SHORT = 60  # characters of a fact that an error tells
_HINT = "start all ranks with the same program, flags and seed, and draw the parameters alike"


def agree(comm: Any, facts: Callable[[], Facts]) -> None:
    """Compare facts over the ranks of a communicator; all ranks raise if they differ, or if one of
    them cannot tell its own."""
    failure: Exception | None = None
    told: Facts | str
    try:
        told = facts()
    except Exception as error:
        failure, told = error, f"{type(error).__name__}: {error}"
    everyone: list[Facts | str] = comm.allgather(told)
    if failure is not None:
        raise failure
    for rank, other in enumerate(everyone):
        if isinstance(other, str):
            raise ArgumentsError(f"rank {rank} cannot make the step: {other}")
    first = everyone[0]
    assert not isinstance(first, str)
    for rank, other in enumerate(everyone):
        assert not isinstance(other, str)
        for what in first:  # a rank that has no rows reads less of the loss
            if first[what] != other.get(what, first[what]):
                both = _both(first[what], other[what])
                raise ArgumentsError(f"ranks 0 and {rank} differ in {what}{both}", hint=_HINT)


def _both(one: str, other: str) -> str:
    """The first lines of the facts of two ranks, if they are short and differ."""
    first, second = one.partition("\n")[0], other.partition("\n")[0]
    is_told = first != second and max(len(first), len(second)) <= SHORT
    return f": {first or 'nothing'} and {second or 'nothing'}" if is_told else ""


def facts_of(
    function: Any, optimizer: Any, made: Specialisation, arrays: Mapping[str, Any]
) -> Facts:
    """The facts that a step depends on: the code that it was compiled from, captured numbers,
    versions, and ``arrays``, the parameters and the optimiser's state, which all ranks change
    alike."""
    found = {f"the version of {name}": _version(name) for name in ("stcompile", "numpy")}
    found["the loss"] = _told(function)
    found["the optimiser"] = f"{optimizer.describe()}\n{_told(type(optimizer))}"
    for guard in made.guards:
        text = _told(guard.expected)
        if text:
            found[f"`{guard.place.description}`"] = text
    for hidden in made.hidden:
        if hidden.variable.type.kind in ("python", "scalar"):
            found[f"`{hidden.place.description}`"] = repr(hidden.read())
    told = dict(digests(arrays))
    found["the names of the parameters"] = ", ".join(told)
    return found | told


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # it is not installed, but in a folder of the path
        return ""


def digests(arrays: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The arrays in structures, each with its type, and a digest of its elements."""
    for name, value in arrays.items():
        for path, leaf in trees.leaves(value):
            if isinstance(leaf, np.ndarray):
                elements = hashlib.sha256(np.ascontiguousarray(leaf).data).hexdigest()
                told = f"{leaf.dtype} of shape {leaf.shape}\n{elements}"
                yield f"`{trees.show_path(name, path)}`", told


def _told(value: Any) -> str:
    """The text of a function or of a class's methods, a plain value; "" for anything else."""
    if isinstance(value, functools.partial):
        return f"{_told(value.func)} {value.args!r} {value.keywords!r}"
    if isinstance(value, type):
        return "\n".join(filter(None, map(_told, vars(value).values())))
    value = getattr(value, "function", getattr(value, "__func__", value))
    if isinstance(value, types.FunctionType):
        try:
            return function_source(value).text
        except (SourceError, StcompileError):
            return value.__code__.co_code.hex()
    return repr(value) if isinstance(value, int | float | str | bool | type(None)) else ""
