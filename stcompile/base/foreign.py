"""Libraries whose objects stcompile does not compile, and what to write instead; and compilers
whose functions are replaced by the Python functions that they were made of.

Nothing is imported to recognise them: an object is known by the name of the module of its class, a
function by that of its own.
"""

from __future__ import annotations

import types
from typing import Any

from stcompile.base.wording import an, noun_of

_ARRAY = "pass an array in: {to_array}, outside the function"
LIBRARIES: dict[str, str] = {  # beginning of a module's name -> the hint
    "cupy": _ARRAY.format(to_array="cupy.asnumpy(x)"),
    "dask": _ARRAY.format(to_array="x.compute()"),
    "h5py": _ARRAY.format(to_array="x[...]"),
    "jax": _ARRAY.format(to_array="np.asarray(x)") + "; or jnp is np here: stcompile reads NumPy",
    "jaxlib": _ARRAY.format(to_array="np.asarray(x)"),
    "logging": "log.info(...) and the like are compiled, and so is print(...): do the rest outside "
    "the function",
    "matplotlib": "draw outside the function: return what is to be drawn, beside the loss by "
    "has_aux=True",
    "numba": "functions under @njit and @jit, prange and the types of numbers are compiled; write "
    "the rest in NumPy or in plain Python",
    "numba.cuda": "functions under @njit are compiled; call the others outside the function",
    "numba.experimental": "write a plain class: its attributes are read, its methods compiled",
    "numba.np.ufunc": "put the Python function under @njit, and call it with whole arrays; what "
    "takes numbers alone, as an if, in a loop over the elements",
    "numba.stencils": "write it with slices, as in x[:-2] + x[2:], or as a loop under @njit",
    "numba.typed": "use a plain list or dict, or an array; list(items) makes one of a typed list, "
    "outside the function",
    "numpy.ma": _ARRAY.format(to_array="x.filled(0)") + ", and the mask as another",
    "pandas": _ARRAY.format(to_array="x.to_numpy()"),
    "PIL": _ARRAY.format(to_array="np.asarray(image)"),
    "polars": _ARRAY.format(to_array="x.to_numpy()"),
    "scipy.integrate": "st.solve_ivp(fun, t_span, y0) is compiled, and differentiated, and so are "
    "the rules for samples, such as simpson; or integrate outside the function",
    "scipy.optimize": "brentq, root, minimize and others are compiled without bounds and "
    "constraints, as are st.root(f, x0) and st.fixed_point(g, x0); or solve outside the function",
    "scipy.sparse": "A @ x, x @ A, A.T @ x and A.dot(x) of a matrix A and an array x are compiled; "
    "so are csr_array((data, (i, j)), shape), diags, kron and others of entries that vary, and "
    "spsolve; else pass a dense array in, A.toarray(), or another matrix that is made outside",
    "sympy": "make a NumPy function of it: sympy.lambdify(symbols, expression, 'numpy')",
    "tensorflow": _ARRAY.format(to_array="x.numpy()"),
    "torch": _ARRAY.format(to_array="x.detach().numpy()") + "; and write np. for torch.",
    "tqdm": "loop over the range itself; show progress around the calls of the function",
    "xarray": _ARRAY.format(to_array="x.to_numpy()"),
}

COMPILERS: dict[str, str] = {  # class of compiled functions -> attribute with the plain function
    "numba.core.registry.CPUDispatcher": "py_func",
}


def written_as(value: Any) -> Any:
    """The Python function that another compiler was given; any other value as it is."""
    kind = type(value)
    name = COMPILERS.get(f"{kind.__module__}.{kind.__qualname__}")
    return value if name is None else getattr(value, name)


def library_of(value: Any) -> str | None:
    """The library of `LIBRARIES` that an object, a class or a function belongs to."""
    bound = isinstance(value, types.BuiltinFunctionType | types.MethodType)
    owner = value.__self__ if bound else None
    if owner is not None and not isinstance(owner, types.ModuleType):
        value = owner
    is_named = isinstance(value, type | types.FunctionType | types.BuiltinFunctionType)
    module = str(getattr(value if is_named else type(value), "__module__", ""))
    while module and module not in LIBRARIES:
        module = module.rpartition(".")[0]
    return module or None


def foreign_kind(value: Any) -> str:
    """``a DataFrame of pandas``, ``the function `info` of logging``."""
    library = library_of(value)
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        what = "class" if isinstance(value, type) else "function"
        return f"the {what} `{value.__name__}` of {library}"
    return f"{an(noun_of(value))} of {library}"
