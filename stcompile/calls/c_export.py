"""Write a compiled function as C."""

from __future__ import annotations

import copy
import os
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stcompile.base import trees
from stcompile.base.errors import ExportError, LanguageError, StcompileError
from stcompile.calls.arguments import Arguments, is_apart
from stcompile.calls.lengths import LEAST
from stcompile.calls.specialisation import Specialisation
from stcompile.export.write import write_named
from stcompile.native.control import NUMBERS
from stcompile.native.file import WRITTEN, Leaf, Translated, kind_of, translated
from stcompile.native.names import c_name, function_name
from stcompile.native.selftest import LARGEST, Example, is_result, with_self_test
from stcompile.native.values import NotInC
from stcompile.native.writer import RESULT
from stcompile.wengert.dims import Symbol, UnknownSizeError, named_by, size_of
from stcompile.wengert.staged import Group, Item, Result

WIDTH = 96  # of lines about the function
HINT = "C has numbers and arrays of known shapes, loops and branches: keep the rest in Python"


def write_c(
    function: Any,
    path: str | os.PathLike[str],
    bound: Arguments,
    name: str = "",
    lapack: bool = False,
) -> None:
    """Write the function for the types of these arguments as C99, and its header beside it.

    ``path`` ends with ``.c``; the function has a ``name`` of its own if none is given, and calls
    LAPACK's functions if ``lapack`` is True. Compiled with ``-DSELF_TEST`` the file is a program
    that compares results with those that Python's code gives for these arguments.
    """
    target = Path(path)
    if name and not (name.isidentifier() and name == function_name(name)):
        raise ExportError(
            f"`{name}` is no name for a function in C",
            hint="it has letters, digits and underscores, and is no name of C or its libraries",
        )
    bound = _with_least_lengths(function, function.with_lengths(_in_c_order(bound)), lapack)
    try:
        made, text = translation(function, bound, target.stem, name, lapack)
    except UnknownSizeError as error:
        raise ExportError(
            f"the number of {error} is needed to write `{function.function_name}` as C",
            hint=NUMBERS,
        ) from None
    header = target.with_suffix(".h")
    if header.exists() and WRITTEN not in header.read_text(encoding="utf-8", errors="replace"):
        raise ExportError(
            f"{header} is there, and was not written by an export",
            hint="choose another name for the file of C: its header stands beside it",
        )
    write_named(target, with_self_test(text, example_of(function, made, text, bound)))
    write_named(header, text.header)


def _with_least_lengths(function: Any, bound: Arguments, lapack: bool) -> Arguments:
    """The arguments with names for lengths that may be as short as C can be written for."""
    dims = (dim for sizes in bound.sizes.values() for dim in sizes)
    for symbol in dict.fromkeys(s for dim in dims if (s := named_by(dim)) is not None):
        low, high = LEAST, symbol.low
        assert isinstance(high, int)  # lengths of arguments depend on no others
        while low < high:
            middle = (low + high) // 2
            if _has_translation(function, _from_length(bound, symbol, middle), lapack):
                high = middle
            else:
                low = middle + 1
        bound = _from_length(bound, symbol, high)
    return bound


def _from_length(bound: Arguments, symbol: Symbol, low: int) -> Arguments:
    """The arguments with another least number for a length that has a name."""
    own = size_of(replace(symbol, low=low))
    sizes = {
        part: tuple(own if named_by(dim) == symbol else dim for dim in dims)
        for part, dims in bound.sizes.items()
    }
    return replace(bound, sizes=sizes)


def _has_translation(function: Any, bound: Arguments, lapack: bool) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            translation(function, bound, lapack=lapack)
        except (StcompileError, UnknownSizeError):
            return False
    return True


def _in_c_order(bound: Arguments) -> Arguments:
    """The arguments with copies of arrays that lie in another order: those of C lie in C order."""

    def leaf(path: trees.Path, value: Any) -> Any:
        return np.array(value, order="C") if isinstance(value, np.ndarray) else value

    return replace(bound, values={n: trees.map_leaves(leaf, v) for n, v in bound.values.items()})


def translation(
    function: Any, bound: Arguments, file: str = "", name: str = "", lapack: bool = False
) -> tuple[Any, Translated]:
    """The compiled function, and its translation, with a ``name`` in a ``file`` if they are given;
    `LanguageError` at the user's line for what C does not have."""
    if is_apart(bound.values):
        raise ExportError(
            "an object of an ordinary class is not exported to C",
            hint="export a function of its arrays",
        )
    options = replace(function.options, level="compiled", whole=True, inner=False, memory=None)
    made: Specialisation = function.specialised(function.stage(bound), bound, options)
    named = {symbol: c_name(own) for symbol, own in made.emitted.symbols.items()}
    own = [f"optimizer.{name}" for name in vars(getattr(function, "optimizer", object))]
    leaves = [*_leaves(made, named), *_captured(made, own)]

    def locate(line: int) -> str:
        place = made.locate(line)
        shown = place.shown if place is not None else None
        return f"{Path(shown.file).name}:{shown.line}" if shown is not None else ""

    if made.staged.effects:
        raise ExportError("a function that changes objects is not exported to C", hint=HINT)
    try:
        text = translated(
            made.source,
            made.name,
            leaves,
            locate,
            "\n".join([function.title, *_made_for(function, made, bound)]),
            _constants(made),
            file or made.name,
            name or function_name(made.name),
            labels_of(function, bound, made.staged.result, leaves),
            {own: symbol for symbol, own in named.items()},
            lapack,
        )
    except NotInC as error:
        place = made.locate(error.line)
        location = place.shown if place is not None else function.definition
        raise LanguageError(
            f"{error}, so that this is no C", location=location, hint=error.hint or HINT
        ) from None
    return made, text


