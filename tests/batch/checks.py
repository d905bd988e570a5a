"""What must hold for a batch: it is what a loop over its items gives, and so are its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import stcompile as st

Function = Callable[..., Any]


def items(args: Sequence[Any], axes: Sequence[int | None]) -> list[list[Any]]:
    """The arguments of each item."""
    (size,) = {arg.shape[axis] for arg, axis in zip(args, axes, strict=True) if axis is not None}
    return [
        [arg if axis is None else np.take(arg, at, axis) for arg, axis in zip(args, axes)]
        for at in range(size)
    ]


def assert_batch(
    function: Function, *args: Any, axes: Sequence[int | None] = (), wrt: int = 0
) -> None:
    """A function of arrays, its gradient by one of them, and the gradient of its batch."""
    axes = axes or (0,) * len(args)
    loop = items(args, axes)

    def total(*args: Any) -> Any:
        return np.sum(np.sin(function(*args)))

    def whole(*args: Any) -> Any:
        return np.sum(st.vmap(total, tuple(axes))(*args))

    values = np.stack([function(*item) for item in loop])
    gradients = np.stack([st.grad(total, wrt)(*item) for item in loop])
    axis = axes[wrt]
    summed = gradients.sum(axis=0) if axis is None else np.moveaxis(gradients, 0, axis)
    for level in ("readable", "fast"):
        found = st.vmap(function, tuple(axes), level=level)(*args)
        assert found.dtype == values.dtype
        close(found, values)
        close(st.vmap(st.grad(total, wrt), tuple(axes), level=level)(*args), gradients)
        close(st.grad(whole, wrt, level=level)(*args), summed)


def close(found: Any, expected: Any) -> None:
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
