"""A compiled function as a file of C and its header."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from stcompile.base import trees
from stcompile.codegen_templates.c import text as template
from stcompile.native.functions import INLINE
from stcompile.native.kinds import Array, Kind, Number, Parameter
from stcompile.native.lists import LIMIT
from stcompile.native.literals import in_comment, initialised
from stcompile.native.names import c_name, lists_in, written_names
from stcompile.native.sequences import in_sequence
from stcompile.native.statements import RAISED
from stcompile.native.threads import with_own_names
from stcompile.native.translate import translate
from stcompile.native.unit import Made, Unit
from stcompile.native.values import Value
from stcompile.native.workspace import fixed_bytes, layout_lines, measure_lines, struct_lines
from stcompile.wengert.bounds import renamed
from stcompile.wengert.dims import Symbol, named_by, replaced
from stcompile.wengert.types import Type

OfUnit = TypeVar("OfUnit", bound=Unit)
WIDTH = 100
SIZE = "work_size"  # the parameter for the bytes of a workspace whose size depends on lengths
TOO_SMALL = "workspace too small", f"{SIZE} is less than the workspace needs"
FIXED = "\xa0"  # a space at which a line is not cut
WRITTEN = "Written by stcompile: changes are lost when it writes this again."
ABOUT = (
    "Arrays lie in C order, and none may overlap another. The caller owns all of them. What is not "
    "const is written: results, whose contents before the call do not matter, and arguments that "
    "the function changes. The workspace holds intermediate values; it need not be cleared, "
    "{size}, lies where a double may, and is for one call at a time. NaN and infinity are "
    "errors only where Python's own numbers raise them. Returned is 0, or the code of an "
    "error, after which the results mean nothing."
)
FLAGS = "Compile this without -ffast-math, and with -fwrapv if integers may overflow."


@dataclass(frozen=True)
class Leaf:
    """An argument of the function in C: its name, the code that reads it in Python, its kind, and
    the argument of Python's that it is a leaf of, with the path ("" for a captured value)."""

    name: str
    code: str
    kind: Kind
    place: tuple[str, trees.Path] = ("", ())


@dataclass(frozen=True)
class Translated:
    """The function in C: the text of the source and of the header, its parameters and results, the
    names of the arguments that it writes into, the lengths that have names, and that which the
    caller chooses ("" if there is none)."""

    name: str
    source: str
    header: str
    leaves: tuple[Leaf, ...]
    results: tuple[tuple[str, Kind], ...]
    written: frozenset[str]
    lengths: tuple[str, ...]
    limit: str


def kind_of(type_: Type, names: Mapping[Symbol, str]) -> Kind:
    """The kind of an argument of a type of the Wengert list; the lengths have ``names`` in C."""
    number = Number(np.dtype(type_.dtype))
    dims = replaced(tuple(type_.dims), lambda dim: renamed(dim, names))
    return Array(number, dims) if type_.kind == "array" else number


