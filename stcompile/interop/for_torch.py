"""Functions of PyTorch's tensors, whose calls autograd records, and whose derivatives are ours."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError
from stcompile.base.options import Level
from stcompile.interop.leaves import Positional, Structured, is_array
from stcompile.interop.staged import Wanted


class TorchFunction(Structured):
    """A function of tensors, and of structures of them."""

    def __init__(self, function: Any, level: Level | None) -> None:
        super().__init__(function, level)
        self._apply: Callable[..., Any] = _bridge().apply
        self._torch: Any = importlib.import_module("torch")

    @public
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        of, leaves = self.apart(arguments, keywords)
        wrt: Wanted = ()
        if self._torch.is_grad_enabled():
            wrt = tuple(at for at, leaf in enumerate(leaves) if _is_active(leaf))
        call = _Call(of, wrt)
        tensors = iter(self._apply(call, *leaves))
        return trees.map_leaves(
            lambda path, leaf: next(tensors) if is_array(leaf) else leaf, call.result
        )


def _is_active(leaf: Any) -> bool:
    return getattr(leaf, "requires_grad", False) is True


class _Call:
    """A call of a function: its result in NumPy's arrays, and its pullback, once it was made."""

    def __init__(self, of: Positional, wrt: Wanted = ()) -> None:
        self.of, self.wrt = of, wrt
        self.result: Any = None
        self.pullback: Callable[..., Any] | None = None

    def made(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """Make the call; returns the arrays of the result."""
        operands = map(to_array, leaves)
        if self.wrt:
            self.result, self.pullback = self.of.with_residuals(self.wrt)(*operands)
        else:
            self.result = self.of(*operands)
        return [leaf for _, leaf in trees.leaves(self.result) if is_array(leaf)]


def to_array(leaf: Any) -> Any:
    """An array of NumPy that shares the memory of a tensor, a number for a tensor of shape ();
    other values as they are."""
    if not hasattr(leaf, "requires_grad"):
        return leaf
    if leaf.device.type != "cpu":
        raise ArgumentsError(
            f"a tensor on the device {str(leaf.device)!r} is given to a function that stcompile "
            "compiled, which computes on the CPU",
            hint="move it there: x.cpu(), and the result back: y.to(device)",
        )
    try:
        array = leaf.detach().resolve_conj().resolve_neg().numpy()
    except (RuntimeError, TypeError) as error:
        raise ArgumentsError(
            f"a tensor of {leaf.dtype} and {leaf.layout} is no array of NumPy: {error}",
            hint="give a dense tensor, x.to_dense(), of a type that NumPy has, x.float(); batches "
            "are by torch.func.vmap",
        ) from None
    return array if array.ndim else array[()]


@functools.cache
def _bridge() -> Any:
    """The function of autograd that makes calls; a class of its own, since it inherits from one of
    PyTorch's."""
    torch: Any = importlib.import_module("torch")
    is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor  # by transforms of torch.func

    def to_tensor(value: Any) -> Any:
        array = np.asarray(value)
        if not array.flags.writeable or any(step < 0 for step in array.strides):
            array = array.copy()
        return torch.from_numpy(array)

    class Stcompile(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(call: _Call, *leaves: Any) -> Any:
            return tuple(map(to_tensor, call.made(leaves)))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.call, *leaves = inputs
            ctx.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            ctx.places = [at for at, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
            tensors = [leaves[at] for at in ctx.places]
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)
            ctx.moving = [at for at, one in enumerate(output) if is_moving(one)]
            ctx.mark_non_differentiable(*(one for one in output if not is_moving(one)))

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            leaves = given(ctx)
            wrt = tuple(at for at, needed in enumerate(ctx.needs_input_grad[1:]) if needed)
            # Cotangents of complex numbers are the conjugates of stcompile's; real ones stay.
            vectors = [cotangents[at].conj() for at in ctx.moving]
            call = ctx.call
            is_plain = not (torch.is_grad_enabled() or any(map(is_wrapped, vectors)))
            if call.pullback is not None and is_plain:
                wrt, found = call.wrt, map(to_tensor, call.pullback(*map(to_array, vectors)))
            else:
                pullback = call.of.pullback(wrt, len(vectors))
                active = tuple(at for at, x in enumerate((*leaves, *vectors)) if _is_active(x))
                kept = active if torch.is_grad_enabled() else ()
                found = Stcompile.apply(_Call(pullback, kept), *leaves, *vectors)
            by_place = {at: one.conj() for at, one in zip(wrt, found, strict=True)}
            return None, *(by_place.get(at) for at in range(len(leaves)))

        @staticmethod
        def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
            leaves = given(ctx)
            wrt = tuple(
                at for at in ctx.places if tangents[at] is not None and is_moving(leaves[at])
            )
            pushforward = ctx.call.of.pushforward(wrt)
            moved = Stcompile.apply(_Call(pushforward), *leaves, *(tangents[at] for at in wrt))
            by_place = dict(zip(ctx.moving, moved, strict=True))
            return tuple(by_place.get(at) for at in range(max(ctx.moving, default=-1) + 1))

        @staticmethod
        def vmap(info: Any, in_dims: Any, call: _Call, *leaves: Any) -> Any:
            inner = _Call(call.of.batched(tuple(in_dims[1:])))
            found = Stcompile.apply(inner, *leaves)
            call.result = inner.result
            return found, tuple(0 for _ in found)

    def is_moving(tensor: Any) -> bool:
        return bool(tensor.is_floating_point() or tensor.is_complex())

    def given(ctx: Any) -> list[Any]:
        leaves = list(ctx.leaves)
        for at, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            leaves[at] = tensor
        return leaves

    # PyTorch asks for the signature in each call, and would make it anew.
    Stcompile.forward.__signature__ = inspect.signature(Stcompile.forward)  # type: ignore[attr-defined]
    return Stcompile
