"""The tables of docs/numpy.md, made from the tables of the frontend."""

from __future__ import annotations

import inspect
import itertools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from stcompile.codegen_templates.derivatives import DERIVATIVES, NON_DIFFERENTIABLE
from stcompile.codegen_templates.numpy import WRITTEN
from stcompile.frontend.functions import FUNCTIONS, METHODS, STATIC
from stcompile.frontend.functions.caches import CACHES
from stcompile.frontend.functions.containers import CONTAINERS
from stcompile.frontend.functions.contexts import CONTEXTS
from stcompile.frontend.functions.creation import CREATION, SUBSCRIPTED
from stcompile.frontend.functions.effects import EFFECTS
from stcompile.frontend.functions.elementwise import ELEMENTWISE
from stcompile.frontend.functions.evaluated import EVALUATED
from stcompile.frontend.functions.fourier import FOURIER
from stcompile.frontend.functions.indices import INDICES
from stcompile.frontend.functions.itertools import ITERTOOLS
from stcompile.frontend.functions.joining import JOINING
from stcompile.frontend.functions.library import (
    ARRANGEMENT,
    CALCULUS,
    MATRICES,
    SHARED,
    STATISTICS,
    WINDOWS,
)
from stcompile.frontend.functions.library import ELEMENTWISE as COMPOSED
from stcompile.frontend.functions.linalg import LINALG
from stcompile.frontend.functions.linear import LINEAR
from stcompile.frontend.functions.objects import DATA_MODEL
from stcompile.frontend.functions.of_numpy import OWN
from stcompile.frontend.functions.padding import PADDING
from stcompile.frontend.functions.places import LENGTHS, PLACES
from stcompile.frontend.functions.poly1d import POLY1D
from stcompile.frontend.functions.polynomial import METHODS_OF_SERIES, POLYNOMIAL
from stcompile.frontend.functions.random import GENERATOR, RANDOM
from stcompile.frontend.functions.reductions import REDUCTIONS
from stcompile.frontend.functions.scipy import SCIPY
from stcompile.frontend.functions.shapes import SHAPES
from stcompile.frontend.functions.sorting import SORTING
from stcompile.frontend.functions.stats import FROZEN, STATS
from stcompile.frontend.functions.vectorized import VECTORIZED
from stcompile.frontend.supported import makers, summary

BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"


def tables() -> str:
    """All tables, as Markdown."""
    elsewhere = {*DATA_MODEL, *CONTAINERS}
    functions = {f: lowering for f, lowering in FUNCTIONS.items() if f not in elsewhere}
    python = {f: lowering for f, lowering in functions.items() if _is_python(f)}
    own = set(ELEMENTWISE) | set(REDUCTIONS) | set(SHAPES) | set(CREATION) | set(LINEAR)
    own |= set(RANDOM) | set(LINALG) | set(SORTING) | set(COMPOSED) | set(CALCULUS)
    own |= set(FOURIER) | set(STATISTICS) | set(MATRICES) | set(ARRANGEMENT) | set(PADDING)
    own |= set(JOINING) | set(ITERTOOLS) | set(INDICES) | set(PLACES) | set(OWN) | set(WINDOWS)
    templates = set(WRITTEN.values()) | set(SHARED) | set(SUBSCRIPTED) | set(FROZEN)
    templates |= (
        set(VECTORIZED)
        | set(POLY1D)
        | set(CONTEXTS)
        | set(CACHES)
        | set(LENGTHS)
        | set(EFFECTS)
        | set(EVALUATED)
        | {np.may_share_memory, np.shares_memory}
    )
    left_out = [f for f in functions if f not in own | set(python) | templates]
    assert not left_out, f"in no table of the page: {left_out}"
    sections = [
        ("Elementwise", _elementwise()),
        ("Reductions", _calls(REDUCTIONS)),
        ("Statistics", _calls(STATISTICS)),
        ("Differences, integrals, polynomials", _calls(CALCULUS)),
        ("Comparisons of arrays, parts of numbers", _calls(COMPOSED)),
        ("Sorting, searching, choosing", _calls(SORTING)),
        ("Indices", _calls(INDICES)),
        ("As long as the data decide", _calls(PLACES)),
        ("Products", _calls(LINEAR)),
        ("Linear algebra", _calls(LINALG)),
        ("Fourier transforms", _calls(FOURIER)),
        ("Windows", _calls(WINDOWS)),
        ("By NumPy's own text", _calls(OWN)),
        ("Functions of functions", _calls(
            {f: x for f, x in VECTORIZED.items() if getattr(np, f.__name__, None) is f}
        )),
        ("`np.poly1d`", _poly1d()),
        ("Matrices, parts of arrays", _calls(MATRICES)),
        ("Shapes and arrangement", _calls({**SHAPES, **JOINING, **ARRANGEMENT, **PADDING})),
        ("Creation and conversion", _calls({f: x for f, x in CREATION.items() if _in_numpy(f)})),
        ("Made by subscripts", ", ".join(f"`np.{name}[...]`" for name in makers()) + "."),
        ("Array methods", _methods()),
        *((f"`{module}`", _scipy(module)) for module in SCIPY if module != "scipy.stats"),
        ("`scipy.stats`, distributions", _distributions()),
        ("`scipy.stats`, samples", _scipy("scipy.stats")),
        ("`numpy.polynomial`", _series()),
        ("Random draws", _draws()),
        ("Python", _names(f for f in python if _module(f) == "builtins")),
        ("`math`", _names(f for f in python if _module(f) == "math")),
        ("`operator`, `functools`, `dataclasses`, `copy`", _names(
            f for f in python if _module(f) in ("operator", "functools", "dataclasses", "copy")
        )),
        ("`itertools`", _names(ITERTOOLS)),
        ("`contextlib`, and `np.errstate`", _names(f for f in CONTEXTS if _is_public(f))),
        ("`warnings`, `logging`, `time`", _names(EFFECTS)),
        ("Static arguments only", _names(f for f in STATIC if _module(f) != "math")),
    ]  # fmt: skip
    parts = [f"### {title}\n\n{table}" for title, table in sections]
    counted = f"How many there are, each counted once:\n\n```text\n{summary()}\n```"
    return "\n\n".join([BEGIN, counted, *parts, END]) + "\n"