def translated(
    source: str,
    name: str,
    leaves: Sequence[Leaf],
    locate: Callable[[int], str],
    about: str,
    constants: Mapping[str, np.ndarray[Any, Any]],
    file: str,
    called: str,
    labels: Sequence[str] = (),
    lengths: Mapping[str, Symbol] = MappingProxyType({}),
    lapack: bool = False,
) -> Translated:
    """Translate the text of a module of loops, which reads ``constants`` by name. ``about`` stands
    in the header, whose name is that of the ``file``. In C the function is ``called`` so,
    ``labels`` are names for its results, and ``lengths`` are those that have names, by their names
    in C. ``lapack`` allows calls of LAPACK's functions."""
    unit = unit_of(source, called, locate, Unit)
    unit.lengths, unit.lapack = lengths, lapack
    if lists_in(unit.definitions[name].body):
        unit.limit = _limit({*lengths, *(leaf.name for leaf in leaves)})
        unit.lengths = {**lengths, unit.limit: Symbol(unit.limit, 1, None, 1)}
    written = _written(unit.definitions[name], unit.definitions, leaves)
    read = {
        leaf.code: Value(leaf.kind, leaf.name, is_const=leaf.code not in written) for leaf in leaves
    }
    read |= _constants(unit, constants)
    made = translate(unit, unit.definitions[name], (), called, read, labels)
    names = [one.name for one in made.parameters]  # those of results
    tests = [*_tests(unit), *layout_lines(unit, made.members)]
    given = [Parameter(leaf.name, leaf.kind, leaf.code not in written) for leaf in leaves]
    made = replace(
        made,
        parameters=[*given, *made.parameters],
        lengths=[*unit.lengths],
        lines=[*tests, *made.lines],
    )
    words = {word for one in (*unit.order, made) for word in one.words}
    for own in [own for own in unit.constants if c_name(own) not in words]:
        del unit.constants[own]
    said = [*about.splitlines(), *_told(unit, leaves), *_of_results(names)]
    return Translated(
        called,
        _source(unit, made, file),
        _header(unit, made, said, file),
        tuple(leaves),
        tuple(zip(names, made.results, strict=True)),
        frozenset(leaf.name for leaf in leaves if leaf.code in written),
        tuple(unit.lengths),
        unit.limit,
    )


def _constants(unit: Unit, arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Value]:
    """Write arrays of numbers down; return them by their names."""
    found = {}
    for own, array in arrays.items():
        unit.constants[own], code = initialised("static const ", c_name(own), array)
        found[own] = Value(Array(Number(array.dtype), array.shape), code, is_const=True)
    return found


def unit_of(source: str, name: str, locate: Callable[[int], str], of: type[OfUnit]) -> OfUnit:
    """The functions of a text, before they are translated."""
    functions = (n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef))
    definitions = {node.name: with_own_names(in_sequence(node)) for node in functions}
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    unit = of(name, definitions, comments, locate, translate)
    for own in (name, *INLINE):  # no other function has these names
        unit.unique(own)
    return unit


def _written(
    node: ast.FunctionDef, definitions: Mapping[str, ast.FunctionDef], leaves: Sequence[Leaf]
) -> set[str]:
    """The code of the leaves that the function writes into."""
    names = written_names(node, definitions)
    called = {leaf.code for leaf in leaves if leaf.code in names}
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) in names:
            called.add(ast.unparse(one.value))
    return called


def _signature(unit: Unit, made: Made, returned: str, for_cpp: bool = False) -> str:
    texts = (one.in_cpp if for_cpp else one.text for one in made.parameters)
    given = [*(f"int64_t {own}" for own in made.lengths), *texts]
    given += [f"{unit.workspace} *work"] if made.needs_workspace else []
    given += [f"int code_{at}" for at, _ in enumerate(made.raised, 1)]
    given += [f"size_t {SIZE}"] if made.name == unit.name and unit.lengths else []
    return wrapped(f"{returned} {made.name}({', '.join(given) or 'void'})", 4)


def wrapped(text: str, more: int = 8) -> str:
    """A line of C that is cut where it is too long: after commas, or else at spaces."""
    margin = len(text) - len(text.lstrip())
    if len(text) <= WIDTH or text.lstrip().startswith(("#", "/*")):
        return text
    plain = " ".join(text.split())
    for body in (re.sub("(?<!,) ", FIXED, plain), plain):
        lines = textwrap.wrap(
            body,
            WIDTH,
            initial_indent=" " * margin,
            subsequent_indent=" " * (margin + more),
            break_long_words=False,
            break_on_hyphens=False,
        )
        if len(lines[0]) > margin + WIDTH // 2 and max(map(len, lines)) <= WIDTH:
            break
    return "\n".join(lines).replace(FIXED, " ")


def joined(lines: Iterable[str]) -> str:
    """The text of lines, of which some have several."""
    return "\n".join(wrapped(line) for text in lines for line in text.split("\n")) + "\n"


