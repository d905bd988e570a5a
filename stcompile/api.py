"""The public functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from stcompile.base.boundary import public
from stcompile.base.errors import ArgumentsError
from stcompile.base.generics import P, R
from stcompile.base.options import Level, options, takes_options
from stcompile.calls.arguments import Wrt
from stcompile.differentiable import Differentiable
from stcompile.frontend.protocol import makes_transformed
from stcompile.transforms.gradient import Gradient
from stcompile.transforms.primal import Primal

if TYPE_CHECKING:  # modules that only some functions need are loaded by them
    from stcompile.reports.snapshots import Snapshot, Snapshots
    from stcompile.transforms.checkpoint import Checkpoint
    from stcompile.transforms.jacobian import Jacobian, Mode
    from stcompile.transforms.sparse import SparseJacobian
    from stcompile.transforms.train_step import Optimizer, TrainStep
    from stcompile.transforms.vmap import Vmap
    from stcompile.typed import (
        A,
        ByFirst,
        ByOne,
        BySeveral,
        Chosen,
        ChosenForMatrices,
        ChosenForNumpy,
        OfFirst,
        Rest,
        X,
    )
    from stcompile.views.explain import Explanation


@overload
def grad(
    function: OfFirst[P, A, Rest, Any],
    wrt: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    **chosen: Unpack[Chosen],
) -> Gradient[P, A]: ...
@overload
def grad(
    function: OfFirst[P, A, Rest, tuple[Any, X]],
    wrt: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **chosen: Unpack[Chosen],
) -> Gradient[P, tuple[A, X]]: ...
@overload
def grad(
    function: Callable[P, Any],
    wrt: int | str = 0,
    *,
    has_aux: Literal[False] = False,
    **chosen: Unpack[Chosen],
) -> Gradient[P, Any]: ...
@overload
def grad(
    function: Callable[P, tuple[Any, X]],
    wrt: int | str = 0,
    *,
    has_aux: Literal[True],
    **chosen: Unpack[Chosen],
) -> Gradient[P, tuple[Any, X]]: ...
@overload
def grad(
    function: Callable[P, Any],
    wrt: Sequence[int | str],
    *,
    has_aux: Literal[False] = False,
    **chosen: Unpack[Chosen],
) -> Gradient[P, tuple[Any, ...]]: ...
@overload
def grad(
    function: Callable[P, tuple[Any, X]],
    wrt: Sequence[int | str],
    *,
    has_aux: Literal[True],
    **chosen: Unpack[Chosen],
) -> Gradient[P, tuple[tuple[Any, ...], X]]: ...
@makes_transformed
@public
@takes_options()
def grad(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    **chosen: Unpack[Chosen],
) -> Gradient[..., Any]:
    """The gradient of a function of one real number, as a function of the same arguments.

    ``wrt`` names the arguments to differentiate by: an index, a name, or a tuple of them (which
    gives a tuple of gradients). A name may lead on to a part of an argument: ``"self.layers"``.
    Gradients have the structure, shapes and dtypes of the arguments; for an object of an ordinary
    class there is a `types.SimpleNamespace` of its attributes that hold floats.
    With ``has_aux`` the function returns ``(output, aux)``, and the gradient function ``(gradient,
    aux)``. With ``debug_nans`` a call whose results have a NaN raises `NanError`, which names the
    line that made the first one. With ``memory``, a number of bytes or text such as ``"64MB"``,
    values are computed again instead of being kept until a call holds no more than that. With
    ``on_error="capsule"`` an error in the generated code is accompanied by a file that raises it
    again, with NumPy alone; the error names the file. A function may write into arrays that it is
    given; ``copy``, the name of an argument, a tuple of names, or True for all, gives it copies
    instead. An axis of an argument whose length changes from call to call gets a name in the
    program, which then serves all lengths; ``dynamic`` is True to have that from the first call on,
    False to compile for each length (see `Lengths`). With ``xp``, a module such as CuPy, the
    readable code is for arrays of this module, by the names of the array API standard. At
    ``level="compiled"``, with ``parallel`` loops whose steps do not depend on each other run in as
    many threads as NumPy has, and give the same bits in any number of them; with ``fastmath``
    sums may be reordered, and there may be no NaN and no infinity. ``threads`` is how many threads
    the libraries of linear algebra take during a call, or ``"auto"``: then numbers are tried in the
    first calls, and again when calls become much slower. ``compiler`` says who compiles the loops
    of ``level="compiled"``: ``"numba"``, or ``"c"`` for the system's compiler of C; None is Numba
    if it is installed, and else C.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return np.sum(x * x)
    >>> st.grad(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Gradient(
        function,
        wrt,
        False,
        options(**chosen),
        has_aux,
    )


@overload
def value_and_grad(
    function: OfFirst[P, A, Rest, R],
    wrt: Literal[0] = 0,
    *,
    has_aux: bool = False,
    **chosen: Unpack[Chosen],
) -> Gradient[P, tuple[R, A]]: ...
@overload
def value_and_grad(
    function: Callable[P, R],
    wrt: int | str = 0,
    *,
    has_aux: bool = False,
    **chosen: Unpack[Chosen],
) -> Gradient[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    function: Callable[P, R],
    wrt: Sequence[int | str],
    *,
    has_aux: bool = False,
    **chosen: Unpack[Chosen],
) -> Gradient[P, tuple[R, tuple[Any, ...]]]: ...
@makes_transformed
@public
@takes_options()
def value_and_grad(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    **chosen: Unpack[Chosen],
) -> Gradient[..., Any]:
    """Like `grad`, but returns ``(value, gradient)``; with ``has_aux`` ``((value, aux),
    gradient)``."""
    return Gradient(
        function,
        wrt,
        True,
        options(**chosen),
        has_aux,
    )


@overload
def jacobian(
    function: Callable[P, Any],
    wrt: Wrt = 0,
    *,
    has_aux: Literal[False] = False,
    **chosen: Unpack[ChosenForMatrices],
) -> Jacobian[P, Any]: ...
@overload
def jacobian(
    function: Callable[P, tuple[Any, X]],
    wrt: Wrt = 0,
    *,
    has_aux: Literal[True],
    **chosen: Unpack[ChosenForMatrices],
) -> Jacobian[P, tuple[Any, X]]: ...
@makes_transformed
@public
@takes_options()
def jacobian(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    mode: Mode = "auto",
    has_aux: bool = False,
    holomorphic: bool = False,
    **chosen: Unpack[Chosen],
) -> Jacobian[..., Any]:
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

    made_with = options(**chosen)
    return Jacobian(function, wrt, mode, has_aux, made_with, holomorphic)


@overload
def hessian(
    function: Callable[P, Any],
    wrt: Wrt = 0,
    *,
    has_aux: Literal[False] = False,
    **chosen: Unpack[ChosenForMatrices],
) -> Jacobian[P, Any]: ...
@overload
def hessian(
    function: Callable[P, tuple[Any, X]],
    wrt: Wrt = 0,
    *,
    has_aux: Literal[True],
    **chosen: Unpack[ChosenForMatrices],
) -> Jacobian[P, tuple[Any, X]]: ...
@makes_transformed
@public
@takes_options()
def hessian(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    mode: Mode = "forward",
    has_aux: bool = False,
    holomorphic: bool = False,
    **chosen: Unpack[Chosen],
) -> Jacobian[..., Any]:
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

    made_with = options(**chosen)
    return Hessian(function, wrt, mode, has_aux, made_with, holomorphic)


@makes_transformed
@public
def sparse_jacobian(
    function: Callable[..., Any], wrt: Wrt = 0, *, level: Level | None = None
) -> SparseJacobian:
    """The Jacobian of a function from an array to an array, as a `scipy.sparse.csr_array`: a row
    for each element of the result, a column for each element of the argument, in C order.

    Where it may differ from zero follows from the program. Columns, or rows, that cannot be in each
    other's way are computed together: of a tridiagonal Jacobian of any size, three.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return x[1:] * x[:-1]
    >>> jacobian = st.sparse_jacobian(f)
    >>> jacobian(np.array([1.0, 2.0, 3.0, 4.0])).toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    >>> jacobian.colours(np.ones(1000))
    2
    """
    from stcompile.transforms.sparse import SparseJacobian

    return SparseJacobian(function, wrt, options(level))


@makes_transformed
@public
def sparse_hessian(
    function: Callable[..., Any], wrt: Wrt = 0, *, level: Level | None = None
) -> SparseJacobian:
    """The matrix of second derivatives of a function of one real number, as a
    `scipy.sparse.csr_array`: the `sparse_jacobian` of its `grad`.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return np.sum(x[1:] * x[:-1] ** 2)
    >>> st.sparse_hessian(f)(np.array([1.0, 2.0, 3.0])).toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    from stcompile.transforms.sparse import SparseHessian

    return SparseHessian(function, wrt, options(level))


@makes_transformed
@public
@takes_options("xp")
def vmap(
    function: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    **chosen: Unpack[ChosenForNumpy],
) -> Vmap:
    """A function of one item, as a function of batches of items, without a loop over them.

    ``in_axes`` says which axis of the arguments counts the items: one number for all arguments, or
    a tuple with an entry for each positional argument, None for an argument that is the same for
    all items; an entry may be a structure like the argument's. Keyword arguments have it in front.
    ``out_axes`` is the place of this axis in the results.

    >>> import stcompile as st, numpy as np
    >>> def f(x, w):
    ...     return np.sum(np.tanh(x * w))
    >>> xs, w = np.ones((4, 3)), np.array([0.0, 1.0, 2.0])
    >>> st.vmap(st.grad(f), in_axes=(0, None))(xs, w).shape
    (4, 3)
    """
    from stcompile.transforms.vmap import Vmap

    return Vmap(
        function,
        in_axes,
        out_axes,
        options(**chosen),
    )


@makes_transformed
@public
@takes_options()
def compile(
    function: Callable[P, R],
    **chosen: Unpack[Chosen],
) -> Primal[P, R]:
    """The function itself, compiled: optimised, and with its memory planned.

    >>> import stcompile as st, numpy as np
    >>> def f(x):
    ...     return np.sum(np.tanh(x) ** 2)
    >>> bool(st.compile(f)(np.ones(3)) == f(np.ones(3)))
    True
    """
    return Primal(
        function,
        options(**chosen),
    )


@makes_transformed
@public
def checkpoint(function: Callable[P, R]) -> Checkpoint[P, R]:
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
@takes_options("xp")
def train_step(
    loss: Callable[P, R],
    optimizer: Optimizer,
    wrt: Wrt | None = None,
    *,
    comm: Any = None,
    rows: str | None = None,
    overlap: bool | int | str = False,
    **chosen: Unpack[ChosenForNumpy],
) -> TrainStep[P, R]:
    """Compile forward evaluation, adjoint and update into one function: ``value =
    step(*arguments)``.

    The arrays of the ``wrt`` arguments (the first one, if nothing else is said) are changed in
    place; the returned loss is that before the update. Numbers among them are replaced where that
    is possible: in objects, dicts and lists. Of a method, ``wrt="self"`` trains its object; if the
    object holds arrays or floats, it has to be said what is trained, else `ArgumentsError`. With
    ``debug_nans`` a step that makes a NaN raises `NanError`, as in `grad`, and leaves the
    parameters as they were; ``threads``, too, is as in `grad`.

    With ``comm``, a communicator of mpi4py, all its ranks make the step together, each with rows of
    its own. The loss has to be a mean over rows; the step uses the mean over the rows of all ranks,
    and is the same everywhere. ``rows`` names the argument whose first axis has a rank's rows; it
    may be omitted if all arrays that are not trained have the same first length. With ``overlap``
    gradients are exchanged while others are still computed, in buckets of 25 MB, or of the given
    size.
    """
    from stcompile.transforms.train_step import TrainStep

    made = options(**chosen)
    if comm is not None:
        from stcompile.transforms.shared_step import SharedStep

        return SharedStep(loss, optimizer, wrt, made, comm, rows, overlap)
    if rows is not None or overlap is not False:
        raise ArgumentsError(
            "`rows` and `overlap` are for steps that several processes make together",
            hint="name their communicator: comm=MPI.COMM_WORLD",
        )
    return TrainStep(loss, optimizer, wrt, made)


@public
def explain(
    function: Callable[..., Any], *arguments: Any, wrt: Wrt = 0, **keywords: Any
) -> Explanation:
    """Tell for each array and number that ``wrt`` names whether its gradient is zero at these
    arguments, and why. Prints as a table.

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
    **keywords: Any,
) -> Snapshot | Snapshots:
    """Show the stages of a function on its way through the compiler, at these arguments.

    Returns the Wengert list after the stage of the pipeline that ``after`` names; without
    ``after``, a table of the changes of each stage. ``"staged"`` is the function alone as it was
    read, ``"reverse"`` with its adjoint as recorded; the other stages are the passes, and
    ``ValueError`` lists them for an unknown name. Of a plain function or a `Differentiable` its
    ``value_and_grad`` is shown, by ``wrt`` (that of the `Differentiable`, or the first argument);
    gradients, training steps and so on are shown themselves. ``level`` is the function's own unless
    it is given.

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


@overload
def differentiable(
    function: OfFirst[P, A, Rest, R], *, wrt: Literal[0] = 0, **chosen: Unpack[Chosen]
) -> Differentiable[P, R, A]: ...
@overload
def differentiable(
    function: Callable[P, R], *, wrt: int | str = 0, **chosen: Unpack[Chosen]
) -> Differentiable[P, R, Any]: ...
@overload
def differentiable(
    function: Callable[P, R], *, wrt: Sequence[int | str], **chosen: Unpack[Chosen]
) -> Differentiable[P, R, tuple[Any, ...]]: ...
@overload
def differentiable(
    function: None = None, *, wrt: Literal[0] = 0, **chosen: Unpack[Chosen]
) -> ByFirst: ...
@overload
def differentiable(function: None = None, *, wrt: int | str, **chosen: Unpack[Chosen]) -> ByOne: ...
@overload
def differentiable(
    function: None = None, *, wrt: Sequence[int | str], **chosen: Unpack[Chosen]
) -> BySeveral: ...
@public
@takes_options()
def differentiable(
    function: Callable[..., Any] | None = None,
    *,
    wrt: Wrt = 0,
    **chosen: Unpack[Chosen],
) -> Any:
    """Decorate a plain NumPy function, which can be called as before, and differentiated.

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
        return functools.partial(differentiable, wrt=wrt, **chosen)
    return Differentiable(
        function,
        wrt,
        options(**chosen),
    )