def _is_public(function: Any) -> bool:
    return not function.__module__.startswith("stcompile.")


def _elementwise() -> str:
    rows = [(_call(f, lowering), _aliases(f), _state(f)) for f, lowering in ELEMENTWISE.items()]
    return _table(("call", "also called", "derivative"), rows)


OTHER_NAMES = {"fabs": "absolute", "positive": "copy", "conjugate": "conjugate"}
OTHER_NAMES |= {"degrees": "rad2deg", "radians": "deg2rad"}
OTHER_NAMES |= {"round": "rint", "around": "rint", "fix": "trunc"}


def _state(function: Any) -> str:
    """What the derivative of an elementwise function is: yes, 0, none or refused."""
    name = OTHER_NAMES.get(function.__name__, function.__name__)
    if name in NON_DIFFERENTIABLE:
        return "none"
    if name not in DERIVATIVES:
        return "refused"
    rule = DERIVATIVES[name]
    if rule.__dict__["mark"] != "partials" or name in ("ldexp", "frexp", "i0"):
        return "yes"
    inputs = inspect.signature(rule).parameters.values()
    count = sum(p.kind is not p.KEYWORD_ONLY for p in inputs)
    with np.errstate(all="ignore"):
        partials = rule(*[np.float64(0.3)] * count)
    zero = not np.any(partials[:1] if isinstance(partials, tuple) else partials)
    return "0: flat" if zero and name not in ("maximum", "minimum", "clip") else "yes"


def _calls(functions: dict[Any, Any]) -> str:
    rows = [(_call(f, lowering), _aliases(f)) for f, lowering in functions.items()]
    return _table(("call", "also called"), rows)


def _methods() -> str:
    rows = []
    for name, lowering in METHODS.items():
        _, *parameters = _parameters(lowering)
        rows.append((f"`x.{name}{_shown(parameters)}`",))
    return _table(("call",), rows)


def _draws() -> str:
    rows = []
    for name, lowering in GENERATOR.items():
        _, *parameters = _parameters(lowering)
        rows.append((f"`rng.{name}{_shown(parameters)}`", _pathwise(name)))
    for function, lowering in RANDOM.items():
        name = function.__name__
        rows.append((f"`np.random.{name}{_shown(_parameters(lowering))}`", _pathwise(name)))
    return _table(("call", "derivative"), rows)


def _pathwise(name: str) -> str:
    if name in ("permutation", "shuffle", "choice"):
        return "of what is drawn from"
    return "pathwise" if name in DERIVATIVES else "none"


def _scipy(module: str) -> str:
    """The functions of a module of SciPy, which need not be installed."""
    rows = []
    for name, lowering in SCIPY[module].items():
        if name in STATS:
            continue
        parameters = _parameters(lowering)
        primitive = f"{module.removeprefix('scipy.')}.{name}"
        if parameters[0].kind is inspect.Parameter.VAR_POSITIONAL and primitive in DERIVATIVES:
            _, *others = inspect.signature(DERIVATIVES[primitive]).parameters.values()
            parameters = [p for p in others if p.kind is not p.KEYWORD_ONLY]
        rows.append((f"`{primitive}{_shown(parameters)}`",))
    return _table(("call",), rows)


