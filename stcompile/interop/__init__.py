"""Functions that are compiled here, used beside other tools: PyTorch, JAX and PyTensor.

A function is given by its name, decorated or not, and called with the arrays of the other tool, in
any structure: dicts, lists, tuples, dataclasses. Numbers and other values that are no arrays stay
what they are, and are known when it is compiled. Arguments are never written into. Derivatives are
those that stcompile makes: each tool is told how to call the pullback, and in turn that of the
pullback, so that its own transforms can be nested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stcompile.base.boundary import public
from stcompile.base.extras import require
from stcompile.base.options import Level

__all__ = ["to_jax", "to_pytensor", "to_torch"]


@public
def to_torch(function: Callable[..., Any], *, level: Level | None = None) -> Callable[..., Any]:
    """A function of PyTorch's tensors, which autograd differentiates.

    Tensors may be of any shape and layout in memory, on the CPU, of a dtype that NumPy has; those
    of shape () are numbers in the function. The results are new tensors, in the structure that the
    function returns, of the dtypes that NumPy gives; integer ones have no gradient. Only tensors
    with ``requires_grad`` get cotangents, and a call that records nothing computes the value alone.
    ``backward``, with ``create_graph`` also to higher orders, ``torch.func.grad``, ``vjp``,
    ``jvp``, ``jacrev``, ``jacfwd``, ``hessian`` and ``vmap`` work; ``torch.compile`` and
    ``is_grads_batched`` do not. Complex gradients are PyTorch's, the conjugates of ours. ``level``
    is the function's own unless it is given. `ArgumentsError` for a tensor on another device or of
    a type that NumPy does not have, `MissingExtraError` without PyTorch.

    >>> import stcompile as st, numpy as np
    >>> f = st.interop.to_torch(lambda x: np.sum(x**3))  # doctest: +SKIP
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)  # doctest: +SKIP
    >>> f(x).backward()  # doctest: +SKIP
    >>> x.grad  # doctest: +SKIP
    tensor([ 3., 12.])
    """
    require("torch", "torch", "st.interop.to_torch")
    from stcompile.interop.for_torch import TorchFunction

    return TorchFunction(function, level)


@public
def to_jax(function: Callable[..., Any], *, level: Level | None = None) -> Callable[..., Any]:
    """A function of JAX's arrays, which is called back from compiled code.

    It is a primitive of JAX with rules for tangents, transposes and batches, so that ``jax.jit``,
    ``grad``, ``jvp``, ``vjp``, ``linearize``, ``jacfwd``, ``jacrev``, ``hessian``, ``vmap``,
    ``checkpoint`` and loops of ``jax.lax`` work, nested to any order; ``jax.pmap``, ``shard_map``
    and devices other than the CPU do not. The shapes of results follow from those of arguments,
    without a call: `LanguageError` where the data decide them. Results have JAX's dtypes, float32
    unless ``jax_enable_x64``. Calls may be left out or repeated by JAX: the function should have no
    effects. ``level`` is the function's own unless it is given. `MissingExtraError` without JAX.

    >>> import stcompile as st, numpy as np
    >>> f = st.interop.to_jax(lambda x: np.sum(x**3))  # doctest: +SKIP
    >>> jax.jit(jax.grad(f))(jnp.array([1.0, 2.0]))  # doctest: +SKIP
    Array([ 3., 12.], dtype=float32)
    """
    require("jax", "jax", "st.interop.to_jax")
    from stcompile.interop.for_jax import JaxFunction

    return JaxFunction(function, level)


@public
def to_pytensor(function: Callable[..., Any], *, level: Level | None = None) -> Callable[..., Any]:
    """A function of PyTensor's variables: an ``Op`` that calls it, with pullback and pushforward,
    to any order, and with the shapes of results as far as those of variables tell them.

    Variables should know their shapes, or those axes in which arrays have to fit together:
    ``pt.vector("x", shape=(3,))``. Axes whose length is not known are tried with some lengths, and
    a result that turns out to be of another type at run time is refused. Constants and integers get
    no cotangents. `ArgumentsError` for complex numbers, and for shapes that do not fit; ``level``
    is the function's own unless it is given. `MissingExtraError` without PyTensor.

    >>> import stcompile as st, numpy as np
    >>> f = st.interop.to_pytensor(lambda x: np.sum(x**3))  # doctest: +SKIP
    >>> x = pt.vector("x")  # doctest: +SKIP
    >>> pytensor.function([x], pt.grad(f(x), x))([1.0, 2.0])  # doctest: +SKIP
    array([ 3., 12.])
    """
    require("pytensor", "pytensor", "st.interop.to_pytensor")
    from stcompile.interop.for_pytensor import PytensorFunction

    return PytensorFunction(function, level)


def __dir__() -> list[str]:
    return sorted(__all__)
