"""Functions of C that Python calls with the operands of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stcompile.codegen_templates.c import text as template
from stcompile.native.errors import SAID
from stcompile.native.kinds import Array, Kind, Number
from stcompile.native.sizes import size_text
from stcompile.native.unit import Made, Unit
from stcompile.native.workspace import bytes_text, fixed_bytes, layout_lines
from stcompile.wengert.dims import Dim, named_by

OWN_NAMES = frozenset(
    ("own", "given", "count", "type", "result", "thread", "error", "small", "results", "has_failed")
)
"""Names in the functions that no length has."""

LARGEST_ON_STACK = 16384  # bytes
SPELT = '"i' + "L" * SAID + '"'
READ = {"f": "PyFloat_AsDouble({})", "c": "as_complex({})", "b": "PyObject_IsTrue({}) != 0"}
BOXED = {"f": "PyFloat_FromDouble({})", "c": "of_complex({})", "b": "PyBool_FromLong({})"}
"""Numbers of Python's in C and back, by the types of numbers; others are integers."""
HEAD = object.__basicsize__  # bytes before the fields of an object
TYPE, OTHERS, RAISE, NEW, OWN = range(5)  # what the objects of a function begin with

PRELUDE = template("python.c").replace("HEAD", str(HEAD)).replace("COMPLEX", template("complex.c"))


@dataclass(frozen=True)
class Entry:
    """A function that Python calls for a kernel: the name of the kernel, its translation, the kinds
    of the operands, the positions of those that are written, and those that are lengths."""

    name: str
    function: Made
    kinds: tuple[Kind, ...]
    written: frozenset[int]
    lengths: Mapping[int, Dim]

    @property
    def arrays(self) -> dict[int, Array]:
        """The operands that are arrays, by position."""
        return {at: kind for at, kind in enumerate(self.kinds) if isinstance(kind, Array)}

    @property
    def made(self) -> dict[int, Array]:
        """The results that are arrays, by position."""
        found = enumerate(self.function.results)
        return {at: kind for at, kind in found if isinstance(kind, Array)}

    @property
    def axes(self) -> Iterator[tuple[str, int, int]]:
        """The names of lengths that no operand is, each with an array and the axis that it is."""
        names = {str(length) for length in self.lengths.values()}
        for at, kind in self.arrays.items():
            for axis, size in enumerate(kind.dims):
                symbol = named_by(size)
                if symbol is not None and symbol.name not in names:
                    names.add(symbol.name)
                    yield symbol.name, at, axis

    @property
    def is_returned(self) -> bool:
        """True if the kernel returns its result, a number."""
        return self.function.returned != "void"


def entry_lines(entry: Entry, unit: Unit) -> Iterator[str]:
    """The text of the function, and its description for Python, ``method_kernel_1``."""
    yield f"static object *call_{entry.name}(object *own, object *const *given, intptr_t count)"
    yield "{"
    yield from _checks(entry)
    yield from _numbers(entry)
    yield from _made(entry)
    yield from _run(entry, unit)
    yield from _returned(entry)
    yield "}"
    yield ""
    yield f'struct method method_{entry.name} = {{"{entry.name}", call_{entry.name}, 0x80, 0}};'
    yield ""


def _checks(entry: Entry) -> Iterator[str]:
    yield f"    const object *type = PyTuple_GetItem(own, {TYPE});"
    yield f"    bool is_known = count == {len(entry.kinds)};"
    for at, length in entry.lengths.items():
        yield f"    const int64_t {length} = is_known ? PyLong_AsLongLong(given[{at}]) : 0;"
    for own, at, axis in entry.axes:
        yield f"    const int64_t {own} = is_known ? length_of(given[{at}], type, {axis}) : 0;"
    for number, (at, kind) in enumerate(entry.arrays.items()):
        dims = ", ".join(map(size_text, kind.dims)) or "0"
        size, nd = kind.of.dtype.itemsize, len(kind.dims)
        static = "" if kind.is_named else "static "
        yield f"    {static}const intptr_t dims_{at}[] = {{{dims}}};"
        yield (
            f"    is_known = is_known && fits(given[{at}], type, "
            f"PyTuple_GetItem(own, {OWN + number}), {nd}, dims_{at}, {size});"
        )
    yield "    (void)type;"
    yield "    if (!is_known)"
    yield f"        return by_others(PyTuple_GetItem(own, {OTHERS}), given, count);"