def _header(unit: Unit, made: Made, about: Sequence[str], file: str) -> str:
    guard = re.sub(r"\W|^(?=\d)", "_", file).upper() + "_H"
    measure = _measure(unit) if unit.lengths else ""
    size = f"may be static, has {fixed_bytes(unit):,} bytes"
    if unit.lengths:
        size = f"has {SIZE} bytes, at least `{unit.name}_workspace_size`"
    said = textwrap.wrap(ABOUT.format(size=size), WIDTH - 3)
    lines = [
        "/*",
        *(f" * {in_comment(line)}".rstrip() for line in (WRITTEN, "", *about, "", *said)),
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <complex.h>" if _has_complex(unit, made) else "",
        "#include <stdbool.h>",
        *(["#include <stddef.h>"] if measure else []),
        "#include <stdint.h>",
        "",
        *_codes(unit),
        *_declared(unit, made, measure),
        "",
        "#endif",
    ]
    kept = [line for at, line in enumerate(lines) if line or lines[at - 1]]
    return "\n".join(kept) + "\n"


def _codes(unit: Unit) -> Iterator[str]:
    """The codes of errors, with the user's lines."""
    if unit.errors:
        yield "enum {"
    for code, (own, text) in enumerate(unit.errors.items(), 1):
        yield f"    /* {in_comment(text)} */"
        yield f"    {own} = {code}{',' if code < len(unit.errors) else ''}"
    if unit.errors:
        yield from ("};", "")


def _declared(unit: Unit, made: Made, measure: str) -> Iterator[str]:
    """The struct of the workspace and the prototypes. C++ has no `restrict`, no lengths of
    parameters, no members of unknown length, and another type of complex numbers."""
    struct = [re.sub(r"\bcomplex\b", "_Complex", line) for line in struct_lines(unit)]
    is_open = any("[]" in line for line in struct)
    prototypes = (
        wrapped(_signature(unit, made, "int", for_cpp) + ";", 4) for for_cpp in (True, False)
    )
    yield from ("#ifdef __cplusplus", 'extern "C" {', *([f"{unit.workspace};"] if is_open else []))
    yield from ("#else" if is_open else "#endif", *struct, *(["#endif"] if is_open else []), "")
    yield from ([f"{measure};"] if measure else [])
    yield from ("#ifdef __cplusplus", next(prototypes), "}", "#else", next(prototypes), "#endif")


def _measure(unit: Unit) -> str:
    """The head of the function that says how many bytes the workspace has."""
    given = ", ".join(f"int64_t {own}" for own in unit.lengths)
    return wrapped(f"size_t {unit.name}_workspace_size({given})", 4)


def _limit(taken: Collection[str]) -> str:
    name = LIMIT
    while name in taken:
        name += "_"
    return name


def _told(unit: Unit, leaves: Sequence[Leaf]) -> Iterator[str]:
    """Sentences about threads, and about the lengths that have names."""
    if unit.stack is not None:
        more = f", each with {unit.stack:,} bytes on its stack" if unit.stack else ""
        yield f"With -fopenmp loops run in several threads{more}."
    order = [*unit.lengths]
    arrays = ((leaf.code, leaf.kind.dims) for leaf in leaves if isinstance(leaf.kind, Array))
    axes = ((code, at, named_by(n)) for code, dims in arrays for at, n in enumerate(dims))
    found = {one: f"{code}.shape[{at}]" for code, at, one in reversed([*axes]) if one is not None}
    for symbol, axis in sorted(found.items(), key=lambda pair: order.index(pair[0].name)):
        is_least = symbol.low == 2
        why = "NumPy repeats an axis of length 1" if is_least else "shorter axes need other code"
        yield f"The length {symbol.name} is {axis}, and at least {symbol.low}: {why}."
    if unit.limit:
        text = (
            f"{unit.limit} is how many steps a loop that data end may have in a call, all its runs "
            "together, where the gradient needs what they leave: the caller chooses it."
        )
        yield from textwrap.wrap(text, WIDTH - 3)


