"""Random draws: methods of generators, and the functions of NumPy's global state."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stcompile.base.errors import TypingError
from stcompile.frontend.functions.creation import conversion, dtype_of
from stcompile.frontend.functions.reductions import axis_of
from stcompile.frontend.functions.shapes import shape_of
from stcompile.frontend.operations.indexing import get_item, set_item
from stcompile.frontend.state.run import Run
from stcompile.frontend.state.values import (
    Array,
    GeneratorValue,
    as_entries,
    described,
    is_static,
    is_traced,
    is_whole,
)
from stcompile.frontend.state.walking import PYTHON_INT
from stcompile.wengert.ir import Variable

Generator = GeneratorValue


def _size(run: Run, size: Any) -> tuple[int, ...] | None:
    return None if size is None else shape_of(run, size)


def _draw(run: Run, primitive: str, rng: Generator, *operands: Any, **params: Any) -> Any:
    """Record a draw; arrays are laid out in C order."""
    given = {name: value for name, value in params.items() if value is not None}
    atoms = (rng.atom, *map(run.atom, operands))
    (output,) = run.record_atoms(primitive, atoms, given)
    return run.value(output)


def _real_dtype(run: Run, dtype: Any) -> np.dtype[Any] | None:
    """A dtype argument of real draws; None for the default."""
    found = dtype_of(run, dtype)
    return None if found == np.float64 else found


# --- real numbers ----------------------------------------------------------------------------


def _of_dtype(
    primitive: str, run: Run, rng: Generator, size: Any = None, dtype: Any = np.float64
) -> Any:
    found = _real_dtype(run, dtype)
    return _draw(run, primitive, rng, size=_size(run, size), dtype=found)


def normal(run: Run, rng: Generator, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return _draw(run, "normal", rng, loc, scale, size=_size(run, size))


def uniform(run: Run, rng: Generator, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return _draw(run, "uniform", rng, low, high, size=_size(run, size))


def exponential(run: Run, rng: Generator, scale: Any = 1.0, size: Any = None) -> Any:
    return _draw(run, "exponential", rng, scale, size=_size(run, size))


def _of_default_dtype(primitive: str, run: Run, rng: Generator, size: Any = None) -> Any:
    return _draw(run, primitive, rng, size=_size(run, size))


def _of_dimensions(primitive: str, run: Run, rng: Generator, *d: int) -> Any:
    return _draw(run, primitive, rng, size=shape_of(run, d))


# --- integers --------------------------------------------------------------------------------


def integers(
    run: Run,
    rng: Generator,
    low: Any,
    high: Any = None,
    size: Any = None,
    dtype: Any = np.int64,
    endpoint: bool = False,
) -> Any:
    first, last = (0, low) if high is None else (low, high)
    kind = dtype_of(run, dtype)
    if not is_static(endpoint):
        run.refuse("`endpoint` is known only at run time", "give True or False")
    drawn = _draw(
        run, "integers", rng, first, last, size=_size(run, size),
        dtype=None if kind == np.int64 else kind, endpoint=bool(endpoint),
    )  # fmt: skip
    is_number = not isinstance(drawn, Array)
    return conversion(dtype, run, drawn) if is_number and dtype in (int, bool) else drawn


def randint(
    run: Run, rng: Generator, low: Any, high: Any = None, size: Any = None, dtype: Any = int
) -> Any:
    first, last = (0, low) if high is None else (low, high)
    kind = None if dtype is int else dtype_of(run, dtype)
    drawn = _draw(run, "randint", rng, first, last, size=_size(run, size), dtype=kind)
    return conversion(bool, run, drawn) if dtype is bool and not isinstance(drawn, Array) else drawn


def _is_count(x: Any) -> bool:
    return is_whole(x) and not isinstance(x, bool)


def _ordered(run: Run, rng: Generator, x: Any, axis: int) -> Any:
    """An array with its rows in a random order, drawn exactly as NumPy draws it."""
    at = axis_of(run, x.type.ndim, axis)
    order = _draw(run, "permutation", rng, n=x.type.dims[at])
    return get_item(run, x, (*(slice(None),) * at, order))


def _rows(run: Run, x: Any, name: str) -> Array:
    """The argument as an array of at least one axis, whose rows are drawn."""
    if is_traced(x) and not isinstance(x, Array):
        run.refuse(f"`{name}` of a number known only at run time is not supported", PYTHON_INT)
    array = run.as_array(x)
    if not array.type.ndim:
        run.refuse(f"`{name}` takes an array of one dimension or more", "", TypingError)
    return array


def permutation(run: Run, rng: Generator, x: Any, axis: int = 0) -> Any:
    if _is_count(x):
        return _draw(run, "permutation", rng, n=int(x))
    return _ordered(run, rng, _rows(run, x, "permutation"), axis)


def shuffle(run: Run, rng: Generator, x: Any, axis: int = 0) -> None:
    if not isinstance(x, Array):
        run.refuse(
            f"`shuffle` of {described(x)} is not supported",
            "shuffle an array, or index with `rng.permutation(n)`",
        )
    rows = _rows(run, x, "shuffle")
    run.check_writeable(rows)
    if rows.type.size:  # NumPy draws nothing for an empty array
        set_item(run, rows, Ellipsis, _ordered(run, rng, rows, axis))


def choice(
    run: Run,
    rng: Generator,
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
) -> Any:
    if not is_static(replace):
        run.refuse("`replace` is known only at run time", "give True or False")
    weights = () if p is None else (run.as_array(p),)
    params = {"size": _size(run, size), "replace": bool(replace)}
    if _is_count(a):
        return _draw(run, "choice", rng, *weights, n=int(a), **params)
    rows = _rows(run, a, "choice")
    at = axis_of(run, rows.type.ndim, axis)
    if rows.type.ndim > 1 and rng.type.name != "Generator":
        run.refuse("`choice` takes an array of one dimension", "use a Generator", TypingError)
    if params["size"] == ():
        run.refuse("`choice` of size () is not supported", "leave the size out")
    index = _draw(run, "choice", rng, *weights, n=rows.type.dims[at], **params)
    chosen = get_item(run, rows, (*(slice(None),) * at, index))
    return run.record("copy", chosen) if isinstance(chosen, Array) and chosen.path else chosen


# --- generators ------------------------------------------------------------------------------


def _seed_of(run: Run, seed: Any) -> Any:
    """A static seed: an integer, integers, or None."""
    if seed is None:
        return None
    if not is_static(seed):
        run.refuse(
            "the seed is known only at run time",
            "use a seed that is known at compile time, or make the generator outside and pass "
            "it in",
        )
    given = as_entries(seed)
    if not given or not all(map(_is_count, given)):
        run.refuse(
            f"{described(seed)} as seed is not supported",
            "use integers, or make the generator outside and pass it in",
        )
    found = tuple(map(int, given))
    return found if isinstance(seed, list | tuple) else found[0]


def _made(run: Run, primitive: str, seed: Any) -> Generator:
    value = _seed_of(run, seed)
    params = {} if value is None else {"seed": value}
    (output,) = run.record_atoms(primitive, (), params)
    return GeneratorValue(output, run.age())


def default_rng(run: Run, seed: Any = None) -> Any:
    if isinstance(seed, GeneratorValue) and seed.type.name == "Generator":
        return seed
    return _made(run, "default_rng", seed)


def random_state(run: Run, seed: Any = None) -> Any:
    return _made(run, "random_state", seed)


def seed(run: Run, rng: Generator, seed: Any = None) -> None:
    value = _seed_of(run, seed)
    run.record_atoms("seed", (rng.atom,), {} if value is None else {"value": value})


# --- tables ----------------------------------------------------------------------------------

_COMMON: Mapping[str, Callable[..., Any]] = {
    "normal": normal,
    "uniform": uniform,
    "exponential": exponential,
}
GENERATOR: Mapping[str, Callable[..., Any]] = {
    **_COMMON,
    **{
        name: functools.partial(_of_dtype, name)
        for name in ("random", "standard_normal", "standard_exponential")
    },
    "integers": integers,
    "permutation": permutation,
    "shuffle": shuffle,
    "choice": choice,
}
RANDOM_STATE: Mapping[str, Callable[..., Any]] = {
    **_COMMON,
    "random": functools.partial(_of_default_dtype, "random"),
    "random_sample": functools.partial(_of_default_dtype, "random"),
    "standard_normal": functools.partial(_of_default_dtype, "standard_normal"),
    "standard_exponential": functools.partial(_of_default_dtype, "standard_exponential"),
    "rand": functools.partial(_of_dimensions, "rand"),
    "randn": functools.partial(_of_dimensions, "randn"),
    "randint": randint,
    "permutation": lambda run, rng, x: permutation(run, rng, x),
    "shuffle": lambda run, rng, x: shuffle(run, rng, x),
    "choice": lambda run, rng, a, size=None, replace=True, p=None: choice(
        run, rng, a, size, replace, p
    ),
    "seed": seed,
}
_BY_CLASS = {"Generator": GENERATOR, "RandomState": RANDOM_STATE, "np.random": RANDOM_STATE}

_INSTEAD = {
    "lognormal": "np.exp(rng.normal(mean, sigma, size))",
    "laplace": "loc + scale * (rng.standard_exponential(n) - rng.standard_exponential(n))",
    "logistic": "u = rng.random(n) and loc + scale * np.log(u / (1 - u))",
    "gumbel": "loc - scale * np.log(rng.standard_exponential(n))",
    "rayleigh": "scale * np.sqrt(2 * rng.standard_exponential(n))",
    "weibull": "rng.standard_exponential(n) ** (1 / a)",
    "pareto": "np.expm1(rng.standard_exponential(n) / a)",
    "standard_cauchy": "rng.standard_normal(n) / rng.standard_normal(n)",
    "multivariate_normal": "mean + rng.standard_normal(n) @ factor, the factor made outside",
    "binomial": "np.sum(rng.random((trials, n)) < p, axis=0)",
    "permuted": "rng.permutation, which keeps the rows together",
    "randint": "rng.integers(low, high, size)",
    "rand": "rng.random((n, m))",
    "randn": "rng.standard_normal((n, m))",
    "integers": "rng.randint(low, high, size)",
}


def method_of(run: Run, rng: Generator, name: str) -> Callable[..., Any]:
    """The lowering of a generator's method; its first argument is the generator."""
    found = _BY_CLASS[rng.type.name].get(name)
    if found is None:
        instead = _INSTEAD.get(name)
        run.refuse(
            f"the method `.{name}()` of a {rng.type.name} is not supported",
            f"write {instead}" if instead else "draw outside, and pass the result in",
        )
    return found


def _of_global(method: Callable[..., Any]) -> Callable[..., Any]:
    """A function that draws from NumPy's global state."""

    def lowering(run: Run, *arguments: Any, **keywords: Any) -> Any:
        (module,) = run.record_atoms("global_rng", (), {})
        assert isinstance(module, Variable)
        return method(run, GeneratorValue(module), *arguments, **keywords)

    signature = inspect.signature(method)
    first, _, *rest = signature.parameters.values()
    lowering.__dict__["__signature__"] = signature.replace(parameters=[first, *rest])
    return lowering


RANDOM: dict[Any, Any] = {
    np.random.default_rng: default_rng,
    np.random.RandomState: random_state,
    **{getattr(np.random, name): _of_global(method) for name, method in RANDOM_STATE.items()},
}
