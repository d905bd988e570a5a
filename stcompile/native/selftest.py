"""The program that a file of C is with ``-DSELF_TEST``: it compares results with those that it
carries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stcompile.codegen_templates.c import text as template
from stcompile.native.file import SIZE, Translated, joined
from stcompile.native.kinds import Array, Kind, Number
from stcompile.native.literals import initialised, number_text
from stcompile.wengert.dims import measured

LARGEST = 100_000  # numbers that a file carries
ABSENT = """#ifdef SELF_TEST
#error "the arguments are too many numbers for a self-test here"
#endif
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
    return f"{text.source}\n{ABSENT if example is None else joined(_lines(text, example))}"


@dataclass(frozen=True)
class _Compared:
    """An array that the test compares: the code of what was found and of what is expected there,
    and by how much they may differ."""

    name: str
    found: str
    expected: str
    of: Number
    count: int
    allowed: float

    @property
    def line(self) -> str:
        """The comparison in C; complex numbers are compared by their parts."""
        part = self.of.part
        kind, count = f"(const {part.c} *)", self.count * (1 if part == self.of else 2)
        given = f'"{self.name}", {kind}{self.found}, {kind}{self.expected}, {count}'
        allowed = f", {self.allowed:.3g}" if part.dtype.kind == "f" else ""
        return f"    failed += differ_{part.dtype}({given}{allowed});"


def _lines(text: Translated, example: Example) -> Iterator[str]:
    lengths = [*map(str, _lengths(text, example)), *([text.limit] if text.limit else [])]
    given, found, compared, declared = _arrays(text, example)
    yield "#ifdef SELF_TEST"
    yield "#include <stdio.h>"
    if text.lengths:
        yield "#include <stdlib.h>"
    yield ""
    for of in dict.fromkeys(one.of.part for one in compared):
        differ = template("differ.c" if of.dtype.kind == "f" else "differ_exactly.c")
        yield from re.sub(r"\bT\b", of.c, differ.replace("_S", f"_{of.dtype}")).splitlines()
        yield ""
    yield "int main(void)"
    yield "{"
    yield from (f"    {one}" for one in declared)
    yield from _call(text, lengths, [*given, *found])
    yield "    if (code) {"
    yield '        printf("error %d\\n", code);'
    yield "        return 1;"
    yield "    }"
    yield "    int failed = 0;"
    yield from (one.line for one in compared)
    if lengths:
        yield "    free(work);"
    yield '    printf(failed ? "failed\\n" : "ok\\n");'
    yield "    return failed != 0;"
    yield "}"
    yield "#endif"


def _arrays(
    text: Translated, example: Example
) -> tuple[list[str], list[str], list[_Compared], list[str]]:
    """The code of what the call is given and finds, the comparisons, and the declarations."""
    given, found, compared, declared = list[str](), list[str](), list[_Compared](), list[str]()
    allow = _allowed(example)
    for leaf, value in zip(text.leaves, example.given, strict=True):
        const = "" if leaf.name in text.written else "const "
        line, code = _declared(f"given_{leaf.name}", leaf.kind, value, const)
        declared.append(line)
        given.append(code)
    for (name, kind), value in zip(text.results, example.results, strict=True):
        of = kind.of
        line, code = initialised("static const ", f"expected_{name}", value.astype(of.dtype))
        declared += [line, f"static {Array(of, value.shape).member(f'found_{name}')};"]
        found.append(f"found_{name}")
        compared.append(_Compared(name, found[-1], code, of, value.size, allow(value)))
    changes = zip(text.leaves, example.given, example.after, given, strict=True)
    for leaf, before, value, code in changes:
        if isinstance(leaf.kind, Array) and not np.array_equal(before, value, equal_nan=True):
            line, after = initialised("static const ", f"after_{leaf.name}", value)
            declared.append(line)
            allowed = allow(value - before) if value.dtype.kind in "fc" else 0.0
            compared.append(_Compared(leaf.name, code, after, leaf.kind.of, value.size, allowed))
    return given, found, compared, declared


def _allowed(example: Example) -> Callable[[np.ndarray[Any, Any]], float]:
    """By how much results may differ: by a part of the largest number among them, or of the largest
    change of what is changed, and by a few roundings of the largest number of the call."""
    results = [*example.results, *example.after]
    dtypes = [a.dtype for a in results if a.dtype.kind in "fc"]
    narrow = any(np.finfo(dtype).bits < 64 for dtype in dtypes)
    part, few, eps = (1e-3, 64, 2.0**-24) if narrow else (1e-8, 1024, 2.0**-53)
    floats = [a for a in (*example.given, *results) if a.dtype.kind in "fc"]
    rounding = few * eps * max(map(_largest, floats), default=0.0)
    return lambda expected: part * _largest(expected) + rounding


def _largest(array: np.ndarray[Any, Any]) -> float:
    """The largest absolute value among finite ones."""
    return float(np.max(np.abs(array), where=np.isfinite(array), initial=0))


def _call(text: Translated, lengths: Sequence[str], called: Sequence[str]) -> Iterator[str]:
    """The call, which is made again with a larger workspace if that is too small."""
    struct = f"struct {text.name}_workspace"
    call = f"{text.name}({', '.join([*lengths, *called, 'work', *([SIZE] if lengths else [])])})"
    if not lengths:
        yield f"    static {struct} memory, *work = &memory;"
        yield f"    int code = {call};"
        return
    steps = [
        f"{SIZE} = {text.name}_workspace_size({', '.join(lengths)});",
        f"work = malloc({SIZE});",
        "if (!work)",
        "    return 1;",
        f"code = {call};",
    ]
    yield from (f"    {struct} *work = 0;", f"    size_t {SIZE};", "    int code;")
    if text.limit:
        yield from (f"    int64_t {text.limit} = 8;", "    do {")
        steps = [f"    {one}" for one in (f"{text.limit} *= 2;", "free(work);", *steps)]
    yield from (f"    {one}" for one in steps)
    if text.limit:
        yield f"    }} while (code && {text.limit} < {LARGEST});"


def _lengths(text: Translated, example: Example) -> Iterator[int]:
    """The numbers of the lengths that the arguments have."""
    pairs = zip(text.leaves, example.given, strict=True)
    found = measured((leaf.kind.dims, v.shape) for leaf, v in pairs if isinstance(leaf.kind, Array))
    numbers = {symbol.name: number for symbol, number in found.items()}
    return (numbers[own] for own in text.lengths if own != text.limit)


def _declared(name: str, kind: Kind, value: Any, const: str) -> tuple[str, str]:
    """The declaration of an argument, and the code that stands for it."""
    if isinstance(kind, Array):
        return initialised(f"static {const}", name, value)
    assert isinstance(kind, Number)
    return f"{const}{kind.c} {name} = {number_text(value[()], kind)};", name
