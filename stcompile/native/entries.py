"""Functions of C that Python calls with the operands of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stcompile.codegen_templates.c import text
from stcompile.native.errors import SAID
from stcompile.native.kinds import Array, Kind, Number
from stcompile.native.sizes import size_text
from stcompile.native.unit import Made, Unit
from stcompile.native.workspace import bytes_text, fixed_bytes, layout_lines
from stcompile.wengert.dims import Dim, named_by

OWN_NAMES = frozenset(("own", "given", "count", "type", "result", "thread", "error", "small"))
"""Names in the functions that no length has."""

LARGEST_ON_STACK = 16384  # bytes
SPELT = '"i' + "L" * SAID + '"'
HEAD = object.__basicsize__  # bytes before the fields of an object
TYPE, OTHERS, RAISE, NEW, OWN = range(5)  # what the objects of a function begin with

PRELUDE = text("python.c").replace("HEAD", str(HEAD))


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
        letter = kind.dtype.kind
        if letter == "c":
            yield f"    const complex_number parts_{at} = PyComplex_AsCComplex(given[{at}]);"
            yield f"    const {kind.c} v{at} = ({kind.c})CMPLX(parts_{at}.real, parts_{at}.imag);"
            continue
        read = {"f": "PyFloat_AsDouble", "b": "PyObject_IsTrue"}.get(letter, "PyLong_AsLongLong")
        zero = " != 0" if letter == "b" else ""
        yield f"    const {kind.c} v{at} = ({kind.c})({read}(given[{at}]){zero});"
    if numbers:
        yield "    if (PyErr_Occurred())"
        yield "        return 0;"


def _made(entry: Entry) -> Iterator[str]:
    first = OWN + len(entry.arrays)
    yield "    object *result = 0;"
    for at in entry.made:
        yield f"    object *made_{at} = 0;"
    for number, (at, kind) in enumerate(entry.made.items()):
        dims = "".join(f"(long long)({size_text(n)}), " for n in kind.dims)
        yield (
            f"    made_{at} = PyObject_CallFunction(PyTuple_GetItem(own, {NEW}), "
            f'"({"L" * len(kind.dims)})O", {dims}PyTuple_GetItem(own, {first + number}));'
        )
        yield f"    if (!made_{at})"
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
            f"(void *)((const array *)made_{at})->data" if at in entry.made else f"&number_{at}"
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
    objects = [
        f"made_{at}" if isinstance(kind, Array) else _boxed(kind, f"number_{at}")
        for at, kind in enumerate(entry.function.results)
    ]
    if not objects:
        yield '    result = Py_BuildValue("");'
    elif len(objects) == 1:
        yield f"    result = {objects[0]};"
        yield from (f"    made_{at} = 0;" for at in entry.made)
    else:
        yield f"    result = PyTuple_New({len(objects)});"
        yield "    if (!result)"
        yield "        goto end;"
        for at, code in enumerate(objects):
            yield f"    PyTuple_SetItem(result, {at}, {code});"
            if at in entry.made:
                yield f"    made_{at} = 0;"
    yield "end:"
    for at in entry.made:
        yield f"    if (made_{at})"
        yield f"        Py_DecRef(made_{at});"
    yield "    return result;"


def _boxed(kind: Number, code: str) -> str:
    letter = kind.dtype.kind
    if letter == "c":
        return f"PyComplex_FromDoubles((double)creal({code}), (double)cimag({code}))"
    made = {"f": "PyFloat_FromDouble", "b": "PyBool_FromLong"}.get(letter, "PyLong_FromLongLong")
    return f"{made}({code})"
