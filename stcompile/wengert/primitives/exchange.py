"""Primitives by which processes that run the same program exchange gradients.

``pack`` concatenates the elements of arrays and numbers into a vector. ``exchange`` adds up that
vector over all processes of a communicator: each has the sum afterwards. ``exchange_start`` begins
an exchange and adds to a list of requests, ``exchange_wait`` waits for all of them; in between
nothing reads or writes the vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stcompile.wengert.primitives.base import OperandError, Primitive, Types, require_count
from stcompile.wengert.types import COMMUNICATOR, REQUESTS, Type


def _pack(types: Types, params: Mapping[str, Any]) -> Types:
    if not types:
        raise OperandError("pack: takes at least one operand")
    for t in types:
        if t.kind in ("object", "stack") or t.is_named:
            raise OperandError(f"pack: does not take {t}")
    dtypes = {t.dtype for t in types}
    if len(dtypes) > 1:
        raise OperandError(f"pack: takes one dtype, not {' and '.join(sorted(map(str, dtypes)))}")
    return (Type.array(dtypes.pop(), (sum(t.count for t in types),)),)


def _exchange(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("exchange", types, 2)
    return (_summed("exchange", *types),)


def _start(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("exchange_start", types, 3)
    array, comm, requests = types
    if requests.name != REQUESTS:
        raise OperandError(f"exchange_start: adds to a list of requests, not to {requests}")
    return (_summed("exchange_start", array, comm),)


def _summed(name: str, array: Type, comm: Type) -> Type:
    if array.kind != "array" or array.dtype.kind not in "fc":
        raise OperandError(f"{name}: takes an array of floating-point numbers, not {array}")
    if comm.name != COMMUNICATOR:
        raise OperandError(f"{name}: goes through a communicator, not {comm}")
    return array


def _requests(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("requests", types, 0)
    return (Type("object", np.dtype(np.object_), name=REQUESTS),)


def _wait(types: Types, params: Mapping[str, Any]) -> Types:
    require_count("exchange_wait", types, 1)
    return ()


EXCHANGE: tuple[Primitive, ...] = (
    Primitive("pack", _pack),
    Primitive("exchange", _exchange, effects=("exchange",)),
    Primitive("requests", _requests, effects=("exchange",)),
    Primitive("exchange_start", _start, effects=("exchange",)),
    Primitive("exchange_wait", _wait, effects=("exchange",)),
)
