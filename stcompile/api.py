"""The public functions."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from stcompile.base.boundary import public
from stcompile.base.options import Level, Options, options
from stcompile.calls.arguments import Wrt
from stcompile.calls.travel import Travels
from stcompile.frontend.protocol import makes_transformed
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal

if TYPE_CHECKING:  # what only some programs need is loaded by the function that needs it
    from stcompile.reports.graph.model import Graph
    from stcompile.reports.memory import Memory
    from stcompile.reports.snapshots import Snapshot, Snapshots
    from stcompile.transforms.checkpoint import Checkpoint
    from stcompile.transforms.jacobian import Jacobian, Mode
    from stcompile.transforms.train_step import Optimizer, TrainStep
    from stcompile.transforms.vmap import Vmap
    from stcompile.views.explain import Explanation
    from stcompile.views.trace import Trace
    from stcompile.wengert.ir import Program


@makes_transformed
@public
def grad(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Gradient:
    """The gradient of a function of one real number, as a function of the same arguments.

    ``wrt`` names the arguments to differentiate by: an index, a name, or a tuple of them (which
    gives a tuple of gradients). Gradients have the structure, shapes and dtypes of the arguments.
    With ``has_aux`` the function returns ``(output, aux)``, and the gradient function ``(gradient,
    aux)``. With ``debug_nans`` a call whose results have a NaN raises `NanError`, which names the
    line that made the first one. With ``memory``, a number of bytes or text such as ``"64MB"``,
    values are computed again instead of being kept until a call holds no more than that.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return np.sum(x * x)
    >>> st.grad(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Gradient(function, wrt, False, options(level, debug_nans, memory), has_aux)


@makes_transformed
@public
def value_and_grad(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Gradient:
    """Like `grad`, but returns ``(value, gradient)``; with ``has_aux`` ``((value, aux),
    gradient)``."""
    return Gradient(function, wrt, True, options(level, debug_nans, memory), has_aux)


@makes_transformed
@public
def jacobian(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    mode: Mode = "auto",
    has_aux: bool = False,
    holomorphic: bool = False,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Jacobian:
    """The Jacobian of a function of arrays, as a function of the same arguments.

    An output of shape S and an argument of shape T give an array of shape ``S + T``; structures
    give structures, the output's outside. ``mode`` says whether it is made by columns
    (``"forward"``) or by rows (``"reverse"``); ``"auto"`` takes what is fewer. Complex results of
    complex arguments have a derivative where they are ``holomorphic``.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return np.array([x[0] * x[1], x[0] + x[1], x[1] ** 2])
    >>> st.jacobian(f)(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 1.],
           [0., 6.]])
    """
    from stcompile.transforms.jacobian import Jacobian

    return Jacobian(function, wrt, mode, has_aux, options(level, debug_nans, memory), holomorphic)


@makes_transformed
@public
def hessian(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    mode: Mode = "forward",
    has_aux: bool = False,
    holomorphic: bool = False,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Jacobian:
    """The matrix of second derivatives of a function of one real number: the `jacobian` of its
    `grad`, by columns unless ``mode`` says otherwise. A ``holomorphic`` function returns a complex
    number.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return x[0] ** 2 * x[1]
    >>> st.hessian(f)(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    from stcompile.transforms.hessian import Hessian

    return Hessian(function, wrt, mode, has_aux, options(level, debug_nans, memory), holomorphic)


@makes_transformed
@public
def vmap(
    function: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Vmap:
    """A function of one item, as a function of batches of items, without a loop over them.

    ``in_axes`` says which axis of the arguments counts the items: one for all, or a tuple with an
    entry for each positional argument, None for what is the same for all items; an entry may be a
    structure like the argument's. Keyword arguments have it in front. ``out_axes`` says where it is
    in the results.

    >>> import stcompile as st, numpy as np
    >>> def f(x, w):
    ...     return np.sum(np.tanh(x * w))
    >>> xs, w = np.ones((4, 3)), np.array([0.0, 1.0, 2.0])
    >>> st.vmap(st.grad(f), in_axes=(0, None))(xs, w).shape
    (4, 3)
    """
    from stcompile.transforms.vmap import Vmap

    return Vmap(function, in_axes, out_axes, options(level, debug_nans, memory))


@makes_transformed
@public
def compile(
    function: Callable[..., Any],
    *,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Primal:
    """The function itself, compiled: optimised, and with its memory planned.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return np.sum(np.tanh(x) ** 2)
    >>> bool(st.compile(f)(np.ones(3)) == f(np.ones(3)))
    True
    """
    return Primal(function, options(level, debug_nans, memory))


@makes_transformed
@public
def checkpoint(function: Callable[..., Any]) -> Checkpoint:
    """The function, whose values are computed once more for its adjoint instead of being kept.

    >>> import stcompile as st, numpy as np
    >>> @st.checkpoint
    ... def layer(x, w):
    ...     return np.tanh(x @ w)
    >>> def f(x, w):
    ...     return np.sum(layer(layer(x, w), w))
    >>> st.grad(f, wrt="w")(np.ones((1, 2)), np.eye(2)).shape
    (2, 2)
    """
    from stcompile.transforms.checkpoint import Checkpoint

    return Checkpoint(function)


@makes_transformed
@public
def train_step(
    loss: Callable[..., Any],
    optimizer: Optimizer,
    wrt: Wrt = 0,
    *,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> TrainStep:
    """One function for forward, adjoint and update: ``value = step(*arguments)``.

    The arrays of the ``wrt`` arguments are changed in place; the returned loss is that before the
    update. With ``debug_nans`` a step that makes a NaN raises `NanError`, as in `grad`, and leaves
    the parameters as they were.
    """
    from stcompile.transforms.train_step import TrainStep

    return TrainStep(loss, optimizer, wrt, options(level, debug_nans, memory))


@public
def explain(
    function: Callable[..., Any], *arguments: Any, wrt: Wrt = 0, **keywords: Any
) -> Explanation:
    """For each array and number that ``wrt`` names: is its gradient zero at these arguments, and
    why. Prints as a table.

    >>> import stcompile as st, numpy as np
    >>> def f(params, x):
    ...     return np.sum(np.maximum(x * params["scale"], 0))
    >>> found = st.explain(f, {"scale": 2.0, "shift": 1.0}, np.array([-1.0, -2.0]), wrt="params")
    >>> for row in found.rows:
    ...     print(row.path, "is", row.verdict, [cause.kind for cause in row.causes])
    params["scale"] is zero here ['flat']
    params["shift"] is always zero ['unused']
    """
    from stcompile.views.explain import explanation_of

    return explanation_of(Gradient(function, wrt, True), arguments, keywords)


@public
def show(
    function: Callable[..., Any],
    *arguments: Any,
    after: str | None = None,
    wrt: Wrt | None = None,
    level: Level | None = None,
    memory: int | str | None = None,
    **keywords: Any,
) -> Snapshot | Snapshots:
    """A function on its way through the compiler, at these arguments.

    The Wengert list after the stage of the pipeline that ``after`` names; without it a table of
    what each stage changed. ``"staged"`` is the function alone as it was read, ``"reverse"`` with
    its adjoint as recorded; the rest are the passes, and ``ValueError`` lists them for a name that
    is none. Of a plain function or a `Differentiable` its ``value_and_grad`` is shown, by ``wrt``
    (that of the `Differentiable`, or the first argument); of a gradient, a training step and so on
    these themselves. ``level`` is the function's own unless it is given.

    >>> import stcompile as st
    >>> def f(x):
    ...     return x * x
    >>> print(st.show(f, 3.0, after="staged"))
    program f(x: float) {
      v1: float = multiply(x, x)
      return v1
    }
    """
    from stcompile.views.show import stages_of

    if isinstance(function, Differentiable):
        own = function.wrt if wrt is None else wrt
        function = Gradient(function.function, own, True, function.options)
        wrt = None
    stages = stages_of(function, arguments, keywords, wrt, level)
    return stages if after is None else stages.after(after)


class Differentiable(Travels):
    """A plain function with its derivatives at hand.

    Calling it calls the user's function, untouched. ``grad`` and ``value_and_grad`` are functions
    of the same arguments; the other methods show what they compute, for the arguments given.
    """

    def __init__(
        self, function: Callable[..., Any], wrt: Wrt = 0, options: Options | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.wrt = wrt
        self.options = options
        self._bound: dict[int, tuple[weakref.ref[Any], Differentiable]] = {}  # by instance
        self.primal = Primal(function, options)
        self.grad = Gradient(function, wrt, False, options)
        self.value_and_grad = Gradient(function, wrt, True, options)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.function(*arguments, **keywords)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A decorated method is bound like any other."""
        if instance is None:
            return self
        known = self._bound.get(id(instance))
        if known is None or known[0]() is not instance:
            function = self.function.__get__(instance, owner)
            method = Differentiable(function, self.wrt, self.options)
            self._bound[id(instance)] = known = weakref.ref(instance), method
        return known[1]

    def stage_call(self, run: Any, arguments: Any, keywords: Any) -> Any:
        return run.call(self.function, arguments, keywords)

    @public
    def source(self, *arguments: Any, **keywords: Any) -> str:
        """The generated forward and adjoint function."""
        return self.value_and_grad.source(*arguments, **keywords)

    @public
    def compile(self, *arguments: Any, **keywords: Any) -> Callable[..., Any]:
        """The generated forward and adjoint function alone, the one that `source` shows; it checks
        nothing, as `Dispatcher.compile` says. ``f.primal.compile`` is that of the function itself.
        """
        return self.value_and_grad.compile(*arguments, **keywords)

    @public
    def export(self, path: str | os.PathLike[str], *arguments: Any, **keywords: Any) -> None:
        """Write the generated forward and adjoint function into a file of its own, as
        `Gradient.export` says."""
        self.value_and_grad.export(path, *arguments, **keywords)

    @public
    def memory(self, *arguments: Any, **keywords: Any) -> Memory:
        """The memory of the generated forward and adjoint function; prints as a table."""
        return self.value_and_grad.memory(*arguments, **keywords)

    @public
    def wengert(self, *arguments: Any, **keywords: Any) -> Program:
        """The Wengert list of the function, one line an operation when printed."""
        program: Program = self.primal.program(*arguments, **keywords)
        return program

    @public
    def graph(self, *arguments: Any, adjoint: bool = False, **keywords: Any) -> Graph:
        """The computation graph of that list, by levels of equations that do not depend on each
        other; with ``adjoint`` that of the generated forward and adjoint function.

        Prints as a table. A notebook draws it as SVG; ``graph.save("graph.svg")`` writes it, which
        takes igraph and matplotlib (the extra ``graph``).
        """
        drawn = self.value_and_grad if adjoint else self.primal
        return drawn.graph(*arguments, **keywords)

    @public
    def trace(self, *arguments: Any, **keywords: Any) -> Trace:
        """The evaluation trace: every value and every adjoint, side by side when printed."""
        from stcompile.views.trace import trace_of

        return trace_of(self.value_and_grad, arguments, keywords)

    @public
    def explain(self, *arguments: Any, **keywords: Any) -> Explanation:
        """Why gradients are zero at these arguments, as `stcompile.views.explain` says it."""
        from stcompile.views.explain import explanation_of

        return explanation_of(self.value_and_grad, arguments, keywords)

    @public
    def explore(
        self, *arguments: Any, path: str | os.PathLike[str] | None = None, **keywords: Any
    ) -> str:
        """Write a page that shows the function, what became of it stage by stage, the generated
        code, the graph, the values and the memory side by side; a browser opens it as a file.

        ``path`` is that of the file, the function's name with ``.html`` if it is not given; it is
        returned. `ExportError` if the file cannot be written, `MissingExtraError` if a library of
        the extra ``explore`` is not installed.
        """
        from stcompile.views.explorer.page import write_page

        target = os.fspath(path) if path is not None else f"{self.primal.name}.html"
        write_page(target, self.function, arguments, keywords, self.wrt, self.options)
        return target

    @public
    def check_grads(self, *arguments: Any, **keywords: Any) -> None:
        """Compare the gradient with finite differences; `GradientCheckError` names the worst
        entry."""
        from stcompile.transforms.check import check_gradients

        check_gradients(self.value_and_grad, arguments, keywords)


@overload
def differentiable(
    function: Callable[..., Any],
    *,
    wrt: Wrt = 0,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Differentiable: ...
@overload
def differentiable(
    function: None = None,
    *,
    wrt: Wrt = 0,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Callable[[Callable[..., Any]], Differentiable]: ...
@public
def differentiable(
    function: Callable[..., Any] | None = None,
    *,
    wrt: Wrt = 0,
    debug_nans: bool = False,
    level: Level | None = None,
    memory: int | str | None = None,
) -> Any:
    """Decorate a plain NumPy function: it stays what it is, and can be differentiated.

    ``wrt`` names the arguments to differentiate by and ``debug_nans`` looks for NaNs, as in `grad`.

    >>> import stcompile as st, numpy as np
    >>> @st.differentiable(wrt=("x1", "x2"))
    ... def f(x1, x2):
    ...     return np.log(x1) + x1 * x2 - np.sin(x2)
    >>> value, (d_x1, d_x2) = f.value_and_grad(2.0, 5.0)
    >>> print(f"{value:.3f} {d_x1:.3f} {d_x2:.3f}")
    11.652 5.500 1.716
    """
    if function is None:
        return functools.partial(
            differentiable, wrt=wrt, debug_nans=debug_nans, level=level, memory=memory
        )
    return Differentiable(function, wrt, options(level, debug_nans, memory))