def _of_results(names: Sequence[str]) -> Iterator[str]:
    if len(names) == 1:
        yield f"What Python's function returns is {names[0]}."
    elif names:
        text = f"What Python's function returns are, in this order, {', '.join(names)}."
        yield from textwrap.wrap(text, WIDTH - 3)


def _tests(unit: Unit) -> Iterator[str]:
    """Statements that test whether the lengths are such as the function is for."""
    for own, symbol in unit.lengths.items():
        yield f"    if ({own} < {symbol.low})"
        yield f"        return work->error = {unit.too_small(own)};"


def _checked(unit: Unit) -> Iterator[str]:
    """The first statements of the function that others call: nothing is written into a workspace
    that is too small."""
    if unit.lengths:
        code = unit.named_code(*TOO_SMALL)
        yield f"    if ({SIZE} < {unit.name}_workspace_size({', '.join(unit.lengths)}))"
        yield f"        return {code};"
    yield "    work->error = 0;"


def _has_complex(unit: Unit, made: Made) -> bool:
    kinds = [*unit.members.values(), *made.results]
    functions = (*unit.order, made)
    parts = [p for one in functions for p in one.parameters]
    lines = [line for one in functions for line in one.lines]
    text = " ".join([*lines, *(one.text for one in parts)])
    has = any(kind.of.dtype.kind == "c" for kind in kinds)
    return has or "complex" in text


def _source(unit: Unit, made: Made, file: str) -> str:
    lines = [
        "/*",
        f" * {WRITTEN}",
        f" * {FLAGS}",
        " */",
        f'#include "{file}.h"',
        "",
        "#include <math.h>",
        "#include <string.h>",
        "",
    ]
    unit.order = _called(unit, made)
    lines += shared_lines(unit, _has_complex(unit, made))
    lines += _function(unit, made, "int", *_checked(unit))
    if unit.lengths:
        lines += ["", _measure(unit), "{", *measure_lines(unit, made.members), "}"]
    return joined(lines)


def _called(unit: Unit, made: Made) -> list[Made]:
    """The functions that are called: what a length is may be written without its own."""
    words, kept = made.words, list[Made]()
    for one in reversed(unit.order):
        if one.name in words:
            kept.append(one)
            words |= one.words
    return kept[::-1]


def shared_lines(unit: Unit, has_complex: bool) -> list[str]:
    """The macros and constants of a file, and the functions that others call."""
    lines: list[str] = []
    if has_complex:
        lines += template("complex.c").split("\n")
    if unit.has_sums:
        lines += template("sums.c").split("\n")
    if unit.stack is not None:
        lines += template("threads.c").replace("CLAUSE", unit.clause).split("\n")
    lines += [line for array in unit.constants.values() for line in (array, "")]
    if unit.lapack and any("LAPACK(" in short for short in unit.inlines.values()):
        lines += template("lapack_names.c").split("\n")
    for short in unit.inlines.values():
        lines += [short if short.startswith("extern ") else f"static inline {short}", ""]
    for one in unit.order:
        lines += [*_function(unit, one, f"static {one.returned}"), ""]
    return lines


def _function(unit: Unit, made: Made, returned: str, *first: str) -> Iterator[str]:
    """The lines of a function: its comment, its head, and statements, after the ``first`` ones
    those that say which parameters are not read."""
    plain = in_comment(" ".join(made.title.replace("``", "`").split()))
    lines = textwrap.wrap(plain, WIDTH - 6)
    if len(lines) == 1:
        yield f"/* {lines[0]} */"
    elif lines:
        yield from ("/*", *(f" * {line}" for line in lines), " */")
    yield from (_signature(unit, made, returned), "{", *first)
    names = (one.name for one in made.parameters)
    yield from (f"    (void){name};" for name in names if name not in made.words)
    stop = "return;" if made.returned == "void" else "return 0;"
    yield from (line.replace(RAISED, stop) for line in made.lines)
    yield "}"