def _series() -> str:
    """The functions of `numpy.polynomial`, and the classes with their methods."""
    rows = []
    for module, functions in POLYNOMIAL.items():
        for name, lowering in functions.items():
            owner = module.removeprefix("numpy.") if name[0].islower() else "np.polynomial"
            if name.removeprefix("Polynomial.") not in METHODS_OF_SERIES:
                rows.append((f"`{owner}.{name}{_shown(_parameters(lowering))}`",))
    shown = ", ".join(f"`{name}`" for name in sorted(METHODS_OF_SERIES))
    return f"{_table(('call',), rows)}\n\nMethods of these classes: {shown}."


def _poly1d() -> str:
    names = [f.__name__ for f in POLY1D if str(f.__qualname__).startswith("poly1d.")]
    call = _call(np.poly1d, POLY1D[np.poly1d])
    return f"{call}, with " + ", ".join(f"`{name}`" for name in sorted(names)) + "."


def _distributions() -> str:
    """The methods of each distribution, by the first one's arguments: those that have the same ones
    after the value are in one row."""
    methods: dict[tuple[str, ...], list[str]] = {}
    for name, lowering in STATS.items():
        distribution, own = name.split(".")
        methods.setdefault((distribution, *map(str, _parameters(lowering)[1:])), []).append(own)
    rows = []
    for (distribution, *_), names in methods.items():
        parameters = _parameters(STATS[f"{distribution}.{names[0]}"])
        call = f"`stats.{distribution}.{names[0]}{_shown(parameters)}`"
        rows.append((call, ", ".join(f"`{name}`" for name in names[1:])))
    return _table(("call", "and"), rows)


def _names(functions: Iterable[Any]) -> str:
    names = sorted({_name(f) for f in functions})
    return ", ".join(f"`{name}`" for name in names) + "."


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in sorted(set(rows)))])


def _call(function: Any, lowering: Any) -> str:
    if isinstance(function, np.ufunc):
        inside = ", ".join(("x", "y", "z")[: function.nin])
        return f"`np.{function.__name__}({inside})`"
    parameters = _parameters(lowering)
    if not parameters or parameters[0].name == "operands":
        return f"`{_name(function)}`"
    return f"`{_name(function)}{_shown(parameters)}`"


def _parameters(lowering: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a lowering takes besides the run; ``x`` for the operand whatever its name is here."""
    return list(inspect.signature(lowering).parameters.values())[1:]


def _shown(parameters: list[inspect.Parameter]) -> str:
    """The arguments as a call shows them, without annotations."""
    plain = [p.replace(annotation=p.empty) for p in parameters]
    shown = str(inspect.Signature(plain))
    for cls in (float, int, np.float64, np.int64):
        name = cls.__name__ if cls in (float, int) else f"np.{cls.__name__}"
        shown = shown.replace(str(cls), name)
    return shown


def _aliases(function: Any) -> str:
    """Other public names of the same function in NumPy."""
    if isinstance(function, type):
        return ""  # np.long and the like depend on the platform
    names = {n for n in dir(np) if getattr(np, n) is function and not n.endswith("_")}
    others = sorted(names - {_name(function).removeprefix("np.")})
    return ", ".join(f"`np.{name}`" for name in others)


def _name(function: Any) -> str:
    name: str = function.__name__
    if getattr(function, "__self__", None) is itertools.chain:
        return "itertools.chain.from_iterable"
    module = _module(function)
    if module == "builtins":
        return name
    for part in ("linalg", "fft"):
        if str(function.__module__ or "").startswith(f"numpy.{part}"):
            return f"np.{part}.{name}"
    return f"{'np' if module == 'numpy' else module}.{name}"


def _module(function: Any) -> str:
    if isinstance(function, np.ufunc):
        return "numpy"
    for module in (math, operator):
        if getattr(module, function.__name__, None) is function:
            return module.__name__
    return str(function.__module__ or "").lstrip("_").split(".")[0]


def _in_numpy(function: Any) -> bool:
    return _module(function) == "numpy"


def _is_python(function: Any) -> bool:
    return _module(function) in (
        "builtins",
        "math",
        "operator",
        "functools",
        "heapq",
        "inspect",
        "dataclasses",
        "copy",
    ) or (function.__name__ == "unchanged")