def _numbers(entry: Entry) -> Iterator[str]:
    numbers = {at: kind for at, kind in enumerate(entry.kinds) if isinstance(kind, Number)}
    numbers = {at: kind for at, kind in numbers.items() if at not in entry.lengths}
    for at, kind in numbers.items():
        read = READ.get(kind.dtype.kind, "PyLong_AsLongLong({})").format(f"given[{at}]")
        yield f"    const {kind.c} v{at} = ({kind.c})({read});"
    if numbers:
        yield "    if (PyErr_Occurred())"
        yield "        return 0;"


def _made(entry: Entry) -> Iterator[str]:
    first = OWN + len(entry.arrays)
    yield f"    object *results[{max(len(entry.function.results), 1)}] = {{0}};"
    yield "    bool has_failed = true;"
    for number, (at, kind) in enumerate(entry.made.items()):
        dims = "".join(f"(long long)({size_text(n)}), " for n in kind.dims)
        yield (
            f"    results[{at}] = PyObject_CallFunction(PyTuple_GetItem(own, {NEW}), "
            f'"({"L" * len(kind.dims)})O", {dims}PyTuple_GetItem(own, {first + number}));'
        )
        yield f"    if (!results[{at}])"
        yield "        goto end;"


def _run(entry: Entry, unit: Unit) -> Iterator[str]:
    results = entry.function.results
    for at, kind in enumerate(results):
        if isinstance(kind, Number):
            yield f"    {kind.c} number_{at} = 0;"
    given = [
        f"(void *)((const array *)given[{at}])->data" if at in entry.arrays else f"v{at}"
        for at in range(len(entry.kinds))
        if at not in entry.lengths
    ]
    if not entry.is_returned:
        given += [
            f"(void *)((const array *)results[{at}])->data" if at in entry.made else f"&number_{at}"
            for at in range(len(results))
        ]
    if entry.function.needs_workspace:
        is_small = not unit.lengths and fixed_bytes(unit) <= LARGEST_ON_STACK
        yield from _workspace(entry, unit, is_small)
        given.append("work")
    yield "    void *thread = PyEval_SaveThread();"
    before = "number_0 = " if entry.is_returned else ""
    yield f"    {before}{entry.function.name}({', '.join([*entry.function.lengths, *given])});"
    yield "    PyEval_RestoreThread(thread);"
    if entry.function.needs_workspace:
        yield "    const int error = work->error;"
        said = ", ".join(f"(long long)work->said[{at}]" for at in range(SAID))
        yield "    if (error)"
        fail = f"PyTuple_GetItem(own, {RAISE})"
        yield f"        PyObject_CallFunction({fail}, {SPELT}, error, {said});"
        yield "    free(work);" if not is_small else ""
        yield "    if (error)"
        yield "        goto end;"


def _workspace(entry: Entry, unit: Unit, is_small: bool) -> Iterator[str]:
    """The workspace, which lies on the stack if it is small."""
    members = entry.function.members
    if is_small:
        yield f"    {unit.workspace} small, *work = &small;"
    else:
        yield f"    {unit.workspace} *work = malloc({bytes_text(unit, members)});"
        yield "    if (!work) {"
        yield "        PyErr_NoMemory();"
        yield "        goto end;"
        yield "    }"
        yield from layout_lines(unit, members)
    yield "    work->error = 0;"


def _returned(entry: Entry) -> Iterator[str]:
    for at, kind in enumerate(entry.function.results):
        if isinstance(kind, Number):
            boxed = BOXED.get(kind.dtype.kind, "PyLong_FromLongLong({})").format(f"number_{at}")
            yield f"    results[{at}] = {boxed};"
    yield "    has_failed = false;"
    yield "end:"
    yield f"    return packed(results, {len(entry.function.results)}, has_failed);"
