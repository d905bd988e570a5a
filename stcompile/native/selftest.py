"""The program that a file of C is with ``-DSELF_TEST``: it compares results with those that it
carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.native.file import Translated, wrapped
from stcompile.native.kinds import Array, Kind
from stcompile.native.literals import number_text, numbers
from stcompile.wengert.dims import measured

LARGEST = 100_000  # numbers that a file carries
ABSENT = "/* The arguments are too many numbers for a self-test here. */\n"
_COMPARE = """static double error_of(double found, double expected)
{
    double error = fabs(found - expected);
    if (found == expected || (found != found && expected != expected))
        return 0;
    return error / (1 + fabs(expected));
}
"""


@dataclass(frozen=True)
class Example:
    """The arguments of a call, its results, and the arguments after it."""

    given: Sequence[np.ndarray[Any, Any]]
    results: Sequence[np.ndarray[Any, Any]]
    after: Sequence[np.ndarray[Any, Any]]


def is_result(leaf: Any) -> bool:
    """True for a leaf of a result that C returns."""
    return not isinstance(leaf, str | bytes | type(None))


def with_self_test(text: Translated, example: Example | None) -> str:
    """The source with a program that tests it."""
    if example is None:
        return text.source + "\n" + ABSENT
    lines = [wrapped(line) for line in _lines(text, example)]
    return text.source + "\n" + "\n".join(lines) + "\n"


def _lines(text: Translated, example: Example) -> Iterator[str]:
    yield "#ifdef SELF_TEST"
    yield "#include <stdio.h>"
    if text.lengths:
        yield "#include <stdlib.h>"
    yield ""
    yield from _COMPARE.splitlines()
    yield ""
    yield "int main(void)"
    yield "{"
    lengths = [*map(str, _lengths(text, example)), *([text.limit] if text.limit else [])]
    called = [*lengths]
    for leaf, value in zip(text.leaves, example.given, strict=True):
        const = "" if leaf.name in text.written else "const "
        yield from _declared(f"given_{leaf.name}", leaf.kind, value, f"static {const}")
        called.append(f"given_{leaf.name}")
    compared = []
    for (name, kind), value in zip(text.results, example.results, strict=True):
        whole = Array(kind.of, value.shape)
        yield from _declared(f"expected_{name}", whole, value, "static const ")
        yield f"    static {whole.member(f'found_{name}')};"
        called.append(f"found_{name}")
        compared.append((name, f"found_{name}", f"expected_{name}", whole))
    for leaf, before, value in zip(text.leaves, example.given, example.after, strict=True):
        if isinstance(leaf.kind, Array) and not np.array_equal(before, value, equal_nan=True):
            yield from _declared(f"after_{leaf.name}", leaf.kind, value, "static const ")
            whole = Array(leaf.kind.of, value.shape)
            compared.append((leaf.name, f"given_{leaf.name}", f"after_{leaf.name}", whole))
    yield "    double largest = 0, error;"
    yield from _call(text, lengths, called)
    yield from _told(compared)
    if lengths:
        yield "    free(work);"
    yield from _verdict([kind for *_, kind in compared])


def _told(compared: Sequence[tuple[str, str, str, Array]]) -> Iterator[str]:
    """The comparison of results by their names, which are found and expected."""
    yield "    if (code) {"
    yield '        printf("error %d\\n", code);'
    yield "        return 1;"
    yield "    }"
    for name, found, expected, kind in compared:
        yield from _comparison(name, found, expected, kind)


def _verdict(kinds: Sequence[Array]) -> Iterator[str]:
    parts = [kind.of.part.dtype.itemsize for kind in kinds]
    yield '    printf("largest error %.3g\\n", largest);'
    yield f"    return !(largest < {1e-3 if any(size < 8 for size in parts) else 1e-8});"
    yield "}"
    yield "#endif"


def _call(text: Translated, lengths: Sequence[str], called: Sequence[str]) -> Iterator[str]:
    """The call, which is made again with a larger workspace if that is too small."""
    struct = f"struct {text.name}_workspace"
    call = f"{text.name}({', '.join([*called, 'work'])})"
    if not lengths:
        yield f"    static {struct} memory, *work = &memory;"
        yield wrapped(f"    int code = {call};")
        return
    margin = " " * 4
    yield f"    {struct} *work = 0;"
    yield "    int code;"
    if text.limit:
        margin = " " * 8
        yield f"    int64_t {text.limit} = 8;"
        yield "    do {"
        yield f"        {text.limit} *= 2;"
        yield "        free(work);"
    yield wrapped(f"{margin}work = malloc({text.name}_workspace_size({', '.join(lengths)}));")
    yield f"{margin}if (!work)"
    yield f"{margin}    return 1;"
    yield wrapped(f"{margin}code = {call};")
    if text.limit:
        yield f"    }} while (code && {text.limit} < {LARGEST});"


def _lengths(text: Translated, example: Example) -> Iterator[int]:
    """The numbers of the lengths that the arguments have."""
    pairs = zip(text.leaves, example.given, strict=True)
    found = measured((leaf.kind.dims, v.shape) for leaf, v in pairs if isinstance(leaf.kind, Array))
    numbers = {symbol.name: number for symbol, number in found.items()}
    return (numbers[own] for own in text.lengths if own != text.limit)


def _declared(name: str, kind: Kind, value: Any, before: str) -> Iterator[str]:
    if isinstance(kind, Array):
        member = Array(kind.of, value.shape).member(name)
        yield from wrapped(f"    {before}{member} = {numbers(value)};").split("\n")
        return
    before = before.replace("static ", "")
    yield f"    {before}{kind.c} {name} = {number_text(value[()], kind)};"


def _comparison(name: str, found: str, expected: str, kind: Array) -> Iterator[str]:
    one, other = f"(({kind.of.c} *){found})[i]", f"((const {kind.of.c} *){expected})[i]"
    parts = [(f"(double){one}", f"(double){other}")]
    if kind.of.dtype.kind == "c":
        parts = [(f"(double){p}({one})", f"(double){p}({other})") for p in ("creal", "cimag")]
    yield f"    for (int64_t i = 0; i < {kind.size}; i++) {{"
    for left, right in parts:
        yield f"        error = error_of({left}, {right});"
        yield "        largest = largest > error ? largest : error;"
    yield "    }"
    yield f'    printf("{name}: largest error so far %.3g\\n", largest);'