def _made_for(function: Any, made: Specialisation, bound: Arguments) -> Iterator[str]:
    """Sentences about what C is not given: lengths that were to have names, arguments that are no
    numbers of the data, and the values that captured numbers had."""
    yield from function.lengths_without_names(bound)
    given = {(leaf.argument, leaf.path) for leaf in made.staged.leaves}
    fixed = [
        f"{trees.show_path(name, path)} = {value!r}"
        for name, whole in bound.values.items()
        for path, value in trees.leaves(whole)
        if (name, path) not in given and isinstance(value, bool | int | float | str | None)
    ]
    if fixed:
        yield from textwrap.wrap(f"Made for {', '.join(fixed)}.", WIDTH)
    hidden = [
        f"{c_name(keyword)} = {value!r}"
        for keyword, hidden in zip(made.keywords, made.hidden, strict=True)
        if np.ndim(value := hidden.read()) == 0
    ]
    if hidden:
        text = f"No arguments in Python, where they were {', '.join(hidden)}."
        yield from textwrap.wrap(text, WIDTH)


def _leaves(made: Specialisation, named: Mapping[Symbol, str]) -> Iterator[Leaf]:
    """The arguments that are arrays or numbers, each with the code that reads it."""
    taken = {*named.values()}
    for leaf in made.staged.leaves:
        name = c_name(trees.path_name(leaf.argument, leaf.path))
        if name in taken:
            name = f"{c_name(leaf.argument)}_{name}"
        while name in taken:
            name += "_"
        taken.add(name)
        if leaf.variable.type.kind not in ("array", "python", "scalar"):
            raise ExportError(f"{name} is no number and no array", hint=HINT)
        code = trees.show_path(leaf.argument, leaf.path).replace('"', "'")
        yield Leaf(name, code, kind_of(leaf.variable.type, named), (leaf.argument, leaf.path))


def _captured(made: Specialisation, last: Sequence[str]) -> Iterator[Leaf]:
    """Captured arrays and numbers, which the function in C is given as well: in the end those of an
    optimiser, in its own order."""
    rank = {description: at for at, description in enumerate(last)}
    pairs = [*zip(made.keywords, made.hidden, strict=True)]
    for keyword, hidden in sorted(pairs, key=lambda one: rank.get(one[1].place.description, -1)):
        if hidden.variable.type.kind not in ("array", "python", "scalar"):
            raise ExportError(f"{hidden.place.description} is no array", hint=HINT)
        yield Leaf(c_name(keyword), keyword, kind_of(hidden.variable.type, {}))


def _constants(made: Specialisation) -> dict[str, np.ndarray[Any, Any]]:
    """Arrays that the module has under these names: saved ones, and defaults of keywords that are
    no captured values."""
    defaults = getattr(made.function, "__kwdefaults__", None) or {}
    own = {name: value for name, value in defaults.items() if name not in made.keywords}
    both = {**made.emitted.saved, **own}
    return {name: value for name, value in both.items() if isinstance(value, np.ndarray)}


def labels_of(function: Any, bound: Arguments, result: Result, leaves: Sequence[Leaf]) -> list[str]:
    """Names for the results: of what a gradient is by, of the dict items that hold them."""
    if not hasattr(function, "with_value"):
        return [*_labels(result, "")]
    gradients, before = result, list[str]()
    if function.with_value and isinstance(result, Group):
        gradients, before = result.parts[1], [*_labels(result.parts[0], "value")]
    names, found = function.names(bound), [*_labels(gradients, "d")]
    own = [f"d_{leaf.name}" for name in names for leaf in leaves if leaf.place[0] == name]
    return [*before, *(own if len(own) == len(found) else found)]


def _labels(result: Result, label: str) -> Iterator[str]:
    if isinstance(result, Group):
        for key, part in zip(result.keys, result.parts, strict=True):
            yield from _labels(part, f"{label or RESULT}_{c_name(str(key))}")
    elif not isinstance(result, Item) or result.atom is not None or is_result(result.value):
        yield label or RESULT


def example_of(
    function: Any, made: Specialisation, text: Translated, bound: Arguments
) -> Example | None:
    """The arguments of a call, the results of the readable level, and the arguments afterwards;
    None if they are too many numbers for a file."""
    values = copy.deepcopy(dict(bound.values))
    hidden = dict(zip(made.keywords, (h.read() for h in made.hidden), strict=True))

    def leaves() -> list[Any]:
        found = {leaf.code: _read(values, leaf) for leaf in text.leaves if leaf.code not in hidden}
        return [np.array(found.get(leaf.code, hidden.get(leaf.code))) for leaf in text.leaves]

    before = leaves()
    options = replace(function.options.at_fast_level(), level="readable", memory=None)
    plain = function.specialised(function.stage(bound), bound, options)
    found = plain.call(tuple(values.values()))
    results = [np.array(leaf) for _, leaf in trees.leaves(found) if is_result(leaf)]
    if sum(map(np.size, (*before, *results))) > LARGEST:
        return None
    return Example(before, results, leaves())


def _read(values: Mapping[str, Any], leaf: Leaf) -> Any:
    name, path = leaf.place
    return trees.follow(values[name], path)
